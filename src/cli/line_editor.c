#include "cli/line_editor.h"

#include <histedit.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"

enum { HISTORY_LINES = 500, CONTROL_D = 4 };

struct line_editor {
    EditLine *edit;
    History *history;
    char *history_path;
    char prompt[200]; /* "" = hidden */
    size_t typed;     /* bytes of the line */
};

static char *write_prompt(EditLine *edit)
{
    void *editor = NULL;
    el_get(edit, EL_CLIENTDATA, &editor);
    return ((struct line_editor *)editor)->prompt;
}

static void open_history(struct line_editor *editor, const char *path)
{
    HistEvent event;
    editor->history = history_init();
    editor->history_path = path ? strdup(path) : NULL;
    history(editor->history, &event, H_SETSIZE, HISTORY_LINES);
    history(editor->history, &event, H_SETUNIQUE, 1);
    if (path) {
        history(editor->history, &event, H_LOAD, path);
    }
    el_set(editor->edit, EL_HIST, history, editor->history);
}

/* Without a locale of the caller's, letters outside ASCII would be taken for control characters. */
static void choose_locale(void)
{
    const char *chosen = setlocale(LC_CTYPE, "");
    if (!chosen || strcmp(chosen, "C") == 0 || strcmp(chosen, "POSIX") == 0) {
        setlocale(LC_CTYPE, "C.UTF-8");
    }
}

struct line_editor *line_editor_open(const char *history_path)
{
    struct line_editor *editor = memory_zeroed(sizeof *editor);
    choose_locale();
    editor->edit = el_init("sojourn", stdin, stdout, stderr);
    if (!editor->edit) {
        abort(); /* out of memory */
    }
    el_set(editor->edit, EL_CLIENTDATA, editor);
    el_set(editor->edit, EL_PROMPT, write_prompt);
    el_set(editor->edit, EL_EDITOR, "emacs");
    el_set(editor->edit, EL_SIGNAL, 0);
    open_history(editor, history_path);
    el_set(editor->edit, EL_UNBUFFERED, 1);
    return editor;
}

void line_editor_close(struct line_editor *editor)
{
    HistEvent event;
    if (!editor) {
        return;
    }
    el_set(editor->edit, EL_UNBUFFERED, 0);
    if (editor->history_path) {
        history(editor->history, &event, H_SAVE, editor->history_path);
    }
    el_end(editor->edit);
    history_end(editor->history);
    free(editor->history_path);
    free(editor);
}

bool line_editor_is_shown(const struct line_editor *editor)
{
    return editor->prompt[0] != '\0';
}

bool line_editor_is_empty(const struct line_editor *editor)
{
    return editor->typed == 0;
}

void line_editor_show(struct line_editor *editor, const char *prompt)
{
    if (strcmp(editor->prompt, prompt) == 0) {
        return;
    }
    if (line_editor_is_shown(editor)) {
        fputs("\r\033[K", stdout);
        fflush(stdout);
    }
    snprintf(editor->prompt, sizeof editor->prompt, "%s", prompt);
    el_set(editor->edit, EL_REFRESH);
}

void line_editor_hide(struct line_editor *editor)
{
    if (line_editor_is_shown(editor)) {
        fputs("\r\033[K", stdout);
        fflush(stdout);
        editor->prompt[0] = '\0';
    }
}

/* The library begins a line where it enters its own mode of the terminal. */
static void begin_line(struct line_editor *editor)
{
    editor->typed = 0;
    editor->prompt[0] = '\0';
    el_set(editor->edit, EL_UNBUFFERED, 0);
    el_set(editor->edit, EL_UNBUFFERED, 1);
}

void line_editor_clear(struct line_editor *editor)
{
    line_editor_hide(editor);
    begin_line(editor);
}

enum line_step line_editor_read(struct line_editor *editor, struct buffer *out_line)
{
    int count = 0;
    const char *line = el_gets(editor->edit, &count);
    editor->typed = line && count > 0 ? (size_t)count : 0;
    if (!line || count < 0) {
        return LINE_END;
    }
    if (count == 0) {
        return LINE_TYPING;
    }
    char last = line[count - 1];
    if (last == '\n' || last == '\r') {
        out_line->len = 0;
        buffer_add(out_line, slice_from(line, (size_t)count - 1));
        begin_line(editor);
        return LINE_DONE;
    }
    return count == 1 && last == CONTROL_D ? LINE_END : LINE_TYPING;
}

void line_editor_remember(struct line_editor *editor, struct slice line)
{
    HistEvent event;
    char *text = strndup(line.ptr, line.len);
    history(editor->history, &event, H_ENTER, text);
    free(text);
}

/* Lines of before: one after the other, or by a part of them. */
#include "cli/editor_internal.h"
#include "cli/glyph.h"

static size_t history_count(const struct editor *editor)
{
    return editor->history ? editor->history->count : 0;
}

static void show_history(struct editor *editor, size_t back)
{
    if (editor->history_back == 0) {
        editor_store(&editor->draft, editor_text(editor));
    }
    editor->history_back = back;
    editor_set(editor,
               back ? history_line(editor->history, history_count(editor) - back) : buffer_slice(&editor->draft));
}

enum editor_outcome editor_history_back(struct editor *editor)
{
    if (editor->history_back < history_count(editor)) {
        show_history(editor, editor->history_back + 1);
    }
    return EDITOR_STAYS;
}

enum editor_outcome editor_history_forth(struct editor *editor)
{
    if (editor->history_back > 0) {
        show_history(editor, editor->history_back - 1);
    }
    return EDITOR_STAYS;
}

/* --- searching --- */

enum editor_outcome editor_search_start(struct editor *editor)
{
    editor_store(&editor->draft, editor_text(editor));
    editor->query.len = editor->history_back = 0;
    editor->is_searching = true;
    editor->has_match = false;
    return EDITOR_STAYS;
}

static void search_from(struct editor *editor, size_t before)
{
    size_t at;
    if (history_find(editor->history, before, buffer_slice(&editor->query), &at)) {
        editor->match = at;
        editor->has_match = true;
        editor_set(editor, history_line(editor->history, at));
    }
}

static enum editor_outcome end_search(struct editor *editor, bool takes_match)
{
    editor->is_searching = false;
    if (!takes_match) {
        editor_set(editor, buffer_slice(&editor->draft));
    }
    return EDITOR_STAYS;
}

static void change_query(struct editor *editor)
{
    editor->has_match = false;
    search_from(editor, history_count(editor));
    if (!editor->has_match) {
        editor_set(editor, buffer_slice(&editor->draft));
    }
}

enum editor_outcome editor_search_key(struct editor *editor, const struct key *key)
{
    if (key->kind == KEY_TEXT && key->text.ptr[0] != '\n') {
        buffer_add(&editor->query, key->text);
        change_query(editor);
    } else if (key->kind == KEY_BACKSPACE) {
        editor->query.len = glyph_before(buffer_slice(&editor->query), editor->query.len);
        change_query(editor);
    } else if (key->kind == KEY_SEARCH) {
        search_from(editor, editor->has_match ? editor->match : history_count(editor));
    } else if (key->kind == KEY_ESCAPE || key->kind == KEY_INTERRUPT || key->kind == KEY_CANCEL) {
        return end_search(editor, false);
    } else if (key->kind != KEY_UNKNOWN) {
        /* Enter takes the line over without sending it: a match can be surprising. */
        return end_search(editor, true);
    }
    return EDITOR_STAYS;
}

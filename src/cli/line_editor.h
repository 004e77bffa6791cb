/* One line being typed on the terminal, key by key, so that the caller can wait for other things too. There is at most
 * one editor in a process; it owns the modes of the terminal between open and close. */
#ifndef CLI_LINE_EDITOR_H
#define CLI_LINE_EDITOR_H

#include "base/buffer.h"

struct line_editor;

/* Entered lines are kept in `history_path`, readable by its owner only; NULL = nowhere. */
struct line_editor *line_editor_open(const char *history_path);
/* Gives the terminal back as it was. Accepts NULL. */
void line_editor_close(struct line_editor *editor);

/* Draws the prompt with what was typed; again when it says something else. */
void line_editor_show(struct line_editor *editor, const char *prompt);
/* Removes the line from the screen; only while nothing was typed. */
void line_editor_hide(struct line_editor *editor);
/* Forgets what was typed. */
void line_editor_clear(struct line_editor *editor);
bool line_editor_is_shown(const struct line_editor *editor);
/* Nothing was typed. */
bool line_editor_is_empty(const struct line_editor *editor);

enum line_step {
    LINE_TYPING, /* a key was taken */
    LINE_DONE,   /* *out_line is the line, without its end; the cursor stands below it */
    LINE_END,    /* Ctrl-D on an empty line, or the terminal is gone */
};
/* Takes one key from standard input, which must be readable. */
enum line_step line_editor_read(struct line_editor *editor, struct buffer *out_line);
/* Can be called back with the up key. */
void line_editor_remember(struct line_editor *editor, struct slice line);

#endif

/* What an editor looks like: rows of text and where the cursor stands. Pure. */
#ifndef CLI_EDITOR_VIEW_H
#define CLI_EDITOR_VIEW_H

#include "cli/editor.h"

struct editor_view {
    struct buffer rows; /* each with a line end */
    size_t row_count;
    size_t cursor_row, cursor_column;
};

struct view_size {
    size_t columns; /* at least 8 */
    size_t rows;    /* at least 1; a longer text is shown around the cursor */
};

/* A prompt that leaves little room stands in rows of its own. */
void editor_view_write(const struct editor *editor, struct slice prompt, struct view_size size,
                       struct editor_view *out);
void editor_view_release(struct editor_view *view);

#endif

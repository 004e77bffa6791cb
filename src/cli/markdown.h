/* Colours for Markdown and diffs, line by line. Nothing is taken away or put in but colours: what an agent wrote can be
 * read, copied and trusted as it stands. Pure. */
#ifndef CLI_MARKDOWN_H
#define CLI_MARKDOWN_H

#include "cli/terminal.h"
#include "cli/wrap.h"

/* A struct of zeroes stands at the start of a text. */
struct markdown {
    size_t fence; /* marks of the code block that is open; 0 = none */
    char fence_mark;
    bool is_diff; /* the code block is one */
};

/* Appends a line of plain text with colours, and says how it is to be wrapped (hang and kind). */
void markdown_line(struct markdown *markdown, struct slice line, struct buffer *out, struct wrap *out_wrap);
/* The colour of a line of a diff. */
enum colour diff_colour(struct slice line);
/* Whether a text is a diff, by its first lines. */
bool text_is_diff(struct slice text);
void text_add_coloured(struct buffer *out, enum colour colour, struct slice text);

#endif

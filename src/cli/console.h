/* A terminal whose last rows are drawn anew all the time, while lines are printed above them. Everything is written by
 * console_flush in one piece. */
#ifndef CLI_CONSOLE_H
#define CLI_CONSOLE_H

#include "cli/wrap.h"

enum { CONSOLE_LINES_KEPT = 500 };

struct console_line {
    struct buffer text;
    struct wrap wrap;
};

/* A struct of zeroes needs console_resize. */
struct console {
    size_t columns, rows;
    struct buffer out; /* not yet written */
    /* for a terminal that changes its size: what was printed last, in a ring */
    struct console_line kept[CONSOLE_LINES_KEPT];
    size_t kept_count; /* ever */
    struct buffer area;
    size_t area_cursor_row, area_cursor_column;
    size_t drawn_cursor_row; /* of the area on the screen */
    bool is_drawn;           /* the area is on the screen */
    bool is_changed;         /* it is to be drawn anew */
    bool is_broken;          /* nobody reads any more */
};

void console_release(struct console *console);
/* Asks the terminal for its size; when it changed, everything that fits is printed anew. */
void console_resize(struct console *console);
/* A line above the area; the columns of `wrap` are those of the terminal. */
void console_print(struct console *console, struct wrap wrap, struct slice line);
/* What the area holds: rows with line ends, none wider than console_area_columns, and not more than the terminal has.
 */
void console_set_area(struct console *console, struct slice rows, size_t cursor_row, size_t cursor_column);
size_t console_area_columns(const struct console *console);
void console_flush(struct console *console);
/* Takes the area off the screen, since something else writes next; the next flush draws it again. */
void console_hide(struct console *console);
/* Clears the screen and prints what fits. */
void console_redraw(struct console *console);

#endif

/* What a person sees: whether somebody looks, how wide, in which colours; and text of strangers made safe to show. */
#ifndef CLI_TERMINAL_H
#define CLI_TERMINAL_H

#include <stdio.h>

#include "base/buffer.h"

/* The columns of the terminal behind `file`; 0 when it is none, and lines may be of any length. */
size_t terminal_columns(FILE *file);
/* A terminal that understands colours, and nobody asked for none (NO_COLOR). */
bool terminal_has_colours(FILE *file);

enum colour { COLOUR_NONE, COLOUR_DIM, COLOUR_BOLD, COLOUR_GREEN, COLOUR_YELLOW, COLOUR_RED, COLOUR_CYAN };
/* Begins or (COLOUR_NONE) ends a colour. */
struct slice colour_code(enum colour colour);

/* How many columns the text takes. */
size_t text_columns(struct slice text);
/* Prose of others on one line: line breaks and tabs become spaces; control characters, invisible characters, marks of
 * direction and bytes that are not UTF-8 become U+FFFD. */
void text_add_plain(struct buffer *out, struct slice text);
/* The same, but line breaks stay and a tab is four spaces. */
void text_add_lines(struct buffer *out, struct slice text);
/* A command, path or argument: nothing is left out or replaced. What a terminal would not show is written as ⟨U+202E⟩,
 * a byte that is not UTF-8 as ⟨FF⟩; line breaks stay. */
void text_add_exact(struct buffer *out, struct slice text);
/* The same on one line: a line break is ⏎. */
void text_add_exact_line(struct buffer *out, struct slice text);
/* Appends plain text of at most `columns`; what is left out is marked by an ellipsis. 0 = no limit. */
void text_add_fitted(struct buffer *out, struct slice plain, size_t columns);

/* Asks on the terminal; false unless the answer is y or yes. */
bool terminal_confirm(const char *question);
/* Whether there is somebody to ask. */
bool terminal_can_ask(void);

/* Writes and flushes. False when nobody reads any more or the disk is full. */
bool print_text(FILE *file, struct slice text);

/* A line on standard error that is written over and over, and only on a terminal: "copying 41 %". `what` lives as long
 * as the line. A struct of zeroes with `what` is ready. */
struct progress {
    const char *what;
    int shown_percent; /* plus one; 0 = nothing was shown */
};
void progress_show(struct progress *progress, int64_t done, int64_t total);
/* Removes the line. */
void progress_end(struct progress *progress);

#endif

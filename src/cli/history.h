/* Lines that were entered, oldest first, and how they are written in a file: one per line, with \n and \\ escaped.
 * Pure. */
#ifndef CLI_HISTORY_H
#define CLI_HISTORY_H

#include "base/buffer.h"

enum { HISTORY_LINES_MAX = 1000 };

/* A struct of zeroes is empty and ready. */
struct history {
    struct buffer lines[HISTORY_LINES_MAX];
    size_t count;
};

void history_release(struct history *history);
/* The oldest goes when there are too many; the same as the newest is not added again. False then. */
bool history_add(struct history *history, struct slice line);
struct slice history_line(const struct history *history, size_t at);
/* Finds the newest line before `before` that holds `text`; false when there is none. */
bool history_find(const struct history *history, size_t before, struct slice text, size_t *out_at);

/* Adds the lines of a file, also of one that libedit wrote. */
void history_read(struct history *history, struct slice file);
void history_write_line(struct buffer *out, struct slice line);

#endif

// The event every benchmark writes: a JSON object of an exact size that carries a mark, so that a reader can tell which
// events reached it, in which order, whatever frame they came in.
#ifndef BENCH_EVENT_H
#define BENCH_EVENT_H

#include "client.h"

enum { MARK_SIZE = 14 }; // "mark-00000042."

void mark_write(char out[MARK_SIZE + 1], long number);

// Finds the first mark at or after `bytes`; returns where it ends and its number, or NULL.
const char *mark_find(const char *bytes, size_t size, long *out_number);

// Checks that the marks in `bytes` are *next_mark and its successors; returns what follows the last one, or `bytes`.
const char *marks_expect(const char *bytes, size_t size, long *next_mark);

// Appends one event of `size` bytes (at least 120).
void event_append(struct text *out, size_t size, long mark);

// Appends the body of an append request, `{"events":[…]}`, with marks from `first_mark` on.
void event_append_batch(struct text *out, size_t size, long count, long first_mark);

#endif

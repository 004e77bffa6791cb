/* The most recent frames of a feed, oldest first, bounded in bytes. It covers everything after `base` up to `end`: a
 * viewer whose cursor lies between the two needs no store. Hub thread only. */
#ifndef FANOUT_TAIL_H
#define FANOUT_TAIL_H

#include "fanout/frame.h"

struct tail {
    struct frame **ring; /* room is a power of two, or 0 */
    uint32_t head, count, room;
    size_t bytes;
    struct cursor base;
    struct cursor end;
};

/* A tail of zeroes is empty and ready. */
void tail_release(struct tail *tail);
/* Nothing is kept; the tail begins and ends at `at`. */
void tail_restart(struct tail *tail, struct cursor at);
/* Takes a reference of its own; the frame stands behind `end`. */
void tail_append(struct tail *tail, struct frame *frame, size_t bytes_max);
/* Drops the oldest frame; there must be one. */
void tail_drop_oldest(struct tail *tail);
bool tail_covers(const struct tail *tail, struct cursor cursor);
/* The first frame behind the cursor, borrowed; NULL when there is none. */
struct frame *tail_next(const struct tail *tail, struct cursor cursor);

#endif

/* The most recent frames of a feed, oldest first, bounded in bytes. It covers everything after `base` up to `end`: a
 * viewer whose cursor lies between the two needs no store. Hub thread only. */
#ifndef FANOUT_RECENT_FRAMES_H
#define FANOUT_RECENT_FRAMES_H

#include "fanout/frame.h"

struct recent_frames {
    struct frame **ring; /* room is a power of two, or 0 */
    uint32_t head, count, room;
    size_t bytes;
    struct cursor base;
    struct cursor end;
};

/* A tail of zeroes is empty and ready. */
void recent_frames_release(struct recent_frames *tail);
/* Nothing is kept; the tail begins and ends at `at`. */
void recent_frames_restart(struct recent_frames *tail, struct cursor at);
/* Takes a reference of its own; the frame stands behind `end`. */
void recent_frames_append(struct recent_frames *tail, struct frame *frame, size_t bytes_max);
/* Drops the oldest frame; there must be one. */
void recent_frames_drop_oldest(struct recent_frames *tail);
bool recent_frames_covers(const struct recent_frames *tail, struct cursor cursor);
/* The first frame behind the cursor, borrowed; NULL when there is none. */
struct frame *recent_frames_next(const struct recent_frames *tail, struct cursor cursor);

#endif

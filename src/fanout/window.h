/* The deltas that follow one durable event of a session: the recent ones one by one, all of them folded. Output that
 * the event did not settle (the text of a message in whose middle a tool was called) is carried from the window before,
 * in the fold only. Hub thread only. */
#ifndef FANOUT_WINDOW_H
#define FANOUT_WINDOW_H

#include "fanout/fold.h"
#include "fanout/tail.h"

struct window {
    int64_t sequence;       /* the durable event */
    int64_t count;          /* the number of the newest delta */
    struct tail recent;     /* cursors (sequence, number) */
    struct fold fold;       /* of all deltas, when complete */
    struct frame *snapshot; /* of the fold as it is now, or NULL */
    bool carried;           /* the fold may have more than the deltas of this window */
    bool complete;          /* false: deltas before the first one seen here have to be loaded from the store */
};

/* The next delta has the number count + 1. */
struct window *window_new(int64_t sequence, int64_t count);
void window_free(struct window *window); /* accepts NULL */
/* Takes a delta of this window's sequence. False when it was here before. A number left out makes the window
 * incomplete. */
bool window_append(struct window *window, struct frame *frame, size_t bytes_max);
/* The window behind an event that came after `old`: with what it did not settle, or NULL when nothing is left. The old
 * one is emptied. */
struct window *window_after(struct window *old, int64_t sequence, const struct event_facts *event);
/* A window that only the store knows. */
struct window *window_from(const struct partial *partial, size_t bytes_max);
/* What the store kept, to be put in front. Saved output of another sequence is ignored. */
void window_complete(struct window *window, const struct partial *partial, size_t bytes_max);
/* What a viewer that has `delta` deltas gets next: a delta, or a snapshot when it cannot get them one by one. Borrowed.
 * NULL when it has all, or has to wait for the store. */
struct frame *window_next(struct window *window, int64_t delta);
/* Borrowed; the window is complete. */
struct frame *window_snapshot(struct window *window);
/* For a viewer that claims deltas of an event which has none here; owned by the caller. */
struct frame *window_snapshot_empty(int64_t sequence);

#endif

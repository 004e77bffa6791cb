/* The deltas that follow one durable event of a session: the recent ones one by one, all of them folded. Output that
 * the event did not settle (the text of a message in whose middle a tool was called) is carried from the window before,
 * in the fold only. Hub thread only. */
#ifndef FANOUT_DELTA_WINDOW_H
#define FANOUT_DELTA_WINDOW_H

#include "fanout/live_output.h"
#include "fanout/recent_frames.h"

struct delta_window {
    int64_t sequence;            /* the durable event */
    int64_t count;               /* the number of the newest delta */
    struct recent_frames recent; /* cursors (sequence, number) */
    struct live_output fold;     /* of all deltas, when complete */
    struct frame *snapshot;      /* of the fold as it is now, or NULL */
    bool carried;                /* the fold may have more than the deltas of this window */
    bool complete;               /* false: deltas before the first one seen here have to be loaded from the store */
};

/* The next delta has the number count + 1. */
struct delta_window *delta_window_new(int64_t sequence, int64_t count);
void delta_window_free(struct delta_window *window); /* accepts NULL */
/* Takes a delta of this window's sequence. False when it was here before. A number left out makes the window
 * incomplete. */
bool delta_window_append(struct delta_window *window, struct frame *frame, size_t bytes_max);
/* The window behind an event that came after `old`: with what it did not settle, or NULL when nothing is left. The old
 * one is emptied. */
struct delta_window *delta_window_after(struct delta_window *old, int64_t sequence, const struct event_facts *event);
/* A window that only the store knows. */
struct delta_window *delta_window_from(const struct partial *partial, size_t bytes_max);
/* What the store kept, to be put in front. Saved output of another sequence is ignored. */
void delta_window_complete(struct delta_window *window, const struct partial *partial, size_t bytes_max);
/* What a viewer that has `delta` deltas gets next: a delta, or a snapshot when it cannot get them one by one. Borrowed.
 * NULL when it has all, or has to wait for the store. */
struct frame *delta_window_next(struct delta_window *window, int64_t delta);
/* Borrowed; the window is complete. */
struct frame *delta_window_snapshot(struct delta_window *window);
/* For a viewer that claims deltas of an event which has none here; owned by the caller. */
struct frame *delta_window_snapshot_empty(int64_t sequence);

#endif

/* The live output of a turn put together: one object per kind and message, its texts joined. What a late viewer gets as
 * `snapshot`, and what is saved as partial output. Bounded: when it grows too large the oldest text goes first, and
 * the object says how much (`dropped_bytes`). */
#ifndef FANOUT_LIVE_OUTPUT_H
#define FANOUT_LIVE_OUTPUT_H

#include "base/arena.h"
#include "base/buffer.h"
#include "domain/turn.h"

struct live_output_part;

struct live_output {
    struct live_output_part *parts; /* in the order in which they began */
    size_t count;
    size_t room;
    size_t bytes;
    struct arena scratch; /* of one fold_add */
};

/* A fold of zeroes is empty and ready. */
void live_output_release(struct live_output *fold);
/* Adds one delta, or an array of them as fold_write makes it: each text continues the part whose other members are the
 * same; an object without text stands alone. */
void live_output_add(struct live_output *fold, struct slice json, size_t bytes_max);
/* Drops the parts of this kind. */
void live_output_drop(struct live_output *fold, enum delta_kind kind);
/* Appends a JSON array. */
void live_output_write(const struct live_output *fold, struct buffer *to);

#endif

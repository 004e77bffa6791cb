/* What a viewer yields, one after the other: an event, a delta, or one of the frames that tell the truth about the
 * stream. A frame is facts; what it looks like on a wire is an encoder's matter, and encoders live outside this room.
 * Whoever watches names one, or takes the frames as they are. Each encoder runs once for a frame that many viewers
 * share. Counted on one thread: frames never leave their hub. */
#ifndef FANOUT_FRAME_H
#define FANOUT_FRAME_H

#include "base/buffer.h"
#include "fanout/cursor.h"

enum frame_kind {
    FRAME_EVENT,
    FRAME_DELTA,
    FRAME_SNAPSHOT,
    FRAME_GAP,
    FRAME_SLOW,
    FRAME_CLOSED,
    FRAME_READY,
    FRAME_HEARTBEAT,
    FRAME_KIND_COUNT
};

struct encoding;

/* The slices of a frame that is made on the stack are borrowed. */
struct frame {
    enum frame_kind kind;
    enum cursor_style style;
    struct cursor at; /* event, delta, snapshot: its place; else where the viewer stands; heartbeat: nowhere */
    union {
        struct { /* event, delta */
            int64_t session_key;
            enum event_kind kind; /* event */
            struct slice type, thread_id;
            struct slice json; /* as it is stored */
        } entry;
        struct {
            struct slice partial; /* JSON array: what streamed and is in no event yet */
        } snapshot;
        struct { /* events `from` … `until` cannot be delivered */
            int64_t from, until;
            struct slice reason; /* "ahead", "erased" */
        } gap;
        struct {
            int64_t dropped_deltas;
        } slow;
        struct {
            struct slice reason;
        } closed;
        struct {
            struct cursor end; /* of the log */
            struct slice asks; /* JSON array: pending in the session; absent for a firehose */
        } ready;
    };
    struct encoding *encodings; /* those made so far */
    uint32_t refs;
};

/* How frames look on one kind of wire. Stateless: pages of a backlog are encoded on reader threads. */
struct encoder {
    const char *name;
    void (*encode)(struct buffer *to, const struct frame *frame);
};

/* A counted copy of the facts, with a reference for the caller. */
struct frame *frame_new(const struct frame *facts);
struct frame *frame_ref(struct frame *frame);
void frame_unref(struct frame *frame); /* accepts NULL */
/* Encodes when it was not done before. The bytes are the frame's. */
struct slice frame_bytes(struct frame *frame, const struct encoder *encoder);
/* The encoded bytes, which are made again when somebody still needs them. */
void frame_forget_bytes(struct frame *frame);
/* What it costs while it is kept. */
size_t frame_weight(const struct frame *frame);

#endif

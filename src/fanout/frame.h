/* One frame on its way to viewers: an event, a delta, or one of the frames that tell the truth about the stream. It is
 * encoded once per framing, when the first viewer of that framing needs it, and shared. Counted on one thread: frames
 * never leave their hub. */
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
    FRAME_PING,
    FRAME_KIND_COUNT
};

enum { FRAMING_COUNT = FRAMING_WEBSOCKET + 1 };

/* What a frame is made of; the slices are borrowed. */
struct frame_parts {
    enum frame_kind kind;
    enum cursor_style style;
    struct cursor at;      /* written as the id of events and deltas */
    int64_t session_key;   /* of the firehose */
    enum event_kind event; /* of FRAME_EVENT */
    struct slice type, thread_id, json;
};

struct frame {
    uint32_t refs;
    struct frame_parts parts; /* slices point behind the struct */
    struct slice encoded[FRAMING_COUNT];
};

struct frame *frame_new(const struct frame_parts *parts);
struct frame *frame_ref(struct frame *frame);
void frame_unref(struct frame *frame); /* accepts NULL */
struct slice frame_bytes(struct frame *frame, enum framing framing);
/* The encoded bytes, which are made again when somebody still needs them. */
void frame_forget_bytes(struct frame *frame);
/* What it costs while it is kept. */
size_t frame_weight(const struct frame *frame);

/* Appends one encoded frame. Only events and deltas carry an id, so that nothing else moves a client's cursor. */
void frame_write(struct buffer *to, enum framing framing, enum frame_kind kind, struct slice id, struct slice json);

/* The frames about the stream itself. */
/* `asks` is the JSON array of a session's asks that are pending; absent for a firehose. */
struct frame *frame_ready(struct cursor cursor, enum cursor_style style, struct cursor end, struct slice asks);
struct frame *frame_slow(struct cursor cursor, enum cursor_style style, int64_t dropped_deltas);
struct frame *frame_closed(struct cursor cursor, enum cursor_style style, struct slice reason);
struct frame *frame_ping(void);
/* The same as text, for pages that are encoded on a reader thread. */
void frame_write_ready(struct buffer *to, enum framing framing, struct cursor cursor, enum cursor_style style,
                       struct cursor end, struct slice asks);
/* Events `from` … `to` cannot be delivered; the stream goes on after `cursor`. */
void frame_write_gap(struct buffer *to, enum framing framing, int64_t from, int64_t until, struct cursor cursor,
                     const char *reason);

#endif

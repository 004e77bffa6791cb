#include "doors/native/frame_encoders.h"

#include "base/json.h"
#include "wire/sse.h"
#include "wire/websocket.h"

static const char *const names[FRAME_KIND_COUNT] = {
    [FRAME_EVENT] = "event", [FRAME_DELTA] = "delta",   [FRAME_SNAPSHOT] = "snapshot", [FRAME_GAP] = "gap",
    [FRAME_SLOW] = "slow",   [FRAME_CLOSED] = "closed", [FRAME_READY] = "ready",       [FRAME_HEARTBEAT] = "ping",
};

/* --- the data of a frame, the same in both --- */

static void put_cursor(struct json_out *out, const struct frame *frame)
{
    char text[CURSOR_TEXT_BYTES];
    json_put_text(out, "cursor", cursor_format(frame->at, frame->style, text));
}

/* A session's stream speaks of sequences; the firehose has none. */
static void put_sequence(struct json_out *out, const struct frame *frame, struct cursor cursor)
{
    if (frame->style == CURSOR_SESSION) {
        json_put_i64(out, "sequence", cursor.sequence);
    }
}

static void put_ready(struct json_out *out, const struct frame *frame)
{
    put_cursor(out, frame);
    put_sequence(out, frame, frame->ready.end);
    if (slice_present(frame->ready.asks)) {
        json_put_raw(out, "asks", frame->ready.asks);
    }
}

static void put_snapshot(struct json_out *out, const struct frame *frame)
{
    put_sequence(out, frame, frame->at);
    put_cursor(out, frame);
    json_put_raw(out, "partial", frame->snapshot.partial);
}

static void put_slow(struct json_out *out, const struct frame *frame)
{
    put_sequence(out, frame, frame->at);
    put_cursor(out, frame);
    json_put_i64(out, "dropped_deltas", frame->slow.dropped_deltas);
}

static void put_gap(struct json_out *out, const struct frame *frame)
{
    json_put_i64(out, "from", frame->gap.from);
    json_put_i64(out, "to", frame->gap.until);
    json_put_text(out, "reason", frame->gap.reason);
    put_cursor(out, frame);
}

static void put_closed(struct json_out *out, const struct frame *frame)
{
    json_put_text(out, "reason", frame->closed.reason);
    put_cursor(out, frame);
}

/* Of the frames that are not stored as JSON; NULL = there is nothing to tell. */
static void (*const members[FRAME_KIND_COUNT])(struct json_out *out, const struct frame *frame) = {
    [FRAME_READY] = put_ready, [FRAME_SNAPSHOT] = put_snapshot, [FRAME_SLOW] = put_slow,
    [FRAME_GAP] = put_gap,     [FRAME_CLOSED] = put_closed,
};

static bool is_entry(const struct frame *frame)
{
    return frame->kind == FRAME_EVENT || frame->kind == FRAME_DELTA;
}

/* Absent for a heartbeat. What is written stands in `text`. */
static struct slice data_of(const struct frame *frame, struct buffer *text)
{
    if (is_entry(frame)) {
        return frame->entry.json;
    }
    if (!members[frame->kind]) {
        return (struct slice){0};
    }
    struct json_out out = json_out_to(text);
    json_begin_object(&out);
    members[frame->kind](&out, frame);
    json_end_object(&out);
    return buffer_slice(text);
}

/* Only events and deltas carry an id, so that nothing else moves a client's cursor. */
static struct slice id_of(const struct frame *frame, char text[CURSOR_TEXT_BYTES])
{
    return is_entry(frame) ? cursor_format(frame->at, frame->style, text) : (struct slice){0};
}

/* --- server-sent events --- */

static void encode_sse(struct buffer *to, const struct frame *frame)
{
    char id[CURSOR_TEXT_BYTES];
    struct buffer text = {0};
    if (frame->kind == FRAME_HEARTBEAT) {
        sse_write_comment(to, slice_of(names[FRAME_HEARTBEAT]));
        return;
    }
    struct sse_event event = {
        .id = id_of(frame, id), .event = slice_of(names[frame->kind]), .data = data_of(frame, &text)};
    sse_write(to, &event);
    buffer_release(&text);
}

const struct encoder encoder_sse = {"sse", encode_sse};

/* --- WebSocket --- */

static void encode_websocket(struct buffer *to, const struct frame *frame)
{
    char id[CURSOR_TEXT_BYTES];
    struct buffer data = {0}, text = {0};
    struct slice json = data_of(frame, &data);
    buffer_reserve(&text, json.len + CURSOR_TEXT_BYTES + 64);
    struct json_out out = json_out_to(&text);
    json_begin_object(&out);
    json_put_text(&out, "type", slice_of(names[frame->kind]));
    if (is_entry(frame)) {
        json_put_text(&out, "id", id_of(frame, id));
    }
    json_maybe_raw(&out, "data", json);
    json_end_object(&out);
    websocket_write(to, WEBSOCKET_TEXT, buffer_slice(&text));
    buffer_release(&data);
    buffer_release(&text);
}

const struct encoder encoder_websocket = {"websocket", encode_websocket};

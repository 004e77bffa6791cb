#include "fanout/frame.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/json.h"
#include "wire/sse.h"
#include "wire/websocket.h"

static const struct {
    const char *name;
    bool has_id;
} kinds[FRAME_KIND_COUNT] = {
    [FRAME_EVENT] = {"event", true},  [FRAME_DELTA] = {"delta", true}, [FRAME_SNAPSHOT] = {"snapshot", false},
    [FRAME_GAP] = {"gap", false},     [FRAME_SLOW] = {"slow", false},  [FRAME_CLOSED] = {"closed", false},
    [FRAME_READY] = {"ready", false}, [FRAME_PING] = {"ping", false},
};

struct frame *frame_new(const struct frame_parts *parts)
{
    size_t text_bytes = parts->type.len + parts->thread_id.len + parts->json.len;
    struct frame *frame = memory_alloc(sizeof *frame + text_bytes);
    *frame = (struct frame){.refs = 1, .parts = *parts};
    char *at = (char *)(frame + 1);
    frame->parts.type = slice_place(parts->type, &at);
    frame->parts.thread_id = slice_place(parts->thread_id, &at);
    frame->parts.json = slice_place(parts->json, &at);
    return frame;
}

struct frame *frame_ref(struct frame *frame)
{
    frame->refs++;
    return frame;
}

void frame_unref(struct frame *frame)
{
    if (!frame || --frame->refs > 0) {
        return;
    }
    frame_forget_bytes(frame);
    free(frame);
}

void frame_forget_bytes(struct frame *frame)
{
    for (int framing = 0; framing < FRAMING_COUNT; framing++) {
        free((char *)frame->encoded[framing].ptr);
        frame->encoded[framing] = (struct slice){0};
    }
}

static void write_sse(struct buffer *to, enum frame_kind kind, struct slice id, struct slice json)
{
    if (kind == FRAME_PING) {
        sse_write_comment(to, SLICE("ping"));
        return;
    }
    struct sse_event event = {
        .id = kinds[kind].has_id ? id : (struct slice){0}, .event = slice_of(kinds[kind].name), .data = json};
    sse_write(to, &event);
}

static void write_websocket(struct buffer *to, enum frame_kind kind, struct slice id, struct slice json)
{
    struct buffer text = {0};
    buffer_reserve(&text, json.len + id.len + 64);
    struct json_out out = json_out_to(&text);
    json_begin_object(&out);
    json_put_text(&out, "type", slice_of(kinds[kind].name));
    if (kinds[kind].has_id) {
        json_put_text(&out, "id", id);
    }
    json_maybe_raw(&out, "data", json);
    json_end_object(&out);
    websocket_write(to, WEBSOCKET_TEXT, buffer_slice(&text));
    buffer_release(&text);
}

void frame_write(struct buffer *to, enum framing framing, enum frame_kind kind, struct slice id, struct slice json)
{
    switch (framing) {
    case FRAMING_SSE:
        write_sse(to, kind, id, json);
        break;
    case FRAMING_WEBSOCKET:
        write_websocket(to, kind, id, json);
        break;
    }
}

struct slice frame_bytes(struct frame *frame, enum framing framing)
{
    struct slice *encoded = &frame->encoded[framing];
    if (!encoded->ptr) {
        char id[CURSOR_TEXT_BYTES];
        struct buffer buffer = {0};
        buffer_reserve(&buffer, frame->parts.json.len + 96);
        frame_write(&buffer, framing, frame->parts.kind, cursor_format(frame->parts.at, frame->parts.style, id),
                    frame->parts.json);
        encoded->ptr = buffer_detach(&buffer, &encoded->len);
    }
    return *encoded;
}

size_t frame_weight(const struct frame *frame)
{
    /* The text is counted twice: as it came, and encoded. */
    return sizeof *frame + 2 * frame->parts.json.len;
}

static void json_put_cursor(struct json_out *out, struct cursor cursor, enum cursor_style style)
{
    char text[CURSOR_TEXT_BYTES];
    json_put_text(out, "cursor", cursor_format(cursor, style, text));
}

/* A session's stream speaks of sequences; the firehose has none. */
static void json_put_sequence(struct json_out *out, struct cursor cursor, enum cursor_style style)
{
    if (style == CURSOR_SESSION) {
        json_put_i64(out, "sequence", cursor.sequence);
    }
}

static void ready_json(struct buffer *to, struct cursor cursor, enum cursor_style style, struct cursor end,
                       struct slice asks)
{
    struct json_out out = json_out_to(to);
    json_begin_object(&out);
    json_put_cursor(&out, cursor, style);
    json_put_sequence(&out, end, style);
    if (slice_present(asks)) {
        json_put_raw(&out, "asks", asks);
    }
    json_end_object(&out);
}

static struct frame *frame_of_text(enum frame_kind kind, struct buffer *text)
{
    struct frame *frame = frame_new(&(struct frame_parts){.kind = kind, .json = buffer_slice(text)});
    buffer_release(text);
    return frame;
}

struct frame *frame_ready(struct cursor cursor, enum cursor_style style, struct cursor end, struct slice asks)
{
    struct buffer text = {0};
    ready_json(&text, cursor, style, end, asks);
    return frame_of_text(FRAME_READY, &text);
}

struct frame *frame_slow(struct cursor cursor, enum cursor_style style, int64_t dropped_deltas)
{
    struct buffer text = {0};
    struct json_out out = json_out_to(&text);
    json_begin_object(&out);
    json_put_sequence(&out, cursor, style);
    json_put_cursor(&out, cursor, style);
    json_put_i64(&out, "dropped_deltas", dropped_deltas);
    json_end_object(&out);
    return frame_of_text(FRAME_SLOW, &text);
}

struct frame *frame_closed(struct cursor cursor, enum cursor_style style, struct slice reason)
{
    struct buffer text = {0};
    struct json_out out = json_out_to(&text);
    json_begin_object(&out);
    json_put_text(&out, "reason", reason);
    json_put_cursor(&out, cursor, style);
    json_end_object(&out);
    return frame_of_text(FRAME_CLOSED, &text);
}

struct frame *frame_ping(void)
{
    return frame_new(&(struct frame_parts){.kind = FRAME_PING});
}

void frame_write_ready(struct buffer *to, enum framing framing, struct cursor cursor, enum cursor_style style,
                       struct cursor end, struct slice asks)
{
    struct buffer text = {0};
    ready_json(&text, cursor, style, end, asks);
    frame_write(to, framing, FRAME_READY, (struct slice){0}, buffer_slice(&text));
    buffer_release(&text);
}

void frame_write_gap(struct buffer *to, enum framing framing, int64_t from, int64_t until, struct cursor cursor,
                     const char *reason)
{
    struct buffer text = {0};
    struct json_out out = json_out_to(&text);
    json_begin_object(&out);
    json_put_i64(&out, "from", from);
    json_put_i64(&out, "to", until);
    json_put_text(&out, "reason", slice_of(reason));
    json_put_cursor(&out, cursor, CURSOR_SESSION);
    json_end_object(&out);
    frame_write(to, framing, FRAME_GAP, (struct slice){0}, buffer_slice(&text));
    buffer_release(&text);
}

#include "fanout/frame.h"

#include <assert.h>
#include <stdlib.h>

#include "base/arena.h"

/* Bytes of a frame for one encoder; a frame has few of them, mostly one. */
struct encoding {
    struct encoding *next;
    const struct encoder *encoder;
    size_t len;
    char bytes[];
};

enum { FRAME_SLICES_MAX = 3 };

static size_t slices_of(struct frame *frame, struct slice *out[FRAME_SLICES_MAX])
{
    size_t count = 0;
    switch (frame->kind) {
    case FRAME_EVENT:
    case FRAME_DELTA:
        out[count++] = &frame->entry.type;
        out[count++] = &frame->entry.thread_id;
        out[count++] = &frame->entry.json;
        break;
    case FRAME_SNAPSHOT:
        out[count++] = &frame->snapshot.partial;
        break;
    case FRAME_GAP:
        out[count++] = &frame->gap.reason;
        break;
    case FRAME_CLOSED:
        out[count++] = &frame->closed.reason;
        break;
    case FRAME_READY:
        out[count++] = &frame->ready.asks;
        break;
    case FRAME_SLOW:
    case FRAME_HEARTBEAT:
    case FRAME_KIND_COUNT:
        break;
    }
    return count;
}

struct frame *frame_new(const struct frame *facts)
{
    struct frame copy = *facts;
    struct slice *slices[FRAME_SLICES_MAX];
    size_t count = slices_of(&copy, slices), text_bytes = 0;
    for (size_t i = 0; i < count; i++) {
        text_bytes += slices[i]->len;
    }
    struct frame *frame = memory_alloc(sizeof *frame + text_bytes);
    char *at = (char *)(frame + 1);
    for (size_t i = 0; i < count; i++) {
        *slices[i] = slice_place(*slices[i], &at);
    }
    *frame = copy;
    frame->encodings = NULL;
    frame->refs = 1;
    return frame;
}

struct frame *frame_ref(struct frame *frame)
{
    assert(frame->refs > 0);
    frame->refs++;
    return frame;
}

void frame_unref(struct frame *frame)
{
    assert(!frame || frame->refs > 0);
    if (!frame || --frame->refs > 0) {
        return;
    }
    frame_forget_bytes(frame);
    free(frame);
}

void frame_forget_bytes(struct frame *frame)
{
    for (struct encoding *encoding = frame->encodings, *next; encoding; encoding = next) {
        next = encoding->next;
        free(encoding);
    }
    frame->encodings = NULL;
}

static size_t json_bytes(const struct frame *frame)
{
    bool is_entry = frame->kind == FRAME_EVENT || frame->kind == FRAME_DELTA;
    return is_entry ? frame->entry.json.len : 0;
}

static struct encoding *encode(const struct frame *frame, const struct encoder *encoder)
{
    struct buffer buffer = {0};
    size_t len;
    buffer_reserve(&buffer, sizeof(struct encoding) + json_bytes(frame) + 96);
    buffer.len = sizeof(struct encoding); /* its bytes follow it in one piece of memory */
    encoder->encode(&buffer, frame);
    struct encoding *encoding = (struct encoding *)(void *)buffer_detach(&buffer, &len);
    *encoding = (struct encoding){.encoder = encoder, .len = len - sizeof *encoding};
    return encoding;
}

struct slice frame_bytes(struct frame *frame, const struct encoder *encoder)
{
    struct encoding *encoding = frame->encodings;
    while (encoding && encoding->encoder != encoder) {
        encoding = encoding->next;
    }
    if (!encoding) {
        encoding = encode(frame, encoder);
        encoding->next = frame->encodings;
        frame->encodings = encoding;
    }
    return slice_from(encoding->bytes, encoding->len);
}

size_t frame_weight(const struct frame *frame)
{
    /* The text is counted twice: as it came, and encoded. */
    return sizeof *frame + 2 * json_bytes(frame);
}

/* Server-sent events (WHATWG HTML, "text/event-stream"): encoding frames, and decoding a stream fed in any pieces. */
#ifndef WIRE_SSE_H
#define WIRE_SSE_H

#include "base/buffer.h"
#include "base/status.h"

struct sse_event {
    struct slice id;    /* when decoded: the last id the stream named, empty before that */
    struct slice event; /* absent or empty = "message" */
    struct slice data;
};

/* Absent fields are left out. Line breaks in `data` begin a further data line; in `id` and `event`, which cannot hold
 * any, they and zero bytes are written as spaces. */
void sse_write(struct buffer *buffer, const struct sse_event *event);
/* A line that readers ignore, to keep the connection alive. */
void sse_write_comment(struct buffer *buffer, struct slice text);

/* Owned by the caller. No line and no event grows beyond `event_bytes_max`. */
struct sse_decoder {
    struct buffer line; /* a line whose end has not arrived */
    struct buffer data;
    struct buffer id;
    struct buffer event;
    size_t event_bytes_max;
    int64_t retry_ms; /* what the stream asked for, -1 before that */
    unsigned char bom_seen;
    bool started;
    bool skip_lf;  /* the last line ended with CR */
    bool has_data; /* a data line arrived, perhaps an empty one */
    bool delivered;
};

enum sse_step {
    SSE_MORE,      /* all bytes are taken */
    SSE_EVENT,     /* *out is filled; call again with the rest */
    SSE_TOO_LARGE, /* a line or an event is larger than allowed; the stream cannot be read on */
};

void sse_decoder_init(struct sse_decoder *decoder, size_t event_bytes_max);
void sse_decoder_release(struct sse_decoder *decoder);
/* Takes bytes off *bytes. The slices of *out are good until the next call. An event without its final empty line at
 * the end of the stream is never delivered, as the standard demands. */
MUST_CHECK enum sse_step sse_decode(struct sse_decoder *decoder, struct slice *bytes, struct sse_event *out);

#endif

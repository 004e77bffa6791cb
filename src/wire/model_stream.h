/* Reads the answer of a model, a stream of server-sent events fed in any pieces, and tells it part by part. What one
 * event means is the vendor's: struct model_wire. */
#ifndef WIRE_MODEL_STREAM_H
#define WIRE_MODEL_STREAM_H

#include "base/arena.h"
#include "wire/model_message.h"
#include "wire/sse.h"

enum { MODEL_TOOLS_MAX = 64 }; /* calls in one answer */

struct model_stream;

/* One vendor's format. */
struct model_wire {
    const char *name;
    /* One event's data, already parsed. INVALID when it can't be understood. */
    enum status (*read)(struct model_stream *stream, const struct json *event, struct model_sink sink,
                        struct failure *failure);
    void (*write)(struct buffer *to, const struct model_request *request);
};

/* Owned by the caller. */
struct model_stream {
    const struct model_wire *wire;
    struct sse_decoder sse;
    struct arena arena; /* of one event */
    bool is_finished;   /* the vendor's mark of the end came */
    /* the vendor's */
    struct model_usage usage;
    uint64_t tools_begun; /* one bit for each index */
    int64_t tool_last;    /* the index that began last; -1 = none */
};

void model_stream_init(struct model_stream *stream, const struct model_wire *wire, size_t event_bytes_max);
void model_stream_release(struct model_stream *stream);
/* Takes all bytes. INVALID (`malformed`) when the stream can't be understood, TOO_LARGE when an event is too long; the
 * stream must not be fed after that. What follows the end is passed over. */
MUST_CHECK enum status model_stream_feed(struct model_stream *stream, struct slice bytes, struct model_sink sink,
                                         struct failure *failure);
/* The words of an error answer: its kind in `name`, its text in `text`; both formats use the same shape. Slices live in
 * the arena; false when it is no such answer. */
bool model_error_read(struct arena *arena, struct slice body, struct slice *out_name, struct slice *out_text);

/* For the vendors' readers. */
enum status model_malformed(struct failure *failure, const char *what);
/* A count of tokens, where there is one; *to keeps its value otherwise. */
void model_take_count(const struct json *usage, const char *name, int64_t *to);

#endif

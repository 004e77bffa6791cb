#include "wire/model_stream.h"

void model_stream_init(struct model_stream *stream, const struct model_wire *wire, size_t event_bytes_max)
{
    *stream = (struct model_stream){.wire = wire, .tool_last = -1, .usage = {-1, -1, -1, -1, -1}};
    sse_decoder_init(&stream->sse, event_bytes_max);
}

void model_stream_release(struct model_stream *stream)
{
    sse_decoder_release(&stream->sse);
    arena_release(&stream->arena);
}

static enum status read_event(struct model_stream *stream, struct slice text, struct model_sink sink,
                              struct failure *failure)
{
    const struct json *event = NULL;
    struct failure why = {0};
    if (slice_trim(text).len == 0) {
        return STATUS_OK;
    }
    if (slice_eq(slice_trim(text), SLICE("[DONE]"))) {
        stream->is_finished = true;
        return STATUS_OK;
    }
    arena_reset(&stream->arena);
    if (json_parse(&stream->arena, text, &event, &why) != STATUS_OK) {
        return failure_set(failure, STATUS_INVALID, "malformed", "The model's stream is no JSON: %s", why.detail);
    }
    if (!json_is(event, JSON_OBJECT)) {
        return failure_set(failure, STATUS_INVALID, "malformed", "An event of the model's stream is no object but %s.",
                           json_kind_name(event->kind));
    }
    return stream->wire->read(stream, event, sink, failure);
}

enum status model_stream_feed(struct model_stream *stream, struct slice bytes, struct model_sink sink,
                              struct failure *failure)
{
    while (!stream->is_finished) {
        struct sse_event event;
        enum sse_step step = sse_decode(&stream->sse, &bytes, &event);
        if (step == SSE_MORE) {
            return STATUS_OK;
        }
        if (step == SSE_TOO_LARGE) {
            return failure_set(failure, STATUS_TOO_LARGE, "too_large",
                               "An event of the model's stream is larger than %zu bytes.", stream->sse.event_bytes_max);
        }
        enum status status = read_event(stream, event.data, sink, failure);
        if (status != STATUS_OK) {
            return status;
        }
    }
    return STATUS_OK;
}

bool model_error_read(struct arena *arena, struct slice body, struct slice *out_name, struct slice *out_text)
{
    const struct json *answer = NULL;
    if (json_parse(arena, body, &answer, NULL) != STATUS_OK) {
        return false;
    }
    const struct json *error = json_get(answer, "error");
    if (json_as_text(error, out_text)) { /* some servers say it in one word */
        *out_name = SLICE("error");
        return true;
    }
    if (!json_as_text(json_get(error, "message"), out_text)) {
        return false;
    }
    *out_name = json_text_of(error, "type");
    if (!slice_present(*out_name)) {
        *out_name = SLICE("error");
    }
    return true;
}

/* --- for the vendors' readers --- */

enum status model_malformed(struct failure *failure, const char *what)
{
    return failure_set(failure, STATUS_INVALID, "malformed", "The model's stream holds %s.", what);
}

void model_take_count(const struct json *usage, const char *name, int64_t *to)
{
    int64_t value;
    if (json_as_i64(json_get(usage, name), &value) && value >= 0) {
        *to = value;
    }
}

#include "wire/anthropic.h"

const struct model_wire anthropic_wire = {"anthropic", anthropic_read, anthropic_write};

/* --- usage --- */

/* The vendor counts cached input apart; a later message tells only what changed. */
static void tell_usage(struct model_stream *stream, const struct json *usage, struct model_sink sink)
{
    struct model_usage *sum = &stream->usage;
    struct model_part part = {.kind = PART_USAGE};
    if (!json_is(usage, JSON_OBJECT)) {
        return;
    }
    model_take_count(usage, "input_tokens", &sum->input_tokens);
    model_take_count(usage, "output_tokens", &sum->output_tokens);
    model_take_count(usage, "cache_read_input_tokens", &sum->cache_read_tokens);
    model_take_count(usage, "cache_creation_input_tokens", &sum->cache_write_tokens);
    part.usage = *sum;
    if (sum->input_tokens >= 0) {
        part.usage.input_tokens += (sum->cache_read_tokens > 0 ? sum->cache_read_tokens : 0) +
                                   (sum->cache_write_tokens > 0 ? sum->cache_write_tokens : 0);
    }
    model_tell(sink, &part);
}

static enum status read_message_start(struct model_stream *stream, const struct json *event, struct model_sink sink,
                                      struct failure *failure)
{
    (void)failure;
    tell_usage(stream, json_get(json_get(event, "message"), "usage"), sink);
    return STATUS_OK;
}

/* --- blocks --- */

static enum status read_block_start(struct model_stream *stream, const struct json *event, struct model_sink sink,
                                    struct failure *failure)
{
    const struct json *block = json_get(event, "content_block");
    struct slice type = json_text_of(block, "type"), text = {0};
    struct model_part part = {.index = json_i64_of(event, "index")};
    if (slice_is(type, "tool_use")) {
        part.kind = PART_TOOL_BEGIN;
        part.call_id = json_text_of(block, "id");
        part.name = json_text_of(block, "name");
        if (!part.call_id.len || !part.name.len) {
            return model_malformed(failure, "a tool call without id or name");
        }
        if (part.index < 0 || part.index >= MODEL_TOOLS_MAX || (stream->tools_begun >> part.index & 1)) {
            return model_malformed(failure, "a tool call with a wrong index");
        }
        stream->tools_begun |= (uint64_t)1 << part.index;
        model_tell(sink, &part);
        return STATUS_OK;
    }
    if (slice_is(type, "redacted_thinking") && json_as_text(json_get(block, "data"), &part.text)) {
        part.kind = PART_SEALED;
        model_tell(sink, &part);
        return STATUS_OK;
    }
    bool is_text = slice_is(type, "text");
    if ((is_text || slice_is(type, "thinking")) &&
        json_as_text(json_get(block, is_text ? "text" : "thinking"), &text) && text.len) {
        part.kind = is_text ? PART_TEXT : PART_REASONING;
        part.text = text;
        model_tell(sink, &part);
    }
    return STATUS_OK;
}

/* Which member of a delta holds what. Unknown deltas are passed over. */
static const struct {
    const char *type, *member;
    enum part_kind kind;
} deltas[] = {
    {"text_delta", "text", PART_TEXT},
    {"thinking_delta", "thinking", PART_REASONING},
    {"signature_delta", "signature", PART_SIGNATURE},
    {"input_json_delta", "partial_json", PART_TOOL_INPUT},
};

static enum status read_block_delta(struct model_stream *stream, const struct json *event, struct model_sink sink,
                                    struct failure *failure)
{
    const struct json *delta = json_get(event, "delta");
    struct slice type = json_text_of(delta, "type");
    struct model_part part = {.index = json_i64_of(event, "index")};
    for (size_t i = 0; i < sizeof deltas / sizeof deltas[0]; i++) {
        if (!slice_is(type, deltas[i].type)) {
            continue;
        }
        if (!json_as_text(json_get(delta, deltas[i].member), &part.text)) {
            return model_malformed(failure, "a delta without its text");
        }
        part.kind = deltas[i].kind;
        bool is_known = part.index >= 0 && part.index < MODEL_TOOLS_MAX && (stream->tools_begun >> part.index & 1);
        if (part.kind == PART_TOOL_INPUT && !is_known) {
            return model_malformed(failure, "input of a tool call that never began");
        }
        if (part.text.len) {
            model_tell(sink, &part);
        }
        return STATUS_OK;
    }
    return STATUS_OK;
}

/* --- the end --- */

static const struct {
    const char *word;
    enum model_stop stop;
} stops[] = {
    {"end_turn", MODEL_STOP_END},
    {"stop_sequence", MODEL_STOP_END},
    {"pause_turn", MODEL_STOP_END},
    {"max_tokens", MODEL_STOP_LENGTH},
    {"model_context_window_exceeded", MODEL_STOP_LENGTH},
    {"tool_use", MODEL_STOP_TOOLS},
    {"refusal", MODEL_STOP_FILTER},
};

static enum status read_message_delta(struct model_stream *stream, const struct json *event, struct model_sink sink,
                                      struct failure *failure)
{
    struct model_part part = {.kind = PART_STOP, .stop = MODEL_STOP_END};
    struct slice reason;
    (void)failure;
    tell_usage(stream, json_get(event, "usage"), sink);
    if (json_as_text(json_get(json_get(event, "delta"), "stop_reason"), &reason)) {
        for (size_t i = 0; i < sizeof stops / sizeof stops[0]; i++) {
            part.stop = slice_is(reason, stops[i].word) ? stops[i].stop : part.stop;
        }
        model_tell(sink, &part);
    }
    return STATUS_OK;
}

static enum status read_message_stop(struct model_stream *stream, const struct json *event, struct model_sink sink,
                                     struct failure *failure)
{
    (void)event;
    (void)sink;
    (void)failure;
    stream->is_finished = true;
    return STATUS_OK;
}

static enum status read_error(struct model_stream *stream, const struct json *event, struct model_sink sink,
                              struct failure *failure)
{
    const struct json *error = json_get(event, "error");
    struct model_part part = {.kind = PART_ERROR, .name = json_text_of(error, "type")};
    (void)failure;
    part.text = json_text_of(error, "message");
    stream->is_finished = true;
    model_tell(sink, &part);
    return STATUS_OK;
}

static const struct {
    const char *type;
    enum status (*read)(struct model_stream *stream, const struct json *event, struct model_sink sink,
                        struct failure *failure);
} events[] = {
    {"content_block_delta", read_block_delta}, {"content_block_start", read_block_start},
    {"message_start", read_message_start},     {"message_delta", read_message_delta},
    {"message_stop", read_message_stop},       {"error", read_error},
};

enum status anthropic_read(struct model_stream *stream, const struct json *event, struct model_sink sink,
                           struct failure *failure)
{
    struct slice type;
    if (!json_as_text(json_get(event, "type"), &type)) {
        return model_malformed(failure, "an event without a type");
    }
    for (size_t i = 0; i < sizeof events / sizeof events[0]; i++) {
        if (slice_is(type, events[i].type)) {
            return events[i].read(stream, event, sink, failure);
        }
    }
    return STATUS_OK; /* ping, content_block_stop, and what comes in later versions */
}

#include "wire/openai.h"

const struct model_wire openai_wire = {"openai", openai_read, openai_write};

/* --- usage --- */

static void tell_usage(struct model_stream *stream, const struct json *usage, struct model_sink sink)
{
    struct model_usage *sum = &stream->usage;
    struct model_part part = {.kind = PART_USAGE};
    if (!json_is(usage, JSON_OBJECT)) {
        return;
    }
    model_take_count(usage, "prompt_tokens", &sum->input_tokens);
    model_take_count(usage, "completion_tokens", &sum->output_tokens);
    model_take_count(json_get(usage, "prompt_tokens_details"), "cached_tokens", &sum->cache_read_tokens);
    model_take_count(json_get(usage, "completion_tokens_details"), "reasoning_tokens", &sum->reasoning_tokens);
    part.usage = *sum;
    model_tell(sink, &part);
}

/* --- tool calls --- */

/* Compatible servers leave out the index, or send the id again with every piece. */
static int64_t index_of(const struct model_stream *stream, const struct json *call)
{
    int64_t index;
    if (json_as_i64(json_get(call, "index"), &index)) {
        return index;
    }
    bool begins = json_text_of(json_get(call, "function"), "name").len > 0;
    return begins || stream->tool_last < 0 ? stream->tool_last + 1 : stream->tool_last;
}

static enum status begin_call(struct model_stream *stream, const struct json *call, int64_t index,
                              struct model_sink sink, struct failure *failure)
{
    struct model_part part = {.kind = PART_TOOL_BEGIN, .index = index};
    part.call_id = json_text_of(call, "id");
    part.name = json_text_of(json_get(call, "function"), "name");
    if (!part.name.len) {
        return model_malformed(failure, "a tool call without a name");
    }
    if (!part.call_id.len) {
        part.call_id = arena_format(&stream->arena, "call_%lld", (long long)index);
    }
    stream->tools_begun |= (uint64_t)1 << index;
    stream->tool_last = index;
    model_tell(sink, &part);
    return STATUS_OK;
}

static enum status read_call(struct model_stream *stream, const struct json *call, struct model_sink sink,
                             struct failure *failure)
{
    int64_t index = index_of(stream, call);
    struct model_part part = {.kind = PART_TOOL_INPUT, .index = index};
    if (index < 0 || index >= MODEL_TOOLS_MAX) {
        return model_malformed(failure, "a tool call with a wrong index");
    }
    if (!(stream->tools_begun >> index & 1)) {
        enum status status = begin_call(stream, call, index, sink, failure);
        if (status != STATUS_OK) {
            return status;
        }
    }
    if (json_as_text(json_get(json_get(call, "function"), "arguments"), &part.text) && part.text.len) {
        model_tell(sink, &part);
    }
    return STATUS_OK;
}

/* --- one choice --- */

static void tell_text(const struct json *value, enum part_kind kind, struct model_sink sink)
{
    struct model_part part = {.kind = kind};
    if (json_as_text(value, &part.text) && part.text.len) {
        model_tell(sink, &part);
    }
}

static enum status read_delta(struct model_stream *stream, const struct json *delta, struct model_sink sink,
                              struct failure *failure)
{
    const struct json *reasoning = json_get_value(delta, "reasoning_content");
    const struct json *calls = json_get_value(delta, "tool_calls");
    tell_text(reasoning ? reasoning : json_get(delta, "reasoning"), PART_REASONING, sink);
    tell_text(json_get(delta, "content"), PART_TEXT, sink);
    tell_text(json_get(delta, "refusal"), PART_TEXT, sink);
    for (const struct json *call = json_is(calls, JSON_ARRAY) ? calls->child : NULL; call; call = call->next) {
        enum status status = read_call(stream, call, sink, failure);
        if (status != STATUS_OK) {
            return status;
        }
    }
    return STATUS_OK;
}

static const struct {
    const char *word;
    enum model_stop stop;
} stops[] = {
    {"stop", MODEL_STOP_END},
    {"length", MODEL_STOP_LENGTH},
    {"tool_calls", MODEL_STOP_TOOLS},
    {"function_call", MODEL_STOP_TOOLS},
    {"content_filter", MODEL_STOP_FILTER},
};

static void tell_stop(const struct json *choice, struct model_sink sink)
{
    struct model_part part = {.kind = PART_STOP, .stop = MODEL_STOP_END};
    struct slice reason;
    if (json_as_text(json_get(choice, "finish_reason"), &reason)) {
        for (size_t i = 0; i < sizeof stops / sizeof stops[0]; i++) {
            part.stop = slice_is(reason, stops[i].word) ? stops[i].stop : part.stop;
        }
        model_tell(sink, &part);
    }
}

static void tell_error(struct model_stream *stream, const struct json *error, struct model_sink sink)
{
    struct model_part part = {.kind = PART_ERROR, .name = json_text_of(error, "type")};
    if (!json_as_text(error, &part.text)) {
        part.text = json_text_of(error, "message");
    }
    stream->is_finished = true;
    model_tell(sink, &part);
}

enum status openai_read(struct model_stream *stream, const struct json *event, struct model_sink sink,
                        struct failure *failure)
{
    const struct json *error = json_get_value(event, "error"), *choices = json_get_value(event, "choices");
    if (error) {
        tell_error(stream, error, sink);
        return STATUS_OK;
    }
    if (!choices && !json_get(event, "usage")) {
        return STATUS_OK; /* what comes in later versions */
    }
    if (choices && !json_is(choices, JSON_ARRAY)) {
        return model_malformed(failure, "choices that are no array");
    }
    if (choices && choices->child) { /* only one was asked for */
        enum status status = read_delta(stream, json_get(choices->child, "delta"), sink, failure);
        if (status != STATUS_OK) {
            return status;
        }
        tell_stop(choices->child, sink);
    }
    tell_usage(stream, json_get(event, "usage"), sink);
    return STATUS_OK;
}

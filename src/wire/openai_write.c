#include "wire/openai.h"

static void put_text_part(struct json_out *out, struct slice text)
{
    json_begin_object(out);
    json_put_text(out, "type", SLICE("text"));
    json_put_text(out, "text", text);
    json_end_object(out);
}

static void put_image_part(struct json_out *out, const struct model_block *block)
{
    struct buffer url = {0};
    json_begin_object(out);
    json_put_text(out, "type", SLICE("image_url"));
    json_key(out, "image_url");
    json_begin_object(out);
    if (slice_present(block->url)) {
        json_put_text(out, "url", block->url);
    } else {
        buffer_format(&url, "data:%.*s;base64,", SLICE_ARG(block->media_type));
        buffer_add(&url, block->data);
        json_put_text(out, "url", buffer_slice(&url));
    }
    json_end_object(out);
    json_end_object(out);
    buffer_release(&url);
}

/* The text of all text blocks; many servers take a plain string only. */
static void join_text(struct buffer *to, const struct model_message *message)
{
    for (size_t i = 0; i < message->count; i++) {
        if (message->blocks[i].kind == BLOCK_TEXT && message->blocks[i].text.len) {
            buffer_add(to, to->len ? SLICE("\n\n") : SLICE(""));
            buffer_add(to, message->blocks[i].text);
        }
    }
}

static size_t count_kind(const struct model_message *message, enum block_kind kind)
{
    size_t count = 0;
    for (size_t i = 0; i < message->count; i++) {
        count += message->blocks[i].kind == kind;
    }
    return count;
}

static void put_user_parts(struct json_out *out, const struct model_message *message)
{
    json_begin_array(out);
    for (size_t i = 0; i < message->count; i++) {
        if (message->blocks[i].kind == BLOCK_TEXT) {
            put_text_part(out, message->blocks[i].text);
        } else if (message->blocks[i].kind == BLOCK_IMAGE) {
            put_image_part(out, &message->blocks[i]);
        }
    }
    json_end_array(out);
}

static void put_user(struct json_out *out, const struct model_message *message)
{
    struct buffer text = {0};
    json_begin_object(out);
    json_put_text(out, "role", SLICE("user"));
    json_key(out, "content");
    if (count_kind(message, BLOCK_IMAGE)) {
        put_user_parts(out, message);
    } else {
        join_text(&text, message);
        json_text(out, buffer_slice(&text));
    }
    json_end_object(out);
    buffer_release(&text);
}

static void put_calls(struct json_out *out, const struct model_message *message)
{
    json_key(out, "tool_calls");
    json_begin_array(out);
    for (size_t i = 0; i < message->count; i++) {
        const struct model_block *block = &message->blocks[i];
        if (block->kind != BLOCK_TOOL_USE) {
            continue;
        }
        json_begin_object(out);
        json_put_text(out, "id", block->call_id);
        json_put_text(out, "type", SLICE("function"));
        json_key(out, "function");
        json_begin_object(out);
        json_put_text(out, "name", block->name);
        json_put_text(out, "arguments", block->arguments.len ? block->arguments : SLICE("{}"));
        json_end_object(out);
        json_end_object(out);
    }
    json_end_array(out);
}

static void put_assistant(struct json_out *out, const struct model_message *message)
{
    struct buffer text = {0};
    bool has_calls = count_kind(message, BLOCK_TOOL_USE) > 0;
    join_text(&text, message);
    if (text.len || has_calls) {
        json_begin_object(out);
        json_put_text(out, "role", SLICE("assistant"));
        json_put_text(out, "content", text.len ? buffer_slice(&text) : (struct slice){NULL, 0});
        if (has_calls) {
            put_calls(out, message);
        }
        json_end_object(out);
    }
    buffer_release(&text);
}

static void put_results(struct json_out *out, const struct model_message *message)
{
    for (size_t i = 0; i < message->count; i++) {
        if (message->blocks[i].kind == BLOCK_TOOL_RESULT) {
            json_begin_object(out);
            json_put_text(out, "role", SLICE("tool"));
            json_put_text(out, "tool_call_id", message->blocks[i].call_id);
            json_put_text(out, "content", message->blocks[i].text.len ? message->blocks[i].text : SLICE(""));
            json_end_object(out);
        }
    }
}

static void put_message(struct json_out *out, const struct model_message *message)
{
    switch (message->role) {
    case MODEL_USER:
        put_user(out, message);
        break;
    case MODEL_ASSISTANT:
        put_assistant(out, message);
        break;
    case MODEL_TOOL:
        put_results(out, message);
        break;
    }
}

static void put_system(struct json_out *out, struct slice system)
{
    if (system.len) {
        json_begin_object(out);
        json_put_text(out, "role", SLICE("system"));
        json_put_text(out, "content", system);
        json_end_object(out);
    }
}

static void put_tools(struct json_out *out, const struct model_request *request)
{
    json_key(out, "tools");
    json_begin_array(out);
    for (size_t i = 0; i < request->tool_count; i++) {
        json_begin_object(out);
        json_put_text(out, "type", SLICE("function"));
        json_key(out, "function");
        json_begin_object(out);
        json_put_text(out, "name", request->tools[i].name);
        json_put_text(out, "description", request->tools[i].description);
        json_put_raw(out, "parameters", request->tools[i].schema);
        json_end_object(out);
        json_end_object(out);
    }
    json_end_array(out);
}

/* "off" has no word that all servers take, and "max" is above what they know. */
static void put_effort(struct json_out *out, struct slice effort)
{
    if (slice_is(effort, "max")) {
        json_put_text(out, "reasoning_effort", SLICE("high"));
    } else if (effort.len && !slice_is(effort, "off")) {
        json_put_text(out, "reasoning_effort", effort);
    }
}

void openai_write(struct buffer *to, const struct model_request *request)
{
    struct json_out out = json_out_to(to);
    json_begin_object(&out);
    json_put_text(&out, "model", request->model);
    json_put_bool(&out, "stream", true);
    json_put_raw(&out, "stream_options", SLICE("{\"include_usage\":true}"));
    if (request->output_tokens_max > 0) {
        json_put_i64(&out, "max_completion_tokens", request->output_tokens_max);
    }
    put_effort(&out, request->reasoning_effort);
    json_key(&out, "messages");
    json_begin_array(&out);
    put_system(&out, request->system);
    for (size_t i = 0; i < request->message_count; i++) {
        put_message(&out, &request->messages[i]);
    }
    json_end_array(&out);
    if (request->tool_count) {
        put_tools(&out, request);
    }
    json_end_object(&out);
}

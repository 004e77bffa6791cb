#include "wire/anthropic.h"

/* The vendor wants a limit; thinking is paid out of it. */
enum { OUTPUT_TOKENS = 8192 };

static const struct {
    const char *effort;
    int64_t tokens;
} budgets[] = {{"low", 2048}, {"medium", 8192}, {"high", 16384}, {"max", 32768}};

static int64_t thinking_budget(struct slice effort)
{
    for (size_t i = 0; i < sizeof budgets / sizeof budgets[0]; i++) {
        if (slice_is(effort, budgets[i].effort)) {
            return budgets[i].tokens;
        }
    }
    return 0;
}

static void put_cache_mark(struct json_out *out)
{
    json_key(out, "cache_control");
    json_raw(out, SLICE("{\"type\":\"ephemeral\"}"));
}

static void put_image(struct json_out *out, const struct model_block *block)
{
    bool is_url = slice_present(block->url);
    json_key(out, "source");
    json_begin_object(out);
    json_put_text(out, "type", is_url ? SLICE("url") : SLICE("base64"));
    if (is_url) {
        json_put_text(out, "url", block->url);
    } else {
        json_put_text(out, "media_type", block->media_type);
        json_put_text(out, "data", block->data);
    }
    json_end_object(out);
}

static void put_reasoning(struct json_out *out, const struct model_block *block)
{
    json_put_text(out, "type", block->is_sealed ? SLICE("redacted_thinking") : SLICE("thinking"));
    if (block->is_sealed) {
        json_put_text(out, "data", block->signature);
    } else {
        json_put_text(out, "thinking", block->text);
        json_put_text(out, "signature", block->signature);
    }
}

static void put_block(struct json_out *out, const struct model_block *block, bool is_marked)
{
    json_begin_object(out);
    switch (block->kind) {
    case BLOCK_TEXT:
        json_put_text(out, "type", SLICE("text"));
        json_put_text(out, "text", block->text);
        break;
    case BLOCK_REASONING:
        put_reasoning(out, block);
        break;
    case BLOCK_IMAGE:
        json_put_text(out, "type", SLICE("image"));
        put_image(out, block);
        break;
    case BLOCK_TOOL_USE:
        json_put_text(out, "type", SLICE("tool_use"));
        json_put_text(out, "id", block->call_id);
        json_put_text(out, "name", block->name);
        json_put_raw(out, "input", block->arguments.len ? block->arguments : SLICE("{}"));
        break;
    case BLOCK_TOOL_RESULT:
        json_put_text(out, "type", SLICE("tool_result"));
        json_put_text(out, "tool_use_id", block->call_id);
        json_put_text(out, "content", block->text);
        if (block->is_error) {
            json_put_bool(out, "is_error", true);
        }
        break;
    }
    if (is_marked) {
        put_cache_mark(out);
    }
    json_end_object(out);
}

/* Empty text and unsigned reasoning are refused by the vendor. */
static bool is_sent(const struct model_block *block)
{
    switch (block->kind) {
    case BLOCK_TEXT:
        return slice_trim(block->text).len > 0;
    case BLOCK_REASONING:
        return block->signature.len > 0;
    case BLOCK_IMAGE:
    case BLOCK_TOOL_USE:
    case BLOCK_TOOL_RESULT:
        return true;
    }
    return false;
}

static size_t last_sent(const struct model_message *message)
{
    size_t last = message->count;
    for (size_t i = 0; i < message->count; i++) {
        last = is_sent(&message->blocks[i]) ? i : last;
    }
    return last;
}

static void put_message(struct json_out *out, const struct model_message *message, bool is_marked)
{
    size_t last = last_sent(message);
    if (last == message->count) {
        return;
    }
    json_begin_object(out);
    json_put_text(out, "role", message->role == MODEL_ASSISTANT ? SLICE("assistant") : SLICE("user"));
    json_key(out, "content");
    json_begin_array(out);
    for (size_t i = 0; i <= last; i++) {
        if (is_sent(&message->blocks[i])) {
            bool can_be_marked = message->blocks[i].kind != BLOCK_REASONING;
            put_block(out, &message->blocks[i], is_marked && i == last && can_be_marked);
        }
    }
    json_end_array(out);
    json_end_object(out);
}

static void put_tools(struct json_out *out, const struct model_request *request)
{
    json_key(out, "tools");
    json_begin_array(out);
    for (size_t i = 0; i < request->tool_count; i++) {
        json_begin_object(out);
        json_put_text(out, "name", request->tools[i].name);
        json_put_text(out, "description", request->tools[i].description);
        json_put_raw(out, "input_schema", request->tools[i].schema);
        json_end_object(out);
    }
    json_end_array(out);
}

static void put_system(struct json_out *out, struct slice system)
{
    struct model_block block = {.kind = BLOCK_TEXT, .text = system};
    if (is_sent(&block)) {
        json_key(out, "system");
        json_begin_array(out);
        put_block(out, &block, true);
        json_end_array(out);
    }
}

static void put_limits(struct json_out *out, const struct model_request *request)
{
    int64_t budget = thinking_budget(request->reasoning_effort);
    json_put_i64(out, "max_tokens",
                 (request->output_tokens_max > 0 ? request->output_tokens_max : OUTPUT_TOKENS) + budget);
    if (budget > 0) {
        json_key(out, "thinking");
        json_begin_object(out);
        json_put_text(out, "type", SLICE("enabled"));
        json_put_i64(out, "budget_tokens", budget);
        json_end_object(out);
    }
}

void anthropic_write(struct buffer *to, const struct model_request *request)
{
    struct json_out out = json_out_to(to);
    json_begin_object(&out);
    json_put_text(&out, "model", request->model);
    put_limits(&out, request);
    json_put_bool(&out, "stream", true);
    put_system(&out, request->system);
    json_key(&out, "messages");
    json_begin_array(&out);
    for (size_t i = 0; i < request->message_count; i++) {
        put_message(&out, &request->messages[i], i + 1 == request->message_count);
    }
    json_end_array(&out);
    if (request->tool_count) {
        put_tools(&out, request);
    }
    json_end_object(&out);
}

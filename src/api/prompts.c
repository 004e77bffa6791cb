#include "api/handlers.h"
#include "domain/input.h"
#include "service/prompt.h"

const struct field message_body[] = {
    {"text", FIELD_STRING, false, "What is said. Either this or content.", NULL, 0, 0},
    {"content", FIELD_LIST, false, "What is said, as parts of a message.", NULL, 0, 0},
    {"mode", FIELD_WORD, false,
     "While a turn runs: followup waits, reject answers 409; as the session's queue_mode unless told.",
     &queue_mode_words, 0, 0},
    {"metadata", FIELD_OBJECT, false, "Kept with the message.", NULL, 0, 0},
    {"thread_id", FIELD_STRING, false, "The thread it belongs to.", NULL, 1, 128},
    {0},
};

/* One of `text` and `content`, not both. */
static enum status read_content(struct request *request, struct slice *out)
{
    struct failure *failure = &request->call.failure;
    const struct service *service = request->api->service;
    const struct json *content = json_get_value(request->body, "content");
    struct slice text = json_text_of(request->body, "text");
    if (slice_present(text) == (content != NULL)) {
        return failure_set(failure, STATUS_INVALID, "invalid_message", "Send either `text` or `content`.");
    }
    if (content) {
        *out = content->raw;
        return content->count > 0
                   ? STATUS_OK
                   : failure_set(failure, STATUS_INVALID, "invalid_message", "`content` must hold at least one part.");
    }
    *out = prompt_content_of(request_arena(request), text);
    return input_check_chars(text, "text", 1, service->session_limits.prompt_chars_max, failure);
}

static enum status check_size(struct request *request, const struct prompt_request *prompt)
{
    size_t bytes_max = request->api->service->event_bytes_max;
    size_t bytes = prompt->content.len + (prompt->metadata ? prompt->metadata->raw.len : 0);
    return bytes <= bytes_max
               ? STATUS_OK
               : failure_set(&request->call.failure, STATUS_TOO_LARGE, "event_too_large",
                             "The message has %zu bytes; at most %zu are accepted (option event-bytes-max).", bytes,
                             bytes_max);
}

static void write_receipt(struct request *request, const struct prompt_receipt *receipt)
{
    struct json_out *out = &request->out;
    json_begin_object(out);
    json_put_text(out, "prompt_id", receipt->id);
    json_put_text(out, "status", receipt->queued ? SLICE("queued") : SLICE("dispatched"));
    json_put_i64(out, "position", receipt->place);
    json_put_i64(out, "sequence", receipt->sequence);
    json_end_object(out);
}

enum status prompts_send(struct request *request)
{
    struct prompt_receipt receipt;
    struct prompt_request prompt = {
        .mode = words_find(queue_mode_words, json_text_of(request->body, "mode")),
        .metadata = json_get_value(request->body, "metadata"),
        .thread_id = json_text_of(request->body, "thread_id"),
    };
    enum status status = read_content(request, &prompt.content);
    if (status == STATUS_OK) {
        status = check_size(request, &prompt);
    }
    if (status == STATUS_OK) {
        status = prompt_send(&request->call, request->params[0], &prompt, &receipt);
    }
    if (status == STATUS_OK) {
        write_receipt(request, &receipt);
    }
    return status;
}

static void write_prompts(struct request *request, const struct prompt *prompts, size_t count)
{
    struct json_out *out = &request->out;
    json_begin_object(out);
    json_key(out, "prompts");
    json_begin_array(out);
    for (size_t i = 0; i < count; i++) {
        json_begin_object(out);
        json_put_text(out, "prompt_id", prompts[i].id);
        json_put_text(out, "mode", slice_of(queue_mode_words.names[prompts[i].mode]));
        json_put_i64(out, "position", (int64_t)i + 1);
        json_put_text(out, "actor", prompts[i].actor);
        json_put_raw(out, "content", prompts[i].content);
        json_put_raw(out, "metadata", slice_present(prompts[i].metadata) ? prompts[i].metadata : SLICE("{}"));
        json_put_text(out, "thread_id", prompts[i].thread_id);
        json_put_time(out, "created_at", prompts[i].created_at_ms);
        json_end_object(out);
    }
    json_end_array(out);
    json_end_object(out);
}

enum status prompts_list(struct request *request)
{
    struct prompt *prompts;
    size_t count;
    enum status status = prompt_list(&request->call, request->params[0], &prompts, &count);
    if (status == STATUS_OK) {
        write_prompts(request, prompts, count);
    }
    return status;
}

enum status prompts_withdraw(struct request *request)
{
    return prompt_withdraw(&request->call, request->params[0], request->params[1]);
}

enum status prompts_clear(struct request *request)
{
    struct prompt *prompts;
    size_t count;
    enum status status = prompt_clear(&request->call, request->params[0], &prompts, &count);
    if (status == STATUS_OK) {
        write_prompts(request, prompts, count);
    }
    return status;
}

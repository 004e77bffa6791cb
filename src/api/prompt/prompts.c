#include "api/prompt/follow.h"
#include "api/core/handlers.h"
#include "api/core/validate.h"
#include "base/hash.h"
#include "domain/message_parts.h"
#include "domain/input.h"
#include "service/prompt/prompt.h"

enum { DEBOUNCE_MS_MAX = 3600000, TIMEOUT_MS_MAX = 86400000 };

static const struct field message_body[] = {
    {"text", FIELD_STRING, false, "Text of the message. Either this or content.", NULL, 0, 0},
    {"content", FIELD_LIST, false, "The message as a list of parts.", NULL, 0, 0},
    {"mode", FIELD_WORD, false,
     "While a turn runs: followup waits, steer interrupts it and goes first, collect waits for more messages and "
     "is dispatched with them, reject answers 409. Default: the session's queue_mode.",
     &queue_mode_enum, 0, 0},
    {"clear_queue", FIELD_BOOLEAN, false, "With steer: withdraw the queued messages of its thread.", NULL, 0, 0},
    {"priority", FIELD_INTEGER, false, "Priority in the queue; higher goes first. Default: 0.", NULL,
     -PROMPT_PRIORITY_MAX, PROMPT_PRIORITY_MAX},
    {"debounce_ms", FIELD_INTEGER, false, "With collect: how long to wait for more messages.", NULL, 0,
     DEBOUNCE_MS_MAX},
    {"metadata", FIELD_OBJECT, false, "Kept with the message.", NULL, 0, 0},
    {"thread_id", FIELD_STRING, false, "The thread it belongs to.", NULL, 1, 128},
    {"message_id", FIELD_STRING, false, "Your id of the message; sent again, it returns the same receipt.", NULL, 1,
     200},
    {"sender", FIELD_OBJECT, false,
     "The sender in a channel: channel, channel_id, channel_user_id, display_name, email.", NULL, 0, 0},
    {"attachments", FIELD_LIST, false, "Objects with type and either url, data or the handle of a file.", NULL, 0, 0},
    {"mentioned", FIELD_BOOLEAN, false,
     "In a group: whether the agent was mentioned. If not, only messages of its owner start a turn. Default: true.",
     NULL, 0, 0},
    {0},
};

static const struct field message_query[] = {
    {"wait", FIELD_BOOLEAN, false, "Answer when the turn of this message has ended, with its result.", NULL, 0, 0},
    {"timeout_ms", FIELD_INTEGER, false, "With wait: answer 504 with the partial output after this time.", NULL, 1,
     TIMEOUT_MS_MAX},
    {"stream", FIELD_BOOLEAN, false, "Answer with the turn as server-sent events; the first is message_ack.", NULL, 0,
     0},
    {"append", FIELD_BOOLEAN, false, "Only write the message into the log; no turn starts.", NULL, 0, 0},
    {"inject", FIELD_BOOLEAN, false, "The same as append.", NULL, 0, 0},
    {0},
};

static bool asks(const struct request *request, const char *name)
{
    return slice_is(request_param(request, name), "true");
}

static bool is_true(const struct json *body, const char *name)
{
    bool value = false;
    json_as_bool(json_get(body, name), &value);
    return value;
}

static enum status read_content(struct arena *arena, const struct service *service, const struct json *body,
                                bool needed, struct slice *out, struct failure *failure)
{
    const struct json *content = json_get_value(body, "content");
    struct slice text = json_text_of(body, "text");
    bool none = !slice_present(text) && !content;
    if (none && !needed) {
        *out = (struct slice){0};
        return STATUS_OK;
    }
    if (none || (slice_present(text) && content)) {
        return failure_set(failure, STATUS_INVALID, "invalid_message", "Send either `text` or `content`.");
    }
    if (content) {
        *out = content->raw;
        return content->count > 0
                   ? parts_check(content, failure)
                   : failure_set(failure, STATUS_INVALID, "invalid_message", "`content` must hold at least one part.");
    }
    *out = prompt_content_of(arena, text);
    return input_check_chars(text, "text", 1, service->limits.session.prompt_chars_max, failure);
}

enum status prompts_read_content(struct request *request, bool needed, struct slice *out)
{
    return read_content(request_arena(request), request->api->service, request->body, needed, out,
                        &request->call.failure);
}

static enum status check_size(const struct service *service, struct slice content, struct slice metadata,
                              struct failure *failure)
{
    size_t bytes = content.len + metadata.len, bytes_max = service->limits.event.bytes_max;
    return bytes <= bytes_max
               ? STATUS_OK
               : failure_set(failure, STATUS_TOO_LARGE, "event_too_large",
                             "The message has %zu bytes; at most %zu are accepted (option event-bytes-max).", bytes,
                             bytes_max);
}

enum status prompts_check_size(struct request *request, struct slice content, struct slice metadata)
{
    return check_size(request->api->service, content, metadata, &request->call.failure);
}

enum status prompts_read_message(struct arena *arena, const struct service *service, const struct json *body,
                                 struct prompt_request *out, struct failure *failure)
{
    struct prompt_extras extras = {
        .metadata = json_get_value(body, "metadata"),
        .sender = json_get_value(body, "sender"),
        .attachments = json_get_value(body, "attachments"),
        .mentioned = json_get_value(body, "mentioned"),
        .message_id = json_text_of(body, "message_id"),
    };
    *out = (struct prompt_request){
        .mode = enum_names_find(queue_mode_enum, json_text_of(body, "mode")),
        .thread_id = json_text_of(body, "thread_id"),
        .clear_queue = is_true(body, "clear_queue"),
        .priority = json_i64_of(body, "priority"),
        .sender = extras.sender,
        .not_mentioned = extras.mentioned && !is_true(body, "mentioned"),
        .debounce_ms = json_get_value(body, "debounce_ms") ? json_i64_of(body, "debounce_ms") : -1,
    };
    enum status status = validate_body(message_body, body, failure);
    if (status == STATUS_OK) {
        status = read_content(arena, service, body, true, &out->content, failure);
    }
    if (status == STATUS_OK) {
        status = prompt_metadata_of(arena, &extras, &out->metadata, failure);
    }
    return status == STATUS_OK ? check_size(service, out->content, out->metadata, failure) : status;
}

static enum status append(struct request *request, const struct prompt_request *message)
{
    int64_t sequence;
    struct json_out *out = &request->out;
    if (follow_is_wanted(request)) {
        return failure_set(&request->call.failure, STATUS_INVALID, "nothing_to_follow",
                           "An appended message begins no turn: leave `wait` and `stream` out.");
    }
    enum status status = prompt_append(&request->call, request->params[0], message, &sequence);
    if (status == STATUS_OK) {
        request->exchange->status = 200;
        json_begin_object(out);
        json_put_text(out, "session_id", request->params[0]);
        json_put_bool(out, "appended", true);
        json_put_i64(out, "sequence", sequence);
        json_end_object(out);
    }
    return status;
}

static enum status take_message(struct request *request)
{
    struct prompt_request message;
    struct prompt_receipt receipt;
    enum status status = prompts_read_message(request_arena(request), request->api->service, request->body, &message,
                                              &request->call.failure);
    if (status != STATUS_OK) {
        return status;
    }
    if (asks(request, "append") || asks(request, "inject")) {
        return append(request, &message);
    }
    status = prompt_send(&request->call, request->params[0], &message, &receipt);
    if (status == STATUS_OK) {
        prompts_write_receipt(&request->out, &receipt);
    }
    return status;
}

static enum status check_ways(struct request *request)
{
    bool waits = asks(request, "wait");
    if (waits && asks(request, "stream")) {
        return failure_set(&request->call.failure, STATUS_INVALID, "invalid_member",
                           "Ask for either `wait` or `stream`.");
    }
    if (!waits && slice_present(request_param(request, "timeout_ms"))) {
        return failure_set(&request->call.failure, STATUS_INVALID, "invalid_member",
                           "`timeout_ms` is how long to wait: it goes with `wait=true` only.");
    }
    return STATUS_OK;
}

/* The client's own id of the message is a key like Idempotency-Key, within the session and however it asks. */
static enum status prompts_send(struct request *request)
{
    struct slice message_id = json_text_of(request->body, "message_id");
    enum status status = check_ways(request);
    if (status != STATUS_OK || !slice_present(message_id)) {
        return status == STATUS_OK ? take_message(request) : status;
    }
    struct slice parts[] = {SLICE("message"), request->params[0], request->exchange->request.body};
    struct hash fingerprint = hash_of_parts(parts, 3);
    struct slice key =
        arena_format(request_arena(request), "message:%.*s:%.*s", SLICE_ARG(request->params[0]), SLICE_ARG(message_id));
    return request_once(request, key, &fingerprint, take_message);
}

const struct route prompt_routes[] = {
    {HTTP_POST, "/api/sessions/{id}/messages", prompts_send, .idempotent = true, .query = message_query,
     .body = message_body, .prepare = media_prepare, .success = 202, .answer = "Receipt",
     .summary = "Send a message; starts a turn, or queues the message while one is running."},
    {0},
};

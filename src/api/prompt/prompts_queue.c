#include "api/core/handlers.h"
#include "service/prompt/prompt.h"
#include "service/turn/turn.h"

static const struct field prompt_edit_body[] = {
    {"text", FIELD_STRING, false, "New text of the message. At most one of this and content.", NULL, 0, 0},
    {"content", FIELD_LIST, false, "The new message as a list of parts.", NULL, 0, 0},
    {"metadata", FIELD_OBJECT, false, "Kept with the message, in place of all that was kept.", NULL, 0, 0},
    {"revision", FIELD_INTEGER, false, "The revision it is a change of; If-Match says the same.", NULL, 1, INT64_MAX},
    {0},
};

static const struct field prompt_move_body[] = {
    {"before", FIELD_STRING, false, "The message to put it before. Either this or position.", NULL, 1, 64},
    {"position", FIELD_INTEGER, false, "Its new place, from 1.", NULL, 1, 1000000},
    {"revision", FIELD_INTEGER, false, "The revision it is a change of; If-Match says the same.", NULL, 1, INT64_MAX},
    {0},
};

static const struct field prompt_promote_body[] = {
    {"steer", FIELD_BOOLEAN, false, "Also interrupt the running turn of its thread.", NULL, 0, 0},
    {"revision", FIELD_INTEGER, false, "The revision it is a change of; If-Match says the same.", NULL, 1, INT64_MAX},
    {0},
};

static const struct field clear_queue_query[] = {
    {"thread_id", FIELD_STRING, false, "Only of this thread.", NULL, 1, 128},
    {0},
};

/* --- writing --- */

static void write_prompt(struct json_out *out, const struct prompt *prompt, int64_t place)
{
    json_begin_object(out);
    json_put_text(out, "prompt_id", prompt->id);
    json_put_text(out, "mode", slice_of(queue_mode_enum.names[prompt->mode]));
    json_put_i64(out, "position", place);
    json_put_text(out, "actor", prompt->actor);
    json_put_raw(out, "content", prompt->content);
    json_put_raw(out, "metadata", slice_present(prompt->metadata) ? prompt->metadata : SLICE("{}"));
    json_put_text(out, "thread_id", prompt->thread_id);
    json_put_time(out, "created_at", prompt->created_at_ms);
    json_put_i64(out, "revision", prompt->revision);
    json_put_i64(out, "priority", prompt->priority);
    json_end_object(out);
}

void prompts_write(struct json_out *out, const struct prompt *prompts, size_t count)
{
    json_begin_array(out);
    for (size_t i = 0; i < count; i++) {
        write_prompt(out, &prompts[i], (int64_t)i + 1);
    }
    json_end_array(out);
}

void prompts_write_receipt(struct json_out *out, const struct prompt_receipt *receipt)
{
    json_begin_object(out);
    json_put_text(out, "prompt_id", receipt->id);
    json_put_text(out, "status",
                  receipt->logged   ? SLICE("logged")
                  : receipt->queued ? SLICE("queued")
                                    : SLICE("dispatched"));
    json_put_bool(out, "triggered", !receipt->logged);
    json_put_i64(out, "position", receipt->place);
    json_put_i64(out, "sequence", receipt->sequence);
    if (receipt->withdrawn_count > 0) {
        json_key(out, "withdrawn");
        prompts_write(out, receipt->withdrawn, receipt->withdrawn_count);
    }
    json_end_object(out);
}

static void write_list(struct request *request, const struct prompt *prompts, size_t count)
{
    struct json_out *out = &request->out;
    json_begin_object(out);
    json_key(out, "prompts");
    prompts_write(out, prompts, count);
    json_end_object(out);
}

/* --- reading --- */

/* If-Match: "3", or `revision` in the body; 0 when neither is there. */
static enum status read_revision(struct request *request, int64_t *out)
{
    struct slice text = slice_trim(request_header(request, "if-match"));
    *out = json_i64_of(request->body, "revision");
    if (!slice_present(text) || slice_is(text, "*")) {
        return STATUS_OK;
    }
    bool quoted = text.len >= 2 && text.ptr[0] == '"' && text.ptr[text.len - 1] == '"';
    text = quoted ? slice_from(text.ptr + 1, text.len - 2) : text;
    return slice_to_i64(text, out) && *out > 0
               ? STATUS_OK
               : failure_set(&request->call.failure, STATUS_INVALID, "invalid_if_match",
                             "If-Match must be the revision of the message, a whole number from 1, or *.");
}

/* --- the routes --- */

static enum status prompts_list(struct request *request)
{
    struct prompt *prompts;
    size_t count;
    enum status status = prompt_list(&request->call, request->params[0], &prompts, &count);
    if (status == STATUS_OK) {
        write_list(request, prompts, count);
    }
    return status;
}

static enum status prompts_withdraw(struct request *request)
{
    int64_t revision;
    enum status status = read_revision(request, &revision);
    return status == STATUS_OK ? prompt_withdraw(&request->call, request->params[0], request->params[1], revision)
                               : status;
}

static enum status read_edit(struct request *request, struct prompt_edit *out)
{
    struct prompt_extras extras = {.metadata = json_get_value(request->body, "metadata")};
    enum status status = read_revision(request, &out->revision);
    if (status == STATUS_OK) {
        status = prompts_read_content(request, false, &out->content);
    }
    if (status == STATUS_OK) {
        status = prompt_metadata_of(request_arena(request), &extras, &out->metadata, &request->call.failure);
    }
    if (status == STATUS_OK && !slice_present(out->content) && !slice_present(out->metadata)) {
        status = failure_set(&request->call.failure, STATUS_INVALID, "invalid_message",
                             "Send what to change: `text` or `content`, or `metadata`.");
    }
    return status == STATUS_OK ? prompts_check_size(request, out->content, out->metadata) : status;
}

static enum status prompts_edit(struct request *request)
{
    struct prompt_edit edit;
    struct prompt prompt;
    int64_t place;
    enum status status = read_edit(request, &edit);
    if (status == STATUS_OK) {
        status = prompt_edit(&request->call, request->params[0], request->params[1], &edit, &prompt, &place);
    }
    if (status == STATUS_OK) {
        write_prompt(&request->out, &prompt, place);
    }
    return status;
}

static enum status prompts_move(struct request *request)
{
    struct prompt_move move = {.before = json_text_of(request->body, "before"),
                               .place = json_i64_of(request->body, "position")};
    struct prompt prompt;
    int64_t place;
    if (slice_present(move.before) == (move.place > 0)) {
        return failure_set(&request->call.failure, STATUS_INVALID, "invalid_move",
                           "Send either `before`, a message that waits, or `position`, from 1.");
    }
    enum status status = read_revision(request, &move.revision);
    if (status == STATUS_OK) {
        status = prompt_move(&request->call, request->params[0], request->params[1], &move, &prompt, &place);
    }
    if (status == STATUS_OK) {
        write_prompt(&request->out, &prompt, place);
    }
    return status;
}

static enum status prompts_promote(struct request *request)
{
    struct prompt_receipt receipt;
    int64_t revision;
    bool steers = false;
    json_as_bool(json_get(request->body, "steer"), &steers);
    enum status status = read_revision(request, &revision);
    if (status == STATUS_OK) {
        status = prompt_promote(&request->call, request->params[0], request->params[1], revision, steers, &receipt);
    }
    if (status == STATUS_OK) {
        prompts_write_receipt(&request->out, &receipt);
    }
    return status;
}

static enum status prompts_clear(struct request *request)
{
    struct prompt *prompts;
    size_t count;
    struct slice thread_id = request_param(request, "thread_id");
    enum status status = prompt_clear(&request->call, request->params[0], slice_present(thread_id) ? &thread_id : NULL,
                                      &prompts, &count);
    if (status == STATUS_OK) {
        write_list(request, prompts, count);
    }
    return status;
}

static enum status prompts_interrupt(struct request *request)
{
    struct turn_interrupted interrupted;
    struct json_out *out = &request->out;
    enum status status = turn_interrupt(&request->call, request->params[0], &interrupted);
    if (status == STATUS_OK) {
        json_begin_object(out);
        json_put_i64(out, "turn", interrupted.turn);
        json_put_bool(out, "requested", interrupted.requested);
        json_end_object(out);
    }
    return status;
}

const struct route prompt_queue_routes[] = {
    {HTTP_GET, "/api/sessions/{id}/queue", prompts_list, .answer = "PromptList",
     .summary = "Queued messages in dispatch order."},
    {HTTP_DELETE, "/api/sessions/{id}/queue/{prompt_id}", prompts_withdraw, .success = 204,
     .summary = "Withdraw a queued message; If-Match names its revision."},
    {HTTP_PATCH, "/api/sessions/{id}/queue/{prompt_id}", prompts_edit, .body = prompt_edit_body,
     .prepare = media_prepare, .answer = "Prompt", .summary = "Change a queued message."},
    {HTTP_POST, "/api/sessions/{id}/queue/{prompt_id}/move", prompts_move, .body = prompt_move_body, .answer = "Prompt",
     .summary = "Move a queued message to another position."},
    {HTTP_POST, "/api/sessions/{id}/queue/{prompt_id}/promote", prompts_promote, .body = prompt_promote_body,
     .answer = "Receipt", .summary = "Make a queued message the next one."},
    {HTTP_POST, "/api/sessions/{id}/clear-queue", prompts_clear, .idempotent = true, .query = clear_queue_query,
     .answer = "PromptList", .summary = "Withdraw all queued messages; the answer lists them."},
    {HTTP_POST, "/api/sessions/{id}/interrupt", prompts_interrupt, .idempotent = true, .answer = "Interrupted",
     .summary = "Interrupt the running turn; the session continues with the next message."},
    {0},
};

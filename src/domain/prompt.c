#include "domain/prompt.h"

#include "domain/change_payload.h"

static enum status refuse_archived(const struct session *session, struct failure *failure)
{
    return session->archived_at_ms == 0
               ? STATUS_OK
               : failure_set(failure, STATUS_CONFLICT, "session_archived",
                             "This session is archived; unarchive it before you send a message.");
}

static enum status refuse_other_kinds(const struct session *session, struct failure *failure)
{
    return session_is_conversation(session)
               ? STATUS_OK
               : failure_set(failure, STATUS_CONFLICT, "not_a_conversation",
                             "Messages are sent to conversations with an agent; append an event instead.");
}

static enum status refuse_without_agent(const struct session *session, struct failure *failure)
{
    return slice_present(session->agent)
               ? STATUS_OK
               : failure_set(failure, STATUS_CONFLICT, "no_agent",
                             "This session has no agent that could answer; create one with `agent`.");
}

static enum status refuse_failed(const struct session *session, struct failure *failure)
{
    return work_is_active(session->work) || work_can_reopen(session->work)
               ? STATUS_OK
               : failure_set(failure, STATUS_CONFLICT, "session_failed",
                             "A session that is %s takes no message; retry it as a new session.",
                             work_words.names[session->work]);
}

enum status prompt_meet(const struct session *session, enum prompt_meets *out, struct failure *failure)
{
    static enum status (*const checks[])(const struct session *, struct failure *) = {
        refuse_other_kinds, refuse_without_agent, refuse_archived, refuse_failed};
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
        enum status status = checks[i](session, failure);
        if (status != STATUS_OK) {
            return status;
        }
    }
    *out = work_takes_prompt(session->work) ? PROMPT_DISPATCHES
           : work_can_reopen(session->work) ? PROMPT_REOPENS
                                            : PROMPT_QUEUES;
    return STATUS_OK;
}

enum status prompt_check_mode(enum queue_mode mode, struct failure *failure)
{
    static const bool offered[QUEUE_COUNT] = {[QUEUE_FOLLOWUP] = true, [QUEUE_REJECT] = true};
    if (offered[mode]) {
        return STATUS_OK;
    }
    return failure_set(failure, STATUS_INVALID, "mode_not_offered",
                       "The mode %s is not offered; accepted: followup, reject.", queue_mode_words.names[mode]);
}

enum status prompt_check_metadata(const struct json *metadata, struct failure *failure)
{
    return !json_get(metadata, "prompt_id")
               ? STATUS_OK
               : failure_set(failure, STATUS_INVALID, "invalid_metadata",
                             "`metadata.prompt_id` is given by the server; choose another name.");
}

struct slice prompt_content_of(struct arena *arena, struct slice text)
{
    struct buffer buffer = {0};
    struct json_out out = json_out_to(&buffer);
    json_begin_array(&out);
    json_begin_object(&out);
    json_put_text(&out, "type", SLICE("text"));
    json_put_text(&out, "text", text);
    json_end_object(&out);
    json_end_array(&out);
    struct slice content = arena_copy(arena, buffer_slice(&buffer));
    buffer_release(&buffer);
    return content;
}

struct slice prompt_text_of(struct arena *arena, struct slice content)
{
    const struct json *parts = NULL;
    struct buffer buffer = {0};
    if (!slice_present(content) || json_parse(arena, content, &parts, NULL) != STATUS_OK) {
        return SLICE("");
    }
    for (const struct json *part = parts->child; part; part = part->next) {
        struct slice text = json_is(part, JSON_STRING) ? part->text : json_text_of(part, "text");
        if (text.len > 0) {
            buffer_add(&buffer, buffer.len > 0 ? SLICE("\n") : SLICE(""));
            buffer_add(&buffer, text);
        }
    }
    struct slice text = arena_copy(arena, buffer_slice(&buffer));
    buffer_release(&buffer);
    return text;
}

/* --- events --- */

enum status change_dispatch(struct arena *arena, const struct session *session, const struct prompt *prompt,
                            struct changes *out, struct failure *failure)
{
    const struct json *metadata = NULL;
    struct changes move = {0};
    struct payload payload;
    out->count = 0;
    enum status status = change_status(arena, session, WORK_PENDING, "prompt", STOP_NONE, &move, failure);
    if (status == STATUS_OK && slice_present(prompt->metadata)) {
        status = json_parse(arena, prompt->metadata, &metadata, failure);
    }
    if (status != STATUS_OK) {
        return status;
    }
    payload_begin(&payload);
    json_put_text(&payload.out, "prompt_id", prompt->id);
    for (const struct json *member = metadata ? metadata->child : NULL; member; member = member->next) {
        json_key_slice(&payload.out, member->key);
        json_raw(&payload.out, member->raw);
    }
    payload_end(&payload, arena, "user.message", out);
    struct event *message = &out->events[0];
    message->role = ROLE_USER;
    message->content = prompt->content;
    message->thread_id = prompt->thread_id;
    message->actor = prompt->actor;
    out->events[out->count++] = move.events[0];
    return STATUS_OK;
}

void change_queue(struct arena *arena, const struct prompt *prompt, int64_t place, struct changes *out)
{
    struct payload payload;
    out->count = 0;
    payload_begin(&payload);
    json_put_text(&payload.out, "prompt_id", prompt->id);
    payload_word(&payload, "mode", queue_mode_words, (int)prompt->mode);
    json_put_i64(&payload.out, "position", place);
    payload_end(&payload, arena, "prompt.queued", out);
}

void change_withdraw(struct arena *arena, const struct prompt *prompt, const char *reason, struct changes *out)
{
    const char *keys[] = {"prompt_id", "reason"};
    struct slice values[] = {prompt->id, slice_of(reason)};
    change_note(arena, "prompt.withdrawn", keys, values, 2, out);
}

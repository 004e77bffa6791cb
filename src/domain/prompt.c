#include "domain/prompt.h"

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
    return session_status_is_active(session->status) || session_status_can_reopen(session->status)
               ? STATUS_OK
               : failure_set(failure, STATUS_CONFLICT, "session_failed",
                             "A session that is %s takes no message; retry it as a new session.",
                             session_status_enum.names[session->status]);
}

enum status prompt_admit(const struct session *session, enum prompt_admission *out, struct failure *failure)
{
    static enum status (*const checks[])(const struct session *, struct failure *) = {
        refuse_other_kinds, refuse_without_agent, refuse_archived, refuse_failed};
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
        enum status status = checks[i](session, failure);
        if (status != STATUS_OK) {
            return status;
        }
    }
    *out = session_takes_prompt(session)                ? PROMPT_DISPATCHES
           : session_status_can_reopen(session->status) ? PROMPT_REOPENS
                                                        : PROMPT_QUEUES;
    return STATUS_OK;
}

enum status prompt_check_append(const struct session *session, struct failure *failure)
{
    enum status status = refuse_other_kinds(session, failure);
    return status == STATUS_OK ? refuse_archived(session, failure) : status;
}

enum status prompt_check_turns(const struct session *session, int64_t ahead, int64_t turns_max, struct failure *failure)
{
    bool under_way = !session_status_takes_prompt(session->status) && session_status_is_active(session->status);
    int64_t turns = session->turn_count + under_way + ahead;
    if (turns_max == 0 || turns < turns_max) {
        return STATUS_OK;
    }
    enum status status = failure_set(
        failure, STATUS_LIMITED, "turn_limit",
        "This session had %lld turns, with those that wait; it may have %lld (caps.turns_max of its agent, or "
        "option turns-per-session-max).",
        (long long)turns, (long long)turns_max);
    if (failure) {
        failure_members(failure, "\"limit\":%lld,\"turn_count\":%lld", (long long)turns_max, (long long)turns);
    }
    return status;
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

bool prompt_begins_turn(const struct event *event)
{
    struct arena scratch = {0};
    const struct json *metadata = NULL;
    bool appended = false;
    if (event->kind != EVENT_USER_MESSAGE) {
        return false;
    }
    if (slice_present(event->metadata) && json_parse(&scratch, event->metadata, &metadata, NULL) == STATUS_OK) {
        json_as_bool(json_get(metadata, "appended"), &appended);
    }
    arena_release(&scratch);
    return !appended;
}

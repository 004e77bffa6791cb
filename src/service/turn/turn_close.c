#include <assert.h>

#include "service/turn/turn_close.h"
#include "service/session/event.h"

#include "base/log.h"
#include "domain/change_turn.h"
#include "domain/prompt.h"
#include "service/agent/agent.h"
#include "service/ask/ask.h"
#include "service/work/claim.h"
#include "service/turn/introspection.h"
#include "service/session/session.h"
#include "service/turn/turn.h"
#include "service/turn/turn_partial.h"
#include "service/work/step.h"

/* --- its end --- */

static enum status append_end(struct call *call, struct loaded_session *loaded, struct slice thread_id,
                              const struct turn_end *end, const char *cause)
{
    struct changes changes = {0};
    change_turn_ended(call->arena, loaded->session.fence, end, cause, &changes);
    changes.events[0].thread_id = thread_id;
    loaded->ended_turn = loaded->session.fence;
    return session_append_changes(call, loaded, &changes);
}

enum status turn_finish(struct call *call, struct slice session_id, struct slice thread_id, const struct turn_end *end)
{
    struct session_access entry;
    struct settlement settlement = {.to = end->to, .error_message = end->error_message, .reason = end->reason};
    enum status status = session_authorize(call, session_id, ACTION_APPEND, &entry);
    if (status == STATUS_OK && !entry.holds_lease) {
        return failure_set(&call->failure, STATUS_STALE, "lease_required", "The turn does not hold its session.");
    }
    if (status == STATUS_OK && slice_present(end->usage)) {
        status = json_parse(call->arena, end->usage, &settlement.usage, &call->failure);
    }
    if (status == STATUS_OK && claim_check_usage(call, &entry.loaded->session, settlement.usage) != STATUS_OK) {
        log_warn("usage_not_added", LOG_TEXT("session", session_id),
                 LOG_TEXT("detail", slice_of(call->failure.detail)));
        settlement.usage = NULL; /* the turn has ended all the same */
    }
    if (status == STATUS_OK && slice_present(end->result)) {
        status = json_parse(call->arena, end->result, &settlement.result, &call->failure);
    }
    if (status == STATUS_OK && turn_stop_is_early(end->stop)) {
        status = turn_keep_partial(call, entry.loaded, thread_id);
    }
    if (status == STATUS_OK && turn_stop_is_early(end->stop)) {
        status = turn_close_calls(call, entry.loaded, thread_id);
    }
    if (status == STATUS_OK) {
        settlement.error_code = end->error != TURN_OK ? slice_of(turn_error_enum.names[end->error]) : (struct slice){0};
        status = append_end(call, entry.loaded, thread_id, end, NULL);
    }
    if (status == STATUS_OK) {
        status = ask_cancel_all(call, entry.loaded, SLICE("the turn ended"));
    }
    if (status == STATUS_OK) {
        status = step_end_turn(call, &entry.loaded->session, end, &settlement);
    }
    if (status == STATUS_OK) {
        status = claim_settle(call, session_id, &settlement, &entry);
    }
    return status == STATUS_OK ? introspection_after_turn(call, entry.loaded) : status;
}

enum status turn_end_claimed(struct call *call, struct loaded_session *loaded, enum session_status to,
                             const struct turn_end *end)
{
    assert(call_writes(call));
    const struct session *session = &loaded->session;
    bool is_hosted = agent_is_hosted((enum agent_driver)session->driver);
    if (is_hosted || session_status_is_waiting(to) || to == SESSION_PENDING || loaded->ended_turn == session->fence) {
        return STATUS_OK;
    }
    return append_end(call, loaded, (struct slice){0}, end, NULL);
}

/* --- its end without its driver --- */

/* Of the prompt that ran last. */
static enum status learn_thread(struct call *call, struct loaded_session *loaded, struct slice *out)
{
    struct turn_message message = {0};
    enum status status = transaction_flush(call->transaction, &call->failure);
    if (status == STATUS_OK) {
        status = turn_read_message(call, &loaded->session, &message);
    }
    *out = message.thread_id;
    return status;
}

static enum status note_interrupted(struct call *call, struct loaded_session *loaded, struct slice prompt_id,
                                    const char *cause)
{
    const char *keys[] = {"prompt_id", "cause"};
    struct slice values[] = {prompt_id, slice_of(cause)};
    struct changes note = {0};
    change_note(call->arena, EVENT_PROMPT_INTERRUPTED, keys, values, 2, &note);
    return session_append_changes(call, loaded, &note);
}

/* Each prompt of a collected message, and work without any, once. */
static enum status offer_again(struct call *call, struct loaded_session *loaded, const char *cause, struct changes *out)
{
    struct turn_message message;
    enum status status = turn_read_message(call, &loaded->session, &message);
    for (size_t i = 0; i < message.prompt_count && status == STATUS_OK; i++) {
        status = note_interrupted(call, loaded, message.prompt_ids[i], cause);
    }
    if (status == STATUS_OK && message.prompt_count == 0) {
        status = note_interrupted(call, loaded, (struct slice){0}, cause);
    }
    return status == STATUS_OK ? change_status(call->arena, &loaded->session, SESSION_IDLE, "interrupted", STOP_NONE,
                                               out, &call->failure)
                               : status;
}

/* What becomes of the prompt. */
static enum status apply_policy(struct call *call, struct loaded_session *loaded, enum resume_policy policy,
                                const char *cause)
{
    struct changes changes = {0};
    enum status status = STATUS_OK;
    switch (policy) {
    case RESUME_RETRY:
        status = change_lease_over(call->arena, &loaded->session, false, call->service->limits.claim.attempts_max,
                                   &changes, &call->failure);
        break;
    case RESUME_FAIL:
        status =
            change_status(call->arena, &loaded->session, SESSION_FAILED, cause, STOP_FAILED, &changes, &call->failure);
        break;
    case RESUME_ASK:
    case RESUME_COUNT:
        status = ask_load_count(call, loaded);
        if (status == STATUS_OK && loaded->asks_pending == 0) { /* else the answer decides what happens next */
            status = offer_again(call, loaded, cause, &changes);
        }
        break;
    }
    if (status == STATUS_OK && changes.count > 0) {
        status = session_append_changes(call, loaded, &changes);
    }
    return status;
}

static enum resume_policy policy_of(const struct agent *agent)
{
    bool cut_by_connection = agent->driver == DRIVER_RUNNER && agent->resume == RESUME_ASK;
    return cut_by_connection ? RESUME_RETRY : agent->resume;
}

enum status turn_abort(struct call *call, struct loaded_session *loaded, const char *cause)
{
    assert(call_writes(call));
    struct agent agent;
    struct slice thread_id = {0};
    struct turn_end end = {.stop = TURN_ABORTED, .error = TURN_CANCELLED};
    enum status status = agent_of_session_or_none(call, &loaded->session, call->arena, &agent);
    if (status == STATUS_OK) {
        status = learn_thread(call, loaded, &thread_id);
    }
    if (status == STATUS_OK) {
        status = turn_keep_partial(call, loaded, thread_id);
    }
    if (status == STATUS_OK) {
        status = turn_close_calls(call, loaded, thread_id);
    }
    if (status == STATUS_OK) {
        status = append_end(call, loaded, thread_id, &end, cause);
    }
    if (status == STATUS_OK) {
        status = transaction_lease_delete(call->transaction, loaded, &call->failure);
    }
    if (status == STATUS_OK) {
        status = apply_policy(call, loaded, policy_of(&agent), cause);
    }
    if (status == STATUS_OK) {
        status = turn_after_requeue(call, loaded);
    }
    if (status == STATUS_OK) {
        status = session_after_move(call, loaded);
    }
    bool rests = introspection_may_run(&loaded->session);
    return status == STATUS_OK && rests ? introspection_after_turn(call, loaded) : status;
}

/* Why, in a word. */
static const char *cause_of(const struct session *session)
{
    return session->stop_reason != STOP_NONE ? stop_reason_enum.names[session->stop_reason] : "lease_taken";
}

static bool keep_ended(void *owner, const struct event *event)
{
    struct arena arena = {0};
    const struct json *metadata;
    if (json_parse(&arena, event->metadata, &metadata, NULL) == STATUS_OK) {
        *(int64_t *)owner = json_i64_of(metadata, "turn");
    }
    arena_release(&arena);
    return false;
}

/* The end may have been written in an earlier life. */
static enum status learn_end(struct call *call, struct loaded_session *loaded)
{
    if (loaded->ended_turn != 0) {
        return STATUS_OK;
    }
    static const enum event_kind kind = EVENT_TURN_ENDED;
    enum status status = transaction_flush(call->transaction, &call->failure);
    return status == STATUS_OK ? event_last(call, &loaded->session, &kind, 1, keep_ended, &loaded->ended_turn) : status;
}

enum status turn_abandon(struct call *call, struct loaded_session *loaded)
{
    assert(call_writes(call));
    struct slice thread_id = {0};
    struct turn_end end = {.stop = TURN_ABORTED, .error = TURN_CANCELLED};
    enum status status = learn_end(call, loaded);
    if (status != STATUS_OK || loaded->ended_turn == loaded->session.fence) {
        return status;
    }
    status = learn_thread(call, loaded, &thread_id);
    if (status == STATUS_OK) {
        status = turn_keep_partial(call, loaded, thread_id);
    }
    if (status == STATUS_OK) {
        status = turn_close_calls(call, loaded, thread_id);
    }
    return status == STATUS_OK ? append_end(call, loaded, thread_id, &end, cause_of(&loaded->session)) : status;
}

/* --- again --- */

static bool keep_type(void *owner, const struct event *event)
{
    bool *interrupted = owner;
    *interrupted = event->kind == EVENT_PROMPT_INTERRUPTED;
    return false;
}

enum status turn_resume(struct call *call, struct slice session_id, struct session_access *out)
{
    assert(call_writes(call));
    static const enum event_kind kinds[] = {EVENT_PROMPT_INTERRUPTED, EVENT_USER_MESSAGE, EVENT_SESSION_CLAIMED};
    bool interrupted = false;
    struct changes changes = {0};
    enum status status = session_authorize(call, session_id, ACTION_APPEND, out);
    if (status == STATUS_OK) {
        status = transaction_flush(call->transaction, &call->failure);
    }
    if (status != STATUS_OK) {
        return status;
    }
    const struct session *session = &out->loaded->session;
    status = event_last(call, session, kinds, sizeof kinds / sizeof kinds[0], keep_type, &interrupted);
    if (status == STATUS_OK && (!interrupted || !session_status_takes_prompt(session->status))) {
        return failure_set(&call->failure, STATUS_CONFLICT, "nothing_to_resume",
                           "Only a session at rest whose last turn was cut can be resumed; this one is %s.",
                           session_status_enum.names[session->status]);
    }
    if (status == STATUS_OK) {
        status = session_check_begin(call, session);
    }
    if (status == STATUS_OK) {
        status = change_status(call->arena, session, SESSION_PENDING, "resumed", STOP_NONE, &changes, &call->failure);
    }
    return status == STATUS_OK ? session_append_changes(call, out->loaded, &changes) : status;
}

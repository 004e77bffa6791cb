#include <assert.h>

#include "domain/approval.h"
#include "domain/contract.h"
#include "domain/prompt.h"
#include "service/ask/ask.h"
#include "service/session/event.h"
#include "service/work/step_internal.h"

/* How an ask of this room is known: no client writes it. */
#define GATE SLICE("{\"gate\":\"step\"}")

bool step_asks(const struct ask *ask)
{
    return ask_is_of_output(ask) && slice_eq(ask->fields, GATE);
}

/* --- staging --- */

/* People approve an object; anything else is put into one. */
static struct slice staged_of(struct arena *arena, const struct json *result)
{
    if (json_is(result, JSON_OBJECT)) {
        return result->raw;
    }
    return arena_format(arena, "{\"%s\":%.*s}", json_is(result, JSON_STRING) ? "text" : "value",
                        SLICE_ARG(result ? result->raw : SLICE("null")));
}

static struct slice details_of(struct arena *arena, const struct task_step *step, const struct json *staged)
{
    struct safety safety = criteria_evaluate(arena, step->criteria, staged);
    struct buffer text = {0};
    struct json_out json = json_out_to(&text);
    json_begin_object(&json);
    approval_write_output(&json, staged->raw, safety.score, safety.flags);
    json_put_text(&json, "step", step->id);
    json_end_object(&json);
    struct slice details = arena_copy(arena, buffer_slice(&text));
    buffer_release(&text);
    return details;
}

enum status step_stage(struct call *call, struct loaded_session *loaded)
{
    assert(call_writes(call));
    struct loaded_step step;
    const struct session *session = &loaded->session;
    const struct json *result = NULL, *staged = NULL;
    struct slice text = slice_present(session->result) ? arena_copy(call->arena, session->result) : SLICE("null");
    enum status status = step_load(call, session, &step);
    if (status == STATUS_OK) {
        status = json_parse(call->arena, text, &result, &call->failure);
    }
    if (status == STATUS_OK) {
        status = json_parse(call->arena, staged_of(call->arena, result), &staged, &call->failure);
    }
    if (status == STATUS_OK) { /* what the turn asked besides is of no use any more */
        status = ask_cancel_all(call, loaded, SLICE("turn_ended"));
    }
    if (status != STATUS_OK) {
        return status;
    }
    struct ask ask = {
        .id = arena_format(call->arena, "output:%lld", (long long)session->last_sequence),
        .kind = ASK_APPROVAL,
        .arguments = staged->raw,
        .editable = true,
        .text = arena_format(call->arena, "May the output of %.*s be kept?",
                             SLICE_ARG(slice_utf8_prefix(step.step.name, 200))),
        .details = details_of(call->arena, &step.step, staged),
        .fields = GATE,
        .expires_at_ms = call->now_ms + call->service->limits.ask.output_expiry_ms,
    };
    return ask_open(call, loaded, &ask);
}

/* --- deciding --- */

static enum status staged_output(struct call *call, const struct ask *ask, struct slice answer, const struct json **out)
{
    const struct json *details = NULL;
    struct approval approval;
    if (slice_present(answer)) {
        return json_parse(call->arena, arena_copy(call->arena, answer), out, &call->failure);
    }
    enum status status = json_parse(call->arena, ask->details, &details, &call->failure);
    if (status == STATUS_OK && !approval_read(details, &approval)) {
        return failure_set(&call->failure, STATUS_INTERNAL, "ask_broken", "What is to be approved cannot be read.");
    }
    if (status == STATUS_OK) {
        *out = approval.output;
    }
    return status;
}

/* For programs, too. */
static void tell_block(struct call *call, const struct safety *safety)
{
    struct buffer text = {0};
    struct json_out json = json_out_to(&text);
    json_put_text(&json, "blocked_dimension", slice_utf8_prefix(safety->dimension, 60));
    json_put_text(&json, "blocked_option", slice_utf8_prefix(safety->option, 60));
    failure_members(&call->failure, "%.*s", SLICE_ARG(buffer_slice(&text)));
    buffer_release(&text);
}

enum status step_check_reply(struct call *call, const struct session *session, const struct ask *ask,
                             const struct ask_reply *reply)
{
    struct loaded_step step;
    if (!step_asks(ask) || !reply->answer) {
        return STATUS_OK;
    }
    enum status status = step_load(call, session, &step);
    if (status == STATUS_OK) {
        status = contract_enforce(step.step.output, reply->answer, &call->failure);
    }
    if (status != STATUS_OK) {
        return status;
    }
    struct safety safety = criteria_evaluate(call->arena, step.step.criteria, reply->answer);
    if (safety.ok) {
        return STATUS_OK;
    }
    status = failure_set(&call->failure, STATUS_INVALID, "output_blocked", "%.*s may not be %.*s.",
                         SLICE_ARG(safety.dimension), SLICE_ARG(safety.option));
    tell_block(call, &safety);
    return status;
}

static struct settlement rejection(const struct ask *ask)
{
    struct slice expired = SLICE("Nobody approved the output in time.");
    struct slice denied = ask->reason.len ? ask->reason : SLICE("The output was rejected.");
    return (struct settlement){
        .to = SESSION_FAILED,
        .error_code = SLICE("output_rejected"),
        .error_message = ask->state == ASK_ANSWERED ? denied : expired,
    };
}

enum status step_follow_ask(struct call *call, struct loaded_session *loaded, const struct ask *ask)
{
    assert(call_writes(call));
    struct loaded_step step;
    struct settlement settlement = {.to = SESSION_COMPLETED, .reason = SLICE("its output was approved")};
    if (!session_status_is_in_turn(loaded->session.status)) {
        return STATUS_OK; /* it ended meanwhile */
    }
    if (ask->state != ASK_ANSWERED || ask->decision == DECISION_DENY) {
        settlement = rejection(ask);
        return step_end(call, loaded, &settlement);
    }
    enum status status = step_load(call, &loaded->session, &step);
    if (status == STATUS_OK) {
        status = staged_output(call, ask, ask->answer, &settlement.result);
    }
    if (status == STATUS_OK) {
        status = step_judge(call, &loaded->session, &step.step, &settlement);
    }
    return status == STATUS_OK ? step_end(call, loaded, &settlement) : status;
}

/* --- what a hosted agent said --- */

struct last_words {
    struct arena *arena;
    struct slice text;
};

static bool keep_words(void *owner, const struct event *event)
{
    struct last_words *words = owner;
    words->text = prompt_text_of(words->arena, arena_copy(words->arena, event->content));
    return false;
}

static enum status read_last_words(struct call *call, const struct session *session, struct slice *out)
{
    static const enum event_kind kind = EVENT_AGENT_MESSAGE;
    struct last_words words = {.arena = call->arena, .text = SLICE("")};
    enum status status = transaction_flush(call->transaction, &call->failure);
    if (status == STATUS_OK) {
        status = event_last(call, session, &kind, 1, keep_words, &words);
    }
    *out = words.text;
    return status;
}

/* The object in it, from the first brace to the last; models like to talk around it. */
static const struct json *object_in(struct arena *arena, struct slice text)
{
    const char *begin = text.len ? memchr(text.ptr, '{', text.len) : NULL;
    const char *end = text.len ? memrchr(text.ptr, '}', text.len) : NULL;
    const struct json *object = NULL;
    if (!begin || !end || end < begin ||
        json_parse(arena, slice_from(begin, (size_t)(end - begin) + 1), &object, NULL) != STATUS_OK) {
        return NULL;
    }
    return json_is(object, JSON_OBJECT) ? object : NULL;
}

static enum status find_output(struct call *call, const struct session *session, struct settlement *settlement)
{
    struct slice said;
    struct buffer text = {0};
    struct json_out json = json_out_to(&text);
    if (json_is(settlement->result, JSON_OBJECT)) {
        return STATUS_OK;
    }
    enum status status = read_last_words(call, session, &said);
    const struct json *object = status == STATUS_OK ? object_in(call->arena, said) : NULL;
    if (status != STATUS_OK || object) {
        settlement->result = object ? object : settlement->result;
        return status;
    }
    json_begin_object(&json);
    json_put_text(&json, "text", said);
    json_end_object(&json);
    status = json_parse(call->arena, arena_copy(call->arena, buffer_slice(&text)), &settlement->result, &call->failure);
    buffer_release(&text);
    return status;
}

enum status step_end_turn(struct call *call, const struct session *session, const struct turn_end *end,
                          struct settlement *settlement)
{
    struct loaded_step step;
    if (!session_status_takes_prompt(settlement->to)) {
        return STATUS_OK;
    }
    enum status status = step_load(call, session, &step);
    if (status != STATUS_OK || !step.found) {
        return status;
    }
    settlement->to = turn_ends_step(end->stop);
    return session_status_is_done(settlement->to) ? find_output(call, session, settlement) : STATUS_OK;
}

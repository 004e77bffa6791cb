#include <assert.h>

#include "service/ask/ask.h"

#include "service/agent/agent.h"
#include "service/ask/ask_internal.h"
#include "service/work/step.h"
#include "wire/json_schema.h"

/* --- shared steps --- */

enum status ask_load_count(struct call *call, struct loaded_session *loaded)
{
    assert(call_writes(call));
    if (loaded->asks_known) {
        return STATUS_OK;
    }
    const struct session *session = &loaded->session;
    enum status status =
        store_ask_count_pending(call->db, session->tenant_key, session->key, &loaded->asks_pending, &call->failure);
    loaded->asks_known = status == STATUS_OK;
    return status;
}

enum status ask_load(struct call *call, const struct session *session, struct slice ask_id, struct ask *out)
{
    enum status status =
        store_ask_by_id(call->db, session->tenant_key, session->key, ask_id, call->arena, out, &call->failure);
    return status == STATUS_NOT_FOUND
               ? failure_set(&call->failure, status, "ask_not_found", "There is no such ask in this session.")
               : status;
}

/* A cap on cost holds the session until somebody allowed to go on, or the turn that asked is no more. */
static enum status keep_cap(struct call *call, struct loaded_session *loaded, const struct ask *ask)
{
    struct changes changes = {0};
    bool allowed = ask->state == ASK_ANSWERED && ask->decision != DECISION_DENY;
    if (!ask_is_budget(ask) || (ask->state != ASK_PENDING && !allowed && ask->state != ASK_CANCELLED)) {
        return STATUS_OK;
    }
    bool holds = ask->state == ASK_PENDING;
    enum status status =
        change_cap(call->arena, &loaded->session, holds,
                   holds ? "the cap on cost is reached" : "beyond the cap on cost", &changes, &call->failure);
    return status == STATUS_OK && changes.count > 0 ? session_append_changes(call, loaded, &changes) : status;
}

enum status ask_close(struct call *call, struct loaded_session *loaded, const struct ask *ask, struct slice actor)
{
    assert(call_writes(call));
    struct changes changes = {0};
    change_ask_over(call->arena, ask, &changes);
    for (size_t i = 0; i < changes.count; i++) {
        changes.events[i].actor = actor;
    }
    enum status status = session_append_changes(call, loaded, &changes);
    if (status == STATUS_OK) {
        status = store_ask_update(call->db, loaded->session.tenant_key, loaded->session.key, ask, &call->failure);
    }
    if (status == STATUS_OK) {
        status = ask_tell_parent(call, &loaded->session, ask);
    }
    return status == STATUS_OK ? keep_cap(call, loaded, ask) : status;
}

static enum status move_to(struct call *call, struct loaded_session *loaded, enum session_status to, const char *reason)
{
    struct changes changes = {0};
    enum status status = change_status(call->arena, &loaded->session, to, reason, STOP_NONE, &changes, &call->failure);
    return status == STATUS_OK && changes.count > 0 ? session_append_changes(call, loaded, &changes) : status;
}

/* Nothing is left to decide. */
static enum status go_on(struct call *call, struct loaded_session *loaded, const char *reason)
{
    const struct lease *lease;
    enum status status = transaction_lease(call->transaction, loaded, &lease, &call->failure);
    return status == STATUS_OK ? move_to(call, loaded, lease ? SESSION_RUNNING : SESSION_PENDING, reason) : status;
}

static enum status follow(struct call *call, struct loaded_session *loaded, const struct ask *pending, size_t count,
                          const char *reason)
{
    if (count > 0) {
        return move_to(call, loaded, ask_waits_in(pending, count), ask_reason(call->arena, pending, count).ptr);
    }
    return session_status_is_waiting(loaded->session.status) ? go_on(call, loaded, reason) : STATUS_OK;
}

static int64_t first_deadline(const struct ask *pending, size_t count)
{
    int64_t first = 0;
    for (size_t i = 0; i < count; i++) {
        int64_t at = pending[i].expires_at_ms;
        first = at != 0 && (first == 0 || at < first) ? at : first;
    }
    return first;
}

/* `reason` of the move when nothing is left to decide; NULL = the session does not move. */
static enum status refresh(struct call *call, struct loaded_session *loaded, const char *reason)
{
    struct ask *pending;
    size_t count = 0;
    const struct session *session = &loaded->session;
    enum status status =
        store_ask_pending(call->db, session->tenant_key, session->key, call->arena, &pending, &count, &call->failure);
    if (status != STATUS_OK) {
        return status;
    }
    loaded->asks_pending = (int64_t)count;
    loaded->asks_known = true;
    int64_t deadline = first_deadline(pending, count);
    status = transaction_timer(call, loaded, TIMER_ASK, deadline ? call->steady_ms + deadline - call->now_ms : 0);
    bool moves = reason && session_status_is_in_turn(session->status);
    return status == STATUS_OK && moves ? follow(call, loaded, pending, count, reason) : status;
}

enum status ask_refresh(struct call *call, struct loaded_session *loaded, bool moves)
{
    assert(call_writes(call));
    return refresh(call, loaded, moves ? "answered" : NULL);
}

enum status ask_follow(struct call *call, struct loaded_session *loaded, const struct ask *ask)
{
    assert(call_writes(call));
    bool of_step = step_asks(ask);
    enum status status = ask_refresh(call, loaded, !of_step);
    return status == STATUS_OK && of_step ? step_follow_ask(call, loaded, ask) : status;
}

/* --- asking --- */

/* What the agent, the automation or the channel says (in the session's definition), else the server. 0 = never. */
static int64_t expiry_ms(const struct call *call, const struct session *session, const struct agent *agent,
                         enum ask_kind kind)
{
    const struct service *service = call->service;
    bool lives_on = kind == ASK_APPROVAL && session->source_interactive;
    int64_t usual_ms =
        lives_on ? service->limits.ask.interactive_approval_expiry_ms : service->limits.ask.expiry_ms[kind];
    return agent->ask_expiry_ms ? agent->ask_expiry_ms : usual_ms;
}

static enum status fill_expiry(struct call *call, const struct session *session, struct ask *ask)
{
    struct agent agent;
    if (ask->expires_at_ms != 0) {
        return STATUS_OK;
    }
    enum status status = agent_of_session_or_none(call, session, call->arena, &agent);
    int64_t after_ms = status == STATUS_OK ? expiry_ms(call, session, &agent, ask->kind) : 0;
    ask->expires_at_ms = after_ms ? call->now_ms + after_ms : 0;
    return status;
}

enum status ask_fill(struct call *call, const struct session *session, struct ask *ask)
{
    const struct service *service = call->service;
    ask->state = ASK_PENDING;
    ask->decision = DECISION_NONE;
    ask->turn = ask->turn ? ask->turn : session->fence;
    ask->role = ask->role == ACCESS_NONE ? (enum access_role)service->limits.ask.role : ask->role;
    ask->quorum = ask->quorum ? ask->quorum : 1;
    ask->created_at_ms = call->now_ms;
    if (!slice_present(ask->text) && ask->kind == ASK_APPROVAL && slice_present(ask->tool)) {
        ask->text = arena_format(call->arena, "May %.*s be called?", SLICE_ARG(ask->tool));
    }
    if (!slice_present(ask->id)) {
        char id[UUID_TEXT_BYTES];
        id_uuid7(call->service->ids, call->now_ms, id);
        ask->id = arena_copy(call->arena, slice_of(id));
    }
    return fill_expiry(call, session, ask);
}

static enum status check_form(struct call *call, const struct ask *ask)
{
    const struct json *schema;
    if (ask->kind != ASK_ELICITATION) {
        return STATUS_OK;
    }
    enum status status = json_parse(call->arena, ask->schema, &schema, &call->failure);
    return status == STATUS_OK ? json_schema_check(schema, &call->failure) : status;
}

static enum status check_room(struct call *call, const struct loaded_session *loaded)
{
    if (!session_status_is_in_turn(loaded->session.status)) {
        return failure_set(&call->failure, STATUS_CONFLICT, "no_turn",
                           "Asks are accepted only during a turn; this session is %s.",
                           session_status_enum.names[loaded->session.status]);
    }
    if (loaded->asks_pending >= call->service->limits.ask.pending_max) {
        return failure_set(&call->failure, STATUS_LIMITED, "too_many_asks",
                           "%lld asks of this session are pending; the limit is %lld (option asks-pending-max).",
                           (long long)loaded->asks_pending, (long long)call->service->limits.ask.pending_max);
    }
    return STATUS_OK;
}

static enum status put(struct call *call, struct loaded_session *loaded, struct ask *ask)
{
    struct changes changes = {0};
    const struct session *session = &loaded->session;
    bool ruled = false;
    enum status status = ask_apply_rules(call, session, ask, &ruled);
    if (status != STATUS_OK) {
        return status;
    }
    change_ask_requested(call->arena, ask, &changes);
    if (ruled) {
        change_ask_over(call->arena, ask, &changes);
        changes.events[changes.count - 1].actor = ask->answered_by;
    }
    status = session_append_changes(call, loaded, &changes);
    if (status == STATUS_OK) {
        status = store_ask_insert(call->db, session->tenant_key, session->key, ask, &call->failure);
    }
    if (status == STATUS_OK && !ruled) {
        status = keep_cap(call, loaded, ask);
        status = status == STATUS_OK ? ask_refresh(call, loaded, true) : status;
        status = status == STATUS_OK ? ask_tell_parent(call, session, ask) : status;
    }
    return status;
}

enum status ask_open(struct call *call, struct loaded_session *loaded, struct ask *ask)
{
    assert(call_writes(call));
    struct ask stored;
    const struct session *session = &loaded->session;
    enum status status = ask_fill(call, session, ask);
    if (status == STATUS_OK) {
        status = ask_check(call->arena, ask, call->service->limits.event.bytes_max, &call->failure);
    }
    if (status == STATUS_OK) {
        status = check_form(call, ask);
    }
    if (status != STATUS_OK) {
        return status;
    }
    status =
        store_ask_by_id(call->db, session->tenant_key, session->key, ask->id, call->arena, &stored, &call->failure);
    if (status == STATUS_OK && ask_repeats(call->arena, &stored, ask)) {
        *ask = stored;
        return STATUS_OK;
    }
    if (status == STATUS_OK) {
        return failure_set(&call->failure, STATUS_CONFLICT, "ask_exists",
                           "Another ask of this session has this id already; choose a new one.");
    }
    status = status == STATUS_NOT_FOUND ? ask_load_count(call, loaded) : status;
    if (status == STATUS_OK) {
        status = check_room(call, loaded);
    }
    return status == STATUS_OK ? put(call, loaded, ask) : status;
}

static enum status enter_as_runner(struct call *call, struct slice session_id, struct session_access *out)
{
    enum status status = session_authorize(call, session_id, ACTION_APPEND, out);
    if (status == STATUS_OK && !access_runs(call->who, &out->loaded->session, out->holds_lease)) {
        return failure_set(&call->failure, STATUS_STALE, "lease_required",
                           "Only who runs the session asks: send its live lease in the Sojourn-Lease header.");
    }
    return status;
}

enum status ask_request(struct call *call, struct slice session_id, struct ask *ask)
{
    struct session_access entry;
    enum status status = enter_as_runner(call, session_id, &entry);
    return status == STATUS_OK ? ask_open(call, entry.loaded, ask) : status;
}

/* --- nobody answers --- */

static enum status close_as(struct call *call, struct loaded_session *loaded, struct ask *ask, enum ask_state state,
                            struct slice reason)
{
    ask->state = state;
    ask->reason = reason;
    ask->answered_at_ms = call->now_ms;
    return ask_close(call, loaded, ask, (struct slice){0});
}

enum status ask_cancel(struct call *call, struct loaded_session *loaded, struct slice ask_id, struct slice reason)
{
    assert(call_writes(call));
    struct ask ask;
    enum status status = ask_load(call, &loaded->session, ask_id, &ask);
    if (status != STATUS_OK || ask.state != ASK_PENDING) {
        return status; /* it was over before */
    }
    status = close_as(call, loaded, &ask, ASK_CANCELLED, reason);
    return status == STATUS_OK ? refresh(call, loaded, "ask_withdrawn") : status;
}

enum status ask_withdraw(struct call *call, struct slice session_id, struct slice ask_id, struct slice reason)
{
    struct session_access entry;
    enum status status = enter_as_runner(call, session_id, &entry);
    return status == STATUS_OK ? ask_cancel(call, entry.loaded, ask_id, reason) : status;
}

enum status ask_cancel_all(struct call *call, struct loaded_session *loaded, struct slice reason)
{
    assert(call_writes(call));
    struct ask *pending;
    size_t count = 0;
    const struct session *session = &loaded->session;
    enum status status = ask_load_count(call, loaded);
    if (status != STATUS_OK || loaded->asks_pending == 0) {
        return status;
    }
    status =
        store_ask_pending(call->db, session->tenant_key, session->key, call->arena, &pending, &count, &call->failure);
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        status = close_as(call, loaded, &pending[i], ASK_CANCELLED, reason);
    }
    return status == STATUS_OK ? ask_refresh(call, loaded, false) : status;
}

enum status ask_after_move(struct call *call, struct loaded_session *loaded)
{
    assert(call_writes(call));
    enum session_status work = loaded->session.status;
    if (!session_status_takes_prompt(work) && !session_status_is_ended(work)) {
        return STATUS_OK;
    }
    struct slice reason = session_status_is_ended(work)
                              ? arena_format(call->arena, "session_%s", session_status_enum.names[work])
                              : SLICE("turn_ended");
    return ask_cancel_all(call, loaded, reason);
}

enum status ask_after_park(struct call *call, struct loaded_session *loaded)
{
    assert(call_writes(call));
    int64_t asked = 0;
    const struct session *session = &loaded->session;
    enum status status = ask_load_count(call, loaded);
    if (status != STATUS_OK || loaded->asks_pending > 0 || !session_status_is_waiting(session->status)) {
        return status;
    }
    status =
        store_ask_count_of_turn(call->db, session->tenant_key, session->key, session->fence, &asked, &call->failure);
    return status == STATUS_OK && asked > 0 ? go_on(call, loaded, "answered") : status;
}

enum status ask_expire(struct call *call, struct loaded_session *loaded, bool *out_again)
{
    assert(call_writes(call));
    struct ask *pending, *of_step = NULL;
    size_t count = 0;
    const struct session *session = &loaded->session;
    enum status status =
        store_ask_pending(call->db, session->tenant_key, session->key, call->arena, &pending, &count, &call->failure);
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        if (pending[i].expires_at_ms != 0 && pending[i].expires_at_ms <= call->now_ms) {
            status = close_as(call, loaded, &pending[i], ASK_EXPIRED, (struct slice){0});
            of_step = step_asks(&pending[i]) ? &pending[i] : of_step;
        }
    }
    *out_again = true; /* refreshing puts the timer anew or takes it away */
    if (status == STATUS_OK && of_step) {
        return ask_follow(call, loaded, of_step);
    }
    return status == STATUS_OK ? refresh(call, loaded, "ask_expired") : status;
}

#include <assert.h>

#include "service/core/watchdog.h"

#include "service/ask/ask.h"
#include "service/work/claim.h"
#include "service/prompt/prompt.h"
#include "service/session/session.h"
#include "service/turn/turn.h"
#include "service/turn/turn_close.h"

/* --- the facts --- */

static int64_t since(int64_t at_ms, int64_t now_ms)
{
    return now_ms > at_ms ? now_ms - at_ms : 0;
}

/* Since a moment of the wall clock. A clock that was set forward makes nobody silent: what was before that counts from
 * then on. */
static int64_t since_wall(const struct call *call, int64_t at_ms)
{
    int64_t passed_ms = since(at_ms, call->now_ms);
    int64_t known_ms = since(call->service->watchdog_record->wall_known_since_ms, call->steady_ms);
    return passed_ms < known_ms ? passed_ms : known_ms;
}

static enum status gather_lease(struct call *call, struct loaded_session *loaded, struct health_facts *out)
{
    const struct lease *lease;
    enum status status = transaction_lease(call->transaction, loaded, &lease, &call->failure);
    if (status == STATUS_OK && lease) {
        out->leased = true;
        out->lease_overdue_ms = since(lease->expires_at_ms, call->steady_ms);
    }
    return status;
}

static enum status gather_output(struct call *call, const struct session *session, struct health_facts *out)
{
    struct partial partial;
    int64_t last_ms = session->last_active_at_ms;
    enum status status =
        store_partial_load(call->db, session->tenant_key, session->key, call->arena, &partial, &call->failure);
    if (status == STATUS_OK && partial.count > 0 && partial.sequence >= session->last_sequence) {
        out->streaming = true;
        last_ms = partial.saved_at_ms > last_ms ? partial.saved_at_ms : last_ms;
    }
    out->silent_ms = since_wall(call, last_ms);
    return status;
}

static enum status gather_turn(struct call *call, struct loaded_session *loaded, struct health_facts *out)
{
    const struct session *session = &loaded->session;
    if (!session_status_is_in_turn(session->status)) {
        return STATUS_OK;
    }
    enum status status = turn_is_interrupted(call, session, &out->interrupted);
    if (status == STATUS_OK) {
        status = ask_load_count(call, loaded);
        out->asks_pending = loaded->asks_pending;
    }
    return status == STATUS_OK ? store_ask_count_of_turn(call->db, session->tenant_key, session->key, session->fence,
                                                         &out->asks_of_turn, &call->failure)
                               : status;
}

static enum status gather_prompts(struct call *call, struct loaded_session *loaded, struct health_facts *out)
{
    struct prompt *queue;
    size_t count = 0;
    if (!session_status_takes_prompt(loaded->session.status)) {
        return STATUS_OK;
    }
    enum status status = prompt_read_queue(call, loaded, &queue, &count);
    if (status != STATUS_OK || count == 0) {
        return status;
    }
    struct prompt *picked = arena_array(call->arena, count, sizeof *picked);
    out->prompts_ready =
        (int64_t)prompt_pick(queue, count, call->steady_ms, call->service->limits.event.bytes_max, picked);
    for (int64_t i = 0; i < out->prompts_ready; i++) {
        int64_t waited_ms = since_wall(call, picked[i].created_at_ms);
        out->prompt_waited_ms = waited_ms > out->prompt_waited_ms ? waited_ms : out->prompt_waited_ms;
    }
    return STATUS_OK;
}

static enum status gather(struct call *call, struct loaded_session *loaded, struct health_facts *out)
{
    const struct session *session = &loaded->session;
    *out = (struct health_facts){
        .status = session->status,
        .hosted = agent_is_hosted((enum agent_driver)session->driver),
        .paused = session_blocks_turns(session),
    };
    enum status status = gather_lease(call, loaded, out);
    if (status == STATUS_OK) {
        status = gather_output(call, session, out);
    }
    if (status == STATUS_OK) {
        status = gather_turn(call, loaded, out);
    }
    return status == STATUS_OK ? gather_prompts(call, loaded, out) : status;
}

/* --- the actions --- */

static enum status move_on(struct call *call, struct loaded_session *loaded, enum session_status to, const char *reason)
{
    struct changes changes = {0};
    enum status status = change_status(call->arena, &loaded->session, to, reason, STOP_NONE, &changes, &call->failure);
    if (status == STATUS_OK) {
        status = session_append_changes(call, loaded, &changes);
    }
    return status == STATUS_OK ? session_after_move(call, loaded) : status;
}

static enum status act_interrupt(struct call *call, struct loaded_session *loaded, const char *cause)
{
    return turn_request_interrupt(call, loaded, cause);
}

static enum status act_revert(struct call *call, struct loaded_session *loaded, const char *cause)
{
    return lease_revoke(call, loaded, cause);
}

static enum status act_drain(struct call *call, struct loaded_session *loaded, const char *cause)
{
    (void)cause;
    return session_after_move(call, loaded);
}

static enum status act_complete(struct call *call, struct loaded_session *loaded, const char *cause)
{
    enum status status = turn_abandon(call, loaded);
    return status == STATUS_OK ? move_on(call, loaded, SESSION_IDLE, cause) : status;
}

static enum status act_not_busy(struct call *call, struct loaded_session *loaded, const char *cause)
{
    (void)cause;
    return session_drop_lease(call, loaded);
}

static enum status act_inactive(struct call *call, struct loaded_session *loaded, const char *cause)
{
    struct changes changes = {0};
    (void)cause;
    enum status status = change_archive(call->arena, &loaded->session, true, &changes, &call->failure);
    return status == STATUS_OK && changes.count > 0 ? session_append_changes(call, loaded, &changes) : status;
}

static enum status act_recover(struct call *call, struct loaded_session *loaded, const char *cause)
{
    return session_status_is_waiting(loaded->session.status) ? move_on(call, loaded, SESSION_PENDING, cause)
                                                             : lease_revoke(call, loaded, cause);
}

static enum status (*const acts[HEALTH_ACTION_COUNT])(struct call *call, struct loaded_session *loaded,
                                                      const char *cause) = {
    [HEALTH_INTERRUPT] = act_interrupt,    [HEALTH_REVERT_AND_DRAIN] = act_revert,
    [HEALTH_DRAIN_QUEUE] = act_drain,      [HEALTH_FORCE_COMPLETE] = act_complete,
    [HEALTH_MARK_NOT_BUSY] = act_not_busy, [HEALTH_PERFORM_RECOVERY] = act_recover,
    [HEALTH_MARK_INACTIVE] = act_inactive,
};

static enum status act(struct call *call, struct loaded_session *loaded, const struct health_finding *finding,
                       const struct health_facts *facts)
{
    struct changes changes = {0};
    change_watchdog(call->arena, &loaded->session, finding, facts, &changes);
    enum status status = session_append_changes(call, loaded, &changes);
    if (status == STATUS_OK) {
        status = acts[finding->action](call, loaded, watchdog_enum.names[finding->watchdog]);
    }
    if (status == STATUS_OK) {
        call->service->watchdog_record->findings[finding->watchdog]++;
    }
    return status;
}

enum status watchdog_look(struct call *call, struct loaded_session *loaded)
{
    assert(call_writes(call));
    struct health_facts facts;
    struct health_finding findings[HEALTH_FINDINGS_MAX];
    enum status status = gather(call, loaded, &facts);
    size_t count = status == STATUS_OK ? health_actions(&facts, &call->service->limits.health, findings) : 0;
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        status = act(call, loaded, &findings[i], &facts);
    }
    return status;
}

/* Where somebody was there meanwhile, or a turn is under way, it asks again later. */
enum status watchdog_stale(struct call *call, struct loaded_session *loaded, bool *out_again)
{
    assert(call_writes(call));
    const struct session *session = &loaded->session;
    const struct health_limits *limits = &call->service->limits.health;
    struct health_facts facts = {.status = session->status, .silent_ms = since_wall(call, session->last_active_at_ms)};
    if (health_is_stale(session, facts.silent_ms, limits)) {
        return act(call, loaded, &(struct health_finding){WATCHDOG_STALE, HEALTH_MARK_INACTIVE}, &facts);
    }
    if (session->archived_at_ms != 0 || session_status_is_ended(session->status) || limits->stale_ms == 0) {
        return STATUS_OK;
    }
    int64_t left_ms = limits->stale_ms - facts.silent_ms;
    *out_again = true;
    return transaction_timer(call, loaded, TIMER_STALE, call->steady_ms + (left_ms > 0 ? left_ms : limits->stale_ms));
}

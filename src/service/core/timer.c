#include "service/core/timer.h"

#include "service/ask/ask.h"
#include "service/session/channel.h"
#include "service/work/claim.h"
#include "service/session/session_end.h"
#include "service/turn/introspection.h"
#include "service/prompt/prompt.h"
#include "service/core/watchdog.h"

static enum status lease_over(struct call *call, struct loaded_session *loaded, bool *out_again)
{
    const struct lease *lease;
    enum status status = transaction_lease(call->transaction, loaded, &lease, &call->failure);
    if (status != STATUS_OK || !lease) {
        return status;
    }
    if (lease->expires_at_ms > call->steady_ms) {
        *out_again = true;
        return transaction_timer(call, loaded, TIMER_LEASE, lease->expires_at_ms);
    }
    return lease_revoke(call, loaded, "lease_lost");
}

static enum status fire(struct call *call, const struct timer *timer, struct loaded_session *loaded, bool *out_again)
{
    switch (timer->kind) {
    case TIMER_LEASE:
        return lease_over(call, loaded, out_again);
    case TIMER_EXPIRY:
        return session_end(call, loaded, STOP_EXPIRED, "its time to live is over");
    case TIMER_HUMAN:
        return session_end(call, loaded, STOP_ABANDONED, "left running too long");
    case TIMER_ASK:
        return ask_expire(call, loaded, out_again);
    case TIMER_COLLECT:
        return prompt_collect_over(call, loaded, out_again);
    case TIMER_CASCADE:
        return session_end_continue(call, loaded, out_again);
    case TIMER_STALE:
        return watchdog_stale(call, loaded, out_again);
    case TIMER_FOLLOWUP:
        return channel_followup(call, loaded, out_again);
    case TIMER_INTROSPECTION:
        return introspection_due(call, loaded, out_again);
    case TIMER_COUNT:
        break;
    }
    return STATUS_OK;
}

/* It was found in a transaction that is over: on PostgreSQL another node may have fired it since, or moved it. A lease
 * tells by its own row. */
static enum status is_due(struct call *call, const struct timer *timer, bool *out)
{
    *out = true;
    if (timer->kind == TIMER_LEASE) {
        return STATUS_OK;
    }
    return store_timer_is_due(call->db, timer, call->steady_ms, out, &call->failure);
}

enum status timer_fire(struct call *call, const struct timer *timer)
{
    struct loaded_session *loaded;
    bool due, again = false;
    enum status status = is_due(call, timer, &due);
    if (status != STATUS_OK || !due) {
        return status;
    }
    /* Whoever set it may be a node that is dead by now: what this one remembers is older. */
    status = transaction_load_fresh(call->transaction, timer->tenant_key, timer->session_key, &loaded, &call->failure);
    if (status == STATUS_OK) {
        status = fire(call, timer, loaded, &again);
    } else if (status == STATUS_NOT_FOUND) {
        status = STATUS_OK;
    }
    if (status == STATUS_OK && !again && timer->kind != TIMER_LEASE) {
        status = store_timer_delete_due(call->db, timer, call->steady_ms, &call->failure);
    }
    return status;
}

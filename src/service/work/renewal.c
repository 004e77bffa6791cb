#include "service/work/renewal.h"

#include <stdlib.h>

static struct slice map_key_of(const int64_t *session_key)
{
    return slice_from(session_key, sizeof *session_key);
}

/* The renewal of this very lease, whose row nobody changed since. */
static struct renewal *find(const struct renewals *renewals, const struct lease *lease)
{
    struct renewal *renewal = map_get(&renewals->by_session, map_key_of(&lease->session_key));
    return renewal && renewal->fence == lease->fence ? renewal : NULL;
}

void renewals_drop(struct renewals *renewals, int64_t session_key)
{
    struct renewal *renewal = map_remove(&renewals->by_session, map_key_of(&session_key));
    if (!renewal) {
        return;
    }
    *renewal->link = renewal->next;
    if (renewal->next) {
        renewal->next->link = renewal->link;
    }
    free(renewal);
}

void renewals_clear(struct renewals *renewals)
{
    while (renewals->first) {
        renewals_drop(renewals, renewals->first->session_key);
    }
    renewals->due_ms = 0;
}

static void link_first(struct renewals *renewals, struct renewal *renewal)
{
    renewal->next = renewals->first;
    renewal->link = &renewals->first;
    if (renewal->next) {
        renewal->next->link = &renewal->next;
    }
    renewals->first = renewal;
}

void renewals_release(struct renewals *renewals)
{
    renewals_clear(renewals);
    map_release(&renewals->by_session);
}

static struct renewal *renewal_for(struct renewals *renewals, const struct lease *held)
{
    struct renewal *renewal = map_get(&renewals->by_session, map_key_of(&held->session_key));
    bool current = renewal && renewal->fence == held->fence && renewal->expires_at_ms == held->expires_at_ms;
    if (current) {
        return renewal;
    }
    if (!renewal) {
        renewal = memory_zeroed(sizeof *renewal);
        renewal->session_key = held->session_key;
        link_first(renewals, renewal);
        map_put(&renewals->by_session, map_key_of(&renewal->session_key), renewal);
    }
    renewal->tenant_key = held->tenant_key;
    renewal->fence = held->fence;
    renewal->expires_at_ms = renewal->stored_expires_at_ms = held->expires_at_ms;
    return renewal;
}

bool renewals_take(struct renewals *renewals, const struct lease *held, int64_t expires_at_ms, int64_t heartbeat_at_ms,
                   int64_t now_ms)
{
    const struct renewal *known = find(renewals, held);
    bool continues = known && known->expires_at_ms == held->expires_at_ms;
    int64_t stored = continues ? known->stored_expires_at_ms : held->expires_at_ms;
    if (stored - now_ms < 2 * RENEWAL_DELAY_MS) {
        return false;
    }
    struct renewal *renewal = renewal_for(renewals, held);
    renewal->expires_at_ms = expires_at_ms;
    renewal->heartbeat_at_ms = heartbeat_at_ms;
    renewals->due_ms = renewals->due_ms ? renewals->due_ms : now_ms + RENEWAL_DELAY_MS;
    return true;
}

void renewals_apply(const struct renewals *renewals, struct lease *lease)
{
    const struct renewal *renewal = find(renewals, lease);
    if (renewal && renewal->stored_expires_at_ms == lease->expires_at_ms) {
        lease->expires_at_ms = renewal->expires_at_ms;
        lease->heartbeat_at_ms = renewal->heartbeat_at_ms;
    }
}

enum status renewals_save(const struct renewals *renewals, struct db *db, struct failure *failure)
{
    enum status status = STATUS_OK;
    for (const struct renewal *at = renewals->first; at && status == STATUS_OK; at = at->next) {
        struct lease lease = {.tenant_key = at->tenant_key,
                              .session_key = at->session_key,
                              .fence = at->fence,
                              .expires_at_ms = at->expires_at_ms,
                              .heartbeat_at_ms = at->heartbeat_at_ms};
        status = store_lease_renew(db, &lease, at->stored_expires_at_ms, failure);
    }
    return status;
}

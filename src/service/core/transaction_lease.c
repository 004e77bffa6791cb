#include <assert.h>

#include "service/core/transaction_internal.h"

enum status transaction_lease(struct transaction *transaction, struct loaded_session *loaded, const struct lease **out,
                              struct failure *failure)
{
    assert(transaction_is_open(transaction));
    bool fresh = !db_has_other_writers(transaction->db) || loaded->lease_known_by == transaction->command;
    if (!loaded->lease_known || !fresh) {
        arena_reset(&loaded->lease_arena);
        enum status status = store_lease_get(transaction->db, loaded->session.tenant_key, loaded->session.key,
                                             &loaded->lease_arena, &loaded->lease, failure);
        if (status != STATUS_OK && status != STATUS_NOT_FOUND) {
            return status;
        }
        loaded->lease_known = true;
        loaded->lease_known_by = transaction->command;
        loaded->has_lease = status == STATUS_OK;
        if (loaded->has_lease) {
            renewals_apply(&transaction->renewals, &loaded->lease);
        }
    }
    *out = loaded->has_lease ? &loaded->lease : NULL;
    return STATUS_OK;
}

enum status transaction_lease_put(struct transaction *transaction, struct loaded_session *loaded,
                                  const struct lease *lease, struct failure *failure)
{
    assert(transaction_is_open(transaction));
    assert(lease->session_key == loaded->session.key);
    transaction_touch(transaction, loaded);
    struct lease copy = *lease;
    struct arena fresh = {0};
    copy.token_hash = arena_copy(&fresh, lease->token_hash);
    copy.worker = arena_copy(&fresh, lease->worker);
    arena_release(&loaded->lease_arena);
    loaded->lease_arena = fresh;
    loaded->lease = copy;
    loaded->lease_known = loaded->has_lease = true;
    loaded->lease_known_by = transaction->command;
    return store_lease_put(transaction->db, &copy, failure);
}

bool transaction_lease_renew(const struct call *call, struct loaded_session *loaded, int64_t expires_at_ms)
{
    struct transaction *transaction = call->transaction;
    assert(loaded->lease_known && loaded->has_lease);
    if (db_has_other_writers(transaction->db) || loaded->touched ||
        !renewals_take(&transaction->renewals, &loaded->lease, expires_at_ms, call->now_ms, call->steady_ms)) {
        return false;
    }
    loaded->lease.expires_at_ms = expires_at_ms;
    loaded->lease.heartbeat_at_ms = call->now_ms;
    return true;
}

enum status transaction_lease_delete(struct transaction *transaction, struct loaded_session *loaded,
                                     struct failure *failure)
{
    assert(transaction_is_open(transaction));
    transaction_touch(transaction, loaded);
    loaded->lease_known = true;
    loaded->lease_known_by = transaction->command;
    loaded->has_lease = false;
    return store_lease_delete(transaction->db, loaded->session.tenant_key, loaded->session.key, failure);
}

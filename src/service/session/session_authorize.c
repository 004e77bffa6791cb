#include <assert.h>

#include "service/session/session.h"

#include "base/hash.h"

static enum status participant_role(struct call *call, const struct session *session, enum access_role *out)
{
    *out = ACCESS_NONE;
    bool owns = slice_present(session->owner) && slice_eq(session->owner, call->who->user_id);
    if (!slice_present(call->who->user_id) || owns) {
        return STATUS_OK;
    }
    return store_participant_role(call->db, session->tenant_key, session->key, call->who->user_id, out, &call->failure);
}

static bool lease_matches(const struct call *call, const struct lease *lease)
{
    if (!lease || lease->expires_at_ms <= call->steady_ms) {
        return false;
    }
    struct hash hash = hash_of(call->lease_token);
    return hash_equal(hash_slice(&hash), lease->token_hash);
}

/* A worker or its like learns that its lease is no longer live. Whether the session exists, and its fence, is
 * only for a caller who has access to it: without, the answer is the same for a session that does not exist. */
static bool is_stale(const struct call *call, enum access_role role, bool holds_lease)
{
    bool is_worker = (call->who->scopes & SCOPE_CLAIM) != 0 && access_works(call->who);
    return slice_present(call->lease_token) && !holds_lease && (role != ACCESS_NONE || is_worker);
}

static enum status stale_lease(struct call *call, enum access_role role, const struct session *session)
{
    enum status status =
        failure_set(&call->failure, STATUS_STALE, "stale_lease",
                    "The lease in Sojourn-Lease is not the live lease of this session; nothing was changed.");
    if (role != ACCESS_NONE) {
        failure_members(&call->failure, "\"fence\":%lld", (long long)session->fence);
    }
    return status;
}

/* The answer for an unknown session, the same bytes as for one without access. */
static enum status hide(struct call *call, enum status status)
{
    if (status != STATUS_NOT_FOUND) {
        return status;
    }
    return is_stale(call, ACCESS_NONE, false) ? stale_lease(call, ACCESS_NONE, NULL) : access_not_found(&call->failure);
}

/* PostgreSQL: the lease is as the store has it, the session may be remembered from before another node gave that lease
 * out. */
static enum status enter_lease(struct call *call, struct loaded_session **loaded, bool *out_holds)
{
    const struct lease *lease;
    enum status status = transaction_lease(call->transaction, *loaded, &lease, &call->failure);
    if (status == STATUS_OK && lease && lease->fence != (*loaded)->session.fence) {
        int64_t tenant_key = (*loaded)->session.tenant_key, key = (*loaded)->session.key;
        status = transaction_load_fresh(call->transaction, tenant_key, key, loaded, &call->failure);
        if (status == STATUS_OK) {
            status = transaction_lease(call->transaction, *loaded, &lease, &call->failure);
        }
    }
    *out_holds = status == STATUS_OK && lease_matches(call, lease);
    return status;
}

enum status session_authorize(struct call *call, struct slice id, enum action action, struct session_access *out)
{
    assert(call_writes(call));
    struct loaded_session *loaded;
    bool holds_lease = false;
    enum status status = transaction_load(call->transaction, call->who->tenant_key, id, &loaded, &call->failure);
    if (status == STATUS_OK && slice_present(call->lease_token)) {
        status = enter_lease(call, &loaded, &holds_lease);
    }
    if (status != STATUS_OK) {
        return hide(call, status);
    }
    enum access_role stored;
    status = participant_role(call, &loaded->session, &stored);
    if (status != STATUS_OK) {
        return status;
    }
    enum access_role role = access_role(call->who, &loaded->session, stored, holds_lease);
    if (is_stale(call, role, holds_lease)) {
        return stale_lease(call, role, &loaded->session);
    }
    status = access_check(call->who, role, action, &call->failure);
    if (status == STATUS_OK) {
        *out = (struct session_access){loaded, role, holds_lease};
    }
    return status;
}

enum status session_check_reached(struct call *call, int64_t key)
{
    struct loaded_session *loaded;
    enum access_role stored;
    enum status status = transaction_load_key(call->transaction, call->who->tenant_key, key, &loaded, &call->failure);
    if (status == STATUS_OK) {
        status = participant_role(call, &loaded->session, &stored);
    }
    if (status != STATUS_OK) {
        return hide(call, status);
    }
    bool is_reached = access_role(call->who, &loaded->session, stored, false) != ACCESS_NONE ||
                      access_may_claim(call->who, &loaded->session);
    return is_reached ? STATUS_OK : access_not_found(&call->failure);
}

static enum status reader_holds_lease(struct call *call, const struct session *session, bool *out)
{
    *out = false;
    if (!slice_present(call->lease_token)) {
        return STATUS_OK;
    }
    struct lease lease;
    enum status status =
        store_lease_get(call->db, session->tenant_key, session->key, call->arena, &lease, &call->failure);
    if (status == STATUS_OK) {
        *out = lease_matches(call, &lease);
    }
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

static enum status session_find(struct call *call, struct slice id, struct session *out)
{
    if (!session_id_is_valid(id)) {
        return hide(call, STATUS_NOT_FOUND);
    }
    return hide(call, store_session_by_id(call->db, call->who->tenant_key, id, call->arena, out, &call->failure));
}

enum status session_authorize_read(struct call *call, struct slice id, enum action action, struct session *out,
                                   enum access_role *out_role)
{
    enum status status = session_find(call, id, out);
    if (status != STATUS_OK) {
        return status;
    }
    bool holds_lease;
    enum access_role stored;
    status = reader_holds_lease(call, out, &holds_lease);
    if (status == STATUS_OK) {
        status = participant_role(call, out, &stored);
    }
    if (status != STATUS_OK) {
        return status;
    }
    enum access_role role = access_role(call->who, out, stored, holds_lease);
    if (is_stale(call, role, holds_lease)) {
        return stale_lease(call, role, out);
    }
    if (out_role) {
        *out_role = role;
    }
    return access_check(call->who, role, action, &call->failure);
}

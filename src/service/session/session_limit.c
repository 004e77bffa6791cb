#include "service/session/session_internal.h"

/* How many he may have; his row stays ours until the commit, so that two who begin something for him at two nodes count
 * one after the other. */
static enum status limit_of(struct call *call, struct slice owner, int64_t *out)
{
    struct user user;
    *out = call->service->limits.sessions.per_user_max;
    enum status status = store_user_lock(call->db, owner, call->arena, &user, &call->failure);
    if (status == STATUS_OK && user.sessions_max > 0) {
        *out = user.sessions_max;
    }
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

static enum status refuse(struct call *call, struct slice owner, int64_t active, int64_t limit)
{
    bool own = slice_eq(owner, call->who->user_id);
    enum status status = failure_set(
        &call->failure, STATUS_LIMITED, "too_many_sessions",
        "%s %lld active sessions; the limit is %lld. Wait for one, end one, or raise sessions-per-user-max.",
        own ? "You have" : "The owner of this session has", (long long)active, (long long)limit);
    failure_members(&call->failure, "\"active_count\":%lld,\"limit\":%lld", (long long)active, (long long)limit);
    call->failure.retry_after_s = 30;
    return status;
}

enum status session_check_limit(struct call *call, struct slice owner)
{
    int64_t limit, active = 0;
    if (!slice_present(owner)) {
        return STATUS_OK;
    }
    enum status status = limit_of(call, owner, &limit);
    if (status == STATUS_OK) {
        status = transaction_flush(call->transaction, &call->failure);
    }
    if (status == STATUS_OK) {
        status = store_session_count_concurrent(call->db, call->who->tenant_key, owner, &active, &call->failure);
    }
    return status == STATUS_OK && active >= limit ? refuse(call, owner, active, limit) : status;
}

enum status session_check_begin(struct call *call, const struct session *session)
{
    return session_is_limited(session) && !session_status_is_under_way(session->status)
               ? session_check_limit(call, session->owner)
               : STATUS_OK;
}

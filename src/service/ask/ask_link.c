#include "base/hash.h"
#include "service/ask/ask_internal.h"
#include "service/identity/identity.h"

enum status ask_link_refuse(struct call *call)
{
    return failure_set(&call->failure, STATUS_NOT_FOUND, "not_found", "Link not found or expired.");
}

enum status ask_link_create(struct call *call, struct slice session_id, struct slice ask_id, int64_t link_ms,
                            char out_token[TOKEN_TEXT_BYTES], int64_t *out_expires_at_ms)
{
    struct session_access entry;
    struct ask ask;
    enum status status = session_authorize(call, session_id, ACTION_ANSWER, &entry);
    if (status == STATUS_OK) {
        status = ask_load(call, &entry.loaded->session, ask_id, &ask);
    }
    if (status == STATUS_OK) {
        status = ask_check_person(call->who, entry.role, entry.holds_lease, &ask, &call->failure);
    }
    if (status != STATUS_OK) {
        return status;
    }
    if (call->who->kind != PRINCIPAL_USER || !slice_present(call->who->user_id)) {
        return failure_set(&call->failure, STATUS_FORBIDDEN, "user_required", "Only a user makes a link to an ask.");
    }
    if (ask.state != ASK_PENDING || ask_is_overdue(call, &ask)) {
        return ask_not_pending(&ask, &call->failure);
    }
    int64_t longest = call->service->limits.ask.link_ms;
    id_token(call->service->ids, "sa_", out_token);
    struct hash hash = hash_of(slice_of(out_token));
    struct grant grant = {
        .kind = GRANT_ASK,
        .hash = hash_slice(&hash),
        .user_id = call->who->user_id,
        .session_id = entry.loaded->session.id,
        .ask_id = ask_id,
        .token_id = call->who->token_id,
        .tenant_key = call->who->tenant_key,
        .created_at_ms = call->now_ms,
        .expires_at_ms = call->now_ms + (link_ms > 0 && link_ms < longest ? link_ms : longest),
    };
    *out_expires_at_ms = grant.expires_at_ms;
    return store_grant_insert(call->db, &grant, &call->failure);
}

enum status ask_link_resolve(struct call *call, struct slice token, struct ask_link *out)
{
    enum status status = identity_of_ask_link(call, token, &out->who, &out->session_id, &out->ask_id);
    if (status == STATUS_UNAUTHENTICATED || status == STATUS_NOT_FOUND) {
        return ask_link_refuse(call);
    }
    return status;
}

/* What its maker may not see any more is not there. */
static enum status hide(struct call *call, enum status status)
{
    return status == STATUS_NOT_FOUND ? ask_link_refuse(call) : status;
}

enum status ask_link_answer(struct call *call, struct slice token, const struct ask_reply *reply, struct ask *out)
{
    struct ask_link *link = arena_alloc(call->arena, sizeof *link);
    enum status status = ask_link_resolve(call, token, link);
    if (status != STATUS_OK) {
        return status;
    }
    bool is_once = !slice_present(reply->grant) || slice_is(reply->grant, ask_decision_enum.names[DECISION_ONCE]);
    if (reply->decision == DECISION_SESSION || reply->decision == DECISION_ALWAYS || !is_once) {
        return failure_set(&call->failure, STATUS_INVALID, "invalid_decision",
                           "A link decides once: the decision is once or deny.");
    }
    call->who = &link->who;
    status = hide(call, ask_answer(call, link->session_id, link->ask_id, reply, out));
    if (status == STATUS_OK) {
        struct hash hash = hash_of(token);
        status = hide(call, store_grant_delete(call->db, GRANT_ASK, hash_slice(&hash), &call->failure));
    }
    return status;
}

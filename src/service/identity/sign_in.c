#include "base/hash.h"
#include "service/identity/identity_rows.h"

enum { ACCOUNTS_PER_EMAIL_MAX = 8 };

enum status sign_in_start(struct call *call, struct slice user_id, int64_t tenant_key, struct sign_in *out)
{
    struct tenant *tenants;
    enum member_role *roles;
    size_t count = 0;
    enum status status =
        store_membership_list(call->db, user_id, call->arena, &tenants, &roles, &count, &call->failure);
    if (status != STATUS_OK) {
        return status;
    }
    size_t at = 0;
    while (at < count && tenant_key != 0 && tenants[at].key != tenant_key) {
        at++;
    }
    if (at >= count) {
        return failure_set(&call->failure, STATUS_FORBIDDEN, "no_membership", "This user belongs to no tenant.");
    }
    id_token(call->service->ids, "sx_", out->csrf);
    struct grant grant = {
        .kind = GRANT_COOKIE, .user_id = user_id, .csrf = slice_of(out->csrf), .tenant_key = tenants[at].key};
    out->user_id = user_id;
    status = identity_insert_grant(call, &grant, "sc_", call->service->limits.identity.cookie_ms, out->cookie);
    out->expires_at_ms = call->now_ms + call->service->limits.identity.cookie_ms;
    return status;
}

enum status sign_in_by_link(struct call *call, struct slice secret, struct sign_in *out)
{
    struct grant grant;
    struct principal who;
    enum status status = identity_of_grant(call, GRANT_LINK, secret, &grant, &who);
    if (status == STATUS_OK) {
        struct hash hash = hash_of(secret);
        status = store_grant_delete(call->db, GRANT_LINK, hash_slice(&hash), &call->failure);
    }
    if (status == STATUS_NOT_FOUND || status == STATUS_UNAUTHENTICATED) {
        return failure_set(&call->failure, STATUS_UNAUTHENTICATED, "link_over",
                           "This sign-in link was used already or is over; ask for a new one.");
    }
    return status == STATUS_OK ? sign_in_start(call, grant.user_id, grant.tenant_key, out) : status;
}

enum status sign_out(struct call *call, struct slice cookie_secret)
{
    struct hash hash = hash_of(cookie_secret);
    transaction_identity_changed(call);
    enum status status = store_grant_delete(call->db, GRANT_COOKIE, hash_slice(&hash), &call->failure);
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

enum status ticket_create(struct call *call, struct slice session_id, char out_ticket[TOKEN_TEXT_BYTES],
                          int64_t *out_expires_at_ms)
{
    if (!slice_present(call->who->user_id)) {
        return failure_set(
            &call->failure, STATUS_FORBIDDEN, "user_required",
            "Only users and their tokens can ask for a ticket; other callers can send their token itself.");
    }
    struct grant grant = {.kind = GRANT_TICKET,
                          .user_id = call->who->user_id,
                          .token_id = call->who->token_id,
                          .session_id = session_id,
                          .tenant_key = call->who->tenant_key};
    if (call->who->credential.kind == CREDENTIAL_COOKIE) {
        char text[HASH_TEXT_BYTES];
        hash_text(&call->who->credential.hash, text);
        grant.csrf = arena_copy(call->arena, slice_of(text));
    }
    *out_expires_at_ms = call->now_ms + call->service->limits.identity.ticket_ms;
    return identity_insert_grant(call, &grant, "st_", call->service->limits.identity.ticket_ms, out_ticket);
}

enum status user_by_password(struct call *call, struct slice email, struct slice password, struct user *out)
{
    struct user *accounts;
    size_t count = 0;
    bool found = false;
    enum status status =
        store_users_by_email(call->db, email, ACCOUNTS_PER_EMAIL_MAX, call->arena, &accounts, &count, &call->failure);
    if (status != STATUS_OK) {
        return status;
    }
    for (size_t i = 0; i < count && !found; i++) {
        *out = accounts[i];
        found = password_matches(out->password_hash, password) && out->disabled_at_ms == 0;
    }
    if (count == 0) {
        (void)password_matches((struct slice){0}, password);
    }
    return found ? STATUS_OK
                 : failure_set(&call->failure, STATUS_UNAUTHENTICATED, "wrong_credentials",
                               "Email or password is wrong.");
}

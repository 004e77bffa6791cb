#include "service/identity/identity_rows.h"

enum { BOOTSTRAP_BYTES_MIN = 32 };

static enum status make_owner(struct call *call, struct tenant *tenant, struct user *user)
{
    *tenant = (struct tenant){.id = SLICE(FIRST_TENANT_ID), .name = SLICE("Default"), .created_at_ms = call->now_ms};
    *user = (struct user){.id = identity_new_id(call),
                          .email = SLICE(FIRST_OWNER_EMAIL),
                          .name = SLICE("Owner"),
                          .created_at_ms = call->now_ms};
    enum status status = store_tenant_insert(call->db, tenant, &call->failure);
    if (status == STATUS_OK) {
        status = store_user_insert(call->db, user, &call->failure);
    }
    return status == STATUS_OK ? store_membership_put(call->db, tenant->key, user->id, MEMBER_OWNER, &call->failure)
                               : status;
}

enum status identity_first_start(struct call *call, struct slice bootstrap_token, bool *out_made,
                                 char out_link[TOKEN_TEXT_BYTES])
{
    int64_t users = 0;
    *out_made = false;
    out_link[0] = '\0';
    if (slice_present(bootstrap_token) && bootstrap_token.len < BOOTSTRAP_BYTES_MIN) {
        return failure_set(&call->failure, STATUS_INVALID, "weak_bootstrap_token",
                           "SOJOURN_BOOTSTRAP_TOKEN must have at least %d characters.", BOOTSTRAP_BYTES_MIN);
    }
    enum status status = store_user_count(call->db, &users, &call->failure);
    if (status != STATUS_OK || users > 0) {
        return status;
    }
    struct tenant tenant;
    struct user user;
    status = make_owner(call, &tenant, &user);
    if (status != STATUS_OK) {
        return status;
    }
    *out_made = true;
    if (slice_present(bootstrap_token)) {
        struct token token = {.name = SLICE("bootstrap"),
                              .kind = PRINCIPAL_USER,
                              .user_id = user.id,
                              .tenant_key = tenant.key,
                              .scopes = SCOPE_ALL};
        return identity_insert_token(call, &token, bootstrap_token);
    }
    struct grant link = {.kind = GRANT_LINK, .user_id = user.id, .tenant_key = tenant.key};
    return identity_insert_grant(call, &link, "sk_", call->service->limits.identity.link_ms, out_link);
}

enum status identity_owner_token(struct call *call, struct slice name, char out_secret[TOKEN_TEXT_BYTES])
{
    struct tenant tenant;
    struct user *users;
    enum member_role *roles;
    size_t count = 0, at = 0;
    enum status status = store_tenant_by_id(call->db, SLICE(FIRST_TENANT_ID), call->arena, &tenant, &call->failure);
    if (status == STATUS_OK) {
        status = store_user_list(call->db, tenant.key, call->arena, &users, &roles, &count, &call->failure);
    }
    if (status != STATUS_OK) {
        return status;
    }
    while (at < count && (roles[at] != MEMBER_OWNER || users[at].disabled_at_ms)) {
        at++;
    }
    if (at == count) {
        return failure_set(&call->failure, STATUS_NOT_FOUND, "no_owner", "The first tenant has no owner.");
    }
    struct token token = {
        .name = name, .kind = PRINCIPAL_USER, .user_id = users[at].id, .tenant_key = tenant.key, .scopes = SCOPE_ALL};
    id_token(call->service->ids, "sj_", out_secret);
    return identity_insert_token(call, &token, slice_of(out_secret));
}

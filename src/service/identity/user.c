#include "service/identity/identity_rows.h"

static enum status require_rank(struct call *call, enum member_role needed)
{
    enum member_role least = needed > MEMBER_ADMIN ? needed : MEMBER_ADMIN;
    if (access_rank(call->who) < least) {
        return failure_set(&call->failure, STATUS_FORBIDDEN, "role_required", "This needs the role %s in the tenant.",
                           member_role_enum.names[least]);
    }
    return STATUS_OK;
}

/* The caller's rank as it is now, and stays until the commit: two owners who remove each other at the same moment must
 * not both succeed. */
static enum status require_rank_still(struct call *call, enum member_role needed)
{
    enum member_role own = MEMBER_NONE;
    enum status status = require_rank(call, needed);
    if (status == STATUS_OK) {
        status = store_membership_lock(call->db, call->who->tenant_key, call->who->user_id, &own, &call->failure);
    }
    if (status == STATUS_OK && own < access_rank(call->who)) {
        return failure_set(&call->failure, STATUS_FORBIDDEN, "role_required", "Your role in the tenant was changed.");
    }
    return status;
}

static bool is_email(struct slice email)
{
    struct slice local, domain;
    return email.len <= 254 && slice_cut(email, '@', &local, &domain) && local.len > 0 && domain.len > 0 &&
           !memchr(domain.ptr, '@', domain.len) && !memchr(email.ptr, ' ', email.len);
}

enum status user_create(struct call *call, const struct user_request *request, struct user *out,
                        char out_link[TOKEN_TEXT_BYTES])
{
    enum status status = require_rank(call, request->role);
    if (status == STATUS_OK && !is_email(request->email)) {
        return failure_set(&call->failure, STATUS_INVALID, "invalid_email", "`email` must look like name@host.");
    }
    if (status != STATUS_OK) {
        return status;
    }
    *out = (struct user){
        .id = identity_new_id(call),
        .email = request->email,
        .name = slice_present(request->name) ? request->name : request->email,
        .password_hash = request->password_hash,
        .created_at_ms = call->now_ms,
        .sessions_max = request->sessions_max > 0 ? request->sessions_max : 0,
    };
    struct user existing;
    status =
        store_member_by_email(call->db, call->who->tenant_key, request->email, call->arena, &existing, &call->failure);
    if (status == STATUS_OK) {
        return failure_set(&call->failure, STATUS_CONFLICT, "email_taken", "A member with this email exists already.");
    }
    if (status == STATUS_NOT_FOUND) {
        status = store_user_insert(call->db, out, &call->failure);
    }
    if (status == STATUS_OK) {
        status = store_membership_put(call->db, call->who->tenant_key, out->id, request->role, &call->failure);
    }
    struct grant link = {.kind = GRANT_LINK, .user_id = out->id, .tenant_key = call->who->tenant_key};
    return status == STATUS_OK
               ? identity_insert_grant(call, &link, "sk_", call->service->limits.identity.link_ms, out_link)
               : status;
}

/* A new password ends what was begun with the old one: other browsers, tickets, links. API tokens stay. */
static enum status end_other_sign_ins(struct call *call, struct slice user_id)
{
    const struct credential *own = &call->who->credential;
    struct slice except = own->kind == CREDENTIAL_COOKIE ? hash_slice(&own->hash) : (struct slice){0};
    return store_grant_delete_of_user(call->db, user_id, GRANT_ASK, except, &call->failure);
}

enum status user_update(struct call *call, struct slice user_id, const struct user_request *request, struct user *out)
{
    enum member_role present;
    enum status status = identity_check_member(call, user_id, &present);
    bool self = slice_eq(user_id, call->who->user_id);
    bool rank_changes = request->role != MEMBER_NONE && request->role != present;
    if (status == STATUS_OK && self && rank_changes && access_rank(call->who) >= MEMBER_ADMIN) {
        return failure_set(&call->failure, STATUS_CONFLICT, "self", "You cannot change your own role.");
    }
    if (status == STATUS_OK && (!self || rank_changes || request->sessions_max >= 0)) {
        status = require_rank_still(call, request->role > present ? request->role : present);
    }
    if (status == STATUS_OK) {
        status = store_user_by_id(call->db, user_id, call->arena, out, &call->failure);
    }
    if (status != STATUS_OK) {
        return status;
    }
    out->name = slice_present(request->name) ? request->name : out->name;
    out->password_hash = slice_present(request->password_hash) ? request->password_hash : out->password_hash;
    out->sessions_max = request->sessions_max >= 0 ? request->sessions_max : out->sessions_max;
    transaction_identity_changed(call);
    status = store_user_update(call->db, out, &call->failure);
    if (status == STATUS_OK && slice_present(request->password_hash)) {
        status = end_other_sign_ins(call, user_id);
    }
    if (status == STATUS_OK && rank_changes) {
        transaction_close_streams_of(call->transaction, call->who->tenant_key, user_id);
        status = store_membership_put(call->db, call->who->tenant_key, user_id, request->role, &call->failure);
    }
    return status;
}

enum status user_remove(struct call *call, struct slice user_id)
{
    enum member_role present;
    enum status status = identity_check_member(call, user_id, &present);
    if (status == STATUS_OK) {
        status = require_rank_still(call, present);
    }
    if (status == STATUS_OK && slice_eq(user_id, call->who->user_id)) {
        return failure_set(&call->failure, STATUS_CONFLICT, "self", "You cannot remove yourself from the tenant.");
    }
    if (status != STATUS_OK) {
        return status;
    }
    transaction_identity_changed(call);
    transaction_close_streams_of(call->transaction, call->who->tenant_key, user_id);
    return store_membership_put(call->db, call->who->tenant_key, user_id, MEMBER_NONE, &call->failure);
}

static bool is_tenant_id(struct slice id)
{
    if (id.len == 0 || id.len > 64) {
        return false;
    }
    for (size_t i = 0; i < id.len; i++) {
        char c = id.ptr[i];
        if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (c == '-' && i > 0))) {
            return false;
        }
    }
    return true;
}

enum status tenant_create(struct call *call, struct slice id, struct slice name, struct tenant *out)
{
    enum status status = require_rank(call, MEMBER_OWNER);
    if (status == STATUS_OK && !slice_is(call->who->tenant_id, FIRST_TENANT_ID)) {
        /* Owners of other tenants would learn which ids are taken. */
        return failure_set(&call->failure, STATUS_FORBIDDEN, "first_tenant_required",
                           "Tenants are made by owners of the first tenant, \"%s\".", FIRST_TENANT_ID);
    }
    if (status == STATUS_OK && !is_tenant_id(id)) {
        return failure_set(&call->failure, STATUS_INVALID, "invalid_id",
                           "A tenant's id is 1 to 64 characters of a-z 0-9 and -, not beginning with -.");
    }
    if (status == STATUS_OK && !slice_present(call->who->user_id)) {
        return failure_set(&call->failure, STATUS_FORBIDDEN, "user_required", "Only a user can own a tenant.");
    }
    struct tenant existing;
    if (status == STATUS_OK) {
        status = store_tenant_by_id(call->db, id, call->arena, &existing, &call->failure);
        if (status == STATUS_OK) {
            return failure_set(&call->failure, STATUS_CONFLICT, "id_taken", "This id cannot be used; choose another.");
        }
    }
    if (status != STATUS_NOT_FOUND) {
        return status;
    }
    *out = (struct tenant){.id = id, .name = slice_present(name) ? name : id, .created_at_ms = call->now_ms};
    status = store_tenant_insert(call->db, out, &call->failure);
    return status == STATUS_OK
               ? store_membership_put(call->db, out->key, call->who->user_id, MEMBER_OWNER, &call->failure)
               : status;
}

enum status user_find(struct call *call, struct slice user_id, struct user *out)
{
    return store_user_by_id(call->db, user_id, call->arena, out, &call->failure);
}

enum status user_list(struct call *call, struct user **out, enum member_role **out_roles, size_t *out_count)
{
    return store_user_list(call->db, call->who->tenant_key, call->arena, out, out_roles, out_count, &call->failure);
}

enum status user_role(struct call *call, int64_t tenant_key, struct slice user_id, enum member_role *out)
{
    return store_membership_get(call->db, tenant_key, user_id, out, &call->failure);
}

enum status tenant_list(struct call *call, struct tenant **out, enum member_role **out_roles, size_t *out_count)
{
    *out_count = 0;
    if (!slice_present(call->who->user_id)) {
        return STATUS_OK;
    }
    return store_membership_list(call->db, call->who->user_id, call->arena, out, out_roles, out_count, &call->failure);
}

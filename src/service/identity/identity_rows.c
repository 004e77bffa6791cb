#include "service/identity/identity_rows.h"

#include "base/hash.h"

struct slice identity_actor_name(struct arena *arena, const struct token *token)
{
    if (token->kind == PRINCIPAL_USER) {
        return arena_format(arena, "user:%.*s", SLICE_ARG(token->user_id));
    }
    return arena_format(arena, "%s:%.*s", principal_kind_enum.names[token->kind], SLICE_ARG(token->name));
}

struct slice identity_new_id(struct call *call)
{
    char id[UUID_TEXT_BYTES];
    id_uuid7(call->service->ids, call->now_ms, id);
    return arena_copy(call->arena, slice_of(id));
}

enum status identity_insert_token(struct call *call, struct token *token, struct slice secret)
{
    struct hash hash = hash_of(secret);
    token->id = identity_new_id(call);
    token->hash = arena_copy(call->arena, hash_slice(&hash));
    token->created_at_ms = call->now_ms;
    return store_token_insert(call->db, token, &call->failure);
}

enum status identity_insert_grant(struct call *call, struct grant *grant, const char *prefix, int64_t keep_ms,
                                  char out_secret[TOKEN_TEXT_BYTES])
{
    id_token(call->service->ids, prefix, out_secret);
    struct hash hash = hash_of(slice_of(out_secret));
    grant->hash = hash_slice(&hash);
    grant->created_at_ms = call->now_ms;
    grant->expires_at_ms = call->now_ms + keep_ms;
    return store_grant_insert(call->db, grant, &call->failure);
}

enum status identity_check_member(struct call *call, struct slice user_id, enum member_role *out)
{
    enum status status = store_membership_get(call->db, call->who->tenant_key, user_id, out, &call->failure);
    if (status == STATUS_NOT_FOUND || (status == STATUS_OK && *out == MEMBER_NONE)) {
        return failure_set(&call->failure, STATUS_NOT_FOUND, "not_found", "There is no such user.");
    }
    return status;
}

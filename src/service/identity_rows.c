#include "service/identity_rows.h"

#include "base/hash.h"

struct slice identity_actor_name(struct arena *arena, const struct token *token)
{
    if (token->kind == PRINCIPAL_USER) {
        return arena_format(arena, "user:%.*s", SLICE_ARG(token->user_id));
    }
    return arena_format(arena, "%s:%.*s", principal_kind_words.names[token->kind], SLICE_ARG(token->name));
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
    unit_wrote(call->unit);
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
    unit_wrote(call->unit);
    return store_grant_insert(call->db, grant, &call->failure);
}

enum status identity_check_member(struct call *call, struct slice user_id, enum member_role *out)
{
    enum status status = store_membership_get(call->db, call->who->tenant_key, user_id, out, &call->failure);
    if (status == STATUS_NOT_FOUND || (status == STATUS_OK && *out == MEMBER_NONE)) {
        return failure_set(&call->failure, STATUS_NOT_FOUND, "not_found", "No such user.");
    }
    return status;
}

struct slice identity_write_hash(struct arena *arena, const struct hash *hash)
{
    static const char digits[] = "0123456789abcdef";
    char *text = arena_bytes(arena, 2 * HASH_BYTES);
    for (size_t i = 0; i < HASH_BYTES; i++) {
        text[2 * i] = digits[hash->bytes[i] >> 4];
        text[2 * i + 1] = digits[hash->bytes[i] & 15];
    }
    return slice_from(text, 2 * HASH_BYTES);
}

static int digit_of(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool identity_read_hash(struct slice text, struct hash *out)
{
    if (text.len != 2 * HASH_BYTES) {
        return false;
    }
    for (size_t i = 0; i < HASH_BYTES; i++) {
        int high = digit_of(text.ptr[2 * i]), low = digit_of(text.ptr[2 * i + 1]);
        if (high < 0 || low < 0) {
            return false;
        }
        out->bytes[i] = (unsigned char)(high << 4 | low);
    }
    return true;
}

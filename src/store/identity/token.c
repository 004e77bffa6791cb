#include "store/statement.h"
#include "store/store.h"

static void read_token(struct query *query, struct arena *arena, void *item)
{
    struct token *out = item;
    out->id = column_copy(query, TOKEN_COLUMN_ID, arena);
    out->name = column_copy(query, TOKEN_COLUMN_NAME, arena);
    out->hash = column_copy(query, TOKEN_COLUMN_HASH, arena);
    out->user_id = column_copy(query, TOKEN_COLUMN_USER_ID, arena);
    out->id_prefix = column_copy(query, TOKEN_COLUMN_ID_PREFIX, arena);
    out->session_id = column_copy(query, TOKEN_COLUMN_SESSION_ID, arena);
    out->tenant_key = query_i64(query, TOKEN_COLUMN_TENANT_KEY);
    out->kind = (enum principal_kind)query_i64(query, TOKEN_COLUMN_KIND);
    out->scopes = (unsigned)query_i64(query, TOKEN_COLUMN_SCOPES);
    out->created_at_ms = query_i64(query, TOKEN_COLUMN_CREATED_AT_MS);
    out->expires_at_ms = query_i64(query, TOKEN_COLUMN_EXPIRES_AT_MS);
    out->revoked_at_ms = query_i64(query, TOKEN_COLUMN_REVOKED_AT_MS);
    out->last_used_at_ms = query_i64(query, TOKEN_COLUMN_LAST_USED_AT_MS);
}

static enum status read_one(struct db *db, struct sql_call call, struct arena *arena, struct token *out,
                            struct failure *failure)
{
    struct query query;
    enum status status = statement_first(&query, db, call, failure);
    if (status != STATUS_OK) {
        return status;
    }
    read_token(&query, arena, out);
    query_end(&query);
    return STATUS_OK;
}

enum status store_token_insert(struct db *db, const struct token *token, struct failure *failure)
{
    int64_t changed = 0;
    enum status status = statement_run(
        db,
        sql_token_insert(.id = token->id, .name = token->name, .hash = token->hash, .user_id = token->user_id,
                         .id_prefix = token->id_prefix, .session_id = token->session_id,
                         .tenant_key = token->tenant_key, .kind = token->kind, .scopes = token->scopes,
                         .created_at_ms = token->created_at_ms, .expires_at_ms = token->expires_at_ms,
                         .revoked_at_ms = token->revoked_at_ms, .last_used_at_ms = token->last_used_at_ms),
        &changed, failure);
    if (status == STATUS_OK && !changed) {
        return failure_set(failure, STATUS_CONFLICT, "token_exists", "This token exists.");
    }
    return status;
}

enum status store_token_by_hash(struct db *db, struct slice hash, struct arena *arena, struct token *out,
                                struct failure *failure)
{
    return read_one(db, sql_token_by_hash(.hash = hash), arena, out, failure);
}

enum status store_token_by_id(struct db *db, int64_t tenant_key, struct slice id, struct arena *arena,
                              struct token *out, struct failure *failure)
{
    return read_one(db, sql_token_by_id(.tenant_key = tenant_key, .id = id), arena, out, failure);
}

enum status store_token_list(struct db *db, int64_t tenant_key, int64_t ended_by_ms, struct arena *arena,
                             struct token **out, size_t *out_count, struct failure *failure)
{
    return statement_rows(
        db, sql_token_list(.tenant_key = tenant_key, .ended_by_ms = optional(ended_by_ms, ended_by_ms != 0)),
        sizeof **out, read_token, arena, out, out_count, failure);
}

enum status store_token_prune(struct db *db, int64_t before_ms, struct failure *failure)
{
    return statement_run(db, sql_token_prune(.before_ms = before_ms), NULL, failure);
}

enum status store_token_of_session(struct db *db, int64_t tenant_key, struct slice session_id, enum principal_kind kind,
                                   struct arena *arena, struct token **out, size_t *out_count, struct failure *failure)
{
    return statement_rows(db, sql_token_of_session(.tenant_key = tenant_key, .session_id = session_id, .kind = kind),
                          sizeof **out, read_token, arena, out, out_count, failure);
}

enum status store_token_revoke(struct db *db, int64_t tenant_key, struct slice id, int64_t now_ms, bool *out_changed,
                               struct failure *failure)
{
    int64_t changed = 0;
    enum status status =
        statement_run(db, sql_token_revoke(.tenant_key = tenant_key, .id = id, .now_ms = now_ms), &changed, failure);
    if (status == STATUS_OK) {
        *out_changed = changed > 0;
    }
    return status;
}

/* --- grants --- */

enum status store_grant_insert(struct db *db, const struct grant *grant, struct failure *failure)
{
    return statement_run(db,
                         sql_grant_insert(.kind = grant->kind, .hash = grant->hash, .user_id = grant->user_id,
                                          .csrf = grant->csrf, .token_id = grant->token_id,
                                          .session_id = grant->session_id, .tenant_key = grant->tenant_key,
                                          .created_at_ms = grant->created_at_ms, .expires_at_ms = grant->expires_at_ms,
                                          .ask_id = grant->ask_id),
                         NULL, failure);
}

enum status store_grant_by_hash(struct db *db, enum grant_kind kind, struct slice hash, struct arena *arena,
                                struct grant *out, struct failure *failure)
{
    struct query query;
    enum status status = statement_first(&query, db, sql_grant_by_hash(.kind = kind, .hash = hash), failure);
    if (status != STATUS_OK) {
        return status;
    }
    out->kind = (enum grant_kind)query_i64(&query, GRANT_COLUMN_KIND);
    out->hash = column_copy(&query, GRANT_COLUMN_HASH, arena);
    out->user_id = column_copy(&query, GRANT_COLUMN_USER_ID, arena);
    out->csrf = column_copy(&query, GRANT_COLUMN_CSRF, arena);
    out->token_id = column_copy(&query, GRANT_COLUMN_TOKEN_ID, arena);
    out->session_id = column_copy(&query, GRANT_COLUMN_SESSION_ID, arena);
    out->tenant_key = query_i64(&query, GRANT_COLUMN_TENANT_KEY);
    out->created_at_ms = query_i64(&query, GRANT_COLUMN_CREATED_AT_MS);
    out->expires_at_ms = query_i64(&query, GRANT_COLUMN_EXPIRES_AT_MS);
    out->ask_id = column_copy(&query, GRANT_COLUMN_ASK_ID, arena);
    query_end(&query);
    return STATUS_OK;
}

enum status store_grant_delete(struct db *db, enum grant_kind kind, struct slice hash, struct failure *failure)
{
    int64_t changed = 0;
    enum status status = statement_run(db, sql_grant_delete(.kind = kind, .hash = hash), &changed, failure);
    if (status == STATUS_OK && !changed) {
        return failure_set(failure, STATUS_NOT_FOUND, "not_found", "It was used before or never existed.");
    }
    return status;
}

enum status store_grant_delete_of_user(struct db *db, struct slice user_id, enum grant_kind except_kind,
                                       struct slice except_hash, struct failure *failure)
{
    struct slice hash = slice_present(except_hash) ? except_hash : SLICE("");
    return statement_run(db,
                         sql_grant_delete_of_user(.user_id = user_id, .except_kind = except_kind, .except_hash = hash),
                         NULL, failure);
}

enum status store_grant_prune(struct db *db, int64_t before_ms, struct failure *failure)
{
    return statement_run(db, sql_grant_prune(.before_ms = before_ms), NULL, failure);
}

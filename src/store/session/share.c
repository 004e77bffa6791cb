#include "store/statement.h"
#include "store/store.h"

/* --- participants --- */

enum status store_participant_role(struct db *db, int64_t tenant_key, int64_t session_key, struct slice user_id,
                                   enum access_role *out, struct failure *failure)
{
    int64_t role = ACCESS_NONE;
    enum status status = statement_number(
        db, sql_participant_role(.tenant_key = tenant_key, .session_key = session_key, .user_id = user_id), ACCESS_NONE,
        &role, failure);
    if (status == STATUS_OK) {
        *out = (enum access_role)role;
    }
    return status;
}

enum status store_participant_put(struct db *db, int64_t tenant_key, int64_t session_key, struct slice user_id,
                                  enum access_role role, int64_t now_ms, struct failure *failure)
{
    return statement_run(db,
                         sql_participant_put(.tenant_key = tenant_key, .session_key = session_key, .user_id = user_id,
                                             .role = role, .added_at_ms = now_ms),
                         NULL, failure);
}

enum status store_participant_delete(struct db *db, int64_t tenant_key, int64_t session_key, struct slice user_id,
                                     bool *out_deleted, struct failure *failure)
{
    int64_t changed = 0;
    enum status status = statement_run(
        db, sql_participant_delete(.tenant_key = tenant_key, .session_key = session_key, .user_id = user_id), &changed,
        failure);
    if (status == STATUS_OK) {
        *out_deleted = changed > 0;
    }
    return status;
}

static void read_participant(struct query *query, struct arena *arena, void *item)
{
    struct participant *out = item;
    out->user_id = column_copy(query, PARTICIPANT_LIST_COLUMN_USER_ID, arena);
    out->name = column_copy(query, PARTICIPANT_LIST_COLUMN_NAME, arena);
    out->email = column_copy(query, PARTICIPANT_LIST_COLUMN_EMAIL, arena);
    out->role = (enum access_role)query_i64(query, PARTICIPANT_LIST_COLUMN_ROLE);
    out->added_at_ms = query_i64(query, PARTICIPANT_LIST_COLUMN_ADDED_AT_MS);
}

enum status store_participant_list(struct db *db, int64_t tenant_key, int64_t session_key, struct arena *arena,
                                   struct participant **out, size_t *out_count, struct failure *failure)
{
    return statement_rows(db, sql_participant_list(.tenant_key = tenant_key, .session_key = session_key), sizeof **out,
                          read_participant, arena, out, out_count, failure);
}

/* --- share links --- */

static void read_link(struct query *query, struct arena *arena, void *item)
{
    struct share_link *out = item;
    out->id = column_copy(query, SHARE_COLUMN_ID, arena);
    out->tenant_key = query_i64(query, SHARE_COLUMN_TENANT_KEY);
    out->session_key = query_i64(query, SHARE_COLUMN_SESSION_KEY);
    out->session_id = column_copy(query, SHARE_COLUMN_SESSION_ID, arena);
    out->token_hash = column_copy(query, SHARE_COLUMN_TOKEN_HASH, arena);
    out->role = (enum access_role)query_i64(query, SHARE_COLUMN_ROLE);
    out->expires_at_ms = query_i64(query, SHARE_COLUMN_EXPIRES_AT_MS);
    out->max_uses = query_i64(query, SHARE_COLUMN_MAX_USES);
    out->use_count = query_i64(query, SHARE_COLUMN_USE_COUNT);
    out->active = query_i64(query, SHARE_COLUMN_ACTIVE) != 0;
    out->created_by = column_copy(query, SHARE_COLUMN_CREATED_BY, arena);
    out->created_at_ms = query_i64(query, SHARE_COLUMN_CREATED_AT_MS);
}

enum status store_share_insert(struct db *db, const struct share_link *link, struct failure *failure)
{
    return statement_run(
        db,
        sql_share_insert(.id = link->id, .tenant_key = link->tenant_key, .session_key = link->session_key,
                         .token_hash = link->token_hash, .role = link->role, .expires_at_ms = link->expires_at_ms,
                         .max_uses = link->max_uses, .use_count = link->use_count, .active = link->active,
                         .created_by = link->created_by, .created_at_ms = link->created_at_ms),
        NULL, failure);
}

enum status store_share_by_hash(struct db *db, struct slice token_hash, struct arena *arena, struct share_link *out,
                                struct failure *failure)
{
    struct query query;
    enum status status = statement_first(&query, db, sql_share_by_hash(.token_hash = token_hash), failure);
    if (status != STATUS_OK) {
        return status;
    }
    read_link(&query, arena, out);
    query_end(&query);
    return STATUS_OK;
}

enum status store_share_list(struct db *db, int64_t tenant_key, int64_t session_key, struct arena *arena,
                             struct share_link **out, size_t *out_count, struct failure *failure)
{
    return statement_rows(db, sql_share_list(.tenant_key = tenant_key, .session_key = session_key), sizeof **out,
                          read_link, arena, out, out_count, failure);
}

enum status store_share_deactivate(struct db *db, int64_t tenant_key, int64_t session_key, struct slice link_id,
                                   bool *out_changed, struct failure *failure)
{
    int64_t changed = 0;
    enum status status =
        statement_run(db, sql_share_deactivate(.tenant_key = tenant_key, .session_key = session_key, .id = link_id),
                      &changed, failure);
    if (status == STATUS_OK) {
        *out_changed = changed > 0;
    }
    return status;
}

/* Takes back the use that was noted before the count was found spent. */
static enum status refuse_use(struct db *db, const struct share_link *link, struct slice user_id,
                              struct failure *failure)
{
    enum status status =
        statement_run(db,
                      sql_share_use_delete(.tenant_key = link->tenant_key, .session_key = link->session_key,
                                           .link_id = link->id, .user_id = user_id),
                      NULL, failure);
    if (status != STATUS_OK) {
        return status;
    }
    return failure_set(failure, STATUS_LIMITED, "share_link_spent", "This share link has been used %lld of %lld times.",
                       (long long)link->max_uses, (long long)link->max_uses);
}

/* The use is noted first: its key makes two redemptions by one user wait for each other on PostgreSQL. */
enum status store_share_redeem(struct db *db, const struct share_link *link, struct slice user_id, int64_t now_ms,
                               bool *out_first, struct failure *failure)
{
    int64_t noted = 0, counted = 0;
    enum status status =
        statement_run(db,
                      sql_share_use_insert(.tenant_key = link->tenant_key, .session_key = link->session_key,
                                           .link_id = link->id, .user_id = user_id, .used_at_ms = now_ms),
                      &noted, failure);
    if (status == STATUS_OK && !noted) {
        *out_first = false;
    }
    if (status != STATUS_OK || !noted) {
        return status;
    }
    status = statement_run(
        db, sql_share_count_use(.tenant_key = link->tenant_key, .session_key = link->session_key, .id = link->id),
        &counted, failure);
    if (status == STATUS_OK && !counted) {
        return refuse_use(db, link, user_id, failure);
    }
    if (status == STATUS_OK) {
        *out_first = true;
    }
    return status;
}

enum status store_share_prune(struct db *db, int64_t before_ms, struct failure *failure)
{
    enum status status = statement_run(db, sql_share_prune_uses(.before_ms = before_ms), NULL, failure);
    return status != STATUS_OK ? status : statement_run(db, sql_share_prune(.before_ms = before_ms), NULL, failure);
}

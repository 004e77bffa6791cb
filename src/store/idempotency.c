#include "store/seal/seal.h"
#include "store/statement.h"
#include "store/store.h"

enum status store_idempotency_get(struct db *db, int64_t tenant_key, struct slice actor, struct slice key,
                                  struct arena *arena, struct idempotent_reply *out, struct failure *failure)
{
    struct query query;
    enum status status =
        statement_first(&query, db, sql_idempotency_get(.tenant_key = tenant_key, .actor = actor, .key = key), failure);
    if (status != STATUS_OK) {
        return status;
    }
    out->fingerprint = column_copy(&query, IDEMPOTENCY_GET_COLUMN_FINGERPRINT, arena);
    out->status = (int)query_i64(&query, IDEMPOTENCY_GET_COLUMN_STATUS);
    out->body = column_open(&query, IDEMPOTENCY_GET_COLUMN_BODY, arena);
    query_end(&query);
    return seal_check(db, failure);
}

static void read_session_key(struct query *query, struct arena *arena, void *item)
{
    (void)arena;
    *(int64_t *)item = query_i64(query, IDEMPOTENCY_SUBJECTS_COLUMN_SESSION_KEY);
}

enum status store_idempotency_subjects(struct db *db, int64_t tenant_key, struct slice actor, struct slice key,
                                       struct arena *arena, int64_t **out_keys, size_t *out_count,
                                       struct failure *failure)
{
    return statement_rows(db, sql_idempotency_subjects(.tenant_key = tenant_key, .actor = actor, .key = key),
                          sizeof **out_keys, read_session_key, arena, out_keys, out_count, failure);
}

enum status store_idempotency_put(struct db *db, int64_t tenant_key, struct slice actor, struct slice key,
                                  const struct idempotent_reply *reply, int64_t now_ms, struct failure *failure)
{
    enum status status = statement_run(
        db,
        sql_idempotency_put(.tenant_key = tenant_key, .actor = actor, .key = key, .fingerprint = reply->fingerprint,
                            .status = reply->status, .body = seal_text(db, 0, 0, reply->body), .created_at_ms = now_ms,
                            .session_key = reply->session_key, .subject = reply->subject),
        NULL, failure);
    for (size_t i = 0; status == STATUS_OK && i < reply->further_count; i++) {
        status =
            statement_run(db,
                          sql_idempotency_put_subject(.tenant_key = tenant_key, .actor = actor, .key = key,
                                                      .session_key = reply->further_keys[i], .created_at_ms = now_ms),
                          NULL, failure);
    }
    return status;
}

enum status store_idempotency_forget(struct db *db, int64_t tenant_key, struct slice subject, struct failure *failure)
{
    return statement_run(db, sql_idempotency_forget(.tenant_key = tenant_key, .subject = subject), NULL, failure);
}

enum status store_idempotency_prune(struct db *db, int64_t before_ms, struct failure *failure)
{
    enum status status = statement_run(db, sql_idempotency_prune_subjects(.before_ms = before_ms), NULL, failure);
    return status != STATUS_OK ? status
                               : statement_run(db, sql_idempotency_prune(.before_ms = before_ms), NULL, failure);
}

#include "store/seal.h"
#include "store/statement.h"
#include "store/store.h"

enum status store_idempotency_get(struct db *db, int64_t tenant_key, struct slice actor, struct slice key,
                                  struct arena *arena, struct idempotent_reply *out, struct failure *failure)
{
    struct query query;
    enum status status =
        statement_first(&query, db, SQL_IDEMPOTENCY_GET, VALUES(number(tenant_key), text(actor), text(key)), failure);
    if (status != STATUS_OK) {
        return status;
    }
    out->fingerprint = column_copy(&query, 0, arena);
    out->status = (int)query_i64(&query, 1);
    out->body = column_open(&query, 2, arena);
    query_end(&query);
    return seal_check(db, failure);
}

static void read_session_key(struct query *query, struct arena *arena, void *item)
{
    (void)arena;
    *(int64_t *)item = query_i64(query, 0);
}

enum status store_idempotency_subjects(struct db *db, int64_t tenant_key, struct slice actor, struct slice key,
                                       struct arena *arena, int64_t **out_keys, size_t *out_count,
                                       struct failure *failure)
{
    return statement_rows(db, SQL_IDEMPOTENCY_SUBJECTS, VALUES(number(tenant_key), text(actor), text(key)),
                          sizeof **out_keys, read_session_key, arena, out_keys, out_count, failure);
}

enum status store_idempotency_put(struct db *db, int64_t tenant_key, struct slice actor, struct slice key,
                                  const struct idempotent_reply *reply, int64_t now_ms, struct failure *failure)
{
    enum status status = statement_run(db, SQL_IDEMPOTENCY_PUT,
                                       VALUES(number(tenant_key), text(actor), text(key), bytes(reply->fingerprint),
                                              number(reply->status), text(seal_text(db, 0, 0, reply->body)),
                                              number(now_ms), number(reply->session_key), text(reply->subject)),
                                       NULL, failure);
    for (size_t i = 0; status == STATUS_OK && i < reply->further_count; i++) {
        status = statement_run(
            db, SQL_IDEMPOTENCY_PUT_SUBJECT,
            VALUES(number(tenant_key), text(actor), text(key), number(reply->further_keys[i]), number(now_ms)), NULL,
            failure);
    }
    return status;
}

enum status store_idempotency_forget(struct db *db, int64_t tenant_key, struct slice subject, struct failure *failure)
{
    return statement_run(db, SQL_IDEMPOTENCY_FORGET, VALUES(number(tenant_key), text(subject)), NULL, failure);
}

enum status store_idempotency_prune(struct db *db, int64_t before_ms, struct failure *failure)
{
    enum status status = statement_run(db, SQL_IDEMPOTENCY_PRUNE_SUBJECTS, VALUES(number(before_ms)), NULL, failure);
    return status != STATUS_OK ? status
                               : statement_run(db, SQL_IDEMPOTENCY_PRUNE, VALUES(number(before_ms)), NULL, failure);
}

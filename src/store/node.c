#include "store/statement.h"
#include "store/store.h"

/* --- nodes --- */

enum status store_node_renew(struct db *db, const struct node_row *node, struct failure *failure)
{
    return statement_run(db,
                         sql_node_renew(.id = node->id, .address = node->address, .started_at_ms = node->started_at_ms,
                                        .expires_at_ms = node->expires_at_ms),
                         NULL, failure);
}

enum status store_node_count_live(struct db *db, int64_t steady_ms, int64_t *out, struct failure *failure)
{
    return statement_number(db, sql_node_count_live(.steady_ms = steady_ms), 0, out, failure);
}

enum status store_node_prune(struct db *db, int64_t before_ms, struct failure *failure)
{
    return statement_run(db, sql_node_prune(.before_ms = before_ms), NULL, failure);
}

/* --- where sandboxes are --- */

enum status store_host_put(struct db *db, int64_t tenant_key, int64_t session_key, struct slice node,
                           struct failure *failure)
{
    return statement_run(db, sql_host_put(.tenant_key = tenant_key, .session_key = session_key, .node = node), NULL,
                         failure);
}

enum status store_host_get(struct db *db, int64_t tenant_key, int64_t session_key, struct arena *arena,
                           struct sandbox_host *out, struct failure *failure)
{
    struct query query;
    *out = (struct sandbox_host){0};
    enum status status =
        statement_first(&query, db, sql_host_get(.tenant_key = tenant_key, .session_key = session_key), failure);
    if (status == STATUS_NOT_FOUND) {
        return STATUS_OK;
    }
    if (status != STATUS_OK) {
        return status;
    }
    *out = (struct sandbox_host){column_copy(&query, HOST_GET_COLUMN_NODE, arena),
                                 query_i64(&query, HOST_GET_COLUMN_EXPIRES_AT_MS)};
    query_end(&query);
    return STATUS_OK;
}

enum status store_host_delete(struct db *db, int64_t tenant_key, int64_t session_key, struct failure *failure)
{
    return statement_run(
        db, sql_session_part(SQL_SESSION_DELETE_HOST, .tenant_key = tenant_key, .session_key = session_key), NULL,
        failure);
}

static void read_key(struct query *query, struct arena *arena, void *item)
{
    (void)arena;
    *(struct session_key *)item = (struct session_key){query_i64(query, HOST_DUE_COLUMN_TENANT_KEY),
                                                       query_i64(query, HOST_DUE_COLUMN_SESSION_KEY)};
}

enum status store_host_due(struct db *db, struct slice node, int64_t steady_ms, int64_t limit, struct arena *arena,
                           struct session_key **out, size_t *out_count, struct failure *failure)
{
    return statement_rows(db, sql_host_due(.node = node, .steady_ms = steady_ms, .limit = limit), sizeof **out,
                          read_key, arena, out, out_count, failure);
}

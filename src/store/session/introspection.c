#include "store/statement.h"
#include "store/store.h"

static void read_row(struct query *query, struct arena *arena, void *item)
{
    struct introspection *out = item;
    (void)arena;
    *out = (struct introspection){
        .tenant_key = query_i64(query, INTROSPECTION_COLUMN_TENANT_KEY),
        .session_key = query_i64(query, INTROSPECTION_COLUMN_SESSION_KEY),
        .cursor = query_i64(query, INTROSPECTION_COLUMN_CURSOR_SEQUENCE),
        .turns = query_i64(query, INTROSPECTION_COLUMN_TURNS),
        .passive = query_i64(query, INTROSPECTION_COLUMN_PASSIVE),
        .from = query_i64(query, INTROSPECTION_COLUMN_FROM_SEQUENCE),
        .to = query_i64(query, INTROSPECTION_COLUMN_TO_SEQUENCE),
        .passive_taken = query_i64(query, INTROSPECTION_COLUMN_PASSIVE_TAKEN),
        .run = query_i64(query, INTROSPECTION_COLUMN_RUN),
        .attempt = query_i64(query, INTROSPECTION_COLUMN_ATTEMPT),
        .fence = query_i64(query, INTROSPECTION_COLUMN_FENCE),
        .reason = (enum introspection_reason)query_i64(query, INTROSPECTION_COLUMN_REASON),
        .runs = query_i64(query, INTROSPECTION_COLUMN_RUNS) != 0,
    };
}

enum status store_introspection_put(struct db *db, const struct introspection *row, struct failure *failure)
{
    return statement_run(db,
                         sql_introspection_put(.tenant_key = row->tenant_key, .session_key = row->session_key,
                                               .cursor_sequence = row->cursor, .turns = row->turns,
                                               .passive = row->passive, .from_sequence = row->from,
                                               .to_sequence = row->to, .passive_taken = row->passive_taken,
                                               .run = row->run, .attempt = row->attempt, .fence = row->fence,
                                               .reason = row->reason, .runs = row->runs),
                         NULL, failure);
}

enum status store_introspection_get(struct db *db, int64_t tenant_key, int64_t session_key, struct introspection *out,
                                    struct failure *failure)
{
    struct query query;
    enum status status = statement_first(
        &query, db, sql_introspection_get(.tenant_key = tenant_key, .session_key = session_key), failure);
    if (status != STATUS_OK) {
        return status;
    }
    read_row(&query, NULL, out);
    query_end(&query);
    return STATUS_OK;
}

enum status store_introspection_running(struct db *db, int64_t limit, struct arena *arena, struct introspection **out,
                                        size_t *out_count, struct failure *failure)
{
    return statement_rows(db, sql_introspection_running(.limit = limit), sizeof **out, read_row, arena, out, out_count,
                          failure);
}

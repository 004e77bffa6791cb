#include "store/statement.h"
#include "store/store.h"

static void read_channel(struct query *query, struct arena *arena, void *item)
{
    struct channel *out = item;
    *out = (struct channel){
        .tenant_key = query_i64(query, 0),
        .session_key = query_i64(query, 1),
        .id = column_copy(query, 2, arena),
        .kind = column_copy(query, 3, arena),
        .address = column_copy(query, 4, arena),
        .followup_ms = query_i64(query, 5),
        .waiting_sequence = query_i64(query, 6),
        .due_ms = query_i64(query, 7),
        .created_at_ms = query_i64(query, 8),
    };
}

enum status store_channel_put(struct db *db, const struct channel *channel, struct failure *failure)
{
    return statement_run(db,
                         sql_channel_put(.tenant_key = channel->tenant_key, .session_key = channel->session_key,
                                         .id = channel->id, .kind = channel->kind, .address = channel->address,
                                         .followup_ms = channel->followup_ms,
                                         .waiting_sequence = channel->waiting_sequence, .due_ms = channel->due_ms,
                                         .created_at_ms = channel->created_at_ms),
                         NULL, failure);
}

enum status store_channel_get(struct db *db, int64_t tenant_key, int64_t session_key, struct slice id,
                              struct arena *arena, struct channel *out, struct failure *failure)
{
    struct query query;
    enum status status = statement_first(
        &query, db, sql_channel_get(.tenant_key = tenant_key, .session_key = session_key, .id = id), failure);
    if (status != STATUS_OK) {
        return status;
    }
    read_channel(&query, arena, out);
    query_end(&query);
    return STATUS_OK;
}

enum status store_channel_list(struct db *db, int64_t tenant_key, int64_t session_key, struct arena *arena,
                               struct channel **out, size_t *out_count, struct failure *failure)
{
    return statement_rows(db, sql_channel_list(.tenant_key = tenant_key, .session_key = session_key), sizeof **out,
                          read_channel, arena, out, out_count, failure);
}

enum status store_channel_delete(struct db *db, int64_t tenant_key, int64_t session_key, struct slice id,
                                 bool *out_deleted, struct failure *failure)
{
    int64_t deleted = 0;
    enum status status = statement_run(
        db, sql_channel_delete(.tenant_key = tenant_key, .session_key = session_key, .id = id), &deleted, failure);
    if (status == STATUS_OK) {
        *out_deleted = deleted > 0;
    }
    return status;
}

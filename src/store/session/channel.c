#include "store/statement.h"
#include "store/store.h"

static void read_channel(struct query *query, struct arena *arena, void *item)
{
    struct channel *out = item;
    *out = (struct channel){
        .tenant_key = query_i64(query, CHANNEL_COLUMN_TENANT_KEY),
        .session_key = query_i64(query, CHANNEL_COLUMN_SESSION_KEY),
        .id = column_copy(query, CHANNEL_COLUMN_ID, arena),
        .kind = column_copy(query, CHANNEL_COLUMN_KIND, arena),
        .address = column_copy(query, CHANNEL_COLUMN_ADDRESS, arena),
        .followup_ms = query_i64(query, CHANNEL_COLUMN_FOLLOWUP_MS),
        .waiting_sequence = query_i64(query, CHANNEL_COLUMN_WAITING_SEQUENCE),
        .due_ms = query_i64(query, CHANNEL_COLUMN_DUE_MS),
        .created_at_ms = query_i64(query, CHANNEL_COLUMN_CREATED_AT_MS),
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

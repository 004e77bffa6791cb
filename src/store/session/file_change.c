#include "store/statement.h"
#include "store/store.h"

enum status store_file_change_put(struct db *db, int64_t tenant_key, int64_t session_key,
                                  const struct file_change *change, int64_t sequence, int64_t at_ms,
                                  struct failure *failure)
{
    return statement_run(db,
                         sql_file_change_put(.tenant_key = tenant_key, .session_key = session_key, .path = change->path,
                                             .previous_path = change->previous_path, .status = (int64_t)change->status,
                                             .additions = change->additions, .deletions = change->deletions,
                                             .sequence = sequence, .changed_at_ms = at_ms),
                         NULL, failure);
}

static void read_file(struct query *query, struct arena *arena, void *item)
{
    struct changed_file *out = item;
    out->change.path = column_copy(query, FILE_CHANGE_LIST_COLUMN_PATH, arena);
    out->change.previous_path = column_copy(query, FILE_CHANGE_LIST_COLUMN_PREVIOUS_PATH, arena);
    out->change.status = (enum file_status)query_i64(query, FILE_CHANGE_LIST_COLUMN_STATUS);
    out->change.additions = query_i64(query, FILE_CHANGE_LIST_COLUMN_ADDITIONS);
    out->change.deletions = query_i64(query, FILE_CHANGE_LIST_COLUMN_DELETIONS);
    out->sequence = query_i64(query, FILE_CHANGE_LIST_COLUMN_SEQUENCE);
    out->changed_at_ms = query_i64(query, FILE_CHANGE_LIST_COLUMN_CHANGED_AT_MS);
}

enum status store_file_change_list(struct db *db, int64_t tenant_key, int64_t session_key, struct slice after,
                                   int64_t limit, struct arena *arena, struct changed_file **out, size_t *out_count,
                                   struct failure *failure)
{
    struct slice from = slice_present(after) ? after : SLICE("");
    return statement_rows(
        db, sql_file_change_list(.tenant_key = tenant_key, .session_key = session_key, .after = from, .limit = limit),
        sizeof **out, read_file, arena, out, out_count, failure);
}

#include "store/seal/seal.h"
#include "store/statement.h"
#include "store/store.h"

static void read_memory(struct query *query, struct arena *arena, void *item)
{
    struct memory *out = item;
    *out = (struct memory){
        .tenant_key = query_i64(query, MEMORY_COLUMN_TENANT_KEY),
        .agent = column_copy(query, MEMORY_COLUMN_AGENT, arena),
        .owner = column_copy(query, MEMORY_COLUMN_OWNER, arena),
        .id = column_copy(query, MEMORY_COLUMN_ID, arena),
        .text = column_open(query, MEMORY_COLUMN_BODY, arena),
        .session_id = column_copy(query, MEMORY_COLUMN_SESSION_ID, arena),
        .created_at_ms = query_i64(query, MEMORY_COLUMN_CREATED_AT_MS),
        .updated_at_ms = query_i64(query, MEMORY_COLUMN_UPDATED_AT_MS),
    };
}

/* It outlives the session it comes from: sealed with the common key. */
enum status store_memory_put(struct db *db, const struct memory *memory, struct failure *failure)
{
    return statement_run(db,
                         sql_memory_put(.tenant_key = memory->tenant_key, .agent = memory->agent,
                                        .owner = memory->owner, .id = memory->id,
                                        .body = seal_text(db, memory->tenant_key, 0, memory->text),
                                        .session_id = memory->session_id, .created_at_ms = memory->created_at_ms,
                                        .updated_at_ms = memory->updated_at_ms),
                         NULL, failure);
}

enum status store_memory_get(struct db *db, int64_t tenant_key, struct slice agent, struct slice id,
                             struct arena *arena, struct memory *out, struct failure *failure)
{
    struct query query;
    enum status status =
        statement_first(&query, db, sql_memory_get(.tenant_key = tenant_key, .agent = agent, .id = id), failure);
    if (status != STATUS_OK) {
        return status;
    }
    read_memory(&query, arena, out);
    query_end(&query);
    return seal_check(db, failure);
}

enum status store_memory_list(struct db *db, const struct memory_search *search, struct arena *arena,
                              struct memory **out, size_t *out_count, struct failure *failure)
{
    struct slice after = slice_present(search->after) ? search->after : SLICE("");
    enum status status =
        search->of_all ? statement_rows(db,
                                        sql_memory_list_all(.tenant_key = search->tenant_key, .agent = search->agent,
                                                            .after = after, .limit = search->limit),
                                        sizeof **out, read_memory, arena, out, out_count, failure)
                       : statement_rows(db,
                                        sql_memory_list(.tenant_key = search->tenant_key, .agent = search->agent,
                                                        .owner = search->owner, .after = after, .limit = search->limit),
                                        sizeof **out, read_memory, arena, out, out_count, failure);
    return status != STATUS_OK ? status : seal_check(db, failure);
}

enum status store_memory_count(struct db *db, int64_t tenant_key, struct slice agent, struct slice owner, int64_t *out,
                               struct failure *failure)
{
    return statement_number(db, sql_memory_count(.tenant_key = tenant_key, .agent = agent, .owner = owner), 0, out,
                            failure);
}

enum status store_memory_delete(struct db *db, int64_t tenant_key, struct slice agent, struct slice id,
                                struct failure *failure)
{
    return statement_run(db, sql_memory_delete(.tenant_key = tenant_key, .agent = agent, .id = id), NULL, failure);
}

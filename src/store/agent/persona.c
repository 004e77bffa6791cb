#include "store/seal/seal.h"
#include "store/statement.h"
#include "store/store.h"

/* Of no session: sealed with the common key. */
static void read_persona(struct query *query, struct arena *arena, void *item)
{
    struct persona *out = item;
    *out = (struct persona){
        .tenant_key = query_i64(query, PERSONA_COLUMN_TENANT_KEY),
        .id = column_copy(query, PERSONA_COLUMN_ID, arena),
        .owner = column_copy(query, PERSONA_COLUMN_OWNER, arena),
        .name = column_open(query, PERSONA_COLUMN_NAME, arena),
        .prompt = column_open(query, PERSONA_COLUMN_PROMPT, arena),
        .shared = query_i64(query, PERSONA_COLUMN_VISIBILITY) != 0,
        .created_at_ms = query_i64(query, PERSONA_COLUMN_CREATED_AT_MS),
        .updated_at_ms = query_i64(query, PERSONA_COLUMN_UPDATED_AT_MS),
    };
}

enum status store_persona_put(struct db *db, const struct persona *persona, struct failure *failure)
{
    return statement_run(db,
                         sql_persona_put(.tenant_key = persona->tenant_key, .id = persona->id, .owner = persona->owner,
                                         .name = seal_text(db, persona->tenant_key, 0, persona->name),
                                         .prompt = seal_text(db, persona->tenant_key, 0, persona->prompt),
                                         .visibility = persona->shared, .created_at_ms = persona->created_at_ms,
                                         .updated_at_ms = persona->updated_at_ms),
                         NULL, failure);
}

enum status store_persona_get(struct db *db, int64_t tenant_key, struct slice id, struct arena *arena,
                              struct persona *out, struct failure *failure)
{
    struct query query;
    enum status status = statement_first(&query, db, sql_persona_get(.tenant_key = tenant_key, .id = id), failure);
    if (status != STATUS_OK) {
        return status;
    }
    read_persona(&query, arena, out);
    query_end(&query);
    return seal_check(db, failure);
}

enum status store_persona_list(struct db *db, int64_t tenant_key, struct slice user_id, struct slice after,
                               int64_t limit, struct arena *arena, struct persona **out, size_t *out_count,
                               struct failure *failure)
{
    struct slice from = slice_present(after) ? after : SLICE("");
    return statement_rows(db,
                          sql_persona_list(.tenant_key = tenant_key, .user_id = user_id, .after = from, .limit = limit),
                          sizeof **out, read_persona, arena, out, out_count, failure);
}

enum status store_persona_count(struct db *db, int64_t tenant_key, struct slice owner, int64_t *out,
                                struct failure *failure)
{
    return statement_number(db, sql_persona_count(.tenant_key = tenant_key, .owner = owner), 0, out, failure);
}

enum status store_persona_delete(struct db *db, int64_t tenant_key, struct slice id, struct failure *failure)
{
    return statement_run(db, sql_persona_delete(.tenant_key = tenant_key, .id = id), NULL, failure);
}

enum status store_preferences_put(struct db *db, int64_t tenant_key, struct slice user_id,
                                  const struct preferences *preferences, struct failure *failure)
{
    return statement_run(db,
                         sql_preferences_put(.tenant_key = tenant_key, .user_id = user_id,
                                             .idle_timeout_ms = preferences->idle_timeout_ms,
                                             .queue_mode = preferences->queue_mode),
                         NULL, failure);
}

enum status store_preferences_get(struct db *db, int64_t tenant_key, struct slice user_id, struct preferences *out,
                                  struct failure *failure)
{
    struct query query;
    enum status status =
        statement_first(&query, db, sql_preferences_get(.tenant_key = tenant_key, .user_id = user_id), failure);
    *out = (struct preferences){.queue_mode = -1};
    if (status != STATUS_OK) {
        return status == STATUS_NOT_FOUND ? STATUS_OK : status;
    }
    *out = (struct preferences){query_i64(&query, PREFERENCES_GET_COLUMN_IDLE_TIMEOUT_MS),
                                (int)query_i64(&query, PREFERENCES_GET_COLUMN_QUEUE_MODE)};
    query_end(&query);
    return STATUS_OK;
}

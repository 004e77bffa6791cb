#include "store/seal/seal.h"
#include "store/statement.h"
#include "store/store.h"

static void read_prompt(struct query *query, struct arena *arena, void *item)
{
    struct prompt *out = item;
    out->position = query_i64(query, PROMPT_COLUMN_POSITION);
    out->id = column_copy(query, PROMPT_COLUMN_ID, arena);
    out->mode = (enum queue_mode)query_i64(query, PROMPT_COLUMN_MODE);
    out->actor = column_copy(query, PROMPT_COLUMN_ACTOR, arena);
    out->content = column_open(query, PROMPT_COLUMN_CONTENT, arena);
    out->metadata = column_open(query, PROMPT_COLUMN_METADATA, arena);
    out->thread_id = column_copy(query, PROMPT_COLUMN_THREAD_ID, arena);
    out->created_at_ms = query_i64(query, PROMPT_COLUMN_CREATED_AT_MS);
    out->revision = query_i64(query, PROMPT_COLUMN_REVISION);
    out->due_ms = query_i64(query, PROMPT_COLUMN_DUE_MS);
    out->priority = query_i64(query, PROMPT_COLUMN_PRIORITY);
}

static enum status read_one(struct db *db, struct sql_call call, struct arena *arena, struct prompt *out,
                            struct failure *failure)
{
    struct query query;
    enum status status = statement_first(&query, db, call, failure);
    if (status != STATUS_OK) {
        return status;
    }
    read_prompt(&query, arena, out);
    query_end(&query);
    return seal_check(db, failure);
}

enum status store_prompt_insert(struct db *db, int64_t tenant_key, int64_t session_key, const struct prompt *prompt,
                                struct failure *failure)
{
    return statement_run(
        db,
        sql_prompt_insert(.tenant_key = tenant_key, .session_key = session_key, .position = prompt->position,
                          .id = prompt->id, .mode = prompt->mode, .actor = prompt->actor,
                          .content = seal_text(db, tenant_key, session_key, prompt->content),
                          .metadata = seal_text(db, tenant_key, session_key, prompt->metadata),
                          .thread_id = prompt->thread_id, .created_at_ms = prompt->created_at_ms,
                          .revision = prompt->revision, .due_ms = prompt->due_ms, .priority = prompt->priority),
        NULL, failure);
}

enum status store_prompt_list(struct db *db, int64_t tenant_key, int64_t session_key, struct arena *arena,
                              struct prompt **out, size_t *out_count, struct failure *failure)
{
    return statement_rows(db, sql_prompt_list(.tenant_key = tenant_key, .session_key = session_key), sizeof **out,
                          read_prompt, arena, out, out_count, failure);
}

enum status store_prompt_first(struct db *db, int64_t tenant_key, int64_t session_key, struct arena *arena,
                               struct prompt *out, struct failure *failure)
{
    return read_one(db, sql_prompt_first(.tenant_key = tenant_key, .session_key = session_key), arena, out, failure);
}

enum status store_prompt_stats(struct db *db, int64_t tenant_key, int64_t session_key, struct prompt_stats *out,
                               struct failure *failure)
{
    struct query query;
    enum status status =
        statement_first(&query, db, sql_prompt_figures(.tenant_key = tenant_key, .session_key = session_key), failure);
    if (status != STATUS_OK) {
        return status;
    }
    *out = (struct prompt_stats){
        query_i64(&query, PROMPT_FIGURES_COLUMN_WAITING), query_i64(&query, PROMPT_FIGURES_COLUMN_FIRST),
        query_i64(&query, PROMPT_FIGURES_COLUMN_LAST), query_i64(&query, PROMPT_FIGURES_COLUMN_LEAST_PRIORITY)};
    query_end(&query);
    return STATUS_OK;
}

enum status store_prompt_update(struct db *db, int64_t tenant_key, int64_t session_key, const struct prompt *prompt,
                                struct failure *failure)
{
    return statement_run(db,
                         sql_prompt_update(.tenant_key = tenant_key, .session_key = session_key, .id = prompt->id,
                                           .position = prompt->position, .mode = prompt->mode,
                                           .content = seal_text(db, tenant_key, session_key, prompt->content),
                                           .metadata = seal_text(db, tenant_key, session_key, prompt->metadata),
                                           .revision = prompt->revision, .due_ms = prompt->due_ms),
                         NULL, failure);
}

enum status store_prompt_make_room(struct db *db, int64_t tenant_key, int64_t session_key, int64_t position,
                                   struct failure *failure)
{
    return statement_run(
        db, sql_prompt_make_room(.tenant_key = tenant_key, .session_key = session_key, .position = position), NULL,
        failure);
}

enum status store_prompt_delete(struct db *db, int64_t tenant_key, int64_t session_key, struct slice id,
                                struct failure *failure)
{
    return statement_run(db, sql_prompt_delete(.tenant_key = tenant_key, .session_key = session_key, .id = id), NULL,
                         failure);
}

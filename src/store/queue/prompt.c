#include "store/seal/seal.h"
#include "store/statement.h"
#include "store/store.h"

static void read_prompt(struct query *query, struct arena *arena, void *item)
{
    struct prompt *out = item;
    out->position = query_i64(query, 0);
    out->id = column_copy(query, 1, arena);
    out->mode = (enum queue_mode)query_i64(query, 2);
    out->actor = column_copy(query, 3, arena);
    out->content = column_open(query, 4, arena);
    out->metadata = column_open(query, 5, arena);
    out->thread_id = column_copy(query, 6, arena);
    out->created_at_ms = query_i64(query, 7);
    out->revision = query_i64(query, 8);
    out->due_ms = query_i64(query, 9);
    out->priority = query_i64(query, 10);
}

static enum status read_one(struct db *db, enum sql sql, const struct value *values, struct arena *arena,
                            struct prompt *out, struct failure *failure)
{
    struct query query;
    enum status status = statement_first(&query, db, sql, values, failure);
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
    return statement_run(db, SQL_PROMPT_INSERT,
                         VALUES(number(tenant_key), number(session_key), number(prompt->position), text(prompt->id),
                                number(prompt->mode), text(prompt->actor),
                                text(seal_text(db, tenant_key, session_key, prompt->content)),
                                text(seal_text(db, tenant_key, session_key, prompt->metadata)), text(prompt->thread_id),
                                number(prompt->created_at_ms), number(prompt->revision), number(prompt->due_ms),
                                number(prompt->priority)),
                         NULL, failure);
}

enum status store_prompt_list(struct db *db, int64_t tenant_key, int64_t session_key, struct arena *arena,
                              struct prompt **out, size_t *out_count, struct failure *failure)
{
    return statement_rows(db, SQL_PROMPT_LIST, VALUES(number(tenant_key), number(session_key)), sizeof **out,
                          read_prompt, arena, out, out_count, failure);
}

enum status store_prompt_first(struct db *db, int64_t tenant_key, int64_t session_key, struct arena *arena,
                               struct prompt *out, struct failure *failure)
{
    return read_one(db, SQL_PROMPT_FIRST, VALUES(number(tenant_key), number(session_key)), arena, out, failure);
}

enum status store_prompt_stats(struct db *db, int64_t tenant_key, int64_t session_key, struct prompt_stats *out,
                               struct failure *failure)
{
    struct query query;
    enum status status =
        statement_first(&query, db, SQL_PROMPT_FIGURES, VALUES(number(tenant_key), number(session_key)), failure);
    if (status != STATUS_OK) {
        return status;
    }
    *out =
        (struct prompt_stats){query_i64(&query, 0), query_i64(&query, 1), query_i64(&query, 2), query_i64(&query, 3)};
    query_end(&query);
    return STATUS_OK;
}

enum status store_prompt_update(struct db *db, int64_t tenant_key, int64_t session_key, const struct prompt *prompt,
                                struct failure *failure)
{
    return statement_run(db, SQL_PROMPT_UPDATE,
                         VALUES(number(tenant_key), number(session_key), text(prompt->id), number(prompt->position),
                                number(prompt->mode), text(seal_text(db, tenant_key, session_key, prompt->content)),
                                text(seal_text(db, tenant_key, session_key, prompt->metadata)),
                                number(prompt->revision), number(prompt->due_ms)),
                         NULL, failure);
}

enum status store_prompt_make_room(struct db *db, int64_t tenant_key, int64_t session_key, int64_t position,
                                   struct failure *failure)
{
    return statement_run(db, SQL_PROMPT_MAKE_ROOM, VALUES(number(tenant_key), number(session_key), number(position)),
                         NULL, failure);
}

enum status store_prompt_delete(struct db *db, int64_t tenant_key, int64_t session_key, struct slice id,
                                struct failure *failure)
{
    return statement_run(db, SQL_PROMPT_DELETE, VALUES(number(tenant_key), number(session_key), text(id)), NULL,
                         failure);
}

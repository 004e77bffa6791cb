#include "store/statement.h"
#include "store/store.h"

static void read_agent(struct query *query, struct arena *arena, void *item)
{
    struct agent_row *out = item;
    out->tenant_key = query_i64(query, AGENT_COLUMN_TENANT_KEY);
    out->slug = column_copy(query, AGENT_COLUMN_SLUG, arena);
    out->version = query_i64(query, AGENT_COLUMN_VERSION);
    out->definition = column_copy(query, AGENT_COLUMN_DEFINITION, arena);
    out->source = (enum agent_origin)query_i64(query, AGENT_COLUMN_SOURCE);
    out->created_at_ms = query_i64(query, AGENT_COLUMN_CREATED_AT_MS);
    out->created_by = column_copy(query, AGENT_COLUMN_CREATED_BY, arena);
    out->removed_at_ms = query_i64(query, AGENT_COLUMN_REMOVED_AT_MS);
}

static enum status read_one(struct db *db, struct sql_call call, struct arena *arena, struct agent_row *out,
                            struct failure *failure)
{
    struct query query;
    enum status status = statement_first(&query, db, call, failure);
    if (status == STATUS_NOT_FOUND) {
        return failure_set(failure, STATUS_NOT_FOUND, "agent_not_found", "There is no such agent.");
    }
    if (status != STATUS_OK) {
        return status;
    }
    read_agent(&query, arena, out);
    query_end(&query);
    return STATUS_OK;
}

enum status store_agent_insert(struct db *db, struct agent_row *agent, struct failure *failure)
{
    int64_t inserted = 0;
    enum status status = statement_number(
        db, sql_agent_next_version(.tenant_key = agent->tenant_key, .slug = agent->slug), 1, &agent->version, failure);
    if (status == STATUS_OK) {
        status = statement_run(db,
                               sql_agent_insert(.tenant_key = agent->tenant_key, .slug = agent->slug,
                                                .version = agent->version, .definition = agent->definition,
                                                .source = agent->source, .created_at_ms = agent->created_at_ms,
                                                .created_by = agent->created_by),
                               &inserted, failure);
    }
    if (status == STATUS_OK && inserted != 1) {
        return failure_set(failure, STATUS_CONFLICT, "agent_changed",
                           "Another version of this agent was stored at the same moment; look and try again.");
    }
    return status;
}

enum status store_agent_newest(struct db *db, int64_t tenant_key, struct slice slug, struct arena *arena,
                               struct agent_row *out, struct failure *failure)
{
    return read_one(db, sql_agent_newest(.tenant_key = tenant_key, .slug = slug), arena, out, failure);
}

enum status store_agent_by_version(struct db *db, int64_t tenant_key, struct slice slug, int64_t version,
                                   struct arena *arena, struct agent_row *out, struct failure *failure)
{
    return read_one(db, sql_agent_by_version(.tenant_key = tenant_key, .slug = slug, .version = version), arena, out,
                    failure);
}

enum status store_agent_versions(struct db *db, int64_t tenant_key, struct slice slug, int64_t before, int64_t limit,
                                 struct arena *arena, struct agent_row **out, size_t *out_count,
                                 struct failure *failure)
{
    return statement_rows(
        db, sql_agent_versions(.tenant_key = tenant_key, .slug = slug, .before_version = before, .limit = limit),
        sizeof **out, read_agent, arena, out, out_count, failure);
}

enum status store_agent_list(struct db *db, int64_t tenant_key, struct slice after, int64_t limit, struct arena *arena,
                             struct agent_row **out, size_t *out_count, struct failure *failure)
{
    struct slice from = slice_present(after) ? after : SLICE("");
    return statement_rows(db, sql_agent_list(.tenant_key = tenant_key, .after = from, .limit = limit), sizeof **out,
                          read_agent, arena, out, out_count, failure);
}

enum status store_agent_remove(struct db *db, int64_t tenant_key, struct slice slug, int64_t now_ms, bool *out_removed,
                               struct failure *failure)
{
    int64_t removed = 0;
    enum status status = statement_run(db, sql_agent_remove(.tenant_key = tenant_key, .slug = slug, .now_ms = now_ms),
                                       &removed, failure);
    if (status == STATUS_OK) {
        *out_removed = removed > 0;
    }
    return status;
}

#include "store/seal/seal.h"
#include "store/statement.h"
#include "store/store.h"

static void read_run(struct query *query, struct arena *arena, struct automation_run *out)
{
    *out = (struct automation_run){
        .id = column_copy(query, RUN_COLUMN_ID, arena),
        .session_key = query_i64(query, RUN_COLUMN_SESSION_KEY),
        .status = (enum run_status)query_i64(query, RUN_COLUMN_STATUS),
        .outcome = (int)query_i64(query, RUN_COLUMN_OUTCOME),
        .summary = column_open(query, RUN_COLUMN_SUMMARY, arena),
        .completion_id = column_copy(query, RUN_COLUMN_COMPLETION_ID, arena),
        .created_at_ms = query_i64(query, RUN_COLUMN_CREATED_AT_MS),
        .started_at_ms = query_i64(query, RUN_COLUMN_STARTED_AT_MS),
        .ended_at_ms = query_i64(query, RUN_COLUMN_ENDED_AT_MS),
        .session_id = column_copy(query, RUN_COLUMN_SESSION_ID, arena),
    };
}

static void read_seen(struct query *query, struct arena *arena, void *item)
{
    struct seen_run *out = item;
    *out = (struct seen_run){0};
    read_run(query, arena, &out->run);
    out->session.key = out->run.session_key;
    out->session.id = out->run.session_id;
    out->session.owner = column_copy(query, RUN_SEEN_COLUMN_OWNER, arena);
    out->session.visibility = (enum visibility)query_i64(query, RUN_SEEN_COLUMN_VISIBILITY);
    out->session.purpose = (enum purpose)query_i64(query, RUN_SEEN_COLUMN_PURPOSE);
    out->participant = (enum access_role)query_i64(query, RUN_SEEN_COLUMN_PARTICIPANT);
}

enum status store_run_insert(struct db *db, int64_t tenant_key, const struct automation_run *run,
                             struct failure *failure)
{
    return statement_run(db,
                         sql_run_insert(.tenant_key = tenant_key, .id = run->id, .session_key = run->session_key,
                                        .status = run->status, .outcome = run->outcome,
                                        .summary = seal_text(db, tenant_key, run->session_key, run->summary),
                                        .completion_id = run->completion_id, .created_at_ms = run->created_at_ms,
                                        .started_at_ms = run->started_at_ms, .ended_at_ms = run->ended_at_ms),
                         NULL, failure);
}

enum status store_run_of_session(struct db *db, int64_t tenant_key, int64_t session_key, struct arena *arena,
                                 struct automation_run *out, struct failure *failure)
{
    struct query query;
    enum status status =
        statement_first(&query, db, sql_run_of_session(.tenant_key = tenant_key, .session_key = session_key), failure);
    if (status != STATUS_OK) {
        return status;
    }
    read_run(&query, arena, out);
    query_end(&query);
    return seal_check(db, failure);
}

enum status store_run_update(struct db *db, int64_t tenant_key, const struct automation_run *run,
                             struct failure *failure)
{
    return statement_run(db,
                         sql_run_update(.tenant_key = tenant_key, .session_key = run->session_key,
                                        .status = run->status, .outcome = run->outcome,
                                        .summary = seal_text(db, tenant_key, run->session_key, run->summary),
                                        .completion_id = run->completion_id, .started_at_ms = run->started_at_ms,
                                        .ended_at_ms = run->ended_at_ms),
                         NULL, failure);
}

enum status store_run_follow(struct db *db, int64_t tenant_key, const struct automation_run *run,
                             struct failure *failure)
{
    return statement_run(db,
                         sql_run_follow(.tenant_key = tenant_key, .session_key = run->session_key,
                                        .status = run->status, .outcome = run->outcome,
                                        .started_at_ms = run->started_at_ms, .ended_at_ms = run->ended_at_ms),
                         NULL, failure);
}

enum status store_run_list(struct db *db, const struct run_filter *filter, struct arena *arena, struct seen_run **out,
                           size_t *out_count, struct failure *failure)
{
    struct slice nobody = SLICE("");
    struct slice user = slice_present(filter->user_id) ? filter->user_id : nobody;
    enum status status =
        statement_rows(db,
                       sql_run_list(.tenant_key = filter->tenant_key, .user_id = user, .before = filter->before,
                                    .wanted_status = optional(filter->status, filter->status >= 0),
                                    .visible_to = filter->sees_all ? (struct slice){0} : user, .limit = filter->limit),
                       sizeof **out, read_seen, arena, out, out_count, failure);
    for (size_t i = 0; status == STATUS_OK && i < *out_count; i++) {
        (*out)[i].session.tenant_key = filter->tenant_key;
    }
    return status;
}

enum status store_run_get(struct db *db, int64_t tenant_key, struct slice user_id, struct slice id, struct arena *arena,
                          struct seen_run *out, struct failure *failure)
{
    struct query query;
    struct slice user = slice_present(user_id) ? user_id : SLICE("");
    enum status status =
        statement_first(&query, db, sql_run_get(.tenant_key = tenant_key, .user_id = user, .id = id), failure);
    if (status != STATUS_OK) {
        return status;
    }
    read_seen(&query, arena, out);
    out->session.tenant_key = tenant_key;
    query_end(&query);
    return seal_check(db, failure);
}

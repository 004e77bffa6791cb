#include "store/seal/seal.h"
#include "store/statement.h"
#include "store/store.h"

/* --- tasks: of no session, sealed with the common key --- */

static void read_task(struct query *query, struct arena *arena, void *item)
{
    struct task_row *out = item;
    *out = (struct task_row){
        .id = column_copy(query, TASK_COLUMN_ID, arena),
        .name = column_open(query, TASK_COLUMN_NAME, arena),
        .definition = column_open(query, TASK_COLUMN_DEFINITION, arena),
        .version = query_i64(query, TASK_COLUMN_VERSION),
        .created_at_ms = query_i64(query, TASK_COLUMN_CREATED_AT_MS),
        .updated_at_ms = query_i64(query, TASK_COLUMN_UPDATED_AT_MS),
        .updated_by = column_copy(query, TASK_COLUMN_UPDATED_BY, arena),
    };
}

enum status store_task_insert(struct db *db, int64_t tenant_key, const struct task_row *task, struct failure *failure)
{
    int64_t inserted = 0;
    enum status status = statement_run(
        db,
        sql_task_insert(.tenant_key = tenant_key, .id = task->id, .name = seal_text(db, tenant_key, 0, task->name),
                        .definition = seal_text(db, tenant_key, 0, task->definition), .version = task->version,
                        .created_at_ms = task->created_at_ms, .updated_at_ms = task->updated_at_ms,
                        .updated_by = task->updated_by),
        &inserted, failure);
    if (status == STATUS_OK && inserted != 1) {
        return failure_set(failure, STATUS_CONFLICT, "task_exists",
                           "There is a task with this id already; change that one, or choose another id.");
    }
    return status;
}

enum status store_task_get(struct db *db, int64_t tenant_key, struct slice id, struct arena *arena,
                           struct task_row *out, struct failure *failure)
{
    struct query query;
    enum status status = statement_first(&query, db, sql_task_get(.tenant_key = tenant_key, .id = id), failure);
    if (status != STATUS_OK) {
        return status;
    }
    read_task(&query, arena, out);
    query_end(&query);
    return seal_check(db, failure);
}

enum status store_task_update(struct db *db, int64_t tenant_key, const struct task_row *task, struct failure *failure)
{
    int64_t changed = 0;
    enum status status = statement_run(
        db,
        sql_task_update(.tenant_key = tenant_key, .id = task->id, .name = seal_text(db, tenant_key, 0, task->name),
                        .definition = seal_text(db, tenant_key, 0, task->definition), .version = task->version,
                        .updated_at_ms = task->updated_at_ms, .updated_by = task->updated_by),
        &changed, failure);
    if (status == STATUS_OK && changed != 1) {
        return failure_set(failure, STATUS_STALE, "task_changed", "The task was changed at the same moment.");
    }
    return status;
}

enum status store_task_delete(struct db *db, int64_t tenant_key, struct slice id, bool *out_deleted,
                              struct failure *failure)
{
    int64_t deleted = 0;
    enum status status = statement_run(db, sql_task_delete(.tenant_key = tenant_key, .id = id), &deleted, failure);
    if (status == STATUS_OK) {
        *out_deleted = deleted > 0;
    }
    return status;
}

enum status store_task_list(struct db *db, int64_t tenant_key, struct slice after, int64_t limit, struct arena *arena,
                            struct task_row **out, size_t *out_count, struct failure *failure)
{
    struct slice from = slice_present(after) ? after : SLICE("");
    return statement_rows(db, sql_task_list(.tenant_key = tenant_key, .after = from, .limit = limit), sizeof **out,
                          read_task, arena, out, out_count, failure);
}

/* --- the steps of their runs --- */

static void read_step(struct query *query, struct arena *arena, void *item)
{
    struct step_row *out = item;
    *out = (struct step_row){
        .session_key = query_i64(query, STEP_COLUMN_SESSION_KEY),
        .parent_key = query_i64(query, STEP_COLUMN_PARENT_KEY),
        .definition = column_open(query, STEP_COLUMN_DEFINITION, arena),
        .status = (enum session_status)query_i64(query, STEP_COLUMN_WORK),
        .result = column_open(query, STEP_COLUMN_RESULT, arena),
    };
}

enum status store_step_insert(struct db *db, int64_t tenant_key, const struct step_row *step, struct failure *failure)
{
    return statement_run(db,
                         sql_step_insert(.tenant_key = tenant_key, .session_key = step->session_key,
                                         .parent_key = step->parent_key, .position = step->position,
                                         .definition = seal_text(db, tenant_key, step->session_key, step->definition)),
                         NULL, failure);
}

enum status store_step_get(struct db *db, int64_t tenant_key, int64_t session_key, struct arena *arena,
                           struct step_row *out, struct failure *failure)
{
    struct query query;
    enum status status =
        statement_first(&query, db, sql_step_get(.tenant_key = tenant_key, .session_key = session_key), failure);
    if (status != STATUS_OK) {
        return status;
    }
    read_step(&query, arena, out);
    query_end(&query);
    return seal_check(db, failure);
}

enum status store_step_list(struct db *db, int64_t tenant_key, int64_t parent_key, struct arena *arena,
                            struct step_row **out, size_t *out_count, struct failure *failure)
{
    return statement_rows(db, sql_step_list(.tenant_key = tenant_key, .parent_key = parent_key), sizeof **out,
                          read_step, arena, out, out_count, failure);
}

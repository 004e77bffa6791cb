#include "store/store.h"

#include <assert.h>

#include "domain/vocabulary.h"
#include "store/count.h"
#include "store/engine.h"
#include "store/session/label.h"
#include "store/seal/seal.h"
#include "store/session/session_row.h"
#include "store/statement.h"

static enum status count(struct db *db, const struct session *session, enum session_status work, int64_t add,
                         struct failure *failure)
{
    return count_add(db, session->tenant_key, (int)session->type, (int)work, add, failure);
}

/* --- insert --- */

static enum status insert_row(struct db *db, struct session *session, struct failure *failure)
{
    struct query query;
    bool row = false;
    query_start(&query, db, sql_session_insert(.session = session, .display = display_status(session)));
    enum status status = query_step(&query, &row, failure);
    if (status == STATUS_OK && row) {
        session->key = query_i64(&query, SESSION_INSERT_COLUMN_KEY);
    }
    query_end(&query);
    if (status == STATUS_OK && !row) {
        return failure_set(failure, STATUS_CONFLICT, "session_exists", "A session with the id %.*s exists.",
                           SLICE_ARG(session->id));
    }
    return status;
}

static enum status save(struct db *db, const struct session *session, struct failure *failure)
{
    return statement_run(db, sql_session_save(.session = session, .display = display_status(session)), NULL, failure);
}

enum status store_session_insert(struct db *db, struct session *session, struct failure *failure)
{
    enum status status = insert_row(db, session, failure);
    if (status == STATUS_OK) {
        status = seal_session(db, session->tenant_key, session->key, failure);
    }
    if (status == STATUS_OK && db->seal) {
        status = save(db, session, failure);
    }
    if (status == STATUS_OK) {
        status = statement_run(db, sql_session_activity_insert(.session = session), NULL, failure);
    }
    if (status == STATUS_OK) {
        status = labels_insert(db, session, failure);
    }
    if (status == STATUS_OK) {
        status = count(db, session, session->status, 1, failure);
    }
    return status;
}

/* --- update --- */

static enum status touch(struct db *db, const struct session *session, int64_t old_sequence, struct failure *failure)
{
    if (db->vtable->session_touch) {
        return db->vtable->session_touch(db, session, old_sequence, failure);
    }
    struct query query;
    query_start(&query, db, sql_session_touch(.session = session, .old_sequence = old_sequence));
    enum status status = query_run_guarded(&query, failure);
    query_end(&query);
    return status;
}

/* The narrowest statement that covers the change: SQLite then leaves the indexes of the other columns alone. */
static enum status write_session(struct db *db, const struct session *session, unsigned what, struct failure *failure)
{
    unsigned rest = what & (CHANGED_MACHINE | CHANGED_LISTED | CHANGED_ALL);
    if (!rest) {
        return STATUS_OK;
    }
    if (rest == CHANGED_LISTED) {
        return statement_run(db, sql_session_relist(.session = session), NULL, failure);
    }
    if (rest == CHANGED_MACHINE) {
        return statement_run(db, sql_session_move(.session = session, .display = display_status(session)), NULL,
                             failure);
    }
    return save(db, session, failure);
}

static enum status write_copies(struct db *db, const struct session *session, unsigned what, struct failure *failure)
{
    enum status status = STATUS_OK;
    if (what & CHANGED_ALL) {
        status = labels_replace(db, session, failure);
    } else if (what & CHANGED_LISTED) {
        status = labels_relist(db, session, failure);
    }
    if (status == STATUS_OK && (what & (CHANGED_LISTED | CHANGED_ALL))) {
        status = statement_run(db,
                               sql_participant_relist(.listed_at_ms = session->listed_at_ms,
                                                      .tenant_key = session->tenant_key, .session_key = session->key),
                               NULL, failure);
    }
    return status;
}

enum status store_session_update(struct db *db, const struct session *session, unsigned what, int64_t old_sequence,
                                 enum session_status old_work, struct failure *failure)
{
    enum status status = touch(db, session, old_sequence, failure);
    if (status == STATUS_OK) {
        status = write_session(db, session, what, failure);
    }
    if (status == STATUS_OK) {
        status = write_copies(db, session, what, failure);
    }
    if (status != STATUS_OK || old_work == session->status) {
        return status;
    }
    status = count(db, session, old_work, -1, failure);
    return status != STATUS_OK ? status : count(db, session, session->status, 1, failure);
}

/* --- read --- */

static enum status read_one(struct db *db, struct sql_call call, struct arena *arena, struct session *out,
                            struct failure *failure)
{
    struct query query;
    enum status status = statement_first(&query, db, call, failure);
    if (status == STATUS_NOT_FOUND) {
        return failure_set(failure, STATUS_NOT_FOUND, "session_not_found", "There is no such session.");
    }
    if (status != STATUS_OK) {
        return status;
    }
    session_read(&query, arena, out);
    query_end(&query);
    return seal_check(db, failure);
}

enum status store_session_by_id(struct db *db, int64_t tenant_key, struct slice id, struct arena *arena,
                                struct session *out, struct failure *failure)
{
    return read_one(db, sql_session_by_id(.tenant_key = tenant_key, .id = id), arena, out, failure);
}

static void read_session_key(struct query *query, struct arena *arena, void *item)
{
    struct session_key *key = item;
    (void)arena;
    key->tenant_key = query_i64(query, SESSION_WITH_SANDBOX_COLUMN_TENANT_KEY);
    key->key = query_i64(query, SESSION_WITH_SANDBOX_COLUMN_SESSION_KEY);
}

enum status store_session_with_sandbox(struct db *db, struct arena *arena, struct session_key **out, size_t *out_count,
                                       struct failure *failure)
{
    return statement_rows(db, sql_session_with_sandbox(), sizeof **out, read_session_key, arena, out, out_count,
                          failure);
}

enum status store_session_by_key(struct db *db, int64_t tenant_key, int64_t key, struct arena *arena,
                                 struct session *out, struct failure *failure)
{
    return read_one(db, sql_session_by_key(.tenant_key = tenant_key, .key = key), arena, out, failure);
}

enum status store_session_active_human(struct db *db, int64_t tenant_key, struct slice owner, struct arena *arena,
                                       struct session *out, struct failure *failure)
{
    return read_one(db, sql_session_active_human(.tenant_key = tenant_key, .owner = owner), arena, out, failure);
}

enum status store_session_count_concurrent(struct db *db, int64_t tenant_key, struct slice owner, int64_t *out,
                                           struct failure *failure)
{
    int64_t counted = 0;
    for (int work = 0; work < SESSION_STATUS_COUNT; work++) {
        if (session_status_counts_as_concurrent((enum session_status)work)) {
            counted |= (int64_t)1 << work;
        }
    }
    return statement_number(
        db, sql_session_count_concurrent(.tenant_key = tenant_key, .owner = owner, .states = counted), 0, out, failure);
}

enum status store_session_count_children(struct db *db, int64_t tenant_key, struct slice parent_id, int64_t *out,
                                         struct failure *failure)
{
    return statement_number(db, sql_session_count_children(.tenant_key = tenant_key, .parent_id = parent_id), 0, out,
                            failure);
}

enum status store_session_active_children(struct db *db, int64_t tenant_key, struct slice parent_id, int64_t max,
                                          struct arena *arena, struct slice *out, size_t *out_count,
                                          struct failure *failure)
{
    struct query query;
    bool row = false;
    *out_count = 0;
    query_start(&query, db,
                sql_session_active_children(.tenant_key = tenant_key, .parent_id = parent_id, .limit = max));
    enum status status = query_step(&query, &row, failure);
    while (status == STATUS_OK && row) {
        out[(*out_count)++] = arena_copy(arena, query_text(&query, SESSION_ACTIVE_CHILDREN_COLUMN_ID));
        status = query_step(&query, &row, failure);
    }
    query_end(&query);
    return status;
}

/* --- delete --- */

static enum status delete_events(struct db *db, const struct session *session, struct failure *failure)
{
    if (db->vtable->events_delete) {
        return db->vtable->events_delete(db, session->tenant_key, session->key, failure);
    }
    int64_t ignored;
    enum status status = statement_number(db, sql_event_positions_announce(), 0, &ignored, failure);
    return status != STATUS_OK
               ? status
               : statement_run(db, sql_event_delete_all(.tenant_key = session->tenant_key, .session_key = session->key),
                               NULL, failure);
}

static const enum sql session_parts[] = {
    SQL_SESSION_DELETE_LABELS,
    SQL_SESSION_DELETE_PARTICIPANTS,
    SQL_SESSION_DELETE_SHARE_LINKS,
    SQL_SESSION_DELETE_SHARE_USES,
    SQL_SESSION_DELETE_PARTIAL,
    SQL_SESSION_DELETE_LEASE,
    SQL_SESSION_DELETE_PROMPTS,
    SQL_SESSION_DELETE_TIMERS,
    SQL_SESSION_DELETE_ACTIVITY,
    SQL_SESSION_DELETE_ASKS,
    SQL_SESSION_DELETE_ASK_RULES,
    SQL_SESSION_DELETE_KEPT,
    SQL_SESSION_DELETE_TOOL_CALLS,
    SQL_SESSION_DELETE_FILES_CHANGED,
    SQL_SESSION_DELETE_CHANNELS,
    SQL_SESSION_DELETE_BLOB_USES,
    SQL_SESSION_DELETE_KEY,
    SQL_SESSION_DELETE_STEPS,
    SQL_SESSION_DELETE_RUNS,
    SQL_SESSION_DELETE_HOST,
    SQL_SESSION_DELETE_INTROSPECTION,
    SQL_SESSION_DELETE_FURTHER_ANSWERS,
    SQL_SESSION_DELETE_ANSWER_SUBJECTS,
    SQL_SESSION_DELETE_IDEMPOTENCY,
};

/* On PostgreSQL another node may append meanwhile, and what it writes would stay behind without a session. */
static enum status lock_as_known(struct db *db, const struct session *session, struct failure *failure)
{
    int64_t last = session->last_sequence;
    if (db->engine != DB_POSTGRES) {
        return STATUS_OK;
    }
    enum status status = statement_number(
        db, sql_session_lock(.tenant_key = session->tenant_key, .session_key = session->key), last, &last, failure);
    if (status == STATUS_OK && last != session->last_sequence) {
        return failure_set(failure, STATUS_STALE, "stale_row", "Another node changed the same session meanwhile.");
    }
    return status;
}

enum status store_session_delete(struct db *db, const struct session *session, struct slice actor, int64_t now_ms,
                                 struct failure *failure)
{
    struct sql_call row =
        sql_session_part(SQL_SESSION_DELETE, .tenant_key = session->tenant_key, .session_key = session->key);
    int64_t deleted = 0;
    enum status status = lock_as_known(db, session, failure);
    if (status == STATUS_OK) {
        status = statement_run(db, row, &deleted, failure);
    }
    if (status == STATUS_OK && deleted != 1) {
        return failure_set(failure, STATUS_NOT_FOUND, "session_not_found", "There is no such session.");
    }
    if (status == STATUS_OK) {
        status = delete_events(db, session, failure);
    }
    if (status == STATUS_OK) { /* while it is known who takes part */
        status =
            statement_run(db,
                          sql_tombstone_insert(.tenant_key = session->tenant_key, .id = session->id, .actor = actor,
                                               .deleted_at_ms = now_ms, .session_key = session->key,
                                               .sequence = session->last_sequence + 1, .owner = session->owner,
                                               .visibility = session->visibility, .purpose = session->purpose),
                          NULL, failure);
    }
    for (size_t i = 0; status == STATUS_OK && i < sizeof session_parts / sizeof session_parts[0]; i++) {
        status = statement_run(db, (struct sql_call){session_parts[i], row.values}, NULL, failure);
    }
    return status != STATUS_OK ? status : count(db, session, session->status, -1, failure);
}

enum status store_tombstone_exists(struct db *db, int64_t tenant_key, struct slice id, bool *out,
                                   struct failure *failure)
{
    int64_t found = 0;
    enum status status =
        statement_number(db, sql_tombstone_exists(.tenant_key = tenant_key, .id = id), 0, &found, failure);
    if (status == STATUS_OK) {
        *out = found != 0;
    }
    return status;
}

#include <assert.h>

#include "store/sqlite/connection.h"
#include "store/statement.h"

static sqlite3_stmt *statement_of(struct query *query)
{
    return query->engine;
}

static enum status query_failure(struct query *query, int code, struct failure *failure)
{
    query->failed = true;
    return sqlite_failure(sqlite_db_of(query->db), code, sql_texts[query->sql].name, failure);
}

/* Without a statement the values go nowhere and the first step fails. */
void sqlite_start(struct query *query)
{
    struct sqlite_db *self = sqlite_db_of(query->db);
    sqlite3_stmt **statement = &self->statements[query->sql];
    if (!*statement) {
        query->failed =
            sqlite_prepare_text(self, sql_texts[query->sql].name, sql_texts[query->sql].sqlite, statement, NULL);
    }
    query->engine = *statement;
    assert(query->failed || !sqlite3_stmt_busy(query->engine));
}

static enum status check_started(struct query *query, struct failure *failure)
{
    struct sqlite_db *self = sqlite_db_of(query->db);
    return query->engine ? STATUS_OK
                         : sqlite_failure(self, sqlite3_errcode(self->handle), sql_texts[query->sql].name, failure);
}

void sqlite_bind_i64(struct query *query, int64_t value)
{
    query->bound++;
    if (query->engine) {
        sqlite3_bind_int64(statement_of(query), query->bound, value);
    }
}

void sqlite_bind_text(struct query *query, struct slice text)
{
    query->bound++;
    if (query->engine) {
        sqlite3_bind_text64(statement_of(query), query->bound, text.ptr, text.len, SQLITE_STATIC, SQLITE_UTF8);
    }
}

void sqlite_bind_bytes(struct query *query, struct slice bytes)
{
    query->bound++;
    if (query->engine) {
        sqlite3_bind_blob64(statement_of(query), query->bound, bytes.ptr, bytes.len, SQLITE_STATIC);
    }
}

void sqlite_bind_null(struct query *query)
{
    query->bound++;
    if (query->engine) {
        sqlite3_bind_null(statement_of(query), query->bound);
    }
}

enum status sqlite_run(struct query *query, int64_t *out_changed, struct failure *failure)
{
    enum status status = check_started(query, failure);
    if (status != STATUS_OK) {
        return status;
    }
    int code = sqlite3_step(statement_of(query));
    assert(code != SQLITE_ROW);
    if (code != SQLITE_DONE) {
        return query_failure(query, code, failure);
    }
    if (out_changed) {
        *out_changed = sqlite3_changes64(sqlite_db_of(query->db)->handle);
    }
    return STATUS_OK;
}

enum status sqlite_run_guarded(struct query *query, struct failure *failure)
{
    int64_t changed = 0;
    enum status status = sqlite_run(query, &changed, failure);
    if (status != STATUS_OK || changed == 1) {
        return status;
    }
    return failure_set(failure, STATUS_STALE, "stale_row", "The session was changed by somebody else meanwhile.");
}

/* These look into the rows that tails_flush writes. */
static bool reads_positions(enum sql sql)
{
    static const enum sql readers[] = {SQL_EVENT_READ, SQL_EVENT_READ_NEWEST, SQL_EVENT_READ_FILTERED,
                                       SQL_EVENT_READ_FILTERED_NEWEST};
    for (size_t i = 0; i < sizeof readers / sizeof readers[0]; i++) {
        if (readers[i] == sql) {
            return true;
        }
    }
    return false;
}

enum status sqlite_step(struct query *query, bool *out_row, struct failure *failure)
{
    struct sqlite_db *self = sqlite_db_of(query->db);
    enum status status = check_started(query, failure);
    if (status == STATUS_OK && !query->row && self->tails.dirty_count && reads_positions(query->sql)) {
        status = tails_flush(self, failure);
    }
    if (status != STATUS_OK) {
        return status;
    }
    int code = sqlite3_step(statement_of(query));
    if (code != SQLITE_ROW && code != SQLITE_DONE) {
        return query_failure(query, code, failure);
    }
    *out_row = code == SQLITE_ROW;
    query->row++;
    return STATUS_OK;
}

int64_t sqlite_get_i64(struct query *query, int column)
{
    return sqlite3_column_int64(statement_of(query), column);
}

struct slice sqlite_get_text(struct query *query, int column)
{
    sqlite3_stmt *statement = statement_of(query);
    int kind = sqlite3_column_type(statement, column);
    if (kind == SQLITE_NULL) {
        return (struct slice){0};
    }
    const void *bytes = sqlite3_column_blob(statement, column);
    return slice_from(bytes ? bytes : "", (size_t)sqlite3_column_bytes(statement, column));
}

void sqlite_end(struct query *query)
{
    sqlite3_reset(statement_of(query));
}

/* --- events --- */

static enum status insert_event(struct db *db, int64_t position, int64_t tenant_key, int64_t session_key,
                                const struct event *event, struct failure *failure)
{
    return statement_run(db,
                         sql_event_insert_at(.position = position, .tenant_key = tenant_key, .session_key = session_key,
                                             .sequence = event->sequence, .at_ms = event->at_ms,
                                             .type = event_type(event), .role = event->role, .content = event->content,
                                             .metadata = event->metadata, .thread_id = event->thread_id,
                                             .external_id = event->external_id, .actor = event->actor),
                         NULL, failure);
}

enum status sqlite_event_insert(struct db *db, int64_t tenant_key, int64_t session_key, const struct event *event,
                                struct failure *failure)
{
    struct sqlite_db *self = sqlite_db_of(db);
    int64_t position = ++self->tails.last_position;
    enum status status = insert_event(db, position, tenant_key, session_key, event, failure);
    return status != STATUS_OK ? status : tail_add(self, tenant_key, session_key, event->sequence, failure);
}

enum status sqlite_session_touch(struct db *db, const struct session *session, int64_t old_sequence,
                                 struct failure *failure)
{
    struct tail *tail = tail_pending(sqlite_db_of(db), session->key);
    struct query query;
    if (tail) {
        query_start(&query, db,
                    sql_session_touch_tail(.session = session, .old_sequence = old_sequence,
                                           .tail = slice_from(tail->bytes, tail->len), .replaces = tail->replaces));
    } else {
        query_start(&query, db, sql_session_touch(.session = session, .old_sequence = old_sequence));
    }
    enum status status = query_run_guarded(&query, failure);
    query_end(&query);
    if (status == STATUS_OK && tail) {
        tail_written(tail);
    }
    return status;
}

enum status sqlite_events_delete(struct db *db, int64_t tenant_key, int64_t session_key, struct failure *failure)
{
    return tail_delete_events(sqlite_db_of(db), tenant_key, session_key, failure);
}

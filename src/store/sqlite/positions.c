#include <stdlib.h>

#include "store/sqlite/connection.h"
#include "store/statement.h"

enum { COLUMN_SEQUENCE, COLUMN_POSITION, COLUMN_SESSION_KEY };
/* Bits of idxNum; arguments come in this order, the session first. */
enum { PLAN_FROM = 1, PLAN_TO = 2, PLAN_NEWEST_FIRST = 4 };

struct positions_table {
    sqlite3_vtab base;
    struct sqlite_db *self;
};

struct positions_cursor {
    sqlite3_vtab_cursor base;
    int64_t session_key;
    int64_t from, to; /* sequences, both included */
    int64_t full_chunks;
    int64_t chunk; /* that is loaded */
    int64_t sequence;
    bool newest_first, at_end;
    int count;
    int64_t positions[EVENTS_PER_CHUNK];
};

static int positions_connect(sqlite3 *handle, void *owner, int argc, const char *const *argv, sqlite3_vtab **out,
                             char **error)
{
    (void)argc, (void)argv, (void)error;
    int code = sqlite3_declare_vtab(handle, "CREATE TABLE positions (sequence, position, session_key HIDDEN)");
    if (code != SQLITE_OK) {
        return code;
    }
    struct positions_table *table = memory_zeroed(sizeof *table);
    table->self = owner;
    *out = &table->base;
    return SQLITE_OK;
}

static int positions_disconnect(sqlite3_vtab *table)
{
    free(table);
    return SQLITE_OK;
}

/* The plan's bit for a bound on the sequence; 0 for any other constraint. Bounds are checked again by SQLite. */
static int bound_of(const struct sqlite3_index_constraint *constraint)
{
    if (constraint->iColumn != COLUMN_SEQUENCE || !constraint->usable) {
        return 0;
    }
    switch (constraint->op) {
    case SQLITE_INDEX_CONSTRAINT_GT:
    case SQLITE_INDEX_CONSTRAINT_GE:
        return PLAN_FROM;
    case SQLITE_INDEX_CONSTRAINT_LT:
    case SQLITE_INDEX_CONSTRAINT_LE:
        return PLAN_TO;
    default:
        return 0;
    }
}

static bool use_session(sqlite3_index_info *plan)
{
    for (int i = 0; i < plan->nConstraint; i++) {
        const struct sqlite3_index_constraint *constraint = &plan->aConstraint[i];
        if (constraint->iColumn == COLUMN_SESSION_KEY && constraint->usable &&
            constraint->op == SQLITE_INDEX_CONSTRAINT_EQ) {
            plan->aConstraintUsage[i] = (struct sqlite3_index_constraint_usage){.argvIndex = 1, .omit = 1};
            return true;
        }
    }
    return false;
}

static void use_bound(sqlite3_index_info *plan, int bound, int *arguments)
{
    for (int i = 0; i < plan->nConstraint; i++) {
        if (bound_of(&plan->aConstraint[i]) == bound) {
            plan->aConstraintUsage[i].argvIndex = ++*arguments;
            plan->idxNum |= bound;
            return;
        }
    }
}

static int positions_plan(sqlite3_vtab *table, sqlite3_index_info *plan)
{
    (void)table;
    int arguments = 1;
    plan->idxNum = 0;
    if (!use_session(plan)) {
        return SQLITE_CONSTRAINT;
    }
    use_bound(plan, PLAN_FROM, &arguments);
    use_bound(plan, PLAN_TO, &arguments);
    plan->estimatedCost = 100;
    plan->estimatedRows = 100;
    if (plan->nOrderBy == 1 && plan->aOrderBy[0].iColumn == COLUMN_SEQUENCE) {
        plan->orderByConsumed = 1;
        plan->idxNum |= plan->aOrderBy[0].desc ? PLAN_NEWEST_FIRST : 0;
    }
    return SQLITE_OK;
}

static int positions_open(sqlite3_vtab *table, sqlite3_vtab_cursor **out)
{
    (void)table;
    struct positions_cursor *cursor = memory_zeroed(sizeof *cursor);
    *out = &cursor->base;
    return SQLITE_OK;
}

static int positions_close(sqlite3_vtab_cursor *cursor)
{
    free(cursor);
    return SQLITE_OK;
}

/* --- reading --- */

static void decode(struct positions_cursor *cursor, struct slice bytes)
{
    int64_t position = 0;
    size_t at = 0;
    cursor->count = 0;
    while (cursor->count < EVENTS_PER_CHUNK && position_next(bytes, &at, &position)) {
        cursor->positions[cursor->count++] = position;
    }
}

static struct sqlite_db *self_of(struct positions_cursor *cursor)
{
    return ((struct positions_table *)cursor->base.pVtab)->self;
}

static int load_tail(struct positions_cursor *cursor)
{
    struct query query;
    enum status status =
        statement_first(&query, &self_of(cursor)->base, sql_event_tail_read(.session_key = cursor->session_key), NULL);
    cursor->count = 0;
    cursor->full_chunks = 0;
    if (status != STATUS_OK) {
        return status == STATUS_NOT_FOUND ? SQLITE_OK : SQLITE_IOERR;
    }
    decode(cursor, query_text(&query, EVENT_TAIL_READ_COLUMN_TAIL));
    cursor->full_chunks = query_i64(&query, EVENT_TAIL_READ_COLUMN_FULL_CHUNKS);
    query_end(&query);
    cursor->chunk = cursor->full_chunks;
    return SQLITE_OK;
}

static int load_chunk(struct positions_cursor *cursor, int64_t chunk)
{
    struct query query;
    if (chunk == cursor->full_chunks) {
        return load_tail(cursor);
    }
    cursor->chunk = chunk;
    cursor->count = 0;
    enum status status = statement_first(
        &query, &self_of(cursor)->base, sql_event_chunk_read(.session_key = cursor->session_key, .chunk = chunk), NULL);
    if (status != STATUS_OK) {
        return status == STATUS_NOT_FOUND ? SQLITE_CORRUPT_VTAB : SQLITE_IOERR;
    }
    decode(cursor, query_text(&query, EVENT_CHUNK_READ_COLUMN_POSITIONS));
    query_end(&query);
    return SQLITE_OK;
}

static int64_t chunk_of(int64_t sequence)
{
    return (sequence - 1) / EVENTS_PER_CHUNK;
}

/* Loads the chunk of cursor->sequence when another one is in memory, and sees whether the range is done. */
static int settle(struct positions_cursor *cursor)
{
    int code = SQLITE_OK;
    cursor->at_end = cursor->sequence < cursor->from || cursor->sequence > cursor->to;
    if (!cursor->at_end && chunk_of(cursor->sequence) != cursor->chunk) {
        code = load_chunk(cursor, chunk_of(cursor->sequence));
    }
    return code;
}

static int positions_filter(sqlite3_vtab_cursor *base, int plan, const char *name, int argc, sqlite3_value **argv)
{
    (void)name, (void)argc;
    struct positions_cursor *cursor = (struct positions_cursor *)base;
    int next = 1;
    cursor->session_key = sqlite3_value_int64(argv[0]);
    cursor->from = plan & PLAN_FROM ? sqlite3_value_int64(argv[next++]) : 1;
    cursor->to = plan & PLAN_TO ? sqlite3_value_int64(argv[next]) : INT64_MAX;
    cursor->newest_first = plan & PLAN_NEWEST_FIRST;
    int code = load_tail(cursor);
    int64_t last = cursor->full_chunks * EVENTS_PER_CHUNK + cursor->count;
    cursor->from = cursor->from < 1 ? 1 : cursor->from;
    cursor->to = cursor->to > last ? last : cursor->to;
    cursor->sequence = cursor->newest_first ? cursor->to : cursor->from;
    return code == SQLITE_OK ? settle(cursor) : code;
}

static int positions_next(sqlite3_vtab_cursor *base)
{
    struct positions_cursor *cursor = (struct positions_cursor *)base;
    cursor->sequence += cursor->newest_first ? -1 : 1;
    return settle(cursor);
}

static int positions_eof(sqlite3_vtab_cursor *base)
{
    return ((struct positions_cursor *)base)->at_end;
}

static int positions_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
    struct positions_cursor *cursor = (struct positions_cursor *)base;
    int64_t index = (cursor->sequence - 1) % EVENTS_PER_CHUNK;
    if (column == COLUMN_SEQUENCE) {
        sqlite3_result_int64(context, cursor->sequence);
    } else if (column == COLUMN_SESSION_KEY) {
        sqlite3_result_int64(context, cursor->session_key);
    } else if (index < cursor->count) {
        sqlite3_result_int64(context, cursor->positions[index]);
    }
    return SQLITE_OK;
}

static int positions_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *out)
{
    *out = ((struct positions_cursor *)base)->sequence;
    return SQLITE_OK;
}

static const sqlite3_module positions_module = {
    .xConnect = positions_connect,
    .xBestIndex = positions_plan,
    .xDisconnect = positions_disconnect,
    .xOpen = positions_open,
    .xClose = positions_close,
    .xFilter = positions_filter,
    .xNext = positions_next,
    .xEof = positions_eof,
    .xColumn = positions_column,
    .xRowid = positions_rowid,
};

int sqlite_add_positions(struct sqlite_db *self)
{
    return sqlite3_create_module(self->handle, "event_positions", &positions_module, self);
}

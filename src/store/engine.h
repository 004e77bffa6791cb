/* What an engine implements. Only store/db.c and the engines include this. */
#ifndef STORE_ENGINE_H
#define STORE_ENGINE_H

#include "domain/event.h"
#include "domain/session.h"
#include "store/count.h"
#include "store/db.h"

/* The first member of each engine's own connection struct. */
/* What is under way on a connection. */
enum db_scope {
    DB_IDLE,
    DB_READS,  /* db_begin_read */
    DB_WRITES, /* db_begin */
};

struct db {
    const struct db_vtable *vtable;
    enum db_engine engine;
    struct count_changes count_changes;
    enum db_scope scope;
    int64_t writes;    /* statements run since begin that write */
    struct seal *seal; /* NULL = content is not encrypted */
};

struct db_vtable {
    void (*close)(struct db *db);
    /* The number of the newest migration in the database; 0 when it is empty. Inside a transaction that writes, no
     * other node changes the schema until its end. */
    enum status (*schema_version)(struct db *db, int64_t *out, struct failure *failure);
    /* Prepares every statement of sql_texts that has a text for this engine; the failure names the statement. */
    enum status (*prepare)(struct db *db, struct failure *failure);
    enum status (*begin)(struct db *db, struct failure *failure);
    enum status (*commit)(struct db *db, struct failure *failure);
    void (*rollback)(struct db *db);
    /* The running transaction has met another and cannot be committed; run anew it may be. NULL = that never happens.
     */
    bool (*must_run_again)(const struct db *db);
    enum status (*begin_read)(struct db *db, struct failure *failure);
    enum status (*end_read)(struct db *db, struct failure *failure);
    void (*start)(struct query *query);
    void (*bind_i64)(struct query *query, int64_t value);
    void (*bind_text)(struct query *query, struct slice text);
    void (*bind_bytes)(struct query *query, struct slice bytes);
    void (*bind_null)(struct query *query);
    enum status (*run)(struct query *query, int64_t *out_changed, struct failure *failure);
    /* For statements that must change exactly one row: STALE when they do not, at the latest at commit. */
    enum status (*run_guarded)(struct query *query, struct failure *failure);
    enum status (*step)(struct query *query, bool *out_row, struct failure *failure);
    int64_t (*get_i64)(struct query *query, int column);
    struct slice (*get_text)(struct query *query, int column);
    void (*end)(struct query *query);
    /* Events may be gathered and written together, before the next question or commit. */
    enum status (*event_insert)(struct db *db, int64_t tenant_key, int64_t session_key, const struct event *event,
                                struct failure *failure);
    /* Writes the columns of session_activity of a row that is at `old_sequence`, else STALE, at the latest at commit.
     * NULL = by the statement session_touch. */
    enum status (*session_touch)(struct db *db, const struct session *session, int64_t old_sequence,
                                 struct failure *failure);
    /* NULL = by the statement event_delete_all. */
    enum status (*events_delete)(struct db *db, int64_t tenant_key, int64_t session_key, struct failure *failure);
    /* The commit tells the other nodes that something of this session changed. NULL = there are none. */
    void (*touch)(struct db *db, int64_t tenant_key, int64_t session_key);
    /* Runs several statements of plain SQL (migrations). */
    enum status (*script)(struct db *db, const char *sql, struct failure *failure);
};

/* Connected, but nothing prepared: the schema may not be there yet. */
MUST_CHECK enum status sqlite_open(const struct db_options *options, struct db **out, struct failure *failure);
MUST_CHECK enum status postgres_open(const struct db_options *options, struct db **out, struct failure *failure);

#endif

/* The SQLite engine's own struct, shared by its files. One connection belongs to one thread. */
#ifndef STORE_SQLITE_CONNECTION_H
#define STORE_SQLITE_CONNECTION_H

#include <sqlite3.h>

#include "store/engine.h"
#include "store/sqlite/tail.h"

struct sqlite_db {
    struct db base;
    sqlite3 *handle;
    sqlite3_stmt *begin, *commit, *rollback, *begin_read;
    sqlite3_stmt *statements[SQL_COUNT];
    bool read_only;
    bool prepares_late;
    int wal_frames;          /* in the log after the last commit */
    int checkpoint_frames;   /* the length at which the log is copied into the file */
    int checkpoint_at;       /* the length at which that is tried next */
    int64_t log_ms;          /* how long the log holds anything; 0 = no matter */
    int64_t erase_log_at_ms; /* monotonic; 0 = nothing was written since it was erased */
    int busy_ms;
    struct tails tails; /* of the writer */
};

static inline struct sqlite_db *sqlite_db_of(struct db *db)
{
    return (struct sqlite_db *)db;
}

/* Makes the file if it is not there, for its owner alone: SQLite would let everybody read it. What SQLite puts beside
 * it gets the same mode. A failure is told by whoever opens it. */
void sqlite_make_private(const char *path);
/* A statement prepared with the connection's settings. */
MUST_CHECK enum status sqlite_prepare_text(struct sqlite_db *self, const char *name, const char *text,
                                           sqlite3_stmt **out, struct failure *failure);
/* The first column of the first row; 0 when there is none. */
MUST_CHECK enum status sqlite_read_number(struct sqlite_db *self, const char *sql, int64_t *out,
                                          struct failure *failure);
/* The one place where SQLite's codes become ours. `doing` completes "The database could not …". */
enum status sqlite_failure(struct sqlite_db *self, int code, const char *doing, struct failure *failure);

/* store/sqlite/query.c */
void sqlite_start(struct query *query);
void sqlite_bind_i64(struct query *query, int64_t value);
void sqlite_bind_text(struct query *query, struct slice text);
void sqlite_bind_bytes(struct query *query, struct slice bytes);
void sqlite_bind_null(struct query *query);
enum status sqlite_run(struct query *query, int64_t *out_changed, struct failure *failure);
enum status sqlite_run_guarded(struct query *query, struct failure *failure);
enum status sqlite_step(struct query *query, bool *out_row, struct failure *failure);
int64_t sqlite_get_i64(struct query *query, int column);
struct slice sqlite_get_text(struct query *query, int column);
void sqlite_end(struct query *query);
enum status sqlite_event_insert(struct db *db, int64_t tenant_key, int64_t session_key, const struct event *event,
                                struct failure *failure);
enum status sqlite_session_touch(struct db *db, const struct session *session, int64_t old_sequence,
                                 struct failure *failure);
enum status sqlite_events_delete(struct db *db, int64_t tenant_key, int64_t session_key, struct failure *failure);

/* store/sqlite/positions.c: the virtual table event_positions (sequence, position, session_key). A query must give the
 * session_key; rows come by sequence, in either direction. */
int sqlite_add_positions(struct sqlite_db *self);

#endif

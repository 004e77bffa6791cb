/* One database connection, used by one thread, and the named statements of store/sql. The two engines stand behind this
 * interface; nothing above it knows which one runs. All statements are prepared when the connection opens. */
#ifndef STORE_DB_H
#define STORE_DB_H

#include "base/arena.h"
#include "base/status.h"
#include "store/sql.h" /* generated from store/sql/ *.sql: names, values and texts of the statements */

struct db;

enum db_engine { DB_SQLITE, DB_POSTGRES };

enum { MASTER_KEY_BYTES = 32 };

struct db_options {
    enum db_engine engine;
    const char *path; /* SQLite: the file */
    const char *url;  /* PostgreSQL: postgres://… */
    bool read_only;   /* readers; exactly one SQLite connection of the process is not */
    int64_t busy_ms;
    int64_t postgres_connect_ms; /* each host; 0 = the default */
    int64_t postgres_answer_ms;  /* how long a server may be silent in a statement; 0 = no limit */
    int64_t postgres_outcome_ms; /* how long the fate of a commit is looked for; 0 = the default */
    bool postgres_durability_elsewhere;
    int64_t query_ms; /* readers: how long one statement may take; 0 = as long as it needs */
    int64_t cache_kib;
    int64_t checkpoint_pages;        /* SQLite: 0 = the default */
    int64_t sqlite_log_ms;           /* SQLite: how long its log holds what was deleted; 0 = no matter */
    bool content_unread;             /* for copies: content may stay sealed */
    const unsigned char *master_key; /* MASTER_KEY_BYTES; NULL = content is not encrypted */
    const char *vfs;                 /* SQLite: a file layer with faults, for tests; NULL = the system's */
    bool prepare_late;               /* SQLite: every statement when it is first used, for tests that open often */
};

/* Connects, brings the schema up to date (a reader: checks it) and prepares every statement (a reader of SQLite: each
 * when it is first used); the failure names the one that is wrong. */
MUST_CHECK enum status db_open(const struct db_options *options, struct db **out, struct failure *failure);
void db_close(struct db *db);
enum db_engine db_engine(const struct db *db);

/* What the rooms above ask instead of which engine it is. */
/* May other processes write to it meanwhile? Then what is remembered of a row may be old. */
bool db_has_other_writers(const struct db *db);
/* May a transaction stay open for a moment so that more commands join it? Not when readers wait behind the positions of
 * an open one, or when others may change its rows meanwhile. */
bool db_commits_gather(const struct db *db);
/* The engine of a URL, or, without one, that of a file. */
enum db_engine db_engine_of(const char *url);
bool db_options_have_other_writers(const struct db_options *options);

/* Writing happens between begin and commit. Commit returns only when the data is on disk. STATUS_STALE: another node
 * changed a row this transaction was based on; STATUS_UNAVAILABLE: the engine failed; nothing was written in both
 * cases. STATUS_UNCERTAIN: the PostgreSQL server vanished during the commit and did not come back for some seconds, or
 * its standbys did not confirm it, or the disk under SQLite did not; what stood in the transaction must not be run
 * again on the caller's behalf. The transaction is over in any case. */
MUST_CHECK enum status db_begin(struct db *db, struct failure *failure);
MUST_CHECK enum status db_commit(struct db *db, struct failure *failure);
void db_rollback(struct db *db);
/* How many statements that write were run since db_begin. What the store writes on its own account (counters, indexes
 * of events), now or later, is not counted again. */
int64_t db_writes(const struct db *db);
/* The transaction gave way to another, whatever its statements were answered: roll back and run it again. */
bool db_must_run_again(const struct db *db);
enum { IDENTITY_TOUCHED = -1 }; /* in place of a session's key: who may come in has changed */
/* The commit tells other nodes that the session changed, beyond what its events tell. */
void db_touch(struct db *db, int64_t tenant_key, int64_t session_key);
/* Readers: a stable view over several queries. */
MUST_CHECK enum status db_begin_read(struct db *db, struct failure *failure);
/* Also instead of the commit of a transaction that wrote nothing. What was read may be told only when this returns OK;
 * UNAVAILABLE: it rests on a commit that PostgreSQL's standbys do not confirm. */
MUST_CHECK enum status db_end_read(struct db *db, struct failure *failure);

/* A statement being run: start, run or step, always query_end. On the caller's stack. */
struct query {
    struct db *db;
    enum sql sql;
    int bound;
    int row;
    bool ran;
    bool failed;
    void *engine; /* statement or result */
};

/* Binds the values, which are borrowed until query_end. */
void query_start(struct query *query, struct db *db, struct sql_call call);
/* Runs a statement without rows. *out_changed (may be NULL) gets the number of rows changed; asking for it costs a
 * round trip on PostgreSQL, where statements otherwise travel in a pipeline and fail at the next question or commit. */
MUST_CHECK enum status query_run(struct query *query, int64_t *out_changed, struct failure *failure);
/* Runs a statement that must change exactly one row: STALE when it does not, at the latest at commit. No round trip. */
MUST_CHECK enum status query_run_guarded(struct query *query, struct failure *failure);
/* The next row: *out_row is false after the last. */
MUST_CHECK enum status query_step(struct query *query, bool *out_row, struct failure *failure);
/* Columns of the current row, counted from 0. Text is valid until the next step or end. */
int64_t query_i64(struct query *query, int column);
struct slice query_text(struct query *query, int column); /* absent for NULL */
void query_end(struct query *query);

#endif

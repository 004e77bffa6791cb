/* One PostgreSQL connection behind store/engine.h, used by one thread.
 *
 * Everything travels in libpq's pipeline mode. BEGIN waits for the first statement; a statement nobody asks an answer
 * of is queued; gathered statements (see gather.h) wait in memory. A question or a commit sends all that is waiting,
 * followed by a sync, and reads to that sync: a group of appends costs one round trip. The first thing that went wrong
 * ends the transaction: what follows in it fails alike, and commit reports it.
 *
 *     IDLE ──begin──▶ WRITING ──commit, rollback──▶ IDLE
 *     IDLE ──begin_read──▶ READING ──end_read──▶ IDLE
 *     WRITING, READING ──a statement failed, the connection broke──▶ FAILED ──commit, rollback, end_read──▶ IDLE
 *
 * Between two calls in IDLE nothing is gathered, and at most the answer to a NOTIFY or a ROLLBACK is still unread.
 *
 * Durability: synchronous_commit is on for every transaction, whatever the server's default, and a commit that came
 * with a warning is uncertain (see confirm.h). A server with fsync=off is refused, unless an option says that its
 * durability is elsewhere: it cannot keep the promise that an acknowledged event survives. full_page_writes=off is
 * right on some file systems and only logged as a warning.
 *
 * No call here blocks for longer than the options say (see wait.h): a connection whose server is silent is given up,
 * and the next host of the URL is tried first. */
#ifndef STORE_POSTGRES_CONNECTION_H
#define STORE_POSTGRES_CONNECTION_H

#include <libpq-fe.h>

#include "store/engine.h"
#include "store/postgres/confirm.h"
#include "store/postgres/gather.h"
#include "store/postgres/hosts.h"
#include "store/postgres/notify.h"
#include "store/postgres/wait.h"

enum { PARAMETERS_MAX = 96, GATHERS_MAX = 8 };

enum transaction { TRANSACTION_IDLE, TRANSACTION_WRITING, TRANSACTION_READING, TRANSACTION_FAILED };

/* What the pipeline will answer next. */
enum expected {
    EXPECT_DEFERRED, /* nobody waits for it; an error ends the transaction */
    EXPECT_QUESTION, /* the statement the caller waits for */
    EXPECT_SNAPSHOT, /* what the transaction sees; kept in postgres.seen */
    EXPECT_COMMIT,
    EXPECT_LEFTOVER, /* ROLLBACK, NOTIFY: nobody is left to hear of a failure, it is only logged */
    EXPECT_SYNC,
};

/* A named statement as this connection knows it. */
struct statement {
    char name[12];
    char guarded_name[12]; /* of the form that fails unless it changes exactly one row; empty when it has none */
    bool savepoint;        /* may meet a key that exists; the transaction goes on */
    bool erases_events;    /* the witness may be among them */
    int gather;            /* index into postgres.gathers, or -1 */
    unsigned needs_flush;  /* bit per gather whose table this statement names */
    int parameter_count;
    Oid parameter_types[PARAMETERS_MAX];
};

/* The server's process for a connection; the start tells it from a later one with the same number. */
#define BACKEND_STARTED                                                                                                \
    "(extract(epoch from backend_start) * 1000000)::bigint::text" /* the same in every time zone                       \
                                                                   */
struct backend {
    int pid; /* 0 = none */
    char started[48];
};

/* How a connection is made, and how long its server may be silent. */
struct terms {
    char *url;
    bool writes;
    bool durability_elsewhere; /* fsync=off is accepted */
    int64_t busy_ms, connect_ms, answer_ms, outcome_ms;
    int64_t query_ms; /* readers: one statement; 0 = as long as it needs */
};

/* What a new connection found. */
struct greeting {
    struct backend backend;
    char server[24]; /* when it was started: tells it from every other, also from one that took over */
    bool is_standby;
};

/* One event of the running transaction: when the connection breaks during the commit, the batch of its row tells
 * whether the transaction was written, also where another node writes the same event in the same millisecond. A
 * transaction that erases events afterwards loses its witness. */
struct witness {
    bool present;
    int64_t tenant_key, session_key, sequence;
};

struct postgres {
    struct db db; /* first */
    PGconn *connection;
    struct greeting greeting;
    struct hosts hosts;
    bool broken;   /* libpq refused to send: what it was asked and what is expected differ */
    bool silent;   /* the server did not answer in time */
    bool farewell; /* the server ended the connection; it has done nothing it did not answer before */
    bool warned;   /* the server warned since this was last cleared */
    struct confirmed confirmed;
    struct backend left_committing; /* it was waiting for the standbys when its commit was given up */
    struct backend left_confirming; /* the same of a commit of nothing */
    struct buffer seen;             /* what the transaction sees, see confirm.h; empty = no commit waits for standbys */
    int64_t alone_until_ms;         /* monotonic: until then the server need not be asked whether any does */
    int64_t unreachable_until_ms;   /* monotonic: until then nobody tries to connect */
    struct failure unreachable;     /* and is told this */
    struct terms terms;
    int64_t silence_ms; /* how long an exchange waits now; 0 = no limit */

    enum transaction transaction;
    bool begun;             /* BEGIN was sent */
    bool announced;         /* it takes positions of events */
    int64_t batch;          /* this transaction's number; no other has it, on any node */
    struct failure trouble; /* FAILED: what commit will say */

    unsigned char *expected; /* a queue of enum expected */
    size_t expected_count, expected_room;

    struct statement statements[SQL_COUNT];
    bool prepared; /* asked for: a new connection prepares them all before it is used */
    struct gather gathers[GATHERS_MAX];
    int gather_count;

    struct touches touches;
    struct witness witness;
    struct running *spare; /* free list of running statements */
};

/* --- connection.c --- */
/* Connects when there is no live connection; a broken one is thrown away with all it was asked. What is read and
 * written afterwards rests on confirmed commits only. */
MUST_CHECK enum status postgres_ensure(struct postgres *postgres, struct failure *failure);
/* After a read: what it saw is confirmed, or will be when this returns. */
MUST_CHECK enum status postgres_confirm_seen(struct postgres *postgres, struct failure *failure);
/* postgres_ensure without the confirmation. */
MUST_CHECK enum status postgres_reach(struct postgres *postgres, struct failure *failure);
struct terms terms_of(const struct db_options *options);
/* A connection with the settings every one of ours has, to the first host that does; also for listening. On success
 * hosts->next is the one after it. */
MUST_CHECK enum status postgres_connect(struct hosts *hosts, const struct terms *terms, PGconn **out,
                                        struct greeting *out_greeting, struct failure *failure);

/* --- prepare.c --- */
/* Fills what is known of the statements without asking the server: names, gathers, what must be sent before them. */
void statements_init(struct postgres *postgres);
/* Prepares every statement; the failure names the one that is wrong. */
MUST_CHECK enum status statements_prepare(struct postgres *postgres, struct failure *failure);

/* --- pipeline.c --- */
bool pipeline_works(const struct postgres *postgres);
/* Remembers what was queued; `sent` is what libpq's PQsend… returned. */
void pipeline_expect(struct postgres *postgres, int sent, enum expected expected);
/* Queues a command of plain text. */
void pipeline_command(struct postgres *postgres, const char *text, enum expected expected);
/* Queues the question what the transaction sees; false where no commit waits for standbys. */
bool pipeline_look(struct postgres *postgres);
/* Where an exchange went wrong. */
struct pipeline_error {
    enum expected at;
    bool lost;        /* the connection is gone */
    bool explained;   /* the server said why: it stopped at `at`, what stood behind it was not run */
    bool committed;   /* the EXPECT_COMMIT was answered before */
    bool warned;      /* with a warning: on this server, perhaps not on those it waits for */
    bool rolled_back; /* the server gave the transaction up, its savepoints included */
};
/* Sends all that waits and reads the answers. *out_answer (may be NULL) gets the result of the EXPECT_QUESTION, which
 * the caller clears; NULL on failure. `failure` tells of the first error, *out_mishap where it was. */
MUST_CHECK enum status pipeline_sync(struct postgres *postgres, PGresult **out_answer,
                                     struct pipeline_error *out_mishap, struct failure *failure);
/* The next result. libpq ends those of a command with NULL, which is read too; a sync stands alone. NULL when the
 * server is silent, too: the connection is broken then. */
PGresult *pipeline_next(struct postgres *postgres, enum expected expected);
/* Sends all that waits and leaves the answers for the next settle. */
void pipeline_part(struct postgres *postgres);
/* Forgets what was asked: the connection is gone. */
void pipeline_reset(struct postgres *postgres);

/* --- transaction.c --- */
/* Sends BEGIN when it is still due. */
void postgres_tx_open(struct postgres *postgres);
/* Ends the transaction as far as the caller can tell; commit will return the same. */
enum status postgres_tx_fail(struct postgres *postgres, const struct failure *failure);
enum status postgres_tx_begin(struct db *db, struct failure *failure);
enum status postgres_tx_commit(struct db *db, struct failure *failure);
void postgres_tx_rollback(struct db *db);
bool postgres_tx_must_run_again(const struct db *db);
enum status postgres_tx_begin_read(struct db *db, struct failure *failure);
enum status postgres_tx_end_read(struct db *db, struct failure *failure);

/* --- outcome.c --- */
/* Remembers the first event of a transaction. */
void witness_take(struct witness *witness, int64_t tenant_key, int64_t session_key, const struct event *event);
/* After a commit whose answer did not come: waits for the server for some seconds, sees to it that the old connection
 * is over there, looks for the witness, and has a later commit confirmed. OK: it was written. UNAVAILABLE: it was not
 * and never will be. UNCERTAIN: the server did not come back in time, does not confirm, or the transaction had no
 * event. */
MUST_CHECK enum status outcome_find(struct postgres *postgres, struct failure *failure);
/* Whether this process still waits for the standbys; when not, what it wrote may be seen. */
bool outcome_is_hidden(struct postgres *postgres, const struct backend *left);
/* After a commit that was answered with a warning. OK or UNCERTAIN. */
MUST_CHECK enum status outcome_of_warning(struct postgres *postgres, struct failure *failure);

/* --- query.c: the vtable's --- */
void postgres_start(struct query *query);
void postgres_bind_i64(struct query *query, int64_t number);
void postgres_bind_bytes(struct query *query, struct slice bytes); /* text too */
void postgres_bind_null(struct query *query);
enum status postgres_run(struct query *query, int64_t *out_changed, struct failure *failure);
enum status postgres_run_guarded(struct query *query, struct failure *failure);
enum status postgres_step(struct query *query, bool *out_row, struct failure *failure);
int64_t postgres_get_i64(struct query *query, int column);
struct slice postgres_get_text(struct query *query, int column);
void postgres_end(struct query *query);
void postgres_touch(struct db *db, int64_t tenant_key, int64_t session_key);
enum status postgres_event_insert(struct db *db, int64_t tenant_key, int64_t session_key, const struct event *event,
                                  struct failure *failure);
/* Sends the rows of the gathers in `mask`. */
void gathers_send(struct postgres *postgres, unsigned mask);
void gathers_reset(struct postgres *postgres);
void running_free_all(struct running *spare);

/* --- schema.c: the vtable's --- */
enum status postgres_schema_version(struct db *db, int64_t *out, struct failure *failure);
enum status postgres_script(struct db *db, const char *sql, struct failure *failure);

/* --- error.c --- */
/* Where the error came: outside of a transaction that writes; at the statement the caller waits for, so that a key that
 * exists is his conflict; at one that was queued, so that somebody else was faster; at COMMIT. */
enum trouble_place { TROUBLE_READING, TROUBLE_WAITED, TROUBLE_DEFERRED, TROUBLE_COMMIT, TROUBLE_PLACES };

/* What an error of the server means. STALE: the transaction must run again. UNCERTAIN: whether it was committed is not
 * known. */
enum status trouble_from_result(const PGresult *result, enum trouble_place place, struct failure *failure);
/* True when no savepoint saves the transaction from this error. */
bool trouble_ends_transaction(const PGresult *result);
enum status trouble_from_connection(const PGconn *connection, struct failure *failure);
enum status trouble_from_silence(int64_t silence_ms, struct failure *failure);

#endif

#include "store/postgres/connection.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/id.h"
#include "base/log.h"

enum {
    VERSION_MIN = 140000,
    BUSY_DEFAULT_MS = 10000,
    CONNECT_DEFAULT_MS = 5000,
    OUTCOME_DEFAULT_MS = 5000,
    SLOW_ATTEMPT_MS = 1000,
    LEAVE_ALONE_MS = 2000,
};

static void notice_ignore(void *owner, const PGresult *result)
{
    (void)owner;
    (void)result;
}

/* A server that ends the connection between two answers says so in a notice; so does one that commits without its
 * standbys. */
static void notice_take(void *owner, const PGresult *result)
{
    struct postgres *postgres = owner;
    const char *severity = PQresultErrorField(result, PG_DIAG_SEVERITY_NONLOCALIZED);
    postgres->farewell |= severity && strcmp(severity, "FATAL") == 0;
    postgres->warned |= severity && strcmp(severity, "WARNING") == 0;
}

/* One question for everything a new connection sets and must know. Whoever asks for a stronger synchronous_commit keeps
 * it; a weaker one of a role or a database does not count, nor does a client_min_messages that would hide the warning
 * of a commit. A node that vanished must not hold its row locks for hours, hence the idle limit and the keepalives. */
static const char settings_text[] =
    "select current_setting('fsync'), current_setting('full_page_writes'), current_setting('server_encoding'),"
    " pg_is_in_recovery(), pg_backend_pid(),"
    " (select " BACKEND_STARTED " from pg_stat_activity where pid = pg_backend_pid()),"
    " (extract(epoch from pg_postmaster_start_time()) * 1000000)::bigint::text,"
    " set_config('synchronous_commit', case current_setting('synchronous_commit') when 'remote_apply' then"
    "   'remote_apply' else 'on' end, false),"
    " set_config('client_min_messages', 'warning', false),"
    " set_config('jit', 'off', false), set_config('lock_timeout', $1, false),"
    " set_config('idle_in_transaction_session_timeout', '60s', false),"
    " set_config('tcp_keepalives_idle', '30', false), set_config('tcp_keepalives_interval', '10', false),"
    " set_config('tcp_keepalives_count', '3', false), set_config('standard_conforming_strings', 'on', false)";
enum {
    FOUND_FSYNC,
    FOUND_PAGE_WRITES,
    FOUND_ENCODING,
    FOUND_RECOVERY,
    FOUND_PID,
    FOUND_STARTED,
    FOUND_SERVER,
    FOUND_SYNCHRONOUS
};

static bool is(const PGresult *result, int column, const char *value)
{
    return strcmp(PQgetvalue(result, 0, column), value) == 0;
}

static enum status durability_judge(const PGresult *result, const struct terms *terms, struct failure *failure)
{
    if (!is(result, FOUND_SYNCHRONOUS, "on") && !is(result, FOUND_SYNCHRONOUS, "remote_apply")) {
        return failure_set(failure, STATUS_UNSUPPORTED, "database_not_durable",
                           "The server keeps synchronous_commit at %s; it must take \"on\".",
                           PQgetvalue(result, 0, FOUND_SYNCHRONOUS));
    }
    if (!is(result, FOUND_FSYNC, "on") && !terms->durability_elsewhere) {
        return failure_set(failure, STATUS_UNSUPPORTED, "database_not_durable",
                           "The server runs with fsync=off and may lose what it has acknowledged; set fsync=on. For a "
                           "service that keeps its log on other machines there is --postgres-durability-elsewhere.");
    }
    if (!is(result, FOUND_PAGE_WRITES, "on")) {
        log_warn("postgres_full_page_writes_off", LOG_TEXT("risk", SLICE("torn pages after a crash of the machine")));
    }
    return STATUS_OK;
}

static enum status settings_judge(const PGconn *connection, const PGresult *result, const struct terms *terms,
                                  struct failure *failure)
{
    if (PQresultStatus(result) != PGRES_TUPLES_OK) {
        return trouble_from_result(result, TROUBLE_READING, failure);
    }
    if (PQserverVersion(connection) < VERSION_MIN) {
        return failure_set(failure, STATUS_UNSUPPORTED, "database_too_old",
                           "PostgreSQL 14 or newer is needed; the server is version %d.%d.",
                           PQserverVersion(connection) / 10000, PQserverVersion(connection) % 10000);
    }
    if (!is(result, FOUND_ENCODING, "UTF8")) {
        return failure_set(failure, STATUS_UNSUPPORTED, "database_encoding",
                           "The database must have the encoding UTF8; it has %s.",
                           PQgetvalue(result, 0, FOUND_ENCODING));
    }
    return terms->writes ? durability_judge(result, terms, failure) : STATUS_OK;
}

static enum status settings_apply(PGconn *connection, const struct terms *terms, struct greeting *out,
                                  struct failure *failure)
{
    char busy[24];
    snprintf(busy, sizeof busy, "%lldms", (long long)terms->busy_ms);
    const char *values[] = {busy};
    PGresult *result = ask_within(connection, settings_text, 1, values, terms->connect_ms);
    enum status status = settings_judge(connection, result, terms, failure);
    if (status == STATUS_OK) {
        *out = (struct greeting){.is_standby = is(result, FOUND_RECOVERY, "t")};
        out->backend.pid = atoi(PQgetvalue(result, 0, FOUND_PID)); /* a pooler tells libpq one of its own */
        snprintf(out->backend.started, sizeof out->backend.started, "%s", PQgetvalue(result, 0, FOUND_STARTED));
        snprintf(out->server, sizeof out->server, "%s", PQgetvalue(result, 0, FOUND_SERVER));
    }
    PQclear(result);
    return status;
}

static enum status unreachable(const PGconn *connection, const struct terms *terms, struct failure *failure)
{
    return PQstatus(connection) == CONNECTION_BAD
               ? trouble_from_connection(connection, failure)
               : failure_set(failure, STATUS_UNAVAILABLE, "storage_failed",
                             "PostgreSQL cannot be reached: no answer within %lld ms (option postgres-connect-ms).",
                             (long long)terms->connect_ms);
}

/* What stands before the URL is a default, what stands behind it cannot be changed by it. Readers, too, want the server
 * that writes, unless the URL wishes for another: one that was left behind by a failover shows the past, and what was
 * lost with it. Writers have no choice. */
static enum status host_connect(const struct host *host, const struct terms *terms, PGconn **out,
                                struct greeting *out_greeting, struct failure *failure)
{
    const char *const keys[] = {"keepalives_idle",
                                "keepalives_interval",
                                "keepalives_count",
                                "tcp_user_timeout",
                                "target_session_attrs",
                                "application_name",
                                "dbname",
                                "client_encoding",
                                "target_session_attrs",
                                "host",
                                "hostaddr",
                                "port",
                                NULL};
    const char *const values[] = {"15",          "5",          "3",
                                  "30000",       "read-write", "sojourn",
                                  terms->url,    "UTF8",       terms->writes ? "read-write" : NULL,
                                  host->name, /* what is NULL is left as the URL says */
                                  host->address, host->port,   NULL};
    PGconn *connection = connect_within(keys, values, terms->connect_ms);
    enum status status = STATUS_OK;
    if (PQstatus(connection) != CONNECTION_OK) {
        status = unreachable(connection, terms, failure);
    } else {
        PQsetNoticeReceiver(connection, notice_ignore, NULL);
        status = settings_apply(connection, terms, out_greeting, failure);
    }
    if (status != STATUS_OK) {
        PQfinish(connection);
        return status;
    }
    *out = connection;
    return STATUS_OK;
}

/* The last host's failure is told. */
enum status postgres_connect(struct hosts *hosts, const struct terms *terms, PGconn **out,
                             struct greeting *out_greeting, struct failure *failure)
{
    enum status status = STATUS_UNAVAILABLE;
    for (size_t tries = 0; tries < hosts->count && status != STATUS_OK; tries++) {
        const struct host *host = &hosts->each[hosts->next];
        hosts->next = (hosts->next + 1) % hosts->count;
        status = host_connect(host, terms, out, out_greeting, failure);
    }
    return status;
}

struct terms terms_of(const struct db_options *options)
{
    return (struct terms){
        .url = strdup(options->url),
        .writes = !options->read_only,
        .query_ms = options->read_only ? options->query_ms : 0,
        .durability_elsewhere = options->postgres_durability_elsewhere,
        .busy_ms = options->busy_ms > 0 ? options->busy_ms : BUSY_DEFAULT_MS,
        .connect_ms = options->postgres_connect_ms > 0 ? options->postgres_connect_ms : CONNECT_DEFAULT_MS,
        .answer_ms = options->postgres_answer_ms,
        .outcome_ms = options->postgres_outcome_ms > 0 ? options->postgres_outcome_ms : OUTCOME_DEFAULT_MS,
    };
}

static bool has_input(const PGconn *connection)
{
    struct pollfd polled = {.fd = PQsocket(connection), .events = POLLIN};
    return poll(&polled, 1, 0) > 0;
}

/* A server that went away has left a farewell and an end in the socket; both must be read to notice. A farewell that
 * came along with the last answer has aborted the pipeline already. */
static bool is_alive(struct postgres *postgres)
{
    bool alive = pipeline_works(postgres) && PQpipelineStatus(postgres->connection) == PQ_PIPELINE_ON;
    while (alive && has_input(postgres->connection)) {
        alive = PQconsumeInput(postgres->connection) && pipeline_works(postgres);
    }
    return alive;
}

static void disconnect(struct postgres *postgres)
{
    PQfinish(postgres->connection);
    postgres->connection = NULL;
    postgres->broken = postgres->silent = postgres->farewell = false;
    postgres->confirmed.once = false;
    postgres->alone_until_ms = 0;
    pipeline_reset(postgres);
}

static enum status connect_anew(struct postgres *postgres, struct failure *failure)
{
    enum status status =
        postgres_connect(&postgres->hosts, &postgres->terms, &postgres->connection, &postgres->greeting, failure);
    if (status == STATUS_OK) {
        PQsetNoticeReceiver(postgres->connection, notice_take, postgres);
        PQenterPipelineMode(postgres->connection);
        status = postgres->prepared ? statements_prepare(postgres, failure) : STATUS_OK;
    }
    if (status != STATUS_OK) {
        disconnect(postgres);
    }
    return status;
}

enum status postgres_reach(struct postgres *postgres, struct failure *failure)
{
    if (is_alive(postgres)) {
        return STATUS_OK;
    }
    disconnect(postgres);
    return connect_anew(postgres, failure);
}

static enum status reach_and_confirm(struct postgres *postgres, struct failure *failure)
{
    enum status status = postgres_reach(postgres, failure);
    return status == STATUS_OK && !confirmation_stands(postgres) ? confirmation_seek(postgres, failure) : status;
}

/* A server that hangs costs an attempt of seconds. Those who wait for this connection must not wait for an attempt
 * each, one after the other: for a moment they are told what the last one was told. */
static enum status attempt(struct postgres *postgres, enum status (*make)(struct postgres *, struct failure *),
                           struct failure *failure)
{
    int64_t started_ms = monotonic_ms();
    if (started_ms < postgres->unreachable_until_ms) {
        if (failure) {
            *failure = postgres->unreachable;
        }
        return postgres->unreachable.status;
    }
    struct failure trouble = {0};
    enum status status = make(postgres, &trouble);
    int64_t ended_ms = monotonic_ms();
    if (status != STATUS_OK && ended_ms - started_ms > SLOW_ATTEMPT_MS) {
        postgres->unreachable_until_ms = ended_ms + LEAVE_ALONE_MS;
        postgres->unreachable = trouble;
    }
    if (status != STATUS_OK && failure) {
        *failure = trouble;
    }
    return status;
}

enum status postgres_ensure(struct postgres *postgres, struct failure *failure)
{
    if (is_alive(postgres) && confirmation_stands(postgres)) {
        return STATUS_OK;
    }
    return attempt(postgres, reach_and_confirm, failure);
}

enum status postgres_confirm_seen(struct postgres *postgres, struct failure *failure)
{
    if (postgres->greeting.is_standby || confirmation_covers(postgres)) {
        return STATUS_OK;
    }
    return attempt(postgres, confirmation_seek, failure);
}

static void postgres_close(struct db *db)
{
    struct postgres *postgres = (struct postgres *)db;
    postgres_tx_rollback(db);
    disconnect(postgres);
    for (int i = 0; i < postgres->gather_count; i++) {
        gather_release(&postgres->gathers[i]);
    }
    touches_release(&postgres->touches);
    running_free_all(postgres->spare);
    free(postgres->expected);
    buffer_release(&postgres->seen);
    free(postgres->terms.url);
    hosts_release(&postgres->hosts);
    free(postgres);
}

static enum status postgres_prepare(struct db *db, struct failure *failure)
{
    struct postgres *postgres = (struct postgres *)db;
    enum status status = postgres->prepared ? STATUS_OK : statements_prepare(postgres, failure);
    postgres->prepared = status == STATUS_OK;
    return status;
}

static const struct db_vtable vtable = {
    .close = postgres_close,
    .schema_version = postgres_schema_version,
    .prepare = postgres_prepare,
    .begin = postgres_tx_begin,
    .commit = postgres_tx_commit,
    .rollback = postgres_tx_rollback,
    .must_run_again = postgres_tx_must_run_again,
    .begin_read = postgres_tx_begin_read,
    .end_read = postgres_tx_end_read,
    .start = postgres_start,
    .bind_i64 = postgres_bind_i64,
    .bind_text = postgres_bind_bytes,
    .bind_bytes = postgres_bind_bytes,
    .bind_null = postgres_bind_null,
    .run = postgres_run,
    .run_guarded = postgres_run_guarded,
    .step = postgres_step,
    .get_i64 = postgres_get_i64,
    .get_text = postgres_get_text,
    .end = postgres_end,
    .event_insert = postgres_event_insert,
    .touch = postgres_touch,
    .script = postgres_script,
};

/* Two connections never come near each other: 63 random bits to begin with. */
static int64_t first_batch(void)
{
    struct id_source source;
    int64_t batch;
    id_source_init_system(&source);
    source.fill(&source, &batch, sizeof batch);
    return batch & INT64_MAX >> 1;
}

enum status postgres_open(const struct db_options *options, struct db **out, struct failure *failure)
{
    struct postgres *postgres = memory_zeroed(sizeof *postgres);
    postgres->db = (struct db){.vtable = &vtable, .engine = DB_POSTGRES};
    postgres->batch = first_batch();
    postgres->terms = terms_of(options);
    postgres->silence_ms = postgres->terms.answer_ms;
    hosts_init(&postgres->hosts, postgres->terms.url);
    statements_init(postgres);
    enum status status = postgres_ensure(postgres, failure);
    if (status != STATUS_OK) {
        postgres_close(&postgres->db);
        return status;
    }
    *out = &postgres->db;
    return STATUS_OK;
}

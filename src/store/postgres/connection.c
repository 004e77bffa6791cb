#include "store/postgres/connection.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/id.h"
#include "base/log.h"

enum { VERSION_MIN = 140000, BUSY_DEFAULT_MS = 10000, SLOW_ATTEMPT_MS = 1000, LEAVE_ALONE_MS = 2000 };

static void notice_ignore(void *owner, const PGresult *result)
{
    (void)owner;
    (void)result;
}

/* A server that ends the connection between two answers says so in a notice. */
static void notice_take(void *owner, const PGresult *result)
{
    struct postgres *postgres = owner;
    const char *severity = PQresultErrorField(result, PG_DIAG_SEVERITY_NONLOCALIZED);
    postgres->farewell |= severity && strcmp(severity, "FATAL") == 0;
}

/* One question for everything a new connection sets and must know. Whoever asks for a stronger synchronous_commit keeps
 * it. A node that vanished must not hold its row locks for hours, hence the idle limit and the keepalives. */
static const char settings_text[] =
    "select current_setting('fsync'), current_setting('full_page_writes'), current_setting('server_encoding'),"
    " set_config('synchronous_commit', case current_setting('synchronous_commit') when 'remote_apply' then"
    "   'remote_apply' else 'on' end, false),"
    " set_config('jit', 'off', false), set_config('lock_timeout', $1, false),"
    " set_config('idle_in_transaction_session_timeout', '60s', false),"
    " set_config('tcp_keepalives_idle', '30', false), set_config('tcp_keepalives_interval', '10', false),"
    " set_config('tcp_keepalives_count', '3', false), set_config('standard_conforming_strings', 'on', false)";

static enum status settings_judge(PGconn *connection, const PGresult *result, bool writes, struct failure *failure)
{
    if (PQresultStatus(result) != PGRES_TUPLES_OK) {
        return trouble_from_result(result, true, failure);
    }
    if (PQserverVersion(connection) < VERSION_MIN) {
        return failure_set(failure, STATUS_UNSUPPORTED, "database_too_old",
                           "PostgreSQL 14 or newer is needed; the server is version %d.%d.",
                           PQserverVersion(connection) / 10000, PQserverVersion(connection) % 10000);
    }
    if (strcmp(PQgetvalue(result, 0, 2), "UTF8") != 0) {
        return failure_set(failure, STATUS_UNSUPPORTED, "database_encoding",
                           "The database must have the encoding UTF8; it has %s.", PQgetvalue(result, 0, 2));
    }
    if (writes && strcmp(PQgetvalue(result, 0, 0), "on") != 0) {
        return failure_set(failure, STATUS_UNSUPPORTED, "database_not_durable",
                           "The server runs with fsync=off and may lose what it has acknowledged; set fsync=on.");
    }
    if (writes && strcmp(PQgetvalue(result, 0, 1), "on") != 0) {
        log_warn("postgres_full_page_writes_off", LOG_TEXT("risk", SLICE("torn pages after a crash of the machine")));
    }
    return STATUS_OK;
}

static enum status settings_apply(PGconn *connection, bool writes, int64_t busy_ms, struct failure *failure)
{
    char busy[24];
    snprintf(busy, sizeof busy, "%lldms", (long long)(busy_ms > 0 ? busy_ms : BUSY_DEFAULT_MS));
    const char *values[] = {busy};
    PGresult *result = PQexecParams(connection, settings_text, 1, NULL, values, NULL, NULL, 0);
    enum status status = settings_judge(connection, result, writes, failure);
    PQclear(result);
    return status;
}

/* What stands before the URL is a default, what stands behind it cannot be changed by it. */
enum status postgres_connect(const char *url, bool writes, int64_t busy_ms, PGconn **out, struct failure *failure)
{
    const char *const keys[] = {"connect_timeout",     "keepalives_idle",
                                "keepalives_interval", "keepalives_count",
                                "tcp_user_timeout",    "target_session_attrs",
                                "application_name",    "dbname",
                                "client_encoding",     NULL};
    const char *const values[] = {"5",       "15", "5",    "3", "30000", writes ? "read-write" : "any",
                                  "sojourn", url,  "UTF8", NULL};
    PGconn *connection = PQconnectdbParams(keys, values, 1);
    enum status status = STATUS_OK;
    if (PQstatus(connection) != CONNECTION_OK) {
        status = trouble_from_connection(connection, failure);
    } else {
        PQsetNoticeReceiver(connection, notice_ignore, NULL);
        status = settings_apply(connection, writes, busy_ms, failure);
    }
    if (status != STATUS_OK) {
        PQfinish(connection);
        return status;
    }
    *out = connection;
    return STATUS_OK;
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
    postgres->broken = postgres->farewell = false;
    pipeline_reset(postgres);
}

static void backend_note(struct postgres *postgres)
{
    PGresult *result =
        PQexec(postgres->connection, "select backend_start::text from pg_stat_activity where pid = pg_backend_pid()");
    postgres->backend.pid = PQbackendPID(postgres->connection);
    snprintf(postgres->backend.started, sizeof postgres->backend.started, "%s",
             PQntuples(result) > 0 ? PQgetvalue(result, 0, 0) : "");
    PQclear(result);
}

int64_t monotonic_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static enum status connect_anew(struct postgres *postgres, struct failure *failure)
{
    enum status status =
        postgres_connect(postgres->url, !postgres->read_only, postgres->busy_ms, &postgres->connection, failure);
    if (status == STATUS_OK) {
        PQsetNoticeReceiver(postgres->connection, notice_take, postgres);
        backend_note(postgres);
        PQenterPipelineMode(postgres->connection);
        status = postgres->prepared ? statements_prepare(postgres, failure) : STATUS_OK;
    }
    if (status != STATUS_OK) {
        disconnect(postgres);
    }
    return status;
}

/* A server that hangs costs an attempt of seconds. Those who wait for this connection must not wait for an attempt
 * each, one after the other: for a moment they are told what the last one was told. */
enum status postgres_ensure(struct postgres *postgres, struct failure *failure)
{
    if (is_alive(postgres)) {
        return STATUS_OK;
    }
    disconnect(postgres);
    int64_t started_ms = monotonic_ms();
    if (started_ms < postgres->unreachable_until_ms) {
        if (failure) {
            *failure = postgres->unreachable;
        }
        return postgres->unreachable.status;
    }
    struct failure trouble = {0};
    enum status status = connect_anew(postgres, &trouble);
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

static void postgres_close(struct db *db)
{
    struct postgres *postgres = (struct postgres *)db;
    transaction_rollback(db);
    disconnect(postgres);
    for (int i = 0; i < postgres->gather_count; i++) {
        gather_release(&postgres->gathers[i]);
    }
    touches_release(&postgres->touches);
    running_free_all(postgres->spare);
    free(postgres->expected);
    free(postgres->url);
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
    .begin = transaction_begin,
    .commit = transaction_commit,
    .rollback = transaction_rollback,
    .begin_read = transaction_begin_read,
    .end_read = transaction_end_read,
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
    postgres->url = strdup(options->url);
    postgres->read_only = options->read_only;
    postgres->busy_ms = options->busy_ms;
    postgres->query_ms = options->read_only ? options->query_ms : 0;
    statements_init(postgres);
    enum status status = postgres_ensure(postgres, failure);
    if (status != STATUS_OK) {
        postgres_close(&postgres->db);
        return status;
    }
    *out = &postgres->db;
    return STATUS_OK;
}

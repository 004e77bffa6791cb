#include <stdio.h>
#include <time.h>

#include "store/postgres/connection.h"

enum { WAIT_FOR_SERVER_MS = 5000, RETRY_EVERY_MS = 50 };

void witness_take(struct witness *witness, int64_t tenant_key, int64_t session_key, const struct event *event)
{
    if (witness->present) {
        return;
    }
    *witness = (struct witness){
        .present = true,
        .tenant_key = tenant_key,
        .session_key = session_key,
        .sequence = event->sequence,
    };
}

/* The old process may still run what it had received when the connection broke, so it must be gone before the look at
 * the table means anything. True once it is. */
static bool backend_end(struct postgres *postgres, const struct backend *old)
{
    char text[256];
    struct mishap mishap;
    struct failure unheard;
    PGresult *answer;
    /* CASE, because the conditions of WHERE are evaluated in any order and would end every process. */
    snprintf(text, sizeof text,
             "select case when backend_start::text = '%s' then pg_terminate_backend(pid, %d) else true end"
             " from pg_stat_activity where pid = %d",
             old->started, WAIT_FOR_SERVER_MS, old->pid);
    pipeline_command(postgres, text, EXPECT_QUESTION);
    if (pipeline_settle(postgres, &answer, &mishap, &unheard) != STATUS_OK) {
        return false;
    }
    bool gone = PQntuples(answer) == 0 || column_i64(answer, 0, 0) == 1;
    PQclear(answer);
    return gone;
}

static enum status witness_find(struct postgres *postgres, const struct witness *witness, bool *out_found)
{
    struct query query = {.db = &postgres->db, .sql = SQL_EVENT_BATCH};
    bool row = false;
    postgres_start(&query);
    postgres_bind_i64(&query, witness->tenant_key);
    postgres_bind_i64(&query, witness->session_key);
    postgres_bind_i64(&query, witness->sequence);
    enum status status = postgres_step(&query, &row, NULL);
    *out_found = status == STATUS_OK && row && postgres_get_i64(&query, 0) == postgres->batch;
    postgres_end(&query);
    return status;
}

static enum status session_is_deleted(struct postgres *postgres, const struct witness *witness, bool *out_deleted)
{
    struct query query = {.db = &postgres->db, .sql = SQL_EVENT_SESSION_DELETED};
    postgres_start(&query);
    postgres_bind_i64(&query, witness->tenant_key);
    postgres_bind_i64(&query, witness->session_key);
    enum status status = postgres_step(&query, out_deleted, NULL);
    postgres_end(&query);
    return status;
}

enum outcome { OUTCOME_ASK_AGAIN, OUTCOME_WRITTEN, OUTCOME_NOT_WRITTEN, OUTCOME_UNKNOWABLE };

/* A witness that is not there proves nothing when somebody has deleted its session since. */
static enum outcome look(struct postgres *postgres, const struct backend *old)
{
    struct failure unheard;
    bool written = false, deleted = false;
    if (postgres_ensure(postgres, &unheard) != STATUS_OK || !backend_end(postgres, old) ||
        witness_find(postgres, &postgres->witness, &written) != STATUS_OK ||
        session_is_deleted(postgres, &postgres->witness, &deleted) != STATUS_OK) {
        return OUTCOME_ASK_AGAIN;
    }
    if (written) {
        return OUTCOME_WRITTEN;
    }
    return deleted ? OUTCOME_UNKNOWABLE : OUTCOME_NOT_WRITTEN;
}

enum status outcome_find(struct postgres *postgres, struct failure *failure)
{
    struct backend old = postgres->backend;
    int64_t deadline_ms = monotonic_ms() + WAIT_FOR_SERVER_MS;
    enum outcome outcome = postgres->witness.present ? OUTCOME_ASK_AGAIN : OUTCOME_UNKNOWABLE;
    while (outcome == OUTCOME_ASK_AGAIN && monotonic_ms() < deadline_ms) {
        outcome = look(postgres, &old);
        if (outcome == OUTCOME_ASK_AGAIN) {
            nanosleep(&(struct timespec){.tv_nsec = RETRY_EVERY_MS * 1000000L}, NULL);
        }
    }
    switch (outcome) {
    case OUTCOME_WRITTEN:
        return STATUS_OK;
    case OUTCOME_NOT_WRITTEN:
        return failure_set(failure, STATUS_UNAVAILABLE, "storage_failed",
                           "The connection to PostgreSQL broke during the commit; nothing was written.");
    case OUTCOME_ASK_AGAIN:
    case OUTCOME_UNKNOWABLE:
        break;
    }
    return failure_set(
        failure, STATUS_UNCERTAIN, "commit_unknown",
        "The connection to PostgreSQL broke during the commit; whether it was written is not known. Read "
        "before you try again.");
}

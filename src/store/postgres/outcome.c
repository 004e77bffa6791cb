#include <stdio.h>
#include <time.h>

#include "store/postgres/connection.h"

enum { WAIT_FOR_SERVER_MS = 5000, RETRY_EVERY_MS = 50 };

static uint64_t event_hash(struct slice type, struct slice actor, struct slice content, struct slice metadata)
{
    return ((slice_hash(type) * 31 + slice_hash(actor)) * 31 + slice_hash(content)) * 31 + slice_hash(metadata);
}

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
        .at_ms = event->at_ms,
        .hash = event_hash(event->type, event->actor, event->content, event->metadata),
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

static bool row_matches(struct query *query, const struct witness *witness)
{
    return postgres_get_i64(query, 1) == witness->at_ms &&
           event_hash(postgres_get_text(query, 2), postgres_get_text(query, 8), postgres_get_text(query, 4),
                      postgres_get_text(query, 5)) == witness->hash;
}

static enum status witness_find(struct postgres *postgres, const struct witness *witness, bool *out_found)
{
    struct query query = {.db = &postgres->db, .sql = SQL_EVENT_READ};
    bool row = false;
    postgres_start(&query);
    postgres_bind_i64(&query, witness->tenant_key);
    postgres_bind_i64(&query, witness->session_key);
    postgres_bind_i64(&query, witness->sequence - 1);
    postgres_bind_i64(&query, witness->sequence + 1);
    postgres_bind_i64(&query, 1);
    enum status status = postgres_step(&query, &row, NULL);
    *out_found = status == STATUS_OK && row && row_matches(&query, witness);
    postgres_end(&query);
    return status;
}

static enum status session_find(struct postgres *postgres, const struct witness *witness, bool *out_found)
{
    struct query query = {.db = &postgres->db, .sql = SQL_SESSION_BY_KEY};
    postgres_start(&query);
    postgres_bind_i64(&query, witness->tenant_key);
    postgres_bind_i64(&query, witness->session_key);
    enum status status = postgres_step(&query, out_found, NULL);
    postgres_end(&query);
    return status;
}

enum outcome { OUTCOME_ASK_AGAIN, OUTCOME_WRITTEN, OUTCOME_NOT_WRITTEN, OUTCOME_UNKNOWABLE };

/* Without its session the witness proves nothing: somebody may have deleted both since. */
static enum outcome look(struct postgres *postgres, const struct backend *old)
{
    struct failure unheard;
    bool written = false, session_exists = false;
    if (postgres_ensure(postgres, &unheard) != STATUS_OK || !backend_end(postgres, old) ||
        witness_find(postgres, &postgres->witness, &written) != STATUS_OK ||
        session_find(postgres, &postgres->witness, &session_exists) != STATUS_OK) {
        return OUTCOME_ASK_AGAIN;
    }
    if (written) {
        return OUTCOME_WRITTEN;
    }
    return session_exists ? OUTCOME_NOT_WRITTEN : OUTCOME_UNKNOWABLE;
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

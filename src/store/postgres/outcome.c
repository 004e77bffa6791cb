#include <stdio.h>
#include <time.h>

#include "store/postgres/connection.h"

enum { END_WAIT_MS = 5000, RETRY_EVERY_MS = 50 };

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

/* What the old connection's process does at the server. */
enum remains { REMAINS_UNKNOWN, REMAINS_GONE, REMAINS_WORKING, REMAINS_WAITING_FOR_STANDBYS };

/* One that waits for this client or for a lock is ended: nothing it does can be a commit. One that waits for the
 * standbys is left alone, because its end would show rows to everybody that no standby has; one that works may begin to
 * wait. */
static enum remains remains_see(struct postgres *postgres, const struct backend *old)
{
    char text[400];
    struct pipeline_error pipeline_error;
    struct failure unheard;
    PGresult *answer;
    /* CASE, because the conditions of WHERE are evaluated in any order and would end every process. */
    snprintf(text, sizeof text,
             "select case when " BACKEND_STARTED " <> '%s' or pid = pg_backend_pid() then %d"
             " when wait_event = 'SyncRep' then %d"
             " when wait_event_type in ('Client', 'Lock') and pg_terminate_backend(pid, %d) then %d else %d end::bigint"
             " from pg_stat_activity where pid = %d",
             old->started, REMAINS_GONE, REMAINS_WAITING_FOR_STANDBYS, END_WAIT_MS, REMAINS_GONE, REMAINS_WORKING,
             old->pid);
    pipeline_command(postgres, text, EXPECT_QUESTION);
    if (pipeline_sync(postgres, &answer, &pipeline_error, &unheard) != STATUS_OK) {
        return REMAINS_UNKNOWN;
    }
    enum remains remains = PQntuples(answer) == 0 ? REMAINS_GONE : (enum remains)column_i64(answer, 0, 0);
    PQclear(answer);
    return remains;
}

static enum status witness_find(struct postgres *postgres, const struct witness *witness, bool *out_found)
{
    struct query query;
    bool row = false;
    query_start(&query, &postgres->db,
                sql_event_batch(.tenant_key = witness->tenant_key, .session_key = witness->session_key,
                                .sequence = witness->sequence));
    enum status status = postgres_step(&query, &row, NULL);
    *out_found = status == STATUS_OK && row && postgres_get_i64(&query, EVENT_BATCH_COLUMN_BATCH) == postgres->batch;
    postgres_end(&query);
    return status;
}

static enum status session_is_deleted(struct postgres *postgres, const struct witness *witness, bool *out_deleted)
{
    struct query query;
    query_start(&query, &postgres->db,
                sql_event_session_deleted(.tenant_key = witness->tenant_key, .session_key = witness->session_key));
    enum status status = postgres_step(&query, out_deleted, NULL);
    postgres_end(&query);
    return status;
}

enum outcome { OUTCOME_ASK_AGAIN, OUTCOME_WRITTEN, OUTCOME_NOT_WRITTEN, OUTCOME_UNKNOWABLE };

/* A witness that is not there proves nothing when somebody has deleted its session since. */
static enum outcome witness_judge(struct postgres *postgres)
{
    bool written = false, deleted = false;
    if (!postgres->witness.present) {
        return OUTCOME_UNKNOWABLE;
    }
    if (witness_find(postgres, &postgres->witness, &written) != STATUS_OK ||
        session_is_deleted(postgres, &postgres->witness, &deleted) != STATUS_OK) {
        return OUTCOME_ASK_AGAIN;
    }
    if (written) {
        return OUTCOME_WRITTEN;
    }
    return deleted ? OUTCOME_UNKNOWABLE : OUTCOME_NOT_WRITTEN;
}

struct search {
    struct backend old;
    enum remains remains; /* when it was last seen */
    bool doubted;
};

/* From here on rows may be seen that no standby has, by whoever reads: nobody of this process does before a commit that
 * is later is confirmed. */
static void doubt(struct postgres *postgres, struct search *search)
{
    if (!search->doubted) {
        search->doubted = postgres->confirmed.tells = true;
        confirmation_doubt();
    }
}

/* The old process may still run what it had received when the connection broke, so it must be over before a look at the
 * table means anything. The look itself, as every question, begins with a confirmed commit, which is later than what
 * the process did. */
static enum outcome look(struct postgres *postgres, struct search *search)
{
    struct failure unheard;
    search->remains = REMAINS_UNKNOWN;
    if (postgres_reach(postgres, &unheard) == STATUS_OK) {
        search->remains = remains_see(postgres, &search->old);
    }
    if (search->remains != REMAINS_GONE) {
        return OUTCOME_ASK_AGAIN;
    }
    doubt(postgres, search);
    return witness_judge(postgres);
}

static enum outcome search_until(struct postgres *postgres, struct search *search, int64_t deadline_ms)
{
    enum outcome outcome = look(postgres, search);
    while (outcome == OUTCOME_ASK_AGAIN && monotonic_ms() < deadline_ms) {
        nanosleep(&(struct timespec){.tv_nsec = RETRY_EVERY_MS * 1000000L}, NULL);
        outcome = look(postgres, search);
    }
    return outcome;
}

static enum status not_known(struct failure *failure)
{
    return failure_set(failure, STATUS_UNCERTAIN, "commit_unknown",
                       "PostgreSQL did not confirm the commit; whether it was written, and will stay, is not known. "
                       "Read before you try again.");
}

static bool is_confirmed(struct postgres *postgres)
{
    struct failure unheard;
    return pipeline_works(postgres) &&
           (confirmation_stands(postgres) || confirmation_seek(postgres, &unheard) == STATUS_OK);
}

enum status outcome_find(struct postgres *postgres, struct failure *failure)
{
    struct search search = {.old = postgres->greeting.backend};
    enum outcome outcome = search_until(postgres, &search, monotonic_ms() + postgres->terms.outcome_ms);
    if (search.remains == REMAINS_WAITING_FOR_STANDBYS) {
        postgres->left_committing = search.old; /* nobody sees what it wrote while it waits */
        return not_known(failure);
    }
    doubt(postgres, &search);
    if (!is_confirmed(postgres)) {
        return not_known(failure);
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
    return not_known(failure);
}

bool outcome_is_hidden(struct postgres *postgres, const struct backend *left)
{
    return left->pid && remains_see(postgres, left) == REMAINS_WAITING_FOR_STANDBYS;
}

enum status outcome_of_warning(struct postgres *postgres, struct failure *failure)
{
    struct search search = {.remains = REMAINS_GONE};
    doubt(postgres, &search);
    return is_confirmed(postgres) ? STATUS_OK : not_known(failure);
}

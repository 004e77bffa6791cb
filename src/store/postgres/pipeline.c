
#include "base/log.h"
#include "store/postgres/connection.h"

bool pipeline_works(const struct postgres *postgres)
{
    return postgres->connection && !postgres->broken && PQstatus(postgres->connection) == CONNECTION_OK;
}

void pipeline_expect(struct postgres *postgres, int sent, enum expected expected)
{
    postgres->broken |= !sent;
    if (postgres->expected_count == postgres->expected_room) {
        postgres->expected_room = postgres->expected_room ? postgres->expected_room * 2 : 64;
        postgres->expected = memory_resize(postgres->expected, postgres->expected_room);
    }
    postgres->expected[postgres->expected_count++] = (unsigned char)expected;
}

void pipeline_command(struct postgres *postgres, const char *text, enum expected expected)
{
    int sent = PQsendQueryParams(postgres->connection, text, 0, NULL, NULL, NULL, NULL, 1);
    pipeline_expect(postgres, sent, expected);
}

void pipeline_part(struct postgres *postgres)
{
    int sent = PQpipelineSync(postgres->connection);
    pipeline_expect(postgres, sent, EXPECT_SYNC);
}

void pipeline_reset(struct postgres *postgres)
{
    postgres->expected_count = 0;
}

static PGresult *take(struct postgres *postgres)
{
    if (pipeline_works(postgres) && !answer_wait(postgres->connection, postgres->silence_ms)) {
        postgres->broken = postgres->silent = true;
    }
    return postgres->silent ? NULL : PQgetResult(postgres->connection);
}

PGresult *pipeline_next(struct postgres *postgres, enum expected expected)
{
    PGresult *result = take(postgres);
    PGresult *more;
    while (expected != EXPECT_SYNC && result && (more = take(postgres))) {
        PQclear(more);
    }
    return result;
}

static bool result_is_error(const PGresult *result)
{
    ExecStatusType status = PQresultStatus(result);
    return status == PGRES_FATAL_ERROR || status == PGRES_NONFATAL_ERROR || status == PGRES_BAD_RESPONSE;
}

static enum trouble_place place_of(const struct postgres *postgres, enum expected at)
{
    if (at == EXPECT_COMMIT) {
        return TROUBLE_COMMIT;
    }
    if (postgres->transaction != TRANSACTION_WRITING) {
        return TROUBLE_READING;
    }
    return at == EXPECT_QUESTION ? TROUBLE_WAITED : TROUBLE_DEFERRED;
}

/* The server answers the commit of a transaction that had failed with ROLLBACK, and no error. */
static bool is_committed(PGresult *result)
{
    return PQresultStatus(result) == PGRES_COMMAND_OK && strcmp(PQcmdStatus(result), "COMMIT") == 0;
}

static enum status result_judge(struct postgres *postgres, PGresult *result, enum expected at,
                                struct pipeline_error *pipeline_error, struct failure *failure)
{
    struct failure unheard;
    bool explained = result && PQresultErrorField(result, PG_DIAG_SQLSTATE);
    if (!result || !result_is_error(result)) {
        if (result && at == EXPECT_COMMIT) {
            pipeline_error->committed = is_committed(result);
            pipeline_error->warned = postgres->warned;
        }
        return STATUS_OK;
    }
    if (at == EXPECT_LEFTOVER) {
        if (explained) {
            trouble_from_result(result, TROUBLE_READING, &unheard);
            log_warn("postgres_leftover_failed", LOG_TEXT("detail", slice_of(unheard.detail)));
        }
        return STATUS_OK;
    }
    pipeline_error->at = at;
    pipeline_error->explained = explained;
    pipeline_error->rolled_back = trouble_ends_transaction(result);
    return trouble_from_result(result, place_of(postgres, at), failure);
}

/* Empty where no commit waits for standbys: then there is nothing to ask for a while. */
static void seen_take(struct postgres *postgres, const PGresult *result)
{
    enum { ALONE_MS = 1000 };
    postgres->seen.len = 0;
    if (PQntuples(result) == 1) {
        buffer_add(&postgres->seen, slice_from(PQgetvalue(result, 0, 0), (size_t)PQgetlength(result, 0, 0)));
    }
    postgres->alone_until_ms = postgres->seen.len ? 0 : monotonic_ms() + ALONE_MS;
}

bool pipeline_look(struct postgres *postgres)
{
    if (monotonic_ms() < postgres->alone_until_ms) {
        return false;
    }
    pipeline_command(postgres,
                     "select case when current_setting('synchronous_standby_names') = '' then '' else"
                     " pg_current_snapshot()::text || ' ' || coalesce(pg_current_xact_id_if_assigned()::text, '') end",
                     EXPECT_SNAPSHOT);
    return true;
}

static enum status loss_judge(const struct postgres *postgres, struct failure *failure)
{
    return postgres->silent ? trouble_from_silence(postgres->silence_ms, failure)
                            : trouble_from_connection(postgres->connection, failure);
}

enum status pipeline_sync(struct postgres *postgres, PGresult **out_answer, struct pipeline_error *out_mishap,
                          struct failure *failure)
{
    enum status status = STATUS_OK;
    PGresult *answer = NULL;
    *out_mishap = (struct pipeline_error){.at = EXPECT_SYNC};
    pipeline_part(postgres);
    for (size_t i = 0; i < postgres->expected_count && pipeline_works(postgres); i++) {
        enum expected at = postgres->expected[i];
        postgres->warned = false; /* a warning stands before the answer it belongs to */
        PGresult *result = pipeline_next(postgres, at);
        if (status == STATUS_OK) {
            status = result_judge(postgres, result, at, out_mishap, failure);
        }
        if (at == EXPECT_SNAPSHOT && status == STATUS_OK) {
            seen_take(postgres, result);
        }
        if (at == EXPECT_QUESTION && status == STATUS_OK && !answer) {
            answer = result;
        } else {
            PQclear(result);
        }
    }
    pipeline_reset(postgres);
    out_mishap->lost = !pipeline_works(postgres);
    if (out_mishap->lost && status == STATUS_OK) {
        status = loss_judge(postgres, failure);
    }
    out_mishap->explained |= postgres->farewell;
    if (status != STATUS_OK || !out_answer) {
        PQclear(answer);
        answer = NULL;
    }
    if (out_answer) {
        *out_answer = answer;
    }
    return status;
}

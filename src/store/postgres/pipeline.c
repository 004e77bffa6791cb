
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

PGresult *pipeline_next(PGconn *connection, enum expected expected)
{
    PGresult *result = PQgetResult(connection);
    PGresult *more;
    while (expected != EXPECT_SYNC && result && (more = PQgetResult(connection))) {
        PQclear(more);
    }
    return result;
}

static bool result_is_error(const PGresult *result)
{
    ExecStatusType status = PQresultStatus(result);
    return status == PGRES_FATAL_ERROR || status == PGRES_NONFATAL_ERROR || status == PGRES_BAD_RESPONSE;
}

static enum status result_judge(const PGresult *result, enum expected at, struct mishap *mishap,
                                struct failure *failure)
{
    struct failure unheard;
    bool explained = result && PQresultErrorField(result, PG_DIAG_SQLSTATE);
    if (!result || !result_is_error(result)) {
        mishap->committed |= result && at == EXPECT_COMMIT && PQresultStatus(result) == PGRES_COMMAND_OK;
        return STATUS_OK;
    }
    if (at == EXPECT_LEFTOVER) {
        if (explained) {
            trouble_from_result(result, false, &unheard);
            log_warn("postgres_leftover_failed", LOG_TEXT("detail", slice_of(unheard.detail)));
        }
        return STATUS_OK;
    }
    mishap->at = at;
    mishap->explained = explained;
    return trouble_from_result(result, at == EXPECT_QUESTION, failure);
}

enum status pipeline_settle(struct postgres *postgres, PGresult **out_answer, struct mishap *out_mishap,
                            struct failure *failure)
{
    enum status status = STATUS_OK;
    PGresult *answer = NULL;
    *out_mishap = (struct mishap){.at = EXPECT_SYNC};
    pipeline_part(postgres);
    for (size_t i = 0; i < postgres->expected_count && pipeline_works(postgres); i++) {
        enum expected at = postgres->expected[i];
        PGresult *result = pipeline_next(postgres->connection, at);
        if (status == STATUS_OK) {
            status = result_judge(result, at, out_mishap, failure);
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
        status = trouble_from_connection(postgres->connection, failure);
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

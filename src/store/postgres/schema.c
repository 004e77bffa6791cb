#include "store/postgres/connection.h"

/* All nodes agree on this number; the value means nothing. */
#define MIGRATION_LOCK "7203041117"

static enum status ask_number(struct postgres *postgres, const char *text, int64_t *out, struct failure *failure)
{
    struct pipeline_error pipeline_error;
    PGresult *answer;
    postgres_tx_open(postgres);
    pipeline_command(postgres, text, EXPECT_QUESTION);
    enum status status = pipeline_sync(postgres, &answer, &pipeline_error, failure);
    if (status == STATUS_OK) {
        *out = PQntuples(answer) > 0 ? column_i64(answer, 0, 0) : 0;
        PQclear(answer);
    }
    return status;
}

/* A migration of a large table may take its time; the nodes that start meanwhile wait for it. */
static void lock_schema(struct postgres *postgres)
{
    postgres_tx_open(postgres);
    pipeline_command(postgres, "set local lock_timeout = 0", EXPECT_DEFERRED);
    pipeline_command(postgres, "select pg_advisory_xact_lock(" MIGRATION_LOCK ")", EXPECT_DEFERRED);
}

enum status postgres_schema_version(struct db *db, int64_t *out, struct failure *failure)
{
    struct postgres *postgres = (struct postgres *)db;
    int64_t has_meta = 0;
    if (postgres->transaction == TRANSACTION_WRITING) {
        lock_schema(postgres);
    }
    *out = 0;
    enum status status =
        ask_number(postgres, "select (to_regclass('meta') is not null)::int::bigint", &has_meta, failure);
    if (status != STATUS_OK || !has_meta) {
        return status;
    }
    return ask_number(postgres, "select value::bigint from meta where name = 'schema_version'", out, failure);
}

/* Several statements in one text exist only outside of the pipeline. */
enum status postgres_script(struct db *db, const char *sql, struct failure *failure)
{
    struct postgres *postgres = (struct postgres *)db;
    struct pipeline_error pipeline_error;
    postgres_tx_open(postgres);
    enum status status = pipeline_sync(postgres, NULL, &pipeline_error, failure);
    if (status != STATUS_OK) {
        return status;
    }
    PQexitPipelineMode(postgres->connection);
    PGresult *result = PQexec(postgres->connection, sql);
    if (PQresultStatus(result) != PGRES_COMMAND_OK && PQresultStatus(result) != PGRES_TUPLES_OK) {
        status = trouble_from_result(result, TROUBLE_READING, failure);
    }
    PQclear(result);
    PQenterPipelineMode(postgres->connection);
    return status;
}

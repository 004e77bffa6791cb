#include <ctype.h>
#include <stdio.h>

#include "store/postgres/connection.h"

static bool starts_with(const char *text, const char *beginning)
{
    return strncasecmp(text, beginning, strlen(beginning)) == 0;
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static bool names_table(const char *text, const char *table)
{
    size_t len = strlen(table);
    for (const char *at = strcasestr(text, table); at; at = strcasestr(at + len, table)) {
        if (!is_word(at[len]) && (at == text || !is_word(at[-1]))) {
            return true;
        }
    }
    return false;
}

static void gather_init(struct postgres *postgres, enum sql sql, const char *text)
{
    struct gather *gather = &postgres->gathers[postgres->gather_count];
    bool updates = starts_with(text, "update ");
    const char *table = text + strlen(updates ? "update " : "insert into ");
    size_t len = 0;
    while (is_word(table[len]) && len < sizeof gather->table - 1) {
        len++;
    }
    *gather = (struct gather){.sql = sql, .updates = updates, .parameter_count = sql_texts[sql].parameter_count};
    memcpy(gather->table, table, len);
    postgres->statements[sql].gather = postgres->gather_count++;
}

/* An error on a key that exists must not cost the whole group; `on conflict` never raises it. */
static bool may_meet_key(const char *text)
{
    return strcasestr(text, "insert into") && !strcasestr(text, "on conflict");
}

static void statement_init(struct postgres *postgres, enum sql sql, const char *text)
{
    struct statement *statement = &postgres->statements[sql];
    *statement = (struct statement){.gather = -1, .parameter_count = sql_texts[sql].parameter_count};
    snprintf(statement->name, sizeof statement->name, "s%d", (int)sql);
    if (starts_with(text, "update ")) {
        snprintf(statement->guarded_name, sizeof statement->guarded_name, "g%d", (int)sql);
    }
    statement->savepoint = may_meet_key(text);
    statement->erases_events = starts_with(text, "delete from events");
    if (strstr(text, "unnest($1") && postgres->gather_count < GATHERS_MAX) {
        gather_init(postgres, sql, text);
    }
}

void statements_init(struct postgres *postgres)
{
    postgres->gather_count = 0;
    for (int sql = 0; sql < SQL_COUNT; sql++) {
        if (sql_texts[sql].postgres) {
            statement_init(postgres, (enum sql)sql, sql_texts[sql].postgres);
        }
    }
    for (int sql = 0; sql < SQL_COUNT; sql++) {
        for (int i = 0; sql_texts[sql].postgres && i < postgres->gather_count; i++) {
            bool named = names_table(sql_texts[sql].postgres, postgres->gathers[i].table);
            postgres->statements[sql].needs_flush |= named ? 1u << i : 0;
        }
    }
}

/* COMMIT stands behind the guarded statement in the same pipeline, so a missing row must be an error by itself: it
 * divides by zero, and the server skips the rest. */
static void guarded_write(struct buffer *to, const char *text, bool gathered)
{
    buffer_format(to, "with guarded as (%s returning 1) select 1 / (count(*) = %s)::int from guarded", text,
                  gathered ? "cardinality($1)" : "1");
    buffer_add_byte(to, '\0');
}

static void prepare_send(struct postgres *postgres, enum sql sql)
{
    struct statement *statement = &postgres->statements[sql];
    const char *text = sql_texts[sql].postgres;
    int sent = PQsendPrepare(postgres->connection, statement->name, text, 0, NULL);
    if (statement->guarded_name[0]) {
        struct buffer guarded = {0};
        guarded_write(&guarded, text, statement->gather >= 0);
        sent &= PQsendPrepare(postgres->connection, statement->guarded_name, guarded.ptr, 0, NULL);
        buffer_release(&guarded);
    }
    sent &= PQsendDescribePrepared(postgres->connection, statement->name);
    postgres->broken |= !sent;
}

static enum status describe_judge(struct postgres *postgres, enum sql sql, const PGresult *result,
                                  struct failure *failure)
{
    struct statement *statement = &postgres->statements[sql];
    int count = PQnparams(result);
    if (count != statement->parameter_count || count > PARAMETERS_MAX) {
        return failure_set(failure, STATUS_INTERNAL, "storage_bug", "Statement %s has %d parameters, not %d.",
                           sql_texts[sql].name, count, statement->parameter_count);
    }
    for (int i = 0; i < count; i++) {
        Oid type = PQparamtype(result, i);
        statement->parameter_types[i] = type;
        if ((array_element_type(type) != 0) != (statement->gather >= 0)) {
            return failure_set(failure, STATUS_INTERNAL, "storage_bug", "Statement %s: $%d must %sbe an array.",
                               sql_texts[sql].name, i + 1, statement->gather >= 0 ? "" : "not ");
        }
    }
    for (int i = 0; i < PQnfields(result); i++) {
        if (!column_is_readable(PQftype(result, i))) {
            return failure_set(failure, STATUS_INTERNAL, "storage_bug", "Statement %s: column %d has type %u.",
                               sql_texts[sql].name, i, PQftype(result, i));
        }
    }
    return STATUS_OK;
}

static enum status prepare_read(struct postgres *postgres, enum sql sql, struct failure *failure)
{
    int results = postgres->statements[sql].guarded_name[0] ? 3 : 2;
    struct failure cause = {0};
    enum status status = STATUS_OK;
    for (int i = 1; i <= results; i++) {
        PGresult *result = pipeline_next(postgres, EXPECT_QUESTION);
        if (status == STATUS_OK && PQresultStatus(result) != PGRES_COMMAND_OK) {
            status = trouble_from_result(result, TROUBLE_READING, &cause);
        } else if (status == STATUS_OK && i == results) {
            status = describe_judge(postgres, sql, result, &cause);
        }
        PQclear(result);
    }
    return status == STATUS_OK
               ? STATUS_OK
               : failure_set(failure, status, cause.code, "Statement %s: %s", sql_texts[sql].name, cause.detail);
}

static enum status all_read(struct postgres *postgres, struct failure *failure)
{
    struct failure first = {0}, skipped;
    for (int sql = 0; sql < SQL_COUNT; sql++) {
        if (sql_texts[sql].postgres && pipeline_works(postgres)) {
            enum status status = prepare_read(postgres, (enum sql)sql, first.status == STATUS_OK ? &first : &skipped);
            first.status = first.status == STATUS_OK ? status : first.status;
        }
    }
    PQclear(pipeline_next(postgres, EXPECT_SYNC));
    if (first.status == STATUS_OK && !pipeline_works(postgres)) {
        return postgres->silent ? trouble_from_silence(postgres->silence_ms, failure)
                                : trouble_from_connection(postgres->connection, failure);
    }
    if (first.status != STATUS_OK && failure) {
        *failure = first;
    }
    return first.status;
}

/* Of a reader, and not before: all statements are prepared under one timeout. */
static enum status limit_queries(struct postgres *postgres, struct failure *failure)
{
    struct pipeline_error pipeline_error;
    char command[64];
    snprintf(command, sizeof command, "set statement_timeout = %lld", (long long)postgres->terms.query_ms);
    pipeline_command(postgres, command, EXPECT_QUESTION);
    return pipeline_sync(postgres, NULL, &pipeline_error, failure);
}

enum status statements_prepare(struct postgres *postgres, struct failure *failure)
{
    struct pipeline_error pipeline_error;
    enum status status = pipeline_sync(postgres, NULL, &pipeline_error, failure);
    if (status != STATUS_OK) {
        return status;
    }
    for (int sql = 0; sql < SQL_COUNT; sql++) {
        if (sql_texts[sql].postgres) {
            prepare_send(postgres, (enum sql)sql);
        }
    }
    PQpipelineSync(postgres->connection);
    status = all_read(postgres, failure);
    return status == STATUS_OK && postgres->terms.query_ms > 0 ? limit_queries(postgres, failure) : status;
}

#include <stdio.h>
#include <stdlib.h>

#include "store/postgres/connection.h"
#include "store/statement.h"

/* A statement between start and end: its parameters, then its answer. */
struct running {
    struct running *next; /* in the free list */
    struct parameter values[PARAMETERS_MAX];
    struct arena texts; /* parameters that must be terminated */
    PGresult *answer;
    int row;
};

static struct postgres *postgres_of(const struct query *query)
{
    return (struct postgres *)query->db;
}

static struct running *running_of(const struct query *query)
{
    return query->engine;
}

static struct statement *statement_of(const struct query *query)
{
    return &postgres_of(query)->statements[query->sql];
}

/* --- sending --- */

static void send_values(struct postgres *postgres, const struct statement *statement, const struct parameter *values,
                        bool guarded, enum expected expected)
{
    const char *bytes[PARAMETERS_MAX];
    int lengths[PARAMETERS_MAX], formats[PARAMETERS_MAX];
    for (int i = 0; i < statement->parameter_count; i++) {
        bytes[i] = parameter_bytes(&values[i]);
        lengths[i] = values[i].len;
        formats[i] = values[i].format;
    }
    int sent = PQsendQueryPrepared(postgres->connection, guarded ? statement->guarded_name : statement->name,
                                   statement->parameter_count, bytes, lengths, formats, 1);
    pipeline_expect(postgres, sent, expected);
}

static void gather_send(struct postgres *postgres, struct gather *gather)
{
    const struct statement *statement = &postgres->statements[gather->sql];
    const char *bytes[PARAMETERS_MAX];
    int lengths[PARAMETERS_MAX], formats[PARAMETERS_MAX];
    for (int i = 0; i < statement->parameter_count; i++) {
        formats[i] = 1;
    }
    gather_write(gather, statement->parameter_types, bytes, lengths);
    postgres_tx_open(postgres);
    int sent = PQsendQueryPrepared(postgres->connection, gather->updates ? statement->guarded_name : statement->name,
                                   statement->parameter_count, bytes, lengths, formats, 1);
    pipeline_expect(postgres, sent, EXPECT_DEFERRED);
    gather_reset(gather);
}

void gathers_send(struct postgres *postgres, unsigned mask)
{
    for (int i = 0; i < postgres->gather_count; i++) {
        if ((mask & 1u << i) && postgres->gathers[i].row_count > 0) {
            gather_send(postgres, &postgres->gathers[i]);
        }
    }
}

void gathers_reset(struct postgres *postgres)
{
    for (int i = 0; i < postgres->gather_count; i++) {
        if (postgres->gathers[i].row_count > 0) {
            gather_reset(&postgres->gathers[i]);
        }
    }
}

/* --- binding --- */

void postgres_start(struct query *query)
{
    struct postgres *postgres = postgres_of(query);
    struct running *running = postgres->spare;
    if (running) {
        postgres->spare = running->next;
    } else {
        running = memory_zeroed(sizeof *running);
    }
    running->row = -1;
    query->engine = running;
    query->bound = 0;
}

/* The type of the next parameter; of one element where rows are gathered. */
static Oid next_type(const struct query *query)
{
    const struct statement *statement = statement_of(query);
    Oid type = statement->parameter_types[query->bound];
    return statement->gather >= 0 ? array_element_type(type) : type;
}

static struct parameter *next_value(struct query *query)
{
    return &running_of(query)->values[query->bound++];
}

void postgres_bind_i64(struct query *query, int64_t number)
{
    Oid type = next_type(query);
    parameter_set_i64(next_value(query), type, number);
}

void postgres_bind_bytes(struct query *query, struct slice bytes)
{
    Oid type = next_type(query);
    parameter_set_bytes(next_value(query), type, bytes, &running_of(query)->texts);
}

void postgres_bind_null(struct query *query)
{
    parameter_set_null(next_value(query));
}

/* --- running --- */

/* Every statement passes here: a failed transaction stays failed, and outside of one the connection may be renewed. */
static enum status admit(struct query *query, struct failure *failure)
{
    struct postgres *postgres = postgres_of(query);
    if (postgres->transaction == TRANSACTION_FAILED) {
        *failure = postgres->trouble;
        return failure->status;
    }
    if (query->bound != statement_of(query)->parameter_count) {
        return failure_set(failure, STATUS_INTERNAL, "storage_bug", "Statement %s got %d parameters of %d.",
                           sql_texts[query->sql].name, query->bound, statement_of(query)->parameter_count);
    }
    if (statement_of(query)->erases_events) {
        postgres->witness.present = false;
    }
    return postgres->transaction == TRANSACTION_IDLE ? postgres_ensure(postgres, failure) : STATUS_OK;
}

static bool savepoint_return(struct postgres *postgres)
{
    struct pipeline_error pipeline_error;
    struct failure failure;
    pipeline_command(postgres, "rollback to waited", EXPECT_DEFERRED);
    pipeline_command(postgres, "release waited", EXPECT_DEFERRED);
    return pipeline_sync(postgres, NULL, &pipeline_error, &failure) == STATUS_OK;
}

/* Sends the statement and waits for its answer. */
static enum status ask(struct query *query, bool guarded, struct failure *failure)
{
    struct postgres *postgres = postgres_of(query);
    const struct statement *statement = statement_of(query);
    struct pipeline_error pipeline_error;
    bool savepoint = (statement->savepoint || guarded) && postgres->transaction == TRANSACTION_WRITING;
    gathers_send(postgres, statement->needs_flush);
    postgres_tx_open(postgres);
    if (savepoint) {
        pipeline_command(postgres, "savepoint waited", EXPECT_DEFERRED);
    }
    send_values(postgres, statement, running_of(query)->values, guarded, EXPECT_QUESTION);
    if (savepoint) {
        pipeline_command(postgres, "release waited", EXPECT_DEFERRED);
    }
    enum status status = pipeline_sync(postgres, &running_of(query)->answer, &pipeline_error, failure);
    bool survives =
        savepoint && pipeline_error.at == EXPECT_QUESTION && !pipeline_error.lost && !pipeline_error.rolled_back;
    if (status != STATUS_OK && !(survives && savepoint_return(postgres))) {
        postgres_tx_fail(postgres, failure);
    }
    return status;
}

static enum status gather_row(struct query *query, struct failure *failure)
{
    struct postgres *postgres = postgres_of(query);
    struct gather *gather = &postgres->gathers[statement_of(query)->gather];
    if (!gather_add(gather, running_of(query)->values)) {
        failure_set(failure, STATUS_STALE, "stale_row", "The row was changed twice from the same sequence.");
        return postgres_tx_fail(postgres, failure);
    }
    if (gather_is_full(gather)) {
        gather_send(postgres, gather);
    }
    return STATUS_OK;
}

/* Queues the statement; what is wrong with it shows at the next question or commit. */
static enum status defer(struct query *query, bool guarded, struct failure *failure)
{
    struct postgres *postgres = postgres_of(query);
    const struct statement *statement = statement_of(query);
    if (statement->gather >= 0) {
        return gather_row(query, failure);
    }
    gathers_send(postgres, statement->needs_flush);
    postgres_tx_open(postgres);
    send_values(postgres, statement, running_of(query)->values, guarded, EXPECT_DEFERRED);
    return STATUS_OK;
}

static enum status run_any(struct query *query, bool guarded, int64_t *out_changed, struct failure *failure)
{
    struct failure local = {0};
    struct postgres *postgres = postgres_of(query);
    bool gathered = statement_of(query)->gather >= 0;
    enum status status = admit(query, &local);
    if (status == STATUS_OK && gathered && postgres->transaction != TRANSACTION_WRITING) {
        status = failure_set(&local, STATUS_INTERNAL, "storage_bug", "Statement %s needs a transaction.",
                             sql_texts[query->sql].name);
    } else if (status == STATUS_OK && (gathered || (!out_changed && postgres->transaction == TRANSACTION_WRITING))) {
        status = defer(query, guarded, &local);
    } else if (status == STATUS_OK) {
        status = ask(query, guarded, &local);
    }
    if (status == STATUS_OK && out_changed) {
        struct running *running = running_of(query);
        *out_changed = running->answer ? atoll(PQcmdTuples(running->answer)) : 1;
    }
    if (status != STATUS_OK && failure) {
        *failure = local;
    }
    return status;
}

enum status postgres_run(struct query *query, int64_t *out_changed, struct failure *failure)
{
    return run_any(query, false, out_changed, failure);
}

enum status postgres_run_guarded(struct query *query, struct failure *failure)
{
    return run_any(query, true, NULL, failure);
}

enum status postgres_step(struct query *query, bool *out_row, struct failure *failure)
{
    struct failure local = {0};
    struct running *running = running_of(query);
    enum status status = STATUS_OK;
    if (running->row < 0) {
        status = admit(query, &local);
        status = status == STATUS_OK ? ask(query, false, &local) : status;
    }
    if (status != STATUS_OK) {
        if (failure) {
            *failure = local;
        }
        return status;
    }
    running->row++;
    *out_row = running->row < PQntuples(running->answer);
    return STATUS_OK;
}

/* --- reading --- */

int64_t postgres_get_i64(struct query *query, int column)
{
    const struct running *running = running_of(query);
    return column_i64(running->answer, running->row, column);
}

struct slice postgres_get_text(struct query *query, int column)
{
    const struct running *running = running_of(query);
    if (PQgetisnull(running->answer, running->row, column)) {
        return (struct slice){0};
    }
    return slice_from(PQgetvalue(running->answer, running->row, column),
                      (size_t)PQgetlength(running->answer, running->row, column));
}

void postgres_end(struct query *query)
{
    struct running *running = running_of(query);
    if (!running) {
        return;
    }
    PQclear(running->answer);
    running->answer = NULL;
    arena_reset(&running->texts);
    running->next = postgres_of(query)->spare;
    postgres_of(query)->spare = running;
    query->engine = NULL;
}

void running_free_all(struct running *spare)
{
    while (spare) {
        struct running *next = spare->next;
        arena_release(&spare->texts);
        free(spare);
        spare = next;
    }
}

/* --- events --- */

/* Once in a transaction, before its first event: readers of the firehose stop before what it may write. */
static enum status positions_announce(struct postgres *postgres, struct failure *failure)
{
    if (postgres->announced) {
        return STATUS_OK;
    }
    postgres->announced = true;
    return statement_run(&postgres->db, sql_event_positions_announce(), NULL, failure);
}

enum status postgres_event_insert(struct db *db, int64_t tenant_key, int64_t session_key, const struct event *event,
                                  struct failure *failure)
{
    enum status status = positions_announce((struct postgres *)db, failure);
    if (status != STATUS_OK) {
        return status;
    }
    status =
        statement_run(db,
                      sql_event_insert(.tenant_key = tenant_key, .session_key = session_key,
                                       .sequence = event->sequence, .at_ms = event->at_ms, .type = event_type(event),
                                       .role = event->role, .content = event->content, .metadata = event->metadata,
                                       .thread_id = event->thread_id, .external_id = event->external_id,
                                       .actor = event->actor, .batch = ((struct postgres *)db)->batch),
                      NULL, failure);
    if (status == STATUS_OK) {
        touches_add(&((struct postgres *)db)->touches, tenant_key, session_key);
        witness_take(&((struct postgres *)db)->witness, tenant_key, session_key, event);
    }
    return status;
}

void postgres_touch(struct db *db, int64_t tenant_key, int64_t session_key)
{
    touches_add(&((struct postgres *)db)->touches, tenant_key, session_key);
}

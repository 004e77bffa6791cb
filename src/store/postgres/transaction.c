#include "store/postgres/connection.h"

static struct postgres *of(struct db *db)
{
    return (struct postgres *)db;
}

static enum status start(struct postgres *postgres, enum transaction transaction, struct failure *failure)
{
    enum status status = postgres_ensure(postgres, failure);
    if (status == STATUS_OK) {
        postgres->transaction = transaction;
        postgres->begun = false;
        postgres->announced = false;
        postgres->batch++;
        postgres->touches.count = 0;
        postgres->seen.len = 0;
        postgres->witness.present = false;
    }
    return status;
}

static void finish(struct postgres *postgres)
{
    postgres->transaction = TRANSACTION_IDLE;
    postgres->begun = false;
    gathers_reset(postgres);
}

/* Nobody waits for the answer: it is read with the next one. */
static void leave(struct postgres *postgres, const char *command)
{
    if (postgres->begun && pipeline_works(postgres)) {
        pipeline_command(postgres, command, EXPECT_LEFTOVER);
        pipeline_part(postgres);
    }
    finish(postgres);
}

void postgres_tx_open(struct postgres *postgres)
{
    static const char *const texts[] = {
        [TRANSACTION_WRITING] = "begin isolation level read committed read write",
        [TRANSACTION_READING] = "begin isolation level repeatable read read only",
    };
    bool due = postgres->transaction == TRANSACTION_WRITING || postgres->transaction == TRANSACTION_READING;
    if (due && !postgres->begun) {
        pipeline_command(postgres, texts[postgres->transaction], EXPECT_DEFERRED);
        postgres->begun = true;
        if (postgres->transaction == TRANSACTION_READING) {
            pipeline_look(postgres);
        }
    }
}

enum status postgres_tx_fail(struct postgres *postgres, const struct failure *failure)
{
    if (postgres->transaction != TRANSACTION_IDLE) {
        postgres->transaction = TRANSACTION_FAILED;
        postgres->trouble = *failure;
    }
    return failure->status;
}

bool postgres_tx_must_run_again(const struct db *db)
{
    const struct postgres *postgres = (const struct postgres *)db;
    return postgres->transaction == TRANSACTION_FAILED && postgres->trouble.status == STATUS_STALE;
}

enum status postgres_tx_begin(struct db *db, struct failure *failure)
{
    return start(of(db), TRANSACTION_WRITING, failure);
}

enum status postgres_tx_begin_read(struct db *db, struct failure *failure)
{
    return start(of(db), TRANSACTION_READING, failure);
}

/* One that writes sees more with every statement, a view is what its first statement saw. */
static enum status look_at_end(struct postgres *postgres, struct failure *failure)
{
    struct pipeline_error pipeline_error;
    bool asks = postgres->transaction == TRANSACTION_WRITING && postgres->begun && pipeline_look(postgres);
    return asks ? pipeline_sync(postgres, NULL, &pipeline_error, failure) : STATUS_OK;
}

enum status postgres_tx_end_read(struct db *db, struct failure *failure)
{
    struct postgres *postgres = of(db);
    enum status status = look_at_end(postgres, failure);
    bool saw = postgres->transaction != TRANSACTION_FAILED && postgres->begun && postgres->seen.len > 0;
    leave(postgres, "rollback");
    return status == STATUS_OK && saw ? postgres_confirm_seen(postgres, failure) : status;
}

void postgres_tx_rollback(struct db *db)
{
    leave(of(db), "rollback");
}

/* Outside of the transaction: inside it, all commits of the server would queue for one lock. */
static void notify(struct postgres *postgres)
{
    if (postgres->touches.count == 0 || !pipeline_works(postgres) || !notify_is_needed()) {
        return;
    }
    struct buffer payload = {0};
    touches_write(&postgres->touches, &payload);
    confirmation_write(&payload);
    buffer_add_byte(&payload, '\0');
    const char *values[] = {payload.ptr};
    int sent = PQsendQueryParams(postgres->connection, "select pg_notify('" NOTIFY_CHANNEL "', $1 || " NOTIFY_OWN ")",
                                 1, NULL, values, NULL, NULL, 1);
    pipeline_expect(postgres, sent, EXPECT_LEFTOVER);
    pipeline_part(postgres);
    buffer_release(&payload);
}

/* The server may have committed and died before its answer arrived, unless it said that it stopped earlier. */
static bool outcome_is_unknown(const struct pipeline_error *pipeline_error, enum status status)
{
    return status == STATUS_UNCERTAIN ||
           (pipeline_error->lost && (!pipeline_error->explained || pipeline_error->at == EXPECT_COMMIT));
}

static enum status send_all(struct postgres *postgres, struct failure *failure)
{
    struct pipeline_error pipeline_error;
    gathers_send(postgres, ~0u);
    if (!postgres->begun) {
        return STATUS_OK;
    }
    pipeline_look(postgres);
    pipeline_command(postgres, "commit", EXPECT_COMMIT);
    enum status status = pipeline_sync(postgres, NULL, &pipeline_error, failure);
    if (pipeline_error.committed && pipeline_error.warned) {
        finish(postgres);
        status = outcome_of_warning(postgres, failure);
    } else if (pipeline_error.committed) {
        status = STATUS_OK;
        confirmation_keep(postgres);
    } else if (outcome_is_unknown(&pipeline_error, status)) {
        finish(postgres);
        status = outcome_find(postgres, failure);
    } else if (status == STATUS_OK) {
        status = failure_set(failure, STATUS_UNAVAILABLE, "storage_failed", "PostgreSQL rolled the transaction back.");
    }
    if (status == STATUS_OK) {
        postgres->begun = false;
        notify(postgres);
    }
    return status;
}

enum status postgres_tx_commit(struct db *db, struct failure *failure)
{
    struct postgres *postgres = of(db);
    struct failure local;
    struct failure *report = failure ? failure : &local;
    enum status status = postgres->trouble.status;
    if (postgres->transaction == TRANSACTION_FAILED) {
        *report = postgres->trouble;
    } else {
        status = send_all(postgres, report);
    }
    leave(postgres, "rollback");
    return status;
}

#include "store/postgres/confirm.h"

#include <stdatomic.h>
#include <stdio.h>

#include "store/postgres/connection.h"

static atomic_llong doubts;

void confirmation_doubt(void)
{
    doubts++;
}

/* What a standby has is on a standby. */
bool confirmation_stands(const struct postgres *postgres)
{
    return postgres->greeting.is_standby ||
           (postgres->confirmed.once && postgres->confirmed.doubts == atomic_load(&doubts));
}

/* A notification alone waits for no standby. Whoever misses it confirms when its own connection is new. */
static void tell_others(struct postgres *postgres)
{
    char text[128];
    snprintf(text, sizeof text, "select pg_notify('" NOTIFY_CHANNEL "', '%.*s " NOTIFY_DOUBT "')",
             SLICE_ARG(notify_origin()));
    pipeline_command(postgres, text, EXPECT_LEFTOVER);
    pipeline_part(postgres);
    postgres->confirmed.tells = !pipeline_works(postgres);
}

/* The message makes the commit one that writes to the log; a bare transaction number would not, and would wait for
 * nobody. */
static enum status commit_something(struct postgres *postgres, struct pipeline_error *pipeline_error,
                                    struct failure *failure)
{
    int64_t usual_ms = postgres->silence_ms;
    pipeline_command(postgres, "begin isolation level read committed read write", EXPECT_DEFERRED);
    pipeline_command(postgres, "select pg_logical_emit_message(true, 'sojourn', '')", EXPECT_DEFERRED);
    pipeline_command(postgres, "commit", EXPECT_COMMIT);
    postgres->silence_ms = postgres->terms.outcome_ms;
    enum status status = pipeline_sync(postgres, NULL, pipeline_error, failure);
    postgres->silence_ms = usual_ms;
    return status;
}

/* Somebody else may have ended the wait of what was left. */
static void look_after_left(struct postgres *postgres)
{
    if (postgres->left_committing.pid && !outcome_is_hidden(postgres)) {
        postgres->left_committing.pid = 0;
        postgres->confirmed.tells = true;
        confirmation_doubt();
    }
}

/* An attempt leaves a process at the server that waits for the standbys; the next one ends it. */
static void end_left(struct postgres *postgres)
{
    char text[200];
    const struct backend *left = &postgres->left_confirming;
    if (left->pid) {
        snprintf(text, sizeof text,
                 "select pg_terminate_backend(pid) from pg_stat_activity where pid = %d and"
                 " case when pid = %d then backend_start::text = '%s' end",
                 left->pid, left->pid, left->started);
        pipeline_command(postgres, text, EXPECT_LEFTOVER);
        pipeline_part(postgres);
        postgres->left_confirming.pid = 0;
    }
}

enum status confirmation_seek(struct postgres *postgres, struct failure *failure)
{
    struct pipeline_error pipeline_error;
    end_left(postgres);
    look_after_left(postgres);
    int64_t known = atomic_load(&doubts);
    if (postgres->confirmed.tells) {
        tell_others(postgres);
    }
    enum status status = commit_something(postgres, &pipeline_error, failure);
    if (postgres->silent) {
        postgres->left_confirming = postgres->greeting.backend;
    }
    if (status != STATUS_OK && !postgres->silent) {
        return status;
    }
    if (status != STATUS_OK || !pipeline_error.committed || pipeline_error.warned) {
        return failure_set(failure, STATUS_UNAVAILABLE, "storage_unconfirmed",
                           "PostgreSQL does not confirm a commit: the standbys it waits for do not answer. Nothing is "
                           "written, nor read where it might be lost, until they do.");
    }
    postgres->left_committing.pid = 0;
    postgres->confirmed.once = true;
    postgres->confirmed.doubts = known;
    return STATUS_OK;
}

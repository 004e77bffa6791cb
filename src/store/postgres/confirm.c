#include "store/postgres/confirm.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "store/postgres/connection.h"
#include "store/postgres/snapshot.h"

static atomic_llong doubts;

/* Of the server that was last spoken with. */
static struct {
    pthread_mutex_t lock;
    char server[sizeof((struct greeting *)NULL)->server];
    struct snapshot confirmed;
} known = {.lock = PTHREAD_MUTEX_INITIALIZER};

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

/* --- what is confirmed --- */

/* A snapshot, and then the transaction it was taken in, if that writes. */
static bool seen_parse(struct slice text, struct snapshot *out, int64_t *out_own)
{
    struct slice snapshot, own;
    slice_cut(text, ' ', &snapshot, &own);
    if (!slice_to_i64(own, out_own)) {
        *out_own = -1;
    }
    return snapshot_parse(snapshot, out);
}

static void known_join(const char *server, const struct snapshot *snapshot)
{
    pthread_mutex_lock(&known.lock);
    if (strcmp(known.server, server) == 0) {
        snapshot_join(&known.confirmed, snapshot);
    } else {
        snprintf(known.server, sizeof known.server, "%s", server);
        known.confirmed = *snapshot;
    }
    pthread_mutex_unlock(&known.lock);
}

void confirmation_keep(struct postgres *postgres)
{
    struct snapshot snapshot;
    int64_t own;
    if (postgres->seen.len > 0 && seen_parse(buffer_slice(&postgres->seen), &snapshot, &own) && own >= 0) {
        snapshot_add(&snapshot, own);
        known_join(postgres->greeting.server, &snapshot);
    }
}

bool confirmation_covers(const struct postgres *postgres)
{
    struct snapshot snapshot;
    int64_t own;
    if (!seen_parse(buffer_slice(&postgres->seen), &snapshot, &own)) {
        return false;
    }
    pthread_mutex_lock(&known.lock);
    bool covers =
        strcmp(known.server, postgres->greeting.server) == 0 && snapshot_is_within(&snapshot, &known.confirmed);
    pthread_mutex_unlock(&known.lock);
    return covers;
}

void confirmation_write(struct buffer *to)
{
    size_t start = to->len;
    pthread_mutex_lock(&known.lock);
    if (known.confirmed.next > 0) {
        buffer_format(to, " =%s/", known.server);
        snapshot_write(&known.confirmed, to);
    }
    pthread_mutex_unlock(&known.lock);
    if (to->len > NOTIFY_PAYLOAD_MAX) {
        to->len = start;
    }
}

static void hear_harmless(const char *server, struct slice number)
{
    int64_t transaction;
    pthread_mutex_lock(&known.lock);
    if (strcmp(known.server, server) == 0 && slice_to_i64(number, &transaction)) {
        snapshot_add(&known.confirmed, transaction);
    }
    pthread_mutex_unlock(&known.lock);
}

bool confirmation_hear(const char *server, struct slice word)
{
    struct slice name, text;
    struct snapshot snapshot;
    if (slice_starts(word, SLICE("+"))) {
        hear_harmless(server, slice_after(word, 1));
        return true;
    }
    if (!slice_starts(word, SLICE("="))) {
        return false;
    }
    if (slice_cut(slice_after(word, 1), '/', &name, &text) && slice_is(name, server) &&
        snapshot_parse(text, &snapshot)) {
        known_join(server, &snapshot);
    }
    return true;
}

/* --- the confirmation --- */

/* A notification alone waits for no standby. Whoever misses it confirms when its own connection is new. */
static void tell_others(struct postgres *postgres)
{
    char text[160];
    snprintf(text, sizeof text, "select pg_notify('" NOTIFY_CHANNEL "', '%.*s " NOTIFY_DOUBT "' || " NOTIFY_OWN ")",
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
    pipeline_look(postgres);
    pipeline_command(postgres, "commit", EXPECT_COMMIT);
    postgres->silence_ms = postgres->terms.outcome_ms;
    enum status status = pipeline_sync(postgres, NULL, pipeline_error, failure);
    postgres->silence_ms = usual_ms;
    return status;
}

/* Somebody else may have ended the wait of what was left. */
static void look_after_left(struct postgres *postgres)
{
    if (postgres->left_committing.pid && !outcome_is_hidden(postgres, &postgres->left_committing)) {
        postgres->left_committing.pid = 0;
        postgres->confirmed.tells = true;
        confirmation_doubt();
    }
}

static enum status unconfirmed(struct failure *failure)
{
    return failure_set(failure, STATUS_UNAVAILABLE, "storage_unconfirmed",
                       "PostgreSQL does not confirm a commit: the standbys it waits for do not answer. Nothing is "
                       "written, nor read where it might be lost, until they do.");
}

enum status confirmation_seek(struct postgres *postgres, struct failure *failure)
{
    struct pipeline_error pipeline_error;
    if (outcome_is_hidden(postgres, &postgres->left_confirming)) {
        return unconfirmed(failure); /* another attempt would wait beside the last one */
    }
    postgres->left_confirming.pid = 0;
    look_after_left(postgres);
    int64_t doubts_before = atomic_load(&doubts);
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
        return unconfirmed(failure);
    }
    postgres->left_committing.pid = 0;
    postgres->confirmed.once = true;
    postgres->confirmed.doubts = doubts_before;
    confirmation_keep(postgres);
    return STATUS_OK;
}

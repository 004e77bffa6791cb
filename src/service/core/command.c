#include "service/core/command.h"

#include <assert.h>

#include "base/budget.h"
#include "base/hash.h"
#include "base/log.h"
#include "service/session/session.h"

static struct call call_of(const struct command *command, struct transaction *transaction, struct arena *own)
{
    struct call call = transaction_call(transaction, command->arena ? command->arena : own,
                                        command->who ? command->who : &server_principal);
    call.lease_token = command->lease_token;
    call.media = command->media;
    return call;
}

/* Who tried what, when the table of states did not allow it. */
static void log_refused_move(const struct command *command, const struct call *call)
{
    if (slice_is(slice_of(command->failure.code), "illegal_transition")) {
        log_info("move_refused", LOG_TEXT("command", slice_of(command->type->name)),
                 LOG_TEXT("session", command->about), LOG_TEXT("actor", call->who->name),
                 LOG_TEXT("detail", slice_of(command->failure.detail)));
    }
}

static void run_once(struct command *command, struct transaction *transaction, struct arena *own)
{
    struct call call = call_of(command, transaction, own);
    command->waits = command->follows_session = command->needs_rerun = false;
    command->owes_commit = true;
    command->writes_before = transaction_writes(transaction);
    transaction_start_command(transaction);
    command->status = command->type->run(&call, command);
    enum status spent = budget_check(&call.failure); /* whatever was decided with a spent budget is refused */
    command->status = spent == STATUS_OK ? command->status : spent;
    if (command->status != STATUS_OK) {
        command->failure = call.failure;
        log_refused_move(command, &call);
    }
}

/* On PostgreSQL another node may have changed a session since this one cached it. A refusal, or an answer that changes
 * nothing ("the session has ended already"), must not rest on the cache: the entries it used are dropped and the
 * command runs again. A command that waits, or whose answer follows the session, sees such changes anyway. */
static bool rests_on_memory(struct command *command, struct transaction *transaction, enum status status)
{
    bool sees_changes = status == STATUS_OK && (command->waits || command->follows_session);
    bool is_told = command->type->flags & COMMAND_RERUNS;
    if (is_told && !sees_changes && transaction_writes(transaction) == command->writes_before &&
        transaction_forget_remembered(transaction)) {
        command->needs_rerun = true;
    }
    return command->needs_rerun;
}

enum command_outcome command_run(struct command *command, struct transaction *transaction)
{
    struct arena own = {0};
    int64_t writes_before = transaction_writes(transaction);
    if (!command->is_parked) {
        command->waits_until_ms = 0;
    }
    assert(command->type && command->type->run && command->type->finish);
    run_once(command, transaction, &own);
    if (rests_on_memory(command, transaction, command->status)) {
        arena_reset(&own);
        run_once(command, transaction, &own);
    }
    arena_release(&own);
    bool wrote = transaction_writes(transaction) != writes_before;
    if (command->status != STATUS_OK) {
        return wrote ? COMMAND_ROLL_BACK : COMMAND_DONE;
    }
    if (command->waits) {
        return COMMAND_WAITS;
    }
    return wrote || command->owes_commit ? COMMAND_DONE : COMMAND_ANSWERED;
}

void command_finish(struct command *command, enum status commit, const struct failure *failure)
{
    bool is_own = commit == STATUS_OK;
    enum status status = is_own ? command->status : commit;
    const struct failure *reason = is_own ? &command->failure : failure;
    command->type->finish(command, status, status == STATUS_OK ? NULL : reason);
}

/* --- once --- */

/* The caller may have lost access to what the kept answer tells of. */
static enum status check_subjects(struct call *call, struct slice key)
{
    int64_t *keys;
    size_t count = 0;
    enum status status = store_idempotency_subjects(call->db, call->who->tenant_key, call->who->name, key, call->arena,
                                                    &keys, &count, &call->failure);
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        status = session_check_reached(call, keys[i]);
    }
    return status;
}

/* A kept answer is only for credentials with the same bounds. */
static struct hash bind_to_credential(const struct principal *who, struct slice fingerprint)
{
    struct slice bounds[] = {
        fingerprint, {(const char *)&who->scopes, sizeof who->scopes}, who->id_prefix, who->session_id};
    return hash_of_parts(bounds, sizeof bounds / sizeof *bounds);
}

static enum status replay(struct call *call, struct command *command, const struct command_once *once,
                          const struct hash *fingerprint, bool *out_replayed)
{
    struct idempotent_reply kept;
    enum status status = store_idempotency_get(call->db, call->who->tenant_key, call->who->name, once->key, call->arena,
                                               &kept, &call->failure);
    *out_replayed = status == STATUS_OK;
    if (status == STATUS_NOT_FOUND) {
        return STATUS_OK;
    }
    if (status == STATUS_OK && !hash_equal(kept.fingerprint, hash_slice(fingerprint))) {
        return failure_set(&call->failure, STATUS_CONFLICT, "idempotency_key_reused",
                           "This Idempotency-Key was used for a different request, or with a credential of other "
                           "scopes; use a new one.");
    }
    if (status == STATUS_OK) {
        status = check_subjects(call, once->key);
    }
    if (status == STATUS_OK) {
        once->replay(command, &kept);
    }
    return status;
}

static enum status keep(struct call *call, struct command *command, const struct command_once *once,
                        const struct hash *fingerprint)
{
    struct idempotent_reply answer = {0};
    enum status status = once->answer(call, command, &answer);
    if (status != STATUS_OK) {
        return status;
    }
    answer.fingerprint = hash_slice(fingerprint);
    return store_idempotency_put(call->db, call->who->tenant_key, call->who->name, once->key, &answer, call->now_ms,
                                 &call->failure);
}

enum status command_run_once(struct call *call, struct command *command, const struct command_once *once)
{
    bool replayed = false;
    struct hash fingerprint = bind_to_credential(call->who, once->fingerprint);
    enum status status = replay(call, command, once, &fingerprint, &replayed);
    if (status != STATUS_OK || replayed) {
        return status;
    }
    status = once->run(call, command);
    if (status != STATUS_OK || rests_on_memory(command, call->transaction, status)) {
        return status;
    }
    return keep(call, command, once, &fingerprint);
}

enum status command_forget_answers(struct call *call, struct slice subject)
{
    assert(call_writes(call));
    return store_idempotency_forget(call->db, call->who->tenant_key, subject, &call->failure);
}

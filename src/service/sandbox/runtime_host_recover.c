#include <stdlib.h>

#include "base/log.h"
#include "service/sandbox/runtime.h"
#include "service/sandbox/session_runtime.h"

/* What an earlier life left, at the start. SQLite has one server: whatever is in somebody's hands was in its own. With
 * PostgreSQL a local sandbox has its node (sandbox_owner.h); of the others, what nobody moved for as long as the lock
 * is good has lost its hands.
 *
 *     starting, restoring  → error: the next message makes or restores it again
 *     hibernating          → taken up again
 *     running              → found again and watched, so that it can fall asleep; ended when its session did */

void orphans_free(struct runtime_host *host)
{
    while (host->orphans) {
        struct orphan *orphan = host->orphans;
        host->orphans = orphan->next;
        free(orphan);
    }
}

static enum status is_ours(struct call *call, const struct runtime_host *host, const struct session *session, bool *out)
{
    struct sandbox_host owner = {0};
    enum status status = STATUS_OK;
    if (slice_present(call->service->node)) {
        status = store_host_get(call->db, session->tenant_key, session->key, call->arena, &owner, &call->failure);
    }
    bool is_nobodys =
        !db_has_other_writers(call->db) || session->updated_at_ms + host->options.limits.lock_ms < call->now_ms;
    *out = slice_present(owner.node) ? slice_eq(owner.node, call->service->node) : is_nobodys;
    return status;
}

/* Somebody was about to make it, and does so no longer. */
static enum status give_back(struct call *call, struct loaded_session *loaded)
{
    struct changes changes = {0};
    enum pause_reason pause = session_status_is_ended(loaded->session.status) ? PAUSE_NONE : PAUSE_ORPHANED;
    enum status status = change_sandbox(call->arena, &loaded->session, RUNTIME_ERROR, pause, "server_restarted",
                                        &(struct runtime_update){.sandbox_over = true}, &changes, &call->failure);
    return status == STATUS_OK ? runtime_append(call, loaded, &changes) : status;
}

static void adopt(struct runtime_host *host, const struct session *session)
{
    struct orphan *orphan = memory_zeroed(sizeof *orphan);
    *orphan = (struct orphan){host->orphans, session->tenant_key, session->key};
    host->orphans = orphan;
}

static enum status take_up(struct call *call, struct runtime_host *host, const struct session_key *key)
{
    struct loaded_session *loaded;
    bool ours = false;
    enum status status = transaction_load_key(call->transaction, key->tenant_key, key->key, &loaded, &call->failure);
    if (status == STATUS_OK) {
        status = is_ours(call, host, &loaded->session, &ours);
    }
    if (status != STATUS_OK || !ours) {
        return status == STATUS_NOT_FOUND ? STATUS_OK : status;
    }
    const struct session *session = &loaded->session;
    if (runtime_is_transitioning(session->runtime) && !runtime_is_asleep(session->runtime)) {
        return give_back(call, loaded);
    }
    if (runtime_is_up(session->runtime) || runtime_is_asleep(session->runtime)) {
        adopt(host, session);
    }
    return STATUS_OK;
}

static enum status recover(struct call *call, struct runtime_host *host)
{
    struct session_key *keys;
    size_t count = 0;
    enum status status = store_session_with_sandbox(call->db, call->arena, &keys, &count, &call->failure);
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        status = take_up(call, host, &keys[i]);
    }
    return status;
}

static enum status recover_run(struct call *call, struct command *command)
{
    struct runtime_host *host = (struct runtime_host *)command;
    orphans_free(host);
    return recover(call, host);
}

static void recover_finish(struct command *command, enum status status, const struct failure *failure)
{
    struct runtime_host *host = (struct runtime_host *)command;
    if (status != STATUS_OK) {
        log_warn("sandboxes_not_recovered", LOG_TEXT("code", slice_of(failure->code)),
                 LOG_TEXT("detail", slice_of(failure->detail)));
        orphans_free(host);
    }
    loop_post(host->options.loop, &host->recovered_message);
}

const struct command_type runtime_host_recover = {"sandbox.recover", COMMAND_UNBOUNDED, recover_run, recover_finish};

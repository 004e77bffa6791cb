#include "service/sandbox/runtime.h"

#include <assert.h>
#include <stdlib.h>

#include "base/log.h"
#include "service/ask/ask.h"
#include "service/identity/identity.h"
#include "service/prompt/prompt.h"
#include "service/session/session.h"

enum status runtime_append(struct call *call, struct loaded_session *loaded, struct changes *changes)
{
    assert(call_writes(call));
    const enum runtime before = loaded->session.runtime;
    enum status status = session_append_changes(call, loaded, changes);
    const enum runtime now = loaded->session.runtime;
    if (status == STATUS_OK && runtime_is_asleep(now) && !runtime_is_asleep(before)) {
        status = ask_forget_rules(call, loaded);
    }
    return status == STATUS_OK && runtime_is_inhabited(before) && !runtime_is_inhabited(now)
               ? token_end_of(call, &loaded->session, PRINCIPAL_SANDBOX)
               : status;
}

static enum status move(struct call *call, struct runtime_outcome *outcome, enum runtime to, const char *reason)
{
    struct changes changes = {0};
    enum status status =
        change_runtime(call->arena, &outcome->loaded->session, to, PAUSE_NONE, reason, &changes, &call->failure);
    outcome->changed = status == STATUS_OK && changes.count > 0;
    return outcome->changed ? runtime_append(call, outcome->loaded, &changes) : status;
}

static enum status enter(struct call *call, struct slice session_id, enum action action, struct runtime_outcome *out)
{
    struct session_access entry;
    enum status status = session_authorize(call, session_id, action, &entry);
    if (status == STATUS_OK) {
        *out = (struct runtime_outcome){entry.loaded, false};
    }
    return status;
}

static enum status check_active(struct call *call, const struct session *session)
{
    if (!session_status_is_ended(session->status)) {
        return STATUS_OK;
    }
    return failure_set(&call->failure, STATUS_CONFLICT, "session_ended",
                       "A session that is %s has no sandbox any more; reopen it first.",
                       session_status_enum.names[session->status]);
}

/* --- sleep --- */

/* What runs in it would be killed in the middle. */
static enum status check_at_rest(struct call *call, const struct session *session)
{
    if (session_status_takes_prompt(session->status) || !runtime_is_up(session->runtime)) {
        return STATUS_OK;
    }
    return failure_set(&call->failure, STATUS_CONFLICT, "turn_running",
                       "A session that is %s is not put to sleep; interrupt its turn first.",
                       session_status_enum.names[session->status]);
}

enum status runtime_hibernate(struct call *call, struct slice session_id, struct runtime_outcome *out)
{
    enum status status = enter(call, session_id, ACTION_HIBERNATE, out);
    if (status == STATUS_OK) {
        status = check_active(call, &out->loaded->session);
    }
    if (status != STATUS_OK || runtime_is_asleep(out->loaded->session.runtime)) {
        return status;
    }
    status = check_at_rest(call, &out->loaded->session);
    return status == STATUS_OK ? move(call, out, RUNTIME_HIBERNATING, "asked for") : status;
}

/* --- wake --- */

enum status runtime_wake(struct call *call, struct slice session_id, struct runtime_outcome *out)
{
    enum status status = enter(call, session_id, ACTION_HIBERNATE, out);
    if (status == STATUS_OK) {
        status = check_active(call, &out->loaded->session);
    }
    if (status != STATUS_OK || runtime_is_up(out->loaded->session.runtime)) {
        return status;
    }
    return move(call, out, RUNTIME_RESTORING, "asked for");
}

/* --- pause --- */

/* What waits begins when nothing holds it any more. */
static enum status check_begin(struct call *call, struct loaded_session *loaded)
{
    enum status status = prompt_learn_queue(call, loaded);
    bool begins = loaded->prompts.waiting > 0 && session_status_takes_prompt(loaded->session.status);
    return status == STATUS_OK && begins ? session_check_begin(call, &loaded->session) : status;
}

enum status runtime_pause(struct call *call, struct slice session_id, bool paused, const char *reason,
                          struct runtime_outcome *out)
{
    struct changes changes = {0};
    enum status status = enter(call, session_id, ACTION_PAUSE, out);
    if (status == STATUS_OK) {
        status = change_pause(call->arena, &out->loaded->session, paused, reason, &changes, &call->failure);
    }
    if (status == STATUS_OK && changes.count > 0 && !paused) {
        status = check_begin(call, out->loaded);
    }
    if (status != STATUS_OK || changes.count == 0) {
        return status;
    }
    out->changed = true;
    status = session_append_changes(call, out->loaded, &changes);
    return status == STATUS_OK && !paused ? prompt_after_move(call, out->loaded) : status;
}

/* --- woken by a look --- */

struct waking {
    struct command command; /* first */
    int64_t tenant_key, session_key;
};

static enum status waking_run(struct call *call, struct command *command)
{
    const struct waking *waking = (struct waking *)command;
    struct runtime_outcome outcome = {0};
    enum status status = transaction_load_fresh(call->transaction, waking->tenant_key, waking->session_key,
                                                &outcome.loaded, &call->failure);
    if (status != STATUS_OK) {
        return status;
    }
    const struct session *session = &outcome.loaded->session;
    bool sleeps = runtime_is_hibernated(session->runtime) && !session_status_is_ended(session->status);
    return sleeps ? move(call, &outcome, RUNTIME_RESTORING, "somebody looks at it") : STATUS_OK;
}

static void waking_finish(struct command *command, enum status status, const struct failure *failure)
{
    if (status != STATUS_OK && status != STATUS_NOT_FOUND) { /* the next message wakes it, or the next viewer */
        log_warn("not_woken", LOG_TEXT("detail", slice_of(failure->detail)));
    }
    free(command);
}

static const struct command_type wake = {"sandbox.wake", 0, waking_run, waking_finish};

void runtime_wake_soon(struct writer *writer, int64_t tenant_key, int64_t session_key)
{
    struct waking *waking = memory_zeroed(sizeof *waking);
    *waking = (struct waking){{.type = &wake}, tenant_key, session_key};
    if (!writer_submit(writer, &waking->command)) {
        free(waking);
    }
}

#include "service/sandbox/session_runtime.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"

enum { TRY_AGAIN_MS = 1000 };

/* --- one for each session --- */

static void on_stepped(struct loop_message *message);

static struct slice key_of(const int64_t *session_key)
{
    return (struct slice){(const char *)session_key, sizeof *session_key};
}

struct session_runtime *session_runtime_find(struct runtime_host *host, int64_t session_key)
{
    return map_get(&host->runtimes, key_of(&session_key));
}

struct session_runtime *session_runtime_open(struct runtime_host *host, int64_t tenant_key, int64_t session_key)
{
    struct session_runtime *runtime = session_runtime_find(host, session_key);
    if (!runtime) {
        runtime = memory_zeroed(sizeof *runtime);
        runtime->host = host;
        runtime->tenant_key = tenant_key;
        runtime->session_key = session_key;
        runtime->map_key = key_of(&runtime->session_key);
        runtime->command.type = &session_runtime_command;
        runtime->message.run = on_stepped;
        map_put(&host->runtimes, runtime->map_key, runtime);
    }
    return runtime;
}

static void session_runtime_free(struct session_runtime *runtime)
{
    map_remove(&runtime->host->runtimes, runtime->map_key);
    arena_release(&runtime->arena);
    free(runtime);
}

/* --- states --- */

#define TO(state) (1u << SESSION_RUNTIME_##state)

static const uint8_t edges[SESSION_RUNTIME_STATE_COUNT] = {
    [SESSION_RUNTIME_RESTING] = TO(STEPPING) | TO(RETRYING),
    [SESSION_RUNTIME_STEPPING] = TO(RESTING) | TO(RETRYING) | TO(ACTING) | TO(YIELDING),
    [SESSION_RUNTIME_RETRYING] = TO(STEPPING) | TO(RETRYING) | TO(RESTING),
    [SESSION_RUNTIME_ACTING] = TO(STEPPING) | TO(RETRYING),
    [SESSION_RUNTIME_YIELDING] = TO(STEPPING) | TO(RETRYING) | TO(RESTING),
};

/* What holds when a state is entered. */
static void check(const struct session_runtime *runtime)
{
    assert((runtime->retry_at_ms != 0) == (runtime->state == SESSION_RUNTIME_RETRYING));
    assert(runtime->idle_at_ms == 0);
    switch ((enum session_runtime_state)runtime->state) {
    case SESSION_RUNTIME_RESTING:
        assert(!runtime->result.is_there);
        break;
    case SESSION_RUNTIME_ACTING:
        assert(!runtime->result.is_there &&
               (runtime->plan.action == RUNTIME_MAKE || (runtime->sandbox && runtime->uses == 0)));
        break;
    case SESSION_RUNTIME_YIELDING:
        assert(!runtime->result.is_there && runtime->sandbox && runtime->uses == 0);
        break;
    case SESSION_RUNTIME_STEPPING:
    case SESSION_RUNTIME_RETRYING:
    case SESSION_RUNTIME_STATE_COUNT:
        break;
    }
}

static void enter(struct session_runtime *runtime, enum session_runtime_state state)
{
    assert(edges[runtime->state] & (1u << state));
    runtime->state = (uint8_t)state;
    check(runtime);
}

static void retry_later(struct session_runtime *runtime)
{
    runtime->retry_at_ms = runtime_host_steady_ms(runtime->host) + TRY_AGAIN_MS;
    enter(runtime, SESSION_RUNTIME_RETRYING);
}

/* --- those who wait --- */

void session_runtime_answer_all(struct session_runtime *runtime, struct sandbox *sandbox, const struct failure *failure)
{
    while (runtime->waiting) {
        struct sandbox_ref *ref = runtime->waiting;
        runtime->waiting = ref->next;
        ref->next = NULL;
        ref->given = sandbox != NULL;
        ref->runtime = sandbox ? runtime : NULL;
        runtime->uses += ref->given;
        ref->ready(ref->owner, sandbox, failure);
    }
}

static const struct failure *why_not(const struct session_runtime *runtime, struct failure *room)
{
    if (runtime->result.is_there && runtime->result.outcome != SANDBOX_OK) {
        return &runtime->result.failure;
    }
    (void)failure_set(room, STATUS_CONFLICT, "sandbox_stopped", "The sandbox of the session was stopped.");
    return room;
}

/* --- acts --- */

static void begin_step(struct session_runtime *runtime);

static void keep_text(char to[SANDBOX_ID_BYTES], struct slice text)
{
    snprintf(to, SANDBOX_ID_BYTES, "%.*s", SLICE_ARG(text));
}

/* Saved on this machine it is still there; whatever else succeeded, or found it gone, took it away. */
static bool is_taken(const struct session_runtime *runtime, enum runtime_action act, enum sandbox_outcome outcome)
{
    bool stays = act == RUNTIME_SAVE && runtime->kind == SANDBOX_LOCAL && outcome == SANDBOX_OK;
    return outcome != SANDBOX_FAILED && !stays;
}

static void take_result(struct session_runtime *runtime, enum runtime_action act, const struct sandbox_result *result)
{
    assert(runtime->state == SESSION_RUNTIME_ACTING);
    runtime->result =
        (struct runtime_result){.is_there = true, .act = act, .outcome = result->outcome, .failure = result->failure};
    runtime->result.snapshot_bytes = result->snapshot_bytes;
    keep_text(runtime->result.snapshot_id, result->snapshot);
    keep_text(runtime->result.sandbox_id, result->sandbox_id);
    keep_text(runtime->result.status, result->status);
    if (act == RUNTIME_MAKE) {
        runtime->sandbox = result->outcome == SANDBOX_OK ? result->sandbox : NULL;
    } else if (is_taken(runtime, act, result->outcome)) {
        runtime->sandbox = NULL;
    }
    begin_step(runtime);
}

static void on_made(void *owner, const struct sandbox_result *result)
{
    take_result(owner, RUNTIME_MAKE, result);
}

static void on_saved(void *owner, const struct sandbox_result *result)
{
    take_result(owner, RUNTIME_SAVE, result);
}

static void on_ended(void *owner, const struct sandbox_result *result)
{
    struct session_runtime *runtime = owner;
    if (result->outcome == SANDBOX_FAILED) {
        log_warn("sandbox_end_failed", LOG_NUM("session", runtime->session_key),
                 LOG_TEXT("detail", slice_of(result->failure.detail)));
        sandbox_give_up(runtime->sandbox);
        runtime->sandbox = NULL;
    }
    if (runtime->state == SESSION_RUNTIME_YIELDING) {
        runtime->sandbox = NULL;
        begin_step(runtime);
        return;
    }
    take_result(runtime, RUNTIME_END, result);
}

static void release_from_driver(struct session_runtime *runtime)
{
    const struct driver *driver = runtime->host->options.drivers[runtime->driver];
    if (driver && driver->release_session) {
        driver->release_session(driver->owner, runtime->tenant_key, runtime->session_key);
    }
}

static void refuse_kind(struct session_runtime *runtime)
{
    struct sandbox_result result = {.outcome = SANDBOX_FAILED};
    (void)failure_set(&result.failure, STATUS_UNSUPPORTED, "sandbox_unsupported", "The agent has no sandbox.");
    take_result(runtime, RUNTIME_MAKE, &result);
}

static void make(struct session_runtime *runtime)
{
    struct runtime_host *host = runtime->host;
    const struct runtime_plan *plan = &runtime->plan;
    const struct sandbox_provider *provider = sandboxes_provider(host->options.sandboxes, plan->settings.kind);
    struct sandbox_spec spec = {
        .session_id = plan->session_id,
        .tenant_key = runtime->tenant_key,
        .session_key = runtime->session_key,
        .settings = &plan->settings,
        .workspace = plan->workspace,
        .snapshot = plan->snapshot_id,
    };
    if (plan->taken_over) {
        sandboxes_forget_tree(host->options.sandboxes, runtime->tenant_key, runtime->session_key);
    }
    bool was_there = !runtime_is_transitioning(plan->state) || runtime_is_asleep(plan->state);
    runtime->kind = plan->settings.kind;
    runtime->driver = plan->driver;
    runtime->saved = false;
    if (!provider) {
        refuse_kind(runtime);
    } else if (was_there && runtime->kind == SANDBOX_HTTP && plan->sandbox_id.len > 0) {
        struct sandbox *sandbox = sandboxes_adopt(host->options.sandboxes, host->options.loop, &spec, plan->sandbox_id);
        if (plan->to_be_ended) { /* the end asks how it is by itself */
            take_result(
                runtime, RUNTIME_MAKE,
                &(struct sandbox_result){.outcome = SANDBOX_OK, .sandbox = sandbox, .sandbox_id = sandbox_id(sandbox)});
        } else {
            sandboxes_look(host->options.sandboxes, sandbox, (struct sandbox_callback){runtime, on_made});
        }
    } else {
        provider->create(provider->owner, host->options.loop, &spec, (struct sandbox_callback){runtime, on_made});
    }
}

static void save(struct session_runtime *runtime)
{
    release_from_driver(runtime);
    sandboxes_save(runtime->host->options.sandboxes, runtime->sandbox, (struct sandbox_callback){runtime, on_saved});
}

static void end(struct session_runtime *runtime)
{
    const struct sandbox_provider *provider = sandboxes_provider(runtime->host->options.sandboxes, runtime->kind);
    release_from_driver(runtime);
    provider->terminate(provider->owner, runtime->sandbox, (struct sandbox_callback){runtime, on_ended});
}

/* The server stops. */
static void give_up(struct session_runtime *runtime)
{
    struct failure failure;
    (void)failure_set(&failure, STATUS_UNAVAILABLE, "server_stopping", "The server stops.");
    session_runtime_answer_all(runtime, NULL, &failure);
    if (runtime->sandbox && runtime->uses == 0) {
        sandbox_give_up(runtime->sandbox);
        runtime->sandbox = NULL;
    }
}

/* --- steps --- */

/* True when it was freed. */
static bool forget_if_empty(struct session_runtime *runtime)
{
    bool is_empty =
        runtime->state == SESSION_RUNTIME_RESTING && !runtime->sandbox && !runtime->waiting && !runtime->uses;
    if (is_empty) {
        session_runtime_free(runtime);
    }
    return is_empty;
}

static void begin_step(struct session_runtime *runtime)
{
    runtime->idle_at_ms = runtime->retry_at_ms = 0;
    if (runtime->host->stopping && !runtime->result.is_there) {
        if (runtime->state != SESSION_RUNTIME_RESTING) {
            enter(runtime, SESSION_RUNTIME_RESTING);
        }
        give_up(runtime);
        forget_if_empty(runtime);
        return;
    }
    runtime->again = false;
    runtime->wanted = runtime->waiting != NULL || runtime->adopts;
    runtime->uses_seen = runtime->uses;
    if (writer_submit(runtime->host->options.writer, &runtime->command)) {
        enter(runtime, SESSION_RUNTIME_STEPPING);
    } else {
        retry_later(runtime);
    }
}

void session_runtime_step(struct session_runtime *runtime)
{
    if (runtime->state == SESSION_RUNTIME_RESTING) {
        begin_step(runtime);
    } else {
        runtime->again = true;
    }
}

void session_runtime_retry(struct session_runtime *runtime)
{
    assert(runtime->state == SESSION_RUNTIME_RETRYING);
    begin_step(runtime);
}

bool session_runtime_stop(struct session_runtime *runtime)
{
    if ((runtime->state != SESSION_RUNTIME_RESTING && runtime->state != SESSION_RUNTIME_RETRYING) ||
        runtime->uses > 0) {
        return false;
    }
    runtime->result.is_there = false; /* the next life finds it as the log says */
    runtime->idle_at_ms = runtime->retry_at_ms = 0;
    if (runtime->state == SESSION_RUNTIME_RETRYING) {
        enter(runtime, SESSION_RUNTIME_RESTING);
    }
    give_up(runtime);
    return forget_if_empty(runtime);
}

static void note_idle(struct session_runtime *runtime)
{
    bool idle = runtime->sandbox && runtime->uses == 0 && runtime_is_up(runtime->plan.state);
    int64_t wait_ms = runtime->plan.idle_again_ms ? runtime->plan.idle_again_ms : runtime->plan.grace_ms;
    runtime->idle_at_ms = idle ? runtime_host_steady_ms(runtime->host) + wait_ms : 0;
}

/* What the act brought is durable. */
static void clear_result(struct session_runtime *runtime)
{
    struct runtime_result *result = &runtime->result;
    if (result->is_there && result->act == RUNTIME_SAVE) {
        runtime->saved = result->outcome == SANDBOX_OK && runtime->sandbox;
        runtime->snapshot_failures = result->outcome == SANDBOX_FAILED ? runtime->snapshot_failures + 1 : 0;
    }
    result->is_there = false;
}

/* Nothing is to be done, unless something happened meanwhile. */
static void rest(struct session_runtime *runtime)
{
    enter(runtime, SESSION_RUNTIME_RESTING);
    note_idle(runtime);
    if (runtime->again) {
        begin_step(runtime);
    } else {
        forget_if_empty(runtime);
    }
}

/* Its session was erased: nothing of it stays. */
static void erase(struct session_runtime *runtime)
{
    struct failure failure;
    (void)failure_set(&failure, STATUS_NOT_FOUND, "session_deleted", "The session was deleted.");
    session_runtime_answer_all(runtime, NULL, &failure);
    runtime->result.is_there = false;
    if (runtime->sandbox && runtime->uses == 0) {
        enter(runtime, SESSION_RUNTIME_ACTING);
        end(runtime);
        return;
    }
    enter(runtime, SESSION_RUNTIME_RESTING);
    if (!runtime->sandbox) {
        sandboxes_forget(runtime->host->options.sandboxes, runtime->tenant_key, runtime->session_key);
    }
    if (runtime->waiting) { /* since it was answered */
        begin_step(runtime);
    } else {
        forget_if_empty(runtime);
    }
}

/* Another node has it: whoever waits is told, and what is live here is of no use any more. */
static void yield_to_other(struct session_runtime *runtime)
{
    struct failure failure;
    (void)failure_set(&failure, STATUS_UNAVAILABLE, "sandbox_elsewhere", "Another server has the sandbox.");
    session_runtime_answer_all(runtime, NULL, &failure);
    runtime->result.is_there = false;
    if (runtime->sandbox && runtime->uses == 0) {
        enter(runtime, SESSION_RUNTIME_YIELDING);
        end(runtime);
    } else {
        rest(runtime);
    }
}

static void act(struct session_runtime *runtime, enum runtime_action action)
{
    enter(runtime, SESSION_RUNTIME_ACTING);
    if (action == RUNTIME_MAKE) {
        make(runtime);
    } else if (action == RUNTIME_SAVE) {
        save(runtime);
    } else {
        end(runtime);
    }
}

static void perform(struct session_runtime *runtime)
{
    struct failure room;
    enum runtime_action action = runtime->plan.action;
    const struct failure *refusal = action == RUNTIME_REFUSE ? why_not(runtime, &room) : NULL;
    struct failure told = refusal ? *refusal : (struct failure){0};
    clear_result(runtime);
    if (runtime->host->stopping && action != RUNTIME_END) {
        action = RUNTIME_REST;
        give_up(runtime);
    }
    switch (action) {
    case RUNTIME_MAKE:
    case RUNTIME_SAVE:
    case RUNTIME_END:
        act(runtime, action);
        return;
    case RUNTIME_GIVE:
        session_runtime_answer_all(runtime, runtime->sandbox, NULL);
        break;
    case RUNTIME_REFUSE:
        session_runtime_answer_all(runtime, NULL, &told);
        break;
    case RUNTIME_REST:
    case RUNTIME_WAIT:
        break;
    }
    rest(runtime);
}

/* A server that stops does not try again. */
static void after_failed_step(struct session_runtime *runtime)
{
    log_warn("sandbox_step_failed", LOG_NUM("session", runtime->session_key),
             LOG_TEXT("code", slice_of(runtime->failure.code)), LOG_TEXT("detail", slice_of(runtime->failure.detail)));
    if (!runtime->host->stopping) {
        retry_later(runtime);
        return;
    }
    runtime->result.is_there = false; /* the next life finds it as the log says */
    enter(runtime, SESSION_RUNTIME_RESTING);
    give_up(runtime);
    forget_if_empty(runtime);
}

static void on_stepped(struct loop_message *message)
{
    struct session_runtime *runtime =
        (struct session_runtime *)((char *)message - offsetof(struct session_runtime, message));
    struct runtime_host *host = runtime->host;
    assert(runtime->state == SESSION_RUNTIME_STEPPING);
    runtime->asks_idle = false;
    runtime->adopts &= runtime->status != STATUS_OK || runtime->plan.action == RUNTIME_MAKE;
    if (runtime->status != STATUS_OK) {
        after_failed_step(runtime);
    } else if (runtime->plan.missing) {
        erase(runtime);
    } else if (runtime->plan.elsewhere) {
        yield_to_other(runtime);
    } else {
        perform(runtime);
    }
    runtime_host_rearm(host);
}

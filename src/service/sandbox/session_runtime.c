#include "service/sandbox/session_runtime.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"

enum { TRY_AGAIN_MS = 1000 };

/* --- boxes --- */

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
    struct session_runtime *box = session_runtime_find(host, session_key);
    if (!box) {
        box = memory_zeroed(sizeof *box);
        box->host = host;
        box->tenant_key = tenant_key;
        box->session_key = session_key;
        box->map_key = key_of(&box->session_key);
        box->command.type = &session_runtime_command;
        box->message.run = on_stepped;
        map_put(&host->runtimes, box->map_key, box);
    }
    return box;
}

static void session_runtime_free(struct session_runtime *box)
{
    map_remove(&box->host->runtimes, box->map_key);
    arena_release(&box->arena);
    free(box);
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
static void check(const struct session_runtime *box)
{
    assert((box->retry_at_ms != 0) == (box->state == SESSION_RUNTIME_RETRYING));
    assert(box->idle_at_ms == 0);
    switch ((enum session_runtime_state)box->state) {
    case SESSION_RUNTIME_RESTING:
        assert(!box->news.there);
        break;
    case SESSION_RUNTIME_ACTING:
        assert(!box->news.there && (box->sandbox || box->order.action == RUNTIME_MAKE));
        break;
    case SESSION_RUNTIME_YIELDING:
        assert(!box->news.there && box->sandbox && box->uses == 0);
        break;
    case SESSION_RUNTIME_STEPPING:
    case SESSION_RUNTIME_RETRYING:
    case SESSION_RUNTIME_STATE_COUNT:
        break;
    }
}

static void enter(struct session_runtime *box, enum session_runtime_state state)
{
    assert(edges[box->state] & (1u << state));
    box->state = (uint8_t)state;
    check(box);
}

static void retry_later(struct session_runtime *box)
{
    box->retry_at_ms = runtime_host_steady_ms(box->host) + TRY_AGAIN_MS;
    enter(box, SESSION_RUNTIME_RETRYING);
}

/* --- those who wait --- */

void session_runtime_answer_all(struct session_runtime *box, struct sandbox *sandbox, const struct failure *failure)
{
    while (box->waiting) {
        struct sandbox_ref *use = box->waiting;
        box->waiting = use->next;
        use->next = NULL;
        use->given = sandbox != NULL;
        use->box = sandbox ? box : NULL;
        box->uses += use->given;
        use->ready(use->owner, sandbox, failure);
    }
}

static const struct failure *why_not(const struct session_runtime *box, struct failure *room)
{
    if (box->news.there && box->news.outcome != SANDBOX_OK) {
        return &box->news.failure;
    }
    (void)failure_set(room, STATUS_CONFLICT, "sandbox_stopped", "The sandbox of the session was stopped.");
    return room;
}

/* --- acts --- */

static void begin_step(struct session_runtime *box);

static void keep_text(char to[BOX_ID_BYTES], struct slice text)
{
    snprintf(to, BOX_ID_BYTES, "%.*s", SLICE_ARG(text));
}

/* Saved on this machine it is still there; whatever else succeeded, or found it gone, took it away. */
static bool is_taken(const struct session_runtime *box, enum runtime_action act, enum sandbox_outcome outcome)
{
    bool stays = act == RUNTIME_SAVE && box->kind == SANDBOX_LOCAL && outcome == SANDBOX_OK;
    return outcome != SANDBOX_FAILED && !stays;
}

static void take_news(struct session_runtime *box, enum runtime_action act, const struct sandbox_result *news)
{
    assert(box->state == SESSION_RUNTIME_ACTING);
    box->news = (struct runtime_result){.there = true, .act = act, .outcome = news->outcome, .failure = news->failure};
    box->news.snapshot_bytes = news->snapshot_bytes;
    keep_text(box->news.snapshot_id, news->snapshot);
    keep_text(box->news.sandbox_id, news->sandbox_id);
    keep_text(box->news.status, news->status);
    if (act == RUNTIME_MAKE) {
        box->sandbox = news->outcome == SANDBOX_OK ? news->sandbox : NULL;
    } else if (is_taken(box, act, news->outcome)) {
        box->sandbox = NULL;
    }
    begin_step(box);
}

static void on_made(void *owner, const struct sandbox_result *news)
{
    take_news(owner, RUNTIME_MAKE, news);
}

static void on_saved(void *owner, const struct sandbox_result *news)
{
    take_news(owner, RUNTIME_SAVE, news);
}

static void on_ended(void *owner, const struct sandbox_result *news)
{
    struct session_runtime *box = owner;
    if (news->outcome == SANDBOX_FAILED) {
        log_warn("sandbox_end_failed", LOG_NUM("session", box->session_key),
                 LOG_TEXT("detail", slice_of(news->failure.detail)));
        sandbox_give_up(box->sandbox);
        box->sandbox = NULL;
    }
    if (box->state == SESSION_RUNTIME_YIELDING) {
        box->sandbox = NULL;
        begin_step(box);
        return;
    }
    take_news(box, RUNTIME_END, news);
}

static void tell_driver_to_leave(struct session_runtime *box)
{
    const struct driver *driver = box->host->options.drivers[box->driver];
    if (driver && driver->release_session) {
        driver->release_session(driver->owner, box->tenant_key, box->session_key);
    }
}

static void refuse_kind(struct session_runtime *box)
{
    struct sandbox_result news = {.outcome = SANDBOX_FAILED};
    (void)failure_set(&news.failure, STATUS_UNSUPPORTED, "sandbox_unsupported", "The agent has no sandbox.");
    take_news(box, RUNTIME_MAKE, &news);
}

static void make(struct session_runtime *box)
{
    struct runtime_host *host = box->host;
    const struct runtime_plan *order = &box->order;
    const struct sandbox_provider *provider = sandboxes_provider(host->options.sandboxes, order->settings.kind);
    struct sandbox_spec spec = {
        .session_id = order->session_id,
        .tenant_key = box->tenant_key,
        .session_key = box->session_key,
        .settings = &order->settings,
        .workspace = order->workspace,
        .snapshot = order->snapshot_id,
    };
    if (order->taken_over) {
        sandboxes_forget_tree(host->options.sandboxes, box->tenant_key, box->session_key);
    }
    bool was_there = !runtime_is_transitioning(order->state) || runtime_is_asleep(order->state);
    box->kind = order->settings.kind;
    box->driver = order->driver;
    box->saved = false;
    if (!provider) {
        refuse_kind(box);
    } else if (was_there && box->kind == SANDBOX_HTTP && order->sandbox_id.len > 0) {
        struct sandbox *sandbox =
            sandboxes_adopt(host->options.sandboxes, host->options.loop, &spec, order->sandbox_id);
        if (order->to_be_ended) { /* the end asks how it is by itself */
            take_news(
                box, RUNTIME_MAKE,
                &(struct sandbox_result){.outcome = SANDBOX_OK, .sandbox = sandbox, .sandbox_id = sandbox_id(sandbox)});
        } else {
            sandboxes_look(host->options.sandboxes, sandbox, (struct sandbox_callback){box, on_made});
        }
    } else {
        provider->create(provider->owner, host->options.loop, &spec, (struct sandbox_callback){box, on_made});
    }
}

static void save(struct session_runtime *box)
{
    tell_driver_to_leave(box);
    sandboxes_save(box->host->options.sandboxes, box->sandbox, (struct sandbox_callback){box, on_saved});
}

static void end(struct session_runtime *box)
{
    const struct sandbox_provider *provider = sandboxes_provider(box->host->options.sandboxes, box->kind);
    tell_driver_to_leave(box);
    provider->terminate(provider->owner, box->sandbox, (struct sandbox_callback){box, on_ended});
}

/* The server stops. */
static void give_up(struct session_runtime *box)
{
    struct failure failure;
    (void)failure_set(&failure, STATUS_UNAVAILABLE, "server_stopping", "The server stops.");
    session_runtime_answer_all(box, NULL, &failure);
    if (box->sandbox && box->uses == 0) {
        sandbox_give_up(box->sandbox);
        box->sandbox = NULL;
    }
}

/* --- steps --- */

/* True when it was: the box is gone. */
static bool forget_if_empty(struct session_runtime *box)
{
    bool is_empty = box->state == SESSION_RUNTIME_RESTING && !box->sandbox && !box->waiting && !box->uses;
    if (is_empty) {
        session_runtime_free(box);
    }
    return is_empty;
}

static void begin_step(struct session_runtime *box)
{
    box->idle_at_ms = box->retry_at_ms = 0;
    if (box->host->stopping && !box->news.there) {
        if (box->state != SESSION_RUNTIME_RESTING) {
            enter(box, SESSION_RUNTIME_RESTING);
        }
        give_up(box);
        forget_if_empty(box);
        return;
    }
    box->again = false;
    box->wanted = box->waiting != NULL || box->adopts;
    box->uses_seen = box->uses;
    if (writer_submit(box->host->options.writer, &box->command)) {
        enter(box, SESSION_RUNTIME_STEPPING);
    } else {
        retry_later(box);
    }
}

void session_runtime_step(struct session_runtime *box)
{
    if (box->state == SESSION_RUNTIME_RESTING) {
        begin_step(box);
    } else {
        box->again = true;
    }
}

void session_runtime_retry(struct session_runtime *box)
{
    assert(box->state == SESSION_RUNTIME_RETRYING);
    begin_step(box);
}

bool session_runtime_stop(struct session_runtime *box)
{
    if ((box->state != SESSION_RUNTIME_RESTING && box->state != SESSION_RUNTIME_RETRYING) || box->uses > 0) {
        return false;
    }
    box->news.there = false; /* the next life finds it as the log says */
    box->idle_at_ms = box->retry_at_ms = 0;
    if (box->state == SESSION_RUNTIME_RETRYING) {
        enter(box, SESSION_RUNTIME_RESTING);
    }
    give_up(box);
    return forget_if_empty(box);
}

static void note_idle(struct session_runtime *box)
{
    bool idle = box->sandbox && box->uses == 0 && runtime_is_up(box->order.state);
    int64_t wait_ms = box->order.idle_again_ms ? box->order.idle_again_ms : box->order.grace_ms;
    box->idle_at_ms = idle ? runtime_host_steady_ms(box->host) + wait_ms : 0;
}

/* What the act brought is durable. */
static void settle_news(struct session_runtime *box)
{
    struct runtime_result *news = &box->news;
    if (news->there && news->act == RUNTIME_SAVE) {
        box->saved = news->outcome == SANDBOX_OK && box->sandbox;
        box->snapshot_failures = news->outcome == SANDBOX_FAILED ? box->snapshot_failures + 1 : 0;
    }
    news->there = false;
}

/* Nothing is to be done, unless something happened meanwhile. */
static void rest(struct session_runtime *box)
{
    enter(box, SESSION_RUNTIME_RESTING);
    note_idle(box);
    if (box->again) {
        begin_step(box);
    } else {
        forget_if_empty(box);
    }
}

/* Its session was erased: nothing of it stays. */
static void erase(struct session_runtime *box)
{
    struct failure failure;
    (void)failure_set(&failure, STATUS_NOT_FOUND, "session_deleted", "The session was deleted.");
    session_runtime_answer_all(box, NULL, &failure);
    box->news.there = false;
    if (box->sandbox && box->uses == 0) {
        enter(box, SESSION_RUNTIME_ACTING);
        end(box);
        return;
    }
    enter(box, SESSION_RUNTIME_RESTING);
    if (!box->sandbox) {
        sandboxes_forget(box->host->options.sandboxes, box->tenant_key, box->session_key);
    }
    if (box->waiting) { /* since it was answered */
        begin_step(box);
    } else {
        forget_if_empty(box);
    }
}

/* Another node has it: whoever waits is told, and what is live here is of no use any more. */
static void yield_to_other(struct session_runtime *box)
{
    struct failure failure;
    (void)failure_set(&failure, STATUS_UNAVAILABLE, "sandbox_elsewhere", "Another server has the sandbox.");
    session_runtime_answer_all(box, NULL, &failure);
    box->news.there = false;
    if (box->sandbox && box->uses == 0) {
        enter(box, SESSION_RUNTIME_YIELDING);
        end(box);
    } else {
        rest(box);
    }
}

static void act(struct session_runtime *box, enum runtime_action action)
{
    enter(box, SESSION_RUNTIME_ACTING);
    if (action == RUNTIME_MAKE) {
        make(box);
    } else if (action == RUNTIME_SAVE) {
        save(box);
    } else {
        end(box);
    }
}

static void perform(struct session_runtime *box)
{
    struct failure room;
    enum runtime_action action = box->order.action;
    const struct failure *refusal = action == RUNTIME_REFUSE ? why_not(box, &room) : NULL;
    struct failure told = refusal ? *refusal : (struct failure){0};
    settle_news(box);
    if (box->host->stopping && action != RUNTIME_END) {
        action = RUNTIME_REST;
        give_up(box);
    }
    switch (action) {
    case RUNTIME_MAKE:
    case RUNTIME_SAVE:
    case RUNTIME_END:
        act(box, action);
        return;
    case RUNTIME_GIVE:
        session_runtime_answer_all(box, box->sandbox, NULL);
        break;
    case RUNTIME_REFUSE:
        session_runtime_answer_all(box, NULL, &told);
        break;
    case RUNTIME_REST:
    case RUNTIME_WAIT:
        break;
    }
    rest(box);
}

/* A server that stops does not try again. */
static void after_failed_step(struct session_runtime *box)
{
    log_warn("sandbox_step_failed", LOG_NUM("session", box->session_key), LOG_TEXT("code", slice_of(box->failure.code)),
             LOG_TEXT("detail", slice_of(box->failure.detail)));
    if (!box->host->stopping) {
        retry_later(box);
        return;
    }
    box->news.there = false; /* the next life finds it as the log says */
    enter(box, SESSION_RUNTIME_RESTING);
    give_up(box);
    forget_if_empty(box);
}

static void on_stepped(struct loop_message *message)
{
    struct session_runtime *box =
        (struct session_runtime *)((char *)message - offsetof(struct session_runtime, message));
    struct runtime_host *host = box->host;
    assert(box->state == SESSION_RUNTIME_STEPPING);
    box->asks_idle = false;
    box->adopts &= box->status != STATUS_OK || box->order.action == RUNTIME_MAKE;
    if (box->status != STATUS_OK) {
        after_failed_step(box);
    } else if (box->order.missing) {
        erase(box);
    } else if (box->order.elsewhere) {
        yield_to_other(box);
    } else {
        perform(box);
    }
    runtime_host_rearm(host);
}

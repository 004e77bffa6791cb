#include "service/sandbox/session_runtime.h"

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

struct session_runtime *session_runtime_find(struct runtime_host *runtimes, int64_t session_key)
{
    return map_get(&runtimes->boxes, key_of(&session_key));
}

struct session_runtime *session_runtime_open(struct runtime_host *runtimes, int64_t tenant_key, int64_t session_key)
{
    struct session_runtime *box = session_runtime_find(runtimes, session_key);
    if (!box) {
        box = memory_zeroed(sizeof *box);
        box->runtimes = runtimes;
        box->tenant_key = tenant_key;
        box->session_key = session_key;
        box->map_key = key_of(&box->session_key);
        box->command.type = &session_runtime_command;
        box->message.run = on_stepped;
        map_put(&runtimes->boxes, box->map_key, box);
    }
    return box;
}

static void session_runtime_free(struct session_runtime *box)
{
    map_remove(&box->runtimes->boxes, box->map_key);
    arena_release(&box->arena);
    free(box);
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
    box->acts = false;
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
    session_runtime_step(box);
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
    if (box->yields) {
        box->yields = box->acts = false;
        box->sandbox = NULL;
        session_runtime_step(box);
        return;
    }
    take_news(box, RUNTIME_END, news);
}

static void tell_driver_to_leave(struct session_runtime *box)
{
    const struct driver *driver = box->runtimes->options.drivers[box->driver];
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
    struct runtime_host *runtimes = box->runtimes;
    const struct runtime_plan *order = &box->order;
    const struct sandbox_provider *provider = sandboxes_provider(runtimes->options.sandboxes, order->settings.kind);
    struct sandbox_spec spec = {
        .session_id = order->session_id,
        .tenant_key = box->tenant_key,
        .session_key = box->session_key,
        .settings = &order->settings,
        .workspace = order->workspace,
        .snapshot = order->snapshot_id,
    };
    if (order->taken_over) {
        sandboxes_forget_tree(runtimes->options.sandboxes, box->tenant_key, box->session_key);
    }
    bool was_there = !runtime_is_transitioning(order->state) || runtime_is_asleep(order->state);
    box->kind = order->settings.kind;
    box->driver = order->driver;
    box->saved = false;
    if (!provider) {
        refuse_kind(box);
    } else if (was_there && box->kind == SANDBOX_HTTP && order->sandbox_id.len > 0) {
        struct sandbox *sandbox =
            sandboxes_adopt(runtimes->options.sandboxes, runtimes->options.loop, &spec, order->sandbox_id);
        if (order->to_be_ended) { /* the end asks how it is by itself */
            take_news(
                box, RUNTIME_MAKE,
                &(struct sandbox_result){.outcome = SANDBOX_OK, .sandbox = sandbox, .sandbox_id = sandbox_id(sandbox)});
        } else {
            sandboxes_look(runtimes->options.sandboxes, sandbox, (struct sandbox_callback){box, on_made});
        }
    } else {
        provider->create(provider->owner, runtimes->options.loop, &spec, (struct sandbox_callback){box, on_made});
    }
}

static void save(struct session_runtime *box)
{
    tell_driver_to_leave(box);
    sandboxes_save(box->runtimes->options.sandboxes, box->sandbox, (struct sandbox_callback){box, on_saved});
}

static void end(struct session_runtime *box)
{
    const struct sandbox_provider *provider = sandboxes_provider(box->runtimes->options.sandboxes, box->kind);
    tell_driver_to_leave(box);
    provider->terminate(provider->owner, box->sandbox, (struct sandbox_callback){box, on_ended});
}

/* The server stops: trees stay where they are. */
void session_runtime_give_up(struct session_runtime *box)
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

void session_runtime_forget_if_empty(struct session_runtime *box)
{
    if (!box->steps && !box->acts && !box->sandbox && !box->waiting && !box->uses && !box->retry_at_ms &&
        !box->news.there) {
        session_runtime_free(box);
    }
}

void session_runtime_step(struct session_runtime *box)
{
    if (box->steps || box->acts || box->retry_at_ms) {
        box->again = true;
        return;
    }
    if (box->runtimes->stopping && !box->news.there) {
        session_runtime_give_up(box);
        session_runtime_forget_if_empty(box);
        return;
    }
    box->again = false;
    box->idle_at_ms = 0;
    box->wanted = box->waiting != NULL || box->adopts;
    box->uses_seen = box->uses;
    box->steps = writer_submit(box->runtimes->options.writer, &box->command);
    if (!box->steps) {
        box->retry_at_ms = runtime_host_steady_ms(box->runtimes) + TRY_AGAIN_MS;
    }
}

static void note_idle(struct session_runtime *box)
{
    bool idle = box->sandbox && box->uses == 0 && runtime_is_up(box->order.state);
    int64_t wait_ms = box->order.idle_again_ms ? box->order.idle_again_ms : box->order.grace_ms;
    box->idle_at_ms = idle ? runtime_host_steady_ms(box->runtimes) + wait_ms : 0;
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

/* Its session was erased: nothing of it stays. */
static void erase(struct session_runtime *box)
{
    struct failure failure;
    (void)failure_set(&failure, STATUS_NOT_FOUND, "session_deleted", "The session was deleted.");
    session_runtime_answer_all(box, NULL, &failure);
    box->news.there = false;
    if (box->sandbox && box->uses == 0) {
        box->acts = true;
        end(box);
    } else if (!box->sandbox) {
        sandboxes_forget(box->runtimes->options.sandboxes, box->tenant_key, box->session_key);
        session_runtime_forget_if_empty(box);
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
        box->acts = true;
        box->yields = true;
        end(box);
    } else if (box->again) {
        session_runtime_step(box);
    } else {
        session_runtime_forget_if_empty(box);
    }
}

static void perform(struct session_runtime *box)
{
    struct failure room;
    enum runtime_action action = box->order.action;
    const struct failure *refusal = action == RUNTIME_REFUSE ? why_not(box, &room) : NULL;
    struct failure told = refusal ? *refusal : (struct failure){0};
    settle_news(box);
    if (box->runtimes->stopping && action != RUNTIME_END) {
        action = RUNTIME_REST;
        session_runtime_give_up(box);
    }
    box->acts = action == RUNTIME_MAKE || action == RUNTIME_SAVE || action == RUNTIME_END;
    switch (action) {
    case RUNTIME_MAKE:
        make(box);
        return;
    case RUNTIME_SAVE:
        save(box);
        return;
    case RUNTIME_END:
        end(box);
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
    note_idle(box);
    if (box->again) {
        session_runtime_step(box);
    } else {
        session_runtime_forget_if_empty(box);
    }
}

static void on_stepped(struct loop_message *message)
{
    struct session_runtime *box =
        (struct session_runtime *)((char *)message - offsetof(struct session_runtime, message));
    struct runtime_host *runtimes = box->runtimes;
    box->steps = false;
    box->asks_idle = false;
    box->adopts &= box->status != STATUS_OK || box->order.action == RUNTIME_MAKE;
    if (box->status != STATUS_OK) {
        log_warn("sandbox_step_failed", LOG_NUM("session", box->session_key),
                 LOG_TEXT("code", slice_of(box->failure.code)), LOG_TEXT("detail", slice_of(box->failure.detail)));
        box->retry_at_ms = runtime_host_steady_ms(runtimes) + TRY_AGAIN_MS;
        if (runtimes->stopping) {
            box->news.there = false; /* the next life finds it as the log says */
            box->retry_at_ms = 0;
            session_runtime_give_up(box);
            session_runtime_forget_if_empty(box);
        }
    } else if (box->order.missing) {
        erase(box);
    } else if (box->order.elsewhere) {
        yield_to_other(box);
    } else {
        perform(box);
    }
    runtime_host_rearm(runtimes);
}

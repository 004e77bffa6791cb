#include "service/remote/runners.h"

#include <stdlib.h>

#include "loop/timer.h"
#include "service/remote/runner_internal.h"

/* --- the record of a session's runner --- */

static struct slice key_slice(const struct turn_candidate *key)
{
    return slice_from(key, sizeof *key);
}

int64_t runners_steady_ms(const struct runners *runners)
{
    return clock_steady_ms(runners->options.service->clock);
}

struct runner *runner_find(struct runners *runners, int64_t tenant_key, int64_t session_key)
{
    struct turn_candidate key = {tenant_key, session_key};
    return map_get(&runners->all, key_slice(&key));
}

struct runner *runner_obtain(struct runners *runners, const struct runner_hello *hello)
{
    struct runner *runner = runner_find(runners, hello->tenant_key, hello->session_key);
    if (runner) {
        return runner;
    }
    runner = memory_zeroed(sizeof *runner);
    runner->key = (struct turn_candidate){hello->tenant_key, hello->session_key};
    runner->runners = runners;
    runner->session_id = arena_copy(&runner->arena, hello->session_id);
    runner->actor = arena_copy(&runner->arena, hello->actor);
    pthread_mutex_lock(&runners->lock);
    map_put(&runners->all, key_slice(&runner->key), runner);
    pthread_mutex_unlock(&runners->lock);
    return runner;
}

static void runner_forget(struct runner *runner)
{
    struct runners *runners = runner->runners;
    pthread_mutex_lock(&runners->lock);
    map_remove(&runners->all, key_slice(&runner->key));
    pthread_mutex_unlock(&runners->lock);
    runner_connection_unref(runner->line);
    buffer_release(&runner->last_message_id);
    arena_release(&runner->arena);
    free(runner);
}

/* --- who is free --- */

/* Under the lock. */
static void set_ready(struct runner *runner, bool idle, bool look)
{
    runner->runners->ready_count -= runner->idle && runner->look;
    runner->idle = idle;
    runner->look = look;
    runner->runners->ready_count += idle && look;
}

void runner_set_idle(struct runner *runner, bool idle)
{
    struct runners *runners = runner->runners;
    pthread_mutex_lock(&runners->lock);
    set_ready(runner, idle, idle);
    pthread_mutex_unlock(&runners->lock);
    if (idle) {
        writer_retry_parked(runners->options.writer);
    }
}

size_t runners_take_ready(void *owner, struct turn_candidate *out, size_t room)
{
    struct runners *runners = owner;
    size_t cursor = 0, count = 0;
    struct runner *runner;
    pthread_mutex_lock(&runners->lock);
    while (runners->ready_count > 0 && count < room && (runner = map_next(&runners->all, &cursor))) {
        if (runner->idle && runner->look) {
            set_ready(runner, true, false);
            out[count++] = runner->key;
        }
    }
    pthread_mutex_unlock(&runners->lock);
    return count;
}

/* False when nobody knows it. */
static bool look_at(struct runners *runners, int64_t tenant_key, int64_t session_key)
{
    pthread_mutex_lock(&runners->lock);
    struct runner *runner = runner_find(runners, tenant_key, session_key);
    if (runner) {
        set_ready(runner, runner->idle, true);
    }
    pthread_mutex_unlock(&runners->lock);
    return runner != NULL;
}

static void look_at_all(struct runners *runners)
{
    size_t cursor = 0;
    struct runner *runner;
    pthread_mutex_lock(&runners->lock);
    while ((runner = map_next(&runners->all, &cursor))) {
        set_ready(runner, runner->idle, true);
    }
    pthread_mutex_unlock(&runners->lock);
}

void runners_wake(struct runners *runners, int64_t tenant_key, int64_t session_key)
{
    if (runners && session_key != 0) {
        (void)look_at(runners, tenant_key, session_key);
    } else if (runners) {
        look_at_all(runners);
    }
}

/* --- time --- */

static void set_timer(struct runners *runners, int64_t at_ms)
{
    if (at_ms == 0 || !runners->timer || (runners->timer_at_ms != 0 && runners->timer_at_ms <= at_ms)) {
        return;
    }
    int64_t wait_ms = at_ms - runners_steady_ms(runners);
    runners->timer_at_ms = at_ms;
    loop_timer_set(runners->timer, wait_ms > 0 ? wait_ms : 0);
}

static int64_t silent_at_ms(const struct runner *runner)
{
    int64_t silence_ms = runner->runners->options.limits.silence_ms;
    return runner->line && silence_ms > 0 ? runner->heard_at_ms + silence_ms : 0;
}

static bool is_due(int64_t at_ms, int64_t now_ms)
{
    return at_ms != 0 && at_ms <= now_ms;
}

/* An error that nothing followed must not keep what waits: the turn ends, and the runner is offered the next. */
static void end_error(struct runner *runner)
{
    struct runner_turn *turn = runner->turn;
    runner->error_at_ms = 0;
    if (!runner->line) {
        return;
    }
    runner_note(runner, EVENT_WATCHDOG_ERROR_SAFETY_NET,
                SLICE("{\"action\":\"force_complete\",\"cause\":\"runner_error\"}"));
    if (turn && !turn->sent) {
        runner_turn_send(turn);
        return;
    }
    if (turn) {
        runner_turn_abort(turn);
        runner_turn_end(turn, &(struct turn_end){
                                  .stop = TURN_ERROR,
                                  .error = TURN_INTERNAL,
                                  .error_message = SLICE("The runner reported an error and nothing after it."),
                                  .to = SESSION_IDLE,
                              });
    }
    runner_set_idle(runner, true);
}

/* False when the runner was forgotten. */
static bool attend(struct runner *runner, int64_t now_ms)
{
    if (is_due(silent_at_ms(runner), now_ms)) {
        runner_connection_end(runner->line, CLOSE_POLICY, "silent for too long");
        runner_leaves(runner, "silent");
    }
    if (is_due(runner->return_at_ms, now_ms)) {
        runner->return_at_ms = 0;
        if (runner->turn) {
            runner_turn_abort(runner->turn); /* it may be there without a word about the turn */
            runner_turn_return(runner->turn, "runner_disconnected");
        }
    }
    if (is_due(runner->error_at_ms, now_ms)) {
        end_error(runner);
    }
    if (is_due(runner->lost_at_ms, now_ms) && !runner->turn) {
        runner->lost_at_ms = 0;
        runner_note(runner, EVENT_RUNNER_LOST, SLICE("{\"reason\":\"did not come back\"}"));
        runner_forget(runner);
        return false;
    }
    return true;
}

/* Attending may remove the runner, which a walk of the map does not allow: they are listed first. */
static void on_timer(void *owner)
{
    struct runners *runners = owner;
    int64_t now_ms = runners_steady_ms(runners);
    struct arena arena = {0};
    struct runner **due = arena_array(&arena, runners->all.count + 1, sizeof(struct runner *));
    struct runner *runner;
    size_t cursor = 0, count = 0;
    runners->timer_at_ms = 0;
    while ((runner = map_next(&runners->all, &cursor))) {
        due[count++] = runner;
    }
    for (size_t i = 0; i < count; i++) {
        runner = due[i];
        if (attend(runner, now_ms)) {
            set_timer(runners, silent_at_ms(runner));
            set_timer(runners, runner->return_at_ms);
            set_timer(runners, runner->error_at_ms);
            set_timer(runners, runner->turn ? 0 : runner->lost_at_ms);
        }
    }
    arena_release(&arena);
}

static void need_timer(struct runners *runners)
{
    if (!runners->timer && !runners->closed) {
        runners->timer = loop_timer_new(runners->options.loop, on_timer, runners);
    }
}

void runner_await(struct runner *runner)
{
    struct runners *runners = runner->runners;
    need_timer(runners);
    runner->return_at_ms = runners_steady_ms(runners) + runners->options.limits.grace_ms;
    set_timer(runners, runner->return_at_ms);
}

void runner_watch_error(struct runner *runner)
{
    struct runners *runners = runner->runners;
    need_timer(runners);
    runner->error_at_ms = runners_steady_ms(runners) + runners->options.limits.grace_ms;
    set_timer(runners, runner->error_at_ms);
}

/* --- coming and going --- */

static void let_go(struct runner *runner)
{
    struct runner_connection *line = runner->line;
    runner->line = NULL;
    runner->error_at_ms = 0;
    line->runner = NULL;
    runner_connection_unref(line);
    runner_set_idle(runner, false);
}

void runner_joins(struct runner *runner, struct runner_connection *line)
{
    struct runners *runners = runner->runners;
    need_timer(runners);
    if (runner->line) {
        runner_connection_end(runner->line, CLOSE_REPLACED, "Replaced by new runner connection");
        let_go(runner);
    }
    runner->line = line;
    if (!slice_eq(runner->actor, line->hello.actor)) {
        runner->actor = arena_copy(&runner->arena, line->hello.actor);
    }
    line->runner = runner;
    runner->fresh = true;
    runner->lost_at_ms = 0;
    runner->heard_at_ms = runners_steady_ms(runners);
    set_timer(runners, silent_at_ms(runner));
    if (runner->turn) {
        runner_await(runner);
    }
    runner_note(runner, EVENT_RUNNER_CONNECTED, SLICE("{}"));
}

void runner_leaves(struct runner *runner, const char *reason)
{
    struct runners *runners = runner->runners;
    struct arena arena = {0};
    let_go(runner);
    runner->lost_at_ms = runners_steady_ms(runners) + runners->options.limits.lost_ms;
    set_timer(runners, runner->lost_at_ms);
    if (runner->turn) {
        runner_await(runner);
    }
    runner_note(runner, EVENT_RUNNER_DISCONNECTED, arena_format(&arena, "{\"reason\":\"%s\"}", reason));
    arena_release(&arena);
}

/* --- what the log says --- */

enum news { NEWS_ENDED, NEWS_REVOKED };

struct runner_news {
    struct loop_message message;
    struct runners *runners;
    struct turn_candidate key; /* session_key 0: every session of the tenant */
    enum news news;
    struct arena arena;
    struct slice only; /* the actor whose access ended; absent = everybody's */
};

static void dismiss(struct runner *runner, const struct runner_news *news)
{
    if (!runner->line || (slice_present(news->only) && !slice_eq(runner->actor, news->only))) {
        return;
    }
    if (news->news == NEWS_ENDED) {
        runner_connection_tell(runner->line, SLICE("{\"type\":\"stop\",\"reason\":\"session_ended\"}"));
    }
    bool ended = news->news == NEWS_ENDED;
    runner_connection_end(runner->line, ended ? CLOSE_REPLACED : CLOSE_POLICY,
                          ended ? "session ended" : "access ended");
    runner_leaves(runner, ended ? "session_ended" : "access_ended");
}

static void dismiss_all(const struct runner_news *news)
{
    struct runner *runner;
    size_t cursor = 0;
    while ((runner = map_next(&news->runners->all, &cursor))) {
        if (runner->key.tenant_key == news->key.tenant_key) {
            dismiss(runner, news);
        }
    }
}

static void on_news(struct loop_message *message)
{
    struct runner_news *news = (struct runner_news *)message;
    struct runner *runner = runner_find(news->runners, news->key.tenant_key, news->key.session_key);
    if (news->key.session_key == 0) {
        dismiss_all(news);
    } else if (runner) {
        dismiss(runner, news);
    }
    arena_release(&news->arena);
    free(news);
}

static void post(struct runners *runners, const struct publication_entry *entry, enum news kind)
{
    struct runner_news *news = memory_zeroed(sizeof *news);
    news->message.run = on_news;
    news->runners = runners;
    news->key = (struct turn_candidate){entry->tenant_key, entry->session_key};
    news->news = kind;
    news->only = arena_copy(&news->arena, entry->only_user);
    loop_post(runners->options.loop, &news->message);
}

static bool has_any(struct runners *runners)
{
    pthread_mutex_lock(&runners->lock);
    bool any = runners->all.count > 0;
    pthread_mutex_unlock(&runners->lock);
    return any;
}

void runners_on_commit(struct runners *runners, const struct publication *publication)
{
    if (!runners || !has_any(runners)) {
        return;
    }
    for (size_t i = 0; i < publication_count(publication); i++) {
        const struct publication_entry *entry = publication_at(publication, i);
        bool moved = entry->kind == PUBLISH_EVENTS && event_facts_move(&entry->event);
        bool shifted = entry->kind == PUBLISH_EVENTS && entry->event.kind == EVENT_SESSION_RUNTIME_CHANGE;
        if (shifted) { /* the end of a pause */
            (void)look_at(runners, entry->tenant_key, entry->session_key);
        } else if (moved && look_at(runners, entry->tenant_key, entry->session_key) && event_facts_end(&entry->event)) {
            post(runners, entry, NEWS_ENDED);
        } else if (entry->kind == PUBLISH_CLOSE) {
            post(runners, entry, slice_present(entry->only_user) ? NEWS_REVOKED : NEWS_ENDED);
        }
    }
}

/* --- the driver --- */

static void close_all(void *owner)
{
    struct runners *runners = owner;
    struct runner *runner;
    size_t cursor = 0;
    runners->closed = true;
    while ((runner = map_next(&runners->all, &cursor))) {
        if (runner->line) {
            runner_connection_end(runner->line, CLOSE_GOING_AWAY, "server_stopping");
            let_go(runner);
        }
    }
    if (runners->timer) {
        loop_timer_free(runners->timer);
        runners->timer = NULL;
    }
}

struct runners *runners_new(const struct runners_options *options)
{
    struct runners *runners = memory_zeroed(sizeof *runners);
    runners->options = *options;
    runners->driver = (struct driver){
        .kind = DRIVER_RUNNER,
        .owner = runners,
        .start = runner_turn_start,
        .answer = runner_turn_answer,
        .interrupt = runner_turn_interrupt,
        .free = runner_turn_free,
        .close = close_all,
    };
    pthread_mutex_init(&runners->lock, NULL);
    return runners;
}

const struct driver *runners_driver(const struct runners *runners)
{
    return &runners->driver;
}

void runners_free(struct runners *runners)
{
    struct runner *runner;
    size_t cursor = 0;
    if (!runners) {
        return;
    }
    while ((runner = map_next(&runners->all, &cursor))) {
        runner_forget(runner);
        cursor = 0;
    }
    map_release(&runners->all);
    pthread_mutex_destroy(&runners->lock);
    free(runners);
}

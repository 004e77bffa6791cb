#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/log.h"
#include "loop/timer.h"
#include "service/core/watchdog.h"

enum { AVOIDED_MAX = 32, CLOCK_JUMP_MS = 5000 };

struct watchdogs {
    struct command command; /* first */
    struct watchdogs_options options;
    struct loop_message start_message, stop_message;
    struct loop_timer *timer; /* the loop's */
    atomic_bool looks;        /* the command is in the writer */
    bool started;
    /* the writer's */
    int64_t after;                /* where the next look goes on */
    int64_t avoided[AVOIDED_MAX]; /* sessions that a look failed on: one of them must not blind it for the others */
    size_t avoided_count;
    int64_t wall_ahead_ms; /* of the steady clock, at the last look */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool over; /* under the lock */
};

/* --- a look, on the writer --- */

static bool is_avoided(const struct watchdogs *watchdogs, int64_t session_key)
{
    size_t known = watchdogs->avoided_count < AVOIDED_MAX ? watchdogs->avoided_count : AVOIDED_MAX;
    for (size_t i = 0; i < known; i++) {
        if (watchdogs->avoided[i] == session_key) {
            return true;
        }
    }
    return false;
}

static enum status find_suspects(struct call *call, struct watchdogs *watchdogs, struct health_suspect *out,
                                 size_t *out_count)
{
    const struct health_limits *limits = &call->service->limits.health;
    int64_t silence_ms = health_first_silence_ms(limits);
    int64_t unled_ms = limits->error_ms && (!limits->waiting_ms || limits->error_ms < limits->waiting_ms)
                           ? limits->error_ms
                           : limits->waiting_ms;
    struct health_search search = {
        .after = watchdogs->after,
        .lease_over_ms = limits->runner_ms ? call->steady_ms - limits->runner_ms : 0,
        .silent_since_ms = silence_ms ? call->now_ms - silence_ms : 0,
        .queued_since_ms = limits->queue_ms ? call->now_ms - limits->queue_ms : 0,
        .unled_since_ms = unled_ms ? call->now_ms - unled_ms : 0,
        .limit = watchdogs->options.limits.sessions_max,
    };
    return store_health_candidates(call->db, &search, out, out_count, &call->failure);
}

static enum status look_at(struct call *call, const struct health_suspect *suspect)
{
    struct loaded_session *loaded;
    enum status status =
        transaction_load_fresh(call->transaction, suspect->tenant_key, suspect->session_key, &loaded, &call->failure);
    if (status == STATUS_NOT_FOUND) {
        return STATUS_OK;
    }
    return status == STATUS_OK ? watchdog_look(call, loaded) : status;
}

static enum status look(struct call *call, struct watchdogs *watchdogs)
{
    struct health_suspect suspects[WATCHDOG_SESSIONS_MAX];
    size_t count = 0;
    enum status status = find_suspects(call, watchdogs, suspects, &count);
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        if (!is_avoided(watchdogs, suspects[i].session_key)) {
            status = look_at(call, &suspects[i]);
        }
        if (status != STATUS_OK && status != STATUS_UNAVAILABLE) {
            watchdogs->avoided[watchdogs->avoided_count++ % AVOIDED_MAX] = suspects[i].session_key;
        }
    }
    if (status == STATUS_OK) {
        bool is_page = count == (size_t)watchdogs->options.limits.sessions_max;
        watchdogs->after = is_page ? suspects[count - 1].session_key : 0;
    }
    return status;
}

/* The wall clock is set now and then; the steady one goes on as it was. */
static void note_clock(struct call *call, struct watchdogs *watchdogs)
{
    int64_t ahead_ms = call->now_ms - call->steady_ms;
    int64_t jump_ms = ahead_ms - watchdogs->wall_ahead_ms;
    watchdogs->wall_ahead_ms = ahead_ms;
    if (jump_ms > CLOCK_JUMP_MS || jump_ms < -CLOCK_JUMP_MS) {
        call->service->watchdog_record->wall_known_since_ms = call->steady_ms;
        log_warn("clock_jumped", LOG_NUM("by_ms", jump_ms));
    }
}

static enum status look_run(struct call *call, struct command *command)
{
    struct watchdogs *watchdogs = (struct watchdogs *)command;
    note_clock(call, watchdogs);
    enum status status = transaction_flush(call->transaction, &call->failure);
    return status == STATUS_OK ? look(call, watchdogs) : status;
}

static void look_finish(struct command *command, enum status status, const struct failure *failure)
{
    if (status != STATUS_OK) {
        log_warn("watchdog_failed", LOG_TEXT("code", slice_of(failure->code)),
                 LOG_TEXT("detail", slice_of(failure->detail)));
    }
    ((struct watchdogs *)command)->looks = false;
}

static const struct command_type look_type = {"watchdogs.look", COMMAND_UNBOUNDED, look_run, look_finish};

/* --- on the loop --- */

static void on_timer(void *owner)
{
    struct watchdogs *watchdogs = owner;
    if (!watchdogs->looks) {
        watchdogs->looks = true;
        if (!writer_submit(watchdogs->options.writer, &watchdogs->command)) {
            watchdogs->looks = false; /* it is busy: the next time */
        }
    }
    loop_timer_set(watchdogs->timer, watchdogs->options.limits.sweep_ms);
}

static void on_start(struct loop_message *message)
{
    struct watchdogs *watchdogs = (struct watchdogs *)((char *)message - offsetof(struct watchdogs, start_message));
    watchdogs->timer = loop_timer_new(watchdogs->options.loop, on_timer, watchdogs);
    loop_timer_set(watchdogs->timer, watchdogs->options.limits.sweep_ms);
}

static void on_stop(struct loop_message *message)
{
    struct watchdogs *watchdogs = (struct watchdogs *)((char *)message - offsetof(struct watchdogs, stop_message));
    loop_timer_free(watchdogs->timer);
    pthread_mutex_lock(&watchdogs->lock);
    watchdogs->over = true;
    pthread_cond_signal(&watchdogs->changed);
    pthread_mutex_unlock(&watchdogs->lock);
}

/* --- start and stop --- */

struct watchdogs *watchdogs_new(const struct watchdogs_options *options)
{
    struct watchdogs *watchdogs = memory_zeroed(sizeof *watchdogs);
    watchdogs->options = *options;
    struct clock *clock = options->service->clock;
    watchdogs->wall_ahead_ms = clock_wall_ms(clock) - clock_steady_ms(clock);
    watchdogs->command.type = &look_type;
    watchdogs->start_message.run = on_start;
    watchdogs->stop_message.run = on_stop;
    pthread_mutex_init(&watchdogs->lock, NULL);
    pthread_cond_init(&watchdogs->changed, NULL);
    return watchdogs;
}

void watchdogs_start(struct watchdogs *watchdogs)
{
    watchdogs->started = true;
    loop_post(watchdogs->options.loop, &watchdogs->start_message);
}

void watchdogs_stop(struct watchdogs *watchdogs)
{
    if (!watchdogs || !watchdogs->started) {
        return;
    }
    loop_post(watchdogs->options.loop, &watchdogs->stop_message);
    pthread_mutex_lock(&watchdogs->lock);
    while (!watchdogs->over) {
        pthread_cond_wait(&watchdogs->changed, &watchdogs->lock);
    }
    pthread_mutex_unlock(&watchdogs->lock);
    watchdogs->started = false;
}

void watchdogs_free(struct watchdogs *watchdogs)
{
    if (watchdogs) {
        pthread_mutex_destroy(&watchdogs->lock);
        pthread_cond_destroy(&watchdogs->changed);
        free(watchdogs);
    }
}

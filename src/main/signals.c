#include "main/signals.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/log.h"
#include "cli/command.h"

struct signals {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    sigset_t set;
    int64_t stop_limit_ms;
    int reloads; /* asked for and not yet taken */
    atomic_bool stopping;
    bool done;
};

static struct timespec after(int64_t ms)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    at.tv_sec += ms / 1000;
    at.tv_nsec += ms % 1000 * 1000000;
    if (at.tv_nsec >= 1000000000) {
        at.tv_sec++;
        at.tv_nsec -= 1000000000;
    }
    return at;
}

static void force(int64_t after_ms)
{
    log_warn("stop_forced", LOG_NUM("after_ms", after_ms));
    _exit(EXIT_REFUSED);
}

/* Ends the process when the stop is not done in time. */
static void watch_stop(struct signals *signals)
{
    struct timespec until = after(signals->stop_limit_ms);
    int waited = 0;
    pthread_mutex_lock(&signals->lock);
    signals->stopping = true;
    pthread_cond_broadcast(&signals->changed);
    while (!signals->done && waited == 0) {
        waited = pthread_cond_timedwait(&signals->changed, &signals->lock, &until);
    }
    bool done = signals->done;
    pthread_mutex_unlock(&signals->lock);
    if (!done) {
        force(signals->stop_limit_ms);
    }
}

static void ask_reload(struct signals *signals)
{
    pthread_mutex_lock(&signals->lock);
    signals->reloads++;
    pthread_cond_broadcast(&signals->changed);
    pthread_mutex_unlock(&signals->lock);
}

static void *signals_main(void *argument)
{
    struct signals *signals = argument;
    int got = 0;
    pthread_setname_np(pthread_self(), "signals");
    while (sigwait(&signals->set, &got) != 0 || got == SIGHUP) {
        if (got == SIGHUP) {
            ask_reload(signals);
        }
    }
    if (!signals->stopping) {
        log_info("stopping", LOG_TEXT("signal", slice_of(got == SIGINT ? "INT" : "TERM")));
    }
    watch_stop(signals);
    return NULL;
}

struct signals *signals_start(int64_t stop_limit_ms)
{
    struct signals *signals = memory_zeroed(sizeof *signals);
    pthread_condattr_t steady;
    pthread_condattr_init(&steady);
    pthread_condattr_setclock(&steady, CLOCK_MONOTONIC);
    pthread_cond_init(&signals->changed, &steady);
    pthread_condattr_destroy(&steady);
    pthread_mutex_init(&signals->lock, NULL);
    signals->stop_limit_ms = stop_limit_ms;
    sigemptyset(&signals->set);
    sigaddset(&signals->set, SIGTERM);
    sigaddset(&signals->set, SIGINT);
    sigaddset(&signals->set, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &signals->set, NULL);
    if (pthread_create(&signals->thread, NULL, signals_main, signals) != 0) {
        abort();
    }
    return signals;
}

enum signal_order signals_next(struct signals *signals)
{
    pthread_mutex_lock(&signals->lock);
    while (!signals->stopping && signals->reloads == 0) {
        pthread_cond_wait(&signals->changed, &signals->lock);
    }
    enum signal_order order = signals->stopping ? SIGNAL_STOP : SIGNAL_RELOAD;
    signals->reloads = 0;
    pthread_mutex_unlock(&signals->lock);
    return order;
}

void signals_begin_stop(struct signals *signals)
{
    signals->stopping = true;
    pthread_kill(signals->thread, SIGTERM);
}

void signals_end(struct signals *signals)
{
    pthread_mutex_lock(&signals->lock);
    signals->done = true;
    pthread_cond_broadcast(&signals->changed);
    pthread_mutex_unlock(&signals->lock);
    pthread_join(signals->thread, NULL);
    pthread_cond_destroy(&signals->changed);
    pthread_mutex_destroy(&signals->lock);
    free(signals);
}

#include "loop/loop.h"

#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct loop {
    uv_loop_t uv;
    uv_async_t wake;
    uv_prepare_t before_sleep;
    uv_check_t after_sleep;
    pthread_t thread;
    struct loop_message stop_message;
    int index;
    bool started;
    atomic_bool runs; /* a thread has it, from before it begins until it ends */
    /* Newest first; on a cache line of its own because every other thread writes it. */
    _Alignas(64) _Atomic(struct loop_message *) posted;
};

static _Thread_local const struct loop *current_loop;

static struct loop_message *reverse(struct loop_message *newest)
{
    struct loop_message *oldest = NULL;
    while (newest) {
        struct loop_message *next = newest->next;
        newest->next = oldest;
        oldest = newest;
        newest = next;
    }
    return oldest;
}

static void run_posted(struct loop *loop)
{
    struct loop_message *message = reverse(atomic_exchange_explicit(&loop->posted, NULL, memory_order_acquire));
    while (message) {
        assert(message->run);
        struct loop_message *next = message->next; /* the message is its receiver's once it runs */
        message->run(message);
        message = next;
    }
}

static void on_wake(uv_async_t *wake)
{
    run_posted(wake->data);
}

/* What callbacks of this turn posted to their own loop runs in the same turn, without a word to the kernel. */
static void on_awake(uv_check_t *check)
{
    run_posted(check->data);
}

/* What was posted since (by timers, by messages, by other handles of this kind) must not wait for something to happen.
 * libuv runs such handles youngest first, so this one, the oldest, sees what the others posted. */
static void on_sleep(uv_prepare_t *prepare)
{
    struct loop *loop = prepare->data;
    if (atomic_load_explicit(&loop->posted, memory_order_relaxed)) {
        uv_async_send(&loop->wake);
    }
}

static void must(int result, const char *what)
{
    if (result != 0) {
        fprintf(stderr, "sojourn: %s: %s\n", what, uv_strerror(result));
        abort();
    }
}

struct loop *loop_new(int index)
{
    struct loop *loop = aligned_alloc(64, (sizeof *loop + 63) & ~(size_t)63);
    if (!loop) {
        abort();
    }
    memset(loop, 0, sizeof *loop);
    loop->index = index;
    must(uv_loop_init(&loop->uv), "event loop");
    must(uv_async_init(&loop->uv, &loop->wake, on_wake), "event loop wake-up");
    loop->wake.data = loop;
    must(uv_prepare_init(&loop->uv, &loop->before_sleep), "event loop");
    must(uv_check_init(&loop->uv, &loop->after_sleep), "event loop");
    loop->before_sleep.data = loop->after_sleep.data = loop;
    uv_prepare_start(&loop->before_sleep, on_sleep);
    uv_check_start(&loop->after_sleep, on_awake);
    uv_unref((uv_handle_t *)&loop->before_sleep);
    uv_unref((uv_handle_t *)&loop->after_sleep);
    return loop;
}

/* What a message left behind may be posted by another one, so this goes on until nothing is left. */
static void loop_finish(struct loop *loop)
{
    while (atomic_load(&loop->posted)) {
        run_posted(loop);
        uv_run(&loop->uv, UV_RUN_NOWAIT);
    }
}

void loop_free(struct loop *loop)
{
    if (!loop) {
        return;
    }
    assert(!loop->started && loop_is_mine(loop));
    uv_close((uv_handle_t *)&loop->wake, NULL);
    uv_close((uv_handle_t *)&loop->before_sleep, NULL);
    uv_close((uv_handle_t *)&loop->after_sleep, NULL);
    uv_run(&loop->uv, UV_RUN_DEFAULT);
    int left = uv_loop_close(&loop->uv);
    assert(left == 0);
    (void)left;
    free(loop);
}

static void *loop_main(void *owner)
{
    struct loop *loop = owner;
    current_loop = loop;
    uv_run(&loop->uv, UV_RUN_DEFAULT);
    loop_finish(loop);
    current_loop = NULL;
    atomic_store_explicit(&loop->runs, false, memory_order_release);
    return NULL;
}

void loop_start(struct loop *loop)
{
    assert(!loop->started);
    /* Signals are the main thread's. */
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    atomic_store_explicit(&loop->runs, true, memory_order_relaxed);
    must(-pthread_create(&loop->thread, NULL, loop_main, loop), "loop thread");
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    loop->started = true;
}

/* The wake-up handle stays open, so that messages still arrive, but no longer keeps the loop running. */
static void on_stop(struct loop_message *message)
{
    struct loop *loop = (struct loop *)((char *)message - offsetof(struct loop, stop_message));
    uv_unref((uv_handle_t *)&loop->wake);
}

void loop_stop(struct loop *loop)
{
    loop->stop_message.run = on_stop;
    loop_post(loop, &loop->stop_message);
}

void loop_join(struct loop *loop)
{
    assert(!loop_is_current(loop));
    if (loop->started) {
        pthread_join(loop->thread, NULL);
        loop->started = false;
    }
}

void loop_post(struct loop *loop, struct loop_message *message)
{
    struct loop_message *newest = atomic_load_explicit(&loop->posted, memory_order_relaxed);
    do {
        message->next = newest;
    } while (!atomic_compare_exchange_weak_explicit(&loop->posted, &newest, message, memory_order_release,
                                                    memory_order_relaxed));
    if (!newest && !loop_is_current(loop)) {
        uv_async_send(&loop->wake);
    }
}

uv_loop_t *loop_uv(struct loop *loop)
{
    assert(loop_is_mine(loop));
    return &loop->uv;
}

int loop_index(const struct loop *loop)
{
    return loop->index;
}

bool loop_is_current(const struct loop *loop)
{
    return current_loop == loop;
}

bool loop_is_mine(const struct loop *loop)
{
    return current_loop == loop || !atomic_load_explicit(&loop->runs, memory_order_acquire);
}

#include "service/sandbox/runtime_host.h"

#include <stdlib.h>

#include "service/sandbox/session_runtime.h"

struct runtime_host *runtime_host_new(const struct runtime_host_options *options)
{
    struct runtime_host *host = memory_zeroed(sizeof *host);
    host->options = *options;
    pthread_mutex_init(&host->lock, NULL);
    pthread_cond_init(&host->changed, NULL);
    return host;
}

void runtime_host_free(struct runtime_host *host)
{
    if (host) {
        map_release(&host->runtimes);
        pthread_mutex_destroy(&host->lock);
        pthread_cond_destroy(&host->changed);
        free(host);
    }
}

int64_t runtime_host_steady_ms(const struct runtime_host *host)
{
    return clock_steady_ms(host->options.service->clock);
}
/* --- time --- */

static int64_t earlier(int64_t a, int64_t b)
{
    return a == 0 || (b != 0 && b < a) ? b : a;
}

static void arm(struct runtime_host *host)
{
    int64_t next_ms = 0;
    size_t cursor = 0;
    for (struct session_runtime *runtime; (runtime = map_next(&host->runtimes, &cursor));) {
        next_ms = earlier(next_ms, runtime->retry_at_ms);
        next_ms = earlier(next_ms, runtime->idle_at_ms);
    }
    if (next_ms != 0 && host->timer) {
        int64_t wait_ms = next_ms - runtime_host_steady_ms(host);
        loop_timer_set(host->timer, wait_ms > 0 ? wait_ms : 0);
    }
}

static void finish_if_over(struct runtime_host *host)
{
    size_t cursor = 0;
    if (!host->stopping || host->is_recovering || !host->timer || map_next(&host->runtimes, &cursor)) {
        return;
    }
    loop_timer_free(host->timer);
    host->timer = NULL;
    if (host->options.on_stopped) {
        host->options.on_stopped(host->options.owner);
    }
    pthread_mutex_lock(&host->lock);
    host->over = true;
    pthread_cond_signal(&host->changed);
    pthread_mutex_unlock(&host->lock);
}

void runtime_host_rearm(struct runtime_host *host)
{
    arm(host);
    finish_if_over(host);
}

bool runtime_host_listens(const struct runtime_host *host, int64_t tenant_key, int64_t session_key, int64_t port)
{
    return sandboxes_listens(host->options.sandboxes, tenant_key, session_key, port);
}

/* --- who is connected into it --- */

void runtime_host_visit(struct runtime_host *host, int64_t session_key, struct sandbox_keepalive *keepalive)
{
    if (keepalive->host) {
        return;
    }
    pthread_mutex_lock(&host->lock);
    *keepalive = (struct sandbox_keepalive){host->keepalives, &host->keepalives, host, session_key};
    if (keepalive->next) {
        keepalive->next->link = &keepalive->next;
    }
    host->keepalives = keepalive;
    pthread_mutex_unlock(&host->lock);
}

void runtime_host_visit_end(struct sandbox_keepalive *keepalive)
{
    struct runtime_host *host = keepalive->host;
    if (!host) {
        return;
    }
    pthread_mutex_lock(&host->lock);
    *keepalive->link = keepalive->next;
    if (keepalive->next) {
        keepalive->next->link = keepalive->link;
    }
    keepalive->host = NULL;
    pthread_mutex_unlock(&host->lock);
}

int64_t runtime_host_visits(struct runtime_host *host, int64_t session_key)
{
    int64_t count = 0;
    pthread_mutex_lock(&host->lock);
    for (const struct sandbox_keepalive *keepalive = host->keepalives; keepalive; keepalive = keepalive->next) {
        count += keepalive->session_key == session_key;
    }
    pthread_mutex_unlock(&host->lock);
    return count;
}

/* --- what others want --- */

/* Requests are still answered while the server stops: they find no sandbox any more. */
static void refuse_stopping(struct sandbox_ref *ref)
{
    struct failure failure;
    (void)failure_set(&failure, STATUS_UNAVAILABLE, "server_stopping", "The server stops.");
    ref->ready(ref->owner, NULL, &failure);
}

void runtime_host_acquire(struct runtime_host *host, int64_t tenant_key, int64_t session_key, struct sandbox_ref *ref)
{
    if (host->stopping) {
        refuse_stopping(ref);
        return;
    }
    struct session_runtime *runtime = session_runtime_open(host, tenant_key, session_key);
    ref->runtime = runtime;
    ref->next = runtime->waiting;
    runtime->waiting = ref;
    bool at_rest = runtime->state == SESSION_RUNTIME_RESTING && !runtime->again;
    if (at_rest && runtime->sandbox && runtime_is_up(runtime->plan.state)) {
        runtime->idle_at_ms = 0;
        session_runtime_answer_all(runtime, runtime->sandbox, NULL);
    } else {
        session_runtime_step(runtime);
    }
    arm(host);
}

static void stop_waiting(struct session_runtime *runtime, struct sandbox_ref *ref)
{
    struct sandbox_ref **link = &runtime->waiting;
    while (*link && *link != ref) {
        link = &(*link)->next;
    }
    if (*link) {
        *link = ref->next;
    }
}

void runtime_host_release(struct sandbox_ref *ref)
{
    struct session_runtime *runtime = ref->runtime;
    if (!runtime) {
        return;
    }
    struct runtime_host *host = runtime->host;
    if (ref->given) {
        runtime->uses--;
    } else {
        stop_waiting(runtime, ref);
    }
    ref->runtime = NULL;
    ref->given = false;
    if (runtime->uses == 0) {
        session_runtime_step(runtime); /* somebody may have waited for this: an end, a sleep */
    }
    runtime_host_rearm(host);
}

/* --- what the log says --- */

struct wakeup {
    struct loop_message message;
    struct runtime_host *host;
    int64_t tenant_key, session_key;
    bool opens; /* one is made when there is none */
};

void runtime_host_attend(struct runtime_host *host, int64_t tenant_key, int64_t session_key)
{
    if (!host->stopping) {
        session_runtime_step(session_runtime_open(host, tenant_key, session_key));
        runtime_host_rearm(host);
    }
}

static void on_wakeup(struct loop_message *message)
{
    struct wakeup *wakeup = (struct wakeup *)message;
    struct runtime_host *host = wakeup->host;
    struct session_runtime *runtime = session_runtime_find(host, wakeup->session_key);
    if (!runtime && wakeup->opens && !host->stopping) {
        runtime = session_runtime_open(host, wakeup->tenant_key, wakeup->session_key);
    }
    if (runtime) {
        session_runtime_step(runtime);
        runtime_host_rearm(host);
    }
    free(wakeup);
}

static void send_wakeup(struct runtime_host *host, int64_t tenant_key, int64_t session_key, bool opens)
{
    struct wakeup *wakeup = memory_zeroed(sizeof *wakeup);
    *wakeup = (struct wakeup){{.run = on_wakeup}, host, tenant_key, session_key, opens};
    loop_post(host->options.loop, &wakeup->message);
}

void runtime_host_wake(struct runtime_host *host, int64_t session_key)
{
    if (host && host->started && session_key != 0) {
        send_wakeup(host, 0, session_key, false);
    }
}

/* Ends matter where there is a sandbox. */
static bool concerns_runtimes(const struct publication_entry *entry)
{
    if (entry->kind == PUBLISH_CLOSE) {
        return entry->session_key != 0 && slice_is(entry->reason, "deleted");
    }
    return entry->kind == PUBLISH_EVENTS &&
           (entry->event.kind == EVENT_SESSION_RUNTIME_CHANGE ||
            (event_facts_end(&entry->event) && runtime_is_something(entry->event.runtime)));
}

void runtime_host_on_commit(struct runtime_host *host, const struct publication *publication)
{
    for (size_t i = 0; host && i < publication_count(publication); i++) {
        const struct publication_entry *entry = publication_at(publication, i);
        if (concerns_runtimes(entry)) {
            send_wakeup(host, entry->tenant_key, entry->session_key, true);
        }
    }
}

/* --- time --- */

static bool is_due(int64_t at_ms, int64_t now_ms)
{
    return at_ms != 0 && at_ms <= now_ms;
}

static void attend(struct session_runtime *runtime, int64_t now_ms)
{
    if (is_due(runtime->retry_at_ms, now_ms)) {
        session_runtime_retry(runtime);
    } else if (is_due(runtime->idle_at_ms, now_ms)) {
        runtime->asks_idle = true;
        runtime->viewers = fanout_is_watched(runtime->host->options.fanout, runtime->session_key);
        session_runtime_step(runtime);
    }
}

static void on_timer(void *owner)
{
    struct runtime_host *host = owner;
    int64_t now_ms = runtime_host_steady_ms(host);
    size_t cursor = 0;
    for (struct session_runtime *runtime; (runtime = map_next(&host->runtimes, &cursor));) {
        if (is_due(runtime->retry_at_ms, now_ms) || is_due(runtime->idle_at_ms, now_ms)) {
            attend(runtime, now_ms);
        }
    }
    runtime_host_rearm(host);
}

/* --- start and stop --- */

static void submit_recovery(struct runtime_host *host)
{
    host->is_recovering = !host->stopping && writer_submit(host->options.writer, &host->recover);
}

static void on_recovered(struct loop_message *message)
{
    struct runtime_host *host =
        (struct runtime_host *)((char *)message - offsetof(struct runtime_host, recovered_message));
    host->is_recovering = false;
    for (struct orphan *orphan = host->orphans; orphan && !host->stopping; orphan = orphan->next) {
        struct session_runtime *runtime = session_runtime_open(host, orphan->tenant_key, orphan->session_key);
        runtime->adopts = true;
        session_runtime_step(runtime);
    }
    orphans_free(host);
    runtime_host_rearm(host);
}

static void on_start(struct loop_message *message)
{
    struct runtime_host *host = (struct runtime_host *)((char *)message - offsetof(struct runtime_host, start_message));
    host->timer = loop_timer_new(host->options.loop, on_timer, host);
    submit_recovery(host);
    arm(host);
}

void runtime_host_start(struct runtime_host *host)
{
    host->started = true;
    host->recover.type = &runtime_host_recover;
    host->recovered_message.run = on_recovered;
    host->start_message.run = on_start;
    loop_post(host->options.loop, &host->start_message);
}

static void on_stop(struct loop_message *message)
{
    struct runtime_host *host = (struct runtime_host *)((char *)message - offsetof(struct runtime_host, stop_message));
    struct session_runtime *runtime;
    for (size_t cursor = 0; (runtime = map_next(&host->runtimes, &cursor));) {
        if (session_runtime_stop(runtime)) {
            cursor = 0; /* the map changed */
        }
    }
    finish_if_over(host);
}

void runtime_host_stop(struct runtime_host *host)
{
    if (!host || !host->started) {
        return;
    }
    host->stopping = true;
    host->stop_message.run = on_stop;
    loop_post(host->options.loop, &host->stop_message);
    pthread_mutex_lock(&host->lock);
    while (!host->over) {
        pthread_cond_wait(&host->changed, &host->lock);
    }
    pthread_mutex_unlock(&host->lock);
    host->started = false;
}

#include "service/sandbox/runtime_host.h"

#include <stdlib.h>

#include "service/sandbox/session_runtime.h"

struct runtime_host *runtime_host_new(const struct runtime_host_options *options)
{
    struct runtime_host *runtimes = memory_zeroed(sizeof *runtimes);
    runtimes->options = *options;
    pthread_mutex_init(&runtimes->lock, NULL);
    pthread_cond_init(&runtimes->changed, NULL);
    return runtimes;
}

void runtime_host_free(struct runtime_host *runtimes)
{
    if (runtimes) {
        map_release(&runtimes->boxes);
        pthread_mutex_destroy(&runtimes->lock);
        pthread_cond_destroy(&runtimes->changed);
        free(runtimes);
    }
}

int64_t runtime_host_steady_ms(const struct runtime_host *runtimes)
{
    return clock_steady_ms(runtimes->options.service->clock);
}
/* --- time --- */

static int64_t earlier(int64_t a, int64_t b)
{
    return a == 0 || (b != 0 && b < a) ? b : a;
}

static void arm(struct runtime_host *runtimes)
{
    int64_t next_ms = 0;
    size_t cursor = 0;
    for (struct session_runtime *box; (box = map_next(&runtimes->boxes, &cursor));) {
        next_ms = earlier(next_ms, box->retry_at_ms);
        next_ms = earlier(next_ms, box->idle_at_ms);
    }
    if (next_ms != 0 && runtimes->timer) {
        int64_t wait_ms = next_ms - runtime_host_steady_ms(runtimes);
        loop_timer_set(runtimes->timer, wait_ms > 0 ? wait_ms : 0);
    }
}

static void finish_if_over(struct runtime_host *runtimes)
{
    size_t cursor = 0;
    if (!runtimes->stopping || runtimes->recovers || !runtimes->timer || map_next(&runtimes->boxes, &cursor)) {
        return;
    }
    loop_timer_free(runtimes->timer);
    runtimes->timer = NULL;
    if (runtimes->options.on_stopped) {
        runtimes->options.on_stopped(runtimes->options.owner);
    }
    pthread_mutex_lock(&runtimes->lock);
    runtimes->over = true;
    pthread_cond_signal(&runtimes->changed);
    pthread_mutex_unlock(&runtimes->lock);
}

void runtime_host_rearm(struct runtime_host *runtimes)
{
    arm(runtimes);
    finish_if_over(runtimes);
}

bool runtime_host_listens(const struct runtime_host *runtimes, int64_t tenant_key, int64_t session_key, int64_t port)
{
    return sandboxes_listens(runtimes->options.sandboxes, tenant_key, session_key, port);
}

/* --- who is connected into it --- */

void runtime_host_visit(struct runtime_host *runtimes, int64_t session_key, struct sandbox_keepalive *visit)
{
    if (visit->runtimes) {
        return;
    }
    pthread_mutex_lock(&runtimes->lock);
    *visit = (struct sandbox_keepalive){runtimes->visits, &runtimes->visits, runtimes, session_key};
    if (visit->next) {
        visit->next->link = &visit->next;
    }
    runtimes->visits = visit;
    pthread_mutex_unlock(&runtimes->lock);
}

void runtime_host_visit_end(struct sandbox_keepalive *visit)
{
    struct runtime_host *runtimes = visit->runtimes;
    if (!runtimes) {
        return;
    }
    pthread_mutex_lock(&runtimes->lock);
    *visit->link = visit->next;
    if (visit->next) {
        visit->next->link = visit->link;
    }
    visit->runtimes = NULL;
    pthread_mutex_unlock(&runtimes->lock);
}

int64_t runtime_host_visits(struct runtime_host *runtimes, int64_t session_key)
{
    int64_t count = 0;
    pthread_mutex_lock(&runtimes->lock);
    for (const struct sandbox_keepalive *visit = runtimes->visits; visit; visit = visit->next) {
        count += visit->session_key == session_key;
    }
    pthread_mutex_unlock(&runtimes->lock);
    return count;
}

/* --- what others want --- */

/* Requests are still answered while the server stops: they find no sandbox any more. */
static void refuse_stopping(struct sandbox_ref *use)
{
    struct failure failure;
    (void)failure_set(&failure, STATUS_UNAVAILABLE, "server_stopping", "The server stops.");
    use->ready(use->owner, NULL, &failure);
}

void runtime_host_acquire(struct runtime_host *runtimes, int64_t tenant_key, int64_t session_key,
                          struct sandbox_ref *use)
{
    if (runtimes->stopping) {
        refuse_stopping(use);
        return;
    }
    struct session_runtime *box = session_runtime_open(runtimes, tenant_key, session_key);
    use->box = box;
    use->next = box->waiting;
    box->waiting = use;
    bool at_rest = box->state == SESSION_RUNTIME_RESTING && !box->again;
    if (at_rest && box->sandbox && runtime_is_up(box->order.state)) {
        box->idle_at_ms = 0;
        session_runtime_answer_all(box, box->sandbox, NULL);
    } else {
        session_runtime_step(box);
    }
    arm(runtimes);
}

static void stop_waiting(struct session_runtime *box, struct sandbox_ref *use)
{
    struct sandbox_ref **link = &box->waiting;
    while (*link && *link != use) {
        link = &(*link)->next;
    }
    if (*link) {
        *link = use->next;
    }
}

void runtime_host_release(struct sandbox_ref *use)
{
    struct session_runtime *box = use->box;
    if (!box) {
        return;
    }
    struct runtime_host *runtimes = box->runtimes;
    if (use->given) {
        box->uses--;
    } else {
        stop_waiting(box, use);
    }
    use->box = NULL;
    use->given = false;
    if (box->uses == 0) {
        session_runtime_step(box); /* somebody may have waited for this: an end, a sleep */
    }
    runtime_host_rearm(runtimes);
}

/* --- what the log says --- */

struct poke {
    struct loop_message message;
    struct runtime_host *runtimes;
    int64_t tenant_key, session_key;
    bool opens; /* a box is made when there is none */
};

void runtime_host_attend(struct runtime_host *runtimes, int64_t tenant_key, int64_t session_key)
{
    if (!runtimes->stopping) {
        session_runtime_step(session_runtime_open(runtimes, tenant_key, session_key));
        runtime_host_rearm(runtimes);
    }
}

static void on_poke(struct loop_message *message)
{
    struct poke *poke = (struct poke *)message;
    struct runtime_host *runtimes = poke->runtimes;
    struct session_runtime *box = session_runtime_find(runtimes, poke->session_key);
    if (!box && poke->opens && !runtimes->stopping) {
        box = session_runtime_open(runtimes, poke->tenant_key, poke->session_key);
    }
    if (box) {
        session_runtime_step(box);
        runtime_host_rearm(runtimes);
    }
    free(poke);
}

static void send_poke(struct runtime_host *runtimes, int64_t tenant_key, int64_t session_key, bool opens)
{
    struct poke *poke = memory_zeroed(sizeof *poke);
    *poke = (struct poke){{.run = on_poke}, runtimes, tenant_key, session_key, opens};
    loop_post(runtimes->options.loop, &poke->message);
}

void runtime_host_wake(struct runtime_host *runtimes, int64_t session_key)
{
    if (runtimes && runtimes->started && session_key != 0) {
        send_poke(runtimes, 0, session_key, false);
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

void runtime_host_on_commit(struct runtime_host *runtimes, const struct publication *publication)
{
    for (size_t i = 0; runtimes && i < publication_count(publication); i++) {
        const struct publication_entry *entry = publication_at(publication, i);
        if (concerns_runtimes(entry)) {
            send_poke(runtimes, entry->tenant_key, entry->session_key, true);
        }
    }
}

/* --- time --- */

static bool is_due(int64_t at_ms, int64_t now_ms)
{
    return at_ms != 0 && at_ms <= now_ms;
}

static void attend(struct session_runtime *box, int64_t now_ms)
{
    if (is_due(box->retry_at_ms, now_ms)) {
        session_runtime_retry(box);
    } else if (is_due(box->idle_at_ms, now_ms)) {
        box->asks_idle = true;
        box->viewers = fanout_is_watched(box->runtimes->options.fanout, box->session_key);
        session_runtime_step(box);
    }
}

static void on_timer(void *owner)
{
    struct runtime_host *runtimes = owner;
    int64_t now_ms = runtime_host_steady_ms(runtimes);
    size_t cursor = 0;
    for (struct session_runtime *box; (box = map_next(&runtimes->boxes, &cursor));) {
        if (is_due(box->retry_at_ms, now_ms) || is_due(box->idle_at_ms, now_ms)) {
            attend(box, now_ms);
        }
    }
    runtime_host_rearm(runtimes);
}

/* --- start and stop --- */

static void submit_recovery(struct runtime_host *runtimes)
{
    runtimes->recovers = !runtimes->stopping && writer_submit(runtimes->options.writer, &runtimes->recover);
}

static void on_recovered(struct loop_message *message)
{
    struct runtime_host *runtimes =
        (struct runtime_host *)((char *)message - offsetof(struct runtime_host, recovered_message));
    runtimes->recovers = false;
    for (struct orphan *orphan = runtimes->orphans; orphan && !runtimes->stopping; orphan = orphan->next) {
        struct session_runtime *box = session_runtime_open(runtimes, orphan->tenant_key, orphan->session_key);
        box->adopts = true;
        session_runtime_step(box);
    }
    orphans_free(runtimes);
    runtime_host_rearm(runtimes);
}

static void on_start(struct loop_message *message)
{
    struct runtime_host *runtimes =
        (struct runtime_host *)((char *)message - offsetof(struct runtime_host, start_message));
    runtimes->timer = loop_timer_new(runtimes->options.loop, on_timer, runtimes);
    submit_recovery(runtimes);
    arm(runtimes);
}

void runtime_host_start(struct runtime_host *runtimes)
{
    runtimes->started = true;
    runtimes->recover.type = &runtime_host_recover;
    runtimes->recovered_message.run = on_recovered;
    runtimes->start_message.run = on_start;
    loop_post(runtimes->options.loop, &runtimes->start_message);
}

static void on_stop(struct loop_message *message)
{
    struct runtime_host *runtimes =
        (struct runtime_host *)((char *)message - offsetof(struct runtime_host, stop_message));
    struct session_runtime *box;
    for (size_t cursor = 0; (box = map_next(&runtimes->boxes, &cursor));) {
        if (session_runtime_stop(box)) {
            cursor = 0; /* the map changed */
        }
    }
    finish_if_over(runtimes);
}

void runtime_host_stop(struct runtime_host *runtimes)
{
    if (!runtimes || !runtimes->started) {
        return;
    }
    runtimes->stopping = true;
    runtimes->stop_message.run = on_stop;
    loop_post(runtimes->options.loop, &runtimes->stop_message);
    pthread_mutex_lock(&runtimes->lock);
    while (!runtimes->over) {
        pthread_cond_wait(&runtimes->changed, &runtimes->lock);
    }
    pthread_mutex_unlock(&runtimes->lock);
    runtimes->started = false;
}

#include "service/runtimes.h"

#include <stdlib.h>

#include "service/runtimes_box.h"

struct runtimes *runtimes_new(const struct runtimes_options *options)
{
    struct runtimes *runtimes = memory_zeroed(sizeof *runtimes);
    runtimes->options = *options;
    pthread_mutex_init(&runtimes->lock, NULL);
    pthread_cond_init(&runtimes->changed, NULL);
    return runtimes;
}

void runtimes_free(struct runtimes *runtimes)
{
    if (runtimes) {
        map_release(&runtimes->boxes);
        pthread_mutex_destroy(&runtimes->lock);
        pthread_cond_destroy(&runtimes->changed);
        free(runtimes);
    }
}

int64_t runtimes_steady_ms(const struct runtimes *runtimes)
{
    return clock_steady_ms(runtimes->options.service->clock);
}
/* --- time --- */

static int64_t earlier(int64_t a, int64_t b)
{
    return a == 0 || (b != 0 && b < a) ? b : a;
}

static void arm(struct runtimes *runtimes)
{
    int64_t next_ms = 0;
    size_t cursor = 0;
    for (struct runtime_box *box; (box = map_next(&runtimes->boxes, &cursor));) {
        next_ms = earlier(next_ms, box->retry_at_ms);
        next_ms = earlier(next_ms, box->idle_at_ms);
    }
    if (next_ms != 0 && runtimes->timer) {
        int64_t wait_ms = next_ms - runtimes_steady_ms(runtimes);
        loop_timer_set(runtimes->timer, wait_ms > 0 ? wait_ms : 0);
    }
}

static void finish_if_over(struct runtimes *runtimes)
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

void runtimes_rearm(struct runtimes *runtimes)
{
    arm(runtimes);
    finish_if_over(runtimes);
}

bool runtimes_listens(const struct runtimes *runtimes, int64_t tenant_key, int64_t session_key, int64_t port)
{
    return sandboxes_listens(runtimes->options.sandboxes, tenant_key, session_key, port);
}

/* --- who is connected into it --- */

void runtimes_visit(struct runtimes *runtimes, int64_t session_key, struct runtime_visit *visit)
{
    if (visit->runtimes) {
        return;
    }
    pthread_mutex_lock(&runtimes->lock);
    *visit = (struct runtime_visit){runtimes->visits, &runtimes->visits, runtimes, session_key};
    if (visit->next) {
        visit->next->link = &visit->next;
    }
    runtimes->visits = visit;
    pthread_mutex_unlock(&runtimes->lock);
}

void runtimes_visit_end(struct runtime_visit *visit)
{
    struct runtimes *runtimes = visit->runtimes;
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

int64_t runtimes_visits(struct runtimes *runtimes, int64_t session_key)
{
    int64_t count = 0;
    pthread_mutex_lock(&runtimes->lock);
    for (const struct runtime_visit *visit = runtimes->visits; visit; visit = visit->next) {
        count += visit->session_key == session_key;
    }
    pthread_mutex_unlock(&runtimes->lock);
    return count;
}

/* --- what others want --- */

/* Requests are still answered while the server stops: they find no sandbox any more. */
static void refuse_stopping(struct runtime_use *use)
{
    struct failure failure;
    (void)failure_set(&failure, STATUS_UNAVAILABLE, "server_stopping", "The server stops.");
    use->ready(use->owner, NULL, &failure);
}

void runtimes_ensure(struct runtimes *runtimes, int64_t tenant_key, int64_t session_key, struct runtime_use *use)
{
    if (runtimes->stopping) {
        refuse_stopping(use);
        return;
    }
    struct runtime_box *box = box_open(runtimes, tenant_key, session_key);
    use->box = box;
    use->next = box->waiting;
    box->waiting = use;
    bool at_rest = !box->steps && !box->acts && !box->again && !box->retry_at_ms;
    if (at_rest && box->sandbox && runtime_is_up(box->order.state)) {
        box->idle_at_ms = 0;
        box_answer_all(box, box->sandbox, NULL);
    } else {
        box_step(box);
    }
    arm(runtimes);
}

static void stop_waiting(struct runtime_box *box, struct runtime_use *use)
{
    struct runtime_use **link = &box->waiting;
    while (*link && *link != use) {
        link = &(*link)->next;
    }
    if (*link) {
        *link = use->next;
    }
}

void runtimes_leave(struct runtime_use *use)
{
    struct runtime_box *box = use->box;
    if (!box) {
        return;
    }
    struct runtimes *runtimes = box->runtimes;
    if (use->given) {
        box->uses--;
    } else {
        stop_waiting(box, use);
    }
    use->box = NULL;
    use->given = false;
    if (box->uses == 0) {
        box_step(box); /* somebody may have waited for this: an end, a sleep */
    }
    runtimes_rearm(runtimes);
}

/* --- what the log says --- */

struct poke {
    struct loop_message message;
    struct runtimes *runtimes;
    int64_t tenant_key, session_key;
    bool opens; /* a box is made when there is none */
};

void runtimes_attend(struct runtimes *runtimes, int64_t tenant_key, int64_t session_key)
{
    if (!runtimes->stopping) {
        box_step(box_open(runtimes, tenant_key, session_key));
        runtimes_rearm(runtimes);
    }
}

static void on_poke(struct loop_message *message)
{
    struct poke *poke = (struct poke *)message;
    struct runtimes *runtimes = poke->runtimes;
    struct runtime_box *box = box_find(runtimes, poke->session_key);
    if (!box && poke->opens && !runtimes->stopping) {
        box = box_open(runtimes, poke->tenant_key, poke->session_key);
    }
    if (box) {
        box_step(box);
        runtimes_rearm(runtimes);
    }
    free(poke);
}

static void send_poke(struct runtimes *runtimes, int64_t tenant_key, int64_t session_key, bool opens)
{
    struct poke *poke = memory_zeroed(sizeof *poke);
    *poke = (struct poke){{.run = on_poke}, runtimes, tenant_key, session_key, opens};
    loop_post(runtimes->options.loop, &poke->message);
}

void runtimes_poke(struct runtimes *runtimes, int64_t session_key)
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

void runtimes_hear(struct runtimes *runtimes, const struct publication *publication)
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

static void attend(struct runtime_box *box, int64_t now_ms)
{
    if (is_due(box->retry_at_ms, now_ms)) {
        box->retry_at_ms = 0;
        box_step(box);
    } else if (is_due(box->idle_at_ms, now_ms)) {
        box->asks_idle = true;
        box->viewers = fanout_is_watched(box->runtimes->options.fanout, box->session_key);
        box_step(box);
    }
}

static void on_timer(void *owner)
{
    struct runtimes *runtimes = owner;
    int64_t now_ms = runtimes_steady_ms(runtimes);
    size_t cursor = 0;
    for (struct runtime_box *box; (box = map_next(&runtimes->boxes, &cursor));) {
        if (is_due(box->retry_at_ms, now_ms) || is_due(box->idle_at_ms, now_ms)) {
            attend(box, now_ms);
        }
    }
    runtimes_rearm(runtimes);
}

/* --- start and stop --- */

static void submit_recovery(struct runtimes *runtimes)
{
    runtimes->recovers = !runtimes->stopping && writer_submit(runtimes->options.writer, &runtimes->recover);
}

static void on_recovered(struct loop_message *message)
{
    struct runtimes *runtimes = (struct runtimes *)((char *)message - offsetof(struct runtimes, recovered_message));
    runtimes->recovers = false;
    for (struct orphan *orphan = runtimes->orphans; orphan && !runtimes->stopping; orphan = orphan->next) {
        struct runtime_box *box = box_open(runtimes, orphan->tenant_key, orphan->session_key);
        box->adopts = true;
        box_step(box);
    }
    orphans_free(runtimes);
    runtimes_rearm(runtimes);
}

static void on_start(struct loop_message *message)
{
    struct runtimes *runtimes = (struct runtimes *)((char *)message - offsetof(struct runtimes, start_message));
    runtimes->timer = loop_timer_new(runtimes->options.loop, on_timer, runtimes);
    submit_recovery(runtimes);
    arm(runtimes);
}

void runtimes_start(struct runtimes *runtimes)
{
    runtimes->started = true;
    runtimes->recover.run = recover_run;
    runtimes->recover.finish = recover_finish;
    runtimes->recover.unbounded = true;
    runtimes->recovered_message.run = on_recovered;
    runtimes->start_message.run = on_start;
    loop_post(runtimes->options.loop, &runtimes->start_message);
}

static void on_stop(struct loop_message *message)
{
    struct runtimes *runtimes = (struct runtimes *)((char *)message - offsetof(struct runtimes, stop_message));
    struct runtime_box *box;
    for (size_t cursor = 0; (box = map_next(&runtimes->boxes, &cursor));) {
        if (!box->steps && !box->acts && box->uses == 0) {
            box->retry_at_ms = 0;
            box->news.there = false;
            box_give_up(box);
            box_forget_if_empty(box);
            cursor = 0; /* the map changed */
        }
    }
    finish_if_over(runtimes);
}

void runtimes_stop(struct runtimes *runtimes)
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

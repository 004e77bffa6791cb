#include "service/turn/turn_host.h"

#include <stdlib.h>

#include "service/turn/turn_run.h"

enum { TRY_AGAIN_MS = 1000 };

struct turn_host *turn_host_new(const struct turn_host_options *options)
{
    struct turn_host *host = memory_zeroed(sizeof *host);
    host->options = *options;
    pthread_mutex_init(&host->lock, NULL);
    pthread_cond_init(&host->changed, NULL);
    return host;
}

void turn_host_free(struct turn_host *host)
{
    if (host) {
        pthread_mutex_destroy(&host->lock);
        pthread_cond_destroy(&host->changed);
        free(host);
    }
}

int64_t turn_host_steady_ms(const struct turn_host *host)
{
    return clock_steady_ms(host->options.service->clock);
}

struct principal turn_principal(int64_t tenant_key, struct slice name)
{
    return (struct principal){
        .kind = PRINCIPAL_RUNNER,
        .tenant_key = tenant_key,
        .name = name,
        .scopes = SCOPE_READ | SCOPE_CLAIM,
    };
}

/* --- on the loop --- */

static int64_t earlier(int64_t a, int64_t b)
{
    return a == 0 || (b != 0 && b < a) ? b : a;
}

static void arm(struct turn_host *host)
{
    int64_t next_ms = host->is_claiming || host->stopping ? 0 : host->claim_again_ms;
    for (struct turn *turn = host->turns; turn; turn = turn->next) {
        next_ms = earlier(next_ms, turn->renew_at_ms);
        next_ms = earlier(next_ms, turn->retry_at_ms);
        next_ms = earlier(next_ms, turn->interrupt_until_ms);
    }
    if (next_ms != 0 && host->timer) {
        int64_t wait_ms = next_ms - turn_host_steady_ms(host);
        loop_timer_set(host->timer, wait_ms > 0 ? wait_ms : 0);
    }
}

static void finish_if_over(struct turn_host *host)
{
    if (!host->stopping || host->is_claiming || host->turns || !host->timer) {
        return;
    }
    loop_timer_free(host->timer);
    host->timer = NULL;
    for (size_t i = 0; i < DRIVER_COUNT; i++) {
        const struct driver *driver = host->options.drivers[i];
        if (driver && driver->close) {
            driver->close(driver->owner);
        }
    }
    pthread_mutex_lock(&host->lock);
    host->over = true;
    pthread_cond_signal(&host->changed);
    pthread_mutex_unlock(&host->lock);
}

void turn_host_rearm(struct turn_host *host)
{
    arm(host);
    finish_if_over(host);
}

static void submit_claim(struct turn_host *host)
{
    host->is_claiming = writer_submit(host->options.writer, &host->claim);
    host->claim_again_ms = turn_host_steady_ms(host) + TRY_AGAIN_MS;
}

static void on_timer(void *owner)
{
    struct turn_host *host = owner;
    int64_t now_ms = turn_host_steady_ms(host);
    for (struct turn *turn = host->turns, *next; turn; turn = next) {
        next = turn->next;
        turn_attend(turn, now_ms);
    }
    if (!host->is_claiming && host->claim_again_ms <= now_ms && !host->stopping) {
        submit_claim(host);
    }
    arm(host);
}

/* After a failure the next try waits a little; a claim that only cut orphans is followed by the next at once. */
static void on_claimed(struct loop_message *message)
{
    struct turn_host *host = (struct turn_host *)((char *)message - offsetof(struct turn_host, claimed_message));
    struct turn *found = host->found;
    host->found = NULL;
    host->is_claiming = false;
    host->claim_again_ms = turn_host_steady_ms(host) + (host->claim_failed ? TRY_AGAIN_MS : 0);
    while (found) {
        struct turn *turn = found;
        found = turn->next;
        turn_begin(host, turn);
    }
    on_timer(host);
    finish_if_over(host);
}

/* --- what the log says --- */

struct wakeup {
    struct loop_message message;
    struct turn_host *host;
    int64_t session_key; /* 0 = all */
};

static void on_wakeup(struct loop_message *message)
{
    struct wakeup *wakeup = (struct wakeup *)message;
    for (struct turn *turn = wakeup->host->turns, *next; turn; turn = next) {
        next = turn->next;
        if (wakeup->session_key == 0 || turn->input.session_key == wakeup->session_key) {
            turn_read_log(turn);
        }
    }
    free(wakeup);
}

void turn_host_wake(struct turn_host *host, int64_t session_key)
{
    if (!host || host->count == 0) {
        return;
    }
    struct wakeup *wakeup = memory_zeroed(sizeof *wakeup);
    *wakeup = (struct wakeup){{.run = on_wakeup}, host, session_key};
    loop_post(host->options.loop, &wakeup->message);
}

static bool concerns_turns(const struct publication_entry *entry)
{
    return entry->kind == PUBLISH_EVENTS && (event_kind_is_ask(entry->event.kind) || event_facts_move(&entry->event) ||
                                             entry->event.kind == EVENT_TURN_INTERRUPT_REQUESTED ||
                                             entry->event.kind == EVENT_INTROSPECTION_INTERRUPTED);
}

void turn_host_on_commit(struct turn_host *host, const struct publication *publication)
{
    if (!host) {
        return;
    }
    for (size_t i = 0; i < publication_count(publication); i++) {
        const struct publication_entry *entry = publication_at(publication, i);
        if (entry->kind == PUBLISH_EVENTS && entry->event.kind == EVENT_INTROSPECTION_STARTED) {
            turn_introspect(host, entry);
        } else if (concerns_turns(entry)) {
            turn_host_wake(host, entry->session_key);
        }
        turn_host_leave_if_over(host, entry);
    }
}

/* --- start and stop --- */

static void on_start(struct loop_message *message)
{
    struct turn_host *host = (struct turn_host *)((char *)message - offsetof(struct turn_host, start_message));
    host->timer = loop_timer_new(host->options.loop, on_timer, host);
    submit_claim(host);
    arm(host);
}

void turn_host_start(struct turn_host *host)
{
    host->claim.type = &turn_host_claim;
    host->claimed_message.run = on_claimed;
    host->start_message.run = on_start;
    host->started = true;
    loop_post(host->options.loop, &host->start_message);
}

static void on_stop(struct loop_message *message)
{
    struct turn_host *host = (struct turn_host *)((char *)message - offsetof(struct turn_host, stop_message));
    for (struct turn *turn = host->turns, *next; turn; turn = next) {
        next = turn->next;
        if (turn_is_open(turn)) {
            turn_abort_hosted(turn, "server_stopping");
        }
    }
    turn_host_rearm(host);
}

void turn_host_stop(struct turn_host *host)
{
    if (!host || !host->started) {
        return;
    }
    host->stopping = true;
    host->stop_message.run = on_stop;
    loop_post(host->options.loop, &host->stop_message);
    writer_retry_parked(host->options.writer); /* the standing claim comes back */
    pthread_mutex_lock(&host->lock);
    while (!host->over) {
        pthread_cond_wait(&host->changed, &host->lock);
    }
    pthread_mutex_unlock(&host->lock);
    host->started = false;
}

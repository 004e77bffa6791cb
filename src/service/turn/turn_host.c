#include "service/turn/turn_host.h"

#include <stdlib.h>

#include "service/turn/turn_run.h"

enum { TRY_AGAIN_MS = 1000 };

struct turn_host *turn_host_new(const struct turn_host_options *options)
{
    struct turn_host *turns = memory_zeroed(sizeof *turns);
    turns->options = *options;
    pthread_mutex_init(&turns->lock, NULL);
    pthread_cond_init(&turns->changed, NULL);
    return turns;
}

void turn_host_free(struct turn_host *turns)
{
    if (turns) {
        pthread_mutex_destroy(&turns->lock);
        pthread_cond_destroy(&turns->changed);
        free(turns);
    }
}

int64_t turn_host_steady_ms(const struct turn_host *turns)
{
    return clock_steady_ms(turns->options.service->clock);
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

static void arm(struct turn_host *turns)
{
    int64_t next_ms = turns->claims || turns->stopping ? 0 : turns->claim_again_ms;
    for (struct turn *turn = turns->runs; turn; turn = turn->next) {
        next_ms = earlier(next_ms, turn->renew_at_ms);
        next_ms = earlier(next_ms, turn->retry_at_ms);
        next_ms = earlier(next_ms, turn->interrupt_until_ms);
    }
    if (next_ms != 0 && turns->timer) {
        int64_t wait_ms = next_ms - turn_host_steady_ms(turns);
        loop_timer_set(turns->timer, wait_ms > 0 ? wait_ms : 0);
    }
}

static void finish_if_over(struct turn_host *turns)
{
    if (!turns->stopping || turns->claims || turns->runs || !turns->timer) {
        return;
    }
    loop_timer_free(turns->timer);
    turns->timer = NULL;
    for (size_t i = 0; i < DRIVER_COUNT; i++) {
        const struct driver *driver = turns->options.drivers[i];
        if (driver && driver->close) {
            driver->close(driver->owner);
        }
    }
    pthread_mutex_lock(&turns->lock);
    turns->over = true;
    pthread_cond_signal(&turns->changed);
    pthread_mutex_unlock(&turns->lock);
}

void turn_host_rearm(struct turn_host *turns)
{
    arm(turns);
    finish_if_over(turns);
}

static void submit_claim(struct turn_host *turns)
{
    turns->claims = writer_submit(turns->options.writer, &turns->claim);
    turns->claim_again_ms = turn_host_steady_ms(turns) + TRY_AGAIN_MS;
}

static void on_timer(void *owner)
{
    struct turn_host *turns = owner;
    int64_t now_ms = turn_host_steady_ms(turns);
    for (struct turn *turn = turns->runs, *next; turn; turn = next) {
        next = turn->next;
        turn_attend(turn, now_ms);
    }
    if (!turns->claims && turns->claim_again_ms <= now_ms && !turns->stopping) {
        submit_claim(turns);
    }
    arm(turns);
}

/* After a failure the next try waits a little; a claim that only cut orphans is followed by the next at once. */
static void on_claimed(struct loop_message *message)
{
    struct turn_host *turns = (struct turn_host *)((char *)message - offsetof(struct turn_host, claimed_message));
    struct turn *found = turns->found;
    turns->found = NULL;
    turns->claims = false;
    turns->claim_again_ms = turn_host_steady_ms(turns) + (turns->claim_failed ? TRY_AGAIN_MS : 0);
    while (found) {
        struct turn *turn = found;
        found = turn->next;
        turn_begin(turns, turn);
    }
    on_timer(turns);
    finish_if_over(turns);
}

/* --- what the log says --- */

struct poke {
    struct loop_message message;
    struct turn_host *turns;
    int64_t session_key; /* 0 = all */
};

static void on_poke(struct loop_message *message)
{
    struct poke *poke = (struct poke *)message;
    for (struct turn *turn = poke->turns->runs, *next; turn; turn = next) {
        next = turn->next;
        if (poke->session_key == 0 || turn->brief.session_key == poke->session_key) {
            turn_read_log(turn);
        }
    }
    free(poke);
}

void turn_host_wake(struct turn_host *turns, int64_t session_key)
{
    if (!turns || turns->count == 0) {
        return;
    }
    struct poke *poke = memory_zeroed(sizeof *poke);
    *poke = (struct poke){{.run = on_poke}, turns, session_key};
    loop_post(turns->options.loop, &poke->message);
}

static bool concerns_turns(const struct publication_entry *entry)
{
    return entry->kind == PUBLISH_EVENTS && (event_kind_is_ask(entry->event.kind) || event_facts_move(&entry->event) ||
                                             entry->event.kind == EVENT_TURN_INTERRUPT_REQUESTED ||
                                             entry->event.kind == EVENT_INTROSPECTION_INTERRUPTED);
}

void turn_host_on_commit(struct turn_host *turns, const struct publication *publication)
{
    if (!turns) {
        return;
    }
    for (size_t i = 0; i < publication_count(publication); i++) {
        const struct publication_entry *entry = publication_at(publication, i);
        if (entry->kind == PUBLISH_EVENTS && entry->event.kind == EVENT_INTROSPECTION_STARTED) {
            turn_introspect(turns, entry);
        } else if (concerns_turns(entry)) {
            turn_host_wake(turns, entry->session_key);
        }
        turn_host_leave_if_over(turns, entry);
    }
}

/* --- start and stop --- */

static void on_start(struct loop_message *message)
{
    struct turn_host *turns = (struct turn_host *)((char *)message - offsetof(struct turn_host, start_message));
    turns->timer = loop_timer_new(turns->options.loop, on_timer, turns);
    submit_claim(turns);
    arm(turns);
}

void turn_host_start(struct turn_host *turns)
{
    turns->claim.type = &turn_host_claim;
    turns->claimed_message.run = on_claimed;
    turns->start_message.run = on_start;
    turns->started = true;
    loop_post(turns->options.loop, &turns->start_message);
}

static void on_stop(struct loop_message *message)
{
    struct turn_host *turns = (struct turn_host *)((char *)message - offsetof(struct turn_host, stop_message));
    for (struct turn *turn = turns->runs, *next; turn; turn = next) {
        next = turn->next;
        if (turn_is_open(turn)) {
            turn_abort_hosted(turn, "server_stopping");
        }
    }
    turn_host_rearm(turns);
}

void turn_host_stop(struct turn_host *turns)
{
    if (!turns || !turns->started) {
        return;
    }
    turns->stopping = true;
    turns->stop_message.run = on_stop;
    loop_post(turns->options.loop, &turns->stop_message);
    writer_retry_parked(turns->options.writer); /* the standing claim comes back */
    pthread_mutex_lock(&turns->lock);
    while (!turns->over) {
        pthread_cond_wait(&turns->changed, &turns->lock);
    }
    pthread_mutex_unlock(&turns->lock);
    turns->started = false;
}

#include "service/turns.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/log.h"
#include "loop/timer.h"
#include "service/claim.h"
#include "service/event.h"

enum { LOOK_AGAIN_MS = 30000, TRY_AGAIN_MS = 1000, QUEUE_FULL_MS = 50 };

/* What a turn asks of the writer, one thing at a time. */
enum turn_wish { WISH_APPEND, WISH_SETTLE, WISH_RENEW, WISH_RELEASE };

/* One turn. Owned by the loop; by the writer while `waits`. */
struct turn_run {
    struct write_job job; /* first: the job is the turn */
    struct loop_message message;
    struct turns *turns;
    struct turn_run *next;
    struct arena arena;     /* of what lives as long as the turn */
    struct arena act_arena; /* of the next act */
    struct script_turn turn;
    struct act act;
    int64_t tenant_key, session_key;
    struct slice session_id;
    char lease[TOKEN_TEXT_BYTES];
    int64_t lease_ms;
    int64_t due_ms, renew_at_ms; /* steady */
    int64_t sequence;            /* of the last event it knows */
    bool waits;
    enum turn_wish wish;
    enum status status; /* of the wish */
};

struct turns {
    struct write_job claim; /* first: the job is its owner */
    struct turns_options options;
    struct loop_message start_message, claimed_message, stop_message;
    struct turn_run *found; /* by the claim, on its way to the loop */
    /* the loop's */
    struct loop_timer *timer;
    struct turn_run *runs;
    bool claims;            /* the claim is in the writer */
    int64_t claim_again_ms; /* steady; when it is not */
    _Atomic int64_t count;
    atomic_bool stopping;
    bool started;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool over; /* under the lock */
};

struct turns *turns_new(const struct turns_options *options)
{
    struct turns *turns = memory_zeroed(sizeof *turns);
    turns->options = *options;
    pthread_mutex_init(&turns->lock, NULL);
    pthread_cond_init(&turns->changed, NULL);
    return turns;
}

void turns_free(struct turns *turns)
{
    if (turns) {
        pthread_mutex_destroy(&turns->lock);
        pthread_cond_destroy(&turns->changed);
        free(turns);
    }
}

static int64_t steady_now(const struct turns *turns)
{
    return clock_steady_ms(turns->options.service->clock);
}

static void run_free(struct turn_run *run)
{
    arena_release(&run->arena);
    arena_release(&run->act_arena);
    free(run);
}

/* --- on the writer --- */

static struct principal agent_in(const struct turns *turns, int64_t tenant_key, struct arena *arena)
{
    return (struct principal){
        .kind = PRINCIPAL_RUNNER,
        .tenant_key = tenant_key,
        .name = arena_format(arena, "agent:%s", turns->options.driver->agent),
        .scopes = SCOPE_READ | SCOPE_CLAIM,
    };
}

static struct call call_of(struct turns *turns, struct unit *unit, struct arena *arena)
{
    struct service *service = turns->options.service;
    return (struct call){
        .service = service,
        .db = unit->db,
        .unit = unit,
        .arena = arena,
        .now_ms = clock_wall_ms(service->clock),
        .steady_ms = clock_steady_ms(service->clock),
    };
}

struct last_words {
    struct slice text;
    struct arena *arena;
};

static bool keep_words(void *owner, const struct event *event)
{
    struct last_words *words = owner;
    words->text = prompt_text_of(words->arena, arena_copy(words->arena, event->content));
    return false;
}

static enum status read_last_words(struct call *call, const struct session *session, struct last_words *out)
{
    static const struct slice types[] = {{"user.message", 12}};
    struct event_filter filter = {.tenant_key = session->tenant_key,
                                  .session_key = session->key,
                                  .types = types,
                                  .type_count = 1,
                                  .newest_first = true,
                                  .limit = 1};
    return store_event_read(call->db, &filter, keep_words, out, &call->failure);
}

static enum status add_found(struct call *call, struct turns *turns, const struct claimed *claimed)
{
    const struct session *session = &claimed->loaded->session;
    struct turn_run *run = memory_zeroed(sizeof *run);
    struct last_words words = {SLICE(""), &run->arena};
    run->turns = turns;
    run->tenant_key = session->tenant_key;
    run->session_key = session->key;
    run->session_id = arena_copy(&run->arena, session->id);
    run->sequence = session->last_sequence;
    run->turn.number = claimed->fence;
    run->lease_ms = claimed->expires_at_ms - call->now_ms;
    memcpy(run->lease, claimed->token, sizeof run->lease);
    run->next = turns->found;
    turns->found = run;
    enum status status = read_last_words(call, session, &words);
    run->turn.said = words.text;
    return status;
}

static void forget_found(struct turns *turns)
{
    while (turns->found) {
        struct turn_run *run = turns->found;
        turns->found = run->next;
        run_free(run);
    }
}

static enum status claim_in(struct call *call, struct turns *turns, int64_t tenant_key, int64_t *room)
{
    struct principal agent = agent_in(turns, tenant_key, call->arena);
    struct claim_request request = {.worker = agent.name,
                                    .agents = {slice_of(turns->options.driver->agent)},
                                    .agent_count = 1,
                                    .hosted = true,
                                    .max = *room};
    struct claimed claimed[CLAIM_BATCH_MAX];
    size_t count = 0;
    call->who = &agent;
    enum status status = claim_take(call, &request, claimed, &count);
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        status = add_found(call, turns, &claimed[i]);
    }
    *room -= (int64_t)count;
    return status;
}

static enum status claim_everywhere(struct call *call, struct turns *turns)
{
    struct tenant *tenants;
    size_t count = 0;
    int64_t room = turns->options.turns_max - turns->count;
    if (room <= 0) {
        return STATUS_OK;
    }
    enum status status = store_tenant_list(call->db, call->arena, &tenants, &count, &call->failure);
    for (size_t i = 0; i < count && room > 0 && status == STATUS_OK; i++) {
        status = claim_in(call, turns, tenants[i].key, &room);
    }
    return status;
}

static enum job_outcome claim_run(struct write_job *job, struct unit *unit)
{
    struct turns *turns = (struct turns *)job;
    struct arena arena = {0};
    int64_t writes_before = unit->writes;
    forget_found(turns);
    if (turns->stopping) {
        return JOB_DONE;
    }
    struct call call = call_of(turns, unit, &arena);
    enum status status = claim_everywhere(&call, turns);
    arena_release(&arena);
    if (status != STATUS_OK) {
        forget_found(turns);
        log_warn("agent_claim_failed", LOG_TEXT("code", slice_of(call.failure.code)),
                 LOG_TEXT("detail", slice_of(call.failure.detail)));
        return unit->writes != writes_before ? JOB_SPOILED : JOB_DONE;
    }
    job->parked_until_ms = call.steady_ms + LOOK_AGAIN_MS;
    return turns->found ? JOB_DONE : JOB_PARKED;
}

static void claim_finish(struct write_job *job, enum status status, const struct failure *failure)
{
    struct turns *turns = (struct turns *)job;
    (void)failure;
    if (status != STATUS_OK) {
        forget_found(turns);
    }
    loop_post(turns->options.loop, &turns->claimed_message);
}

static enum status wish_append(struct call *call, struct turn_run *run)
{
    struct event event = run->act.event; /* a copy: the job may run twice */
    bool duplicate = false;
    struct append append = {.events = &event, .duplicates = &duplicate, .count = 1, .if_sequence = -1};
    enum status status = event_append(call, run->session_id, &append);
    run->sequence = status == STATUS_OK ? event.sequence : run->sequence;
    return status;
}

static enum status wish_settle(struct call *call, struct turn_run *run)
{
    struct session_entry entry;
    struct settlement settlement = {.to = run->act.to};
    enum status status = json_parse(call->arena, run->act.usage, &settlement.usage, &call->failure);
    return status == STATUS_OK ? claim_settle(call, run->session_id, &settlement, &entry) : status;
}

static enum status wish_renew(struct call *call, struct turn_run *run)
{
    struct session_entry entry;
    int64_t expires_at_ms;
    return claim_heartbeat(call, run->session_id, 0, &entry, &expires_at_ms);
}

static enum status wish_release(struct call *call, struct turn_run *run)
{
    struct session_entry entry;
    return claim_release(call, run->session_id, &entry);
}

static enum status (*const wishes[])(struct call *call, struct turn_run *run) = {
    [WISH_APPEND] = wish_append,
    [WISH_SETTLE] = wish_settle,
    [WISH_RENEW] = wish_renew,
    [WISH_RELEASE] = wish_release,
};

static enum job_outcome wish_run(struct write_job *job, struct unit *unit)
{
    struct turn_run *run = (struct turn_run *)job;
    struct arena arena = {0};
    int64_t writes_before = unit->writes;
    struct call call = call_of(run->turns, unit, &arena);
    struct principal agent = agent_in(run->turns, run->tenant_key, &arena);
    call.who = &agent;
    call.lease_token = slice_of(run->lease);
    run->status = wishes[run->wish](&call, run);
    arena_release(&arena);
    return run->status != STATUS_OK && unit->writes != writes_before ? JOB_SPOILED : JOB_DONE;
}

static void wish_finish(struct write_job *job, enum status status, const struct failure *failure)
{
    struct turn_run *run = (struct turn_run *)job;
    (void)failure;
    if (status != STATUS_OK) {
        run->status = status;
    }
    loop_post(run->turns->options.loop, &run->message);
}

/* --- on the loop --- */

static void arm(struct turns *turns)
{
    int64_t next_ms = turns->claims || turns->stopping ? INT64_MAX : turns->claim_again_ms;
    for (struct turn_run *run = turns->runs; run; run = run->next) {
        if (!run->waits && run->due_ms < next_ms) {
            next_ms = run->due_ms;
        }
    }
    if (next_ms != INT64_MAX) {
        loop_timer_set(turns->timer, next_ms - steady_now(turns));
    }
}

static void finish_if_over(struct turns *turns)
{
    if (!turns->stopping || turns->claims || turns->runs || !turns->timer) {
        return;
    }
    loop_timer_free(turns->timer);
    turns->timer = NULL;
    pthread_mutex_lock(&turns->lock);
    turns->over = true;
    pthread_cond_signal(&turns->changed);
    pthread_mutex_unlock(&turns->lock);
}

static void end_run(struct turn_run *run)
{
    struct turns *turns = run->turns;
    struct turn_run **link = &turns->runs;
    while (*link != run) {
        link = &(*link)->next;
    }
    *link = run->next;
    run_free(run);
    if (turns->count-- == turns->options.turns_max) {
        writer_poke(turns->options.writer); /* there is room again */
    }
}

static void ask(struct turn_run *run, enum turn_wish wish)
{
    run->wish = wish;
    run->status = STATUS_OK;
    run->waits = writer_submit(run->turns->options.writer, &run->job);
    run->due_ms = steady_now(run->turns) + QUEUE_FULL_MS; /* when the writer has no room */
}

static void publish_delta(const struct turn_run *run)
{
    struct publication *publication = publication_new();
    struct buffer json = {0};
    struct json_out out = json_out_to(&json);
    json_begin_object(&out);
    json_put_text(&out, "kind", run->act.delta_kind);
    json_put_text(&out, "text", run->act.delta_text);
    json_end_object(&out);
    publication_add(publication, &(struct publication_entry){
                                     .kind = PUBLISH_DELTA,
                                     .tenant_key = run->tenant_key,
                                     .session_key = run->session_key,
                                     .session_id = run->session_id,
                                     .sequence = run->sequence,
                                     .type = run->act.delta_kind,
                                     .json = buffer_slice(&json),
                                 });
    buffer_release(&json);
    fanout_publish(run->turns->options.fanout, publication);
}

static void plan_next(struct turn_run *run)
{
    struct turns *turns = run->turns;
    arena_reset(&run->act_arena);
    turns->options.driver->next(&run->turn, &run->act_arena, &run->act);
    run->due_ms = steady_now(turns) + (turns->stopping ? 0 : run->act.after_ms);
}

static void perform(struct turn_run *run)
{
    if (run->turns->stopping) {
        ask(run, WISH_RELEASE);
        return;
    }
    if (steady_now(run->turns) >= run->renew_at_ms) {
        ask(run, WISH_RENEW);
        return;
    }
    switch (run->act.kind) {
    case ACT_DELTA:
        publish_delta(run);
        plan_next(run);
        break;
    case ACT_EVENT:
        ask(run, WISH_APPEND);
        break;
    case ACT_SETTLE:
        ask(run, WISH_SETTLE);
        break;
    }
}

static void on_wish_done(struct loop_message *message)
{
    struct turn_run *run = (struct turn_run *)((char *)message - offsetof(struct turn_run, message));
    struct turns *turns = run->turns;
    run->waits = false;
    if (run->status != STATUS_OK || run->wish == WISH_SETTLE || run->wish == WISH_RELEASE) {
        end_run(run);
    } else if (run->wish == WISH_RENEW) {
        run->renew_at_ms = steady_now(turns) + run->lease_ms / 3;
        run->due_ms = steady_now(turns);
    } else {
        plan_next(run);
    }
    arm(turns);
    finish_if_over(turns);
}

static void submit_claim(struct turns *turns)
{
    turns->claims = writer_submit(turns->options.writer, &turns->claim);
    turns->claim_again_ms = steady_now(turns) + TRY_AGAIN_MS;
}

static void on_timer(void *owner)
{
    struct turns *turns = owner;
    int64_t now_ms = steady_now(turns);
    for (struct turn_run *run = turns->runs; run; run = run->next) {
        if (!run->waits && run->due_ms <= now_ms) {
            perform(run);
        }
    }
    if (!turns->claims && turns->claim_again_ms <= now_ms && !turns->stopping) {
        submit_claim(turns);
    }
    arm(turns);
}

static void begin_run(struct turns *turns, struct turn_run *run)
{
    run->job.run = wish_run;
    run->job.finish = wish_finish;
    run->message.run = on_wish_done;
    run->renew_at_ms = steady_now(turns) + run->lease_ms / 3;
    run->next = turns->runs;
    turns->runs = run;
    turns->count++;
    plan_next(run);
}

/* A claim that found nothing did not come back for nothing: something failed, so the next try waits a little. */
static void on_claimed(struct loop_message *message)
{
    struct turns *turns = (struct turns *)((char *)message - offsetof(struct turns, claimed_message));
    struct turn_run *found = turns->found;
    turns->found = NULL;
    turns->claims = false;
    turns->claim_again_ms = steady_now(turns) + (found ? 0 : TRY_AGAIN_MS);
    while (found) {
        struct turn_run *run = found;
        found = run->next;
        begin_run(turns, run);
    }
    on_timer(turns);
    finish_if_over(turns);
}

/* --- start and stop --- */

static void on_start(struct loop_message *message)
{
    struct turns *turns = (struct turns *)((char *)message - offsetof(struct turns, start_message));
    turns->timer = loop_timer_new(turns->options.loop, on_timer, turns);
    submit_claim(turns);
    arm(turns);
}

void turns_start(struct turns *turns)
{
    turns->claim.run = claim_run;
    turns->claim.finish = claim_finish;
    turns->claim.standing = true;
    turns->claimed_message.run = on_claimed;
    turns->start_message.run = on_start;
    turns->started = true;
    loop_post(turns->options.loop, &turns->start_message);
}

static void on_stop(struct loop_message *message)
{
    struct turns *turns = (struct turns *)((char *)message - offsetof(struct turns, stop_message));
    for (struct turn_run *run = turns->runs; run; run = run->next) {
        run->due_ms = steady_now(turns); /* every turn gives its session back as soon as it may */
    }
    on_timer(turns);
    finish_if_over(turns);
}

void turns_stop(struct turns *turns)
{
    if (!turns || !turns->started) {
        return;
    }
    turns->stopping = true;
    turns->stop_message.run = on_stop;
    loop_post(turns->options.loop, &turns->stop_message);
    writer_poke(turns->options.writer); /* the standing claim comes back */
    pthread_mutex_lock(&turns->lock);
    while (!turns->over) {
        pthread_cond_wait(&turns->changed, &turns->lock);
    }
    pthread_mutex_unlock(&turns->lock);
    turns->started = false;
}

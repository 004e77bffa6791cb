#include "service/turns.h"

#include <stdlib.h>

#include "base/log.h"
#include "service/turn_close.h"
#include "service/turn_run.h"

enum { LOOK_AGAIN_MS = 30000, TRY_AGAIN_MS = 1000 };

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

int64_t turns_steady_ms(const struct turns *turns)
{
    return clock_steady_ms(turns->options.service->clock);
}

struct call turn_call(struct turns *turns, struct db *db, struct unit *unit, struct arena *arena)
{
    struct service *service = turns->options.service;
    return (struct call){
        .service = service,
        .db = db,
        .unit = unit,
        .arena = arena,
        .now_ms = clock_wall_ms(service->clock),
        .steady_ms = clock_steady_ms(service->clock),
    };
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

static void turn_free(struct turn *turn)
{
    said_free_all(turn->said);
    said_free_all(turn->writing);
    arena_release(&turn->arena);
    arena_release(&turn->heard_arena);
    free(turn);
}

/* --- the claim, on the writer --- */

static void add_found(struct call *call, struct turns *turns, const struct claimed *claimed)
{
    const struct session *session = &claimed->loaded->session;
    struct turn *turn = memory_zeroed(sizeof *turn);
    turn->turns = turns;
    turn->said_end = &turn->said;
    turn->brief.loop = turns->options.loop;
    turn->brief.tenant_key = session->tenant_key;
    turn->brief.session_key = session->key;
    turn->brief.session_id = arena_copy(&turn->arena, session->id);
    turn->brief.number = claimed->fence;
    turn->actor = arena_format(&turn->arena, "agent:%.*s", SLICE_ARG(session->agent));
    turn->driver = turns->options.drivers[session->driver];
    turn->sequence = turn->heard = session->last_sequence;
    turn->lease_ms = claimed->expires_at_ms - call->now_ms;
    memcpy(turn->lease, claimed->token, sizeof turn->lease);
    turn->next = turns->found;
    turns->found = turn;
}

static void forget_found(struct turns *turns)
{
    while (turns->found) {
        struct turn *turn = turns->found;
        turns->found = turn->next;
        turn_free(turn);
    }
}

static enum status claim_in(struct call *call, struct turns *turns, int64_t tenant_key, int64_t *room)
{
    struct principal host = turn_principal(tenant_key, SLICE(TURN_HOST_NAME));
    struct claim_request request = {.worker = host.name, .hosted = true, .max = *room};
    struct claimed claimed[CLAIM_BATCH_MAX];
    size_t count = 0;
    call->who = &host;
    enum status status = claim_take(call, &request, claimed, &count);
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        add_found(call, turns, &claimed[i]);
    }
    *room -= (int64_t)count;
    return status;
}

/* Of those taken before this try, and of those that became ready since; what there is no room for is not taken. */
static enum status claim_ready(struct call *call, struct turns *turns, int64_t *room)
{
    const struct turns_options *options = &turns->options;
    size_t most = *room < TURN_CANDIDATES_MAX ? (size_t)*room : TURN_CANDIDATES_MAX;
    enum status status = STATUS_OK;
    if (options->take_ready && turns->ready_count < most) {
        turns->ready_count +=
            options->take_ready(options->ready_owner, turns->ready + turns->ready_count, most - turns->ready_count);
    }
    for (size_t i = 0; i < turns->ready_count && status == STATUS_OK; i++) {
        struct principal host = turn_principal(turns->ready[i].tenant_key, SLICE(TURN_HOST_NAME));
        struct claim_request request = {.worker = host.name, .hosted = true, .max = 1};
        struct claimed claimed;
        bool taken = false;
        call->who = &host;
        status = claim_take_key(call, &request, turns->ready[i].session_key, &claimed, &taken);
        if (taken) {
            add_found(call, turns, &claimed);
            (*room)--;
        }
    }
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
    enum status status = claim_ready(call, turns, &room);
    if (status == STATUS_OK) {
        status = store_tenant_list(call->db, call->arena, &tenants, &count, &call->failure);
    }
    for (size_t i = 0; i < count && room > 0 && status == STATUS_OK; i++) {
        status = claim_in(call, turns, tenants[i].key, &room);
    }
    return status;
}

/* SQLite has one server: a lease of a host that is found at its start belongs to a life before. On PostgreSQL it may be
 * another node's, and runs out by itself. */
static enum status cut_orphans(struct call *call, struct turns *turns)
{
    struct lease *leases;
    size_t count = 0;
    static const struct principal server = {.kind = PRINCIPAL_SYSTEM, .name = {"system", 6}};
    if (turns->orphans_cut || db_engine(call->db) == DB_POSTGRES) {
        return STATUS_OK;
    }
    call->who = &server;
    enum status status =
        store_lease_of_worker(call->db, SLICE(TURN_HOST_NAME), call->arena, &leases, &count, &call->failure);
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        struct loaded_session *loaded;
        status = unit_load_key(call->unit, leases[i].tenant_key, leases[i].session_key, &loaded, &call->failure);
        if (status == STATUS_OK) {
            status = turn_cut(call, loaded, "server_restarted");
        }
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
    struct call call = turn_call(turns, unit->db, unit, &arena);
    enum status status = cut_orphans(&call, turns);
    if (status == STATUS_OK) {
        status = claim_everywhere(&call, turns);
    }
    arena_release(&arena);
    if (status != STATUS_OK) {
        forget_found(turns);
        log_warn("agent_claim_failed", LOG_TEXT("code", slice_of(call.failure.code)),
                 LOG_TEXT("detail", slice_of(call.failure.detail)));
        return unit->writes != writes_before ? JOB_SPOILED : JOB_DONE;
    }
    if (turns->found || unit->writes != writes_before) {
        return JOB_DONE;
    }
    job->parked_until_ms = call.steady_ms + LOOK_AGAIN_MS;
    turns->orphans_cut = true;
    turns->ready_count = 0;
    return JOB_PARKED;
}

static void claim_finish(struct write_job *job, enum status status, const struct failure *failure)
{
    struct turns *turns = (struct turns *)job;
    (void)failure;
    if (status != STATUS_OK) {
        forget_found(turns);
    } else {
        turns->orphans_cut = true;
        turns->ready_count = 0;
    }
    loop_post(turns->options.loop, &turns->claimed_message);
}

/* --- on the loop --- */

static int64_t earlier(int64_t a, int64_t b)
{
    return a == 0 || (b != 0 && b < a) ? b : a;
}

static void arm(struct turns *turns)
{
    int64_t next_ms = turns->claims || turns->stopping ? 0 : turns->claim_again_ms;
    for (struct turn *turn = turns->runs; turn; turn = turn->next) {
        next_ms = earlier(next_ms, turn->renew_at_ms);
        next_ms = earlier(next_ms, turn->retry_at_ms);
        next_ms = earlier(next_ms, turn->interrupt_until_ms);
    }
    if (next_ms != 0 && turns->timer) {
        int64_t wait_ms = next_ms - turns_steady_ms(turns);
        loop_timer_set(turns->timer, wait_ms > 0 ? wait_ms : 0);
    }
}

static void finish_if_over(struct turns *turns)
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

/* Takes the driver out of the turn; what it says from now on is not heard. */
static void part_from_driver(struct turn *turn)
{
    if (turn->started) {
        turn->started = false;
        turn->driver->free(turn->state);
    }
}

static void drop(struct turn *turn)
{
    struct turns *turns = turn->turns;
    struct turn **link = &turns->runs;
    turn->over = true;
    part_from_driver(turn);
    runtimes_leave(&turn->use);
    while (*link != turn) {
        link = &(*link)->next;
    }
    *link = turn->next;
    turn_free(turn);
    if (turns->count-- == turns->options.turns_max) {
        writer_poke(turns->options.writer); /* there is room again */
    }
}

/* Somebody else has the session now, or it ended: the driver learns it and nothing more is written. */
static void give_up(struct turn *turn)
{
    turn->over = true;
    if (turn->started) {
        turn->driver->interrupt(turn->state, true);
    }
    if (!turn->waits && !turn->briefs) {
        drop(turn);
    }
}

/* The host ends the turn in its driver's place. */
static void end_without_driver(struct turn *turn, const struct turn_end *end)
{
    if (turn->started) {
        turn->driver->interrupt(turn->state, true);
    }
    turn->ended = false;
    said_free_all(turn->said);
    turn->said = NULL;
    turn->said_end = &turn->said;
    turn->said_bytes = 0;
    turn_end(turn, end);
}

static void cut(struct turn *turn, const char *cause)
{
    struct said *said = said_new(SAID_CUT);
    if (turn->started) {
        turn->driver->interrupt(turn->state, true);
    }
    said->text = arena_format(&said->arena, "%s", cause);
    turn->ended = false;
    turn_say(turn, said);
    turn->ended = true;
}

void turn_return(struct turn *turn, const char *cause)
{
    struct said *said = said_new(SAID_CUT);
    said->text = arena_format(&said->arena, "%s", cause);
    turn_say(turn, said);
    turn->ended = true;
}

/* A look that is under way may have read the log before what is told now. */
static void look(struct turn *turn)
{
    turn->looks_again = turn->looks;
    if (!turn->looks && !turn->ended) {
        turn->looks = true;
        turn_say(turn, said_new(SAID_LOOK));
    }
}

static void interrupt(struct turn *turn)
{
    if (turn->interrupt_until_ms || turn->ended) {
        return;
    }
    turn->interrupt_until_ms = turns_steady_ms(turn->turns) + turn->turns->options.interrupt_ms;
    if (turn->started) {
        turn->driver->interrupt(turn->state, false);
    } else {
        end_without_driver(turn, &(struct turn_end){.stop = TURN_ABORTED, .to = WORK_IDLE});
    }
}

static void hear(struct turn *turn, const struct event *event)
{
    const struct json *said = NULL;
    if (turn->ended || turn->over || json_parse(&turn->heard_arena, event->metadata, &said, NULL) != STATUS_OK) {
        return;
    }
    bool of_this_turn = json_i64_of(said, "turn") == turn->brief.number;
    if (slice_is(event->type, "session.status_change")) {
        int to = words_find(work_words, json_text_of(said, "to"));
        if (to >= 0 && work_is_ended((enum work)to)) {
            turn->lost = true;
        }
    } else if (slice_is(event->type, "turn.interrupt_requested")) {
        if (of_this_turn) {
            interrupt(turn);
        }
    } else if (of_this_turn && turn->started) {
        struct ask ask;
        ask_of_event(event->type, said, &ask);
        turn->driver->answer(turn->state, &ask);
    }
}

static void hear_all(struct turn *turn)
{
    for (size_t i = 0; i < turn->heard_count; i++) {
        hear(turn, &turn->heard_events[i]);
    }
    turn->heard = turn->looked_until > turn->heard ? turn->looked_until : turn->heard;
    turn->heard_count = 0;
}

/* Tells the driver what became of the things it said that have an answer of their own. */
static void answer_served(struct turn *turn, struct said *written)
{
    for (struct said *said = written; said; said = said->next) {
        if (said->kind == SAID_SERVE && turn->started) {
            said->then.done(said->then.owner, said->result, said->error);
        }
        if (said->kind == SAID_ASK && said->decided && turn->started) {
            turn->driver->answer(turn->state, &said->opened);
        }
        turn->looks &= said->kind != SAID_LOOK;
    }
}

static void after_write(struct turn *turn)
{
    struct said *written = turn->writing;
    bool ended = false;
    turn->writing = NULL;
    turn->sequence = turn->written_sequence;
    for (struct said *said = written; said; said = said->next) {
        turn->said_bytes -= said->bytes;
        ended |= said->kind == SAID_END || said->kind == SAID_CUT;
    }
    if (!ended) {
        answer_served(turn, written);
        hear_all(turn);
        if (turn->looks_again && !turn->looks) {
            look(turn);
        }
    }
    said_free_all(written);
    if (ended) {
        drop(turn);
    } else if (turn->lost) {
        give_up(turn);
    } else {
        turn_flush(turn);
    }
}

/* What could not be written: a storage that does not answer is tried again, a lost session is given up, and nonsense
 * ends the turn with a word about it. */
static void after_failed_write(struct turn *turn)
{
    if (turn->status == STATUS_UNAVAILABLE) {
        turn->retry_at_ms = turns_steady_ms(turn->turns) + TRY_AGAIN_MS;
        return;
    }
    bool was_end = turn->ended;
    if (turn->status == STATUS_STALE || turn->status == STATUS_NOT_FOUND || turn->status == STATUS_UNCERTAIN ||
        was_end) {
        give_up(turn);
        return;
    }
    struct arena arena = {0};
    struct slice message = arena_format(&arena, "%s", turn->failure.detail);
    log_warn("turn_write_failed", LOG_TEXT("session", turn->brief.session_id),
             LOG_TEXT("code", slice_of(turn->failure.code)), LOG_TEXT("detail", message));
    said_free_all(turn->writing);
    turn->writing = NULL;
    end_without_driver(
        turn,
        &(struct turn_end){.stop = TURN_ERROR, .error = TURN_INTERNAL, .error_message = message, .to = WORK_IDLE});
    arena_release(&arena);
}

static void on_written(struct loop_message *message)
{
    struct turn *turn = (struct turn *)((char *)message - offsetof(struct turn, message));
    struct turns *turns = turn->turns;
    turn->waits = false;
    if (turn->over) {
        drop(turn);
    } else if (turn->status == STATUS_OK) {
        after_write(turn);
    } else {
        after_failed_write(turn);
    }
    arm(turns);
    finish_if_over(turns);
}

static void start_driver(struct turn *turn)
{
    if (!turn->driver) {
        end_without_driver(turn, &(struct turn_end){.stop = TURN_ERROR,
                                                    .error = TURN_INTERNAL,
                                                    .error_message = SLICE("This server does not run such agents."),
                                                    .to = WORK_IDLE});
        return;
    }
    turn->state = turn->driver->start(turn->driver->owner, turn, &turn->brief);
    turn->started = true;
}

static void on_ready(void *owner, struct sandbox *sandbox, const struct failure *failure)
{
    struct turn *turn = owner;
    struct turns *turns = turn->turns;
    turn->readies = false;
    turn->brief.sandbox = sandbox;
    if (turn->ended || turn->over) {
        return;
    }
    if (sandbox) {
        start_driver(turn);
    } else {
        end_without_driver(turn, &(struct turn_end){.stop = TURN_ERROR,
                                                    .error = TURN_SANDBOX_ERROR,
                                                    .error_message = slice_of(failure->detail),
                                                    .to = WORK_IDLE});
    }
    turn_flush(turn);
    arm(turns);
}

static void meet_driver(struct turn *turn)
{
    struct runtimes *runtimes = turn->turns->options.runtimes;
    if (turn->ended) {
        return;
    }
    if (turn->status == STATUS_OK && turn->driver && runtimes && turn->agent.sandbox.kind != SANDBOX_NONE) {
        turn->readies = true;
        turn->use.owner = turn;
        turn->use.ready = on_ready;
        runtimes_ensure(runtimes, turn->brief.tenant_key, turn->brief.session_key, &turn->use);
        return;
    }
    if (turn->status == STATUS_OK) {
        start_driver(turn);
        return;
    }
    end_without_driver(turn, &(struct turn_end){.stop = TURN_ERROR,
                                                .error = TURN_INTERNAL,
                                                .error_message = slice_of(turn->failure.detail),
                                                .to = WORK_IDLE});
}

static void on_briefed(struct loop_message *message)
{
    struct turn *turn = (struct turn *)((char *)message - offsetof(struct turn, briefed_message));
    struct turns *turns = turn->turns;
    turn->briefs = false;
    if (turn->over) {
        drop(turn);
    } else {
        meet_driver(turn);
        turn_flush(turn);
    }
    arm(turns);
    finish_if_over(turns);
}

static void submit_claim(struct turns *turns)
{
    turns->claims = writer_submit(turns->options.writer, &turns->claim);
    turns->claim_again_ms = turns_steady_ms(turns) + TRY_AGAIN_MS;
}

static bool is_due(int64_t at_ms, int64_t now_ms)
{
    return at_ms != 0 && at_ms <= now_ms;
}

static void attend(struct turn *turn, int64_t now_ms)
{
    if (is_due(turn->retry_at_ms, now_ms)) {
        turn->retry_at_ms = 0;
        turn_flush(turn);
    }
    if (!turn->briefs && !turn->readies && !turn->started && !turn->ended && !turn->over) {
        turn_read_brief(turn);
    }
    if (is_due(turn->renew_at_ms, now_ms)) {
        turn->renew_at_ms = now_ms + turn->lease_ms / 3;
        turn_say(turn, said_new(SAID_RENEW));
        look(turn); /* on PostgreSQL a notification may get lost */
    }
    if (is_due(turn->interrupt_until_ms, now_ms) && !turn->ended) {
        turn->interrupt_until_ms = 0;
        end_without_driver(turn, &(struct turn_end){.stop = TURN_ABORTED,
                                                    .to = WORK_IDLE,
                                                    .reason = SLICE("interrupted; the agent did not answer")});
    }
}

static void on_timer(void *owner)
{
    struct turns *turns = owner;
    int64_t now_ms = turns_steady_ms(turns);
    for (struct turn *turn = turns->runs, *next; turn; turn = next) {
        next = turn->next;
        attend(turn, now_ms);
    }
    if (!turns->claims && turns->claim_again_ms <= now_ms && !turns->stopping) {
        submit_claim(turns);
    }
    arm(turns);
}

static void begin(struct turns *turns, struct turn *turn)
{
    turn->job.run = turn_write_run;
    turn->job.finish = turn_write_finish;
    turn->message.run = on_written;
    turn->briefed_message.run = on_briefed;
    turn->renew_at_ms = turns_steady_ms(turns) + turn->lease_ms / 3;
    turn->next = turns->runs;
    turns->runs = turn;
    turns->count++;
    if (turns->stopping) {
        cut(turn, "server_stopping");
    } else {
        turn_read_brief(turn);
    }
}

/* A claim that found nothing did not come back for nothing: something failed, so the next try waits a little. */
static void on_claimed(struct loop_message *message)
{
    struct turns *turns = (struct turns *)((char *)message - offsetof(struct turns, claimed_message));
    struct turn *found = turns->found;
    turns->found = NULL;
    turns->claims = false;
    turns->claim_again_ms = turns_steady_ms(turns) + (found ? 0 : TRY_AGAIN_MS);
    while (found) {
        struct turn *turn = found;
        found = turn->next;
        begin(turns, turn);
    }
    on_timer(turns);
    finish_if_over(turns);
}

/* --- what the log says --- */

struct poke {
    struct loop_message message;
    struct turns *turns;
    int64_t session_key; /* 0 = all */
};

static void on_poke(struct loop_message *message)
{
    struct poke *poke = (struct poke *)message;
    for (struct turn *turn = poke->turns->runs, *next; turn; turn = next) {
        next = turn->next;
        if (poke->session_key == 0 || turn->brief.session_key == poke->session_key) {
            look(turn);
        }
    }
    free(poke);
}

void turns_poke(struct turns *turns, int64_t session_key)
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
    return entry->kind == PUBLISH_EVENTS &&
           (slice_starts(entry->type, SLICE("ask.")) || slice_is(entry->type, "turn.interrupt_requested") ||
            slice_is(entry->type, "session.status_change"));
}

void turns_hear(struct turns *turns, const struct publication *publication)
{
    if (!turns || turns->count == 0) {
        return;
    }
    for (size_t i = 0; i < publication_count(publication); i++) {
        const struct publication_entry *entry = publication_at(publication, i);
        if (concerns_turns(entry)) {
            turns_poke(turns, entry->session_key);
        }
    }
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
    for (struct turn *turn = turns->runs, *next; turn; turn = next) {
        next = turn->next;
        if (!turn->ended && !turn->over) {
            cut(turn, "server_stopping");
        }
    }
    arm(turns);
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

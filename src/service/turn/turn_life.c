#include <assert.h>
#include <stdlib.h>

#include "base/log.h"
#include "service/turn/turn_run.h"

enum { TRY_AGAIN_MS = 1000 };

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
    struct turn_host *turns = turn->turns;
    struct turn **link = &turns->runs;
    turn->over = true;
    part_from_driver(turn);
    runtime_host_release(&turn->use);
    while (*link != turn) {
        link = &(*link)->next;
    }
    *link = turn->next;
    turn_free(turn);
    if (turns->count-- == turns->options.limits.max) {
        writer_retry_parked(turns->options.writer); /* there is room again */
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
    turn->queued_bytes = 0;
    turn_end(turn, end);
}

void turn_abort_hosted(struct turn *turn, const char *cause)
{
    assert(loop_is_mine(turn->brief.loop));
    if (turn->introspects) { /* its run is found without a host */
        give_up(turn);
        return;
    }
    struct turn_op *said = turn_op_new(TURN_OP_ABORT);
    if (turn->started) {
        turn->driver->interrupt(turn->state, true);
    }
    said->text = arena_format(&said->arena, "%s", cause);
    turn->ended = false;
    turn_show_held(turn);
    turn_text_keep(turn);
    turn_enqueue(turn, said);
    turn->ended = true;
}

void turn_take_loss(struct turn *turn, const char *cause)
{
    assert(loop_is_mine(turn->brief.loop));
    struct turn_op *said = turn_op_new(TURN_OP_ABORT);
    said->text = arena_format(&said->arena, "%s", cause);
    turn_enqueue(turn, said);
    turn->ended = true;
}

/* A look that is under way may have read the log before what is told now. */
void turn_read_log(struct turn *turn)
{
    assert(loop_is_mine(turn->brief.loop));
    turn->looks_again = turn->looks;
    if (!turn->looks && !turn->ended) {
        turn->looks = true;
        turn_enqueue(turn, turn_op_new(TURN_OP_READ_LOG));
    }
}

static void interrupt(struct turn *turn)
{
    if (turn->interrupt_until_ms || turn->ended) {
        return;
    }
    turn->interrupt_until_ms = turn_host_steady_ms(turn->turns) + turn->turns->options.limits.interrupt_ms;
    if (turn->started) {
        turn->driver->interrupt(turn->state, false);
    } else {
        end_without_driver(turn, &(struct turn_end){.stop = TURN_ABORTED, .to = SESSION_IDLE});
    }
}

static void hear(struct turn *turn, const struct heard_event *heard, struct arena *arena)
{
    const struct json *said = NULL;
    const struct event *event = &heard->event;
    if (turn->ended || turn->over || json_parse(arena, event->metadata, &said, NULL) != STATUS_OK) {
        return;
    }
    if (turn->introspects) { /* the session moves, or somebody speaks */
        turn->lost |= event->kind == EVENT_INTROSPECTION_INTERRUPTED || event->kind == EVENT_SESSION_STATUS_CHANGE;
        return;
    }
    bool of_this_turn = json_i64_of(said, "turn") == turn->brief.number;
    if (event->kind == EVENT_SESSION_STATUS_CHANGE) {
        int to = enum_names_find(session_status_enum, json_text_of(said, "to"));
        if (to >= 0 && session_status_is_ended((enum session_status)to)) {
            turn->lost = true;
        }
    } else if (event->kind == EVENT_TURN_INTERRUPT_REQUESTED) {
        if (of_this_turn) {
            interrupt(turn);
        }
    } else if (of_this_turn && turn->started) {
        struct ask ask;
        ask_of_event(event->kind, said, &ask);
        ask.id = slice_present(heard->ask_id) ? heard->ask_id : ask.id;
        turn->driver->answer(turn->state, &ask);
    }
}

/* What a look found, taken out of the turn: what the driver says to it may start the next look at once. */
struct heard {
    struct arena arena;
    struct heard_event *events;
    size_t count;
};

static struct heard take_heard(struct turn *turn)
{
    struct heard heard = {turn->heard_arena, turn->heard_events, turn->heard_count};
    turn->heard_arena = (struct arena){0};
    turn->heard_events = NULL;
    turn->heard_count = 0;
    turn->log_read_to = turn->looked_until > turn->log_read_to ? turn->looked_until : turn->log_read_to;
    return heard;
}

static void hear_all(struct turn *turn, struct heard *heard)
{
    for (size_t i = 0; i < heard->count; i++) {
        hear(turn, &heard->events[i], &heard->arena);
    }
    arena_release(&heard->arena);
}

/* Tells the driver what became of the things it said that have an answer of their own. */
static void answer_served(struct turn *turn, struct turn_op *written)
{
    for (struct turn_op *said = written; said; said = said->next) {
        if (said->kind == TURN_OP_CALL_SERVICE && turn->started) {
            said->then.done(said->then.owner, said->result, said->error);
        }
        if (said->kind == TURN_OP_ASK && said->decided && turn->started) {
            turn->driver->answer(turn->state, &said->opened);
        }
        turn->looks &= said->kind != TURN_OP_READ_LOG;
    }
}

static void after_write(struct turn *turn)
{
    struct turn_op *written = turn->writing;
    struct heard heard = take_heard(turn);
    bool ended = false;
    turn->writing = NULL;
    turn->sequence = turn->written_sequence;
    for (struct turn_op *said = written; said; said = said->next) {
        turn->queued_bytes -= said->bytes;
        ended |= said->kind == TURN_OP_END || said->kind == TURN_OP_ABORT;
    }
    if (!ended) {
        answer_served(turn, written);
        hear_all(turn, &heard);
        if (turn->looks_again && !turn->looks) {
            turn_read_log(turn);
        }
    }
    said_free_all(written);
    if (ended) {
        arena_release(&heard.arena);
        drop(turn);
    } else if (turn->lost) {
        give_up(turn);
    } else {
        turn_flush(turn);
    }
}

/* What could not be written: a storage that does not answer is tried again, a lost session is given up, and nonsense
 * ends the turn with a word about it. A server that stops does not wait for its storage: its next life, or another
 * node, finds the turn as one whose host died. */
static void after_failed_write(struct turn *turn)
{
    bool is_away = turn->status == STATUS_UNAVAILABLE;
    if (is_away && !turn->turns->stopping) {
        turn->retry_at_ms = turn_host_steady_ms(turn->turns) + TRY_AGAIN_MS;
        return;
    }
    bool was_end = turn->ended;
    bool is_lost =
        is_away || turn->status == STATUS_STALE || turn->status == STATUS_NOT_FOUND || turn->status == STATUS_UNCERTAIN;
    if (!is_lost) {
        log_warn("turn_write_failed", LOG_TEXT("session", turn->brief.session_id),
                 LOG_TEXT("code", slice_of(turn->failure.code)), LOG_TEXT("detail", slice_of(turn->failure.detail)));
    }
    if (is_lost || was_end) {
        give_up(turn);
        return;
    }
    struct arena arena = {0};
    struct slice message = arena_format(&arena, "%s", turn->failure.detail);
    said_free_all(turn->writing);
    turn->writing = NULL;
    end_without_driver(
        turn,
        &(struct turn_end){.stop = TURN_ERROR, .error = TURN_INTERNAL, .error_message = message, .to = SESSION_IDLE});
    arena_release(&arena);
}

static void on_written(struct loop_message *message)
{
    struct turn *turn = (struct turn *)((char *)message - offsetof(struct turn, message));
    struct turn_host *turns = turn->turns;
    turn->waits = false;
    if (turn->over) {
        drop(turn);
    } else if (turn->status == STATUS_OK) {
        after_write(turn);
    } else {
        after_failed_write(turn);
    }
    turn_host_rearm(turns);
}

static void start_driver(struct turn *turn)
{
    if (!turn->driver) {
        end_without_driver(turn, &(struct turn_end){.stop = TURN_ERROR,
                                                    .error = TURN_INTERNAL,
                                                    .error_message = SLICE("This server does not run such agents."),
                                                    .to = SESSION_IDLE});
        return;
    }
    turn->state = turn->driver->start(turn->driver->owner, turn, &turn->brief);
    turn->started = true;
}

static void on_ready(void *owner, struct sandbox *sandbox, const struct failure *failure)
{
    struct turn *turn = owner;
    struct turn_host *turns = turn->turns;
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
                                                    .to = SESSION_IDLE});
    }
    turn_flush(turn);
    turn_host_rearm(turns);
}

/* Told in the log, before a sandbox or a driver has any work with it. */
static bool end_at_limit(struct turn *turn)
{
    int64_t most = turn->agent.turns_max;
    if (turn->status != STATUS_OK || turn->introspects || most <= 0 || turn->brief.turns_done < most) {
        return false;
    }
    struct slice message = arena_format(&turn->arena, "the session has had all its %lld turns", (long long)most);
    end_without_driver(
        turn,
        &(struct turn_end){.stop = TURN_ERROR, .error = TURN_LIMIT, .error_message = message, .to = SESSION_IDLE});
    return true;
}

static void meet_driver(struct turn *turn)
{
    struct runtime_host *runtimes = turn->turns->options.runtimes;
    if (turn->ended || end_at_limit(turn)) {
        return;
    }
    if (turn->status == STATUS_OK && turn->driver && runtimes && agent_has_sandbox(&turn->agent) &&
        !turn->introspects) {
        turn->readies = true;
        turn->use.owner = turn;
        turn->use.ready = on_ready;
        runtime_host_acquire(runtimes, turn->brief.tenant_key, turn->brief.session_key, &turn->use);
        return;
    }
    if (turn->status == STATUS_OK) {
        start_driver(turn);
        return;
    }
    end_without_driver(turn, &(struct turn_end){.stop = TURN_ERROR,
                                                .error = TURN_INTERNAL,
                                                .error_message = slice_of(turn->failure.detail),
                                                .to = SESSION_IDLE});
}

static void on_briefed(struct loop_message *message)
{
    struct turn *turn = (struct turn *)((char *)message - offsetof(struct turn, briefed_message));
    struct turn_host *turns = turn->turns;
    turn->briefs = false;
    if (turn->over) {
        drop(turn);
    } else {
        meet_driver(turn);
        turn_flush(turn);
    }
    turn_host_rearm(turns);
}

/* --- from time to time --- */

static bool is_due(int64_t at_ms, int64_t now_ms)
{
    return at_ms != 0 && at_ms <= now_ms;
}

void turn_attend(struct turn *turn, int64_t now_ms)
{
    assert(loop_is_mine(turn->brief.loop));
    if (is_due(turn->retry_at_ms, now_ms)) {
        turn->retry_at_ms = 0;
        turn_flush(turn);
    }
    if (!turn->briefs && !turn->readies && !turn->started && !turn->ended && !turn->over) {
        turn_read_brief(turn);
    }
    if (is_due(turn->renew_at_ms, now_ms)) {
        turn->renew_at_ms = now_ms + turn->lease_ms / 3;
        turn_enqueue(turn, turn_op_new(TURN_OP_RENEW));
        turn_read_log(turn); /* on PostgreSQL a notification may get lost */
    }
    if (is_due(turn->interrupt_until_ms, now_ms) && !turn->ended) {
        turn->interrupt_until_ms = 0;
        end_without_driver(turn, &(struct turn_end){.stop = TURN_ABORTED,
                                                    .to = SESSION_IDLE,
                                                    .reason = SLICE("interrupted; the agent did not answer")});
    }
}

void turn_begin(struct turn_host *turns, struct turn *turn)
{
    turn->command.type = &turn_write;
    turn->message.run = on_written;
    turn->briefed_message.run = on_briefed;
    turn->renew_at_ms = turn_host_steady_ms(turns) + turn->lease_ms / 3;
    turn->next = turns->runs;
    turns->runs = turn;
    turns->count++;
    if (turns->stopping) {
        turn_abort_hosted(turn, "server_stopping");
    } else {
        turn_read_brief(turn);
    }
}

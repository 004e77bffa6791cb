#include <assert.h>
#include <stdlib.h>

#include "base/log.h"
#include "service/turn/turn_run.h"

enum { TRY_AGAIN_MS = 1000 };

/* Takes the driver out of the turn; its later output is discarded. */
static void part_from_driver(struct turn *turn)
{
    if (turn->has_driver) {
        turn->has_driver = false;
        turn->driver->free(turn->driver_state);
    }
}

static void drop(struct turn *turn)
{
    struct turn_host *host = turn->host;
    struct turn **link = &host->turns;
    assert(!turn->is_loading && !turn->is_writing);
    if (turn->state != TURN_OVER) {
        turn_enter(turn, TURN_OVER);
    }
    part_from_driver(turn);
    runtime_host_release(&turn->sandbox_ref);
    while (*link != turn) {
        link = &(*link)->next;
    }
    *link = turn->next;
    turn_free(turn);
    if (host->count-- == host->options.limits.max) {
        writer_retry_parked(host->options.writer); /* there is room again */
    }
}

/* Somebody else has the session now, or it ended: the driver learns it and nothing more is written. */
static void give_up(struct turn *turn)
{
    turn_enter(turn, TURN_OVER);
    if (turn->has_driver) {
        turn->driver->interrupt(turn->driver_state, true);
    }
    if (!turn->is_writing && !turn->is_loading) {
        drop(turn);
    }
}

/* The host ends the turn in its driver's place. */
static void end_without_driver(struct turn *turn, const struct turn_end *end)
{
    if (turn->has_driver) {
        turn->driver->interrupt(turn->driver_state, true);
    }
    if (!turn_is_open(turn)) { /* the driver ended it when it was interrupted */
        return;
    }
    turn_op_free_all(turn->queue);
    turn->queue = NULL;
    turn->queue_end = &turn->queue;
    turn->queued_bytes = 0;
    turn_end(turn, end);
}

static void enqueue_abort(struct turn *turn, const char *cause)
{
    struct turn_op *op = turn_op_new(TURN_OP_ABORT);
    op->text = arena_format(&op->arena, "%s", cause);
    turn_enqueue(turn, op);
    turn_enter(turn, TURN_ENDING);
}

void turn_abort_hosted(struct turn *turn, const char *cause)
{
    assert(loop_is_mine(turn->input.loop));
    if (turn->introspects) { /* its run is found without a host */
        give_up(turn);
        return;
    }
    if (turn->has_driver) {
        turn->driver->interrupt(turn->driver_state, true);
    }
    if (turn_is_open(turn)) {
        turn_show_held(turn);
        turn_text_keep(turn);
        enqueue_abort(turn, cause);
    }
}

void turn_take_loss(struct turn *turn, const char *cause)
{
    assert(loop_is_mine(turn->input.loop));
    if (turn_is_open(turn)) {
        enqueue_abort(turn, cause);
    }
}

/* A read under way may have missed the event that this call is for. */
void turn_read_log(struct turn *turn)
{
    assert(loop_is_mine(turn->input.loop));
    turn->reads_log_again = turn->is_reading_log;
    if (!turn->is_reading_log && turn_is_open(turn)) {
        turn->is_reading_log = true;
        turn_enqueue(turn, turn_op_new(TURN_OP_READ_LOG));
    }
}

static void interrupt(struct turn *turn)
{
    if (turn->interrupt_until_ms || !turn_is_open(turn)) {
        return;
    }
    turn->interrupt_until_ms = turn_host_steady_ms(turn->host) + turn->host->options.limits.interrupt_ms;
    if (turn->has_driver) {
        turn->driver->interrupt(turn->driver_state, false);
    } else {
        end_without_driver(turn, &(struct turn_end){.stop = TURN_ABORTED, .to = SESSION_IDLE});
    }
}

/* False when the turn lost its session by it. */
static bool apply_entry(struct turn *turn, const struct log_entry *entry, struct arena *arena)
{
    const struct json *metadata = NULL;
    const struct event *event = &entry->event;
    if (!turn_is_open(turn) || json_parse(arena, event->metadata, &metadata, NULL) != STATUS_OK) {
        return true;
    }
    if (turn->introspects) { /* the session moves, or somebody speaks */
        return event->kind != EVENT_INTROSPECTION_INTERRUPTED && event->kind != EVENT_SESSION_STATUS_CHANGE;
    }
    bool of_this_turn = json_i64_of(metadata, "turn") == turn->input.number;
    if (event->kind == EVENT_SESSION_STATUS_CHANGE) {
        int to = enum_names_find(session_status_enum, json_text_of(metadata, "to"));
        return to < 0 || !session_status_is_ended((enum session_status)to);
    }
    if (event->kind == EVENT_TURN_INTERRUPT_REQUESTED) {
        if (of_this_turn) {
            interrupt(turn);
        }
    } else if (of_this_turn && turn->has_driver) {
        struct ask ask;
        ask_of_event(event->kind, metadata, &ask);
        ask.id = slice_present(entry->ask_id) ? entry->ask_id : ask.id;
        turn->driver->answer(turn->driver_state, &ask);
    }
    return true;
}

/* What was read from the log, taken out of the turn: the answer of a driver may start the next read at once. */
struct log_page {
    struct arena arena;
    struct log_entry *entries;
    size_t count;
};

static struct log_page take_page(struct turn *turn)
{
    struct log_page page = {turn->log_arena, turn->log_entries, turn->log_count};
    turn->log_arena = (struct arena){0};
    turn->log_entries = NULL;
    turn->log_count = 0;
    turn->log_read_to = turn->log_found_to > turn->log_read_to ? turn->log_found_to : turn->log_read_to;
    return page;
}

static bool apply_page(struct turn *turn, struct log_page *page)
{
    bool has_session = true;
    for (size_t i = 0; i < page->count; i++) {
        has_session &= apply_entry(turn, &page->entries[i], &page->arena);
    }
    arena_release(&page->arena);
    return has_session;
}

/* Gives the driver the results of its operations that have one. */
static void answer_ops(struct turn *turn, struct turn_op *written)
{
    for (struct turn_op *op = written; op; op = op->next) {
        if (op->kind == TURN_OP_CALL_SERVICE && turn->has_driver) {
            op->then.done(op->then.owner, op->result, op->error);
        }
        if (op->kind == TURN_OP_ASK && op->decided && turn->has_driver) {
            turn->driver->answer(turn->driver_state, &op->opened);
        }
        turn->is_reading_log &= op->kind != TURN_OP_READ_LOG;
    }
}

static void after_write(struct turn *turn)
{
    struct turn_op *written = turn->writing;
    struct log_page page = take_page(turn);
    bool ended = false, has_session = true;
    turn->writing = NULL;
    turn->sequence = turn->written_sequence;
    for (struct turn_op *op = written; op; op = op->next) {
        turn->queued_bytes -= op->bytes;
        ended |= op->kind == TURN_OP_END || op->kind == TURN_OP_ABORT;
    }
    if (!ended) {
        answer_ops(turn, written);
        has_session = apply_page(turn, &page);
        if (turn->reads_log_again && !turn->is_reading_log) {
            turn_read_log(turn);
        }
    }
    turn_op_free_all(written);
    if (ended) {
        arena_release(&page.arena);
        drop(turn);
    } else if (!has_session) {
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
    if (is_away && !turn->host->stopping) {
        turn->retry_at_ms = turn_host_steady_ms(turn->host) + TRY_AGAIN_MS;
        return;
    }
    bool is_lost =
        is_away || turn->status == STATUS_STALE || turn->status == STATUS_NOT_FOUND || turn->status == STATUS_UNCERTAIN;
    if (!is_lost) {
        log_warn("turn_write_failed", LOG_TEXT("session", turn->input.session_id),
                 LOG_TEXT("code", slice_of(turn->failure.code)), LOG_TEXT("detail", slice_of(turn->failure.detail)));
    }
    if (is_lost || !turn_is_open(turn)) {
        give_up(turn);
        return;
    }
    struct arena arena = {0};
    struct slice message = arena_format(&arena, "%s", turn->failure.detail);
    turn_op_free_all(turn->writing);
    turn->writing = NULL;
    end_without_driver(
        turn,
        &(struct turn_end){.stop = TURN_ERROR, .error = TURN_INTERNAL, .error_message = message, .to = SESSION_IDLE});
    arena_release(&arena);
}

static void on_written(struct loop_message *message)
{
    struct turn *turn = (struct turn *)((char *)message - offsetof(struct turn, message));
    struct turn_host *host = turn->host;
    turn->is_writing = false;
    if (turn->state == TURN_OVER) {
        drop(turn);
    } else if (turn->status == STATUS_OK) {
        after_write(turn);
    } else {
        after_failed_write(turn);
    }
    turn_host_rearm(host);
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
    turn_enter(turn, TURN_RUNNING);
    turn->driver_state = turn->driver->start(turn->driver->owner, turn, &turn->input);
    turn->has_driver = true;
}

static void on_ready(void *owner, struct sandbox *sandbox, const struct failure *failure)
{
    struct turn *turn = owner;
    struct turn_host *host = turn->host;
    turn->input.sandbox = sandbox;
    if (!turn_is_open(turn)) {
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
    turn_host_rearm(host);
}

/* Told in the log, before a sandbox or a driver has any work with it. */
static bool end_at_limit(struct turn *turn)
{
    int64_t most = turn->agent.turns_max;
    if (turn->status != STATUS_OK || turn->introspects || most <= 0 || turn->input.turns_done < most) {
        return false;
    }
    struct slice message = arena_format(&turn->arena, "the session has had all its %lld turns", (long long)most);
    end_without_driver(
        turn,
        &(struct turn_end){.stop = TURN_ERROR, .error = TURN_LIMIT, .error_message = message, .to = SESSION_IDLE});
    return true;
}

static void prepare(struct turn *turn)
{
    struct runtime_host *runtime_host = turn->host->options.runtime_host;
    if (!turn_is_open(turn) || end_at_limit(turn)) {
        return;
    }
    if (turn->status == STATUS_OK && turn->driver && runtime_host && agent_has_sandbox(&turn->agent) &&
        !turn->introspects) {
        turn_enter(turn, TURN_AWAITING_SANDBOX);
        turn->sandbox_ref.owner = turn;
        turn->sandbox_ref.ready = on_ready;
        runtime_host_acquire(runtime_host, turn->input.tenant_key, turn->input.session_key, &turn->sandbox_ref);
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

static void on_loaded(struct loop_message *message)
{
    struct turn *turn = (struct turn *)((char *)message - offsetof(struct turn, loaded_message));
    struct turn_host *host = turn->host;
    turn->is_loading = false;
    if (turn->state == TURN_OVER) {
        drop(turn);
    } else {
        prepare(turn);
        turn_flush(turn);
    }
    turn_host_rearm(host);
}

/* --- from time to time --- */

static bool is_due(int64_t at_ms, int64_t now_ms)
{
    return at_ms != 0 && at_ms <= now_ms;
}

static void end_interrupted(struct turn *turn)
{
    assert(loop_is_mine(turn->input.loop));
    if (turn_is_open(turn)) {
        end_without_driver(turn, &(struct turn_end){.stop = TURN_ABORTED,
                                                    .to = SESSION_IDLE,
                                                    .reason = SLICE("interrupted; the agent did not answer")});
    }
}

void turn_attend(struct turn *turn, int64_t now_ms)
{
    if (is_due(turn->retry_at_ms, now_ms)) {
        turn->retry_at_ms = 0;
        turn_flush(turn);
    }
    if (turn->state == TURN_CLAIMED && !turn->is_writing) {
        turn_load_input(turn);
    }
    if (is_due(turn->renew_at_ms, now_ms)) {
        turn->renew_at_ms = now_ms + turn->lease_ms / 3;
        turn_enqueue(turn, turn_op_new(TURN_OP_RENEW));
        turn_read_log(turn); /* on PostgreSQL a notification may get lost */
    }
    if (is_due(turn->interrupt_until_ms, now_ms)) {
        turn->interrupt_until_ms = 0;
        end_interrupted(turn);
    }
}

void turn_begin(struct turn_host *host, struct turn *turn)
{
    turn->command.type = &turn_write;
    turn->message.run = on_written;
    turn->loaded_message.run = on_loaded;
    turn->renew_at_ms = turn_host_steady_ms(host) + turn->lease_ms / 3;
    turn->next = host->turns;
    host->turns = turn;
    host->count++;
    if (host->stopping) {
        turn_abort_hosted(turn, "server_stopping");
    } else {
        turn_load_input(turn);
    }
}

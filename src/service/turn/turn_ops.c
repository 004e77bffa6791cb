#include <assert.h>
#include <stdlib.h>

#include "service/ask/ask.h"
#include "service/turn/introspection.h"
#include "service/turn/turn_close.h"
#include "service/turn/turn_run.h"

enum { WRITE_AGAIN_MS = 500, LOG_ENTRIES_MAX = 100 };

struct turn_op *turn_op_new(enum turn_op_kind kind)
{
    struct turn_op *op = memory_zeroed(sizeof *op);
    op->kind = kind;
    return op;
}

static void turn_op_free(struct turn_op *op)
{
    arena_release(&op->arena);
    free(op);
}

void turn_op_free_all(struct turn_op *op)
{
    while (op) {
        struct turn_op *next = op->next;
        turn_op_free(op);
        op = next;
    }
}

/* --- operations of a driver --- */

/* The thread of its prompt, unless its driver names another. */
static struct slice thread_of(const struct turn *turn, const struct event *event)
{
    return slice_present(event->thread_id) ? event->thread_id : turn->input.thread_id;
}

void turn_take_event(struct turn *turn, const struct event *event)
{
    assert(loop_is_mine(turn->input.loop));
    struct event kept = *event;
    if (turn->introspects && !turn_introspect_event(&kept)) {
        return;
    }
    turn_text_settle(turn, event->kind);
    struct turn_op *op = turn_op_new(TURN_OP_EVENT);
    op->event = kept;
    op->event.custom = arena_copy(&op->arena, kept.custom);
    op->event.content = arena_copy(&op->arena, event->content);
    op->event.metadata = arena_copy(&op->arena, event->metadata);
    op->event.thread_id = arena_copy(&op->arena, thread_of(turn, event));
    op->bytes = event->content.len + event->metadata.len;
    turn_enqueue(turn, op);
}

void turn_take_ask(struct turn *turn, const struct ask *ask)
{
    assert(loop_is_mine(turn->input.loop));
    struct turn_op *op = turn_op_new(TURN_OP_ASK);
    ask_copy(&op->ask, ask, &op->arena);
    op->bytes = ask->arguments.len + ask->schema.len + ask->details.len;
    turn_enqueue(turn, op);
}

void turn_take_cancel(struct turn *turn, struct slice ask_id)
{
    assert(loop_is_mine(turn->input.loop));
    struct turn_op *op = turn_op_new(TURN_OP_CANCEL_ASK);
    op->id = arena_copy(&op->arena, ask_id);
    turn_enqueue(turn, op);
}

void turn_take_state(struct turn *turn, struct slice json)
{
    assert(loop_is_mine(turn->input.loop));
    struct turn_op *op = turn_op_new(TURN_OP_SAVE_STATE);
    op->text = arena_copy(&op->arena, json);
    turn_enqueue(turn, op);
}

void turn_take_call(struct turn *turn, struct slice tool, struct slice arguments, struct turn_served then)
{
    assert(loop_is_mine(turn->input.loop));
    if (slice_is(tool, "save_snapshot") && !turn->introspects) {
        turn_snapshot_take(turn, then);
    } else {
        turn_serve_now(turn, tool, arguments, then);
    }
}

void turn_serve_now(struct turn *turn, struct slice tool, struct slice arguments, struct turn_served then)
{
    assert(loop_is_mine(turn->input.loop));
    struct turn_op *op = turn_op_new(TURN_OP_CALL_SERVICE);
    op->id = arena_copy(&op->arena, tool);
    op->text = arena_copy(&op->arena, arguments);
    op->then = then;
    op->refused = turn->introspects && !turn_introspect_may_call(turn);
    turn_enqueue(turn, op);
}

void turn_take_end(struct turn *turn, const struct turn_end *end)
{
    assert(loop_is_mine(turn->input.loop));
    if (turn_stop_is_early(end->stop)) {
        turn_show_held(turn);
        turn_text_keep(turn);
    }
    struct turn_op *op = turn_op_new(TURN_OP_END);
    op->end = *end;
    op->end.error_message = arena_copy(&op->arena, end->error_message);
    op->end.usage = arena_copy(&op->arena, end->usage);
    op->end.result = arena_copy(&op->arena, end->result);
    op->end.reason = arena_copy(&op->arena, end->reason);
    turn_enqueue(turn, op);
    if (turn_is_open(turn)) {
        turn_enter(turn, TURN_ENDING);
    }
}

bool turn_has_no_room(const struct turn *turn)
{
    assert(loop_is_mine(turn->input.loop));
    return turn->queued_bytes > turn->host->options.limits.said_bytes_max;
}

/* --- the queue, on the loop --- */

/* Operations before which a text is complete, or interrupted. */
static const bool kinds_after_text[] = {
    [TURN_OP_EVENT] = true, [TURN_OP_ASK] = true, [TURN_OP_END] = true, [TURN_OP_ABORT] = true};

void turn_enqueue(struct turn *turn, struct turn_op *op)
{
    assert(loop_is_mine(turn->input.loop));
    if (!turn_is_open(turn)) {
        turn_op_free(op);
        return;
    }
    if (kinds_after_text[op->kind]) {
        turn_show_held(turn);
    }
    turn->queued_bytes += op->bytes;
    *turn->queue_end = op;
    turn->queue_end = &op->next;
    turn_flush(turn);
}

static struct turn_op *pop(struct turn *turn)
{
    struct turn_op *op = turn->queue;
    turn->queue = op->next;
    op->next = NULL;
    if (!turn->queue) {
        turn->queue_end = &turn->queue;
    }
    return op;
}

static void publish_waiting_deltas(struct turn *turn)
{
    while (turn->queue && turn->queue->kind == TURN_OP_DELTA) {
        struct turn_op *op = pop(turn);
        turn_publish_delta(turn, op->delta_kind, op->id, op->text);
        turn->queued_bytes -= op->bytes;
        turn_op_free(op);
    }
}

/* One write takes everything up to the next delta, which must follow what was durable before it. */
static void take_for_writing(struct turn *turn)
{
    struct turn_op **end = &turn->writing;
    while (turn->queue && turn->queue->kind != TURN_OP_DELTA) {
        *end = pop(turn);
        end = &(*end)->next;
    }
}

void turn_flush(struct turn *turn)
{
    assert(loop_is_mine(turn->input.loop));
    if (turn->is_writing || turn->is_loading || turn->state == TURN_OVER || turn->retry_at_ms) {
        return;
    }
    if (!turn->writing) {
        publish_waiting_deltas(turn);
        take_for_writing(turn);
    }
    if (!turn->writing) {
        return;
    }
    turn->writes_as = turn_principal(turn->input.tenant_key, turn->actor);
    turn->command.who = &turn->writes_as;
    turn->command.lease_token = turn->introspects ? (struct slice){0} : slice_of(turn->lease);
    turn->is_writing = writer_submit(turn->host->options.writer, &turn->command);
    if (!turn->is_writing) {
        turn->retry_at_ms = turn_host_steady_ms(turn->host) + WRITE_AGAIN_MS;
    }
}

/* --- on the writer --- */

static enum status enter(struct call *call, struct turn *turn, struct session_access *out)
{
    if (turn->introspects) {
        return introspection_enter(call, turn->input.session_id, turn->input.number, out);
    }
    enum status status = session_authorize(call, turn->input.session_id, ACTION_APPEND, out);
    if (status == STATUS_OK && !out->holds_lease) {
        return failure_set(&call->failure, STATUS_STALE, "lease_required", "The turn does not hold its session.");
    }
    return status;
}

static enum status write_event(struct call *call, struct turn *turn, struct turn_op *op)
{
    struct session_access entry;
    struct event event = op->event; /* a copy: the job may run twice */
    enum status status = enter(call, turn, &entry);
    return status == STATUS_OK ? session_append_events(call, entry.loaded, &event, 1) : status;
}

static const struct ask_name *name_of(const struct turn *turn, struct slice driver_id)
{
    const struct ask_name *name = turn->names;
    while (name && !slice_eq(name->driver_id, driver_id)) {
        name = name->next;
    }
    return name;
}

/* The job may run twice: the latest name counts. */
static void note_name(struct turn *turn, struct slice stored, struct slice driver_id)
{
    struct ask_name *name = arena_alloc(&turn->names_arena, sizeof *name);
    *name = (struct ask_name){turn->names, arena_copy(&turn->names_arena, stored),
                              arena_copy(&turn->names_arena, driver_id)};
    turn->names = name;
}

static enum status open_ask(struct call *call, struct turn *turn, struct loaded_session *loaded, struct ask *ask)
{
    const struct event *message = turn->input.message;
    struct slice driver_id = ask->id;
    if (!turn->input.was_cut) {
        return ask_open(call, loaded, ask);
    }
    enum status status = ask_open_again(call, loaded, message ? message->sequence : 0, ask);
    if (status == STATUS_OK && !slice_eq(driver_id, ask->id)) {
        note_name(turn, ask->id, driver_id);
        ask->id = driver_id;
    }
    return status;
}

/* An ask that is refused, or decided already (by a rule, or before the turn was cut), is answered at once. */
static enum status write_ask(struct call *call, struct turn *turn, struct turn_op *op)
{
    struct session_access entry;
    struct ask ask = op->ask;
    ask.turn = turn->input.number;
    enum status status = enter(call, turn, &entry);
    if (status != STATUS_OK) {
        return status;
    }
    status = open_ask(call, turn, entry.loaded, &ask);
    if (status == STATUS_INVALID || status == STATUS_LIMITED || status == STATUS_CONFLICT) {
        ask.state = ASK_CANCELLED;
        ask.reason = slice_of(call->failure.detail);
        status = STATUS_OK;
    }
    op->decided = status == STATUS_OK && ask.state != ASK_PENDING;
    if (op->decided) {
        ask_copy(&op->opened, &ask, &op->arena);
    }
    return status;
}

static enum status write_cancel_ask(struct call *call, struct turn *turn, struct turn_op *op)
{
    struct session_access entry;
    const struct ask_name *name = name_of(turn, op->id);
    struct slice id = name ? name->stored : op->id;
    enum status status = enter(call, turn, &entry);
    return status == STATUS_OK ? ask_cancel(call, entry.loaded, id, SLICE("withdrawn by the agent")) : status;
}

static enum status write_save_state(struct call *call, struct turn *turn, struct turn_op *op)
{
    struct session_access entry;
    enum status status = enter(call, turn, &entry);
    if (status != STATUS_OK) {
        return status;
    }
    return store_driver_state_put(call->db, turn->input.tenant_key, turn->input.session_key, op->text, &call->failure);
}

static enum status write_call_service(struct call *call, struct turn *turn, struct turn_op *op)
{
    struct session_access entry;
    struct slice result = {0};
    op->result = op->error = (struct slice){0};
    enum status status = enter(call, turn, &entry);
    if (status != STATUS_OK) {
        return status;
    }
    if (op->refused) {
        op->error = SLICE("not done: all calls of this look back are used up");
        return STATUS_OK;
    }
    int64_t writes_before = transaction_writes(call->transaction);
    status = turn_tool_serve(call, entry.loaded, op->id, op->text, &result);
    if (status == STATUS_OK) {
        op->result = arena_copy(&op->arena, result);
    } else if (transaction_writes(call->transaction) == writes_before && status != STATUS_UNAVAILABLE) {
        op->error = arena_copy(&op->arena, slice_of(call->failure.detail));
        status = STATUS_OK;
    }
    return status;
}

/* What the driver calls the ask that the event is about; absent when it has no name of its own. */
static struct slice driver_ask_id(struct turn *turn, const struct event *event)
{
    const struct json *metadata = NULL;
    if (!turn->names || json_parse(&turn->log_arena, event->metadata, &metadata, NULL) != STATUS_OK) {
        return (struct slice){0};
    }
    struct slice id = json_text_of(metadata, "id");
    const struct ask_name *name = turn->names;
    while (name && !slice_eq(name->stored, id)) {
        name = name->next;
    }
    return name ? arena_copy(&turn->log_arena, name->driver_id) : (struct slice){0};
}

static bool keep_entry(void *owner, const struct event *event)
{
    struct turn *turn = owner;
    struct log_entry *entry = &turn->log_entries[turn->log_count++];
    struct event *kept = &entry->event;
    *kept = *event;
    kept->custom = arena_copy(&turn->log_arena, event->custom);
    kept->metadata = arena_copy(&turn->log_arena, event->metadata);
    entry->ask_id = driver_ask_id(turn, kept);
    turn->log_found_to = event->sequence;
    return turn->log_count < LOG_ENTRIES_MAX;
}

static enum status write_read_log(struct call *call, struct turn *turn, struct turn_op *op)
{
    static const enum event_kind kinds[] = {EVENT_ASK_ANSWERED,          EVENT_ASK_EXPIRED,
                                            EVENT_ASK_CANCELLED,         EVENT_TURN_INTERRUPT_REQUESTED,
                                            EVENT_SESSION_STATUS_CHANGE, EVENT_INTROSPECTION_INTERRUPTED};
    struct event_filter filter = {.tenant_key = turn->input.tenant_key,
                                  .session_key = turn->input.session_key,
                                  .kinds = kinds,
                                  .kind_count = sizeof kinds / sizeof *kinds,
                                  .after = turn->log_read_to,
                                  .limit = LOG_ENTRIES_MAX};
    (void)op;
    arena_reset(&turn->log_arena);
    turn->log_entries = arena_alloc(&turn->log_arena, LOG_ENTRIES_MAX * sizeof *turn->log_entries);
    turn->log_count = 0;
    turn->log_found_to = turn->log_read_to;
    enum status status = transaction_flush(call->transaction, &call->failure);
    return status == STATUS_OK ? store_event_read(call->db, &filter, keep_entry, turn, &call->failure) : status;
}

static enum status write_renew(struct call *call, struct turn *turn, struct turn_op *op)
{
    struct session_access entry;
    int64_t expires_at_ms;
    (void)op;
    if (turn->introspects) {
        return introspection_renew(call, turn->input.session_id, turn->input.number);
    }
    return claim_heartbeat(call, turn->input.session_id, 0, &entry, &expires_at_ms);
}

static enum status write_end(struct call *call, struct turn *turn, struct turn_op *op)
{
    if (turn->introspects) {
        return introspection_settle(call, turn->input.session_id, turn->input.number, &op->end, turn->calls);
    }
    return turn_finish(call, turn->input.session_id, turn->input.thread_id, &op->end);
}

static enum status write_abort(struct call *call, struct turn *turn, struct turn_op *op)
{
    struct session_access entry;
    if (turn->introspects) {
        return introspection_return(call, turn->input.session_id, turn->input.number, op->text.ptr);
    }
    enum status status = enter(call, turn, &entry);
    return status == STATUS_OK ? turn_abort(call, entry.loaded, op->text.ptr) : status;
}

static enum status write_nothing(struct call *call, struct turn *turn, struct turn_op *op)
{
    (void)call, (void)turn, (void)op;
    return STATUS_OK;
}

static enum status (*const writes[])(struct call *call, struct turn *turn, struct turn_op *op) = {
    [TURN_OP_DELTA] = write_nothing,
    [TURN_OP_EVENT] = write_event,
    [TURN_OP_ASK] = write_ask,
    [TURN_OP_CANCEL_ASK] = write_cancel_ask,
    [TURN_OP_SAVE_STATE] = write_save_state,
    [TURN_OP_CALL_SERVICE] = write_call_service,
    [TURN_OP_READ_LOG] = write_read_log,
    [TURN_OP_RENEW] = write_renew,
    [TURN_OP_END] = write_end,
    [TURN_OP_ABORT] = write_abort,
};

/* The last event the session has now; deltas follow it. */
static void note_sequence(struct call *call, struct turn *turn)
{
    struct loaded_session *loaded;
    struct failure ignored;
    if (transaction_load(call->transaction, turn->input.tenant_key, turn->input.session_id, &loaded, &ignored) ==
        STATUS_OK) {
        turn->written_sequence = loaded->session.last_sequence;
    }
}

static struct turn *turn_of_command(struct command *command)
{
    return (struct turn *)((char *)command - offsetof(struct turn, command));
}

static enum status write_run(struct call *call, struct command *command)
{
    struct turn *turn = turn_of_command(command);
    enum status status = STATUS_OK;
    for (struct turn_op *op = turn->writing; op && status == STATUS_OK; op = op->next) {
        status = writes[op->kind](call, turn, op);
    }
    note_sequence(call, turn);
    return status;
}

static void write_finish(struct command *command, enum status status, const struct failure *failure)
{
    struct turn *turn = turn_of_command(command);
    turn->status = status;
    turn->failure = failure ? *failure : (struct failure){0};
    loop_post(turn->host->options.loop, &turn->message);
}

const struct command_type turn_write = {"turn.write", 0, write_run, write_finish};

const struct turn_host_calls turn_host_calls = {
    .delta = turn_take_delta,
    .event = turn_take_event,
    .ask = turn_take_ask,
    .cancel_ask = turn_take_cancel,
    .save_state = turn_take_state,
    .end = turn_take_end,
    .agent_lost = turn_take_loss,
    .call_service = turn_take_call,
    .is_full = turn_has_no_room,
};

#include <assert.h>
#include <stdlib.h>

#include "service/ask/ask.h"
#include "service/turn/introspection.h"
#include "service/turn/turn_close.h"
#include "service/turn/turn_run.h"

enum { WRITE_AGAIN_MS = 500, LOOK_EVENTS = 100 };

struct turn_op *turn_op_new(enum turn_op_kind kind)
{
    struct turn_op *said = memory_zeroed(sizeof *said);
    said->kind = kind;
    return said;
}

static void turn_op_free(struct turn_op *said)
{
    arena_release(&said->arena);
    free(said);
}

void said_free_all(struct turn_op *said)
{
    while (said) {
        struct turn_op *next = said->next;
        turn_op_free(said);
        said = next;
    }
}

/* --- what a driver says --- */

/* What a turn says belongs to the thread of its prompt, unless its driver knows better. */
static struct slice thread_of(const struct turn *turn, const struct event *event)
{
    return slice_present(event->thread_id) ? event->thread_id : turn->brief.thread_id;
}

void turn_take_event(struct turn *turn, const struct event *event)
{
    assert(loop_is_mine(turn->brief.loop));
    struct event kept = *event;
    if (turn->introspects && !turn_introspect_event(&kept)) {
        return;
    }
    turn_text_settle(turn, event->kind);
    struct turn_op *said = turn_op_new(TURN_OP_EVENT);
    said->event = kept;
    said->event.custom = arena_copy(&said->arena, kept.custom);
    said->event.content = arena_copy(&said->arena, event->content);
    said->event.metadata = arena_copy(&said->arena, event->metadata);
    said->event.thread_id = arena_copy(&said->arena, thread_of(turn, event));
    said->bytes = event->content.len + event->metadata.len;
    turn_enqueue(turn, said);
}

void turn_take_ask(struct turn *turn, const struct ask *ask)
{
    assert(loop_is_mine(turn->brief.loop));
    struct turn_op *said = turn_op_new(TURN_OP_ASK);
    ask_copy(&said->ask, ask, &said->arena);
    said->bytes = ask->arguments.len + ask->schema.len + ask->details.len;
    turn_enqueue(turn, said);
}

void turn_take_cancel(struct turn *turn, struct slice ask_id)
{
    assert(loop_is_mine(turn->brief.loop));
    struct turn_op *said = turn_op_new(TURN_OP_CANCEL_ASK);
    said->id = arena_copy(&said->arena, ask_id);
    turn_enqueue(turn, said);
}

void turn_take_state(struct turn *turn, struct slice json)
{
    assert(loop_is_mine(turn->brief.loop));
    struct turn_op *said = turn_op_new(TURN_OP_SAVE_STATE);
    said->text = arena_copy(&said->arena, json);
    turn_enqueue(turn, said);
}

void turn_take_call(struct turn *turn, struct slice tool, struct slice arguments, struct turn_served then)
{
    assert(loop_is_mine(turn->brief.loop));
    if (slice_is(tool, "save_snapshot") && !turn->introspects) {
        turn_snapshot_take(turn, then);
    } else {
        turn_serve_now(turn, tool, arguments, then);
    }
}

void turn_serve_now(struct turn *turn, struct slice tool, struct slice arguments, struct turn_served then)
{
    assert(loop_is_mine(turn->brief.loop));
    struct turn_op *said = turn_op_new(TURN_OP_CALL_SERVICE);
    said->id = arena_copy(&said->arena, tool);
    said->text = arena_copy(&said->arena, arguments);
    said->then = then;
    said->refused = turn->introspects && !turn_introspect_may_call(turn);
    turn_enqueue(turn, said);
}

void turn_take_end(struct turn *turn, const struct turn_end *end)
{
    assert(loop_is_mine(turn->brief.loop));
    if (turn_stop_is_early(end->stop)) {
        turn_show_held(turn);
        turn_text_keep(turn);
    }
    struct turn_op *said = turn_op_new(TURN_OP_END);
    said->end = *end;
    said->end.error_message = arena_copy(&said->arena, end->error_message);
    said->end.usage = arena_copy(&said->arena, end->usage);
    said->end.result = arena_copy(&said->arena, end->result);
    said->end.reason = arena_copy(&said->arena, end->reason);
    turn_enqueue(turn, said);
    turn->ended = true;
}

bool turn_has_no_room(const struct turn *turn)
{
    assert(loop_is_mine(turn->brief.loop));
    return turn->queued_bytes > turn->turns->options.limits.said_bytes_max;
}

/* --- the queue, on the loop --- */

/* What a driver says when a text is over, or interrupted. */
static const bool said_kinds_after_text[] = {
    [TURN_OP_EVENT] = true, [TURN_OP_ASK] = true, [TURN_OP_END] = true, [TURN_OP_ABORT] = true};

void turn_enqueue(struct turn *turn, struct turn_op *said)
{
    assert(loop_is_mine(turn->brief.loop));
    if (turn->ended || turn->over) {
        turn_op_free(said);
        return;
    }
    if (said_kinds_after_text[said->kind]) {
        turn_show_held(turn);
    }
    turn->queued_bytes += said->bytes;
    *turn->said_end = said;
    turn->said_end = &said->next;
    turn_flush(turn);
}

static struct turn_op *pop(struct turn *turn)
{
    struct turn_op *said = turn->said;
    turn->said = said->next;
    said->next = NULL;
    if (!turn->said) {
        turn->said_end = &turn->said;
    }
    return said;
}

static void publish_waiting_deltas(struct turn *turn)
{
    while (turn->said && turn->said->kind == TURN_OP_DELTA) {
        struct turn_op *said = pop(turn);
        turn_publish_delta(turn, said->delta_kind, said->id, said->text);
        turn->queued_bytes -= said->bytes;
        turn_op_free(said);
    }
}

/* One write takes everything up to the next delta, which must follow what was durable before it. */
static void take_for_writing(struct turn *turn)
{
    struct turn_op **end = &turn->writing;
    while (turn->said && turn->said->kind != TURN_OP_DELTA) {
        *end = pop(turn);
        end = &(*end)->next;
    }
}

void turn_flush(struct turn *turn)
{
    assert(loop_is_mine(turn->brief.loop));
    if (turn->waits || turn->briefs || turn->over || turn->retry_at_ms) {
        return;
    }
    if (!turn->writing) {
        publish_waiting_deltas(turn);
        take_for_writing(turn);
    }
    if (!turn->writing) {
        return;
    }
    turn->writes_as = turn_principal(turn->brief.tenant_key, turn->actor);
    turn->command.who = &turn->writes_as;
    turn->command.lease_token = turn->introspects ? (struct slice){0} : slice_of(turn->lease);
    turn->waits = writer_submit(turn->turns->options.writer, &turn->command);
    if (!turn->waits) {
        turn->retry_at_ms = turn_host_steady_ms(turn->turns) + WRITE_AGAIN_MS;
    }
}

/* --- on the writer --- */

static enum status enter(struct call *call, struct turn *turn, struct session_access *out)
{
    if (turn->introspects) {
        return introspection_enter(call, turn->brief.session_id, turn->brief.number, out);
    }
    enum status status = session_authorize(call, turn->brief.session_id, ACTION_APPEND, out);
    if (status == STATUS_OK && !out->holds_lease) {
        return failure_set(&call->failure, STATUS_STALE, "lease_required", "The turn does not hold its session.");
    }
    return status;
}

static enum status write_event(struct call *call, struct turn *turn, struct turn_op *said)
{
    struct session_access entry;
    struct event event = said->event; /* a copy: the job may run twice */
    enum status status = enter(call, turn, &entry);
    return status == STATUS_OK ? session_append_events(call, entry.loaded, &event, 1) : status;
}

static const struct ask_name *name_of(const struct turn *turn, struct slice told)
{
    const struct ask_name *name = turn->names;
    while (name && !slice_eq(name->told, told)) {
        name = name->next;
    }
    return name;
}

/* The job may run twice: the latest name counts. */
static void note_name(struct turn *turn, struct slice stored, struct slice told)
{
    struct ask_name *name = arena_alloc(&turn->names_arena, sizeof *name);
    *name =
        (struct ask_name){turn->names, arena_copy(&turn->names_arena, stored), arena_copy(&turn->names_arena, told)};
    turn->names = name;
}

static enum status open_ask(struct call *call, struct turn *turn, struct loaded_session *loaded, struct ask *ask)
{
    const struct event *message = turn->brief.message;
    struct slice told = ask->id;
    if (!turn->brief.was_cut) {
        return ask_open(call, loaded, ask);
    }
    enum status status = ask_open_again(call, loaded, message ? message->sequence : 0, ask);
    if (status == STATUS_OK && !slice_eq(told, ask->id)) {
        note_name(turn, ask->id, told);
        ask->id = told;
    }
    return status;
}

/* An ask that is refused, or decided already (by a rule, or before the turn was cut), is told to the driver. */
static enum status write_ask(struct call *call, struct turn *turn, struct turn_op *said)
{
    struct session_access entry;
    struct ask ask = said->ask;
    ask.turn = turn->brief.number;
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
    said->decided = status == STATUS_OK && ask.state != ASK_PENDING;
    if (said->decided) {
        ask_copy(&said->opened, &ask, &said->arena);
    }
    return status;
}

static enum status write_unask(struct call *call, struct turn *turn, struct turn_op *said)
{
    struct session_access entry;
    const struct ask_name *name = name_of(turn, said->id);
    struct slice id = name ? name->stored : said->id;
    enum status status = enter(call, turn, &entry);
    return status == STATUS_OK ? ask_cancel(call, entry.loaded, id, SLICE("withdrawn by the agent")) : status;
}

static enum status write_keep(struct call *call, struct turn *turn, struct turn_op *said)
{
    struct session_access entry;
    enum status status = enter(call, turn, &entry);
    if (status != STATUS_OK) {
        return status;
    }
    return store_driver_state_put(call->db, turn->brief.tenant_key, turn->brief.session_key, said->text,
                                  &call->failure);
}

static enum status write_serve(struct call *call, struct turn *turn, struct turn_op *said)
{
    struct session_access entry;
    struct slice result = {0};
    said->result = said->error = (struct slice){0};
    enum status status = enter(call, turn, &entry);
    if (status != STATUS_OK) {
        return status;
    }
    if (said->refused) {
        said->error = SLICE("not done: all calls of this look back are used up");
        return STATUS_OK;
    }
    int64_t writes_before = transaction_writes(call->transaction);
    status = turn_tool_serve(call, entry.loaded, said->id, said->text, &result);
    if (status == STATUS_OK) {
        said->result = arena_copy(&said->arena, result);
    } else if (transaction_writes(call->transaction) == writes_before && status != STATUS_UNAVAILABLE) {
        said->error = arena_copy(&said->arena, slice_of(call->failure.detail));
        status = STATUS_OK;
    }
    return status;
}

/* What the driver calls the ask that the event is about; absent when it has no name of its own. */
static struct slice told_id(struct turn *turn, const struct event *event)
{
    const struct json *metadata = NULL;
    if (!turn->names || json_parse(&turn->heard_arena, event->metadata, &metadata, NULL) != STATUS_OK) {
        return (struct slice){0};
    }
    struct slice id = json_text_of(metadata, "id");
    const struct ask_name *name = turn->names;
    while (name && !slice_eq(name->stored, id)) {
        name = name->next;
    }
    return name ? arena_copy(&turn->heard_arena, name->told) : (struct slice){0};
}

static bool keep_heard(void *owner, const struct event *event)
{
    struct turn *turn = owner;
    struct heard_event *heard = &turn->heard_events[turn->heard_count++];
    struct event *kept = &heard->event;
    *kept = *event;
    kept->custom = arena_copy(&turn->heard_arena, event->custom);
    kept->metadata = arena_copy(&turn->heard_arena, event->metadata);
    heard->ask_id = told_id(turn, kept);
    turn->looked_until = event->sequence;
    return turn->heard_count < LOOK_EVENTS;
}

static enum status write_look(struct call *call, struct turn *turn, struct turn_op *said)
{
    static const enum event_kind kinds[] = {EVENT_ASK_ANSWERED,          EVENT_ASK_EXPIRED,
                                            EVENT_ASK_CANCELLED,         EVENT_TURN_INTERRUPT_REQUESTED,
                                            EVENT_SESSION_STATUS_CHANGE, EVENT_INTROSPECTION_INTERRUPTED};
    struct event_filter filter = {.tenant_key = turn->brief.tenant_key,
                                  .session_key = turn->brief.session_key,
                                  .kinds = kinds,
                                  .kind_count = sizeof kinds / sizeof *kinds,
                                  .after = turn->log_read_to,
                                  .limit = LOOK_EVENTS};
    (void)said;
    arena_reset(&turn->heard_arena);
    turn->heard_events = arena_alloc(&turn->heard_arena, LOOK_EVENTS * sizeof *turn->heard_events);
    turn->heard_count = 0;
    turn->looked_until = turn->log_read_to;
    enum status status = transaction_flush(call->transaction, &call->failure);
    return status == STATUS_OK ? store_event_read(call->db, &filter, keep_heard, turn, &call->failure) : status;
}

static enum status write_renew(struct call *call, struct turn *turn, struct turn_op *said)
{
    struct session_access entry;
    int64_t expires_at_ms;
    (void)said;
    if (turn->introspects) {
        return introspection_renew(call, turn->brief.session_id, turn->brief.number);
    }
    return claim_heartbeat(call, turn->brief.session_id, 0, &entry, &expires_at_ms);
}

static enum status write_end(struct call *call, struct turn *turn, struct turn_op *said)
{
    if (turn->introspects) {
        return introspection_settle(call, turn->brief.session_id, turn->brief.number, &said->end, turn->calls);
    }
    return turn_finish(call, turn->brief.session_id, turn->brief.thread_id, &said->end);
}

static enum status write_cut(struct call *call, struct turn *turn, struct turn_op *said)
{
    struct session_access entry;
    if (turn->introspects) {
        return introspection_return(call, turn->brief.session_id, turn->brief.number, said->text.ptr);
    }
    enum status status = enter(call, turn, &entry);
    return status == STATUS_OK ? turn_abort(call, entry.loaded, said->text.ptr) : status;
}

static enum status write_nothing(struct call *call, struct turn *turn, struct turn_op *said)
{
    (void)call, (void)turn, (void)said;
    return STATUS_OK;
}

static enum status (*const writes[])(struct call *call, struct turn *turn, struct turn_op *said) = {
    [TURN_OP_DELTA] = write_nothing,    [TURN_OP_EVENT] = write_event,     [TURN_OP_ASK] = write_ask,
    [TURN_OP_CANCEL_ASK] = write_unask, [TURN_OP_SAVE_STATE] = write_keep, [TURN_OP_CALL_SERVICE] = write_serve,
    [TURN_OP_READ_LOG] = write_look,    [TURN_OP_RENEW] = write_renew,     [TURN_OP_END] = write_end,
    [TURN_OP_ABORT] = write_cut,
};

/* The last event the session has now; deltas follow it. */
static void note_sequence(struct call *call, struct turn *turn)
{
    struct loaded_session *loaded;
    struct failure ignored;
    if (transaction_load(call->transaction, turn->brief.tenant_key, turn->brief.session_id, &loaded, &ignored) ==
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
    for (struct turn_op *said = turn->writing; said && status == STATUS_OK; said = said->next) {
        status = writes[said->kind](call, turn, said);
    }
    note_sequence(call, turn);
    return status;
}

static void write_finish(struct command *command, enum status status, const struct failure *failure)
{
    struct turn *turn = turn_of_command(command);
    turn->status = status;
    turn->failure = failure ? *failure : (struct failure){0};
    loop_post(turn->turns->options.loop, &turn->message);
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

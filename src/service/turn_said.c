#include <stdlib.h>

#include "service/ask.h"
#include "service/introspection.h"
#include "service/turn_close.h"
#include "service/turn_run.h"

enum { WRITE_AGAIN_MS = 500, LOOK_EVENTS = 100 };

struct said *said_new(enum said_kind kind)
{
    struct said *said = memory_zeroed(sizeof *said);
    said->kind = kind;
    return said;
}

static void said_free(struct said *said)
{
    arena_release(&said->arena);
    free(said);
}

void said_free_all(struct said *said)
{
    while (said) {
        struct said *next = said->next;
        said_free(said);
        said = next;
    }
}

/* --- what a driver says --- */

/* What a turn says belongs to the thread of its prompt, unless its driver knows better. */
static struct slice thread_of(const struct turn *turn, const struct event *event)
{
    return slice_present(event->thread_id) ? event->thread_id : turn->brief.thread_id;
}

void turn_event(struct turn *turn, const struct event *event)
{
    struct event kept = *event;
    if (turn->introspects && !turn_introspect_event(&kept)) {
        return;
    }
    turn_text_settle(turn, event->type);
    struct said *said = said_new(SAID_EVENT);
    said->event = kept;
    said->event.type = arena_copy(&said->arena, kept.type);
    said->event.content = arena_copy(&said->arena, event->content);
    said->event.metadata = arena_copy(&said->arena, event->metadata);
    said->event.thread_id = arena_copy(&said->arena, thread_of(turn, event));
    said->bytes = event->content.len + event->metadata.len;
    turn_say(turn, said);
}

void turn_ask(struct turn *turn, const struct ask *ask)
{
    struct said *said = said_new(SAID_ASK);
    ask_copy(&said->ask, ask, &said->arena);
    said->bytes = ask->arguments.len + ask->schema.len + ask->details.len;
    turn_say(turn, said);
}

void turn_unask(struct turn *turn, struct slice ask_id)
{
    struct said *said = said_new(SAID_UNASK);
    said->id = arena_copy(&said->arena, ask_id);
    turn_say(turn, said);
}

void turn_keep(struct turn *turn, struct slice json)
{
    struct said *said = said_new(SAID_KEEP);
    said->text = arena_copy(&said->arena, json);
    turn_say(turn, said);
}

void turn_serve(struct turn *turn, struct slice tool, struct slice arguments, struct turn_served then)
{
    if (slice_is(tool, "save_snapshot") && !turn->introspects) {
        turn_snapshot_take(turn, then);
    } else {
        turn_serve_now(turn, tool, arguments, then);
    }
}

void turn_serve_now(struct turn *turn, struct slice tool, struct slice arguments, struct turn_served then)
{
    struct said *said = said_new(SAID_SERVE);
    said->id = arena_copy(&said->arena, tool);
    said->text = arena_copy(&said->arena, arguments);
    said->then = then;
    said->refused = turn->introspects && !turn_introspect_may_call(turn);
    turn_say(turn, said);
}

void turn_end(struct turn *turn, const struct turn_end *end)
{
    if (turn_stop_is_early(end->stop)) {
        turn_show_held(turn);
        turn_text_keep(turn);
    }
    struct said *said = said_new(SAID_END);
    said->end = *end;
    said->end.error_message = arena_copy(&said->arena, end->error_message);
    said->end.usage = arena_copy(&said->arena, end->usage);
    said->end.result = arena_copy(&said->arena, end->result);
    said->end.reason = arena_copy(&said->arena, end->reason);
    turn_say(turn, said);
    turn->ended = true;
}

bool turn_is_full(const struct turn *turn)
{
    return turn->said_bytes > turn->turns->options.limits.said_bytes_max;
}

/* --- the queue, on the loop --- */

/* What a driver says when a text is over, or interrupted. */
static const bool said_kinds_after_text[] = {
    [SAID_EVENT] = true, [SAID_ASK] = true, [SAID_END] = true, [SAID_CUT] = true};

void turn_say(struct turn *turn, struct said *said)
{
    if (turn->ended || turn->over) {
        said_free(said);
        return;
    }
    if (said_kinds_after_text[said->kind]) {
        turn_show_held(turn);
    }
    turn->said_bytes += said->bytes;
    *turn->said_end = said;
    turn->said_end = &said->next;
    turn_flush(turn);
}

static struct said *pop(struct turn *turn)
{
    struct said *said = turn->said;
    turn->said = said->next;
    said->next = NULL;
    if (!turn->said) {
        turn->said_end = &turn->said;
    }
    return said;
}

static void publish_waiting_deltas(struct turn *turn)
{
    while (turn->said && turn->said->kind == SAID_DELTA) {
        struct said *said = pop(turn);
        turn_publish_delta(turn, said->delta_kind, said->id, said->text);
        turn->said_bytes -= said->bytes;
        said_free(said);
    }
}

/* One write takes everything up to the next delta, which must follow what was durable before it. */
static void take_for_writing(struct turn *turn)
{
    struct said **end = &turn->writing;
    while (turn->said && turn->said->kind != SAID_DELTA) {
        *end = pop(turn);
        end = &(*end)->next;
    }
}

void turn_flush(struct turn *turn)
{
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
    turn->waits = writer_submit(turn->turns->options.writer, &turn->job);
    if (!turn->waits) {
        turn->retry_at_ms = turns_steady_ms(turn->turns) + WRITE_AGAIN_MS;
    }
}

/* --- on the writer --- */

static enum status enter(struct call *call, struct turn *turn, struct session_entry *out)
{
    if (turn->introspects) {
        return introspection_enter(call, turn->brief.session_id, turn->brief.number, out);
    }
    enum status status = session_enter(call, turn->brief.session_id, ACTION_APPEND, out);
    if (status == STATUS_OK && !out->holds_lease) {
        return failure_set(&call->failure, STATUS_STALE, "lease_required", "The turn does not hold its session.");
    }
    return status;
}

static enum status write_event(struct call *call, struct turn *turn, struct said *said)
{
    struct session_entry entry;
    struct event event = said->event; /* a copy: the job may run twice */
    enum status status = enter(call, turn, &entry);
    return status == STATUS_OK ? unit_append(call, entry.loaded, &event, 1) : status;
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
static enum status write_ask(struct call *call, struct turn *turn, struct said *said)
{
    struct session_entry entry;
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

static enum status write_unask(struct call *call, struct turn *turn, struct said *said)
{
    struct session_entry entry;
    const struct ask_name *name = name_of(turn, said->id);
    struct slice id = name ? name->stored : said->id;
    enum status status = enter(call, turn, &entry);
    return status == STATUS_OK ? ask_cancel(call, entry.loaded, id, SLICE("withdrawn by the agent")) : status;
}

static enum status write_keep(struct call *call, struct turn *turn, struct said *said)
{
    struct session_entry entry;
    enum status status = enter(call, turn, &entry);
    if (status != STATUS_OK) {
        return status;
    }
    unit_wrote(call->unit);
    return store_kept_put(call->db, turn->brief.tenant_key, turn->brief.session_key, said->text, &call->failure);
}

static enum status write_serve(struct call *call, struct turn *turn, struct said *said)
{
    struct session_entry entry;
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
    int64_t writes_before = call->unit->writes;
    status = turn_tool_serve(call, entry.loaded, said->id, said->text, &result);
    if (status == STATUS_OK) {
        said->result = arena_copy(&said->arena, result);
    } else if (call->unit->writes == writes_before && status != STATUS_UNAVAILABLE) {
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
    kept->type = arena_copy(&turn->heard_arena, event->type);
    kept->metadata = arena_copy(&turn->heard_arena, event->metadata);
    heard->ask_id = told_id(turn, kept);
    turn->looked_until = event->sequence;
    return turn->heard_count < LOOK_EVENTS;
}

static enum status write_look(struct call *call, struct turn *turn, struct said *said)
{
    static const struct slice types[] = {SLICE("ask.answered"),          SLICE("ask.expired"),
                                         SLICE("ask.cancelled"),         SLICE("turn.interrupt_requested"),
                                         SLICE("session.status_change"), SLICE("introspection.interrupted")};
    struct event_filter filter = {.tenant_key = turn->brief.tenant_key,
                                  .session_key = turn->brief.session_key,
                                  .types = types,
                                  .type_count = sizeof types / sizeof *types,
                                  .after = turn->heard,
                                  .limit = LOOK_EVENTS};
    (void)said;
    arena_reset(&turn->heard_arena);
    turn->heard_events = arena_alloc(&turn->heard_arena, LOOK_EVENTS * sizeof *turn->heard_events);
    turn->heard_count = 0;
    turn->looked_until = turn->heard;
    enum status status = unit_flush(call->unit, &call->failure);
    return status == STATUS_OK ? store_event_read(call->db, &filter, keep_heard, turn, &call->failure) : status;
}

static enum status write_renew(struct call *call, struct turn *turn, struct said *said)
{
    struct session_entry entry;
    int64_t expires_at_ms;
    (void)said;
    if (turn->introspects) {
        return introspection_renew(call, turn->brief.session_id, turn->brief.number);
    }
    return claim_heartbeat(call, turn->brief.session_id, 0, &entry, &expires_at_ms);
}

static enum status write_end(struct call *call, struct turn *turn, struct said *said)
{
    if (turn->introspects) {
        return introspection_settle(call, turn->brief.session_id, turn->brief.number, &said->end, turn->calls);
    }
    return turn_settle(call, turn->brief.session_id, turn->brief.thread_id, &said->end);
}

static enum status write_cut(struct call *call, struct turn *turn, struct said *said)
{
    struct session_entry entry;
    if (turn->introspects) {
        return introspection_return(call, turn->brief.session_id, turn->brief.number, said->text.ptr);
    }
    enum status status = enter(call, turn, &entry);
    return status == STATUS_OK ? turn_cut(call, entry.loaded, said->text.ptr) : status;
}

static enum status write_nothing(struct call *call, struct turn *turn, struct said *said)
{
    (void)call, (void)turn, (void)said;
    return STATUS_OK;
}

static enum status (*const writes[])(struct call *call, struct turn *turn, struct said *said) = {
    [SAID_DELTA] = write_nothing, [SAID_EVENT] = write_event, [SAID_ASK] = write_ask,   [SAID_UNASK] = write_unask,
    [SAID_KEEP] = write_keep,     [SAID_SERVE] = write_serve, [SAID_LOOK] = write_look, [SAID_RENEW] = write_renew,
    [SAID_END] = write_end,       [SAID_CUT] = write_cut,
};

/* The last event the session has now; deltas follow it. */
static void note_sequence(struct call *call, struct turn *turn)
{
    struct loaded_session *loaded;
    struct failure ignored;
    if (unit_load(call->unit, turn->brief.tenant_key, turn->brief.session_id, &loaded, &ignored) == STATUS_OK) {
        turn->written_sequence = loaded->session.last_sequence;
    }
}

enum job_outcome turn_write_run(struct write_job *job, struct unit *unit)
{
    struct turn *turn = (struct turn *)job;
    struct arena arena = {0};
    int64_t writes_before = unit->writes;
    struct principal agent = turn_principal(turn->brief.tenant_key, turn->actor);
    struct call call = unit_call(unit, &arena, &agent);
    call.lease_token = turn->introspects ? (struct slice){0} : slice_of(turn->lease);
    turn->status = STATUS_OK;
    for (struct said *said = turn->writing; said && turn->status == STATUS_OK; said = said->next) {
        turn->status = writes[said->kind](&call, turn, said);
    }
    turn->failure = call.failure;
    note_sequence(&call, turn);
    arena_release(&arena);
    return turn->status != STATUS_OK && unit->writes != writes_before ? JOB_SPOILED : JOB_DONE;
}

void turn_write_finish(struct write_job *job, enum status status, const struct failure *failure)
{
    struct turn *turn = (struct turn *)job;
    if (status != STATUS_OK) {
        turn->status = status;
        turn->failure = *failure;
    }
    loop_post(turn->turns->options.loop, &turn->message);
}

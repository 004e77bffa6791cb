#include "runner/fake_host.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

enum { HISTORY_MAX = 1024, ASK_BYTES_MAX = 65536 };

static void said(struct turn *turn)
{
    buffer_add_byte(&turn->log, '\n');
    uv_stop(loop_uv(turn->loop));
    if (turn->on_said) {
        turn->on_said(turn, turn->owner);
    }
}

void turn_delta(struct turn *turn, enum delta_kind kind, struct slice id, struct slice text)
{
    assert(turn->end_count == 0);
    buffer_format(&turn->log, "delta %s %.*s %.*s", delta_kind_enum.names[kind], SLICE_ARG(id), SLICE_ARG(text));
    if (kind == DELTA_TEXT || kind == DELTA_REASONING) {
        buffer_add(kind == DELTA_TEXT ? &turn->text : &turn->reasoning, text);
    }
    said(turn);
}

static struct event event_copy(struct arena *arena, const struct event *event)
{
    struct event copy = *event;
    copy.custom = arena_copy(arena, event->custom);
    copy.content = arena_copy(arena, event->content);
    copy.metadata = arena_copy(arena, event->metadata);
    copy.thread_id = arena_copy(arena, event->thread_id);
    copy.external_id = arena_copy(arena, event->external_id);
    copy.actor = arena_copy(arena, event->actor);
    return copy;
}

void turn_event(struct turn *turn, const struct event *event)
{
    assert(turn->end_count == 0 && turn->event_count < FAKE_EVENTS_MAX);
    turn->events[turn->event_count++] = event_copy(&turn->arena, event);
    buffer_format(&turn->log, "event %.*s %.*s %.*s", SLICE_ARG(event_type(event)), SLICE_ARG(event->content),
                  SLICE_ARG(event->metadata));
    said(turn);
}

static struct ask kept_ask(struct arena *arena, const struct ask *ask)
{
    struct ask copy;
    ask_copy(&copy, ask, arena);
    return copy;
}

void turn_ask(struct turn *turn, const struct ask *ask)
{
    struct failure failure = {0};
    assert(turn->end_count == 0 && turn->ask_count < FAKE_ASKS_MAX);
    if (ask_check(&turn->arena, ask, ASK_BYTES_MAX, &failure) != STATUS_OK) {
        fprintf(stderr, "the host would refuse this ask: %s\n", failure.detail);
        abort();
    }
    struct ask *copy = &turn->asks[turn->ask_count++];
    *copy = kept_ask(&turn->arena, ask);
    copy->state = ASK_PENDING;
    buffer_format(&turn->log, "ask %s %.*s %.*s %.*s", ask_kind_enum.names[ask->kind], SLICE_ARG(ask->id),
                  SLICE_ARG(ask->tool), SLICE_ARG(ask->text));
    said(turn);
}

void turn_cancel_ask(struct turn *turn, struct slice ask_id)
{
    for (size_t i = 0; i < turn->ask_count; i++) {
        if (slice_eq(turn->asks[i].id, ask_id)) {
            turn->asks[i].state = ASK_CANCELLED;
        }
    }
    buffer_format(&turn->log, "unask %.*s", SLICE_ARG(ask_id));
    said(turn);
}

void turn_save_state(struct turn *turn, struct slice json)
{
    turn->kept = arena_copy(&turn->arena, json);
    buffer_format(&turn->log, "keep %.*s", SLICE_ARG(json));
    said(turn);
}

void turn_end(struct turn *turn, const struct turn_end *end)
{
    assert(turn->end_count == 0);
    turn->end = *end;
    turn->end.error_message = arena_copy(&turn->arena, end->error_message);
    turn->end.usage = arena_copy(&turn->arena, end->usage);
    turn->end.result = arena_copy(&turn->arena, end->result);
    turn->end.reason = arena_copy(&turn->arena, end->reason);
    turn->end_count++;
    buffer_format(&turn->log, "end %s %s %.*s", turn_stop_enum.names[end->stop], turn_error_enum.names[end->error],
                  SLICE_ARG(end->error_message));
    said(turn);
}

void turn_agent_lost(struct turn *turn, const char *cause)
{
    struct turn_end end = {
        .stop = TURN_ABORTED, .error = TURN_CANCELLED, .error_message = slice_of(cause), .to = SESSION_IDLE};
    turn_end(turn, &end);
}

void turn_call_service(struct turn *turn, struct slice tool, struct slice arguments, struct turn_served then)
{
    buffer_format(&turn->log, "serve %.*s %.*s", SLICE_ARG(tool), SLICE_ARG(arguments));
    said(turn);
    bool is_given = slice_present(turn->serve_result) || slice_present(turn->serve_error);
    then.done(then.owner, is_given ? turn->serve_result : SLICE("{}"), turn->serve_error);
}

bool turn_is_full(const struct turn *turn)
{
    return turn->is_full;
}

void fake_turn_init(struct turn *turn, struct loop *loop)
{
    *turn = (struct turn){.loop = loop};
    turn->brief.loop = loop;
    turn->brief.number = 1;
    turn->brief.session_id = SLICE("session-1");
    turn->brief.tenant_key = 1;
    turn->brief.session_key = 1;
}

void fake_turn_start(struct turn *turn, const struct driver *driver)
{
    turn->driver = driver;
    turn->state = driver->start(driver->owner, turn, &turn->brief);
}

static bool ask_is_open(const struct turn *turn)
{
    return turn->ask_count > 0 && turn->asks[turn->ask_count - 1].state == ASK_PENDING;
}

void fake_turn_run(struct turn *turn)
{
    while (turn->end_count == 0 && !ask_is_open(turn)) {
        uv_run(loop_uv(turn->loop), UV_RUN_DEFAULT);
    }
}

static size_t lines(const struct turn *turn)
{
    size_t count = 0;
    for (size_t i = 0; i < turn->log.len; i++) {
        count += turn->log.ptr[i] == '\n';
    }
    return count;
}

void fake_turn_run_lines(struct turn *turn, size_t count)
{
    while (turn->end_count == 0 && lines(turn) < count) {
        uv_run(loop_uv(turn->loop), UV_RUN_DEFAULT);
    }
}

void fake_turn_answer(struct turn *turn, enum ask_decision decision, const char *answer, const char *reason)
{
    struct ask *ask = &turn->asks[turn->ask_count - 1];
    assert(ask_is_open(turn));
    ask->state = ASK_ANSWERED;
    ask->decision = decision;
    ask->answer = slice_of(answer);
    ask->reason = slice_of(reason);
    turn->driver->answer(turn->state, ask);
}

void fake_turn_interrupt(struct turn *turn, bool gone)
{
    turn->driver->interrupt(turn->state, gone);
}

void fake_turn_release(struct turn *turn)
{
    if (turn->state) {
        turn->driver->free(turn->state);
    }
    uv_run(loop_uv(turn->loop), UV_RUN_NOWAIT);
    arena_release(&turn->arena);
    buffer_release(&turn->log);
    buffer_release(&turn->text);
    buffer_release(&turn->reasoning);
}

const struct event *fake_turn_event(const struct turn *turn, const char *type, size_t n)
{
    for (size_t i = 0; i < turn->event_count; i++) {
        if (slice_is(event_type(&turn->events[i]), type) && n-- == 0) {
            return &turn->events[i];
        }
    }
    return NULL;
}

size_t fake_turn_events(const struct turn *turn, const char *type)
{
    size_t count = 0;
    while (fake_turn_event(turn, type, count)) {
        count++;
    }
    return count;
}

void fake_turn_history(struct turn *turn, const char *type, enum event_role role, const char *content,
                       const char *metadata)
{
    struct turn_input *brief = &turn->brief;
    if (!brief->history) {
        brief->history = arena_array(&turn->arena, HISTORY_MAX, sizeof *brief->history);
    }
    assert(brief->history_count < HISTORY_MAX);
    struct event *event = (struct event *)&brief->history[brief->history_count++];
    *event = (struct event){.sequence = (int64_t)brief->history_count,
                            .kind = event_kind_find(slice_of(type)),
                            .custom = slice_of(type),
                            .role = role,
                            .content = slice_of(content),
                            .metadata = slice_of(metadata)};
}

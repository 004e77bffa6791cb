#include <stdlib.h>

#include "loop/timer.h"
#include "runner/script.h"

enum { FULL_PAUSE_MS = 50 };

/* A turn that is being played. */
struct playing {
    const struct script *script;
    struct turn *turn;
    struct script_turn at;
    struct arena arena, answer_arena;
    struct act act;
    struct loop_timer *timer;
    struct slice waits_for; /* the ask; absent = none */
    bool over;
};

static void plan(struct playing *playing)
{
    arena_reset(&playing->arena);
    playing->script->next(&playing->at, &playing->arena, &playing->act);
    loop_timer_set(playing->timer, playing->act.after_ms * playing->script->pace_percent / 100);
}

static void end(struct playing *playing, const struct turn_end *how)
{
    playing->over = true;
    turn_end(playing->turn, how);
}

static void perform(void *owner)
{
    struct playing *playing = owner;
    struct turn *turn = playing->turn;
    if (playing->over || slice_present(playing->waits_for)) {
        return;
    }
    if (turn_is_full(turn)) {
        loop_timer_set(playing->timer, FULL_PAUSE_MS);
        return;
    }
    switch (playing->act.kind) {
    case ACT_DELTA:
        turn_delta(turn, playing->act.delta_kind, (struct slice){0}, playing->act.delta_text);
        break;
    case ACT_EVENT:
        turn_event(turn, &playing->act.event);
        break;
    case ACT_ASK:
        arena_reset(&playing->answer_arena);
        playing->waits_for = arena_copy(&playing->answer_arena, playing->act.ask.id);
        turn_ask(turn, &playing->act.ask);
        return;
    case ACT_END:
        end(playing, &playing->act.end);
        return;
    }
    plan(playing);
}

/* Not what was kept of a sentence when its turn was cut. The result of a call that was cut stands for the call's. */
static bool is_whole(const struct event *event, struct arena *arena)
{
    const struct json *metadata = NULL;
    bool cut = false;
    if (slice_present(event->metadata) && json_parse(arena, event->metadata, &metadata, NULL) == STATUS_OK) {
        cut = json_get(metadata, "partial") != NULL;
    }
    return !cut && event_kind_is_of_agent(event->kind);
}

void *script_start(void *owner, struct turn *turn, const struct turn_input *brief)
{
    struct playing *playing = memory_zeroed(sizeof *playing);
    playing->script = owner;
    playing->turn = turn;
    playing->at =
        (struct script_turn){.said = brief->said, .number = brief->turns_done + 1, .turns_done = brief->turns_done};
    for (size_t i = 0; i < brief->since_count; i++) {
        playing->at.done += is_whole(&brief->since[i], &playing->arena);
    }
    playing->timer = loop_timer_new(brief->loop, perform, playing);
    plan(playing);
    return playing;
}

void script_answer(void *state, const struct ask *ask)
{
    struct playing *playing = state;
    const struct json *answer = NULL;
    if (playing->over || !slice_present(playing->waits_for) || !slice_eq(ask->id, playing->waits_for)) {
        return;
    }
    playing->waits_for = (struct slice){0};
    playing->at.denied = ask->state != ASK_ANSWERED || ask->decision == DECISION_DENY;
    playing->at.chosen = SLICE("");
    if (slice_present(ask->answer) &&
        json_parse(&playing->answer_arena, arena_copy(&playing->answer_arena, ask->answer), &answer, NULL) ==
            STATUS_OK &&
        json_is(answer, JSON_STRING)) {
        playing->at.chosen = answer->text;
    }
    plan(playing);
}

void script_interrupt(void *state, bool gone)
{
    struct playing *playing = state;
    if (gone) {
        playing->over = true;
    } else if (!playing->over) {
        end(playing, &(struct turn_end){.stop = TURN_ABORTED, .to = SESSION_IDLE, .reason = SLICE("interrupted")});
    }
}

void script_free(void *state)
{
    struct playing *playing = state;
    loop_timer_free(playing->timer);
    arena_release(&playing->arena);
    arena_release(&playing->answer_arena);
    free(playing);
}

#include "runner/model/model.h"

#include <assert.h>
#include <stdlib.h>

#include "runner/model/model_turn.h"

const struct model_choice *model_choice_of(const struct model_turn *turn)
{
    return turn->choice == 0 ? &turn->agent->model : &turn->agent->fallbacks[turn->choice - 1];
}

struct http_client *model_client(struct model_turn *turn)
{
    struct loop *loop = turn->brief->loop;
    const struct model_options *given = &turn->owner->options;
    struct http_client_options options = {.ca_file = given->ca_file, .gather_us = given->limits.gather_us};
    int index = loop_index(loop);
    assert(index >= 0 && index < MODEL_LOOPS_MAX);
    struct http_client **client = &turn->owner->clients[index];
    *client = *client ? *client : http_client_new(loop, &options);
    return *client;
}

/* --- the course of a turn --- */

void model_end(struct model_turn *turn, enum turn_stop_reason stop, enum turn_error error, struct slice message)
{
    turn->stage = STAGE_ENDED;
    struct turn_end end = {
        .stop = stop,
        .error = error,
        .error_message = message,
        .usage = budget_usage(turn),
        .to = SESSION_IDLE,
    };
    turn_end(turn->turn, &end);
}

/* Everything that may forbid a request is looked at before each one. */
void model_go(struct model_turn *turn)
{
    if (!budget_allows(turn)) {
        return;
    }
    if (!compact_if_needed(turn)) {
        attempt_start(turn);
    }
}

static void begin(struct model_turn *turn)
{
    context_init(&turn->context, &turn->arena, turn->brief);
    model_go(turn);
}

static void on_timer(void *owner)
{
    struct model_turn *turn = owner;
    switch (turn->stage) {
    case STAGE_BEGIN:
        begin(turn);
        break;
    case STAGE_TOOLS:
        tools_begin(turn);
        break;
    case STAGE_BACK_OFF:
        attempt_start(turn);
        break;
    case STAGE_CALL:
    case STAGE_COMPACT:
    case STAGE_TOOL:
    case STAGE_ASK_TOOL:
    case STAGE_ASK_BUDGET:
    case STAGE_ENDED:
        break;
    }
}

static void on_pause_over(void *owner)
{
    struct model_turn *turn = owner;
    if (turn_is_full(turn->turn)) {
        loop_timer_set(turn->pause_timer, FULL_PAUSE_MS);
    } else {
        provider_pause(turn->call, false);
    }
}

/* --- the driver --- */

static void *model_start(void *owner, struct turn *host, const struct turn_input *brief)
{
    struct model_turn *turn = memory_zeroed(sizeof *turn);
    turn->owner = owner;
    turn->turn = host;
    turn->brief = brief;
    turn->agent = brief->agent;
    turn->timer = loop_timer_new(brief->loop, on_timer, turn);
    turn->pause_timer = loop_timer_new(brief->loop, on_pause_over, turn);
    loop_timer_set(turn->timer, 0); /* nothing is said before the host knows our state */
    return turn;
}

static void model_answer(void *state, const struct ask *ask)
{
    struct model_turn *turn = state;
    if (!slice_present(turn->ask_id) || !slice_eq(ask->id, turn->ask_id)) {
        return; /* of an earlier turn, or told twice */
    }
    if (turn->stage == STAGE_ASK_BUDGET) {
        budget_answered(turn, ask);
    } else if (turn->stage == STAGE_ASK_TOOL) {
        tools_answered(turn, ask);
    }
}

static void model_interrupt(void *state, bool gone)
{
    struct model_turn *turn = state;
    if (turn->stage == STAGE_ENDED) {
        return;
    }
    provider_cancel(turn->call);
    turn->call = NULL;
    if (slice_present(turn->ask_id) && !gone) {
        turn_cancel_ask(turn->turn, turn->ask_id);
    }
    turn->ask_id = (struct slice){NULL, 0};
    tools_cancel(turn, !gone);
    if (!gone) {
        answer_record_partial(turn);
        model_end(turn, TURN_ABORTED, TURN_CANCELLED, SLICE("the turn was interrupted"));
    }
}

static void model_free(void *state)
{
    struct model_turn *turn = state;
    if (turn->stage != STAGE_ENDED) {
        model_interrupt(turn, true);
    }
    loop_timer_free(turn->timer);
    loop_timer_free(turn->pause_timer);
    answer_reset(&turn->answer);
    context_release(&turn->context);
    buffer_release(&turn->summary);
    arena_release(&turn->arena);
    free(turn);
}

static void model_close(void *owner)
{
    struct model_driver *driver = owner;
    for (size_t i = 0; i < MODEL_LOOPS_MAX; i++) {
        http_client_free(driver->clients[i]);
    }
    free(driver);
}

struct driver *model_driver_new(const struct model_options *options)
{
    struct model_driver *driver = memory_zeroed(sizeof *driver);
    driver->options = *options;
    driver->driver = (struct driver){
        .kind = DRIVER_MODEL,
        .owner = driver,
        .start = model_start,
        .answer = model_answer,
        .interrupt = model_interrupt,
        .free = model_free,
        .close = model_close,
    };
    return &driver->driver;
}

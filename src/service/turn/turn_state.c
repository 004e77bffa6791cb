/* The states of a turn on its host, as drawn in turn_run.h. */
#include <assert.h>

#include "service/turn/turn_run.h"

#define TO(state) (1u << TURN_##state)

static const uint8_t edges[TURN_STATE_COUNT] = {
    [TURN_CLAIMED] = TO(LOADING) | TO(ENDING) | TO(OVER),
    [TURN_LOADING] = TO(AWAITING_SANDBOX) | TO(RUNNING) | TO(ENDING) | TO(OVER),
    [TURN_AWAITING_SANDBOX] = TO(RUNNING) | TO(ENDING) | TO(OVER),
    [TURN_RUNNING] = TO(ENDING) | TO(OVER),
    [TURN_ENDING] = TO(OVER),
    [TURN_OVER] = 0,
};

static bool is_end(const struct turn_op *op)
{
    return op->kind == TURN_OP_END || op->kind == TURN_OP_ABORT;
}

/* An end is there, and nothing follows it. */
static bool ends_last(const struct turn *turn)
{
    const struct turn_op *op = turn->queue ? turn->queue : turn->writing;
    while (op && op->next) {
        op = op->next;
    }
    return op && is_end(op);
}

/* What holds when a state is entered. */
static void check(const struct turn *turn)
{
    assert(!turn->is_loading || !turn->is_writing);
    switch ((enum turn_state)turn->state) {
    case TURN_LOADING:
        assert(turn->is_loading && !turn->has_driver);
        break;
    case TURN_AWAITING_SANDBOX:
        assert(!turn->is_loading && !turn->has_driver && turn->driver && !turn->input.sandbox);
        break;
    case TURN_RUNNING:
        assert(!turn->is_loading && !turn->has_driver && turn->driver);
        break;
    case TURN_ENDING:
        assert(ends_last(turn));
        break;
    case TURN_CLAIMED:
    case TURN_OVER:
    case TURN_STATE_COUNT:
        break;
    }
}

void turn_enter(struct turn *turn, enum turn_state state)
{
    assert(edges[turn->state] & (1u << state));
    turn->state = (uint8_t)state;
    check(turn);
}

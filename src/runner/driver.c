#include "runner/driver.h"

#include <assert.h>

static const struct turn_host_calls *host_of(const struct turn *turn)
{
    const struct turn_host_calls *calls = *(const struct turn_host_calls *const *)turn;
    assert(calls);
    return calls;
}

void turn_delta(struct turn *turn, enum delta_kind kind, struct slice id, struct slice text)
{
    host_of(turn)->delta(turn, kind, id, text);
}

void turn_event(struct turn *turn, const struct event *event)
{
    host_of(turn)->event(turn, event);
}

void turn_ask(struct turn *turn, const struct ask *ask)
{
    host_of(turn)->ask(turn, ask);
}

void turn_cancel_ask(struct turn *turn, struct slice ask_id)
{
    host_of(turn)->cancel_ask(turn, ask_id);
}

void turn_save_state(struct turn *turn, struct slice json)
{
    host_of(turn)->save_state(turn, json);
}

void turn_end(struct turn *turn, const struct turn_end *end)
{
    host_of(turn)->end(turn, end);
}

void turn_agent_lost(struct turn *turn, const char *cause)
{
    host_of(turn)->agent_lost(turn, cause);
}

void turn_call_service(struct turn *turn, struct slice tool, struct slice arguments, struct turn_served then)
{
    host_of(turn)->call_service(turn, tool, arguments, then);
}

bool turn_is_full(const struct turn *turn)
{
    return host_of(turn)->is_full(turn);
}

#include "runner/acp/acp.h"

#include <assert.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/map.h"
#include "runner/acp/acp_turn.h"

struct acp {
    struct acp_options options;
    struct map agents; /* by session */
    _Atomic(const char *) gateway_url;
};

struct acp *acp_new(const struct acp_options *options)
{
    struct acp *acp = memory_zeroed(sizeof *acp);
    acp->options = *options;
    return acp;
}

void acp_set_gateway(struct acp *acp, const char *url)
{
    atomic_store(&acp->gateway_url, url);
}

void acp_free(struct acp *acp)
{
    if (acp) {
        assert(acp->agents.count == 0);
        map_release(&acp->agents);
        free(acp);
    }
}

static void write_key(char out[48], int64_t tenant_key, int64_t session_key)
{
    snprintf(out, 48, "%" PRId64 "/%" PRId64, tenant_key, session_key);
}

void acp_forget(struct acp *acp, struct acp_agent *agent)
{
    if (map_get(&acp->agents, slice_of(agent->key)) == agent) {
        map_remove(&acp->agents, slice_of(agent->key));
    }
}

/* --- the driver --- */

/* Ends the agent; a turn that still runs on it is not heard any more. */
static void abandon(struct acp_agent *agent)
{
    if (agent->turn) {
        agent->turn->agent = NULL;
        agent->turn->turn = NULL;
        agent->turn = NULL;
    }
    acp_agent_end(agent);
}

/* The agent that waits for the session's next turn, if it can take it. */
static struct acp_agent *find_agent(struct acp *acp, const struct turn_input *brief)
{
    char key[48];
    write_key(key, brief->tenant_key, brief->session_key);
    struct acp_agent *agent = map_get(&acp->agents, slice_of(key));
    if (!agent) {
        return NULL;
    }
    if (agent->stage == ACP_READY && !agent->turn && agent->sandbox == brief->sandbox && agent->loop == brief->loop) {
        return agent;
    }
    abandon(agent);
    return NULL;
}

static void start_agent(struct acp_turn *turn, const struct acp_access *access)
{
    struct failure failure = {0};
    struct acp *acp = turn->acp;
    struct acp_agent *agent = acp_agent_start(acp, &acp->options, turn, access, &failure);
    if (!agent) {
        acp_turn_end(turn, TURN_ERROR, TURN_SANDBOX_ERROR, slice_of(failure.detail), NULL);
        return;
    }
    write_key(agent->key, turn->brief->tenant_key, turn->brief->session_key);
    map_put(&acp->agents, slice_of(agent->key), agent);
}

static void *driver_start(void *owner, struct turn *host_turn, const struct turn_input *brief)
{
    struct acp *acp = owner;
    struct acp_turn *turn = memory_zeroed(sizeof *turn);
    turn->acp = acp;
    turn->turn = host_turn;
    turn->brief = brief;
    struct acp_agent *agent = find_agent(acp, brief);
    if (agent) {
        agent->turn = turn;
        turn->agent = agent;
        acp_agent_enter(agent);
    } else if (acp_gateway_is_wanted(brief)) {
        acp_gateway_start(turn, atomic_load(&acp->gateway_url), start_agent);
    } else {
        start_agent(turn, &(struct acp_access){0});
    }
    return turn;
}

static void driver_answer(void *state, const struct ask *ask)
{
    struct acp_turn *turn = state;
    if (turn->agent) {
        acp_ask_answered(turn, ask);
    }
}

static void detach(struct acp_turn *turn)
{
    if (turn->agent) {
        abandon(turn->agent);
    }
    acp_gateway_leave(turn);
    turn->turn = NULL;
}

/* Asks the agent to stop. One that has not begun, or whose turn is nobody's any more, is ended instead: the next turn
 * starts it anew. */
static void driver_interrupt(void *state, bool gone)
{
    struct acp_turn *turn = state;
    if (gone) {
        detach(turn);
        return;
    }
    if (turn->gateway) {
        acp_gateway_leave(turn);
        acp_turn_end(turn, TURN_ABORTED, TURN_CANCELLED, SLICE("The turn was interrupted."), NULL);
        return;
    }
    if (!turn->agent || turn->is_interrupted) {
        return;
    }
    turn->is_interrupted = true;
    struct acp_agent *agent = turn->agent;
    if (agent->stage != ACP_PROMPTING) {
        acp_turn_end(turn, TURN_ABORTED, TURN_CANCELLED, SLICE("The turn was interrupted."), NULL);
        acp_agent_end(agent);
        return;
    }
    struct buffer params = {0};
    struct json_out out = json_out_to(&params);
    json_begin_object(&out);
    json_put_text(&out, "sessionId", buffer_slice(&agent->session->name));
    json_end_object(&out);
    agent->stage = ACP_CANCELLING;
    acp_agent_notify(agent, "session/cancel", buffer_slice(&params));
    buffer_release(&params);
    acp_asks_end(turn);
    acp_agent_set_deadline(agent, agent->options->limits.cancel_ms);
}

static void driver_free(void *state)
{
    struct acp_turn *turn = state;
    detach(turn);
    acp_asks_end(turn);
    acp_calls_end(turn);
    acp_said_release(&turn->said);
    buffer_release(&turn->context);
    free(turn);
}

static void driver_leave(void *owner, int64_t tenant_key, int64_t session_key)
{
    struct acp *acp = owner;
    char key[48];
    write_key(key, tenant_key, session_key);
    struct acp_agent *agent = map_get(&acp->agents, slice_of(key));
    if (agent && agent->turn) {
        acp_turn_end(agent->turn, TURN_ABORTED, TURN_CANCELLED, SLICE("The session left its agent."), NULL);
    }
    if (agent) {
        acp_agent_end(agent);
    }
}

static void driver_close(void *owner)
{
    struct acp *acp = owner;
    struct acp_agent *agent;
    size_t cursor = 0;
    while ((agent = map_next(&acp->agents, &cursor))) {
        abandon(agent);
        cursor = 0; /* the map changed */
    }
}

struct driver acp_driver(struct acp *acp)
{
    return (struct driver){
        .kind = DRIVER_ACP,
        .owner = acp,
        .start = driver_start,
        .answer = driver_answer,
        .interrupt = driver_interrupt,
        .free = driver_free,
        .release_session = driver_leave,
        .close = driver_close,
    };
}

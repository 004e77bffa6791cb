#include "runner/acp/acp_turn.h"

#include "domain/change_turn.h"
#include "domain/prompt.h"
#include "domain/redact.h"

enum { ERROR_BYTES_MAX = 600 };

void acp_turn_say(struct acp_turn *turn, enum event_kind kind, struct slice content)
{
    if (turn->turn) {
        struct event event = {.kind = kind, .role = ROLE_AGENT, .content = content};
        event.metadata = turn->is_cut ? SLICE(PARTIAL_METADATA) : event.metadata;
        turn_event(turn->turn, &event);
    }
}

/* --- what the next process needs --- */

static void put_kept(struct json_out *out, const char *key, const struct buffer *json)
{
    if (json->len > 0) {
        json_put_raw(out, key, buffer_slice(json));
    }
}

void acp_turn_keep(struct acp_turn *turn)
{
    struct acp_agent *agent = turn->agent;
    struct buffer kept = {0};
    struct json_out out = json_out_to(&kept);
    json_begin_object(&out);
    acp_sessions_write(&out, agent->sessions, buffer_slice(&agent->directory));
    put_kept(&out, "mode", &agent->mode);
    put_kept(&out, "commands", &agent->commands);
    json_end_object(&out);
    turn_save_state(turn->turn, buffer_slice(&kept));
    turn->has_news = false;
    buffer_release(&kept);
}

/* --- its prompt --- */

void acp_turn_prompt(struct acp_turn *turn)
{
    struct acp_agent *agent = turn->agent;
    struct buffer params = {0};
    struct json_out out = json_out_to(&params);
    json_begin_object(&out);
    json_put_text(&out, "sessionId", buffer_slice(&agent->session->name));
    json_key(&out, "prompt");
    acp_prompt_write(&params, turn);
    json_end_object(&out);
    turn->cost_microcents_before = agent->session->cost_microcents;
    agent->session->is_fresh = false;
    acp_agent_call(agent, ACP_PROMPTING, "session/prompt", buffer_slice(&params));
    buffer_release(&params);
    acp_agent_guard_silence(agent);
}

/* --- its end --- */

static const struct {
    const char *reason;
    enum turn_stop_reason stop;
    enum turn_error error;
    struct slice message;
} stop_reasons[] = {
    {"end_turn", TURN_STOP, TURN_OK, {0}},
    {"max_tokens", TURN_LENGTH, TURN_OK, {0}},
    {"max_turn_requests", TURN_ERROR, TURN_LIMIT, SLICE("The agent reached its own limit of requests in one turn.")},
    {"refusal", TURN_CONTENT_FILTER, TURN_FILTERED, SLICE("The agent refused to go on.")},
    {"cancelled", TURN_ABORTED, TURN_CANCELLED, SLICE("The turn was cancelled.")},
};

static void end_refused(struct acp_turn *turn, const struct rpc_message *message)
{
    struct slice more = json_text_of(message->error_data, "message");
    more = slice_present(more) ? more : json_text_of(message->error_data, "details");
    struct buffer text = {0}, safe = {0};
    buffer_format(&text, "The agent failed: %.*s",
                  SLICE_ARG(slice_utf8_prefix(message->error_message, ERROR_BYTES_MAX)));
    if (more.len > 0 && !slice_eq(more, message->error_message)) {
        buffer_format(&text, " (%.*s)", SLICE_ARG(slice_utf8_prefix(more, ERROR_BYTES_MAX)));
    }
    bool auth = message->error_code == ACP_AUTH_REQUIRED;
    buffer_add(&text, auth ? SLICE(ACP_AUTH_ADVICE) : (struct slice){0});
    redact_add(&safe, buffer_slice(&text));
    acp_turn_end(turn, TURN_ERROR, auth ? TURN_PROVIDER_AUTH : TURN_INTERNAL, buffer_slice(&safe), NULL);
    buffer_release(&text);
    buffer_release(&safe);
}

void acp_turn_answered(struct acp_turn *turn, const struct rpc_message *message)
{
    const struct json *usage = json_get_value(message->result, "usage");
    struct slice reason = json_text_of(message->result, "stopReason");
    if (turn->is_interrupted) {
        acp_turn_end(turn, TURN_ABORTED, TURN_CANCELLED, SLICE("The turn was interrupted."), usage);
        return;
    }
    if (message->kind == RPC_ERROR) {
        end_refused(turn, message);
        return;
    }
    for (size_t i = 0; i < sizeof stop_reasons / sizeof stop_reasons[0]; i++) {
        if (slice_is(reason, stop_reasons[i].reason)) {
            acp_turn_end(turn, stop_reasons[i].stop, stop_reasons[i].error, stop_reasons[i].message, usage);
            return;
        }
    }
    acp_turn_end(turn, TURN_ERROR, TURN_INTERNAL, SLICE("The agent ended the turn for a reason nobody knows."), usage);
}

static const struct {
    const char *theirs, *ours;
} usage_names[] = {
    {"inputTokens", "input_tokens"},           {"outputTokens", "output_tokens"},
    {"totalTokens", "total_tokens"},           {"thoughtTokens", "reasoning_tokens"},
    {"cachedReadTokens", "cache_read_tokens"}, {"cachedWriteTokens", "cache_write_tokens"},
};

/* Of this turn: tokens as the answer told them, cost as far as the agent's own sum grew. */
static void write_usage(struct buffer *to, const struct acp_turn *turn, const struct json *usage)
{
    struct json_out out = json_out_to(to);
    json_begin_object(&out);
    for (size_t i = 0; i < sizeof usage_names / sizeof usage_names[0]; i++) {
        int64_t count;
        if (json_as_i64(json_get(usage, usage_names[i].theirs), &count) && count >= 0) {
            json_put_i64(&out, usage_names[i].ours, count);
        }
    }
    const struct acp_session *session = turn->agent ? turn->agent->session : NULL;
    int64_t cost = session ? session->cost_microcents - turn->cost_microcents_before : 0;
    if (cost > 0) {
        json_put_i64(&out, "cost_microcents", cost);
    }
    if (turn->context.len > 0) {
        json_put_raw(&out, "context", buffer_slice(&turn->context));
    }
    json_end_object(&out);
}

void acp_turn_end(struct acp_turn *turn, enum turn_stop_reason stop, enum turn_error error, struct slice message,
                  const struct json *usage)
{
    struct turn *host_turn = turn->turn;
    struct acp_agent *agent = turn->agent;
    struct buffer spent = {0};
    turn->is_cut = turn_stop_is_early(stop);
    acp_said_flush(turn);
    turn->is_cut = false;
    acp_asks_end(turn);
    acp_calls_end(turn);
    if (agent && turn->has_news) {
        acp_turn_keep(turn);
    }
    write_usage(&spent, turn, usage);
    turn->turn = NULL;
    turn->agent = NULL;
    if (agent) {
        agent->turn = NULL;
    }
    struct turn_end end = {
        .stop = stop,
        .error = error,
        .error_message = message,
        .usage = spent.len > 2 ? buffer_slice(&spent) : (struct slice){0},
        .to = SESSION_IDLE,
    };
    turn_end(host_turn, &end);
    buffer_release(&spent);
}

static void say_notice(struct acp_turn *turn, struct slice text)
{
    struct arena arena = {0};
    acp_turn_say(turn, EVENT_AGENT_NOTICE, prompt_content_of(&arena, text));
    arena_release(&arena);
}

void acp_turn_return(struct acp_turn *turn, struct slice why)
{
    struct turn *host_turn = turn->turn;
    turn->is_cut = true;
    acp_said_flush(turn);
    turn->is_cut = false;
    acp_calls_tell(turn);
    say_notice(turn, why);
    if (turn->has_news) {
        acp_turn_keep(turn);
    }
    turn->agent->turn = NULL;
    turn->agent = NULL;
    turn->turn = NULL;
    turn_agent_lost(host_turn, "agent_killed");
}

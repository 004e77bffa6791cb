#include <stdlib.h>

#include "runner/acp/acp_turn.h"

enum { MESSAGE_ID_BYTES_MAX = 128, PART_BYTES_MAX = 512 * 1024 };

static void replace(struct buffer *buffer, struct slice value)
{
    buffer->len = 0;
    buffer_add(buffer, value);
}

/* --- text and reasoning --- */

void acp_said_release(struct acp_said *said)
{
    buffer_release(&said->id);
    buffer_release(&said->text);
    buffer_release(&said->parts);
}

static void put_text_part(struct buffer *to, struct slice text)
{
    struct json_out out = json_out_to(to);
    if (to->len > 1) {
        buffer_add_byte(to, ',');
    }
    json_begin_object(&out);
    json_put_text(&out, "type", SLICE("text"));
    json_put_text(&out, "text", text);
    json_end_object(&out);
}

void acp_said_flush(struct acp_turn *turn)
{
    struct acp_said *said = &turn->said;
    if (said->text.len > 0 || said->parts.len > 0) {
        struct buffer content = {0};
        buffer_add_byte(&content, '[');
        if (said->text.len > 0) {
            put_text_part(&content, buffer_slice(&said->text));
        }
        if (said->parts.len > 0) {
            buffer_add(&content, content.len > 1 ? SLICE(",") : SLICE(""));
            buffer_add(&content, buffer_slice(&said->parts));
        }
        buffer_add_byte(&content, ']');
        acp_turn_say(turn, said->kind == DELTA_TEXT ? EVENT_AGENT_MESSAGE : EVENT_AGENT_THINKING,
                     buffer_slice(&content));
        buffer_release(&content);
    }
    said->id.len = said->text.len = said->parts.len = 0;
}

/* The run this chunk belongs to: the one that is open, or a new one. */
static struct acp_said *run_of(struct acp_turn *turn, enum delta_kind kind, struct slice id)
{
    struct acp_said *said = &turn->said;
    bool other = id.len > 0 && !slice_eq(id, buffer_slice(&said->id));
    if (said->id.len > 0 && (said->kind != kind || other || said->text.len > ACP_MESSAGE_BYTES_MAX)) {
        acp_said_flush(turn);
    }
    if (said->id.len == 0) {
        said->kind = kind;
        turn->messages_ever++;
        if (id.len > 0 && id.len <= MESSAGE_ID_BYTES_MAX) {
            buffer_add(&said->id, id);
        } else {
            buffer_format(&said->id, "m%lld.%zu", (long long)turn->brief->number, turn->messages_ever);
        }
    }
    return said;
}

static void add_text(struct acp_turn *turn, enum delta_kind kind, struct slice id, struct slice text)
{
    while (text.len > 0) {
        struct slice piece = slice_utf8_prefix(text, ACP_DELTA_BYTES_MAX);
        struct acp_said *said = run_of(turn, kind, id);
        buffer_add(&said->text, piece);
        turn_delta(turn->turn, kind, buffer_slice(&said->id), piece);
        text = slice_after(text, piece.len);
    }
}

/* Pictures and links stay what they are, after the text of their message. */
static void add_part(struct acp_turn *turn, enum delta_kind kind, struct slice id, const struct json *content)
{
    struct acp_said *said = run_of(turn, kind, id);
    if (said->parts.len + content->raw.len > PART_BYTES_MAX) {
        return;
    }
    buffer_add(&said->parts, said->parts.len > 0 ? SLICE(",") : SLICE(""));
    buffer_add(&said->parts, content->raw);
}

static void take_chunk(struct acp_turn *turn, enum delta_kind kind, const struct json *update)
{
    const struct json *content = json_get_value(update, "content");
    struct slice text, id = json_text_of(update, "messageId");
    if (json_as_text(json_get(content, "text"), &text)) {
        add_text(turn, kind, id, text);
    } else if (json_is(content, JSON_OBJECT) && kind == DELTA_TEXT) {
        add_part(turn, kind, id, content);
    }
}

static void take_message(struct acp_turn *turn, const struct json *update)
{
    take_chunk(turn, DELTA_TEXT, update);
}

static void take_thought(struct acp_turn *turn, const struct json *update)
{
    take_chunk(turn, DELTA_REASONING, update);
}

static void take_call(struct acp_turn *turn, const struct json *update)
{
    const struct acp_call *call = acp_call_take(turn, update);
    if (call) {
        acp_ask_follow(turn, call);
    }
}

static void take_plan(struct acp_turn *turn, const struct json *update)
{
    const struct json *entries = json_get_value(update, "entries");
    if (!json_is(entries, JSON_ARRAY) || entries->raw.len > ACP_OUTPUT_BYTES_MAX) {
        return;
    }
    struct buffer content = {0};
    struct json_out out = json_out_to(&content);
    json_begin_array(&out);
    json_begin_object(&out);
    json_put_text(&out, "type", SLICE("plan"));
    json_put_raw(&out, "entries", entries->raw);
    json_end_object(&out);
    json_end_array(&out);
    acp_said_flush(turn);
    acp_turn_say(turn, EVENT_AGENT_PLAN, buffer_slice(&content));
    buffer_release(&content);
}

static const struct {
    const char *kind;
    void (*take)(struct acp_turn *turn, const struct json *update);
} kinds[] = {
    {"agent_message_chunk", take_message},
    {"agent_thought_chunk", take_thought},
    {"tool_call", take_call},
    {"tool_call_update", take_call},
    {"plan", take_plan},
};

void acp_update(struct acp_turn *turn, const struct json *update)
{
    struct slice kind = json_text_of(update, "sessionUpdate");
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (slice_is(kind, kinds[i].kind)) {
            kinds[i].take(turn, update);
            return;
        }
    }
}

/* --- the agent itself --- */

static void keep_value(struct acp_agent *agent, struct buffer *place, const struct json *value)
{
    if (value && value->raw.len <= ACP_SMALL_BYTES_MAX && !slice_eq(value->raw, buffer_slice(place))) {
        replace(place, value->raw);
        if (agent->turn) {
            agent->turn->has_news = true;
        }
    }
}

static void take_mode(struct acp_agent *agent, const struct json *update)
{
    keep_value(agent, &agent->mode, json_get_value(update, "currentModeId"));
}

static void take_commands(struct acp_agent *agent, const struct json *update)
{
    keep_value(agent, &agent->commands, json_get_value(update, "availableCommands"));
}

/* A sum in a currency; only dollars are counted. */
static void take_cost(struct acp_agent *agent, const struct json *cost)
{
    const struct json *amount = json_get_value(cost, "amount");
    char text[64] = "";
    if (!json_is(amount, JSON_NUMBER) || !slice_is(json_text_of(cost, "currency"), "USD") ||
        amount->raw.len >= sizeof text) {
        return;
    }
    memcpy(text, amount->raw.ptr, amount->raw.len);
    double microcents = strtod(text, NULL) * 1e8;
    if (microcents >= 0 && microcents < 1e17) {
        agent->session->cost_microcents = (int64_t)(microcents + 0.5);
    }
}

static void take_usage(struct acp_agent *agent, const struct json *update)
{
    int64_t used, size;
    take_cost(agent, json_get_value(update, "cost"));
    if (agent->turn && json_as_i64(json_get(update, "used"), &used) && json_as_i64(json_get(update, "size"), &size)) {
        agent->turn->context.len = 0;
        buffer_format(&agent->turn->context, "{\"used_tokens\":%lld,\"size_tokens\":%lld}", (long long)used,
                      (long long)size);
    }
}

static const struct {
    const char *kind;
    void (*take)(struct acp_agent *agent, const struct json *update);
} agent_kinds[] = {
    {"available_commands_update", take_commands},
    {"current_mode_update", take_mode},
    {"usage_update", take_usage},
};

bool acp_update_agent(struct acp_agent *agent, const struct json *update)
{
    struct slice kind = json_text_of(update, "sessionUpdate");
    for (size_t i = 0; i < sizeof agent_kinds / sizeof agent_kinds[0]; i++) {
        if (slice_is(kind, agent_kinds[i].kind)) {
            agent_kinds[i].take(agent, update);
            return true;
        }
    }
    return false;
}

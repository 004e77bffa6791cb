#include <stdlib.h>

#include "runner/acp/acp_turn.h"

/* The kinds of options an agent offers with a permission, in the order of acp_ask.options. */
enum option_kind { ALLOW_ONCE, ALLOW_ALWAYS, REJECT_ONCE, REJECT_ALWAYS, OPTION_KINDS };
static const char *const option_names[OPTION_KINDS] = {"allow_once", "allow_always", "reject_once", "reject_always"};
static const struct enum_names option_enum = {option_names, OPTION_KINDS};

static const struct slice cancelled = SLICE("{\"outcome\":{\"outcome\":\"cancelled\"}}");

/* --- the list --- */

static struct acp_ask *ask_new(struct acp_turn *turn, enum ask_kind kind, struct slice request)
{
    struct acp_ask *ask = memory_zeroed(sizeof *ask);
    ask->kind = kind;
    buffer_add(&ask->request, request);
    buffer_format(&ask->id, "t%lld.%zu", (long long)turn->brief->number, ++turn->asks_ever);
    return ask;
}

static void ask_free(struct acp_ask *ask)
{
    buffer_release(&ask->id);
    buffer_release(&ask->request);
    buffer_release(&ask->arguments);
    buffer_release(&ask->offered);
    buffer_release(&ask->call_id);
    buffer_release(&ask->subject);
    for (int i = 0; i < OPTION_KINDS; i++) {
        buffer_release(&ask->options[i]);
    }
    free(ask);
}

/* Takes the ask whose buffer at `offset` holds this text off the list. */
static struct acp_ask *take(struct acp_turn *turn, size_t offset, struct slice text)
{
    for (struct acp_ask **at = &turn->asks; *at; at = &(*at)->next) {
        struct acp_ask *ask = *at;
        if (slice_eq(buffer_slice((const struct buffer *)((const char *)ask + offset)), text)) {
            *at = ask->next;
            turn->ask_count--;
            return ask;
        }
    }
    return NULL;
}

/* It is on the list before people hear of it: a standing rule may answer at once. */
static void put(struct acp_turn *turn, struct acp_ask *ask, struct ask *shown)
{
    ask->next = turn->asks;
    turn->asks = ask;
    turn->ask_count++;
    struct slice id = buffer_slice(&ask->id);
    shown->id = id;
    shown->kind = ask->kind;
    shown->turn = turn->brief->number;
    shown->quorum = 1;
    acp_agent_guard_silence(turn->agent);
    turn_ask(turn->turn, shown);
}

static bool is_crowded(struct acp_turn *turn)
{
    return turn->is_interrupted || turn->ask_count == ACP_ASKS_MAX;
}

/* --- permissions --- */

static void read_options(struct acp_ask *ask, const struct json *options)
{
    for (const struct json *item = json_is(options, JSON_ARRAY) ? options->child : NULL; item; item = item->next) {
        int kind = enum_names_find(option_enum, json_text_of(item, "kind"));
        const struct json *id = json_get_value(item, "optionId");
        if (kind >= 0 && json_is(id, JSON_STRING) && ask->options[kind].len == 0) {
            buffer_add(&ask->options[kind], id->raw);
        }
    }
}

/* Which of the agent's options stand for a decision, the best first. `session` and `always` are rules of the server,
 * which answers from them and can take them back; so the agent is told `once` each time, and never more than that. */
static const enum option_kind choices[DECISION_COUNT][2] = {
    [DECISION_NONE] = {REJECT_ONCE, REJECT_ALWAYS}, [DECISION_ONCE] = {ALLOW_ONCE, ALLOW_ONCE},
    [DECISION_SESSION] = {ALLOW_ONCE, ALLOW_ONCE},  [DECISION_ALWAYS] = {ALLOW_ONCE, ALLOW_ONCE},
    [DECISION_DENY] = {REJECT_ONCE, REJECT_ALWAYS},
};

static void choose(struct acp_turn *turn, const struct acp_ask *ask, enum ask_decision decision)
{
    const struct buffer *option = &ask->options[choices[decision][0]];
    if (option->len == 0) {
        option = &ask->options[choices[decision][1]];
    }
    struct slice request = buffer_slice(&ask->request);
    if (option->len == 0 && choices[decision][0] == ALLOW_ONCE) {
        acp_turn_say(turn, EVENT_AGENT_NOTICE,
                     SLICE("[{\"type\":\"text\",\"text\":\"The agent offers no approval for once; the call was not "
                           "allowed.\"}]"));
    }
    if (option->len == 0) {
        acp_agent_reply(turn->agent, request, cancelled);
        return;
    }
    struct buffer result = {0};
    buffer_format(&result, "{\"outcome\":{\"outcome\":\"selected\",\"optionId\":%.*s}}",
                  SLICE_ARG(buffer_slice(option)));
    acp_agent_reply(turn->agent, request, buffer_slice(&result));
    buffer_release(&result);
}

static const struct json *reread(struct acp_turn *turn, const struct buffer *json)
{
    const struct json *value = NULL;
    return json->len > 0 && json_parse(&turn->agent->arena, buffer_slice(json), &value, NULL) == STATUS_OK ? value
                                                                                                           : NULL;
}

static struct slice fields_of(struct acp_turn *turn, const struct call_facts *facts)
{
    struct buffer text = {0};
    call_facts_write(&text, facts);
    struct slice copy = arena_copy(&turn->agent->arena, buffer_slice(&text));
    buffer_release(&text);
    return copy;
}

/* An input that was not seen is not shown as an empty one. */
static void show_permission(struct acp_turn *turn, const struct acp_asked *asked)
{
    buffer_add(&asked->ask->arguments, asked->facts.arguments);
    struct ask shown = {
        .tool = asked->name,
        .call_id = asked->call_id,
        .arguments = asked->facts.arguments,
        .text = asked->text,
        .details = asked->details,
        .fields = fields_of(turn, &asked->facts),
    };
    put(turn, asked->ask, &shown);
}

void acp_ask_drop(struct acp_ask *ask)
{
    ask_free(ask);
}

static void start_asking(struct acp_turn *turn, struct acp_ask *ask, struct acp_call *call);

/* What came while links were looked up. */
static struct acp_call *changed_call(struct acp_turn *turn, const struct acp_ask *ask)
{
    struct acp_call *call = acp_call_find(turn, buffer_slice(&ask->call_id));
    return call && !slice_eq(acp_call_subject(turn, call), buffer_slice(&ask->subject)) ? call : NULL;
}

void acp_ask_decide(struct acp_agent *agent, struct acp_turn *turn, const struct acp_asked *asked)
{
    if (!turn || is_crowded(turn)) {
        acp_agent_reply(agent, buffer_slice(&asked->ask->request), cancelled);
        ask_free(asked->ask);
        return;
    }
    struct acp_call *changed = changed_call(turn, asked->ask);
    if (changed) {
        start_asking(turn, asked->ask, changed);
        return;
    }
    enum permission permission = agent_permission(turn->brief->agent, &asked->facts, PERMISSION_ASK);
    if (permission == PERMISSION_ASK) {
        show_permission(turn, asked);
        return;
    }
    choose(turn, asked->ask, permission == PERMISSION_ALLOW ? DECISION_ONCE : DECISION_DENY);
    ask_free(asked->ask);
}

static bool has_path_rule(const struct agent *agent)
{
    for (size_t i = 0; i < agent->permission_count; i++) {
        if (slice_present(agent->permissions[i].path)) {
            return true;
        }
    }
    return false;
}

static void keep(struct buffer *to, struct slice text)
{
    to->len = 0;
    buffer_add(to, text);
}

/* Asks the rules, then people, about the call as it is now. Takes the ask. */
static void start_asking(struct acp_turn *turn, struct acp_ask *ask, struct acp_call *call)
{
    if (ask->changes++ > ACP_ASK_CHANGES_MAX) {
        acp_agent_reply(turn->agent, buffer_slice(&ask->request), cancelled);
        ask_free(ask);
        return;
    }
    struct acp_asked asked = {
        .ask = ask,
        .call_id = buffer_slice(&call->id),
        .name = call->name.len > 0 ? buffer_slice(&call->name) : SLICE("tool"),
        .text = call->title.len > 0 ? buffer_slice(&call->title) : buffer_slice(&call->name),
        .details = acp_call_details(turn, call, reread(turn, &ask->offered)),
    };
    keep(&ask->call_id, buffer_slice(&call->id));
    keep(&ask->subject, acp_call_subject(turn, call));
    ask->arguments.len = 0;
    acp_call_tell(turn, call);
    acp_call_facts(turn, call, &asked.facts);
    if (has_path_rule(turn->brief->agent)) {
        acp_look_start(turn, &asked);
    } else {
        acp_ask_decide(turn->agent, turn, &asked);
    }
}

void acp_ask_follow(struct acp_turn *turn, const struct acp_call *call)
{
    struct slice id = buffer_slice(&call->id);
    struct acp_ask *ask = turn->agent && !call->is_done ? take(turn, offsetof(struct acp_ask, call_id), id) : NULL;
    if (!ask) {
        return;
    }
    struct acp_call *changed = changed_call(turn, ask);
    if (!changed) {
        ask->next = turn->asks;
        turn->asks = ask;
        turn->ask_count++;
        return;
    }
    turn_cancel_ask(turn->turn, buffer_slice(&ask->id));
    ask->id.len = 0;
    buffer_format(&ask->id, "t%lld.%zu", (long long)turn->brief->number, ++turn->asks_ever);
    start_asking(turn, ask, changed);
}

void acp_ask_permission(struct acp_turn *turn, const struct rpc_message *message)
{
    struct acp_call *call = acp_call_take_asked(turn, json_get_value(message->params, "toolCall"));
    const struct json *options = json_get_value(message->params, "options");
    if (!call || is_crowded(turn)) {
        acp_agent_reply(turn->agent, message->id, cancelled);
        return;
    }
    struct acp_ask *ask = ask_new(turn, ASK_APPROVAL, message->id);
    buffer_add(&ask->offered, options ? options->raw : SLICE(""));
    read_options(ask, options);
    start_asking(turn, ask, call);
}

/* --- forms --- */

void acp_ask_form(struct acp_turn *turn, const struct rpc_message *message)
{
    struct slice mode = json_text_of(message->params, "mode");
    const struct json *schema = json_get_value(message->params, "requestedSchema");
    bool is_form = mode.len == 0 || slice_is(mode, "form");
    if (is_crowded(turn) || !is_form || !json_is(schema, JSON_OBJECT) || schema->raw.len > ACP_INPUT_BYTES_MAX) {
        acp_agent_reply(turn->agent, message->id, SLICE("{\"action\":\"decline\"}"));
        return;
    }
    acp_said_flush(turn);
    struct ask shown = {
        .text = slice_utf8_prefix(json_text_of(message->params, "message"), ACP_SMALL_BYTES_MAX),
        .schema = schema->raw,
    };
    put(turn, ask_new(turn, ASK_ELICITATION, message->id), &shown);
}

static void answer_form(struct acp_turn *turn, const struct acp_ask *ask, const struct ask *answer)
{
    struct buffer result = {0};
    bool is_object = answer->answer.len > 0 && slice_trim(answer->answer).ptr[0] == '{';
    bool is_given = answer->state == ASK_ANSWERED && answer->decision != DECISION_DENY && is_object;
    if (is_given) {
        buffer_format(&result, "{\"action\":\"accept\",\"content\":%.*s}", SLICE_ARG(answer->answer));
    } else {
        buffer_add(&result, answer->state == ASK_ANSWERED ? SLICE("{\"action\":\"decline\"}")
                                                          : SLICE("{\"action\":\"cancel\"}"));
    }
    acp_agent_reply(turn->agent, buffer_slice(&ask->request), buffer_slice(&result));
    buffer_release(&result);
}

/* --- answers --- */

/* The agent can only be told yes or no: whoever allowed other arguments did not allow these. */
static bool changes_arguments(struct acp_turn *turn, const struct acp_ask *ask, struct slice answer)
{
    const struct json *theirs, *ours = reread(turn, &ask->arguments);
    if (answer.len == 0 || json_parse(&turn->agent->arena, answer, &theirs, NULL) != STATUS_OK) {
        return false;
    }
    return json_is(theirs, JSON_OBJECT) && !(ours && json_equal(theirs, ours));
}

static void answer_permission(struct acp_turn *turn, const struct acp_ask *ask, const struct ask *answer)
{
    if (answer->state == ASK_CANCELLED) {
        acp_agent_reply(turn->agent, buffer_slice(&ask->request), cancelled);
        return;
    }
    enum ask_decision decision = answer->state == ASK_ANSWERED ? answer->decision : DECISION_DENY;
    if (decision != DECISION_DENY && changes_arguments(turn, ask, answer->answer)) {
        decision = DECISION_DENY;
        acp_turn_say(turn, EVENT_AGENT_NOTICE,
                     SLICE("[{\"type\":\"text\",\"text\":\"The approval changed the arguments of the call, which this "
                           "agent can't take; the call was rejected.\"}]"));
    }
    choose(turn, ask, decision);
}

void acp_ask_answered(struct acp_turn *turn, const struct ask *answer)
{
    struct acp_ask *ask = take(turn, offsetof(struct acp_ask, id), answer->id);
    if (!ask) {
        return;
    }
    if (ask->kind == ASK_APPROVAL) {
        answer_permission(turn, ask, answer);
    } else {
        answer_form(turn, ask, answer);
    }
    ask_free(ask);
    acp_agent_guard_silence(turn->agent);
}

static void give_up(struct acp_turn *turn, struct acp_ask *ask)
{
    if (turn->agent) {
        struct slice word = ask->kind == ASK_APPROVAL ? cancelled : SLICE("{\"action\":\"cancel\"}");
        acp_agent_reply(turn->agent, buffer_slice(&ask->request), word);
    }
    if (turn->turn) {
        turn_cancel_ask(turn->turn, buffer_slice(&ask->id));
    }
    ask_free(ask);
}

void acp_ask_withdrawn(struct acp_turn *turn, struct slice request)
{
    struct acp_ask *ask = take(turn, offsetof(struct acp_ask, request), request);
    acp_look_withdraw(turn->agent, request);
    if (ask) {
        give_up(turn, ask);
        acp_agent_guard_silence(turn->agent);
    }
}

void acp_asks_end(struct acp_turn *turn)
{
    while (turn->asks) {
        struct acp_ask *ask = turn->asks;
        turn->asks = ask->next;
        turn->ask_count--;
        give_up(turn, ask);
    }
}

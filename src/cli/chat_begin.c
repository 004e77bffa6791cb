#include "cli/chat_terminal.h"
#include "cli/resolve.h"
#include "domain/session_status.h"

enum { AGENTS_NAMED_MAX = 12 };

/* --- which agent --- */

static bool has_agent(const struct json *agents, const char *id)
{
    const struct json *agent = agents ? agents->child : NULL;
    while (agent && !slice_is(json_text_of(agent, "id"), id)) {
        agent = agent->next;
    }
    return agent != NULL;
}

static int list_agents(struct chat *chat, const struct json **out)
{
    const struct json *list;
    struct client_request request = {.method = "GET", .target = SLICE("/api/agents?limit=1000")};
    int code = remote_call_json(&chat->remote, &request, &list);
    *out = code == EXIT_DONE ? json_get(list, "agents") : NULL;
    return code;
}

/* Without a name: a real agent rather than the demo, or the only one there is. */
static int choose_agent(struct chat *chat)
{
    const struct json *agents;
    int code = list_agents(chat, &agents);
    if (has_agent(agents, "assistant")) {
        chat->agent = SLICE("assistant");
    } else if (agents && agents->count == 1) {
        chat->agent = json_text_of(agents->child, "id");
    } else if (has_agent(agents, "demo")) {
        chat->agent = SLICE("demo");
    } else if (code == EXIT_DONE) {
        fprintf(chat->remote.errors, "sojourn: several agents are possible; name one: sojourn chat AGENT\n"
                                     "\"sojourn agents list\" shows them\n");
        return EXIT_USAGE;
    }
    return code;
}

static void add_names(const struct json *agents, struct buffer *out)
{
    size_t shown = 0;
    for (const struct json *agent = agents ? agents->child : NULL; agent && shown < AGENTS_NAMED_MAX;
         agent = agent->next, shown++) {
        buffer_add(out, shown ? SLICE(", ") : SLICE(""));
        text_add_plain(out, json_text_of(agent, "id"));
    }
    if (agents && agents->count > shown) {
        buffer_format(out, " and %zu more", agents->count - shown);
    }
}

static int refuse_agent(struct chat *chat)
{
    const struct json *agents;
    struct buffer names = {0}, given = {0};
    int code = list_agents(chat, &agents);
    add_names(agents, &names);
    text_add_exact_line(&given, chat->agent);
    if (code == EXIT_DONE) {
        fprintf(chat->remote.errors, "sojourn: no agent is called %.*s; there are: %.*s\n",
                SLICE_ARG(buffer_slice(&given)), SLICE_ARG(buffer_slice(&names)));
        fprintf(chat->remote.errors, "\"sojourn chat AGENT\" talks to one, \"sojourn agents push FILE\" adds one\n");
        code = EXIT_MISSING;
    }
    buffer_release(&names);
    buffer_release(&given);
    return code;
}

/* --- whether its provider can be used --- */

static bool is_configured(const struct json *providers, struct slice name)
{
    for (const struct json *one = providers ? providers->child : NULL; one; one = one->next) {
        if (slice_eq(json_text_of(one, "name"), name)) {
            return !slice_is(json_text_of(one, "state"), "not_configured");
        }
    }
    return true; /* not one that this program knows: the server will say */
}

static bool has_fallback(const struct json *providers, const struct json *definition)
{
    const struct json *chain = json_get(definition, "fallback_chain");
    for (const struct json *one = chain ? chain->child : NULL; one; one = one->next) {
        if (is_configured(providers, json_text_of(one, "provider"))) {
            return true;
        }
    }
    return false;
}

static int refuse_provider(struct chat *chat, struct slice provider)
{
    char key[80];
    snprintf(key, sizeof key, "%.*s_API_KEY", (int)(provider.len > 40 ? 40 : provider.len), provider.ptr);
    for (char *c = key; *c; c++) {
        *c = (char)(*c >= 'a' && *c <= 'z' ? *c - 'a' + 'A' : *c);
    }
    fprintf(chat->remote.errors, "sojourn: the agent %.*s needs a key for %.*s, and the server has none\n",
            SLICE_ARG(chat->agent), SLICE_ARG(provider));
    fprintf(chat->remote.errors, "on the machine of the server: sojourn secrets set %s\n", key);
    return EXIT_REFUSED;
}

static int check_provider(struct chat *chat, const struct json *agent)
{
    const struct json *models;
    struct slice provider = json_text_of(agent, "provider");
    int status = 0;
    if (!slice_is(json_text_of(agent, "driver"), "model") || !slice_present(provider)) {
        return EXIT_DONE;
    }
    int code = remote_ask(&chat->remote, "/api/models", &status, &models);
    const struct json *providers = json_get(models, "providers");
    bool is_missing = code == EXIT_DONE && status == 200 && !is_configured(providers, provider) &&
                      !has_fallback(providers, json_get_value(agent, "definition"));
    return is_missing ? refuse_provider(chat, provider) : code;
}

static int check_agent(struct chat *chat)
{
    const struct json *agent = NULL;
    int status = 0;
    int code = terminal_can_ask() ? resolve_id(&chat->remote, "agents", chat->agent, &chat->agent) : EXIT_DONE;
    if (code != EXIT_DONE) {
        return code;
    }
    code = remote_ask(&chat->remote, remote_path(&chat->remote, "agents", chat->agent, "").ptr, &status, &agent);
    if (code != EXIT_DONE || !agent) {
        return code;
    }
    return status == 404 ? refuse_agent(chat) : status == 200 ? check_provider(chat, agent) : EXIT_DONE;
}

/* --- the session --- */

static int create_session(struct chat *chat, const char *id, const struct json **out)
{
    struct failure failure;
    struct buffer body = {0};
    struct json_out json = json_out_to(&body);
    int code = slice_present(chat->agent) ? EXIT_DONE : choose_agent(chat);
    code = code == EXIT_DONE ? check_agent(chat) : code;
    json_begin_object(&json);
    json_put_text(&json, "type", slice_of(session_type_enum.names[TYPE_AGENT]));
    json_put_text(&json, "agent", chat->agent);
    json_put_text(&json, "status", slice_of(session_status_enum.names[SESSION_IDLE]));
    json_maybe_text(&json, "id", slice_of(id));
    json_key(&json, "details");
    json_begin_object(&json);
    if (code == EXIT_DONE && chat_context_put(&json, &chat->options->context, &failure) != STATUS_OK) {
        code = command_refuse(chat->remote.invocation->command, &failure);
    }
    json_end_object(&json);
    json_end_object(&json);
    struct client_request request = {.method = "POST", .target = SLICE("/api/sessions"), .body = buffer_slice(&body)};
    code = code == EXIT_DONE ? remote_call_json(&chat->remote, &request, out) : code;
    buffer_release(&body);
    return code;
}

static int read_session(struct chat *chat, struct slice id, const struct json **out)
{
    chat->session_id = id;
    struct client_request request = {.method = "GET", .target = chat_path(chat, "")};
    return remote_call_json(&chat->remote, &request, out);
}

static int open_session(struct chat *chat, const struct json **out)
{
    struct slice next = chat->next_session;
    bool is_new = chat->wants_new_session;
    chat->next_session = (struct slice){0};
    chat->wants_new_session = false;
    if (is_new || slice_present(next)) {
        return is_new ? create_session(chat, NULL, out) : read_session(chat, next, out);
    }
    if (!chat->options->session || slice_present(chat->agent)) {
        return create_session(chat, chat->options->session, out);
    }
    struct slice id = slice_of(chat->options->session);
    int code = terminal_can_ask() ? resolve_id(&chat->remote, "sessions", id, &id) : EXIT_DONE;
    return code == EXIT_DONE ? read_session(chat, id, out) : code;
}

static int read_asks(struct chat *chat)
{
    const struct json *list;
    struct client_request request = {.method = "GET", .target = chat_path(chat, "/asks")};
    int code = remote_call_json(&chat->remote, &request, &list);
    const struct json *asks = code == EXIT_DONE ? json_get(list, "asks") : NULL;
    for (const struct json *ask = asks ? asks->child : NULL; ask; ask = ask->next) {
        chat_ask_add(chat, ask);
    }
    return code;
}

static void read_numbers(struct chat *chat, const struct json *session)
{
    chat->usage = (struct usage){.turns = json_i64_of(session, "turn_count")};
    chat->usage_known_to = json_i64_of(session, "last_sequence");
    const struct json *usage = json_get_value(session, "usage");
    chat->usage.input_tokens = json_i64_of(usage, "input_tokens");
    chat->usage.output_tokens = json_i64_of(usage, "output_tokens");
    chat->usage.cost_microcents = json_i64_of(usage, "cost_microcents");
}

int chat_begin(struct chat *chat)
{
    const struct json *session;
    int code = open_session(chat, &session);
    if (code != EXIT_DONE) {
        return code;
    }
    int64_t last = json_i64_of(session, "last_sequence"), shown = chat->options->last;
    chat->session_id = json_text_of(session, "id");
    chat->agent = json_text_of(session, "agent");
    chat->state = json_text_of(session, "status");
    chat->caught_up = -1;
    chat->sequence = 0;
    chat->ask_count = 0;
    chat->asked = chat->told_prompt = (struct slice){0};
    chat->is_busy = chat->has_failed = false;
    read_numbers(chat, session);
    chat->tail.target =
        arena_format(chat->remote.arena, "%.*s?after=%lld&deltas=true", SLICE_ARG(chat_path(chat, "/events")),
                     (long long)(last > shown ? last - shown : 0));
    return read_asks(chat);
}

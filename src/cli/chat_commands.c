#include "cli/chat.h"

#include <time.h>

#include "cli/relative_time.h"
#include "cli/session_view.h"

enum { SESSIONS_SHOWN = 12, TITLE_COLUMNS = 40 };

/* Each returns false when nothing came of it and the line is to be corrected. */

static void note(struct chat *chat, struct slice text)
{
    chat_screen_note(&chat->screen, COLOUR_NONE, text);
}

static bool refuse(struct chat *chat, struct slice text)
{
    chat_screen_note(&chat->screen, COLOUR_RED, text);
    return false;
}

static bool leave(struct chat *chat, struct slice rest)
{
    (void)rest;
    chat_leave(chat, EXIT_DONE);
    return true;
}

static bool interrupt(struct chat *chat, struct slice rest)
{
    (void)rest;
    chat_interrupt(chat);
    return true;
}

/* --- the session --- */

static bool show_status(struct chat *chat, struct slice rest)
{
    const struct json *session;
    (void)rest;
    if (chat_call(chat, "GET", chat_path(chat, ""), (struct slice){0}, &session)) {
        note(chat, arena_format(chat->remote.arena, "session %.*s, agent %.*s: %.*s (%.*s), %lld turns",
                                SLICE_ARG(json_text_of(session, "id")), SLICE_ARG(json_text_of(session, "agent")),
                                SLICE_ARG(json_text_of(session, "display_status")),
                                SLICE_ARG(json_text_of(session, "display_reason")),
                                (long long)json_i64_of(session, "turn_count")));
    }
    return true;
}

static bool show_cost(struct chat *chat, struct slice rest)
{
    struct buffer text = {0};
    (void)rest;
    buffer_format(&text, "%lld turn%s: ", (long long)chat->usage.turns, chat->usage.turns == 1 ? "" : "s");
    usage_write(&chat->usage, &text);
    if (chat->usage.cost_microcents == 0) {
        buffer_add(&text, SLICE(" (no cost is known: the agent has no prices, or does not report them)"));
    }
    note(chat, buffer_slice(&text));
    buffer_release(&text);
    return true;
}

static bool show_queue(struct chat *chat, struct slice rest)
{
    const struct json *list;
    (void)rest;
    if (!chat_call(chat, "GET", chat_path(chat, "/queue"), (struct slice){0}, &list)) {
        return true;
    }
    const struct json *prompts = json_get(list, "prompts");
    for (const struct json *prompt = prompts ? prompts->child : NULL; prompt; prompt = prompt->next) {
        struct buffer text = {0};
        event_text(prompt, &text);
        note(chat, arena_format(chat->remote.arena, "  %lld  %.*s", (long long)json_i64_of(prompt, "position"),
                                SLICE_ARG(buffer_slice(&text))));
        buffer_release(&text);
    }
    if (!prompts || prompts->count == 0) {
        note(chat, SLICE("no messages are waiting"));
    }
    return true;
}

static bool stop(struct chat *chat, struct slice rest)
{
    const struct json *session;
    (void)rest;
    (void)chat_call(chat, "POST", chat_path(chat, "/status"), SLICE("{\"status\":\"completed\"}"), &session);
    return true;
}

static bool set_title(struct chat *chat, struct slice rest)
{
    const struct json *session;
    struct buffer body = {0};
    struct json_out out = json_out_to(&body);
    if (rest.len == 0) {
        return refuse(chat, SLICE("Give the title: /title TEXT"));
    }
    json_begin_object(&out);
    json_put_text(&out, "title", rest);
    json_end_object(&out);
    bool is_done = chat_call(chat, "PATCH", chat_path(chat, ""), buffer_slice(&body), &session);
    buffer_release(&body);
    if (is_done) {
        chat_screen_note(&chat->screen, COLOUR_DIM, SLICE("(titled)"));
    }
    return is_done;
}

static bool deny(struct chat *chat, struct slice rest)
{
    if (chat->ask_count == 0) {
        return refuse(chat, SLICE("Nothing is asked."));
    }
    chat_ask_deny(chat, rest);
    return true;
}

/* --- other sessions --- */

static bool show_sessions(struct chat *chat, struct slice rest)
{
    const struct json *list;
    char moment[RELATIVE_TIME_BYTES];
    int64_t now_ms = (int64_t)time(NULL) * 1000;
    struct slice target = arena_format(chat->remote.arena, "/api/sessions?kind=chat&limit=%d", SESSIONS_SHOWN);
    (void)rest;
    if (!chat_call(chat, "GET", target, (struct slice){0}, &list)) {
        return true;
    }
    const struct json *sessions = json_get(list, "sessions");
    for (const struct json *one = sessions ? sessions->child : NULL; one; one = one->next) {
        struct slice id = json_text_of(one, "id");
        struct buffer title = {0};
        text_add_plain(&title, session_heading(one));
        note(chat,
             arena_format(chat->remote.arena, "%s %.*s  %.*s, %.*s  %.*s", slice_eq(id, chat->session_id) ? "*" : " ",
                          SLICE_ARG(id), SLICE_ARG(json_text_of(one, "status")),
                          SLICE_ARG(relative_time_of_text(json_text_of(one, "last_active_at"), now_ms, moment)),
                          SLICE_ARG(slice_utf8_prefix(buffer_slice(&title), TITLE_COLUMNS))));
        buffer_release(&title);
    }
    note(chat, SLICE("/resume SESSION goes on with one; the first characters of its id are enough"));
    return true;
}

/* The stream ends, and the chat goes on with the next session. */
static void change_session(struct chat *chat)
{
    chat_screen_finish(&chat->screen, buffer_slice(&chat->screen.spoken));
    chat_leave(chat, EXIT_DONE);
}

static bool resume(struct chat *chat, struct slice rest)
{
    struct slice id;
    if (rest.len == 0) {
        return show_sessions(chat, rest);
    }
    if (!chat_resolve(chat, "sessions", rest, &id)) {
        return false;
    }
    chat->next_session = id;
    change_session(chat);
    return true;
}

static bool begin_new(struct chat *chat, struct slice rest)
{
    struct slice agent = chat->agent;
    if (rest.len && !chat_resolve(chat, "agents", rest, &agent)) {
        return false;
    }
    chat->agent = agent;
    chat->wants_new_session = true;
    change_session(chat);
    return true;
}

/* --- agents and models --- */

static bool show_agents(struct chat *chat, struct slice rest)
{
    const struct json *list;
    (void)rest;
    if (!chat_call(chat, "GET", SLICE("/api/agents?limit=100"), (struct slice){0}, &list)) {
        return true;
    }
    const struct json *agents = json_get(list, "agents");
    for (const struct json *one = agents ? agents->child : NULL; one; one = one->next) {
        struct slice id = json_text_of(one, "id");
        note(chat, arena_format(chat->remote.arena, "%s %.*s  %.*s %.*s", slice_eq(id, chat->agent) ? "*" : " ",
                                SLICE_ARG(id), SLICE_ARG(json_text_of(one, "driver")),
                                SLICE_ARG(json_text_of(one, "model"))));
    }
    note(chat, SLICE("/new AGENT starts a session with one"));
    return true;
}

static bool show_model(struct chat *chat, struct slice rest)
{
    const struct json *agent;
    struct slice path = remote_path(&chat->remote, "agents", chat->agent, "");
    if (rest.len) {
        return refuse(chat, SLICE("A session keeps the model of its agent: this server can't change it. /agents lists "
                                  "agents and their models, /new AGENT starts a session with another."));
    }
    if (chat_call(chat, "GET", path, (struct slice){0}, &agent)) {
        struct slice model = json_text_of(agent, "model");
        note(chat, arena_format(chat->remote.arena, "agent %.*s, driver %.*s, model %.*s", SLICE_ARG(chat->agent),
                                SLICE_ARG(json_text_of(agent, "driver")),
                                SLICE_ARG(model.len ? model : SLICE("(chosen by the agent itself)"))));
    }
    return true;
}

static bool fork_session(struct chat *chat, struct slice rest)
{
    (void)rest;
    return refuse(chat, SLICE("This server can't fork a session. /new starts one with the same agent."));
}

/* --- the table --- */

static bool help(struct chat *chat, struct slice rest);

static const struct command_row {
    const char *word, *help; /* without help: another word for the one above */
    bool (*run)(struct chat *chat, struct slice rest);
} rows[] = {
    {"help", "these commands", help},
    {"exit", "leave; the session stays (also Ctrl-D, or Ctrl-C twice)", leave},
    {"quit", NULL, leave},
    {"cancel", "interrupt the running turn (also Esc or Ctrl-C)", interrupt},
    {"new", "start another session: /new [AGENT]", begin_new},
    {"resume", "go on with another session: /resume SESSION", resume},
    {"sessions", "the newest sessions", show_sessions},
    {"agents", "the agents", show_agents},
    {"model", "the model of this agent", show_model},
    {"status", "the state of the session", show_status},
    {"cost", "tokens and cost of the session", show_cost},
    {"queue", "messages that wait for the running turn", show_queue},
    {"deny", "deny the pending ask: /deny [REASON]", deny},
    {"title", "name the session: /title TEXT", set_title},
    {"fork", "not possible with this server", fork_session},
    {"stop", "end the session", stop},
};

const char *chat_command_word(size_t at)
{
    return at < sizeof rows / sizeof rows[0] ? rows[at].word : NULL;
}

static bool help(struct chat *chat, struct slice rest)
{
    (void)rest;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (rows[i].help) {
            note(chat, arena_format(chat->remote.arena, "  /%-9s %s", rows[i].word, rows[i].help));
        }
    }
    if (chat->terminal) {
        note(chat, SLICE("Enter sends, Alt-Enter or Ctrl-J begins a line, Tab completes /commands, @files, agents and "
                         "sessions, Ctrl-R searches what you sent before, Ctrl-Z suspends."));
    }
    return true;
}

bool chat_run_command(struct chat *chat, struct slice line)
{
    struct slice word, rest = {0};
    (void)slice_cut(slice_after(line, 1), ' ', &word, &rest);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (slice_is(word, rows[i].word)) {
            return rows[i].run(chat, slice_trim(rest));
        }
    }
    return refuse(chat, arena_format(chat->remote.arena,
                                     "/%.*s is not known; /help lists the commands, // sends a line that begins with /",
                                     SLICE_ARG(slice_utf8_prefix(word, 40))));
}

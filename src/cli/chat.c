#include "cli/chat.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/chat_context.h"
#include "cli/client_commands.h"

enum { LEAVE_MS = 1000, READ_BYTES = 64 * 1024, LINE_BYTES_MAX = 4 * 1024 * 1024 };
enum { WATCH_INPUT, WATCH_SIGNALS };

struct chat_options {
    const char *session;
    int64_t last;
    int64_t silence_ms;
    struct chat_context context;
};

/* clang-format off */
static const struct option chat_table[] = {
    {.name = "Which conversation", .type = OPTION_SECTION},
    {.name = "session", .type = OPTION_TEXT, .offset = OPTION_FIELD(struct chat_options, session, const char *),
     .value = "SESSION", .help = "Go on with this session and show what was said; with AGENT it is made when there is none."},
    {.name = "last", .type = OPTION_NUMBER, .offset = OPTION_FIELD(struct chat_options, last, int64_t), .value = "N",
     .fallback = "500", .max = 100000, .help = "Of a session that goes on, show the last N events."},
    {.name = "silence-ms", .type = OPTION_NUMBER, .offset = OPTION_FIELD(struct chat_options, silence_ms, int64_t),
     .value = "TIME", .fallback = "60s", .min = 1, .max = 24 * 3600 * 1000, .unit = UNIT_MS,
     .help = "A connection that says nothing for this long counts as lost."},
    {.name = "The context of a new conversation", .type = OPTION_SECTION},
    {.name = "detect-context", .type = OPTION_SWITCH,
     .offset = OPTION_FIELD(struct chat_options, context.detects, bool), .fallback = "true",
     .help = "Find out what is not told; with --no-detect-context only what is told is sent."},
    {.name = "working-dir", .type = OPTION_TEXT,
     .offset = OPTION_FIELD(struct chat_options, context.working_dir, const char *), .value = "DIR",
     .help = "Where you work; the current directory when left out."},
    {.name = "git-ref", .type = OPTION_TEXT,
     .offset = OPTION_FIELD(struct chat_options, context.git_ref, const char *), .value = "REF",
     .help = "The branch or commit; what git says of the working directory when left out."},
    {.name = "active-file", .type = OPTION_TEXT,
     .offset = OPTION_FIELD(struct chat_options, context.active_file, const char *), .value = "FILE",
     .help = "The file that is open before you; SOJOURN_ACTIVE_FILE when left out."},
    {.name = "variable", .type = OPTION_LIST,
     .offset = OPTION_FIELD(struct chat_options, context.variables, struct text_list), .value = "KEY=VALUE",
     .help = "Stands for {{ctx.KEY}} in the agent's system prompt, as quoted text; never a secret."},
    {0},
};
/* clang-format on */

const struct option *const chat_tables[] = {chat_table, output_option_table, remote_option_table, NULL};

static int64_t steady_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* --- what the other files use --- */

void chat_leave(struct chat *chat, int code)
{
    chat->tail.is_over = true;
    chat->tail.code = code;
}

struct slice chat_path(struct chat *chat, const char *tail)
{
    return remote_path(&chat->remote, "sessions", chat->session_id, tail);
}

bool chat_call(struct chat *chat, const char *method, struct slice target, struct slice body, const struct json **out)
{
    chat_screen_make_room(&chat->screen);
    struct client_request request = {.method = method, .target = target, .body = body};
    return remote_call_json(&chat->remote, &request, out) == EXIT_DONE;
}

void chat_interrupt(struct chat *chat)
{
    const struct json *answer;
    if (!chat->is_busy) {
        chat_screen_note(&chat->screen, COLOUR_DIM, SLICE("(nothing runs)"));
    } else if (chat_call(chat, "POST", chat_path(chat, "/interrupt"), SLICE("{}"), &answer)) {
        chat_screen_note(&chat->screen, COLOUR_DIM, SLICE("(interrupting; Ctrl-C again leaves)"));
    }
}

/* --- what follows --- */

static bool is_caught_up(const struct chat *chat)
{
    return chat->caught_up >= 0 && chat->sequence >= chat->caught_up;
}

static bool is_free(const struct chat *chat)
{
    return is_caught_up(chat) && (!chat->is_busy || chat->ask_count > 0);
}

static void tick_terminal(struct chat *chat)
{
    struct line_editor *editor = chat->screen.editor;
    if (!line_editor_is_empty(editor)) {
        return;
    }
    chat_screen_flush(&chat->screen);
    if (!is_free(chat)) {
        line_editor_hide(editor);
        return;
    }
    const char *prompt = chat->ask_count ? chat_ask_show(chat) : "> ";
    if (!line_editor_is_shown(editor)) {
        chat_screen_make_room(&chat->screen);
    }
    line_editor_show(editor, prompt);
}

/* The next whole line that was piped; at the end of the input also one without its end. */
static bool next_piped(struct chat *chat, struct slice *out)
{
    char *end = chat->line.len ? memchr(chat->line.ptr, '\n', chat->line.len) : NULL;
    size_t length = end ? (size_t)(end - chat->line.ptr) : chat->line.len;
    if (!end && (!chat->input_ended || chat->line.len == 0)) {
        return false;
    }
    *out = arena_copy(chat->remote.arena, slice_from(chat->line.ptr, length));
    buffer_consume(&chat->line, length + (end ? 1 : 0));
    return true;
}

static void tick_piped(struct chat *chat)
{
    struct slice line;
    if (is_caught_up(chat) && chat->ask_count && is_free(chat)) {
        (void)chat_ask_show(chat);
    }
    while (!chat->tail.is_over && is_free(chat) && next_piped(chat, &line)) {
        chat_take_line(chat, line);
    }
    if (!chat->tail.is_over && chat->input_ended && chat->line.len == 0 && is_free(chat)) {
        bool waits = chat->ask_count > 0;
        chat_leave(chat, waits || chat->has_failed ? EXIT_REFUSED : EXIT_DONE);
    }
    chat->tail.watches[WATCH_INPUT].fd = chat->input_ended || !is_free(chat) ? -1 : STDIN_FILENO;
}

void chat_tick(struct chat *chat)
{
    if (chat->screen.is_broken) {
        chat_leave(chat, EXIT_REFUSED);
    }
    if (chat->tail.is_over) {
        return;
    }
    if (chat->screen.editor) {
        tick_terminal(chat);
    } else {
        tick_piped(chat);
    }
}

/* --- what is watched --- */

static void take_key(struct chat *chat)
{
    struct line_editor *editor = chat->screen.editor;
    if (!line_editor_is_shown(editor)) { /* somebody types while the agent works */
        chat_screen_make_room(&chat->screen);
        line_editor_show(editor, "> ");
    }
    switch (line_editor_read(editor, &chat->line)) {
    case LINE_TYPING:
        return;
    case LINE_DONE:
        chat->ctrl_c_at_ms = 0;
        chat_screen_flush(&chat->screen);
        chat_take_line(chat, buffer_slice(&chat->line));
        return;
    case LINE_END:
        line_editor_clear(editor);
        chat_leave(chat, EXIT_DONE);
        return;
    }
}

static void take_piped(struct chat *chat)
{
    buffer_reserve(&chat->line, READ_BYTES);
    ssize_t count = read(STDIN_FILENO, chat->line.ptr + chat->line.len, READ_BYTES);
    if (count > 0) {
        chat->line.len += (size_t)count;
    }
    chat->input_ended = count <= 0;
    if (chat->line.len > LINE_BYTES_MAX && !memchr(chat->line.ptr, '\n', chat->line.len)) {
        fprintf(stderr, "sojourn: a line has more than %d bytes\n", LINE_BYTES_MAX);
        chat_leave(chat, EXIT_REFUSED);
    }
}

static bool on_input(void *owner)
{
    struct chat *chat = owner;
    if (chat->screen.editor) {
        take_key(chat);
    } else {
        take_piped(chat);
    }
    chat_tick(chat);
    return !chat->tail.is_over;
}

static void on_ctrl_c(struct chat *chat)
{
    int64_t now_ms = steady_ms(), before_ms = chat->ctrl_c_at_ms;
    struct line_editor *editor = chat->screen.editor;
    chat->ctrl_c_at_ms = now_ms;
    if (before_ms && now_ms - before_ms <= LEAVE_MS) {
        chat_leave(chat, EXIT_DONE);
        return;
    }
    if (editor && !line_editor_is_empty(editor)) {
        line_editor_clear(editor);
        return;
    }
    if (chat->is_busy) {
        chat_interrupt(chat);
    } else {
        chat_screen_note(&chat->screen, COLOUR_DIM, SLICE("(Ctrl-C again leaves)"));
    }
}

static bool on_signal(void *owner)
{
    struct chat *chat = owner;
    struct signalfd_siginfo info;
    if (read(chat->tail.watches[WATCH_SIGNALS].fd, &info, sizeof info) == (ssize_t)sizeof info) {
        if (info.ssi_signo == SIGINT) {
            on_ctrl_c(chat);
        } else {
            chat_leave(chat, EXIT_DONE);
        }
    }
    chat_tick(chat);
    return !chat->tail.is_over;
}

static int signal_descriptor(void)
{
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGHUP);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    return signalfd(-1, &signals, SFD_CLOEXEC);
}

/* --- the session --- */

static bool has_agent(const struct json *agents, const char *id)
{
    const struct json *agent = agents ? agents->child : NULL;
    while (agent && !slice_is(json_text_of(agent, "id"), id)) {
        agent = agent->next;
    }
    return agent != NULL;
}

/* Nobody said which: a real one before the demo, the only one whatever it is. */
static int choose_agent(struct chat *chat)
{
    const struct json *list;
    struct client_request request = {.method = "GET", .target = SLICE("/api/agents")};
    int code = remote_call_json(&chat->remote, &request, &list);
    const struct json *agents = code == EXIT_DONE ? json_get(list, "agents") : NULL;
    if (has_agent(agents, "assistant")) {
        chat->agent = SLICE("assistant");
    } else if (agents && agents->count == 1) {
        chat->agent = json_text_of(agents->child, "id");
    } else if (has_agent(agents, "demo")) {
        chat->agent = SLICE("demo");
    } else if (code == EXIT_DONE) {
        fprintf(stderr, "sojourn: say which agent: sojourn agents list shows them\n");
        return EXIT_USAGE;
    }
    return code;
}

static int create_session(struct chat *chat, const struct chat_options *options, const struct json **out)
{
    struct failure failure;
    struct buffer body = {0};
    struct json_out json = json_out_to(&body);
    int code = slice_present(chat->agent) ? EXIT_DONE : choose_agent(chat);
    json_begin_object(&json);
    json_put_text(&json, "type", SLICE("agent"));
    json_put_text(&json, "agent", chat->agent);
    json_put_text(&json, "status", SLICE("idle"));
    json_maybe_text(&json, "id", slice_of(options->session));
    json_key(&json, "details");
    json_begin_object(&json);
    if (code == EXIT_DONE && chat_context_put(&json, &options->context, &failure) != STATUS_OK) {
        code = command_refuse(chat->remote.invocation->command, &failure);
    }
    json_end_object(&json);
    json_end_object(&json);
    struct client_request request = {.method = "POST", .target = SLICE("/api/sessions"), .body = buffer_slice(&body)};
    code = code == EXIT_DONE ? remote_call_json(&chat->remote, &request, out) : code;
    buffer_release(&body);
    return code;
}

static int open_session(struct chat *chat, const struct chat_options *options, const struct json **out)
{
    if (!options->session || slice_present(chat->agent)) {
        return create_session(chat, options, out);
    }
    chat->session_id = slice_of(options->session);
    struct client_request request = {.method = "GET", .target = chat_path(chat, "")};
    return remote_call_json(&chat->remote, &request, out);
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

static int begin(struct chat *chat, const struct chat_options *options)
{
    const struct json *session;
    int code = open_session(chat, options, &session);
    if (code != EXIT_DONE) {
        return code;
    }
    int64_t last = json_i64_of(session, "last_sequence"), after = last > options->last ? last - options->last : 0;
    chat->session_id = json_text_of(session, "id");
    chat->agent = json_text_of(session, "agent");
    chat->caught_up = -1;
    chat->tail.target = arena_format(chat->remote.arena, "%.*s?after=%lld&deltas=true",
                                     SLICE_ARG(chat_path(chat, "/events")), (long long)after);
    if (chat->screen.editor) {
        chat_screen_note(&chat->screen, COLOUR_DIM,
                         arena_format(chat->remote.arena, "%.*s, session %.*s; /help lists commands, Ctrl-C interrupts",
                                      SLICE_ARG(chat->agent), SLICE_ARG(chat->session_id)));
    }
    return read_asks(chat);
}

/* --- the command --- */

/* Of the state that programs keep for a person; NULL when there is no such place. */
static const char *history_path(struct arena *arena)
{
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    struct slice folder = {0};
    if (state && *state == '/') {
        folder = slice_of(state);
    } else if (home && *home == '/') {
        (void)mkdir(arena_format(arena, "%s/.local", home).ptr, 0700);
        folder = arena_format(arena, "%s/.local/state", home);
    } else {
        return NULL;
    }
    (void)mkdir(folder.ptr, 0700);
    folder = arena_format(arena, "%.*s/sojourn", SLICE_ARG(folder));
    (void)mkdir(folder.ptr, 0700);
    return arena_format(arena, "%.*s/chat_history", SLICE_ARG(folder)).ptr;
}

static void open_screen(struct chat *chat, const struct invocation *invocation)
{
    bool is_terminal = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && !chat->remote.wants_json;
    chat->screen.is_silent = chat->remote.wants_json;
    chat->screen.has_colours = terminal_has_colours(is_terminal ? stdout : stderr);
    chat->screen.editor = is_terminal ? line_editor_open(history_path(invocation->arena)) : NULL;
}

static void say_goodbye(struct chat *chat)
{
    chat_screen_make_room(&chat->screen);
    if (chat->screen.editor) {
        line_editor_hide(chat->screen.editor);
        line_editor_close(chat->screen.editor);
        chat->screen.editor = NULL;
        if (chat->tail.code == EXIT_DONE && slice_present(chat->tail.target)) {
            fprintf(stderr, "the session stays: sojourn chat --session %.*s\n", SLICE_ARG(chat->session_id));
        }
    }
}

static int converse(struct chat *chat, const struct chat_options *options)
{
    struct tail_ear ear = {chat, chat_on_frame, chat_on_lost};
    int code = begin(chat, options);
    if (code == EXIT_DONE) {
        chat->tail.ear = &ear;
        chat->tail.watches[WATCH_INPUT] = (struct client_watch){STDIN_FILENO, on_input, chat};
        chat->tail.watches[WATCH_SIGNALS] = (struct client_watch){signal_descriptor(), on_signal, chat};
        chat->tail.watch_count = 2;
        tail_follow(&chat->tail);
        close(chat->tail.watches[WATCH_SIGNALS].fd);
        code = chat->tail.code;
    }
    return code;
}

int command_chat(const struct invocation *invocation)
{
    struct chat_options options = {0};
    struct chat *chat = memory_zeroed(sizeof *chat);
    struct remote_setup setup = {chat_table, &options, -1, &options.silence_ms};
    chat->tail.stop_fd = -1;
    chat->agent = slice_of(invocation->arguments->positional_count ? invocation->arguments->positionals[0] : NULL);
    int code = remote_open(invocation, &setup, &chat->tail.remote);
    code = code == EXIT_DONE ? remote_open(invocation, &setup, &chat->remote) : code;
    if (code == EXIT_DONE) {
        open_screen(chat, invocation);
        code = converse(chat, &options);
        say_goodbye(chat);
    }
    remote_close(&chat->remote);
    remote_close(&chat->tail.remote);
    buffer_release(&chat->tail.cursor);
    buffer_release(&chat->line);
    chat_screen_release(&chat->screen);
    free(chat);
    return code;
}

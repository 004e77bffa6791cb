#include "cli/chat.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "cli/chat_terminal.h"
#include "cli/client_commands.h"
#include "cli/resolve.h"

enum { EXPLAIN_MS = 3000 };

/* clang-format off */
static const struct option chat_table[] = {
    {.name = "Which conversation", .type = OPTION_SECTION},
    {.name = "session", .type = OPTION_TEXT, .offset = OPTION_FIELD(struct chat_options, session, const char *),
     .value = "SESSION", .help = "Continue this session and show its messages; with AGENT it is created if it does not exist."},
    {.name = "last", .type = OPTION_NUMBER, .offset = OPTION_FIELD(struct chat_options, last, int64_t), .value = "N",
     .fallback = "500", .max = 100000, .help = "Show the last N events of a continued session."},
    {.name = "silence-ms", .type = OPTION_NUMBER, .offset = OPTION_FIELD(struct chat_options, silence_ms, int64_t),
     .value = "TIME", .fallback = "60s", .min = 1, .max = 24 * 3600 * 1000, .unit = UNIT_MS,
     .help = "Reconnect when the connection has been silent for this long."},
    {.name = "The context of a new conversation", .type = OPTION_SECTION},
    {.name = "detect-context", .type = OPTION_SWITCH,
     .offset = OPTION_FIELD(struct chat_options, context.detects, bool), .fallback = "true",
     .help = "Detect the context that no option gives; with --no-detect-context only the given options are sent."},
    {.name = "working-dir", .type = OPTION_TEXT,
     .offset = OPTION_FIELD(struct chat_options, context.working_dir, const char *), .value = "DIR",
     .help = "The working directory. Default: the current directory."},
    {.name = "git-ref", .type = OPTION_TEXT,
     .offset = OPTION_FIELD(struct chat_options, context.git_ref, const char *), .value = "REF",
     .help = "The branch or commit. Default: that of the working directory."},
    {.name = "active-file", .type = OPTION_TEXT,
     .offset = OPTION_FIELD(struct chat_options, context.active_file, const char *), .value = "FILE",
     .help = "The file open in your editor. Default: SOJOURN_ACTIVE_FILE."},
    {.name = "variable", .type = OPTION_LIST,
     .offset = OPTION_FIELD(struct chat_options, context.variables, struct text_list), .value = "KEY=VALUE",
     .help = "Replaces {{ctx.KEY}} in the agent's system prompt, as quoted text. Never pass a secret."},
    {0},
};
/* clang-format on */

const struct option *const chat_tables[] = {chat_table, output_option_table, remote_option_table, NULL};

int64_t chat_steady_ms(void)
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

/* On a terminal, errors stand among the other lines. */
static void show_errors(struct chat *chat)
{
    struct chat_errors *errors = &chat->errors;
    if (!errors->file) {
        return;
    }
    fflush(errors->file);
    struct slice text = slice_trim(slice_from(errors->text, errors->len));
    if (text.len) {
        chat_screen_note(&chat->screen, COLOUR_RED, text);
    }
    rewind(errors->file);
}

bool chat_call(struct chat *chat, const char *method, struct slice target, struct slice body, const struct json **out)
{
    struct client_request request = {.method = method, .target = target, .body = body};
    int code = remote_call_json(&chat->remote, &request, out);
    show_errors(chat);
    return code == EXIT_DONE;
}

bool chat_resolve(struct chat *chat, const char *collection, struct slice given, struct slice *out)
{
    const struct json *found;
    int code = resolve_id(&chat->remote, collection, given, out);
    struct client_request request = {.method = "GET", .target = remote_path(&chat->remote, collection, *out, "")};
    code = code == EXIT_DONE ? remote_call_json(&chat->remote, &request, &found) : code;
    show_errors(chat);
    return code == EXIT_DONE;
}

void chat_interrupt(struct chat *chat)
{
    const struct json *answer;
    if (!chat->is_busy) {
        chat_screen_note(&chat->screen, COLOUR_DIM, SLICE("(no turn is running)"));
    } else if (chat_call(chat, "POST", chat_path(chat, "/interrupt"), SLICE("{}"), &answer)) {
        chat_screen_note(&chat->screen, COLOUR_DIM, SLICE("(interrupting; Ctrl-C again leaves)"));
    }
}

bool chat_is_caught_up(const struct chat *chat)
{
    return chat->caught_up >= 0 && chat->sequence >= chat->caught_up;
}

bool chat_is_working(const struct chat *chat)
{
    return chat->is_busy && chat->ask_count == 0;
}

void chat_set_timer(struct chat *chat, int64_t after_ms)
{
    struct itimerspec when = {.it_value = {after_ms / 1000, after_ms % 1000 * 1000000}};
    (void)timerfd_settime(chat->timer_fd, 0, &when, NULL);
}

int64_t chat_explain_after_ms(const struct chat *chat)
{
    int64_t left = chat->waits_since_ms + EXPLAIN_MS - chat_steady_ms();
    return chat->waits_since_ms == 0 ? 0 : left > 0 ? left : 1;
}

/* Nobody watches a prompt that nothing answers: no worker, no runner, a pause. */
void chat_explain_wait(struct chat *chat)
{
    const struct json *explained;
    if (!chat->waits_since_ms || chat_steady_ms() - chat->waits_since_ms < EXPLAIN_MS) {
        return;
    }
    chat->waits_since_ms = 0;
    if (chat_call(chat, "GET", chat_path(chat, "/explain"), (struct slice){0}, &explained)) {
        chat_screen_note(&chat->screen, COLOUR_YELLOW,
                         arena_format(chat->remote.arena,
                                      "(waiting: %.*s \"sojourn sessions explain %.*s\" shows more)",
                                      SLICE_ARG(json_text_of(explained, "detail")), SLICE_ARG(chat->session_id)));
    }
}

void chat_tick(struct chat *chat)
{
    if (chat->screen.is_broken) {
        chat_leave(chat, EXIT_REFUSED);
    }
    if (chat->tail.is_over) {
        return;
    }
    chat_explain_wait(chat);
    if (chat->terminal) {
        chat_terminal_tick(chat);
    } else {
        chat_piped_tick(chat);
    }
}

static int signal_descriptor(const struct chat *chat)
{
    static const int always[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT}, terminal[] = {SIGWINCH, SIGTSTP, SIGCONT};
    sigset_t signals;
    sigemptyset(&signals);
    for (size_t i = 0; i < sizeof always / sizeof always[0]; i++) {
        sigaddset(&signals, always[i]);
    }
    for (size_t i = 0; chat->terminal && i < sizeof terminal / sizeof terminal[0]; i++) {
        sigaddset(&signals, terminal[i]);
    }
    sigprocmask(SIG_BLOCK, &signals, NULL);
    return signalfd(-1, &signals, SFD_CLOEXEC);
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

static void open_terminal(struct chat *chat, const struct invocation *invocation)
{
    bool is_terminal = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && !chat->remote.wants_json;
    chat->screen.is_silent = chat->remote.wants_json;
    chat->screen.has_colours = terminal_has_colours(is_terminal ? stdout : stderr);
    if (is_terminal) {
        chat_terminal_open(chat, history_path(invocation->arena));
    }
    if (chat->terminal) {
        chat->errors.file = open_memstream(&chat->errors.text, &chat->errors.len);
        chat->remote.errors = chat->errors.file ? chat->errors.file : stderr;
    }
}

static void greet(struct chat *chat)
{
    if (chat->terminal) {
        chat_screen_note(&chat->screen, COLOUR_DIM,
                         arena_format(chat->remote.arena, "%.*s, session %.*s; /help lists commands, Ctrl-D leaves",
                                      SLICE_ARG(chat->agent), SLICE_ARG(chat->session_id)));
    }
}

static void close_terminal(struct chat *chat)
{
    bool was_terminal = chat->terminal != NULL;
    chat_screen_finish(&chat->screen, buffer_slice(&chat->screen.spoken));
    chat_terminal_close(chat);
    if (was_terminal && chat->tail.code == EXIT_DONE && slice_present(chat->session_id)) {
        fprintf(stderr, "the session stays: sojourn chat --session %.*s\n", SLICE_ARG(chat->session_id));
    }
}

/* One session after the other: /new and /resume go on with another. */
static int converse(struct chat *chat)
{
    struct tail_ear ear = {chat, chat_on_frame, chat_on_lost};
    int code;
    chat->tail.ear = &ear;
    do {
        chat->tail.is_over = chat->tail.was_connected = false;
        chat->tail.cursor.len = 0;
        greet(chat);
        tail_follow(&chat->tail);
        code = chat->tail.code;
        if (chat->wants_new_session || slice_present(chat->next_session)) {
            code = chat_begin(chat);
            show_errors(chat);
            continue;
        }
        break;
    } while (code == EXIT_DONE);
    return code;
}

static int run(struct chat *chat, const struct invocation *invocation)
{
    int code = chat_begin(chat); /* before the terminal is taken: a refusal is an ordinary error */
    if (code != EXIT_DONE) {
        return code;
    }
    chat->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
    open_terminal(chat, invocation);
    chat->tail.watches[WATCH_INPUT] = (struct client_watch){STDIN_FILENO, chat_on_input, chat};
    chat->tail.watches[WATCH_SIGNALS] = (struct client_watch){signal_descriptor(chat), chat_on_signal, chat};
    chat->tail.watches[WATCH_TIMER] = (struct client_watch){chat->timer_fd, chat_on_timer, chat};
    chat->tail.watch_count = WATCH_COUNT;
    code = converse(chat);
    close_terminal(chat);
    close(chat->tail.watches[WATCH_SIGNALS].fd);
    close(chat->timer_fd);
    return code;
}

static void release(struct chat *chat)
{
    remote_close(&chat->remote);
    remote_close(&chat->tail.remote);
    buffer_release(&chat->tail.cursor);
    buffer_release(&chat->line);
    chat_screen_release(&chat->screen);
    if (chat->errors.file) {
        fclose(chat->errors.file);
        free(chat->errors.text);
    }
    free(chat);
}

int command_chat(const struct invocation *invocation)
{
    struct chat_options options = {0};
    struct chat *chat = memory_zeroed(sizeof *chat);
    struct remote_setup setup = {chat_table, &options, -1, &options.silence_ms};
    chat->tail.stop_fd = -1;
    chat->options = &options;
    chat->agent = slice_of(invocation->arguments->positional_count ? invocation->arguments->positionals[0] : NULL);
    int code = remote_open(invocation, &setup, &chat->tail.remote);
    code = code == EXIT_DONE ? remote_open(invocation, &setup, &chat->remote) : code;
    code = code == EXIT_DONE ? run(chat, invocation) : code;
    release(chat);
    return code;
}

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "cli/client_commands.h"
#include "cli/forwarded_options.h"
#include "cli/tail.h"
#include "wire/url.h"

enum { PAUSE_MS_MIN = 200, PAUSE_MS_MAX = 10 * 1000 };

struct tail_options {
    int64_t last;
    int64_t silence_ms;
    bool deltas;
};

#define SILENCE                                                                                                        \
    {                                                                                                                  \
        .name = "silence-ms", .type = OPTION_NUMBER, .offset = OPTION_FIELD(struct tail_options, silence_ms, int64_t), \
        .value = "TIME", .fallback = "60s", .min = 1, .max = 24 * 3600 * 1000, .unit = UNIT_MS,                        \
        .help = "Reconnect when the server has been silent for this long; it sends a heartbeat every 15 s.",           \
    }

/* clang-format off */
static const struct option filter_table[] = {
    {.name = "Which events", .type = OPTION_SECTION},
    PASS_TEXT("after", "CURSOR", "Start after this cursor: the id of a frame or, in one session, a sequence."),
    PASS_TEXT("types", "TYPES", "Only these types, separated by commas; tool.* matches all that begin with tool."),
    {0},
};
static const struct option thread_table[] = {
    PASS_TEXT("thread-id", "THREAD", "Only of this thread."),
    {0},
};
static const struct option tail_table[] = {
    {.name = "last", .type = OPTION_NUMBER, .offset = OPTION_FIELD(struct tail_options, last, int64_t), .value = "N",
     .fallback = "10", .max = 1000, .help = "Start with the last N events; --after overrides this."},
    {.name = "deltas", .type = OPTION_SWITCH, .offset = OPTION_FIELD(struct tail_options, deltas, bool),
     .help = "Include live output of the running turn, before it becomes an event."},
    SILENCE,
    {0},
};
static const struct option silence_table[] = {SILENCE, {0}};
/* clang-format on */

const struct option *const sessions_tail_tables[] = {filter_table,        thread_table,        tail_table,
                                                     output_option_table, remote_option_table, NULL};
const struct option *const events_tail_tables[] = {filter_table, silence_table, output_option_table,
                                                   remote_option_table, NULL};

/* --- connections --- */

static bool is_worth_another_try(int status)
{
    return status == 429 || status >= 500;
}

/* What follows from the end of a connection. */
static void judge_end(struct tail *tail, enum status status, const struct client_answer *answer,
                      struct failure *failure)
{
    bool is_refused = status == STATUS_OK && answer->status != 200;
    if (tail->is_over) {
        return;
    }
    if (status == STATUS_GONE) {
        tail->is_over = true;
    } else if (is_refused && !(tail->was_connected && is_worth_another_try(answer->status))) {
        tail->is_over = true;
        tail->code = remote_refused(&tail->remote, answer);
    } else if (!tail->was_connected) {
        if (status == STATUS_OK) {
            (void)failure_set(failure, STATUS_UNAVAILABLE, "no_stream", "%s has no such stream.",
                              client_address(tail->remote.client));
        }
        tail->is_over = true;
        tail->code = remote_unreached(&tail->remote, failure);
    }
}

/* Follows one connection to its end; false when the command is over. */
static bool follow_once(struct tail *tail, int *out_retry_after_s)
{
    struct client_answer answer;
    struct failure failure;
    struct client_request request = {
        .method = "GET",
        .target = tail->target,
        .headers = {{"Last-Event-ID", tail->cursor.len ? buffer_slice(&tail->cursor) : (struct slice){0}}},
        .on_bytes = tail_take_bytes,
        .owner = tail,
        .watches = tail->watches,
        .watch_count = tail->watch_count,
    };
    tail->heard = false;
    sse_decoder_init(&tail->decoder, FRAME_BYTES_MAX);
    enum status status = client_send(tail->remote.client, &request, &answer, &failure);
    sse_decoder_release(&tail->decoder);
    judge_end(tail, status, &answer, &failure);
    *out_retry_after_s = answer.retry_after_s;
    buffer_release(&answer.body);
    return !tail->is_over;
}

/* False when the person has had enough. */
static bool wait_a_while(struct tail *tail, int pause_ms)
{
    struct pollfd waits[1 + CLIENT_WATCHES_MAX] = {{tail->stop_fd, POLLIN, 0}};
    for (size_t i = 0; i < tail->watch_count; i++) {
        waits[1 + i] = (struct pollfd){tail->watches[i].fd, POLLIN, 0};
    }
    if (poll(waits, 1 + tail->watch_count, pause_ms) == 0) {
        return true;
    }
    for (size_t i = 0; i < tail->watch_count && !waits[0].revents && !tail->is_over; i++) {
        if (waits[1 + i].revents) {
            (void)tail->watches[i].on_ready(tail->watches[i].owner);
        }
    }
    return !waits[0].revents && !tail->is_over;
}

static void say_lost(const struct tail *tail)
{
    if (tail->ear) {
        tail->ear->on_lost(tail->ear->owner);
    } else {
        fprintf(stderr, "connection to %s lost; trying again until it is back\n", client_address(tail->remote.client));
    }
}

void tail_follow(struct tail *tail)
{
    int pause_ms = PAUSE_MS_MIN, retry_after_s;
    while (follow_once(tail, &retry_after_s)) {
        pause_ms = tail->heard ? PAUSE_MS_MIN : pause_ms * 2;
        pause_ms = pause_ms > PAUSE_MS_MAX ? PAUSE_MS_MAX : pause_ms;
        int wait_ms = retry_after_s * 1000 > pause_ms && retry_after_s < 3600 ? retry_after_s * 1000 : pause_ms;
        if (tail->heard) {
            say_lost(tail);
        }
        if (!wait_a_while(tail, wait_ms)) {
            return;
        }
    }
}

/* --- where to begin --- */

/* The newest N events with the same filter; the stream begins before the oldest of them. */
static int find_beginning(struct tail *tail, struct slice path, int64_t last, struct buffer *query)
{
    const struct json *page;
    struct buffer newest = {0};
    buffer_add(&newest, buffer_slice(query));
    form_add(&newest, SLICE("order"), SLICE("newest"));
    form_add(&newest, SLICE("limit"), arena_format(tail->remote.arena, "%lld", (long long)(last ? last : 1)));
    struct client_request request = {.method = "GET", .target = remote_target(&tail->remote, path, &newest)};
    int code = remote_call_json(&tail->remote, &request, &page);
    buffer_release(&newest);
    if (code != EXIT_DONE) {
        return code;
    }
    const struct json *list = json_get(page, "events");
    int64_t after = 0;
    for (const struct json *event = list ? list->child : NULL; event; event = event->next) {
        after = json_i64_of(event, "sequence") - (last ? 1 : 0);
    }
    form_add(query, SLICE("after"), arena_format(tail->remote.arena, "%lld", (long long)after));
    return EXIT_DONE;
}

static int stop_descriptor(void)
{
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    return signalfd(-1, &signals, SFD_CLOEXEC);
}

static int tail_session(struct tail *tail, const struct tail_options *options, struct buffer *query)
{
    const struct arguments *arguments = tail->remote.invocation->arguments;
    struct slice path = remote_path(&tail->remote, "sessions", slice_of(arguments->positionals[0]), "/events");
    int code = remote_query(&tail->remote, filter_table, query);
    if (code == EXIT_DONE) {
        code = remote_query(&tail->remote, thread_table, query);
    }
    if (code == EXIT_DONE && !slice_present(arguments_text(arguments, "after"))) {
        code = find_beginning(tail, path, options->last, query);
    }
    if (code != EXIT_DONE) {
        return code;
    }
    form_add(query, SLICE("deltas"), options->deltas ? SLICE("true") : SLICE("false"));
    tail->target = remote_target(&tail->remote, path, query);
    tail_follow(tail);
    return tail->code;
}

static int open_tail(struct tail *tail, const struct invocation *invocation, const struct option *table,
                     struct tail_options *options)
{
    tail->stop_fd = stop_descriptor();
    return remote_open(invocation, &(struct remote_setup){table, options, tail->stop_fd, &options->silence_ms},
                       &tail->remote);
}

static void close_tail(struct tail *tail)
{
    buffer_release(&tail->cursor);
    remote_close(&tail->remote);
    close(tail->stop_fd);
}

int command_sessions_tail(const struct invocation *invocation)
{
    struct tail_options options = {0};
    struct buffer query = {0};
    struct tail tail = {.style = event_line_style(stdout, false)};
    int code = open_tail(&tail, invocation, tail_table, &options);
    if (code == EXIT_DONE) {
        code = tail_session(&tail, &options, &query);
    }
    buffer_release(&query);
    close_tail(&tail);
    return code;
}

int command_events_tail(const struct invocation *invocation)
{
    struct tail_options options = {0};
    struct buffer query = {0};
    struct tail tail = {.style = event_line_style(stdout, true)};
    int code = open_tail(&tail, invocation, silence_table, &options);
    if (code == EXIT_DONE) {
        code = remote_query(&tail.remote, filter_table, &query);
    }
    if (code == EXIT_DONE) {
        tail.target = remote_target(&tail.remote, SLICE("/api/stream"), &query);
        tail_follow(&tail);
        code = tail.code;
    }
    buffer_release(&query);
    close_tail(&tail);
    return code;
}

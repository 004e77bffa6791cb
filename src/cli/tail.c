#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "cli/client_commands.h"
#include "cli/event_line.h"
#include "cli/passed.h"
#include "cli/remote.h"
#include "wire/sse.h"
#include "wire/url.h"

enum { FRAME_BYTES_MAX = 64 * 1024 * 1024, PAUSE_MS_MIN = 200, PAUSE_MS_MAX = 10 * 1000 };

struct tail_options {
    int64_t last;
    int64_t silence_ms;
    bool deltas;
};

#define SILENCE                                                                                                        \
    {                                                                                                                  \
        .name = "silence-ms", .type = OPTION_NUMBER, .offset = OPTION_FIELD(struct tail_options, silence_ms, int64_t), \
        .value = "TIME", .fallback = "60s", .min = 1, .max = 24 * 3600 * 1000, .unit = UNIT_MS,                        \
        .help = "A connection that says nothing for this long counts as lost; the server shows every 15 s that it "    \
                "is alive."                                                                                            \
    }

/* clang-format off */
static const struct option filter_table[] = {
    {.name = "Which events", .type = OPTION_SECTION},
    PASS_TEXT("after", "CURSOR", "Begin behind this cursor: the id of a frame, or a sequence in one session."),
    PASS_TEXT("types", "TYPES", "Only these types, separated by commas; tool.* stands for all that begin so."),
    {0},
};
static const struct option thread_table[] = {
    PASS_TEXT("thread-id", "THREAD", "Only of this thread."),
    {0},
};
static const struct option tail_table[] = {
    {.name = "last", .type = OPTION_NUMBER, .offset = OPTION_FIELD(struct tail_options, last, int64_t), .value = "N",
     .fallback = "10", .max = 1000, .help = "Begin with the last N events, unless --after says where."},
    {.name = "deltas", .type = OPTION_SWITCH, .offset = OPTION_FIELD(struct tail_options, deltas, bool),
     .help = "Live output of the running turn too, before it becomes an event."},
    SILENCE,
    {0},
};
static const struct option silence_table[] = {SILENCE, {0}};
/* clang-format on */

const struct option *const sessions_tail_tables[] = {filter_table,        thread_table,        tail_table,
                                                     output_option_table, remote_option_table, NULL};
const struct option *const events_tail_tables[] = {filter_table, silence_table, output_option_table,
                                                   remote_option_table, NULL};

/* A stream being followed over as many connections as it takes. On the command's stack. */
struct tail {
    struct remote remote;
    int stop_fd; /* readable after SIGINT or SIGTERM */
    struct slice target;
    struct buffer cursor; /* behind what was printed; empty = where the target says */
    struct sse_decoder decoder;
    struct event_line_style style;
    bool was_connected; /* a frame came on some connection */
    bool heard;         /* a frame came on this connection */
    bool is_in_delta;   /* the line of live output is not ended */
    bool is_over;
    int code;
};

/* --- printing --- */

static void print(struct tail *tail, const struct buffer *text)
{
    int code = remote_print(buffer_slice(text));
    if (code != EXIT_DONE) {
        tail->is_over = true;
        tail->code = code;
    }
}

static void end_delta(struct tail *tail, struct buffer *out)
{
    if (tail->is_in_delta) {
        buffer_add_byte(out, '\n');
    }
    tail->is_in_delta = false;
}

/* JSON that a client wrote over several lines is still one value: its line breaks stand between tokens only. */
static void add_on_one_line(struct buffer *out, struct slice json)
{
    size_t before = out->len;
    buffer_add(out, json);
    for (size_t i = before; i < out->len; i++) {
        if (out->ptr[i] == '\n' || out->ptr[i] == '\r') {
            out->ptr[i] = ' ';
        }
    }
}

/* An event is printed as it is; the other frames say what they are. */
static void print_json(struct tail *tail, const struct sse_event *frame)
{
    struct buffer line = {0};
    if (slice_is(frame->event, "event")) {
        add_on_one_line(&line, frame->data);
    } else {
        struct json_out out = json_out_to(&line);
        json_begin_object(&out);
        json_put_text(&out, "frame", frame->event);
        json_key(&out, "data");
        add_on_one_line(&line, frame->data.len ? frame->data : SLICE("null"));
        json_end_object(&out);
    }
    buffer_add_byte(&line, '\n');
    print(tail, &line);
    buffer_release(&line);
}

static void print_note(struct tail *tail, const char *sentence)
{
    struct buffer line = {0};
    end_delta(tail, &line);
    if (tail->style.has_colours) {
        buffer_add(&line, colour_code(COLOUR_YELLOW));
    }
    text_add_plain(&line, slice_of(sentence));
    if (tail->style.has_colours) {
        buffer_add(&line, colour_code(COLOUR_NONE));
    }
    buffer_add_byte(&line, '\n');
    print(tail, &line);
    buffer_release(&line);
}

/* --- one function per frame: what people see --- */

static void show_event(struct tail *tail, const struct json *event)
{
    struct buffer line = {0};
    end_delta(tail, &line);
    event_line_write(event, &tail->style, &line);
    print(tail, &line);
    buffer_release(&line);
}

static void add_delta(struct tail *tail, const struct json *delta, struct buffer *out)
{
    struct slice kind = json_text_of(delta, "kind");
    if (!tail->is_in_delta) {
        buffer_format(out, "… %s", slice_is(kind, "text") ? "" : "[live] ");
    }
    text_add_plain(out, json_text_of(delta, "text"));
    tail->is_in_delta = true;
}

static void show_delta(struct tail *tail, const struct json *delta)
{
    struct buffer text = {0};
    add_delta(tail, delta, &text);
    print(tail, &text);
    buffer_release(&text);
}

/* Live output from before this reader came, folded. */
static void show_snapshot(struct tail *tail, const struct json *snapshot)
{
    struct buffer text = {0};
    const struct json *partial = json_get(snapshot, "partial");
    end_delta(tail, &text);
    for (const struct json *delta = partial ? partial->child : NULL; delta; delta = delta->next) {
        add_delta(tail, delta, &text);
    }
    print(tail, &text);
    buffer_release(&text);
}

static void show_gap(struct tail *tail, const struct json *gap)
{
    char sentence[200];
    snprintf(sentence, sizeof sentence, "gap: events %lld to %lld can't be shown (%.*s)",
             (long long)json_i64_of(gap, "from"), (long long)json_i64_of(gap, "to"),
             SLICE_ARG(slice_utf8_prefix(json_text_of(gap, "reason"), 80)));
    print_note(tail, sentence);
}

static void show_slow(struct tail *tail, const struct json *slow)
{
    char sentence[200];
    snprintf(sentence, sizeof sentence,
             "slow: this reader fell behind; no event is lost, %lld pieces of live output are",
             (long long)json_i64_of(slow, "dropped_deltas"));
    print_note(tail, sentence);
}

static void show_closed(struct tail *tail, const struct json *closed)
{
    char sentence[200];
    snprintf(sentence, sizeof sentence, "closed: %.*s",
             SLICE_ARG(slice_utf8_prefix(json_text_of(closed, "reason"), 80)));
    print_note(tail, sentence);
}

static void do_nothing(struct tail *tail, const struct json *data)
{
    (void)tail;
    (void)data;
}

/* --- one function per frame: what follows from it --- */

static void set_cursor(struct tail *tail, struct slice cursor)
{
    tail->cursor.len = 0;
    buffer_add(&tail->cursor, cursor);
}

static void begin_at(struct tail *tail, const struct json *ready)
{
    if (tail->cursor.len == 0) {
        set_cursor(tail, json_text_of(ready, "cursor"));
    }
}

static void jump_over(struct tail *tail, const struct json *gap)
{
    set_cursor(tail, json_text_of(gap, "cursor"));
}

/* Reasons that end the stream for good; after any other one a new connection goes on. */
static const struct {
    const char *reason;
    int code;
} endings[] = {{"deleted", EXIT_MISSING}, {"access_revoked", EXIT_DENIED}};

static void end_for(struct tail *tail, const struct json *closed)
{
    struct slice reason = json_text_of(closed, "reason");
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        if (slice_is(reason, endings[i].reason)) {
            tail->is_over = true;
            tail->code = endings[i].code;
        }
    }
}

static const struct frame_kind {
    const char *name;
    bool moves_cursor;
    void (*show)(struct tail *tail, const struct json *data);
    void (*follow)(struct tail *tail, const struct json *data);
} frame_kinds[] = {
    {"event", true, show_event, do_nothing},
    {"delta", true, show_delta, do_nothing},
    {"snapshot", false, show_snapshot, do_nothing},
    {"ready", false, do_nothing, begin_at},
    {"gap", false, show_gap, jump_over},
    {"slow", false, show_slow, do_nothing},
    {"closed", false, show_closed, end_for},
};

static const struct frame_kind *find_kind(struct slice name)
{
    for (size_t i = 0; i < sizeof frame_kinds / sizeof frame_kinds[0]; i++) {
        if (slice_is(name, frame_kinds[i].name)) {
            return &frame_kinds[i];
        }
    }
    return NULL;
}

/* A kind this program does not know is passed on to programs and left out for people. */
static void take_frame(struct tail *tail, const struct sse_event *frame)
{
    struct arena arena = {0};
    struct failure failure;
    const struct json *data = NULL;
    const struct frame_kind *kind = find_kind(frame->event);
    bool is_json = json_parse(&arena, frame->data, &data, &failure) == STATUS_OK;
    tail->heard = tail->was_connected = true;
    if (tail->remote.wants_json) {
        print_json(tail, frame);
    } else if (kind && is_json) {
        kind->show(tail, data);
    }
    if (kind && kind->moves_cursor) {
        set_cursor(tail, frame->id);
    }
    if (kind && is_json) {
        kind->follow(tail, data);
    }
    arena_release(&arena);
}

static bool on_bytes(void *owner, struct slice bytes)
{
    struct tail *tail = owner;
    struct sse_event frame;
    enum sse_step step;
    while (!tail->is_over && (step = sse_decode(&tail->decoder, &bytes, &frame)) != SSE_MORE) {
        if (step == SSE_TOO_LARGE) {
            fprintf(stderr, "sojourn: an event of the stream is larger than %d bytes\n", FRAME_BYTES_MAX);
            tail->is_over = true;
            tail->code = EXIT_REFUSED;
        } else {
            take_frame(tail, &frame);
        }
    }
    return !tail->is_over;
}

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
        tail->code = remote_fail(failure);
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
        .on_bytes = on_bytes,
        .owner = tail,
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
static bool wait_a_while(const struct tail *tail, int pause_ms)
{
    struct pollfd stop = {tail->stop_fd, POLLIN, 0};
    return poll(&stop, 1, pause_ms) == 0;
}

static void follow(struct tail *tail)
{
    int pause_ms = PAUSE_MS_MIN, retry_after_s;
    while (follow_once(tail, &retry_after_s)) {
        pause_ms = tail->heard ? PAUSE_MS_MIN : pause_ms * 2;
        pause_ms = pause_ms > PAUSE_MS_MAX ? PAUSE_MS_MAX : pause_ms;
        int wait_ms = retry_after_s * 1000 > pause_ms && retry_after_s < 3600 ? retry_after_s * 1000 : pause_ms;
        if (tail->heard) {
            fprintf(stderr, "connection to %s lost; trying again until it is back\n",
                    client_address(tail->remote.client));
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
    follow(tail);
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
        follow(&tail);
        code = tail.code;
    }
    buffer_release(&query);
    close_tail(&tail);
    return code;
}

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "cli/client_commands.h"
#include "cli/event_line.h"
#include "cli/forwarded_options.h"
#include "cli/remote.h"
#include "domain/event_kind.h"

enum { INPUT_BYTES_MAX = 64 * 1024 * 1024 };

struct append_options {
    const char *text;
    struct text_list event;
    const char *idempotency_key;
    const char *if_sequence;
};

static const char *const order_names[] = {"oldest", "newest"};
static const struct enum_names order_enum = {order_names, 2};

/* clang-format off */
static const struct option list_table[] = {
    {.name = "Which events", .type = OPTION_SECTION},
    PASS_TEXT("after", "SEQUENCE", "Only after this event."),
    PASS_NUMBER("before", 1, INT64_MAX, "Only before this event."),
    PASS_TEXT("types", "TYPES", "Only these types, separated by commas; tool.* matches all that begin with tool."),
    PASS_TEXT("thread-id", "THREAD", "Only of this thread."),
    PASS_NUMBER("limit", 1, 1000, "Maximum results per page (server limit: 1000)."),
    PASS_CHOICE("order", order_enum, "Order: oldest or newest first."),
    {0},
};
static const struct option event_table[] = {
    {.name = "The event", .type = OPTION_SECTION},
    PASS_TEXT("type", "TYPE", "The event type. Default: user.message."),
    PASS_CHOICE("role", event_role_enum, "The role. Default: that of the type."),
    PASS_TEXT("thread-id", "THREAD", "The thread it belongs to."),
    PASS_TEXT("external-event-id", "ID", "An id of your own; an event with the same id is appended only once."),
    PASS_WORDS(PASSED_PAIRS, "KEY=VALUE", "A key of its metadata."),
    {0},
};
static const struct option append_table[] = {
    {.name = "text", .type = OPTION_TEXT, .offset = OPTION_FIELD(struct append_options, text, const char *),
     .value = "TEXT", .help = "The text of the event; - reads standard input."},
    {.name = "event", .type = OPTION_LIST, .offset = OPTION_FIELD(struct append_options, event, struct text_list),
     .value = "JSON", .help = "A whole event as JSON instead of the options above."},
    {.name = "idempotency-key", .type = OPTION_TEXT, .value = "KEY",
     .offset = OPTION_FIELD(struct append_options, idempotency_key, const char *),
     .help = "An id for this call; a repeated call returns the same answer and changes nothing."},
    {.name = "if-sequence", .type = OPTION_TEXT, .value = "N",
     .offset = OPTION_FIELD(struct append_options, if_sequence, const char *),
     .help = "Append only if this is the last event of the log."},
    {0},
};
/* clang-format on */

const struct option *const sessions_events_tables[] = {list_table, output_option_table, remote_option_table, NULL};
const struct option *const events_append_tables[] = {event_table, append_table, output_option_table,
                                                     remote_option_table, NULL};

/* --- list --- */

static int print_lines(struct remote *remote, const struct json *page, const void *detail)
{
    (void)remote;
    (void)detail;
    struct buffer text = {0};
    struct event_line_style style = event_line_style(stdout, false);
    const struct json *list = json_get(page, "events");
    bool has_more = false;
    for (const struct json *event = list ? list->child : NULL; event; event = event->next) {
        event_line_write(event, &style, &text);
    }
    int code = remote_print_drawn(buffer_slice(&text));
    buffer_release(&text);
    json_as_bool(json_get(page, "has_more"), &has_more);
    if (has_more) {
        fprintf(stderr, "there are more: --limit, --after or --before show them\n");
    }
    return code;
}

static int list_events(struct remote *remote, const struct buffer *query)
{
    struct slice id = slice_of(remote->invocation->arguments->positionals[0]);
    struct slice target = remote_target(remote, remote_path(remote, "sessions", id, "/events"), query);
    return remote_show(remote, &(struct client_request){.method = "GET", .target = target}, print_lines, NULL);
}

int command_sessions_events(const struct invocation *invocation)
{
    struct remote remote;
    struct buffer query = {0};
    int code = remote_open_plain(invocation, &remote);
    if (code == EXIT_DONE) {
        code = remote_query(&remote, list_table, &query);
    }
    if (code == EXIT_DONE) {
        code = list_events(&remote, &query);
    }
    buffer_release(&query);
    remote_close(&remote);
    return code;
}

/* --- append: what the events are made of --- */

static int refuse(const struct remote *remote, const char *code, const char *sentence)
{
    struct failure failure;
    (void)failure_set(&failure, STATUS_INVALID, code, "%s", sentence);
    return command_refuse(remote->invocation->command, &failure);
}

static int read_input(const struct remote *remote, struct slice *out)
{
    struct buffer input = {0};
    char piece[65536];
    ssize_t count = 0;
    while (input.len <= INPUT_BYTES_MAX && (count = read(STDIN_FILENO, piece, sizeof piece)) != 0) {
        if (count < 0 && errno != EINTR) {
            break;
        }
        buffer_add(&input, slice_from(piece, count > 0 ? (size_t)count : 0));
    }
    *out = arena_copy(remote->arena, buffer_slice(&input));
    buffer_release(&input);
    if (count < 0) {
        return refuse(remote, "no_input", "standard input can't be read");
    }
    return out->len <= INPUT_BYTES_MAX ? EXIT_DONE : refuse(remote, "too_large", "standard input is too long");
}

/* One event as it was written; `place` says where it stood. */
static int add_event(const struct remote *remote, struct json_out *out, struct slice text, const char *place)
{
    const struct json *event;
    struct failure failure, reason;
    if (json_parse(remote->arena, text, &event, &reason) == STATUS_OK && event->kind == JSON_OBJECT) {
        json_raw(out, event->raw);
        return EXIT_DONE;
    }
    (void)failure_set(&failure, STATUS_INVALID, "bad_event", "%s is not one event as a JSON object: %.100s", place,
                      text.ptr);
    return command_refuse(remote->invocation->command, &failure);
}

static int add_lines(const struct remote *remote, struct json_out *out, struct slice input)
{
    int code = EXIT_DONE, number = 0;
    while (input.len && code == EXIT_DONE) {
        struct slice line, rest = {0};
        char place[40];
        slice_cut(input, '\n', &line, &rest);
        snprintf(place, sizeof place, "line %d", ++number);
        line = arena_copy(remote->arena, slice_trim(line));
        code = line.len ? add_event(remote, out, line, place) : EXIT_DONE;
        input = rest;
    }
    return number ? code : refuse(remote, "no_input", "standard input is empty; give events as JSON");
}

/* One event, a list of them, {"events": […]}, or one event per line. */
static int add_input(const struct remote *remote, struct json_out *out)
{
    struct slice input;
    struct failure failure;
    const struct json *root;
    if (isatty(STDIN_FILENO)) {
        return refuse(remote, "no_event", "say what to append: --text TEXT, --event JSON, or JSON on standard input");
    }
    int code = read_input(remote, &input);
    if (code != EXIT_DONE) {
        return code;
    }
    if (json_parse(remote->arena, input, &root, &failure) != STATUS_OK) {
        return add_lines(remote, out, input);
    }
    const struct json *list = root->kind == JSON_ARRAY ? root : json_get(root, "events");
    if (!list) {
        return add_event(remote, out, root->raw, "standard input");
    }
    for (const struct json *event = list->child; event; event = event->next) {
        json_raw(out, event->raw);
    }
    return EXIT_DONE;
}

static int add_described(struct remote *remote, struct json_out *out, const char *text)
{
    struct slice said = slice_of(text);
    int code = slice_is(said, "-") ? read_input(remote, &said) : EXIT_DONE;
    json_begin_object(out);
    if (!slice_present(arguments_text(remote->invocation->arguments, "type"))) {
        json_put_text(out, "type", event_kind_name(EVENT_USER_MESSAGE));
    }
    if (slice_present(said)) {
        json_key(out, "content");
        json_begin_array(out);
        json_begin_object(out);
        json_put_text(out, "type", SLICE("text"));
        json_put_text(out, "text", said);
        json_end_object(out);
        json_end_array(out);
    }
    code = code == EXIT_DONE ? remote_members(remote, event_table, out) : code;
    json_end_object(out);
    return code;
}

static bool is_described(const struct remote *remote, const struct append_options *options)
{
    for (const struct option *option = event_table; option->name; option++) {
        if (slice_present(arguments_text(remote->invocation->arguments, option->name))) {
            return true;
        }
    }
    return options->text != NULL;
}

static int add_events(struct remote *remote, const struct append_options *options, struct json_out *out)
{
    bool described = is_described(remote, options);
    if (described && options->event.count) {
        return refuse(remote, "two_ways", "--event holds the whole event; leave the options that describe one out");
    }
    if (described) {
        return add_described(remote, out, options->text);
    }
    if (options->event.count == 0) {
        return add_input(remote, out);
    }
    int code = EXIT_DONE;
    for (size_t i = 0; i < options->event.count && code == EXIT_DONE; i++) {
        code = add_event(remote, out, slice_of(options->event.items[i]), "--event");
    }
    return code;
}

/* --- append --- */

static int print_appended(struct remote *remote, const struct json *answer, const void *detail)
{
    (void)remote;
    (void)detail;
    const struct json *list = json_get(answer, "events");
    struct buffer text = {0};
    for (const struct json *event = list ? list->child : NULL; event; event = event->next) {
        bool is_repeat = false;
        json_as_bool(json_get(event, "duplicate"), &is_repeat);
        buffer_format(&text, "%lld %.*s%s\n", (long long)json_i64_of(event, "sequence"),
                      SLICE_ARG(json_text_of(event, "type")), is_repeat ? " (was there)" : "");
    }
    int code = remote_print(buffer_slice(&text));
    buffer_release(&text);
    return code;
}

static int send_events(struct remote *remote, const struct append_options *options, struct slice body)
{
    struct slice id = slice_of(remote->invocation->arguments->positionals[0]);
    struct client_request request = {
        .method = "POST",
        .target = remote_path(remote, "sessions", id, "/events"),
        .body = body,
        .headers = {{"Idempotency-Key", slice_of(options->idempotency_key)},
                    {"If-Sequence", slice_of(options->if_sequence)}},
    };
    return remote_show(remote, &request, print_appended, NULL);
}

int command_events_append(const struct invocation *invocation)
{
    struct remote remote;
    struct append_options options = {0};
    struct buffer body = {0};
    struct json_out out = json_out_to(&body);
    int code = remote_open(invocation, &(struct remote_setup){append_table, &options, -1, NULL}, &remote);
    json_begin_object(&out);
    json_key(&out, "events");
    json_begin_array(&out);
    code = code == EXIT_DONE ? add_events(&remote, &options, &out) : code;
    json_end_array(&out);
    json_end_object(&out);
    if (code == EXIT_DONE) {
        code = send_events(&remote, &options, buffer_slice(&body));
    }
    buffer_release(&body);
    remote_close(&remote);
    return code;
}

#include "cli/remote.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/confirm.h"
#include "cli/forwarded_options.h"
#include "cli/resolve.h"
#include "cli/terminal.h"
#include "wire/url.h"

enum {
    ANSWER_BYTES_MAX = 256 * 1024 * 1024,
    CONNECT_MS = 10 * 1000,
    SHOWN_BYTES_MAX = 200,
};

/* --- what is said to the person --- */

static const struct {
    enum status status;
    int code;
} exit_codes[] = {
    {STATUS_INVALID, EXIT_USAGE},       {STATUS_NOT_FOUND, EXIT_MISSING},      {STATUS_GONE, EXIT_MISSING},
    {STATUS_FORBIDDEN, EXIT_DENIED},    {STATUS_UNAUTHENTICATED, EXIT_DENIED}, {STATUS_UNAVAILABLE, EXIT_UNREACHABLE},
    {STATUS_TIMEOUT, EXIT_UNREACHABLE},
};

static int fail_to(FILE *file, const struct failure *failure)
{
    fprintf(file, "sojourn: %s\n", failure->detail);
    for (size_t i = 0; i < sizeof exit_codes / sizeof exit_codes[0]; i++) {
        if (exit_codes[i].status == failure->status) {
            return exit_codes[i].code;
        }
    }
    return EXIT_REFUSED;
}

int remote_fail(const struct failure *failure)
{
    return fail_to(stderr, failure);
}

static int code_of_answer(int status)
{
    return status == 401 || status == 403 ? EXIT_DENIED : status == 404 || status == 410 ? EXIT_MISSING : EXIT_REFUSED;
}

static void say_plain(FILE *file, const char *before, struct slice text, const char *after)
{
    struct buffer plain = {0};
    text_add_plain(&plain, text);
    fprintf(file, "%s%.*s%s", before, SLICE_ARG(buffer_slice(&plain)), after);
    buffer_release(&plain);
}

/* What to type when the token is what is wrong. */
static void say_token_hint(const struct remote *remote, FILE *file)
{
    if (!remote->options.token) {
        fprintf(file, "no token was given: set SOJOURN_TOKEN, or give --token-file FILE\n");
    } else {
        fprintf(file, "the token came from %s; \"sojourn whoami\" checks one\n", remote->token_source);
    }
}

int remote_refused(const struct remote *remote, const struct client_answer *answer)
{
    const struct json *problem;
    struct failure failure;
    FILE *file = remote->errors;
    struct slice body = arena_copy(remote->arena, buffer_slice(&answer->body));
    bool is_json = json_parse(remote->arena, body, &problem, &failure) == STATUS_OK;
    struct slice detail = is_json ? json_text_of(problem, "detail") : (struct slice){0};
    if (!slice_present(detail)) {
        fprintf(file, "sojourn: %s answered %d, not as a Sojourn server does", client_address(remote->client),
                answer->status);
        say_plain(file, ": ", slice_utf8_prefix(body, SHOWN_BYTES_MAX), "\n");
        return code_of_answer(answer->status);
    }
    say_plain(file, "sojourn: ", detail, "");
    say_plain(file, " (", json_text_of(problem, "code"), ")\n");
    if (answer->retry_after_s) {
        fprintf(file, "try again in %d s\n", answer->retry_after_s);
    }
    if (answer->status == 401) {
        say_token_hint(remote, file);
    }
    return code_of_answer(answer->status);
}

int remote_print_drawn(struct slice text)
{
    if (print_text(stdout, text)) {
        return EXIT_DONE;
    }
    if (errno != EPIPE) {
        perror("sojourn: standard output");
    }
    return EXIT_REFUSED;
}

int remote_print(struct slice text)
{
    struct buffer exact = {0};
    if (!isatty(STDOUT_FILENO)) {
        return remote_print_drawn(text);
    }
    text_add_exact(&exact, text);
    int code = remote_print_drawn(buffer_slice(&exact));
    buffer_release(&exact);
    return code;
}

int remote_print_line(struct slice text)
{
    struct buffer line = {0};
    buffer_add(&line, text);
    buffer_add_byte(&line, '\n');
    int code = remote_print(buffer_slice(&line));
    buffer_release(&line);
    return code;
}

int remote_print_table(const struct table *table, const char *nothing)
{
    struct buffer text = {0};
    table_write(table, terminal_columns(stdout), terminal_has_colours(stdout), &text);
    int code = remote_print_drawn(buffer_slice(&text));
    buffer_release(&text);
    if (table->cell_count == 0) {
        fprintf(stderr, "%s\n", nothing);
    }
    return code;
}

/* --- calls --- */

int remote_open(const struct invocation *invocation, const struct remote_setup *setup, struct remote *out)
{
    struct clock clock;
    struct failure failure;
    clock_init_system(&clock);
    *out = (struct remote){
        .invocation = invocation, .arena = invocation->arena, .now_ms = clock_wall_ms(&clock), .errors = stderr};
    enum status status = remote_read_options(out, setup, &failure);
    if (status == STATUS_OK) {
        struct client_options options = {
            .url = out->options.url,
            .token = out->options.token,
            .ca_file = out->options.ca_file,
            .connect_ms = out->options.timeout_ms < CONNECT_MS ? out->options.timeout_ms : CONNECT_MS,
            .answer_ms = out->options.timeout_ms,
            .silence_ms = setup->silence_ms ? *setup->silence_ms : out->options.timeout_ms,
            .answer_bytes_max = ANSWER_BYTES_MAX,
            .stop_fd = setup->stop_fd,
        };
        status = client_open(&options, &out->client, &failure);
    }
    return status == STATUS_OK ? resolve_positionals(out) : command_refuse(invocation->command, &failure);
}

int remote_open_plain(const struct invocation *invocation, struct remote *out)
{
    return remote_open(invocation, &(struct remote_setup){.stop_fd = -1}, out);
}

void remote_close(struct remote *remote)
{
    client_close(remote->client);
    remote->client = NULL;
}

int remote_query(struct remote *remote, const struct option *table, struct buffer *query)
{
    struct failure failure;
    enum status status =
        forwarded_options_to_query(remote->invocation->arguments, table, remote->arena, query, &failure);
    return status == STATUS_OK ? EXIT_DONE : command_refuse(remote->invocation->command, &failure);
}

int remote_members(struct remote *remote, const struct option *table, struct json_out *out)
{
    struct failure failure;
    enum status status = forwarded_options_to_body(remote->invocation->arguments, table, remote->arena, out, &failure);
    return status == STATUS_OK ? EXIT_DONE : command_refuse(remote->invocation->command, &failure);
}

int remote_unreached(const struct remote *remote, const struct failure *failure)
{
    int code = fail_to(remote->errors, failure);
    if (code == EXIT_UNREACHABLE) {
        fprintf(remote->errors, "start a server with \"sojourn serve\", or name one with --url or SOJOURN_URL\n");
    }
    return code;
}

int remote_ask(struct remote *remote, const char *path, int *out_status, const struct json **out)
{
    struct client_answer answer;
    struct failure failure;
    struct client_request request = {.method = "GET", .target = slice_of(path)};
    int code = EXIT_DONE;
    *out = NULL;
    if (client_send(remote->client, &request, &answer, &failure) != STATUS_OK) {
        code = remote_unreached(remote, &failure);
    } else {
        *out_status = answer.status;
        struct slice body = arena_copy(remote->arena, buffer_slice(&answer.body));
        if (json_parse(remote->arena, body, out, &failure) != STATUS_OK) {
            *out = NULL;
        }
    }
    buffer_release(&answer.body);
    return code;
}

int remote_call(struct remote *remote, const struct client_request *request, struct slice *out_body)
{
    struct client_answer answer;
    struct failure failure;
    int code = EXIT_DONE;
    if (client_send(remote->client, request, &answer, &failure) != STATUS_OK) {
        code = remote_unreached(remote, &failure);
    } else if (answer.status < 200 || answer.status >= 300) {
        code = remote_refused(remote, &answer);
    } else {
        *out_body = arena_copy(remote->arena, buffer_slice(&answer.body));
    }
    buffer_release(&answer.body);
    return code;
}

int remote_call_json(struct remote *remote, const struct client_request *request, const struct json **out)
{
    struct slice body;
    struct failure failure;
    int code = remote_call(remote, request, &body);
    if (code == EXIT_DONE && json_parse(remote->arena, body, out, &failure) != STATUS_OK) {
        fprintf(remote->errors, "sojourn: %s answered something that can't be shown (%s); --json prints it as it is\n",
                client_address(remote->client), failure.detail);
        return EXIT_REFUSED;
    }
    return code;
}

int remote_show(struct remote *remote, const struct client_request *request,
                int (*show)(struct remote *remote, const struct json *answer, const void *detail), const void *detail)
{
    struct slice body;
    const struct json *answer;
    if (remote->wants_json) {
        int code = remote_call(remote, request, &body);
        return code == EXIT_DONE ? remote_print_line(body) : code;
    }
    int code = remote_call_json(remote, request, &answer);
    return code == EXIT_DONE ? show(remote, answer, detail) : code;
}

int remote_print_member(struct remote *remote, const struct json *answer, const void *key)
{
    (void)remote;
    return remote_print_line(json_text_of(answer, key));
}

static int do_one(struct remote *remote, const struct remote_deed *deed, const char *name)
{
    struct slice body;
    struct client_request request = {
        .method = deed->method,
        .target = remote_path(remote, deed->collection, slice_of(name), deed->tail),
        .body = strcmp(deed->method, "POST") == 0 ? SLICE("{}") : (struct slice){0},
    };
    int code = remote_call(remote, &request, &body);
    if (code != EXIT_DONE) {
        return code;
    }
    if (remote->wants_json) {
        return body.len ? remote_print_line(body) : EXIT_DONE;
    }
    return remote_print_line(arena_format(remote->arena, "%s %s", deed->done, name));
}

int remote_do_each(const struct invocation *invocation, const struct remote_deed *deed)
{
    struct remote remote;
    const struct arguments *arguments = invocation->arguments;
    int first = remote_open_plain(invocation, &remote);
    if (first == EXIT_DONE && deed->verb) {
        first = confirm(invocation, deed, remote.was_shortened);
    }
    bool is_open = first == EXIT_DONE;
    for (size_t i = 0; is_open && i < arguments->positional_count && first != EXIT_UNREACHABLE; i++) {
        int code = do_one(&remote, deed, arguments->positionals[i]);
        if (code != EXIT_DONE && arguments->positional_count > 1) {
            fprintf(stderr, "%s was not %s\n", arguments->positionals[i], deed->done);
        }
        first = first == EXIT_DONE ? code : first;
    }
    remote_close(&remote);
    return first;
}

struct slice remote_path(struct remote *remote, const char *collection, struct slice id, const char *tail)
{
    struct buffer path = {0};
    buffer_format(&path, "/api/%s/", collection);
    url_encode(&path, id);
    buffer_add(&path, slice_of(tail));
    struct slice copy = arena_copy(remote->arena, buffer_slice(&path));
    buffer_release(&path);
    return copy;
}

struct slice remote_target(struct remote *remote, struct slice path, const struct buffer *query)
{
    return query->len ? arena_format(remote->arena, "%.*s?%.*s", SLICE_ARG(path), SLICE_ARG(buffer_slice(query)))
                      : path;
}

#include "cli/remote.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/option_layers.h"
#include "cli/confirm.h"
#include "cli/passed.h"
#include "cli/resolve.h"
#include "cli/terminal.h"
#include "wire/url.h"

enum {
    ANSWER_BYTES_MAX = 256 * 1024 * 1024,
    CONNECT_MS = 10 * 1000,
    SHOWN_BYTES_MAX = 200,
    TOKEN_FILE_BYTES_MAX = 4096
};

/* clang-format off */
const struct option remote_option_table[] = {
    {.name = "Server", .type = OPTION_SECTION},
    {.name = "url", .type = OPTION_TEXT, .offset = OPTION_FIELD(struct remote_options, url, const char *),
     .value = "URL", .fallback = "http://127.0.0.1:7070",
     .help = "Where the server is: http://HOST:PORT, https://HOST or unix:PATH; also from SOJOURN_URL."},
    {.name = "token", .type = OPTION_TEXT, .offset = OPTION_FIELD(struct remote_options, token, const char *),
     .value = "TOKEN",
     .help = "An API token; better from SOJOURN_TOKEN, since others on the machine can read a command line."},
    {.name = "token-file", .type = OPTION_TEXT,
     .offset = OPTION_FIELD(struct remote_options, token_file, const char *), .value = "FILE",
     .help = "A file that holds the token and that nobody else can read; also from SOJOURN_TOKEN_FILE."},
    {.name = "ca-file", .type = OPTION_TEXT, .offset = OPTION_FIELD(struct remote_options, ca_file, const char *),
     .value = "FILE", .help = "Certificates (PEM) to trust besides the system's; also from SOJOURN_CA_FILE."},
    {.name = "timeout-ms", .type = OPTION_NUMBER, .offset = OPTION_FIELD(struct remote_options, timeout_ms, int64_t),
     .value = "TIME", .fallback = "30s", .min = 1, .max = 24 * 3600 * 1000, .unit = UNIT_MS,
     .help = "How long an answer may take; also from SOJOURN_TIMEOUT_MS."},
    {0},
};

struct output_options {
    bool json;
};

const struct option output_option_table[] = {
    {.name = "Output", .type = OPTION_SECTION},
    {.name = "json", .type = OPTION_SWITCH, .offset = OPTION_FIELD(struct output_options, json, bool),
     .help = "Print the server's JSON as it is instead of a table."},
    {0},
};
/* clang-format on */

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

static enum status read_arguments(const struct remote *remote, const struct option *table, void *values,
                                  struct failure *failure)
{
    struct option_target target = {table, values, remote->arena, NULL};
    return options_read_arguments(&target, remote->invocation->arguments, failure);
}

static enum status read_options(struct remote *remote, const struct remote_setup *setup, struct failure *failure)
{
    struct output_options output = {0};
    struct option_target target = {remote_option_table, &remote->options, remote->arena, remote->origins};
    options_set_fallbacks(remote_option_table, &remote->options, remote->arena);
    enum status status = options_read_environment(&target, remote->invocation->environment, failure);
    if (status == STATUS_OK) {
        status = options_read_arguments(&target, remote->invocation->arguments, failure);
    }
    if (status == STATUS_OK) {
        status = read_arguments(remote, output_option_table, &output, failure);
    }
    if (status == STATUS_OK && setup->table) {
        options_set_fallbacks(setup->table, setup->values, remote->arena);
        status = read_arguments(remote, setup->table, setup->values, failure);
    }
    remote->wants_json = output.json;
    return status;
}

/* A token that others can read is no secret: better said than used. */
static enum status read_token_file(struct remote *remote, struct failure *failure)
{
    const char *path = remote->options.token_file;
    char text[TOKEN_FILE_BYTES_MAX];
    struct stat info;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t count = fd >= 0 && fstat(fd, &info) == 0 ? read(fd, text, sizeof text) : -1;
    int code = errno;
    if (fd >= 0) {
        close(fd);
    }
    if (count < 0) {
        return failure_set(failure, STATUS_INVALID, "token_file", "--token-file %s can't be read: %s", path,
                           strerror(code));
    }
    if (S_ISREG(info.st_mode) && (info.st_mode & 077) != 0) {
        return failure_set(failure, STATUS_INVALID, "token_file",
                           "--token-file %s can be read by others; make it private with chmod 600", path);
    }
    remote->options.token = arena_copy(remote->arena, slice_trim(slice_from(text, (size_t)count))).ptr;
    return STATUS_OK;
}

static enum option_origin origin_of(const struct remote *remote, const char *name)
{
    return remote->origins[option_find(remote_option_table, slice_of(name)) - remote_option_table];
}

/* Two options say the same: the one from the higher layer holds, whatever the other says; in one layer the token. */
static enum status read_token(struct remote *remote, struct failure *failure)
{
    enum option_origin token = origin_of(remote, "token"), file = origin_of(remote, "token-file");
    bool is_file = remote->options.token_file && (!remote->options.token || file > token);
    const char *name = is_file ? "token-file" : "token";
    remote->token_source =
        arena_format(remote->arena, "%s (%s)", name, option_origin_words.names[is_file ? file : token]).ptr;
    return is_file ? read_token_file(remote, failure) : STATUS_OK;
}

int remote_open(const struct invocation *invocation, const struct remote_setup *setup, struct remote *out)
{
    struct clock clock;
    struct failure failure;
    clock_init_system(&clock);
    *out = (struct remote){
        .invocation = invocation, .arena = invocation->arena, .now_ms = clock_wall_ms(&clock), .errors = stderr};
    enum status status = read_options(out, setup, &failure);
    status = status == STATUS_OK ? read_token(out, &failure) : status;
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
    enum status status = passed_to_query(remote->invocation->arguments, table, remote->arena, query, &failure);
    return status == STATUS_OK ? EXIT_DONE : command_refuse(remote->invocation->command, &failure);
}

int remote_members(struct remote *remote, const struct option *table, struct json_out *out)
{
    struct failure failure;
    enum status status = passed_to_body(remote->invocation->arguments, table, remote->arena, out, &failure);
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

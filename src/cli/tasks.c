#include <stdio.h>

#include "cli/client_commands.h"
#include "cli/confirm.h"
#include "cli/listed.h"
#include "cli/forwarded_options.h"
#include "cli/yaml_file.h"

struct run_options {
    const char *input;
};

/* clang-format off */
static const struct option list_table[] = {
    {.name = "Which tasks", .type = OPTION_SECTION},
    PASS_NUMBER("limit", 1, 1000, "Maximum number of results."),
    PASS_TEXT("after", "TASK", "Only tasks after this id."),
    {0},
};
static const struct option order_table[] = {
    {.name = "The run", .type = OPTION_SECTION},
    PASS_TEXT("entity-id", "ENTITY", "The entity it is about; results of the steps fill its fields."),
    {0},
};
static const struct option run_table[] = {
    {.name = "input", .type = OPTION_TEXT, .offset = OPTION_FIELD(struct run_options, input, const char *),
     .value = "JSON", .help = "Input for every step, a JSON object."},
    {0},
};
/* clang-format on */

const struct option *const tasks_list_tables[] = {list_table, output_option_table, remote_option_table, NULL};
const struct option *const tasks_run_tables[] = {order_table, run_table, output_option_table, remote_option_table,
                                                 NULL};
const struct option *const tasks_remove_tables[] = {confirm_table, output_option_table, remote_option_table, NULL};

static const struct table_column columns[] = {
    {"TASK", false, 0}, {"NAME", false, 1}, {"STEPS", true, 0}, {"VERSION", true, 0}, {"UPDATED", true, 0}, {0},
};
static const char *const keys[] = {"id", "name", "steps", "version", "updated_at"};
static const struct listed lists[] = {{"tasks", columns, keys, "no tasks; add one with: sojourn tasks create FILE"},
                                      {0}};

int command_tasks_list(const struct invocation *invocation)
{
    return listed_show_with(invocation, "/api/tasks", list_table, lists);
}

/* --- one task --- */

/* A value of JSON is one of YAML, so what is printed can be kept as a file and given back. */
static int print_task(struct remote *remote, const struct json *task, const void *detail)
{
    (void)remote;
    (void)detail;
    static const char *const members[] = {"id", "name", "description"};
    struct buffer text = {0};
    const struct json *steps = json_get(task, "steps");
    buffer_format(&text, "# version %lld\n", (long long)json_i64_of(task, "version"));
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        const struct json *value = json_get_value(task, members[i]);
        if (value) {
            buffer_format(&text, "%s: %.*s\n", members[i], SLICE_ARG(value->raw));
        }
    }
    buffer_add(&text, SLICE("steps:\n"));
    for (const struct json *step = steps ? steps->child : NULL; step; step = step->next) {
        buffer_format(&text, "  - %.*s\n", SLICE_ARG(step->raw));
    }
    int code = remote_print(buffer_slice(&text));
    buffer_release(&text);
    return code;
}

int command_tasks_show(const struct invocation *invocation)
{
    struct remote remote;
    int code = remote_open_plain(invocation, &remote);
    if (code == EXIT_DONE) {
        struct slice path = remote_path(&remote, "tasks", slice_of(invocation->arguments->positionals[0]), "");
        code = remote_show(&remote, &(struct client_request){.method = "GET", .target = path}, print_task, NULL);
    }
    remote_close(&remote);
    return code;
}

/* --- from a file --- */

static int print_version(struct remote *remote, const struct json *task, const void *detail)
{
    (void)detail;
    return remote_print_line(arena_format(remote->arena, "%.*s version %lld", SLICE_ARG(json_text_of(task, "id")),
                                          (long long)json_i64_of(task, "version")));
}

static int send_new(struct remote *remote, struct slice definition)
{
    struct client_request request = {.method = "POST", .target = SLICE("/api/tasks"), .body = definition};
    return remote_show(remote, &request, print_version, NULL);
}

/* The id stands in the path, all else is what changes. */
static int send_change(struct remote *remote, struct slice definition)
{
    const struct json *task = NULL;
    struct failure failure;
    struct buffer body = {0};
    struct json_out out = json_out_to(&body);
    bool named =
        json_parse(remote->arena, definition, &task, &failure) == STATUS_OK && slice_present(json_text_of(task, "id"));
    if (!named) {
        (void)failure_set(&failure, STATUS_INVALID, "bad_file",
                          "the file does not say which task it is; give it an id");
        return remote_fail(&failure);
    }
    json_begin_object(&out);
    for (const struct json *member = task->child; member; member = member->next) {
        if (!slice_is(member->key, "id")) {
            json_key_slice(&out, member->key);
            json_raw(&out, member->raw);
        }
    }
    json_end_object(&out);
    struct slice path = remote_path(remote, "tasks", json_text_of(task, "id"), "");
    struct client_request request = {.method = "PATCH", .target = path, .body = buffer_slice(&body)};
    int code = remote_show(remote, &request, print_version, NULL);
    buffer_release(&body);
    return code;
}

static int from_file(const struct invocation *invocation, int (*send)(struct remote *remote, struct slice definition))
{
    struct remote remote;
    struct slice definition;
    struct failure failure;
    int code = remote_open_plain(invocation, &remote);
    if (code == EXIT_DONE &&
        yaml_file_read(remote.arena, invocation->arguments->positionals[0], &definition, &failure) != STATUS_OK) {
        code = remote_fail(&failure);
    }
    if (code == EXIT_DONE) {
        code = send(&remote, definition);
    }
    remote_close(&remote);
    return code;
}

int command_tasks_create(const struct invocation *invocation)
{
    return from_file(invocation, send_new);
}

int command_tasks_update(const struct invocation *invocation)
{
    return from_file(invocation, send_change);
}

/* --- runs --- */

static const struct table_column step_columns[] = {
    {"STEP", false, 0}, {"SESSION", false, 0}, {"STATUS", false, 0}, {0}};

/* The session alone goes to standard output: it is what the next command needs. */
static int print_run(struct remote *remote, const struct json *run, const void *detail)
{
    (void)detail;
    struct table table;
    struct buffer text = {0};
    const struct json *steps = json_get(run, "steps");
    table_init(&table, step_columns, remote->arena);
    for (const struct json *step = steps ? steps->child : NULL; step; step = step->next) {
        table_add(&table, json_text_of(step, "step"));
        table_add(&table, json_text_of(step, "session_id"));
        table_add(&table, json_text_of(step, "status"));
    }
    int code = remote_print_line(json_text_of(json_get(run, "session"), "id"));
    table_write(&table, terminal_columns(stderr), terminal_has_colours(stderr), &text);
    (void)print_text(stderr, buffer_slice(&text));
    buffer_release(&text);
    return code;
}

static int write_order(struct remote *remote, const struct run_options *options, struct buffer *body)
{
    const struct json *input;
    struct failure failure;
    struct json_out out = json_out_to(body);
    json_begin_object(&out);
    int code = remote_members(remote, order_table, &out);
    if (code == EXIT_DONE && options->input) {
        if (json_parse(remote->arena, slice_of(options->input), &input, &failure) != STATUS_OK ||
            input->kind != JSON_OBJECT) {
            (void)failure_set(&failure, STATUS_INVALID, "bad_option",
                              "--input is not accepted; give an object of JSON, such as {\"city\": \"Oslo\"}");
            return command_refuse(remote->invocation->command, &failure);
        }
        json_put_raw(&out, "input", input->raw);
    }
    json_end_object(&out);
    return code;
}

int command_tasks_run(const struct invocation *invocation)
{
    struct remote remote;
    struct buffer body = {0};
    struct run_options options = {0};
    int code = remote_open(invocation, &(struct remote_setup){run_table, &options, -1, NULL}, &remote);
    if (code == EXIT_DONE) {
        code = write_order(&remote, &options, &body);
    }
    if (code == EXIT_DONE) {
        struct slice path = remote_path(&remote, "tasks", slice_of(invocation->arguments->positionals[0]), "/runs");
        struct client_request request = {.method = "POST", .target = path, .body = buffer_slice(&body)};
        code = remote_show(&remote, &request, print_run, NULL);
    }
    buffer_release(&body);
    remote_close(&remote);
    return code;
}

int command_tasks_remove(const struct invocation *invocation)
{
    return remote_do_each(invocation, &(struct remote_deed){.method = "DELETE",
                                                            .collection = "tasks",
                                                            .tail = "",
                                                            .done = "removed",
                                                            .verb = "Remove",
                                                            .rest = "so that it cannot be run any more?"});
}

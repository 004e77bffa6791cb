#include "cli/client_commands.h"
#include "cli/confirm.h"
#include "cli/listed.h"
#include "cli/forwarded_options.h"
#include "cli/yaml_file.h"

/* clang-format off */
static const struct option agents_list_table[] = {
    {.name = "Filters", .type = OPTION_SECTION},
    PASS_NUMBER("limit", 1, 1000, "Maximum number of results."),
    PASS_TEXT("after", "AGENT", "Only agents after this id."),
    {0},
};
static const struct option agents_show_table[] = {
    PASS_NUMBER("version", 1, INT64_MAX, "This version. Default: the latest."),
    {0},
};
/* clang-format on */

const struct option *const agents_list_tables[] = {agents_list_table, output_option_table, remote_option_table, NULL};
const struct option *const agents_show_tables[] = {agents_show_table, output_option_table, remote_option_table, NULL};
const struct option *const agents_remove_tables[] = {confirm_table, output_option_table, remote_option_table, NULL};

static const struct table_column agent_columns[] = {
    {"AGENT", false, 0}, {"VERSION", true, 0}, {"DRIVER", false, 0}, {"MODEL", false, 1},
    {"NAME", false, 2},  {"SOURCE", false, 0}, {"CREATED", true, 0}, {0},
};
static const char *const agent_keys[] = {"id", "version", "driver", "model", "name", "source", "created_at"};
static const struct listed agent_lists[] = {
    {"agents", agent_columns, agent_keys, "no agents; add one with: sojourn agents push FILE"}, {0}};

int command_agents_list(const struct invocation *invocation)
{
    return listed_show_with(invocation, "/api/agents", agents_list_table, agent_lists);
}

/* --- one agent --- */

/* A value of JSON is one of YAML, so what is printed can be kept as a file and pushed. */
static int print_definition(struct remote *remote, const struct json *agent, const void *detail)
{
    (void)remote;
    (void)detail;
    struct buffer text = {0};
    const struct json *definition = json_get_value(agent, "definition");
    buffer_format(&text, "# version %lld, %.*s", (long long)json_i64_of(agent, "version"),
                  SLICE_ARG(json_text_of(agent, "source")));
    for (const struct json *member = definition ? definition->child : NULL; member; member = member->next) {
        buffer_format(&text, "\n%.*s: %.*s", SLICE_ARG(member->key), SLICE_ARG(member->raw));
    }
    int code = remote_print_line(buffer_slice(&text));
    buffer_release(&text);
    return code;
}

int command_agents_show(const struct invocation *invocation)
{
    struct remote remote;
    struct buffer query = {0};
    int code = remote_open_plain(invocation, &remote);
    if (code == EXIT_DONE) {
        code = remote_query(&remote, agents_show_table, &query);
    }
    if (code == EXIT_DONE) {
        struct slice path = remote_path(&remote, "agents", slice_of(invocation->arguments->positionals[0]), "");
        struct client_request request = {.method = "GET", .target = remote_target(&remote, path, &query)};
        code = remote_show(&remote, &request, print_definition, NULL);
    }
    buffer_release(&query);
    remote_close(&remote);
    return code;
}

/* --- push --- */

static int print_pushed(struct remote *remote, const struct json *agent, const void *detail)
{
    (void)detail;
    return remote_print_line(arena_format(remote->arena, "%.*s version %lld", SLICE_ARG(json_text_of(agent, "id")),
                                          (long long)json_i64_of(agent, "version")));
}

int command_agents_push(const struct invocation *invocation)
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
        struct client_request request = {.method = "POST", .target = SLICE("/api/agents"), .body = definition};
        code = remote_show(&remote, &request, print_pushed, NULL);
    }
    remote_close(&remote);
    return code;
}

int command_agents_remove(const struct invocation *invocation)
{
    return remote_do_each(invocation, &(struct remote_deed){.method = "DELETE",
                                                            .collection = "agents",
                                                            .tail = "",
                                                            .done = "removed",
                                                            .verb = "Remove",
                                                            .rest = "so that no new session gets it?"});
}

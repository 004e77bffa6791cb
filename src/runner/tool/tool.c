#include "runner/tool/tool.h"

#include "runner/tool/tool_call.h"
#include "wire/json_schema.h"

enum { KIB = 1024, MIB = 1024 * 1024, SECOND = 1000 };

const struct tool_settings tool_settings_usual = {
    .result_bytes_max = 50 * KIB,
    .result_lines_max = 2000,
    .read_bytes_max = 10 * MIB,
    .write_bytes_max = 10 * MIB,
    .list_entries_max = 2000,
    .search_files_max = 50000,
    .search_matches_max = 1000,
    .search_ms_max = 20 * SECOND,
    .command_bytes_max = 10 * MIB,
    .command_ms_max = 120 * SECOND,
    .http_bytes_max = 5 * MIB,
    .http_ms_max = 30 * SECOND,
};

/* How each is run; what it is, its file in domain/tools says. */
const struct tool tools[] = {
    {&tool_specs[TOOL_READ_FILE], read_file_run, tool_job_cancel},
    {&tool_specs[TOOL_WRITE_FILE], write_file_run, tool_job_cancel},
    {&tool_specs[TOOL_EDIT_FILE], edit_file_run, tool_job_cancel},
    {&tool_specs[TOOL_LIST_DIRECTORY], list_directory_run, tool_job_cancel},
    {&tool_specs[TOOL_SEARCH_FILES], search_files_run, tool_job_cancel},
    {&tool_specs[TOOL_RUN_COMMAND], run_command_run, tool_process_cancel},
    {&tool_specs[TOOL_GIT_STATUS], git_status_run, tool_process_cancel},
    {&tool_specs[TOOL_GIT_DIFF], git_diff_run, tool_process_cancel},
    {&tool_specs[TOOL_GIT_COMMIT], git_commit_run, tool_process_cancel},
    {&tool_specs[TOOL_HTTP_REQUEST], http_request_run, http_request_cancel},
    {&tool_specs[TOOL_ASK_USER], NULL, NULL},
    {&tool_specs[TOOL_REQUEST_APPROVAL], NULL, NULL},
    {&tool_specs[TOOL_SPAWN_SESSION], service_run, service_cancel},
    {&tool_specs[TOOL_SESSION_STATUS], service_run, service_cancel},
    {&tool_specs[TOOL_SAVE_SNAPSHOT], service_run, service_cancel},
    {&tool_specs[TOOL_SET_TITLE], service_run, service_cancel},
    {&tool_specs[TOOL_MEMORY_RECALL], service_run, service_cancel},
    {&tool_specs[TOOL_MEMORY_ADD], service_run, service_cancel},
    {&tool_specs[TOOL_MEMORY_UPDATE], service_run, service_cancel},
    {&tool_specs[TOOL_MEMORY_DELETE], service_run, service_cancel},
    {&tool_specs[TOOL_WORKING_MEMORY_UPDATE], service_run, service_cancel},
    {&tool_specs[TOOL_SESSION_DESCRIPTION_UPDATE], service_run, service_cancel},
    {NULL, NULL, NULL},
};

const struct tool *tool_find(struct slice name)
{
    for (const struct tool *tool = tools; tool->spec; tool++) {
        if (slice_is(name, tool->spec->name)) {
            return tool;
        }
    }
    return NULL;
}

enum status tool_check(const struct tool *tool, const struct json *arguments, struct failure *failure)
{
    struct arena arena = {0};
    const struct json *schema;
    enum status status = json_parse(&arena, slice_of(tool->spec->schema), &schema, failure);
    if (status == STATUS_OK) {
        status = json_schema_validate(schema, arguments, failure);
    }
    arena_release(&arena);
    return status;
}

/* The path a call names, absolute; absent for tools without one. */
static struct slice path_named(struct arena *arena, const struct tool_place *place, const struct tool *tool,
                               const struct json *arguments)
{
    struct path_scope scope;
    struct slice path;
    if (!tool->spec->path_argument) {
        return (struct slice){0};
    }
    path = json_text_of(arguments, tool->spec->path_argument);
    tool_scope(place, &scope);
    return path_absolute(arena, &scope, slice_present(path) ? path : SLICE("."));
}

struct call_place tool_call_place(const struct path_scope *scope)
{
    bool has_tree = slice_present(scope->tree);
    struct slice outside = has_tree ? scope->tree : scope->workspace;
    struct slice inside = slice_present(scope->mount) ? scope->mount : outside;
    return (struct call_place){.directory = inside, .inside = inside, .outside = outside};
}

static enum permission otherwise_of(const struct tool_place *place, const struct tool *tool)
{
    bool writes_outside = tool->spec->risk == RISK_WRITE_FILES && place->agent->fs_scope != FS_SCOPE_SANDBOXED;
    return writes_outside ? PERMISSION_ASK : tool->spec->permission;
}

void tool_facts(struct arena *arena, const struct tool_place *place, const struct tool *tool,
                const struct json *arguments, struct call_facts *out)
{
    struct path_scope scope;
    struct slice *paths = arena_array(arena, 1, sizeof *paths);
    tool_scope(place, &scope);
    paths[0] = path_named(arena, place, tool, arguments);
    *out = (struct call_facts){
        .tool = slice_of(tool->spec->name),
        .arguments = arguments ? arguments->raw : (struct slice){0},
        .needs_name = otherwise_of(place, tool) == PERMISSION_ASK,
        .place = tool_call_place(&scope),
        .paths = paths,
        .path_count = slice_present(paths[0]) ? 1 : 0,
    };
}

enum permission tool_permission(const struct tool_place *place, const struct tool *tool, const struct json *arguments)
{
    struct arena arena = {0};
    struct call_facts facts;
    if (!agent_has_tool(place->agent, slice_of(tool->spec->name))) {
        return PERMISSION_DENY;
    }
    tool_facts(&arena, place, tool, arguments, &facts);
    enum permission permission = agent_permission(place->agent, &facts, otherwise_of(place, tool));
    arena_release(&arena);
    return permission;
}

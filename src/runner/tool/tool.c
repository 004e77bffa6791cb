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

#define OBJECT(properties, required)                                                                                   \
    "{\"type\":\"object\",\"properties\":{" properties "},\"required\":[" required "],\"additionalProperties\":false}"
#define TEXT(name, about) "\"" name "\":{\"type\":\"string\",\"minLength\":1,\"description\":\"" about "\"}"
#define ANY_TEXT(name, about) "\"" name "\":{\"type\":\"string\",\"description\":\"" about "\"}"
#define YES_NO(name, about) "\"" name "\":{\"type\":\"boolean\",\"description\":\"" about "\"}"
#define NUMBER(name, most, about)                                                                                      \
    "\"" name "\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":" most ",\"description\":\"" about "\"}"
#define TEXTS(name, most, about)                                                                                       \
    "\"" name "\":{\"type\":\"array\",\"items\":{\"type\":\"string\",\"minLength\":1},\"maxItems\":" most              \
    ",\"description\":\"" about "\"}"

const struct tool tools[] = {
    {
        .name = "read_file",
        .description = "Reads a text file, or some of its lines. A result that was too long to be shown whole can be "
                       "read by the name it was given (result:…).",
        .schema =
            OBJECT(TEXT("path", "Relative to the tree.") "," NUMBER(
                       "offset", "1000000000", "First line, from 1.") "," NUMBER("limit", "1000000", "How many lines."),
                   "\"path\""),
        .risk = RISK_READ,
        .fallback = PERMISSION_ALLOW,
        .path_argument = "path",
        .run = read_file_run,
        .cancel = tool_job_cancel,
    },
    {
        .name = "write_file",
        .description = "Writes a text file whole; makes missing directories.",
        .schema = OBJECT(TEXT("path", "Relative to the tree.") "," ANY_TEXT("content", "All of the file."),
                         "\"path\",\"content\""),
        .risk = RISK_FS_WRITE,
        .fallback = PERMISSION_ALLOW,
        .path_argument = "path",
        .run = write_file_run,
        .cancel = tool_job_cancel,
    },
    {
        .name = "edit_file",
        .description = "Replaces a piece of a text file. The old text must occur exactly once, unless replace_all.",
        .schema = OBJECT(
            TEXT("path", "Relative to the tree.") "," TEXT(
                "old", "To the byte as it stands in the "
                       "file.") "," ANY_TEXT("new", "What comes instead.") "," YES_NO("replace_all",
                                                                                      "Every place, not only one."),
            "\"path\",\"old\",\"new\""),
        .risk = RISK_FS_WRITE,
        .fallback = PERMISSION_ALLOW,
        .path_argument = "path",
        .run = edit_file_run,
        .cancel = tool_job_cancel,
    },
    {
        .name = "list_directory",
        .description = "Lists the entries of a directory with their sizes.",
        .schema = OBJECT(TEXT("path", "Relative to the tree; without it, the tree itself."), ""),
        .risk = RISK_READ,
        .fallback = PERMISSION_ALLOW,
        .path_argument = "path",
        .run = list_directory_run,
        .cancel = tool_job_cancel,
    },
    {
        .name = "search_files",
        .description =
            "Finds lines in the text files of a tree: FILE:LINE:TEXT. Binary files and .git are passed over.",
        .schema = OBJECT(
            TEXT("pattern", "Text, or a regular expression.") "," YES_NO(
                "regex",
                "The pattern is a regular "
                "expression.") "," YES_NO("ignore_case",
                                          "Also in other case.") "," TEXT("path",
                                                                          "Where; without it, the whole "
                                                                          "tree.") "," TEXT("files",
                                                                                            "Only files of "
                                                                                            "such names, as "
                                                                                            "*.c.") "," NUMBER("limit",
                                                                                                               "100000",
                                                                                                               "How "
                                                                                                               "many "
                                                                                                               "lines "
                                                                                                               "at "
                                                                                                               "most."),
            "\"pattern\""),
        .risk = RISK_READ,
        .fallback = PERMISSION_ALLOW,
        .path_argument = "path",
        .run = search_files_run,
        .cancel = tool_job_cancel,
    },
    {
        .name = "run_command",
        .description = "Runs one of the commands this agent may run, without a shell: words and quotes only, no pipes, "
                       "redirections, variables or wildcards.",
        .schema = OBJECT(TEXT("command", "The whole line.") "," TEXT("directory", "Where in the sandbox.") "," NUMBER(
                             "timeout_ms", "86400000", "Shorter than the limit."),
                         "\"command\""),
        .risk = RISK_PROCESS,
        .fallback = PERMISSION_ALLOW,
        .run = run_command_run,
        .cancel = tool_process_cancel,
    },
    {
        .name = "git_status",
        .description = "What changed in the repository, in short.",
        .schema = OBJECT("", ""),
        .risk = RISK_READ,
        .fallback = PERMISSION_ALLOW,
        .run = git_status_run,
        .cancel = tool_process_cancel,
    },
    {
        .name = "git_diff",
        .description = "The differences in the repository: not yet staged, staged, or against a revision.",
        .schema = OBJECT(YES_NO("staged", "What is staged.") "," TEXT(
                             "revision", "A commit, branch or range.") "," TEXT("path", "Only this file or directory."),
                         ""),
        .risk = RISK_READ,
        .fallback = PERMISSION_ALLOW,
        .path_argument = "path",
        .run = git_diff_run,
        .cancel = tool_process_cancel,
    },
    {
        .name = "git_commit",
        .description = "Stages the paths (without any: everything) and commits. No hooks are run.",
        .schema = OBJECT(TEXT("message", "Of the commit.") "," TEXTS("paths", "200", "What goes in."), "\"message\""),
        .risk = RISK_FS_WRITE,
        .fallback = PERMISSION_ASK,
        .run = git_commit_run,
        .cancel = tool_process_cancel,
    },
    {
        .name = "http_request",
        .description = "Calls one of the hosts this agent may call, over https.",
        .schema = OBJECT(
            TEXT("url", "https://…") ",\"method\":{\"enum\":[\"GET\",\"HEAD\",\"POST\",\"PUT\",\"PATCH\",\"DELETE\"],"
                                     "\"description\":\"GET when not given.\"},\"headers\":{\"type\":\"object\","
                                     "\"maxProperties\":32,\"additionalProperties\":{\"type\":\"string\"}}," ANY_TEXT(
                                         "body", "Sent as it is."),
            "\"url\""),
        .risk = RISK_EGRESS,
        .fallback = PERMISSION_ALLOW,
        .run = http_request_run,
        .cancel = http_request_cancel,
    },
    {
        .name = "ask_user",
        .description = "Asks the people of this session a question and waits for the answer.",
        .schema =
            OBJECT(TEXT("question", "One or two sentences.") "," TEXTS("options", "20", "Answers to choose from."),
                   "\"question\""),
        .risk = RISK_READ,
        .fallback = PERMISSION_ALLOW,
        .asks = true,
    },
    {
        .name = "request_approval",
        .description = "Asks the people of this session to approve something before it is done.",
        .schema = OBJECT(TEXT("action", "What is going to be done.") "," ANY_TEXT("details", "Why, and what follows."),
                         "\"action\""),
        .risk = RISK_READ,
        .fallback = PERMISSION_ALLOW,
        .asks = true,
    },
    {
        .name = "spawn_session",
        .description = "Starts a child session with a task of its own; session_status tells what became of it.",
        .schema = OBJECT(TEXT("prompt", "What the child is to do.") "," TEXT(
                             "agent", "Which agent; without it, the same.") "," TEXT("title", "Of the child."),
                         "\"prompt\""),
        .risk = RISK_OS,
        .fallback = PERMISSION_ALLOW,
        .run = service_run,
        .cancel = service_cancel,
    },
    {
        .name = "session_status",
        .description = "The state of a child session, or of this one.",
        .schema = OBJECT(TEXT("session_id", "A child; without it, this session."), ""),
        .risk = RISK_READ,
        .fallback = PERMISSION_ALLOW,
        .run = service_run,
        .cancel = service_cancel,
    },
    {
        .name = "save_snapshot",
        .description = "Keeps the files of the sandbox as they are now.",
        .schema = OBJECT(TEXT("name", "For people."), ""),
        .risk = RISK_OS,
        .fallback = PERMISSION_ALLOW,
        .run = service_run,
        .cancel = service_cancel,
    },
    {
        .name = "set_title",
        .description = "Gives this session a title.",
        .schema = OBJECT("\"title\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":200}", "\"title\""),
        .risk = RISK_READ,
        .fallback = PERMISSION_ALLOW,
        .run = service_run,
        .cancel = service_cancel,
    },
    {
        .name = "memory_recall",
        .description = "What you remember, with the ids of the memories.",
        .schema = OBJECT(TEXT("query", "Only those with this text in them."), ""),
        .risk = RISK_READ,
        .fallback = PERMISSION_ALLOW,
        .run = service_run,
        .cancel = service_cancel,
    },
    {
        .name = "memory_add",
        .description = "Remembers one fact beyond this session.",
        .schema = OBJECT(TEXT("text", "The fact, short and complete."), "\"text\""),
        .risk = RISK_OS,
        .fallback = PERMISSION_ALLOW,
        .run = service_run,
        .cancel = service_cancel,
    },
    {
        .name = "memory_update",
        .description = "Replaces one memory.",
        .schema = OBJECT(TEXT("id", "Of the memory.") "," TEXT("text", "What it says from now on."), "\"id\",\"text\""),
        .risk = RISK_OS,
        .fallback = PERMISSION_ALLOW,
        .run = service_run,
        .cancel = service_cancel,
    },
    {
        .name = "memory_delete",
        .description = "Forgets one memory.",
        .schema = OBJECT(TEXT("id", "Of the memory."), "\"id\""),
        .risk = RISK_OS,
        .fallback = PERMISSION_ALLOW,
        .run = service_run,
        .cancel = service_cancel,
    },
    {
        .name = "working_memory_update",
        .description = "Replaces the notes that go with this session.",
        .schema = OBJECT(ANY_TEXT("text", "All of the notes."), "\"text\""),
        .risk = RISK_OS,
        .fallback = PERMISSION_ALLOW,
        .run = service_run,
        .cancel = service_cancel,
    },
    {
        .name = "session_description_update",
        .description = "Says in a sentence what this session is about.",
        .schema = OBJECT(TEXT("description", "For a list."), "\"description\""),
        .risk = RISK_OS,
        .fallback = PERMISSION_ALLOW,
        .run = service_run,
        .cancel = service_cancel,
    },
    {.name = NULL},
};

const struct tool *tool_find(struct slice name)
{
    for (const struct tool *tool = tools; tool->name; tool++) {
        if (slice_is(name, tool->name)) {
            return tool;
        }
    }
    return NULL;
}

enum status tool_check(const struct tool *tool, const struct json *arguments, struct failure *failure)
{
    struct arena arena = {0};
    const struct json *schema;
    enum status status = json_parse(&arena, slice_of(tool->schema), &schema, failure);
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
    if (!tool->path_argument) {
        return (struct slice){0};
    }
    path = json_text_of(arguments, tool->path_argument);
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
    bool writes_outside = tool->risk == RISK_FS_WRITE && place->agent->fs_scope != FS_SCOPE_SANDBOXED;
    return writes_outside ? PERMISSION_ASK : tool->fallback;
}

void tool_facts(struct arena *arena, const struct tool_place *place, const struct tool *tool,
                const struct json *arguments, struct call_facts *out)
{
    struct path_scope scope;
    struct slice *paths = arena_array(arena, 1, sizeof *paths);
    tool_scope(place, &scope);
    paths[0] = path_named(arena, place, tool, arguments);
    *out = (struct call_facts){
        .tool = slice_of(tool->name),
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
    if (!agent_has_tool(place->agent, slice_of(tool->name))) {
        return PERMISSION_DENY;
    }
    tool_facts(&arena, place, tool, arguments, &facts);
    enum permission permission = agent_permission(place->agent, &facts, otherwise_of(place, tool));
    arena_release(&arena);
    return permission;
}

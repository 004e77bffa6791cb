/* A registry of tools that do nothing: the real one is not linked. */

#include "runner/tool/tool.h"

static void *run_echo(const struct tool_place *place, const struct tool_call *call, struct tool_done then)
{
    struct slice text = json_text_of(call->arguments, "text");
    struct tool_result result = {.text = text, .bytes = (int64_t)text.len};
    (void)place;
    then.done(then.owner, &result);
    return NULL;
}

static void *run_fail(const struct tool_place *place, const struct tool_call *call, struct tool_done then)
{
    struct tool_result result = {.is_error = true, .error = TURN_TOOL_FAILED, .text = SLICE("it broke"), .bytes = 8};
    (void)place;
    (void)call;
    then.done(then.owner, &result);
    return NULL;
}

int slow_runs, slow_cancels;

static void *run_slow(const struct tool_place *place, const struct tool_call *call, struct tool_done then)
{
    (void)place;
    (void)call;
    (void)then;
    slow_runs++;
    return &slow_runs;
}

static void cancel_slow(void *running)
{
    (void)running;
    slow_cancels++;
}

#define TEXT_SCHEMA "{\"type\":\"object\",\"properties\":{\"text\":{\"type\":\"string\"}},\"required\":[\"text\"]}"

static const struct tool_spec specs[] = {
    {.name = "echo", .description = "Says it again.", .schema = TEXT_SCHEMA},
    {.name = "fail", .description = "Fails.", .schema = "{\"type\":\"object\"}"},
    {.name = "slow", .description = "Never ends.", .schema = "{\"type\":\"object\"}", .risk = RISK_PROCESS},
    {.name = "write",
     .description = "Writes.",
     .schema = TEXT_SCHEMA,
     .risk = RISK_WRITE_FILES,
     .permission = PERMISSION_ASK,
     .path_argument = "path"},
    {.name = "ask_user", .description = "Asks.", .schema = "{\"type\":\"object\"}", .runs = TOOL_RUNS_PERSON},
};

const struct tool tools[] = {
    {&specs[0], run_echo, NULL}, {&specs[1], run_fail, NULL}, {&specs[2], run_slow, cancel_slow},
    {&specs[3], run_echo, NULL}, {&specs[4], NULL, NULL},     {NULL, NULL, NULL},
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
    if (strstr(tool->spec->schema, "required") && !json_is(json_get(arguments, "text"), JSON_STRING)) {
        return failure_set(failure, STATUS_INVALID, "invalid_arguments", "`text` is missing; it must be a text.");
    }
    return STATUS_OK;
}

void tool_facts(struct arena *arena, const struct tool_place *place, const struct tool *tool,
                const struct json *arguments, struct call_facts *out)
{
    (void)arena;
    (void)place;
    *out = (struct call_facts){.tool = slice_of(tool->spec->name), .arguments = arguments->raw};
}

enum permission tool_permission(const struct tool_place *place, const struct tool *tool, const struct json *arguments)
{
    struct call_facts facts;
    tool_facts(NULL, place, tool, arguments, &facts);
    return agent_permission(place->agent, &facts, tool->spec->permission);
}

void tool_ask(const struct tool *tool, const struct tool_call *call, struct ask *out)
{
    *out = (struct ask){.kind = ASK_QUESTION, .tool = slice_of(tool->spec->name)};
    out->text = json_text_of(call->arguments, "question");
    out->options = json_raw_of(call->arguments, "options");
}

void tool_answered(struct arena *arena, const struct ask *ask, struct tool_result *out)
{
    *out = (struct tool_result){.text = arena_copy(arena, ask->answer), .bytes = (int64_t)ask->answer.len};
}

struct slice tool_fence(struct arena *arena, struct slice name, struct slice text)
{
    return arena_format(arena, "<fence %.*s>%.*s</fence>", SLICE_ARG(name), SLICE_ARG(text));
}

#include "runner/tool/agent_names.h"

#include "domain/agent_fields.h"
#include "runner/tool/gateway_template.h"
#include "runner/tool/tool.h"

/* What is named must be there: a name that means nothing would forbid nothing. */

static struct slice names_of(struct arena *arena, bool of_gateway)
{
    struct slice list = SLICE("");
    for (int id = 0; id < TOOL_COUNT; id++) {
        const struct tool_spec *tool = &tool_specs[id];
        if (of_gateway ? tool->for_gateway : tool->for_model) {
            list = arena_format(arena, "%.*s%s%s", SLICE_ARG(list), list.len > 0 ? ", " : "", tool->name);
        }
    }
    return list;
}

static bool any_tool_matches(struct slice pattern)
{
    for (const struct tool *tool = tools; tool->spec; tool++) {
        if (agent_glob_matches(pattern, slice_of(tool->spec->name))) {
            return true;
        }
    }
    return false;
}

static enum status refuse(struct failure *failure, const char *where, struct slice name, struct slice accepted)
{
    return failure_set(failure, STATUS_INVALID, "unknown_tool", "`%s` names %.*s, which is not a tool; accepted: %.*s.",
                       where, SLICE_ARG(slice_utf8_prefix(name, 100)), SLICE_ARG(accepted));
}

/* Of other drivers only the agent itself knows the tools. */
static enum status check_tools(struct arena *arena, const struct agent *agent, struct failure *failure)
{
    for (size_t i = 0; i < agent->tool_count; i++) {
        if (!tool_find(agent->tools[i])) {
            return refuse(failure, "tools", agent->tools[i], names_of(arena, false));
        }
    }
    for (size_t i = 0; i < agent->permission_count; i++) {
        struct slice tool = agent->permissions[i].tool;
        if (slice_present(tool) && !any_tool_matches(tool)) {
            return refuse(failure, "permissions", tool, names_of(arena, false));
        }
    }
    return STATUS_OK;
}

enum status agent_check_names(const struct agent *agent, struct failure *failure)
{
    struct arena arena = {0};
    enum status status = agent_check_rules(agent, failure);
    if (status == STATUS_OK && agent->driver == DRIVER_MODEL) {
        status = check_tools(&arena, agent, failure);
    }
    for (size_t i = 0; i < agent->gateway_tool_count && status == STATUS_OK; i++) {
        if (!gateway_tool_find(agent->gateway_tools[i])) {
            status = refuse(failure, "gateway_tools", agent->gateway_tools[i], names_of(&arena, true));
        }
    }
    arena_release(&arena);
    return status;
}

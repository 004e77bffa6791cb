#include "domain/agent_fields.h"

#include <stdio.h>

static enum status refuse_wider(struct failure *failure, const char *key, const char *why)
{
    return failure_set(failure, STATUS_INVALID, "widens_agent",
                       "`agent_config.%s` %s; a session can only narrow what its agent may do.", key, why);
}

static bool same_text(struct slice mine, struct slice asked)
{
    return slice_eq(mine, asked);
}

/* Lists whose entries must all be covered by an entry of the agent's. */
static const struct {
    const char *key;
    size_t list, count;
    bool (*covers)(struct slice mine, struct slice asked);
} lists[] = {
    {"tools", offsetof(struct agent, tools), offsetof(struct agent, tool_count), same_text},
    {"commands", offsetof(struct agent, commands), offsetof(struct agent, command_count), agent_glob_matches},
    {"hosts", offsetof(struct agent, hosts), offsetof(struct agent, host_count), same_text},
};

static const struct slice *list_of(const struct agent *agent, size_t at, size_t *out_count)
{
    *out_count = *(const size_t *)((const char *)agent + lists[at].count);
    return *(const struct slice *const *)((const char *)agent + lists[at].list);
}

static bool is_covered(const struct agent *agent, size_t at, struct slice asked)
{
    size_t count;
    const struct slice *mine = list_of(agent, at, &count);
    for (size_t i = 0; i < count; i++) {
        if (lists[at].covers(mine[i], asked)) {
            return true;
        }
    }
    return false;
}

static enum status narrow_lists(const struct json *narrower, const struct agent *asked, struct agent *agent,
                                struct failure *failure)
{
    for (size_t at = 0; at < sizeof lists / sizeof lists[0]; at++) {
        if (!json_get_value(narrower, lists[at].key)) {
            continue;
        }
        size_t count;
        const struct slice *items = list_of(asked, at, &count);
        for (size_t i = 0; i < count; i++) {
            if (!is_covered(agent, at, items[i])) {
                char why[200];
                snprintf(why, sizeof why, "names %.*s, which the agent does not have",
                         SLICE_ARG(slice_utf8_prefix(items[i], 100)));
                return refuse_wider(failure, lists[at].key, why);
            }
        }
        *(const struct slice **)((char *)agent + lists[at].list) = items;
        *(size_t *)((char *)agent + lists[at].count) = count;
    }
    return STATUS_OK;
}

static enum status narrow_numbers(const struct json *narrower, const struct agent *asked, struct agent *agent,
                                  struct failure *failure)
{
    const struct {
        const char *key;
        int64_t asked, *mine;
    } numbers[] = {
        {"turns_max", asked->turns_max, &agent->turns_max},
        {"tool_rounds_max", asked->tool_rounds_max, &agent->tool_rounds_max},
        {"cost_microcents_max", asked->cost_microcents_max, &agent->cost_microcents_max},
        {"ask_expiry_ms", asked->ask_expiry_ms, &agent->ask_expiry_ms},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        if (!json_get_value(narrower, numbers[i].key)) {
            continue;
        }
        if (*numbers[i].mine && numbers[i].asked > *numbers[i].mine) {
            char why[80];
            snprintf(why, sizeof why, "is more than the agent's %lld", (long long)*numbers[i].mine);
            return refuse_wider(failure, numbers[i].key, why);
        }
        *numbers[i].mine = numbers[i].asked;
    }
    return STATUS_OK;
}

static enum status narrow_reach(const struct json *narrower, const struct agent *asked, struct agent *agent,
                                struct failure *failure)
{
    if (json_get_value(narrower, "fs_scope")) {
        if (asked->fs_scope > agent->fs_scope) {
            return refuse_wider(failure, "fs_scope", "is wider than the agent's");
        }
        agent->fs_scope = asked->fs_scope;
    }
    if (json_get_value(json_get(narrower, "sandbox"), "network")) {
        if (asked->sandbox.network && !agent->sandbox.network) {
            return refuse_wider(failure, "sandbox.network", "is switched off for the agent");
        }
        agent->sandbox.network = asked->sandbox.network;
    }
    return STATUS_OK;
}

static enum status add_rules(struct arena *arena, const struct agent *asked, struct agent *agent,
                             struct failure *failure)
{
    for (size_t i = 0; i < asked->permission_count; i++) {
        if (asked->permissions[i].then == PERMISSION_ALLOW) {
            return refuse_wider(failure, "permissions", "has a rule that allows; give ask or deny");
        }
    }
    size_t count = agent->permission_count + asked->permission_count;
    struct permission_rule *rules = arena_array(arena, count + 1, sizeof *rules);
    for (size_t i = 0; i < count; i++) {
        bool own = i < agent->permission_count;
        rules[i] = own ? agent->permissions[i] : asked->permissions[i - agent->permission_count];
    }
    agent->permissions = rules;
    agent->permission_count = count;
    agent->narrower_count += asked->permission_count;
    return STATUS_OK;
}

enum status agent_narrow(struct arena *arena, const struct json *narrower, struct agent *agent, struct failure *failure)
{
    struct agent_source source = {.object = narrower};
    struct agent_reader reader = {arena, &source, "invalid_agent_config", failure};
    struct agent asked = {0}, result = *agent;
    enum status status = agent_read_members(&reader, narrower, narrow_fields, "agent_config.", &asked);
    if (status == STATUS_OK) {
        status = narrow_lists(narrower, &asked, &result, failure);
    }
    if (status == STATUS_OK) {
        status = narrow_numbers(narrower, &asked, &result, failure);
    }
    if (status == STATUS_OK) {
        status = narrow_reach(narrower, &asked, &result, failure);
    }
    if (status == STATUS_OK) {
        status = add_rules(arena, &asked, &result, failure);
    }
    if (status == STATUS_OK) {
        *agent = result;
    }
    return status;
}

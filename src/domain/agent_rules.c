#include "domain/agent_fields.h"

static bool has_wildcard(struct slice pattern)
{
    return slice_present(pattern) && memchr(pattern.ptr, '*', pattern.len);
}

static bool leads_up(struct slice path)
{
    struct slice part;
    while (path.len > 0) {
        slice_cut(path, '/', &part, &path);
        if (slice_is(part, "..")) {
            return true;
        }
    }
    return false;
}

static bool is_host_pattern(struct slice host)
{
    for (size_t i = 0; i < host.len; i++) {
        char c = host.ptr[i];
        if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || strchr("-._*", c))) {
            return false;
        }
    }
    return true;
}

/* NULL when the rule can do what it says. */
static const char *rule_problem(const struct permission_rule *rule)
{
    bool is_json = slice_starts(slice_trim(rule->argument), SLICE("{"));
    if (slice_present(rule->path) && leads_up(rule->path)) {
        return "`path` must not hold \"..\": give it absolute, or relative to the tree";
    }
    if (slice_present(rule->host) && !is_host_pattern(rule->host)) {
        return "`host` must be the name of a host in lower case, \"*\" for any text, without scheme, port or path";
    }
    if (rule->then == PERMISSION_ALLOW && is_json && has_wildcard(rule->argument)) {
        return "`argument` of a rule that allows is JSON that the arguments must equal; for a pattern give `command`, "
               "`path` or `host`";
    }
    return NULL;
}

enum status agent_check_rules(const struct agent *agent, struct failure *failure)
{
    for (size_t i = 0; i < agent->permission_count; i++) {
        const char *problem = rule_problem(&agent->permissions[i]);
        if (problem) {
            return failure_set(failure, STATUS_INVALID, "invalid_agent", "`permissions[%zu]`: %s.", i, problem);
        }
    }
    return STATUS_OK;
}

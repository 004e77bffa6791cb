#include "domain/agent_fields.h"
#include "domain/call_subject.h"

/* Every rule about a call is compared with its subjects here. */
struct asked_call {
    struct arena *arena;
    struct call_subject about;
};

static bool is_json_pattern(struct slice pattern)
{
    return slice_starts(slice_trim(pattern), SLICE("{"));
}

static bool any_form_matches(struct slice pattern, const struct call_subject *about)
{
    for (size_t i = 0; about->has_command && i < about->command.count; i++) {
        if (call_command_matches(pattern, about->command.forms[i].text)) {
            return true;
        }
    }
    return false;
}

/* --- rules that tighten --- */

enum meaning { NOT_MEANT, MAY_BE_MEANT, MEANT };

static enum meaning tool_meaning(struct slice pattern, const struct call_subject *about)
{
    for (size_t i = 0; i < about->name_count; i++) {
        if (agent_glob_matches_nocase(pattern, about->names[i])) {
            return MEANT;
        }
    }
    return NOT_MEANT;
}

static bool any_string_matches(struct slice pattern, const struct json *value)
{
    if (json_is(value, JSON_STRING)) {
        return agent_glob_matches(pattern, value->text);
    }
    for (const struct json *child = value->child; child; child = child->next) {
        if (any_string_matches(pattern, child)) {
            return true;
        }
    }
    return false;
}

static bool equals_json(const struct asked_call *call, struct slice text)
{
    const struct json *value;
    return call->about.arguments && is_json_pattern(text) && json_parse(call->arena, text, &value, NULL) == STATUS_OK &&
           json_equal(value, call->about.arguments);
}

static bool is_command_open(const struct call_subject *about)
{
    return !about->is_command_seen || (about->has_command && !about->command.is_certain);
}

static enum meaning argument_meaning(struct slice pattern, const struct asked_call *call)
{
    const struct call_subject *about = &call->about;
    bool matches = agent_glob_matches(pattern, about->compact) || agent_glob_matches(pattern, about->sorted) ||
                   (about->arguments && any_string_matches(pattern, about->arguments)) ||
                   any_form_matches(pattern, about) || equals_json(call, pattern);
    return matches ? MEANT : !about->is_seen || is_command_open(about) ? MAY_BE_MEANT : NOT_MEANT;
}

static enum meaning command_meaning(struct slice pattern, const struct asked_call *call)
{
    const struct call_subject *about = &call->about;
    bool matches =
        any_form_matches(pattern, about) || (slice_present(about->line) && agent_glob_matches(pattern, about->line));
    return matches ? MEANT : !about->is_seen || is_command_open(about) ? MAY_BE_MEANT : NOT_MEANT;
}

static enum meaning path_meaning(struct slice pattern, const struct asked_call *call)
{
    const struct call_subject *about = &call->about;
    struct slice clean = call_path_clean_pattern(call->arena, pattern);
    bool is_open = !about->is_seen || is_command_open(about) || about->is_overfull;
    for (size_t i = 0; i < about->path_count; i++) {
        const struct call_path *path = &about->paths[i];
        if (call_path_may_match(clean, path)) {
            return MEANT;
        }
        is_open = is_open || (path->is_named && !path->is_known);
    }
    return is_open ? MAY_BE_MEANT : NOT_MEANT;
}

static enum meaning host_meaning(struct slice pattern, const struct asked_call *call)
{
    const struct call_subject *about = &call->about;
    bool is_open = !about->is_seen || is_command_open(about) || about->is_overfull;
    for (size_t i = 0; i < about->host_count; i++) {
        const struct call_host *host = &about->hosts[i];
        if (agent_glob_matches_nocase(pattern, host->name)) {
            return MEANT;
        }
        is_open = is_open || (host->is_named && !host->is_known);
    }
    return is_open ? MAY_BE_MEANT : NOT_MEANT;
}

static enum meaning rule_meaning(const struct permission_rule *rule, const struct asked_call *call)
{
    const struct {
        struct slice pattern;
        enum meaning (*of)(struct slice pattern, const struct asked_call *call);
    } criteria[] = {{rule->argument, argument_meaning},
                    {rule->command, command_meaning},
                    {rule->path, path_meaning},
                    {rule->host, host_meaning}};
    enum meaning meaning = slice_present(rule->tool) ? tool_meaning(rule->tool, &call->about) : MEANT;
    for (size_t i = 0; i < sizeof criteria / sizeof *criteria && meaning != NOT_MEANT; i++) {
        if (slice_present(criteria[i].pattern)) {
            enum meaning one = criteria[i].of(criteria[i].pattern, call);
            meaning = one < meaning ? one : meaning;
        }
    }
    return meaning;
}

/* The strictest of the rules that tighten; a rule that may be about the call asks. */
static enum permission tightened(const struct agent *agent, const struct asked_call *call)
{
    enum permission strictest = PERMISSION_ALLOW;
    for (size_t i = 0; i < agent->permission_count && strictest != PERMISSION_DENY; i++) {
        const struct permission_rule *rule = &agent->permissions[i];
        enum meaning meaning = rule->then > strictest ? rule_meaning(rule, call) : NOT_MEANT;
        if (meaning != NOT_MEANT) {
            enum permission then = meaning == MEANT ? rule->then : PERMISSION_ASK;
            strictest = then > strictest ? then : strictest;
        }
    }
    return strictest;
}

/* --- rules that allow --- */

/* Only a name that the server knows counts; a tool that asks by itself has to be named in full. */
static bool allows_tool(const struct permission_rule *rule, const struct call_subject *about)
{
    bool is_any = true;
    for (size_t i = 0; i < rule->tool.len; i++) {
        is_any = is_any && rule->tool.ptr[i] == '*';
    }
    if (about->needs_name) {
        return slice_present(rule->tool) && slice_eq(rule->tool, about->tool);
    }
    return is_any || (slice_present(about->tool) && agent_glob_matches(rule->tool, about->tool));
}

static struct slice command_of(const struct permission_rule *rule)
{
    bool is_of_argument = slice_present(rule->argument) && !is_json_pattern(rule->argument);
    return slice_present(rule->command) ? rule->command : is_of_argument ? rule->argument : (struct slice){0};
}

static bool allows_form(const struct permission_rule *rule, const struct call_subject *about, struct slice form)
{
    struct slice pattern = command_of(rule);
    return slice_present(pattern) &&
           (call_line_is(pattern, about) || (about->command.is_certain && call_command_matches(pattern, form)));
}

static bool allows_path(const struct permission_rule *rule, const struct asked_call *call, const struct call_path *path)
{
    return slice_present(rule->path) && call_path_matches(call_path_clean_pattern(call->arena, rule->path), path);
}

static bool allows_host(const struct permission_rule *rule, const struct call_host *host)
{
    return slice_present(rule->host) && host->is_known && agent_glob_matches_nocase(rule->host, host->name);
}

static bool all_forms(const struct permission_rule *rule, const struct call_subject *about)
{
    size_t count = 0;
    for (size_t i = 0; about->has_command && i < about->command.count; i++) {
        const struct command_form *form = &about->command.forms[i];
        if (form->is_plain && !allows_form(rule, about, form->exact)) {
            return false;
        }
        count += form->is_plain;
    }
    return count > 0;
}

static bool all_paths(const struct permission_rule *rule, const struct asked_call *call)
{
    size_t count = 0;
    for (size_t i = 0; i < call->about.path_count; i++) {
        const struct call_path *path = &call->about.paths[i];
        if (path->is_named && !allows_path(rule, call, path)) {
            return false;
        }
        count += path->is_named;
    }
    return count > 0;
}

static bool all_hosts(const struct permission_rule *rule, const struct call_subject *about)
{
    size_t count = 0;
    for (size_t i = 0; i < about->host_count; i++) {
        if (about->hosts[i].is_named && !allows_host(rule, &about->hosts[i])) {
            return false;
        }
        count += about->hosts[i].is_named;
    }
    return count > 0;
}

enum kind_of_subject { OF_COMMAND, OF_PATH, OF_HOST };

/* Everything the rule says, but for the kind that is looked at one by one. */
static bool rest_holds(const struct permission_rule *rule, const struct asked_call *call, enum kind_of_subject kind)
{
    const struct call_subject *about = &call->about;
    bool is_json = slice_present(rule->argument) && is_json_pattern(rule->argument);
    return rule->then == PERMISSION_ALLOW && allows_tool(rule, about) &&
           (!is_json || equals_json(call, rule->argument)) &&
           (kind == OF_COMMAND || !slice_present(command_of(rule)) || all_forms(rule, about)) &&
           (kind == OF_PATH || !slice_present(rule->path) || all_paths(rule, call)) &&
           (kind == OF_HOST || !slice_present(rule->host) || all_hosts(rule, about));
}

/* Allowed whatever it is about, or with exactly these arguments. */
static bool allows_whole(const struct permission_rule *rule, const struct asked_call *call)
{
    bool is_bare = !slice_present(rule->argument) && !slice_present(rule->command) && !slice_present(rule->path) &&
                   !slice_present(rule->host);
    bool is_json = slice_present(rule->argument) && is_json_pattern(rule->argument) && call->about.is_seen &&
                   !call->about.shows_more;
    return (is_bare || is_json) && rest_holds(rule, call, OF_COMMAND) && rest_holds(rule, call, OF_PATH);
}

/* One command, path or host of the call. */
static bool one_is_allowed(const struct permission_rule *rules, size_t count, const struct asked_call *call,
                           enum kind_of_subject kind, const void *one)
{
    for (size_t i = 0; i < count; i++) {
        const struct permission_rule *rule = &rules[i];
        bool is_meant = kind == OF_COMMAND ? allows_form(rule, &call->about, ((const struct command_form *)one)->exact)
                        : kind == OF_PATH  ? allows_path(rule, call, one)
                                           : allows_host(rule, one);
        if (is_meant && rest_holds(rule, call, kind)) {
            return true;
        }
    }
    return false;
}

/* Every command that the line names, every path and host; a directory in which a command runs is not one of them. */
static bool all_are_allowed(const struct permission_rule *rules, size_t count, const struct asked_call *call)
{
    const struct call_subject *about = &call->about;
    size_t seen = 0;
    if (!about->is_seen || !about->is_command_seen || about->is_overfull) {
        return false;
    }
    for (size_t i = 0; about->has_command && i < about->command.count; i++) {
        const struct command_form *form = &about->command.forms[i];
        if (form->is_plain && !one_is_allowed(rules, count, call, OF_COMMAND, form)) {
            return false;
        }
        seen += form->is_plain;
    }
    for (size_t i = 0; !about->has_command && i < about->path_count; i++) {
        if (about->paths[i].is_named && !one_is_allowed(rules, count, call, OF_PATH, &about->paths[i])) {
            return false;
        }
        seen += about->paths[i].is_named;
    }
    for (size_t i = 0; i < about->host_count; i++) {
        if (about->hosts[i].is_named && !one_is_allowed(rules, count, call, OF_HOST, &about->hosts[i])) {
            return false;
        }
        seen += about->hosts[i].is_named;
    }
    return seen > 0;
}

static bool is_allowed(const struct permission_rule *rules, size_t count, const struct asked_call *call)
{
    for (size_t i = 0; i < count; i++) {
        if (allows_whole(&rules[i], call)) {
            return true;
        }
    }
    return all_are_allowed(rules, count, call);
}

enum permission agent_permission(const struct agent *agent, const struct call_facts *facts, enum permission fallback)
{
    struct arena scratch = {0};
    struct asked_call call = {.arena = &scratch};
    if (agent->permission_count == 0) {
        return fallback;
    }
    call_subject_read(&scratch, facts, &call.about);
    size_t own = agent->permission_count - agent->narrower_count;
    enum permission decided = is_allowed(agent->permissions, own, &call) ? PERMISSION_ALLOW : fallback;
    enum permission least = tightened(agent, &call);
    arena_release(&scratch);
    return least > decided ? least : decided;
}

const struct agent *agent_copy_rules(struct arena *arena, const struct agent *agent)
{
    struct agent *copy = arena_alloc(arena, sizeof *copy);
    struct permission_rule *rules = arena_array(arena, agent->permission_count, sizeof *rules);
    for (size_t i = 0; i < agent->permission_count; i++) {
        const struct permission_rule *rule = &agent->permissions[i];
        rules[i] = (struct permission_rule){.tool = arena_copy(arena, rule->tool),
                                            .argument = arena_copy(arena, rule->argument),
                                            .command = arena_copy(arena, rule->command),
                                            .path = arena_copy(arena, rule->path),
                                            .host = arena_copy(arena, rule->host),
                                            .then = rule->then};
    }
    copy->permissions = rules;
    copy->permission_count = agent->permission_count;
    copy->narrower_count = agent->narrower_count;
    return copy;
}

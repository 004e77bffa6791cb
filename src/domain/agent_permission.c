#include "domain/agent_fields.h"
#include "domain/command.h"

bool agent_glob_matches(struct slice pattern, struct slice text)
{
    size_t p = 0, t = 0, star = SIZE_MAX, resume = 0;
    while (t < text.len) {
        if (p < pattern.len && pattern.ptr[p] == '*') {
            star = p++;
            resume = t;
        } else if (p < pattern.len && pattern.ptr[p] == text.ptr[t]) {
            p++;
            t++;
        } else if (star != SIZE_MAX) {
            p = star + 1;
            t = ++resume;
        } else {
            return false;
        }
    }
    while (p < pattern.len && pattern.ptr[p] == '*') {
        p++;
    }
    return p == pattern.len;
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

struct asked_call {
    struct slice tool, arguments, path;
    const struct json *parsed; /* of the arguments; NULL when they are no JSON */
    bool has_command;
    struct command_reading command; /* then: what it runs */
};

/* Without white space and needless escapes: how a caller writes his JSON must not decide whether a rule meets it. */
static void write_compact(struct json_out *out, const struct json *value)
{
    bool is_object = json_is(value, JSON_OBJECT);
    if (json_is(value, JSON_STRING)) {
        json_text(out, value->text);
        return;
    }
    if (!is_object && !json_is(value, JSON_ARRAY)) {
        json_raw(out, value->raw);
        return;
    }
    is_object ? json_begin_object(out) : json_begin_array(out);
    for (const struct json *child = value->child; child; child = child->next) {
        if (is_object) {
            json_key_slice(out, child->key);
        }
        write_compact(out, child);
    }
    is_object ? json_end_object(out) : json_end_array(out);
}

static void read_arguments(struct arena *arena, struct asked_call *call)
{
    struct buffer text = {0};
    struct json_out out = json_out_to(&text);
    if (!slice_present(call->arguments) || json_parse(arena, call->arguments, &call->parsed, NULL) != STATUS_OK) {
        call->parsed = NULL;
        return;
    }
    write_compact(&out, call->parsed);
    call->arguments = arena_copy(arena, buffer_slice(&text));
    buffer_release(&text);
    call->has_command = command_read_call(arena, call->parsed, &call->command);
}

static bool is_about(const struct permission_rule *rule, const struct asked_call *call)
{
    if (slice_present(rule->tool) && !agent_glob_matches(rule->tool, call->tool)) {
        return false;
    }
    if (slice_present(rule->path) && !(slice_present(call->path) && agent_glob_matches(rule->path, call->path))) {
        return false;
    }
    return true;
}

static bool any_form_matches(struct slice pattern, const struct command_reading *command)
{
    for (size_t i = 0; i < command->count; i++) {
        if (agent_glob_matches(pattern, command->forms[i].text)) {
            return true;
        }
    }
    return false;
}

static bool rule_matches(const struct permission_rule *rule, const struct asked_call *call)
{
    if (!is_about(rule, call)) {
        return false;
    }
    return !slice_present(rule->argument) || agent_glob_matches(rule->argument, call->arguments) ||
           (call->parsed && any_string_matches(rule->argument, call->parsed)) ||
           (call->has_command && any_form_matches(rule->argument, &call->command));
}

/* --- commands --- */

static bool has_wildcard(struct slice pattern)
{
    return memchr(pattern.ptr, '*', pattern.len) != NULL;
}

/* Does a rule that allows speak of this command itself, or of the whole call, letter by letter? */
static bool rule_allows(const struct permission_rule *rule, const struct asked_call *call, struct slice command)
{
    if (rule->then != PERMISSION_ALLOW || !is_about(rule, call)) {
        return false;
    }
    bool of_call =
        slice_present(rule->argument) && (slice_starts(rule->argument, SLICE("{")) || !has_wildcard(rule->argument));
    return !slice_present(rule->argument) || (of_call && rule_matches(rule, call)) ||
           (call->command.is_certain && agent_glob_matches(rule->argument, command));
}

static bool is_allowed(const struct permission_rule *rules, size_t count, const struct asked_call *call,
                       struct slice command)
{
    for (size_t i = 0; i < count; i++) {
        if (rule_allows(&rules[i], call, command)) {
            return true;
        }
    }
    return false;
}

/* A line of several commands is allowed when each of them is; one that nobody can read, by no pattern. */
static bool all_are_allowed(const struct permission_rule *rules, size_t count, const struct asked_call *call)
{
    for (size_t i = 0; i < call->command.count; i++) {
        const struct command_form *form = &call->command.forms[i];
        if (form->is_plain && !is_allowed(rules, count, call, form->text)) {
            return false;
        }
    }
    return true;
}

/* Are there rules about what is called, so that a command nobody can read may be one they mean? */
static bool may_be_meant(const struct agent *agent, const struct asked_call *call)
{
    bool found = false;
    for (size_t i = 0; i < agent->permission_count && !call->command.is_certain; i++) {
        const struct permission_rule *rule = &agent->permissions[i];
        found = found || (rule->then > PERMISSION_ALLOW && slice_present(rule->argument) && is_about(rule, call));
    }
    return found;
}

/* The strictest of the rules from `begin` to before `end` that match; -1 when none does. */
static int strictest(const struct permission_rule *rules, size_t begin, size_t end, const struct asked_call *call)
{
    int found = -1;
    for (size_t i = begin; i < end; i++) {
        if ((int)rules[i].then > found && rule_matches(&rules[i], call)) {
            found = (int)rules[i].then;
        }
    }
    return found;
}

enum permission agent_permission(const struct agent *agent, struct slice tool, struct slice arguments,
                                 struct slice path, enum permission otherwise)
{
    struct arena scratch = {0};
    struct asked_call call = {.tool = tool, .arguments = arguments, .path = path};
    if (agent->permission_count) {
        read_arguments(&scratch, &call);
    }
    size_t own = agent->permission_count - agent->narrower_count;
    int decided = strictest(agent->permissions, 0, own, &call);
    int tightened = strictest(agent->permissions, own, agent->permission_count, &call);
    if (decided == PERMISSION_ALLOW && call.has_command && !all_are_allowed(agent->permissions, own, &call)) {
        decided = -1;
    }
    decided = decided >= 0 ? decided : (int)otherwise;
    if (decided == PERMISSION_ALLOW && call.has_command && may_be_meant(agent, &call)) {
        decided = PERMISSION_ASK;
    }
    arena_release(&scratch);
    return (enum permission)(tightened > decided ? tightened : decided);
}

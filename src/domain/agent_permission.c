#include "domain/agent_fields.h"

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
}

static bool rule_matches(const struct permission_rule *rule, const struct asked_call *call)
{
    if (slice_present(rule->tool) && !agent_glob_matches(rule->tool, call->tool)) {
        return false;
    }
    if (slice_present(rule->path) && !(slice_present(call->path) && agent_glob_matches(rule->path, call->path))) {
        return false;
    }
    return !slice_present(rule->argument) || agent_glob_matches(rule->argument, call->arguments) ||
           (call->parsed && any_string_matches(rule->argument, call->parsed));
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
    struct asked_call call = {tool, arguments, path, NULL};
    if (agent->permission_count) {
        read_arguments(&scratch, &call);
    }
    size_t own = agent->permission_count - agent->narrower_count;
    int decided = strictest(agent->permissions, 0, own, &call);
    int tightened = strictest(agent->permissions, own, agent->permission_count, &call);
    arena_release(&scratch);
    decided = decided >= 0 ? decided : (int)otherwise;
    return (enum permission)(tightened > decided ? tightened : decided);
}

#include "domain/ask_grant.h"
#include "domain/call_subject.h"

/* Does a rule of this session, owner and agent concern the ask at all? */
static bool concerns(const struct ask_rule *rule, const struct session *session, const struct ask *ask)
{
    bool here = rule->session_key == 0 || rule->session_key == session->key;
    bool whose =
        !slice_present(rule->user_id) || (slice_present(session->owner) && slice_eq(rule->user_id, session->owner));
    return ask->kind == ASK_APPROVAL && ask->quorum == 1 && slice_present(ask->tool) && here && whose &&
           rule->tenant_key == session->tenant_key && slice_eq(rule->agent, session->agent);
}

static bool same_arguments(struct arena *arena, struct slice allowed, const struct call_subject *about)
{
    const struct json *value;
    return about->arguments && json_parse(arena, allowed, &value, NULL) == STATUS_OK &&
           json_equal(value, about->arguments);
}

static bool commands_match(struct slice pattern, const struct call_subject *about)
{
    return call_line_is(pattern, about) || call_line_matches(pattern, about);
}

static bool paths_match(struct slice pattern, const struct call_subject *about)
{
    for (size_t i = 0; i < about->path_count; i++) {
        bool fits = slice_present(pattern) && call_path_matches(pattern, &about->paths[i]);
        if (about->paths[i].is_named && !fits) {
            return false;
        }
    }
    return true;
}

static bool hosts_match(struct slice pattern, const struct call_subject *about)
{
    for (size_t i = 0; i < about->host_count; i++) {
        const struct call_host *host = &about->hosts[i];
        if (host->is_named && !(slice_present(pattern) && host->is_known && slice_eq(pattern, host->name))) {
            return false;
        }
    }
    return true;
}

/* Each thing that the call names is one that the rule names. */
static bool is_covered(const struct ask_subject *subject, const struct call_subject *about)
{
    bool has_command = slice_present(subject->command);
    size_t named = 0;
    for (size_t i = 0; i < about->path_count; i++) {
        named += about->paths[i].is_named;
    }
    for (size_t i = 0; i < about->host_count; i++) {
        named += about->hosts[i].is_named;
    }
    return has_command == about->has_command && (named > 0 || has_command) &&
           (!has_command || commands_match(subject->command, about)) && paths_match(subject->path, about) &&
           hosts_match(subject->host, about);
}

bool ask_rule_matches(struct arena *arena, const struct ask_rule *rule, const struct session *session,
                      const struct ask *ask)
{
    struct call_facts facts;
    struct call_subject about;
    if (!concerns(rule, session, ask)) {
        return false;
    }
    call_facts_read(arena, ask->fields, ask->tool, ask->arguments, &facts);
    call_subject_read(arena, &facts, &about);
    bool is_typed =
        slice_present(rule->subject.command) || slice_present(rule->subject.path) || slice_present(rule->subject.host);
    bool is_seen = about.is_seen && about.is_command_seen && !about.is_overfull;
    if (rule->tool.len > 0 && !(slice_present(about.tool) && slice_eq(rule->tool, about.tool))) {
        return false;
    }
    if (slice_present(rule->arguments)) {
        return is_seen && !about.shows_more && same_arguments(arena, rule->arguments, &about);
    }
    return is_typed ? is_seen && is_covered(&rule->subject, &about) : rule->tool.len > 0;
}

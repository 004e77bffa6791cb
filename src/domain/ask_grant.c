#include "domain/ask_grant.h"

#include "base/hash.h"
#include "domain/call_subject.h"

enum { SHOWN_BYTES_MAX = 400, ID_DIGITS = 16 };

/* --- what may be offered --- */

/* A text that is shown as it is, and in which "*" is not a wildcard: no control characters, nothing invisible, nothing
 * that turns the direction of what follows. */
static bool is_plain_text(struct slice text)
{
    static const char *const hidden[] = {"\xC2\x80", "\xE2\x80", "\xE2\x81", "\xEF\xBB\xBF", "\xC2\xAD", "\xD8\x9C"};
    bool is_plain = text.len > 0 && text.len <= SHOWN_BYTES_MAX && slice_is_utf8(text);
    for (size_t i = 0; i < text.len && is_plain; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        is_plain = c >= ' ' && c != 0x7F && c != '*' &&
                   !(c == 0xC2 && i + 1 < text.len && (unsigned char)text.ptr[i + 1] < 0xA0);
    }
    for (size_t k = 0; k < sizeof hidden / sizeof *hidden && is_plain; k++) {
        is_plain = !memmem(text.ptr, text.len, hidden[k], strlen(hidden[k]));
    }
    return is_plain;
}

/* Programs whose first words say what is done, and the words after which anything may be run. */
static bool has_verbs(struct slice program)
{
    static const char *const names[] = {"git", "npm", "pnpm", "yarn", "cargo", "go", "pip", "dotnet", "mvn", "gradle"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (slice_is(program, names[i])) {
            return true;
        }
    }
    return false;
}

static bool runs_anything(struct slice verb)
{
    static const char *const names[] = {
        "config", "bisect", "submodule", "rebase", "filter-branch", "exec",      "x",        "dlx",  "run", "alias",
        "start",  "init",   "create",    "set",    "difftool",      "mergetool", "generate", "tool", "env", "grep"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (slice_is(verb, names[i])) {
            return true;
        }
    }
    return false;
}

static bool is_verb(struct slice word)
{
    bool is = word.len > 0 && word.ptr[0] != '-';
    for (size_t i = 0; i < word.len && is; i++) {
        char c = word.ptr[i];
        is = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
    }
    return is;
}

/* "git push *" of "git push origin main"; absent where that would allow who knows what. */
static struct slice command_pattern(struct arena *arena, const struct call_subject *about)
{
    struct slice program, verb, rest, none = {0};
    size_t plain = 0;
    const struct command_form *only = NULL;
    for (size_t i = 0; i < about->command.count; i++) {
        plain += about->command.forms[i].is_plain;
        only = about->command.forms[i].is_plain ? &about->command.forms[i] : only;
    }
    if (plain != 1 || !about->command.is_certain || !slice_present(about->line) ||
        !slice_eq(slice_trim(about->line), only->text)) {
        return none;
    }
    slice_cut(only->text, ' ', &program, &rest);
    slice_cut(rest, ' ', &verb, &rest);
    return has_verbs(program) && is_verb(verb) && !runs_anything(verb)
               ? arena_format(arena, "%.*s %.*s *", SLICE_ARG(program), SLICE_ARG(verb))
               : none;
}

/* The only place that the call names; absent when there are several, or the text cannot be shown. */
static struct slice only_path(const struct call_subject *about)
{
    const struct call_path *found = NULL;
    for (size_t i = 0; i < about->path_count; i++) {
        const struct call_path *path = &about->paths[i];
        if (path->is_named && found && !slice_eq(path->spellings[0], found->spellings[0])) {
            return (struct slice){0};
        }
        found = path->is_named ? path : found;
    }
    bool fits = found && found->is_known && found->is_direct && is_plain_text(found->spellings[0]);
    return fits ? found->spellings[0] : (struct slice){0};
}

static bool names_paths(const struct call_subject *about)
{
    for (size_t i = 0; i < about->path_count; i++) {
        if (about->paths[i].is_named) {
            return true;
        }
    }
    return false;
}

static struct slice only_host(const struct call_subject *about)
{
    const struct call_host *found = NULL;
    for (size_t i = 0; i < about->host_count; i++) {
        const struct call_host *host = &about->hosts[i];
        if (host->is_named && found && !slice_eq(host->name, found->name)) {
            return (struct slice){0};
        }
        found = host->is_named ? host : found;
    }
    return found && found->is_known && is_plain_text(found->name) ? found->name : (struct slice){0};
}

static bool names_hosts(const struct call_subject *about)
{
    for (size_t i = 0; i < about->host_count; i++) {
        if (about->hosts[i].is_named) {
            return true;
        }
    }
    return false;
}

/* "/a/b/" + "*" of "/a/b/c"; absent at the top of the machine and of the tree. */
static struct slice directory_pattern(struct arena *arena, struct slice path, struct slice top)
{
    size_t len = path.len;
    while (len > 0 && path.ptr[len - 1] != '/') {
        len--;
    }
    bool is_deep = len > 1 && !(slice_present(top) && len <= top.len + 1);
    return is_deep ? arena_format(arena, "%.*s*", (int)len, path.ptr) : (struct slice){0};
}

/* --- the list --- */

struct offers {
    struct arena *arena;
    struct slice tool; /* absent: nothing but words of the agent */
    struct ask_grant *list;
    size_t count;
};

static void offer(struct offers *offers, enum ask_decision scope, struct ask_subject subject)
{
    if (offers->count < ASK_GRANTS_MAX) {
        subject.tool = offers->tool;
        offers->list[offers->count++] = (struct ask_grant){.scope = scope, .subject = subject};
    }
}

static void offer_commands(struct offers *offers, const struct call_subject *about, enum ask_decision scope)
{
    struct slice where = only_path(about), pattern = command_pattern(offers->arena, about);
    if (names_hosts(about) || (names_paths(about) && !slice_present(where))) {
        return;
    }
    if (slice_present(about->line) && is_plain_text(about->line) && about->command.is_certain) {
        offer(offers, scope, (struct ask_subject){.command = about->line, .path = where});
    }
    if (slice_present(pattern) && is_plain_text(slice_from(pattern.ptr, pattern.len - 1))) {
        offer(offers, scope, (struct ask_subject){.command = pattern, .path = where});
    }
}

static void offer_places(struct offers *offers, const struct call_subject *about, struct slice top,
                         enum ask_decision scope)
{
    struct slice path = only_path(about), host = only_host(about);
    if (slice_present(path) && !names_hosts(about)) {
        struct slice directory = directory_pattern(offers->arena, path, top);
        offer(offers, scope, (struct ask_subject){.path = path});
        if (slice_present(directory)) {
            offer(offers, scope, (struct ask_subject){.path = directory});
        }
    }
    if (slice_present(host) && !names_paths(about)) {
        offer(offers, scope, (struct ask_subject){.host = host});
    }
}

static void offer_for(struct offers *offers, const struct ask *ask, const struct call_subject *about, struct slice top,
                      enum ask_decision scope)
{
    if (!about->shows_more) {
        offer(offers, scope, (struct ask_subject){.arguments = ask->arguments});
    }
    if (about->has_command) {
        offer_commands(offers, about, scope);
    } else {
        offer_places(offers, about, top, scope);
    }
    if (slice_present(offers->tool)) {
        offer(offers, scope, (struct ask_subject){0});
    }
}

/* --- words --- */

static struct slice subject_text(struct arena *arena, const struct ask_subject *subject)
{
    struct slice who = slice_present(subject->tool) ? arena_format(arena, "%.*s", SLICE_ARG(subject->tool))
                                                    : SLICE("any tool of this agent");
    struct slice command = subject->command, path = subject->path;
    bool is_pattern = command.len > 2 && slice_is(slice_after(command, command.len - 2), " *");
    if (slice_present(subject->arguments)) {
        return arena_format(arena, "calls of %.*s with exactly these arguments", SLICE_ARG(who));
    }
    if (slice_present(command)) {
        struct slice shown = is_pattern ? slice_from(command.ptr, command.len - 2) : command;
        return arena_format(arena, "%.*s runs %s`%.*s`%s%s%.*s", SLICE_ARG(who), is_pattern ? "" : "exactly ",
                            SLICE_ARG(shown), is_pattern ? " with any arguments" : "",
                            slice_present(path) ? ", in " : "", SLICE_ARG(path));
    }
    if (slice_present(path)) {
        bool is_below = path.ptr[path.len - 1] == '*';
        struct slice shown = is_below ? slice_from(path.ptr, path.len - 2) : path;
        return arena_format(arena, "%.*s on %s%.*s, whatever it does there", SLICE_ARG(who),
                            is_below ? "anything below " : "", SLICE_ARG(shown));
    }
    if (slice_present(subject->host)) {
        return arena_format(arena, "%.*s to the host %.*s, whatever it sends", SLICE_ARG(who),
                            SLICE_ARG(subject->host));
    }
    return arena_format(arena, "every call of %.*s, whatever its arguments", SLICE_ARG(who));
}

static struct slice grant_text(struct arena *arena, enum ask_decision scope, const struct ask_subject *subject)
{
    struct slice about = subject_text(arena, subject);
    if (scope == DECISION_SESSION) {
        return arena_format(arena, "Until this session ends or hibernates, without asking again: %.*s.",
                            SLICE_ARG(about));
    }
    return arena_format(arena,
                        "In all sessions of this agent that belong to you (decided by an admin: to anybody), without "
                        "asking again: %.*s.",
                        SLICE_ARG(about));
}

struct slice ask_rule_text(struct arena *arena, const struct ask_rule *rule)
{
    struct ask_subject subject = rule->subject;
    subject.tool = rule->tool.len > 0 ? rule->tool : (struct slice){0};
    subject.arguments = rule->arguments;
    struct slice about = subject_text(arena, &subject);
    return arena_format(arena, "%s: %.*s.",
                        rule->session_key              ? "In one session, until it ends or hibernates"
                        : slice_present(rule->user_id) ? "In all sessions of this agent that belong to one user"
                                                       : "In all sessions of this agent",
                        SLICE_ARG(about));
}

void ask_subject_write(struct json_out *out, const struct ask_subject *subject)
{
    json_begin_object(out);
    json_maybe_text(out, "tool", subject->tool);
    json_maybe_text(out, "command", subject->command);
    json_maybe_text(out, "path", subject->path);
    json_maybe_text(out, "host", subject->host);
    json_maybe_raw(out, "arguments", subject->arguments);
    json_end_object(out);
}

void ask_subject_read(struct arena *arena, struct slice stored, struct ask_subject *out)
{
    const struct json *value = NULL;
    *out = (struct ask_subject){0};
    if (slice_present(stored) && json_parse(arena, stored, &value, NULL) == STATUS_OK) {
        json_as_text(json_get(value, "command"), &out->command);
        json_as_text(json_get(value, "path"), &out->path);
        json_as_text(json_get(value, "host"), &out->host);
    }
}

static void name_grant(struct arena *arena, struct ask_grant *grant)
{
    struct buffer text = {0};
    struct json_out out = json_out_to(&text);
    char digits[HASH_TEXT_BYTES];
    ask_subject_write(&out, &grant->subject);
    struct hash hash = hash_of(buffer_slice(&text));
    hash_text(&hash, digits);
    grant->id = arena_format(arena, "%s-%.*s", ask_decision_enum.names[grant->scope], ID_DIGITS, digits);
    grant->text = grant_text(arena, grant->scope, &grant->subject);
    buffer_release(&text);
}

size_t ask_grants(struct arena *arena, const struct ask *ask, struct ask_grant out[ASK_GRANTS_MAX])
{
    struct call_facts facts;
    struct call_subject about;
    if (ask->kind != ASK_APPROVAL) {
        return 0;
    }
    call_facts_read(arena, ask->fields, ask->tool, ask->arguments, &facts);
    call_subject_read(arena, &facts, &about);
    struct offers offers = {.arena = arena, .tool = about.tool, .list = out};
    out[offers.count++] =
        (struct ask_grant){.id = slice_of(ask_decision_enum.names[DECISION_ONCE]),
                           .scope = DECISION_ONCE,
                           .subject = {.tool = about.tool},
                           .text = ask_is_of_output(ask) ? SLICE("This output, once.") : SLICE("This call, once.")};
    bool is_seen = about.is_seen && about.is_command_seen && !about.is_overfull;
    if (ask->quorum == 1 && !ask_is_of_output(ask) && is_seen) {
        offer_for(&offers, ask, &about, facts.place.inside, DECISION_SESSION);
        offer_for(&offers, ask, &about, facts.place.inside, DECISION_ALWAYS);
    }
    for (size_t i = 1; i < offers.count; i++) {
        name_grant(arena, &out[i]);
    }
    return offers.count;
}

void ask_grants_write(struct json_out *out, const struct ask *ask)
{
    struct arena arena = {0};
    struct ask_grant *grants = arena_array(&arena, ASK_GRANTS_MAX, sizeof *grants);
    size_t count = ask->state == ASK_PENDING ? ask_grants(&arena, ask, grants) : 0;
    if (count > 0) {
        json_key(out, "grants");
        json_begin_array(out);
    }
    for (size_t i = 0; i < count; i++) {
        json_begin_object(out);
        json_put_text(out, "id", grants[i].id);
        json_put_text(out, "scope", slice_of(ask_decision_enum.names[grants[i].scope]));
        json_key(out, "subject");
        bool is_exact = slice_present(grants[i].subject.arguments);
        grants[i].subject.arguments = (struct slice){0}; /* they stand in the ask */
        ask_subject_write(out, &grants[i].subject);
        if (is_exact) {
            json_put_bool(out, "these_arguments", true);
        }
        json_put_text(out, "text", grants[i].text);
        json_end_object(out);
    }
    if (count > 0) {
        json_end_array(out);
    }
    arena_release(&arena);
}

/* --- choosing --- */

static enum status refuse(bool is_once, const struct ask_reply *reply, struct failure *failure)
{
    return slice_present(reply->grant)
               ? failure_set(failure, STATUS_INVALID, "grant_not_offered",
                             "The grant \"%.*s\" is not offered%s; `grants` of the ask lists what is.",
                             SLICE_ARG(slice_utf8_prefix(reply->grant, 100)),
                             is_once ? ": this can be decided once or denied" : "")
               : failure_set(failure, STATUS_INVALID, "invalid_decision",
                             "This is decided once or denied: several people decide it, it is an output, or what the "
                             "call does was not seen, so that no rule can stand for it.");
}

enum status ask_choose_grant(struct arena *arena, const struct ask *ask, struct ask_reply *reply, struct ask_grant *out,
                             struct failure *failure)
{
    struct ask_grant *grants = arena_array(arena, ASK_GRANTS_MAX, sizeof *grants);
    bool is_named = slice_present(reply->grant);
    *out = (struct ask_grant){.scope = reply->decision};
    if (!is_named && reply->decision != DECISION_SESSION && reply->decision != DECISION_ALWAYS) {
        return STATUS_OK;
    }
    size_t count = ask_grants(arena, ask, grants);
    if (count == 0) {
        return is_named ? failure_set(failure, STATUS_INVALID, "grant_not_offered", "Only approvals have grants.")
                        : STATUS_OK;
    }
    for (size_t i = 0; i < count; i++) {
        bool fits = is_named ? slice_eq(grants[i].id, reply->grant) : grants[i].scope == reply->decision;
        bool agrees = reply->decision == DECISION_NONE || reply->decision == grants[i].scope;
        if (fits && agrees) {
            *out = grants[i];
            reply->decision = grants[i].scope;
            return STATUS_OK;
        }
    }
    return refuse(count == 1, reply, failure);
}

enum status ask_check_edit_of_grant(const struct ask_reply *reply, const struct ask_grant *grant,
                                    struct failure *failure)
{
    bool is_wider = grant->scope == DECISION_SESSION || grant->scope == DECISION_ALWAYS;
    return reply->answer && is_wider && !slice_present(grant->subject.arguments)
               ? failure_set(failure, STATUS_INVALID, "grant_not_offered",
                             "Changed arguments can be allowed once, or for longer with exactly these arguments; this "
                             "grant was offered for the call as it was asked.")
               : STATUS_OK;
}

#include "domain/ask.h"

#include "base/json_index.h"
#include "domain/call_subject.h"
#include "domain/input.h"

static const char *const ask_kind_names[ASK_KIND_COUNT] = {
    [ASK_APPROVAL] = "approval",
    [ASK_QUESTION] = "question",
    [ASK_ELICITATION] = "elicitation",
};
const struct enum_names ask_kind_enum = {ask_kind_names, ASK_KIND_COUNT};

static const char *const ask_state_names[ASK_STATE_COUNT + 1] = {
    [ASK_PENDING] = "pending",     [ASK_ANSWERED] = "answered", [ASK_EXPIRED] = "expired",
    [ASK_CANCELLED] = "cancelled", [ASK_STATE_COUNT] = "all",
};
const struct enum_names ask_state_enum = {ask_state_names, ASK_STATE_COUNT};
const struct enum_names ask_state_filter_enum = {ask_state_names, ASK_STATE_COUNT + 1};

static const char *const ask_decision_names[DECISION_COUNT] = {
    [DECISION_NONE] = "",         [DECISION_ONCE] = "once", [DECISION_SESSION] = "session",
    [DECISION_ALWAYS] = "always", [DECISION_DENY] = "deny",
};
const struct enum_names ask_decision_enum = {ask_decision_names, DECISION_COUNT};
const struct enum_names ask_choice_enum = {ask_decision_names + DECISION_ONCE, DECISION_COUNT - DECISION_ONCE};
const struct enum_names ask_allow_enum = {ask_decision_names + DECISION_ONCE, DECISION_DENY - DECISION_ONCE};

bool ask_is_of_output(const struct ask *ask)
{
    return ask->kind == ASK_APPROVAL && !slice_present(ask->tool);
}

/* --- asking --- */

static enum status check_json(struct arena *arena, struct slice text, const char *name, enum json_kind kind,
                              size_t bytes_max, const struct json **out, struct failure *failure)
{
    *out = NULL;
    if (!slice_present(text)) {
        return STATUS_OK;
    }
    if (text.len > bytes_max) {
        return failure_set(failure, STATUS_TOO_LARGE, "ask_too_large",
                           "`%s` has %zu bytes; at most %zu are accepted (option event-bytes-max).", name, text.len,
                           bytes_max);
    }
    if (json_parse(arena, text, out, NULL) != STATUS_OK || !json_is(*out, kind)) {
        return failure_set(failure, STATUS_INVALID, "invalid_ask", "`%s` must be a JSON %s.", name,
                           json_kind_name(kind));
    }
    return STATUS_OK;
}

static enum status check_options(struct arena *arena, const struct json *options, struct failure *failure)
{
    if (!options) {
        return STATUS_OK;
    }
    if (options->count < 1 || options->count > ASK_OPTIONS_MAX) {
        return failure_set(failure, STATUS_INVALID, "invalid_ask", "A question has 1 to %d options, not %u.",
                           ASK_OPTIONS_MAX, (unsigned)options->count);
    }
    for (const struct json *one = options->child; one; one = one->next) {
        if (!json_is(one, JSON_STRING) || one->text.len == 0) {
            return failure_set(failure, STATUS_INVALID, "invalid_ask", "Each option must be a text.");
        }
    }
    const struct json *twice = json_index_repeated(json_index_texts(arena, options));
    return twice ? failure_set(failure, STATUS_INVALID, "invalid_ask", "The option \"%.*s\" stands there twice.",
                               SLICE_ARG(slice_utf8_prefix(twice->text, 100)))
                 : STATUS_OK;
}

/* Which parts belong to which kind. */
static enum status check_parts(const struct ask *ask, struct failure *failure)
{
    const struct {
        const char *name;
        bool given;
        enum ask_kind of;
    } parts[] = {
        {"tool", slice_present(ask->tool), ASK_APPROVAL},
        {"arguments", slice_present(ask->arguments), ASK_APPROVAL},
        {"editable", ask->editable, ASK_APPROVAL},
        {"quorum", ask->quorum != 1, ASK_APPROVAL},
        {"options", slice_present(ask->options), ASK_QUESTION},
        {"schema", slice_present(ask->schema), ASK_ELICITATION},
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (parts[i].given && parts[i].of != ask->kind) {
            return failure_set(failure, STATUS_INVALID, "invalid_ask", "`%s` belongs to asks of kind %s, not %s.",
                               parts[i].name, ask_kind_names[parts[i].of], ask_kind_names[ask->kind]);
        }
    }
    if (ask->schema.len > ASK_SCHEMA_BYTES_MAX) {
        return failure_set(failure, STATUS_TOO_LARGE, "ask_too_large", "The schema of a form has at most %d bytes.",
                           ASK_SCHEMA_BYTES_MAX);
    }
    if (ask->kind == ASK_ELICITATION && !slice_present(ask->schema)) {
        return failure_set(failure, STATUS_INVALID, "invalid_ask", "An elicitation needs the `schema` of its form.");
    }
    if (ask_is_of_output(ask) && !slice_present(ask->arguments)) {
        return failure_set(failure, STATUS_INVALID, "invalid_ask",
                           "An approval needs the `tool` that is to be called, or what is to be approved in "
                           "`arguments`.");
    }
    return STATUS_OK;
}

static enum status check_names(const struct ask *ask, struct failure *failure)
{
    if (ask->id.len < 1 || ask->id.len > ASK_ID_BYTES_MAX || !slice_is_utf8(ask->id)) {
        return failure_set(failure, STATUS_INVALID, "invalid_ask", "The id of an ask has 1 to %d bytes.",
                           ASK_ID_BYTES_MAX);
    }
    enum status status = input_check_chars(ask->text, "text", 1, ASK_TEXT_CHARS_MAX, failure);
    if (status == STATUS_OK && !slice_present(ask->text)) {
        return failure_set(failure, STATUS_INVALID, "invalid_ask", "`text` must say in one line what is asked.");
    }
    if (status == STATUS_OK && slice_present(ask->tool)) {
        status = input_check_chars(ask->tool, "tool", 1, ASK_ID_BYTES_MAX, failure);
    }
    if (status == STATUS_OK && slice_present(ask->call_id)) {
        status = input_check_chars(ask->call_id, "call_id", 1, ASK_ID_BYTES_MAX, failure);
    }
    return status;
}

enum status ask_check(struct arena *arena, const struct ask *ask, size_t bytes_max, struct failure *failure)
{
    const struct {
        struct slice text;
        const char *name;
        enum json_kind kind;
    } parts[] = {
        {ask->arguments, "arguments", JSON_OBJECT}, {ask->options, "options", JSON_ARRAY},
        {ask->schema, "schema", JSON_OBJECT},       {ask->details, "details", JSON_OBJECT},
        {ask->fields, "fields", JSON_OBJECT},
    };
    const struct json *options = NULL, *part;
    enum status status = check_names(ask, failure);
    if (status == STATUS_OK) {
        status = check_parts(ask, failure);
    }
    for (size_t i = 0; i < sizeof parts / sizeof *parts && status == STATUS_OK; i++) {
        status = check_json(arena, parts[i].text, parts[i].name, parts[i].kind, bytes_max, &part, failure);
        options = status == STATUS_OK && json_is(part, JSON_ARRAY) ? part : options;
    }
    if (status == STATUS_OK) {
        status = check_options(arena, options, failure);
    }
    if (status == STATUS_OK && (ask->quorum < 1 || ask->quorum > ASK_QUORUM_MAX)) {
        return failure_set(failure, STATUS_INVALID, "invalid_ask", "`quorum` must be 1 to %d.", ASK_QUORUM_MAX);
    }
    return status;
}

static bool is_same_json(struct arena *arena, struct slice a, struct slice b)
{
    const struct json *first, *second;
    if (slice_eq(a, b)) {
        return true;
    }
    return slice_present(a) && slice_present(b) && json_parse(arena, a, &first, NULL) == STATUS_OK &&
           json_parse(arena, b, &second, NULL) == STATUS_OK && json_equal(first, second);
}

/* What the driver knew of the call, but for where its tree happens to be. */
static bool is_same_facts(struct arena *arena, const struct ask *a, const struct ask *b)
{
    struct call_facts first, second;
    call_facts_read(arena, a->fields, a->tool, a->arguments, &first);
    call_facts_read(arena, b->fields, b->tool, b->arguments, &second);
    return slice_eq(first.tool, second.tool) && first.is_cut == second.is_cut &&
           first.runs_command == second.runs_command && slice_eq(first.place.directory, second.place.directory);
}

static bool is_same_content(struct arena *arena, const struct ask *stored, const struct ask *ask)
{
    return stored->kind == ask->kind && slice_eq(stored->tool, ask->tool) &&
           is_same_json(arena, stored->arguments, ask->arguments) &&
           is_same_json(arena, stored->options, ask->options) && is_same_json(arena, stored->schema, ask->schema) &&
           is_same_facts(arena, stored, ask);
}

bool ask_repeats(struct arena *arena, const struct ask *stored, const struct ask *ask)
{
    return is_same_content(arena, stored, ask) && slice_eq(stored->call_id, ask->call_id) &&
           slice_eq(stored->text, ask->text) && stored->turn == ask->turn;
}

/* Of a call that a driver relays without its input, words alone don't tell one from another. */
static bool is_blind(struct arena *arena, const struct ask *ask)
{
    const struct json *details = NULL;
    bool is_relayed = ask->kind == ASK_APPROVAL && slice_present(ask->fields);
    if (!is_relayed || slice_present(ask->arguments)) {
        return false;
    }
    bool is_read = slice_present(ask->details) && json_parse(arena, ask->details, &details, NULL) == STATUS_OK;
    return !is_read || json_text_of(details, "evidence").len == 0;
}

/* The text without the arguments, which it may repeat as they were written. */
static void split_text(const struct ask *ask, struct slice *head, struct slice *tail)
{
    const char *at =
        ask->arguments.len > 0 ? memmem(ask->text.ptr, ask->text.len, ask->arguments.ptr, ask->arguments.len) : NULL;
    size_t before = at ? (size_t)(at - ask->text.ptr) : ask->text.len;
    *head = slice_from(ask->text.ptr, before);
    *tail = slice_after(ask->text, before + (at ? ask->arguments.len : 0));
}

static bool is_same_text(const struct ask *stored, const struct ask *ask)
{
    struct slice heads[2], tails[2];
    split_text(stored, &heads[0], &tails[0]);
    split_text(ask, &heads[1], &tails[1]);
    return slice_eq(heads[0], heads[1]) && slice_eq(tails[0], tails[1]);
}

bool ask_is_same(struct arena *arena, const struct ask *stored, const struct ask *ask)
{
    return stored->role == ask->role && stored->quorum == ask->quorum && is_same_content(arena, stored, ask) &&
           is_same_json(arena, stored->details, ask->details) && is_same_text(stored, ask) && !is_blind(arena, ask);
}

/* --- who answers --- */

/* Those who run sessions never decide what they themselves asked for; a link shared with anybody approves nothing. */
static const bool answers[PRINCIPAL_COUNT][ASK_KIND_COUNT] = {
    [PRINCIPAL_USER] = {true, true, true},
    [PRINCIPAL_CHANNEL] = {true, true, true},
    [PRINCIPAL_SHARE_LINK] = {[ASK_QUESTION] = true, [ASK_ELICITATION] = true},
    [PRINCIPAL_SYSTEM] = {true, true, true},
};

enum status ask_check_person(const struct principal *who, enum access_role role, bool holds_lease,
                             const struct ask *ask, struct failure *failure)
{
    if ((unsigned)who->kind >= PRINCIPAL_COUNT || !answers[who->kind][ask->kind] || holds_lease) {
        return failure_set(failure, STATUS_FORBIDDEN, "person_required",
                           "An ask of kind %s is answered by people; a %s, or whoever holds the lease, is none.",
                           ask_kind_names[ask->kind], principal_kind_enum.names[who->kind]);
    }
    if (role < ask->role) {
        return failure_set(failure, STATUS_FORBIDDEN, "insufficient_role",
                           "To answer this you need to be %s of this session; you are %s.",
                           access_role_enum.names[ask->role], access_role_enum.names[role]);
    }
    return STATUS_OK;
}

/* --- what the session says meanwhile --- */

/* The approval of a tool call waits for the tool; everything else for what a person knows. */
static enum session_status waits_in(const struct ask *ask)
{
    return ask->kind == ASK_APPROVAL && !ask_is_of_output(ask) ? SESSION_AWAITING_TOOL : SESSION_WAITING_HUMAN;
}

static const struct ask *first_in(const struct ask *pending, size_t count, enum session_status state)
{
    for (size_t i = 0; i < count; i++) {
        if (waits_in(&pending[i]) == state) {
            return &pending[i];
        }
    }
    return NULL;
}

bool ask_is_budget(const struct ask *ask)
{
    return ask->kind == ASK_APPROVAL && slice_is(ask->tool, "budget");
}

enum session_status ask_waits_in(const struct ask *pending, size_t count)
{
    return first_in(pending, count, SESSION_WAITING_HUMAN) ? SESSION_WAITING_HUMAN : SESSION_AWAITING_TOOL;
}

struct slice ask_reason(struct arena *arena, const struct ask *pending, size_t count)
{
    enum { REASON_BYTES_MAX = 200 };
    const struct ask *ask = first_in(pending, count, ask_waits_in(pending, count));
    struct slice text = slice_utf8_prefix(ask->text, REASON_BYTES_MAX), line;
    struct slice end;
    slice_cut(text, '\n', &line, &end);
    switch (ask->kind) {
    case ASK_APPROVAL:
        return ask_is_of_output(ask) ? arena_format(arena, "Approval of its output: %.*s", SLICE_ARG(line))
                                     : arena_format(arena, "Approval of %.*s", SLICE_ARG(ask->tool));
    case ASK_QUESTION:
        return arena_format(arena, "Question: %.*s", SLICE_ARG(line));
    case ASK_ELICITATION:
    case ASK_KIND_COUNT:
        break;
    }
    return arena_format(arena, "Form: %.*s", SLICE_ARG(line));
}

/* --- copies --- */

void ask_copy(struct ask *to, const struct ask *from, struct arena *arena)
{
    *to = *from;
    struct slice *strings[] = {&to->id,      &to->tool,        &to->call_id, &to->arguments, &to->text,
                               &to->options, &to->schema,      &to->details, &to->fields,    &to->answer,
                               &to->reason,  &to->answered_by, &to->votes};
    for (size_t i = 0; i < sizeof strings / sizeof *strings; i++) {
        *strings[i] = arena_copy(arena, *strings[i]);
    }
}

void ask_of_event(enum event_kind event_kind, const struct json *metadata, struct ask *out)
{
    static const struct {
        enum event_kind kind;
        enum ask_state state;
    } ends[] = {
        {EVENT_ASK_ANSWERED, ASK_ANSWERED}, {EVENT_ASK_EXPIRED, ASK_EXPIRED}, {EVENT_ASK_CANCELLED, ASK_CANCELLED}};
    int kind = enum_names_find(ask_kind_enum, json_text_of(metadata, "kind"));
    struct slice decided = json_text_of(metadata, "decision");
    int decision = slice_present(decided) ? enum_names_find(ask_decision_enum, decided) : DECISION_NONE;
    *out = (struct ask){
        .id = json_text_of(metadata, "id"),
        .kind = kind >= 0 ? (enum ask_kind)kind : ASK_APPROVAL,
        .state = ASK_CANCELLED,
        .turn = json_i64_of(metadata, "turn"),
        .tool = json_text_of(metadata, "tool"),
        .call_id = json_text_of(metadata, "call_id"),
        .decision = decision >= 0 ? (enum ask_decision)decision : DECISION_NONE,
        .answer = json_raw_of(metadata, "answer"),
        .reason = json_text_of(metadata, "reason"),
        .answered_by = json_text_of(metadata, "by"),
    };
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        out->state = event_kind == ends[i].kind ? ends[i].state : out->state;
    }
}

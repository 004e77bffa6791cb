#include "domain/event.h"

#include "domain/event_parts.h"
#include "domain/event_payload.h"
#include "domain/file_change.h"

static const char *const event_role_names[ROLE_COUNT] = {
    [ROLE_USER] = "user",
    [ROLE_AGENT] = "agent",
    [ROLE_SYSTEM] = "system",
};
const struct words event_role_words = {event_role_names, ROLE_COUNT};

enum { THREAD_ID_BYTES_MAX = 128, EXTERNAL_ID_BYTES_MAX = 256, TYPE_BYTES_MAX = 64 };

/* Columns: name, who writes it, role, counts as message, counts as tool call, audit, check. Sorted by name: the lookup
 * relies on it and a test watches it. */
const struct event_type event_types[] = {
    {"agent.files_changed", WRITERS_HOLDER, ROLE_AGENT, false, false, false, payload_check_files_changed},
    {"agent.message", WRITERS_HOLDER, ROLE_AGENT, true, false, false, payload_check_message},
    {"agent.silent", WRITERS_HOLDER, ROLE_AGENT, false, false, false, NULL},
    {"agent.thinking", WRITERS_HOLDER, ROLE_AGENT, false, false, false, payload_check_message},
    {"agent.tool_call", WRITERS_HOLDER, ROLE_AGENT, false, true, true, NULL},
    {"agent.tool_result", WRITERS_HOLDER, ROLE_AGENT, false, false, false, NULL},
    {"ask.answered", WRITERS_SERVER, ROLE_SYSTEM, false, false, true, NULL},
    {"ask.cancelled", WRITERS_SERVER, ROLE_SYSTEM, false, false, true, NULL},
    {"ask.expired", WRITERS_SERVER, ROLE_SYSTEM, false, false, true, NULL},
    {"ask.requested", WRITERS_SERVER, ROLE_SYSTEM, false, false, true, NULL},
    {"ask.resumed", WRITERS_SERVER, ROLE_SYSTEM, false, false, true, NULL},
    {"ask.voted", WRITERS_SERVER, ROLE_SYSTEM, false, false, true, NULL},
    {"channel.bound", WRITERS_SERVER, ROLE_SYSTEM, false, false, true, NULL},
    {"channel.followup_due", WRITERS_SERVER, ROLE_SYSTEM, false, false, true, NULL},
    {"channel.unbound", WRITERS_SERVER, ROLE_SYSTEM, false, false, true, NULL},
    {"context.compacted", WRITERS_HOLDER, ROLE_SYSTEM, false, false, false, NULL},
    {"context.trimmed", WRITERS_HOLDER, ROLE_SYSTEM, false, false, false, NULL},
    {"entity.updated", WRITERS_SERVER, ROLE_SYSTEM, false, false, true, NULL},
    {"external.event", WRITERS_ANYONE, ROLE_SYSTEM, false, false, false, NULL},
    {"external.files_changed", WRITERS_ANYONE, ROLE_SYSTEM, false, false, false, payload_check_files_changed},
    {"human.entity_view", WRITERS_HUMAN, ROLE_USER, false, false, false, payload_check_human_entity_view},
    {"human.marker", WRITERS_HUMAN, ROLE_USER, false, false, false, payload_check_human_marker},
    {"human.navigate", WRITERS_HUMAN, ROLE_USER, false, false, false, payload_check_human_navigate},
    {"human.task_switch", WRITERS_HUMAN, ROLE_USER, false, false, false, payload_check_human_task_switch},
    {"introspection.ended", WRITERS_SERVER, ROLE_SYSTEM, false, false, true, NULL},
    {"introspection.failed", WRITERS_SERVER, ROLE_SYSTEM, false, false, true, NULL},
    {"introspection.interrupted", WRITERS_SERVER, ROLE_SYSTEM, false, false, true, NULL},
    {"introspection.started", WRITERS_SERVER, ROLE_SYSTEM, false, false, true, NULL},
    {"introspection.tool_call", WRITERS_SERVER, ROLE_SYSTEM, false, false, true, NULL},
    {"introspection.tool_result", WRITERS_SERVER, ROLE_SYSTEM, false, false, true, NULL},
    {"model.retrying", WRITERS_ANYONE, ROLE_SYSTEM, false, false, false, NULL},
    {"model.switched", WRITERS_ANYONE, ROLE_SYSTEM, false, false, false, NULL},
    {"prompt.edited", WRITERS_SERVER, ROLE_SYSTEM, false, false, true, NULL},
    {"prompt.interrupted", WRITERS_SERVER, ROLE_SYSTEM, false, false, true, NULL},
    {"prompt.moved", WRITERS_SERVER, ROLE_SYSTEM, false, false, true, NULL},
    {"prompt.queued", WRITERS_SERVER, ROLE_SYSTEM, false, false, true, NULL},
    {"prompt.withdrawn", WRITERS_SERVER, ROLE_SYSTEM, false, false, true, NULL},
    {"runner.connected", WRITERS_SERVER, ROLE_SYSTEM, false, false, true, NULL},
    {"runner.disconnected", WRITERS_SERVER, ROLE_SYSTEM, false, false, true, NULL},
    {"runner.lost", WRITERS_SERVER, ROLE_SYSTEM, false, false, true, NULL},
    {"runtime.disagreed", WRITERS_SERVER, ROLE_SYSTEM, false, false, true, NULL},
    {"runtime.lost", WRITERS_SERVER, ROLE_SYSTEM, false, false, true, NULL},
    {"session.archived", WRITERS_SERVER, ROLE_SYSTEM, false, false, true, NULL},
    {"session.child_created", WRITERS_SERVER, ROLE_SYSTEM, false, false, true, NULL},
    {"session.child_decided", WRITERS_SERVER, ROLE_SYSTEM, false, false, true, NULL},
    {"session.child_ended", WRITERS_SERVER, ROLE_SYSTEM, false, false, true, NULL},
    {"session.child_waiting", WRITERS_SERVER, ROLE_SYSTEM, false, false, true, NULL},
    {"session.claimed", WRITERS_SERVER, ROLE_SYSTEM, false, false, true, NULL},
    {"session.completed", WRITERS_SERVER, ROLE_SYSTEM, false, false, true, NULL},
    {"session.context_injected", WRITERS_SERVER, ROLE_SYSTEM, false, false, true, NULL},
    {"session.created", WRITERS_SERVER, ROLE_SYSTEM, false, false, true, NULL},
    {"session.deleted", WRITERS_SERVER, ROLE_SYSTEM, false, false, true, NULL},
    {"session.error", WRITERS_SERVER, ROLE_SYSTEM, false, false, true, NULL},
    {"session.exported", WRITERS_SERVER, ROLE_SYSTEM, false, false, true, NULL},
    {"session.file_added", WRITERS_SERVER, ROLE_SYSTEM, false, false, true, NULL},
    {"session.lease_lost", WRITERS_SERVER, ROLE_SYSTEM, false, false, true, NULL},
    {"session.participant_added", WRITERS_SERVER, ROLE_SYSTEM, false, false, true, NULL},
    {"session.participant_removed", WRITERS_SERVER, ROLE_SYSTEM, false, false, true, NULL},
    {"session.released", WRITERS_SERVER, ROLE_SYSTEM, false, false, true, NULL},
    {"session.reopened", WRITERS_SERVER, ROLE_SYSTEM, false, false, true, NULL},
    {"session.runtime_change", WRITERS_SERVER, ROLE_SYSTEM, false, false, true, NULL},
    {"session.share_created", WRITERS_SERVER, ROLE_SYSTEM, false, false, true, NULL},
    {"session.share_deactivated", WRITERS_SERVER, ROLE_SYSTEM, false, false, true, NULL},
    {"session.share_redeemed", WRITERS_SERVER, ROLE_SYSTEM, false, false, true, NULL},
    {"session.status_change", WRITERS_SERVER, ROLE_SYSTEM, false, false, true, NULL},
    {"session.tunnel_closed", WRITERS_SERVER, ROLE_SYSTEM, false, false, true, NULL},
    {"session.tunnel_opened", WRITERS_SERVER, ROLE_SYSTEM, false, false, true, NULL},
    {"session.unarchived", WRITERS_SERVER, ROLE_SYSTEM, false, false, true, NULL},
    {"session.updated", WRITERS_SERVER, ROLE_SYSTEM, false, false, true, NULL},
    {"session.waiting_approval", WRITERS_SERVER, ROLE_SYSTEM, false, false, true, NULL},
    {"state.patch", WRITERS_ANYONE, ROLE_USER, false, false, false, payload_check_state_patch},
    {"system.message", WRITERS_SERVER, ROLE_SYSTEM, false, false, true, NULL},
    {"tool.composition_step.completed", WRITERS_ANYONE, ROLE_SYSTEM, false, false, false,
     payload_check_tool_composition_step},
    {"tool.composition_step.started", WRITERS_ANYONE, ROLE_SYSTEM, false, false, false,
     payload_check_tool_composition_step},
    {"tool.field_changed", WRITERS_ANYONE, ROLE_USER, false, false, false, payload_check_tool_field_changed},
    {"tool.invocation_completed", WRITERS_ANYONE, ROLE_SYSTEM, false, false, true,
     payload_check_tool_invocation_completed},
    {"tool.invocation_failed", WRITERS_ANYONE, ROLE_SYSTEM, false, false, true, payload_check_tool_invocation_failed},
    {"tool.invocation_started", WRITERS_ANYONE, ROLE_SYSTEM, false, true, true, payload_check_tool_invocation_started},
    {"tool.session_started", WRITERS_ANYONE, ROLE_SYSTEM, false, false, true, payload_check_tool_session_started},
    {"turn.budget_warning", WRITERS_SERVER, ROLE_SYSTEM, false, false, false, NULL},
    {"turn.ended", WRITERS_SERVER, ROLE_SYSTEM, false, false, true, NULL},
    {"turn.interrupt_requested", WRITERS_SERVER, ROLE_SYSTEM, false, false, true, NULL},
    {"user.form_draft", WRITERS_PEOPLE, ROLE_USER, false, false, false, NULL},
    {"user.form_submit", WRITERS_PEOPLE, ROLE_USER, false, false, true, NULL},
    {"user.message", WRITERS_PEOPLE, ROLE_USER, true, false, true, payload_check_message},
    {"user.output_approval", WRITERS_SERVER, ROLE_USER, false, false, true, NULL},
    {"user.tool_confirmation", WRITERS_PEOPLE, ROLE_USER, false, false, true, NULL},
    {"user.tool_result", WRITERS_ANYONE, ROLE_USER, false, false, false, NULL},
    {"watchdog.error_safety_net", WRITERS_SERVER, ROLE_SYSTEM, false, false, true, NULL},
    {"watchdog.orphaned_lease", WRITERS_SERVER, ROLE_SYSTEM, false, false, true, NULL},
    {"watchdog.queue_stuck", WRITERS_SERVER, ROLE_SYSTEM, false, false, true, NULL},
    {"watchdog.runner_lost", WRITERS_SERVER, ROLE_SYSTEM, false, false, true, NULL},
    {"watchdog.silent_stream", WRITERS_SERVER, ROLE_SYSTEM, false, false, true, NULL},
    {"watchdog.stale", WRITERS_SERVER, ROLE_SYSTEM, false, false, true, NULL},
    {"watchdog.stuck_turn", WRITERS_SERVER, ROLE_SYSTEM, false, false, true, NULL},
    {"watchdog.waiting_without_ask", WRITERS_SERVER, ROLE_SYSTEM, false, false, true, NULL},
    {NULL, WRITERS_ANYONE, ROLE_SYSTEM, false, false, false, NULL},
};
enum { TYPES_KNOWN = sizeof event_types / sizeof event_types[0] - 1 };

/* Types that nobody listed, by what they begin with. Whatever is not here is free. */
const struct event_prefix event_prefixes[] = {
    {"agent.", WRITERS_HOLDER, ROLE_AGENT},          {"approval.", WRITERS_SERVER, ROLE_SYSTEM},
    {"ask.", WRITERS_SERVER, ROLE_SYSTEM},           {"channel.", WRITERS_SERVER, ROLE_SYSTEM},
    {"context.", WRITERS_HOLDER, ROLE_SYSTEM},       {"entity.", WRITERS_SERVER, ROLE_SYSTEM},
    {"external.", WRITERS_ANYONE, ROLE_SYSTEM},      {"human.", WRITERS_HUMAN, ROLE_USER},
    {"introspection.", WRITERS_SERVER, ROLE_SYSTEM}, {"lease.", WRITERS_SERVER, ROLE_SYSTEM},
    {"participant.", WRITERS_SERVER, ROLE_SYSTEM},   {"prompt.", WRITERS_SERVER, ROLE_SYSTEM},
    {"question.", WRITERS_SERVER, ROLE_SYSTEM},      {"runner.", WRITERS_SERVER, ROLE_SYSTEM},
    {"runtime.", WRITERS_SERVER, ROLE_SYSTEM},       {"session.", WRITERS_SERVER, ROLE_SYSTEM},
    {"share.", WRITERS_SERVER, ROLE_SYSTEM},         {"state.", WRITERS_HOLDER, ROLE_SYSTEM},
    {"system.", WRITERS_SERVER, ROLE_SYSTEM},        {"tool.", WRITERS_HOLDER, ROLE_SYSTEM},
    {"turn.", WRITERS_SERVER, ROLE_SYSTEM},          {"user.", WRITERS_PEOPLE, ROLE_USER},
    {"watchdog.", WRITERS_SERVER, ROLE_SYSTEM},      {NULL, WRITERS_ANYONE, ROLE_SYSTEM},
};

static int compare_name(struct slice name, const char *known)
{
    int order = strncmp(name.ptr, known, name.len);
    return order ? order : known[name.len] ? -1 : 0;
}

const struct event_type *event_type_find(struct slice name)
{
    size_t low = 0, high = TYPES_KNOWN;
    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = compare_name(name, event_types[middle].name);
        if (order == 0) {
            return &event_types[middle];
        }
        if (order < 0) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return NULL;
}

bool event_type_is_valid(struct slice name)
{
    if (name.len == 0 || name.len > TYPE_BYTES_MAX || name.ptr[0] < 'a' || name.ptr[0] > 'z') {
        return false;
    }
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.')) {
            return false;
        }
    }
    return true;
}

/* The row of the name's prefix; the last one, without a prefix, when it is free. */
static const struct event_prefix *prefix_of(struct slice name)
{
    const struct event_prefix *row = event_prefixes;
    while (row->prefix && !slice_starts(name, slice_of(row->prefix))) {
        row++;
    }
    return row;
}

enum event_writers event_type_writers(struct slice name)
{
    const struct event_type *known = event_type_find(name);
    return known ? known->writers : prefix_of(name)->writers;
}

static enum event_role default_role(const struct event_type *known, struct slice name)
{
    return known ? known->role : prefix_of(name)->role;
}

/* --- reading what a client sent --- */

static enum status read_text(const struct json *value, size_t bytes_max, struct slice *out, struct failure *failure)
{
    if (json_is(value, JSON_NULL)) {
        return STATUS_OK;
    }
    if (!json_as_text(value, out) || out->len == 0 || out->len > bytes_max) {
        return failure_set(failure, STATUS_INVALID, "invalid_event", "`%.*s` must be a string of 1 to %zu bytes.",
                           SLICE_ARG(value->key), bytes_max);
    }
    return STATUS_OK;
}

static enum status read_raw(const struct json *value, enum json_kind kind, struct slice *out, struct failure *failure)
{
    if (json_is(value, JSON_NULL)) {
        return STATUS_OK;
    }
    if (!json_is(value, kind)) {
        return failure_set(failure, STATUS_INVALID, "invalid_event", "`%.*s` must be %s, not %s.",
                           SLICE_ARG(value->key), json_kind_name(kind), json_kind_name(value->kind));
    }
    *out = value->raw;
    return STATUS_OK;
}

static enum status read_type(const struct json *value, struct slice *out, struct failure *failure)
{
    if (!json_as_text(value, out) || !event_type_is_valid(*out)) {
        return failure_set(failure, STATUS_INVALID, "invalid_event_type",
                           "`type` must be 1 to %d characters of a-z, 0-9, _ and ., beginning with a letter.",
                           TYPE_BYTES_MAX);
    }
    return STATUS_OK;
}

static enum status read_role(const struct json *value, int *out, struct failure *failure)
{
    struct slice name;
    if (json_is(value, JSON_NULL)) {
        return STATUS_OK;
    }
    *out = json_as_text(value, &name) ? words_find(event_role_words, name) : -1;
    if (*out < 0) {
        return failure_set(failure, STATUS_INVALID, "invalid_event", "`role` must be user, agent or system.");
    }
    return STATUS_OK;
}

static enum status read_member(const struct json *member, struct event *event, int *role, struct failure *failure)
{
    struct slice key = member->key;
    if (slice_is(key, "type")) {
        return read_type(member, &event->type, failure);
    }
    if (slice_is(key, "role")) {
        return read_role(member, role, failure);
    }
    if (slice_is(key, "content")) {
        return read_raw(member, JSON_ARRAY, &event->content, failure);
    }
    if (slice_is(key, "metadata")) {
        return read_raw(member, JSON_OBJECT, &event->metadata, failure);
    }
    if (slice_is(key, "thread_id")) {
        return read_text(member, THREAD_ID_BYTES_MAX, &event->thread_id, failure);
    }
    if (slice_is(key, "external_event_id")) {
        return read_text(member, EXTERNAL_ID_BYTES_MAX, &event->external_id, failure);
    }
    return failure_set(failure, STATUS_INVALID, "unknown_member",
                       "`%.*s` is no member of an event; accepted: type, role, content, metadata, thread_id, "
                       "external_event_id.",
                       SLICE_ARG(slice_utf8_prefix(key, 60)));
}

/* What the user said has the role of a user, what the agent said that of an agent. */
static enum status check_role(const struct event *event, enum event_role expected, int role, struct failure *failure)
{
    bool fixed = slice_starts(event->type, SLICE("user.")) || slice_starts(event->type, SLICE("agent."));
    if (fixed && role >= 0 && role != (int)expected) {
        return failure_set(failure, STATUS_INVALID, "invalid_event", "An event of type %.*s has the role %s, not %s.",
                           SLICE_ARG(event->type), event_role_names[expected], event_role_names[role]);
    }
    return STATUS_OK;
}

enum status event_read(const struct json *object, struct event *out, struct failure *failure)
{
    struct event event = {0};
    int role = -1;
    if (!json_is(object, JSON_OBJECT)) {
        return failure_set(failure, STATUS_INVALID, "invalid_event", "An event must be an object with a `type`.");
    }
    for (const struct json *member = object->child; member; member = member->next) {
        enum status status = read_member(member, &event, &role, failure);
        if (status != STATUS_OK) {
            return status;
        }
    }
    if (!slice_present(event.type)) {
        return failure_set(failure, STATUS_INVALID, "invalid_event", "`type` is missing.");
    }
    const struct event_type *known = event_type_find(event.type);
    enum event_role expected = default_role(known, event.type);
    enum status status = check_role(&event, expected, role, failure);
    if (status == STATUS_OK && known && known->check) {
        status = known->check(json_get_value(object, "content"), json_get_value(object, "metadata"), failure);
    }
    if (status == STATUS_OK) {
        event.role_is_given = role >= 0;
        event.role = event.role_is_given ? (enum event_role)role : expected;
        *out = event;
    }
    return status;
}

void event_write(struct buffer *to, struct slice session_id, const struct event *event)
{
    struct json_out out = json_out_to(to);
    buffer_reserve(to, 256 + event->content.len + event->metadata.len);
    json_begin_object(&out);
    json_put_text(&out, "session_id", session_id);
    json_put_i64(&out, "sequence", event->sequence);
    json_put_text(&out, "type", event->type);
    json_put_text(&out, "role", slice_of(event_role_names[event->role]));
    json_maybe_text(&out, "actor", event->actor);
    json_put_raw(&out, "content", slice_present(event->content) ? event->content : SLICE("[]"));
    json_put_raw(&out, "metadata", slice_present(event->metadata) ? event->metadata : SLICE("{}"));
    json_maybe_text(&out, "thread_id", event->thread_id);
    json_maybe_text(&out, "external_event_id", event->external_id);
    json_put_time(&out, "created_at", event->at_ms);
    json_end_object(&out);
}

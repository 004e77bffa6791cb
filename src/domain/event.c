#include "domain/event.h"

#include "domain/message_parts.h"
#include "domain/event_payload.h"
#include "domain/file_change.h"

enum { THREAD_ID_BYTES_MAX = 128, EXTERNAL_ID_BYTES_MAX = 256 };

void event_set_type(struct event *event, struct slice name)
{
    event->kind = event_kind_find(name);
    event->custom = event->kind == EVENT_CUSTOM ? name : (struct slice){0};
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

static enum status read_type(const struct json *value, struct event *out, struct failure *failure)
{
    struct slice name;
    if (!json_as_text(value, &name) || !event_type_is_valid(name)) {
        return failure_set(failure, STATUS_INVALID, "invalid_event_type",
                           "`type` must be 1 to %d characters of a-z, 0-9, _ and ., beginning with a letter.",
                           EVENT_TYPE_BYTES_MAX);
    }
    event_set_type(out, name);
    return STATUS_OK;
}

static enum status read_role(const struct json *value, int *out, struct failure *failure)
{
    struct slice name;
    if (json_is(value, JSON_NULL)) {
        return STATUS_OK;
    }
    *out = json_as_text(value, &name) ? enum_names_find(event_role_enum, name) : -1;
    if (*out < 0) {
        return failure_set(failure, STATUS_INVALID, "invalid_event", "`role` must be user, agent or system.");
    }
    return STATUS_OK;
}

static enum status read_member(const struct json *member, struct event *event, int *role, struct failure *failure)
{
    struct slice key = member->key;
    if (slice_is(key, "type")) {
        return read_type(member, event, failure);
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
    bool fixed = event_type_has_fixed_role(event_type(event));
    if (fixed && role >= 0 && role != (int)expected) {
        return failure_set(failure, STATUS_INVALID, "invalid_event", "An event of type %.*s has the role %s, not %s.",
                           SLICE_ARG(event_type(event)), event_role_enum.names[expected], event_role_enum.names[role]);
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
    if (!slice_present(event_type(&event))) {
        return failure_set(failure, STATUS_INVALID, "invalid_event", "`type` is missing.");
    }
    const struct event_kind_row *row = &event_kinds[event.kind];
    enum event_role expected = event_type_role(event_type(&event));
    enum status status = check_role(&event, expected, role, failure);
    if (status == STATUS_OK && row->check) {
        status = row->check(json_get_value(object, "content"), json_get_value(object, "metadata"), failure);
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
    json_put_text(&out, "type", event_type(event));
    json_put_text(&out, "role", slice_of(event_role_enum.names[event->role]));
    json_maybe_text(&out, "actor", event->actor);
    json_put_raw(&out, "content", slice_present(event->content) ? event->content : SLICE("[]"));
    json_put_raw(&out, "metadata", slice_present(event->metadata) ? event->metadata : SLICE("{}"));
    json_maybe_text(&out, "thread_id", event->thread_id);
    json_maybe_text(&out, "external_event_id", event->external_id);
    json_put_time(&out, "created_at", event->at_ms);
    json_end_object(&out);
}

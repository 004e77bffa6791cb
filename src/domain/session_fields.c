#include "domain/session_fields.h"

#include <assert.h>
#include <stdlib.h>

static_assert(sizeof(enum session_status) == sizeof(int), "enums are read and written as int");

const struct session_field session_fields[] = {
    {"tenant_key", FIELD_I64, offsetof(struct session, tenant_key), false, CHANGED_ALL},
    {"id", FIELD_TEXT, offsetof(struct session, id), false, CHANGED_ALL},
    {"type", FIELD_ENUM, offsetof(struct session, type), false, CHANGED_ALL},
    {"purpose", FIELD_ENUM, offsetof(struct session, purpose), false, CHANGED_ALL},
    {"agent", FIELD_TEXT, offsetof(struct session, agent), false, CHANGED_ALL},
    {"agent_version", FIELD_I64, offsetof(struct session, agent_version), false, CHANGED_ALL},
    {"driver", FIELD_ENUM, offsetof(struct session, driver), false, CHANGED_ALL},
    {"agent_config", FIELD_JSON, offsetof(struct session, agent_config), false, CHANGED_ALL},
    {"workspace", FIELD_TEXT, offsetof(struct session, workspace), false, CHANGED_ALL},
    {"source_kind", FIELD_TEXT, offsetof(struct session, source_kind), false, CHANGED_ALL},
    {"source_platform", FIELD_TEXT, offsetof(struct session, source_platform), false, CHANGED_ALL},
    {"source_trigger_id", FIELD_TEXT, offsetof(struct session, source_trigger_id), false, CHANGED_ALL},
    {"source_interactive", FIELD_BOOL, offsetof(struct session, source_interactive), false, CHANGED_ALL},
    {"source_type", FIELD_ENUM, offsetof(struct session, source_type), false, CHANGED_ALL},
    {"parent_id", FIELD_TEXT, offsetof(struct session, parent_id), false, CHANGED_ALL},
    {"task_id", FIELD_TEXT, offsetof(struct session, task_id), false, CHANGED_ALL},
    {"entity_id", FIELD_TEXT, offsetof(struct session, entity_id), false, CHANGED_ALL},
    {"retry_of", FIELD_TEXT, offsetof(struct session, retry_of), false, CHANGED_ALL},
    {"attempt", FIELD_I64, offsetof(struct session, attempt), false, CHANGED_ALL},
    {"owner", FIELD_TEXT, offsetof(struct session, owner), false, CHANGED_ALL},
    {"anonymous", FIELD_BOOL, offsetof(struct session, anonymous), false, CHANGED_ALL},
    {"initial_prompt", FIELD_TEXT, offsetof(struct session, initial_prompt), false, CHANGED_ALL},
    {"priority", FIELD_I64, offsetof(struct session, priority), false, CHANGED_ALL},
    {"created_at_ms", FIELD_I64, offsetof(struct session, created_at_ms), false, CHANGED_ALL},
    {"title", FIELD_TEXT, offsetof(struct session, title), false, CHANGED_ALL},
    {"metadata", FIELD_JSON, offsetof(struct session, metadata), false, CHANGED_ALL},
    {"details", FIELD_JSON, offsetof(struct session, details), false, CHANGED_ALL},
    {"visibility", FIELD_ENUM, offsetof(struct session, visibility), false, CHANGED_ALL},
    {"queue_mode", FIELD_ENUM, offsetof(struct session, queue_mode), false, CHANGED_ALL},
    {"expires_at_ms", FIELD_I64, offsetof(struct session, expires_at_ms), false, CHANGED_ALL},
    {"work", FIELD_ENUM, offsetof(struct session, status), false, CHANGED_MACHINE},
    {"runtime", FIELD_ENUM, offsetof(struct session, runtime), false, CHANGED_MACHINE},
    {"pause_reason", FIELD_ENUM, offsetof(struct session, pause_reason), false, CHANGED_MACHINE},
    {"stop_reason", FIELD_ENUM, offsetof(struct session, stop_reason), false, CHANGED_MACHINE},
    {"status_reason", FIELD_TEXT, offsetof(struct session, status_reason), false, CHANGED_MACHINE},
    {"archived_at_ms", FIELD_I64, offsetof(struct session, archived_at_ms), false, CHANGED_ALL},
    {"queued_at_ms", FIELD_I64, offsetof(struct session, queued_at_ms), false, CHANGED_MACHINE},
    {"started_at_ms", FIELD_I64, offsetof(struct session, started_at_ms), false, CHANGED_MACHINE},
    {"completed_at_ms", FIELD_I64, offsetof(struct session, completed_at_ms), false, CHANGED_MACHINE},
    {"paused_at_ms", FIELD_I64, offsetof(struct session, paused_at_ms), false, CHANGED_MACHINE},
    {"active_ms", FIELD_I64, offsetof(struct session, active_ms), false, CHANGED_MACHINE},
    {"running_since_ms", FIELD_I64, offsetof(struct session, running_since_ms), false, CHANGED_MACHINE},
    {"result", FIELD_JSON, offsetof(struct session, result), false, CHANGED_MACHINE},
    {"usage", FIELD_JSON, offsetof(struct session, usage), false, CHANGED_MACHINE},
    {"error_message", FIELD_TEXT, offsetof(struct session, error_message), false, CHANGED_MACHINE},
    {"error_code", FIELD_TEXT, offsetof(struct session, error_code), false, CHANGED_MACHINE},
    {"fence", FIELD_I64, offsetof(struct session, fence), false, CHANGED_MACHINE},
    {"claim_attempts", FIELD_I64, offsetof(struct session, claim_attempts), false, CHANGED_MACHINE},
    {"last_sequence", FIELD_I64, offsetof(struct session, last_sequence), true, CHANGED_HOT},
    {"message_count", FIELD_I64, offsetof(struct session, message_count), true, CHANGED_HOT},
    {"tool_call_count", FIELD_I64, offsetof(struct session, tool_call_count), true, CHANGED_HOT},
    {"turn_count", FIELD_I64, offsetof(struct session, turn_count), true, CHANGED_HOT},
    {"updated_at_ms", FIELD_I64, offsetof(struct session, updated_at_ms), true, CHANGED_HOT},
    {"last_active_at_ms", FIELD_I64, offsetof(struct session, last_active_at_ms), true, CHANGED_HOT},
    {"listed_at_ms", FIELD_I64, offsetof(struct session, listed_at_ms), true, CHANGED_LISTED},
    {"preview", FIELD_PREVIEW, offsetof(struct session, preview), true, CHANGED_HOT},
};
const size_t session_fields_count = sizeof(session_fields) / sizeof(session_fields[0]);

static const void *field_at(const struct session *session, const struct session_field *field)
{
    return (const char *)session + field->offset;
}

static void *field_in(struct session *session, const struct session_field *field)
{
    return (char *)session + field->offset;
}

int64_t session_field_number(const struct session *session, const struct session_field *field)
{
    switch (field->kind) {
    case FIELD_I64:
        return *(const int64_t *)field_at(session, field);
    case FIELD_BOOL:
        return *(const bool *)field_at(session, field);
    case FIELD_ENUM:
        return *(const int *)field_at(session, field);
    case FIELD_TEXT:
    case FIELD_JSON:
    case FIELD_PREVIEW:
        break;
    }
    abort();
}

struct slice session_field_text(const struct session *session, const struct session_field *field)
{
    switch (field->kind) {
    case FIELD_TEXT:
    case FIELD_JSON:
        return *(const struct slice *)field_at(session, field);
    case FIELD_PREVIEW:
        return slice_of(field_at(session, field));
    case FIELD_I64:
    case FIELD_BOOL:
    case FIELD_ENUM:
        break;
    }
    abort();
}

void session_field_set_number(struct session *session, const struct session_field *field, int64_t value)
{
    switch (field->kind) {
    case FIELD_I64:
        *(int64_t *)field_in(session, field) = value;
        return;
    case FIELD_BOOL:
        *(bool *)field_in(session, field) = value != 0;
        return;
    case FIELD_ENUM:
        *(int *)field_in(session, field) = (int)value;
        return;
    case FIELD_TEXT:
    case FIELD_JSON:
    case FIELD_PREVIEW:
        break;
    }
    abort();
}

void session_field_set_text(struct session *session, const struct session_field *field, struct slice text)
{
    switch (field->kind) {
    case FIELD_TEXT:
    case FIELD_JSON:
        *(struct slice *)field_in(session, field) = text;
        return;
    case FIELD_PREVIEW:
        text = slice_utf8_prefix(text, SESSION_PREVIEW_BYTES - 1);
        memset(field_in(session, field), 0, SESSION_PREVIEW_BYTES);
        if (text.len) {
            memcpy(field_in(session, field), text.ptr, text.len);
        }
        return;
    case FIELD_I64:
    case FIELD_BOOL:
    case FIELD_ENUM:
        break;
    }
    abort();
}

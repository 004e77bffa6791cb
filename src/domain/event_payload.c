#include "domain/event_payload.h"

#include "base/clock.h"
#include "domain/session.h"
#include "domain/text.h"

enum need { OPTIONAL, REQUIRED };

enum payload_kind {
    PAYLOAD_ANY,
    PAYLOAD_TEXT,       /* not empty */
    PAYLOAD_COUNT,      /* a whole number, 0 or more */
    PAYLOAD_TIME,       /* RFC 3339 text, or milliseconds */
    PAYLOAD_PATH,       /* begins with "/" */
    PAYLOAD_UUID,       /* strictly of that shape */
    PAYLOAD_SESSION_ID, /* 1 to 128 of [A-Za-z0-9._:-] */
    PAYLOAD_ORIGIN,     /* user or agent */
    PAYLOAD_POINTER,    /* RFC 6901 */
    PAYLOAD_OBJECT,
};

struct payload_member {
    const char *name; /* NULL ends the list */
    enum payload_kind kind;
    enum need need;
};

static const char *const kind_texts[] = {
    [PAYLOAD_ANY] = "any value",
    [PAYLOAD_TEXT] = "a text that is not empty",
    [PAYLOAD_COUNT] = "a whole number, 0 or more",
    [PAYLOAD_TIME] = "a time (RFC 3339, or milliseconds)",
    [PAYLOAD_PATH] = "a path that begins with /",
    [PAYLOAD_UUID] = "a UUID",
    [PAYLOAD_SESSION_ID] = "a session's id",
    [PAYLOAD_ORIGIN] = "user or agent",
    [PAYLOAD_POINTER] = "a JSON pointer (empty, or beginning with /)",
    [PAYLOAD_OBJECT] = "an object",
};

/* `entity_id` is also found as `entityId`. */
static bool same_name(struct slice key, struct slice name)
{
    size_t i = 0;
    for (size_t n = 0; n < name.len; n++) {
        bool raised = name.ptr[n] == '_' && n + 1 < name.len && i < key.len && key.ptr[i] == name.ptr[n + 1] - 32;
        if (raised) {
            n++;
        } else if (i >= key.len || key.ptr[i] != name.ptr[n]) {
            return false;
        }
        i++;
    }
    return i == key.len;
}

const struct json *payload_member_of(const struct json *object, struct slice name)
{
    for (const struct json *one = json_is(object, JSON_OBJECT) ? object->child : NULL; one; one = one->next) {
        if (same_name(one->key, name)) {
            return one;
        }
    }
    return NULL;
}

static bool is_time(const struct json *value)
{
    int64_t wall_ms;
    if (json_as_i64(value, &wall_ms)) {
        return wall_ms > 0;
    }
    return json_is(value, JSON_STRING) && time_parse(value->text, &wall_ms);
}

static bool is_pointer(struct slice text)
{
    if (text.len > 0 && text.ptr[0] != '/') {
        return false;
    }
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == '~' && (i + 1 == text.len || (text.ptr[i + 1] != '0' && text.ptr[i + 1] != '1'))) {
            return false;
        }
    }
    return true;
}

static bool is_of_kind(const struct json *value, enum payload_kind kind)
{
    struct slice text = {NULL, 0};
    int64_t number;
    bool is_text = json_as_text(value, &text);
    switch (kind) {
    case PAYLOAD_ANY:
        return true;
    case PAYLOAD_TEXT:
        return is_text && slice_trim(text).len > 0;
    case PAYLOAD_COUNT:
        return json_as_i64(value, &number) && number >= 0;
    case PAYLOAD_TIME:
        return is_time(value);
    case PAYLOAD_PATH:
        return is_text && text.len > 0 && text.ptr[0] == '/';
    case PAYLOAD_UUID:
        return is_text && text_is_uuid(text);
    case PAYLOAD_SESSION_ID:
        return is_text && session_id_is_valid(text);
    case PAYLOAD_ORIGIN:
        return slice_is(text, event_role_enum.names[ROLE_USER]) || slice_is(text, event_role_enum.names[ROLE_AGENT]);
    case PAYLOAD_POINTER:
        return is_text && is_pointer(text);
    case PAYLOAD_OBJECT:
        return json_is(value, JSON_OBJECT);
    }
    return false;
}

static enum status check_members(const struct json *object, const char *where, const struct payload_member *members,
                                 struct failure *failure)
{
    for (const struct payload_member *one = members; one->name; one++) {
        const struct json *value = payload_member_of(object, slice_of(one->name));
        if (!value && one->need == REQUIRED) {
            return failure_set(failure, STATUS_INVALID, "invalid_payload", "`%s.%s` is missing; it must be %s.", where,
                               one->name, kind_texts[one->kind]);
        }
        if (value && !is_of_kind(value, one->kind)) {
            return failure_set(failure, STATUS_INVALID, "invalid_payload", "`%s.%s` must be %s.", where, one->name,
                               kind_texts[one->kind]);
        }
    }
    return STATUS_OK;
}

/* --- tool.* --- */

enum status payload_check_tool_session_started(const struct json *content, const struct json *metadata,
                                               struct failure *failure)
{
    static const struct payload_member members[] = {
        {"tool_name", PAYLOAD_TEXT, REQUIRED},
        {"input", PAYLOAD_ANY, OPTIONAL},
        {0},
    };
    (void)content;
    return check_members(metadata, "metadata", members, failure);
}

enum status payload_check_tool_field_changed(const struct json *content, const struct json *metadata,
                                             struct failure *failure)
{
    static const struct payload_member members[] = {
        {"field", PAYLOAD_TEXT, REQUIRED},
        {"value", PAYLOAD_ANY, REQUIRED},
        {"previous", PAYLOAD_ANY, OPTIONAL},
        {0},
    };
    (void)content;
    return check_members(metadata, "metadata", members, failure);
}

enum status payload_check_tool_invocation_started(const struct json *content, const struct json *metadata,
                                                  struct failure *failure)
{
    static const struct payload_member members[] = {
        {"invocation_id", PAYLOAD_TEXT, REQUIRED},
        {"tool_name", PAYLOAD_TEXT, REQUIRED},
        {"input", PAYLOAD_ANY, OPTIONAL},
        {0},
    };
    (void)content;
    return check_members(metadata, "metadata", members, failure);
}

enum status payload_check_tool_invocation_completed(const struct json *content, const struct json *metadata,
                                                    struct failure *failure)
{
    static const struct payload_member members[] = {
        {"invocation_id", PAYLOAD_TEXT, REQUIRED},
        {"output", PAYLOAD_ANY, OPTIONAL},
        {"duration_ms", PAYLOAD_COUNT, OPTIONAL},
        {0},
    };
    (void)content;
    return check_members(metadata, "metadata", members, failure);
}

enum status payload_check_tool_invocation_failed(const struct json *content, const struct json *metadata,
                                                 struct failure *failure)
{
    static const struct payload_member members[] = {
        {"invocation_id", PAYLOAD_TEXT, REQUIRED},
        {"error", PAYLOAD_TEXT, REQUIRED},
        {"code", PAYLOAD_TEXT, OPTIONAL},
        {"duration_ms", PAYLOAD_COUNT, OPTIONAL},
        {0},
    };
    (void)content;
    return check_members(metadata, "metadata", members, failure);
}

/* The child's id lets the transcript link through. */
enum status payload_check_tool_composition_step(const struct json *content, const struct json *metadata,
                                                struct failure *failure)
{
    static const struct payload_member members[] = {
        {"step", PAYLOAD_TEXT, REQUIRED},
        {"child_session_id", PAYLOAD_SESSION_ID, REQUIRED},
        {"index", PAYLOAD_COUNT, OPTIONAL},
        {0},
    };
    (void)content;
    return check_members(metadata, "metadata", members, failure);
}

/* --- state.patch --- */

enum { OP_VALUE = 1, OP_FROM = 2 };

static const struct {
    const char *name;
    unsigned needs;
} patch_ops[] = {
    {"add", OP_VALUE}, {"remove", 0}, {"replace", OP_VALUE}, {"move", OP_FROM}, {"copy", OP_FROM}, {"test", OP_VALUE},
};

static enum status refuse_op(size_t index, const char *problem, struct failure *failure)
{
    return failure_set(failure, STATUS_INVALID, "invalid_payload", "`metadata.ops[%zu]` %s.", index, problem);
}

static enum status check_op(const struct json *op, size_t index, struct failure *failure)
{
    struct slice name = json_text_of(op, "op"), path, from;
    for (size_t i = 0; i < sizeof patch_ops / sizeof patch_ops[0]; i++) {
        if (!slice_is(name, patch_ops[i].name)) {
            continue;
        }
        if (!json_as_text(json_get(op, "path"), &path) || !is_pointer(path)) {
            return refuse_op(index, "needs a `path` that is a JSON pointer", failure);
        }
        if (patch_ops[i].needs & OP_VALUE && !json_get(op, "value")) {
            return refuse_op(index, "needs a `value`", failure);
        }
        if (patch_ops[i].needs & OP_FROM && (!json_as_text(json_get(op, "from"), &from) || !is_pointer(from))) {
            return refuse_op(index, "needs a `from` that is a JSON pointer", failure);
        }
        return STATUS_OK;
    }
    return refuse_op(index, "needs an `op`: add, remove, replace, move, copy or test", failure);
}

static enum status check_ops(const struct json *ops, struct failure *failure)
{
    if (!json_is(ops, JSON_ARRAY) || ops->count == 0) {
        return failure_set(failure, STATUS_INVALID, "invalid_payload",
                           "`metadata.ops` must be an array of JSON Patch operations (RFC 6902), at least one.");
    }
    if (ops->count > PATCH_OPS_MAX) {
        return failure_set(failure, STATUS_TOO_LARGE, "too_many_operations",
                           "`metadata.ops` has %u operations; at most %d fit into one event.", ops->count,
                           PATCH_OPS_MAX);
    }
    size_t index = 0;
    for (const struct json *op = ops->child; op; op = op->next) {
        enum status status = check_op(op, index++, failure);
        if (status != STATUS_OK) {
            return status;
        }
    }
    return STATUS_OK;
}

static enum status check_target(const struct json *target, struct failure *failure)
{
    static const struct payload_member members[] = {
        {"kind", PAYLOAD_TEXT, REQUIRED},
        {"id", PAYLOAD_TEXT, REQUIRED},
        {"path", PAYLOAD_POINTER, OPTIONAL},
        {0},
    };
    struct slice kind = json_text_of(target, "kind");
    enum status status = check_members(target, "metadata.target", members, failure);
    if (status == STATUS_OK && !slice_is(kind, "view") && !slice_is(kind, "entity")) {
        return failure_set(failure, STATUS_INVALID, "invalid_payload",
                           "`metadata.target.kind` must be view or entity.");
    }
    return status;
}

enum status payload_check_state_patch(const struct json *content, const struct json *metadata, struct failure *failure)
{
    static const struct payload_member members[] = {
        {"target", PAYLOAD_OBJECT, REQUIRED},
        {"ops", PAYLOAD_ANY, REQUIRED},
        {"origin", PAYLOAD_ORIGIN, OPTIONAL},
        {"client_id", PAYLOAD_TEXT, OPTIONAL},
        {0},
    };
    (void)content;
    enum status status = check_members(metadata, "metadata", members, failure);
    if (status == STATUS_OK) {
        status = check_target(json_get(metadata, "target"), failure);
    }
    return status == STATUS_OK ? check_ops(json_get(metadata, "ops"), failure) : status;
}

/* --- human.* --- */

enum status payload_check_human_navigate(const struct json *content, const struct json *metadata,
                                         struct failure *failure)
{
    static const struct payload_member members[] = {
        {"pathname", PAYLOAD_PATH, REQUIRED},
        {"at", PAYLOAD_TIME, REQUIRED},
        {0},
    };
    (void)content;
    return check_members(metadata, "metadata", members, failure);
}

enum status payload_check_human_entity_view(const struct json *content, const struct json *metadata,
                                            struct failure *failure)
{
    static const struct payload_member members[] = {
        {"entity_id", PAYLOAD_UUID, REQUIRED},
        {"entity_type", PAYLOAD_TEXT, REQUIRED},
        {"pathname", PAYLOAD_PATH, REQUIRED},
        {"at", PAYLOAD_TIME, REQUIRED},
        {0},
    };
    (void)content;
    return check_members(metadata, "metadata", members, failure);
}

/* The person's note is the text of the content. */
enum status payload_check_human_marker(const struct json *content, const struct json *metadata, struct failure *failure)
{
    static const struct payload_member members[] = {
        {"at", PAYLOAD_TIME, REQUIRED},
        {0},
    };
    for (const struct json *part = json_is(content, JSON_ARRAY) ? content->child : NULL; part; part = part->next) {
        struct slice text = json_is(part, JSON_STRING) ? part->text : json_text_of(part, "text");
        if (slice_trim(text).len > 0 && text_chars(text) <= MARKER_CHARS_MAX) {
            return check_members(metadata, "metadata", members, failure);
        }
    }
    return failure_set(failure, STATUS_INVALID, "invalid_payload",
                       "`content` must hold the note as a text part of 1 to %d characters.", MARKER_CHARS_MAX);
}

enum status payload_check_human_task_switch(const struct json *content, const struct json *metadata,
                                            struct failure *failure)
{
    static const struct payload_member members[] = {
        {"task_id", PAYLOAD_TEXT, REQUIRED},
        {"at", PAYLOAD_TIME, REQUIRED},
        {0},
    };
    (void)content;
    return check_members(metadata, "metadata", members, failure);
}

#include "domain/message_parts.h"

#include <string.h>

#include "base/buffer.h"
#include "domain/event_payload.h"

const struct part_kind part_kinds[] = {
    {"text", "text"},
    {"reasoning", "text"},
    {"file", "url|data|handle"},
    {"image", "image|url|data|handle"},
    {"source", "url|title"},
    {"source-url", "url"},
    {"source-document", "title"},
    {"step-start", ""},
    {"dynamic-tool", "tool_call_id tool_name"},
    {"tool-call", "tool_call_id|id tool_name|name"},
    {"tool-result", "tool_call_id|id"},
    {"tool-error", "tool_call_id|id"},
    {"tool-approval-request", "approval_id"},
    {"tool-approval-response", "approval_id"},
    {"tool-*", "tool_call_id"},
    {"data-*", "data"},
    {NULL, NULL},
};

static bool is_kind(struct slice type, const char *name)
{
    size_t i = 0;
    for (; name[i] && name[i] != '*'; i++) {
        char c = i < type.len && type.ptr[i] == '_' ? '-' : i < type.len ? type.ptr[i] : '\0';
        if (c != name[i]) {
            return false;
        }
    }
    return name[i] == '*' ? type.len > i : type.len == i;
}

static bool has_one(const struct json *part, struct slice names)
{
    struct slice name;
    bool more = true;
    while (more) {
        more = slice_cut(names, '|', &name, &names);
        const struct json *value = payload_member_of(part, name);
        if (value && !json_is(value, JSON_NULL)) {
            return true;
        }
    }
    return false;
}

static enum status refuse_part(size_t index, struct slice type, struct slice names, struct failure *failure)
{
    char said[80];
    size_t len = names.len < sizeof said - 1 ? names.len : sizeof said - 1;
    memcpy(said, names.ptr, len);
    said[len] = '\0';
    return failure_set(failure, STATUS_INVALID, "invalid_part", "`content[%zu]` of type %.*s needs `%s`.", index,
                       SLICE_ARG(slice_utf8_prefix(type, 60)), said);
}

static enum status refuse_kind(size_t index, struct failure *failure)
{
    struct buffer names = {0};
    for (const struct part_kind *kind = part_kinds; kind->name; kind++) {
        buffer_format(&names, "%s%s", kind == part_kinds ? "" : ", ", kind->name);
    }
    enum status status = failure_set(failure, STATUS_INVALID, "invalid_part",
                                     "`content[%zu].type` is no kind of part; accepted: %.*s. Kinds of your own are "
                                     "written data-NAME.",
                                     index, (int)names.len, names.ptr);
    buffer_release(&names);
    return status;
}

static enum status check_needs(const struct json *part, const struct part_kind *kind, size_t index,
                               struct failure *failure)
{
    struct slice needs = slice_of(kind->needs), names, text;
    while (needs.len > 0) {
        slice_cut(needs, ' ', &names, &needs);
        if (!has_one(part, names)) {
            return refuse_part(index, json_text_of(part, "type"), names, failure);
        }
    }
    if (slice_is(slice_of(kind->needs), "text") && !json_as_text(json_get(part, "text"), &text)) {
        return failure_set(failure, STATUS_INVALID, "invalid_part", "`content[%zu].text` must be a string.", index);
    }
    return STATUS_OK;
}

static enum status check_part(const struct json *part, size_t index, struct failure *failure)
{
    struct slice type = {0}, text;
    if (json_is(part, JSON_STRING)) {
        return STATUS_OK;
    }
    if (!json_is(part, JSON_OBJECT)) {
        return failure_set(failure, STATUS_INVALID, "invalid_part",
                           "`content[%zu]` must be an object with a `type`, or a string, not %s.", index,
                           json_kind_name(part->kind));
    }
    if (!json_get(part, "type") && json_as_text(json_get(part, "text"), &text)) {
        return STATUS_OK;
    }
    json_as_text(json_get(part, "type"), &type);
    for (const struct part_kind *kind = part_kinds; kind->name; kind++) {
        if (is_kind(type, kind->name)) {
            return check_needs(part, kind, index, failure);
        }
    }
    return refuse_kind(index, failure);
}

enum status parts_check(const struct json *content, struct failure *failure)
{
    size_t index = 0;
    for (const struct json *part = json_is(content, JSON_ARRAY) ? content->child : NULL; part; part = part->next) {
        enum status status = check_part(part, index++, failure);
        if (status != STATUS_OK) {
            return status;
        }
    }
    return STATUS_OK;
}

enum status payload_check_message(const struct json *content, const struct json *metadata, struct failure *failure)
{
    (void)metadata;
    return parts_check(content, failure);
}

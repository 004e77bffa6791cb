#include "domain/context.h"

#include "domain/redact.h"

enum { CONTEXT_TEXT_BYTES = 4096, VARIABLE_BYTES = 16384 };

static enum status refuse(struct failure *failure, const char *key, const char *must)
{
    return failure_set(failure, STATUS_INVALID, "invalid_context", "`details.context.%s` must be %s.", key, must);
}

static bool is_text(const struct json *value, size_t bytes_max)
{
    return json_is(value, JSON_STRING) && value->text.len <= bytes_max;
}

static enum status check_text(const struct json *value, const char *key, struct failure *failure)
{
    return is_text(value, CONTEXT_TEXT_BYTES) ? STATUS_OK : refuse(failure, key, "a text of at most 4096 bytes");
}

static enum status check_scope(const struct json *value, const char *key, struct failure *failure)
{
    bool ok = json_is(value, JSON_STRING) && enum_names_find(fs_scope_enum, value->text) >= 0;
    return ok ? STATUS_OK : refuse(failure, key, "one of: sandboxed, project, full");
}

static enum status check_selection(const struct json *value, const char *key, struct failure *failure)
{
    int64_t start = 0, end = 0;
    bool ok = json_is(value, JSON_OBJECT) && value->count == 3 &&
              is_text(json_get(value, "file"), CONTEXT_TEXT_BYTES) &&
              json_as_i64(json_get(value, "start_line"), &start) && json_as_i64(json_get(value, "end_line"), &end) &&
              start >= 1 && end >= start;
    return ok ? STATUS_OK
              : refuse(failure, key, "{file, start_line, end_line} with lines from 1, the start not after the end");
}

static enum status check_variables(const struct json *value, const char *key, struct failure *failure)
{
    if (!json_is(value, JSON_OBJECT) || value->count > CONTEXT_VARIABLES_MAX) {
        return refuse(failure, key, "an object of at most 100 texts");
    }
    for (const struct json *one = value->child; one; one = one->next) {
        if (!is_text(one, VARIABLE_BYTES)) {
            return refuse(failure, key, "an object whose values are texts of at most 16384 bytes");
        }
        if (redact_finds(one->key, one->text)) {
            return failure_set(failure, STATUS_INVALID, "secret_in_context",
                               "`details.context.variables.%.*s` looks like a secret; variables are kept and shown as "
                               "they are, so secrets must not be among them.",
                               SLICE_ARG(slice_utf8_prefix(one->key, 60)));
        }
    }
    return STATUS_OK;
}

static const struct {
    const char *key;
    enum status (*check)(const struct json *value, const char *key, struct failure *failure);
} keys[] = {
    {"working_dir", check_text}, {"active_file", check_text},    {"git_ref", check_text},
    {"fs_scope", check_scope},   {"selection", check_selection}, {"variables", check_variables},
};

static enum status check_member(const struct json *member, struct failure *failure)
{
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        if (slice_is(member->key, keys[i].key)) {
            return json_is(member, JSON_NULL) ? STATUS_OK : keys[i].check(member, keys[i].key, failure);
        }
    }
    return failure_set(failure, STATUS_INVALID, "invalid_context",
                       "`details.context.%.*s` is not known; accepted: working_dir, active_file, git_ref, fs_scope, "
                       "selection, variables.",
                       SLICE_ARG(slice_utf8_prefix(member->key, 60)));
}

enum status context_check(const struct json *context, struct failure *failure)
{
    if (!json_is(context, JSON_OBJECT)) {
        return failure_set(failure, STATUS_INVALID, "invalid_context", "`details.context` must be an object, not %s.",
                           json_kind_name(context->kind));
    }
    enum status status = STATUS_OK;
    for (const struct json *member = context->child; member && status == STATUS_OK; member = member->next) {
        status = check_member(member, failure);
    }
    return status;
}

enum fs_scope context_fs_scope(const struct session *session, enum fs_scope fallback)
{
    struct arena scratch = {0};
    const struct json *details = NULL;
    int scope = -1;
    if (slice_present(session->details) && json_parse(&scratch, session->details, &details, NULL) == STATUS_OK) {
        struct slice word = json_text_of(json_get(details, "context"), "fs_scope");
        scope = slice_present(word) ? enum_names_find(fs_scope_enum, word) : -1;
    }
    arena_release(&scratch);
    return scope >= 0 ? (enum fs_scope)scope : fallback;
}

#include "api/core/validate.h"

#include <stdio.h>

#include "base/clock.h"
#include "domain/text.h"

static const struct field *find_field(const struct field *fields, struct slice name)
{
    for (const struct field *field = fields; field && field->name; field++) {
        bool label = field->kind == FIELD_LABEL && slice_starts(name, slice_of(field->name));
        if (label || slice_is(name, field->name)) {
            return field;
        }
    }
    return NULL;
}

static void list_names(const struct field *fields, char *out, size_t room)
{
    size_t used = 0;
    out[0] = '\0';
    for (const struct field *field = fields; field && field->name && used < room; field++) {
        int len = snprintf(out + used, room - used, "%s%s%s", used ? ", " : "", field->name,
                           field->kind == FIELD_LABEL ? "NAME" : "");
        used += len > 0 ? (size_t)len : 0;
    }
}

static enum status refuse_unknown(const struct field *fields, const char *what, struct slice name,
                                  struct failure *failure)
{
    char names[800];
    list_names(fields, names, sizeof names);
    struct slice shown = slice_utf8_prefix(name, 60);
    return failure_set(failure, STATUS_INVALID, "unknown_member", "There is no %s `%.*s` here; accepted are: %s.", what,
                       SLICE_ARG(shown), names[0] ? names : "none");
}

static enum status refuse_kind(const struct field *field, const char *expected, struct failure *failure)
{
    return failure_set(failure, STATUS_INVALID, "invalid_member", "`%s` must be %s.", field->name, expected);
}

/* "1 to 5", or "at least 1" without an upper bound. */
static void write_range(const struct field *field, char *out, size_t room)
{
    if (field->max == INT64_MAX) {
        snprintf(out, room, "at least %lld", (long long)field->min);
    } else {
        snprintf(out, room, "%lld to %lld", (long long)field->min, (long long)field->max);
    }
}

static enum status check_text(const struct field *field, struct slice text, struct failure *failure)
{
    char range[48];
    size_t chars = text_chars(text);
    if ((field->min || field->max) && (chars < (size_t)field->min || (field->max && chars > (size_t)field->max))) {
        write_range(field, range, sizeof range);
        return failure_set(failure, STATUS_INVALID, "invalid_member", "`%s` must have %s characters.", field->name,
                           range);
    }
    return STATUS_OK;
}

static enum status check_number(const struct field *field, int64_t value, struct failure *failure)
{
    char range[48];
    if ((field->min || field->max) && (value < field->min || value > field->max)) {
        write_range(field, range, sizeof range);
        return failure_set(failure, STATUS_INVALID, "invalid_member", "`%s` must be a whole number, %s.", field->name,
                           range);
    }
    return STATUS_OK;
}

static enum status check_word(const struct field *field, struct slice word, struct failure *failure)
{
    if (enum_names_find(*field->words, word) >= 0) {
        return STATUS_OK;
    }
    char words[300];
    enum_names_list(*field->words, words, sizeof words);
    return failure_set(failure, STATUS_INVALID, "invalid_member", "`%s` must be one of: %s.", field->name, words);
}

static enum status check_member(const struct field *field, const struct json *value, struct failure *failure)
{
    struct slice text;
    int64_t number;
    switch (field->kind) {
    case FIELD_STRING:
        return json_as_text(value, &text) ? check_text(field, text, failure) : refuse_kind(field, "a string", failure);
    case FIELD_WORD:
        return json_as_text(value, &text) ? check_word(field, text, failure) : refuse_kind(field, "a string", failure);
    case FIELD_TIMESTAMP:
        return json_as_text(value, &text) && time_parse(text, &number)
                   ? STATUS_OK
                   : refuse_kind(field, "an RFC 3339 time", failure);
    case FIELD_INTEGER:
        return json_as_i64(value, &number) ? check_number(field, number, failure)
                                           : refuse_kind(field, "a whole number", failure);
    case FIELD_BOOLEAN:
        return json_is(value, JSON_TRUE) || json_is(value, JSON_FALSE) ? STATUS_OK
                                                                       : refuse_kind(field, "true or false", failure);
    case FIELD_OBJECT:
        return json_is(value, JSON_OBJECT) ? STATUS_OK : refuse_kind(field, "an object", failure);
    case FIELD_LIST:
    case FIELD_TEXTS:
        return json_is(value, JSON_ARRAY) ? STATUS_OK : refuse_kind(field, "an array", failure);
    case FIELD_ANY:
    case FIELD_LABEL:
        break;
    }
    return STATUS_OK;
}

enum status validate_body_as(bool ignores_unknown, const struct field *fields, const struct json *body,
                             struct failure *failure)
{
    if (!json_is(body, JSON_OBJECT)) {
        return failure_set(failure, STATUS_INVALID, "invalid_body", "The body must be a JSON object.");
    }
    for (const struct json *member = body->child; member; member = member->next) {
        const struct field *field = find_field(fields, member->key);
        bool passes = field ? member->kind == JSON_NULL : ignores_unknown;
        enum status status = passes   ? STATUS_OK
                             : !field ? refuse_unknown(fields, "member", member->key, failure)
                                      : check_member(field, member, failure);
        if (status != STATUS_OK) {
            return status;
        }
    }
    for (const struct field *field = fields; field->name; field++) {
        if (field->required && !json_get_value(body, field->name)) {
            return failure_set(failure, STATUS_INVALID, "missing_member", "`%s` is required: %s", field->name,
                               field->text);
        }
    }
    return STATUS_OK;
}

enum status validate_body(const struct field *fields, const struct json *body, struct failure *failure)
{
    return validate_body_as(false, fields, body, failure);
}

static enum status check_param(const struct field *field, struct slice value, struct failure *failure)
{
    int64_t number;
    switch (field->kind) {
    case FIELD_INTEGER:
        return slice_to_i64(value, &number) ? check_number(field, number, failure)
                                            : refuse_kind(field, "a whole number", failure);
    case FIELD_BOOLEAN:
        return slice_is(value, "true") || slice_is(value, "false") ? STATUS_OK
                                                                   : refuse_kind(field, "true or false", failure);
    case FIELD_WORD:
        return check_word(field, value, failure);
    case FIELD_TIMESTAMP:
        return time_parse(value, &number) ? STATUS_OK : refuse_kind(field, "an RFC 3339 time", failure);
    case FIELD_STRING:
        return check_text(field, value, failure);
    case FIELD_OBJECT:
    case FIELD_LIST:
    case FIELD_TEXTS:
    case FIELD_ANY:
    case FIELD_LABEL:
        break;
    }
    return STATUS_OK;
}

enum status validate_query_as(bool ignores_unknown, const struct field *fields, const struct url_query *query,
                              struct failure *failure)
{
    for (size_t i = 0; query && i < query->count; i++) {
        const struct field *field = find_field(fields, query->params[i].name);
        if (!field && ignores_unknown) {
            continue;
        }
        enum status status = field ? check_param(field, query->params[i].value, failure)
                                   : refuse_unknown(fields, "query parameter", query->params[i].name, failure);
        if (status != STATUS_OK) {
            return status;
        }
        for (size_t k = 0; k < i; k++) {
            if (slice_eq(query->params[k].name, query->params[i].name)) {
                return failure_set(failure, STATUS_INVALID, "repeated_parameter", "The query names `%.*s` twice.",
                                   SLICE_ARG(slice_utf8_prefix(query->params[i].name, 60)));
            }
        }
    }
    return STATUS_OK;
}

enum status validate_query(const struct field *fields, const struct url_query *query, struct failure *failure)
{
    return validate_query_as(false, fields, query, failure);
}

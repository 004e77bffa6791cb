#include "wire/json_schema_internal.h"

#include "base/budget.h"

static enum status check_schema(const struct json *schema, unsigned depth, struct failure *failure);

static enum status wrong(struct slice word, const char *expected, struct failure *failure)
{
    return failure_set(failure, STATUS_INVALID, "invalid_schema", "In the schema `%.*s` must be %s.",
                       SLICE_ARG(slice_utf8_prefix(word, 60)), expected);
}

static bool all_are(const struct json *list, bool (*holds)(const struct json *one))
{
    const struct json *one = json_is(list, JSON_ARRAY) ? list->child : NULL;
    while (one && holds(one)) {
        one = one->next;
    }
    return json_is(list, JSON_ARRAY) && !one;
}

static bool is_text(const struct json *value)
{
    return json_is(value, JSON_STRING);
}

static enum status check_schemas(const struct json *list, unsigned depth, struct failure *failure)
{
    enum status status = STATUS_OK;
    for (const struct json *one = list->child; one && status == STATUS_OK; one = one->next) {
        status = check_schema(one, depth + 1, failure);
    }
    return status;
}

static enum status check_word(const struct schema_word *word, const struct json *value, unsigned depth,
                              struct failure *failure)
{
    bool flag = json_is(value, JSON_TRUE) || json_is(value, JSON_FALSE);
    switch (word->shape) {
    case SHAPE_TYPE:
        return schema_type_is_known(value) || (all_are(value, schema_type_is_known) && value->count > 0)
                   ? STATUS_OK
                   : wrong(value->key, "null, boolean, number, integer, string, array or object, or a list of them",
                           failure);
    case SHAPE_VALUES:
        return json_is(value, JSON_ARRAY) ? STATUS_OK : wrong(value->key, "a list of values", failure);
    case SHAPE_NAMES:
        return all_are(value, is_text) ? STATUS_OK : wrong(value->key, "a list of names", failure);
    case SHAPE_FLAG:
        return flag ? STATUS_OK : wrong(value->key, "true or false", failure);
    case SHAPE_SCHEMA:
        return check_schema(value, depth + 1, failure);
    case SHAPE_SCHEMAS:
        return json_is(value, JSON_ARRAY) && value->count > 0 ? check_schemas(value, depth, failure)
                                                              : wrong(value->key, "a list of schemas", failure);
    case SHAPE_PROPERTIES:
        return json_is(value, JSON_OBJECT) ? check_schemas(value, depth, failure)
                                           : wrong(value->key, "an object of schemas", failure);
    case SHAPE_ANY:
        break;
    }
    return STATUS_OK;
}

static enum status check_schema(const struct json *schema, unsigned depth, struct failure *failure)
{
    if (!budget_spend(schema->count + 1)) {
        return budget_check(failure);
    }
    if (depth > JSON_SCHEMA_DEPTH_MAX) {
        return failure_set(failure, STATUS_INVALID, "invalid_schema", "The schema is deeper than %d levels.",
                           JSON_SCHEMA_DEPTH_MAX);
    }
    if (json_is(schema, JSON_TRUE) || json_is(schema, JSON_FALSE)) {
        return STATUS_OK;
    }
    if (!json_is(schema, JSON_OBJECT)) {
        return failure_set(failure, STATUS_INVALID, "invalid_schema", "A schema is an object, true or false.");
    }
    enum status status = STATUS_OK;
    for (const struct json *one = schema->child; one && status == STATUS_OK; one = one->next) {
        const struct schema_word *word = schema_word_find(one->key);
        long double number;
        if (schema_bound_find(one->key)) {
            status = schema_number(one, &number) ? STATUS_OK : wrong(one->key, "a number", failure);
        } else if (word) {
            status = check_word(word, one, depth, failure);
        } else {
            status = failure_set(failure, STATUS_INVALID, "invalid_schema",
                                 "The word `%.*s` of JSON Schema is not offered here.",
                                 SLICE_ARG(slice_utf8_prefix(one->key, 60)));
        }
    }
    return status;
}

enum status json_schema_check(const struct json *schema, struct failure *failure)
{
    return check_schema(schema, 0, failure);
}

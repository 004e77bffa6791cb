#include "wire/json_schema_internal.h"

#include "base/budget.h"

static const struct {
    const char *name;
    unsigned kinds; /* bits of enum json_kind */
} types[] = {
    {"null", 1u << JSON_NULL},     {"boolean", 1u << JSON_FALSE | 1u << JSON_TRUE},
    {"number", 1u << JSON_NUMBER}, {"integer", 1u << JSON_NUMBER},
    {"string", 1u << JSON_STRING}, {"array", 1u << JSON_ARRAY},
    {"object", 1u << JSON_OBJECT},
};
enum { TYPE_COUNT_KNOWN = sizeof types / sizeof *types };

bool schema_type_is_known(const struct json *name)
{
    for (size_t i = 0; i < TYPE_COUNT_KNOWN && json_is(name, JSON_STRING); i++) {
        if (slice_is(name->text, types[i].name)) {
            return true;
        }
    }
    return false;
}

static bool is_of_type(struct slice name, const struct json *value)
{
    for (size_t i = 0; i < TYPE_COUNT_KNOWN; i++) {
        if (slice_is(name, types[i].name)) {
            return (types[i].kinds >> value->kind & 1u) != 0 && (!slice_is(name, "integer") || schema_is_whole(value));
        }
    }
    return false;
}

bool schema_type_fits(const struct schema_check *check, const struct json *type, const struct json *value)
{
    if (json_is(type, JSON_STRING)) {
        return is_of_type(type->text, value) || schema_refuse(check, "be of type ", type->text);
    }
    for (const struct json *one = type->child; one && budget_spend(1); one = one->next) {
        if (is_of_type(one->text, value)) {
            return true;
        }
    }
    return schema_refuse(check, "be of a type among ", type->raw);
}

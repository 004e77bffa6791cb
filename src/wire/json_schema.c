#include "wire/json_schema_internal.h"

#include "base/budget.h"

static void place_write(struct buffer *to, const struct schema_place *place)
{
    if (!place) {
        return;
    }
    place_write(to, place->outer);
    if (slice_present(place->key)) {
        buffer_format(to, "%s%.*s", to->len ? "." : "", SLICE_ARG(slice_utf8_prefix(place->key, 60)));
    } else {
        buffer_format(to, "[%zu]", place->index);
    }
}

bool schema_refuse(const struct schema_check *check, const char *expected, struct slice what)
{
    struct buffer path = {0};
    if (!check->failure) {
        return false;
    }
    place_write(&path, check->place);
    struct slice at = slice_utf8_prefix(buffer_slice(&path), 300);
    failure_set(check->failure, STATUS_INVALID, "does_not_fit", "%s%.*s%s must %s%.*s.", at.len ? "`" : "The answer",
                SLICE_ARG(at), at.len ? "`" : "", expected, SLICE_ARG(slice_utf8_prefix(what, 300)));
    buffer_release(&path);
    return false;
}

/* --- validating --- */

static bool fits(const struct schema_check *check, const struct json *schema, const struct json *value);

static bool one_of_values(const struct json *list, const struct json *value)
{
    for (const struct json *one = list->child; one; one = one->next) {
        if (!budget_spend(1) || json_equal(one, value)) {
            return true; /* a spent budget is told at the end */
        }
    }
    return false;
}

static bool enum_fits(const struct schema_check *check, const struct json *list, const struct json *value)
{
    return one_of_values(list, value) || schema_refuse(check, "be one of ", list->raw);
}

static bool const_fits(const struct schema_check *check, const struct json *constant, const struct json *value)
{
    return json_equal(constant, value) || schema_refuse(check, "be ", constant->raw);
}

static bool required_fits(const struct schema_check *check, const struct json *names, const struct json *value)
{
    for (const struct json *name = names->child; name && json_is(value, JSON_OBJECT); name = name->next) {
        budget_spend(1);
        if (!json_member(value, name->text)) {
            return schema_refuse(check, "have the member ", name->text);
        }
    }
    return true;
}

static bool member_fits(const struct schema_check *check, const struct json *schema, const struct json *one)
{
    struct schema_place place = {check->place, one->key, 0};
    struct schema_check inner = {check->failure, &place, check->depth + 1};
    if (json_is(schema, JSON_FALSE)) {
        return schema_refuse(check, "not have the member ", one->key);
    }
    return fits(&inner, schema, one);
}

static bool properties_fit(const struct schema_check *check, const struct json *properties, const struct json *value)
{
    for (const struct json *one = json_is(value, JSON_OBJECT) ? value->child : NULL; one; one = one->next) {
        const struct json *schema = json_member(properties, one->key);
        if (schema && !member_fits(check, schema, one)) {
            return false;
        }
    }
    return true;
}

static bool others_fit(const struct schema_check *check, const struct json *whole, const struct json *schema,
                       const struct json *value)
{
    const struct json *properties = json_get(whole, "properties");
    for (const struct json *one = json_is(value, JSON_OBJECT) ? value->child : NULL; one; one = one->next) {
        if (!json_member(properties, one->key) && !member_fits(check, schema, one)) {
            return false;
        }
    }
    return true;
}

static bool items_fit(const struct schema_check *check, const struct json *schema, const struct json *value)
{
    size_t index = 0;
    for (const struct json *one = json_is(value, JSON_ARRAY) ? value->child : NULL; one; one = one->next) {
        struct schema_place place = {check->place, {0}, index++};
        struct schema_check inner = {check->failure, &place, check->depth + 1};
        if (!fits(&inner, schema, one)) {
            return false;
        }
    }
    return true;
}

static bool unique_fits(const struct schema_check *check, const struct json *wanted, const struct json *value)
{
    if (!json_is(wanted, JSON_TRUE) || !json_is(value, JSON_ARRAY)) {
        return true;
    }
    if (value->count > JSON_SCHEMA_UNIQUE_MAX) {
        return schema_refuse(check, "have at most 1000 elements", SLICE(""));
    }
    for (const struct json *one = value->child; one; one = one->next) {
        for (const struct json *other = one->next; other && budget_spend(1); other = other->next) {
            if (json_equal(one, other)) {
                return schema_refuse(check, "hold nothing twice", SLICE(""));
            }
        }
    }
    return true;
}

static unsigned count_fitting(const struct schema_check *check, const struct json *schemas, const struct json *value)
{
    struct schema_check quiet = {NULL, check->place, check->depth + 1};
    unsigned count = 0;
    for (const struct json *one = schemas->child; one; one = one->next) {
        count += fits(&quiet, one, value);
    }
    return count;
}

static bool all_fit(const struct schema_check *check, const struct json *schemas, const struct json *value)
{
    struct schema_check inner = {check->failure, check->place, check->depth + 1};
    for (const struct json *one = schemas->child; one; one = one->next) {
        if (!fits(&inner, one, value)) {
            return false;
        }
    }
    return true;
}

static bool any_fits(const struct schema_check *check, const struct json *schemas, const struct json *value)
{
    return count_fitting(check, schemas, value) > 0 || schema_refuse(check, "fit one of the alternatives", SLICE(""));
}

static bool one_fits(const struct schema_check *check, const struct json *schemas, const struct json *value)
{
    return count_fitting(check, schemas, value) == 1 ||
           schema_refuse(check, "fit exactly one of the alternatives", SLICE(""));
}

static bool not_fits(const struct schema_check *check, const struct json *schema, const struct json *value)
{
    struct schema_check quiet = {NULL, check->place, check->depth + 1};
    return !fits(&quiet, schema, value) || schema_refuse(check, "not be what the schema excludes", SLICE(""));
}

/* --- the words --- */

static const struct schema_word words[] = {
    {"type", SHAPE_TYPE, schema_type_fits},
    {"enum", SHAPE_VALUES, enum_fits},
    {"const", SHAPE_ANY, const_fits},
    {"required", SHAPE_NAMES, required_fits},
    {"properties", SHAPE_PROPERTIES, properties_fit},
    {"additionalProperties", SHAPE_SCHEMA, NULL}, /* needs its neighbour: others_fit */
    {"items", SHAPE_SCHEMA, items_fit},
    {"uniqueItems", SHAPE_FLAG, unique_fits},
    {"allOf", SHAPE_SCHEMAS, all_fit},
    {"anyOf", SHAPE_SCHEMAS, any_fits},
    {"oneOf", SHAPE_SCHEMAS, one_fits},
    {"not", SHAPE_SCHEMA, not_fits},
    {"title", SHAPE_ANY, NULL},
    {"description", SHAPE_ANY, NULL},
    {"default", SHAPE_ANY, NULL},
    {"examples", SHAPE_ANY, NULL},
    {"format", SHAPE_ANY, NULL},
    {"enumNames", SHAPE_ANY, NULL},
    {"readOnly", SHAPE_ANY, NULL},
    {"writeOnly", SHAPE_ANY, NULL},
    {"deprecated", SHAPE_ANY, NULL},
    {"contentMediaType", SHAPE_ANY, NULL},
    {"contentEncoding", SHAPE_ANY, NULL},
    {"$schema", SHAPE_ANY, NULL},
    {"$id", SHAPE_ANY, NULL},
    {"$comment", SHAPE_ANY, NULL},
};
enum { WORD_COUNT = sizeof words / sizeof *words };

const struct schema_word *schema_word_find(struct slice name)
{
    for (size_t i = 0; i < WORD_COUNT; i++) {
        if (slice_is(name, words[i].name)) {
            return &words[i];
        }
    }
    return NULL;
}

static bool fits(const struct schema_check *check, const struct json *schema, const struct json *value)
{
    if (!budget_spend(1)) {
        return false; /* what it is short of is told at the end */
    }
    if (json_is(schema, JSON_FALSE) || check->depth > JSON_SCHEMA_DEPTH_MAX) {
        return schema_refuse(check, "not be there", SLICE(""));
    }
    for (const struct json *one = json_is(schema, JSON_OBJECT) ? schema->child : NULL; one; one = one->next) {
        budget_spend(1);
        const struct schema_bound *bound = schema_bound_find(one->key);
        const struct schema_word *word = bound ? NULL : schema_word_find(one->key);
        if (bound && !schema_bound_fits(check, bound, one, value)) {
            return false;
        }
        if (word && word->fits && !word->fits(check, one, value)) {
            return false;
        }
        if (slice_is(one->key, "additionalProperties") && !others_fit(check, schema, one, value)) {
            return false;
        }
    }
    return true;
}

enum status json_schema_validate(const struct json *schema, const struct json *value, struct failure *failure)
{
    struct failure unused;
    struct schema_check check = {failure ? failure : &unused, NULL, 0};
    bool fit = fits(&check, schema, value);
    enum status spent = budget_check(check.failure);
    return spent != STATUS_OK ? spent : fit ? STATUS_OK : STATUS_INVALID;
}

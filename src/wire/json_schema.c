#include "wire/json_schema.h"

#include <math.h>
#include <stdlib.h>

enum { NUMBER_BYTES_MAX = 320 };

/* Where the value stands, from the outside in; written only when something does not fit. */
struct place {
    const struct place *outer;
    struct slice key; /* absent: the element `index` */
    size_t index;
};

struct check {
    struct failure *failure; /* NULL while alternatives are tried */
    const struct place *place;
    unsigned depth;
};

static void place_write(struct buffer *to, const struct place *place)
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

static bool refuse(const struct check *check, const char *expected, struct slice what)
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

/* --- numbers --- */

/* Exact for every 64-bit number. */
static bool number_of(const struct json *value, long double *out)
{
    char text[NUMBER_BYTES_MAX + 1];
    if (!json_is(value, JSON_NUMBER) || value->raw.len > NUMBER_BYTES_MAX) {
        return false;
    }
    memcpy(text, value->raw.ptr, value->raw.len);
    text[value->raw.len] = 0;
    *out = strtold(text, NULL);
    return true;
}

static bool is_whole(const struct json *value)
{
    long double number;
    return number_of(value, &number) && isfinite(number) && floorl(number) == number;
}

static size_t chars_of(struct slice text)
{
    size_t count = 0;
    for (size_t i = 0; i < text.len; i++) {
        count += (text.ptr[i] & 0xC0) != 0x80;
    }
    return count;
}

/* What a bound is about; false when it does not concern this kind of value. */
static bool measure(const struct json *value, enum json_kind kind, long double *out)
{
    if (!json_is(value, kind)) {
        return false;
    }
    if (kind == JSON_NUMBER) {
        return number_of(value, out);
    }
    *out = kind == JSON_STRING ? (long double)chars_of(value->text) : (long double)value->count;
    return true;
}

static bool at_least(long double n, long double bound)
{
    return n >= bound;
}

static bool at_most(long double n, long double bound)
{
    return n <= bound;
}

static bool more_than(long double n, long double bound)
{
    return n > bound;
}

static bool less_than(long double n, long double bound)
{
    return n < bound;
}

static const struct bound {
    const char *word;
    enum json_kind kind;
    bool (*holds)(long double n, long double bound);
    const char *expected;
} bounds[] = {
    {"minimum", JSON_NUMBER, at_least, "be at least "},
    {"maximum", JSON_NUMBER, at_most, "be at most "},
    {"exclusiveMinimum", JSON_NUMBER, more_than, "be more than "},
    {"exclusiveMaximum", JSON_NUMBER, less_than, "be less than "},
    {"minLength", JSON_STRING, at_least, "have as many characters as, or more than, "},
    {"maxLength", JSON_STRING, at_most, "have as many characters as, or fewer than, "},
    {"minItems", JSON_ARRAY, at_least, "have as many elements as, or more than, "},
    {"maxItems", JSON_ARRAY, at_most, "have as many elements as, or fewer than, "},
    {"minProperties", JSON_OBJECT, at_least, "have as many members as, or more than, "},
    {"maxProperties", JSON_OBJECT, at_most, "have as many members as, or fewer than, "},
};
enum { BOUND_COUNT = sizeof bounds / sizeof *bounds };

static const struct bound *bound_find(struct slice word)
{
    for (size_t i = 0; i < BOUND_COUNT; i++) {
        if (slice_is(word, bounds[i].word)) {
            return &bounds[i];
        }
    }
    return NULL;
}

static bool bound_fits(const struct check *check, const struct bound *bound, const struct json *limit,
                       const struct json *value)
{
    long double size, most;
    if (!number_of(limit, &most) || !measure(value, bound->kind, &size)) {
        return true;
    }
    return bound->holds(size, most) || refuse(check, bound->expected, limit->raw);
}

/* --- types --- */

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

static bool type_is_known(const struct json *name)
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
            return (types[i].kinds >> value->kind & 1u) != 0 && (!slice_is(name, "integer") || is_whole(value));
        }
    }
    return false;
}

static bool type_fits(const struct check *check, const struct json *type, const struct json *value)
{
    if (json_is(type, JSON_STRING)) {
        return is_of_type(type->text, value) || refuse(check, "be of type ", type->text);
    }
    for (const struct json *one = type->child; one; one = one->next) {
        if (is_of_type(one->text, value)) {
            return true;
        }
    }
    return refuse(check, "be of a type among ", type->raw);
}

/* --- validating --- */

static bool fits(const struct check *check, const struct json *schema, const struct json *value);

static const struct json *member(const struct json *object, struct slice key)
{
    const struct json *one = json_is(object, JSON_OBJECT) ? object->child : NULL;
    while (one && !slice_eq(one->key, key)) {
        one = one->next;
    }
    return one;
}

static bool one_of_values(const struct json *list, const struct json *value)
{
    for (const struct json *one = list->child; one; one = one->next) {
        if (json_equal(one, value)) {
            return true;
        }
    }
    return false;
}

static bool enum_fits(const struct check *check, const struct json *list, const struct json *value)
{
    return one_of_values(list, value) || refuse(check, "be one of ", list->raw);
}

static bool const_fits(const struct check *check, const struct json *constant, const struct json *value)
{
    return json_equal(constant, value) || refuse(check, "be ", constant->raw);
}

static bool required_fits(const struct check *check, const struct json *names, const struct json *value)
{
    for (const struct json *name = names->child; name && json_is(value, JSON_OBJECT); name = name->next) {
        if (!member(value, name->text)) {
            return refuse(check, "have the member ", name->text);
        }
    }
    return true;
}

static bool member_fits(const struct check *check, const struct json *schema, const struct json *one)
{
    struct place place = {check->place, one->key, 0};
    struct check inner = {check->failure, &place, check->depth + 1};
    if (json_is(schema, JSON_FALSE)) {
        return refuse(check, "not have the member ", one->key);
    }
    return fits(&inner, schema, one);
}

static bool properties_fit(const struct check *check, const struct json *properties, const struct json *value)
{
    for (const struct json *one = json_is(value, JSON_OBJECT) ? value->child : NULL; one; one = one->next) {
        const struct json *schema = member(properties, one->key);
        if (schema && !member_fits(check, schema, one)) {
            return false;
        }
    }
    return true;
}

static bool others_fit(const struct check *check, const struct json *whole, const struct json *schema,
                       const struct json *value)
{
    const struct json *properties = json_get(whole, "properties");
    for (const struct json *one = json_is(value, JSON_OBJECT) ? value->child : NULL; one; one = one->next) {
        if (!member(properties, one->key) && !member_fits(check, schema, one)) {
            return false;
        }
    }
    return true;
}

static bool items_fit(const struct check *check, const struct json *schema, const struct json *value)
{
    size_t index = 0;
    for (const struct json *one = json_is(value, JSON_ARRAY) ? value->child : NULL; one; one = one->next) {
        struct place place = {check->place, {0}, index++};
        struct check inner = {check->failure, &place, check->depth + 1};
        if (!fits(&inner, schema, one)) {
            return false;
        }
    }
    return true;
}

static bool unique_fits(const struct check *check, const struct json *wanted, const struct json *value)
{
    if (!json_is(wanted, JSON_TRUE) || !json_is(value, JSON_ARRAY)) {
        return true;
    }
    if (value->count > JSON_SCHEMA_UNIQUE_MAX) {
        return refuse(check, "have at most 1000 elements", SLICE(""));
    }
    for (const struct json *one = value->child; one; one = one->next) {
        for (const struct json *other = one->next; other; other = other->next) {
            if (json_equal(one, other)) {
                return refuse(check, "hold nothing twice", SLICE(""));
            }
        }
    }
    return true;
}

static unsigned count_fitting(const struct check *check, const struct json *schemas, const struct json *value)
{
    struct check quiet = {NULL, check->place, check->depth + 1};
    unsigned count = 0;
    for (const struct json *one = schemas->child; one; one = one->next) {
        count += fits(&quiet, one, value);
    }
    return count;
}

static bool all_fit(const struct check *check, const struct json *schemas, const struct json *value)
{
    struct check inner = {check->failure, check->place, check->depth + 1};
    for (const struct json *one = schemas->child; one; one = one->next) {
        if (!fits(&inner, one, value)) {
            return false;
        }
    }
    return true;
}

static bool any_fits(const struct check *check, const struct json *schemas, const struct json *value)
{
    return count_fitting(check, schemas, value) > 0 || refuse(check, "fit one of the alternatives", SLICE(""));
}

static bool one_fits(const struct check *check, const struct json *schemas, const struct json *value)
{
    return count_fitting(check, schemas, value) == 1 || refuse(check, "fit exactly one of the alternatives", SLICE(""));
}

static bool not_fits(const struct check *check, const struct json *schema, const struct json *value)
{
    struct check quiet = {NULL, check->place, check->depth + 1};
    return !fits(&quiet, schema, value) || refuse(check, "not be what the schema excludes", SLICE(""));
}

/* --- the words --- */

enum shape {
    SHAPE_ANY,
    SHAPE_TYPE,
    SHAPE_VALUES,
    SHAPE_NAMES,
    SHAPE_FLAG,
    SHAPE_SCHEMA,
    SHAPE_SCHEMAS,
    SHAPE_PROPERTIES,
};

static const struct word {
    const char *name;
    enum shape shape;
    bool (*fits)(const struct check *check, const struct json *word, const struct json *value); /* NULL: describes */
} words[] = {
    {"type", SHAPE_TYPE, type_fits},
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

static const struct word *word_find(struct slice name)
{
    for (size_t i = 0; i < WORD_COUNT; i++) {
        if (slice_is(name, words[i].name)) {
            return &words[i];
        }
    }
    return NULL;
}

static bool fits(const struct check *check, const struct json *schema, const struct json *value)
{
    if (json_is(schema, JSON_FALSE) || check->depth > JSON_SCHEMA_DEPTH_MAX) {
        return refuse(check, "not be there", SLICE(""));
    }
    for (const struct json *one = json_is(schema, JSON_OBJECT) ? schema->child : NULL; one; one = one->next) {
        const struct bound *bound = bound_find(one->key);
        const struct word *word = bound ? NULL : word_find(one->key);
        if (bound && !bound_fits(check, bound, one, value)) {
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
    struct check check = {failure ? failure : &unused, NULL, 0};
    return fits(&check, schema, value) ? STATUS_OK : STATUS_INVALID;
}

/* --- checking the schema itself --- */

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

static enum status check_word(const struct word *word, const struct json *value, unsigned depth,
                              struct failure *failure)
{
    bool flag = json_is(value, JSON_TRUE) || json_is(value, JSON_FALSE);
    switch (word->shape) {
    case SHAPE_TYPE:
        return type_is_known(value) || (all_are(value, type_is_known) && value->count > 0)
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
        const struct word *word = word_find(one->key);
        long double number;
        if (bound_find(one->key)) {
            status = number_of(one, &number) ? STATUS_OK : wrong(one->key, "a number", failure);
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

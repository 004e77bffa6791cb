#include <math.h>
#include <stdlib.h>

#include "base/budget.h"
#include "wire/json_schema_internal.h"

enum { NUMBER_BYTES_MAX = 320 };

bool schema_number(const struct json *value, long double *out)
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

bool schema_is_whole(const struct json *value)
{
    long double number;
    return schema_number(value, &number) && isfinite(number) && floorl(number) == number;
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
        return schema_number(value, out);
    }
    budget_spend_bytes(value->text.len);
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

static const struct schema_bound {
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

const struct schema_bound *schema_bound_find(struct slice word)
{
    for (size_t i = 0; i < BOUND_COUNT; i++) {
        if (slice_is(word, bounds[i].word)) {
            return &bounds[i];
        }
    }
    return NULL;
}

bool schema_bound_fits(const struct schema_check *check, const struct schema_bound *bound, const struct json *limit,
                       const struct json *value)
{
    long double size, most;
    if (!schema_number(limit, &most) || !measure(value, bound->kind, &size)) {
        return true;
    }
    return bound->holds(size, most) || schema_refuse(check, bound->expected, limit->raw);
}

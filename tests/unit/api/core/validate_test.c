#include "api/core/validate.h"

#include "unit.h"

static const char *const colour_names[] = {"red", "blue"};
static const struct enum_names colours = {colour_names, 2};
static const struct field fields[] = {
    {"name", FIELD_STRING, true, "A name.", NULL, 1, 3},
    {"age", FIELD_INTEGER, false, "Years.", NULL, 0, 150},
    {"big", FIELD_INTEGER, false, "Any number.", NULL, 0, 0},
    {"on", FIELD_BOOLEAN, false, "A switch.", NULL, 0, 0},
    {"colour", FIELD_WORD, false, "A colour.", &colours, 0, 0},
    {"at", FIELD_TIMESTAMP, false, "A time.", NULL, 0, 0},
    {"list", FIELD_LIST, false, "A list.", NULL, 0, 0},
    {"map", FIELD_OBJECT, false, "An object.", NULL, 0, 0},
    {"any", FIELD_ANY, false, "Anything.", NULL, 0, 0},
    {"label.", FIELD_LABEL, false, "Labels.", NULL, 0, 0},
    {0},
};

static enum status body(const char *text, struct failure *failure)
{
    static struct arena arena;
    const struct json *value;
    arena_reset(&arena);
    assert_int_equal(json_parse(&arena, slice_of(text), &value, failure), STATUS_OK);
    return validate_body(fields, value, failure);
}

static void test_bodies(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *code; /* NULL = accepted */
        const char *says;
    } rows[] = {
        {"{\"name\":\"a\"}", NULL, NULL},
        {"{\"name\":\"äöü\"}", NULL, NULL}, /* three characters, six bytes */
        {"{\"name\":\"a\",\"age\":150,\"on\":false,\"colour\":\"red\",\"at\":\"2026-01-01T00:00:00Z\",\"list\":[],"
         "\"map\":{},\"any\":null,\"big\":-5}",
         NULL, NULL},
        {"{\"name\":\"a\",\"age\":null}", NULL, NULL},
        {"{}", "missing_member", "name"},
        {"{\"name\":null}", "missing_member", "name"},
        {"[]", "invalid_body", "object"},
        {"{\"name\":\"\"}", "invalid_member", "1 to 3"},
        {"{\"name\":\"abcd\"}", "invalid_member", "1 to 3"},
        {"{\"name\":5}", "invalid_member", "string"},
        {"{\"name\":\"a\",\"age\":151}", "invalid_member", "0 to 150"},
        {"{\"name\":\"a\",\"age\":1.5}", "invalid_member", "whole number"},
        {"{\"name\":\"a\",\"on\":1}", "invalid_member", "true or false"},
        {"{\"name\":\"a\",\"colour\":\"green\"}", "invalid_member", "red, blue"},
        {"{\"name\":\"a\",\"at\":\"yesterday\"}", "invalid_member", "RFC 3339"},
        {"{\"name\":\"a\",\"list\":{}}", "invalid_member", "array"},
        {"{\"name\":\"a\",\"map\":[]}", "invalid_member", "object"},
        {"{\"name\":\"a\",\"nmae\":1}", "unknown_member", "name, age"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct failure failure = {0};
        enum status status = body(rows[i].text, &failure);
        assert_int_equal(status, rows[i].code ? STATUS_INVALID : STATUS_OK);
        if (rows[i].code) {
            assert_string_equal(failure.code, rows[i].code);
            assert_non_null(strstr(failure.detail, rows[i].says));
        }
    }
}

static void test_queries(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *code;
    } rows[] = {
        {"name=a&age=5&on=true&colour=blue&at=2026-01-01T00:00:00Z&label.x=1&label.y=2", NULL},
        {"", NULL},
        {"age=x", "invalid_member"},
        {"age=200", "invalid_member"},
        {"on=yes", "invalid_member"},
        {"colour=green", "invalid_member"},
        {"nope=1", "unknown_member"},
        {"age=1&age=2", "repeated_parameter"},
    };
    struct arena arena = {0};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct failure failure = {0};
        struct url_query query;
        assert_int_equal(url_query_parse(&arena, slice_of(rows[i].text), &query, &failure), STATUS_OK);
        assert_int_equal(validate_query(fields, &query, &failure), rows[i].code ? STATUS_INVALID : STATUS_OK);
        if (rows[i].code) {
            assert_string_equal(failure.code, rows[i].code);
        }
    }
    arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_bodies), cmocka_unit_test(test_queries)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

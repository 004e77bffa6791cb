#include "unit.h"

#include "base/budget.h"
#include "wire/json_schema.h"

static struct arena arena;

static const struct json *json_of(const char *text)
{
    const struct json *json;
    assert_status(json_parse(&arena, slice_of(text), &json, NULL), STATUS_OK);
    return json;
}

static const struct {
    const char *schema, *value;
    bool fits;
} rows[] = {
    {"true", "1", true},
    {"false", "1", false},
    {"{}", "null", true},
    {"{\"type\":\"integer\"}", "1.0", true},
    {"{\"type\":\"integer\"}", "1.5", false},
    {"{\"type\":\"number\"}", "\"1\"", false},
    {"{\"type\":[\"string\",\"null\"]}", "null", true},
    {"{\"type\":[\"string\",\"null\"]}", "false", false},
    {"{\"type\":\"boolean\"}", "false", true},
    {"{\"enum\":[1,\"a\",{\"b\":2}]}", "{\"b\":2.0}", true},
    {"{\"enum\":[1]}", "true", false},
    {"{\"const\":null}", "null", true},
    {"{\"minimum\":9223372036854775807}", "9223372036854775806", false},
    {"{\"minimum\":9223372036854775806}", "9223372036854775807", true},
    {"{\"exclusiveMaximum\":3}", "3", false},
    {"{\"maximum\":3}", "\"of another kind\"", true},
    {"{\"maxLength\":2}", "\"\xc3\xa9\xc3\xa9\"", true},
    {"{\"maxLength\":2}", "\"abc\"", false},
    {"{\"minItems\":1,\"items\":{\"type\":\"string\"}}", "[\"a\",1]", false},
    {"{\"uniqueItems\":true}", "[1,1.0]", false},
    {"{\"properties\":{\"a\":{\"type\":\"string\"}}}", "{\"a\":1}", false},
    {"{\"properties\":{\"a\":{}},\"additionalProperties\":false}", "{\"a\":1,\"b\":1}", false},
    {"{\"additionalProperties\":{\"type\":\"null\"}}", "{\"b\":null}", true},
    {"{\"required\":[\"a\"]}", "{\"b\":1}", false},
    {"{\"required\":[\"a\"]}", "[]", true},
    {"{\"maxProperties\":1}", "{\"a\":1,\"b\":2}", false},
    {"{\"allOf\":[{\"minimum\":1},{\"maximum\":2}]}", "3", false},
    {"{\"anyOf\":[{\"minimum\":5},{\"maximum\":2}]}", "1", true},
    {"{\"oneOf\":[{\"minimum\":1},{\"maximum\":2}]}", "1", false},
    {"{\"not\":{\"type\":\"string\"}}", "\"\"", false},
};

static void values_fit_or_not(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct json *schema = json_of(rows[i].schema), *value = json_of(rows[i].value);
        struct failure failure;
        assert_row(rows[i].schema, json_schema_check(schema, &failure) == STATUS_OK);
        assert_row(rows[i].schema, (json_schema_validate(schema, value, &failure) == STATUS_OK) == rows[i].fits);
        assert_row(rows[i].schema, (json_schema_validate(schema, value, NULL) == STATUS_OK) == rows[i].fits);
    }
}

static void the_place_is_named(void **state)
{
    struct failure failure;
    (void)state;
    assert_status(
        json_schema_validate(json_of("{\"properties\":{\"a\":{\"items\":{\"properties\":{\"b\":{\"minimum\":3}"
                                     "}}}}}"),
                             json_of("{\"a\":[{\"b\":4},{\"b\":2}]}"), &failure),
        STATUS_INVALID);
    assert_string_equal(failure.code, "does_not_fit");
    assert_string_equal(failure.detail, "`a[1].b` must be at least 3.");
}

static void what_is_not_offered_is_refused(void **state)
{
    (void)state;
    static const char *const schemas[] = {
        "{\"$ref\":\"#\"}",   "{\"pattern\":\"a\"}", "{\"type\":\"text\"}",
        "{\"type\":[]}",      "{\"enum\":1}",        "[]",
        "{\"items\":[{}]}",   "{\"minimum\":\"1\"}", "{\"allOf\":[]}",
        "{\"anyOf\":[1]}",    "{\"required\":1}",    "{\"properties\":[]}",
        "{\"required\":[1]}", "{\"not\":1}",         "1",
        "{\"if\":true}",      "{\"uniqueItems\":1}", "{\"properties\":{\"a\":{\"$ref\":\"#\"}}}"};
    for (size_t i = 0; i < COUNT_OF(schemas); i++) {
        struct failure failure;
        assert_row(schemas[i], json_schema_check(json_of(schemas[i]), &failure) == STATUS_INVALID);
        assert_row(schemas[i], strcmp(failure.code, "invalid_schema") == 0);
    }
}

static void depth_is_bounded(void **state)
{
    struct buffer deep = {0};
    struct failure failure;
    (void)state;
    for (int i = 0; i < JSON_SCHEMA_DEPTH_MAX + 2; i++) {
        buffer_format(&deep, "{\"not\":");
    }
    buffer_format(&deep, "true");
    for (int i = 0; i < JSON_SCHEMA_DEPTH_MAX + 2; i++) {
        buffer_format(&deep, "}");
    }
    buffer_add_byte(&deep, 0);
    assert_status(json_schema_check(json_of(deep.ptr), &failure), STATUS_INVALID);
    buffer_release(&deep);
}

static int release(void **state)
{
    (void)state;
    arena_release(&arena);
    return 0;
}

static const struct budget_limits small = {.steps_max = 100000,
                                           .timeout_ms = 60000,
                                           .steps_option = "command-steps-max",
                                           .timeout_option = "command-timeout-ms"};

static struct slice repeated(const char *first, const char *part, int count, const char *last)
{
    struct buffer text = {0};
    buffer_add(&text, slice_of(first));
    for (int i = 0; i < count; i++) {
        buffer_format(&text, "%s%s", i ? "," : "", part);
    }
    buffer_add(&text, slice_of(last));
    struct slice copy = arena_copy(&arena, buffer_slice(&text));
    buffer_release(&text);
    return copy;
}

/* Each of these asks for the product of two sizes. */
static void the_budget_ends_a_check(void **state)
{
    const struct {
        const char *first, *part, *last, *value;
    } shapes[] = {
        {"{\"items\":{\"anyOf\":[", "{\"const\":1}", ",true]}}", "2"},
        {"{\"items\":{\"oneOf\":[true,", "{\"minLength\":9}", "]}}", "\"aaaaaaaa\""},
        {"{\"items\":{\"allOf\":[", "{\"type\":\"number\"}", "]}}", "2"},
        {"{\"items\":{\"enum\":[", "1", ",2]}}", "2"},
        {"{\"items\":{\"type\":[", "\"null\"", ",\"number\"]}}", "2"},
        {"{\"items\":{\"required\":[", "\"a\"", "]}}", "{\"a\":1}"},
        {"{\"items\":{\"not\":{\"anyOf\":[", "{\"const\":1}", "]}}}", "2"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(shapes); i++) {
        const struct json *schema, *value;
        struct failure failure = {0};
        assert_status(
            json_parse(&arena, repeated(shapes[i].first, shapes[i].part, 1000, shapes[i].last), &schema, NULL),
            STATUS_OK);
        assert_status(json_parse(&arena, repeated("[", shapes[i].value, 1000, "]"), &value, NULL), STATUS_OK);
        budget_begin(&small);
        enum status status = json_schema_validate(schema, value, &failure);
        budget_end();
        check_status(status, STATUS_TOO_COSTLY, shapes[i].first, __LINE__);
        assert_string_equal(failure.code, "too_many_steps");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_fit_or_not),
        cmocka_unit_test(the_place_is_named),
        cmocka_unit_test(what_is_not_offered_is_refused),
        cmocka_unit_test(depth_is_bounded),
        cmocka_unit_test(the_budget_ends_a_check),
    };
    return cmocka_run_group_tests(tests, NULL, release);
}

#include "unit.h"

#include <stdio.h>

#include "base/json.h"

static struct arena arena;

static int release(void **state)
{
    (void)state;
    arena_release(&arena);
    return 0;
}

static const struct json *parse(const char *text)
{
    const struct json *value = NULL;
    struct failure failure;
    if (json_parse(&arena, slice_of(text), &value, &failure) != STATUS_OK) {
        print_error("%s\n", failure.detail);
        fail();
    }
    return value;
}

static void test_kinds(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum json_kind kind;
    } rows[] = {
        {"null", JSON_NULL},       {"false", JSON_FALSE}, {" true ", JSON_TRUE}, {"0", JSON_NUMBER},
        {"-0.5e+10", JSON_NUMBER}, {"\"\"", JSON_STRING}, {"[]", JSON_ARRAY},    {"\r\n\t {}", JSON_OBJECT},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct json *value = parse(rows[i].text);
        assert_row(rows[i].text, value->kind == rows[i].kind);
        assert_row(rows[i].text, slice_eq(value->raw, slice_trim(slice_of(rows[i].text))));
        assert_non_null(json_kind_name(rows[i].kind));
    }
}

static void test_tree(void **state)
{
    (void)state;
    const struct json *value = parse("{\"a\" : [1, \"two\", {\"three\":3}] , \"b\":null}");
    assert_int_equal(value->count, 2);
    const struct json *list = value->child;
    assert_slice(list->key, "a");
    assert_slice(list->raw, "[1, \"two\", {\"three\":3}]");
    assert_int_equal(list->count, 3);
    assert_slice(list->child->raw, "1");
    assert_absent(list->child->key);
    assert_slice(list->child->next->text, "two");
    assert_slice(list->child->next->raw, "\"two\"");
    assert_slice(list->child->next->next->child->key, "three");
    assert_null(list->child->next->next->next);
    assert_slice(list->next->key, "b");
    assert_null(list->next->next);
}

static void test_strings(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *means;
    } rows[] = {
        {"\"plain\"", "plain"},
        {"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t"},
        {"\"\\u0041\\u00e9\\u20AC\"", "A\xC3\xA9\xE2\x82\xAC"},
        {"\"\\uD83D\\ude00!\"", "\xF0\x9F\x98\x80!"},
        {"\"before \\n after\"", "before \n after"},
        {"\"\xE2\x82\xAC\"", "\xE2\x82\xAC"},
        {"\"\\\\\"", "\\"},
        {"\"\x7F\"", "\x7F"},
        {"\"\\uFFFF\\uDBFF\\uDFFF\"", "\xEF\xBF\xBF\xF4\x8F\xBF\xBF"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        assert_slice(parse(rows[i].text)->text, rows[i].means);
    }
    assert_slice(parse("{\"a\\u0062\":1}")->child->key, "ab");
}

static void test_refused(void **state)
{
    (void)state;
    static const char *const rows[] = {
        "",
        " ",
        "nul",
        "nulll",
        "True",
        "tru",
        "[",
        "]",
        "{",
        "}",
        "[1",
        "[1,",
        "[1,]",
        "[,1]",
        "[1 2]",
        "[1,,2]",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\":1,}",
        "{,}",
        "{a:1}",
        "{'a':1}",
        "{1:1}",
        "{\"a\" 1}",
        "{\"a\":1 \"b\":2}",
        "01",
        "-",
        "-01",
        "+1",
        ".5",
        "1.",
        "1.e5",
        "1e",
        "1e+",
        "0x1",
        "1_000",
        "NaN",
        "Infinity",
        "-Infinity",
        "--1",
        "\"",
        "\"abc",
        "\"\\\"",
        "\"\\x41\"",
        "\"\\u12\"",
        "\"\\u12g4\"",
        "\"\\",
        "\"\t\"",
        "\"\n\"",
        "'a'",
        "\"\\uD800\"",
        "\"\\uDC00\"",
        "\"\\uD800\\u0041\"",
        "\"\\uD800\\uD800\"",
        "\"\\ud83d\\\"",
        "\"\\u0000\"",
        "\"a\\nb\tc\"",
        "1 2",
        "{} {}",
        "[] ,",
        "/* */ 1",
        "1 // one",
        "\xEF\xBB\xBF{}",
        "\"\xFF\"",
        "\"\xED\xA0\x80\"",
        "{\"a\":1,\"a\":2}",
        "{\"a\":1,\"\\u0061\":2}",
        "[{\"x\":{\"k\":1,\"k\":1}}]",
        "[\x0C]",
        "\xC2\xA0 1",
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct json *value = NULL;
        struct failure failure = {0};
        assert_row(rows[i], json_parse(&arena, slice_of(rows[i]), &value, &failure) == STATUS_INVALID);
        assert_null(value);
        assert_string_equal(failure.code, "invalid_json");
        assert_row(rows[i], strlen(failure.detail) > 10);
    }
    const struct json *value = NULL;
    assert_status(json_parse(&arena, (struct slice){NULL, 0}, &value, NULL), STATUS_INVALID);
    assert_status(json_parse(&arena, SLICE("1\0"), &value, NULL), STATUS_INVALID);
    assert_status(json_parse(&arena, SLICE("\"a\0b\""), &value, NULL), STATUS_INVALID);
}

static void test_failure_names_the_place(void **state)
{
    (void)state;
    const struct json *value;
    struct failure failure;
    assert_status(json_parse(&arena, SLICE("[1, x]"), &value, &failure), STATUS_INVALID);
    assert_non_null(strstr(failure.detail, "at byte 4"));
}

static void test_depth(void **state)
{
    (void)state;
    char text[2 * (JSON_DEPTH_MAX + 1)];
    memset(text, '[', sizeof text / 2);
    memset(text + sizeof text / 2, ']', sizeof text / 2);
    const struct json *value;
    assert_status(json_parse(&arena, slice_from(text + 1, sizeof text - 2), &value, NULL), STATUS_OK);
    assert_status(json_parse(&arena, slice_from(text, sizeof text), &value, NULL), STATUS_INVALID);
    /* Depth is left again: siblings do not add up. */
    struct buffer wide = {0};
    buffer_add(&wide, SLICE("[0"));
    for (int i = 0; i < 200; i++) {
        buffer_add(&wide, SLICE(",[{}]"));
    }
    buffer_add(&wide, SLICE("]"));
    assert_status(json_parse(&arena, buffer_slice(&wide), &value, NULL), STATUS_OK);
    assert_int_equal(value->count, 201);
    buffer_release(&wide);
}

static void test_values(void **state)
{
    (void)state;
    static const char *const texts[] = {"[1,2,3,4]", "{\"a\":[1,2],\"b\":3}", "[[[[]]],[]]", "[[],[],[],{}]"};
    struct failure failure;
    const struct json *value;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) { /* four each, whatever list they are in */
        assert_int_equal(json_parse_within(&arena, slice_of(texts[i]), 4, &value, &failure), STATUS_OK);
        assert_int_equal(json_parse_within(&arena, slice_of(texts[i]), 3, &value, &failure), STATUS_INVALID);
        assert_non_null(strstr(failure.detail, "too many values"));
    }
    assert_int_equal(json_parse_within(&arena, SLICE("\"alone\""), 0, &value, &failure), STATUS_OK);
}

static void write_object(struct buffer *text, int members, int twin_of_last)
{
    text->len = 0;
    for (int i = 0; i < members; i++) {
        buffer_format(text, "%c\"name%d\":%d", i ? ',' : '{', i == members - 1 && twin_of_last >= 0 ? twin_of_last : i,
                      i);
    }
    buffer_add_byte(text, '}');
}

static void test_duplicates_in_large_objects(void **state)
{
    (void)state;
    struct buffer text = {0};
    const struct json *value;
    for (int members = 2; members < 200; members += 7) {
        write_object(&text, members, -1);
        assert_status(json_parse(&arena, buffer_slice(&text), &value, NULL), STATUS_OK);
        assert_int_equal(value->count, members);
        write_object(&text, members, 0);
        assert_status(json_parse(&arena, buffer_slice(&text), &value, NULL), STATUS_INVALID);
        write_object(&text, members, members - 2);
        assert_status(json_parse(&arena, buffer_slice(&text), &value, NULL), STATUS_INVALID);
    }
    buffer_release(&text);
}

static void test_getters(void **state)
{
    (void)state;
    const struct json *object =
        parse("{\"text\":\"x\",\"number\":-7,\"null\":null,\"yes\":true,\"no\":false,\"list\":[1],"
              "\"real\":1.0,\"big\":9223372036854775807,\"huge\":9223372036854775808}");
    assert_slice(json_text_of(object, "text"), "x");
    assert_absent(json_text_of(object, "number"));
    assert_absent(json_text_of(object, "absent"));
    assert_int_equal(json_i64_of(object, "number"), -7);
    assert_int_equal(json_i64_of(object, "text"), 0);
    assert_slice(json_raw_of(object, "list"), "[1]");
    assert_absent(json_raw_of(object, "null"));
    assert_non_null(json_get(object, "null"));
    assert_null(json_get_value(object, "null"));
    assert_null(json_get(NULL, "a"));
    assert_null(json_get(json_get(object, "list"), "a"));
    assert_null(json_get_value(object, "absent"));
    struct slice text = {NULL, 0};
    assert_true(json_as_text(json_get(object, "text"), &text));
    assert_false(json_as_text(NULL, &text));
    assert_slice(text, "x");
    int64_t number = 5;
    assert_false(json_as_i64(json_get(object, "real"), &number));
    assert_false(json_as_i64(json_get(object, "huge"), &number));
    assert_false(json_as_i64(json_get(object, "yes"), &number));
    assert_false(json_as_i64(NULL, &number));
    assert_int_equal(number, 5);
    assert_true(json_as_i64(json_get(object, "big"), &number));
    assert_true(number == INT64_MAX);
    bool flag = false;
    assert_true(json_as_bool(json_get(object, "yes"), &flag));
    assert_true(flag);
    assert_true(json_as_bool(json_get(object, "no"), &flag));
    assert_false(flag);
    assert_false(json_as_bool(json_get(object, "null"), &flag));
    assert_false(json_is(NULL, JSON_NULL));
}

/* Strings are passed over several bytes at a time: every special character must be seen at every place. */
static void test_special_characters_anywhere(void **state)
{
    (void)state;
    for (size_t place = 1; place < 30; place++) {
        for (int c = 0; c < 256; c++) {
            char text[40];
            const struct json *value = NULL;
            memset(text, 0x7E, sizeof text);
            text[0] = text[sizeof text - 1] = '"';
            text[place] = (char)c;
            enum status status = json_parse(&arena, slice_from(text, sizeof text), &value, NULL);
            assert_int_equal(status == STATUS_OK, c >= 0x20 && c != '"' && c != '\\' && c < 0x80);
            assert_true(status != STATUS_OK || value->text.len == sizeof text - 2);
        }
        arena_reset(&arena);
    }
}

/* Whatever is cut off a good text, nothing is read beyond its end: the copy has no byte to spare. */
static void test_every_prefix_is_refused(void **state)
{
    (void)state;
    static const char whole[] = "{\"a\":[1.5e3,\"\\uD83D\\uDE00\\n\xC3\xA9\",true,false,null,{}]}";
    for (size_t len = 0; len < sizeof whole - 1; len++) {
        char *exact = test_malloc(len + 1);
        memcpy(exact + 1, whole, len);
        const struct json *value;
        assert_status(json_parse(&arena, slice_from(exact + 1, len), &value, NULL), STATUS_INVALID);
        test_free(exact);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_tree),
        cmocka_unit_test(test_strings),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_failure_names_the_place),
        cmocka_unit_test(test_depth),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_duplicates_in_large_objects),
        cmocka_unit_test(test_getters),
        cmocka_unit_test(test_special_characters_anywhere),
        cmocka_unit_test(test_every_prefix_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, release);
}

#include "unit.h"

#include "wire/yaml.h"
#include "wire/yaml_write.h"

static struct arena arena;

static int release(void **state)
{
    (void)state;
    arena_release(&arena);
    return 0;
}

static struct slice write_value(const struct json *value)
{
    struct buffer text = {0};
    yaml_write(&text, &arena, value);
    struct slice kept = arena_copy(&arena, buffer_slice(&text));
    buffer_release(&text);
    return kept;
}

static const struct json *parsed(const char *json)
{
    const struct json *value;
    assert_int_equal(json_parse(&arena, slice_of(json), &value, NULL), STATUS_OK);
    return value;
}

/* Read again it is the same value, and written again the same bytes. */
static void assert_stable(const struct json *value, struct slice text)
{
    struct yaml yaml;
    struct failure failure = {0};
    if (yaml_parse(&arena, text, &yaml, &failure) != STATUS_OK) {
        fail_msg("%s in\n%.*s", failure.detail, SLICE_ARG(text));
    }
    assert_true(json_equal(value, yaml.root));
    assert_true(slice_eq(write_value(yaml.root), text));
}

static void test_shapes(void **state)
{
    (void)state;
    static const struct {
        const char *json;
        const char *yaml;
    } rows[] = {
        {"null", "null\n"},
        {"\"a\"", "a\n"},
        {"{}", "{}\n"},
        {"{\"b\":1,\"a\":[]}", "a: []\nb: 1\n"},
        {"{\"b\":{\"d\":1,\"c\":2},\"a\":true}", "a: true\nb:\n  c: 2\n  d: 1\n"},
        {"[1,[2,[3,4]],{\"b\":1,\"a\":[{\"c\":0}]}]", "- 1\n- - 2\n  - - 3\n    - 4\n- a:\n    - c: 0\n  b: 1\n"},
        {"{\"t\":\"yes\",\"u\":\"1.0\",\"v\":\"\",\"w\":\"a b\",\"x\":\"-\",\"y\":\"No\",\"z\":\"src/main.c\"}",
         "t: \"yes\"\nu: \"1.0\"\nv: \"\"\nw: \"a b\"\nx: \"-\"\n\"y\": \"No\"\nz: src/main.c\n"},
        {"{\"t\":\"one\\n\\n  two\\nthree\"}", "t: |-\n  one\n\n    two\n  three\n"},
        {"{\"t\":\"one \\ntwo\",\"u\":\"one\\n\",\"v\":\"\\none\",\"w\":\" one\\ntwo\",\"x\":\"a\\tb\\nc\"}",
         "t: \"one \\ntwo\"\nu: \"one\\n\"\nv: \"\\none\"\nw: \" one\\ntwo\"\nx: \"a\\u0009b\\nc\"\n"},
        {"{\"t\":\"\\u0085\\u2028\\ufeff\\u007f\\u00e9\"}", "t: \"\\u0085\\u2028\\uFEFF\\u007F\xC3\xA9\"\n"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct json *value = parsed(rows[i].json);
        struct slice text = write_value(value);
        assert_string_equal(arena_copy(&arena, text).ptr, rows[i].yaml);
        assert_stable(value, text);
    }
}

static void test_long_names(void **state)
{
    (void)state;
    struct buffer json = {0};
    buffer_add(&json, SLICE("{\""));
    for (size_t i = 0; i < 3000; i++) {
        buffer_add_byte(&json, i % 7 ? 'n' : ' ');
    }
    buffer_add(&json, SLICE("\":{\"a\":1},\"b\":[{\"c: d\":2}]}"));
    const struct json *value = parsed(arena_copy(&arena, buffer_slice(&json)).ptr);
    assert_stable(value, write_value(value));
    buffer_release(&json);
}

/* Every pair of characters that means something to YAML, as a value, a name and an item. */
static void test_hostile_text(void **state)
{
    (void)state;
    static const char marks[] = "-:#?|>&*!%@`'\"{}[],.~= \n\\0a\t\r<";
    for (size_t i = 0; i + 1 < sizeof marks; i++) {
        for (size_t j = 0; j + 1 < sizeof marks; j++) {
            char text[] = {marks[i], marks[j], ' ', marks[i], '\n', marks[j], 'x', '\0'};
            struct buffer json = {0};
            struct json_out out = json_out_to(&json);
            json_begin_object(&out);
            json_put_text(&out, "value", slice_of(text));
            json_put_text(&out, text, slice_from(text, 2));
            json_key(&out, "list");
            json_begin_array(&out);
            json_text(&out, slice_of(text));
            json_end_array(&out);
            json_end_object(&out);
            const struct json *value = parsed(arena_copy(&arena, buffer_slice(&json)).ptr);
            assert_stable(value, write_value(value));
            buffer_release(&json);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_shapes, release),
        cmocka_unit_test_teardown(test_long_names, release),
        cmocka_unit_test_teardown(test_hostile_text, release),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "unit.h"

#include "wire/yaml.h"

static struct arena arena;

static int release(void **state)
{
    (void)state;
    arena_release(&arena);
    return 0;
}

static void test_documents(void **state)
{
    (void)state;
    static const struct {
        const char *yaml;
        const char *json;
    } rows[] = {
        {"", "null"},
        {"# nothing\n", "null"},
        {"---\n...\n", "null"},
        {"42", "42"},
        {"a: 1\nb: -2\nc: 1.5e3\n", "{\"a\":1,\"b\":-2,\"c\":1.5e3}"},
        {"a: true\nb: False\nc: ~\nd:\ne: null\n", "{\"a\":true,\"b\":false,\"c\":null,\"d\":null,\"e\":null}"},
        {"a: yes\nb: on\nc: 007\nd: +1\ne: 0x1F\nf: .5\ng: 1_000\nh: 12:30\n",
         "{\"a\":\"yes\",\"b\":\"on\",\"c\":\"007\",\"d\":\"+1\",\"e\":\"0x1F\",\"f\":\".5\",\"g\":\"1_000\",\"h\":"
         "\"12:30\"}"},
        {"a: '1'\nb: \"true\"\nc: ''\nd: \"a\\tb\\u20AC\"\n",
         "{\"a\":\"1\",\"b\":\"true\",\"c\":\"\",\"d\":\"a\\tb\xE2\x82\xAC\"}"},
        {"- a\n- [1, {b: 2}]\n-\n  - x\n", "[\"a\",[1,{\"b\":2}],[\"x\"]]"},
        {"a: |\n  one\n  two\nb: >-\n  one\n  two\n", "{\"a\":\"one\\ntwo\\n\",\"b\":\"one two\"}"},
        {"1: one\ntrue: two\n", "{\"1\":\"one\",\"true\":\"two\"}"},
        {"big: 9223372036854775807\nhuge: 123456789012345678901234567890\n",
         "{\"big\":9223372036854775807,\"huge\":123456789012345678901234567890}"},
        {"{}", "{}"},
        {"a: {}\nb: []\nc: {d: []}\n", "{\"a\":{},\"b\":[],\"c\":{\"d\":[]}}"},
        {"when: 2026-11-15T07:49:07Z\n", "{\"when\":\"2026-11-15T07:49:07Z\"}"},
        {"%YAML 1.1\n---\na: 1\n", "{\"a\":1}"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct yaml yaml;
        struct failure failure = {0};
        assert_row(rows[i].yaml, yaml_parse(&arena, slice_of(rows[i].yaml), &yaml, &failure) == STATUS_OK);
        assert_slice(yaml.text, rows[i].json);
        assert_slice(yaml.root->raw, rows[i].json);
    }
    struct yaml yaml;
    assert_status(yaml_parse(&arena, (struct slice){NULL, 0}, &yaml, NULL), STATUS_OK);
    assert_int_equal(yaml.root->kind, JSON_NULL);
}

static void test_refused_with_line(void **state)
{
    (void)state;
    static const struct {
        const char *yaml;
        const char *line;
    } rows[] = {
        {"a: 1\nb: 2\na: 3\n", "Line 3:"}, {"x:\n  a: {b: 1, b: 2}\n", "Line 2:"}, {"a: &x 1\n", "Line 1:"},
        {"a: 1\nb: *x\n", "Line 2:"},      {"a: 1\nb: !!int 2\n", "Line 2:"},      {"a: ! x\n", "Line 1:"},
        {"a: 1\nb: &y [1]\n", "Line 2:"},  {"a: 1\nb: !m {x: 1}\n", "Line 2:"},    {"a: 1\n---\nb: 2\n", "Line 2:"},
        {"? [a]\n: b\n", "Line 1:"},       {"a: 1\n? {b: c}\n: d\n", "Line 2:"},   {"a: \"\\0\"\n", "Line 1:"},
        {"a: 1\n\tb: 2\n", "Line 2:"},     {"a: [1, 2\nb: 3\n", "Line 2:"},        {"a: 'open\n\n", "Line 3:"},
        {"a: b: c\n", "Line 1:"},          {"a: 1\n b: 2\n", "Line 2:"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct yaml yaml;
        struct failure failure = {0};
        assert_row(rows[i].yaml, yaml_parse(&arena, slice_of(rows[i].yaml), &yaml, &failure) == STATUS_INVALID);
        assert_string_equal(failure.code, "invalid_yaml");
        if (strncmp(failure.detail, rows[i].line, strlen(rows[i].line)) != 0) {
            print_error("%s -> %s\n", rows[i].yaml, failure.detail);
            fail();
        }
    }
    struct yaml yaml;
    assert_status(yaml_parse(&arena, SLICE("a: \xFF\n"), &yaml, NULL), STATUS_INVALID);
}

static void test_limits(void **state)
{
    (void)state;
    struct buffer text = {0};
    struct yaml yaml;
    struct failure failure;
    for (int i = 0; i < JSON_DEPTH_MAX; i++) {
        buffer_add_byte(&text, '[');
    }
    for (int i = 0; i < JSON_DEPTH_MAX; i++) {
        buffer_add_byte(&text, ']');
    }
    assert_status(yaml_parse(&arena, buffer_slice(&text), &yaml, &failure), STATUS_OK);
    text.len = 0;
    for (int i = 0; i < 100000; i++) {
        buffer_add_byte(&text, '[');
    }
    assert_status(yaml_parse(&arena, buffer_slice(&text), &yaml, &failure), STATUS_INVALID);
    while (text.len <= YAML_BYTES_MAX) {
        buffer_add(&text, SLICE("# long comment\n"));
    }
    assert_status(yaml_parse(&arena, buffer_slice(&text), &yaml, &failure), STATUS_TOO_LARGE);
    buffer_release(&text);
}

static void test_lines(void **state)
{
    (void)state;
    struct yaml yaml;
    assert_status(yaml_parse(&arena,
                             SLICE("# options\n"
                                   "listen:\n"
                                   "  - 127.0.0.1:80\n"
                                   "  -\n"
                                   "    port: 5\n"
                                   "log: {level: info,\n"
                                   "  format: json}\n"
                                   "\n"
                                   "last: x\n"),
                             &yaml, NULL),
                  STATUS_OK);
    const struct json *listen = json_get(yaml.root, "listen");
    const struct json *log = json_get(yaml.root, "log");
    assert_int_equal(yaml_line(&yaml, yaml.root), 2);
    assert_int_equal(yaml_line(&yaml, listen), 2);
    assert_int_equal(yaml_line(&yaml, listen->child), 3);
    assert_int_equal(yaml_line(&yaml, listen->child->next), 5);
    assert_int_equal(yaml_line(&yaml, json_get(listen->child->next, "port")), 5);
    assert_int_equal(yaml_line(&yaml, log), 6);
    assert_int_equal(yaml_line(&yaml, json_get(log, "level")), 6);
    assert_int_equal(yaml_line(&yaml, json_get(log, "format")), 7);
    assert_int_equal(yaml_line(&yaml, json_get(yaml.root, "last")), 9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_documents),
        cmocka_unit_test(test_refused_with_line),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_lines),
    };
    return cmocka_run_group_tests(tests, NULL, release);
}

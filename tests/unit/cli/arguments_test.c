#include "unit.h"

#include "cli/arguments.h"

static const struct option first[] = {
    {.name = "data", .type = OPTION_TEXT, .value = "DIR"},
    {.name = "metrics", .type = OPTION_SWITCH},
    {.name = "listen", .type = OPTION_LIST, .value = "ADDRESS"},
    {.name = "token", .type = OPTION_TEXT, .secret = true},
    {0},
};
static const struct option second[] = {{.name = "limit", .type = OPTION_NUMBER}, {0}};
static const struct option *const tables[] = {first, second, NULL};

static struct arena arena;
static struct arguments got;
static struct failure failure;

static enum status parse(int argc, const char *const *argv)
{
    arena_reset(&arena);
    failure = (struct failure){0};
    return arguments_parse(tables, argc, (char *const *)argv, &arena, &got, &failure);
}

#define PARSE(...) parse((int)COUNT_OF(((const char *const[]){__VA_ARGS__})), (const char *const[]){__VA_ARGS__})

static void expect_given(size_t index, const char *name, const char *text)
{
    assert_true(index < got.given_count);
    assert_string_equal(got.given[index].option->name, name);
    assert_slice(got.given[index].text, text);
}

static void test_forms(void **state)
{
    (void)state;
    assert_int_equal(PARSE("--data", "d", "--listen=a", "--listen", "b", "--limit=3", "--metrics"), STATUS_OK);
    assert_int_equal(got.given_count, 5);
    expect_given(0, "data", "d");
    expect_given(1, "listen", "a");
    expect_given(2, "listen", "b");
    expect_given(3, "limit", "3");
    expect_given(4, "metrics", "true");
    assert_int_equal(PARSE("--no-metrics", "--data="), STATUS_OK);
    expect_given(0, "metrics", "false");
    expect_given(1, "data", "");
}

static void test_positionals(void **state)
{
    (void)state;
    assert_int_equal(PARSE("one", "--metrics", "-", "--", "--data"), STATUS_OK);
    assert_int_equal(got.positional_count, 3);
    assert_string_equal(got.positionals[0], "one");
    assert_string_equal(got.positionals[1], "-");
    assert_string_equal(got.positionals[2], "--data");
    assert_int_equal(got.given_count, 1);
}

static void test_help_is_seen_anywhere(void **state)
{
    (void)state;
    assert_int_equal(PARSE("one", "-h"), STATUS_OK);
    assert_true(got.wants_help);
    assert_int_equal(PARSE("--help"), STATUS_OK);
    assert_true(got.wants_help);
    assert_int_equal(PARSE("--", "--help"), STATUS_OK);
    assert_false(got.wants_help);
}

static void expect_refused(enum status status, const char *part)
{
    assert_int_equal(status, STATUS_INVALID);
    if (!strstr(failure.detail, part)) {
        fail_msg("\"%s\" does not say \"%s\"", failure.detail, part);
    }
}

static void test_refused(void **state)
{
    (void)state;
    expect_refused(PARSE("--dat", "x"), "did you mean --data?");
    expect_refused(PARSE("--limt", "x"), "did you mean --limit?");
    expect_refused(PARSE("--qqqqqq"), "see --help");
    expect_refused(PARSE("--data"), "--data needs a value: --data DIR");
    expect_refused(PARSE("--token", "x"), "SOJOURN_TOKEN");
    expect_refused(PARSE("--no-data"), "unknown option --no-data");
    expect_refused(PARSE("--no-metrics=true"), "unknown option --no-metrics");
    expect_refused(PARSE("-x"), "two dashes");
}

static void test_text_is_the_last_one(void **state)
{
    (void)state;
    assert_int_equal(PARSE("--data", "a", "--data", "b"), STATUS_OK);
    assert_slice(arguments_text(&got, "data"), "b");
    assert_false(slice_present(arguments_text(&got, "limit")));
}

static int release(void **state)
{
    (void)state;
    arena_release(&arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forms),
        cmocka_unit_test(test_positionals),
        cmocka_unit_test(test_help_is_seen_anywhere),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_text_is_the_last_one),
    };
    return cmocka_run_group_tests(tests, NULL, release);
}

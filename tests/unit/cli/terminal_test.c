#include "unit.h"

#include "cli/terminal.h"

static void test_columns(void **state)
{
    (void)state;
    assert_int_equal(text_columns(SLICE("")), 0);
    assert_int_equal(text_columns(SLICE("abc")), 3);
    assert_int_equal(text_columns(SLICE("äöü")), 3);
    assert_int_equal(text_columns(SLICE("日本")), 4);
    assert_int_equal(text_columns(SLICE("e\u0301")), 1);
    assert_int_equal(text_columns(SLICE("🚀!")), 3);
    assert_int_equal(text_columns(SLICE("\xff\xfe")), 2);
}

static void expect_plain(struct slice text, const char *expected)
{
    struct buffer out = {0};
    text_add_plain(&out, text);
    assert_slice(buffer_slice(&out), expected);
    assert_true(slice_is_utf8(buffer_slice(&out)));
    buffer_release(&out);
}

static void test_plain_text_can_not_steer_a_terminal(void **state)
{
    (void)state;
    expect_plain(SLICE("äbc 日本"), "äbc 日本");
    expect_plain(SLICE("a\nb\tc\rd"), "a b c d");
    expect_plain(SLICE("\033[31mred"), "\uFFFD[31mred");
    expect_plain(SLICE("\a\b\177"), "\uFFFD\uFFFD\uFFFD");
    expect_plain(SLICE("\xC2\x9B"
                       "1m"),
                 "\uFFFD1m");
    expect_plain(SLICE("a\u202Eb\u2066c\u2028d"), "a\uFFFDb\uFFFDc\uFFFDd");
    expect_plain(SLICE("\xff"
                       "a\xC3"),
                 "\uFFFDa\uFFFD");
    expect_plain(slice_from("a\0b", 3), "a\uFFFDb");
}

static void expect_fitted(const char *text, size_t columns, const char *expected)
{
    struct buffer out = {0};
    text_add_fitted(&out, slice_of(text), columns);
    assert_slice(buffer_slice(&out), expected);
    assert_true(columns == 0 || text_columns(buffer_slice(&out)) <= columns);
    buffer_release(&out);
}

static void test_fitted_text(void **state)
{
    (void)state;
    expect_fitted("hello", 5, "hello");
    expect_fitted("hello", 4, "hel…");
    expect_fitted("hello", 1, "…");
    expect_fitted("hello", 0, "hello");
    expect_fitted("日本語", 6, "日本語");
    expect_fitted("日本語", 5, "日本…");
    expect_fitted("日本語", 4, "日…");
    expect_fitted("", 3, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_columns),
        cmocka_unit_test(test_plain_text_can_not_steer_a_terminal),
        cmocka_unit_test(test_fitted_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

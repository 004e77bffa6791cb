#include "unit.h"

static void test_present(void **state)
{
    (void)state;
    assert_false(slice_present(slice_of(NULL)));
    assert_true(slice_present(slice_of("")));
    assert_false(slice_present((struct slice){NULL, 0}));
    assert_int_equal(SLICE("abc").len, 3);
}

static void test_eq(void **state)
{
    (void)state;
    assert_true(slice_eq(SLICE("abc"), slice_of("abc")));
    assert_false(slice_eq(SLICE("abc"), SLICE("abd")));
    assert_false(slice_eq(SLICE("abc"), SLICE("ab")));
    assert_true(slice_eq((struct slice){NULL, 0}, SLICE("")));
    assert_true(slice_is(SLICE("x"), "x"));
    assert_false(slice_is(SLICE("x"), "xy"));
    assert_true(slice_eq_nocase(SLICE("Content-TYPE"), SLICE("content-type")));
    assert_false(slice_eq_nocase(SLICE("a"), SLICE("ab")));
    assert_false(slice_eq_nocase(SLICE("@"), SLICE("`")));
    assert_false(slice_eq_nocase(SLICE("["), SLICE("{")));
}

static void test_after(void **state)
{
    (void)state;
    assert_slice(slice_after(SLICE("abc"), 1), "bc");
    assert_slice(slice_after(SLICE("abc"), 3), "");
    assert_slice(slice_after(SLICE("abc"), 99), "");
    assert_absent(slice_after((struct slice){NULL, 0}, 1));
}

static void test_starts(void **state)
{
    (void)state;
    assert_true(slice_starts(SLICE("telegram:1"), SLICE("telegram:")));
    assert_true(slice_starts(SLICE("a"), SLICE("")));
    assert_true(slice_starts((struct slice){NULL, 0}, SLICE("")));
    assert_false(slice_starts(SLICE("a"), SLICE("ab")));
    assert_false(slice_starts(SLICE("abc"), SLICE("b")));
}

static void test_trim(void **state)
{
    (void)state;
    assert_slice(slice_trim(SLICE(" \t\r\n a b \n")), "a b");
    assert_slice(slice_trim(SLICE("   ")), "");
    assert_slice(slice_trim(SLICE("")), "");
    assert_slice(slice_trim(SLICE("x")), "x");
}

static void test_cmp(void **state)
{
    (void)state;
    assert_true(slice_cmp(SLICE("a"), SLICE("b")) < 0);
    assert_true(slice_cmp(SLICE("b"), SLICE("a")) > 0);
    assert_true(slice_cmp(SLICE("a"), SLICE("ab")) < 0);
    assert_true(slice_cmp(SLICE("ab"), SLICE("a")) > 0);
    assert_int_equal(slice_cmp(SLICE("ab"), SLICE("ab")), 0);
    assert_int_equal(slice_cmp((struct slice){NULL, 0}, SLICE("")), 0);
    assert_true(slice_cmp(SLICE("\x80"), SLICE("a")) > 0);
}

static void test_cut(void **state)
{
    (void)state;
    struct slice head, tail;
    assert_true(slice_cut(SLICE("a=b=c"), '=', &head, &tail));
    assert_slice(head, "a");
    assert_slice(tail, "b=c");
    assert_true(slice_cut(SLICE("="), '=', &head, &tail));
    assert_slice(head, "");
    assert_slice(tail, "");
    assert_false(slice_cut(SLICE("abc"), '=', &head, &tail));
    assert_slice(head, "abc");
    assert_absent(tail);
    assert_false(slice_cut((struct slice){NULL, 0}, '=', &head, &tail));
    assert_absent(head);
}

static void test_to_i64(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool good;
        int64_t value;
    } rows[] = {
        {"0", true, 0},
        {"-0", true, 0},
        {"42", true, 42},
        {"-42", true, -42},
        {"007", true, 7},
        {"9223372036854775807", true, INT64_MAX},
        {"-9223372036854775808", true, INT64_MIN},
        {"9223372036854775808", false, 0},
        {"-9223372036854775809", false, 0},
        {"9999999999999999999", false, 0},
        {"10000000000000000000", false, 0},
        {"", false, 0},
        {"-", false, 0},
        {"+1", false, 0},
        {" 1", false, 0},
        {"1 ", false, 0},
        {"1.0", false, 0},
        {"1e3", false, 0},
        {"0x10", false, 0},
        {"--1", false, 0},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        int64_t value = 77;
        assert_row(rows[i].text, slice_to_i64(slice_of(rows[i].text), &value) == rows[i].good);
        assert_row(rows[i].text, value == (rows[i].good ? rows[i].value : 77));
    }
}

static void test_utf8_prefix(void **state)
{
    (void)state;
    assert_slice(slice_utf8_prefix(SLICE("abc"), 5), "abc");
    assert_slice(slice_utf8_prefix(SLICE("abc"), 2), "ab");
    assert_slice(slice_utf8_prefix(SLICE("a\xC3\xA9z"), 2), "a");
    assert_slice(slice_utf8_prefix(SLICE("a\xC3\xA9z"), 3), "a\xC3\xA9");
    assert_slice(slice_utf8_prefix(SLICE("\xF0\x9F\x98\x80"), 3), "");
    assert_slice(slice_utf8_prefix(SLICE("abc"), 0), "");
}

static void test_is_utf8(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool good;
    } rows[] = {
        {"", true},
        {"plain text that is longer than eight bytes", true},
        {"\xC3\xA9", true},
        {"\xE2\x82\xAC", true},
        {"\xF0\x9F\x98\x80", true},
        {"\xF4\x8F\xBF\xBF", true},         /* U+10FFFF */
        {"\xEF\xBF\xBF", true},             /* a noncharacter is a character */
        {"\xED\x9F\xBF\xEE\x80\x80", true}, /* around the surrogates */
        {"\x80", false},                    /* continuation alone */
        {"\xC3", false},                    /* cut short */
        {"\xC3(", false},                   /* no continuation */
        {"\xC0\xAF", false},                /* overlong */
        {"\xC1\xBF", false},                /* overlong */
        {"\xE0\x9F\xBF", false},            /* overlong */
        {"\xF0\x8F\xBF\xBF", false},        /* overlong */
        {"\xED\xA0\x80", false},            /* surrogate */
        {"\xF4\x90\x80\x80", false},        /* beyond U+10FFFF */
        {"\xF5\x80\x80\x80", false},        /* beyond */
        {"\xFF", false},                    /* never */
        {"\xE2\x82", false},                /* cut short */
        {"12345678\xF0\x9F\x98", false},    /* cut short behind a whole word */
        {"1234567\xC3\xA9"
         "12345678",
         true} /* across a word's edge */
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        assert_row(rows[i].text, slice_is_utf8(slice_of(rows[i].text)) == rows[i].good);
    }
    assert_true(slice_is_utf8((struct slice){NULL, 0}));
    assert_true(slice_is_utf8(SLICE("a\0b")));
}

static void test_hash(void **state)
{
    (void)state;
    assert_true(slice_hash(SLICE("session")) == slice_hash(slice_of("session")));
    assert_true(slice_hash(SLICE("session")) != slice_hash(SLICE("sessions")));
    assert_true(slice_hash(SLICE("a")) != slice_hash(SLICE("a\0")));
    assert_true(slice_hash(SLICE("0123456789abcdef")) != slice_hash(SLICE("0123456789abcdeg")));
    assert_true(slice_hash((struct slice){NULL, 0}) == slice_hash(SLICE("")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_present), cmocka_unit_test(test_eq),     cmocka_unit_test(test_after),
        cmocka_unit_test(test_starts),  cmocka_unit_test(test_trim),   cmocka_unit_test(test_cmp),
        cmocka_unit_test(test_cut),     cmocka_unit_test(test_to_i64), cmocka_unit_test(test_utf8_prefix),
        cmocka_unit_test(test_is_utf8), cmocka_unit_test(test_hash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

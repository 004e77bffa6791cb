#include "unit.h"

#include "base/caseless.h"

static void expect_folded(const char *text, const char *want)
{
    struct buffer out = {0};
    caseless_write(&out, slice_of(text));
    buffer_add_byte(&out, '\0');
    assert_string_equal(out.ptr, want);
    buffer_release(&out);
}

static void test_letters(void **state)
{
    (void)state;
    expect_folded("", "");
    expect_folded("Login 42_%", "login 42_%");
    expect_folded("GRÜßE", "grüße");
    expect_folded("ΣΊΣΥΦΟΣ σίσυφος", "σίσυφοσ σίσυφοσ");
    expect_folded("ПРИВЕТ Ёж", "привет ёж");
    expect_folded("ĀǄǅ İstanbul ıȺK", "āǆǆ istanbul ıⱥk");
    expect_folded("ᏣᎳᎩ 𐐀𐐨 漢字 ẞ", "ꮳꮃꭹ 𐐨𐐨 漢字 ß");
}

static void test_broken_bytes_stay(void **state)
{
    (void)state;
    expect_folded("A\xC3", "a\xC3");
    expect_folded("\x80\xFF\xE2\x82Z", "\x80\xFF\xE2\x82z");
    expect_folded("\xF0\x9F", "\xF0\x9F");
}

static void test_has(void **state)
{
    (void)state;
    assert_true(caseless_has(SLICE("The Login"), SLICE("login")));
    assert_true(caseless_has(SLICE("abab\0c"), SLICE("B\0C")));
    assert_true(caseless_has(SLICE("a"), SLICE("")));
    assert_true(caseless_has(SLICE(""), SLICE("")));
    assert_false(caseless_has(SLICE("ab"), SLICE("abc")));
    assert_false(caseless_has((struct slice){NULL, 0}, SLICE("a")));
    assert_true(caseless_has(SLICE("viele GRÜßE"), SLICE("grüß")));
    assert_true(caseless_has(SLICE("ΟΔΥΣΣΕΎΣ"), SLICE("σεύς")));
    assert_true(caseless_has(SLICE("aaaПриветb"), SLICE("ПРИВЕТB")));
    assert_false(caseless_has(SLICE("привет"), SLICE("приветы")));
    assert_false(caseless_has(SLICE("\xC3\xA9"), SLICE("\xA9")));
    assert_true(caseless_has(SLICE("aabaabaaab"), SLICE("AABAAA")));
    assert_true(caseless_has(SLICE("ababababc"), SLICE("ababc")));
    assert_false(caseless_has(SLICE("aabaabaab"), SLICE("aabaaa")));
    assert_true(caseless_has(SLICE("k"), SLICE("\xE2\x84\xAA"))); /* the sign of Kelvin */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_letters), cmocka_unit_test(test_broken_bytes_stay),
                                       cmocka_unit_test(test_has)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

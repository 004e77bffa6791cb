#include "unit.h"

#include "cli/completing.h"

static void expect_word(const char *text, bool is_found, enum completes kind, const char *typed)
{
    struct completing word;
    struct slice whole = slice_of(text);
    assert_row(text, completing_find(whole, whole.len, &word) == is_found);
    if (is_found) {
        assert_row(text, word.kind == kind && slice_is(word.typed, typed));
    }
}

static void test_words(void **state)
{
    (void)state;
    expect_word("/he", true, COMPLETES_COMMAND, "he");
    expect_word("/resume ab", true, COMPLETES_SESSION, "ab");
    expect_word("/new ", true, COMPLETES_AGENT, "");
    expect_word("see @src/m", true, COMPLETES_FILE, "src/m");
    expect_word("a\n@x", true, COMPLETES_FILE, "x");
    expect_word("plain", false, COMPLETES_FILE, "");
    expect_word("", false, COMPLETES_FILE, "");
    expect_word("/title a", false, COMPLETES_FILE, "");
    expect_word("mail a@b", false, COMPLETES_FILE, "");
}

static void expect_common(const char *const *names, const char *typed, const char *expected)
{
    struct candidates all = {0};
    struct buffer common = {0};
    for (; *names; names++) {
        candidates_add(&all, slice_of(*names), " ");
    }
    candidates_keep(&all, slice_of(typed));
    assert_int_equal(candidates_common(&all, slice_of(typed), &common), expected != NULL);
    if (expected) {
        assert_slice(buffer_slice(&common), expected);
    }
    buffer_release(&common);
    candidates_release(&all);
}

static void test_common_starts(void **state)
{
    (void)state;
    static const char *const names[] = {"beta", "alpha", "alps", "alpha", "z\u00e4", "z\u00f6", "a\033b", NULL};
    expect_common(names, "b", "beta ");
    expect_common(names, "a", "alp");
    expect_common(names, "alp", NULL);
    expect_common(names, "alph", "alpha ");
    expect_common(names, "z", NULL); /* the same first byte is not the same letter */
    expect_common(names, "x", NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_common_starts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* What matches, what does not, what is refused; and that nothing takes long. */
#include "unit.h"

#include <time.h>

#include "runner/tool/pattern.h"

static const struct row {
    const char *pattern, *line;
    bool matches;
} rows[] = {
    {"abc", "xxabcxx", true},
    {"abc", "xxabxcx", false},
    {"^abc$", "abc", true},
    {"^abc$", "abcd", false},
    {"a.c", "abc", true},
    {"a*b", "b", true},
    {"a+b", "b", false},
    {"a+b", "xaaab", true},
    {"colou?r", "color", true},
    {"(foo|bar)baz", "barbaz", true},
    {"(foo|bar)baz", "foobar", false},
    {"^(a|b|c)+$", "abcabc", true},
    {"^(a|b|c)+$", "abcdabc", false},
    {"^a{3}$", "aaa", true},
    {"^a{3}$", "aaaa", false},
    {"^a{2,3}$", "aaaa", false},
    {"^a{2,}$", "aaaaaa", true},
    {"^(ab){0,2}c", "ababc", true},
    {"^(ab){0,2}c", "abababc", false},
    {"[a-c]+[^0-9]", "bb7", true},
    {"^[a-c]+[^0-9]$", "bb7", false},
    {"[]x]", "]", true},
    {"[a\\]]b", "]b", true},
    {"\\d+\\s\\w+", "42 towels", true},
    {"^\\D+$", "a1", false},
    {"\\bint\\b", "print int;", true},
    {"\\bint\\b", "printing", false},
    {"a\\.b", "axb", false},
    {"\\(x\\)", "f(x)", true},
    {"(?:a|)b", "b", true},
    {"^$", "", true},
    {"x*", "", true},
    {"(a*)*b", "aaab", true},
    {"(|a)+b", "b", true},
    {"a|b|^c", "xc", false},
    {"[\\d.]+\\t", "1.2\t", true},
    {"a+?b", "aab", true},
};

static void matching(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena arena = {0};
        struct pattern *pattern;
        struct slice line = slice_of(rows[i].line);
        enum status status = pattern_read(&arena, slice_of(rows[i].pattern), false, &pattern, NULL);
        assert_row(rows[i].pattern, status == STATUS_OK);
        assert_row(rows[i].pattern, pattern_matches(pattern, line) == rows[i].matches);
        assert_row(rows[i].pattern, pattern_matches(pattern, line) == rows[i].matches);
        arena_release(&arena);
    }
}

static void other_case(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct pattern *pattern;
    assert_status(pattern_read(&arena, SLICE("hello [a-c]+"), true, &pattern, NULL), STATUS_OK);
    assert_true(pattern_matches(pattern, SLICE("HeLLo BAC")));
    assert_false(pattern_matches(pattern, SLICE("HeLLo D")));
    arena_release(&arena);
}

static void refused(void **state)
{
    (void)state;
    static const char *const wrong[] = {"(",
                                        ")",
                                        "a(b",
                                        "[a",
                                        "*a",
                                        "a|*",
                                        "\\",
                                        "a{",
                                        "a{2,1}",
                                        "a{x}",
                                        "(?=a)",
                                        "[b-a]",
                                        "a{9999}",
                                        "((a{1000}){1000}){1000}",
                                        "((){1000}){1000}"};
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        struct arena arena = {0};
        struct pattern *pattern;
        struct failure failure;
        enum status status = pattern_read(&arena, slice_of(wrong[i]), false, &pattern, &failure);
        assert_row(wrong[i], status == STATUS_INVALID || status == STATUS_TOO_LARGE);
        assert_non_null(strstr(failure.detail, "The pattern is not accepted"));
        arena_release(&arena);
    }
}

/* Deeply nested, and longer than anything sensible. */
static void limits(void **state)
{
    (void)state;
    char deep[5000];
    struct arena arena = {0};
    struct pattern *pattern;
    memset(deep, '(', sizeof deep);
    assert_status(pattern_read(&arena, slice_from(deep, 100), false, &pattern, NULL), STATUS_INVALID);
    assert_status(pattern_read(&arena, slice_from(deep, 5000), false, &pattern, NULL), STATUS_TOO_LARGE);
    memset(deep, '|', sizeof deep);
    assert_status(pattern_read(&arena, slice_from(deep, 1900), false, &pattern, NULL), STATUS_TOO_LARGE);
    arena_release(&arena);
}

/* Patterns that take other matchers for ever. Each byte of text costs at most the size of the pattern. */
static void nothing_hangs(void **state)
{
    (void)state;
    static const char *const evil[] = {"(a+)+$", "^(a|a)*$", "(a|aa)+$", "^(([a-z])+.)+[A-Z]([a-z])+$", "(.*a){20}$"};
    static char line[20001];
    memset(line, 'a', 20000);
    line[20000] = '!';
    clock_t begin = clock();
    for (size_t i = 0; i < COUNT_OF(evil); i++) {
        struct arena arena = {0};
        struct pattern *pattern;
        assert_status(pattern_read(&arena, slice_of(evil[i]), false, &pattern, NULL), STATUS_OK);
        assert_row(evil[i], !pattern_matches(pattern, slice_from(line, sizeof line)));
        arena_release(&arena);
    }
    assert_true((clock() - begin) / CLOCKS_PER_SEC < 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matching), cmocka_unit_test(other_case),    cmocka_unit_test(refused),
        cmocka_unit_test(limits),   cmocka_unit_test(nothing_hangs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

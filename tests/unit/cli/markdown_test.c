#include "unit.h"

#include "cli/markdown.h"

#define OFF "\033[0m"

static void expect_rows(const char *line, struct wrap wrap, const char *expected)
{
    struct buffer rows = {0};
    (void)wrap_line(&wrap, slice_of(line), &rows);
    assert_slice(buffer_slice(&rows), expected);
    buffer_release(&rows);
}

static void test_rows(void **state)
{
    (void)state;
    expect_rows("", (struct wrap){.columns = 5}, "\n");
    expect_rows("one two three", (struct wrap){.columns = 8}, "one two\nthree\n");
    expect_rows("one two three", (struct wrap){.columns = 8, .hang = 2}, "one two\n  three\n");
    expect_rows("one two", (struct wrap){.columns = 4, .kind = WRAP_EXACT}, "one \ntwo\n");
    expect_rows("abcdefgh", (struct wrap){.columns = 3}, "abc\ndef\ngh\n");
    expect_rows("\u65e5\u672c\u8a9e", (struct wrap){.columns = 5}, "\u65e5\u672c\n\u8a9e\n");
    expect_rows("    code", (struct wrap){.columns = 20}, "    code\n");
    expect_rows("\033[1mbold text" OFF " x", (struct wrap){.columns = 5},
                "\033[1mbold" OFF "\n\033[1mtext" OFF "\nx\n");
}

static void expect_lines(const char *text, const char *expected)
{
    struct markdown markdown = {0};
    struct buffer out = {0};
    struct slice line, rest = slice_of(text);
    for (bool more = true; more;) {
        struct wrap wrap = {0};
        more = slice_cut(rest, '\n', &line, &rest);
        markdown_line(&markdown, line, &out, &wrap);
        buffer_add(&out, more ? SLICE("\n") : SLICE(""));
    }
    assert_slice(buffer_slice(&out), expected);
    buffer_release(&out);
}

static void test_colours_only(void **state)
{
    (void)state;
    expect_lines("# Title", "\033[1m# Title" OFF);
    expect_lines("a **b** `c*` d", "a \033[1m**b**" OFF " \033[36m`c*`" OFF " d");
    expect_lines("rm -rf /srv/2024-* my_file_name.txt ** x", "rm -rf /srv/2024-* my_file_name.txt ** x");
    expect_lines("```diff\n+a\n-b\n c\n```\nd",
                 "\033[2m```diff" OFF "\n\033[32m+a" OFF "\n\033[31m-b" OFF "\n c\n\033[2m```" OFF "\nd");
    expect_lines("````\n```\n# x\n````", "\033[2m````" OFF "\n\033[36m```" OFF "\n\033[36m# x" OFF "\n\033[2m````" OFF);
    expect_lines("**", "**");
    expect_lines("`", "`");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_colours_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "unit.h"

#include "cli/editor.h"
#include "cli/editor_view.h"

/* What a terminal sends, and what stands in the editor then; | is the cursor. */
static const struct {
    const char *bytes, *text;
} rows[] = {
    {"abc", "abc|"},
    {"abc\177\177\177\177", "|"},
    {"a\u65e5\u0301b\177\177", "a|"},
    {"ab\033[DX", "aX|b"},
    {"one two\027", "one |"},
    {"one two\027\031\031", "one twotwo|"},
    {"one\033\rtwo", "one\ntwo|"},
    {"one\ntwo\033[A!", "one!|\ntwo"},
    {"a\033[200~x\ry\r\nz\003\033[201~b", "ax\ny\nzb|"},
    {"abc\001\004", "|bc"},
    {"abc\001\013", "|"},
    {"one two\033b\033d", "one |"},
    {"a\033[99;99zb", "ab|"},
    {"a\033OPb", "ab|"},
    {"\xff\xc3(", "(|"},
    {"a\302\233b", "ab|"},
};

static struct editor editor;

static enum editor_outcome type(const char *bytes)
{
    struct key_reader reader = {0};
    struct key key;
    enum editor_outcome outcome = EDITOR_STAYS;
    /* Byte by byte, so that no sequence comes whole. */
    for (const char *at = bytes; *at; at++) {
        key_reader_add(&reader, slice_from(at, 1));
        while (key_reader_take(&reader, false, &key)) {
            outcome = editor_key(&editor, &key);
        }
    }
    while (key_reader_take(&reader, true, &key)) {
        outcome = editor_key(&editor, &key);
    }
    key_reader_release(&reader);
    return outcome;
}

static void expect(const char *what, const char *expected)
{
    struct buffer shown = {0};
    struct slice text = editor_text(&editor);
    buffer_add(&shown, slice_from(text.ptr, editor.cursor));
    buffer_add_byte(&shown, '|');
    buffer_add(&shown, slice_after(text, editor.cursor));
    assert_row(what, slice_is(buffer_slice(&shown), expected));
    buffer_release(&shown);
}

static void test_keys(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        editor_clear(&editor);
        (void)type(rows[i].bytes);
        expect(rows[i].bytes, rows[i].text);
    }
}

static void test_outcomes(void **state)
{
    (void)state;
    editor_clear(&editor);
    assert_int_equal(type("\004"), EDITOR_LEAVE);
    assert_int_equal(type("a\004"), EDITOR_STAYS);
    assert_int_equal(type("\177\177"), EDITOR_STAYS);
    assert_int_equal(type("x\r"), EDITOR_SUBMIT);
    assert_int_equal(type("\033"), EDITOR_ESCAPE);
    assert_int_equal(type("\t"), EDITOR_COMPLETE);
    assert_int_equal(type("\003"), EDITOR_INTERRUPT);
    assert_int_equal(type("\032"), EDITOR_SUSPEND);
    editor_clear(&editor);
}

static void test_history(void **state)
{
    (void)state;
    static struct history history;
    history_read(&history, SLICE("_HiStOrY_V2_\nfirst\\040line\ntwo\\nlines\nthird \\\\ one\n\n"));
    assert_int_equal(history.count, 3);
    editor.history = &history;
    (void)type("draft\020");
    expect("the newest", "third \\ one|");
    (void)type("\033[A");
    expect("two lines", "two\nlines|");
    (void)type("\033[A\033[A");
    expect("the oldest", "first line|");
    (void)type("\016\016\016\016");
    expect("the draft again", "draft|");
    (void)type("\022line");
    expect("the newest match", "two\nlines|");
    (void)type("\022");
    expect("one before", "first line|");
    (void)type("\033");
    expect("given up", "draft|");
    (void)type("\022thi\r");
    expect("taken over", "third \\ one|");
    editor.history = NULL;
    editor_clear(&editor);
    history_release(&history);
}

static void expect_view(const char *prompt, struct view_size size, const char *expected, size_t row, size_t column)
{
    struct editor_view view;
    editor_view_write(&editor, slice_of(prompt), size, &view);
    assert_slice(buffer_slice(&view.rows), expected);
    assert_int_equal(view.cursor_row, row);
    assert_int_equal(view.cursor_column, column);
    editor_view_release(&view);
}

static void test_views(void **state)
{
    (void)state;
    editor_clear(&editor);
    expect_view("> ", (struct view_size){10, 5}, "> \n", 0, 2);
    (void)type("abcdefgh");
    expect_view("> ", (struct view_size){10, 5}, "> abcdefgh\n  \n", 1, 2);
    (void)type("\177\u65e5");
    expect_view("> ", (struct view_size){10, 5}, "> abcdefg\n  \u65e5\n", 1, 4);
    editor_clear(&editor);
    (void)type("a\nb\nc\nd");
    expect_view("> ", (struct view_size){10, 2}, "  c\n  d\n", 1, 3);
    (void)type("\033[A\033[A\033[A");
    expect_view("> ", (struct view_size){10, 2}, "> a\n  b\n", 0, 3);
    editor_clear(&editor);
    expect_view("a long prompt: ", (struct view_size){10, 5}, "a long\nprompt:\n> \n", 2, 2);
    editor_release(&editor);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keys),
        cmocka_unit_test(test_outcomes),
        cmocka_unit_test(test_history),
        cmocka_unit_test(test_views),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "unit.h"

#include "cli/glyph.h"
#include "cli/terminal.h"

static const struct {
    const char *text;
    enum glyph_kind kind;
    size_t columns;
} glyphs[] = {
    {"a", GLYPH_SHOWN, 1},           {"\u00e4", GLYPH_SHOWN, 1},    {"\u65e5", GLYPH_SHOWN, 2},
    {"\U0001F680", GLYPH_SHOWN, 2},  {"\u0301", GLYPH_MARK, 0},     {"\u200d", GLYPH_JOINING, 0},
    {"\ufe0f", GLYPH_JOINING, 0},    {"\u200b", GLYPH_HIDDEN, 0},   {"\u3164", GLYPH_HIDDEN, 0},
    {"\U000E0041", GLYPH_HIDDEN, 0}, {"\u202e", GLYPH_STEERING, 0}, {"\u2066", GLYPH_STEERING, 0},
    {"\033", GLYPH_STEERING, 0},     {"\u2028", GLYPH_STEERING, 0}, {"\xff", GLYPH_STEERING, 0},
    {"\u00a0", GLYPH_SHOWN, 1},
};

static void test_kinds(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(glyphs); i++) {
        struct slice rest = slice_of(glyphs[i].text);
        struct glyph glyph = glyph_take(&rest);
        assert_int_equal(rest.len, 0);
        assert_row(glyphs[i].text, glyph.kind == glyphs[i].kind && glyph.columns == glyphs[i].columns);
    }
}

/* There and back again stands at the same places. */
static void expect_steps(const char *text, size_t expected)
{
    struct slice whole = slice_of(text);
    size_t forth = 0, back = 0;
    for (size_t at = 0; at < whole.len; forth++) {
        size_t next = glyph_after(whole, at);
        assert_true(next > at);
        assert_int_equal(glyph_before(whole, next), at);
        at = next;
    }
    for (size_t at = whole.len; at > 0; back++) {
        at = glyph_before(whole, at);
    }
    assert_int_equal(forth, expected);
    assert_int_equal(back, expected);
}

static void test_steps_of_a_cursor(void **state)
{
    (void)state;
    expect_steps("abc", 3);
    expect_steps("e\u0301x", 2);
    expect_steps("\u65e5\u672c", 2);
    expect_steps("\U0001F469\u200D\U0001F4BBx", 2);
    expect_steps("a\n\nb\tc", 6);
    expect_steps("\u0301a", 2);
}

#define EXACT "rm -rf /a-* b\\n\u202Ec\033\u200b\t\n\xff\0"

static void test_exact_text_hides_nothing(void **state)
{
    (void)state;
    struct buffer out = {0};
    text_add_exact(&out, slice_from(EXACT, sizeof EXACT - 1));
    assert_slice(buffer_slice(&out), "rm -rf /a-* b\\n⟨U+202E⟩c⟨U+001B⟩⟨U+200B⟩⟨U+0009⟩\n⟨FF⟩⟨U+0000⟩");
    buffer_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_steps_of_a_cursor),
        cmocka_unit_test(test_exact_text_hides_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

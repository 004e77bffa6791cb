#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "fanout/cursor.h"

static void cursors_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t sequence, delta;
    } good[] = {{"0", 0, 0}, {"12", 12, 0}, {"12.3", 12, 3}, {"9223372036854775807.1", INT64_MAX, 1}};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct cursor cursor;
        assert_int_equal(cursor_parse(slice_of(good[i].text), &cursor, NULL), STATUS_OK);
        assert_int_equal(cursor.sequence, good[i].sequence);
        assert_int_equal(cursor.delta, good[i].delta);
    }
}

static void rubbish_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "", "-1", "-0", "1.", ".1", "1.-2", "1.2.3", "1-2", "x", " 1", "9223372036854775808"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct cursor cursor = {7, 7};
        struct failure failure = {0};
        assert_int_equal(cursor_parse(slice_of(bad[i]), &cursor, &failure), STATUS_INVALID);
        assert_string_equal(failure.code, "invalid_cursor");
        assert_int_equal(cursor.sequence, 7);
    }
}

static void positions(void **state)
{
    (void)state;
    struct position position;
    char text[CURSOR_TEXT_BYTES];
    assert_int_equal(position_parse(SLICE("812-4"), &position, NULL), STATUS_OK);
    assert_true(slice_is(cursor_format(cursor_of_position(position), CURSOR_FIREHOSE, text), "812-4"));
    assert_int_equal(position_parse(SLICE("812"), &position, NULL), STATUS_INVALID);
    assert_int_equal(position_parse(SLICE("1--4"), &position, NULL), STATUS_INVALID);
    assert_int_equal(position_parse(SLICE("1-4-5"), &position, NULL), STATUS_INVALID);
}

static void text_and_order(void **state)
{
    (void)state;
    char text[CURSOR_TEXT_BYTES];
    assert_true(slice_is(cursor_format((struct cursor){12, 0}, CURSOR_SESSION, text), "12"));
    assert_true(slice_is(cursor_format((struct cursor){12, 3}, CURSOR_SESSION, text), "12.3"));
    assert_true(slice_is(cursor_format((struct cursor){INT64_MAX, INT64_MIN}, CURSOR_FIREHOSE, text),
                         "9223372036854775807--9223372036854775808"));
    assert_true(slice_is(cursor_format((struct cursor){0, 0}, CURSOR_FIREHOSE, text), "0-0"));
    assert_true(cursor_before((struct cursor){1, 9}, (struct cursor){2, 0}));
    assert_true(cursor_before((struct cursor){2, 0}, (struct cursor){2, 1}));
    assert_false(cursor_before((struct cursor){2, 1}, (struct cursor){2, 1}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cursors_are_read),
        cmocka_unit_test(rubbish_is_refused),
        cmocka_unit_test(positions),
        cmocka_unit_test(text_and_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

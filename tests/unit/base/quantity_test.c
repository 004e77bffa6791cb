#include "base/quantity.h"

#include "unit.h"

static void suffixes(void **state)
{
    static const struct {
        const char *text;
        enum quantity_unit unit;
        int64_t number; /* -1 = refused */
    } rows[] = {
        {"15", UNIT_NONE, 15},
        {"15m", UNIT_NONE, -1},
        {"15m", UNIT_MS, 900000},
        {"15ms", UNIT_MS, 15},
        {"2h", UNIT_MS, 7200000},
        {"1d", UNIT_MS, 86400000},
        {"3 s", UNIT_MS, 3000},
        {"s", UNIT_MS, -1},
        {"", UNIT_MS, -1},
        {"1KiB", UNIT_BYTES, 1024},
        {"2MiB", UNIT_BYTES, 2097152},
        {"1kb", UNIT_BYTES, -1},
        {"9223372036854775807d", UNIT_MS, -1},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        int64_t number = -1;
        assert_row(rows[i].text,
                   quantity_parse(slice_of(rows[i].text), rows[i].unit, &number) == (rows[i].number >= 0));
        assert_int_equal(number, rows[i].number);
    }
}

static void shown_with_the_largest_suffix(void **state)
{
    struct buffer text = {0};
    (void)state;
    quantity_show(900000, UNIT_MS, &text);
    buffer_add_byte(&text, ' ');
    quantity_show(1500, UNIT_MS, &text);
    buffer_add_byte(&text, ' ');
    quantity_show(0, UNIT_BYTES, &text);
    buffer_add_byte(&text, ' ');
    quantity_show(7, UNIT_NONE, &text);
    assert_slice(buffer_slice(&text), "15m 1500ms 0 7");
    buffer_release(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(suffixes),
        cmocka_unit_test(shown_with_the_largest_suffix),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "unit.h"

#include <stdio.h>
#include <time.h>

#include "base/clock.h"

static void test_format(void **state)
{
    (void)state;
    static const struct {
        int64_t wall_ms;
        const char *text;
    } rows[] = {
        {0, "1970-01-01T00:00:00.000Z"},
        {1, "1970-01-01T00:00:00.001Z"},
        {-1, "1969-12-31T23:59:59.999Z"},
        {951782400000, "2000-02-29T00:00:00.000Z"},
        {1700000000123, "2023-11-14T22:13:20.123Z"},
        {4107542399999, "2100-02-28T23:59:59.999Z"},
        {4107542400000, "2100-03-01T00:00:00.000Z"},
        {253402300799999, "9999-12-31T23:59:59.999Z"},
        {-62135596800000, "0001-01-01T00:00:00.000Z"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char text[TIME_TEXT_BYTES];
        int64_t back = 0;
        time_format(rows[i].wall_ms, text);
        assert_string_equal(text, rows[i].text);
        assert_true(time_parse(slice_of(text), &back));
        assert_int_equal(back, rows[i].wall_ms);
    }
}

static void test_format_agrees_with_the_c_library(void **state)
{
    (void)state;
    for (time_t day = -200000; day < 200000; day += 97) {
        char ours[TIME_TEXT_BYTES], theirs[TIME_TEXT_BYTES];
        time_t seconds = day * 86400 + 3661;
        struct tm parts;
        gmtime_r(&seconds, &parts);
        strftime(theirs, sizeof theirs, "%Y-%m-%dT%H:%M:%S.000Z", &parts);
        time_format((int64_t)seconds * 1000, ours);
        assert_string_equal(ours, theirs);
    }
}

static void test_parse(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool good;
        int64_t wall_ms;
    } rows[] = {
        {"1970-01-01T00:00:00Z", true, 0},
        {"1970-01-01t00:00:00z", true, 0},
        {"1970-01-01T00:00:00.5Z", true, 500},
        {"1970-01-01T00:00:00.123456789Z", true, 123},
        {"1970-01-01T01:00:00+01:00", true, 0},
        {"1969-12-31T18:30:00-05:30", true, 0},
        {"1970-01-01T00:00:00-00:00", true, 0},
        {"2024-02-29T12:00:00Z", true, 1709208000000},
        {"2016-12-31T23:59:60Z", true, 1483228800000},
        {"2023-02-29T00:00:00Z", false, 0},
        {"1900-02-29T00:00:00Z", false, 0},
        {"2023-13-01T00:00:00Z", false, 0},
        {"2023-00-01T00:00:00Z", false, 0},
        {"2023-01-00T00:00:00Z", false, 0},
        {"2023-04-31T00:00:00Z", false, 0},
        {"2023-01-01T24:00:00Z", false, 0},
        {"2023-01-01T00:60:00Z", false, 0},
        {"2023-01-01T00:00:61Z", false, 0},
        {"2023-01-01T00:00:00", false, 0},
        {"2023-01-01T00:00:00.Z", false, 0},
        {"2023-01-01T00:00:00+0100", false, 0},
        {"2023-01-01T00:00:00+24:00", false, 0},
        {"2023-01-01T00:00:00+01:60", false, 0},
        {"2023-01-01T00:00:00Zx", false, 0},
        {"2023-01-01 00:00:00Z", false, 0},
        {"2023-01-01", false, 0},
        {"2023\r01-01T00:00:00Z", false, 0},
        {"2023-1-1T00:00:00Z", false, 0},
        {"", false, 0},
        {"now", false, 0},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        int64_t wall_ms = 42;
        assert_row(rows[i].text, time_parse(slice_of(rows[i].text), &wall_ms) == rows[i].good);
        assert_row(rows[i].text, wall_ms == (rows[i].good ? rows[i].wall_ms : 42));
    }
}

static void test_system_clock(void **state)
{
    (void)state;
    struct clock clock;
    clock_init_system(&clock);
    int64_t wall_ms = clock_wall_ms(&clock);
    int64_t steady_ms = clock_steady_ms(&clock);
    assert_true(wall_ms > 1700000000000);
    assert_true(steady_ms - wall_ms < 1000 && wall_ms - steady_ms < 1000);
    for (int i = 0; i < 1000; i++) {
        int64_t next_ms = clock_steady_ms(&clock);
        assert_true(next_ms >= steady_ms);
        steady_ms = next_ms;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_format),
        cmocka_unit_test(test_format_agrees_with_the_c_library),
        cmocka_unit_test(test_parse),
        cmocka_unit_test(test_system_clock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "unit.h"

#include "cli/relative_time.h"

static const int64_t now_ms = 1800000000000; /* 2027-01-15T08:00:00Z */

static void expect(int64_t away_ms, const char *words)
{
    char out[RELATIVE_TIME_BYTES];
    assert_slice(relative_time(now_ms + away_ms, now_ms, out), words);
}

static void test_units_change_where_they_should(void **state)
{
    (void)state;
    expect(0, "now");
    expect(-999, "now");
    expect(-1000, "1 s ago");
    expect(-59999, "59 s ago");
    expect(-60000, "1 min ago");
    expect(-3599999, "59 min ago");
    expect(-3600000, "1 h ago");
    expect(-86399999, "23 h ago");
    expect(-86400000, "1 d ago");
    expect(-29 * 86400000LL, "29 d ago");
    expect(-30 * 86400000LL, "2026-12-16");
    expect(-INT64_C(1800000000000), "1970-01-01");
}

static void test_the_future(void **state)
{
    (void)state;
    expect(999, "now");
    expect(61000, "in 1 min");
    expect(5 * 86400000LL, "in 5 d");
    expect(40 * 86400000LL, "2027-02-24");
}

static void test_texts(void **state)
{
    (void)state;
    char out[RELATIVE_TIME_BYTES];
    assert_slice(relative_time_of_text(SLICE("2027-01-15T07:59:00.000Z"), now_ms, out), "1 min ago");
    assert_slice(relative_time_of_text(SLICE("tomorrow"), now_ms, out), "tomorrow");
    assert_slice(relative_time_of_text((struct slice){0}, now_ms, out), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_units_change_where_they_should),
        cmocka_unit_test(test_the_future),
        cmocka_unit_test(test_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "unit.h"

#include "store/sqlite/tail.h"

static void reads_places_and_distances(void **state)
{
    (void)state;
    /* 5 as a place, 3 further, a place above 2^32, 127 and 128 further */
    static const char bytes[] = "\x0b\x06\x81\x80\x80\x80\x80\x01\xfe\x01\x80\x02";
    const int64_t expected[] = {5, 8, (int64_t)1 << 34, ((int64_t)1 << 34) + 127, ((int64_t)1 << 34) + 255};
    int64_t position = 0;
    size_t at = 0;
    for (size_t i = 0; i < COUNT_OF(expected); i++) {
        assert_true(position_next(slice_from(bytes, sizeof bytes - 1), &at, &position));
        assert_int_equal(position, expected[i]);
    }
    assert_false(position_next(slice_from(bytes, sizeof bytes - 1), &at, &position));
}

static void broken_bytes_end_the_run(void **state)
{
    (void)state;
    static const char endless[] = "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff";
    int64_t position = 0;
    size_t at = 0;
    assert_false(position_next(slice_from(endless, sizeof endless - 1), &at, &position));
    at = 0;
    assert_false(position_next(slice_from(endless, 3), &at, &position));
    at = 0;
    assert_false(position_next(slice_from("", 0), &at, &position));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(reads_places_and_distances),
                                       cmocka_unit_test(broken_bytes_end_the_run)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

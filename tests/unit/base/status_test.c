#include "unit.h"

static void test_every_status_has_a_name_and_a_code(void **state)
{
    (void)state;
    for (int i = 0; i < STATUS_COUNT; i++) {
        enum status status = (enum status)i;
        assert_non_null(status_name(status));
        assert_in_range(status_http(status), 200, 599);
        assert_int_equal(status_http(status) == 200, status == STATUS_OK);
        for (int k = 0; k < i; k++) {
            assert_string_not_equal(status_name(status), status_name((enum status)k));
        }
    }
}

static void test_failure_set(void **state)
{
    (void)state;
    struct failure failure;
    memset(&failure, 0x55, sizeof failure);
    assert_status(failure_set(&failure, STATUS_CONFLICT, "bad_state", "It is %s.", "over"), STATUS_CONFLICT);
    assert_int_equal(failure.status, STATUS_CONFLICT);
    assert_string_equal(failure.code, "bad_state");
    assert_string_equal(failure.detail, "It is over.");
    assert_string_equal(failure.members, "");
    assert_int_equal(failure.retry_after_s, 0);
    assert_status(failure_set(NULL, STATUS_GONE, "x", "y"), STATUS_GONE);
}

static void test_failure_is_bounded(void **state)
{
    (void)state;
    struct failure failure;
    char code[200];
    memset(code, 'c', sizeof code - 1);
    code[sizeof code - 1] = '\0';
    failure_set(&failure, STATUS_INVALID, code, "%1000d", 1);
    assert_int_equal(strlen(failure.code), sizeof failure.code - 1);
    assert_int_equal(strlen(failure.detail), sizeof failure.detail - 1);
}

static void test_failure_members(void **state)
{
    (void)state;
    struct failure failure = {0};
    failure_members(&failure, "\"limit\":%d", 10);
    assert_string_equal(failure.members, "\"limit\":10");
    failure_members(&failure, "%1000d", 1);
    assert_string_equal(failure.members, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_status_has_a_name_and_a_code),
        cmocka_unit_test(test_failure_set),
        cmocka_unit_test(test_failure_is_bounded),
        cmocka_unit_test(test_failure_members),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "api/identity/signin_guard.h"

#include "unit.h"

static void test_limits_by_address_and_account(void **state)
{
    (void)state;
    struct signin_guard *guard = signin_guard_new(3, 1000);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(signin_guard_enter(guard, SLICE("10.0.0.1"), SLICE("a@x"), 100), 0);
    }
    assert_true(signin_guard_enter(guard, SLICE("10.0.0.1"), SLICE("a@x"), 100) > 0);
    assert_true(signin_guard_enter(guard, SLICE("10.0.0.2"), SLICE("a@x"), 100) > 0);
    assert_true(signin_guard_enter(guard, SLICE("10.0.0.1"), SLICE("b@x"), 100) > 0);
    assert_int_equal(signin_guard_enter(guard, SLICE("10.0.0.3"), SLICE("c@x"), 100), 0);
    signin_guard_free(guard);
}

static void test_window_ends(void **state)
{
    (void)state;
    struct signin_guard *guard = signin_guard_new(1, 1000);
    assert_int_equal(signin_guard_enter(guard, SLICE("p"), SLICE("a"), 5100), 0);
    assert_int_equal(signin_guard_enter(guard, SLICE("p"), SLICE("a"), 5600), 500);
    assert_int_equal(signin_guard_enter(guard, SLICE("p"), SLICE("a"), 6100), 0);
    signin_guard_free(guard);
}

static void test_success_forgives_the_account(void **state)
{
    (void)state;
    struct signin_guard *guard = signin_guard_new(2, 1000);
    signin_guard_enter(guard, SLICE("p1"), SLICE("a"), 0);
    signin_guard_enter(guard, SLICE("p2"), SLICE("a"), 0);
    signin_guard_passed(guard, SLICE("p1"), SLICE("a"));
    assert_int_equal(signin_guard_enter(guard, SLICE("p3"), SLICE("a"), 0), 0);
    signin_guard_free(guard);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_limits_by_address_and_account),
        cmocka_unit_test(test_window_ends),
        cmocka_unit_test(test_success_forgives_the_account),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

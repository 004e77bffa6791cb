/* Heartbeats that wait in memory: what their holder was told stands, whatever happens to the row meanwhile. */
#include "unit.h"

#include "service/work/renewal.h"

enum { NOW = 100000, STORED = NOW + 30000 };

static struct lease lease_of(int64_t session_key, int64_t fence, int64_t expires_at_ms)
{
    return (struct lease){.tenant_key = 1,
                          .session_key = session_key,
                          .fence = fence,
                          .lease_ms = 30000,
                          .expires_at_ms = expires_at_ms,
                          .heartbeat_at_ms = 1};
}

static int64_t as_told(const struct renewals *renewals, int64_t session_key, int64_t fence, int64_t stored_ms)
{
    struct lease lease = lease_of(session_key, fence, stored_ms);
    renewals_apply(renewals, &lease);
    return lease.expires_at_ms;
}

static void test_a_renewal_is_what_the_holder_was_told(void **state)
{
    (void)state;
    struct renewals renewals = {0};
    struct lease held = lease_of(7, 1, STORED);
    assert_true(renewals_take(&renewals, &held, STORED + 10, 2, NOW));
    assert_int_equal(renewals.due_ms, NOW + RENEWAL_DELAY_MS);
    held.expires_at_ms = STORED + 10;
    assert_true(renewals_take(&renewals, &held, STORED + 20, 3, NOW + 10));
    assert_int_equal(renewals.due_ms, NOW + RENEWAL_DELAY_MS);
    assert_int_equal(as_told(&renewals, 7, 1, STORED), STORED + 20);
    assert_int_equal(as_told(&renewals, 8, 1, STORED), STORED);
    renewals_clear(&renewals);
    assert_int_equal(renewals.due_ms, 0);
    assert_int_equal(as_told(&renewals, 7, 1, STORED), STORED);
    renewals_release(&renewals);
}

static void test_another_lease_of_the_session_is_not_touched(void **state)
{
    (void)state;
    struct renewals renewals = {0};
    struct lease held = lease_of(7, 1, STORED);
    assert_true(renewals_take(&renewals, &held, STORED + 10, 2, NOW));
    assert_int_equal(as_told(&renewals, 7, 2, STORED), STORED);
    assert_int_equal(as_told(&renewals, 7, 1, STORED + 5), STORED + 5); /* written by somebody meanwhile */
    struct lease next = lease_of(7, 2, STORED + 50);
    assert_true(renewals_take(&renewals, &next, STORED + 60, 2, NOW));
    assert_int_equal(as_told(&renewals, 7, 2, STORED + 50), STORED + 60);
    assert_int_equal(as_told(&renewals, 7, 1, STORED), STORED);
    renewals_release(&renewals);
}

/* Readers know the row only: it must never look expired while the lease lives. */
static void test_a_row_that_ends_soon_is_written_at_once(void **state)
{
    (void)state;
    struct renewals renewals = {0};
    struct lease held = lease_of(7, 1, NOW + 2 * RENEWAL_DELAY_MS - 1);
    assert_false(renewals_take(&renewals, &held, NOW + 30000, 2, NOW));
    assert_int_equal(renewals.due_ms, 0);
    held.expires_at_ms = STORED;
    assert_true(renewals_take(&renewals, &held, STORED + 10, 2, NOW));
    held.expires_at_ms = STORED + 10;
    assert_false(renewals_take(&renewals, &held, STORED + 20, 2, STORED - 2 * RENEWAL_DELAY_MS + 1));
    renewals_release(&renewals);
}

static void test_a_lease_that_is_over_leaves_the_others(void **state)
{
    (void)state;
    struct renewals renewals = {0};
    for (int64_t key = 7; key <= 9; key++) {
        struct lease held = lease_of(key, 1, STORED);
        assert_true(renewals_take(&renewals, &held, STORED + 10, 2, NOW));
    }
    renewals_drop(&renewals, 8); /* in the middle, last, first, not there */
    assert_int_equal(as_told(&renewals, 8, 1, STORED), STORED);
    assert_int_equal(as_told(&renewals, 7, 1, STORED), STORED + 10);
    assert_int_equal(as_told(&renewals, 9, 1, STORED), STORED + 10);
    renewals_drop(&renewals, 7);
    assert_ptr_equal(renewals.first, map_get(&renewals.by_session, slice_from(&(int64_t){9}, sizeof(int64_t))));
    assert_null(renewals.first->next);
    renewals_drop(&renewals, 9);
    renewals_drop(&renewals, 9);
    assert_null(renewals.first);
    renewals_release(&renewals);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_renewal_is_what_the_holder_was_told),
        cmocka_unit_test(test_another_lease_of_the_session_is_not_touched),
        cmocka_unit_test(test_a_row_that_ends_soon_is_written_at_once),
        cmocka_unit_test(test_a_lease_that_is_over_leaves_the_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

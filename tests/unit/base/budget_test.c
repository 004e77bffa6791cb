#include "base/budget.h"
#include "base/json.h"
#include "unit.h"

static const struct budget_limits small = {
    .steps_max = 100, .timeout_ms = 60000, .steps_option = "command-steps-max", .timeout_option = "command-timeout-ms"};

static void without_one_nothing_is_refused(void **state)
{
    (void)state;
    assert_true(budget_spend(INT32_MAX));
    assert_status(budget_check(NULL), STATUS_OK);
    budget_begin(&(struct budget_limits){0});
    assert_true(budget_spend(INT32_MAX));
    assert_status(budget_check(NULL), STATUS_OK);
    budget_end();
}

static void a_spent_one_stays_spent_until_its_end(void **state)
{
    struct failure failure = {0};
    (void)state;
    budget_begin(&small);
    assert_true(budget_spend(99));
    assert_status(budget_check(&failure), STATUS_OK);
    assert_false(budget_spend(1));
    assert_false(budget_spend(0));
    assert_status(budget_check(&failure), STATUS_TOO_COSTLY);
    assert_string_equal(failure.code, "too_many_steps");
    assert_non_null(strstr(failure.detail, "option command-steps-max"));
    budget_end();
    assert_true(budget_spend(1000));
    assert_status(budget_check(&failure), STATUS_OK);
}

static void a_deadline_ends_it_too(void **state)
{
    struct failure failure = {0};
    struct budget_limits brief = small;
    (void)state;
    brief.timeout_ms = 0;
    brief.steps_max = INT64_MAX / 2;
    budget_begin(&brief);
    for (int i = 0; i < 100000 && budget_spend(1); i++) {
    }
    assert_status(budget_check(&failure), STATUS_UNAVAILABLE);
    assert_string_equal(failure.code, "deadline_passed");
    assert_int_equal(failure.retry_after_s, 1);
    assert_non_null(strstr(failure.detail, "option command-timeout-ms"));
    budget_end();
}

/* Gates refuse, linear work only counts: what is read with a spent budget is still right. */
static void linear_work_is_never_wrong(void **state)
{
    struct arena arena = {0};
    const struct json *value = NULL;
    (void)state;
    budget_begin(&small);
    assert_false(budget_spend(1000));
    assert_status(json_parse(&arena, SLICE("{\"a\":[1,2]}"), &value, NULL), STATUS_OK);
    assert_int_equal(json_get(value, "a")->count, 2);
    budget_end();
    arena_release(&arena);
}

static void all_of_it_is_counted(void **state)
{
    struct budget_stats before, after;
    (void)state;
    budget_stats_read(&before);
    budget_begin(&small);
    (void)budget_spend(30);
    budget_end();
    budget_begin(&small);
    (void)budget_spend(200);
    budget_end();
    budget_end();
    budget_stats_read(&after);
    assert_int_equal(after.steps - before.steps, 230);
    assert_int_equal(after.steps_refusals - before.steps_refusals, 1);
    assert_int_equal(after.deadline_refusals - before.deadline_refusals, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_one_nothing_is_refused), cmocka_unit_test(a_spent_one_stays_spent_until_its_end),
        cmocka_unit_test(a_deadline_ends_it_too),         cmocka_unit_test(linear_work_is_never_wrong),
        cmocka_unit_test(all_of_it_is_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "domain/run.h"
#include "domain_unit.h"

static void it_follows_every_state(void **state)
{
    static const struct {
        enum session_status work;
        int64_t started_ms;
        enum run_status status;
        int outcome;
    } rows[] = {
        {SESSION_DRAFT, 0, RUN_QUEUED, -1},
        {SESSION_PENDING, 0, RUN_QUEUED, -1},
        {SESSION_RUNNING, 5, RUN_RUNNING, -1},
        {SESSION_WAITING_HUMAN, 5, RUN_NEEDS_HUMAN, -1},
        {SESSION_AWAITING_TOOL, 5, RUN_NEEDS_HUMAN, -1},
        {SESSION_IDLE, 0, RUN_QUEUED, -1},
        {SESSION_IDLE, 5, RUN_RUNNING, -1},
        {SESSION_COMPLETED, 5, RUN_SUCCEEDED, OUTCOME_COMPLETED},
        {SESSION_FAILED, 5, RUN_FAILED, OUTCOME_FAILED},
        {SESSION_EXPIRED, 0, RUN_TIMED_OUT, OUTCOME_FAILED},
        {SESSION_ABANDONED, 0, RUN_FAILED, OUTCOME_FAILED},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct automation_run run = {0};
        struct session session = {.status = rows[i].work, .started_at_ms = rows[i].started_ms, .completed_at_ms = 9};
        run_follow(&run, &session);
        assert_int_equal(run.status, rows[i].status);
        assert_int_equal(run.outcome, rows[i].outcome);
        assert_int_equal(run.started_at_ms, rows[i].started_ms);
        assert_int_equal(run.ended_at_ms, session_status_is_ended(rows[i].work) ? 9 : 0);
    }
}

static enum status say(struct automation_run *run, const char *outcome, const char *summary, const char *id,
                       bool *repeated)
{
    struct run_verdict verdict = {slice_of(outcome), slice_of(summary), slice_of(id)};
    return run_complete(run, &verdict, 7, repeated, NULL);
}

static void an_outcome_is_said_once(void **state)
{
    struct automation_run run = {.outcome = -1};
    bool repeated;
    (void)state;
    assert_status(say(&run, "fine", "s", NULL, &repeated), STATUS_INVALID);
    assert_status(say(&run, "completed", "s", NULL, &repeated), STATUS_INVALID); /* only inferred */
    assert_int_equal(run.ended_at_ms, 0);
    assert_status(say(&run, "needs_human", "s", "k", &repeated), STATUS_OK);
    assert_false(repeated);
    assert_int_equal(run.status, RUN_NEEDS_HUMAN);
    assert_int_equal(run.ended_at_ms, 7);
    assert_status(say(&run, "failed", "other", "k", &repeated), STATUS_OK);
    assert_true(repeated);
    assert_int_equal(run.outcome, OUTCOME_NEEDS_HUMAN);
    assert_status(say(&run, "needs_human", "s", NULL, &repeated), STATUS_CONFLICT);
    assert_status(say(&run, "needs_human", "s", "l", &repeated), STATUS_CONFLICT);
}

static void without_a_name_it_is_compared(void **state)
{
    struct automation_run run = {.outcome = -1};
    bool repeated;
    (void)state;
    assert_status(say(&run, "succeeded", NULL, NULL, &repeated), STATUS_OK);
    assert_status(say(&run, "succeeded", NULL, NULL, &repeated), STATUS_OK);
    assert_true(repeated);
    assert_status(say(&run, "succeeded", "x", NULL, &repeated), STATUS_CONFLICT);
    assert_status(say(&run, "failed", NULL, NULL, &repeated), STATUS_CONFLICT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_follows_every_state),
        cmocka_unit_test(an_outcome_is_said_once),
        cmocka_unit_test(without_a_name_it_is_compared),
    };
    return cmocka_run_group_tests(tests, NULL, release_test_arena);
}

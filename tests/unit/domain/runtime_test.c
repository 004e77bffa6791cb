#include "domain/runtime.h"
#include "unit.h"

/* Rows are from, columns to: none starting running hibernating hibernated restoring stopped error. "s" = only with a
 * snapshot. */
static const char *const expected_edges[RUNTIME_COUNT] = {
    ".xx..s..", /* none */
    "..x...xx", /* starting */
    "...x..xx", /* running */
    "..x.x.xx", /* hibernating */
    ".....xxx", /* hibernated */
    "..x...xx", /* restoring */
    "........", /* stopped */
    ".x...sx.", /* error */
};

static void every_edge_is_as_written(void **state)
{
    (void)state;
    for (int from = 0; from < RUNTIME_COUNT; from++) {
        for (int to = 0; to < RUNTIME_COUNT; to++) {
            char cell = expected_edges[from][to];
            for (int snapshot = 0; snapshot < 2; snapshot++) {
                bool expected = cell == 'x' || (cell == 's' && snapshot);
                if (runtime_allows((enum runtime)from, (enum runtime)to, snapshot) != expected) {
                    fail_msg("%s -> %s (snapshot %d) should be %d", runtime_enum.names[from], runtime_enum.names[to],
                             snapshot, expected);
                }
            }
        }
    }
    assert_false(runtime_allows((enum runtime)30, RUNTIME_NONE, true));
    assert_false(runtime_allows(RUNTIME_NONE, (enum runtime)30, true));
}

static void words_are_complete(void **state)
{
    (void)state;
    const struct {
        struct enum_names words;
        int count;
    } all[] = {{runtime_enum, 8}, {pause_reason_enum, 8}, {stop_reason_enum, 14}};
    for (size_t i = 0; i < COUNT_OF(all); i++) {
        assert_int_equal(all[i].words.count, all[i].count);
        for (int word = 0; word < all[i].count; word++) {
            assert_non_null(all[i].words.names[word]);
            assert_int_equal(enum_names_find(all[i].words, slice_of(all[i].words.names[word])), word);
        }
    }
    assert_string_equal(pause_reason_enum.names[0], "");
    assert_string_equal(stop_reason_enum.names[0], "");
}

static void a_running_or_stopped_sandbox_is_not_paused(void **state)
{
    (void)state;
    static const char expected[] = "xx.xxx.x";
    static const char asleep[] = "...xx...";
    for (int i = 0; i < RUNTIME_COUNT; i++) {
        assert_row(runtime_enum.names[i], runtime_can_pause((enum runtime)i) == (expected[i] == 'x'));
        assert_row(runtime_enum.names[i], runtime_is_asleep((enum runtime)i) == (asleep[i] == 'x'));
    }
}

static void a_person_and_want_of_money_hold_a_session(void **state)
{
    (void)state;
    static const char expected[PAUSE_COUNT + 1] = ".x.xxxx.";
    for (int i = 0; i < PAUSE_COUNT; i++) {
        assert_row(pause_reason_enum.names[i], pause_blocks_turns((enum pause_reason)i) == (expected[i] == 'x'));
    }
    assert_false(pause_blocks_turns(PAUSE_COUNT));
}

static void targets_are_listed(void **state)
{
    char out[128];
    (void)state;
    runtime_targets(RUNTIME_ERROR, false, out, sizeof out);
    assert_string_equal(out, "starting, stopped");
    runtime_targets(RUNTIME_ERROR, true, out, sizeof out);
    assert_string_equal(out, "starting, restoring, stopped");
    runtime_targets(RUNTIME_STOPPED, true, out, sizeof out);
    assert_string_equal(out, "");
}

/* What is done in every state: ended, has a snapshot, live, wanted, used, saved. */
static void the_next_step_of_every_state(void **state)
{
    (void)state;
    const struct {
        struct runtime_facts facts;
        enum runtime to;
        enum runtime_action action;
    } rows[] = {
        {{.state = RUNTIME_NONE}, RUNTIME_NONE, RUNTIME_REST},
        {{.state = RUNTIME_NONE, .wanted = true}, RUNTIME_STARTING, RUNTIME_MAKE},
        {{.state = RUNTIME_NONE, .wanted = true, .has_snapshot = true}, RUNTIME_RESTORING, RUNTIME_MAKE},
        {{.state = RUNTIME_STARTING}, RUNTIME_STARTING, RUNTIME_MAKE},
        {{.state = RUNTIME_RESTORING, .has_snapshot = true}, RUNTIME_RESTORING, RUNTIME_MAKE},
        {{.state = RUNTIME_RUNNING}, RUNTIME_RUNNING, RUNTIME_REST},
        {{.state = RUNTIME_RUNNING, .wanted = true}, RUNTIME_RUNNING, RUNTIME_MAKE},
        {{.state = RUNTIME_RUNNING, .live = true}, RUNTIME_RUNNING, RUNTIME_WAIT},
        {{.state = RUNTIME_RUNNING, .live = true, .wanted = true}, RUNTIME_RUNNING, RUNTIME_GIVE},
        {{.state = RUNTIME_HIBERNATING}, RUNTIME_HIBERNATING, RUNTIME_MAKE},
        {{.state = RUNTIME_HIBERNATING, .live = true, .used = true}, RUNTIME_HIBERNATING, RUNTIME_WAIT},
        {{.state = RUNTIME_HIBERNATING, .live = true}, RUNTIME_HIBERNATING, RUNTIME_SAVE},
        {{.state = RUNTIME_HIBERNATING, .live = true, .wanted = true}, RUNTIME_HIBERNATING, RUNTIME_SAVE},
        {{.state = RUNTIME_HIBERNATING, .live = true, .saved = true}, RUNTIME_HIBERNATING, RUNTIME_END},
        {{.state = RUNTIME_HIBERNATED, .has_snapshot = true}, RUNTIME_HIBERNATED, RUNTIME_REST},
        {{.state = RUNTIME_HIBERNATED, .has_snapshot = true, .wanted = true}, RUNTIME_RESTORING, RUNTIME_MAKE},
        {{.state = RUNTIME_ERROR}, RUNTIME_ERROR, RUNTIME_REST},
        {{.state = RUNTIME_ERROR, .wanted = true}, RUNTIME_STARTING, RUNTIME_MAKE},
        {{.state = RUNTIME_ERROR, .wanted = true, .has_snapshot = true}, RUNTIME_RESTORING, RUNTIME_MAKE},
        {{.state = RUNTIME_STOPPED}, RUNTIME_STOPPED, RUNTIME_REST},
        {{.state = RUNTIME_STOPPED, .wanted = true}, RUNTIME_STOPPED, RUNTIME_REFUSE},
        {{.state = RUNTIME_RUNNING, .ended = true, .live = true}, RUNTIME_RUNNING, RUNTIME_END},
        {{.state = RUNTIME_RUNNING, .ended = true, .live = true, .used = true}, RUNTIME_RUNNING, RUNTIME_WAIT},
        {{.state = RUNTIME_RUNNING, .ended = true}, RUNTIME_RUNNING, RUNTIME_MAKE},
        {{.state = RUNTIME_HIBERNATED, .ended = true}, RUNTIME_STOPPED, RUNTIME_REST},
        {{.state = RUNTIME_ERROR, .ended = true, .wanted = true}, RUNTIME_STOPPED, RUNTIME_REFUSE},
        {{.state = RUNTIME_NONE, .ended = true}, RUNTIME_NONE, RUNTIME_REST},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct runtime_step next = runtime_next(&rows[i].facts);
        if (next.to != rows[i].to || next.action != rows[i].action) {
            fail_msg("row %zu (%s): to %s, action %d", i, runtime_enum.names[rows[i].facts.state],
                     runtime_enum.names[next.to], (int)next.action);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_edge_is_as_written),
        cmocka_unit_test(the_next_step_of_every_state),
        cmocka_unit_test(words_are_complete),
        cmocka_unit_test(a_running_or_stopped_sandbox_is_not_paused),
        cmocka_unit_test(a_person_and_want_of_money_hold_a_session),
        cmocka_unit_test(targets_are_listed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

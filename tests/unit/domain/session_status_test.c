#include "domain/session_status.h"
#include "unit.h"

/* Rows are from, columns to, in the order of the enum: draft pending running waiting_human awaiting_tool idle completed
 * failed expired abandoned. */
static const char *const expected_edges[SESSION_STATUS_COUNT] = {
    ".xx..xxxxx", /* draft */
    "..x..xxxxx", /* pending */
    ".x.xxxxxxx", /* running */
    ".xx.xxxxxx", /* waiting_human */
    ".xxx.xxxxx", /* awaiting_tool */
    ".xx...xxxx", /* idle */
    ".....x....", /* completed */
    "..........", /* failed */
    ".....x....", /* expired */
    ".....x....", /* abandoned */
};

static void every_edge_is_as_written(void **state)
{
    (void)state;
    for (int from = 0; from < SESSION_STATUS_COUNT; from++) {
        for (int to = 0; to < SESSION_STATUS_COUNT; to++) {
            bool expected = expected_edges[from][to] == 'x';
            if (session_status_allows((enum session_status)from, (enum session_status)to) != expected) {
                fail_msg("%s -> %s should be %d", session_status_enum.names[from], session_status_enum.names[to],
                         expected);
            }
        }
    }
}

static void states_have_their_words(void **state)
{
    static const char *const names[] = {"draft", "pending",   "running", "waiting_human", "awaiting_tool",
                                        "idle",  "completed", "failed",  "expired",       "abandoned"};
    (void)state;
    assert_int_equal(session_status_enum.count, 10);
    for (int i = 0; i < SESSION_STATUS_COUNT; i++) {
        assert_string_equal(session_status_enum.names[i], names[i]);
        assert_int_equal(enum_names_find(session_status_enum, slice_of(names[i])), i);
    }
    assert_int_equal(enum_names_find(session_status_enum, SLICE("cancelled")), -1);
    assert_int_equal(session_type_enum.count, 4);
}

static void initial_states_follow_the_type(void **state)
{
    static const char *const expected[TYPE_COUNT] = {
        [TYPE_AGENT] = "xx...x....",
        [TYPE_RESPONSE] = "x.........",
        [TYPE_TOOL] = "x.........",
        [TYPE_MIXED] = "..x..x....",
    };
    (void)state;
    for (int type = 0; type < TYPE_COUNT; type++) {
        for (int work = 0; work < SESSION_STATUS_COUNT; work++) {
            bool allowed = session_status_is_initial((enum session_type)type, false, (enum session_status)work);
            assert_row(session_type_enum.names[type], allowed == (expected[type][work] == 'x'));
            assert_int_equal(session_status_is_initial((enum session_type)type, true, (enum session_status)work),
                             work == SESSION_WAITING_HUMAN);
        }
        for (int dispatched = 0; dispatched < 2; dispatched++) {
            enum session_status initial = session_status_initial((enum session_type)type, dispatched);
            assert_true(session_status_is_initial((enum session_type)type, false, initial));
        }
    }
    assert_int_equal(session_status_initial(TYPE_AGENT, true), SESSION_PENDING);
    assert_int_equal(session_status_initial(TYPE_AGENT, false), SESSION_IDLE);
}

static void every_state_is_in_its_groups(void **state)
{
    static const struct {
        const char *name;
        bool (*in)(enum session_status);
        const char *expected;
    } groups[] = {
        {"active", session_status_is_active, "xxxxxx...."},
        {"live", session_status_is_live, ".xx......."},
        {"failing", session_status_is_failing, ".......xxx"},
        {"ended", session_status_is_ended, "......xxxx"},
        {"claimable", session_status_is_claimable, ".x........"},
        {"running", session_status_is_running, "..x......."},
        {"leased", session_status_is_leased, "..xxx....."},
        {"waiting", session_status_is_waiting, "...xx....."},
        {"can reopen", session_status_can_reopen, "......x.xx"},
        {"blocks delete", session_status_blocks_delete, "..xxx....."},
        {"concurrent", session_status_counts_as_concurrent, "..xxx....."},
        {"in turn", session_status_is_in_turn, "..xxx....."},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(groups); i++) {
        for (int work = 0; work < SESSION_STATUS_COUNT; work++) {
            assert_row(groups[i].name, groups[i].in((enum session_status)work) == (groups[i].expected[work] == 'x'));
        }
        assert_row(groups[i].name,
                   !groups[i].in((enum session_status)SESSION_STATUS_COUNT) && !groups[i].in((enum session_status)77));
    }
}

static void unknown_states_go_nowhere(void **state)
{
    (void)state;
    assert_false(session_status_allows((enum session_status)44, SESSION_IDLE));
    assert_false(session_status_allows(SESSION_IDLE, (enum session_status)44));
    assert_false(session_status_is_initial((enum session_type)9, false, SESSION_IDLE));
}

static void targets_are_listed(void **state)
{
    char out[160];
    (void)state;
    session_status_targets(SESSION_IDLE, out, sizeof out);
    assert_string_equal(out, "pending, running, completed, failed, expired, abandoned");
    session_status_targets(SESSION_FAILED, out, sizeof out);
    assert_string_equal(out, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_edge_is_as_written),       cmocka_unit_test(states_have_their_words),
        cmocka_unit_test(initial_states_follow_the_type), cmocka_unit_test(every_state_is_in_its_groups),
        cmocka_unit_test(unknown_states_go_nowhere),      cmocka_unit_test(targets_are_listed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

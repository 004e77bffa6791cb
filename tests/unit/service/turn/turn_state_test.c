/* The states of a hosted turn: every edge that is drawn, no other, and what each state promises. */
#include "unit.h"

#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "service/turn/turn_run.h"

static const struct driver driver;
static struct turn_op end = {.kind = TURN_OP_END};

/* A turn for which all that `to` promises holds. */
static struct turn turn_for(enum turn_state from, enum turn_state to)
{
    struct turn turn = {.driver = &driver, .state = (uint8_t)from};
    turn.is_loading = to == TURN_LOADING;
    turn.queue = to == TURN_ENDING ? &end : NULL;
    return turn;
}

static bool aborts(struct turn turn, enum turn_state to)
{
    int ended;
    pid_t child = fork();
    if (child == 0) {
        fclose(stderr);
        signal(SIGABRT, SIG_DFL);
        turn_enter(&turn, to);
        _exit(turn.state == to ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &ended, 0), child);
    assert_true(WIFSIGNALED(ended) || WEXITSTATUS(ended) == 0);
    return WIFSIGNALED(ended);
}

static void only_drawn_edges_are_taken(void **state)
{
    (void)state;
    static const char *const drawn[TURN_STATE_COUNT] = {
        [TURN_CLAIMED] = " x  xx",          /* loads, ends, over */
        [TURN_LOADING] = "  xxxx",          /* waits for its sandbox, runs, ends, over */
        [TURN_AWAITING_SANDBOX] = "   xxx", /* runs, ends, over */
        [TURN_RUNNING] = "    xx",          /* ends, over */
        [TURN_ENDING] = "     x",           /* over */
        [TURN_OVER] = "      ",
    };
    for (int from = 0; from < TURN_STATE_COUNT; from++) {
        for (int to = 0; to < TURN_STATE_COUNT; to++) {
            struct turn turn = turn_for((enum turn_state)from, (enum turn_state)to);
            assert_int_equal(aborts(turn, (enum turn_state)to), drawn[from][to] == ' ');
        }
    }
}

static void a_turn_has_one_owner(void **state)
{
    (void)state;
    struct turn turn = turn_for(TURN_CLAIMED, TURN_LOADING);
    turn.is_writing = true;
    assert_true(aborts(turn, TURN_LOADING));
}

static void a_turn_is_loaded_before_it_runs(void **state)
{
    (void)state;
    struct turn turn = turn_for(TURN_LOADING, TURN_RUNNING);
    turn.is_loading = true;
    assert_true(aborts(turn, TURN_RUNNING));
    assert_true(aborts(turn, TURN_AWAITING_SANDBOX));
}

static void a_driver_starts_once(void **state)
{
    (void)state;
    struct turn turn = turn_for(TURN_LOADING, TURN_RUNNING);
    turn.has_driver = true;
    assert_true(aborts(turn, TURN_RUNNING));
}

static void an_end_is_the_last_operation(void **state)
{
    (void)state;
    struct turn_op event = {.kind = TURN_OP_EVENT}, abort_op = {.kind = TURN_OP_ABORT, .next = &event};
    struct turn turn = turn_for(TURN_RUNNING, TURN_ENDING);
    turn.queue = NULL;
    assert_true(aborts(turn, TURN_ENDING));
    turn.queue = &abort_op;
    assert_true(aborts(turn, TURN_ENDING));
    abort_op.next = NULL;
    assert_false(aborts(turn, TURN_ENDING));
    turn.queue = NULL;
    turn.writing = &abort_op;
    assert_false(aborts(turn, TURN_ENDING));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_drawn_edges_are_taken),      cmocka_unit_test(a_turn_has_one_owner),
        cmocka_unit_test(a_turn_is_loaded_before_it_runs), cmocka_unit_test(a_driver_starts_once),
        cmocka_unit_test(an_end_is_the_last_operation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

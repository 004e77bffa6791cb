#include "domain/vocabulary.h"
#include "domain_unit.h"

static struct session with(enum session_status work, enum runtime runtime, enum pause_reason pause)
{
    return (struct session){.status = work, .runtime = runtime, .pause_reason = pause};
}

/* --- display status --- */

/* The shipped matrix, written a second time by hand: A active, I idle, P paused, B blocked, R recovering, C completed,
 * F failed; rows are work states, columns pause reasons (none manual inactivity credit_limit payment_failed overage_cap
 * suspended orphaned), with no sandbox. */
static const char *const display_by_pause[SESSION_STATUS_COUNT] = {
    "IPIBBBBR", /* draft */
    "APIBBBBR", /* pending */
    "APIBBBBR", /* running */
    "BPIBBBBR", /* waiting_human */
    "BPIBBBBR", /* awaiting_tool */
    "IPIBBBBR", /* idle */
    "CCCCCCCC", /* completed */
    "FFFFFFFF", /* failed */
    "FFFFFFFF", /* expired */
    "FFFFFFFF", /* abandoned */
};

/* Without a pause; columns are runtimes: none starting running hibernating hibernated restoring stopped error. */
static const char *const display_by_runtime[SESSION_STATUS_COUNT] = {
    "IAIIIAIF", /* draft */
    "AAAIIAAF", /* pending */
    "AAAIIAAF", /* running */
    "BABIIABF", /* waiting_human */
    "BABIIABF", /* awaiting_tool */
    "IAIIIAIF", /* idle */
    "CCCCCCCC", /* completed */
    "FFFFFFFF", /* failed */
    "FFFFFFFF", /* expired */
    "FFFFFFFF", /* abandoned */
};

static char letter_of(enum display_status status)
{
    return "AIPBRCF"[status];
}

static void every_display_combination_is_as_shipped(void **state)
{
    (void)state;
    for (int work = 0; work < SESSION_STATUS_COUNT; work++) {
        for (int runtime = 0; runtime < RUNTIME_COUNT; runtime++) {
            for (int pause = 0; pause < PAUSE_COUNT; pause++) {
                struct session session =
                    with((enum session_status)work, (enum runtime)runtime, (enum pause_reason)pause);
                char expected = pause == PAUSE_NONE ? display_by_runtime[work][runtime] : display_by_pause[work][pause];
                if (letter_of(display_status(&session)) != expected) {
                    fail_msg("%s/%s/%s: %c, expected %c", session_status_enum.names[work], runtime_enum.names[runtime],
                             pause_reason_enum.names[pause], letter_of(display_status(&session)), expected);
                }
                assert_true(strlen(display_reason(&session)) > 3);
            }
        }
    }
}

static void the_reason_of_an_end_can_make_it_a_failure(void **state)
{
    (void)state;
    for (int stop = 0; stop < STOP_COUNT; stop++) {
        struct session session = with(SESSION_COMPLETED, RUNTIME_STOPPED, PAUSE_NONE);
        session.stop_reason = (enum stop_reason)stop;
        bool failed = stop == STOP_SNAPSHOT_FAILED || stop == STOP_ATTEMPTS_EXHAUSTED;
        assert_row(stop_reason_enum.names[stop],
                   display_status(&session) == (failed ? DISPLAY_FAILED : DISPLAY_COMPLETED));
        session.status = SESSION_FAILED;
        assert_row(stop_reason_enum.names[stop], display_status(&session) == DISPLAY_FAILED);
    }
}

static void people_read_why_it_is_blocked(void **state)
{
    (void)state;
    static const struct {
        enum pause_reason pause;
        const char *reason;
    } rows[] = {
        {PAUSE_CREDIT_LIMIT, "out of credits"},
        {PAUSE_PAYMENT_FAILED, "payment failed"},
        {PAUSE_OVERAGE_CAP, "usage cap reached"},
        {PAUSE_SUSPENDED, "account suspended"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct session session = with(SESSION_IDLE, RUNTIME_HIBERNATED, rows[i].pause);
        assert_string_equal(display_reason(&session), rows[i].reason);
    }
    struct session idle = with(SESSION_IDLE, RUNTIME_NONE, PAUSE_NONE);
    assert_string_equal(display_reason(&idle), "waiting for your next message");
}

static void unknown_values_get_a_neutral_answer(void **state)
{
    (void)state;
    struct session session = with((enum session_status)99, (enum runtime)99, (enum pause_reason)99);
    session.stop_reason = (enum stop_reason)99;
    assert_int_equal(display_status(&session), DISPLAY_IDLE);
    session.status = SESSION_IDLE;
    assert_int_equal(display_status(&session), DISPLAY_PAUSED);
    session.pause_reason = PAUSE_NONE;
    assert_int_equal(display_status(&session), DISPLAY_IDLE);
    session.status = SESSION_COMPLETED;
    assert_int_equal(display_status(&session), DISPLAY_COMPLETED);
}

/* --- the other words --- */

static bool is_one_of(const char *list, const char *word)
{
    char padded[256], wanted[64];
    snprintf(padded, sizeof padded, " %s ", list);
    snprintf(wanted, sizeof wanted, " %s ", word);
    return strstr(padded, wanted) != NULL;
}

static void check_all_words(const struct session *session)
{
    assert_true(is_one_of("draft submitted promoted abandoned", response_word(session)));
    assert_true(is_one_of("active completed cancelled", tool_word(session)));
    assert_true(is_one_of("in-progress complete waiting-human failed pending", block_word(session)));
    assert_true(is_one_of("idle running awaiting_approval inactive", conversation_word(session)));
    assert_true(is_one_of("starting running hibernating hibernated restoring stopped error", sandbox_word(session)));
    assert_true(is_one_of("idle streaming exported", chat_word(session)));
    assert_true(is_one_of("starting running paused stopped failed suspended", lifecycle_word(session)));
    assert_true(is_one_of("initializing running idle hibernating hibernated restoring terminated archived error",
                          live_status_word(session)));
    for (int bits = 0; bits < 8; bits++) {
        assert_true(is_one_of("starting busy idle queued sleeping standby stopped error",
                              agent_word(session, bits & 1, bits & 2, bits & 4)));
        assert_true(is_one_of("starting running_busy running_idle queued waking sleeping standby stopped error",
                              joint_word(session, bits & 1, bits & 2, bits & 4)));
    }
}

/* One value beyond each enum stands for all that is unknown. */
static void every_vocabulary_is_total(void **state)
{
    (void)state;
    for (int n = 0; n < (TYPE_COUNT + 1) * (SESSION_STATUS_COUNT + 1) * (RUNTIME_COUNT + 1) * (PAUSE_COUNT + 1) * 4;
         n++) {
        int rest = n;
        struct session session = {.archived_at_ms = rest & 1,
                                  .details = rest & 2 ? SLICE("{\"exported_at\":\"2026-01-"
                                                              "01T00:00:00Z\"}")
                                                      : (struct slice){NULL, 0}};
        rest /= 4;
        session.type = (enum session_type)(rest % (TYPE_COUNT + 1));
        rest /= TYPE_COUNT + 1;
        session.status = (enum session_status)(rest % (SESSION_STATUS_COUNT + 1));
        rest /= SESSION_STATUS_COUNT + 1;
        session.runtime = (enum runtime)(rest % (RUNTIME_COUNT + 1));
        rest /= RUNTIME_COUNT + 1;
        session.pause_reason = (enum pause_reason)rest;
        check_all_words(&session);
    }
}

static void words_by_work(void **state)
{
    static const struct {
        const char *response, *tool, *block, *conversation, *chat, *lifecycle, *live, *agent, *joint;
    } rows[SESSION_STATUS_COUNT] = {
        {"draft", "active", "pending", "idle", "idle", "starting", "initializing", "standby", "standby"},
        {"draft", "active", "pending", "running", "streaming", "starting", "initializing", "queued", "queued"},
        {"draft", "active", "in-progress", "running", "streaming", "running", "running", "busy", "running_busy"},
        {"submitted", "active", "waiting-human", "awaiting_approval", "streaming", "running", "running", "busy",
         "running_busy"},
        {"draft", "active", "in-progress", "awaiting_approval", "streaming", "running", "running", "busy",
         "running_busy"},
        {"draft", "active", "in-progress", "idle", "idle", "running", "idle", "standby", "standby"},
        {"submitted", "completed", "complete", "inactive", "idle", "stopped", "terminated", "stopped", "stopped"},
        {"abandoned", "cancelled", "failed", "inactive", "idle", "failed", "error", "error", "error"},
        {"abandoned", "cancelled", "failed", "inactive", "idle", "stopped", "terminated", "stopped", "stopped"},
        {"abandoned", "cancelled", "failed", "inactive", "idle", "stopped", "terminated", "stopped", "stopped"},
    };
    (void)state;
    for (int work = 0; work < SESSION_STATUS_COUNT; work++) {
        struct session session = with((enum session_status)work, RUNTIME_NONE, PAUSE_NONE);
        assert_string_equal(response_word(&session), rows[work].response);
        assert_string_equal(tool_word(&session), rows[work].tool);
        assert_string_equal(block_word(&session), rows[work].block);
        assert_string_equal(conversation_word(&session), rows[work].conversation);
        assert_string_equal(chat_word(&session), rows[work].chat);
        assert_string_equal(lifecycle_word(&session), rows[work].lifecycle);
        assert_string_equal(live_status_word(&session), rows[work].live);
        assert_string_equal(agent_word(&session, false, false, 0), rows[work].agent);
        assert_string_equal(joint_word(&session, false, false, 0), rows[work].joint);
    }
}

static void words_by_runtime_of_an_idle_session(void **state)
{
    static const struct {
        const char *sandbox, *lifecycle, *live, *agent, *joint, *joint_queued;
    } rows[RUNTIME_COUNT] = {
        [RUNTIME_NONE] = {"stopped", "running", "idle", "standby", "standby", "queued"},
        [RUNTIME_STARTING] = {"starting", "starting", "initializing", "starting", "starting", "starting"},
        [RUNTIME_RUNNING] = {"running", "running", "idle", "standby", "standby", "queued"},
        [RUNTIME_HIBERNATING] = {"hibernating", "paused", "hibernating", "sleeping", "sleeping", "sleeping"},
        [RUNTIME_HIBERNATED] = {"hibernated", "paused", "hibernated", "sleeping", "sleeping", "sleeping"},
        [RUNTIME_RESTORING] = {"restoring", "starting", "restoring", "starting", "starting", "waking"},
        [RUNTIME_STOPPED] = {"stopped", "running", "idle", "standby", "standby", "queued"},
        [RUNTIME_ERROR] = {"error", "failed", "error", "error", "error", "error"},
    };
    (void)state;
    for (int runtime = 0; runtime < RUNTIME_COUNT; runtime++) {
        struct session session = with(SESSION_IDLE, (enum runtime)runtime, PAUSE_NONE);
        assert_string_equal(sandbox_word(&session), rows[runtime].sandbox);
        assert_string_equal(lifecycle_word(&session), rows[runtime].lifecycle);
        assert_string_equal(live_status_word(&session), rows[runtime].live);
        assert_string_equal(agent_word(&session, false, false, 0), rows[runtime].agent);
        assert_string_equal(joint_word(&session, false, false, 0), rows[runtime].joint);
        assert_string_equal(joint_word(&session, false, false, 2), rows[runtime].joint_queued);
    }
}

static void the_runner_decides_between_busy_idle_and_standby(void **state)
{
    struct session session = with(SESSION_IDLE, RUNTIME_RUNNING, PAUSE_NONE);
    (void)state;
    assert_string_equal(joint_word(&session, true, true, 0), "running_busy");
    assert_string_equal(joint_word(&session, true, true, 3), "running_busy");
    assert_string_equal(joint_word(&session, true, false, 0), "running_idle");
    assert_string_equal(joint_word(&session, true, false, 3), "queued");
    assert_string_equal(joint_word(&session, false, true, 0), "standby");
    assert_string_equal(joint_word(&session, false, false, 3), "queued");
}

static void pauses_archives_and_marks_change_words(void **state)
{
    struct session session = with(SESSION_IDLE, RUNTIME_HIBERNATED, PAUSE_SUSPENDED);
    (void)state;
    assert_string_equal(lifecycle_word(&session), "suspended");
    session.pause_reason = PAUSE_CREDIT_LIMIT;
    assert_string_equal(lifecycle_word(&session), "paused");
    session.archived_at_ms = 5;
    assert_string_equal(live_status_word(&session), "archived");
    assert_string_equal(conversation_word(&session), "inactive");
    session.details = SLICE("{\"exported_at\":\"2026-01-01T00:00:00Z\"}");
    assert_string_equal(chat_word(&session), "exported");
    session.status = SESSION_RUNNING;
    assert_string_equal(chat_word(&session), "streaming");
    session.status = SESSION_COMPLETED;
    session.details = SLICE("{\"promoted_at\":\"2026-01-01T00:00:00Z\"}");
    assert_string_equal(response_word(&session), "promoted");
    session.stop_reason = STOP_USER;
    assert_string_equal(tool_word(&session), "cancelled");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_display_combination_is_as_shipped),
        cmocka_unit_test(the_reason_of_an_end_can_make_it_a_failure),
        cmocka_unit_test(people_read_why_it_is_blocked),
        cmocka_unit_test(unknown_values_get_a_neutral_answer),
        cmocka_unit_test(every_vocabulary_is_total),
        cmocka_unit_test(words_by_work),
        cmocka_unit_test(words_by_runtime_of_an_idle_session),
        cmocka_unit_test(the_runner_decides_between_busy_idle_and_standby),
        cmocka_unit_test(pauses_archives_and_marks_change_words),
    };
    return cmocka_run_group_tests(tests, NULL, release_test_arena);
}

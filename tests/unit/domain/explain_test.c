#include "domain/explain.h"
#include "unit.h"

struct row {
    enum session_status status;
    struct explain_facts facts;
    const char *waits_for;
    const char *says; /* part of the sentence */
};

static const struct row rows[] = {
    {SESSION_DRAFT, {0}, "message", "draft"},
    {SESSION_PENDING, {0}, "claim", "worker"},
    {SESSION_PENDING, {.hosted = true}, "claim", "free place"},
    {SESSION_PENDING, {.hosted = true, .by_runner = true}, "claim", "runner"},
    {SESSION_RUNNING, {.leased = true}, "agent", "working"},
    {SESSION_RUNNING, {.leased = true, .hosted = true}, "agent", "working"},
    {SESSION_RUNNING, {.leased = true, .interrupted = true}, "agent", "interrupted"},
    {SESSION_RUNNING, {.leased = true, .hosted = true, .retries = true}, "timer", "retried"},
    {SESSION_RUNNING, {.hosted = true}, "timer", "watchdog"},
    {SESSION_RUNNING, {0}, "agent", "without a claim"},
    {SESSION_WAITING_HUMAN, {.asks_pending = 1}, "person", "answer to an ask"},
    {SESSION_WAITING_HUMAN, {0}, "person", "without a pending ask"},
    {SESSION_AWAITING_TOOL, {.asks_pending = 2}, "person", "answer to an ask"},
    {SESSION_AWAITING_TOOL, {0}, "tool", "tool"},
    {SESSION_IDLE, {0}, "message", "Idle until"},
    {SESSION_IDLE, {.prompts_waiting = 1}, "timer", "no turn is running"},
    {SESSION_IDLE, {.prompts_waiting = 1, .collects = true}, "timer", "collected"},
    {SESSION_COMPLETED, {0}, "nothing", "reopened"},
    {SESSION_FAILED, {0}, "nothing", "retried"},
    {SESSION_EXPIRED, {0}, "nothing", "reopened"},
    {SESSION_ABANDONED, {0}, "nothing", "reopened"},
};

static void check(const struct explain_facts *facts, const char *waits_for, const char *says)
{
    const struct explanation *why = explain(facts);
    const char *got = wait_kind_enum.names[why->waits_for];
    if (strcmp(got, waits_for) != 0 || !strstr(why->detail, says)) {
        fail_msg("%s: %s, \"%s\" instead of %s, \"%s\"", session_status_enum.names[facts->session->status], got,
                 why->detail, waits_for, says);
    }
}

static void every_state(void **state)
{
    unsigned seen = 0;
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct session session = {.type = TYPE_AGENT, .status = rows[i].status};
        struct explain_facts facts = rows[i].facts;
        facts.session = &session;
        check(&facts, rows[i].waits_for, rows[i].says);
        seen |= 1u << rows[i].status;
    }
    assert_int_equal(seen, (1u << SESSION_STATUS_COUNT) - 1);
}

static void forms_and_tools_end_for_good(void **state)
{
    (void)state;
    struct session done = {.type = TYPE_RESPONSE, .status = SESSION_COMPLETED};
    check(&(struct explain_facts){.session = &done}, "nothing", "has ended.");
    struct session late = {.type = TYPE_TOOL, .status = SESSION_EXPIRED};
    check(&(struct explain_facts){.session = &late}, "nothing", "retried");
}

static void the_sandbox_comes_first(void **state)
{
    static const char *const expected[RUNTIME_COUNT] = {
        [RUNTIME_NONE] = "message",        [RUNTIME_STARTING] = "sandbox",   [RUNTIME_RUNNING] = "message",
        [RUNTIME_HIBERNATING] = "sandbox", [RUNTIME_HIBERNATED] = "message", [RUNTIME_RESTORING] = "sandbox",
        [RUNTIME_STOPPED] = "message",     [RUNTIME_ERROR] = "sandbox",
    };
    (void)state;
    for (int runtime = 0; runtime < RUNTIME_COUNT; runtime++) {
        struct session session = {.type = TYPE_AGENT, .status = SESSION_IDLE, .runtime = (enum runtime)runtime};
        check(&(struct explain_facts){.session = &session}, expected[runtime], "");
        session.status = SESSION_COMPLETED; /* whatever lies under an ended session */
        check(&(struct explain_facts){.session = &session}, "nothing", "");
    }
}

static void pauses(void **state)
{
    (void)state;
    for (int pause = PAUSE_NONE; pause < PAUSE_COUNT; pause++) {
        struct session session = {.type = TYPE_AGENT, .status = SESSION_IDLE, .pause_reason = (enum pause_reason)pause};
        bool sleeps = pause == PAUSE_NONE || pause == PAUSE_INACTIVITY || pause == PAUSE_ORPHANED;
        check(&(struct explain_facts){.session = &session}, sleeps ? "message" : "person", sleeps ? "Idle" : "Paused");
    }
}

static void every_explanation_is_whole(void **state)
{
    (void)state;
    for (const struct explanation *one = explanations; one->detail; one++) {
        assert_true(one->detail[strlen(one->detail) - 1] == '.');
        for (size_t i = 0; i < UNBLOCKERS_MAX && one->unblockers[i].kind; i++) {
            const char *how = one->unblockers[i].how;
            assert_true(!how || strncmp(how, "POST /api/", 10) == 0 || strncmp(how, "GET /api/", 9) == 0);
        }
        assert_true(one->waits_for == WAIT_NOTHING || one->unblockers[0].kind);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_state),
        cmocka_unit_test(forms_and_tools_end_for_good),
        cmocka_unit_test(the_sandbox_comes_first),
        cmocka_unit_test(pauses),
        cmocka_unit_test(every_explanation_is_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

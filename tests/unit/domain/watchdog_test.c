#include <stdio.h>

#include "domain/watchdog.h"
#include "unit.h"

static const struct health_limits limits = {
    .turn_silence_ms = 600,
    .worker_silence_ms = 900,
    .stream_silence_ms = 300,
    .cut_ms = 60,
    .runner_ms = 61,
    .queue_ms = 62,
    .error_ms = 63,
    .waiting_ms = 310,
};

struct row {
    const char *name;
    struct health_facts facts;
    const char *expected; /* "watchdog action", or "" */
};

/* Each sign just before and just at its limit, and what keeps it away. */
static const struct row rows[] = {
    {"hosted turn speaks", {.status = SESSION_RUNNING, .hosted = true, .leased = true, .silent_ms = 599}, ""},
    {"hosted turn is silent",
     {.status = SESSION_RUNNING, .hosted = true, .leased = true, .silent_ms = 600},
     "stuck_turn interrupt"},
    {"worker may be silent longer", {.status = SESSION_RUNNING, .leased = true, .silent_ms = 899}, ""},
    {"worker is silent", {.status = SESSION_RUNNING, .leased = true, .silent_ms = 900}, "stuck_turn interrupt"},
    {"stream pauses",
     {.status = SESSION_RUNNING, .hosted = true, .leased = true, .streaming = true, .silent_ms = 299},
     ""},
    {"stream is silent",
     {.status = SESSION_RUNNING, .hosted = true, .leased = true, .streaming = true, .silent_ms = 300},
     "silent_stream interrupt"},
    {"worker's stream is silent",
     {.status = SESSION_RUNNING, .leased = true, .streaming = true, .silent_ms = 300},
     "silent_stream interrupt"},
    {"told to end, has time", {.status = SESSION_RUNNING, .leased = true, .interrupted = true, .silent_ms = 59}, ""},
    {"told to end, does not",
     {.status = SESSION_RUNNING, .leased = true, .interrupted = true, .silent_ms = 60},
     "stuck_turn perform_recovery"},
    {"told to end, told once",
     {.status = SESSION_RUNNING,
      .hosted = true,
      .leased = true,
      .interrupted = true,
      .silent_ms = 59,
      .streaming = true},
     ""},
    {"waits for a person",
     {.status = SESSION_WAITING_HUMAN,
      .hosted = true,
      .leased = true,
      .asks_pending = 1,
      .asks_of_turn = 1,
      .silent_ms = 100000},
     ""},
    {"waits for an approval",
     {.status = SESSION_AWAITING_TOOL, .leased = true, .asks_pending = 1, .asks_of_turn = 1, .silent_ms = 100000},
     ""},
    {"lease just over", {.status = SESSION_RUNNING, .leased = true, .lease_overdue_ms = 60}, ""},
    {"lease over unnoticed",
     {.status = SESSION_RUNNING, .leased = true, .lease_overdue_ms = 61},
     "runner_lost revert_and_drain"},
    {"lease over in a wait",
     {.status = SESSION_AWAITING_TOOL, .leased = true, .lease_overdue_ms = 61},
     "runner_lost revert_and_drain"},
    {"lost comes before stuck",
     {.status = SESSION_RUNNING, .leased = true, .lease_overdue_ms = 61, .silent_ms = 100000},
     "runner_lost revert_and_drain"},
    {"hosted runs without a host", {.status = SESSION_RUNNING, .hosted = true, .silent_ms = 62}, ""},
    {"hosted runs without a host for long",
     {.status = SESSION_RUNNING, .hosted = true, .silent_ms = 63},
     "error_safety_net force_complete"},
    {"a person's own session runs", {.status = SESSION_RUNNING, .silent_ms = 100000}, ""},
    {"an ask decides", {.status = SESSION_RUNNING, .hosted = true, .asks_pending = 1, .silent_ms = 100000}, ""},
    {"answered, waits on", {.status = SESSION_WAITING_HUMAN, .asks_of_turn = 1, .silent_ms = 309}, ""},
    {"answered, waits for long",
     {.status = SESSION_WAITING_HUMAN, .asks_of_turn = 1, .silent_ms = 310},
     "waiting_without_ask perform_recovery"},
    {"approved, waits for long",
     {.status = SESSION_AWAITING_TOOL, .hosted = true, .asks_of_turn = 2, .silent_ms = 310},
     "waiting_without_ask perform_recovery"},
    {"hosted, nobody was asked",
     {.status = SESSION_WAITING_HUMAN, .hosted = true, .silent_ms = 310},
     "waiting_without_ask force_complete"},
    {"parked by a worker", {.status = SESSION_WAITING_HUMAN, .silent_ms = 100000}, ""},
    {"prompts wait a little",
     {.status = SESSION_IDLE, .prompts_ready = 1, .prompt_waited_ms = 61, .silent_ms = 61},
     ""},
    {"prompts wait",
     {.status = SESSION_IDLE, .prompts_ready = 1, .prompt_waited_ms = 62, .silent_ms = 62},
     "queue_stuck drain_queue"},
    {"prompts wait in a draft",
     {.status = SESSION_DRAFT, .prompts_ready = 1, .prompt_waited_ms = 62, .silent_ms = 62},
     "queue_stuck drain_queue"},
    {"a turn has just ended",
     {.status = SESSION_IDLE, .prompts_ready = 1, .prompt_waited_ms = 100000, .silent_ms = 61},
     ""},
    {"prompts are collected",
     {.status = SESSION_IDLE, .prompts_ready = 0, .prompt_waited_ms = 100000, .silent_ms = 100000},
     ""},
    {"prompts wait, paused",
     {.status = SESSION_IDLE, .paused = true, .prompts_ready = 1, .prompt_waited_ms = 62, .silent_ms = 62},
     ""},
    {"prompts wait for the turn",
     {.status = SESSION_PENDING, .prompts_ready = 1, .prompt_waited_ms = 100000, .silent_ms = 100000},
     ""},
    {"waits for a claim", {.status = SESSION_PENDING, .silent_ms = 100000}, ""},
    {"rests", {.status = SESSION_IDLE, .silent_ms = 100000}, ""},
};

static void describe(const struct health_finding *findings, size_t count, char *out, size_t room)
{
    out[0] = 0;
    for (size_t i = 0; i < count; i++) {
        size_t used = strlen(out);
        snprintf(out + used, room - used, "%s%s %s", i ? ", " : "", watchdog_enum.names[findings[i].watchdog],
                 health_action_enum.names[findings[i].action]);
    }
}

static void every_row(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct health_finding findings[HEALTH_FINDINGS_MAX];
        char got[200];
        describe(findings, health_actions(&rows[i].facts, &limits, findings), got, sizeof got);
        if (strcmp(got, rows[i].expected) != 0) {
            fail_msg("%s: \"%s\" instead of \"%s\"", rows[i].name, got, rows[i].expected);
        }
    }
}

/* A lease outside a turn is taken in every such state; the queue behind it starts in the same look. */
static void leases_without_a_turn(void **state)
{
    (void)state;
    for (int work = 0; work < SESSION_STATUS_COUNT; work++) {
        struct health_facts facts = {.status = (enum session_status)work, .leased = true};
        struct health_finding findings[HEALTH_FINDINGS_MAX];
        size_t count = health_actions(&facts, &limits, findings);
        assert_int_equal(count, session_status_is_in_turn((enum session_status)work) ? 0 : 1);
        if (count) {
            assert_int_equal(findings[0].watchdog, WATCHDOG_ORPHANED_LEASE);
            assert_int_equal(findings[0].action, HEALTH_MARK_NOT_BUSY);
        }
    }
    struct health_facts both = {
        .status = SESSION_IDLE, .leased = true, .prompts_ready = 1, .prompt_waited_ms = 100, .silent_ms = 100};
    struct health_finding findings[HEALTH_FINDINGS_MAX];
    assert_int_equal(health_actions(&both, &limits, findings), 2);
    assert_int_equal(findings[1].action, HEALTH_DRAIN_QUEUE);
}

/* Switched off, nothing but a lease that cannot be is found, whatever the facts. */
static void sleeping_watchdogs(void **state)
{
    static const struct health_limits off = {0};
    (void)state;
    assert_int_equal(health_first_silence_ms(&off), 0);
    assert_int_equal(health_first_silence_ms(&limits), 60);
    for (int work = 0; work < SESSION_STATUS_COUNT; work++) {
        for (unsigned bits = 0; bits < 64; bits++) {
            struct health_facts facts = {.status = (enum session_status)work,
                                         .hosted = bits & 1,
                                         .leased = bits & 2,
                                         .paused = bits & 4,
                                         .streaming = bits & 8,
                                         .interrupted = bits & 16,
                                         .asks_of_turn = bits >> 5,
                                         .lease_overdue_ms = INT64_MAX,
                                         .silent_ms = INT64_MAX,
                                         .prompts_ready = 1,
                                         .prompt_waited_ms = INT64_MAX};
            struct health_finding findings[HEALTH_FINDINGS_MAX];
            size_t expected = facts.leased && !session_status_is_in_turn(facts.status);
            assert_int_equal(health_actions(&facts, &off, findings), expected);
        }
    }
}

/* An ended session needs nothing, unless somebody holds it. */
static void ends_are_left_alone(void **state)
{
    (void)state;
    for (int work = 0; work < SESSION_STATUS_COUNT; work++) {
        struct health_facts facts = {.status = (enum session_status)work,
                                     .hosted = true,
                                     .silent_ms = INT64_MAX,
                                     .prompts_ready = 1,
                                     .prompt_waited_ms = INT64_MAX};
        struct health_finding findings[HEALTH_FINDINGS_MAX];
        if (session_status_is_ended((enum session_status)work)) {
            assert_int_equal(health_actions(&facts, &limits, findings), 0);
        }
    }
}

static void the_event_says_what_and_why(void **state)
{
    struct arena arena = {0};
    struct changes changes = {0};
    struct session session = {.fence = 7, .status = SESSION_RUNNING};
    struct health_facts facts = {.status = SESSION_RUNNING, .silent_ms = 1234};
    struct health_finding finding = {WATCHDOG_STUCK_TURN, HEALTH_INTERRUPT};
    (void)state;
    change_watchdog(&arena, &session, &finding, &facts, &changes);
    assert_int_equal(changes.count, 1);
    assert_true(slice_is(event_type(&changes.events[0]), "watchdog.stuck_turn"));
    assert_true(slice_is(changes.events[0].metadata,
                         "{\"turn\":7,\"action\":\"interrupt\",\"status\":\"running\",\"silent_ms\":1234}"));
    for (int i = 0; i < WATCHDOG_COUNT; i++) {
        struct slice type = arena_format(&arena, "watchdog.%s", watchdog_enum.names[i]);
        assert_int_not_equal(EVENT_CUSTOM, event_kind_find(type));
        assert_int_equal(event_type_writers(type), WRITERS_SERVER);
    }
    arena_release(&arena);
}

static void only_chats_at_rest_go_stale(void **state)
{
    struct session chat = {.type = TYPE_AGENT, .source_type = CHAT_DIRECT, .status = SESSION_IDLE};
    struct health_limits week = {.stale_ms = 1000}, never = {0};
    struct session others[] = {chat, chat, chat};
    (void)state;
    others[0].source_type = CHAT_NONE;
    others[1].status = SESSION_RUNNING;
    others[2].archived_at_ms = 1;
    assert_true(health_is_stale(&chat, 1000, &week));
    assert_false(health_is_stale(&chat, 999, &week));
    assert_false(health_is_stale(&chat, 1000, &never));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        assert_false(health_is_stale(&others[i], 1000, &week));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row),
        cmocka_unit_test(leases_without_a_turn),
        cmocka_unit_test(sleeping_watchdogs),
        cmocka_unit_test(ends_are_left_alone),
        cmocka_unit_test(the_event_says_what_and_why),
        cmocka_unit_test(only_chats_at_rest_go_stale),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

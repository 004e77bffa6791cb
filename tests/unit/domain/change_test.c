#include "domain/change.h"
#include "domain_unit.h"

static struct session in_state(enum session_type type, enum session_status work)
{
    struct session session = create_in(type, NULL);
    session.status = work;
    session.completed_at_ms = session_status_is_ended(work) ? START_MS : 0;
    session.running_since_ms = session_status_is_running(work) ? START_MS : 0;
    session.queued_at_ms = session_status_is_claimable(work) ? START_MS : 0;
    return session;
}

static void assert_types(const struct changes *changes, const char *first, const char *second)
{
    assert_int_equal(changes->count, second ? 2 : 1);
    assert_slice(event_type(&changes->events[0]), first);
    if (second) {
        assert_slice(event_type(&changes->events[1]), second);
    }
    for (size_t i = 0; i < changes->count; i++) {
        assert_int_equal(changes->events[i].role, ROLE_SYSTEM);
        assert_int_equal(event_type_writers(event_type(&changes->events[i])), WRITERS_SERVER);
        assert_int_not_equal(EVENT_CUSTOM, event_kind_find(event_type(&changes->events[i])));
    }
}

/* --- status --- */

static bool needs_claim(enum session_type type, enum session_status from, enum session_status to)
{
    return type == TYPE_AGENT && to == SESSION_RUNNING &&
           (from == SESSION_DRAFT || from == SESSION_PENDING || from == SESSION_IDLE);
}

static void every_status_change_follows_the_table(void **state)
{
    (void)state;
    for (int n = 0; n < TYPE_COUNT * SESSION_STATUS_COUNT * SESSION_STATUS_COUNT; n++) {
        enum session_type type = (enum session_type)(n % TYPE_COUNT);
        enum session_status from = (enum session_status)(n / TYPE_COUNT % SESSION_STATUS_COUNT),
                            to = (enum session_status)(n / TYPE_COUNT / SESSION_STATUS_COUNT);
        struct session session = in_state(type, from);
        struct changes changes = {0};
        struct failure failure = {0};
        enum status status = change_status(&test_arena, &session, to, "why", STOP_NONE, &changes, &failure);
        if (from == to) {
            assert_status(status, STATUS_OK);
            assert_int_equal(changes.count, 0);
        } else if (!session_status_allows(from, to) || needs_claim(type, from, to) ||
                   (session_status_is_ended(from) &&
                    !session_is_conversation(&session))) { /* an end is left by reopening only */
            assert_status(status, STATUS_CONFLICT);
            assert_int_equal(changes.count, 0);
        } else {
            assert_status(status, STATUS_OK);
            apply_changes(&session, &changes, START_MS + 1);
            assert_int_equal(session.status, to);
            assert_slice(session.status_reason, "why");
        }
    }
}

static void a_refusal_names_both_states_and_what_is_allowed(void **state)
{
    struct session session = in_state(TYPE_AGENT, SESSION_FAILED);
    struct changes changes;
    struct failure failure = {0};
    (void)state;
    assert_status(change_status(&test_arena, &session, SESSION_RUNNING, NULL, STOP_NONE, &changes, &failure),
                  STATUS_CONFLICT);
    assert_string_equal(failure.code, "illegal_transition");
    assert_string_equal(failure.detail, "A session that is failed cannot become running; it can become: nothing else.");
    assert_string_equal(failure.members, "\"from\":\"failed\",\"to\":\"running\"");
    session.status = SESSION_IDLE;
    assert_status(change_status(&test_arena, &session, SESSION_DRAFT, NULL, STOP_NONE, &changes, &failure),
                  STATUS_CONFLICT);
    assert_non_null(strstr(failure.detail, "pending, running, completed, failed, expired, abandoned"));
}

static void every_end_has_a_stop_reason(void **state)
{
    static const struct {
        enum session_status to;
        enum stop_reason given, expected;
        const char *second;
    } rows[] = {
        {SESSION_COMPLETED, STOP_NONE, STOP_COMPLETED, "session.completed"},
        {SESSION_COMPLETED, STOP_USER, STOP_USER, "session.completed"},
        {SESSION_COMPLETED, STOP_SUPERSEDED, STOP_SUPERSEDED, "session.completed"},
        {SESSION_FAILED, STOP_NONE, STOP_FAILED, "session.error"},
        {SESSION_FAILED, STOP_BUDGET_EXCEEDED, STOP_BUDGET_EXCEEDED, "session.error"},
        {SESSION_EXPIRED, STOP_NONE, STOP_EXPIRED, NULL},
        {SESSION_ABANDONED, STOP_NONE, STOP_ABANDONED, NULL},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct session session = in_state(TYPE_AGENT, SESSION_RUNNING);
        struct changes changes;
        assert_status(change_status(&test_arena, &session, rows[i].to, "it broke", rows[i].given, &changes, NULL),
                      STATUS_OK);
        assert_types(&changes, "session.status_change", rows[i].second);
        apply_changes(&session, &changes, START_MS + 9);
        assert_int_equal(session.stop_reason, rows[i].expected);
        assert_int_equal(session.completed_at_ms, START_MS + 9);
        assert_int_equal(slice_present(session.error_message), rows[i].to == SESSION_FAILED);
    }
}

static void a_stop_reason_needs_an_end(void **state)
{
    struct session session = in_state(TYPE_AGENT, SESSION_RUNNING);
    struct changes changes;
    (void)state;
    assert_status(change_status(&test_arena, &session, SESSION_IDLE, "", STOP_USER, &changes, NULL), STATUS_OK);
    apply_changes(&session, &changes, START_MS + 1);
    assert_int_equal(session.stop_reason, STOP_NONE);
    assert_absent(session.status_reason);
}

/* --- claims --- */

static void only_pending_work_is_claimed(void **state)
{
    (void)state;
    for (int work = 0; work < SESSION_STATUS_COUNT; work++) {
        struct session session = in_state(TYPE_AGENT, (enum session_status)work);
        struct changes changes;
        session.fence = 6;
        session.claim_attempts = 1;
        enum status status = change_claim(&test_arena, &session, SLICE("w1"), &changes, NULL);
        assert_status(status, work == SESSION_PENDING ? STATUS_OK : STATUS_CONFLICT);
        if (status == STATUS_OK) {
            assert_types(&changes, "session.status_change", "session.claimed");
            apply_changes(&session, &changes, START_MS + 1);
            assert_int_equal(session.status, SESSION_RUNNING);
            assert_int_equal(session.fence, 7);
            assert_int_equal(session.claim_attempts, 2);
            assert_slice(session.status_reason, "claimed by w1");
        }
    }
}

static void settling_goes_where_running_may_go(void **state)
{
    (void)state;
    for (int from = 0; from < SESSION_STATUS_COUNT; from++) {
        for (int to = 0; to < SESSION_STATUS_COUNT; to++) {
            struct session session = in_state(TYPE_AGENT, (enum session_status)from);
            struct settlement settlement = {.to = (enum session_status)to};
            struct changes changes;
            enum status status = change_settle(&test_arena, &session, &settlement, &changes, NULL);
            bool parks = from == to && session_status_is_waiting((enum session_status)from);
            bool allowed = session_status_is_in_turn((enum session_status)from) &&
                           (parks || session_status_allows((enum session_status)from, (enum session_status)to));
            assert_status(status, allowed ? STATUS_OK : STATUS_CONFLICT);
            if (allowed) {
                apply_changes(&session, &changes, START_MS + 1);
                assert_int_equal(session.status, to);
            }
        }
    }
}

static void a_settlement_brings_result_usage_and_error(void **state)
{
    struct session session = in_state(TYPE_AGENT, SESSION_RUNNING), failed = session, idle = session;
    struct settlement done = {.to = SESSION_COMPLETED,
                              .result = json_of("{\"ok\":1}"),
                              .usage = json_of("{\"tokens\":3}"),
                              .reason = SLICE("all good")};
    struct settlement broken = {.to = SESSION_FAILED, .error_message = SLICE("no disk"), .error_code = SLICE("ENOSPC")};
    struct settlement rest = {
        .to = SESSION_IDLE, .usage = json_of("{\"tokens\":4}"), .error_message = SLICE("a hiccup")};
    struct changes changes;
    (void)state;
    assert_status(change_settle(&test_arena, &session, &done, &changes, NULL), STATUS_OK);
    assert_types(&changes, "session.status_change", "session.completed");
    apply_changes(&session, &changes, START_MS + 1);
    assert_slice(session.result, "{\"ok\":1}");
    assert_slice(session.usage, "{\"tokens\":3}");
    assert_slice(session.status_reason, "all good");
    assert_int_equal(session.turn_count, 1);
    assert_status(change_settle(&test_arena, &failed, &broken, &changes, NULL), STATUS_OK);
    assert_types(&changes, "session.status_change", "session.error");
    apply_changes(&failed, &changes, START_MS + 1);
    assert_slice(failed.error_message, "no disk");
    assert_slice(failed.error_code, "ENOSPC");
    assert_int_equal(failed.stop_reason, STOP_FAILED);
    assert_status(change_settle(&test_arena, &idle, &rest, &changes, NULL), STATUS_OK);
    assert_types(&changes, "session.status_change", "session.error");
    apply_changes(&idle, &changes, START_MS + 1);
    assert_slice(idle.usage, "{\"tokens\":4}");
    assert_slice(idle.error_message, "a hiccup");
    assert_int_equal(idle.status, SESSION_IDLE);
}

static void usage_is_an_object(void **state)
{
    struct session session = in_state(TYPE_AGENT, SESSION_RUNNING);
    struct settlement settlement = {.to = SESSION_COMPLETED, .usage = json_of("[1]")};
    struct changes changes;
    struct failure failure;
    (void)state;
    assert_status(change_settle(&test_arena, &session, &settlement, &changes, &failure), STATUS_INVALID);
    assert_string_equal(failure.code, "invalid_usage");
}

static void a_lost_lease_goes_back_to_the_queue_until_the_cap(void **state)
{
    (void)state;
    for (int released = 0; released < 2; released++) {
        for (int64_t attempts = 1; attempts <= 3; attempts++) {
            struct session session = in_state(TYPE_AGENT, SESSION_RUNNING);
            struct changes changes;
            session.claim_attempts = attempts;
            assert_status(change_lease_over(&test_arena, &session, released, 3, &changes, NULL), STATUS_OK);
            assert_slice(event_type(&changes.events[0]), released ? "session.released" : "session.lease_lost");
            assert_slice(event_type(&changes.events[1]), "session.status_change");
            apply_changes(&session, &changes, START_MS + 1);
            assert_int_equal(session.status, attempts < 3 ? SESSION_PENDING : SESSION_FAILED);
            assert_int_equal(session.claim_attempts, attempts);
            assert_int_equal(session.stop_reason, attempts < 3 ? STOP_NONE : STOP_ATTEMPTS_EXHAUSTED);
            assert_int_equal(slice_present(session.error_message), attempts >= 3);
        }
    }
    struct session session = in_state(TYPE_AGENT, SESSION_RUNNING);
    struct changes changes;
    session.claim_attempts = 1000;
    assert_status(change_lease_over(&test_arena, &session, false, 0, &changes, NULL), STATUS_OK);
    apply_changes(&session, &changes, START_MS + 1);
    assert_int_equal(session.status, SESSION_PENDING);
}

static void what_waits_goes_on_waiting_without_a_lease(void **state)
{
    (void)state;
    static const enum session_status waits[] = {SESSION_WAITING_HUMAN, SESSION_AWAITING_TOOL};
    for (size_t i = 0; i < COUNT_OF(waits); i++) {
        struct session session = in_state(TYPE_AGENT, waits[i]);
        struct changes changes;
        session.claim_attempts = 9;
        assert_status(change_lease_over(&test_arena, &session, false, 3, &changes, NULL), STATUS_OK);
        assert_int_equal(changes.count, 1);
        assert_slice(event_type(&changes.events[0]), "session.lease_lost");
    }
}

static void a_lease_nobody_holds_is_over_already(void **state)
{
    (void)state;
    for (int work = 0; work < SESSION_STATUS_COUNT; work++) {
        struct session session = in_state(TYPE_AGENT, (enum session_status)work);
        struct changes changes;
        assert_status(change_lease_over(&test_arena, &session, true, 3, &changes, NULL), STATUS_OK);
        assert_int_equal(changes.count != 0, session_status_is_leased((enum session_status)work));
    }
}

/* --- reopening, archiving, deleting --- */

static void conversations_reopen_unless_they_failed(void **state)
{
    (void)state;
    for (int type = 0; type < TYPE_COUNT; type++) {
        for (int work = 0; work < SESSION_STATUS_COUNT; work++) {
            struct session session = in_state((enum session_type)type, (enum session_status)work);
            struct changes changes;
            bool conversation = type == TYPE_AGENT || type == TYPE_MIXED;
            enum status status = change_reopen(&test_arena, &session, "again", &changes, NULL);
            if (session_status_is_active((enum session_status)work)) {
                assert_status(status, STATUS_OK);
                assert_int_equal(changes.count, 0);
            } else if (conversation && work != SESSION_FAILED) {
                assert_types(&changes, "session.reopened", "session.status_change");
                apply_changes(&session, &changes, START_MS + 1);
                assert_int_equal(session.status, SESSION_IDLE);
                assert_int_equal(session.completed_at_ms, 0);
            } else {
                assert_status(status, STATUS_CONFLICT);
            }
        }
    }
}

static void archiving_twice_is_archiving_once(void **state)
{
    struct session session = in_state(TYPE_AGENT, SESSION_IDLE);
    struct changes changes;
    (void)state;
    assert_status(change_archive(&test_arena, &session, false, &changes, NULL), STATUS_OK);
    assert_int_equal(changes.count, 0);
    assert_status(change_archive(&test_arena, &session, true, &changes, NULL), STATUS_OK);
    assert_types(&changes, "session.archived", NULL);
    apply_changes(&session, &changes, START_MS + 4);
    assert_int_equal(session.archived_at_ms, START_MS + 4);
    assert_status(change_archive(&test_arena, &session, true, &changes, NULL), STATUS_OK);
    assert_int_equal(changes.count, 0);
    assert_status(change_archive(&test_arena, &session, false, &changes, NULL), STATUS_OK);
    assert_types(&changes, "session.unarchived", NULL);
    apply_changes(&session, &changes, START_MS + 5);
    assert_int_equal(session.archived_at_ms, 0);
}

static void a_turn_or_a_group_blocks_deletion(void **state)
{
    (void)state;
    for (int work = 0; work < SESSION_STATUS_COUNT; work++) {
        struct session session = in_state(TYPE_AGENT, (enum session_status)work);
        enum status expected = session_status_blocks_delete((enum session_status)work) ? STATUS_CONFLICT : STATUS_OK;
        assert_status(change_check_delete(&session, NULL), expected);
        session.source_type = CHAT_DIRECT;
        assert_status(change_check_delete(&session, NULL), expected);
        session.source_type = CHAT_GROUP;
        assert_status(change_check_delete(&session, NULL), STATUS_CONFLICT);
    }
}

static void notes_carry_their_values(void **state)
{
    const char *const keys[] = {"user_id", "role", "absent"};
    const struct slice values[] = {SLICE("u\"2"), SLICE("viewer"), {NULL, 0}};
    struct session session = in_state(TYPE_AGENT, SESSION_IDLE), before = session;
    struct changes changes;
    (void)state;
    change_note(&test_arena, EVENT_SESSION_PARTICIPANT_ADDED, keys, values, 3, &changes);
    assert_types(&changes, "session.participant_added", NULL);
    assert_slice(changes.events[0].metadata, "{\"user_id\":\"u\\\"2\",\"role\":\"viewer\"}");
    assert_int_equal(apply_changes(&session, &changes, START_MS), CHANGED_HOT);
    session.last_sequence = before.last_sequence;
    assert_null(session_difference(&session, &before));
}

/* --- runtime --- */

static void every_runtime_change_follows_the_table(void **state)
{
    (void)state;
    for (int n = 0; n < RUNTIME_COUNT * RUNTIME_COUNT * 2; n++) {
        enum runtime from = (enum runtime)(n % RUNTIME_COUNT), to = (enum runtime)(n / RUNTIME_COUNT % RUNTIME_COUNT);
        bool snapshot = n / RUNTIME_COUNT / RUNTIME_COUNT;
        struct session session = in_state(TYPE_AGENT, SESSION_IDLE);
        struct changes changes = {0};
        session.runtime = from;
        session.pause_reason = runtime_is_asleep(from) ? PAUSE_INACTIVITY : PAUSE_NONE;
        session.details = snapshot ? SLICE("{\"snapshot_id\":\"im\"}") : (struct slice){NULL, 0};
        enum status status = change_runtime(&test_arena, &session, to, PAUSE_NONE, "why", &changes, NULL);
        if (from == to) {
            assert_status(status, STATUS_OK);
            assert_int_equal(changes.count, 0);
        } else if (!runtime_allows(from, to, snapshot)) {
            assert_status(status, STATUS_CONFLICT);
        } else {
            assert_types(&changes, "session.runtime_change", NULL);
            apply_changes(&session, &changes, START_MS + 1);
            assert_int_equal(session.runtime, to);
            assert_int_equal(session.pause_reason, runtime_is_asleep(to) ? PAUSE_INACTIVITY : PAUSE_NONE);
        }
    }
}

static void pausing_needs_no_sandbox(void **state)
{
    struct session session = in_state(TYPE_AGENT, SESSION_IDLE);
    struct changes changes;
    (void)state;
    assert_status(change_runtime(&test_arena, &session, RUNTIME_NONE, PAUSE_CREDIT_LIMIT, NULL, &changes, NULL),
                  STATUS_OK);
    apply_changes(&session, &changes, START_MS + 3);
    assert_int_equal(session.pause_reason, PAUSE_CREDIT_LIMIT);
    assert_int_equal(session.paused_at_ms, START_MS + 3);
    assert_status(change_runtime(&test_arena, &session, RUNTIME_NONE, PAUSE_NONE, NULL, &changes, NULL), STATUS_OK);
    apply_changes(&session, &changes, START_MS + 4);
    assert_int_equal(session.pause_reason, PAUSE_NONE);
    assert_int_equal(session.paused_at_ms, START_MS + 3);
}

static void what_runs_is_not_paused(void **state)
{
    (void)state;
    for (int to = 0; to < RUNTIME_COUNT; to++) {
        struct session session = in_state(TYPE_AGENT, SESSION_IDLE);
        struct changes changes;
        session.runtime = (enum runtime)to;
        enum status status =
            change_runtime(&test_arena, &session, (enum runtime)to, PAUSE_ORPHANED, NULL, &changes, NULL);
        assert_status(status, runtime_can_pause((enum runtime)to) ? STATUS_OK : STATUS_INVALID);
    }
}

static void a_person_pauses_in_every_state_of_the_sandbox(void **state)
{
    (void)state;
    for (int runtime = 0; runtime < RUNTIME_COUNT; runtime++) {
        struct session session = in_state(TYPE_AGENT, SESSION_IDLE);
        struct changes changes;
        session.runtime = (enum runtime)runtime;
        for (int paused = 1; paused >= 0; paused--) {
            enum pause_reason awake = runtime_is_asleep(session.runtime) ? PAUSE_INACTIVITY : PAUSE_NONE;
            assert_status(change_pause(&test_arena, &session, paused, "asked", &changes, NULL), STATUS_OK);
            assert_int_equal(changes.count, 1);
            apply_changes(&session, &changes, START_MS + 1);
            assert_int_equal(session.pause_reason, paused ? PAUSE_MANUAL : awake);
            assert_int_equal(session.runtime, runtime);
            assert_true(session_takes_prompt(&session) == !paused);
            assert_status(change_pause(&test_arena, &session, paused, "asked", &changes, NULL), STATUS_OK);
            assert_int_equal(changes.count, 0);
        }
    }
}

static void the_sandbox_does_not_lift_a_pause(void **state)
{
    static const enum runtime states[] = {RUNTIME_HIBERNATING, RUNTIME_HIBERNATED, RUNTIME_RESTORING, RUNTIME_RUNNING,
                                          RUNTIME_ERROR};
    struct session session = in_state(TYPE_AGENT, SESSION_PENDING);
    struct changes changes;
    (void)state;
    session.runtime = RUNTIME_RUNNING;
    assert_true(session_is_claimable(&session));
    assert_status(change_pause(&test_arena, &session, true, NULL, &changes, NULL), STATUS_OK);
    apply_changes(&session, &changes, START_MS + 1);
    for (size_t i = 0; i < sizeof states / sizeof *states; i++) {
        assert_status(change_runtime(&test_arena, &session, states[i], PAUSE_NONE, NULL, &changes, NULL), STATUS_OK);
        apply_changes(&session, &changes, START_MS + 2);
        assert_int_equal(session.pause_reason, PAUSE_MANUAL);
        assert_false(session_is_claimable(&session));
    }
}

static void a_pause_is_not_a_block(void **state)
{
    struct session session = in_state(TYPE_AGENT, SESSION_IDLE);
    struct changes changes;
    (void)state;
    session.pause_reason = PAUSE_CREDIT_LIMIT;
    assert_status(change_pause(&test_arena, &session, true, NULL, &changes, NULL), STATUS_CONFLICT);
    session = in_state(TYPE_AGENT, SESSION_COMPLETED);
    assert_status(change_pause(&test_arena, &session, true, NULL, &changes, NULL), STATUS_CONFLICT);
    assert_status(change_pause(&test_arena, &session, false, NULL, &changes, NULL), STATUS_OK);
    assert_int_equal(changes.count, 0);
}

static void sleep_keeps_its_reason(void **state)
{
    struct session session = in_state(TYPE_AGENT, SESSION_IDLE);
    struct changes changes;
    (void)state;
    session.runtime = RUNTIME_RUNNING;
    assert_status(change_runtime(&test_arena, &session, RUNTIME_HIBERNATING, PAUSE_INACTIVITY, NULL, &changes, NULL),
                  STATUS_OK);
    apply_changes(&session, &changes, START_MS + 1);
    assert_status(change_runtime(&test_arena, &session, RUNTIME_HIBERNATED, PAUSE_NONE, NULL, &changes, NULL),
                  STATUS_OK);
    apply_changes(&session, &changes, START_MS + 2);
    assert_int_equal(session.pause_reason, PAUSE_INACTIVITY);
    assert_int_equal(session.paused_at_ms, START_MS + 1);
    assert_status(change_runtime(&test_arena, &session, RUNTIME_RESTORING, PAUSE_NONE, NULL, &changes, NULL),
                  STATUS_OK);
    apply_changes(&session, &changes, START_MS + 3);
    assert_int_equal(session.pause_reason, PAUSE_NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_status_change_follows_the_table),
        cmocka_unit_test(a_refusal_names_both_states_and_what_is_allowed),
        cmocka_unit_test(every_end_has_a_stop_reason),
        cmocka_unit_test(a_stop_reason_needs_an_end),
        cmocka_unit_test(only_pending_work_is_claimed),
        cmocka_unit_test(settling_goes_where_running_may_go),
        cmocka_unit_test(a_settlement_brings_result_usage_and_error),
        cmocka_unit_test(usage_is_an_object),
        cmocka_unit_test(a_lost_lease_goes_back_to_the_queue_until_the_cap),
        cmocka_unit_test(what_waits_goes_on_waiting_without_a_lease),
        cmocka_unit_test(a_lease_nobody_holds_is_over_already),
        cmocka_unit_test(conversations_reopen_unless_they_failed),
        cmocka_unit_test(archiving_twice_is_archiving_once),
        cmocka_unit_test(a_turn_or_a_group_blocks_deletion),
        cmocka_unit_test(notes_carry_their_values),
        cmocka_unit_test(every_runtime_change_follows_the_table),
        cmocka_unit_test(pausing_needs_no_sandbox),
        cmocka_unit_test(what_runs_is_not_paused),
        cmocka_unit_test(a_person_pauses_in_every_state_of_the_sandbox),
        cmocka_unit_test(the_sandbox_does_not_lift_a_pause),
        cmocka_unit_test(a_pause_is_not_a_block),
        cmocka_unit_test(sleep_keeps_its_reason),
    };
    return cmocka_run_group_tests(tests, NULL, release_test_arena);
}

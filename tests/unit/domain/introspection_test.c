#include "domain/introspection.h"
#include "domain_unit.h"

static const struct introspection_settings usual = {
    .enabled = true, .turn_interval = 5, .passive_turn_interval = 20, .idle_timeout_ms = 600000, .tool_calls_max = 10};

static const struct json *metadata_of(const struct changes *changes)
{
    const struct json *value = NULL;
    struct failure failure;
    assert_int_equal(changes->count, 1);
    assert_int_equal(changes->events[0].role, ROLE_SYSTEM);
    assert_int_equal(json_parse(&test_arena, changes->events[0].metadata, &value, &failure), STATUS_OK);
    return value;
}

static void agents_say_when(void **state)
{
    (void)state;
    struct agent_source source = {.object =
                                      json_of("{\"id\":\"a\",\"provider\":\"openai\",\"model\":\"m\","
                                              "\"system_prompt\":\"s\",\"introspection\":"
                                              "{\"turn_interval\":2,\"idle_timeout_ms\":\"1m\",\"model\":\"s\"}}")};
    struct agent agent;
    struct failure failure;
    assert_int_equal(agent_read(&test_arena, &source, &agent, &failure), STATUS_OK);
    assert_true(agent.introspection.enabled);
    assert_int_equal(agent.introspection.turn_interval, 2);
    assert_int_equal(agent.introspection.passive_turn_interval, usual.passive_turn_interval);
    assert_int_equal(agent.introspection.idle_timeout_ms, 60000);
    assert_int_equal(agent.introspection.tool_calls_max, usual.tool_calls_max);
    assert_slice(agent.introspection.model, "s");
    agent_set_undefined(&agent, SLICE("a"));
    assert_int_equal(agent.introspection.turn_interval, usual.turn_interval);
    assert_int_equal(agent.introspection.idle_timeout_ms, usual.idle_timeout_ms);
    assert_false(slice_present(agent.introspection.model));
}

static void only_in_chats_of_a_model(void **state)
{
    (void)state;
    static const struct {
        int driver;
        enum purpose purpose;
        struct slice prompt, task_id;
        bool enabled, applies;
    } rows[] = {
        {DRIVER_MODEL, PURPOSE_INTERACTIVE, {NULL, 0}, {NULL, 0}, true, true},
        {DRIVER_MODEL, PURPOSE_INTERACTIVE, {NULL, 0}, {NULL, 0}, false, false},
        {DRIVER_ACP, PURPOSE_INTERACTIVE, {NULL, 0}, {NULL, 0}, true, false},
        {DRIVER_MODEL, PURPOSE_WORKFLOW, {NULL, 0}, {NULL, 0}, true, false},
        {DRIVER_MODEL, PURPOSE_INTERACTIVE, SLICE("do"), {NULL, 0}, true, false},
        {DRIVER_MODEL, PURPOSE_INTERACTIVE, {NULL, 0}, SLICE("t"), true, false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct session session = {.driver = rows[i].driver,
                                  .purpose = rows[i].purpose,
                                  .initial_prompt = rows[i].prompt,
                                  .task_id = rows[i].task_id};
        struct introspection_settings settings = usual;
        settings.enabled = rows[i].enabled;
        assert_true(introspection_applies(&session, &settings) == rows[i].applies);
    }
}

static void how_long_it_waits(void **state)
{
    (void)state;
    static const struct {
        int64_t turns, passive, wait_ms;
    } rows[] = {{0, 0, -1}, {1, 0, 600000}, {0, 1, 600000}, {4, 19, 600000}, {5, 0, 0}, {0, 20, 0}, {9, 0, 0}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct introspection row = {.turns = rows[i].turns, .passive = rows[i].passive};
        assert_int_equal(introspection_wait_ms(&row, &usual), rows[i].wait_ms);
    }
}

static void a_range_ends_behind_the_cursor(void **state)
{
    (void)state;
    struct session session = {.last_sequence = 30, .fence = 3, .status = SESSION_IDLE};
    struct introspection row = {.cursor = 10, .turns = 5, .passive = 2, .run = 7};
    introspection_begin(&row, &session, &usual);
    assert_true(row.runs && row.from == 11 && row.to == 30 && row.run == 8 && row.attempt == 1);
    assert_int_equal(row.reason, INTROSPECT_TURN_LIMIT);
    row.passive++; /* somebody speaks beside it */
    session.last_sequence = 35;
    introspection_finish(&row);
    assert_true(!row.runs && row.cursor == 30 && row.turns == 0 && row.passive == 1 && row.to == 0);
    introspection_begin(&row, &session, &usual);
    assert_true(row.from == 31 && row.to == 35);
    assert_int_equal(row.reason, INTROSPECT_IDLE);
}

/* Failed: the same range, however long the log has become; given up or interrupted: from the same place. */
static void a_failed_range_is_taken_again(void **state)
{
    (void)state;
    struct session session = {.last_sequence = 30, .status = SESSION_IDLE};
    struct introspection row = {.turns = 1};
    introspection_begin(&row, &session, &usual);
    assert_true(introspection_fail(&row, 2));
    session.last_sequence = 31;
    introspection_begin(&row, &session, &usual);
    assert_true(row.from == 1 && row.to == 30 && row.attempt == 2);
    assert_false(introspection_fail(&row, 2));
    assert_true(row.to == 0 && !row.runs && row.turns == 1);
    introspection_begin(&row, &session, &usual);
    assert_true(row.from == 1 && row.to == 31 && row.attempt == 1);
    introspection_interrupt(&row);
    assert_true(row.to == 0 && !row.runs && row.cursor == 0 && row.turns == 1);
}

static void who_may_still_write(void **state)
{
    (void)state;
    struct session session = {.last_sequence = 30, .fence = 3, .status = SESSION_IDLE};
    struct introspection row = {.turns = 1};
    introspection_begin(&row, &session, &usual);
    assert_true(introspection_is_held(&row, 1, &session));
    assert_false(introspection_is_held(&row, 2, &session));
    for (int work = 0; work < SESSION_STATUS_COUNT; work++) {
        session.status = (enum session_status)work;
        assert_true(introspection_is_held(&row, 1, &session) == (work == SESSION_IDLE));
    }
    session.status = SESSION_IDLE;
    session.fence++; /* a turn came and went */
    assert_false(introspection_is_held(&row, 1, &session));
    session.fence--;
    introspection_interrupt(&row);
    assert_false(introspection_is_held(&row, 1, &session));
}

static void which_ends_are_failures(void **state)
{
    (void)state;
    static const struct {
        enum turn_stop_reason stop;
        enum turn_error error;
        bool done;
    } rows[] = {{TURN_STOP, TURN_OK, true},
                {TURN_LENGTH, TURN_OK, true},
                {TURN_ERROR, TURN_LIMIT, true},
                {TURN_ERROR, TURN_PROVIDER_AUTH, false},
                {TURN_ERROR, TURN_BUDGET_EXCEEDED, false},
                {TURN_CONTENT_FILTER, TURN_FILTERED, false},
                {TURN_ABORTED, TURN_CANCELLED, false}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        assert_true(introspection_is_done(&(struct turn_end){.stop = rows[i].stop, .error = rows[i].error}) ==
                    rows[i].done);
    }
}

static void its_events(void **state)
{
    (void)state;
    struct introspection row = {.run = 2, .from = 5, .to = 9, .attempt = 1, .reason = INTROSPECT_IDLE};
    struct turn_end end = {.error_message = SLICE("no"), .usage = SLICE("{\"cost_microcents\":4}")};
    struct session session = create_with((struct session_input){.type = SLICE("agent")}, "s", "u1");
    struct changes changes = {0};
    change_introspection_started(&test_arena, &row, &changes);
    assert_int_equal(json_i64_of(metadata_of(&changes), "run"), 2);
    assert_slice(json_text_of(metadata_of(&changes), "reason"), "idle");
    change_introspection_interrupted(&test_arena, &row, "message", &changes);
    assert_slice(json_text_of(metadata_of(&changes), "cause"), "message");
    change_introspection_failed(&test_arena, &row, "provider_auth", &end, &changes);
    assert_slice(json_text_of(metadata_of(&changes), "message"), "no");
    apply_changes(&session, &changes, START_MS);
    change_introspection_ended(&test_arena, &row, &end, 3, &changes);
    assert_int_equal(json_i64_of(metadata_of(&changes), "tool_calls"), 3);
    apply_changes(&session, &changes, START_MS);
    assert_int_equal(session.message_count + session.turn_count + session.tool_call_count, 0);
    assert_slice(session.usage, "{\"cost_microcents\":8}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agents_say_when),
        cmocka_unit_test(only_in_chats_of_a_model),
        cmocka_unit_test(how_long_it_waits),
        cmocka_unit_test(a_range_ends_behind_the_cursor),
        cmocka_unit_test(a_failed_range_is_taken_again),
        cmocka_unit_test(who_may_still_write),
        cmocka_unit_test(which_ends_are_failures),
        cmocka_unit_test(its_events),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    arena_release(&test_arena);
    return failed;
}

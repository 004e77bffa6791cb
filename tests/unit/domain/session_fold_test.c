#include "domain/session.h"

#include <time.h>

#include "domain_unit.h"

static struct event message(const char *type, const char *text)
{
    struct slice content = arena_format(&test_arena, "[{\"type\":\"text\",\"text\":\"%s\"}]", text);
    return event_of(type, content.ptr, NULL);
}

static void created_fills_every_field_it_names(void **state)
{
    struct session session = {.tenant_key = TENANT};
    (void)state;
    unsigned changed = apply_at(
        &session,
        event_of(
            "session.created", NULL,
            "{\"id\":\"s1\",\"type\":\"mixed\",\"status\":\"running\",\"purpose\":\"workflow\",\"agent\":\"coder\","
            "\"workspace\":\"w\",\"source\":{\"kind\":\"channel\",\"platform\":\"slack\",\"interactive\":true,"
            "\"trigger_id\":\"t\",\"type\":\"group\"},\"parent_id\":\"p\",\"task_id\":\"tk\",\"entity_id\":\"e\","
            "\"retry_of\":\"r\",\"attempt\":2,\"owner_id\":\"u1\",\"anonymous\":true,\"prompt\":\"do it\","
            "\"priority\":5,\"title\":\"T\",\"metadata\":{\"a\":1},\"details\":{\"repo_id\":\"x\"},\"visibility\":"
            "\"org_visible\",\"queue_mode\":\"steer\",\"expires_at_ms\":99}"),
        START_MS);
    assert_int_equal(changed, CHANGED_HOT | CHANGED_MACHINE | CHANGED_LISTED | CHANGED_ALL);
    assert_slice(session.id, "s1");
    assert_int_equal(session.tenant_key, TENANT);
    assert_int_equal(session.type, TYPE_MIXED);
    assert_int_equal(session.status, SESSION_RUNNING);
    assert_int_equal(session.purpose, PURPOSE_WORKFLOW);
    assert_slice(session.agent, "coder");
    assert_slice(session.workspace, "w");
    assert_slice(session.source_kind, "channel");
    assert_slice(session.source_platform, "slack");
    assert_slice(session.source_trigger_id, "t");
    assert_true(session.source_interactive);
    assert_int_equal(session.source_type, CHAT_GROUP);
    assert_slice(session.parent_id, "p");
    assert_slice(session.task_id, "tk");
    assert_slice(session.entity_id, "e");
    assert_slice(session.retry_of, "r");
    assert_int_equal(session.attempt, 2);
    assert_slice(session.owner, "u1");
    assert_true(session.anonymous);
    assert_slice(session.initial_prompt, "do it");
    assert_int_equal(session.priority, 5);
    assert_slice(session.title, "T");
    assert_slice(session.metadata, "{\"a\":1}");
    assert_slice(session.details, "{\"repo_id\":\"x\"}");
    assert_int_equal(session.visibility, VISIBILITY_ORG_VISIBLE);
    assert_int_equal(session.queue_mode, QUEUE_STEER);
    assert_int_equal(session.expires_at_ms, 99);
    assert_int_equal(session.created_at_ms, START_MS);
    assert_int_equal(session.started_at_ms, START_MS);
    assert_int_equal(session.running_since_ms, START_MS);
    assert_int_equal(session.listed_at_ms, START_MS);
    assert_int_equal(session.last_sequence, 1);
}

static void messages_move_only_the_hot_group(void **state)
{
    struct session session = create_in(TYPE_AGENT, "idle"), before = session;
    (void)state;
    assert_int_equal(apply_at(&session, message("user.message", "hello  world"), START_MS + 5), CHANGED_HOT);
    assert_int_equal(session.message_count, 1);
    assert_int_equal(session.last_sequence, before.last_sequence + 1);
    assert_int_equal(session.last_active_at_ms, START_MS + 5);
    assert_int_equal(session.updated_at_ms, START_MS);
    assert_int_equal(session.listed_at_ms, START_MS);
    assert_string_equal(session.preview, "hello world");
    assert_int_equal(apply_at(&session, event_of("agent.tool_call", "[]", "{}"), START_MS + 6), CHANGED_HOT);
    assert_int_equal(session.tool_call_count, 1);
    assert_int_equal(session.message_count, 1);
    assert_int_equal(apply_at(&session, event_of("build.progress", NULL, NULL), START_MS + 7), CHANGED_HOT);
    assert_int_equal(session.last_sequence, before.last_sequence + 3);
    assert_string_equal(session.preview, "hello world");
}

static void the_list_moves_in_steps(void **state)
{
    struct session session = create_in(TYPE_AGENT, "idle");
    struct event event = message("user.message", "x");
    (void)state;
    assert_int_equal(apply_at(&session, event, START_MS + SESSION_LISTED_STEP_MS - 1), CHANGED_HOT);
    assert_int_equal(session.listed_at_ms, START_MS);
    assert_int_equal(apply_at(&session, event, START_MS + SESSION_LISTED_STEP_MS), CHANGED_HOT | CHANGED_LISTED);
    assert_int_equal(session.listed_at_ms, START_MS + SESSION_LISTED_STEP_MS);
    unsigned changed = apply_at(&session, event_of("session.archived", NULL, "{}"), START_MS + 12000);
    assert_int_equal(changed, CHANGED_HOT | CHANGED_ALL);
    assert_int_equal(session.listed_at_ms, START_MS + SESSION_LISTED_STEP_MS);
}

static void time_never_runs_backwards(void **state)
{
    struct session session = create_in(TYPE_AGENT, "idle");
    (void)state;
    apply_at(&session, message("user.message", "x"), START_MS - 5000);
    assert_int_equal(session.last_active_at_ms, START_MS);
    assert_int_equal(session.listed_at_ms, START_MS);
}

static void status(struct session *session, const char *payload, int64_t at_ms)
{
    unsigned changed = apply_at(session, event_of("session.status_change", NULL, payload), at_ms);
    assert_true(changed & CHANGED_MACHINE);
}

static void running_time_adds_up(void **state)
{
    struct session session = create_in(TYPE_MIXED, "idle");
    (void)state;
    assert_int_equal(session.started_at_ms, 0);
    status(&session, "{\"to\":\"running\"}", START_MS + 100);
    status(&session, "{\"to\":\"waiting_human\",\"reason\":\"asks\"}", START_MS + 400);
    assert_int_equal(session.active_ms, 300);
    assert_int_equal(session.running_since_ms, 0);
    assert_slice(session.status_reason, "asks");
    status(&session, "{\"to\":\"running\"}", START_MS + 1000);
    assert_absent(session.status_reason);
    status(&session, "{\"to\":\"idle\"}", START_MS + 1001);
    assert_int_equal(session.active_ms, 301);
    assert_int_equal(session.started_at_ms, START_MS + 100);
    assert_int_equal(session.turn_count, 1);
    status(&session, "{\"to\":\"running\"}", START_MS + 2000);
    status(&session, "{\"to\":\"completed\",\"stop_reason\":\"user\"}", START_MS + 1500);
    assert_int_equal(session.active_ms, 301);
    assert_int_equal(session.turn_count, 1);
}

static void waiting_in_the_queue_is_dated(void **state)
{
    struct session session = create_in(TYPE_AGENT, "pending");
    (void)state;
    assert_int_equal(session.queued_at_ms, START_MS);
    status(&session, "{\"to\":\"running\"}", START_MS + 10);
    assert_int_equal(session.queued_at_ms, 0);
    apply_at(&session, event_of("session.claimed", NULL, "{\"worker\":\"w\",\"fence\":4,\"attempt\":2}"),
             START_MS + 10);
    assert_int_equal(session.fence, 4);
    assert_int_equal(session.claim_attempts, 2);
    status(&session, "{\"to\":\"pending\",\"requeued\":true}", START_MS + 20);
    assert_int_equal(session.queued_at_ms, START_MS + 20);
    assert_int_equal(session.claim_attempts, 2);
    status(&session, "{\"to\":\"idle\"}", START_MS + 30);
    status(&session, "{\"to\":\"pending\"}", START_MS + 40);
    assert_int_equal(session.claim_attempts, 0);
    assert_int_equal(session.fence, 4);
}

static void an_end_is_recorded_and_undone_by_reopening(void **state)
{
    struct session session = create_in(TYPE_AGENT, "idle");
    (void)state;
    session.expires_at_ms = START_MS + 50;
    apply_at(&session,
             event_of("session.runtime_change", NULL, "{\"to\":\"hibernated\",\"pause_reason\":\"credit_limit\"}"),
             START_MS + 10);
    assert_int_equal(session.paused_at_ms, START_MS + 10);
    status(&session, "{\"to\":\"expired\",\"stop_reason\":\"expired\"}", START_MS + 60);
    assert_int_equal(session.completed_at_ms, START_MS + 60);
    assert_int_equal(session.stop_reason, STOP_EXPIRED);
    assert_int_equal(session.pause_reason, PAUSE_NONE);
    apply_at(&session, event_of("session.runtime_change", NULL, "{\"to\":\"stopped\"}"), START_MS + 61);
    apply_at(&session, event_of("session.archived", NULL, "{}"), START_MS + 70);
    apply_at(&session, event_of("session.error", NULL, "{\"code\":\"c\",\"message\":\"m\"}"), START_MS + 71);
    assert_slice(session.error_code, "c");
    unsigned changed = apply_at(&session, event_of("session.status_change", NULL, "{\"to\":\"idle\"}"), START_MS + 80);
    assert_true(changed & CHANGED_ALL);
    assert_int_equal(session.completed_at_ms, 0);
    assert_int_equal(session.stop_reason, STOP_NONE);
    assert_int_equal(session.archived_at_ms, 0);
    assert_int_equal(session.expires_at_ms, 0);
    assert_int_equal(session.runtime, RUNTIME_NONE);
    assert_absent(session.error_code);
    assert_absent(session.error_message);
    assert_int_equal(session.paused_at_ms, START_MS + 10);
}

static void usage_adds_up_and_results_replace(void **state)
{
    struct session session = create_in(TYPE_AGENT, "idle");
    (void)state;
    status(&session, "{\"to\":\"running\"}", START_MS + 1);
    status(&session, "{\"to\":\"idle\",\"usage\":{\"tokens\":5},\"result\":1}", START_MS + 2);
    assert_slice(session.usage, "{\"tokens\":5}");
    assert_slice(session.result, "1");
    status(&session, "{\"to\":\"running\"}", START_MS + 3);
    status(&session, "{\"to\":\"completed\"}", START_MS + 4);
    apply_at(&session, event_of("session.completed", NULL, "{\"result\":{\"ok\":true},\"usage\":{\"tokens\":7}}"),
             START_MS + 4);
    assert_slice(session.usage, "{\"tokens\":12}");
    assert_slice(session.result, "{\"ok\":true}");
}

static void updates_change_what_they_name(void **state)
{
    struct session session = create_in(TYPE_AGENT, "idle");
    (void)state;
    unsigned changed = apply_at(
        &session,
        event_of("session.updated", NULL, "{\"title\":\"A\",\"metadata\":{\"k\":1},\"queue_mode\":\"collect\"}"),
        START_MS + 1);
    assert_true(changed & CHANGED_ALL);
    assert_false(changed & CHANGED_MACHINE);
    assert_slice(session.title, "A");
    assert_int_equal(session.queue_mode, QUEUE_COLLECT);
    apply_at(&session, event_of("session.updated", NULL, "{\"title\":null,\"metadata\":null}"), START_MS + 2);
    assert_absent(session.title);
    assert_absent(session.metadata);
    assert_int_equal(session.queue_mode, QUEUE_COLLECT);
    assert_int_equal(session.updated_at_ms, START_MS + 2);
}

static void payloads_nobody_understands_change_nothing(void **state)
{
    static const char *const strange[] = {NULL, "{}", "[]", "5", "broken", "{\"to\":\"flying\",\"pause_reason\":7}"};
    static const char *const types[] = {"session.status_change", "session.runtime_change", "session.updated",
                                        "session.unknown"};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(strange); i++) {
        for (size_t t = 0; t < COUNT_OF(types); t++) {
            struct session session = create_in(TYPE_AGENT, "idle");
            apply_at(&session, event_of(types[t], NULL, strange[i]), START_MS + 1);
            assert_int_equal(session.status, SESSION_IDLE);
            assert_int_equal(session.runtime, RUNTIME_NONE);
            assert_int_equal(session.last_sequence, 2);
        }
    }
}

/* --- random commands --- */

static uint64_t seed_state, current_seed;

static unsigned random_below(unsigned limit)
{
    seed_state = seed_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(seed_state >> 33) % limit;
}

struct model {
    int64_t messages, tools, tokens, claims;
};

static void check_invariants(const struct session *session, const struct model *model, int64_t events)
{
    assert_int_equal(session->last_sequence, events);
    assert_int_equal(session->message_count, model->messages);
    assert_int_equal(session->tool_call_count, model->tools);
    assert_int_equal(session->fence, model->claims);
    assert_true(session->active_ms >= 0);
    assert_int_equal(session->completed_at_ms != 0, session_status_is_ended(session->status));
    assert_int_equal(session->stop_reason != STOP_NONE, session_status_is_ended(session->status));
    assert_int_equal(session->running_since_ms != 0, session_status_is_running(session->status));
    assert_int_equal(session->queued_at_ms != 0, session_status_is_claimable(session->status));
    assert_false(session_status_is_ended(session->status) && session->pause_reason != PAUSE_NONE);
    assert_false(session_status_is_running(session->status) && session->started_at_ms == 0);
    assert_true(session->listed_at_ms <= session->last_active_at_ms);
    assert_true(session->last_active_at_ms - session->listed_at_ms < SESSION_LISTED_STEP_MS);
    assert_true(session->updated_at_ms <= session->last_active_at_ms);
    assert_true(session->claim_attempts >= 0 && session->claim_attempts <= session->fence);
    assert_true(slice_is_utf8(slice_of(session->preview)));
    assert_false(session->status != SESSION_FAILED && session_status_is_active(session->status) &&
                 session->stop_reason != STOP_NONE);
}

static enum status random_change(const struct session *session, struct changes *out, struct model *model)
{
    static char usage_text[64];
    struct settlement settlement = {.to = (enum session_status)random_below(SESSION_STATUS_COUNT)};
    unsigned tokens = random_below(100);
    enum status status = STATUS_INVALID;
    switch (random_below(8)) {
    case 0:
        return change_status(&test_arena, session, (enum session_status)random_below(SESSION_STATUS_COUNT), "random",
                             (enum stop_reason)random_below(STOP_COUNT), out, NULL);
    case 1:
        return change_runtime(&test_arena, session, (enum runtime)random_below(RUNTIME_COUNT),
                              (enum pause_reason)random_below(PAUSE_COUNT), NULL, out, NULL);
    case 2:
        status = change_claim(&test_arena, session, SLICE("w1"), out, NULL);
        model->claims += status == STATUS_OK;
        return status;
    case 3:
        snprintf(usage_text, sizeof usage_text, "{\"tokens\":%u}", tokens);
        settlement.usage = json_of(usage_text);
        status = change_settle(&test_arena, session, &settlement, out, NULL);
        model->tokens += status == STATUS_OK ? tokens : 0;
        return status;
    case 4:
        return change_lease_over(&test_arena, session, random_below(2), 3, out, NULL);
    case 5:
        return change_archive(&test_arena, session, random_below(2), out, NULL);
    case 6:
        return change_reopen(&test_arena, session, "random", out, NULL);
    default:
        return change_update(&test_arena, session, json_of(random_below(2) ? "{\"title\":\"x\"}" : "{\"ttl_ms\":500}"),
                             &test_limits, session->last_active_at_ms, out, NULL);
    }
}

static void add_ordinary(struct changes *changes, struct model *model)
{
    static const char *const types[] = {"user.message", "agent.message", "agent.tool_call", "tool.invocation_started",
                                        "x.y",          "agent.thinking"};
    unsigned pick = random_below(COUNT_OF(types));
    model->messages += pick < 2;
    model->tools += pick == 2 || pick == 3;
    changes->events[0] = message(types[pick], "some words that are shown 😀");
    changes->count = 1;
}

static void check_run(uint64_t seed)
{
    static const enum session_type types[] = {TYPE_AGENT, TYPE_AGENT, TYPE_RESPONSE, TYPE_TOOL, TYPE_MIXED};
    seed_state = seed;
    struct session session = create_in(types[random_below(COUNT_OF(types))], NULL), refold = {.tenant_key = TENANT};
    struct model model = {0};
    int64_t at_ms = START_MS, events = 1;
    struct changes created;
    struct session_input input = {.type = slice_of(session_type_enum.names[session.type]), .ttl_ms = -1};
    assert_status(change_create(&test_arena, &input, &test_limits, SLICE("s1"), SLICE("u1"), START_MS, &created, NULL),
                  STATUS_OK);
    apply_changes(&refold, &created, START_MS);
    for (int i = 0; i < 60; i++) {
        struct changes changes = {0};
        at_ms += random_below(6000);
        if (random_below(3) == 0) {
            add_ordinary(&changes, &model);
        } else if (random_change(&session, &changes, &model) != STATUS_OK) {
            assert_int_equal(changes.count, 0);
            continue;
        }
        assert_true(changes.count <= CHANGES_MAX);
        events += (int64_t)changes.count;
        apply_changes(&session, &changes, at_ms);
        apply_changes(&refold, &changes, at_ms);
        check_invariants(&session, &model, events);
        assert_null(session_difference(&session, &refold));
    }
    const struct json *usage =
        slice_present(session.usage) ? json_of(arena_copy(&test_arena, session.usage).ptr) : NULL;
    assert_int_equal(json_i64_of(usage, "tokens"), model.tokens);
}

static void random_commands_keep_every_invariant(void **state)
{
    const char *given = getenv("SEED");
    uint64_t first = given ? strtoull(given, NULL, 10) : 1;
    uint64_t end = given ? first + 1 : first + 300;
    (void)state;
    for (uint64_t seed = first; seed < end; seed++) {
        current_seed = seed;
        check_run(seed);
        arena_release(&test_arena);
    }
    current_seed = 0;
}

static int name_failed_seed(void **state)
{
    (void)state;
    if (current_seed) {
        print_error("rerun with SEED=%llu\n", (unsigned long long)current_seed);
    }
    return 0;
}

/* Every message pays this; the bound is far above what it takes (some 0.3 µs), for slow machines and sanitizers. */
static void a_message_is_cheap(void **state)
{
    enum { ROUNDS = 20000 };
    struct session session = create_in(TYPE_AGENT, "idle");
    struct event event =
        message("agent.message", "I have read the file and will now change the function that sorts the "
                                 "rows so that equal keys keep their order, then run the tests again "
                                 "and report what is left to be done about it.");
    struct timespec start, end;
    (void)state;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &start);
    for (int i = 0; i < ROUNDS; i++) {
        event.sequence = session.last_sequence + 1;
        event.at_ms = START_MS + i;
        session_apply(&session, &event, &test_arena);
    }
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
    double each_us = ((double)(end.tv_sec - start.tv_sec) * 1e6 + (double)(end.tv_nsec - start.tv_nsec) / 1e3) / ROUNDS;
    print_message("session_apply of a message: %.3f µs\n", each_us);
    assert_true(each_us < 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(created_fills_every_field_it_names),
        cmocka_unit_test(messages_move_only_the_hot_group),
        cmocka_unit_test(the_list_moves_in_steps),
        cmocka_unit_test(time_never_runs_backwards),
        cmocka_unit_test(running_time_adds_up),
        cmocka_unit_test(waiting_in_the_queue_is_dated),
        cmocka_unit_test(an_end_is_recorded_and_undone_by_reopening),
        cmocka_unit_test(usage_adds_up_and_results_replace),
        cmocka_unit_test(updates_change_what_they_name),
        cmocka_unit_test(payloads_nobody_understands_change_nothing),
        cmocka_unit_test_teardown(random_commands_keep_every_invariant, name_failed_seed),
        cmocka_unit_test(a_message_is_cheap),
    };
    return cmocka_run_group_tests(tests, NULL, release_test_arena);
}

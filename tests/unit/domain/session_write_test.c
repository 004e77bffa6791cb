#include "domain/session.h"
#include "domain/session_details.h"
#include "domain_unit.h"

static const struct json *written(const struct session *session, bool full)
{
    struct buffer buffer = {0};
    session_write(&buffer, session, full);
    const struct json *object = json_of(arena_copy(&test_arena, buffer_slice(&buffer)).ptr);
    buffer_release(&buffer);
    return object;
}

static void every_member_is_there_in_order(void **state)
{
    static const char *const names[] = {
        "id",
        "type",
        "status",
        "runtime",
        "pause_reason",
        "stop_reason",
        "status_reason",
        "display_status",
        "display_reason",
        "active",
        "live",
        "failing",
        "retryable",
        "reopenable",
        "words",
        "purpose",
        "agent",
        "agent_version",
        "driver",
        "title",
        "workspace",
        "source",
        "metadata",
        "visibility",
        "queue_mode",
        "parent_id",
        "task_id",
        "entity_id",
        "retry_of",
        "attempt",
        "owner_id",
        "anonymous",
        "priority",
        "result",
        "usage",
        "error",
        "fence",
        "claim_attempts",
        "last_sequence",
        "message_count",
        "tool_call_count",
        "turn_count",
        "active_seconds",
        "preview",
        "prompt_snippet",
        "created_at",
        "started_at",
        "completed_at",
        "duration_ms",
        "updated_at",
        "last_active_at",
        "queued_at",
        "paused_at",
        "archived_at",
        "expires_at",
        "initial_prompt",
        "agent_config",
        "details",
    };
    struct session session = create_in(TYPE_AGENT, "idle");
    (void)state;
    for (int full = 0; full < 2; full++) {
        const struct json *object = written(&session, full);
        const struct json *member = object->child;
        size_t count = COUNT_OF(names) - (full ? 0 : 3);
        for (size_t i = 0; i < count; i++, member = member->next) {
            assert_non_null(member);
            assert_slice(member->key, names[i]);
        }
        assert_null(member);
    }
}

static void absent_values_are_null(void **state)
{
    static const char *const nulls[] = {"pause_reason", "stop_reason",  "status_reason", "agent",     "title",
                                        "workspace",    "parent_id",    "task_id",       "entity_id", "retry_of",
                                        "result",       "usage",        "error",         "preview",   "prompt_snippet",
                                        "started_at",   "completed_at", "duration_ms",   "queued_at", "paused_at",
                                        "archived_at",  "expires_at",   "initial_prompt"};
    struct session session = create_in(TYPE_AGENT, "idle");
    const struct json *object = written(&session, true);
    (void)state;
    for (size_t i = 0; i < COUNT_OF(nulls); i++) {
        assert_row(nulls[i], json_is(json_get(object, nulls[i]), JSON_NULL));
    }
    assert_slice(json_get(object, "metadata")->raw, "{}");
    assert_slice(json_text_of(object, "created_at"), "2023-11-14T22:13:20.000Z");
    assert_slice(json_get(object, "source")->raw,
                 "{\"kind\":\"api\",\"platform\":null,\"interactive\":true,\"trigger_id\":null,\"type\":null}");
}

static void groups_and_words_follow_the_state(void **state)
{
    (void)state;
    for (int work = 0; work < SESSION_STATUS_COUNT; work++) {
        struct session session = create_in(TYPE_AGENT, "idle");
        bool flag;
        session.status = (enum session_status)work;
        const struct json *object = written(&session, false);
        assert_slice(json_text_of(object, "status"), session_status_enum.names[work]);
        assert_true(json_as_bool(json_get(object, "active"), &flag) &&
                    flag == session_status_is_active((enum session_status)work));
        assert_true(json_as_bool(json_get(object, "live"), &flag) &&
                    flag == session_status_is_live((enum session_status)work));
        assert_true(json_as_bool(json_get(object, "failing"), &flag) &&
                    flag == session_status_is_failing((enum session_status)work));
        assert_int_equal(json_get(object, "words")->count, 11);
    }
}

static void outcomes_and_durations_are_derived(void **state)
{
    struct session session = create_in(TYPE_MIXED, "running");
    struct changes changes;
    (void)state;
    apply_at(&session, event_of("agent.message", "[{\"type\":\"text\",\"text\":\"done\"}]", NULL), START_MS + 10);
    assert_status(change_status(&test_arena, &session, SESSION_FAILED, "disk \"full\"", STOP_NONE, &changes, NULL),
                  STATUS_OK);
    apply_changes(&session, &changes, START_MS + 2500);
    const struct json *object = written(&session, false);
    assert_int_equal(json_i64_of(object, "duration_ms"), 2500);
    assert_int_equal(json_i64_of(object, "active_seconds"), 2);
    assert_int_equal(json_i64_of(object, "message_count"), 1);
    assert_slice(json_text_of(object, "preview"), "done");
    assert_slice(json_text_of(object, "stop_reason"), "failed");
    assert_slice(json_text_of(json_get(object, "error"), "message"), "disk \"full\"");
    assert_slice(json_text_of(object, "display_status"), "failed");
}

static void the_prompt_is_whole_only_in_full(void **state)
{
    struct session_input input = {.type = SLICE("agent"), .prompt = SLICE("# Fix the login page\nnow"), .ttl_ms = -1};
    struct session session = create_with(input, "s1", "u1");
    (void)state;
    const struct json *listed = written(&session, false), *single = written(&session, true);
    assert_slice(json_text_of(listed, "prompt_snippet"), "Fix the login page now");
    assert_null(json_get(listed, "initial_prompt"));
    assert_slice(json_text_of(single, "initial_prompt"), "# Fix the login page\nnow");
    int keys = 0;
    for (const struct detail *detail = session_details; detail->name; detail++) {
        assert_row(detail->name, json_get(json_get(single, "details"), detail->name) != NULL);
        keys++;
    }
    assert_int_equal(json_get(single, "details")->count, keys);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_member_is_there_in_order),    cmocka_unit_test(absent_values_are_null),
        cmocka_unit_test(groups_and_words_follow_the_state), cmocka_unit_test(outcomes_and_durations_are_derived),
        cmocka_unit_test(the_prompt_is_whole_only_in_full),
    };
    return cmocka_run_group_tests(tests, NULL, release_test_arena);
}

#include "domain/agent.h"
#include "domain_unit.h"
#include "permission_unit.h"

static struct failure failure;

static struct agent whole(void)
{
    struct agent agent;
    struct agent_source source = {
        .object =
            json_of("{\"id\":\"a\",\"provider\":\"openai\",\"model\":\"m\",\"system_prompt\":\"s\",\"tools\":[\"read_"
                    "file\",\"run_command\"],\"permissions\":[{\"tool\":\"run_command\",\"then\":\"allow\"}],"
                    "\"commands\":[\"git *\",\"make\"],\"hosts\":[\"a.example\",\"b.example\"],\"fs_scope\":"
                    "\"project\",\"caps\":{\"turns_max\":10,\"tool_rounds_max\":8},\"sandbox\":{\"network\":true}}")};
    assert_int_equal(agent_read(&test_arena, &source, &agent, &failure), STATUS_OK);
    return agent;
}

static struct agent narrowed(const char *text)
{
    struct agent agent = whole();
    if (agent_narrow(&test_arena, json_of(text), &agent, &failure) != STATUS_OK) {
        print_error("%s: %s\n", text, failure.detail);
        fail();
    }
    return agent;
}

static void narrower_is_fine(void **state)
{
    struct agent agent = narrowed("{\"tools\":[\"read_file\"],\"commands\":[\"git log *\",\"git status\"],\"hosts\":[],"
                                  "\"fs_scope\":\"sandboxed\",\"turns_max\":10,\"tool_rounds_max\":1,"
                                  "\"cost_microcents_max\":5,\"sandbox\":{\"network\":false}}");
    (void)state;
    assert_true(agent_has_tool(&agent, SLICE("read_file")));
    assert_false(agent_has_tool(&agent, SLICE("run_command")));
    assert_int_equal(agent.command_count, 2);
    assert_int_equal(agent.host_count, 0);
    assert_int_equal(agent.fs_scope, FS_SCOPE_SANDBOXED);
    assert_int_equal(agent.tool_rounds_max, 1);
    assert_int_equal(agent.cost_microcents_max, 5);
    assert_false(agent.sandbox.network);
}

static void nothing_said_changes_nothing(void **state)
{
    struct agent before = whole(), after = narrowed("{}");
    struct buffer texts[2] = {{0}, {0}};
    (void)state;
    agent_write(&texts[0], &before);
    agent_write(&texts[1], &after);
    assert_true(slice_eq(buffer_slice(&texts[0]), buffer_slice(&texts[1])));
    buffer_release(&texts[0]);
    buffer_release(&texts[1]);
}

static void wider_is_refused(void **state)
{
    static const char *const wider[] = {
        "{\"tools\":[\"read_file\",\"write_file\"]}",
        "{\"commands\":[\"make *\"]}",
        "{\"commands\":[\"*\"]}",
        "{\"commands\":[\"gitk\"]}",
        "{\"hosts\":[\"c.example\"]}",
        "{\"fs_scope\":\"full\"}",
        "{\"turns_max\":11}",
        "{\"tool_rounds_max\":9}",
        "{\"permissions\":[{\"then\":\"allow\"}]}",
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(wider); i++) {
        struct agent agent = whole();
        assert_row(wider[i], agent_narrow(&test_arena, json_of(wider[i]), &agent, &failure) == STATUS_INVALID);
        assert_string_equal(failure.code, "widens_agent");
        assert_int_equal(agent.turns_max, 10);
    }
    struct agent closed = narrowed("{\"sandbox\":{\"network\":false},\"cost_microcents_max\":5}");
    assert_int_equal(agent_narrow(&test_arena, json_of("{\"sandbox\":{\"network\":true}}"), &closed, &failure),
                     STATUS_INVALID);
    assert_int_equal(agent_narrow(&test_arena, json_of("{\"cost_microcents_max\":6}"), &closed, &failure),
                     STATUS_INVALID);
}

static void each_scope_holds_the_smaller_ones(void **state)
{
    (void)state;
    for (int mine = 0; mine < fs_scope_enum.count; mine++) {
        for (int asked = 0; asked < fs_scope_enum.count; asked++) {
            struct agent agent = whole();
            char text[40];
            agent.fs_scope = (enum fs_scope)mine;
            snprintf(text, sizeof text, "{\"fs_scope\":\"%s\"}", fs_scope_enum.names[asked]);
            assert_row(text, agent_narrow(&test_arena, json_of(text), &agent, &failure) ==
                                 (asked <= mine ? STATUS_OK : STATUS_INVALID));
            assert_int_equal(agent.fs_scope, asked <= mine ? asked : mine);
        }
    }
}

static void what_cannot_be_narrowed_is_named(void **state)
{
    static const char *const wrong[] = {"{\"model\":\"x\"}", "{\"turns_max\":0}", "{\"sandbox\":{\"kind\":\"none\"}}",
                                        "[]", "{\"tools\":1}"};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        struct agent agent = whole();
        assert_row(wrong[i], agent_narrow(&test_arena, json_of(wrong[i]), &agent, &failure) == STATUS_INVALID);
        assert_string_equal(failure.code, "invalid_agent_config");
        assert_non_null(strstr(failure.detail, "agent_config"));
    }
}

static void rules_of_a_session_only_tighten(void **state)
{
    struct agent agent = narrowed("{\"permissions\":[{\"tool\":\"run_command\",\"argument\":\"git push*\",\"then\":"
                                  "\"ask\"},{\"tool\":\"secret_tool\",\"then\":\"ask\"}]}");
    struct slice push = SLICE("{\"command\":\"git push origin\"}"), log = SLICE("{\"command\":\"git log\"}");
    struct slice run = SLICE("run_command"), none = {0};
    (void)state;
    assert_int_equal(permission_at(&agent, run, push, none, PERMISSION_ASK), PERMISSION_ASK);
    assert_int_equal(permission_at(&agent, run, log, none, PERMISSION_ASK), PERMISSION_ALLOW);
    assert_int_equal(permission_at(&agent, SLICE("secret_tool"), log, none, PERMISSION_DENY), PERMISSION_DENY);
    assert_int_equal(permission_at(&agent, SLICE("secret_tool"), log, none, PERMISSION_ALLOW), PERMISSION_ASK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(narrower_is_fine),
        cmocka_unit_test(nothing_said_changes_nothing),
        cmocka_unit_test(wider_is_refused),
        cmocka_unit_test(each_scope_holds_the_smaller_ones),
        cmocka_unit_test(what_cannot_be_narrowed_is_named),
        cmocka_unit_test(rules_of_a_session_only_tighten),
    };
    return cmocka_run_group_tests(tests, NULL, release_test_arena);
}

#include "domain/agent_fields.h"
#include "domain_unit.h"

static void globs(void **state)
{
    static const struct {
        const char *pattern, *text;
        bool matches;
    } rows[] = {
        {"", "", true},           {"", "a", false},        {"*", "", true},
        {"*", "anything", true},  {"a*", "a", true},       {"a*", "ba", false},
        {"*a", "bba", true},      {"*a", "ab", false},     {"a*c*e", "abcde", true},
        {"a*c*e", "abde", false}, {"**", "x", true},       {"a*b", "aXbXb", true},
        {"*.c", "x.c.h", false},  {"git *", "git", false}, {"git *", "git log", true},
        {"a?", "ab", false},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        assert_row(rows[i].pattern,
                   agent_glob_matches(slice_of(rows[i].pattern), slice_of(rows[i].text)) == rows[i].matches);
    }
}

static const struct permission_rule rules[] = {
    {.tool = {"run_command", 11}, .then = PERMISSION_ALLOW},
    {.tool = {"run_command", 11}, .argument = {"rm *", 4}, .then = PERMISSION_DENY},
    {.tool = {"git_*", 5}, .then = PERMISSION_ASK},
    {.path = {"*/secret/*", 10}, .then = PERMISSION_DENY},
    {.tool = {"write_file", 10}, .path = {"/w/*", 4}, .then = PERMISSION_ALLOW},
    {.argument = {"{\"force\":true}", 14}, .then = PERMISSION_ASK},
};
static const struct agent agent = {.permissions = rules, .permission_count = COUNT_OF(rules)};

static enum permission asked(const char *tool, const char *arguments, const char *path)
{
    return agent_permission(&agent, slice_of(tool), slice_of(arguments), slice_of(path), PERMISSION_ASK);
}

static void the_strictest_rule_decides(void **state)
{
    (void)state;
    assert_int_equal(asked("run_command", "{\"command\":\"ls\"}", NULL), PERMISSION_ALLOW);
    assert_int_equal(asked("run_command", "{\"command\":\"rm -r x\"}", NULL), PERMISSION_DENY);
    assert_int_equal(asked("run_command", "{\"steps\":[{\"do\":\"ls\"},{\"do\":\"r\\u006d x\"}]}", NULL),
                     PERMISSION_DENY);
    assert_int_equal(asked("git_commit", "{}", NULL), PERMISSION_ASK);
    assert_int_equal(asked("write_file", "{}", "/w/a"), PERMISSION_ALLOW);
    assert_int_equal(asked("write_file", "{}", "/w/secret/a"), PERMISSION_DENY);
}

/* However the JSON of a call is written, a rule about it holds. */
static void white_space_and_escapes_lead_past_no_rule(void **state)
{
    static const char *const written[] = {"{\"force\":true}", "{ \"force\" : true }", "{\"force\":\n\ttrue\n}",
                                          "{\"f\\u006frce\":true}"};
    struct slice none = {0};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(written); i++) {
        assert_row(written[i], agent_permission(&agent, SLICE("other"), slice_of(written[i]), none, PERMISSION_ALLOW) ==
                                   PERMISSION_ASK);
    }
    assert_int_equal(agent_permission(&agent, SLICE("other"), SLICE("{\"force\":false}"), none, PERMISSION_ALLOW),
                     PERMISSION_ALLOW);
}

static void without_a_rule_the_tool_decides(void **state)
{
    struct slice none = {0};
    (void)state;
    for (int otherwise = 0; otherwise < PERMISSION_COUNT; otherwise++) {
        assert_int_equal(
            agent_permission(&agent, SLICE("write_file"), SLICE("{}"), SLICE("/x"), (enum permission)otherwise),
            otherwise);
        assert_int_equal(agent_permission(&agent, SLICE("read_file"), none, none, (enum permission)otherwise),
                         otherwise);
    }
}

static void arguments_that_are_no_json_are_matched_as_text(void **state)
{
    (void)state;
    assert_int_equal(asked("run_command", "rm -r x", NULL), PERMISSION_DENY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(globs),
        cmocka_unit_test(the_strictest_rule_decides),
        cmocka_unit_test(white_space_and_escapes_lead_past_no_rule),
        cmocka_unit_test(without_a_rule_the_tool_decides),
        cmocka_unit_test(arguments_that_are_no_json_are_matched_as_text),
    };
    return cmocka_run_group_tests(tests, NULL, release_test_arena);
}

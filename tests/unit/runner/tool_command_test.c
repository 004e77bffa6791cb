/* Commands and git, run as real processes in the tree. */
#include "tool_scene.h"

static const struct slice commands[] = {SLICE("echo *"),   SLICE("cat *"),           SLICE("sh -c *"),
                                        SLICE("sleep 60"), SLICE("no-such-program"), SLICE("pwd")};

static int set_up(void **state)
{
    struct scene *scene = memory_zeroed(sizeof *scene);
    *state = scene;
    scene_init(scene);
    scene->agent.commands = commands;
    scene->agent.command_count = COUNT_OF(commands);
    process_environment_seen[0] = 0;
    return 0;
}

static int tear_down(void **state)
{
    scene_release(*state);
    free(*state);
    return 0;
}

static void runs_what_is_allowed(void **state)
{
    struct scene *scene = *state;
    scene_call(scene, "run_command", "{\"command\":\" echo 'a  b' c \"}");
    assert_good(scene);
    assert_slice(scene->text, "a  b c\n");
    assert_bytes(buffer_slice(&scene->turn.streamed), "a  b c\n");
    scene_call(scene, "run_command", "{\"command\":\"rm -rf x\"}");
    assert_refused(scene, TURN_TOOL_DENIED, "Allowed (* is any text): echo *; cat *");
    scene_call(scene, "run_command", "{\"command\":\"echo a | cat\"}");
    assert_refused(scene, TURN_VALIDATION, "there is no shell");
    scene_call(scene, "run_command", "{\"command\":\"echo a; rm -rf x\"}");
    assert_refused(scene, TURN_VALIDATION, "there is no shell");
    scene_call(scene, "run_command", "{\"command\":\"sh -c 'exit 3'\"}");
    assert_refused(scene, TURN_TOOL_FAILED, "[exit code 3]");
    scene_call(scene, "run_command", "{\"command\":\"sh -c 'kill -9 $$'\"}");
    assert_refused(scene, TURN_TOOL_FAILED, "[ended by signal 9]");
    scene_call(scene, "run_command", "{\"command\":\"sh -c true\"}");
    assert_slice(scene->text, "(no output)");
    scene_call(scene, "run_command", "{\"command\":\"no-such-program\"}");
    assert_refused(scene, TURN_TOOL_FAILED, "no-such-program");
    scene->agent.command_count = 0;
    scene_call(scene, "run_command", "{\"command\":\"echo a\"}");
    assert_refused(scene, TURN_TOOL_DENIED, "may run no commands");
    scene->place.sandbox = NULL;
    scene->agent.command_count = 1;
    scene_call(scene, "run_command", "{\"command\":\"echo a\"}");
    assert_refused(scene, TURN_TOOL_UNAVAILABLE, "no sandbox");
}

static void directories(void **state)
{
    struct scene *scene = *state;
    scene_call(scene, "run_command", "{\"command\":\"pwd\"}");
    assert_string_equal(process_directory_seen, "");
    scene_call(scene, "run_command", "{\"command\":\"pwd\",\"directory\":\"src/./a/..\"}");
    assert_string_equal(process_directory_seen, "/workspace/src");
    scene_call(scene, "run_command", "{\"command\":\"pwd\",\"directory\":\"/tmp\"}");
    assert_string_equal(process_directory_seen, "/tmp");
    scene_call(scene, "run_command", "{\"command\":\"pwd\",\"directory\":\"../x\"}");
    assert_refused(scene, TURN_VALIDATION, "above the top");
}

static void time_and_output_have_limits(void **state)
{
    struct scene *scene = *state;
    scene->settings.command_ms_max = 100;
    scene_call(scene, "run_command", "{\"command\":\"sleep 60\"}");
    assert_refused(scene, TURN_TIMEOUT, "its time was up");
    scene->settings.command_ms_max = 60000;
    scene_call(scene, "run_command", "{\"command\":\"sleep 60\",\"timeout_ms\":50}");
    assert_refused(scene, TURN_TIMEOUT, "its time was up");
    scene->settings.command_bytes_max = 1000;
    scene_call(scene, "run_command", "{\"command\":\"sh -c 'head -c 5000 /dev/zero | tr \\\\\\\\000 x'\"}");
    assert_good(scene);
    assert_holds(scene, "[4000 further bytes were not kept]");
    assert_int_equal(scene->turn.streamed.len, 1000);
}

static void output_becomes_text(void **state)
{
    struct scene *scene = *state;
    scene_write(scene, "tree/odd", SLICE("a\0b\x1B[31m\xFFz\xC3\xA9\n"));
    scene_call(scene, "run_command", "{\"command\":\"cat odd\"}");
    assert_slice(scene->text, "ab[31m\xEF\xBF\xBDz\xC3\xA9\n");
}

static void long_output_is_kept(void **state)
{
    struct scene *scene = *state;
    scene_call(scene, "run_command", "{\"command\":\"sh -c 'seq 1 5000'\"}");
    assert_good(scene);
    assert_true(slice_starts(scene->text, SLICE("1\n2\n")));
    assert_holds(scene, "\n4999\n5000\n");
    assert_holds(scene, "are left out here; the whole result is the file result:");
    assert_true(slice_present(scene->spill));
    size_t lines = 0;
    for (size_t i = 0; i < scene->text.len; i++) {
        lines += scene->text.ptr[i] == '\n';
    }
    assert_true(lines <= 2000);
}

static void cancelled_commands_end(void **state)
{
    struct scene *scene = *state;
    scene_start(scene, "run_command", "{\"command\":\"sleep 60\"}");
    assert_non_null(scene->running);
    tool_find(SLICE("run_command"))->cancel(scene->running);
    for (int i = 0; i < 20; i++) {
        scene->done_count = 0;
        scene_call(scene, "run_command", "{\"command\":\"echo x\"}");
        assert_slice(scene->text, "x\n");
    }
}

static void git_from_status_to_commit(void **state)
{
    struct scene *scene = *state;
    char line[400];
    snprintf(line, sizeof line, "git -C '%s' init -q -b main", scene->sandbox.root);
    assert_int_equal(system(line), 0);
    scene_write(scene, "tree/a.txt", SLICE("one\n"));
    scene_call(scene, "git_status", "{}");
    assert_good(scene);
    assert_holds(scene, "?? a.txt");
    scene_call(scene, "git_commit", "{\"message\":\"first\",\"paths\":[\"a.txt\"]}");
    assert_good(scene);
    assert_holds(scene, "first");
    assert_non_null(strstr(process_environment_seen, "GIT_AUTHOR_NAME=tester\n"));
    scene_write(scene, "tree/a.txt", SLICE("two\n"));
    scene_write(scene, "tree/b.txt", SLICE("b\n"));
    scene_call(scene, "git_diff", "{\"path\":\"a.txt\"}");
    assert_holds(scene, "-one\n+two");
    scene_call(scene, "git_diff", "{\"staged\":true}");
    assert_slice(scene->text, "(no differences)");
    scene_call(scene, "git_diff", "{\"revision\":\"--output=x\"}");
    assert_refused(scene, TURN_VALIDATION, "name of commits");
    scene_call(scene, "git_diff", "{\"path\":\"--output=x\"}");
    assert_absent(scene_read(scene, "tree/x"));
    scene_call(scene, "git_commit", "{\"message\":\"all the rest\"}");
    assert_good(scene);
    scene_call(scene, "git_commit", "{\"message\":\"nothing\"}");
    assert_refused(scene, TURN_TOOL_FAILED, "nothing to commit");
    scene_call(scene, "git_diff", "{\"revision\":\"HEAD~1\"}");
    assert_holds(scene, "+two");
}

/* A repository whose settings would start programs does not. */
static void git_starts_nothing_else(void **state)
{
    struct scene *scene = *state;
    char line[800];
    snprintf(line, sizeof line,
             "cd '%s' && git init -q -b main && printf '#!/bin/sh\\ntouch \"%s/hooked\"\\n' > hook && chmod +x hook && "
             "mkdir hooks && cp hook hooks/pre-commit && git config core.hooksPath hooks && "
             "git config core.fsmonitor ./hook && git config diff.external ./hook",
             scene->sandbox.root, scene->outside);
    assert_int_equal(system(line), 0);
    scene_call(scene, "git_status", "{}");
    scene_call(scene, "git_commit", "{\"message\":\"x\"}");
    assert_good(scene);
    scene_write(scene, "tree/hook", SLICE("changed\n"));
    scene_call(scene, "git_diff", "{}");
    assert_good(scene);
    assert_int_not_equal(access(scene_path(scene, "outside/hooked"), F_OK), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(runs_what_is_allowed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(directories, set_up, tear_down),
        cmocka_unit_test_setup_teardown(time_and_output_have_limits, set_up, tear_down),
        cmocka_unit_test_setup_teardown(output_becomes_text, set_up, tear_down),
        cmocka_unit_test_setup_teardown(long_output_is_kept, set_up, tear_down),
        cmocka_unit_test_setup_teardown(cancelled_commands_end, set_up, tear_down),
        cmocka_unit_test_setup_teardown(git_from_status_to_commit, set_up, tear_down),
        cmocka_unit_test_setup_teardown(git_starts_nothing_else, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

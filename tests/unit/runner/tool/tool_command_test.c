/* Commands and git, run as real processes in the tree. */
#include "runner/tool_scene.h"

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

/* Shell: $M is a program that leaves a mark. Each makes its own repository in the tree. */
static const struct {
    const char *name, *plant;
} git_traps[] = {
    {"hooks of .git",
     "for h in pre-commit commit-msg post-commit prepare-commit-msg post-index-change reference-transaction; "
     "do cp $M .git/hooks/$h; done"},
    {"hooksPath",
     "mkdir hooks; cp $M hooks/pre-commit; cp $M hooks/post-index-change; git config core.hooksPath hooks"},
    {"fsmonitor", "git config core.fsmonitor $M; git config core.fsmonitorHookVersion 2"},
    {"filter clean", "echo '* filter=x' >.gitattributes; git config filter.x.clean $M"},
    {"filter process", "echo '* filter=x' >.gitattributes; git config filter.x.process $M; "
                       "git config filter.x.required true"},
    {"filter with a long name", "echo '* filter=a.b=c' >.gitattributes; git config 'filter.a.b=c.clean' $M"},
    {"filter of info/attributes",
     "mkdir -p .git/info; echo '* filter=x' >.git/info/attributes; git config filter.x.clean $M; "
     "git config filter.x.smudge $M"},
    {"included filter", "echo '* filter=x' >.gitattributes; printf '[filter \"x\"]\\nclean=%s\\n' $M >more; "
                        "git config include.path ../more"},
    {"conditional include", "echo '* filter=x' >.gitattributes; printf '[FILTER \"x\"]\\nclean=%s\\n' $M >more; "
                            "git config includeIf.gitdir:/.path $PWD/more"},
    {"filter of the worktree", "echo '* filter=x' >.gitattributes; git config extensions.worktreeConfig true; "
                               "git config --worktree filter.x.clean $M; git config --worktree core.fsmonitor $M"},
    {"many filters",
     "echo '* filter=x7' >.gitattributes; "
     "for i in 1 2 3 4 5 6 7 8 9; do git config filter.x$i.clean $M; git config filter.x$i.process $M; done"},
    {"diff drivers", "echo '* diff=x' >.gitattributes; git config diff.x.command $M; git config diff.x.textconv $M; "
                     "git config diff.external $M"},
    {"merge drivers", "echo '* merge=x' >.gitattributes; git config merge.x.driver $M"},
    {"signing", "git config commit.gpgSign true; git config gpg.program $M; git config gpg.format ssh; "
                "git config gpg.ssh.program $M; git config gpg.ssh.defaultKeyCommand $M; git config user.signingKey x"},
    {"editor and pager",
     "git config core.editor $M; git config core.pager $M; git config pager.diff $M; "
     "git config pager.status $M; git config sequence.editor $M; git config interactive.diffFilter $M"},
    {"aliases", "git config alias.status \"!$M\"; git config alias.add \"!$M\"; git config alias.commit \"!$M\""},
    {"trailers", "git config trailer.x.command $M; git config trailer.x.cmd $M; git config trailer.ifexists add"},
    {"maintenance", "git config gc.auto 1; git config gc.recentObjectsHook $M; git config maintenance.auto true"},
    {"credentials and ssh", "git config credential.helper \"!$M\"; git config core.sshCommand $M; "
                            "git config core.askPass $M; git config core.gitProxy $M"},
    {"lazy fetch from ext::", "git config extensions.partialClone o; git config remote.o.url \"ext::$M\"; "
                              "git config remote.o.promisor true; git config protocol.ext.allow always; "
                              "git config protocol.allow always; rm -rf .git/objects/??"},
    {"lazy fetch over ssh", "git config extensions.partialClone o; git config remote.o.url ssh://h/x; "
                            "git config remote.o.promisor true; git config core.sshCommand $M; "
                            "git config ssh.variant simple; rm -rf .git/objects/??"},
    {"lazy fetch with upload-pack", "git config extensions.partialClone o; git config remote.o.url $PWD; "
                                    "git config remote.o.promisor true; git config remote.o.uploadpack $M; "
                                    "git config remote.o.vcs x; rm -rf .git/objects/??"},
    {"alternates", "mkdir -p .git/objects/info; echo /nonexistent >.git/objects/info/alternates; "
                   "git config core.alternateRefsCommand $M; git config core.alternateRefsPrefixes x"},
    {"upload-pack hook", "git config uploadpack.packObjectsHook $M"},
    {"submodule", "git init -q sub; git -C sub config user.name x; git -C sub config user.email x; echo s >sub/s; "
                  "git -C sub add s; git -C sub commit -q -m s; git add sub 2>/dev/null; "
                  "printf '[submodule \"sub\"]\\npath=sub\\nurl=./sub\\nupdate=!%s\\n' $M >.gitmodules; "
                  "git config submodule.sub.update \"!$M\"; git config submodule.sub.url ./sub; "
                  "git config submodule.recurse true; git config status.submoduleSummary true; "
                  "git config diff.submodule diff; echo '* filter=x' >sub/.gitattributes; "
                  "git -C sub config filter.x.clean $M; git -C sub config core.fsmonitor $M; echo t >sub/s"},
    {"bare repository",
     "rm -rf .git; git init -q --bare x; mv x/* .; rmdir x; git config -f config core.fsmonitor $M; "
     "git config -f config core.bare false; git config -f config core.worktree .; "
     "echo '* filter=x' >.gitattributes; git config -f config filter.x.clean $M; cp $M hooks/pre-commit"},
    {".git as a file", "mv .git dot; echo 'gitdir: dot' >.git; git config -f dot/config core.fsmonitor $M; "
                       "git config -f dot/config filter.x.clean $M; echo '* filter=x' >.gitattributes; "
                       "mkdir -p dot/hooks; cp $M dot/hooks/pre-commit"},
};

/* What a repository says starts nothing, whoever wrote it. */
static void git_starts_nothing_else(void **state)
{
    struct scene *scene = *state;
    char line[2400];
    size_t sprung = 0;
    for (size_t i = 0; i < COUNT_OF(git_traps); i++) {
        snprintf(
            line, sizeof line,
            "exec >/dev/null 2>&1; rm -rf '%s/marked'; M='%s/trap'; cd '%s' && rm -rf .git * .gitattributes "
            ".gitmodules; "
            "printf '#!/bin/sh\ntouch %s/marked\n' >$M; chmod +x $M; git init -q -b main; "
            "git config user.name x; git config user.email x; echo one >a; git add a; git commit -q -m a; sleep 0.01; "
            "echo two >a; %s; true",
            scene->outside, scene->outside, scene->sandbox.root, scene->outside, git_traps[i].plant);
        assert_int_equal(system(line), 0);
        (void)unlink(scene_path(scene, "outside/marked")); /* planting may start it */
        scene_call(scene, "git_status", "{}");
        scene_call(scene, "git_diff", "{}");
        scene_call(scene, "git_diff", "{\"revision\":\"HEAD\"}");
        scene_call(scene, "git_commit", "{\"message\":\"x\\n\\nx: y\"}");
        scene_call(scene, "git_diff", "{\"revision\":\"HEAD~1\",\"staged\":true}");
        assert_row(git_traps[i].name, access(scene_path(scene, "outside/marked"), F_OK) != 0);
        snprintf(line, sizeof line,
                 "exec >/dev/null 2>&1 </dev/null; cd '%s'; echo more >>a; T='timeout -s KILL 1'; $T git status; "
                 "$T git diff HEAD; $T git add -A; $T git commit -m x; $T git --paginate log -p; true",
                 scene->sandbox.root);
        assert_int_equal(system(line), 0);
        sprung += access(scene_path(scene, "outside/marked"), F_OK) == 0;
    }
    assert_true(sprung >= 15); /* of what a person types: the traps are real */
}

static void too_many_filters_are_refused(void **state)
{
    struct scene *scene = *state;
    char line[400];
    snprintf(line, sizeof line,
             "cd '%s' && git init -q && for i in $(seq 100); do printf '[filter \"%%s\"]\nclean=x\n' $i; done "
             ">>.git/config",
             scene->sandbox.root);
    assert_int_equal(system(line), 0);
    scene_call(scene, "git_status", "{}");
    assert_refused(scene, TURN_TOOL_FAILED, "more settings");
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
        cmocka_unit_test_setup_teardown(too_many_filters_are_refused, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

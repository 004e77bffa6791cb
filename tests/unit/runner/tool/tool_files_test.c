/* Reading, writing, editing and listing through the table, as a turn calls them. */
#include "runner/tool_scene.h"

static int set_up(void **state)
{
    *state = memory_zeroed(sizeof(struct scene));
    scene_init(*state);
    return 0;
}

static int tear_down(void **state)
{
    scene_release(*state);
    free(*state);
    return 0;
}

static void reads_lines(void **state)
{
    struct scene *scene = *state;
    scene_write(scene, "tree/a.txt", SLICE("one\ntwo\nthree\nfour\n"));
    scene_call(scene, "read_file", "{\"path\":\"a.txt\"}");
    assert_good(scene);
    assert_slice(scene->text, "one\ntwo\nthree\nfour\n");
    scene_call(scene, "read_file", "{\"path\":\"./x/../a.txt\",\"offset\":2,\"limit\":2}");
    assert_slice(scene->text, "two\nthree\n[lines 2 to 3 of 4; go on with offset 4]");
    scene_call(scene, "read_file", "{\"path\":\"a.txt\",\"offset\":4,\"limit\":9}");
    assert_slice(scene->text, "four\n");
    scene_call(scene, "read_file", "{\"path\":\"a.txt\",\"offset\":5}");
    assert_refused(scene, TURN_VALIDATION, "4 lines");
    scene_call(scene, "read_file", "{\"path\":\"/workspace/a.txt\"}");
    assert_good(scene);
    scene_call(scene, "read_file", "{\"path\":\"nothing\"}");
    assert_refused(scene, TURN_TOOL_FAILED, "There is no \"nothing\"");
    scene_call(scene, "read_file", "{\"path\":\".\"}");
    assert_refused(scene, TURN_TOOL_DENIED, "directory");
}

static void refuses_binary_and_large(void **state)
{
    struct scene *scene = *state;
    scene_write(scene, "tree/zero", SLICE("a\0b"));
    scene_write(scene, "tree/latin", SLICE("caf\xE9"));
    scene_write(scene, "tree/large", SLICE("12345678901"));
    scene->settings.read_bytes_max = 10;
    scene_call(scene, "read_file", "{\"path\":\"zero\"}");
    assert_refused(scene, TURN_TOOL_FAILED, "not UTF-8 text");
    scene_call(scene, "read_file", "{\"path\":\"latin\"}");
    assert_refused(scene, TURN_TOOL_FAILED, "not UTF-8 text");
    scene_call(scene, "read_file", "{\"path\":\"large\"}");
    assert_refused(scene, TURN_TOOL_FAILED, "limit of 10 bytes");
}

static void writes_and_makes_directories(void **state)
{
    struct scene *scene = *state;
    scene_call(scene, "write_file", "{\"path\":\"x/y/z.txt\",\"content\":\"hello\\n\"}");
    assert_good(scene);
    assert_slice(scene->text, "Wrote x/y/z.txt: 6 bytes, 1 lines.");
    assert_bytes(scene_read(scene, "tree/x/y/z.txt"), "hello\n");
    assert_int_equal(chmod(scene_path(scene, "tree/x/y/z.txt"), 0750), 0);
    scene_call(scene, "write_file", "{\"path\":\"x/y/z.txt\",\"content\":\"\"}");
    assert_good(scene);
    assert_holds(scene, "Replaced");
    struct stat stat_now;
    assert_int_equal(stat(scene_path(scene, "tree/x/y/z.txt"), &stat_now), 0);
    assert_int_equal(stat_now.st_size, 0);
    assert_int_equal(stat_now.st_mode & 0777, 0750);
    scene_call(scene, "list_directory", "{\"path\":\"x/y\"}");
    assert_slice(scene->text, "z.txt 0 bytes\n"); /* and nothing left beside it */
    scene->settings.write_bytes_max = 4;
    scene_call(scene, "write_file", "{\"path\":\"big\",\"content\":\"12345\"}");
    assert_refused(scene, TURN_TOOL_FAILED, "limit is 4");
    assert_absent(scene_read(scene, "tree/big"));
    scene_call(scene, "write_file", "{\"path\":\"x/y\",\"content\":\"1\"}");
    assert_refused(scene, TURN_TOOL_DENIED, "only files");
}

static void edits_exactly_once(void **state)
{
    struct scene *scene = *state;
    scene_write(scene, "tree/a.c", SLICE("int a;\nint b;\nchar c;\n"));
    scene_call(scene, "edit_file", "{\"path\":\"a.c\",\"old\":\"int\",\"new\":\"long\"}");
    assert_refused(scene, TURN_VALIDATION, "occurs 2 times");
    scene_call(scene, "edit_file", "{\"path\":\"a.c\",\"old\":\"float\",\"new\":\"long\"}");
    assert_refused(scene, TURN_VALIDATION, "does not occur");
    scene_call(scene, "edit_file", "{\"path\":\"a.c\",\"old\":\"int\",\"new\":\"int\"}");
    assert_refused(scene, TURN_VALIDATION, "must differ");
    scene_call(scene, "edit_file", "{\"path\":\"a.c\",\"old\":\"char c;\\n\",\"new\":\"\"}");
    assert_good(scene);
    scene_call(scene, "edit_file", "{\"path\":\"a.c\",\"old\":\"int\",\"new\":\"long\",\"replace_all\":true}");
    assert_slice(scene->text, "Replaced 2 places in a.c.");
    assert_bytes(scene_read(scene, "tree/a.c"), "long a;\nlong b;\n");
    scene_call(scene, "edit_file", "{\"path\":\"new/b.c\",\"old\":\"a\",\"new\":\"b\"}");
    assert_refused(scene, TURN_TOOL_FAILED, "There is no");
    assert_int_not_equal(access(scene_path(scene, "tree/new"), F_OK), 0);
    scene->settings.write_bytes_max = 17;
    scene_call(scene, "edit_file", "{\"path\":\"a.c\",\"old\":\"long a\",\"new\":\"long long a\"}");
    assert_refused(scene, TURN_TOOL_FAILED, "limit is 17");
}

static void lists_with_a_limit(void **state)
{
    struct scene *scene = *state;
    scene_call(scene, "list_directory", "{}");
    assert_slice(scene->text, "(empty)\n");
    scene_write(scene, "tree/b", SLICE("12"));
    scene_directory(scene, "tree/a");
    scene_link(scene, "/etc", "tree/c");
    scene_call(scene, "list_directory", "{}");
    assert_slice(scene->text, "a/\nb 2 bytes\nc -> /etc\n");
    scene->settings.list_entries_max = 2;
    scene_call(scene, "list_directory", "{\"path\":\".\"}");
    assert_holds(scene, "more than the limit of 2");
    scene_call(scene, "list_directory", "{\"path\":\"b\"}");
    assert_refused(scene, TURN_TOOL_FAILED, "not a directory");
}

static void protected_names(void **state)
{
    static const char *const written[] = {".git/config",  "sub/.git/hooks/x", ".GIT/config", ".ssh/authorized_keys",
                                          "home/.bashrc", ".zshrc",           ".profile",    ".sojourn/token"};
    struct scene *scene = *state;
    char arguments[200];
    for (size_t i = 0; i < COUNT_OF(written); i++) {
        snprintf(arguments, sizeof arguments, "{\"path\":\"%s\",\"content\":\"x\"}", written[i]);
        scene_call(scene, "write_file", arguments);
        assert_refused(scene, TURN_TOOL_DENIED, "protected");
    }
    scene_directory(scene, "tree/.git");
    scene_write(scene, "tree/.git/HEAD", SLICE("ref: refs/heads/main\n"));
    scene_call(scene, "read_file", "{\"path\":\".git/HEAD\"}");
    assert_good(scene);
    scene_directory(scene, "tree/.ssh");
    scene_write(scene, "tree/.ssh/id", SLICE("key"));
    scene_call(scene, "read_file", "{\"path\":\".ssh/id\"}");
    assert_refused(scene, TURN_TOOL_DENIED, "protected");
    /* a link in the tree is no way around */
    scene_link(scene, ".git", "tree/plain");
    scene_call(scene, "write_file", "{\"path\":\"plain/config\",\"content\":\"x\"}");
    assert_refused(scene, TURN_TOOL_DENIED, "protected");
    scene_link(scene, ".git/HEAD", "tree/head");
    scene_call(scene, "write_file", "{\"path\":\"head\",\"content\":\"x\"}");
    assert_refused(scene, TURN_TOOL_DENIED, "protected");
    assert_bytes(scene_read(scene, "tree/.git/HEAD"), "ref: refs/heads/main\n");
}

static void tiers(void **state)
{
    struct scene *scene = *state;
    char arguments[500];
    scene_directory(scene, "project");
    scene_write(scene, "project/p.txt", SLICE("of the project"));
    scene_write(scene, "outside/o.txt", SLICE("outside"));
    scene->place.workspace = arena_copy(&scene->arena, slice_of(scene_path(scene, "project")));
    snprintf(arguments, sizeof arguments, "{\"path\":\"%s\"}", scene_path(scene, "project/p.txt"));
    scene_call(scene, "read_file", arguments);
    assert_refused(scene, TURN_TOOL_DENIED, "outside of what this agent may touch");
    scene->agent.fs_scope = FS_SCOPE_PROJECT;
    scene_call(scene, "read_file", arguments);
    assert_slice(scene->text, "of the project");
    snprintf(arguments, sizeof arguments, "{\"path\":\"%s\"}", scene_path(scene, "outside/o.txt"));
    scene_call(scene, "read_file", arguments);
    assert_refused(scene, TURN_TOOL_DENIED, "outside");
    scene->agent.fs_scope = FS_SCOPE_FULL; /* which the operator did not allow */
    scene_call(scene, "read_file", arguments);
    assert_refused(scene, TURN_TOOL_DENIED, "outside");
    scene->settings.allows_full_scope = true;
    scene_call(scene, "read_file", arguments);
    assert_slice(scene->text, "outside");
    /* not even then: the kernel's files, the server's own, a directory beside the workspace's name */
    scene_call(scene, "read_file", "{\"path\":\"/proc/self/environ\"}");
    assert_true(scene->is_error);
    scene_call(scene, "read_file", "{\"path\":\"/proc/self/root/etc/hostname\"}");
    assert_true(scene->is_error);
    scene_call(scene, "read_file", "{\"path\":\"/dev/zero\"}");
    assert_refused(scene, TURN_TOOL_DENIED, "not a regular file");
    scene_link(scene, "outside", "data");
    scene->settings.data_dir = arena_copy(&scene->arena, slice_of(scene_path(scene, "data"))).ptr;
    scene_call(scene, "read_file", arguments);
    assert_refused(scene, TURN_TOOL_DENIED, "server's own");
    snprintf(arguments, sizeof arguments, "{\"pattern\":\"outside\",\"path\":\"%s\"}", scene->top);
    scene_call(scene, "search_files", arguments);
    assert_holds(scene, "[0 matching lines");
    scene->settings.data_dir = NULL;
    scene_call(scene, "search_files", arguments);
    assert_holds(scene, "[1 matching line ");
    scene->agent.fs_scope = FS_SCOPE_PROJECT;
    scene->place.sandbox = NULL;
    scene_call(scene, "read_file", "{\"path\":\"p.txt\"}");
    assert_slice(scene->text, "of the project");
    scene->place.workspace = (struct slice){0};
    scene_call(scene, "read_file", "{\"path\":\"p.txt\"}");
    assert_refused(scene, TURN_TOOL_DENIED, "no sandbox and no workspace");
}

static void long_results_are_kept(void **state)
{
    struct scene *scene = *state;
    struct buffer content = {0};
    char arguments[200], name[300];
    for (int i = 0; i < 1500; i++) {
        buffer_format(&content, "line %04d of a file that is rather long, as files are\n", i);
    }
    scene_write(scene, "tree/long.txt", buffer_slice(&content));
    scene_call(scene, "read_file", "{\"path\":\"long.txt\"}");
    assert_good(scene);
    assert_true(scene->text.len <= 50 * 1024);
    assert_int_equal(scene->bytes, content.len);
    assert_true(slice_starts(scene->text, SLICE("line 0000")));
    assert_holds(scene, "are left out here; the whole result is the file result:");
    assert_holds(scene, "line 1499");
    snprintf(name, sizeof name, "files/%.*s", SLICE_ARG(scene->spill));
    assert_true(slice_eq(scene_read(scene, name), buffer_slice(&content)));
    snprintf(arguments, sizeof arguments, "{\"path\":\"result:%.*s\",\"offset\":700,\"limit\":1}",
             SLICE_ARG(scene->spill));
    scene_call(scene, "read_file", arguments);
    assert_true(slice_starts(scene->text, SLICE("line 0699")));
    scene_call(scene, "read_file", "{\"path\":\"result:../../../etc/passwd\"}");
    assert_true(scene->is_error);
    buffer_release(&content);
}

static void cancelled_calls_are_silent(void **state)
{
    struct scene *scene = *state;
    scene_write(scene, "tree/a", SLICE("a"));
    for (int i = 0; i < 20; i++) {
        scene_start(scene, "read_file", "{\"path\":\"a\"}");
        tool_find(SLICE("read_file"))->cancel(scene->running);
        scene->call.arguments = NULL;
    }
    uv_run(loop_uv(scene->place.loop), UV_RUN_NOWAIT);
    scene_call(scene, "read_file", "{\"path\":\"a\"}");
    assert_int_equal(scene->done_count, 1);
}

static void rules_hold_behind_links(void **state)
{
    struct scene *scene = *state;
    struct permission_rule rule = {
        .path = arena_copy(&scene->arena, arena_format(&scene->arena, "%s/secret/*", scene->sandbox.root)),
        .then = PERMISSION_DENY};
    scene->agent.permissions = &rule;
    scene->agent.permission_count = 1;
    scene_directory(scene, "tree/secret");
    scene_write(scene, "tree/secret/s", SLICE("secret\n"));
    scene_write(scene, "tree/open", SLICE("no secret\n"));
    scene_link(scene, "secret", "tree/door");
    scene_call(scene, "read_file", "{\"path\":\"door/s\"}");
    assert_refused(scene, TURN_TOOL_DENIED, "permission rule");
    scene_call(scene, "search_files", "{\"pattern\":\"secret\"}");
    assert_true(slice_starts(scene->text, SLICE("open:1:no secret\n[1 matching line")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(reads_lines, set_up, tear_down),
        cmocka_unit_test_setup_teardown(refuses_binary_and_large, set_up, tear_down),
        cmocka_unit_test_setup_teardown(writes_and_makes_directories, set_up, tear_down),
        cmocka_unit_test_setup_teardown(edits_exactly_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(lists_with_a_limit, set_up, tear_down),
        cmocka_unit_test_setup_teardown(protected_names, set_up, tear_down),
        cmocka_unit_test_setup_teardown(tiers, set_up, tear_down),
        cmocka_unit_test_setup_teardown(long_results_are_kept, set_up, tear_down),
        cmocka_unit_test_setup_teardown(cancelled_calls_are_silent, set_up, tear_down),
        cmocka_unit_test_setup_teardown(rules_hold_behind_links, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

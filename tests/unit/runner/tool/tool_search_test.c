/* Searching a tree: what is found, what is passed over, where it ends. */
#include "runner/tool_scene.h"

static int set_up(void **state)
{
    struct scene *scene = memory_zeroed(sizeof *scene);
    *state = scene;
    scene_init(scene);
    scene_directory(scene, "tree/src");
    scene_directory(scene, "tree/.git");
    scene_directory(scene, "tree/.ssh");
    scene_write(scene, "tree/src/a.c", SLICE("int main(void)\r\n{\n    return 42;\n}\n"));
    scene_write(scene, "tree/src/b.h", SLICE("int Main;\n"));
    scene_write(scene, "tree/src/data", SLICE("main\0binary"));
    scene_write(scene, "tree/.git/config", SLICE("main\n"));
    scene_write(scene, "tree/.ssh/id", SLICE("main\n"));
    scene_write(scene, "outside/o", SLICE("main\n"));
    scene_link(scene, "../outside", "tree/out");
    scene_link(scene, "../../outside/o", "tree/src/o");
    return 0;
}

static int tear_down(void **state)
{
    scene_release(*state);
    free(*state);
    return 0;
}

static void finds_text(void **state)
{
    struct scene *scene = *state;
    scene_call(scene, "search_files", "{\"pattern\":\"main\"}");
    assert_slice(scene->text, "src/a.c:1:int main(void)\n"
                              "[1 matching line in 3 files; 1 not searched: binary, too large or not allowed]\n");
    scene_call(scene, "search_files", "{\"pattern\":\"main\",\"ignore_case\":true,\"files\":\"*.[ch]\"}");
    assert_slice(scene->text, "src/a.c:1:int main(void)\nsrc/b.h:1:int Main;\n[2 matching lines in 2 files]\n");
    scene_call(scene, "search_files", "{\"pattern\":\"m[a]in(\"}");
    assert_holds(scene, "[0 matching lines");
}

static void finds_patterns(void **state)
{
    struct scene *scene = *state;
    scene_call(scene, "search_files", "{\"pattern\":\"return \\\\d+;$\",\"regex\":true,\"path\":\"src\"}");
    assert_true(slice_starts(scene->text, SLICE("src/a.c:3:    return 42;\n[1 matching line")));
    scene_call(scene, "search_files",
               "{\"pattern\":\"^int m\",\"regex\":true,\"ignore_case\":true,\"path\":\"src/b.h\"}");
    assert_true(slice_starts(scene->text, SLICE("src/b.h:1:int Main;\n")));
    scene_call(scene, "search_files", "{\"pattern\":\"(\",\"regex\":true}");
    assert_refused(scene, TURN_VALIDATION, "a ( is not closed");
}

static void limits(void **state)
{
    struct scene *scene = *state;
    scene_write(scene, "tree/many", SLICE("x\nx\nx\nx\n"));
    scene_call(scene, "search_files", "{\"pattern\":\"x\",\"limit\":2}");
    assert_slice(scene->text, "many:1:x\nmany:2:x\n[2 matching lines in 1 files; the limit of matches is reached]\n");
    scene->settings.search_matches_max = 3;
    scene_call(scene, "search_files", "{\"pattern\":\"x\",\"limit\":100}");
    assert_holds(scene, "[3 matching lines");
    scene->settings.search_files_max = 2;
    scene_call(scene, "search_files", "{\"pattern\":\"nothing\",\"path\":\"src\"}");
    assert_holds(scene, "the limit of files is reached");
    scene->settings.search_files_max = 100;
    scene->settings.search_ms_max = -1;
    scene_call(scene, "search_files", "{\"pattern\":\"x\"}");
    assert_holds(scene, "the time is up");
    scene->settings.search_ms_max = 10000;
    scene->settings.read_bytes_max = 5;
    scene_call(scene, "search_files", "{\"pattern\":\"x\"}");
    assert_holds(scene, "not searched: binary, too large");
}

static void long_lines_are_cut(void **state)
{
    struct scene *scene = *state;
    struct buffer line = {0};
    for (int i = 0; i < 1000; i++) {
        buffer_add(&line, SLICE("\xC3\xA9"));
    }
    scene_write(scene, "tree/long", buffer_slice(&line));
    scene_call(scene, "search_files", "{\"pattern\":\"\u00e9\u00e9\",\"path\":\"long\"}");
    assert_good(scene);
    assert_true(slice_is_utf8(scene->text));
    assert_true(scene->text.len < 600);
    buffer_release(&line);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(finds_text, set_up, tear_down),
        cmocka_unit_test_setup_teardown(finds_patterns, set_up, tear_down),
        cmocka_unit_test_setup_teardown(limits, set_up, tear_down),
        cmocka_unit_test_setup_teardown(long_lines_are_cut, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

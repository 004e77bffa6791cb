/* Attempts to get out of the tree. Each is tried by reading and by writing. */
#include "runner/tool_scene.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "runner/tool/path.h"

static int set_up(void **state)
{
    *state = memory_zeroed(sizeof(struct scene));
    scene_init(*state);
    scene_write(*state, "outside/secret", SLICE("secret"));
    return 0;
}

static int tear_down(void **state)
{
    scene_release(*state);
    free(*state);
    return 0;
}

static struct path_scope scope_of(const struct scene *scene)
{
    return (struct path_scope){.fs_scope = FS_SCOPE_SANDBOXED, .tree = slice_of(scene->sandbox.root)};
}

/* What is read at the path; absent when it was refused. */
static struct slice try_read(struct scene *scene, const char *path, enum status *out_status)
{
    struct path_scope scope = scope_of(scene);
    struct resolved_path spot;
    struct buffer content = {0};
    struct slice read = {0};
    struct stat stat;
    *out_status = path_find(&scene->arena, &scope, slice_of(path), PATH_READ, &spot, NULL);
    if (*out_status == STATUS_OK) {
        *out_status = path_read_text(&spot, 1000, &content, &stat, NULL);
        read = *out_status == STATUS_OK ? arena_copy(&scene->arena, buffer_slice(&content)) : read;
        resolved_path_close(&spot);
    }
    buffer_release(&content);
    return read;
}

static enum status try_write(struct scene *scene, const char *path)
{
    struct path_scope scope = scope_of(scene);
    struct resolved_path spot;
    enum status status = path_find(&scene->arena, &scope, slice_of(path), PATH_WRITE, &spot, NULL);
    if (status == STATUS_OK) {
        status = path_write(&spot, SLICE("overwritten"), NULL, NULL);
        resolved_path_close(&spot);
    }
    return status;
}

static void ways_out_are_refused(void **state)
{
    static const char *const ways[] = {
        "..",
        "../outside/secret",
        "a/../../outside/secret",
        "/etc/passwd",
        "//etc/passwd",
        "/../etc/passwd",
        "/workspace/../outside/secret",
        "etc/passwd",
        "up/outside/secret",
        "deep/down/link",
        "file",
        "loop",
        "chain/secret",
        "/proc/self/root/etc/passwd",
        "proc/self/root/etc/passwd",
        "proc/self/cwd/x",
        "self/../../outside/secret",
    };
    struct scene *scene = *state;
    scene_link(scene, "/etc", "tree/etc");
    scene_link(scene, "..", "tree/up");
    scene_directory(scene, "tree/deep");
    scene_directory(scene, "tree/deep/down");
    scene_link(scene, "../../../outside/secret", "tree/deep/down/link");
    scene_link(scene, arena_format(&scene->arena, "%s/secret", scene->outside).ptr, "tree/file");
    scene_link(scene, "loop", "tree/loop");
    scene_link(scene, "chain2", "tree/chain");
    scene_link(scene, "../outside", "tree/chain2");
    scene_link(scene, "/proc", "tree/proc");
    scene_link(scene, ".", "tree/self");
    for (size_t i = 0; i < COUNT_OF(ways); i++) {
        enum status status;
        assert_row(ways[i], !slice_present(try_read(scene, ways[i], &status)));
        assert_row(ways[i], status == STATUS_FORBIDDEN || status == STATUS_NOT_FOUND);
        assert_row(ways[i], try_write(scene, ways[i]) == STATUS_FORBIDDEN);
    }
    assert_bytes(scene_read(scene, "outside/secret"), "secret");
}

static void odd_names_are_refused(void **state)
{
    struct scene *scene = *state;
    struct path_scope scope = scope_of(scene);
    struct resolved_path spot;
    char beside[300];
    char *far = arena_bytes(&scene->arena, 5000);
    memset(far, 'a', 5000);
    assert_status(path_find(&scene->arena, &scope, SLICE("a\0b"), PATH_READ, &spot, NULL), STATUS_FORBIDDEN);
    assert_status(path_find(&scene->arena, &scope, slice_from(far, 5000), PATH_READ, &spot, NULL), STATUS_FORBIDDEN);
    assert_status(path_find(&scene->arena, &scope, SLICE(""), PATH_READ, &spot, NULL), STATUS_OK);
    assert_slice(spot.name, ".");
    resolved_path_close(&spot);
    /* a directory beside it whose name begins alike */
    snprintf(beside, sizeof beside, "%s-beside/x", scene->sandbox.root);
    assert_status(path_find(&scene->arena, &scope, slice_of(beside), PATH_READ, &spot, NULL), STATUS_FORBIDDEN);
}

static void links_within_are_followed(void **state)
{
    struct scene *scene = *state;
    enum status status;
    struct stat about;
    scene_directory(scene, "tree/d");
    scene_write(scene, "tree/d/f", SLICE("inside"));
    scene_link(scene, "d", "tree/e");
    scene_link(scene, "d/f", "tree/g");
    assert_slice(try_read(scene, "e/f", &status), "inside");
    assert_slice(try_read(scene, "g", &status), "inside");
    assert_status(try_write(scene, "g"), STATUS_OK);
    assert_bytes(scene_read(scene, "tree/d/f"), "overwritten");
    assert_int_equal(lstat(scene_path(scene, "tree/g"), &about), 0);
    assert_true(S_ISLNK(about.st_mode));
    scene_link(scene, "nowhere", "tree/dangling");
    assert_status(try_write(scene, "dangling"), STATUS_FORBIDDEN);
}

/* Another name of a file outside: writing replaces the name, not the file. */
static void hard_links_are_not_written_through(void **state)
{
    struct scene *scene = *state;
    char outside[400];
    snprintf(outside, sizeof outside, "%s", scene_path(scene, "outside/secret"));
    assert_int_equal(link(outside, scene_path(scene, "tree/hard")), 0);
    assert_status(try_write(scene, "hard"), STATUS_OK);
    assert_bytes(scene_read(scene, "tree/hard"), "overwritten");
    assert_bytes(scene_read(scene, "outside/secret"), "secret");
}

static void pipes_and_sockets_do_not_hang(void **state)
{
    struct scene *scene = *state;
    enum status status;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    snprintf(address.sun_path, sizeof address.sun_path, "%.90s", scene_path(scene, "tree/socket"));
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(mkfifo(scene_path(scene, "tree/fifo"), 0666), 0);
    alarm(20); /* a hanging open ends the test */
    (void)try_read(scene, "fifo", &status);
    assert_status(status, STATUS_FORBIDDEN);
    (void)try_read(scene, "socket", &status);
    assert_status(status, STATUS_FORBIDDEN);
    assert_status(try_write(scene, "fifo"), STATUS_FORBIDDEN);
    scene_call(scene, "search_files", "{\"pattern\":\"x\"}");
    assert_good(scene);
    scene_call(scene, "list_directory", "{}");
    assert_holds(scene, "fifo (no file)");
    alarm(0);
    close(fd);
}

/* Somebody swaps a directory of the tree for a link out of it, all the time. */
struct swapper {
    atomic_bool is_over;
    atomic_int swaps;
    char dir[400], link[400];
};

static void *swap(void *owner)
{
    struct swapper *swapper = owner;
    while (!swapper->is_over) {
        if (renameat2(AT_FDCWD, swapper->dir, AT_FDCWD, swapper->link, RENAME_EXCHANGE) == 0) {
            swapper->swaps++;
        }
    }
    return NULL;
}

static void swapped_links_lead_nowhere(void **state)
{
    struct scene *scene = *state;
    struct swapper swapper = {.is_over = false};
    pthread_t thread;
    enum status status;
    int good = 0, refused = 0;
    scene_directory(scene, "tree/d");
    scene_write(scene, "tree/d/secret", SLICE("public"));
    scene_link(scene, "../outside", "tree/l");
    snprintf(swapper.dir, sizeof swapper.dir, "%s", scene_path(scene, "tree/d"));
    snprintf(swapper.link, sizeof swapper.link, "%s", scene_path(scene, "tree/l"));
    pthread_create(&thread, NULL, swap, &swapper);
    while (swapper.swaps < 3) {
        sched_yield();
    }
    for (int i = 0; i < 3000 || ((good == 0 || refused == 0) && i < 100000); i++) {
        struct slice read = try_read(scene, "d/secret", &status);
        assert_false(slice_present(read) && slice_is(read, "secret"));
        good += slice_present(read);
        refused += !slice_present(read);
        if (i % 3 == 0) {
            (void)try_write(scene, "d/written");
        }
        arena_reset(&scene->arena);
    }
    swapper.is_over = true;
    pthread_join(thread, NULL);
    assert_true(good > 0);
    assert_true(refused > 0);
    assert_bytes(scene_read(scene, "outside/secret"), "secret");
    assert_absent(scene_read(scene, "outside/written"));
}

static void changed_files_are_not_overwritten(void **state)
{
    struct scene *scene = *state;
    struct path_scope scope = scope_of(scene);
    struct resolved_path spot;
    struct buffer content = {0};
    struct stat before;
    scene_write(scene, "tree/a", SLICE("one"));
    assert_status(path_find(&scene->arena, &scope, SLICE("a"), PATH_WRITE, &spot, NULL), STATUS_OK);
    assert_status(path_read_text(&spot, 100, &content, &before, NULL), STATUS_OK);
    scene_write(scene, "tree/a", SLICE("another"));
    assert_status(path_write(&spot, SLICE("two"), &before, NULL), STATUS_STALE);
    assert_bytes(scene_read(scene, "tree/a"), "another");
    resolved_path_close(&spot);
    buffer_release(&content);
}

static void absolute_paths_for_rules(void **state)
{
    struct scene *scene = *state;
    struct path_scope scope = scope_of(scene);
    scope.mount = SLICE("/workspace");
    scope.tree = SLICE("/t/ree");
    assert_slice(path_absolute(&scene->arena, &scope, SLICE("a/./b/../c")), "/t/ree/a/c");
    assert_slice(path_absolute(&scene->arena, &scope, SLICE("/workspace/a")), "/t/ree/a");
    assert_slice(path_absolute(&scene->arena, &scope, SLICE("/t/ree")), "/t/ree");
    assert_slice(path_absolute(&scene->arena, &scope, SLICE("/etc//passwd")), "/etc/passwd");
    assert_slice(path_absolute(&scene->arena, &scope, SLICE("../x")), "../x");
}

static void link_to(struct scene *scene, const char *target, const char *name)
{
    struct slice path = arena_format(&scene->arena, "%s/%s", scene->sandbox.root, name);
    assert_int_equal(symlink(target, path.ptr), 0);
}

/* As a process in the sandbox would get there, whose tree is shown at /workspace. */
static void where_links_lead_inside(void **state)
{
    struct scene *scene = *state;
    static const struct {
        const char *path, *leads;
    } rows[] = {
        {"/workspace/open/a", "/workspace/open/a"},
        {"/workspace/near/key", "/workspace/secrets/key"},
        {"/workspace/far/key", "/workspace/secrets/key"},
        {"/workspace/open/up/key", "/workspace/secrets/key"},
        {"/workspace/twice/key", "/workspace/secrets/key"},
        {"/workspace/near/not/there", "/workspace/secrets/not/there"},
        {"/workspace/near/../open/a", "/workspace/open/a"},
        {"/workspace/out/passwd", "/etc/passwd"},
        {"/etc/../workspace//near/./key", "/workspace/secrets/key"},
        {"/usr/bin/x", "/usr/bin/x"},
    };
    struct slice tree = slice_of(scene->sandbox.root), real;
    assert_int_equal(mkdir(arena_format(&scene->arena, "%s/open", scene->sandbox.root).ptr, 0755), 0);
    assert_int_equal(mkdir(arena_format(&scene->arena, "%s/secrets", scene->sandbox.root).ptr, 0755), 0);
    link_to(scene, "secrets", "near");
    link_to(scene, "/workspace/secrets", "far");
    link_to(scene, "../secrets", "open/up");
    link_to(scene, "near", "twice");
    link_to(scene, "/etc", "out");
    link_to(scene, "round", "round");
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        assert_true(path_follow(&scene->arena, tree, SLICE("/workspace"), slice_of(rows[i].path), &real));
        assert_slice(real, rows[i].leads);
    }
    assert_false(path_follow(&scene->arena, tree, SLICE("/workspace"), SLICE("/workspace/round/x"), &real));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(ways_out_are_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(odd_names_are_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(links_within_are_followed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(hard_links_are_not_written_through, set_up, tear_down),
        cmocka_unit_test_setup_teardown(pipes_and_sockets_do_not_hang, set_up, tear_down),
        cmocka_unit_test_setup_teardown(swapped_links_lead_nowhere, set_up, tear_down),
        cmocka_unit_test_setup_teardown(changed_files_are_not_overwritten, set_up, tear_down),
        cmocka_unit_test_setup_teardown(absolute_paths_for_rules, set_up, tear_down),
        cmocka_unit_test_setup_teardown(where_links_lead_inside, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

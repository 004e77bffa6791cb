#include "runner/sandbox_scene.h"

#include <dirent.h>
#include <sys/wait.h>

#include "runner/sandbox/snapshot.h"

static const struct sandbox_settings plain = {.kind = SANDBOX_LOCAL};

static struct sandbox *wake(struct scene *scene, const char *snapshot, struct heard *heard)
{
    struct sandbox_spec spec = {.tenant_key = 1, .session_key = 7, .settings = &plain, .snapshot = slice_of(snapshot)};
    return scene_create(scene, spec, heard);
}

static size_t count_snapshots(const struct scene *scene)
{
    char path[128];
    size_t count = 0;
    snprintf(path, sizeof path, "%s/snapshots/1/7", scene->data);
    DIR *dir = opendir(path);
    for (struct dirent *entry = dir ? readdir(dir) : NULL; entry; entry = readdir(dir)) {
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    }
    if (dir) {
        closedir(dir);
    }
    return count;
}

/* 200 files, links, modes, a directory nobody may read, odd names; and all of it told, a line for each. */
static const char fill[] =
    "for d in $(seq 10); do mkdir -p d$d; for f in $(seq 20); do echo $d $f >d$d/f$f; done; done;"
    "ln -s d1/f1 link; ln -s /etc/shadow outside; ln -s nowhere dangling; ln d2/f2 hard;"
    "chmod 640 d3/f3; chmod 755 d4/f4; chmod 4755 d5/f5; chmod 000 d6/f6; touch 'a b' -- -x 'ü\"';"
    "echo home >~/kept; truncate -s 1000000 sparse; touch -d 2020-02-02 d7; chmod 500 d8";
static const char tell_all[] =
    "find . -printf '%p %y %m %n %s %l\\n' | sort; stat -c %Y d7; stat -c %b sparse; cat ~/kept;"
    "find . -type f -perm /400 -exec sha256sum {} + | sort";

/* Fails with the first line that differs. */
static void check_same(struct slice before, struct slice after)
{
    struct slice was, is;
    while (before.len || after.len) {
        slice_cut(before, '\n', &was, &before);
        slice_cut(after, '\n', &is, &after);
        if (!slice_eq(was, is)) {
            fail_msg("\"%.*s\" became \"%.*s\"", SLICE_ARG(was), SLICE_ARG(is));
        }
    }
}

static void test_round_trip(void **state)
{
    (void)state;
    struct scene scene = {0};
    struct ran before, after;
    struct heard heard;
    scene_begin(&scene);
    struct sandbox *sandbox = scene_sandbox(&scene, &plain);
    scene_sh(&scene, sandbox, fill, &before);
    assert_int_equal(before.end.exit_code, 0);
    scene_sh(&scene, sandbox, tell_all, &before);
    scene_finish(&scene, sandbox, true, &heard);
    assert_int_equal(heard.news.outcome, SANDBOX_OK);
    assert_int_equal(strlen(heard.snapshot), 64);
    assert_true(heard.news.snapshot_bytes > 1000);
    char id[80];
    snprintf(id, sizeof id, "%s", heard.snapshot);
    sandbox = wake(&scene, id, &heard);
    assert_non_null(sandbox);
    scene_sh(&scene, sandbox, tell_all, &after);
    assert_true(before.out.len > 2000);
    check_same(buffer_slice(&before.out), buffer_slice(&after.out));
    ran_release(&before);
    ran_release(&after);
    sandbox_give_up(sandbox);
    scene_end(&scene);
}

static void damage(const struct scene *scene, const char *id)
{
    char path[256];
    snprintf(path, sizeof path, "%s/snapshots/1/7/%s.tar.zst", scene->data, id);
    FILE *file = fopen(path, "r+e");
    assert_non_null(file);
    fseek(file, -1, SEEK_END);
    int last = fgetc(file);
    fseek(file, -1, SEEK_END);
    fputc(last ^ 1, file);
    fclose(file);
}

static void test_damaged_and_missing(void **state)
{
    (void)state;
    struct scene scene = {0};
    struct ran ran;
    struct heard heard;
    char id[80];
    scene_begin(&scene);
    struct sandbox *sandbox = scene_sandbox(&scene, &plain);
    scene_sh(&scene, sandbox, "echo one >f", &ran);
    scene_finish(&scene, sandbox, true, &heard);
    snprintf(id, sizeof id, "%s", heard.snapshot);
    damage(&scene, id);
    assert_null(wake(&scene, id, &heard));
    assert_string_equal(heard.news.failure.code, "snapshot_corrupt");
    id[0] = id[0] == '0' ? '1' : '0';
    assert_null(wake(&scene, id, &heard));
    assert_string_equal(heard.news.failure.code, "snapshot_missing");
    assert_null(wake(&scene, "../../../../etc/passwd", &heard));
    assert_string_equal(heard.news.failure.code, "snapshot_missing");
    ran_release(&ran);
    scene_end(&scene);
}

static void test_size_limit(void **state)
{
    (void)state;
    struct scene scene = {0};
    struct ran ran;
    struct heard heard;
    scene_data(&scene);
    scene.options.limits.snapshot_bytes_max = 1 << 20;
    scene.sandboxes = sandboxes_new(&scene.options);
    struct sandbox *sandbox = scene_sandbox(&scene, &plain);
    scene_sh(&scene, sandbox, "head -c 3000000 /dev/urandom >noise", &ran);
    scene_finish(&scene, sandbox, true, &heard);
    assert_int_equal(heard.news.outcome, SANDBOX_FAILED);
    assert_string_equal(heard.news.failure.code, "snapshot_too_large");
    assert_int_equal(count_snapshots(&scene), 0);                  /* nothing is left of it */
    scene_sh(&scene, sandbox, "stat -c %s noise; rm noise", &ran); /* and the sandbox lives on */
    assert_bytes(buffer_slice(&ran.out), "3000000\n");
    scene_finish(&scene, sandbox, true, &heard);
    assert_int_equal(heard.news.outcome, SANDBOX_OK);
    ran_release(&ran);
    scene_end(&scene);
}

static void test_old_ones_are_collected(void **state)
{
    (void)state;
    struct scene scene = {0};
    struct ran ran;
    struct heard heard = {0};
    char script[64], command[200], id[80] = "";
    scene_begin(&scene);
    for (int i = 0; i < 4; i++) {
        struct sandbox *sandbox = i == 0 ? scene_sandbox(&scene, &plain) : wake(&scene, id, &heard);
        assert_non_null(sandbox);
        snprintf(script, sizeof script, "echo %d >>f; wc -l <f", i);
        scene_sh(&scene, sandbox, script, &ran);
        assert_int_equal(number_of(buffer_slice(&ran.out)), i + 1);
        ran_release(&ran);
        scene_finish(&scene, sandbox, true, &heard);
        snprintf(id, sizeof id, "%s", heard.snapshot);
    }
    assert_int_equal(count_snapshots(&scene), 2);
    snprintf(command, sizeof command, "cd %s && mkdir -p files/1/7/in files/1/8 && touch files/1/7/in/a files/1/8/b",
             scene.data);
    assert_int_equal(system(command), 0);
    sandboxes_forget(scene.sandboxes, 1, 7);
    assert_int_equal(count_snapshots(&scene), 0);
    snprintf(command, sizeof command, "cd %s && ! test -e files/1/7 && test -e files/1/8/b", scene.data);
    assert_int_equal(system(command), 0);
    scene_end(&scene);
}

/* A snapshot of a running sandbox, and its tree used again rather than unpacked when nothing else came between. */
static void test_snapshot_of_a_living_one(void **state)
{
    (void)state;
    struct scene scene = {0};
    struct ran ran;
    struct heard heard = {0};
    scene_begin(&scene);
    struct sandbox *sandbox = scene_sandbox(&scene, &plain);
    scene_sh(&scene, sandbox, "echo saved >f", &ran);
    sandboxes_snapshot(scene.sandboxes, sandbox, (struct sandbox_callback){&heard, hear});
    scene_wait(&scene, &heard.done);
    assert_int_equal(heard.news.outcome, SANDBOX_OK);
    char id[80];
    snprintf(id, sizeof id, "%s", heard.snapshot);
    scene_sh(&scene, sandbox, "echo later >f", &ran);
    sandbox_give_up(sandbox);
    sandbox = wake(&scene, id, &heard); /* from another snapshot than the tree: the snapshot counts */
    scene_sh(&scene, sandbox, "cat f; echo newest >f", &ran);
    assert_bytes(buffer_slice(&ran.out), "saved\n");
    ran_release(&ran);
    sandbox_give_up(sandbox);
    sandbox = wake(&scene, id, &heard); /* this tree came from it, and is newer */
    scene_sh(&scene, sandbox, "cat f", &ran);
    assert_bytes(buffer_slice(&ran.out), "newest\n");
    ran_release(&ran);
    sandbox_give_up(sandbox);
    scene_end(&scene);
}

struct packed {
    struct snapshot_result news;
    bool done;
};

static void on_packed(void *owner, const struct snapshot_result *news)
{
    struct packed *packed = owner;
    packed->news = *news;
    packed->done = true;
}

/* An archive made by somebody else, with ways out of the tree in it: it unpacks only inside. */
static void test_hostile_archive(void **state)
{
    (void)state;
    struct scene scene = {0};
    struct packed packed = {0};
    char script[1200], etc[128], tree[128], snapshots[128], victim[128], id[65];
    scene_begin(&scene);
    snprintf(etc, sizeof etc, "%s/sandboxes/etc", scene.data);
    snprintf(tree, sizeof tree, "%s/tree", scene.data);
    snprintf(snapshots, sizeof snapshots, "%s/snapshots", scene.data);
    snprintf(victim, sizeof victim, "%s/victim", scene.data);
    snprintf(
        script, sizeof script,
        "set -e; cd %s; mkdir tree victim h h/workspace; ln -s %s h/workspace/way; tar -cf a.tar -C h workspace/way;"
        "rm h/workspace/way; mkdir h/workspace/way; echo bad >h/workspace/way/by-link; echo bad >h/up; "
        "tar -rf a.tar -C h workspace/way/by-link; tar -Prf a.tar --transform 's,up,../victim/by-dots,' -C h up; "
        "tar -Prf a.tar --transform \"s,up,%s/by-root,\" -C h up; mkdir -p snapshots/1/7; zstd -q a.tar; "
        "mv a.tar.zst snapshots/1/7/$(sha256sum <a.tar.zst | cut -c-64).tar.zst; ls snapshots/1/7 | cut -c-64 >id",
        scene.data, victim, victim);
    assert_int_equal(system(script), 0);
    snprintf(script, sizeof script, "%s/id", scene.data);
    FILE *file = fopen(script, "re");
    assert_int_equal(fread(id, 1, 64, file), 64);
    fclose(file);
    for (int protected = 1; protected >= 0; protected --) {
        struct snapshot_request order = {
            .dir = snapshots, .tenant_key = 1, .session_key = 7, .tree = tree, .etc = protected ? etc : NULL};
        packed.done = false;
        snapshot_restore(scene.loop, &order, slice_from(id, 64), (struct snapshot_callback){&packed, on_packed});
        scene_wait(&scene, &packed.done);
        snprintf(script, sizeof script, "test -z \"$(ls -A %s)\" && rm -rf %s/*", victim, tree);
        assert_int_equal(system(script), 0); /* whatever tar said of it, nothing came out */
    }
    scene_end(&scene);
}

/* Killed while it packs: the archive from before is whole and the only one. */
static void test_killed_while_packing(void **state)
{
    (void)state;
    struct scene scene = {0};
    struct ran ran;
    struct heard heard = {0};
    char id[80], command[200];
    scene_data(&scene);
    scene.options.limits.prepare_ms_max = 60000;
    scene.sandboxes = sandboxes_new(&scene.options);
    struct sandbox *sandbox = scene_sandbox(&scene, &plain);
    scene_sh(&scene, sandbox, "echo first >f", &ran);
    scene_finish(&scene, sandbox, true, &heard);
    snprintf(id, sizeof id, "%s", heard.snapshot);
    sandbox = wake(&scene, id, &heard);
    scene_sh(&scene, sandbox, "echo second >f; head -c 60000000 /dev/urandom >noise", &ran);
    sandbox_give_up(sandbox);
    sandboxes_free(scene.sandboxes);
    scene.sandboxes = NULL;
    pid_t server = fork();
    if (server == 0) {
        scene.loop = loop_new(1);
        scene.sandboxes = sandboxes_new(&scene.options);
        sandbox = wake(&scene, id, &heard);
        const struct sandbox_provider *local = sandboxes_provider(scene.sandboxes, SANDBOX_LOCAL);
        local->hibernate(local->owner, sandbox, (struct sandbox_callback){&heard, hear});
        while (count_snapshots(&scene) < 2) {
            uv_run(loop_uv(scene.loop), UV_RUN_NOWAIT);
        }
        kill(getpid(), SIGKILL);
    }
    int status;
    assert_int_equal(waitpid(server, &status, 0), server);
    assert_true(WIFSIGNALED(status));
    scene.sandboxes = sandboxes_new(&scene.options);
    snprintf(command, sizeof command, "test -e %s/snapshots/1/7/%s.tar.zst", scene.data, id);
    assert_int_equal(system(command), 0);
    sandbox = wake(&scene, id, &heard); /* its tree is there too, and is newer */
    assert_non_null(sandbox);
    scene_sh(&scene, sandbox, "cat f", &ran);
    assert_bytes(buffer_slice(&ran.out), "second\n");
    ran_release(&ran);
    sandbox_give_up(sandbox);
    snapshot_collect("/nonexistent", 1, 7, 0);
    snprintf(command, sizeof command, "%s/snapshots", scene.data);
    snapshot_collect(command, 1, 7, 2);
    assert_int_equal(count_snapshots(&scene), 1); /* the unfinished one went */
    scene_end(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_damaged_and_missing),
        cmocka_unit_test(test_size_limit),
        cmocka_unit_test(test_old_ones_are_collected),
        cmocka_unit_test(test_snapshot_of_a_living_one),
        cmocka_unit_test(test_hostile_archive),
        cmocka_unit_test(test_killed_while_packing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* What is written where, in a directory that stands for the kernel's; and what the kernel makes of it, where it lets
 * us. */
#include "unit.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runner/sandbox/cgroup.h"

struct fake {
    char mount[64];
};

static void sh(const char *format, const char *dir)
{
    char command[600];
    snprintf(command, sizeof command, format, dir, dir, dir, dir, dir);
    assert_int_equal(system(command), 0);
}

static void fake_begin(struct fake *fake)
{
    snprintf(fake->mount, sizeof fake->mount, "/tmp/sojourn-cgroup-XXXXXX");
    assert_non_null(mkdtemp(fake->mount));
    sh("mkdir -p %s/own/server && echo 'cpu memory pids' >%s/own/cgroup.controllers && "
       "touch %s/own/cgroup.subtree_control %s/own/cgroup.procs %s/own/server/cgroup.procs",
       fake->mount);
}

static void fake_end(struct fake *fake)
{
    sh("rm -rf %s", fake->mount);
}

static void read_text(const char *dir, const char *name, char *out, size_t room)
{
    char path[300];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *file = fopen(path, "re");
    size_t len = file ? fread(out, 1, room - 1, file) : 0;
    out[len] = '\0';
    if (file) {
        fclose(file);
    }
}

static void group_made(const struct fake *fake, const char *mark, const char *name)
{
    char path[200];
    snprintf(path, sizeof path, "%s/own/%s%s", fake->mount, mark, name);
    assert_true(mkdir(path, 0755) == 0);
}

static bool has_group(const struct fake *fake, const char *mark, const char *name)
{
    char path[200];
    snprintf(path, sizeof path, "%s/own/%s%s", fake->mount, mark, name);
    return access(path, F_OK) == 0;
}

static void leave(const struct fake *fake, struct cgroup *parent)
{
    char mark[CGROUP_MARK_BYTES];
    snprintf(mark, sizeof mark, "%s", parent->mark);
    assert_true(has_group(fake, mark, ""));
    cgroup_leave(parent);
    assert_false(has_group(fake, mark, ""));
    assert_string_equal(parent->path, "");
}

static void test_the_server_moves_and_divides(void **state)
{
    (void)state;
    struct fake fake;
    struct cgroup parent = {0};
    struct failure failure;
    char text[64], expected[32];
    fake_begin(&fake);
    assert_status(cgroup_prepare(fake.mount, "/own", &parent, &failure), STATUS_OK);
    assert_true(parent.holds_memory);
    snprintf(expected, sizeof expected, "%d", (int)getpid());
    read_text(parent.path, "server/cgroup.procs", text, sizeof text);
    assert_string_equal(text, expected);
    read_text(parent.path, "cgroup.subtree_control", text, sizeof text);
    assert_string_equal(text, "+memory +pids");
    leave(&fake, &parent);
    fake_end(&fake);
}

/* Servers that share a group, in whatever pid namespace: what another one has made for a sandbox stays its own while it
 * lives, and goes when it was killed. */
static void test_only_what_nobody_owns_is_removed(void **state)
{
    (void)state;
    struct fake fake;
    struct cgroup parent = {0};
    struct failure failure;
    char own[CGROUP_MARK_BYTES], path[200];
    fake_begin(&fake);
    group_made(&fake, "sojourn-4026531836-1", "");
    group_made(&fake, "sojourn-4026531836-1", ".1-2");
    snprintf(path, sizeof path, "%s/own/sojourn-4026531836-1", fake.mount);
    int lock = open(path, O_RDONLY | O_DIRECTORY);
    assert_int_equal(flock(lock, LOCK_EX), 0);
    group_made(&fake, "sojourn-1-2", ""); /* killed */
    group_made(&fake, "sojourn-1-2", ".1-2");
    group_made(&fake, "sojourn-1-3", ".1-2"); /* killed, and its mark is gone already */
    group_made(&fake, "somebody", ".else");
    assert_status(cgroup_prepare(fake.mount, "/own", &parent, &failure), STATUS_OK);
    assert_true(has_group(&fake, "sojourn-4026531836-1", "") && has_group(&fake, "sojourn-4026531836-1", ".1-2"));
    assert_false(has_group(&fake, "sojourn-1-2", "") || has_group(&fake, "sojourn-1-2", ".1-2"));
    assert_false(has_group(&fake, "sojourn-1-3", ".1-2"));
    assert_true(has_group(&fake, "somebody", ".else"));
    snprintf(own, sizeof own, "%s", parent.mark);
    leave(&fake, &parent);
    close(lock);
    group_made(&fake, own, ".1-2"); /* of one that had this pid before */
    assert_status(cgroup_prepare(fake.mount, "/own", &parent, &failure), STATUS_OK);
    assert_false(has_group(&fake, own, ".1-2") || has_group(&fake, "sojourn-4026531836-1", ""));
    leave(&fake, &parent);
    cgroup_leave(&parent);
    fake_end(&fake);
}

static void test_limits_or_nothing(void **state)
{
    (void)state;
    struct fake fake;
    struct cgroup parent = {0}, group = {0};
    struct failure failure;
    char text[64], command[200];
    fake_begin(&fake);
    assert_status(cgroup_prepare(fake.mount, "/own", &parent, &failure), STATUS_OK);
    cgroup_make(&parent, "1-2", 1000, 50, &group); /* the kernel would have put the files there */
    assert_string_equal(group.path, "");
    snprintf(command, sizeof command, "cd %%s/own/%s.1-2 && touch memory.max pids.max memory.swap.max", parent.mark);
    group_made(&fake, parent.mark, ".1-2");
    sh(command, fake.mount);
    cgroup_make(&parent, "1-2", 1000, 50, &group);
    read_text(group.path, "memory.max", text, sizeof text);
    assert_string_equal(text, "1000");
    read_text(group.path, "pids.max", text, sizeof text);
    assert_string_equal(text, "58"); /* and the processes of bubblewrap */
    assert_int_equal(cgroup_oom_kills(&group), 0);
    snprintf(command, sizeof command, "printf 'low 1\\noom 3\\noom_kill 2\\n' >%%s/own/%s.1-2/memory.events",
             parent.mark);
    sh(command, fake.mount);
    assert_int_equal(cgroup_oom_kills(&group), 2);
    cgroup_make(&(struct cgroup){0}, "1-2", 1000, 50, &group);
    assert_string_equal(group.path, "");
    leave(&fake, &parent);
    fake_end(&fake);
}

static void test_refusals(void **state)
{
    (void)state;
    struct fake fake;
    struct cgroup parent = {0};
    struct failure failure;
    fake_begin(&fake);
    assert_status(cgroup_prepare(fake.mount, "/nosuch", &parent, &failure), STATUS_INVALID);
    sh("rm %s/own/cgroup.subtree_control", fake.mount); /* as when it holds other processes */
    assert_status(cgroup_prepare(fake.mount, "/own", &parent, &failure), STATUS_INVALID);
    assert_string_equal(parent.path, "");
    fake_end(&fake);
}

/* --- the kernel's own --- */

enum { PROCESSES_MAX = 6, MEMORY_BYTES_MAX = 32 * 1024 * 1024, SKIPPED = 77 };

static bool join_group(const struct cgroup *group)
{
    char path[CGROUP_PATH_BYTES + 32];
    snprintf(path, sizeof path, "%s/cgroup.procs", group->path);
    int fd = open(path, O_WRONLY);
    bool joined = fd >= 0 && write(fd, "0", 1) == 1;
    if (fd >= 0) {
        close(fd);
    }
    return joined;
}

/* How many processes can be there beside this one. They wait for its end. */
static int fork_many(void)
{
    int count = 0, ends[2];
    assert_int_equal(pipe(ends), 0);
    for (pid_t child; count < 100 && (child = fork()) >= 0; count++) {
        if (child == 0) {
            char byte;
            close(ends[1]);
            _exit(read(ends[0], &byte, 1) != 0);
        }
    }
    close(ends[1]);
    return count;
}

static void fill_memory(void)
{
    size_t bytes = 8 * (size_t)MEMORY_BYTES_MAX;
    volatile char *much = malloc(bytes);
    for (size_t i = 0; much && i < bytes; i += 4096) {
        much[i] = 1;
    }
}

/* In a process of its own, in the group: exit code 0 when `work` held its limit. */
static int run_in(const struct cgroup *group, bool fills)
{
    int status = -1;
    pid_t child = fork();
    if (child == 0) {
        if (!join_group(group)) {
            _exit(2);
        }
        if (fills) {
            fill_memory();
            _exit(3);
        }
        _exit(fork_many() < 50 ? 0 : 4);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

/* Beside the test: with version 2 whoever prepares a group is moved. */
static void try_kernel(void)
{
    struct cgroup parent, group;
    struct failure failure = {0};
    if (cgroup_find(&parent, &failure) != STATUS_OK) {
        print_message("no real control group here: %s\n", failure.detail);
        _exit(SKIPPED);
    }
    cgroup_make(&parent, "test", MEMORY_BYTES_MAX, PROCESSES_MAX, &group);
    if (group.path[0] == '\0') {
        print_message("no real control group here: %s takes no limits\n", parent.path);
        _exit(SKIPPED);
    }
    int forked = run_in(&group, false);
    int filled = parent.holds_memory ? run_in(&group, true) : SIGKILL;
    bool counted = cgroup_oom_kills(&group) == (parent.holds_memory ? 1 : 0);
    if (!parent.holds_memory) {
        print_message("memory is not limited by the control groups of this machine (version 1)\n");
    }
    for (int tries = 0; tries < 1000 && access(group.path, F_OK) == 0; tries++) {
        struct cgroup again = group;
        cgroup_remove(&again); /* who is still dying keeps it for a moment */
        sched_yield();
    }
    bool held =
        counted && WIFEXITED(forked) && WEXITSTATUS(forked) == 0 && WIFSIGNALED(filled) && WTERMSIG(filled) == SIGKILL;
    print_message("forked %x, filled %x, %s\n", (unsigned)forked, (unsigned)filled, parent.path);
    cgroup_leave(&parent);
    _exit(held ? 0 : 1);
}

static void test_the_kernel_holds_its_limits(void **state)
{
    int status = -1;
    (void)state;
    pid_t child = fork();
    if (child == 0) {
        try_kernel();
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == SKIPPED) {
        skip();
    }
    assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_server_moves_and_divides),
        cmocka_unit_test(test_only_what_nobody_owns_is_removed),
        cmocka_unit_test(test_limits_or_nothing),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_the_kernel_holds_its_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

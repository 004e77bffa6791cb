/* What is written where, in a directory that stands for the kernel's. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runner/cgroup.h"

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
    fake_end(&fake);
}

static void group_made(const struct fake *fake, pid_t server, const char *name)
{
    char path[200];
    snprintf(path, sizeof path, "%s/own/sojourn.%d.%s", fake->mount, (int)server, name);
    assert_true(mkdir(path, 0755) == 0);
}

static bool has_group(const struct fake *fake, pid_t server, const char *name)
{
    char path[200];
    snprintf(path, sizeof path, "%s/own/sojourn.%d.%s", fake->mount, (int)server, name);
    return access(path, F_OK) == 0;
}

/* Two servers in one group: what the other one has just made for a sandbox stays its own. */
static void test_only_what_nobody_owns_is_removed(void **state)
{
    (void)state;
    struct fake fake;
    struct cgroup parent = {0};
    struct failure failure;
    pid_t gone = fork();
    if (gone == 0) {
        _exit(0);
    }
    assert_int_equal(waitpid(gone, NULL, 0), gone);
    fake_begin(&fake);
    group_made(&fake, gone, "1-2");
    group_made(&fake, getpid(), "1-2");
    group_made(&fake, getppid(), "1-2");
    assert_status(cgroup_prepare(fake.mount, "/own", &parent, &failure), STATUS_OK);
    assert_false(has_group(&fake, gone, "1-2"));
    assert_false(has_group(&fake, getpid(), "1-2")); /* of one that had this pid before */
    assert_true(has_group(&fake, getppid(), "1-2"));
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
    snprintf(command, sizeof command, "cd %%s/own/sojourn.%d.1-2 && touch memory.max pids.max memory.swap.max",
             (int)getpid());
    group_made(&fake, getpid(), "1-2");
    sh(command, fake.mount);
    cgroup_make(&parent, "1-2", 1000, 50, &group);
    read_text(group.path, "memory.max", text, sizeof text);
    assert_string_equal(text, "1000");
    read_text(group.path, "pids.max", text, sizeof text);
    assert_string_equal(text, "58"); /* and the processes of bubblewrap */
    cgroup_make(&(struct cgroup){0}, "1-2", 1000, 50, &group);
    assert_string_equal(group.path, "");
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_server_moves_and_divides),
        cmocka_unit_test(test_only_what_nobody_owns_is_removed),
        cmocka_unit_test(test_limits_or_nothing),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

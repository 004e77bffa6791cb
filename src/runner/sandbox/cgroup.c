#include "runner/sandbox/cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

/* Then the mark of the server, then, of a sandbox, a dot and its name: servers that share a parent must not meet in one
 * group. */
static const char group_prefix[] = "sojourn-";

enum { OWN_PROCESSES = 8, MARK_TRIES = 100 }; /* processes of what protects a sandbox, over what runs in it */

static bool put(const char *group, const char *file, const char *text)
{
    char path[CGROUP_PATH_BYTES + 64];
    snprintf(path, sizeof path, "%s/%s", group, file);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0) {
        return false;
    }
    bool done = write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    return close(fd) == 0 && done;
}

static bool put_i64(const char *group, const char *file, int64_t value)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRId64, value);
    return put(group, file, text);
}

static bool offers(const char *group, const char *controller)
{
    char path[CGROUP_PATH_BYTES + 64], text[512];
    snprintf(path, sizeof path, "%s/cgroup.controllers", group);
    FILE *file = fopen(path, "re");
    if (!file) {
        return false;
    }
    size_t len = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[len] = '\0';
    return strstr(text, controller) != NULL;
}

/* --- whose they are --- */

/* A server holds the lock on its own group, the one without a sandbox's name, for as long as it lives: a pid says
 * nothing to a server in another pid namespace that shares the parent. */
static int lock_mark(int parent_fd, const char *mark, int how)
{
    int fd = openat(parent_fd, mark, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0 && flock(fd, LOCK_EX | how) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

static bool is_still_there(int parent_fd, const char *mark, int fd)
{
    struct stat there, ours;
    return fstatat(parent_fd, mark, &there, 0) == 0 && fstat(fd, &ours) == 0 && there.st_ino == ours.st_ino;
}

/* Until it is locked it looks left behind, and another server that starts may remove it. */
static int make_mark(int parent_fd, const char *mark)
{
    for (int tries = 0; tries < MARK_TRIES; tries++) {
        (void)mkdirat(parent_fd, mark, 0755);
        int fd = lock_mark(parent_fd, mark, 0);
        if (fd >= 0 && is_still_there(parent_fd, mark, fd)) {
            return fd;
        }
        if (fd >= 0) {
            close(fd);
        }
    }
    return -1;
}

/* Removes what an ended server left: its groups and its mark, which nobody can take as his own meanwhile. Only empty
 * ones go: the kernel keeps the others. */
static void remove_left(int parent_fd, const char *name, const char *own_mark)
{
    char mark[CGROUP_MARK_BYTES];
    size_t len = strcspn(name, ".");
    if (strncmp(name, group_prefix, sizeof group_prefix - 1) != 0 || len >= sizeof mark) {
        return;
    }
    snprintf(mark, sizeof mark, "%.*s", (int)len, name);
    bool is_own = strcmp(mark, own_mark) == 0; /* of a server that had this pid before */
    int fd = is_own ? -1 : lock_mark(parent_fd, mark, LOCK_NB);
    if (is_own ? name[len] == '.' : fd >= 0 || faccessat(parent_fd, mark, F_OK, 0) != 0) {
        unlinkat(parent_fd, name, AT_REMOVEDIR);
    }
    if (fd >= 0) {
        close(fd);
    }
}

static void remove_old(int parent_fd, const char *own_mark)
{
    int fd = dup(parent_fd);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    if (!dir) {
        return;
    }
    for (struct dirent *entry = readdir(dir); entry; entry = readdir(dir)) {
        remove_left(parent_fd, entry->d_name, own_mark);
    }
    closedir(dir);
}

static void take_place(struct cgroup *parent)
{
    struct stat namespace = {0};
    int parent_fd = open(parent->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (parent_fd < 0) {
        return;
    }
    (void)stat("/proc/self/ns/pid", &namespace);
    snprintf(parent->mark, sizeof parent->mark, "%s%ju-%d", group_prefix, (uintmax_t) namespace.st_ino, (int)getpid());
    parent->mark_fd = make_mark(parent_fd, parent->mark);
    remove_old(parent_fd, parent->mark);
    close(parent_fd);
}

void cgroup_leave(struct cgroup *parent)
{
    if (parent->mark[0] == '\0') {
        return;
    }
    char path[CGROUP_PATH_BYTES + CGROUP_MARK_BYTES];
    snprintf(path, sizeof path, "%s/%s", parent->path, parent->mark);
    rmdir(path);
    if (parent->mark_fd >= 0) {
        close(parent->mark_fd);
    }
    *parent = (struct cgroup){0};
}

/* --- the parent --- */

enum status cgroup_prepare(const char *mount, const char *own, struct cgroup *out, struct failure *failure)
{
    struct cgroup parent = {.holds_memory = true};
    char server[CGROUP_PATH_BYTES + 16];
    snprintf(parent.path, sizeof parent.path, "%s%s", mount, strcmp(own, "/") == 0 ? "" : own);
    snprintf(server, sizeof server, "%s/server", parent.path);
    if (!offers(parent.path, "memory") || !offers(parent.path, "pids")) {
        return failure_set(failure, STATUS_INVALID, "no_cgroup", "%s has no memory and pids controllers.", parent.path);
    }
    if (mkdir(server, 0755) != 0 && errno != EEXIST) {
        return failure_set(failure, STATUS_INVALID, "no_cgroup", "%s is not ours to divide.", parent.path);
    }
    if (!put_i64(server, "cgroup.procs", getpid()) || !put(parent.path, "cgroup.subtree_control", "+memory +pids")) {
        (void)put_i64(parent.path, "cgroup.procs", getpid());
        rmdir(server);
        return failure_set(failure, STATUS_INVALID, "no_cgroup", "%s holds other processes.", parent.path);
    }
    take_place(&parent);
    *out = parent;
    return STATUS_OK;
}

/* The rest of the line of /proc/self/cgroup that has `mark` behind its number. */
static bool find_own(const char *mark, char *own, size_t room)
{
    char line[CGROUP_PATH_BYTES], *at = NULL;
    FILE *file = fopen("/proc/self/cgroup", "re");
    while (file && !at && fgets(line, sizeof line, file)) {
        char *colon = strchr(line, ':');
        at = colon && strncmp(colon, mark, strlen(mark)) == 0 ? colon + strlen(mark) : NULL;
    }
    if (file) {
        fclose(file);
    }
    if (at) {
        at[strcspn(at, "\n")] = '\0';
        snprintf(own, room, "%s", at);
    }
    return at != NULL;
}

static enum status find_version_1(struct cgroup *out, struct failure *failure)
{
    char own[CGROUP_PATH_BYTES - 32];
    if (!find_own(":pids:", own, sizeof own)) {
        return failure_set(failure, STATUS_INVALID, "no_cgroup", "There are no control groups.");
    }
    snprintf(out->path, sizeof out->path, "/sys/fs/cgroup/pids%s", strcmp(own, "/") == 0 ? "" : own);
    if (access(out->path, W_OK) != 0) {
        out->path[0] = '\0';
        return failure_set(failure, STATUS_INVALID, "no_cgroup", "The control group is not ours to divide.");
    }
    take_place(out);
    return STATUS_OK;
}

enum status cgroup_find(struct cgroup *out, struct failure *failure)
{
    static const char mount[] = "/sys/fs/cgroup";
    char own[CGROUP_PATH_BYTES - 32];
    struct statfs about;
    *out = (struct cgroup){0};
    if (statfs(mount, &about) != 0 || about.f_type != CGROUP2_SUPER_MAGIC) {
        return find_version_1(out, failure);
    }
    if (!find_own("::", own, sizeof own)) {
        return failure_set(failure, STATUS_INVALID, "no_cgroup", "The server is in no control group.");
    }
    return cgroup_prepare(mount, own, out, failure);
}

void cgroup_make(const struct cgroup *parent, const char *name, int64_t memory_bytes_max, int64_t processes_max,
                 struct cgroup *out)
{
    *out = (struct cgroup){0};
    if (parent->path[0] == '\0') {
        return;
    }
    struct cgroup made = {.holds_memory = parent->holds_memory};
    int len = snprintf(made.path, sizeof made.path, "%s/%s.%s", parent->path, parent->mark, name);
    if (len >= (int)sizeof made.path || (mkdir(made.path, 0755) != 0 && errno != EEXIST)) {
        return;
    }
    bool limits_memory = made.holds_memory && memory_bytes_max > 0;
    bool limited = (!limits_memory || put_i64(made.path, "memory.max", memory_bytes_max)) &&
                   (processes_max == 0 || put_i64(made.path, "pids.max", processes_max + OWN_PROCESSES));
    if (!limited) {
        rmdir(made.path);
        return;
    }
    if (limits_memory) {
        (void)put(made.path, "memory.swap.max", "0"); /* not there without swap */
    }
    *out = made;
}

int64_t cgroup_oom_kills(const struct cgroup *group)
{
    char path[CGROUP_PATH_BYTES + 16], line[128];
    long long kills = 0;
    snprintf(path, sizeof path, "%s/memory.events", group->path);
    FILE *file = group->holds_memory ? fopen(path, "re") : NULL;
    while (file && fgets(line, sizeof line, file) && sscanf(line, "oom_kill %lld", &kills) != 1) {
    }
    if (file) {
        fclose(file);
    }
    return kills;
}

void cgroup_remove(struct cgroup *group)
{
    if (group->path[0] != '\0') {
        (void)put(group->path, "cgroup.kill", "1");
        rmdir(group->path);
        group->path[0] = '\0';
    }
}

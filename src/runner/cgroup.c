#include "runner/cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

static const char group_prefix[] = "sojourn-";

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

/* Empty ones of a server that was killed. */
static void remove_old(const char *parent)
{
    DIR *dir = opendir(parent);
    if (!dir) {
        return;
    }
    for (struct dirent *entry = readdir(dir); entry; entry = readdir(dir)) {
        if (strncmp(entry->d_name, group_prefix, sizeof group_prefix - 1) == 0) {
            unlinkat(dirfd(dir), entry->d_name, AT_REMOVEDIR);
        }
    }
    closedir(dir);
}

enum status cgroup_prepare(const char *mount, const char *own, struct cgroup *out, struct failure *failure)
{
    struct cgroup parent;
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
    remove_old(parent.path);
    *out = parent;
    return STATUS_OK;
}

/* The line "0::PATH". */
static bool find_own(char *own, size_t room)
{
    char line[CGROUP_PATH_BYTES];
    bool found = false;
    FILE *file = fopen("/proc/self/cgroup", "re");
    while (file && !found && fgets(line, sizeof line, file)) {
        found = strncmp(line, "0::", 3) == 0;
    }
    if (file) {
        fclose(file);
    }
    if (found) {
        line[strcspn(line, "\n")] = '\0';
        snprintf(own, room, "%s", line + 3);
    }
    return found;
}

enum status cgroup_find(struct cgroup *out, struct failure *failure)
{
    static const char mount[] = "/sys/fs/cgroup";
    char own[CGROUP_PATH_BYTES];
    struct statfs about;
    *out = (struct cgroup){0};
    if (statfs(mount, &about) != 0 || about.f_type != CGROUP2_SUPER_MAGIC || !find_own(own, sizeof own)) {
        return failure_set(failure, STATUS_INVALID, "no_cgroup", "%s has no control groups of version 2.", mount);
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
    struct cgroup made;
    int len = snprintf(made.path, sizeof made.path, "%s/%s%s", parent->path, group_prefix, name);
    if (len >= (int)sizeof made.path || (mkdir(made.path, 0755) != 0 && errno != EEXIST)) {
        return;
    }
    bool limited = (memory_bytes_max == 0 || put_i64(made.path, "memory.max", memory_bytes_max)) &&
                   (processes_max == 0 || put_i64(made.path, "pids.max", processes_max));
    if (!limited) {
        rmdir(made.path);
        return;
    }
    (void)put(made.path, "memory.swap.max", "0"); /* not there without swap */
    *out = made;
}

void cgroup_remove(struct cgroup *group)
{
    if (group->path[0] != '\0') {
        (void)put(group->path, "cgroup.kill", "1");
        rmdir(group->path);
        group->path[0] = '\0';
    }
}

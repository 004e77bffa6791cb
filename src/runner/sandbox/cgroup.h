/* Control groups under the one the server runs in: hard limits on memory and processes of a whole sandbox. They work
 * where the server may divide its own group (systemd: Delegate=yes, or root). Of version 1 only processes are
 * limited. */
#ifndef RUNNER_CGROUP_H
#define RUNNER_CGROUP_H

#include <stdbool.h>

#include "base/status.h"

enum { CGROUP_PATH_BYTES = 512, CGROUP_MARK_BYTES = 64 };

struct cgroup {
    char path[CGROUP_PATH_BYTES]; /* empty = none */
    bool holds_memory;            /* version 2 */
    /* Of the server's own: the name of an empty group beside those of its sandboxes, locked while it lives. Others know
     * by it whose they are. */
    char mark[CGROUP_MARK_BYTES];
    int mark_fd;
};

/* Makes the group the server runs in ready to hold others, with the server itself moved into one of them. INVALID
 * with the reason where that cannot be. `mount` is the directory of the file system ("/sys/fs/cgroup"), `own` the
 * path of the server's group in it, as /proc/self/cgroup tells. */
MUST_CHECK enum status cgroup_prepare(const char *mount, const char *own, struct cgroup *out, struct failure *failure);
/* Finds both for this process. */
MUST_CHECK enum status cgroup_find(struct cgroup *out, struct failure *failure);
/* The server goes: what it left is for others to remove. Nothing where none was found. */
void cgroup_leave(struct cgroup *parent);
/* A group for one sandbox, this server's alone; 0 = no limit. `out` is empty afterwards when it could not be made. */
void cgroup_make(const struct cgroup *parent, const char *name, int64_t memory_bytes_max, int64_t processes_max,
                 struct cgroup *out);
/* How often the kernel has killed something in it for want of memory; 0 where it does not say. */
int64_t cgroup_oom_kills(const struct cgroup *group);
/* Kills what is in it and removes it; what is still dying keeps it until the next server starts. */
void cgroup_remove(struct cgroup *group);

#endif

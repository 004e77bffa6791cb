/* A command line of bubblewrap: what of the machine is seen from inside, and as what. */
#ifndef RUNNER_BUBBLE_H
#define RUNNER_BUBBLE_H

#include "runner/sandbox/cgroup.h"
#include "runner/process/process.h"

/* 0 = no limit. */
struct bubble_limits {
    int64_t memory_bytes_max; /* of each process; of the sandbox where control groups work */
    int64_t processes_max;
    int64_t file_bytes_max; /* of one file */
};

struct bubble_bind {
    const char *host, *inside; /* absolute; host NULL ends a list */
    bool is_writable;
};

struct bubble {
    const struct bubble_bind *binds;
    const char *const *shown; /* further directories of the machine, read-only at their own place; NULL-ended */
    const char *etc;          /* directory of our own small /etc, read-only */
    const char *directory;    /* inside */
    bool network;
    bool is_keeper; /* of files: may read and write whatever the modes of the tree say, and sees no process */
    struct bubble_limits limits;
    const struct cgroup *group; /* NULL = none */
};

extern const char bubble_home[];      /* "/home/agent" */
extern const char bubble_workspace[]; /* "/workspace" */

/* Whether processes would see this directory of the machine at its own place: INVALID with the reason where the
 * sandbox has a directory of its own that would hide it. */
MUST_CHECK enum status bubble_check_shown(const char *dir, struct failure *failure);
/* Writes what stands in `etc`: users, hosts. */
MUST_CHECK enum status bubble_write_etc(const char *etc, struct failure *failure);
/* The command behind bubblewrap; environment as given, over a small usual one. */
MUST_CHECK enum status bubble_launch(const struct bubble *bubble, const struct process_spec *spec,
                                     struct launch *launch, struct failure *failure);
/* The command with limits but without protection; `home` and `root` are directories of the machine. */
void bubble_launch_bare(const struct bubble *bubble, const struct process_spec *spec, const char *home,
                        const char *root, struct launch *launch);
/* Runs a command in an empty sandbox and waits for it: at start, before any loop. */
MUST_CHECK enum status bubble_probe(const char *etc, struct failure *failure);

#endif

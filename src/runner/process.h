/* How processes are started and ended, for this room: sandbox.h has what others call. Loop thread. */
#ifndef RUNNER_PROCESS_H
#define RUNNER_PROCESS_H

#include <sys/types.h>

#include "runner/launch.h"

/* How much may wait, and how long an end may take. */
struct process_limits {
    size_t stdin_bytes_max;
    int64_t grace_ms; /* from TERM to KILL */
};
extern const struct process_limits process_limits_usual;

/* As process_start, with the launch made by the caller, who releases it. `sandbox` may be NULL. */
MUST_CHECK enum status process_spawn(struct loop *loop, struct sandbox *sandbox, const struct launch *launch,
                                     const struct process_spec *spec, const struct process_handler *handler,
                                     struct process **out, struct failure *failure);
pid_t process_pid(const struct process *process);
/* Its sandbox, which it must have, forgets it without a word. */
void process_detach(struct process *process);
/* The next live process of the same sandbox, or NULL. */
struct process *process_next(const struct process *process);
/* KILL at once; on_end follows. `why` (or NULL) is said on its standard error first. */
void process_kill(struct process *process, const char *why);

/* --- process_tree.c --- */

struct tree_use {
    int64_t processes;
    int64_t memory_bytes; /* that nobody shares */
};
/* Descendants held by descriptors, so that one which is orphaned meanwhile is still found, and no other with its
 * number. Those beyond the maximum are not held. */
enum { TREE_HELD_MAX = 64 };
struct tree_held {
    int fds[TREE_HELD_MAX];
    size_t count;
};
void process_tree_hold(pid_t root, struct tree_held *held);
/* KILL for those that still live, and lets go of all. */
void process_tree_kill(struct tree_held *held);
/* Signals what descends from `root`, the leader of a group, and that whole group, or all but `root`. */
void process_tree_signal(pid_t root, int signal, bool spares_root);
/* Adds what `root` and its descendants use now; looks at no more than `processes_max` of them. */
void process_tree_measure(pid_t root, int64_t processes_max, struct tree_use *use);

#endif

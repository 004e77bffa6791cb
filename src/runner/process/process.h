/* How processes are started and ended, for this room: sandbox.h has what others call. Loop thread. */
#ifndef RUNNER_PROCESS_H
#define RUNNER_PROCESS_H

#include <sys/types.h>

#include "runner/process/launch.h"

/* How much may wait, and how long an end may take. */
struct process_limits {
    size_t stdin_bytes_max;
    int64_t grace_ms; /* from TERM to KILL */
};
extern const struct process_limits process_limits_usual;

/* As process_start, with the launch made by the caller, who releases it. `sandbox` may be NULL. */
MUST_CHECK enum status process_spawn(struct loop *loop, struct sandbox *sandbox, struct launch *launch,
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
    int64_t memory_bytes; /* shared memory in equal parts */
};
/* The bytes in the file system in memory that the last descendant of `root` sees at /dev/shm; 0 when it can't be seen.
 */
int64_t process_tree_shm(pid_t root);
/* Signals what descends from `root`, all but the first `spared` of the tree, in which `root` is the first and its
 * children follow. */
void process_tree_signal(pid_t root, int signal, size_t spared);
/* Files without a name that are still open or mapped: they take space, and no directory shows them. */
struct nameless_file {
    uint64_t inode;
    int64_t bytes;
};
struct nameless_files {
    struct nameless_file *list; /* to be freed by the caller; a file may stand there more than once */
    size_t count, room;
    bool is_hidden; /* some process does not let its files be seen, or there are too many */
};
/* Adds those on `device` of `root` and its descendants. The first `spared` of the tree need not show theirs. Any
 * thread. */
void process_tree_nameless(pid_t root, size_t spared, dev_t device, struct nameless_files *out);
/* Each once. Sorts the list. */
int64_t nameless_bytes(struct nameless_files *files);
/* Adds what `root` and its descendants use now; looks at no more than `processes_max` of them. */
void process_tree_measure(pid_t root, int64_t processes_max, int64_t memory_bytes_max, struct tree_use *use);

#endif

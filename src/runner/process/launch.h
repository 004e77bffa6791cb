/* What a process is started from: the command behind its wall, and the pipes to it. Only for this room. Loop thread. */
#ifndef RUNNER_LAUNCH_H
#define RUNNER_LAUNCH_H

#include "base/arena.h"
#include "loop/loop.h"
#include "runner/sandbox/sandbox.h"

/* Numbers that the two descriptors of a launch have in the new process. */
enum { LAUNCH_ARGUMENTS_FD = 3, LAUNCH_FILTER_FD = 4 };

/* What is really executed: the command behind whatever protects the machine from it. */
struct launch {
    struct arena arena; /* of everything below */
    const char *const *argv;
    const char *const *environment;
    const char *directory; /* of the machine; NULL = / */
    int arguments_fd;      /* options of bubblewrap; -1 = none */
    int filter_fd;         /* system calls it may make; -1 = any */
    bool is_walled;        /* argv[0] ends with all that lives behind it, and signals stop at it */
};

void launch_init(struct launch *launch);
void launch_release(struct launch *launch);
/* The command as it is, on the machine itself. */
void launch_plain(struct launch *launch, const struct process_spec *spec);

/* The pipes of a process: [0] ours, [1] the child's; -1 = none. The lifeline carries nothing: it is closed. */
struct pipes {
    uv_file in[2], out[2], err[2], lifeline[2];
};

/* 0 or an error of libuv, with nothing open. */
MUST_CHECK int pipes_open(struct pipes *pipes, bool wants_stdin);
/* Those that are still open. */
void pipes_close(struct pipes *pipes);

/* Whether there is such a program: 0 or an error of libuv. */
MUST_CHECK int launch_check(const struct launch *launch);
/* Under a supervisor (runner/process/supervisor.h), whose pid the child has. 0 or an error of libuv; the caller closes
 * the handle of the child either way, and the pipes. */
MUST_CHECK int launch_spawn(struct launch *launch, struct loop *loop, const struct pipes *pipes, uv_process_t *child,
                            uv_exit_cb on_exit);

#endif

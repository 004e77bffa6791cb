/* A child process of which only its end counts: git, tar, cp, rm. Loop thread. */
#ifndef RUNNER_SUBPROCESS_H
#define RUNNER_SUBPROCESS_H

#include "runner/process/process.h"

struct subprocess_end {
    bool done; /* it ended with 0 */
    bool timed_out;
    int exit_code;     /* -1 when a signal ended it */
    struct slice said; /* the last line of its standard error, perhaps empty; until the callback returns */
};
struct subprocess_callback {
    void *owner;
    void (*tell)(void *owner, const struct subprocess_end *end);
};

/* Once started it is always told, later and on the loop. Releases the launch in either case. */
MUST_CHECK enum status subprocess_start(struct loop *loop, struct launch *launch, int64_t time_ms_max,
                                        struct subprocess_callback told, struct failure *failure);
/* The same for a command on the machine itself, with a PATH as its only environment. */
MUST_CHECK enum status subprocess_start_plain(struct loop *loop, const char *const *argv, int64_t time_ms_max,
                                              struct subprocess_callback told, struct failure *failure);

#endif

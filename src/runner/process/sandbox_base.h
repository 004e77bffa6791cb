/* What the two kinds of sandboxes and the processes in them share. Only for process.c and the kinds of sandboxes. */
#ifndef RUNNER_SANDBOX_BASE_H
#define RUNNER_SANDBOX_BASE_H

#include "runner/process/process.h"

/* The first member of each kind's own struct. */
struct sandbox {
    enum sandbox_kind kind;
    struct loop *loop;
    struct slice id, root;
    struct slice mount; /* of the root, seen from inside; absent = the same */
    struct process_limits limits;
    struct process *processes; /* alive; kept by process.c */
    /* Fills a launch for the command; refuses with a failure. */
    enum status (*prepare)(struct sandbox *sandbox, const struct process_spec *spec, struct launch *launch,
                           struct failure *failure);
    /* The first process came, or the last one went. Both may be NULL. */
    void (*on_busy)(struct sandbox *sandbox);
    void (*on_empty)(struct sandbox *sandbox);
};

#endif

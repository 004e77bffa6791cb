/* The place in which an agent works: a file tree of its own and a way to run processes in it. Providers make, put to
 * sleep, wake and end it; all of that happens beside the loop and is told by a callback on it. */
#ifndef RUNNER_SANDBOX_H
#define RUNNER_SANDBOX_H

#include "domain/agent.h"

struct loop;
struct sandbox;
struct process;

struct sandbox_spec {
    struct slice session_id;
    int64_t tenant_key, session_key;
    const struct sandbox_settings *settings;
    struct slice workspace; /* project tier: a directory of the host shown read-only below the overlay; absent = none */
    struct slice snapshot;  /* restore from this one (its id); absent = fresh */
};

enum sandbox_outcome {
    SANDBOX_OK,
    SANDBOX_GONE, /* it had ended already (409 of a remote backend) */
    SANDBOX_FAILED,
};

struct sandbox_result {
    enum sandbox_outcome outcome;
    struct sandbox *sandbox; /* create, restore: the caller's until terminate or hibernate succeeded */
    struct slice snapshot;   /* hibernate: id (checksum) */
    int64_t snapshot_bytes;
    struct slice sandbox_id;
    struct slice status; /* a look: the backend's word for it; absent = it told none */
    struct failure failure;
};
struct sandbox_callback {
    void *owner;
    void (*tell)(void *owner, const struct sandbox_result *news);
};

struct sandbox_provider {
    void *owner;
    /* Can it work here? Otherwise a failure that says why (no bubblewrap, no user namespaces). */
    enum status (*check)(void *owner, struct failure *failure);
    void (*create)(void *owner, struct loop *loop, const struct sandbox_spec *spec, struct sandbox_callback told);
    /* Snapshot, then end. With an error the sandbox lives on. */
    void (*hibernate)(void *owner, struct sandbox *sandbox, struct sandbox_callback told);
    void (*terminate)(void *owner, struct sandbox *sandbox, struct sandbox_callback told);
};

/* The directory of its tree on this machine, as tools see it; absent for remote ones. */
struct slice sandbox_root(const struct sandbox *sandbox);
/* The same directory as processes in the sandbox see it. */
struct slice sandbox_mount(const struct sandbox *sandbox);
struct slice sandbox_id(const struct sandbox *sandbox);

/* --- processes --- */

struct process_spec {
    const char *const *argv;        /* NULL-ended */
    const char *const *environment; /* NULL-ended "NAME=VALUE"; nothing else is passed */
    const char *directory;          /* inside the sandbox; NULL = its root */
    int64_t time_ms_max;            /* 0 = no limit */
    size_t output_bytes_max;        /* of stdout and stderr each, when collected; 0 = no limit */
    bool wants_stdin;
};

struct process_end {
    int exit_code; /* -1 when a signal ended it */
    int signal;
    bool timed_out;
};

struct process_handler {
    void *owner;
    void (*on_stdout)(void *owner, struct slice bytes);
    void (*on_stderr)(void *owner, struct slice bytes);
    void (*on_end)(void *owner, const struct process_end *end); /* last; the process is freed after it */
};

/* Starts a process in the sandbox (NULL = on the machine itself, only where the operator allowed it). Loop thread. */
MUST_CHECK enum status process_start(struct loop *loop, struct sandbox *sandbox, const struct process_spec *spec,
                                     const struct process_handler *handler, struct process **out,
                                     struct failure *failure);
/* Copies; false when too much waits or it has ended. */
bool process_write(struct process *process, struct slice bytes);
void process_close_stdin(struct process *process);
/* Back-pressure: stop and go on reading stdout. */
void process_pause(struct process *process, bool paused);
/* TERM, then KILL after a grace time, for the whole tree. on_end follows. */
void process_stop(struct process *process);
/* KILL at once, and no callback follows. */
void process_abandon(struct process *process);

#endif

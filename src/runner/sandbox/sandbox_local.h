/* Sandboxes on this machine: a directory per session with `workspace`, `home` and `tmp`, and bubblewrap around every
 * process. A sandbox costs no process while nothing runs in it. Only for this room. */
#ifndef RUNNER_SANDBOX_LOCAL_H
#define RUNNER_SANDBOX_LOCAL_H

#include "runner/sandbox/cgroup.h"
#include "runner/sandbox/bubble.h"
#include "runner/process/sandbox_base.h"
#include "runner/sandbox/sandboxes.h"

enum { LOCAL_PATH_BYTES = 1024 };

/* Read-only after it was made. */
struct local_provider {
    struct sandboxes_options options;
    char *dir;       /* DATA/sandboxes */
    char *snapshots; /* DATA/snapshots */
    char *files;     /* DATA/files: large results of tools, evidence */
    char *etc;       /* of bubble_write_etc; NULL = run without protection */
    struct cgroup group;
    struct failure refusal; /* status OK = it works */
    struct sandbox_provider provider;
};

struct local_watch;

struct local_sandbox {
    struct sandbox base; /* first */
    struct local_provider *provider;
    struct arena arena;
    const char *dir; /* of the session */
    int64_t tenant_key, session_key;
    bool network;
    struct bubble_limits limits;
    int64_t disk_bytes_max;
    struct cgroup group;
    struct local_watch *watch; /* while something runs */
    int64_t disk_bytes;        /* when last measured; -1 = not known */
    int64_t oom_kills;         /* of its control group, as far as they were seen */
    bool is_packing, is_ending;
    void (*when_empty)(void *owner);
    void *empty_owner;
};

struct local_provider *local_provider_new(const struct sandboxes_options *options);
void local_provider_free(struct local_provider *local);

/* sandbox_local_make.c */
void local_create(void *owner, struct loop *loop, const struct sandbox_spec *spec, struct sandbox_callback told);
/* sandbox_local_end.c */
void local_hibernate(void *owner, struct sandbox *sandbox, struct sandbox_callback told);
void local_terminate(void *owner, struct sandbox *sandbox, struct sandbox_callback told);
void local_snapshot(struct local_provider *local, struct sandbox *sandbox, struct sandbox_callback told);
/* The same after everything in it was stopped. */
void local_save(struct local_provider *local, struct sandbox *sandbox, struct sandbox_callback told);
void local_give_up(struct local_sandbox *sandbox);

/* sandbox_local.c */
struct local_sandbox *local_sandbox_new(struct local_provider *local, struct loop *loop,
                                        const struct sandbox_spec *spec);
/* Only when nothing runs in it. */
void local_sandbox_free(struct local_sandbox *sandbox);
/* DIR/TENANT/SESSION */
void local_session_dir(const struct local_provider *local, int64_t tenant_key, int64_t session_key, char *out);
/* Moves a directory out of the way, at once; something removes it later. False when it is there still. */
bool local_discard(const struct local_provider *local, const char *path);
/* Removes all that was moved out of the way, beside the loop. */
void local_sweep(const struct local_provider *local, struct loop *loop);

/* sandbox_watch.c: measures while processes run, and ends them when they use more than they may. */
void local_watch_start(struct local_sandbox *sandbox);
void local_watch_stop(struct local_sandbox *sandbox);

/* sandbox_source.c: fills a new workspace. */
struct source_request {
    struct slice repository, branch; /* or */
    struct slice project;
    const char *workspace; /* to be filled, not there yet */
};
struct source_callback {
    void *owner;
    void (*tell)(void *owner, const struct failure *failure); /* NULL = done; on the loop, later */
};
/* A refusal is a failure at once, and nothing is told later. */
MUST_CHECK enum status source_fetch(const struct local_provider *local, struct loop *loop,
                                    const struct source_request *order, struct source_callback told,
                                    struct failure *failure);

#endif

/* The host of turns: runs the agents that live inside the server or under it. A standing claim in the writer takes what
 * is pending for them, in every tenant; a claimed turn then lives on one loop:
 *
 *     claim ─(commit)→ input (reader) → sandbox → driver starts → ops … ─(commit, in order)→ ends ─(commit)→ over
 *                                          ▲                │
 *                                          │ reads          └ deltas: published at once, behind the last durable event
 *                                     the session's log: answers, interrupts, its end
 *
 * Every write goes through the writer under the turn's lease. What people decide reaches a turn through the log, never
 * past it, so that it does not matter which node took the command. A turn that dies with its process is cut
 * (service/turn/turn_close.h) when its lease is found without a host. */
#ifndef SERVICE_TURN_HOST_H
#define SERVICE_TURN_HOST_H

#include "service/core/limits.h"
#include "runner/driver.h"
#include "runner/sandbox/sandbox.h"
#include "service/gateway/gateway.h"
#include "service/sandbox/runtime_host.h"

/* A session that may be claimed. */
struct turn_candidate {
    int64_t tenant_key, session_key;
};
enum { TURN_CANDIDATES_MAX = 64 };

struct turn_host_options {
    const struct service *service;
    struct writer *writer;
    struct fanout *fanout;
    struct loop *loop; /* where the turns live */
    void *read_owner;
    bool (*submit_read)(void *owner, struct read_job *job);
    const struct driver *drivers[DRIVER_COUNT]; /* NULL = not offered */
    struct runtime_host *runtime_host;          /* where agents with a sandbox get it */
    struct turns_limits limits;
    const char *const *project_dirs; /* where sessions may work on this machine (agents of the project tier) */
    size_t project_dir_count;
    /* Of a live sandbox, for save_snapshot, as gateway_options says; NULL = there are none. */
    void *snapshot_owner;
    void (*snapshot)(void *owner, int64_t tenant_key, int64_t session_key, struct gateway_done done);
    /* Agents that come and go: takes up to `room` sessions whose agent is there and free, each once until there is
     * news of it. Writer thread; NULL = there are none. */
    void *ready_owner;
    size_t (*take_ready)(void *owner, struct turn_candidate *out, size_t room);
};

struct turn_host;

struct turn_host *turn_host_new(const struct turn_host_options *options);
/* The writer and the loop are started, or will be. */
void turn_host_start(struct turn_host *host);
/* Something was committed here: turns that it concerns read their log. Writer thread. */
void turn_host_on_commit(struct turn_host *host, const struct publication *publication);
/* Another node wrote to this session (0 = to any). Any thread. */
void turn_host_wake(struct turn_host *host, int64_t session_key);
/* Cuts every turn and waits until nothing of it is left in the writer and the loop, which must both still run. Nothing
 * when it was not started, or is NULL. */
void turn_host_stop(struct turn_host *host);
void turn_host_free(struct turn_host *host);

#endif

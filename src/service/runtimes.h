/* The host of sandboxes: drives the runtime machine (domain/runtime.h) of sessions whose agents work in one. What is to
 * be done is written into the log first, by a command or by this host; after that commit it is done, and what came of
 * it is the next event:
 *
 *     ensure, hear, idle ─→ step (writer: write what came, decide, write the intent) ─(commit)→ act (provider) ─→ step
 * …
 *
 * One box per session that has something in hand: a live sandbox, somebody who waits for it, or an act under way. One
 * thing at a time per box. A session asleep costs nothing here. */
#ifndef SERVICE_RUNTIMES_H
#define SERVICE_RUNTIMES_H

#include "runner/driver.h"
#include "runner/sandboxes.h"
#include "service/writer.h"

struct runtimes_options {
    const struct service *service;
    struct writer *writer;
    struct fanout *fanout;
    struct loop *loop; /* where the turns live */
    struct sandboxes *sandboxes;
    const struct driver *drivers[DRIVER_COUNT]; /* told to leave before a sandbox sleeps or ends */
    struct runtimes_limits limits;
    void *owner;
    void (*on_stopped)(void *owner); /* on the loop, last */
};

struct runtimes;
struct runtime_box;

/* Somebody who works in a sandbox. The caller's memory, all zero before runtimes_ensure; loop thread. */
struct runtime_use {
    struct runtime_use *next;
    struct runtime_box *box; /* NULL = has none and waits for none */
    bool given;
    void *owner;
    /* Once, perhaps before runtimes_ensure returns: the sandbox, good until runtimes_leave, or why there is none. */
    void (*ready)(void *owner, struct sandbox *sandbox, const struct failure *failure);
};

struct runtimes *runtimes_new(const struct runtimes_options *options);
/* The writer and the loop are started, or will be. */
void runtimes_start(struct runtimes *runtimes);
/* The sandbox of the session: the live one, a new one, or the one it had, awake again. Concurrent callers share it. */
void runtimes_ensure(struct runtimes *runtimes, int64_t tenant_key, int64_t session_key, struct runtime_use *use);
/* Needs it no longer, or does not wait any more; nothing when it has none. */
void runtimes_leave(struct runtime_use *use);
/* Something was committed here. Writer thread. */
void runtimes_hear(struct runtimes *runtimes, const struct publication *publication);
/* Another node wrote to this session. Any thread. */
void runtimes_poke(struct runtimes *runtimes, int64_t session_key);
/* Does a process in the session's sandbox on this machine listen on the TCP port? Any thread. */
bool runtimes_listens(const struct runtimes *runtimes, int64_t tenant_key, int64_t session_key, int64_t port);
/* Somebody is connected into the session's sandbox from outside, a terminal or an editor: until he has left it does not
 * fall asleep by itself. The caller's memory, all zero before; any thread, both may be called in any order and twice.
 */
struct runtime_visit {
    struct runtime_visit *next, **link;
    struct runtimes *runtimes; /* NULL = not there */
    int64_t session_key;
};
void runtimes_visit(struct runtimes *runtimes, int64_t session_key, struct runtime_visit *visit);
void runtimes_visit_end(struct runtime_visit *visit);
/* Something about this session's sandbox is due here. Loop thread. */
void runtimes_attend(struct runtimes *runtimes, int64_t tenant_key, int64_t session_key);
/* After the turns: waits for what is under way; live sandboxes are given up, their trees stay for the next life. */
void runtimes_stop(struct runtimes *runtimes);
void runtimes_free(struct runtimes *runtimes);

#endif

/* The host of sandboxes: drives the runtime machine (domain/runtime.h) of sessions whose agents work in one. What is to
 * be done is written into the log first, by a command or by this host; after that commit it is done, and what came of
 * it is the next event:
 *
 *     ensure, hear, idle ─→ step (writer: write what came, decide, write the intent) ─(commit)→ act (provider) ─→ step
 * …
 *
 * One session_runtime per session that has something in hand: a live sandbox, somebody who waits for it, or an act
 * under way. One thing at a time each. A session asleep costs nothing here. */
#ifndef SERVICE_RUNTIME_HOST_H
#define SERVICE_RUNTIME_HOST_H

#include "runner/driver.h"
#include "runner/sandbox/sandboxes.h"
#include "service/core/writer.h"

struct runtime_host_options {
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

struct runtime_host;
struct session_runtime;

/* Somebody who works in a sandbox. The caller's memory, all zero before runtime_host_acquire; loop thread. */
struct sandbox_ref {
    struct sandbox_ref *next;
    struct session_runtime *runtime; /* NULL = has none and waits for none */
    bool given;
    void *owner;
    /* Once, perhaps before runtime_host_acquire returns: the sandbox, good until runtime_host_release, or why there is
     * none. */
    void (*ready)(void *owner, struct sandbox *sandbox, const struct failure *failure);
};

struct runtime_host *runtime_host_new(const struct runtime_host_options *options);
/* The writer and the loop are started, or will be. */
void runtime_host_start(struct runtime_host *host);
/* The sandbox of the session: the live one, a new one, or the one it had, awake again. Concurrent callers share it. */
void runtime_host_acquire(struct runtime_host *host, int64_t tenant_key, int64_t session_key, struct sandbox_ref *ref);
/* Needs it no longer, or does not wait any more; nothing when it has none. */
void runtime_host_release(struct sandbox_ref *ref);
/* Something was committed here. Writer thread. */
void runtime_host_on_commit(struct runtime_host *host, const struct publication *publication);
/* Another node wrote to this session. Any thread. */
void runtime_host_wake(struct runtime_host *host, int64_t session_key);
/* Does a process in the session's sandbox on this machine listen on the TCP port? Any thread. */
bool runtime_host_listens(const struct runtime_host *host, int64_t tenant_key, int64_t session_key, int64_t port);
/* Somebody is connected into the session's sandbox from outside, a terminal or an editor: until he has left it does not
 * fall asleep by itself. The caller's memory, all zero before; any thread, both may be called in any order and twice.
 */
struct sandbox_keepalive {
    struct sandbox_keepalive *next, **link;
    struct runtime_host *host; /* NULL = not there */
    int64_t session_key;
};
void runtime_host_visit(struct runtime_host *host, int64_t session_key, struct sandbox_keepalive *keepalive);
void runtime_host_visit_end(struct sandbox_keepalive *keepalive);
/* Something about this session's sandbox is due here. Loop thread. */
void runtime_host_attend(struct runtime_host *host, int64_t tenant_key, int64_t session_key);
/* After the turns: waits for what is under way; live sandboxes are given up, their trees stay for the next life. */
void runtime_host_stop(struct runtime_host *host);
void runtime_host_free(struct runtime_host *host);

#endif

/* The providers of sandboxes, by kind. Made once at start; their functions are called on any loop. */
#ifndef RUNNER_SANDBOXES_H
#define RUNNER_SANDBOXES_H

#include "runner/limits.h"
#include "runner/sandbox/sandbox.h"

struct sandboxes;

/* Posts JSON to a backend; `done` follows exactly once, on the loop, later. `failure` is NULL when there was an answer,
 * of whatever HTTP status. */
struct sandbox_reply {
    void *owner;
    void (*done)(void *owner, int http_status, struct slice body, const struct failure *failure);
};
struct sandbox_post {
    void *owner;
    void (*post)(void *owner, struct loop *loop, const char *url, struct slice json, int64_t time_ms_max,
                 struct sandbox_reply reply);
};

/* Texts are borrowed for the life of the registry. An agent may ask for less than the limits, never for more. */
struct sandboxes_options {
    const char *data;            /* the server's directory: sandboxes/ and, unless named, snapshots/ are in it */
    const char *snapshots;       /* a directory that all servers see; NULL = in data */
    bool unprotected;            /* run without bubblewrap where it cannot work */
    const char *const *shown;    /* further directories seen read-only from inside; NULL-ended, or NULL */
    const char *const *projects; /* where projects and repositories may lie that are copied in; NULL-ended, or NULL */
    struct sandbox_limits limits;
    const char *const *backends; /* http: addresses an agent may name; NULL-ended, or NULL */
    struct sandbox_post post;    /* http: without it that kind is unavailable */
};

/* Tries once whether sandboxes work here; a warning is logged where they do not. */
struct sandboxes *sandboxes_new(const struct sandboxes_options *options);
/* After all sandboxes were terminated or given up. */
void sandboxes_free(struct sandboxes *sandboxes);
/* NULL for SANDBOX_NONE. */
const struct sandbox_provider *sandboxes_provider(struct sandboxes *sandboxes, enum sandbox_kind kind);
/* A snapshot of a sandbox that lives on: told as hibernate is, the sandbox stays the caller's. Files that change
 * meanwhile are kept half old, half new; nothing that runs is stopped. */
void sandboxes_snapshot(struct sandboxes *sandboxes, struct sandbox *sandbox, struct sandbox_callback told);
/* The same for one that is about to be terminated: what runs in it is stopped first, so that its files hold still. Once
 * the snapshot is written down, terminate follows; whoever dies in between loses nothing. A remote one hibernates. */
void sandboxes_save(struct sandboxes *sandboxes, struct sandbox *sandbox, struct sandbox_callback told);
/* Any thread. Local: can it be restored from this one here? */
bool sandboxes_has_snapshot(struct sandboxes *sandboxes, int64_t tenant_key, int64_t session_key, struct slice id);
/* Any thread. Do all servers see the snapshots? */
bool sandboxes_share_snapshots(const struct sandboxes *sandboxes);
/* Any thread. A tree that this server had before another took the session over; it must not be alive. */
void sandboxes_forget_tree(struct sandboxes *sandboxes, int64_t tenant_key, int64_t session_key);
/* http: a sandbox of which only the id is known, after a restart; to be hibernated or terminated. */
struct sandbox *sandboxes_adopt(struct sandboxes *sandboxes, struct loop *loop, const struct sandbox_spec *spec,
                                struct slice sandbox_id);
/* http: asks the backend how the sandbox is. GONE when it is over there; OK with the backend's word, or without one
 * where it does not know the question. The sandbox stays the caller's, but for GONE, which frees it. */
void sandboxes_look(struct sandboxes *sandboxes, struct sandbox *sandbox, struct sandbox_callback told);
/* http: {"name":"url",…} as the backend said; absent for others. */
struct slice sandbox_tunnels(const struct sandbox *sandbox);
/* local: does a process in the session's sandbox listen on this TCP port of the machine? Any thread. */
bool sandboxes_listens(struct sandboxes *sandboxes, int64_t tenant_key, int64_t session_key, int64_t port);
/* The server stops: every process is killed, trees stay where they are, and the sandbox is freed. No callback. */
void sandbox_give_up(struct sandbox *sandbox);
/* The session was erased: its tree, its snapshots and the files kept for it go. Any thread; `sandbox` must not be
 * alive. */
void sandboxes_forget(struct sandboxes *sandboxes, int64_t tenant_key, int64_t session_key);

#endif

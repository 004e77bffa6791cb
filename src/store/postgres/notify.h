/* How nodes wake each other. After a group commit the writing connection sends one NOTIFY with the sessions it touched;
 * every node listens on a connection of its own. A notification is only a hint to look now: what happened is read from
 * the tables, and a node that missed one finds the events when it polls.
 *
 * A node that is alone sends none: each costs the machine two more process switches per commit. Listeners announce
 * themselves when they connect and every ten seconds. A node that listens, saw no other listener when it began, and has
 * heard none for thirty seconds is alone. A process that does not listen cannot know and always sends. */
#ifndef STORE_POSTGRES_NOTIFY_H
#define STORE_POSTGRES_NOTIFY_H

#include "base/arena.h"
#include "base/buffer.h"
#include "base/status.h"
#include "store/db.h"

struct touch {
    int64_t tenant_key;
    int64_t session_key;
};

/* --- for readers on other nodes --- */
struct postgres_listener;

struct postgres_wake {
    bool many; /* too many to name, or the connection was lost meanwhile: look everywhere */
    const struct touch *touches;
    size_t count; /* 0 and not many: the time was over */
};

MUST_CHECK enum status postgres_listen_open(const struct db_options *options, struct postgres_listener **out,
                                            struct failure *failure);
/* Blocks until another process touched something, at most `timeout_ms`. Notifications of this process are left out.
 * Meant for a thread of its own; `arena` owns the touches. A lost connection is opened again by the next call:
 * UNAVAILABLE while that fails (after waiting up to a second, so a plain loop does not spin), then `many`. GONE after
 * postgres_listen_stop. */
MUST_CHECK enum status postgres_listen_next(struct postgres_listener *listener, int64_t timeout_ms, struct arena *arena,
                                            struct postgres_wake *out, struct failure *failure);
/* Any thread: ends the wait in postgres_listen_next, for good. */
void postgres_listen_stop(struct postgres_listener *listener);
void postgres_listen_close(struct postgres_listener *listener);

/* --- for listener.c --- */
struct slice notify_origin(void); /* names this process */
void notify_listening(bool listens);
void notify_heard(void); /* another node is there */

/* --- for the writing connection --- */
enum { NOTIFY_PAYLOAD_MAX = 7900, NOTIFY_TOUCHES_MAX = 6000 }; /* the server refuses 8000 bytes */
#define NOTIFY_HERE "here"
#define NOTIFY_DOUBT "doubt"
#define NOTIFY_CHANNEL "sojourn_touched"
/* The end of every payload: a notification is a transaction, too, but nothing of it can be lost. */
#define NOTIFY_OWN "' +' || pg_current_xact_id()"

/* False when this process listens and is alone. Any thread. */
bool notify_is_needed(void);

/* The sessions touched by the running transaction. */
struct touches {
    struct touch *items;
    size_t count, room;
};
void touches_add(struct touches *touches, int64_t tenant_key, int64_t session_key);
/* "ORIGIN TENANT:SESSION TENANT:SESSION …" or "ORIGIN many", each session once. ORIGIN names this process. */
void touches_write(struct touches *touches, struct buffer *to);
void touches_release(struct touches *touches);

#endif

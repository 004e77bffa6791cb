/* Heartbeats that are not on disk yet. A heartbeat that keeps the length of its lease promises only that the lease
 * lasts until then; while this process lives the promise stands here, and a restart gives every lease a full term from
 * its own start on, which is later (docs/decisions/0022-heartbeats-in-memory.md). Only for SQLite, where one process
 * has all the leases. A writer thread's own; survives a rollback. */
#ifndef SERVICE_RENEWAL_H
#define SERVICE_RENEWAL_H

#include "base/map.h"
#include "store/store.h"

/* So long a renewal waits for others before it is saved. */
enum { RENEWAL_DELAY_MS = 1000 };

struct renewal {
    int64_t session_key;
    int64_t tenant_key;
    int64_t fence;
    int64_t expires_at_ms;        /* steady */
    int64_t heartbeat_at_ms;      /* wall */
    int64_t stored_expires_at_ms; /* what the row says; when it says something else, this renewal is out of date */
    struct renewal *next, **link; /* `link` points here */
};

struct renewals {
    struct map by_session;
    struct renewal *first;
    int64_t due_ms; /* steady; 0 = nothing waits */
};

/* The session's lease is over, and so is what it was renewed to. Only after the commit that ended it. */
void renewals_drop(struct renewals *renewals, int64_t session_key);
/* Forgets all, also after they were saved. */
void renewals_clear(struct renewals *renewals);
void renewals_release(struct renewals *renewals);
/* `held` is the lease as it was told last. False when it must be written at once: readers, who know only the row, would
 * take it for expired before the renewal is saved. */
bool renewals_take(struct renewals *renewals, const struct lease *held, int64_t expires_at_ms, int64_t heartbeat_at_ms,
                   int64_t now_ms);
/* A lease from the store becomes what its holder was told. */
void renewals_apply(const struct renewals *renewals, struct lease *lease);
/* Writes all into the running transaction. */
MUST_CHECK enum status renewals_save(const struct renewals *renewals, struct db *db, struct failure *failure);

#endif

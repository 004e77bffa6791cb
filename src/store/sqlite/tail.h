/* Where a session's events stand in the table `events`.
 *
 * Positions are encoded one after another: a varint of (position << 1 | 1) or, when the position before is known,
 * (distance << 1). The first of every EVENTS_PER_CHUNK starts a new run, which becomes a row of event_chunks when it is
 * full; until then it is the session's tail, in session_activity.
 *
 * The writer remembers here, per session, the last position and the bytes that the row does not have yet. They reach
 * the row with the session's next touch, at the latest at commit. One thread: the writer's. */
#ifndef STORE_SQLITE_TAIL_H
#define STORE_SQLITE_TAIL_H

#include "base/status.h"

struct sqlite_db;

enum {
    EVENTS_PER_CHUNK = 128,
    EVENTS_PER_BLOCK_BITS = 10,
    TAIL_SLOTS = 1024, /* a power of two */
    TAIL_BYTES = 88,
    VARINT_BYTES_MAX = 10,
};

struct tail {
    int64_t session_key; /* 0 = free */
    int64_t sequence;    /* of the last event */
    int64_t position;    /* of the last event */
    bool dirty;          /* the row lacks `bytes`, or is to be replaced */
    bool listed;         /* in tails.dirty, until the next flush */
    bool replaces;       /* `bytes` begin a new run: what is in the row belongs to a full chunk */
    uint8_t len;
    char bytes[TAIL_BYTES];
};

struct tails {
    int64_t last_position;
    bool changed; /* by the running transaction */
    size_t dirty_count;
    uint16_t dirty[TAIL_SLOTS]; /* slots that were made dirty; some may be clean again */
    struct tail slots[TAIL_SLOTS];
    struct {
        int64_t tenant_key, block;
    } blocks[64]; /* the newest block each tenant is known to be in */
};

/* The session's slot when it holds bytes for the row, else NULL. */
struct tail *tail_pending(struct sqlite_db *self, int64_t session_key);
void tail_written(struct tail *tail);
/* Notes an event that was inserted at tails->last_position. */
MUST_CHECK enum status tail_add(struct sqlite_db *self, int64_t tenant_key, int64_t session_key, int64_t sequence,
                                struct failure *failure);
/* Brings all rows up to date: before a commit and before positions are read. */
MUST_CHECK enum status tails_flush(struct sqlite_db *self, struct failure *failure);
/* Erases the session's events and what points at them; the delete itself has the next position. */
MUST_CHECK enum status tail_delete_events(struct sqlite_db *self, int64_t tenant_key, int64_t session_key,
                                          struct failure *failure);
/* After a commit: what is remembered is true. */
void tails_keep(struct sqlite_db *self);
/* After a rollback: what the transaction changed is true no more, except that positions are not given twice. */
void tails_forget(struct sqlite_db *self);

/* Reads one position; false at the end of the bytes. *position holds the one before and gets the next. */
bool position_next(struct slice bytes, size_t *at, int64_t *position);

#endif

/* Who watches what. One hub per loop; publications reach all hubs in one order, through the first loop, which numbers
 * the deltas. Viewers belong to the hub of their connection's loop and are used on that thread only.
 *
 * A viewer is either reading pages from the store or live. It joins its watch before its first page is read, and goes
 * live when a page ends where the watch's tail begins: no gap, no repeat. A viewer whose socket is full keeps only its
 * cursor; when the socket drains it continues from the tail, or from the store when the tail has moved on (frame
 * `slow`). */
#ifndef FANOUT_FANOUT_H
#define FANOUT_FANOUT_H

#include "base/byte_hold.h"
#include "base/clock.h"
#include "fanout/publication.h"
#include "loop/loop.h"
#include "loop/work_queue.h"
#include "store/store.h"

/* Work for a reader thread: `run` gets that thread's connection. main supplies `submit`. */
struct read_job {
    struct queue_item work;
    bool unbounded; /* the server's own housekeeping: no budget */
    void (*run)(struct read_job *job, struct db *db);
};

/* What a viewer was authenticated with. The fanout keeps it for `is_revoked`. */
struct viewer_credential {
    int64_t tenant_key;
    struct credential credential;
    enum member_role member; /* of a user, when the viewer was opened; else MEMBER_NONE */
    struct slice user_id;
};

/* Decides who may watch what, and whether they still may. Called on reader threads. */
struct viewer_rights {
    /* Of the firehose: may this viewer see the session? Asked once per session and change. */
    enum status (*may_see)(struct db *db, const struct principal *who, int64_t session_key, bool *out_may,
                           struct failure *failure);
    /* The same of a session that was deleted; `audience` as in struct firehose_row. */
    bool (*could_see)(const struct principal *who, int64_t session_key, struct slice audience);
    /* Is the credential no longer valid? Asked after credentials or memberships changed. */
    enum status (*is_revoked)(struct db *db, const struct viewer_credential *credential, bool *out_revoked,
                              struct failure *failure);
};

struct fanout_options {
    struct clock *clock;
    const struct viewer_rights *rights;
    int64_t heartbeat_ms;
    int64_t partial_flush_ms;
    size_t tail_bytes_max;   /* of recent frames kept per watched session */
    size_t window_bytes_max; /* of deltas kept per running turn */
    int64_t page_events;     /* how many events one page reads */
    size_t viewers_max;      /* all hubs together */
    void *owner;
    /* Any thread. False when no more are taken now: the fanout keeps the job and tries again. */
    bool (*submit_read)(void *owner, struct read_job *job);
    /* Saves partial output through a writer; any thread; takes a copy. */
    void (*save_partial)(void *owner, int64_t tenant_key, int64_t session_key, const struct partial *partial);
};

struct fanout;
struct viewer;

struct fanout *fanout_new(const struct fanout_options *options, struct loop *const *loops, size_t loop_count);
/* When the readers are stopped and the loops have ended. */
void fanout_free(struct fanout *fanout);
/* Any thread; takes over the caller's reference. Only after the commit. */
void fanout_publish(struct fanout *fanout, struct publication *publication);
/* PostgreSQL: another node wrote to these sessions (key 0 = to any): viewers look into the store. Any thread. */
void fanout_refresh(struct fanout *fanout, int64_t tenant_key, int64_t session_key);
/* PostgreSQL: another node changed who may come in. Any thread. */
void fanout_recheck(struct fanout *fanout);
/* For good: tells every viewer `closed` with the reason and ends it, refuses new ones, saves the live output that is
 * not saved yet and closes the timers, without which the loops would not end. Any thread, once. */
void fanout_close_all(struct fanout *fanout, const char *reason);

/* A cursor: SEQ or SEQ.N. For the firehose: MAJOR-MINOR. */
struct cursor {
    int64_t sequence;
    int64_t delta;
};
MUST_CHECK enum status cursor_parse(struct slice text, struct cursor *out, struct failure *failure);
MUST_CHECK enum status position_parse(struct slice text, struct position *out, struct failure *failure);

struct frame;
struct encoder; /* fanout/frame.h */

/* Where a viewer's frames go: as bytes of its encoder, or, without one, as they are. Neither calls anybody back. */
struct viewer_sink {
    void *owner;
    size_t (*write)(void *owner, struct slice bytes);     /* like stream_write */
    bool (*take)(void *owner, const struct frame *frame); /* false: full; it is offered again after viewer_writable */
    void (*end)(void *owner, int code);                   /* like stream_end; viewer_closed follows */
};

enum { VIEWER_TYPES_MAX = 16 };

struct viewer_options {
    const struct encoder *encoder; /* NULL: the sink takes frames. Outlives the fanout */
    struct viewer_sink sink;
    int64_t tenant_key;
    struct byte_account *accounts[BYTE_ACCOUNTS_MAX]; /* whose memory the pages of its backlog are; NULL = nobody's */
    struct slice user_id;                             /* who watches; for PUBLISH_CLOSE */
    struct credential credential; /* the stream ends with it: `credential_over`, or `access_revoked` before its time */
    enum member_role member;      /* of a user; the stream ends when it is another one */
    /* a session's stream */
    int64_t session_key; /* 0 = the tenant's firehose */
    struct slice session_id;
    struct cursor after;
    bool from_end; /* no backlog */
    /* the firehose */
    struct position position;
    /* firehose: may this viewer see the session? Asked on a reader thread, once per session and change. */
    bool sees_all;
    struct principal who; /* copied; used with sees_all == false */
    /* filters */
    struct slice types[VIEWER_TYPES_MAX]; /* "tool.*" matches a prefix */
    size_t type_count;
    struct slice thread_id;
    bool deltas; /* live deltas wanted */
};

/* Loop thread of `loop`. Slices are copied. Nothing is written before the first viewer_writable. LIMITED when there are
 * too many viewers, UNAVAILABLE when the server is stopping. */
MUST_CHECK enum status viewer_open(struct fanout *fanout, struct loop *loop, const struct viewer_options *options,
                                   struct viewer **out, struct failure *failure);
void viewer_writable(struct viewer *viewer);
/* The connection is gone: frees the viewer; the sink is not used again. */
void viewer_closed(struct viewer *viewer);

/* Has the session a viewer? Any thread. */
bool fanout_is_watched(struct fanout *fanout, int64_t session_key);

struct fanout_stats {
    int64_t viewers, watched_sessions, frames_sent, bytes_sent, slow_total, store_pages;
};
void fanout_figures_read(struct fanout *fanout, struct fanout_stats *out);

#endif

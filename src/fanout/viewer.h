/* One connected viewer, as its feed and hub see it.
 *
 *   NEW ──→ STARTING ──→ BEHIND ←──→ READING ←── FOLLOWING, LIVE   the tail has moved on; access is not decided
 *    │         │           │           │
 *    └─────────┴───────────┴───────────┴──→ FOLLOWING ←──→ LIVE     the tail leads to the end; nothing is new
 *                                               │           │
 *            BEHIND or FOLLOWING ←── LAGGING ←──┴───────────┘       the socket is full; it drained
 *
 *   any of these ──→ LEAVING ──→ OVERDUE ──→ ENDED                  viewer_close; a heartbeat; the next one
 *                       └──────────────────────┘                    the closing frame is written
 *
 * state       holds                                              | left by
 * NEW         nothing; `ready` was not sent                      | step_start
 * STARTING    the first page is with a reader                    | page_accept
 * READING     a further page is with a reader                    | page_accept
 * BEHIND      a page, or the frame `ready` or `slow`, perhaps;   | step_follow
 *             the way to the end leads through the store
 * FOLLOWING   a page or a frame, perhaps; the tail leads to the  | step_follow; viewer_block
 *             end, or the viewer has read beyond it
 * LIVE        nothing; socket not full; frames go out as they    | viewer_advance, viewer_block, viewer_take
 *             come
 * LAGGING     what the full socket did not take                  | step_lagging
 * LEAVING     no page with a reader; the closing frame           | step_closing_frame, viewer_beat
 * OVERDUE     the same, for a heartbeat already                  | step_closing_frame, viewer_beat
 * ENDED       the sink was told                                  | –
 *
 * Between calls, a viewer whose socket is not full is STARTING, READING, LIVE or ENDED. A callback stores what it
 * brought and calls viewer_advance; all decisions stand there. */
#ifndef FANOUT_VIEWER_H
#define FANOUT_VIEWER_H

#include "fanout/feed.h"
#include "fanout/filter.h"
#include "fanout/access_cache.h"

struct page;

enum viewer_state {
    VIEWER_NEW,
    VIEWER_STARTING,
    VIEWER_READING,
    VIEWER_BEHIND,
    VIEWER_FOLLOWING,
    VIEWER_LIVE,
    VIEWER_LAGGING,
    VIEWER_LEAVING,
    VIEWER_OVERDUE,
    VIEWER_ENDED,
    VIEWER_STATE_COUNT
};

struct viewer {
    struct feed *feed;
    struct viewer *next, **link;           /* among the feed's viewers */
    struct viewer *beat_next, **beat_link; /* in its slot of the wheel */
    struct viewer_sink sink;
    const struct encoder *encoder;     /* NULL: the sink takes frames */
    struct cursor cursor;              /* everything up to here was written, is pending, or was not asked for */
    struct frame *frame;               /* pending, or NULL */
    struct page *page;                 /* being read or pending, or NULL; behind `frame` */
    struct frame *closing_frame;       /* leaving: the closing frame, until it is pending */
    struct filter *filter;             /* NULL = everything */
    struct access_cache *access_cache; /* NULL = everything */
    struct byte_account *accounts[BYTE_ACCOUNTS_MAX];
    uint32_t written;     /* of `frame` */
    uint32_t deltas_mark; /* lagging: how many deltas of the feed it had */
    int16_t end_code;
    uint8_t state; /* enum viewer_state; set by viewer_enter alone */
    /* Facts that hold in any state. */
    bool deltas;             /* wanted */
    bool from_end;           /* no backlog */
    bool wants_whole;        /* came here without the output that the present window carries */
    bool blocked;            /* the socket is full, or was not asked yet */
    bool access_cache_stale; /* forget all decisions when the page comes back */
    uint8_t credential_kind;
    uint8_t member; /* enum member_role when it was opened; of users only, else MEMBER_NONE */
    struct hash credential_hash;
    int64_t expires_at_ms; /* wall; 0 = never */
    uint8_t user_id_len;
    char user_id[];
};

/* Asserts that the edge exists and that what the state promises holds. */
void viewer_enter(struct viewer *viewer, enum viewer_state state);
/* Its page is with a reader. */
static inline bool viewer_is_reading(const struct viewer *viewer)
{
    return viewer->state == VIEWER_STARTING || viewer->state == VIEWER_READING;
}
/* The feed's end was reachable from the tail, or passed. */
static inline bool viewer_is_caught_up(const struct viewer *viewer)
{
    return viewer->state == VIEWER_FOLLOWING || viewer->state == VIEWER_LIVE || viewer->state == VIEWER_LAGGING;
}

/* A frame was appended to the feed. A viewer that is not live finds it in the tail when it comes there. */
void viewer_offer(struct viewer *viewer, struct frame *frame);
/* Does whatever can be done now. */
void viewer_advance(struct viewer *viewer);
/* The frames it stands on are gone or new ones may be waiting. */
void viewer_recheck(struct viewer *viewer);
/* Says `closed` and ends it. */
void viewer_close(struct viewer *viewer, struct slice reason);
/* Tells the sink to end; the viewer may be gone afterwards. */
void viewer_end(struct viewer *viewer);
/* One tick of its heartbeat. */
void viewer_beat(struct viewer *viewer);
/* Writes a frame between others; nothing is pending. Takes over the reference. */
void viewer_send_frame(struct viewer *viewer, struct frame *frame);
/* A page in flight is left to the reader, with filter and sight. */
void viewer_drop_page(struct viewer *viewer);
bool viewer_is_of(const struct viewer *viewer, struct slice user_id);
/* Access to a session (0 = to any) may have changed. */
void viewer_forget_sight(struct viewer *viewer, int64_t session_key);

#endif

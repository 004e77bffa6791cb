/* One connected viewer, as its feed and hub see it.
 *
 *              page read, more behind it
 *             ┌──────────────┐
 *             ▼              │
 *   open → reading → writing page → caught up → live ──→ frame offered, socket full → blocked
 *             ▲                          ▲                                              │
 *             │  the tail has moved on   └───────── the tail covers the cursor ─────────┤ writable
 *             └────────────────────────────────────────────────────── frame `slow` ─────┘
 *
 * A callback stores what it brought and calls viewer_advance; all decisions stand there. */
#ifndef FANOUT_VIEWER_H
#define FANOUT_VIEWER_H

#include "fanout/feed.h"
#include "fanout/filter.h"
#include "fanout/sight.h"

struct page;

struct viewer {
    struct feed *feed;
    struct viewer *next, **link;           /* among the feed's viewers */
    struct viewer *beat_next, **beat_link; /* in its slot of the wheel */
    struct viewer_sink sink;
    const struct encoder *encoder; /* NULL: the sink takes frames */
    struct cursor cursor;          /* everything up to here was written, is pending, or was not asked for */
    struct frame *frame;           /* pending, or NULL */
    struct page *page;             /* being read or pending, or NULL; behind `frame` */
    struct frame *farewell;        /* the last frame to be said, or NULL */
    struct filter *filter;         /* NULL = everything */
    struct sight *sight;           /* NULL = everything */
    struct byte_account *accounts[BYTE_ACCOUNTS_MAX];
    uint32_t written;     /* of `frame` */
    uint32_t deltas_mark; /* lagging: how many deltas of the feed it had */
    int16_t end_code;
    bool deltas;      /* wanted */
    bool from_end;    /* until started */
    bool started;     /* `ready` was said */
    bool reading;     /* `page` is in flight */
    bool caught_up;   /* the feed's end is reachable from the tail */
    bool must_read;   /* although the tail would do: access has to be decided */
    bool wants_whole; /* came here without the output that the present window carries */
    bool live;        /* at the end, nothing pending: frames are written as they come */
    bool blocked;     /* the socket is full */
    bool lagging;     /* was caught up when it got blocked */
    bool sight_stale; /* forget all decisions when the page comes back */
    bool leaving;     /* the farewell, then the end */
    bool ended;       /* the sink was told to end */
    bool beaten;      /* a heartbeat passed since it is leaving */
    uint8_t credential_kind;
    uint8_t member; /* enum member_role when it was opened; of users only, else MEMBER_NONE */
    struct hash credential_hash;
    int64_t expires_at_ms; /* wall; 0 = never */
    uint8_t user_id_len;
    char user_id[];
};

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
void viewer_say(struct viewer *viewer, struct frame *frame);
/* A page in flight is left to the reader, with filter and sight. */
void viewer_drop_page(struct viewer *viewer);
bool viewer_is_of(const struct viewer *viewer, struct slice user_id);
/* Access to a session (0 = to any) may have changed. */
void viewer_forget_sight(struct viewer *viewer, int64_t session_key);

#endif

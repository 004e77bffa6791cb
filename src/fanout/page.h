/* One page of the backlog, read for one viewer on a reader thread and already encoded by its encoder. Until it comes
 * back the page belongs to the reader; afterwards to its viewer, who writes it out and frees it. */
#ifndef FANOUT_PAGE_H
#define FANOUT_PAGE_H

#include "fanout/filter.h"
#include "fanout/frame.h"
#include "fanout/lookup.h"
#include "fanout/access_cache.h"

enum { PAGE_BYTES_MAX = 256 * 1024 };

struct page {
    struct lookup lookup;
    struct viewer *viewer; /* hub thread only; NULL when it left meanwhile: then filter and sight are the page's */

    /* what is asked */
    const struct encoder *encoder; /* NULL: `frames` */
    enum cursor_style style;
    int64_t tenant_key, session_key;
    struct slice session_id; /* in session_id_bytes */
    struct cursor after;
    bool first;    /* begins with the frame `ready` and checks the cursor */
    bool from_end; /* only looks where the end is */
    int64_t events_max;
    struct filter *filter;
    struct access_cache *access_cache;

    /* what was found */
    enum status status; /* NOT_FOUND: the log is gone; LIMITED: no room for what was read */
    struct byte_hold hold;
    struct buffer bytes;
    size_t written; /* of `bytes` */
    struct frame **frames;
    size_t frame_count, frame_room, frame_weight;
    size_t taken;           /* of `frames` */
    struct cursor reached;  /* everything durable up to here is in here or was not asked for */
    bool has_no_asks;       /* `first` of a session: nobody was asked anything when the end was read */
    bool at_end;            /* and there was nothing behind it */
    struct partial partial; /* at the end of a session's log: saved live output; the body is in partial_bytes */
    struct buffer partial_bytes;
    char session_id_bytes[LOOKUP_ID_BYTES];
};

/* Also frees filter and sight when the viewer is gone. */
void page_free(struct page *page);
/* `done` gets it back on the hub's thread. */
void page_start(struct page *page, struct hub *hub, struct slice session_id, void (*done)(struct lookup *lookup));

#endif

/* A feed looking into the store by itself: for what other nodes wrote, for what was published out of turn, for the
 * firehose, and for saved live output. One at a time per feed. */
#ifndef FANOUT_FETCH_H
#define FANOUT_FETCH_H

#include "fanout/cursor.h"
#include "fanout/lookup.h"

struct feed;

enum { FETCH_BYTES_MAX = 256 * 1024 };

struct fetch {
    struct lookup lookup;
    struct feed *feed; /* hub thread only; NULL when it is gone */

    int64_t tenant_key, session_key; /* session 0 = the firehose */
    struct slice session_id;         /* in session_id_bytes */
    struct cursor after;
    int64_t events_max;
    bool wants_partial;
    int64_t partial_sequence; /* the window it is for */

    enum status status;
    struct publication *events; /* firehose: `sequence` and `delta` hold the position */
    bool at_end;
    struct partial partial; /* the body is in partial_bytes */
    struct buffer partial_bytes;
    char session_id_bytes[LOOKUP_ID_BYTES];
};

void fetch_free(struct fetch *fetch);
/* `done` gets it back on the hub's thread. */
void fetch_start(struct fetch *fetch, struct hub *hub, struct slice session_id, void (*done)(struct lookup *lookup));

#endif

/* A look into the store: queued by a hub, run by a reader thread, back to the hub. A hub has a bounded number of them
 * with the readers at a time, so that ten thousand viewers that come at once do not stand in the way of other reads. */
#ifndef FANOUT_LOOKUP_H
#define FANOUT_LOOKUP_H

#include <stdatomic.h>

#include "fanout/fanout.h"

struct hub;

enum { LOOKUPS_MAX = 64, LOOKUP_ID_BYTES = 128 };

/* Embedded at the beginning of what is looked up. */
struct lookup {
    struct read_job job;
    struct loop_message message;
    struct hub *hub;
    atomic_bool abandoned;                             /* nobody waits for it any more: `ask` is left out */
    void (*ask)(struct lookup *lookup, struct db *db); /* reader thread */
    void (*done)(struct lookup *lookup);               /* hub thread; frees or keeps it */
};

struct lookup_queue {
    struct lookup *first;
    struct queue_item **last; /* where the next one is hung in */
    int running;
};

/* Copies the id of a session: a lookup may outlive the viewer that asked. */
struct slice lookup_keep_id(struct slice id, char out[LOOKUP_ID_BYTES]);

/* Hub thread. */
void lookup_start(struct lookup *lookup, struct hub *hub);
/* Hands waiting lookups to the readers, as many as they may have. */
void lookups_submit(struct hub *hub);
/* Ends waiting lookups without asking. */
void lookups_drop(struct hub *hub);

#endif

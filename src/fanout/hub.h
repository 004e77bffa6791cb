/* All feeds and viewers of one loop. Hub thread = the loop's thread. */
#ifndef FANOUT_HUB_H
#define FANOUT_HUB_H

#include <stdatomic.h>

#include "fanout/watched.h"
#include "base/map.h"
#include "fanout/feed.h"
#include "fanout/lookup.h"

enum { HUB_WHEEL_SLOTS = 15 };

/* Written by the hub's thread only, read by any. */
struct hub_stats {
    _Atomic int64_t viewers, watched_sessions, frames_sent, bytes_sent, slow_total, store_pages;
};

struct hub {
    struct fanout *fanout;
    struct loop *loop;
    struct map feeds;  /* by feed->key */
    struct map sweeps; /* by tenant */
    /* Viewers are dealt out over the slots, so that only a few get their heartbeat at once. */
    struct viewer *wheel[HUB_WHEEL_SLOTS];
    struct viewer *wheel_walk; /* the next one of a walk over a slot */
    unsigned wheel_hand;
    unsigned wheel_next;
    struct frame *heartbeat;
    struct lookup_queue lookups;
    struct recheck *recheck; /* under way, or NULL */
    bool recheck_again;
    int64_t ends_next_ms;  /* wall: when the first credential of a viewer is over; 0 = none */
    struct feed *dirty;    /* first hub: feeds whose deltas are not saved yet */
    struct feed *flushing; /* of these, the ones whose time has come */
    uv_timer_t beat_timer;
    uv_timer_t flush_timer; /* first hub, while there is something to save */
    struct loop_message start_message;
    bool timers_open;
    bool closing;
    struct hub_stats figures;
};

struct fanout {
    struct fanout_options options;
    struct hub *hubs;
    size_t hub_count;
    _Atomic int64_t viewers;
    struct watched watched;
    /* Viewers, windows and deltas on their way: while there is none, publications need not travel. */
    _Atomic int64_t interest;
};

static inline void counter_add(_Atomic int64_t *figure, int64_t more)
{
    atomic_store_explicit(figure, atomic_load_explicit(figure, memory_order_relaxed) + more, memory_order_relaxed);
}

void hub_init(struct hub *hub, struct fanout *fanout, struct loop *loop);
void hub_release(struct hub *hub);
bool hub_is_first(const struct hub *hub);
struct feed *hub_find(const struct hub *hub, int64_t tenant_key, int64_t session_key);
struct feed *hub_find_or_add(struct hub *hub, int64_t tenant_key, int64_t session_key, struct slice session_id);
void hub_forget(struct hub *hub, struct feed *feed);

void hub_deliver(struct hub *hub, struct publication *publication);
/* First hub: gives the deltas of a publication their numbers, before any hub delivers it. */
void hub_number(struct hub *hub, struct publication *publication);
void hub_poke_firehose(struct hub *hub, int64_t tenant_key);
/* Every feed of the tenant looks into the store. */
void hub_poke_each(struct hub *hub, int64_t tenant_key);
void hub_refresh(struct hub *hub, int64_t tenant_key, int64_t session_key);
/* Closes viewers and timers for good; saves what is unsaved. */
void hub_close(struct hub *hub, struct slice reason);

/* A viewer whose credential is over at this time (0 = never) is here. */
void hub_expect_end(struct hub *hub, int64_t expires_at_ms);
/* Ends the viewers for which `is_over` holds. */
void hub_close_where(struct hub *hub, bool (*is_over)(void *owner, const struct viewer *viewer), void *owner,
                     struct slice reason);
/* First hub: the feed's deltas shall be saved soon. */
void hub_mark_dirty(struct hub *hub, struct feed *feed);
/* Saves all of them now. */
void hub_flush(struct hub *hub);
/* Saves as much as a loop may do at once, and comes back for the rest. */
void hub_flush_some(struct hub *hub);
/* One tick of the wheel. */
void hub_beat(struct hub *hub);

#endif

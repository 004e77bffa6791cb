/* One watched session, or one tenant's firehose, on one hub: its viewers, the most recent frames and the live deltas.
 * Hub thread only. It exists while it has viewers or deltas.
 *
 * `tail.end` is the feed's end: the last durable frame that reached this hub. It is learned from the first page that
 * ends, or from the first publication, whichever comes first. Events must follow it without a hole; when one is
 * missing the feed fetches from the store. Live viewers stand at the end (or, having read the store faster than the
 * publication came, behind it). */
#ifndef FANOUT_FEED_H
#define FANOUT_FEED_H

#include "fanout/publication.h"
#include "fanout/delta_window.h"

struct hub;
struct viewer;
struct fetch;

struct feed {
    int64_t key[2]; /* tenant, session (0 = the firehose) */
    struct hub *hub;
    struct viewer *viewers;
    struct viewer *walk; /* the next one of a walk over the viewers: they may leave meanwhile */
    struct recent_frames tail;
    struct delta_window *window; /* of a running turn, or NULL */
    struct fetch *fetch;         /* in flight, or NULL */
    struct feed *dirty_next;
    struct cursor numbered; /* first hub: the newest number given to a delta */
    uint32_t deltas_total;  /* counts on over all windows; wraps */
    uint32_t deltas_before; /* deltas_total when the present window began */
    bool end_known;
    bool has_no_asks; /* nothing is asked in the session: who begins at its end needs no look into the store */
    bool fetch_again; /* something happened that the fetch in flight may not have seen */
    bool busy;        /* a walk over the viewers is under way */
    bool dirty;       /* first hub: on the list of windows to be saved */
    bool fresh;       /* frames came since the last look */
    uint16_t session_id_len;
    char session_id[];
};

struct feed *feed_new(struct hub *hub, int64_t tenant_key, int64_t session_key, struct slice session_id);
/* Frees it when nobody watches and nothing is kept. */
void feed_free_if_unused(struct feed *feed);
void feed_free(struct feed *feed);

static inline bool feed_is_firehose(const struct feed *feed)
{
    return feed->key[1] == 0;
}

static inline enum cursor_style feed_style(const struct feed *feed)
{
    return feed_is_firehose(feed) ? CURSOR_FIREHOSE : CURSOR_SESSION;
}

/* What arrives. Each may free the feed when nobody watches it. */
void feed_take_event(struct feed *feed, const struct publication_entry *entry);
void feed_take_delta(struct feed *feed, const struct publication_entry *entry);
/* There may be more in the store. */
void feed_refresh(struct feed *feed);
/* First hub: the cursor of a delta that is about to be delivered to all hubs. */
struct cursor feed_number(struct feed *feed, const struct publication_entry *entry);
/* A viewer read up to the end of the log. */
void feed_learn_end(struct feed *feed, struct cursor end, const struct partial *partial);
/* First hub: hands partial output to the writer and adds its size to `bytes`. False when it has to wait for the store.
 */
bool feed_save_partial(struct feed *feed, size_t *bytes);
/* Tells viewers (absent only_user = all of them) `closed`. May free the feed. */
void feed_close(struct feed *feed, struct slice reason, struct slice only_user);
/* Tells those for which `is_over` holds `closed`. May free the feed. */
void feed_close_where(struct feed *feed, bool (*is_over)(void *owner, const struct viewer *viewer), void *owner,
                      struct slice reason);
/* The session is gone. May free the feed. */
void feed_drop_deltas(struct feed *feed);
/* Keeps no event in memory: what was erased from the store must not be told again. */
void feed_drop_tail(struct feed *feed);
/* Firehose: what these viewers may see has changed. */
void feed_forget_sight(struct feed *feed, int64_t session_key, struct slice only_user);
/* Frees frames nobody has needed for a while, and repeats a fetch that failed. */
void feed_trim(struct feed *feed);

/* The window that follows the feed's end; NULL when there is none. */
struct delta_window *feed_window(const struct feed *feed);

#endif

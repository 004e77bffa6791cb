#include "fanout/hub.h"

#include <assert.h>
#include <stdlib.h>

#include "base/arena.h"
#include "fanout/recheck.h"
#include "fanout/sweep.h"
#include "fanout/viewer.h"

enum { FLUSH_BYTES_AT_ONCE = 64 * 1024 };

/* --- feeds --- */

static struct slice key_slice(const int64_t key[2])
{
    return slice_from(key, 2 * sizeof *key);
}

struct feed *hub_find(const struct hub *hub, int64_t tenant_key, int64_t session_key)
{
    int64_t key[2] = {tenant_key, session_key};
    return map_get(&hub->feeds, key_slice(key));
}

struct feed *hub_find_or_add(struct hub *hub, int64_t tenant_key, int64_t session_key, struct slice session_id)
{
    assert(loop_is_mine(hub->loop));
    struct feed *feed = hub_find(hub, tenant_key, session_key);
    if (!feed) {
        feed = feed_new(hub, tenant_key, session_key, session_id);
        map_put(&hub->feeds, key_slice(feed->key), feed);
    }
    return feed;
}

static bool unlink_dirty(struct feed **list, const struct feed *feed)
{
    while (*list && *list != feed) {
        list = &(*list)->dirty_next;
    }
    if (!*list) {
        return false;
    }
    *list = feed->dirty_next;
    return true;
}

void hub_forget(struct hub *hub, struct feed *feed)
{
    assert(loop_is_mine(hub->loop));
    map_remove(&hub->feeds, key_slice(feed->key));
    if (feed->dirty && !unlink_dirty(&hub->dirty, feed)) {
        (void)unlink_dirty(&hub->flushing, feed);
    }
}

/* A copy of the list, since what is done to a feed may remove it. */
static struct feed **feeds_list(const struct hub *hub, size_t *out_count)
{
    struct feed **list = memory_alloc(hub->feeds.count * sizeof(struct feed *));
    size_t count = 0, cursor = 0;
    for (struct feed *feed; (feed = map_next(&hub->feeds, &cursor));) {
        list[count++] = feed;
    }
    *out_count = count;
    return list;
}

static void close_feeds(struct hub *hub, int64_t tenant_key, struct slice reason, struct slice only_user)
{
    size_t count;
    struct feed **list = feeds_list(hub, &count);
    for (size_t i = 0; i < count; i++) {
        if (tenant_key == 0 || list[i]->key[0] == tenant_key) {
            feed_close(list[i], reason, only_user);
        }
    }
    free(list);
}

void hub_close_where(struct hub *hub, bool (*is_over)(void *owner, const struct viewer *viewer), void *owner,
                     struct slice reason)
{
    assert(loop_is_mine(hub->loop));
    size_t count;
    struct feed **list = feeds_list(hub, &count);
    for (size_t i = 0; i < count; i++) {
        feed_close_where(list[i], is_over, owner, reason);
    }
    free(list);
}

/* --- credentials that end by themselves --- */

struct expiry {
    int64_t now_ms;
    int64_t next_ms; /* of those that stay; 0 = none */
};

static bool has_expired(void *owner, const struct viewer *viewer)
{
    struct expiry *expiry = owner;
    bool over = viewer->expires_at_ms != 0 && viewer->expires_at_ms <= expiry->now_ms;
    bool is_next = viewer->expires_at_ms != 0 && (expiry->next_ms == 0 || viewer->expires_at_ms < expiry->next_ms);
    if (!over && is_next) {
        expiry->next_ms = viewer->expires_at_ms;
    }
    return over;
}

static void close_expired(struct hub *hub)
{
    struct expiry expiry = {clock_wall_ms(hub->fanout->options.clock), 0};
    if (hub->ends_next_ms != 0 && hub->ends_next_ms <= expiry.now_ms) {
        hub_close_where(hub, has_expired, &expiry, SLICE("credential_over"));
        hub->ends_next_ms = expiry.next_ms;
    }
}

void hub_expect_end(struct hub *hub, int64_t expires_at_ms)
{
    assert(loop_is_mine(hub->loop));
    if (expires_at_ms != 0 && (hub->ends_next_ms == 0 || expires_at_ms < hub->ends_next_ms)) {
        hub->ends_next_ms = expires_at_ms;
    }
}

/* --- what arrives --- */

static void deliver_event(struct hub *hub, const struct publication_entry *entry)
{
    struct feed *feed = hub_find(hub, entry->tenant_key, entry->session_key);
    if (feed) {
        feed_take_event(feed, entry);
    }
}

static void deliver_close(struct hub *hub, const struct publication_entry *entry)
{
    if (entry->session_key == 0) {
        close_feeds(hub, entry->tenant_key, entry->reason, entry->only_user);
        return;
    }
    struct feed *feed = hub_find(hub, entry->tenant_key, entry->session_key);
    if (feed) {
        feed_close(feed, entry->reason, entry->only_user);
    }
    feed = slice_present(entry->only_user) ? NULL : hub_find(hub, entry->tenant_key, entry->session_key);
    if (feed) {
        feed_drop_deltas(feed);
    }
    struct feed *firehose = hub_find(hub, entry->tenant_key, 0);
    if (firehose) {
        feed_forget_sight(firehose, entry->session_key, entry->only_user);
        if (!slice_present(entry->only_user)) {
            feed_drop_tail(firehose);
            feed_refresh(firehose); /* the store tells of the delete */
        }
    }
}

void hub_deliver(struct hub *hub, struct publication *publication)
{
    assert(loop_is_mine(hub->loop));
    int64_t poked_tenant = 0;
    for (size_t i = 0; i < publication_count(publication); i++) {
        const struct publication_entry *entry = publication_at(publication, i);
        switch (entry->kind) {
        case PUBLISH_EVENTS:
            deliver_event(hub, entry);
            if (entry->tenant_key != poked_tenant) {
                poked_tenant = entry->tenant_key;
                hub_poke_firehose(hub, poked_tenant);
            }
            break;
        case PUBLISH_DELTA:
            feed_take_delta(hub_find_or_add(hub, entry->tenant_key, entry->session_key, entry->session_id), entry);
            break;
        case PUBLISH_CLOSE:
            deliver_close(hub, entry);
            break;
        case PUBLISH_RECHECK:
            recheck_start(hub);
            break;
        }
    }
}

void hub_poke_firehose(struct hub *hub, int64_t tenant_key)
{
    assert(loop_is_mine(hub->loop));
    struct feed *firehose = hub_find(hub, tenant_key, 0);
    if (firehose) {
        feed_refresh(firehose);
    }
}

void hub_number(struct hub *hub, struct publication *publication)
{
    assert(loop_is_mine(hub->loop));
    for (size_t i = 0; i < publication_count(publication); i++) {
        const struct publication_entry *entry = publication_at(publication, i);
        if (entry->kind == PUBLISH_DELTA) {
            struct feed *feed = hub_find_or_add(hub, entry->tenant_key, entry->session_key, entry->session_id);
            struct cursor at = feed_number(feed, entry);
            publication_number(publication, i, at.sequence, at.delta);
        }
    }
}

void hub_poke_each(struct hub *hub, int64_t tenant_key)
{
    assert(loop_is_mine(hub->loop));
    size_t cursor = 0;
    for (struct feed *feed; (feed = map_next(&hub->feeds, &cursor));) {
        if (feed->key[0] == tenant_key) {
            feed_refresh(feed);
        }
    }
}

static int by_tenant(const void *a, const void *b)
{
    int64_t one = (*(struct feed *const *)a)->key[0], other = (*(struct feed *const *)b)->key[0];
    return one < other ? -1 : one > other;
}

/* The feeds are all of one tenant. */
static void poke_tenant(struct hub *hub, struct feed *const *feeds, size_t count)
{
    if (count >= SWEEP_FEEDS_MIN) {
        sweep_start(hub, feeds[0]->key[0]);
        return;
    }
    sweep_stop(hub, feeds[0]->key[0]);
    for (size_t i = 0; i < count; i++) {
        feed_refresh(feeds[i]);
    }
}

/* Each tenant that has feeds, or one (tenant_key 0 = all). */
static void poke_tenants(struct hub *hub, int64_t tenant_key)
{
    size_t count, end;
    struct feed **list = feeds_list(hub, &count);
    qsort(list, count, sizeof(struct feed *), by_tenant);
    for (size_t start = 0; start < count; start = end) {
        for (end = start + 1; end < count && list[end]->key[0] == list[start]->key[0];) {
            end++;
        }
        if (tenant_key == 0 || list[start]->key[0] == tenant_key) {
            poke_tenant(hub, list + start, end - start);
        }
    }
    free(list);
}

void hub_refresh(struct hub *hub, int64_t tenant_key, int64_t session_key)
{
    assert(loop_is_mine(hub->loop));
    if (tenant_key == 0 || session_key == 0) {
        poke_tenants(hub, tenant_key);
        return;
    }
    struct feed *feed = hub_find(hub, tenant_key, session_key);
    if (feed) {
        feed_refresh(feed);
    }
    hub_poke_firehose(hub, tenant_key);
}

/* --- timers --- */

void hub_beat(struct hub *hub)
{
    assert(loop_is_mine(hub->loop));
    hub->wheel_hand = (hub->wheel_hand + 1) % HUB_WHEEL_SLOTS;
    for (struct viewer *viewer = hub->wheel[hub->wheel_hand]; viewer; viewer = hub->wheel_walk) {
        hub->wheel_walk = viewer->beat_next;
        viewer_beat(viewer);
    }
    hub->wheel_walk = NULL;
    close_expired(hub);
    lookups_submit(hub);
}

static void on_beat(uv_timer_t *timer)
{
    hub_beat(timer->data);
}

static void flush_after(struct hub *hub, int64_t wait_ms);

/* Saves from `flushing` until so many bytes are copied; what cannot be saved yet is kept for the next time. */
static void flush_some(struct hub *hub, size_t bytes_max)
{
    size_t bytes = 0;
    while (hub->flushing && bytes < bytes_max) {
        struct feed *feed = hub->flushing;
        hub->flushing = feed->dirty_next;
        feed->dirty = !feed_save_partial(feed, &bytes);
        if (feed->dirty) {
            feed->dirty_next = hub->dirty;
            hub->dirty = feed;
        }
    }
}

/* A loop with much to save goes on with its sockets in between. */
void hub_flush_some(struct hub *hub)
{
    assert(loop_is_mine(hub->loop));
    if (!hub->flushing) {
        hub->flushing = hub->dirty;
        hub->dirty = NULL;
    }
    flush_some(hub, FLUSH_BYTES_AT_ONCE);
    if (hub->flushing) {
        flush_after(hub, 0);
    } else if (hub->dirty) {
        flush_after(hub, hub->fanout->options.partial_flush_ms);
    }
}

static void on_flush(uv_timer_t *timer)
{
    hub_flush_some(timer->data);
}

static void flush_after(struct hub *hub, int64_t wait_ms)
{
    if (hub->timers_open && !uv_is_active((uv_handle_t *)&hub->flush_timer)) {
        uv_timer_start(&hub->flush_timer, on_flush, (uint64_t)wait_ms, 0);
    }
}

void hub_mark_dirty(struct hub *hub, struct feed *feed)
{
    assert(loop_is_mine(hub->loop));
    if (!feed->dirty) {
        feed->dirty = true;
        feed->dirty_next = hub->dirty;
        hub->dirty = feed;
    }
    if (hub->closing) {
        hub_flush(hub);
    } else {
        flush_after(hub, hub->fanout->options.partial_flush_ms);
    }
}

void hub_flush(struct hub *hub)
{
    assert(loop_is_mine(hub->loop));
    flush_some(hub, SIZE_MAX);
    hub->flushing = hub->dirty;
    hub->dirty = NULL;
    flush_some(hub, SIZE_MAX);
    if (hub->dirty) {
        flush_after(hub, hub->fanout->options.partial_flush_ms);
    }
}

static void timer_init(struct hub *hub, uv_timer_t *timer)
{
    uv_timer_init(loop_uv(hub->loop), timer);
    uv_unref((uv_handle_t *)timer);
    timer->data = hub;
}

static void on_start(struct loop_message *message)
{
    struct hub *hub = (struct hub *)((char *)message - offsetof(struct hub, start_message));
    uint64_t step_ms = (uint64_t)hub->fanout->options.heartbeat_ms / HUB_WHEEL_SLOTS;
    timer_init(hub, &hub->beat_timer);
    timer_init(hub, &hub->flush_timer);
    hub->timers_open = true;
    uv_timer_start(&hub->beat_timer, on_beat, step_ms, step_ms ? step_ms : 1);
}

/* --- life --- */

bool hub_is_first(const struct hub *hub)
{
    return hub == hub->fanout->hubs;
}

void hub_init(struct hub *hub, struct fanout *fanout, struct loop *loop)
{
    hub->fanout = fanout;
    hub->loop = loop;
    hub->heartbeat = frame_new(&(struct frame){.kind = FRAME_HEARTBEAT});
    hub->start_message.run = on_start;
    loop_post(loop, &hub->start_message);
}

void hub_close(struct hub *hub, struct slice reason)
{
    assert(loop_is_mine(hub->loop));
    if (hub->closing) {
        return;
    }
    hub->closing = true;
    hub_flush(hub);
    close_feeds(hub, 0, reason, (struct slice){0});
    if (hub->timers_open) {
        hub->timers_open = false;
        uv_close((uv_handle_t *)&hub->beat_timer, NULL);
        uv_close((uv_handle_t *)&hub->flush_timer, NULL);
    }
}

void hub_release(struct hub *hub)
{
    size_t count;
    struct feed **list = feeds_list(hub, &count);
    for (size_t i = 0; i < count; i++) {
        struct feed *feed = list[i];
        feed->busy = true; /* it must survive its last viewer */
        while (feed->viewers) {
            viewer_closed(feed->viewers);
        }
        hub_forget(hub, feed);
        feed_free(feed);
    }
    free(list);
    lookups_drop(hub);
    size_t cursor = 0;
    for (struct sweep *sweep; (sweep = map_next(&hub->sweeps, &cursor));) {
        sweep_free(sweep);
    }
    map_release(&hub->sweeps);
    frame_unref(hub->heartbeat);
    map_release(&hub->feeds);
}

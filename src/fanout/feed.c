#include "fanout/feed.h"

#include <assert.h>
#include <stdlib.h>

#include "base/arena.h"
#include "fanout/fetch.h"
#include "fanout/hub.h"
#include "fanout/viewer.h"

struct feed *feed_new(struct hub *hub, int64_t tenant_key, int64_t session_key, struct slice session_id)
{
    struct feed *feed = memory_zeroed(sizeof *feed + session_id.len);
    feed->hub = hub;
    feed->key[0] = tenant_key;
    feed->key[1] = session_key;
    feed->session_id_len = (uint16_t)session_id.len;
    if (session_id.len > 0) {
        memcpy(feed->session_id, session_id.ptr, session_id.len);
    }
    return feed;
}

static void delta_window_set(struct feed *feed, struct delta_window *window)
{
    _Atomic int64_t *interest = &feed->hub->fanout->interest;
    if (window) {
        atomic_fetch_add(interest, 1);
    }
    if (feed->window) {
        atomic_fetch_sub(interest, 1);
        delta_window_free(feed->window);
    }
    feed->window = window;
    feed->deltas_before = feed->deltas_total;
}

void feed_free(struct feed *feed)
{
    assert(loop_is_mine(feed->hub->loop));
    if (feed->fetch) {
        feed->fetch->feed = NULL;
        atomic_store(&feed->fetch->lookup.abandoned, true);
    }
    delta_window_set(feed, NULL);
    recent_frames_release(&feed->tail);
    free(feed);
}

void feed_free_if_unused(struct feed *feed)
{
    assert(loop_is_mine(feed->hub->loop));
    if (feed->viewers || feed->busy) {
        return;
    }
    recent_frames_restart(&feed->tail, feed->tail.end);
    if (!feed->window) {
        hub_forget(feed->hub, feed);
        feed_free(feed);
    }
}

struct delta_window *feed_window(const struct feed *feed)
{
    bool follows_end = feed->window && feed->end_known && feed->window->sequence == feed->tail.end.sequence;
    return follows_end ? feed->window : NULL;
}

void feed_trim(struct feed *feed)
{
    assert(loop_is_mine(feed->hub->loop));
    if (!feed->fresh && feed->tail.count > 0) {
        recent_frames_restart(&feed->tail, feed->tail.end);
    }
    feed->fresh = false;
    if (feed->fetch_again) {
        feed_refresh(feed);
    }
}

/* Viewers may leave during a walk, even the last one: the feed stays until the walk's caller settles it. */
static struct viewer *walk_next(struct feed *feed, struct viewer *viewer)
{
    feed->busy = viewer != NULL;
    feed->walk = viewer ? viewer->next : NULL;
    return viewer;
}

static void offer_all(struct feed *feed, struct frame *frame)
{
    for (struct viewer *viewer = walk_next(feed, feed->viewers); viewer; viewer = walk_next(feed, feed->walk)) {
        viewer_offer(viewer, frame);
    }
}

static void recheck_all(struct feed *feed)
{
    for (struct viewer *viewer = walk_next(feed, feed->viewers); viewer; viewer = walk_next(feed, feed->walk)) {
        viewer_recheck(viewer);
    }
}

static bool concerns(const struct viewer *viewer, struct slice only_user)
{
    return !slice_present(only_user) || viewer_is_of(viewer, only_user);
}

void feed_close(struct feed *feed, struct slice reason, struct slice only_user)
{
    assert(loop_is_mine(feed->hub->loop));
    for (struct viewer *viewer = walk_next(feed, feed->viewers); viewer; viewer = walk_next(feed, feed->walk)) {
        if (concerns(viewer, only_user)) {
            viewer_close(viewer, reason);
        }
    }
    feed_free_if_unused(feed);
}

void feed_close_where(struct feed *feed, bool (*is_over)(void *owner, const struct viewer *viewer), void *owner,
                      struct slice reason)
{
    assert(loop_is_mine(feed->hub->loop));
    for (struct viewer *viewer = walk_next(feed, feed->viewers); viewer; viewer = walk_next(feed, feed->walk)) {
        if (is_over(owner, viewer)) {
            viewer_close(viewer, reason);
        }
    }
    feed_free_if_unused(feed);
}

void feed_drop_deltas(struct feed *feed)
{
    assert(loop_is_mine(feed->hub->loop));
    delta_window_set(feed, NULL);
    feed_free_if_unused(feed);
}

void feed_drop_tail(struct feed *feed)
{
    assert(loop_is_mine(feed->hub->loop));
    recent_frames_restart(&feed->tail, feed->tail.end);
}

void feed_forget_sight(struct feed *feed, int64_t session_key, struct slice only_user)
{
    assert(loop_is_mine(feed->hub->loop));
    for (struct viewer *viewer = feed->viewers; viewer; viewer = viewer->next) {
        if (concerns(viewer, only_user)) {
            viewer_forget_sight(viewer, session_key);
        }
    }
}

static struct frame *frame_of(const struct feed *feed, enum frame_kind kind, const struct publication_entry *entry)
{
    return frame_new(
        &(struct frame){.kind = kind,
                        .style = feed_style(feed),
                        .at = {entry->sequence, entry->delta},
                        .entry = {entry->session_key, entry->event.kind, entry->type, entry->thread_id, entry->json}});
}

/* The entry follows the feed's end. */
static void append(struct feed *feed, const struct publication_entry *entry)
{
    feed->has_no_asks = feed->has_no_asks && !event_kind_is_ask(entry->event.kind);
    if (feed->window && feed->window->sequence < entry->sequence) {
        delta_window_set(feed, delta_window_after(feed->window, entry->sequence, &entry->event));
        if (feed->window && hub_is_first(feed->hub)) {
            hub_mark_dirty(feed->hub, feed);
        }
    }
    if (!feed->viewers) {
        recent_frames_restart(&feed->tail, (struct cursor){entry->sequence, entry->delta});
        return;
    }
    struct frame *frame = frame_of(feed, FRAME_EVENT, entry);
    recent_frames_append(&feed->tail, frame, feed->hub->fanout->options.tail_bytes_max);
    feed->fresh = true;
    offer_all(feed, frame);
    frame_unref(frame);
}

void feed_take_event(struct feed *feed, const struct publication_entry *entry)
{
    assert(loop_is_mine(feed->hub->loop));
    if (!feed->end_known) {
        feed_learn_end(feed, (struct cursor){entry->sequence - 1, 0}, NULL);
    }
    if (entry->sequence > feed->tail.end.sequence + 1) {
        feed_refresh(feed);
    } else if (entry->sequence > feed->tail.end.sequence) {
        append(feed, entry);
    }
    feed_free_if_unused(feed);
}

struct cursor feed_number(struct feed *feed, const struct publication_entry *entry)
{
    assert(loop_is_mine(feed->hub->loop));
    struct cursor *last = &feed->numbered;
    int64_t sequence = entry->sequence > last->sequence ? entry->sequence : last->sequence;
    if (feed->end_known && feed->tail.end.sequence > sequence) {
        sequence = feed->tail.end.sequence;
    }
    if (last->sequence != sequence) {
        /* Deltas that were saved before a restart, or loaded from the store since, keep their numbers. */
        bool loaded = feed->window && feed->window->sequence == sequence;
        int64_t saved = entry->sequence == sequence ? entry->count_base : 0;
        *last = (struct cursor){sequence, loaded && feed->window->count > saved ? feed->window->count : saved};
    }
    last->delta++;
    return *last;
}

/* Deltas that are not in memory concern the hub that saves them, and hubs with viewers. */
static bool needs_partial(const struct feed *feed)
{
    return feed->window && !feed->window->complete && (feed->viewers || hub_is_first(feed->hub));
}

static void take_into_window(struct feed *feed, struct frame *frame)
{
    struct cursor at = frame->at;
    if (!feed->window || feed->window->sequence < at.sequence) {
        delta_window_set(feed, delta_window_new(at.sequence, at.delta - 1));
    }
    if (!delta_window_append(feed->window, frame, feed->hub->fanout->options.window_bytes_max)) {
        return;
    }
    feed->deltas_total++;
    if (hub_is_first(feed->hub)) {
        hub_mark_dirty(feed->hub, feed);
    }
    if (feed_window(feed)) {
        offer_all(feed, frame);
        frame_forget_bytes(frame); /* kept for those who come late, and they are few */
    }
}

void feed_take_delta(struct feed *feed, const struct publication_entry *entry)
{
    assert(loop_is_mine(feed->hub->loop));
    if (!feed->end_known) {
        feed_learn_end(feed, (struct cursor){entry->sequence, 0}, NULL);
    }
    bool stale =
        entry->sequence < feed->tail.end.sequence || (feed->window && entry->sequence < feed->window->sequence);
    if (!stale) {
        struct frame *frame = frame_of(feed, FRAME_DELTA, entry);
        take_into_window(feed, frame);
        frame_unref(frame);
    }
    if (entry->sequence > feed->tail.end.sequence || needs_partial(feed)) {
        feed_refresh(feed);
    }
    feed_free_if_unused(feed);
}

void feed_learn_end(struct feed *feed, struct cursor end, const struct partial *partial)
{
    assert(loop_is_mine(feed->hub->loop));
    if (!feed->end_known) {
        feed->end_known = true;
        recent_frames_restart(&feed->tail, end);
    }
    size_t bytes_max = feed->hub->fanout->options.window_bytes_max;
    bool usable = partial && partial->body.len > 0 && partial->sequence == feed->tail.end.sequence;
    if (usable && !feed->window) {
        delta_window_set(feed, delta_window_from(partial, bytes_max));
    }
    if (usable && feed->window->sequence == partial->sequence) {
        delta_window_complete(feed->window, partial, bytes_max);
    }
    if (feed->fetch_again || needs_partial(feed)) {
        feed_refresh(feed);
    }
}

static void take_fetched_event(struct feed *feed, const struct publication_entry *entry)
{
    struct cursor at = {entry->sequence, entry->delta};
    if (!cursor_before(feed->tail.end, at)) {
        return;
    }
    if (!feed_is_firehose(feed) && at.sequence > feed->tail.end.sequence + 1) {
        /* The store itself has a hole: viewers read past it and are told. */
        recent_frames_restart(&feed->tail, (struct cursor){at.sequence - 1, 0});
        recheck_all(feed);
    }
    append(feed, entry);
}

static void take_fetched(struct feed *feed, const struct fetch *fetch)
{
    for (size_t i = 0; i < publication_count(fetch->events); i++) {
        take_fetched_event(feed, publication_at(fetch->events, i));
    }
    if (fetch->wants_partial && feed->window && feed->window->sequence == fetch->partial_sequence) {
        delta_window_complete(feed->window, &fetch->partial, feed->hub->fanout->options.window_bytes_max);
    }
    if (feed->window) {
        recheck_all(feed); /* deltas that arrived before their event */
    }
}

static void on_fetched(struct lookup *lookup)
{
    struct fetch *fetch = (struct fetch *)lookup;
    struct feed *feed = fetch->feed;
    if (feed) {
        feed->fetch = NULL;
        if (fetch->status == STATUS_OK) {
            take_fetched(feed, fetch);
        }
        /* After a failure the next heartbeat tries again. */
        bool more = fetch->status == STATUS_OK && (!fetch->at_end || feed->fetch_again || needs_partial(feed));
        feed->fetch_again = fetch->status != STATUS_OK;
        if (more && (feed->viewers || feed->window)) {
            feed_refresh(feed);
        }
        feed_free_if_unused(feed);
    }
    fetch_free(fetch);
}

void feed_refresh(struct feed *feed)
{
    assert(loop_is_mine(feed->hub->loop));
    if (feed->fetch || !feed->end_known) {
        feed->fetch_again = true;
        return;
    }
    struct hub *hub = feed->hub;
    struct fetch *fetch = memory_zeroed(sizeof *fetch);
    fetch->feed = feed;
    fetch->tenant_key = feed->key[0];
    fetch->session_key = feed->key[1];
    fetch->after = feed->tail.end;
    fetch->events_max = hub->fanout->options.page_events;
    fetch->wants_partial = needs_partial(feed);
    fetch->partial_sequence = feed->window ? feed->window->sequence : 0;
    feed->fetch = fetch;
    feed->fetch_again = false;
    fetch_start(fetch, hub, slice_from(feed->session_id, feed->session_id_len), on_fetched);
}

bool feed_save_partial(struct feed *feed, size_t *bytes)
{
    assert(loop_is_mine(feed->hub->loop));
    const struct delta_window *window = feed->window;
    if (!window) {
        return true;
    }
    if (!window->complete) {
        return false;
    }
    const struct fanout_options *options = &feed->hub->fanout->options;
    struct buffer body = {0};
    live_output_write(&window->fold, &body);
    struct partial partial = {.sequence = window->sequence, .count = window->count, .body = buffer_slice(&body)};
    options->save_partial(options->owner, feed->key[0], feed->key[1], &partial);
    *bytes += body.len;
    buffer_release(&body);
    return true;
}

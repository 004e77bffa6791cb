#include "fanout/viewer.h"

#include <assert.h>

#include "base/arena.h"
#include "fanout/hub.h"
#include "fanout/page.h"

static struct hub *hub_of(const struct viewer *viewer)
{
    return viewer->feed->hub;
}

/* --- writing --- */

/* How many deltas of its feed the viewer has, in the feed's count. */
static uint32_t deltas_had(const struct viewer *viewer)
{
    const struct feed *feed = viewer->feed;
    const struct delta_window *window = feed->window;
    if (!window || window->sequence != viewer->cursor.sequence || window->count < viewer->cursor.delta) {
        return feed->deltas_total;
    }
    return feed->deltas_total - (uint32_t)(window->count - viewer->cursor.delta);
}

static void viewer_block(struct viewer *viewer)
{
    viewer->blocked = true;
    if (viewer->state == VIEWER_FOLLOWING || viewer->state == VIEWER_LIVE) {
        viewer->deltas_mark = deltas_had(viewer);
        viewer_enter(viewer, VIEWER_LAGGING);
    }
}

/* True when all of `bytes` behind *written is taken. */
static bool viewer_write(struct viewer *viewer, struct slice bytes, size_t *written)
{
    size_t taken = viewer->sink.write(viewer->sink.owner, slice_after(bytes, *written));
    *written += taken;
    counter_add(&hub_of(viewer)->figures.bytes_sent, (int64_t)taken);
    return *written >= bytes.len;
}

/* True when the frame is taken whole. */
static bool write_frame(struct viewer *viewer)
{
    if (!viewer->encoder) {
        return viewer->sink.take(viewer->sink.owner, viewer->frame);
    }
    size_t written = viewer->written;
    bool whole = viewer_write(viewer, frame_bytes(viewer->frame, viewer->encoder), &written);
    viewer->written = (uint32_t)written;
    return whole;
}

static bool flush_frame(struct viewer *viewer)
{
    bool whole = write_frame(viewer);
    if (whole) {
        frame_unref(viewer->frame);
        viewer->frame = NULL;
        viewer->written = 0;
        counter_add(&hub_of(viewer)->figures.frames_sent, 1);
    }
    return whole;
}

static bool flush_frames(struct viewer *viewer)
{
    struct page *page = viewer->page;
    while (page->taken < page->frame_count && viewer->sink.take(viewer->sink.owner, page->frames[page->taken])) {
        frame_unref(page->frames[page->taken++]);
    }
    return page->taken == page->frame_count;
}

static bool flush_page(struct viewer *viewer)
{
    struct page *page = viewer->page;
    bool whole = viewer->encoder
                     ? page->bytes.len == 0 || viewer_write(viewer, buffer_slice(&page->bytes), &page->written)
                     : flush_frames(viewer);
    if (whole) {
        viewer_drop_page(viewer);
    }
    return whole;
}

/* True when nothing is pending. */
static bool viewer_flush(struct viewer *viewer)
{
    bool done =
        (!viewer->frame || flush_frame(viewer)) && (!viewer->page || viewer_is_reading(viewer) || flush_page(viewer));
    if (!done) {
        viewer_block(viewer);
    }
    return done;
}

/* Nothing is pending. Takes over the reference. */
static void viewer_hold(struct viewer *viewer, struct frame *frame)
{
    assert(!viewer->frame && (!viewer->page || viewer_is_reading(viewer)));
    viewer->frame = frame;
    viewer->written = 0;
}

void viewer_send_frame(struct viewer *viewer, struct frame *frame)
{
    assert(loop_is_mine(viewer->feed->hub->loop));
    viewer_hold(viewer, frame);
    viewer_flush(viewer);
}

/* --- reading --- */

static bool feed_reaches(const struct feed *feed, struct cursor cursor)
{
    return feed->end_known && recent_frames_covers(&feed->tail, cursor);
}

/* The cursor among durable frames. */
static struct cursor place_of(const struct viewer *viewer)
{
    return feed_is_firehose(viewer->feed) ? viewer->cursor : (struct cursor){viewer->cursor.sequence, 0};
}

/* "From the end" leaves out the live output so far, too. */
static void start_at_end(struct viewer *viewer, struct cursor end)
{
    const struct delta_window *window = feed_window(viewer->feed);
    viewer->cursor = end;
    if (window && window->sequence == end.sequence) {
        viewer->cursor.delta = window->count;
    }
}

/* It has had some of the present window, and what came before that. */
static bool stands_in_window(const struct viewer *viewer)
{
    const struct delta_window *window = feed_window(viewer->feed);
    return window && window->sequence == viewer->cursor.sequence && viewer->cursor.delta > 0;
}

static void page_accept(struct viewer *viewer, const struct page *page)
{
    if (page->at_end) {
        feed_learn_end(viewer->feed, page->reached, &page->partial);
    }
    if (page->has_no_asks && page->at_end && !cursor_before(page->reached, viewer->feed->tail.end)) {
        viewer->feed->has_no_asks = true; /* an ask of later comes as an event */
    }
    bool moved = feed_is_firehose(viewer->feed) || page->reached.sequence != viewer->cursor.sequence;
    if (page->from_end) {
        start_at_end(viewer, page->reached);
    } else if (moved) {
        viewer->cursor = page->reached;
    }
    viewer->wants_whole = !page->from_end && (moved || (page->first && !stands_in_window(viewer)));
    viewer_enter(viewer, page->at_end ? VIEWER_FOLLOWING : VIEWER_BEHIND);
}

static void viewer_page_done(struct viewer *viewer, struct page *page)
{
    if (viewer->access_cache_stale) {
        viewer->access_cache_stale = false;
        access_cache_forget_all(viewer->access_cache);
    }
    if (page->status == STATUS_OK) {
        page_accept(viewer, page);
        viewer_advance(viewer);
    } else {
        struct slice reason = page->status == STATUS_NOT_FOUND ? SLICE("deleted")
                              : page->status == STATUS_LIMITED ? SLICE("too_many_bytes")
                                                               : SLICE("store_unavailable");
        viewer->page = NULL;
        page_free(page);
        viewer_close(viewer, reason);
    }
}

static void on_page(struct lookup *lookup)
{
    struct page *page = (struct page *)lookup;
    if (page->viewer) {
        viewer_page_done(page->viewer, page);
    } else {
        page_free(page);
    }
}

static void viewer_read(struct viewer *viewer)
{
    struct feed *feed = viewer->feed;
    struct page *page = memory_zeroed(sizeof *page);
    page->viewer = viewer;
    page->encoder = viewer->encoder;
    page->style = feed_style(feed);
    page->tenant_key = feed->key[0];
    page->session_key = feed->key[1];
    page->after = viewer->cursor;
    page->first = viewer->state == VIEWER_NEW;
    page->from_end = page->first && viewer->from_end;
    page->events_max = feed->hub->fanout->options.page_events;
    page->filter = viewer->filter;
    page->access_cache = viewer->access_cache;
    memcpy(page->hold.accounts, viewer->accounts, sizeof viewer->accounts);
    viewer->page = page;
    viewer_enter(viewer, page->first ? VIEWER_STARTING : VIEWER_READING);
    page_start(page, feed->hub, slice_from(feed->session_id, feed->session_id_len), on_page);
}

/* --- deciding --- */

enum wish { WISH_SEND, WISH_SKIP, WISH_CHECK_ACCESS };

static enum wish event_wish(struct viewer *viewer, const struct frame *frame)
{
    if (viewer->access_cache && access_cache_depends_on(frame->entry.kind)) {
        access_cache_forget(viewer->access_cache, frame->entry.session_key);
    }
    if (!filter_passes_event(viewer->filter, frame->entry.type, frame->entry.thread_id)) {
        return WISH_SKIP;
    }
    static const enum wish wishes[] = {[ACCESS_CACHE_UNKNOWN] = WISH_CHECK_ACCESS,
                                       [ACCESS_CACHE_ALLOWED] = WISH_SEND,
                                       [ACCESS_CACHE_DENIED] = WISH_SKIP};
    return viewer->access_cache ? wishes[access_cache_recall(viewer->access_cache, frame->entry.session_key)]
                                : WISH_SEND;
}

static enum wish viewer_wish(struct viewer *viewer, const struct frame *frame)
{
    if (frame->kind == FRAME_EVENT) {
        return event_wish(viewer, frame);
    }
    bool wanted = frame->kind != FRAME_DELTA || filter_passes_delta(viewer->filter, frame->entry.thread_id);
    return wanted ? WISH_SEND : WISH_SKIP;
}

/* Nothing is pending; the frame follows the cursor. Borrows the frame. */
static void viewer_take(struct viewer *viewer, struct frame *frame)
{
    switch (viewer_wish(viewer, frame)) {
    case WISH_SEND:
        viewer->cursor = frame->at;
        viewer_hold(viewer, frame_ref(frame));
        break;
    case WISH_SKIP:
        viewer->cursor = frame->at;
        break;
    case WISH_CHECK_ACCESS:
        viewer_read(viewer); /* the decision is made on a reader thread: this stretch is read from the store */
        break;
    }
}

/* True when the tail leads from the cursor to the feed's end, or the viewer has read beyond it. */
static bool reaches_end(const struct viewer *viewer)
{
    const struct feed *feed = viewer->feed;
    struct cursor place = place_of(viewer);
    bool has_passed = viewer_is_caught_up(viewer) && !cursor_before(place, feed->tail.end);
    return has_passed || feed_reaches(feed, place);
}

static bool step_closing_frame(struct viewer *viewer)
{
    if (!viewer->closing_frame) {
        viewer_end(viewer);
        return false;
    }
    viewer_hold(viewer, viewer->closing_frame);
    viewer->closing_frame = NULL;
    return true;
}

static bool step_start(struct viewer *viewer)
{
    const struct feed *feed = viewer->feed;
    if (!feed_is_firehose(feed) && !feed->has_no_asks) {
        viewer_read(viewer);
        return false;
    }
    if (viewer->from_end && feed->end_known) {
        start_at_end(viewer, feed->tail.end);
        viewer_enter(viewer, VIEWER_BEHIND);
    } else if (viewer->from_end || !reaches_end(viewer)) {
        viewer_read(viewer);
        return false;
    } else {
        viewer_enter(viewer, VIEWER_FOLLOWING);
    }
    viewer->wants_whole = !viewer->from_end && !stands_in_window(viewer);
    struct slice asks = feed_is_firehose(feed) ? (struct slice){0} : SLICE("[]");
    viewer_hold(
        viewer,
        frame_new(&(struct frame){
            .kind = FRAME_READY, .style = feed_style(feed), .at = viewer->cursor, .ready = {feed->tail.end, asks}}));
    return true;
}

/* The socket drained after the viewer had fallen behind. */
static bool step_lagging(struct viewer *viewer)
{
    int32_t lost = (int32_t)(viewer->feed->deltas_before - viewer->deltas_mark);
    int64_t dropped = viewer->deltas && lost > 0 ? lost : 0;
    bool reaches = reaches_end(viewer);
    viewer_enter(viewer, reaches ? VIEWER_FOLLOWING : VIEWER_BEHIND);
    viewer->wants_whole = dropped > 0;
    if (!reaches || dropped > 0) {
        counter_add(&hub_of(viewer)->figures.slow_total, 1);
        viewer_hold(viewer, frame_new(&(struct frame){.kind = FRAME_SLOW,
                                                      .style = feed_style(viewer->feed),
                                                      .at = viewer->cursor,
                                                      .slow.dropped_deltas = dropped}));
    }
    return true;
}

static void take_delta(struct viewer *viewer)
{
    struct feed *feed = viewer->feed;
    struct delta_window *window = feed_window(feed);
    struct frame *next = NULL;
    if (window && window->complete && window->carried && viewer->wants_whole) {
        next = delta_window_snapshot(window);
        viewer->wants_whole = false;
    } else if (window) {
        next = delta_window_next(window, viewer->cursor.delta);
    } else if (viewer->cursor.delta > 0) {
        next = delta_window_snapshot_empty(viewer->cursor.sequence);
    }
    if (next) {
        viewer_take(viewer, next);
    } else if (window && !window->complete && !feed->fetch) {
        feed_refresh(feed);
    }
    viewer->wants_whole &= window && !window->complete;
    if (!window) {
        frame_unref(next);
    }
}

/* Moves on by one frame; false when there is none. */
static bool step_next(struct viewer *viewer)
{
    struct feed *feed = viewer->feed;
    struct cursor before = viewer->cursor;
    if (cursor_before(place_of(viewer), feed->tail.end)) {
        viewer_take(viewer, recent_frames_next(&feed->tail, place_of(viewer)));
    } else if (viewer->deltas && viewer->cursor.sequence == feed->tail.end.sequence) {
        take_delta(viewer);
    }
    bool moved = before.sequence != viewer->cursor.sequence || before.delta != viewer->cursor.delta;
    return moved || viewer->frame;
}

static bool step_follow(struct viewer *viewer)
{
    if (!reaches_end(viewer)) {
        viewer_read(viewer);
        return false;
    }
    if (viewer->state != VIEWER_FOLLOWING) {
        viewer_enter(viewer, VIEWER_FOLLOWING);
    }
    bool moved = step_next(viewer);
    if (!moved && viewer->state == VIEWER_FOLLOWING) {
        viewer_enter(viewer, VIEWER_LIVE);
    }
    return moved;
}

/* Nothing is pending. False when there is nothing to do now. */
static bool viewer_step(struct viewer *viewer)
{
    switch ((enum viewer_state)viewer->state) {
    case VIEWER_NEW:
        return step_start(viewer);
    case VIEWER_BEHIND:
    case VIEWER_FOLLOWING:
    case VIEWER_LIVE:
        return step_follow(viewer);
    case VIEWER_LAGGING:
        return step_lagging(viewer);
    case VIEWER_LEAVING:
    case VIEWER_OVERDUE:
        return step_closing_frame(viewer);
    case VIEWER_STARTING:
    case VIEWER_READING:
    case VIEWER_ENDED:
    case VIEWER_STATE_COUNT:
        break;
    }
    return false;
}

void viewer_advance(struct viewer *viewer)
{
    assert(loop_is_mine(viewer->feed->hub->loop));
    if (viewer->blocked || viewer->state == VIEWER_ENDED) {
        return;
    }
    while (viewer_flush(viewer) && viewer_step(viewer)) {
    }
}

void viewer_writable(struct viewer *viewer)
{
    assert(loop_is_mine(viewer->feed->hub->loop));
    viewer->blocked = false;
    viewer_advance(viewer);
}

void viewer_recheck(struct viewer *viewer)
{
    assert(loop_is_mine(viewer->feed->hub->loop));
    if (viewer->state == VIEWER_LIVE) {
        viewer_advance(viewer);
    }
}

/* True when nothing lies between the cursor and the frame. */
static bool follows_cursor(const struct viewer *viewer, const struct frame *frame)
{
    struct cursor at = frame->at, cursor = viewer->cursor;
    if (frame->kind == FRAME_DELTA) {
        return at.sequence == cursor.sequence && at.delta == cursor.delta + 1;
    }
    return feed_is_firehose(viewer->feed) || at.sequence == cursor.sequence + 1;
}

void viewer_offer(struct viewer *viewer, struct frame *frame)
{
    assert(loop_is_mine(viewer->feed->hub->loop));
    bool wanted = frame->kind != FRAME_DELTA || viewer->deltas;
    if (viewer->state != VIEWER_LIVE || !wanted || !cursor_before(viewer->cursor, frame->at)) {
        return;
    }
    if (!follows_cursor(viewer, frame)) {
        viewer_advance(viewer);
        return;
    }
    viewer_take(viewer, frame);
    if (viewer->frame) {
        viewer_flush(viewer);
    }
}

#include "fanout/viewer.h"

#include <assert.h>
#include <stdlib.h>

#include "base/arena.h"
#include "fanout/hub.h"
#include "fanout/page.h"

static void list_add(struct viewer *viewer, struct viewer **head)
{
    viewer->next = *head;
    viewer->link = head;
    if (*head) {
        (*head)->link = &viewer->next;
    }
    *head = viewer;
}

static void wheel_add(struct viewer *viewer, struct viewer **head)
{
    viewer->beat_next = *head;
    viewer->beat_link = head;
    if (*head) {
        (*head)->beat_link = &viewer->beat_next;
    }
    *head = viewer;
}

static void viewer_unlink(struct viewer *viewer)
{
    struct feed *feed = viewer->feed;
    struct hub *hub = feed->hub;
    if (feed->walk == viewer) {
        feed->walk = viewer->next;
    }
    if (hub->wheel_walk == viewer) {
        hub->wheel_walk = viewer->beat_next;
    }
    *viewer->link = viewer->next;
    if (viewer->next) {
        viewer->next->link = viewer->link;
    }
    *viewer->beat_link = viewer->beat_next;
    if (viewer->beat_next) {
        viewer->beat_next->beat_link = viewer->beat_link;
    }
}

/* --- states --- */

#define TO(state) (1u << VIEWER_##state)

static const uint16_t edges[VIEWER_STATE_COUNT] = {
    [VIEWER_NEW] = TO(STARTING) | TO(BEHIND) | TO(FOLLOWING) | TO(LEAVING),
    [VIEWER_STARTING] = TO(BEHIND) | TO(FOLLOWING) | TO(LEAVING),
    [VIEWER_READING] = TO(BEHIND) | TO(FOLLOWING) | TO(LEAVING),
    [VIEWER_BEHIND] = TO(READING) | TO(FOLLOWING) | TO(LEAVING),
    [VIEWER_FOLLOWING] = TO(READING) | TO(LIVE) | TO(LAGGING) | TO(LEAVING),
    [VIEWER_LIVE] = TO(READING) | TO(FOLLOWING) | TO(LAGGING) | TO(LEAVING),
    [VIEWER_LAGGING] = TO(BEHIND) | TO(FOLLOWING) | TO(LEAVING),
    [VIEWER_LEAVING] = TO(OVERDUE) | TO(ENDED),
    [VIEWER_OVERDUE] = TO(ENDED),
    [VIEWER_ENDED] = 0,
};

/* What holds when a state is entered. */
static void check(const struct viewer *viewer)
{
    assert(!viewer->access_cache_stale || viewer_is_reading(viewer));
    switch ((enum viewer_state)viewer->state) {
    case VIEWER_STARTING:
    case VIEWER_READING:
        assert(viewer->page && !viewer->frame && !viewer->blocked);
        break;
    case VIEWER_LIVE:
        assert(!viewer->page && !viewer->frame && !viewer->blocked);
        break;
    case VIEWER_LAGGING:
        assert(viewer->blocked && (viewer->page || viewer->frame));
        break;
    case VIEWER_LEAVING:
        assert(viewer->closing_frame);
        break;
    case VIEWER_OVERDUE:
        assert(viewer->blocked);
        break;
    case VIEWER_NEW:
    case VIEWER_BEHIND:
    case VIEWER_FOLLOWING:
    case VIEWER_ENDED:
    case VIEWER_STATE_COUNT:
        break;
    }
}

void viewer_enter(struct viewer *viewer, enum viewer_state state)
{
    assert(loop_is_mine(viewer->feed->hub->loop));
    assert(edges[viewer->state] & (1u << state));
    viewer->state = (uint8_t)state;
    check(viewer);
}

static struct hub *hub_on(struct fanout *fanout, const struct loop *loop)
{
    size_t i = 0;
    while (i + 1 < fanout->hub_count && fanout->hubs[i].loop != loop) {
        i++;
    }
    return &fanout->hubs[i];
}

static struct viewer *viewer_new(const struct hub *hub, const struct viewer_options *options)
{
    size_t user_len = options->user_id.len < UINT8_MAX ? options->user_id.len : UINT8_MAX;
    struct viewer *viewer = memory_zeroed(sizeof *viewer + user_len);
    viewer->sink = options->sink;
    viewer->blocked = true; /* until the first viewer_writable */
    viewer->encoder = options->encoder;
    viewer->deltas = options->deltas && options->session_key;
    viewer->from_end = options->from_end;
    viewer->cursor = options->session_key ? options->after : cursor_of_position(options->position);
    viewer->filter = filter_new(options);
    viewer->access_cache =
        options->session_key || options->sees_all ? NULL : access_cache_new(hub->fanout->options.rights, &options->who);
    memcpy(viewer->accounts, options->accounts, sizeof viewer->accounts);
    viewer->credential_kind = (uint8_t)options->credential.kind;
    viewer->credential_hash = options->credential.hash;
    viewer->expires_at_ms = options->credential.expires_at_ms;
    viewer->member = (uint8_t)options->member;
    viewer->user_id_len = (uint8_t)user_len;
    if (user_len > 0) {
        memcpy(viewer->user_id, options->user_id.ptr, user_len);
    }
    return viewer;
}

static enum status may_open(const struct hub *hub, struct failure *failure)
{
    struct fanout *fanout = hub->fanout;
    if (hub->closing) {
        return failure_set(failure, STATUS_UNAVAILABLE, "server_stopping", "The server stops; connect again.");
    }
    if (atomic_load(&fanout->viewers) >= (int64_t)fanout->options.viewers_max) {
        return failure_set(failure, STATUS_LIMITED, "too_many_viewers",
                           "%zu streams are open already, the limit (option viewers-max); close one.",
                           fanout->options.viewers_max);
    }
    return STATUS_OK;
}

enum status viewer_open(struct fanout *fanout, struct loop *loop, const struct viewer_options *options,
                        struct viewer **out, struct failure *failure)
{
    struct hub *hub = hub_on(fanout, loop);
    enum status status = may_open(hub, failure);
    if (status != STATUS_OK) {
        return status;
    }
    atomic_fetch_add(&fanout->viewers, 1);
    /* Before the first read: what is committed after it is seen either by the read or by the hub. */
    atomic_fetch_add(&fanout->interest, 1);
    struct viewer *viewer = viewer_new(hub, options);
    struct feed *feed = hub_find_or_add(hub, options->tenant_key, options->session_key, options->session_id);
    if (!feed->viewers && !feed_is_firehose(feed)) {
        counter_add(&hub->figures.watched_sessions, 1);
        watched_count(&fanout->watched, options->session_key, 1);
    }
    viewer->feed = feed;
    list_add(viewer, &feed->viewers);
    wheel_add(viewer, &hub->wheel[hub->wheel_next++ % HUB_WHEEL_SLOTS]);
    counter_add(&hub->figures.viewers, 1);
    hub_expect_end(hub, viewer->expires_at_ms);
    *out = viewer;
    return STATUS_OK;
}

void viewer_drop_page(struct viewer *viewer)
{
    assert(loop_is_mine(viewer->feed->hub->loop));
    struct page *page = viewer->page;
    if (!page) {
        return;
    }
    viewer->page = NULL;
    if (viewer_is_reading(viewer)) {
        page->viewer = NULL; /* whoever reads it frees it, with filter and sight */
        atomic_store(&page->lookup.abandoned, true);
        viewer->filter = NULL;
        viewer->access_cache = NULL;
    } else {
        page_free(page);
    }
}

void viewer_closed(struct viewer *viewer)
{
    struct feed *feed = viewer->feed;
    struct hub *hub = feed->hub;
    viewer_unlink(viewer);
    viewer_drop_page(viewer);
    frame_unref(viewer->frame);
    frame_unref(viewer->closing_frame);
    free(viewer->filter);
    access_cache_free(viewer->access_cache);
    free(viewer);
    counter_add(&hub->figures.viewers, -1);
    if (!feed->viewers && !feed_is_firehose(feed)) {
        counter_add(&hub->figures.watched_sessions, -1);
        watched_count(&hub->fanout->watched, feed->key[1], -1);
    }
    atomic_fetch_sub(&hub->fanout->viewers, 1);
    atomic_fetch_sub(&hub->fanout->interest, 1);
    feed_free_if_unused(feed);
}

/* --- the end --- */

enum { END_NORMAL = 1000, END_GOING_AWAY = 1001, END_POLICY = 1008, END_INTERNAL = 1011 }; /* RFC 6455, 7.4.1 */

static const struct {
    const char *reason;
    int16_t code;
} end_codes[] = {
    {"server_stopping", END_GOING_AWAY},
    {"access_revoked", END_POLICY},
    {"credential_over", END_POLICY},
    {"store_unavailable", END_INTERNAL},
    {NULL, END_NORMAL},
};

static int16_t end_code(struct slice reason)
{
    size_t i = 0;
    while (end_codes[i].reason && !slice_is(reason, end_codes[i].reason)) {
        i++;
    }
    return end_codes[i].code;
}

void viewer_close(struct viewer *viewer, struct slice reason)
{
    assert(loop_is_mine(viewer->feed->hub->loop));
    if (viewer->state >= VIEWER_LEAVING) {
        return;
    }
    if (viewer_is_reading(viewer)) {
        viewer_drop_page(viewer);
        viewer->access_cache_stale = false;
    }
    viewer->end_code = end_code(reason);
    viewer->closing_frame = frame_new(&(struct frame){
        .kind = FRAME_CLOSED, .style = feed_style(viewer->feed), .at = viewer->cursor, .closed.reason = reason});
    viewer_enter(viewer, VIEWER_LEAVING);
    viewer_advance(viewer);
}

void viewer_end(struct viewer *viewer)
{
    assert(loop_is_mine(viewer->feed->hub->loop));
    viewer_enter(viewer, VIEWER_ENDED);
    viewer->sink.end(viewer->sink.owner, viewer->end_code);
}

/* --- heartbeat --- */

/* A viewer that does not even take its farewell has one heartbeat's time. */
static void beat_blocked(struct viewer *viewer)
{
    if (viewer->state == VIEWER_OVERDUE) {
        viewer_end(viewer);
    } else if (viewer->state == VIEWER_LEAVING) {
        viewer_enter(viewer, VIEWER_OVERDUE);
    }
}

/* Where a viewer may be between calls. */
static bool rests(const struct viewer *viewer)
{
    return viewer->blocked || viewer_is_reading(viewer) || viewer->state == VIEWER_LIVE ||
           viewer->state == VIEWER_ENDED;
}

void viewer_beat(struct viewer *viewer)
{
    assert(loop_is_mine(viewer->feed->hub->loop));
    assert(rests(viewer));
    if (viewer->feed->viewers == viewer) {
        feed_trim(viewer->feed);
    }
    if (viewer->state == VIEWER_ENDED) {
        return;
    }
    if (viewer->blocked) {
        beat_blocked(viewer);
    } else if (viewer->state != VIEWER_STARTING) {
        viewer_send_frame(viewer, frame_ref(viewer->feed->hub->heartbeat));
    }
}

bool viewer_is_of(const struct viewer *viewer, struct slice user_id)
{
    return slice_eq(slice_from(viewer->user_id, viewer->user_id_len), user_id);
}

void viewer_forget_sight(struct viewer *viewer, int64_t session_key)
{
    assert(loop_is_mine(viewer->feed->hub->loop));
    if (!viewer->access_cache) {
        return;
    }
    if (viewer_is_reading(viewer)) {
        viewer->access_cache_stale = true;
    } else if (session_key) {
        access_cache_forget(viewer->access_cache, session_key);
    } else {
        access_cache_forget_all(viewer->access_cache);
    }
}

#include "fanout/recent_frames.h"

#include <assert.h>
#include <stdlib.h>

#include "base/arena.h"

static struct frame *recent_frames_at(const struct recent_frames *tail, uint32_t index)
{
    return tail->ring[(tail->head + index) & (tail->room - 1)];
}

void recent_frames_drop_oldest(struct recent_frames *tail)
{
    assert(tail->count > 0);
    struct frame *oldest = recent_frames_at(tail, 0);
    tail->base = oldest->at;
    tail->bytes -= frame_weight(oldest);
    tail->head = (tail->head + 1) & (tail->room - 1);
    tail->count--;
    frame_unref(oldest);
}

void recent_frames_release(struct recent_frames *tail)
{
    while (tail->count > 0) {
        recent_frames_drop_oldest(tail);
    }
    free(tail->ring);
    tail->ring = NULL;
    tail->head = tail->room = 0;
}

void recent_frames_restart(struct recent_frames *tail, struct cursor at)
{
    recent_frames_release(tail);
    tail->base = tail->end = at;
}

static void recent_frames_grow(struct recent_frames *tail)
{
    uint32_t room = tail->room ? tail->room * 2 : 8;
    struct frame **ring = memory_alloc(room * sizeof *ring);
    for (uint32_t i = 0; i < tail->count; i++) {
        ring[i] = recent_frames_at(tail, i);
    }
    free(tail->ring);
    tail->ring = ring;
    tail->room = room;
    tail->head = 0;
}

void recent_frames_append(struct recent_frames *tail, struct frame *frame, size_t bytes_max)
{
    assert(cursor_before(tail->end, frame->at));
    if (tail->count == tail->room) {
        recent_frames_grow(tail);
    }
    tail->ring[(tail->head + tail->count++) & (tail->room - 1)] = frame_ref(frame);
    tail->bytes += frame_weight(frame);
    tail->end = frame->at;
    while (tail->bytes > bytes_max && tail->count > 0) {
        recent_frames_drop_oldest(tail);
    }
}

bool recent_frames_covers(const struct recent_frames *tail, struct cursor cursor)
{
    return !cursor_before(cursor, tail->base) && !cursor_before(tail->end, cursor);
}

struct frame *recent_frames_next(const struct recent_frames *tail, struct cursor cursor)
{
    uint32_t low = 0, high = tail->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (cursor_before(cursor, recent_frames_at(tail, middle)->at)) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low < tail->count ? recent_frames_at(tail, low) : NULL;
}

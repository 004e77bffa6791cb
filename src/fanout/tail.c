#include "fanout/tail.h"

#include <assert.h>
#include <stdlib.h>

#include "base/arena.h"

static struct frame *tail_at(const struct tail *tail, uint32_t index)
{
    return tail->ring[(tail->head + index) & (tail->room - 1)];
}

void tail_drop_oldest(struct tail *tail)
{
    assert(tail->count > 0);
    struct frame *oldest = tail_at(tail, 0);
    tail->base = oldest->at;
    tail->bytes -= frame_weight(oldest);
    tail->head = (tail->head + 1) & (tail->room - 1);
    tail->count--;
    frame_unref(oldest);
}

void tail_release(struct tail *tail)
{
    while (tail->count > 0) {
        tail_drop_oldest(tail);
    }
    free(tail->ring);
    tail->ring = NULL;
    tail->head = tail->room = 0;
}

void tail_restart(struct tail *tail, struct cursor at)
{
    tail_release(tail);
    tail->base = tail->end = at;
}

static void tail_grow(struct tail *tail)
{
    uint32_t room = tail->room ? tail->room * 2 : 8;
    struct frame **ring = memory_alloc(room * sizeof *ring);
    for (uint32_t i = 0; i < tail->count; i++) {
        ring[i] = tail_at(tail, i);
    }
    free(tail->ring);
    tail->ring = ring;
    tail->room = room;
    tail->head = 0;
}

void tail_append(struct tail *tail, struct frame *frame, size_t bytes_max)
{
    assert(cursor_before(tail->end, frame->at));
    if (tail->count == tail->room) {
        tail_grow(tail);
    }
    tail->ring[(tail->head + tail->count++) & (tail->room - 1)] = frame_ref(frame);
    tail->bytes += frame_weight(frame);
    tail->end = frame->at;
    while (tail->bytes > bytes_max && tail->count > 0) {
        tail_drop_oldest(tail);
    }
}

bool tail_covers(const struct tail *tail, struct cursor cursor)
{
    return !cursor_before(cursor, tail->base) && !cursor_before(tail->end, cursor);
}

struct frame *tail_next(const struct tail *tail, struct cursor cursor)
{
    uint32_t low = 0, high = tail->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (cursor_before(cursor, tail_at(tail, middle)->at)) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low < tail->count ? tail_at(tail, low) : NULL;
}

#include "loop/timer.h"

#include <assert.h>
#include <stdlib.h>

#include "base/arena.h"

struct loop_timer {
    uv_timer_t handle; /* first: its data is the timer itself */
    void (*fire)(void *owner);
    void *owner;
    struct loop *loop;
};

struct loop_timer *loop_timer_new(struct loop *loop, void (*fire)(void *owner), void *owner)
{
    assert(fire);
    struct loop_timer *timer = memory_zeroed(sizeof *timer);
    timer->loop = loop;
    timer->fire = fire;
    timer->owner = owner;
    uv_timer_init(loop_uv(loop), &timer->handle);
    return timer;
}

static void on_fire(uv_timer_t *handle)
{
    struct loop_timer *timer = (struct loop_timer *)handle;
    assert(loop_is_mine(timer->loop));
    timer->fire(timer->owner);
}

void loop_timer_set(struct loop_timer *timer, int64_t after_ms)
{
    assert(loop_is_mine(timer->loop));
    uv_timer_start(&timer->handle, on_fire, after_ms > 0 ? (uint64_t)after_ms : 0, 0);
}

static void on_closed(uv_handle_t *handle)
{
    free(handle);
}

void loop_timer_free(struct loop_timer *timer)
{
    if (timer) {
        assert(loop_is_mine(timer->loop));
        uv_close((uv_handle_t *)&timer->handle, on_closed);
    }
}

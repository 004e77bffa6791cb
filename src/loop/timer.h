/* One timer of a loop. For rooms that own no libuv handles of their own. */
#ifndef LOOP_TIMER_H
#define LOOP_TIMER_H

#include "loop/loop.h"

struct loop_timer;

/* All three on the loop's thread. `fire` runs there too, once for each time the timer was set. */
struct loop_timer *loop_timer_new(struct loop *loop, void (*fire)(void *owner), void *owner);
/* In place of what was set before. */
void loop_timer_set(struct loop_timer *timer, int64_t after_ms);
/* Nothing fires afterwards. */
void loop_timer_free(struct loop_timer *timer);

#endif

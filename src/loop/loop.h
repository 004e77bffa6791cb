/* One event loop on one thread. Other threads reach it only by posting messages. */
#ifndef LOOP_LOOP_H
#define LOOP_LOOP_H

#include <stdint.h>
#include <uv.h>

struct loop;

/* Embedded in whatever is sent to a loop; the sender hands the whole value over. */
struct loop_message {
    struct loop_message *next;
    void (*run)(struct loop_message *message); /* on the loop's thread */
};

struct loop *loop_new(int index);
void loop_free(struct loop *loop);
/* Starts the thread, which runs until loop_stop and all handles are closed. */
void loop_start(struct loop *loop);
/* Any thread. Messages posted before run before the loop ends. */
void loop_stop(struct loop *loop);
void loop_join(struct loop *loop);
/* Any thread, never blocks; wakes the loop once for many posts. */
void loop_post(struct loop *loop, struct loop_message *message);
uv_loop_t *loop_uv(struct loop *loop);
int loop_index(const struct loop *loop);

#endif

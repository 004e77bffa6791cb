/* One event loop on one thread. Other threads reach it only by posting messages. */
#ifndef LOOP_LOOP_H
#define LOOP_LOOP_H

#include <stdbool.h>
#include <uv.h>

struct loop;

/* Embedded in whatever is sent to a loop; the sender hands the whole value over. */
struct loop_message {
    struct loop_message *next;
    void (*run)(struct loop_message *message); /* on the loop's thread */
};

struct loop *loop_new(int index);
/* Only when the thread is joined or was never started. */
void loop_free(struct loop *loop);
/* Starts the thread, which runs until loop_stop and all handles are closed. */
void loop_start(struct loop *loop);
/* Any thread, once. Messages posted before run before the loop ends; later ones while a handle keeps it alive. */
void loop_stop(struct loop *loop);
void loop_join(struct loop *loop);
/* Any thread, never blocks, also before loop_start; wakes the loop once for many posts. Messages of one sender run in
 * the order they were posted. */
void loop_post(struct loop *loop, struct loop_message *message);
uv_loop_t *loop_uv(struct loop *loop);
int loop_index(const struct loop *loop);
/* Whether the caller runs on this loop's thread. */
bool loop_is_current(const struct loop *loop);
/* The same, or no thread runs the loop: what belongs to the loop is the caller's. For asserts. */
bool loop_is_mine(const struct loop *loop);

#endif

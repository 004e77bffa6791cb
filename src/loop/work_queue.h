/* Work for a thread that is not a loop: many senders; the owner takes everything that waits. */
#ifndef LOOP_WORK_QUEUE_H
#define LOOP_WORK_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct queue_item {
    struct queue_item *next;
};

struct work_queue;

struct work_queue *work_queue_new(size_t max); /* at most `max` wait; 0 = no limit */
void work_queue_free(struct work_queue *queue);
/* Any thread, never blocks. False when the queue is full or closed: the caller keeps the work. */
bool work_queue_push(struct work_queue *queue, struct queue_item *work);
/* Takes at most `max` in the order they came; waits up to `wait_ms` (-1 = for ever) when there is none.
 * NULL when the time is over or the queue is closed and empty. Several threads may take. */
struct queue_item *work_queue_take(struct work_queue *queue, size_t max, int64_t wait_ms);
/* The same in microseconds. */
struct queue_item *work_queue_take_within(struct work_queue *queue, size_t max, int64_t wait_us);
/* One taker, the one that waits or the next that would wait, returns NULL although its time is not over. */
void work_queue_wake(struct work_queue *queue);
void work_queue_close(struct work_queue *queue);
bool work_queue_closed(struct work_queue *queue);
size_t work_queue_length(struct work_queue *queue);

#endif

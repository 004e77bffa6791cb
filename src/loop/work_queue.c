#include "loop/work_queue.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "base/arena.h"

struct work_queue {
    pthread_mutex_t lock;
    pthread_cond_t arrived;
    struct queue_item *first, *last;
    size_t length;
    size_t max;
    size_t asleep;   /* takers that wait */
    size_t signaled; /* of these, woken but not yet running: a push need not wake them again */
    bool woken;      /* by work_queue_wake; the next taker returns at once */
    bool closed;
};

struct work_queue *work_queue_new(size_t max)
{
    struct work_queue *queue = memory_zeroed(sizeof *queue);
    queue->max = max;
    pthread_mutex_init(&queue->lock, NULL);
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&queue->arrived, &attributes);
    pthread_condattr_destroy(&attributes);
    return queue;
}

void work_queue_free(struct work_queue *queue)
{
    if (!queue) {
        return;
    }
    pthread_cond_destroy(&queue->arrived);
    pthread_mutex_destroy(&queue->lock);
    free(queue);
}

/* Whether a sleeping taker must be signaled; the lock is held. */
static bool claim_sleeper(struct work_queue *queue)
{
    if (queue->signaled >= queue->asleep) {
        return false;
    }
    queue->signaled++;
    return true;
}

bool work_queue_push(struct work_queue *queue, struct queue_item *work)
{
    pthread_mutex_lock(&queue->lock);
    bool accepted = !queue->closed && (queue->max == 0 || queue->length < queue->max);
    bool wake = false;
    if (accepted) {
        work->next = NULL;
        if (queue->last) {
            queue->last->next = work;
        } else {
            queue->first = work;
        }
        queue->last = work;
        queue->length++;
        wake = claim_sleeper(queue);
    }
    pthread_mutex_unlock(&queue->lock);
    if (wake) {
        pthread_cond_signal(&queue->arrived);
    }
    return accepted;
}

static struct timespec deadline_after(int64_t wait_us)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    at.tv_sec += wait_us / 1000000;
    at.tv_nsec += (wait_us % 1000000) * 1000;
    if (at.tv_nsec >= 1000000000) {
        at.tv_nsec -= 1000000000;
        at.tv_sec++;
    }
    return at;
}

/* Returns with the lock held when there is work, the queue is closed, somebody called wake, or time is over. */
static void wait_for_work(struct work_queue *queue, int64_t wait_us)
{
    struct timespec until = {0};
    if (wait_us > 0) {
        until = deadline_after(wait_us);
    }
    int result = 0;
    while (!queue->first && !queue->closed && !queue->woken && result != ETIMEDOUT) {
        queue->asleep++;
        result = wait_us < 0 ? pthread_cond_wait(&queue->arrived, &queue->lock)
                             : pthread_cond_timedwait(&queue->arrived, &queue->lock, &until);
        queue->asleep--;
        if (queue->signaled > 0) {
            queue->signaled--;
        }
    }
    queue->woken = false;
}

static struct queue_item *take_front(struct work_queue *queue, size_t max)
{
    struct queue_item *taken = queue->first;
    if (queue->length <= max) {
        queue->first = queue->last = NULL;
        queue->length = 0;
        return taken;
    }
    struct queue_item *end = taken;
    for (size_t i = 1; i < max; i++) {
        end = end->next;
    }
    queue->first = end->next;
    end->next = NULL;
    queue->length -= max;
    return taken;
}

struct queue_item *work_queue_take(struct work_queue *queue, size_t max, int64_t wait_ms)
{
    return work_queue_take_within(queue, max, wait_ms < 0 ? -1 : wait_ms * 1000);
}

struct queue_item *work_queue_take_within(struct work_queue *queue, size_t max, int64_t wait_us)
{
    pthread_mutex_lock(&queue->lock);
    if (!queue->first && wait_us != 0) {
        wait_for_work(queue, wait_us);
    }
    struct queue_item *taken = queue->first && max > 0 ? take_front(queue, max) : NULL;
    bool pass_on = queue->first && claim_sleeper(queue);
    pthread_mutex_unlock(&queue->lock);
    if (pass_on) {
        pthread_cond_signal(&queue->arrived);
    }
    return taken;
}

void work_queue_wake(struct work_queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    queue->woken = true;
    pthread_mutex_unlock(&queue->lock);
    pthread_cond_signal(&queue->arrived);
}

void work_queue_close(struct work_queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    queue->closed = true;
    pthread_mutex_unlock(&queue->lock);
    pthread_cond_broadcast(&queue->arrived);
}

bool work_queue_closed(struct work_queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    bool closed = queue->closed;
    pthread_mutex_unlock(&queue->lock);
    return closed;
}

size_t work_queue_length(struct work_queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    size_t length = queue->length;
    pthread_mutex_unlock(&queue->lock);
    return length;
}

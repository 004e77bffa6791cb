#include "unit.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "loop/work_queue.h"

enum { SENDERS = 4, TAKERS = 3, WORKS_PER_SENDER = 20000 };

struct numbered {
    struct queue_item item;
    int sender, number;
};

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static size_t count_items(const struct queue_item *item)
{
    size_t count = 0;
    for (; item; item = item->next) {
        count++;
    }
    return count;
}

static void test_order_and_max(void **state)
{
    (void)state;
    struct work_queue *queue = work_queue_new(0);
    struct numbered works[5] = {0};
    for (int i = 0; i < 5; i++) {
        works[i].number = i;
        assert_true(work_queue_push(queue, &works[i].item));
    }
    assert_int_equal(work_queue_length(queue), 5);
    struct queue_item *two = work_queue_take(queue, 2, -1);
    assert_int_equal(count_items(two), 2);
    assert_ptr_equal(two, &works[0].item);
    assert_ptr_equal(two->next, &works[1].item);
    struct queue_item *rest = work_queue_take(queue, 100, 0);
    assert_int_equal(count_items(rest), 3);
    assert_ptr_equal(rest, &works[2].item);
    assert_null(work_queue_take(queue, 100, 0));
    work_queue_free(queue);
}

static void test_full(void **state)
{
    (void)state;
    struct work_queue *queue = work_queue_new(2);
    struct queue_item items[3];
    assert_true(work_queue_push(queue, &items[0]));
    assert_true(work_queue_push(queue, &items[1]));
    assert_false(work_queue_push(queue, &items[2]));
    assert_ptr_equal(work_queue_take(queue, 1, 0), &items[0]);
    assert_true(work_queue_push(queue, &items[2]));
    work_queue_free(queue);
}

static void test_take_waits_its_time(void **state)
{
    (void)state;
    struct work_queue *queue = work_queue_new(0);
    int64_t began_ms = now_ms();
    assert_null(work_queue_take(queue, 1, 30));
    assert_true(now_ms() - began_ms >= 29);
    work_queue_free(queue);
}

static void test_wake_and_close(void **state)
{
    (void)state;
    struct work_queue *queue = work_queue_new(0);
    struct queue_item item;
    work_queue_wake(queue);
    assert_null(work_queue_take(queue, 1, -1)); /* a wake is not lost when nobody waits yet */
    assert_true(work_queue_push(queue, &item));
    assert_false(work_queue_closed(queue));
    work_queue_close(queue);
    assert_true(work_queue_closed(queue));
    assert_false(work_queue_push(queue, &item));
    assert_ptr_equal(work_queue_take(queue, 1, -1), &item); /* what was there is still handed out */
    assert_null(work_queue_take(queue, 1, -1));
    work_queue_free(queue);
}

static void *take_one(void *owner)
{
    return work_queue_take(owner, 1, -1);
}

static void test_push_wakes_a_sleeper(void **state)
{
    (void)state;
    struct work_queue *queue = work_queue_new(0);
    struct queue_item items[2];
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) {
        pthread_create(&threads[i], NULL, take_one, queue);
    }
    work_queue_push(queue, &items[0]);
    work_queue_push(queue, &items[1]);
    for (int i = 0; i < 2; i++) {
        void *taken;
        pthread_join(threads[i], &taken);
        assert_non_null(taken);
    }
    work_queue_free(queue);
}

struct crowd {
    struct work_queue *queue;
    atomic_int taken;
    atomic_int seen[SENDERS][WORKS_PER_SENDER];
    int sender;
};

static void *send_many(void *owner)
{
    struct numbered *works = owner;
    struct work_queue *queue = (struct work_queue *)works[WORKS_PER_SENDER].item.next;
    for (int i = 0; i < WORKS_PER_SENDER; i++) {
        work_queue_push(queue, &works[i].item);
    }
    return NULL;
}

static void *take_many(void *owner)
{
    struct crowd *crowd = owner;
    for (;;) {
        struct queue_item *item = work_queue_take(crowd->queue, 7, -1);
        if (!item) {
            return NULL;
        }
        while (item) {
            struct numbered *work = (struct numbered *)item;
            item = item->next;
            atomic_fetch_add(&crowd->seen[work->sender][work->number], 1);
            if (atomic_fetch_add(&crowd->taken, 1) + 1 == SENDERS * WORKS_PER_SENDER) {
                work_queue_close(crowd->queue);
            }
        }
    }
}

static void test_many_threads(void **state)
{
    (void)state;
    struct crowd *crowd = calloc(1, sizeof *crowd);
    struct numbered *works[SENDERS];
    pthread_t senders[SENDERS], takers[TAKERS];
    crowd->queue = work_queue_new(0);
    for (int i = 0; i < TAKERS; i++) {
        pthread_create(&takers[i], NULL, take_many, crowd);
    }
    for (int s = 0; s < SENDERS; s++) {
        works[s] = calloc(WORKS_PER_SENDER + 1, sizeof *works[s]);
        for (int i = 0; i < WORKS_PER_SENDER; i++) {
            works[s][i].sender = s;
            works[s][i].number = i;
        }
        works[s][WORKS_PER_SENDER].item.next = (struct queue_item *)crowd->queue;
        pthread_create(&senders[s], NULL, send_many, works[s]);
    }
    for (int s = 0; s < SENDERS; s++) {
        pthread_join(senders[s], NULL);
    }
    for (int i = 0; i < TAKERS; i++) {
        pthread_join(takers[i], NULL);
    }
    for (int s = 0; s < SENDERS; s++) {
        for (int i = 0; i < WORKS_PER_SENDER; i++) {
            assert_int_equal(crowd->seen[s][i], 1);
        }
        free(works[s]);
    }
    work_queue_free(crowd->queue);
    free(crowd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order_and_max),        cmocka_unit_test(test_full),
        cmocka_unit_test(test_take_waits_its_time),  cmocka_unit_test(test_wake_and_close),
        cmocka_unit_test(test_push_wakes_a_sleeper), cmocka_unit_test(test_many_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

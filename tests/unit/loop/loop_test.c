#include "unit.h"

#include <pthread.h>
#include <stdlib.h>

#include "loop/loop.h"

enum { SENDERS = 4, MESSAGES = 50000 };

struct note {
    struct loop_message message;
    struct loop *loop;
    int sender, number;
    int *last; /* per sender, touched by the loop's thread only */
    bool *in_order, *on_loop;
};

static void take_note(struct loop_message *message)
{
    struct note *note = (struct note *)message;
    *note->in_order = *note->in_order && note->last[note->sender] == note->number - 1;
    *note->on_loop = *note->on_loop && loop_is_current(note->loop);
    note->last[note->sender] = note->number;
}

static void *post_all(void *owner)
{
    struct note *notes = owner;
    for (int i = 0; i < MESSAGES; i++) {
        loop_post(notes[i].loop, &notes[i].message);
    }
    return NULL;
}

static void test_posts_arrive_in_order(void **state)
{
    (void)state;
    struct loop *loop = loop_new(3);
    bool in_order = true, on_loop = true;
    int last[SENDERS];
    struct note *notes[SENDERS];
    pthread_t threads[SENDERS];
    assert_int_equal(loop_index(loop), 3);
    assert_false(loop_is_current(loop));
    loop_start(loop);
    for (int s = 0; s < SENDERS; s++) {
        last[s] = -1;
        notes[s] = calloc(MESSAGES, sizeof *notes[s]);
        for (int i = 0; i < MESSAGES; i++) {
            notes[s][i] = (struct note){{NULL, take_note}, loop, s, i, last, &in_order, &on_loop};
        }
        pthread_create(&threads[s], NULL, post_all, notes[s]);
    }
    for (int s = 0; s < SENDERS; s++) {
        pthread_join(threads[s], NULL);
    }
    loop_stop(loop);
    loop_join(loop);
    for (int s = 0; s < SENDERS; s++) {
        assert_int_equal(last[s], MESSAGES - 1); /* what was posted before the stop has run */
        free(notes[s]);
    }
    assert_true(in_order);
    assert_true(on_loop);
    loop_free(loop);
}

struct repeat {
    struct loop_message message;
    struct loop *loop;
    int left;
};

static void post_again(struct loop_message *message)
{
    struct repeat *repeat = (struct repeat *)message;
    if (--repeat->left > 0) {
        loop_post(repeat->loop, &repeat->message);
    }
}

static void test_posting_from_the_loop(void **state)
{
    (void)state;
    struct loop *loop = loop_new(0);
    struct repeat repeat = {{NULL, post_again}, loop, 1000};
    loop_post(loop, &repeat.message); /* before the start is fine */
    loop_stop(loop);
    loop_start(loop);
    loop_join(loop);
    assert_int_equal(repeat.left, 0);
    loop_free(loop);
}

/* Posts to its own loop from every kind of place; nothing else ever wakes that loop. */
struct stations {
    struct loop_message message;
    struct loop *loop;
    uv_timer_t timer;
    uv_prepare_t prepare;
    int reached;
};

static void on_station(struct loop_message *message);

static void post_from_timer(uv_timer_t *timer)
{
    struct stations *stations = timer->data;
    uv_close((uv_handle_t *)timer, NULL);
    loop_post(stations->loop, &stations->message);
}

static void post_from_prepare(uv_prepare_t *prepare)
{
    struct stations *stations = prepare->data;
    uv_close((uv_handle_t *)prepare, NULL);
    loop_post(stations->loop, &stations->message);
}

static void on_station(struct loop_message *message)
{
    struct stations *stations = (struct stations *)message;
    switch (++stations->reached) {
    case 1:
        loop_post(stations->loop, &stations->message);
        break;
    case 2:
        uv_timer_init(loop_uv(stations->loop), &stations->timer);
        stations->timer.data = stations;
        uv_timer_start(&stations->timer, post_from_timer, 1, 0);
        break;
    case 3:
        uv_prepare_init(loop_uv(stations->loop), &stations->prepare);
        stations->prepare.data = stations;
        uv_prepare_start(&stations->prepare, post_from_prepare);
        break;
    default:
        loop_stop(stations->loop);
    }
}

static void test_own_posts_never_wait(void **state)
{
    (void)state;
    struct loop *loop = loop_new(0);
    struct stations stations = {.message = {NULL, on_station}, .loop = loop};
    loop_start(loop);
    loop_post(loop, &stations.message);
    loop_join(loop);
    assert_int_equal(stations.reached, 4);
    loop_free(loop);
}

struct ticker {
    struct loop_message message;
    struct loop *loop;
    uv_timer_t timer;
    int ticks;
};

static void on_tick(uv_timer_t *timer)
{
    struct ticker *ticker = timer->data;
    if (++ticker->ticks == 3) {
        uv_close((uv_handle_t *)timer, NULL);
    }
}

static void start_ticker(struct loop_message *message)
{
    struct ticker *ticker = (struct ticker *)message;
    ticker->timer.data = ticker;
    uv_timer_init(loop_uv(ticker->loop), &ticker->timer);
    uv_timer_start(&ticker->timer, on_tick, 1, 1);
}

static void test_open_handles_keep_the_loop(void **state)
{
    (void)state;
    struct loop *loop = loop_new(0);
    struct ticker ticker = {.message = {NULL, start_ticker}, .loop = loop};
    loop_start(loop);
    loop_post(loop, &ticker.message);
    loop_stop(loop);
    loop_join(loop);
    assert_int_equal(ticker.ticks, 3);
    loop_free(loop);
}

static void test_never_started(void **state)
{
    (void)state;
    loop_free(loop_new(0));
    loop_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_posts_arrive_in_order), cmocka_unit_test(test_posting_from_the_loop),
        cmocka_unit_test(test_own_posts_never_wait),  cmocka_unit_test(test_open_handles_keep_the_loop),
        cmocka_unit_test(test_never_started),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "fanout/recent_frames.h"

static void add(struct recent_frames *tail, int64_t sequence, size_t bytes_max)
{
    struct frame *frame = frame_new(
        &(struct frame){.kind = FRAME_EVENT, .at = {sequence, 0}, .entry.json = SLICE("{\"some\":\"text\"}")});
    recent_frames_append(tail, frame, bytes_max);
    frame_unref(frame);
}

static void finds_the_next_frame(void **state)
{
    (void)state;
    struct recent_frames tail = {0};
    recent_frames_restart(&tail, (struct cursor){10, 0});
    assert_true(recent_frames_covers(&tail, (struct cursor){10, 0}));
    assert_null(recent_frames_next(&tail, (struct cursor){10, 0}));
    for (int64_t i = 11; i <= 40; i++) {
        add(&tail, i, SIZE_MAX);
    }
    for (int64_t i = 10; i < 40; i++) {
        assert_true(recent_frames_covers(&tail, (struct cursor){i, 0}));
        assert_int_equal(recent_frames_next(&tail, (struct cursor){i, 0})->at.sequence, i + 1);
    }
    assert_null(recent_frames_next(&tail, (struct cursor){40, 0}));
    assert_false(recent_frames_covers(&tail, (struct cursor){9, 0}));
    assert_false(recent_frames_covers(&tail, (struct cursor){41, 0}));
    recent_frames_release(&tail);
}

static void old_frames_go_first(void **state)
{
    (void)state;
    struct recent_frames tail = {0};
    size_t bytes_max = 10 * (sizeof(struct frame) + 40);
    for (int64_t i = 1; i <= 1000; i++) {
        add(&tail, i, bytes_max);
        assert_true(tail.bytes <= bytes_max);
    }
    assert_true(tail.count >= 9 && tail.count <= 11);
    assert_int_equal(tail.base.sequence, 1000 - (int64_t)tail.count);
    assert_false(recent_frames_covers(&tail, (struct cursor){tail.base.sequence - 1, 0}));
    assert_int_equal(recent_frames_next(&tail, tail.base)->at.sequence, tail.base.sequence + 1);
    recent_frames_release(&tail);
}

static void a_frame_too_large_is_not_kept(void **state)
{
    (void)state;
    struct recent_frames tail = {0};
    add(&tail, 1, 10);
    assert_int_equal(tail.count, 0);
    assert_int_equal(tail.bytes, 0);
    assert_int_equal(tail.base.sequence, 1);
    assert_int_equal(tail.end.sequence, 1);
    recent_frames_release(&tail);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_the_next_frame),
        cmocka_unit_test(old_frames_go_first),
        cmocka_unit_test(a_frame_too_large_is_not_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "fanout/frame.h"

static void assert_bytes(struct frame *frame, enum framing framing, const char *expected)
{
    struct slice bytes = frame_bytes(frame, framing);
    assert_int_equal(bytes.len, strlen(expected));
    assert_memory_equal(bytes.ptr, expected, bytes.len);
}

static struct frame *frame_of(enum frame_kind kind, struct cursor at, const char *json)
{
    return frame_new(&(struct frame_parts){.kind = kind, .at = at, .type = SLICE("a.b"), .json = slice_of(json)});
}

static void events_and_deltas_carry_an_id(void **state)
{
    (void)state;
    struct frame *event = frame_of(FRAME_EVENT, (struct cursor){7, 0}, "{\"a\":1}");
    struct frame *delta = frame_of(FRAME_DELTA, (struct cursor){7, 2}, "{}");
    assert_bytes(event, FRAMING_SSE, "id: 7\nevent: event\ndata: {\"a\":1}\n\n");
    assert_bytes(delta, FRAMING_SSE, "id: 7.2\nevent: delta\ndata: {}\n\n");
    assert_bytes(event, FRAMING_WEBSOCKET, "\x81\x28{\"type\":\"event\",\"id\":\"7\",\"data\":{\"a\":1}}");
    frame_unref(event);
    frame_unref(delta);
}

static void frames_about_the_stream_carry_none(void **state)
{
    (void)state;
    struct frame *frames[] = {
        frame_ready((struct cursor){3, 1}, CURSOR_SESSION, (struct cursor){9, 0}, SLICE("[]")),
        frame_slow((struct cursor){3, 0}, CURSOR_SESSION, 4),
        frame_closed((struct cursor){812, 4}, CURSOR_FIREHOSE, SLICE("deleted")),
        frame_ping(),
    };
    static const char *const expected[] = {
        "event: ready\ndata: {\"cursor\":\"3.1\",\"sequence\":9,\"asks\":[]}\n\n",
        "event: slow\ndata: {\"sequence\":3,\"cursor\":\"3\",\"dropped_deltas\":4}\n\n",
        "event: closed\ndata: {\"reason\":\"deleted\",\"cursor\":\"812-4\"}\n\n",
        ": ping\n\n",
    };
    assert_bytes(frames[3], FRAMING_WEBSOCKET, "\x81\x0f{\"type\":\"ping\"}");
    for (size_t i = 0; i < sizeof frames / sizeof *frames; i++) {
        assert_bytes(frames[i], FRAMING_SSE, expected[i]);
        frame_unref(frames[i]);
    }
}

static void line_breaks_in_json_are_kept(void **state)
{
    (void)state;
    struct frame *frame = frame_of(FRAME_EVENT, (struct cursor){1, 0}, "{\n\"a\":1}");
    assert_bytes(frame, FRAMING_SSE, "id: 1\nevent: event\ndata: {\ndata: \"a\":1}\n\n");
    frame_unref(frame);
}

static void encoded_once_and_shared(void **state)
{
    (void)state;
    struct frame *frame = frame_of(FRAME_EVENT, (struct cursor){1, 0}, "{}");
    const char *first = frame_bytes(frame, FRAMING_SSE).ptr;
    assert_ptr_equal(frame_ref(frame), frame);
    assert_ptr_equal(frame_bytes(frame, FRAMING_SSE).ptr, first);
    assert_null(frame->encoded[FRAMING_WEBSOCKET].ptr);
    frame_forget_bytes(frame);
    assert_null(frame->encoded[FRAMING_SSE].ptr);
    assert_non_null(frame_bytes(frame, FRAMING_SSE).ptr);
    frame_unref(frame);
    assert_true(slice_is(frame->parts.type, "a.b"));
    frame_unref(frame);
    frame_unref(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_and_deltas_carry_an_id),
        cmocka_unit_test(frames_about_the_stream_carry_none),
        cmocka_unit_test(line_breaks_in_json_are_kept),
        cmocka_unit_test(encoded_once_and_shared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

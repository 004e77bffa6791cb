#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

#include "doors/native/frame_encoders.h"

static void assert_encoded(const struct encoder *encoder, const struct frame *frame, const char *expected)
{
    struct buffer bytes = {0};
    encoder->encode(&bytes, frame);
    assert_int_equal(bytes.len, strlen(expected));
    assert_memory_equal(bytes.ptr, expected, bytes.len);
    buffer_release(&bytes);
}

/* The text of a message of at most 125 bytes. */
static void assert_message(const struct frame *frame, const char *expected)
{
    char message[200];
    int len = snprintf(message, sizeof message, "\x81%c%s", (char)strlen(expected), expected);
    assert_in_range(len, 3, 127);
    assert_encoded(&encoder_websocket, frame, message);
}

static struct frame entry(enum frame_kind kind, struct cursor at, const char *json)
{
    return (struct frame){.kind = kind, .at = at, .entry = {.type = SLICE("a.b"), .json = slice_of(json)}};
}

static void events_and_deltas_carry_an_id(void **state)
{
    (void)state;
    struct frame event = entry(FRAME_EVENT, (struct cursor){7, 0}, "{\"a\":1}");
    struct frame delta = entry(FRAME_DELTA, (struct cursor){7, 2}, "{}");
    assert_encoded(&encoder_sse, &event, "id: 7\nevent: event\ndata: {\"a\":1}\n\n");
    assert_encoded(&encoder_sse, &delta, "id: 7.2\nevent: delta\ndata: {}\n\n");
    assert_message(&event, "{\"type\":\"event\",\"id\":\"7\",\"data\":{\"a\":1}}");
    assert_message(&delta, "{\"type\":\"delta\",\"id\":\"7.2\",\"data\":{}}");
}

static const struct {
    struct frame frame;
    const char *sse, *websocket;
} about_the_stream[] = {
    {{.kind = FRAME_READY, .at = {3, 1}, .ready = {{9, 0}, {"[]", 2}}},
     "event: ready\ndata: {\"cursor\":\"3.1\",\"sequence\":9,\"asks\":[]}\n\n",
     "{\"type\":\"ready\",\"data\":{\"cursor\":\"3.1\",\"sequence\":9,\"asks\":[]}}"},
    {{.kind = FRAME_READY, .style = CURSOR_FIREHOSE, .at = {3, 1}, .ready.end = {3, 1}},
     "event: ready\ndata: {\"cursor\":\"3-1\"}\n\n",
     "{\"type\":\"ready\",\"data\":{\"cursor\":\"3-1\"}}"},
    {{.kind = FRAME_SNAPSHOT, .at = {4, 2}, .snapshot.partial = {"[1]", 3}},
     "event: snapshot\ndata: {\"sequence\":4,\"cursor\":\"4.2\",\"partial\":[1]}\n\n",
     "{\"type\":\"snapshot\",\"data\":{\"sequence\":4,\"cursor\":\"4.2\",\"partial\":[1]}}"},
    {{.kind = FRAME_SLOW, .at = {3, 0}, .slow.dropped_deltas = 4},
     "event: slow\ndata: {\"sequence\":3,\"cursor\":\"3\",\"dropped_deltas\":4}\n\n",
     "{\"type\":\"slow\",\"data\":{\"sequence\":3,\"cursor\":\"3\",\"dropped_deltas\":4}}"},
    {{.kind = FRAME_GAP, .at = {6, 0}, .gap = {5, 6, {"erased", 6}}},
     "event: gap\ndata: {\"from\":5,\"to\":6,\"reason\":\"erased\",\"cursor\":\"6\"}\n\n",
     "{\"type\":\"gap\",\"data\":{\"from\":5,\"to\":6,\"reason\":\"erased\",\"cursor\":\"6\"}}"},
    {{.kind = FRAME_CLOSED, .style = CURSOR_FIREHOSE, .at = {812, 4}, .closed.reason = {"deleted", 7}},
     "event: closed\ndata: {\"reason\":\"deleted\",\"cursor\":\"812-4\"}\n\n",
     "{\"type\":\"closed\",\"data\":{\"reason\":\"deleted\",\"cursor\":\"812-4\"}}"},
    {{.kind = FRAME_HEARTBEAT}, ": ping\n\n", "{\"type\":\"ping\"}"},
};

static void frames_about_the_stream_carry_none(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof about_the_stream / sizeof *about_the_stream; i++) {
        assert_encoded(&encoder_sse, &about_the_stream[i].frame, about_the_stream[i].sse);
        assert_message(&about_the_stream[i].frame, about_the_stream[i].websocket);
    }
}

static void line_breaks_in_json_are_kept(void **state)
{
    (void)state;
    struct frame frame = entry(FRAME_EVENT, (struct cursor){1, 0}, "{\n\"a\":1}");
    assert_encoded(&encoder_sse, &frame, "id: 1\nevent: event\ndata: {\ndata: \"a\":1}\n\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_and_deltas_carry_an_id),
        cmocka_unit_test(frames_about_the_stream_carry_none),
        cmocka_unit_test(line_breaks_in_json_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

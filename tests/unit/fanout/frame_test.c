#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "fanout/frame.h"

static int runs;

static void encode_type(struct buffer *to, const struct frame *frame)
{
    runs++;
    buffer_add(to, frame->entry.type);
}

static void encode_json(struct buffer *to, const struct frame *frame)
{
    runs++;
    buffer_add(to, frame->entry.json);
}

static const struct encoder type_encoder = {"type", encode_type}, json_encoder = {"json", encode_json};

static struct frame *event_new(const char *json)
{
    struct frame facts = {.kind = FRAME_EVENT, .at = {1, 0}, .entry = {.type = SLICE("a.b"), .json = slice_of(json)}};
    return frame_new(&facts);
}

static void encoded_once_for_each_encoder(void **state)
{
    (void)state;
    struct frame *frame = event_new("{}");
    runs = 0;
    const char *first = frame_bytes(frame, &type_encoder).ptr;
    assert_true(slice_is(frame_bytes(frame, &type_encoder), "a.b"));
    assert_true(slice_is(frame_bytes(frame, &json_encoder), "{}"));
    assert_ptr_equal(frame_bytes(frame, &type_encoder).ptr, first);
    assert_true(slice_is(frame_bytes(frame, &json_encoder), "{}"));
    assert_int_equal(runs, 2);
    frame_unref(frame);
}

static void forgotten_bytes_are_made_again(void **state)
{
    (void)state;
    struct frame *frame = event_new("{}");
    assert_ptr_equal(frame_ref(frame), frame);
    runs = 0;
    (void)frame_bytes(frame, &json_encoder);
    frame_forget_bytes(frame);
    assert_true(slice_is(frame_bytes(frame, &json_encoder), "{}"));
    assert_int_equal(runs, 2);
    frame_unref(frame);
    assert_true(slice_is(frame->entry.type, "a.b"));
    frame_unref(frame);
    frame_unref(NULL);
}

static void keeps_what_it_was_made_of(void **state)
{
    (void)state;
    char reason[] = "erased", partial[] = "[1]", asks[] = "[2]";
    struct frame *frames[] = {
        frame_new(&(struct frame){.kind = FRAME_GAP, .gap = {1, 2, slice_of(reason)}}),
        frame_new(&(struct frame){.kind = FRAME_CLOSED, .closed.reason = slice_of(reason)}),
        frame_new(&(struct frame){.kind = FRAME_SNAPSHOT, .snapshot.partial = slice_of(partial)}),
        frame_new(&(struct frame){.kind = FRAME_READY, .ready = {{7, 0}, slice_of(asks)}}),
        frame_new(&(struct frame){.kind = FRAME_READY}),
    };
    reason[0] = partial[0] = asks[0] = '?';
    assert_true(slice_is(frames[0]->gap.reason, "erased"));
    assert_int_equal(frames[0]->gap.until, 2);
    assert_true(slice_is(frames[1]->closed.reason, "erased"));
    assert_true(slice_is(frames[2]->snapshot.partial, "[1]"));
    assert_true(slice_is(frames[3]->ready.asks, "[2]"));
    assert_false(slice_present(frames[4]->ready.asks));
    for (size_t i = 0; i < sizeof frames / sizeof *frames; i++) {
        frame_unref(frames[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(encoded_once_for_each_encoder),
        cmocka_unit_test(forgotten_bytes_are_made_again),
        cmocka_unit_test(keeps_what_it_was_made_of),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

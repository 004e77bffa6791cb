#include "unit.h"

#include "wire/websocket_frames.h"

enum { FRAME_BYTES_MAX = 70000 };

/* Passes the bytes in pieces; what passed is in `out`. */
static bool pass(struct websocket_frames *frames, struct slice bytes, size_t piece, struct buffer *out)
{
    bool sound = true;
    while (bytes.len > 0 && sound) {
        sound = websocket_frames_pass(frames, slice_from(bytes.ptr, bytes.len < piece ? bytes.len : piece), out);
        bytes = slice_after(bytes, piece);
    }
    return sound;
}

static void add_large(struct buffer *stream, size_t len)
{
    struct buffer payload = {0};
    for (size_t i = 0; i < len; i++) {
        buffer_add_byte(&payload, (char)i);
    }
    websocket_write(stream, WEBSOCKET_BINARY, buffer_slice(&payload));
    buffer_release(&payload);
}

static void whatever_is_sound_passes_as_it_came(void **state)
{
    (void)state;
    static const size_t pieces[] = {1, 2, 3, 7, 1000, 1000000};
    struct buffer stream = {0};
    buffer_add(&stream, SLICE("\x41\x02hi\x00\x01!\x89\x00\x80\x00")); /* an extension's bit, pieces, a ping between */
    add_large(&stream, 125);
    add_large(&stream, 126);
    add_large(&stream, 65535);
    add_large(&stream, 65536);
    for (size_t i = 0; i < COUNT_OF(pieces); i++) {
        struct websocket_frames frames;
        struct buffer out = {0};
        websocket_frames_init(&frames, WEBSOCKET_FROM_SERVER, FRAME_BYTES_MAX);
        assert_true(pass(&frames, buffer_slice(&stream), pieces[i], &out));
        assert_true(slice_eq(buffer_slice(&out), buffer_slice(&stream)));
        assert_true(websocket_frames_are_whole(&frames));
        assert_false(frames.closed);
        buffer_release(&out);
    }
    buffer_release(&stream);
}

static void what_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        struct slice bytes;
        enum websocket_side side;
        int close_code;
    } rows[] = {
        {"an unmasked client", SLICE("\x81\x01x"), WEBSOCKET_FROM_CLIENT, WEBSOCKET_CLOSE_PROTOCOL},
        {"a masked server", SLICE("\x81\x81mmmmx"), WEBSOCKET_FROM_SERVER, WEBSOCKET_CLOSE_PROTOCOL},
        {"an opcode of nobody", SLICE("\x83\x00"), WEBSOCKET_FROM_SERVER, WEBSOCKET_CLOSE_PROTOCOL},
        {"a control opcode of nobody", SLICE("\x8b\x00"), WEBSOCKET_FROM_SERVER, WEBSOCKET_CLOSE_PROTOCOL},
        {"a ping in pieces", SLICE("\x09\x00"), WEBSOCKET_FROM_SERVER, WEBSOCKET_CLOSE_PROTOCOL},
        {"a long ping", SLICE("\x89\x7e\x00\x7e"), WEBSOCKET_FROM_SERVER, WEBSOCKET_CLOSE_PROTOCOL},
        {"no length", SLICE("\x82\x7f\x80\x00\x00\x00\x00\x00\x00\x00"), WEBSOCKET_FROM_SERVER,
         WEBSOCKET_CLOSE_PROTOCOL},
        {"too long", SLICE("\x82\x7f\x00\x00\x00\x00\x00\x01\x11\x71"), WEBSOCKET_FROM_SERVER,
         WEBSOCKET_CLOSE_TOO_LARGE},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct websocket_frames frames;
        struct buffer out = {0}, before = {0};
        websocket_frames_init(&frames, rows[i].side, FRAME_BYTES_MAX);
        if (rows[i].side == WEBSOCKET_FROM_SERVER) {
            websocket_write(&before, WEBSOCKET_TEXT, SLICE("good"));
        }
        assert_row(rows[i].name, pass(&frames, buffer_slice(&before), 1, &out));
        assert_row(rows[i].name, !pass(&frames, rows[i].bytes, 1, &out));
        assert_row(rows[i].name, frames.problem && frames.close_code == rows[i].close_code);
        assert_row(rows[i].name, websocket_frames_are_whole(&frames));
        assert_row(rows[i].name, slice_eq(buffer_slice(&out), buffer_slice(&before)));
        assert_row(rows[i].name, !websocket_frames_pass(&frames, SLICE("\x81\x01x"), &out));
        buffer_release(&out);
        buffer_release(&before);
    }
}

static void nothing_follows_a_close(void **state)
{
    (void)state;
    struct websocket_frames frames;
    struct buffer stream = {0}, out = {0};
    websocket_frames_init(&frames, WEBSOCKET_FROM_SERVER, FRAME_BYTES_MAX);
    websocket_write_close(&stream, 4001, SLICE("bye"));
    size_t len = stream.len;
    assert_true(pass(&frames, slice_from(stream.ptr, len - 1), 1, &out));
    assert_false(frames.closed);
    assert_false(websocket_frames_are_whole(&frames));
    websocket_write(&stream, WEBSOCKET_TEXT, SLICE("more"));
    assert_true(websocket_frames_pass(&frames, slice_after(buffer_slice(&stream), len - 1), &out));
    assert_true(frames.closed);
    assert_int_equal(out.len, len);
    buffer_release(&stream);
    buffer_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whatever_is_sound_passes_as_it_came),
        cmocka_unit_test(what_is_refused),
        cmocka_unit_test(nothing_follows_a_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

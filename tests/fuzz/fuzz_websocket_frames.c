/* What passes does not depend on how the stream is cut, and is a beginning of the stream; a sound stream passes whole,
 * and what the strict decoder understands passes too. The first byte sets the side and the size of the pieces. */
#include "wire/websocket_frames.h"
#include "fuzz.h"

enum { FRAME_BYTES_MAX = 300 };

static bool pass(struct slice stream, size_t piece, enum websocket_side side, struct buffer *out,
                 struct websocket_frames *frames)
{
    bool sound = true;
    websocket_frames_init(frames, side, FRAME_BYTES_MAX);
    while (stream.len > 0) {
        struct slice bytes = slice_from(stream.ptr, stream.len < piece ? stream.len : piece);
        stream = slice_after(stream, piece);
        bool passed = websocket_frames_pass(frames, bytes, out);
        CHECK(sound || !passed);
        CHECK(passed == !frames->problem);
        CHECK(passed || (frames->close_code && websocket_frames_are_whole(frames)));
        sound = passed;
    }
    return sound;
}

static void check_again(const struct buffer *passed, enum websocket_side side)
{
    struct buffer again = {0};
    struct websocket_frames frames;
    CHECK(pass(buffer_slice(passed), passed->len + 1, side, &again, &frames));
    CHECK(slice_eq(buffer_slice(passed), buffer_slice(&again)));
    buffer_release(&again);
}

/* True when the strict decoder finds nothing wrong. */
static bool is_understood(struct slice stream, enum websocket_side side)
{
    struct websocket_decoder decoder;
    struct websocket_message message;
    enum websocket_step step;
    websocket_decoder_init(&decoder, side, FRAME_BYTES_MAX);
    while ((step = websocket_decode(&decoder, &stream, &message)) == WEBSOCKET_MESSAGE) {
    }
    websocket_decoder_release(&decoder);
    return step == WEBSOCKET_MORE;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) {
        return 0;
    }
    struct buffer whole = {0}, single = {0}, pieces = {0};
    struct websocket_frames frames, others;
    struct slice stream = slice_from(data + 1, size - 1);
    enum websocket_side side = data[0] & 1 ? WEBSOCKET_FROM_SERVER : WEBSOCKET_FROM_CLIENT;
    bool sound = pass(stream, size, side, &whole, &frames);
    CHECK(pass(stream, 1, side, &single, &others) == sound);
    CHECK(pass(stream, (size_t)data[0] / 2 + 1, side, &pieces, &others) == sound);
    CHECK(slice_eq(buffer_slice(&whole), buffer_slice(&single)));
    CHECK(slice_eq(buffer_slice(&whole), buffer_slice(&pieces)));
    CHECK(slice_starts(stream, buffer_slice(&whole)));
    CHECK(!sound || frames.closed || whole.len + frames.header_have == stream.len);
    CHECK(sound || !is_understood(stream, side));
    check_again(&whole, side);
    buffer_release(&whole);
    buffer_release(&single);
    buffer_release(&pieces);
    return 0;
}

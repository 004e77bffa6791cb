/* The decoder hears the same messages however the stream is cut, and what it heard can be written and heard again. The
 * first byte of the input sets the side and the size of the pieces. */
#include "wire/websocket.h"
#include "fuzz.h"

enum { MESSAGE_BYTES_MAX = 300 };

static void hear(struct buffer *heard, const struct websocket_message *message)
{
    CHECK(message->opcode != WEBSOCKET_TEXT || slice_is_utf8(message->payload));
    CHECK(message->payload.len <= MESSAGE_BYTES_MAX);
    buffer_format(heard, "%d %d %zu\n", (int)message->opcode, message->close_code, message->payload.len);
    buffer_add(heard, message->payload);
}

static void rewrite(struct buffer *stream, enum websocket_side side, const struct websocket_message *message)
{
    struct id_source ids;
    id_source_init_seeded(&ids, stream->len);
    bool coded_close = message->opcode == WEBSOCKET_CLOSE && message->close_code != WEBSOCKET_CLOSE_NO_CODE;
    if (side == WEBSOCKET_FROM_SERVER) {
        coded_close ? websocket_write_close(stream, message->close_code, message->payload)
                    : websocket_write(stream, message->opcode, message->payload);
    } else {
        coded_close ? websocket_write_masked_close(stream, &ids, message->close_code, message->payload)
                    : websocket_write_masked(stream, &ids, message->opcode, message->payload);
    }
}

/* True when the stream was sound; what was heard goes to `heard` and, as frames, to `rewritten` unless that is NULL. */
static bool decode(struct slice stream, size_t piece, enum websocket_side side, struct buffer *heard,
                   struct buffer *rewritten)
{
    struct websocket_decoder decoder;
    struct websocket_message message;
    bool sound = true;
    websocket_decoder_init(&decoder, side, MESSAGE_BYTES_MAX);
    while (stream.len > 0) {
        struct slice bytes = slice_from(stream.ptr, stream.len < piece ? stream.len : piece);
        stream = slice_after(stream, piece);
        enum websocket_step step;
        while ((step = websocket_decode(&decoder, &bytes, &message)) == WEBSOCKET_MESSAGE) {
            hear(heard, &message);
            if (rewritten) {
                rewrite(rewritten, side, &message);
            }
        }
        CHECK(step == WEBSOCKET_BROKEN || bytes.len == 0);
        CHECK(step != WEBSOCKET_BROKEN || (sound && decoder.problem && decoder.close_code));
        sound = sound && step != WEBSOCKET_BROKEN;
    }
    if (!sound) {
        buffer_format(heard, "%d %s", decoder.close_code, decoder.problem);
    }
    websocket_decoder_release(&decoder);
    return sound;
}

static bool same(const struct buffer *a, const struct buffer *b)
{
    return slice_eq(buffer_slice(a), buffer_slice(b));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) {
        return 0;
    }
    struct buffer whole = {0}, single = {0}, pieces = {0}, written = {0}, again = {0};
    struct slice stream = slice_from(data + 1, size - 1);
    enum websocket_side side = data[0] & 1 ? WEBSOCKET_FROM_SERVER : WEBSOCKET_FROM_CLIENT;
    bool sound = decode(stream, size, side, &whole, &written);
    CHECK(decode(stream, 1, side, &single, NULL) == sound);
    CHECK(decode(stream, (size_t)data[0] / 2 + 1, side, &pieces, NULL) == sound);
    CHECK(same(&whole, &single) && same(&whole, &pieces));
    CHECK(decode(buffer_slice(&written), 7, side, &again, NULL));
    CHECK(!sound || same(&whole, &again));
    buffer_release(&whole);
    buffer_release(&single);
    buffer_release(&pieces);
    buffer_release(&written);
    buffer_release(&again);
    return 0;
}

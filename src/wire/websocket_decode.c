#include "wire/websocket.h"

enum { BIT_FIN = 0x80, BITS_RESERVED = 0x70, BITS_OPCODE = 0x0F, BIT_MASK = 0x80, BITS_LENGTH = 0x7F };

void websocket_decoder_init(struct websocket_decoder *decoder, enum websocket_side side, size_t message_bytes_max)
{
    *decoder = (struct websocket_decoder){
        .message_bytes_max = message_bytes_max,
        .masked = side == WEBSOCKET_FROM_CLIENT,
    };
}

void websocket_decoder_release(struct websocket_decoder *decoder)
{
    buffer_release(&decoder->message);
}

static enum websocket_step broken(struct websocket_decoder *decoder, int close_code, const char *problem)
{
    decoder->closed = true;
    decoder->close_code = close_code;
    decoder->problem = problem;
    return WEBSOCKET_BROKEN;
}

static enum websocket_opcode frame_opcode(const struct websocket_decoder *decoder)
{
    return (enum websocket_opcode)(decoder->header[0] & BITS_OPCODE);
}

static bool frame_is_final(const struct websocket_decoder *decoder)
{
    return decoder->header[0] & BIT_FIN;
}

static bool frame_is_control(const struct websocket_decoder *decoder)
{
    return decoder->header[0] & 0x08;
}

/* Bytes of the extended length behind the first two header bytes. */
static size_t length_bytes(const struct websocket_decoder *decoder)
{
    int length = decoder->header[1] & BITS_LENGTH;
    return length == 127 ? 8 : length == 126 ? 2 : 0;
}

static size_t header_need(const struct websocket_decoder *decoder)
{
    return decoder->header_have < 2 ? 2 : 2 + length_bytes(decoder) + (decoder->masked ? 4 : 0);
}

/* What is wrong with the first two bytes of a frame, or NULL. */
static const char *opening_problem(const struct websocket_decoder *decoder)
{
    if (decoder->header[0] & BITS_RESERVED) {
        return "reserved bits are set and no extension was agreed";
    }
    if (!!(decoder->header[1] & BIT_MASK) != decoder->masked) {
        return decoder->masked ? "frames of a client must be masked" : "frames of a server must not be masked";
    }
    switch (frame_opcode(decoder)) {
    case WEBSOCKET_CONTINUATION:
        return decoder->message_opcode ? NULL : "a continuation follows no message";
    case WEBSOCKET_TEXT:
    case WEBSOCKET_BINARY:
        return decoder->message_opcode ? "a message begins inside another" : NULL;
    case WEBSOCKET_CLOSE:
    case WEBSOCKET_PING:
    case WEBSOCKET_PONG:
        return frame_is_final(decoder) && length_bytes(decoder) == 0
                   ? NULL
                   : "a control frame must be whole and hold at most 125 bytes";
    }
    return "the opcode is unknown";
}

/* False for a length that a shorter form could hold or that has its top bit set. */
static bool read_length(const struct websocket_decoder *decoder, uint64_t *out)
{
    size_t bytes = length_bytes(decoder);
    if (bytes == 0) {
        *out = decoder->header[1] & BITS_LENGTH;
        return true;
    }
    uint64_t length = 0;
    for (size_t i = 0; i < bytes; i++) {
        length = length << 8 | decoder->header[2 + i];
    }
    *out = length;
    return bytes == 2 ? length >= 126 : length > 0xFFFF && length <= INT64_MAX;
}

static enum websocket_step begin_payload(struct websocket_decoder *decoder)
{
    uint64_t length;
    if (!read_length(decoder, &length)) {
        return broken(decoder, WEBSOCKET_CLOSE_PROTOCOL, "the length of a frame is not in its shortest form");
    }
    if (!frame_is_control(decoder)) {
        if (length > decoder->message_bytes_max - decoder->message.len) {
            return broken(decoder, WEBSOCKET_CLOSE_TOO_LARGE, "the message is larger than allowed");
        }
        if (frame_opcode(decoder) != WEBSOCKET_CONTINUATION) {
            decoder->message_opcode = (unsigned char)frame_opcode(decoder);
        }
    }
    decoder->control_at = decoder->message.len;
    decoder->payload_left = (size_t)length;
    decoder->in_payload = true;
    decoder->mask_at = 0;
    return WEBSOCKET_MORE;
}

/* Moves bytes from *bytes into the header until it is whole. */
static enum websocket_step take_header(struct websocket_decoder *decoder, struct slice *bytes)
{
    while (bytes->len > 0 && decoder->header_have < header_need(decoder)) {
        decoder->header[decoder->header_have++] = (unsigned char)bytes->ptr[0];
        *bytes = slice_after(*bytes, 1);
        if (decoder->header_have == 2) {
            const char *problem = opening_problem(decoder);
            if (problem) {
                return broken(decoder, WEBSOCKET_CLOSE_PROTOCOL, problem);
            }
        }
    }
    return decoder->header_have >= 2 && decoder->header_have == header_need(decoder) ? begin_payload(decoder)
                                                                                     : WEBSOCKET_MORE;
}

/* Room is made for what has arrived, never for what a header promises. */
static void take_payload(struct websocket_decoder *decoder, struct slice *bytes)
{
    size_t count = bytes->len < decoder->payload_left ? bytes->len : decoder->payload_left;
    if (count == 0) {
        return;
    }
    struct buffer *message = &decoder->message;
    size_t start = message->len;
    buffer_add(message, slice_from(bytes->ptr, count));
    if (decoder->masked) {
        const unsigned char *mask = decoder->header + 2 + length_bytes(decoder);
        for (size_t i = 0; i < count; i++) {
            message->ptr[start + i] = (char)((unsigned char)message->ptr[start + i] ^ mask[(decoder->mask_at + i) & 3]);
        }
        decoder->mask_at = (unsigned char)((decoder->mask_at + count) & 3);
    }
    decoder->payload_left -= count;
    *bytes = slice_after(*bytes, count);
}

static bool close_code_is_valid(int code)
{
    return (code >= 1000 && code <= 1014 && code != 1004 && code != 1005 && code != 1006) ||
           (code >= 3000 && code <= 4999);
}

static enum websocket_step end_close(struct websocket_decoder *decoder, struct slice payload,
                                     struct websocket_message *out)
{
    int code = WEBSOCKET_CLOSE_NO_CODE;
    if (payload.len > 0) {
        const unsigned char *at = (const unsigned char *)payload.ptr;
        code = payload.len == 1 ? 0 : at[0] << 8 | at[1];
        if (!close_code_is_valid(code)) {
            return broken(decoder, WEBSOCKET_CLOSE_PROTOCOL, "the close code is not valid");
        }
    }
    struct slice reason = slice_after(payload, 2);
    if (!slice_is_utf8(reason)) {
        return broken(decoder, WEBSOCKET_CLOSE_BAD_TEXT, "the close reason is not valid UTF-8");
    }
    decoder->closed = true;
    *out = (struct websocket_message){WEBSOCKET_CLOSE, reason, code};
    return WEBSOCKET_MESSAGE;
}

static enum websocket_step end_control(struct websocket_decoder *decoder, struct websocket_message *out)
{
    struct slice payload = slice_after(buffer_slice(&decoder->message), decoder->control_at);
    decoder->delivered_control = true;
    if (frame_opcode(decoder) == WEBSOCKET_CLOSE) {
        return end_close(decoder, payload, out);
    }
    *out = (struct websocket_message){frame_opcode(decoder), payload, 0};
    return WEBSOCKET_MESSAGE;
}

static enum websocket_step end_frame(struct websocket_decoder *decoder, struct websocket_message *out)
{
    decoder->header_have = 0;
    decoder->in_payload = false;
    if (frame_is_control(decoder)) {
        return end_control(decoder, out);
    }
    if (!frame_is_final(decoder)) {
        return WEBSOCKET_MORE;
    }
    struct slice payload = buffer_slice(&decoder->message);
    enum websocket_opcode opcode = (enum websocket_opcode)decoder->message_opcode;
    if (opcode == WEBSOCKET_TEXT && !slice_is_utf8(payload)) {
        return broken(decoder, WEBSOCKET_CLOSE_BAD_TEXT, "a text message is not valid UTF-8");
    }
    decoder->delivered_message = true;
    *out = (struct websocket_message){opcode, payload, 0};
    return WEBSOCKET_MESSAGE;
}

/* Drops what the previous call delivered. */
static void begin_step(struct websocket_decoder *decoder)
{
    if (decoder->delivered_control) {
        decoder->delivered_control = false;
        decoder->message.len = decoder->control_at;
    }
    if (decoder->delivered_message) {
        decoder->delivered_message = false;
        decoder->message_opcode = WEBSOCKET_CONTINUATION;
        decoder->message.len = 0;
    }
    if (decoder->message_opcode == WEBSOCKET_CONTINUATION && !decoder->in_payload) {
        buffer_release(&decoder->message);
    }
}

enum websocket_step websocket_decode(struct websocket_decoder *decoder, struct slice *bytes,
                                     struct websocket_message *out)
{
    begin_step(decoder);
    while (bytes->len > 0 && !decoder->closed) {
        if (!decoder->in_payload && take_header(decoder, bytes) == WEBSOCKET_BROKEN) {
            return WEBSOCKET_BROKEN;
        }
        if (!decoder->in_payload) {
            continue;
        }
        take_payload(decoder, bytes);
        if (decoder->payload_left == 0) {
            enum websocket_step step = end_frame(decoder, out);
            if (step != WEBSOCKET_MORE) {
                return step;
            }
        }
    }
    *bytes = slice_after(*bytes, decoder->closed ? bytes->len : 0);
    return WEBSOCKET_MORE;
}

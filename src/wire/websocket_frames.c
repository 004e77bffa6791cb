#include "wire/websocket_frames.h"

enum { FINAL = 0x80, OPCODE = 0x0F, MASKED = 0x80, LENGTH = 0x7F, CONTROL = 0x08 };

void websocket_frames_init(struct websocket_frames *frames, enum websocket_side side, uint64_t frame_bytes_max)
{
    *frames = (struct websocket_frames){
        .frame_bytes_max = frame_bytes_max,
        .masked = side == WEBSOCKET_FROM_CLIENT,
    };
}

bool websocket_frames_are_whole(const struct websocket_frames *frames)
{
    return frames->payload_left == 0;
}

static bool refuse(struct websocket_frames *frames, int close_code, const char *problem)
{
    frames->close_code = close_code;
    frames->problem = problem;
    return false;
}

static size_t length_bytes(const struct websocket_frames *frames)
{
    int length = frames->header[1] & LENGTH;
    return length == 127 ? 8 : length == 126 ? 2 : 0;
}

static size_t header_bytes(const struct websocket_frames *frames)
{
    return frames->header_have < 2 ? 2 : 2 + length_bytes(frames) + (frames->header[1] & MASKED ? 4 : 0);
}

static uint64_t payload_bytes(const struct websocket_frames *frames)
{
    size_t count = length_bytes(frames);
    uint64_t length = count ? 0 : frames->header[1] & LENGTH;
    for (size_t i = 0; i < count; i++) {
        length = length << 8 | frames->header[2 + i];
    }
    return length;
}

static bool is_known(int opcode)
{
    return opcode <= WEBSOCKET_BINARY || (opcode >= WEBSOCKET_CLOSE && opcode <= WEBSOCKET_PONG);
}

/* Of the first two bytes; what they say wrong is said before more is awaited. */
static bool check_start(struct websocket_frames *frames)
{
    int opcode = frames->header[0] & OPCODE;
    bool control = (opcode & CONTROL) != 0;
    if (!is_known(opcode)) {
        return refuse(frames, WEBSOCKET_CLOSE_PROTOCOL, "a frame has an unknown opcode");
    }
    if (((frames->header[1] & MASKED) != 0) != frames->masked) {
        return refuse(frames, WEBSOCKET_CLOSE_PROTOCOL, "clients mask their frames, servers do not");
    }
    if (control && (!(frames->header[0] & FINAL) || length_bytes(frames) > 0)) {
        return refuse(frames, WEBSOCKET_CLOSE_PROTOCOL, "a control frame is long or in pieces");
    }
    return true;
}

static bool check_header(struct websocket_frames *frames)
{
    uint64_t length = payload_bytes(frames);
    if (length > INT64_MAX) {
        return refuse(frames, WEBSOCKET_CLOSE_PROTOCOL, "a frame has no possible length");
    }
    if (length > frames->frame_bytes_max) {
        return refuse(frames, WEBSOCKET_CLOSE_TOO_LARGE, "a frame is too long");
    }
    return true;
}

static void pass_payload(struct websocket_frames *frames, struct slice *bytes, struct buffer *out)
{
    size_t count = bytes->len < frames->payload_left ? bytes->len : (size_t)frames->payload_left;
    buffer_add(out, slice_from(bytes->ptr, count));
    *bytes = slice_after(*bytes, count);
    frames->payload_left -= count;
    frames->closed = frames->is_closing && frames->payload_left == 0;
}

static bool pass_header(struct websocket_frames *frames, struct slice *bytes, struct buffer *out)
{
    while (bytes->len > 0 && frames->header_have < header_bytes(frames)) {
        frames->header[frames->header_have++] = (unsigned char)bytes->ptr[0];
        *bytes = slice_after(*bytes, 1);
        if (frames->header_have == 2 && !check_start(frames)) {
            return false;
        }
    }
    if (frames->header_have < header_bytes(frames)) {
        return true;
    }
    if (!check_header(frames)) {
        return false;
    }
    buffer_add(out, slice_from(frames->header, frames->header_have));
    frames->is_closing = (frames->header[0] & OPCODE) == WEBSOCKET_CLOSE;
    frames->payload_left = payload_bytes(frames);
    frames->closed = frames->is_closing && frames->payload_left == 0;
    frames->header_have = 0;
    return true;
}

bool websocket_frames_pass(struct websocket_frames *frames, struct slice bytes, struct buffer *out)
{
    bool sound = !frames->problem;
    while (sound && bytes.len > 0 && !frames->closed) {
        if (frames->payload_left > 0) {
            pass_payload(frames, &bytes, out);
        } else {
            sound = pass_header(frames, &bytes, out);
        }
    }
    return sound;
}

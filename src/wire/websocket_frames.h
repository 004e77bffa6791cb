/* WebSocket frames that are passed on as they came: payloads are not kept, unmasked or joined, so whatever the two ends
 * agreed on (extensions, protocols) works. Only headers are looked at, and a frame passes when its header is sound. */
#ifndef WIRE_WEBSOCKET_FRAMES_H
#define WIRE_WEBSOCKET_FRAMES_H

#include "wire/websocket.h"

/* Owned by the caller; holds no memory of its own. */
struct websocket_frames {
    uint64_t frame_bytes_max;
    uint64_t payload_left;
    const char *problem; /* what was wrong with a frame; NULL = nothing yet. Nothing passes any more. */
    int close_code;      /* with `problem`: what to close with */
    unsigned char header[14];
    unsigned char header_have;
    bool masked;     /* what the sender must do */
    bool is_closing; /* the frame that passes is a close frame */
    bool closed;     /* it has passed whole: whatever follows is dropped */
};

void websocket_frames_init(struct websocket_frames *frames, enum websocket_side side, uint64_t frame_bytes_max);
/* Adds to `out` what may be passed on. False when a frame is refused; what passed then ends with a whole frame. */
MUST_CHECK bool websocket_frames_pass(struct websocket_frames *frames, struct slice bytes, struct buffer *out);
/* Whether what passed so far ends with a whole frame, so that one of ours may follow. */
bool websocket_frames_are_whole(const struct websocket_frames *frames);

#endif

/* How the native API writes the frames of a viewer: as server-sent events and as WebSocket messages. */
#ifndef DOORS_NATIVE_FRAME_ENCODERS_H
#define DOORS_NATIVE_FRAME_ENCODERS_H

#include "fanout/frame.h"

/* `event:` names the frame; events and deltas carry an `id:`; a heartbeat is a comment. */
extern const struct encoder encoder_sse;
/* {"type","id","data"}; no id where server-sent events have none. */
extern const struct encoder encoder_websocket;

#endif

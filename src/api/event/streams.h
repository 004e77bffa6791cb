/* From a request to a viewer: server-sent events and WebSocket. */
#ifndef API_STREAMS_H
#define API_STREAMS_H

#include "api/core/request.h"
#include "fanout/fanout.h"
#include "net/stream.h"

/* Checks access and hands the connection to the fanout once the exchange is back on its loop. */
MUST_CHECK enum status streams_session(struct request *request, enum stream_kind kind);

/* INVALID unless the client asks for the upgrade. */
MUST_CHECK enum status streams_check_websocket(struct request *request);

/* Shared by lists and streams. */
MUST_CHECK enum status request_event_types(struct request *request, struct slice *types, size_t *count);
/* Last-Event-ID, after, afterSequence or resume_from. */
MUST_CHECK enum status request_cursor(struct request *request, struct cursor *out, bool *out_given);

#endif

/* A connection that became a long-lived stream: server-sent events, WebSocket or bytes. Loop thread only. An idle
 * stream must stay small (well under 1 KB with its connection): no buffers are kept while nothing is in flight. */
#ifndef NET_STREAM_H
#define NET_STREAM_H

#include "base/slice.h"
#include "net/exchange.h"

/* STREAM_PLAIN: any answer whose body comes piece by piece. The exchange's body holds its header lines, framing among
 * them; what is written is the body as framed.
 * STREAM_RAW: a 101 whose header lines are in the exchange's body; then bytes both ways, as their owners frame them. */
enum stream_kind { STREAM_SSE, STREAM_WEBSOCKET, STREAM_PLAIN, STREAM_RAW };

struct stream_handler {
    void (*on_writable)(void *owner);                   /* after stream_write took less than offered */
    void (*on_message)(void *owner, struct slice text); /* WebSocket: one complete text message; raw: what came */
    void (*on_closed)(void *owner); /* the peer is gone or the stream ended; the stream must not be used again */
};

/* From take_over, or later on the loop while the exchange is not answered. Sends the head of the answer (200
 * text/event-stream, 101, or the exchange's status), with the exchange's headers, and turns the connection into a
 * stream; frees the exchange. `owner` is passed to the handler, which is not called before this has returned. NULL,
 * with the exchange answered, when the upgrade is not acceptable or the client is gone. */
struct stream *stream_accept(struct exchange *exchange, enum stream_kind kind, const struct stream_handler *handler,
                             void *owner);
/* Offers bytes that are already framed and end with a frame; returns how many were taken (0 .. len). When fewer than
 * offered, on_writable is called later and the caller offers the rest again: nothing is buffered here (with TLS at most
 * one record). Nothing else may be offered before the rest of a frame. Calls nobody back. */
size_t stream_write(struct stream *stream, struct slice bytes);
/* STREAM_RAW: stop and go on reading; what was received already still comes. */
void stream_pause(struct stream *stream, bool paused);
/* Sends what was taken, then closes (WebSocket: with a close frame of `code`, 0 = 1000, unless a frame was taken only
 * in part). on_closed follows, after this has returned. */
void stream_end(struct stream *stream, int code);
/* The same; `reason` (at most 123 bytes) stands in the close frame. */
void stream_end_because(struct stream *stream, int code, struct slice reason);
enum stream_kind stream_kind(const struct stream *stream);

#endif

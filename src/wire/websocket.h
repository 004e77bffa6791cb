/* WebSocket (RFC 6455, version 13, no extensions): the handshake, frames for writing, and a decoder of what the other
 * side sends, fed in any pieces. No I/O. */
#ifndef WIRE_WEBSOCKET_H
#define WIRE_WEBSOCKET_H

#include "base/buffer.h"
#include "base/id.h"
#include "base/status.h"

enum websocket_opcode {
    WEBSOCKET_CONTINUATION = 0,
    WEBSOCKET_TEXT = 1,
    WEBSOCKET_BINARY = 2,
    WEBSOCKET_CLOSE = 8,
    WEBSOCKET_PING = 9,
    WEBSOCKET_PONG = 10,
};

enum websocket_close_code {
    WEBSOCKET_CLOSE_NORMAL = 1000,
    WEBSOCKET_CLOSE_GOING_AWAY = 1001,
    WEBSOCKET_CLOSE_PROTOCOL = 1002,
    WEBSOCKET_CLOSE_NO_CODE = 1005, /* never sent: the close frame held none */
    WEBSOCKET_CLOSE_BAD_TEXT = 1007,
    WEBSOCKET_CLOSE_POLICY = 1008,
    WEBSOCKET_CLOSE_TOO_LARGE = 1009,
    WEBSOCKET_CLOSE_INTERNAL = 1011,
    WEBSOCKET_CLOSE_TRY_LATER = 1013,
};

enum { WEBSOCKET_ACCEPT_TEXT_BYTES = 29, WEBSOCKET_CONTROL_BYTES_MAX = 125 };

/* The headers of an upgrade request; absent when the request has none. */
struct websocket_offer {
    struct slice upgrade;
    struct slice connection;
    struct slice version;
    struct slice key;
    struct slice protocols;
};

struct websocket_answer {
    char accept[WEBSOCKET_ACCEPT_TEXT_BYTES]; /* Sec-WebSocket-Accept, zero-terminated */
    const char *protocol;                     /* Sec-WebSocket-Protocol; NULL = do not send the header */
};

/* `protocols` ends with NULL (or is NULL) and lists what we speak: the first one that the client offers wins. A client
 * that offers none of them is answered without a protocol. */
MUST_CHECK enum status websocket_handshake(const struct websocket_offer *offer, const char *const *protocols,
                                           struct websocket_answer *out, struct failure *failure);

/* A whole frame as a server sends it: nothing in it depends on the reader, so all readers may share it. */
void websocket_write(struct buffer *buffer, enum websocket_opcode opcode, struct slice payload);
/* The reason is cut to what fits, at a character. */
void websocket_write_close(struct buffer *buffer, int code, struct slice reason);
/* As a client sends it; the mask comes fresh from `ids`. */
void websocket_write_masked(struct buffer *buffer, struct id_source *ids, enum websocket_opcode opcode,
                            struct slice payload);
void websocket_write_masked_close(struct buffer *buffer, struct id_source *ids, int code, struct slice reason);

enum websocket_side { WEBSOCKET_FROM_CLIENT, WEBSOCKET_FROM_SERVER };

/* Owned by the caller. Between messages it holds no memory of its own. */
struct websocket_decoder {
    struct buffer message; /* the message so far, behind it a control frame that came in between */
    const char *problem;   /* after WEBSOCKET_BROKEN: for the log and the close reason */
    size_t message_bytes_max;
    size_t payload_left;
    size_t control_at; /* where in `message` the control frame's payload begins */
    int close_code;    /* after WEBSOCKET_BROKEN: what to close with */
    unsigned char header[14];
    unsigned char header_have;
    unsigned char mask_at;
    unsigned char message_opcode; /* WEBSOCKET_CONTINUATION = no message has begun */
    bool in_payload;
    bool delivered_message;
    bool delivered_control;
    bool closed; /* a close frame arrived or the stream is broken: the rest is ignored */
    bool masked; /* what the other side must do */
};

struct websocket_message {
    enum websocket_opcode opcode; /* text, binary, ping, pong or close; fragments are already joined */
    struct slice payload;         /* of close: the reason */
    int close_code;               /* of close */
};

enum websocket_step {
    WEBSOCKET_MORE,    /* all bytes are taken */
    WEBSOCKET_MESSAGE, /* *out is filled; call again with the rest */
    WEBSOCKET_BROKEN,  /* close with decoder->close_code */
};

void websocket_decoder_init(struct websocket_decoder *decoder, enum websocket_side side, size_t message_bytes_max);
void websocket_decoder_release(struct websocket_decoder *decoder);
/* Takes bytes off *bytes. The payload of *out is good until the next call. Text is valid UTF-8. */
MUST_CHECK enum websocket_step websocket_decode(struct websocket_decoder *decoder, struct slice *bytes,
                                                struct websocket_message *out);

#endif

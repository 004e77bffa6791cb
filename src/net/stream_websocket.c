#include "wire/websocket.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "net/connection.h"
#include "net/server_loop.h"

enum { CLOSE_UNSUPPORTED = 1003 };

struct websocket {
    struct websocket_decoder decoder;
    struct buffer control; /* frames of ours to be written: one pong at most, and a close */
    bool control_begun;
    bool closing;
};

struct websocket *websocket_new(size_t message_bytes_max)
{
    struct websocket *websocket = memory_zeroed(sizeof *websocket);
    websocket_decoder_init(&websocket->decoder, WEBSOCKET_FROM_CLIENT, message_bytes_max);
    return websocket;
}

void websocket_free(struct websocket *websocket)
{
    if (websocket) {
        websocket_decoder_release(&websocket->decoder);
        buffer_release(&websocket->control);
        free(websocket);
    }
}

static void refuse_handshake(struct exchange *exchange, const struct failure *failure)
{
    bool upgrade_missing = strcmp(failure->code, "websocket_key") != 0;
    char *code = arena_bytes(&exchange->arena, sizeof failure->code);
    char *detail = arena_bytes(&exchange->arena, sizeof failure->detail);
    memcpy(code, failure->code, sizeof failure->code);
    memcpy(detail, failure->detail, sizeof failure->detail);
    exchange_set_problem(exchange, upgrade_missing ? 426 : 400, code, detail);
    if (upgrade_missing) {
        exchange_header(exchange, "Upgrade", SLICE("websocket"));
        exchange_header(exchange, "Sec-WebSocket-Version", SLICE("13"));
    }
}

bool websocket_compose_head(struct exchange *exchange, struct buffer *out)
{
    const struct http_request *request = &exchange->request;
    struct websocket_offer offer = {
        .upgrade = request->upgrade,
        .connection = slice_present(request->upgrade) ? SLICE("upgrade") : (struct slice){0},
        .version = http_request_header(request, "sec-websocket-version"),
        .key = http_request_header(request, "sec-websocket-key"),
    };
    if (request->method != HTTP_GET || request->version_minor == 0) {
        offer.upgrade = (struct slice){0};
    }
    struct websocket_answer answer;
    struct failure failure;
    if (websocket_handshake(&offer, NULL, &answer, &failure) != STATUS_OK) {
        refuse_handshake(exchange, &failure);
        return false;
    }
    http_write_status(out, 101);
    http_write_header(out, "Upgrade", SLICE("websocket"));
    http_write_header(out, "Connection", SLICE("Upgrade"));
    http_write_header(out, "Sec-WebSocket-Accept", slice_of(answer.accept));
    exchange_write_common(exchange, out);
    http_write_end(out);
    return true;
}

bool websocket_write_control(struct connection *connection)
{
    assert(loop_is_mine(connection->home->loop));
    struct websocket *websocket = connection->stream.websocket;
    if (!websocket || websocket->control.len == 0 || connection->stream.mid_frame) {
        return true;
    }
    struct iovec part = {websocket->control.ptr, websocket->control.len};
    ssize_t sent = connection_has_unsent(connection) ? 0 : connection_transmit(connection, &part, 1);
    if (sent < 0 && errno != EAGAIN) {
        connection_break(connection);
        server_loop_mark_dirty(connection->home, connection);
        return false;
    }
    if (sent > 0) {
        connection_note_progress(connection);
        websocket->control_begun = true;
        buffer_consume(&websocket->control, (size_t)sent);
    }
    if (websocket->control.len > 0) {
        return false;
    }
    websocket->control_begun = false;
    buffer_release(&websocket->control);
    return true;
}

bool websocket_has_control(const struct websocket *websocket)
{
    return websocket && websocket->control.len > 0;
}

/* Only the newest ping is answered while answers cannot leave (RFC 6455, 5.5.3). */
static void say_pong(struct websocket *websocket, struct slice payload)
{
    if (websocket->closing || websocket->control_begun) {
        return;
    }
    websocket->control.len = 0;
    websocket_write(&websocket->control, WEBSOCKET_PONG, payload);
}

void websocket_say_close(struct websocket *websocket, int code, struct slice reason)
{
    if (!websocket->closing) {
        websocket->closing = true;
        websocket_write_close(&websocket->control, code, reason);
    }
}

static void end(struct connection *connection, int code, struct slice reason)
{
    websocket_say_close(connection->stream.websocket, code, reason);
    connection_end_stream(connection);
}

static void take_message(struct connection *connection, const struct websocket_message *message)
{
    struct stream *stream = &connection->stream;
    switch (message->opcode) {
    case WEBSOCKET_TEXT:
        stream->handler->on_message(stream->owner, message->payload);
        break;
    case WEBSOCKET_PING:
        say_pong(stream->websocket, message->payload);
        break;
    case WEBSOCKET_CLOSE:
        end(connection, message->close_code == WEBSOCKET_CLOSE_NO_CODE ? WEBSOCKET_CLOSE_NORMAL : message->close_code,
            SLICE(""));
        break;
    case WEBSOCKET_BINARY:
        end(connection, CLOSE_UNSUPPORTED, SLICE("only text messages are accepted"));
        break;
    case WEBSOCKET_PONG:
    case WEBSOCKET_CONTINUATION:
        break;
    }
}

/* A message that is not whole yet holds memory; of one read, at most, it is there before it is counted. */
static void count_message(struct connection *connection)
{
    struct stream *stream = &connection->stream;
    struct failure failure;
    int64_t more = (int64_t)stream->websocket->decoder.message.room - stream->hold.bytes;
    if (more <= 0) {
        byte_hold_add(&stream->hold, more);
    } else if (byte_hold_take(&stream->hold, more, &failure) != STATUS_OK) {
        end(connection, WEBSOCKET_CLOSE_TRY_LATER, slice_of(failure.detail));
    }
}

void websocket_feed(struct connection *connection, struct slice bytes)
{
    assert(loop_is_mine(connection->home->loop));
    struct stream *stream = &connection->stream;
    while (connection->state == CONNECTION_STREAMING) {
        struct websocket_decoder *decoder = &stream->websocket->decoder;
        struct websocket_message message;
        enum websocket_step step = websocket_decode(decoder, &bytes, &message);
        if (step == WEBSOCKET_MORE) {
            break;
        }
        if (step == WEBSOCKET_BROKEN) {
            end(connection, decoder->close_code, slice_of(decoder->problem));
        } else {
            take_message(connection, &message);
        }
    }
    if (connection->state == CONNECTION_STREAMING) {
        count_message(connection);
    }
    if (stream->handler && (connection->state != CONNECTION_STREAMING || websocket_has_control(stream->websocket))) {
        server_loop_mark_dirty(connection->home, connection);
    }
}

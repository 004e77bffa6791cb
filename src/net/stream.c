#include "net/stream.h"

#include <assert.h>
#include <errno.h>
#include <stddef.h>

#include "net/connection.h"
#include "net/server_loop.h"
#include "wire/websocket.h"

static struct connection *connection_of(const struct stream *stream)
{
    return (struct connection *)((char *)stream - offsetof(struct connection, stream));
}

/* Requests pipelined behind the one that became a stream are never answered. */
static void abandon_younger(struct connection *connection, struct exchange *exchange)
{
    struct exchange *younger = exchange->next;
    exchange->next = NULL;
    connection->last = exchange;
    connection->in_flight = 1;
    while (younger) {
        struct exchange *next = younger->next;
        younger->connection = NULL;
        if (younger->ready) {
            younger->take_over ? younger->take_over(younger) : exchange_recycle(younger);
        }
        younger = next;
    }
}

static void compose_sse_head(struct exchange *exchange, struct buffer *out)
{
    http_write_status(out, 200);
    http_write_header(out, "Content-Type", SLICE("text/event-stream"));
    http_write_header(out, "Cache-Control", SLICE("no-store"));
    http_write_header(out, "X-Accel-Buffering", SLICE("no"));
    exchange_write_common(exchange, out);
    http_write_header(out, "Connection", SLICE("close"));
    http_write_end(out);
}

static void compose_plain_head(struct exchange *exchange, struct buffer *out)
{
    http_write_status(out, exchange->status);
    buffer_add(out, buffer_slice(&exchange->body));
    exchange_write_common(exchange, out);
    http_write_header(out, "Connection", SLICE("close"));
    http_write_end(out);
}

static void compose_raw_head(struct exchange *exchange, struct buffer *out)
{
    http_write_status(out, 101);
    buffer_add(out, buffer_slice(&exchange->body));
    exchange_write_common(exchange, out);
    http_write_end(out);
}

static bool compose_head(struct exchange *exchange, enum stream_kind kind)
{
    struct buffer *out = &exchange->home->scratch;
    out->len = 0;
    if (kind == STREAM_WEBSOCKET) {
        return websocket_compose_head(exchange, out);
    }
    if (kind == STREAM_PLAIN) {
        compose_plain_head(exchange, out);
    } else if (kind == STREAM_RAW) {
        compose_raw_head(exchange, out);
    } else {
        compose_sse_head(exchange, out);
    }
    return true;
}

static void send_raw_head(struct exchange *exchange)
{
    exchange->head = arena_copy(&exchange->arena, buffer_slice(&exchange->home->scratch));
    exchange->raw = exchange->ready = true;
    server_loop_mark_dirty(exchange->home, exchange->connection);
}

/* A stream ends when its peer closes, and this one did already. */
static void refuse_gone(struct exchange *exchange)
{
    struct connection *connection = exchange->connection;
    if (connection) {
        connection_break(connection);
        server_loop_mark_dirty(connection->home, connection);
        connection_dequeue(connection);
    }
    exchange_recycle(exchange);
}

struct stream *stream_accept(struct exchange *exchange, enum stream_kind kind, const struct stream_handler *handler,
                             void *owner)
{
    struct connection *connection = exchange->connection;
    if (!connection || connection->peer_closed) {
        refuse_gone(exchange);
        return NULL;
    }
    assert(connection->first == exchange && !exchange->ready);
    if (!compose_head(exchange, kind)) {
        exchange_send(exchange);
        return NULL;
    }
    abandon_younger(connection, exchange);
    send_raw_head(exchange);
    connection->stream = (struct stream){.handler = handler, .owner = owner, .kind = (uint8_t)kind};
    memcpy(connection->stream.hold.accounts, exchange->hold.accounts, sizeof exchange->hold.accounts);
    connection_enter(connection, CONNECTION_STREAMING);
    if (kind == STREAM_WEBSOCKET) {
        /* Bytes that came with the request are frames already; they are kept until the owner knows its stream. */
        connection->stream.websocket = websocket_new(connection->home->options->limits.body_bytes_max);
    } else if (kind != STREAM_RAW) {
        connection_drop_input(connection);
    }
    counter_add(&connection->home->figures.streams, 1);
    return &connection->stream;
}

static size_t write_bytes(struct connection *connection, struct slice bytes)
{
    if (!connection_write_ready(connection) || connection_has_unsent(connection) ||
        !websocket_write_control(connection)) {
        return 0;
    }
    struct iovec part = {(char *)bytes.ptr, bytes.len};
    ssize_t sent = connection_transmit(connection, &part, 1);
    if (sent > 0) {
        connection_note_progress(connection);
        return (size_t)sent;
    }
    if (sent < 0 && errno != EAGAIN) {
        connection_break(connection);
    }
    return 0;
}

size_t stream_write(struct stream *stream, struct slice bytes)
{
    struct connection *connection = connection_of(stream);
    if (connection->state != CONNECTION_STREAMING || bytes.len == 0) {
        return 0;
    }
    size_t taken = write_bytes(connection, bytes);
    if (connection->state == CONNECTION_BROKEN) {
        server_loop_mark_dirty(connection->home, connection);
        return 0;
    }
    stream->blocked = taken < bytes.len;
    stream->mid_frame = stream->blocked && (taken > 0 || stream->mid_frame);
    connection->write_blocked = stream->blocked || connection_has_unsent(connection);
    if (!stream->blocked && websocket_has_control(stream->websocket)) {
        server_loop_mark_dirty(connection->home, connection);
    }
    connection_update_watches(connection);
    return taken;
}

void stream_pause(struct stream *stream, bool paused)
{
    stream->paused = paused;
    connection_update_watches(connection_of(stream));
}

void connection_end_stream(struct connection *connection)
{
    assert(loop_is_mine(connection->home->loop));
    if (connection->state == CONNECTION_STREAMING) {
        connection_enter(connection, CONNECTION_ENDING);
    }
}

void stream_end_because(struct stream *stream, int code, struct slice reason)
{
    struct connection *connection = connection_of(stream);
    connection_end_stream(connection);
    stream->paused = false;
    if (stream->websocket) {
        websocket_say_close(stream->websocket, code ? code : WEBSOCKET_CLOSE_NORMAL, reason);
    }
    server_loop_mark_dirty(connection->home, connection);
}

void stream_end(struct stream *stream, int code)
{
    stream_end_because(stream, code, SLICE(""));
}

enum stream_kind stream_kind(const struct stream *stream)
{
    return (enum stream_kind)stream->kind;
}

void stream_on_lost(struct connection *connection)
{
    assert(loop_is_mine(connection->home->loop));
    const struct stream_handler *handler = connection->stream.handler;
    if (!handler) {
        return;
    }
    connection->stream.handler = NULL;
    websocket_free(connection->stream.websocket);
    byte_hold_release(&connection->stream.hold);
    connection->stream.websocket = NULL;
    counter_add(&connection->home->figures.streams, -1);
    handler->on_closed(connection->stream.owner);
}

/* Frames, or bytes of the owner's own framing; whoever only listens has nothing to say. */
static void feed(struct connection *connection, struct slice bytes)
{
    struct stream *stream = &connection->stream;
    if (stream->websocket) {
        websocket_feed(connection, bytes);
    } else if (stream->kind == STREAM_RAW && connection->state == CONNECTION_STREAMING) {
        stream->handler->on_message(stream->owner, bytes);
    }
}

static void feed_held(struct connection *connection)
{
    if (connection->input) {
        struct buffer held = connection->input->held;
        connection->input->held = (struct buffer){0};
        connection_drop_input(connection);
        feed(connection, buffer_slice(&held));
        buffer_release(&held);
    }
}

void stream_on_flushed(struct connection *connection)
{
    assert(loop_is_mine(connection->home->loop));
    struct stream *stream = &connection->stream;
    feed_held(connection);
    if (connection->write_blocked || connection->state == CONNECTION_CLOSED || !stream->handler) {
        return;
    }
    if (!websocket_write_control(connection)) {
        connection->write_blocked = true;
    } else if (connection->state == CONNECTION_ENDING) {
        stream_on_lost(connection);
        connection_finish(connection);
    } else if (stream->blocked) {
        stream->blocked = false;
        stream->handler->on_writable(stream->owner);
    }
}

static bool read_once(struct connection *connection)
{
    char *bytes = connection->home->read_bytes;
    ssize_t got = connection_receive(connection, bytes, READ_BYTES);
    if (got == 0 || (got < 0 && errno != EAGAIN)) {
        connection_close(connection);
    } else if (got > 0) {
        feed(connection, slice_from(bytes, (size_t)got));
    }
    return got > 0;
}

void stream_on_readable(struct connection *connection)
{
    assert(loop_is_mine(connection->home->loop));
    while (read_once(connection) && connection_has_unread(connection)) {
    }
}

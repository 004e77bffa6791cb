#include "net/connection.h"

#include <assert.h>
#include <errno.h>

#include "net/server_loop.h"

enum { PARTS_MAX = 64 };

static struct slice body_of(const struct exchange *exchange)
{
    if (exchange->raw || exchange->head_only) {
        return SLICE("");
    }
    return slice_present(exchange->static_body) ? exchange->static_body : buffer_slice(&exchange->body);
}

static bool writable(const struct exchange *exchange)
{
    return exchange && exchange->ready && !exchange->take_over;
}

static int add_part(struct iovec *parts, int count, struct slice bytes, size_t *skip)
{
    if (*skip >= bytes.len) {
        *skip -= bytes.len;
        return count;
    }
    parts[count] = (struct iovec){(char *)bytes.ptr + *skip, bytes.len - *skip};
    *skip = 0;
    return count + 1;
}

static int gather(struct connection *connection, struct iovec parts[PARTS_MAX], size_t *out_bytes)
{
    int count = 0;
    *out_bytes = 0;
    struct exchange *exchange = connection->first;
    for (; writable(exchange) && count + 2 <= PARTS_MAX; exchange = exchange->next) {
        if (!slice_present(exchange->head)) {
            exchange_compose_head(exchange, exchange->next || connection->state != CONNECTION_LAST);
        }
        struct slice body = body_of(exchange);
        size_t skip = exchange->sent_bytes;
        *out_bytes += exchange->head.len + body.len - skip;
        count = add_part(parts, count, exchange->head, &skip);
        count = add_part(parts, count, body, &skip);
    }
    return count;
}

static void retire(struct connection *connection, size_t sent)
{
    while (sent > 0) {
        struct exchange *exchange = connection->first;
        size_t left = exchange->head.len + body_of(exchange).len - exchange->sent_bytes;
        if (sent < left) {
            exchange->sent_bytes += sent;
            return;
        }
        sent -= left;
        exchange_recycle(connection_dequeue(connection));
    }
}

/* Writes what is ready; true when it went out completely. */
bool connection_write_ready(struct connection *connection)
{
    assert(loop_is_mine(connection->home->loop));
    while (writable(connection->first)) {
        struct iovec parts[PARTS_MAX];
        size_t offered;
        int count = gather(connection, parts, &offered);
        ssize_t sent = connection_transmit(connection, parts, count);
        if (sent < 0 && errno != EAGAIN) {
            connection_break(connection);
            return false;
        }
        if (sent > 0) {
            connection_note_progress(connection);
            retire(connection, (size_t)sent);
        }
        if (sent < (ssize_t)offered) {
            connection->write_blocked = true;
            return false;
        }
    }
    return true;
}

static void run_take_over(struct connection *connection)
{
    struct exchange *exchange = connection->first;
    void (*take_over)(struct exchange *) = exchange->take_over;
    exchange->take_over = NULL;
    exchange->ready = false;
    take_over(exchange);
}

static bool flush_unsent(struct connection *connection)
{
    if (!connection_has_unsent(connection)) {
        return true;
    }
    if (connection_transmit(connection, NULL, 0) < 0 && errno != EAGAIN) {
        connection_break(connection);
    }
    connection->write_blocked = connection_has_unsent(connection);
    return !connection->write_blocked && connection->state != CONNECTION_BROKEN;
}

static void after_last_answer(struct connection *connection)
{
    if (connection->state == CONNECTION_UPGRADING) {
        connection_enter(connection, CONNECTION_OPEN);
    }
    if ((connection->state == CONNECTION_LAST || connection->home->draining) && !connection->input) {
        connection_finish(connection);
    } else if (connection->peer_closed && !connection->input) {
        connection_close(connection);
    }
}

static void write_all(struct connection *connection)
{
    while (flush_unsent(connection) && connection_write_ready(connection)) {
        if (!connection->first || !connection->first->ready) {
            return;
        }
        run_take_over(connection);
    }
}

void connection_flush(struct connection *connection)
{
    assert(loop_is_mine(connection->home->loop));
    if (connection->state == CONNECTION_CLOSED || connection->state == CONNECTION_LINGERING) {
        return;
    }
    connection->write_blocked = false;
    if (connection->state == CONNECTION_LAST) {
        connection_tidy_input(connection); /* of a request that was answered without its body */
    }
    write_all(connection);
    if (connection->state == CONNECTION_BROKEN) {
        connection_close(connection);
        return;
    }
    if (connection->stream.handler) {
        stream_on_flushed(connection);
    } else if (!connection->first && !connection->write_blocked) {
        after_last_answer(connection);
    }
    if (connection->state <= CONNECTION_LAST) {
        connection_resume(connection);
    }
    connection_update_watches(connection);
}

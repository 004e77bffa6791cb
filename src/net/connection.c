#include "net/connection.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/server_loop.h"
#include "net/tls.h"

enum {
    LINGER_MS = 2000,
    LINGER_DRAINING_MS = 100, /* the server stops: who does not close at once is not waited for */
    BODY_BYTES_PER_MS = 4,    /* a body that keeps at least this pace is not timed out */
};

/* --- states --- */

#define TO(state) (1u << CONNECTION_##state)

static const uint16_t edges[CONNECTION_STATE_COUNT] = {
    [CONNECTION_FRESH] = TO(OPEN) | TO(LAST) | TO(LINGERING) | TO(BROKEN) | TO(CLOSED),
    [CONNECTION_OPEN] = TO(UPGRADING) | TO(LAST) | TO(STREAMING) | TO(LINGERING) | TO(BROKEN) | TO(CLOSED),
    [CONNECTION_UPGRADING] = TO(OPEN) | TO(LAST) | TO(STREAMING) | TO(LINGERING) | TO(BROKEN) | TO(CLOSED),
    [CONNECTION_LAST] = TO(STREAMING) | TO(LINGERING) | TO(BROKEN) | TO(CLOSED),
    [CONNECTION_STREAMING] = TO(ENDING) | TO(BROKEN) | TO(CLOSED),
    [CONNECTION_ENDING] = TO(LINGERING) | TO(BROKEN) | TO(CLOSED),
    [CONNECTION_LINGERING] = TO(CLOSED),
    [CONNECTION_BROKEN] = TO(CLOSED),
    [CONNECTION_CLOSED] = 0,
};

/* What holds when a state is entered. */
static void check(const struct connection *connection)
{
    bool is_stream = connection->stream.handler != NULL;
    switch ((enum connection_state)connection->state) {
    case CONNECTION_FRESH:
    case CONNECTION_OPEN:
    case CONNECTION_UPGRADING:
    case CONNECTION_LAST:
        assert(!is_stream);
        break;
    case CONNECTION_STREAMING:
        assert(is_stream && connection->in_flight == 1);
        break;
    case CONNECTION_ENDING:
        assert(is_stream);
        break;
    case CONNECTION_LINGERING:
        assert(!is_stream && !connection->first && !connection->peer_closed);
        break;
    case CONNECTION_BROKEN:
    case CONNECTION_CLOSED:
    case CONNECTION_STATE_COUNT:
        break;
    }
}

void connection_enter(struct connection *connection, enum connection_state state)
{
    assert(loop_is_mine(connection->home->loop));
    assert(edges[connection->state] & (1u << state));
    connection->state = (uint8_t)state;
    check(connection);
}

void connection_take_no_more(struct connection *connection)
{
    assert(loop_is_mine(connection->home->loop));
    if (connection_takes_requests(connection)) {
        connection_enter(connection, CONNECTION_LAST);
    }
}

void connection_break(struct connection *connection)
{
    assert(loop_is_mine(connection->home->loop));
    if (edges[connection->state] & TO(BROKEN)) {
        connection_enter(connection, CONNECTION_BROKEN);
    }
}

static void list_remove(struct connection *connection)
{
    struct connection_list *list = &connection->home->waiting[connection->wait];
    if (connection->previous) {
        connection->previous->next = connection->next;
    } else {
        list->first = connection->next;
    }
    if (connection->next) {
        connection->next->previous = connection->previous;
    } else {
        list->last = connection->previous;
    }
    connection->previous = connection->next = NULL;
}

static void list_append(struct connection *connection, enum connection_wait wait)
{
    struct connection_list *list = &connection->home->waiting[wait];
    connection->wait = (uint8_t)wait;
    connection->wait_since_ms = connection->home->now_ms;
    connection->previous = list->last;
    connection->next = NULL;
    if (list->last) {
        list->last->next = connection;
    } else {
        list->first = connection;
    }
    list->last = connection;
}

int64_t connection_deadline_ms(const struct connection *connection)
{
    const struct server_limits *limits = &connection->home->options->limits;
    switch ((enum connection_wait)connection->wait) {
    case WAIT_IDLE:
        return connection->wait_since_ms + limits->idle_timeout_ms;
    case WAIT_HEAD:
        return connection->wait_since_ms + limits->header_timeout_ms;
    case WAIT_BODY:
        return connection->wait_since_ms + limits->body_timeout_ms +
               (int64_t)connection->input->body_bytes / BODY_BYTES_PER_MS;
    case WAIT_WRITE:
        return connection->wait_since_ms + limits->write_timeout_ms;
    case WAIT_LINGER:
        return connection->wait_since_ms + (connection->home->draining ? LINGER_DRAINING_MS : LINGER_MS);
    case WAIT_NOTHING:
    case WAIT_KIND_COUNT:
        break;
    }
    return INT64_MAX;
}

void connection_note_progress(struct connection *connection)
{
    assert(loop_is_mine(connection->home->loop));
    if (connection->wait == WAIT_WRITE) {
        list_remove(connection);
        list_append(connection, WAIT_WRITE);
    }
}

static enum connection_wait wait_of(const struct connection *connection)
{
    const struct input *input = connection->input;
    if (connection->state == CONNECTION_LINGERING) {
        return WAIT_LINGER;
    }
    if (connection->write_blocked) {
        return WAIT_WRITE;
    }
    if (connection->stream.handler) {
        return WAIT_NOTHING;
    }
    if (input && input->stage == INPUT_BODY) {
        return WAIT_BODY;
    }
    if (connection->in_flight > 0 || (input && input->stage == INPUT_ADMITTING)) {
        return WAIT_NOTHING;
    }
    return connection->state == CONNECTION_FRESH || (input && input->held.len > 0) ? WAIT_HEAD : WAIT_IDLE;
}

/* Nothing is read while a request waits for its turn, or to be let in: that is the back-pressure. */
static bool wants_bytes(const struct connection *connection)
{
    if (connection->peer_closed || connection->stream.paused) {
        return false;
    }
    if (!connection_takes_requests(connection)) {
        return true; /* as a stream, or to notice when the peer closes */
    }
    return connection->state != CONNECTION_UPGRADING && !connection_input_waits(connection);
}

static void on_poll(uv_poll_t *poll, int status, int events);

void connection_update_watches(struct connection *connection)
{
    assert(loop_is_mine(connection->home->loop));
    if (connection->state == CONNECTION_CLOSED) {
        return;
    }
    enum connection_wait wait = wait_of(connection);
    if (wait != connection->wait) {
        list_remove(connection);
        list_append(connection, wait);
    }
    int events = (wants_bytes(connection) ? UV_READABLE : 0) | (connection->write_blocked ? UV_WRITABLE : 0);
    if (events != connection->watched) {
        connection->watched = (uint8_t)events;
        uv_poll_start(&connection->poll, events, on_poll);
    }
}

static void on_poll(uv_poll_t *poll, int status, int events)
{
    struct connection *connection = poll->data;
    connection->home->now_ms = clock_steady_ms(connection->home->options->clock);
    if (status < 0) {
        connection_close(connection);
        return;
    }
    if (events & UV_WRITABLE) {
        connection_flush(connection);
    }
    if ((events & UV_READABLE) && connection->state != CONNECTION_CLOSED) {
        connection_read(connection);
    }
    /* A TLS handshake writes while it reads. */
    if (connection->state != CONNECTION_CLOSED && connection_has_unsent(connection)) {
        connection->write_blocked = true;
    }
    connection_update_watches(connection);
}

struct connection *connection_open(struct server_loop *home, int fd, struct tls *tls, const char *peer)
{
    struct connection *connection = memory_zeroed(sizeof *connection);
    connection->home = home;
    connection->fd = fd;
    connection->tls = tls;
    strncpy(connection->peer, peer, sizeof connection->peer - 1);
    connection->poll.data = connection;
    if (uv_poll_init_socket(loop_uv(home->loop), &connection->poll, fd) != 0) {
        tls_free(tls);
        close(fd);
        free(connection);
        return NULL;
    }
    home->connection_count++;
    counter_add(&home->figures.connections, 1);
    counter_add(&home->figures.connections_total, 1);
    home->now_ms = clock_steady_ms(home->options->clock);
    list_append(connection, WAIT_HEAD);
    connection_update_watches(connection);
    return connection;
}

static void on_handle_closed(uv_handle_t *handle)
{
    struct connection *connection = handle->data;
    struct server_loop *home = connection->home;
    free(connection);
    home->connection_count--;
    server_loop_check_drained(home);
}

/* Requests that a handler still works on are answered to nobody. */
static void abandon_exchanges(struct connection *connection)
{
    while (connection->first) {
        struct exchange *exchange = connection_dequeue(connection);
        bool mine = exchange->ready;
        exchange->connection = NULL;
        atomic_store_explicit(&exchange->peer_closed, true, memory_order_relaxed);
        if (mine && exchange->take_over) {
            exchange->take_over(exchange);
        } else if (mine) {
            exchange_recycle(exchange);
        }
    }
}

static void remove_from_dirty(struct connection *connection)
{
    struct connection **link = &connection->home->dirty;
    while (connection->dirty && *link) {
        if (*link == connection) {
            *link = connection->dirty_next;
            connection->dirty = false;
            return;
        }
        link = &(*link)->dirty_next;
    }
}

void connection_close(struct connection *connection)
{
    assert(loop_is_mine(connection->home->loop));
    if (connection->state == CONNECTION_CLOSED) {
        return;
    }
    connection_enter(connection, CONNECTION_CLOSED);
    uv_close((uv_handle_t *)&connection->poll, on_handle_closed);
    tls_free(connection->tls);
    connection->tls = NULL;
    close(connection->fd);
    list_remove(connection);
    remove_from_dirty(connection);
    counter_add(&connection->home->figures.connections, -1);
    connection_drop_input(connection);
    abandon_exchanges(connection);
    stream_on_lost(connection);
}

void connection_finish(struct connection *connection)
{
    assert(loop_is_mine(connection->home->loop));
    if (connection->peer_closed) {
        connection_close(connection);
        return;
    }
    if (connection->tls) {
        tls_say_goodbye(connection->tls);
    }
    shutdown(connection->fd, SHUT_WR);
    connection_enter(connection, CONNECTION_LINGERING);
    connection_drop_input(connection);
    connection_update_watches(connection);
}

void connection_expire(struct connection *connection)
{
    assert(loop_is_mine(connection->home->loop));
    enum connection_wait wait = (enum connection_wait)connection->wait;
    if (wait == WAIT_HEAD && connection->input) {
        connection_refuse(connection, 408, "request_timeout", "The headers of the request did not arrive in time.");
    } else if (wait == WAIT_BODY) {
        connection_refuse(connection, 408, "request_timeout", "The body of the request did not arrive in time.");
    } else {
        connection_close(connection);
        return;
    }
    connection_drop_input(connection);
    connection_update_watches(connection);
}

void connection_enqueue(struct connection *connection, struct exchange *exchange)
{
    assert(loop_is_mine(connection->home->loop));
    exchange->connection = connection;
    exchange->next = NULL;
    if (connection->last) {
        connection->last->next = exchange;
    } else {
        connection->first = exchange;
    }
    connection->last = exchange;
    connection->in_flight++;
}

struct exchange *connection_dequeue(struct connection *connection)
{
    assert(loop_is_mine(connection->home->loop));
    struct exchange *exchange = connection->first;
    connection->first = exchange->next;
    if (!connection->first) {
        connection->last = NULL;
    }
    connection->in_flight--;
    return exchange;
}

void connection_drop_input(struct connection *connection)
{
    assert(loop_is_mine(connection->home->loop));
    struct input *input = connection->input;
    if (!input) {
        return;
    }
    connection->input = NULL;
    if (input->stage == INPUT_ADMITTING) {
        input->exchange->connection = NULL; /* it comes back from on_head */
    } else if (input->exchange) {
        exchange_recycle(input->exchange);
    }
    buffer_release(&input->held);
    buffer_release(&input->chunked_body);
    free(input);
}

void connection_refuse(struct connection *connection, int status, const char *code, const char *detail)
{
    assert(loop_is_mine(connection->home->loop));
    struct exchange *exchange = exchange_take_spare(connection->home);
    exchange->connection = connection;
    exchange_identify(exchange);
    exchange_set_problem(exchange, status, code, detail);
    if (status == 503) {
        exchange_header(exchange, "Retry-After", SLICE("5"));
    }
    exchange->ready = true;
    connection_take_no_more(connection);
    counter_add(&connection->home->figures.refused_total, 1);
    connection_enqueue(connection, exchange);
    server_loop_mark_dirty(connection->home, connection);
}

ssize_t connection_receive(struct connection *connection, char *bytes, size_t room)
{
    assert(loop_is_mine(connection->home->loop));
    ssize_t got;
    if (connection->tls) {
        got = tls_read(connection->tls, bytes, room);
    } else {
        do {
            got = read(connection->fd, bytes, room);
        } while (got < 0 && errno == EINTR);
    }
    if (got > 0) {
        counter_add(&connection->home->figures.bytes_in, got);
    }
    return got;
}

bool connection_has_unread(const struct connection *connection)
{
    return connection->state != CONNECTION_CLOSED && connection->tls && tls_has_unread(connection->tls);
}

/* One part is the common case of streams, and send is the cheaper call. */
static ssize_t send_parts(int fd, const struct iovec *parts, int count)
{
    if (count == 1) {
        return send(fd, parts->iov_base, parts->iov_len, MSG_NOSIGNAL);
    }
    struct msghdr message = {.msg_iov = (struct iovec *)parts, .msg_iovlen = (size_t)count};
    return sendmsg(fd, &message, MSG_NOSIGNAL);
}

ssize_t connection_transmit(struct connection *connection, const struct iovec *parts, int count)
{
    assert(loop_is_mine(connection->home->loop));
    ssize_t sent;
    if (connection->tls) {
        sent = tls_write(connection->tls, parts, count);
    } else {
        do {
            sent = send_parts(connection->fd, parts, count);
        } while (sent < 0 && errno == EINTR);
    }
    if (sent > 0) {
        counter_add(&connection->home->figures.bytes_out, sent);
    }
    return sent;
}

bool connection_has_unsent(const struct connection *connection)
{
    return connection->tls && tls_has_unsent(connection->tls);
}

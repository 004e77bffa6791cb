#include "net/connection.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>

#include "net/server_loop.h"

static struct input *input_of(struct connection *connection)
{
    if (!connection->input) {
        connection->input = memory_zeroed(sizeof *connection->input);
        http_scan_init(&connection->input->scan, HTTP_REQUEST);
    }
    return connection->input;
}

static void refuse_fault(struct connection *connection, enum http_fault fault)
{
    const struct server_limits *limits = &connection->home->options->limits;
    const struct {
        enum http_fault fault;
        size_t most;
        const char *unit;
    } sizes[] = {
        {HTTP_FAULT_URI_SIZE, limits->uri_bytes_max, "bytes"},
        {HTTP_FAULT_HEADER_SIZE, limits->header_bytes_max, "bytes"},
        {HTTP_FAULT_HEADER_COUNT, limits->header_count_max, "headers"},
        {HTTP_FAULT_BODY_SIZE, limits->body_bytes_max, "bytes"},
    };
    const struct http_fault_words *words = http_fault_words(fault);
    char detail[200];
    snprintf(detail, sizeof detail, "%s", words->detail);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        if (sizes[i].fault == fault) {
            snprintf(detail, sizeof detail, "%s At most %zu %s.", words->detail, sizes[i].most, sizes[i].unit);
        }
    }
    connection_refuse(connection, words->status, words->code, detail);
}

static bool may_parse(const struct connection *connection)
{
    return connection->state <= CONNECTION_OPEN && !connection_input_waits(connection);
}

/* An answer that the peer does not read holds its memory. */
static bool is_clogged(const struct connection *connection)
{
    size_t most = connection->home->options->limits.unsent_bytes_max, unsent = 0;
    for (const struct exchange *exchange = connection->first; exchange; exchange = exchange->next) {
        unsent += exchange->ready ? exchange->body.len : 0;
    }
    return most > 0 && unsent > most;
}

static bool has_change_in_flight(const struct connection *connection)
{
    const struct exchange *exchange = connection->first;
    while (exchange && http_method_is_safe(exchange->request.method)) {
        exchange = exchange->next;
    }
    return exchange;
}

/* Requests run side by side only when none of them changes anything (RFC 9112, 9.3.2). */
static bool may_dispatch(const struct connection *connection, const struct exchange *exchange)
{
    if (connection->in_flight == 0) {
        return true;
    }
    return http_method_is_safe(exchange->request.method) && !has_change_in_flight(connection) &&
           connection->in_flight < connection->home->options->limits.pipeline_max && !is_clogged(connection);
}

static void dispatch(struct connection *connection, struct exchange *exchange)
{
    const struct server_options *options = connection->home->options;
    if (!exchange->request.keep_alive || connection->home->draining) {
        connection_take_no_more(connection);
    } else if (slice_present(exchange->request.upgrade)) {
        connection_enter(connection, CONNECTION_UPGRADING);
    }
    counter_add(&connection->home->figures.requests_total, 1);
    connection_enqueue(connection, exchange);
    options->on_request(options->owner, exchange);
}

/* The whole request is there: its turn is now or later. */
static void complete(struct connection *connection, struct exchange *exchange)
{
    if (exchange->request_id[0] == '\0') {
        exchange_identify(exchange);
    }
    if (may_dispatch(connection, exchange)) {
        if (connection->input) {
            connection->input->exchange = NULL;
            connection->input->stage = INPUT_HEAD;
        }
        dispatch(connection, exchange);
        return;
    }
    struct input *input = input_of(connection);
    input->exchange = exchange;
    input->stage = INPUT_COMPLETE;
}

static void say_continue(struct connection *connection)
{
    struct exchange *exchange = exchange_take_spare(connection->home);
    exchange->head = SLICE("HTTP/1.1 100 Continue\r\n\r\n");
    exchange->raw = exchange->ready = true;
    connection_enqueue(connection, exchange);
    server_loop_mark_dirty(connection->home, connection);
}

void connection_admit(struct connection *connection)
{
    assert(loop_is_mine(connection->home->loop));
    struct input *input = connection->input;
    struct exchange *exchange = input->exchange;
    input->stage = INPUT_BODY;
    input->body_bytes = 0;
    input->chunks = (struct http_chunks){0};
    if (!exchange->request.chunked) {
        size_t length = (size_t)exchange->request.content_length;
        input->body = arena_bytes(&exchange->arena, length + 1);
        input->body[length] = '\0';
    }
    if (exchange->request.expect_continue && !input->body_began) {
        say_continue(connection);
    }
}

void connection_answer_head(struct connection *connection)
{
    assert(loop_is_mine(connection->home->loop));
    struct exchange *exchange = connection->input->exchange;
    connection->input->exchange = NULL;
    connection->input->stage = INPUT_HEAD;
    connection_take_no_more(connection);
    counter_add(&connection->home->figures.refused_total, 1);
    connection_enqueue(connection, exchange);
}

bool connection_is_admitting(const struct connection *connection, const struct exchange *exchange)
{
    const struct input *input = connection ? connection->input : NULL;
    return input && input->exchange == exchange && input->stage == INPUT_ADMITTING;
}

/* May end with the request answered: then the connection takes no more. */
static void begin_body(struct connection *connection, struct exchange *exchange, bool body_began)
{
    const struct server_options *options = connection->home->options;
    struct input *input = input_of(connection);
    input->exchange = exchange;
    input->body_began = body_began;
    if (!options->on_head) {
        connection_admit(connection);
        return;
    }
    exchange_identify(exchange);
    input->stage = INPUT_ADMITTING;
    options->on_head(options->owner, exchange);
}

/* Returns how many bytes behind the head were used. */
static size_t begin_request(struct connection *connection, struct exchange *exchange, struct slice rest)
{
    const struct server_options *options = connection->home->options;
    struct http_request *request = &exchange->request;
    int64_t length = request->content_length;
    exchange->body_bytes_max = options->limits.body_bytes_max;
    bool too_long = length > 0 && (uint64_t)length > options->limits.body_bytes_max;
    if (too_long && !options->on_head) {
        refuse_fault(connection, HTTP_FAULT_BODY_SIZE);
        exchange_recycle(exchange);
        return 0;
    }
    request->body = SLICE("");
    if (!request->chunked && length <= 0) {
        complete(connection, exchange);
        return 0;
    }
    if (!request->chunked && !too_long && rest.len >= (size_t)length) {
        request->body = arena_copy(&exchange->arena, slice_from(rest.ptr, (size_t)length));
        complete(connection, exchange);
        return (size_t)length;
    }
    begin_body(connection, exchange, rest.len > 0);
    return 0;
}

/* `bytes` begin with a request head. Returns how many were used: 0 when the head is incomplete. */
static size_t take_head(struct connection *connection, struct slice bytes)
{
    struct server_loop *home = connection->home;
    const struct server_limits *limits = &home->options->limits;
    struct http_limits head_limits = {limits->uri_bytes_max, limits->header_bytes_max, limits->header_count_max};
    struct http_scan scan;
    if (connection->input) {
        scan = connection->input->scan;
    } else {
        http_scan_init(&scan, HTTP_REQUEST);
    }
    enum http_progress progress = http_scan(&scan, &head_limits, bytes);
    if (progress == HTTP_MORE) {
        input_of(connection)->scan = scan;
        return 0;
    }
    if (progress == HTTP_REFUSED) {
        refuse_fault(connection, (enum http_fault)scan.fault);
        return bytes.len;
    }
    if (connection->input) {
        http_scan_init(&connection->input->scan, HTTP_REQUEST);
    }
    if (connection->state == CONNECTION_FRESH) {
        connection_enter(connection, CONNECTION_OPEN);
    }
    struct exchange *exchange = exchange_take_spare(home);
    exchange->connection = connection;
    struct slice head = arena_copy(&exchange->arena, slice_from(bytes.ptr, scan.at));
    enum http_fault fault = http_request_read(&scan, head, &exchange->arena, &exchange->request);
    if (fault != HTTP_FAULT_NONE) {
        refuse_fault(connection, fault);
        exchange_recycle(exchange);
        return bytes.len;
    }
    return scan.at + begin_request(connection, exchange, slice_after(bytes, scan.at));
}

static size_t take_sized_body(struct connection *connection, struct slice bytes)
{
    struct input *input = connection->input;
    struct exchange *exchange = input->exchange;
    size_t length = (size_t)exchange->request.content_length;
    size_t take = bytes.len < length - input->body_bytes ? bytes.len : length - input->body_bytes;
    if (bytes.ptr != input->body + input->body_bytes) {
        memcpy(input->body + input->body_bytes, bytes.ptr, take);
    }
    input->body_bytes += take;
    if (input->body_bytes == length) {
        exchange->request.body = slice_from(input->body, length);
        complete(connection, exchange);
    }
    return take;
}

/* Nobody said how long the body will be: it is counted as it comes. */
static bool hold_chunk(struct connection *connection, struct exchange *exchange, size_t body_bytes)
{
    struct failure failure;
    int64_t more = (int64_t)body_bytes - exchange->hold.bytes;
    if (more <= 0 || byte_hold_take(&exchange->hold, more, &failure) == STATUS_OK) {
        return true;
    }
    connection_refuse(connection, status_http(failure.status), failure.code, failure.detail);
    return false;
}

static size_t take_chunked_body(struct connection *connection, struct slice bytes)
{
    struct input *input = connection->input;
    struct exchange *exchange = input->exchange;
    struct slice data;
    size_t used;
    enum http_progress progress = http_chunks_take(&input->chunks, bytes, &used, &data);
    if (progress == HTTP_REFUSED) {
        refuse_fault(connection, (enum http_fault)input->chunks.fault);
        return bytes.len;
    }
    if (data.len > exchange->body_bytes_max - input->body_bytes) {
        refuse_fault(connection, HTTP_FAULT_BODY_SIZE);
        return bytes.len;
    }
    if (!hold_chunk(connection, exchange, input->body_bytes + data.len)) {
        return bytes.len;
    }
    buffer_add(&input->chunked_body, data);
    input->body_bytes += data.len;
    if (progress == HTTP_DONE) {
        exchange->request.body = arena_copy(&exchange->arena, buffer_slice(&input->chunked_body));
        buffer_release(&input->chunked_body);
        complete(connection, exchange);
    }
    return used;
}

static size_t take_some(struct connection *connection, struct slice bytes)
{
    struct input *input = connection->input;
    if (!input || input->stage == INPUT_HEAD) {
        return take_head(connection, bytes);
    }
    return input->exchange->request.chunked ? take_chunked_body(connection, bytes) : take_sized_body(connection, bytes);
}

static size_t take_bytes(struct connection *connection, struct slice bytes)
{
    size_t used = 0;
    while (used < bytes.len && may_parse(connection)) {
        size_t took = take_some(connection, slice_after(bytes, used));
        if (took == 0) {
            break;
        }
        used += took;
    }
    return used;
}

void connection_tidy_input(struct connection *connection)
{
    assert(loop_is_mine(connection->home->loop));
    struct input *input = connection->input;
    if (!input) {
        return;
    }
    bool is_last = connection->state == CONNECTION_LAST;
    bool waits = input->stage == INPUT_COMPLETE || (input->exchange && !is_last);
    bool holds = input->held.len > 0 && !is_last;
    if (!waits && !holds) {
        connection_drop_input(connection);
    } else if (!holds) {
        buffer_release(&input->held);
    }
}

static void feed(struct connection *connection, struct slice bytes)
{
    struct input *input = connection->input;
    if (!connection_takes_requests(connection)) {
        return;
    }
    if (input && input->held.len > 0) {
        buffer_add(&input->held, bytes);
        buffer_consume(&input->held, take_bytes(connection, buffer_slice(&input->held)));
    } else {
        size_t used = take_bytes(connection, bytes);
        if (used < bytes.len && connection_takes_requests(connection)) {
            buffer_add(&input_of(connection)->held, slice_after(bytes, used));
        }
    }
    connection_tidy_input(connection);
}

void connection_resume(struct connection *connection)
{
    assert(loop_is_mine(connection->home->loop));
    struct input *input = connection->input;
    if (!input) {
        return;
    }
    if (input->stage == INPUT_COMPLETE && may_dispatch(connection, input->exchange)) {
        struct exchange *exchange = input->exchange;
        input->exchange = NULL;
        input->stage = INPUT_HEAD;
        dispatch(connection, exchange);
    }
    if (input->held.len > 0 && may_parse(connection)) {
        buffer_consume(&input->held, take_bytes(connection, buffer_slice(&input->held)));
    }
    connection_tidy_input(connection);
}

static void peer_closed(struct connection *connection)
{
    connection->peer_closed = true;
    for (struct exchange *exchange = connection->first; exchange; exchange = exchange->next) {
        atomic_store_explicit(&exchange->peer_closed, true, memory_order_relaxed);
    }
    if (connection->input && connection->input->stage != INPUT_COMPLETE) {
        connection_drop_input(connection);
    }
    if (connection->state == CONNECTION_LINGERING || (connection->in_flight == 0 && !connection->input)) {
        connection_close(connection);
    }
}

/* Where the next bytes go: a body of known length is read to where it will stay. */
static struct iovec read_room(struct connection *connection)
{
    struct input *input = connection->input;
    if (input && input->stage == INPUT_BODY && !input->exchange->request.chunked && input->held.len == 0) {
        size_t length = (size_t)input->exchange->request.content_length;
        return (struct iovec){input->body + input->body_bytes, length - input->body_bytes};
    }
    return (struct iovec){connection->home->read_bytes, READ_BYTES};
}

static bool read_once(struct connection *connection)
{
    struct iovec room = read_room(connection);
    ssize_t got = connection_receive(connection, room.iov_base, room.iov_len);
    if (got > 0) {
        feed(connection, slice_from(room.iov_base, (size_t)got));
        return true;
    }
    if (got == 0) {
        peer_closed(connection);
    } else if (errno != EAGAIN) {
        connection_close(connection);
    }
    return false;
}

void connection_read(struct connection *connection)
{
    assert(loop_is_mine(connection->home->loop));
    if (connection->stream.handler) {
        stream_on_readable(connection);
        return;
    }
    while (read_once(connection) && connection_has_unread(connection)) {
    }
}

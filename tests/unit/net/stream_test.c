#include "net_fixture.h"

#include "wire/websocket.h"

/* The owner's side of one stream; fields are guarded by the fixture's lock. */
struct viewer {
    struct fixture *fixture;
    struct stream *stream;
    struct loop_message message;
    struct buffer said;    /* text messages, each followed by ';' */
    struct buffer pending; /* offered when the stream is writable */
    size_t offered;
    int writable_calls;
    bool accepted, refused, closed, end_when_done;
};

static struct viewer viewer;

static void viewer_offer(struct viewer *v)
{
    while (v->offered < v->pending.len) {
        size_t taken = stream_write(v->stream, slice_after(buffer_slice(&v->pending), v->offered));
        v->offered += taken;
        if (taken == 0) {
            return;
        }
    }
    if (v->end_when_done) {
        v->end_when_done = false;
        stream_end(v->stream, 4000);
    }
}

static void on_writable(void *owner)
{
    struct viewer *v = owner;
    pthread_mutex_lock(&v->fixture->lock);
    v->writable_calls++;
    viewer_offer(v);
    fixture_signal(v->fixture);
}

static void on_message(void *owner, struct slice text)
{
    struct viewer *v = owner;
    pthread_mutex_lock(&v->fixture->lock);
    buffer_add(&v->said, text);
    buffer_add_byte(&v->said, ';');
    if (v->stream && stream_kind(v->stream) == STREAM_WEBSOCKET) {
        struct buffer frame = {0};
        websocket_write(&frame, WEBSOCKET_TEXT, text);
        assert_int_equal(stream_write(v->stream, buffer_slice(&frame)), frame.len);
        buffer_release(&frame);
    }
    fixture_signal(v->fixture);
}

static void on_closed(void *owner)
{
    struct viewer *v = owner;
    pthread_mutex_lock(&v->fixture->lock);
    v->closed = true;
    v->stream = NULL;
    fixture_signal(v->fixture);
}

static const struct stream_handler handler = {on_writable, on_message, on_closed};

static void accept_kind(struct exchange *exchange, enum stream_kind kind)
{
    exchange_header(exchange, "X-Extra", SLICE("1"));
    struct stream *stream = stream_accept(exchange, kind, &handler, &viewer);
    pthread_mutex_lock(&viewer.fixture->lock);
    viewer.stream = stream;
    viewer.accepted = stream != NULL;
    viewer.refused = stream == NULL;
    if (stream && viewer.pending.len > 0) {
        viewer_offer(&viewer);
    }
    fixture_signal(viewer.fixture);
}

static void accept_sse(struct exchange *exchange)
{
    accept_kind(exchange, STREAM_SSE);
}

static void accept_websocket(struct exchange *exchange)
{
    accept_kind(exchange, STREAM_WEBSOCKET);
}

static void do_offer(struct loop_message *message)
{
    (void)message;
    pthread_mutex_lock(&viewer.fixture->lock);
    if (viewer.stream) {
        viewer_offer(&viewer);
    }
    fixture_signal(viewer.fixture);
}

/* Has the loop offer all that is pending, and end the stream after it. */
static void viewer_push(struct slice bytes, bool then_end)
{
    pthread_mutex_lock(&viewer.fixture->lock);
    viewer.end_when_done = then_end;
    buffer_add(&viewer.pending, bytes);
    pthread_mutex_unlock(&viewer.fixture->lock);
    viewer.message.run = do_offer;
    loop_post(viewer.fixture->loops[0], &viewer.message);
}

static struct fixture *start(void (*take_over)(struct exchange *exchange), struct server_options options)
{
    struct fixture *fixture = fixture_start(options, 1, "127.0.0.1:0");
    fixture->take_over = take_over;
    viewer = (struct viewer){.fixture = fixture};
    return fixture;
}

static void finish(struct fixture *fixture)
{
    fixture_stop(fixture);
    buffer_release(&viewer.said);
    buffer_release(&viewer.pending);
}

static int open_stream(struct fixture *fixture, const char *request)
{
    int fd = client_open(fixture);
    client_send(fd, slice_of(request));
    return fd;
}

#define SSE_REQUEST "GET /stream HTTP/1.1\r\nHost: a\r\nAccept: text/event-stream\r\n\r\n"
#define WEBSOCKET_REQUEST                                                                                              \
    "GET /stream HTTP/1.1\r\nHost: a\r\nConnection: keep-alive, Upgrade\r\nUpgrade: websocket\r\n"                     \
    "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"

static void test_sse(void **state)
{
    (void)state;
    struct fixture *fixture = start(accept_sse, fixture_options());
    int fd = open_stream(fixture, SSE_REQUEST);
    struct reply reply;
    client_receive_head(fd, &reply);
    assert_int_equal(reply.response.status, 200);
    assert_slice(http_response_header(&reply.response, "content-type"), "text/event-stream");
    assert_slice(http_response_header(&reply.response, "cache-control"), "no-store");
    assert_slice(http_response_header(&reply.response, "x-accel-buffering"), "no");
    assert_slice(http_response_header(&reply.response, "connection"), "close");
    assert_slice(http_response_header(&reply.response, "x-extra"), "1");
    assert_true(slice_present(http_response_header(&reply.response, "x-request-id")));
    assert_int_equal(fixture_stats(fixture).streams, 1);
    viewer_push(SLICE("data: 1\n\n"), true);
    client_read_all(fd, &reply.body);
    assert_slice(buffer_slice(&reply.body), "data: 1\n\n");
    FIXTURE_WAIT(fixture, viewer.closed);
    assert_int_equal(fixture_stats(fixture).streams, 0);
    reply_release(&reply);
    close(fd);
    fixture_wait_connections(fixture, 0);
    finish(fixture);
}

static void test_sse_peer_closes(void **state)
{
    (void)state;
    for (int how = 0; how < 3; how++) {
        struct fixture *fixture = start(accept_sse, fixture_options());
        int fd = open_stream(fixture, SSE_REQUEST);
        FIXTURE_WAIT(fixture, viewer.accepted);
        CLIENT_SEND(fd, "what a reader says is ignored");
        if (how == 0) {
            shutdown(fd, SHUT_WR);
        } else if (how == 1) {
            struct linger abort_it = {1, 0};
            setsockopt(fd, SOL_SOCKET, SO_LINGER, &abort_it, sizeof abort_it);
        }
        if (how > 0) {
            close(fd);
        }
        FIXTURE_WAIT(fixture, viewer.closed);
        fixture_wait_connections(fixture, 0);
        if (how == 0) {
            close(fd);
        }
        finish(fixture);
    }
}

/* Much more than sockets hold, to a reader that starts late: nothing is lost and nothing is repeated. */
static void test_sse_slow_reader(void **state)
{
    (void)state;
    struct fixture *fixture = start(accept_sse, fixture_options());
    enum { LINES = 400000 };
    for (int i = 0; i < LINES; i++) {
        buffer_format(&viewer.pending, "data: %015d\n\n", i);
    }
    int fd = open_stream(fixture, SSE_REQUEST);
    FIXTURE_WAIT(fixture, viewer.accepted);
    FIXTURE_WAIT(fixture, viewer.offered > 0 && viewer.offered < viewer.pending.len);
    struct reply reply;
    client_receive_head(fd, &reply);
    client_read_exactly(fd, &reply.body, viewer.pending.len);
    assert_memory_equal(reply.body.ptr, viewer.pending.ptr, viewer.pending.len);
    assert_true(viewer.writable_calls > 0);
    reply_release(&reply);
    close(fd);
    FIXTURE_WAIT(fixture, viewer.closed);
    finish(fixture);
}

static void test_sse_reader_that_never_reads(void **state)
{
    (void)state;
    struct server_options options = fixture_options();
    options.limits.write_timeout_ms = 60;
    struct fixture *fixture = start(accept_sse, options);
    buffer_reserve(&viewer.pending, 32 << 20);
    memset(viewer.pending.ptr, ':', 32 << 20);
    viewer.pending.len = 32 << 20;
    int fd = open_stream(fixture, SSE_REQUEST);
    FIXTURE_WAIT(fixture, viewer.closed);
    fixture_wait_connections(fixture, 0);
    close(fd);
    finish(fixture);
}

/* A stream waits for the answers before it, and requests behind it are dropped. */
static void test_sse_in_pipeline(void **state)
{
    (void)state;
    struct fixture *fixture = start(accept_sse, fixture_options());
    int fd = client_open(fixture);
    CLIENT_SEND(fd, "GET /hold?1 HTTP/1.1\r\nHost: a\r\n\r\n" SSE_REQUEST "GET /hold?2 HTTP/1.1\r\nHost: a\r\n\r\n");
    FIXTURE_WAIT(fixture, fixture->held_count == 2);
    assert_false(viewer.accepted);
    fixture_release(fixture, 0);
    client_expect(fd, 200, "1");
    struct reply reply;
    client_receive_head(fd, &reply);
    assert_slice(http_response_header(&reply.response, "content-type"), "text/event-stream");
    FIXTURE_WAIT(fixture, viewer.accepted);
    fixture_release(fixture, 1); /* nobody gets it */
    viewer_push(SLICE("data: 1\n\n"), true);
    client_read_all(fd, &reply.body);
    assert_slice(buffer_slice(&reply.body), "data: 1\n\n");
    reply_release(&reply);
    close(fd);
    finish(fixture);
}

static void test_sse_client_gone_before_accept(void **state)
{
    (void)state;
    struct fixture *fixture = start(accept_sse, fixture_options());
    int fd = client_open(fixture);
    CLIENT_SEND(fd, "GET /hold?1 HTTP/1.1\r\nHost: a\r\n\r\n" SSE_REQUEST);
    FIXTURE_WAIT(fixture, fixture->handled == 2);
    struct linger abort_it = {1, 0};
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &abort_it, sizeof abort_it);
    close(fd);
    FIXTURE_WAIT(fixture, viewer.refused);
    FIXTURE_WAIT(fixture, fixture->held_count == 1);
    fixture_release(fixture, 0);
    finish(fixture);
}

static void test_drain_cuts_streams(void **state)
{
    (void)state;
    struct fixture *fixture = start(accept_sse, fixture_options());
    int fd = open_stream(fixture, SSE_REQUEST);
    FIXTURE_WAIT(fixture, viewer.accepted);
    fixture_drain(fixture, 30);
    FIXTURE_WAIT(fixture, fixture->drained);
    assert_true(viewer.closed);
    close(fd);
    finish(fixture);
}

/* WebSocket. */

static void send_frame(int fd, enum websocket_opcode opcode, struct slice payload)
{
    struct id_source ids;
    struct buffer frame = {0};
    id_source_init_seeded(&ids, 1);
    websocket_write_masked(&frame, &ids, opcode, payload);
    client_send(fd, buffer_slice(&frame));
    buffer_release(&frame);
}

/* The next message of the server, as "opcode:payload" or "close:code". */
static void expect_message(int fd, enum websocket_opcode opcode, int close_code, const char *payload)
{
    struct websocket_decoder decoder;
    struct websocket_message message;
    enum websocket_step step;
    websocket_decoder_init(&decoder, WEBSOCKET_FROM_SERVER, 1 << 20);
    do {
        char byte;
        assert_int_equal(recv(fd, &byte, 1, 0), 1);
        struct slice bytes = slice_from(&byte, 1);
        step = websocket_decode(&decoder, &bytes, &message);
    } while (step == WEBSOCKET_MORE);
    assert_int_equal(step, WEBSOCKET_MESSAGE);
    assert_int_equal(message.opcode, opcode);
    assert_int_equal(message.close_code, close_code);
    if (payload) {
        assert_slice(message.payload, payload);
    }
    websocket_decoder_release(&decoder);
}

static int open_websocket(struct fixture *fixture)
{
    int fd = open_stream(fixture, WEBSOCKET_REQUEST);
    struct reply reply;
    client_receive_head(fd, &reply);
    assert_int_equal(reply.response.status, 101);
    assert_slice(http_response_header(&reply.response, "sec-websocket-accept"), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    assert_slice(http_response_header(&reply.response, "upgrade"), "websocket");
    assert_slice(http_response_header(&reply.response, "connection"), "Upgrade");
    assert_slice(http_response_header(&reply.response, "x-extra"), "1");
    reply_release(&reply);
    return fd;
}

static void test_websocket_echo_and_close(void **state)
{
    (void)state;
    struct fixture *fixture = start(accept_websocket, fixture_options());
    int fd = open_websocket(fixture);
    send_frame(fd, WEBSOCKET_TEXT, SLICE("hello"));
    expect_message(fd, WEBSOCKET_TEXT, 0, "hello");
    send_frame(fd, WEBSOCKET_PING, SLICE("are you there"));
    expect_message(fd, WEBSOCKET_PONG, 0, "are you there");
    send_frame(fd, WEBSOCKET_PONG, SLICE("ignored"));
    send_frame(fd, WEBSOCKET_TEXT, SLICE("again"));
    expect_message(fd, WEBSOCKET_TEXT, 0, "again");
    assert_slice(buffer_slice(&viewer.said), "hello;again;");
    send_frame(fd, WEBSOCKET_CLOSE, slice_from("\x0f\xa1", 2));
    expect_message(fd, WEBSOCKET_CLOSE, 4001, "");
    assert_true(client_sees_end(fd));
    FIXTURE_WAIT(fixture, viewer.closed);
    close(fd);
    fixture_wait_connections(fixture, 0);
    finish(fixture);
}

static void test_websocket_fragments_bytewise(void **state)
{
    (void)state;
    struct fixture *fixture = start(accept_websocket, fixture_options());
    int fd = open_websocket(fixture);
    /* "he", a ping in between, "llo"; masked with zeroes. */
    struct slice frames = slice_from("\x01\x82\0\0\0\0he\x89\x81\0\0\0\0p\x80\x83\0\0\0\0llo", 8 + 7 + 9);
    for (size_t i = 0; i < frames.len; i++) {
        client_send(fd, slice_from(frames.ptr + i, 1));
    }
    expect_message(fd, WEBSOCKET_PONG, 0, "p");
    expect_message(fd, WEBSOCKET_TEXT, 0, "hello");
    close(fd);
    FIXTURE_WAIT(fixture, viewer.closed);
    finish(fixture);
}

static void test_websocket_refusals(void **state)
{
    (void)state;
    static const struct {
        const char *frame;
        size_t len;
        int close_code;
    } rows[] = {
        {"\x82\x81\0\0\0\0x", 7, 1003},                   /* binary */
        {"\x81\x01x", 3, 1002},                           /* not masked */
        {"\x81\x81\0\0\0\0\xff", 7, 1007},                /* not UTF-8 */
        {"\x81\xff\0\0\0\0\0\x20\0\0\0\0\0\0", 14, 1009}, /* 2 MB announced */
        {"\x88\x80\0\0\0\0", 6, 1000},                    /* close without a code */
        {"\xc1\x81\0\0\0\0x", 7, 1002},                   /* reserved bit */
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fixture *fixture = start(accept_websocket, fixture_options());
        int fd = open_websocket(fixture);
        client_send(fd, slice_from(rows[i].frame, rows[i].len));
        expect_message(fd, WEBSOCKET_CLOSE, rows[i].close_code, NULL);
        assert_true(client_sees_end(fd));
        FIXTURE_WAIT(fixture, viewer.closed);
        close(fd);
        finish(fixture);
    }
}

/* Frames that came in the same packet as the request, and a stream that the server ends. */
static void test_websocket_early_frames_and_end(void **state)
{
    (void)state;
    struct fixture *fixture = start(accept_websocket, fixture_options());
    struct buffer text = {0};
    buffer_add(&text, SLICE(WEBSOCKET_REQUEST));
    buffer_add(&text, slice_from("\x81\x85\0\0\0\0early", 11));
    int fd = client_open(fixture);
    client_send(fd, buffer_slice(&text));
    buffer_release(&text);
    struct reply reply;
    client_receive_head(fd, &reply);
    reply_release(&reply);
    expect_message(fd, WEBSOCKET_TEXT, 0, "early");
    struct buffer frame = {0};
    websocket_write(&frame, WEBSOCKET_TEXT, SLICE("bye"));
    viewer_push(buffer_slice(&frame), true);
    buffer_release(&frame);
    expect_message(fd, WEBSOCKET_TEXT, 0, "bye");
    expect_message(fd, WEBSOCKET_CLOSE, 4000, "");
    send_frame(fd, WEBSOCKET_CLOSE, slice_from("\x0f\xa0", 2));
    assert_true(client_sees_end(fd));
    FIXTURE_WAIT(fixture, viewer.closed);
    close(fd);
    finish(fixture);
}

static struct exchange *late;

static void do_accept(struct loop_message *message)
{
    (void)message;
    accept_websocket(late);
}

/* As a tunnel does, which asks the service first. */
static void accept_later(struct exchange *exchange)
{
    late = exchange;
    viewer.message.run = do_accept;
    loop_post(viewer.fixture->loops[0], &viewer.message);
}

static void test_websocket_early_frames_of_a_late_stream(void **state)
{
    (void)state;
    struct fixture *fixture = start(accept_later, fixture_options());
    struct buffer text = {0};
    struct reply reply;
    buffer_add(&text, SLICE(WEBSOCKET_REQUEST));
    buffer_add(&text, slice_from("\x81\x85\0\0\0\0early", 11));
    int fd = client_open(fixture);
    client_send(fd, buffer_slice(&text));
    buffer_release(&text);
    client_receive_head(fd, &reply);
    reply_release(&reply);
    expect_message(fd, WEBSOCKET_TEXT, 0, "early");
    close(fd);
    FIXTURE_WAIT(fixture, viewer.closed);
    finish(fixture);
}

/* A pong never lands inside a frame that the socket took only in part. */
static void test_websocket_ping_while_blocked(void **state)
{
    (void)state;
    struct fixture *fixture = start(accept_websocket, fixture_options());
    enum { FRAMES = 300 };
    char *line = malloc(100000);
    memset(line, 'x', 100000);
    for (int i = 0; i < FRAMES; i++) {
        websocket_write(&viewer.pending, WEBSOCKET_TEXT, slice_from(line, 100000));
    }
    free(line);
    int fd = open_websocket(fixture);
    FIXTURE_WAIT(fixture, viewer.offered > 0 && viewer.offered < viewer.pending.len);
    for (int i = 0; i < 3; i++) {
        send_frame(fd, WEBSOCKET_PING, SLICE("x"));
    }
    struct websocket_decoder decoder;
    websocket_decoder_init(&decoder, WEBSOCKET_FROM_SERVER, 1 << 20);
    int texts = 0, pongs = 0;
    while (texts < FRAMES || pongs == 0) {
        char bytes[65536];
        ssize_t got = recv(fd, bytes, sizeof bytes, 0);
        assert_true(got > 0);
        struct slice rest = slice_from(bytes, (size_t)got);
        struct websocket_message message;
        enum websocket_step step;
        while ((step = websocket_decode(&decoder, &rest, &message)) == WEBSOCKET_MESSAGE) {
            texts += message.opcode == WEBSOCKET_TEXT && message.payload.len == 100000;
            pongs += message.opcode == WEBSOCKET_PONG;
        }
        assert_int_equal(step, WEBSOCKET_MORE);
    }
    assert_int_equal(texts, FRAMES);
    websocket_decoder_release(&decoder);
    close(fd);
    FIXTURE_WAIT(fixture, viewer.closed);
    finish(fixture);
}

static void test_websocket_bad_handshake(void **state)
{
    (void)state;
    static const struct {
        const char *request;
        int status;
    } rows[] = {
        {"GET /stream HTTP/1.1\r\nHost: a\r\n\r\n", 426},
        {"GET /stream HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 8\r\n"
         "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
         426},
        {"GET /stream HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
         "Sec-WebSocket-Key: short\r\n\r\n",
         400},
        {"POST /stream HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: "
         "13\r\n"
         "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
         426},
    };
    struct fixture *fixture = start(accept_websocket, fixture_options());
    int fd = client_open(fixture);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        client_send(fd, slice_of(rows[i].request));
        client_expect(fd, rows[i].status, NULL); /* the connection stays usable */
    }
    CLIENT_SEND(fd, "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    client_expect(fd, 200, "hello");
    assert_true(viewer.refused);
    close(fd);
    finish(fixture);
}

static void accept_raw(struct exchange *exchange)
{
    http_write_header(&exchange->body, "Upgrade", SLICE("other"));
    http_write_header(&exchange->body, "Connection", SLICE("Upgrade"));
    accept_kind(exchange, STREAM_RAW);
}

static size_t said_bytes(struct fixture *fixture)
{
    pthread_mutex_lock(&fixture->lock);
    size_t len = viewer.said.len;
    pthread_mutex_unlock(&fixture->lock);
    return len;
}

/* Bytes that came with the request, bytes after it, bytes back, and an end. */
static void test_raw(void **state)
{
    (void)state;
    struct fixture *fixture = start(accept_raw, fixture_options());
    int fd =
        open_stream(fixture, "GET /stream HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\nearly");
    struct reply reply;
    client_receive_head(fd, &reply);
    assert_int_equal(reply.response.status, 101);
    assert_slice(http_response_header(&reply.response, "upgrade"), "other");
    assert_slice(http_response_header(&reply.response, "connection"), "Upgrade");
    FIXTURE_WAIT(fixture, viewer.said.len == 6);
    CLIENT_SEND(fd, "late!");
    FIXTURE_WAIT(fixture, viewer.said.len == 12);
    assert_slice(buffer_slice(&viewer.said), "early;late!;");
    viewer_push(SLICE("back"), true);
    client_read_all(fd, &reply.body);
    assert_slice(buffer_slice(&reply.body), "back");
    FIXTURE_WAIT(fixture, viewer.closed);
    reply_release(&reply);
    close(fd);
    finish(fixture);
}

static void do_pause(struct loop_message *message)
{
    (void)message;
    stream_pause(viewer.stream, true);
    pthread_mutex_lock(&viewer.fixture->lock);
    viewer.writable_calls = 1;
    fixture_signal(viewer.fixture);
}

static void do_resume(struct loop_message *message)
{
    (void)message;
    stream_pause(viewer.stream, false);
}

/* What a paused stream does not read stays with the sender; nothing is lost when it goes on. */
static void test_raw_paused(void **state)
{
    (void)state;
    enum { MANY = 32 * 1024 * 1024, PIECE = 65536 };
    struct fixture *fixture = start(accept_raw, fixture_options());
    int fd = open_stream(fixture, "GET /stream HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n");
    struct reply reply;
    struct loop_message pause = {.run = do_pause}, resume = {.run = do_resume};
    client_receive_head(fd, &reply);
    FIXTURE_WAIT(fixture, viewer.accepted);
    loop_post(fixture->loops[0], &pause);
    FIXTURE_WAIT(fixture, viewer.writable_calls == 1);
    static char piece[PIECE];
    size_t sent = 0;
    for (ssize_t put = 1; put > 0 && sent<MANY; sent += put> 0 ? (size_t)put : 0) {
        put = send(fd, piece, sizeof piece, MSG_DONTWAIT | MSG_NOSIGNAL);
    }
    assert_true(sent < MANY);
    assert_int_equal(said_bytes(fixture), 0);
    loop_post(fixture->loops[0], &resume);
    FIXTURE_WAIT(fixture, viewer.said.len > sent);
    close(fd);
    FIXTURE_WAIT(fixture, viewer.closed);
    reply_release(&reply);
    finish(fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sse),
        cmocka_unit_test(test_sse_peer_closes),
        cmocka_unit_test(test_sse_slow_reader),
        cmocka_unit_test(test_sse_reader_that_never_reads),
        cmocka_unit_test(test_sse_in_pipeline),
        cmocka_unit_test(test_sse_client_gone_before_accept),
        cmocka_unit_test(test_drain_cuts_streams),
        cmocka_unit_test(test_websocket_echo_and_close),
        cmocka_unit_test(test_websocket_fragments_bytewise),
        cmocka_unit_test(test_websocket_refusals),
        cmocka_unit_test(test_websocket_early_frames_and_end),
        cmocka_unit_test(test_websocket_early_frames_of_a_late_stream),
        cmocka_unit_test(test_websocket_ping_while_blocked),
        cmocka_unit_test(test_websocket_bad_handshake),
        cmocka_unit_test(test_raw),
        cmocka_unit_test(test_raw_paused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

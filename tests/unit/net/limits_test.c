#include "net_fixture.h"

#define HOST "Host: a\r\n"

static void add_repeated(struct buffer *out, char byte, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        buffer_add_byte(out, byte);
    }
}

static void expect_refusal_of(struct fixture *fixture, struct slice text, int status, const char *code)
{
    int fd = client_open(fixture);
    client_send(fd, text);
    client_expect_refusal(fd, status, code);
    close(fd);
}

static void test_rubbish(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int status;
        const char *code;
    } rows[] = {
        {"rubbish\r\n\r\n", 400, "bad_request"},
        {"\x16\x03\x01\x02", 400, "bad_request"},
        {"GET / HTTP/1.1\n\n", 400, "bad_request"},
        {"GET / HTTP/1.1\r\n\r\n", 400, "bad_request"},
        {"GET / HTTP/2.0\r\n" HOST "\r\n", 505, "version_not_supported"},
        {"GET / HTTP/1.1\r\n" HOST "Expect: x\r\n\r\n", 417, "expectation_failed"},
        {"POST / HTTP/1.1\r\n" HOST "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400,
         "bad_request"},
        {"POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\nzz\r\n", 400, "bad_request"},
        {"POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n1\r\nabc", 400, "bad_request"},
    };
    struct fixture *fixture = fixture_start(fixture_options(), 1, "127.0.0.1:0");
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        expect_refusal_of(fixture, slice_of(rows[i].text), rows[i].status, rows[i].code);
    }
    assert_int_equal(fixture->handled, 0);
    assert_int_equal(fixture_stats(fixture).refused_total, COUNT_OF(rows));
    fixture_stop(fixture);
}

/* A refusal takes its place behind the answers to what was right. */
static void test_rubbish_in_pipeline(void **state)
{
    (void)state;
    struct fixture *fixture = fixture_start(fixture_options(), 1, "127.0.0.1:0");
    int fd = client_open(fixture);
    CLIENT_SEND(fd, "GET /hold?1 HTTP/1.1\r\n" HOST "\r\nrubbish\r\n");
    FIXTURE_WAIT(fixture, fixture->held_count == 1);
    fixture_release(fixture, 0);
    client_expect(fd, 200, "1");
    client_expect_refusal(fd, 400, "bad_request");
    close(fd);
    fixture_stop(fixture);
}

static void test_sizes(void **state)
{
    (void)state;
    struct fixture *fixture = fixture_start(fixture_options(), 1, "127.0.0.1:0");
    struct buffer text = {0};
    buffer_add(&text, SLICE("GET /"));
    add_repeated(&text, 'x', 300);
    expect_refusal_of(fixture, buffer_slice(&text), 414, "uri_too_long");

    text.len = 0;
    buffer_add(&text, SLICE("GET / HTTP/1.1\r\n" HOST "X: "));
    add_repeated(&text, 'x', 3000);
    expect_refusal_of(fixture, buffer_slice(&text), 431, "headers_too_large");

    text.len = 0;
    buffer_add(&text, SLICE("GET / HTTP/1.1\r\n" HOST));
    for (int i = 0; i < 30; i++) {
        buffer_add(&text, SLICE("X: y\r\n"));
    }
    expect_refusal_of(fixture, buffer_slice(&text), 431, "headers_too_large");

    expect_refusal_of(fixture, SLICE("POST / HTTP/1.1\r\n" HOST "Content-Length: 1048577\r\n\r\n"), 413,
                      "body_too_large");
    expect_refusal_of(fixture, SLICE("POST / HTTP/1.1\r\n" HOST "Content-Length: 99999999999999999999\r\n\r\n"), 413,
                      "body_too_large");
    text.len = 0;
    buffer_add(&text, SLICE("POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n100001\r\n"));
    add_repeated(&text, 'x', 0x100001);
    expect_refusal_of(fixture, buffer_slice(&text), 413, "body_too_large");
    assert_int_equal(fixture->handled, 0);
    buffer_release(&text);
    fixture_stop(fixture);
}

/* A client that goes on sending can still read why it was refused. */
static void test_refusal_reaches_a_busy_sender(void **state)
{
    (void)state;
    struct fixture *fixture = fixture_start(fixture_options(), 1, "127.0.0.1:0");
    struct buffer text = {0};
    buffer_add(&text, SLICE("POST / HTTP/1.1\r\n" HOST "Content-Length: 3000000\r\n\r\n"));
    add_repeated(&text, 'x', 3000000);
    expect_refusal_of(fixture, buffer_slice(&text), 413, "body_too_large");
    buffer_release(&text);
    fixture_stop(fixture);
}

static void test_largest_body(void **state)
{
    (void)state;
    struct fixture *fixture = fixture_start(fixture_options(), 1, "127.0.0.1:0");
    int fd = client_open(fixture);
    struct buffer text = {0};
    for (int chunked = 0; chunked < 2; chunked++) {
        text.len = 0;
        buffer_add(&text, SLICE("POST /echo HTTP/1.1\r\n" HOST));
        buffer_add(&text, chunked ? SLICE("Transfer-Encoding: chunked\r\n\r\n100000\r\n")
                                  : SLICE("Content-Length: 1048576\r\n\r\n"));
        add_repeated(&text, 'x', 1 << 20);
        buffer_add(&text, chunked ? SLICE("\r\n0\r\n\r\n") : SLICE(""));
        client_send(fd, buffer_slice(&text));
        struct reply reply;
        client_receive(fd, &reply);
        assert_int_equal(reply.response.content_length, 1 << 20);
        buffer_add_byte(&reply.body, '\0');
        assert_int_equal(strspn(reply.body.ptr, "x"), 1 << 20);
        reply_release(&reply);
    }
    buffer_release(&text);
    close(fd);
    fixture_stop(fixture);
}

static void test_timeouts(void **state)
{
    (void)state;
    struct server_options options = fixture_options();
    options.limits.header_timeout_ms = 60;
    options.limits.body_timeout_ms = 60;
    options.limits.idle_timeout_ms = 60;
    struct fixture *fixture = fixture_start(options, 1, "127.0.0.1:0");
    int silent = client_open(fixture), idle = client_open(fixture);
    assert_true(client_sees_end(silent));
    close(silent);
    close(idle);
    expect_refusal_of(fixture, SLICE("GET / HTTP/1.1\r\nHo"), 408, "request_timeout");
    expect_refusal_of(fixture, SLICE("POST / HTTP/1.1\r\n" HOST "Content-Length: 5\r\n\r\nabc"), 408,
                      "request_timeout");
    expect_refusal_of(fixture, SLICE("POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n5\r\nab"), 408,
                      "request_timeout");
    idle = client_open(fixture);
    CLIENT_SEND(idle, "GET / HTTP/1.1\r\n" HOST "\r\n");
    client_expect(idle, 200, "hello");
    assert_true(client_sees_end(idle)); /* between requests nothing is owed */
    close(idle);
    /* A slow handler is no reason to time out. */
    int fd = client_open(fixture);
    CLIENT_SEND(fd, "GET /hold?1 HTTP/1.1\r\n" HOST "\r\n");
    FIXTURE_WAIT(fixture, fixture->held_count == 1);
    fixture_wait_connections(fixture, 1);
    int64_t until_ms = test_now_ms() + 200;
    char byte;
    struct timeval wait = {0, 200000};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
    assert_int_equal(recv(fd, &byte, 1, 0), -1);
    assert_true(test_now_ms() >= until_ms - 5);
    client_set_deadline(fd);
    fixture_release(fixture, 0);
    client_expect(fd, 200, "1");
    close(fd);
    fixture_stop(fixture);
}

static void test_write_timeout(void **state)
{
    (void)state;
    struct server_options options = fixture_options();
    options.limits.write_timeout_ms = 60;
    struct fixture *fixture = fixture_start(options, 1, "127.0.0.1:0");
    int fd = client_open(fixture);
    for (int i = 0; i < 8; i++) {
        CLIENT_SEND(fd, "GET /big HTTP/1.1\r\n" HOST "\r\n");
    }
    FIXTURE_WAIT(fixture, fixture->handled >= 1);
    fixture_wait_connections(fixture, 0); /* nothing was read: the server gives up */
    close(fd);
    fixture_stop(fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rubbish),       cmocka_unit_test(test_rubbish_in_pipeline),
        cmocka_unit_test(test_sizes),         cmocka_unit_test(test_refusal_reaches_a_busy_sender),
        cmocka_unit_test(test_largest_body),  cmocka_unit_test(test_timeouts),
        cmocka_unit_test(test_write_timeout),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

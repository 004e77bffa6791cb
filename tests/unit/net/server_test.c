#include "net_fixture.h"

#include <sys/stat.h>
#include <sys/un.h>

#define GET(path) "GET " path " HTTP/1.1\r\nHost: a\r\n\r\n"

static struct fixture *start(void)
{
    return fixture_start(fixture_options(), 1, "127.0.0.1:0");
}

static void test_keep_alive(void **state)
{
    (void)state;
    struct fixture *fixture = start();
    int fd = client_open(fixture);
    char ids[3][64];
    for (int i = 0; i < 3; i++) {
        struct reply reply;
        CLIENT_SEND(fd, "POST /echo?q HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello");
        client_receive(fd, &reply);
        assert_int_equal(reply.response.status, 200);
        assert_slice(buffer_slice(&reply.body), "hello");
        assert_slice(http_response_header(&reply.response, "x-query"), "q");
        assert_int_equal(http_response_header(&reply.response, "date").len, HTTP_DATE_BYTES - 1);
        assert_absent(http_response_header(&reply.response, "connection"));
        snprintf(ids[i], sizeof ids[i], "%.*s", SLICE_ARG(http_response_header(&reply.response, "x-request-id")));
        assert_int_equal(strlen(ids[i]), UUID_TEXT_BYTES - 1);
        reply_release(&reply);
    }
    assert_string_not_equal(ids[0], ids[1]);
    assert_string_not_equal(ids[1], ids[2]);
    struct server_stats figures = fixture_stats(fixture);
    assert_int_equal(figures.requests_total, 3);
    assert_int_equal(figures.connections_total, 1);
    close(fd);
    fixture_wait_connections(fixture, 0);
    fixture_stop(fixture);
}

static void check_request_id(int fd, const char *sent, bool echoed)
{
    struct reply reply;
    char text[200];
    snprintf(text, sizeof text, "GET / HTTP/1.1\r\nHost: a\r\nX-Request-Id: %s\r\n\r\n", sent);
    client_send(fd, slice_of(text));
    client_receive(fd, &reply);
    assert_int_equal(slice_is(http_response_header(&reply.response, "x-request-id"), sent), echoed);
    reply_release(&reply);
}

static void test_request_id(void **state)
{
    (void)state;
    struct fixture *fixture = start();
    int fd = client_open(fixture);
    check_request_id(fd, "abc-1.2:3_X", true);
    check_request_id(fd, "with space", false);
    check_request_id(fd, "much-too-long-for-a-request-id-to-be-taken-over", false);
    close(fd);
    fixture_stop(fixture);
}

static void test_connection_close(void **state)
{
    (void)state;
    static const char *const requests[] = {"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n" GET("/ignored"),
                                           "GET / HTTP/1.0\r\n\r\n",
                                           "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"};
    struct fixture *fixture = start();
    for (size_t i = 0; i < COUNT_OF(requests); i++) {
        struct reply reply;
        int fd = client_open(fixture);
        client_send(fd, slice_of(requests[i]));
        client_receive(fd, &reply);
        assert_slice(http_response_header(&reply.response, "connection"), "close");
        assert_slice(buffer_slice(&reply.body), "hello");
        reply_release(&reply);
        assert_true(client_sees_end(fd));
        close(fd);
    }
    assert_int_equal(fixture_stats(fixture).requests_total, 3);
    fixture_stop(fixture);
}

/* Ten requests in one write, answered by the handler in the opposite order. */
static void test_pipelining(void **state)
{
    (void)state;
    struct fixture *fixture = start();
    int fd = client_open(fixture);
    struct buffer text = {0};
    for (int i = 0; i < 10; i++) {
        buffer_format(&text, "GET /hold?%d HTTP/1.1\r\nHost: a\r\n\r\n", i);
    }
    client_send(fd, buffer_slice(&text));
    FIXTURE_WAIT(fixture, fixture->held_count == 10);
    for (size_t i = 10; i-- > 0;) {
        fixture_release(fixture, i);
    }
    for (int i = 0; i < 10; i++) {
        char expected[8];
        snprintf(expected, sizeof expected, "%d", i);
        client_expect(fd, 200, expected);
    }
    buffer_release(&text);
    close(fd);
    fixture_stop(fixture);
}

/* What changes something never runs beside another request of the same connection. */
static void test_unsafe_requests_wait(void **state)
{
    (void)state;
    struct fixture *fixture = start();
    int fd = client_open(fixture);
    CLIENT_SEND(fd, "POST /hold?a HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx" GET("/hold?b")
                        GET("/hold?c") "POST /hold?d HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx");
    FIXTURE_WAIT(fixture, fixture->held_count == 1);
    int other = client_open(fixture);
    CLIENT_SEND(other, GET("/at-once"));
    client_expect(other, 200, "hello"); /* the loop had the time to dispatch more, if it were going to */
    assert_int_equal(fixture->held_count, 1);
    fixture_release(fixture, 0);
    client_expect(fd, 200, "a");
    FIXTURE_WAIT(fixture, fixture->held_count == 3);
    fixture_release(fixture, 2);
    fixture_release(fixture, 1);
    client_expect(fd, 200, "b");
    client_expect(fd, 200, "c");
    FIXTURE_WAIT(fixture, fixture->held_count == 4);
    fixture_release(fixture, 3);
    client_expect(fd, 200, "d");
    close(fd);
    close(other);
    fixture_stop(fixture);
}

static void test_pipeline_limit(void **state)
{
    (void)state;
    struct server_options options = fixture_options();
    options.limits.pipeline_max = 2;
    struct fixture *fixture = fixture_start(options, 1, "127.0.0.1:0");
    int fd = client_open(fixture);
    CLIENT_SEND(fd, GET("/hold?0") GET("/hold?1") GET("/hold?2"));
    FIXTURE_WAIT(fixture, fixture->held_count == 2);
    fixture_release(fixture, 0);
    client_expect(fd, 200, "0");
    FIXTURE_WAIT(fixture, fixture->held_count == 3);
    fixture_release(fixture, 1);
    fixture_release(fixture, 2);
    client_expect(fd, 200, "1");
    client_expect(fd, 200, "2");
    close(fd);
    fixture_stop(fixture);
}

/* Far more than one read holds, in one direction before the other is read. */
static void test_long_pipeline(void **state)
{
    (void)state;
    struct fixture *fixture = start();
    int fd = client_open(fixture);
    enum { COUNT = 2000 };
    struct buffer text = {0};
    for (int i = 0; i < COUNT; i++) {
        buffer_format(&text, "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n%0100d", i);
    }
    client_send(fd, buffer_slice(&text));
    for (int i = 0; i < COUNT; i++) {
        char expected[104];
        snprintf(expected, sizeof expected, "%0100d", i);
        client_expect(fd, 200, expected);
    }
    buffer_release(&text);
    close(fd);
    fixture_stop(fixture);
}

static void test_split_everywhere(void **state)
{
    (void)state;
    struct fixture *fixture = start();
    int fd = client_open(fixture);
    struct slice text =
        SLICE("POST /echo?1 HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc"
              "POST /echo?2 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nde\r\n1;x\r\nf\r\n"
              "0\r\nTrailer: x\r\n\r\n");
    for (size_t at = 1; at < text.len; at++) {
        client_send(fd, slice_from(text.ptr, at));
        client_send(fd, slice_after(text, at));
        client_expect(fd, 200, "abc");
        client_expect(fd, 200, "def");
    }
    for (size_t at = 0; at < text.len; at++) {
        client_send(fd, slice_from(text.ptr + at, 1));
    }
    client_expect(fd, 200, "abc");
    client_expect(fd, 200, "def");
    close(fd);
    fixture_stop(fixture);
}

static void test_expect_continue(void **state)
{
    (void)state;
    struct fixture *fixture = start();
    int fd = client_open(fixture);
    struct reply reply;
    CLIENT_SEND(fd, "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n");
    client_receive_head(fd, &reply);
    assert_int_equal(reply.response.status, 100);
    reply_release(&reply);
    CLIENT_SEND(fd, "hello");
    client_expect(fd, 200, "hello");
    /* A client that does not wait gets no interim answer. */
    CLIENT_SEND(fd, "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\nagain");
    client_expect(fd, 200, "again");
    /* What is too large is refused before it is sent. */
    CLIENT_SEND(fd, "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5000000\r\nExpect: 100-continue\r\n\r\n");
    client_expect_refusal(fd, 413, "body_too_large");
    close(fd);
    fixture_stop(fixture);
}

/* The interim answer keeps its place behind earlier answers. */
static void test_expect_continue_in_pipeline(void **state)
{
    (void)state;
    struct fixture *fixture = start();
    int fd = client_open(fixture);
    struct reply reply;
    CLIENT_SEND(fd,
                GET("/hold?1") "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n");
    FIXTURE_WAIT(fixture, fixture->held_count == 1);
    fixture_release(fixture, 0);
    client_expect(fd, 200, "1");
    client_receive_head(fd, &reply);
    assert_int_equal(reply.response.status, 100);
    reply_release(&reply);
    CLIENT_SEND(fd, "ok");
    client_expect(fd, 200, "ok");
    close(fd);
    fixture_stop(fixture);
}

static void test_head_and_empty(void **state)
{
    (void)state;
    struct fixture *fixture = start();
    int fd = client_open(fixture);
    struct reply reply;
    CLIENT_SEND(fd, "HEAD / HTTP/1.1\r\nHost: a\r\n\r\n");
    client_receive_head(fd, &reply);
    assert_int_equal(reply.response.content_length, 5);
    reply_release(&reply);
    CLIENT_SEND(fd, GET("/empty"));
    client_receive_head(fd, &reply);
    assert_int_equal(reply.response.status, 204);
    assert_absent(http_response_header(&reply.response, "content-length"));
    assert_absent(http_response_header(&reply.response, "content-type"));
    reply_release(&reply);
    CLIENT_SEND(fd, GET("/"));
    client_expect(fd, 200, "hello"); /* nothing stood between the answers */
    close(fd);
    fixture_stop(fixture);
}

static void test_big_answer(void **state)
{
    (void)state;
    struct fixture *fixture = start();
    int fd = client_open(fixture);
    CLIENT_SEND(fd, GET("/big") GET("/"));
    struct reply reply;
    client_receive(fd, &reply);
    assert_int_equal(reply.body.len, 4 << 20);
    for (int i = 0; i < 1 << 20; i++) {
        char expected[8];
        snprintf(expected, sizeof expected, "%04d", i % 10000);
        assert_memory_equal(reply.body.ptr + 4 * i, expected, 4);
    }
    reply_release(&reply);
    client_expect(fd, 200, "hello");
    close(fd);
    fixture_stop(fixture);
}

static void test_half_close(void **state)
{
    (void)state;
    struct fixture *fixture = start();
    int fd = client_open(fixture);
    CLIENT_SEND(fd, GET("/hold?1") "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi");
    shutdown(fd, SHUT_WR);
    FIXTURE_WAIT(fixture, fixture->held_count == 1);
    fixture_release(fixture, 0);
    client_expect(fd, 200, "1");
    client_expect(fd, 200, "hi");
    assert_true(client_sees_end(fd));
    close(fd);
    fixture_wait_connections(fixture, 0);
    fixture_stop(fixture);
}

static void test_vanishing_clients(void **state)
{
    (void)state;
    static const char *const beginnings[] = {
        "",
        "GET / HT",
        "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 50\r\n\r\nhalf",
        "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhe",
        GET("/big"),
        "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 50\r\nExpect: 100-continue\r\n\r\n"};
    struct fixture *fixture = start();
    for (size_t i = 0; i < 2 * COUNT_OF(beginnings); i++) {
        int fd = client_open(fixture);
        client_send(fd, slice_of(beginnings[i / 2]));
        if (i % 2) {
            struct linger abort_it = {1, 0};
            setsockopt(fd, SOL_SOCKET, SO_LINGER, &abort_it, sizeof abort_it);
        }
        close(fd);
    }
    fixture_wait_connections(fixture, 0);
    fixture_stop(fixture);
}

static void test_peer_closed_is_told(void **state)
{
    (void)state;
    struct fixture *fixture = start();
    int fd = client_open(fixture);
    CLIENT_SEND(fd, GET("/hold?1"));
    FIXTURE_WAIT(fixture, fixture->held_count == 1);
    assert_false(exchange_peer_closed(fixture->held[0]));
    struct linger abort_it = {1, 0};
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &abort_it, sizeof abort_it);
    close(fd);
    fixture_wait_connections(fixture, 0);
    assert_true(exchange_peer_closed(fixture->held[0]));
    fixture_release(fixture, 0); /* goes nowhere, and harms nobody */
    fd = client_open(fixture);
    CLIENT_SEND(fd, GET("/"));
    client_expect(fd, 200, "hello");
    close(fd);
    fixture_stop(fixture);
}

static void test_several_loops(void **state)
{
    (void)state;
    struct fixture *fixture = fixture_start(fixture_options(), 3, "127.0.0.1:0");
    int fds[6];
    for (int i = 0; i < 6; i++) {
        fds[i] = client_open(fixture);
        CLIENT_SEND(fds[i], GET("/peer"));
    }
    for (int i = 0; i < 6; i++) {
        client_expect(fds[i], 200, "127.0.0.1");
        close(fds[i]);
    }
    assert_int_equal(fixture->loops_seen, 7);
    fixture_stop(fixture);
}

static void test_connections_max(void **state)
{
    (void)state;
    struct server_options options = fixture_options();
    options.limits.connections_max = 1;
    struct fixture *fixture = fixture_start(options, 1, "127.0.0.1:0");
    int fd = client_open(fixture);
    CLIENT_SEND(fd, GET("/"));
    client_expect(fd, 200, "hello");
    int other = client_open(fixture);
    client_expect_refusal(other, 503, "too_many_connections");
    assert_int_equal(fixture_stats(fixture).refused_total, 1);
    close(fd);
    close(other);
    fixture_wait_connections(fixture, 0);
    fd = client_open(fixture);
    CLIENT_SEND(fd, GET("/"));
    client_expect(fd, 200, "hello");
    close(fd);
    fixture_stop(fixture);
}

static int unix_open(const char *path)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    snprintf(to.sun_path, sizeof to.sun_path, "%s", path);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    client_set_deadline(fd);
    if (connect(fd, (struct sockaddr *)&to, sizeof to) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

static void leave_stale_socket(const char *path)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    snprintf(name.sun_path, sizeof name.sun_path, "%s", path);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&name, sizeof name), 0);
    close(fd);
}

static void test_unix_socket(void **state)
{
    (void)state;
    char directory[] = "/tmp/net_test_XXXXXX", path[64], address[80];
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/socket", directory);
    snprintf(address, sizeof address, "unix:%s", path);
    leave_stale_socket(path);
    struct fixture *fixture = fixture_start(fixture_options(), 1, address);
    assert_string_equal(fixture->address, address);
    struct stat about;
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0660);
    int fd = unix_open(path);
    CLIENT_SEND(fd, GET("/peer"));
    client_expect(fd, 200, "unix");
    struct failure failure = {0};
    char again[100];
    assert_status(server_listen(fixture->server, slice_of(address), again, sizeof again, &failure), STATUS_CONFLICT);
    close(fd);
    fixture_stop(fixture);
    assert_int_equal(unix_open(path), -1);
    assert_int_not_equal(access(path, F_OK), 0);
    rmdir(directory);
}

static void test_listen_failures(void **state)
{
    (void)state;
    struct fixture *fixture = start();
    char taken[32], out[100];
    snprintf(taken, sizeof taken, "127.0.0.1:%d", fixture->port);
    const struct {
        const char *address;
        enum status status;
    } rows[] = {{taken, STATUS_CONFLICT},
                {"", STATUS_INVALID},
                {"127.0.0.1", STATUS_INVALID},
                {"127.0.0.1:70000", STATUS_INVALID},
                {"127.0.0.1:x", STATUS_INVALID},
                {"unix:", STATUS_INVALID},
                {"unix:/nowhere/at/all", STATUS_INVALID},
                {"unix:/dev/null", STATUS_INVALID}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct failure failure = {0};
        enum status status = server_listen(fixture->server, slice_of(rows[i].address), out, sizeof out, &failure);
        assert_row(rows[i].address, status == rows[i].status);
        assert_row(rows[i].address, strcmp(failure.code, "listen_failed") == 0);
    }
    fixture_stop(fixture);
}

static void test_listen_forms(void **state)
{
    (void)state;
    static const char *const rows[][2] = {{"127.0.0.1:0", "http://127.0.0.1:"},
                                          {"[::1]:0", "http://[::1]:"},
                                          {":0", "http://localhost:"},
                                          {"localhost:0", "http://"}};
    struct fixture *fixture = start();
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char out[100];
        struct failure failure = {0};
        if (server_listen(fixture->server, slice_of(rows[i][0]), out, sizeof out, &failure) == STATUS_OK) {
            assert_row(rows[i][0], strncmp(out, rows[i][1], strlen(rows[i][1])) == 0);
            assert_row(rows[i][0], atoi(strrchr(out, ':') + 1) > 0);
        } else {
            assert_row(rows[i][0], i == 1); /* a machine without IPv6 */
        }
    }
    fixture_stop(fixture);
}

static void test_drain(void **state)
{
    (void)state;
    struct fixture *fixture = fixture_start(fixture_options(), 2, "127.0.0.1:0");
    int idle = client_open(fixture), idle_used = client_open(fixture), busy = client_open(fixture),
        sending = client_open(fixture);
    CLIENT_SEND(idle_used, GET("/"));
    client_expect(idle_used, 200, "hello");
    CLIENT_SEND(busy, GET("/hold?last"));
    CLIENT_SEND(sending, GET("/") "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nha");
    client_expect(sending, 200, "hello");
    FIXTURE_WAIT(fixture, fixture->held_count == 1);
    fixture_drain(fixture, 60000);
    assert_true(client_sees_end(idle));
    assert_true(client_sees_end(idle_used));
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)fixture->port)};
    inet_pton(AF_INET, "127.0.0.1", &to.sin_addr);
    int late = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_not_equal(connect(late, (struct sockaddr *)&to, sizeof to), 0);
    fixture_release(fixture, 0);
    struct reply reply;
    client_receive(busy, &reply);
    assert_slice(buffer_slice(&reply.body), "last");
    assert_slice(http_response_header(&reply.response, "connection"), "close");
    reply_release(&reply);
    assert_true(client_sees_end(busy));
    CLIENT_SEND(sending, "lf");
    client_expect(sending, 200, "half");
    assert_true(client_sees_end(sending));
    pthread_mutex_lock(&fixture->lock);
    bool drained = fixture->drained;
    pthread_mutex_unlock(&fixture->lock);
    assert_false(drained && fixture_stats(fixture).connections > 0);
    close(idle);
    close(idle_used);
    close(busy);
    close(sending);
    close(late);
    FIXTURE_WAIT(fixture, fixture->drained);
    fixture_stop(fixture);
}

static void test_drain_cuts(void **state)
{
    (void)state;
    struct fixture *fixture = start();
    int fd = client_open(fixture);
    CLIENT_SEND(fd, GET("/hold?never"));
    FIXTURE_WAIT(fixture, fixture->held_count == 1);
    fixture_drain(fixture, 50);
    assert_true(client_sees_end(fd));
    FIXTURE_WAIT(fixture, fixture->drained);
    assert_true(exchange_peer_closed(fixture->held[0]));
    fixture_release(fixture, 0);
    close(fd);
    fixture_stop(fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keep_alive),
        cmocka_unit_test(test_request_id),
        cmocka_unit_test(test_connection_close),
        cmocka_unit_test(test_pipelining),
        cmocka_unit_test(test_unsafe_requests_wait),
        cmocka_unit_test(test_pipeline_limit),
        cmocka_unit_test(test_long_pipeline),
        cmocka_unit_test(test_split_everywhere),
        cmocka_unit_test(test_expect_continue),
        cmocka_unit_test(test_expect_continue_in_pipeline),
        cmocka_unit_test(test_head_and_empty),
        cmocka_unit_test(test_big_answer),
        cmocka_unit_test(test_half_close),
        cmocka_unit_test(test_vanishing_clients),
        cmocka_unit_test(test_peer_closed_is_told),
        cmocka_unit_test(test_several_loops),
        cmocka_unit_test(test_connections_max),
        cmocka_unit_test(test_unix_socket),
        cmocka_unit_test(test_listen_failures),
        cmocka_unit_test(test_listen_forms),
        cmocka_unit_test(test_drain),
        cmocka_unit_test(test_drain_cuts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

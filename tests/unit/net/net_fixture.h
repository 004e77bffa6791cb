/* A server on its own loops and a worker thread that answers by path, and a small blocking client. Every wait has a
 * deadline, so that a broken server fails the test instead of hanging it. */
#ifndef NET_FIXTURE_H
#define NET_FIXTURE_H

#include "unit.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "net/server.h"
#include "net/stream.h"

enum { LOOPS_MAX = 4, HELD_MAX = 64, DEADLINE_MS = 10000 };

struct fixture {
    struct clock clock;
    struct id_source ids;
    struct loop *loops[LOOPS_MAX];
    size_t loop_count;
    struct server *server;
    char address[160];
    int port;
    struct work_queue *queue;
    pthread_t worker;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct exchange *held[HELD_MAX]; /* requests for /hold, in the order they came */
    size_t held_count;
    int handled;
    int loops_seen; /* bit set */
    bool drained;
    void (*take_over)(struct exchange *exchange); /* for /stream */
};

static inline struct server_options fixture_options(void)
{
    return (struct server_options){
        .limits = {.header_bytes_max = 2048,
                   .uri_bytes_max = 256,
                   .header_count_max = 20,
                   .body_bytes_max = 1 << 20,
                   .pipeline_max = 16,
                   .connections_max = 1000,
                   .header_timeout_ms = 60000,
                   .body_timeout_ms = 60000,
                   .idle_timeout_ms = 60000,
                   .write_timeout_ms = 60000},
    };
}

static inline struct timespec deadline(void)
{
    struct timespec at;
    clock_gettime(CLOCK_REALTIME, &at);
    at.tv_sec += DEADLINE_MS / 1000;
    return at;
}

/* Waits until the condition holds; the lock is held around it. */
#define FIXTURE_WAIT(fixture, condition)                                                                               \
    do {                                                                                                               \
        struct timespec until_ = deadline();                                                                           \
        pthread_mutex_lock(&(fixture)->lock);                                                                          \
        while (!(condition) && pthread_cond_timedwait(&(fixture)->changed, &(fixture)->lock, &until_) == 0) {          \
        }                                                                                                              \
        bool holds_ = (condition);                                                                                     \
        pthread_mutex_unlock(&(fixture)->lock);                                                                        \
        assert_true(holds_);                                                                                           \
    } while (0)

static inline void fixture_signal(struct fixture *fixture)
{
    pthread_cond_broadcast(&fixture->changed);
    pthread_mutex_unlock(&fixture->lock);
}

/* /echo: the body; /peer: who asks; /big: 4 MB; /empty: 204; /hold: answered by fixture_release; /stream: taken over.
 */
static inline void fixture_answer(struct fixture *fixture, struct exchange *exchange)
{
    struct slice path = exchange->request.path;
    exchange->status = 200;
    exchange->content_type = "text/plain";
    if (slice_is(path, "/stream")) {
        exchange->take_over = fixture->take_over;
    } else if (slice_is(path, "/empty")) {
        exchange->status = 204;
    } else if (slice_is(path, "/peer")) {
        buffer_add(&exchange->body, exchange->peer);
    } else if (slice_is(path, "/big")) {
        for (int i = 0; i < 1 << 20; i++) {
            buffer_format(&exchange->body, "%04d", i % 10000);
        }
    } else if (slice_is(path, "/echo")) {
        buffer_add(&exchange->body, exchange->request.body);
        exchange_header(exchange, "X-Query", arena_copy(&exchange->arena, exchange->request.query));
    } else {
        exchange->static_body = SLICE("hello");
    }
    exchange_reply(exchange);
}

static inline void fixture_hold(struct fixture *fixture, struct exchange *exchange)
{
    pthread_mutex_lock(&fixture->lock);
    fixture->held[fixture->held_count++] = exchange;
    fixture_signal(fixture);
}

static inline void *fixture_work(void *owner)
{
    struct fixture *fixture = owner;
    struct queue_item *item;
    while ((item = work_queue_take(fixture->queue, 100, -1))) {
        while (item) {
            struct exchange *exchange = (struct exchange *)item;
            item = item->next;
            if (slice_is(exchange->request.path, "/hold")) {
                fixture_hold(fixture, exchange);
            } else {
                fixture_answer(fixture, exchange);
            }
        }
    }
    return NULL;
}

static inline void fixture_release(struct fixture *fixture, size_t index)
{
    struct exchange *exchange = fixture->held[index];
    exchange->status = 200;
    exchange->content_type = "text/plain";
    buffer_add(&exchange->body, exchange->request.query);
    exchange_reply(exchange);
}

static inline void fixture_on_request(void *owner, struct exchange *exchange)
{
    struct fixture *fixture = owner;
    pthread_mutex_lock(&fixture->lock);
    fixture->handled++;
    fixture->loops_seen |= 1 << loop_index(exchange->loop);
    fixture_signal(fixture);
    if (slice_is(exchange->request.path, "/at-once")) {
        fixture_answer(fixture, exchange);
    } else {
        work_queue_push(fixture->queue, &exchange->work);
    }
}

static inline void fixture_on_drained(void *owner)
{
    struct fixture *fixture = owner;
    pthread_mutex_lock(&fixture->lock);
    fixture->drained = true;
    fixture_signal(fixture);
}

static inline struct fixture *fixture_start(struct server_options options, size_t loop_count, const char *address)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    struct failure failure = {0};
    signal(SIGPIPE, SIG_IGN);
    clock_init_system(&fixture->clock);
    id_source_init_system(&fixture->ids);
    pthread_mutex_init(&fixture->lock, NULL);
    pthread_cond_init(&fixture->changed, NULL);
    fixture->queue = work_queue_new(0);
    pthread_create(&fixture->worker, NULL, fixture_work, fixture);
    fixture->loop_count = loop_count;
    for (size_t i = 0; i < loop_count; i++) {
        fixture->loops[i] = loop_new((int)i);
    }
    options.clock = &fixture->clock;
    options.ids = &fixture->ids;
    options.owner = fixture;
    options.on_request = fixture_on_request;
    fixture->server = server_new(&options, fixture->loops, loop_count);
    assert_status(
        server_listen(fixture->server, slice_of(address), fixture->address, sizeof fixture->address, &failure),
        STATUS_OK);
    const char *port = strrchr(fixture->address, ':');
    fixture->port = atoi(port + 1);
    for (size_t i = 0; i < loop_count; i++) {
        loop_start(fixture->loops[i]);
    }
    return fixture;
}

static inline void fixture_drain(struct fixture *fixture, int64_t timeout_ms)
{
    server_drain(fixture->server, timeout_ms, fixture_on_drained, fixture);
}

static inline void fixture_stop(struct fixture *fixture)
{
    if (!fixture->drained) {
        fixture_drain(fixture, 0);
        FIXTURE_WAIT(fixture, fixture->drained);
    }
    work_queue_close(fixture->queue);
    pthread_join(fixture->worker, NULL);
    for (size_t i = 0; i < fixture->loop_count; i++) {
        loop_stop(fixture->loops[i]);
        loop_join(fixture->loops[i]);
    }
    server_free(fixture->server);
    for (size_t i = 0; i < fixture->loop_count; i++) {
        loop_free(fixture->loops[i]);
    }
    work_queue_free(fixture->queue);
    pthread_mutex_destroy(&fixture->lock);
    pthread_cond_destroy(&fixture->changed);
    free(fixture);
}

static inline struct server_stats fixture_stats(struct fixture *fixture)
{
    struct server_stats figures;
    server_figures_read(fixture->server, &figures);
    return figures;
}

static inline int64_t test_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Figures are not announced: asks again, with a short rest, until they are as wanted or the deadline passes. */
static inline void fixture_wait_connections(struct fixture *fixture, int64_t wanted)
{
    int64_t until_ms = test_now_ms() + DEADLINE_MS;
    while (fixture_stats(fixture).connections != wanted && test_now_ms() < until_ms) {
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    }
    assert_int_equal(fixture_stats(fixture).connections, wanted);
}

/* The client. */

static inline void client_set_deadline(int fd)
{
    struct timeval wait = {DEADLINE_MS / 1000, 0};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof wait);
    int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on); /* what is sent in pieces arrives in pieces */
}

static inline int client_open(const struct fixture *fixture)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)fixture->port)};
    inet_pton(AF_INET, "127.0.0.1", &to.sin_addr);
    client_set_deadline(fd);
    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof to), 0);
    return fd;
}

static inline void client_send(int fd, struct slice bytes)
{
    while (bytes.len > 0) {
        ssize_t sent = send(fd, bytes.ptr, bytes.len, MSG_NOSIGNAL);
        assert_true(sent > 0);
        bytes = slice_after(bytes, (size_t)sent);
    }
}

#define CLIENT_SEND(fd, literal) client_send((fd), SLICE(literal))

/* Everything until the server closes. */
static inline void client_read_all(int fd, struct buffer *out)
{
    char bytes[4096];
    ssize_t got;
    while ((got = recv(fd, bytes, sizeof bytes, 0)) > 0) {
        buffer_add(out, slice_from(bytes, (size_t)got));
    }
    assert_int_equal(got, 0);
}

static inline void client_read_exactly(int fd, struct buffer *out, size_t count)
{
    buffer_reserve(out, count);
    while (count > 0) {
        ssize_t got = recv(fd, out->ptr + out->len, count, 0);
        assert_true(got > 0);
        out->len += (size_t)got;
        count -= (size_t)got;
    }
}

static inline bool client_sees_end(int fd)
{
    char byte;
    return recv(fd, &byte, 1, 0) == 0;
}

struct reply {
    struct arena arena;
    struct buffer head;
    struct buffer body;
    struct http_response response;
};

static inline void reply_release(struct reply *reply)
{
    arena_release(&reply->arena);
    buffer_release(&reply->head);
    buffer_release(&reply->body);
}

/* One answer, without taking a byte of the next; the body is not read when `head_only`. */
static inline void client_receive_head(int fd, struct reply *reply)
{
    static const struct http_limits limits = {0, 65536, 100};
    struct http_scan scan;
    *reply = (struct reply){0};
    http_scan_init(&scan, HTTP_RESPONSE);
    do {
        client_read_exactly(fd, &reply->head, 1);
    } while (http_scan(&scan, &limits, buffer_slice(&reply->head)) == HTTP_MORE);
    assert_int_equal(scan.fault, HTTP_FAULT_NONE);
    assert_int_equal(http_response_read(&scan, buffer_slice(&reply->head), &reply->arena, &reply->response),
                     HTTP_FAULT_NONE);
}

static inline void client_receive(int fd, struct reply *reply)
{
    client_receive_head(fd, reply);
    assert_true(reply->response.content_length >= 0);
    client_read_exactly(fd, &reply->body, (size_t)reply->response.content_length);
}

static inline void client_expect(int fd, int status, const char *body)
{
    struct reply reply;
    client_receive(fd, &reply);
    assert_int_equal(reply.response.status, status);
    if (body) {
        assert_slice(buffer_slice(&reply.body), body);
    }
    reply_release(&reply);
}

/* A problem document with this status and code, after which the server closes. */
static inline void client_expect_refusal(int fd, int status, const char *code)
{
    struct reply reply;
    char text[100];
    client_receive(fd, &reply);
    assert_int_equal(reply.response.status, status);
    assert_slice(http_response_header(&reply.response, "content-type"), "application/problem+json");
    assert_slice(http_response_header(&reply.response, "connection"), "close");
    buffer_add_byte(&reply.body, '\0');
    snprintf(text, sizeof text, "\"status\":%d,\"code\":\"%s\",\"detail\":\"", status, code);
    assert_non_null(strstr(reply.body.ptr, text));
    reply_release(&reply);
    assert_true(client_sees_end(fd));
}

#endif

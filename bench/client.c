#include "client.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { READ_BYTES = 16384, EVENTS_PER_WAIT = 256 };

void die(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("load: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(1);
}

uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

unsigned draw(unsigned limit)
{
    static uint64_t state = 0x9e3779b97f4a7c15u;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (unsigned)(state % limit);
}

static void text_reserve(struct text *text, size_t capacity)
{
    if (capacity <= text->capacity) {
        return;
    }
    size_t wanted = text->capacity ? text->capacity : 1024;
    while (wanted < capacity) {
        wanted *= 2;
    }
    text->bytes = realloc(text->bytes, wanted);
    if (!text->bytes) {
        die("out of memory");
    }
    text->capacity = wanted;
}

// Keeps a zero byte behind the text, so that bodies can be searched as strings.
void text_append(struct text *text, const void *bytes, size_t size)
{
    text_reserve(text, text->size + size + 1);
    memcpy(text->bytes + text->size, bytes, size);
    text->size += size;
    text->bytes[text->size] = 0;
}

void text_print(struct text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    text_reserve(text, text->size + (size_t)size + 1);
    va_start(arguments, format);
    vsnprintf(text->bytes + text->size, (size_t)size + 1, format, arguments);
    va_end(arguments);
    text->size += (size_t)size;
}

void text_release(struct text *text)
{
    free(text->bytes);
    *text = (struct text){0};
}

int target_connect(const struct target *target)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)target->port)};
    if (inet_pton(AF_INET, target->host, &address.sin_addr) != 1) {
        die("--host %s: an IPv4 address is needed", target->host);
    }
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address) != 0) {
        die("connect to %s:%d: %s", target->host, target->port, strerror(errno));
    }
    int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return fd;
}

void request_build(struct text *out, const struct target *target, const char *method, const char *path,
                   const char *headers, const struct text *body)
{
    out->size = 0;
    text_print(out, "%s %s HTTP/1.1\r\nHost: %s:%d\r\n", method, path, target->host, target->port);
    if (target->token) {
        text_print(out, "Authorization: Bearer %s\r\n", target->token);
    }
    text_print(out, "%s", headers);
    if (body) {
        text_print(out, "Content-Type: application/json\r\nContent-Length: %zu\r\n", body->size);
    }
    text_print(out, "\r\n");
    if (body) {
        text_append(out, body->bytes, body->size);
    }
}

void connection_open(struct connection *connection, const struct target *target, int index)
{
    *connection = (struct connection){.index = index, .is_resp = target->is_resp, .fd = target_connect(target)};
}

void connection_close(struct connection *connection)
{
    close(connection->fd);
    text_release(&connection->request);
    text_release(&connection->answer);
}

const char *connection_body(const struct connection *connection)
{
    return connection->answer.bytes + connection->body_at;
}

void connection_expect_success(const struct connection *connection, const char *what)
{
    if (connection->status >= 200 && connection->status < 300) {
        return;
    }
    const struct text *answer = &connection->answer;
    die("%s: status %d: %.*s", what, connection->status, (int)answer->size, answer->bytes ? answer->bytes : "");
}

static void connection_wait(const struct connection *connection, short events)
{
    struct pollfd wait = {.fd = connection->fd, .events = events};
    poll(&wait, 1, -1);
}

static void connection_send(struct connection *connection)
{
    connection->answer.size = 0;
    connection->body_at = 0;
    connection->body_size = 0;
    connection->pending_bytes = 0;
    connection->is_chunked = false;
    connection->status = 0;
    connection->sent_bytes = 0;
    connection->start_ns = now_ns();
    while (connection->sent_bytes < connection->request.size) {
        ssize_t sent = send(connection->fd, connection->request.bytes + connection->sent_bytes,
                            connection->request.size - connection->sent_bytes, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent >= 0) {
            connection->sent_bytes += (size_t)sent;
        } else if (errno == EAGAIN) {
            connection_wait(connection, POLLOUT);
        } else if (errno != EINTR) {
            die("send: %s", strerror(errno));
        }
    }
}

static void http_read_head(struct connection *connection)
{
    const char *head = connection->answer.bytes;
    const char *end = memmem(head, connection->answer.size, "\r\n\r\n", 4);
    if (!end) {
        return;
    }
    if (connection->answer.size < 12 || memcmp(head, "HTTP/1.1 ", 9) != 0) {
        die("not an HTTP/1.1 answer: %.40s", head);
    }
    connection->status = atoi(head + 9);
    connection->body_at = (size_t)(end - head) + 4;
    for (const char *line = memchr(head, '\n', connection->answer.size); line && line < end;
         line = memchr(line, '\n', (size_t)(end + 4 - line))) {
        line++;
        if (strncasecmp(line, "content-length:", 15) == 0) {
            connection->body_size = strtoul(line + 15, NULL, 10);
        } else if (strncasecmp(line, "transfer-encoding:", 18) == 0) {
            connection->is_chunked = true;
        } else if (strncasecmp(line, "connection: close", 17) == 0) {
            die("the server closes the connection: %.*s", (int)connection->answer.size, head);
        }
    }
}

static bool http_is_complete(struct connection *connection)
{
    if (connection->body_at == 0) {
        http_read_head(connection);
    }
    if (connection->body_at == 0) {
        return false;
    }
    if (connection->is_chunked) {
        const struct text *answer = &connection->answer;
        return answer->size - connection->body_at >= 5 && memcmp(answer->bytes + answer->size - 5, "0\r\n\r\n", 5) == 0;
    }
    size_t whole = connection->body_at + connection->body_size;
    if (connection->answer.size >= whole) {
        return true;
    }
    if (!connection->keep_body && connection->status < 300) {
        connection->pending_bytes = whole - connection->answer.size;
    }
    return false;
}

// Enough of RESP for XADD: a bulk string is success, "-" is an error.
static bool resp_is_complete(struct connection *connection)
{
    const struct text *answer = &connection->answer;
    const char *end = memchr(answer->bytes, '\n', answer->size);
    if (!end) {
        return false;
    }
    connection->status = answer->bytes[0] == '-' ? 500 : 200;
    if (answer->bytes[0] != '$') {
        return true;
    }
    size_t head = (size_t)(end - answer->bytes) + 1;
    return answer->size >= head + strtoul(answer->bytes + 1, NULL, 10) + 2;
}

// One recv; MSG_TRUNC lets the kernel drop a body nobody reads without copying it.
static ssize_t connection_receive(struct connection *connection)
{
    if (connection->pending_bytes > 0) {
        return recv(connection->fd, NULL, connection->pending_bytes, MSG_DONTWAIT | MSG_TRUNC);
    }
    struct text *answer = &connection->answer;
    text_reserve(answer, answer->size + READ_BYTES + 1);
    return recv(connection->fd, answer->bytes + answer->size, answer->capacity - answer->size - 1, MSG_DONTWAIT);
}

// Returns true when the answer is complete.
static bool connection_read(struct connection *connection)
{
    ssize_t got = connection_receive(connection);
    if (got == 0) {
        die("the server closed a connection with a request in flight");
    }
    if (got < 0) {
        if (errno == EAGAIN || errno == EINTR) {
            return false;
        }
        die("recv: %s", strerror(errno));
    }
    if (connection->pending_bytes > 0) {
        connection->pending_bytes -= (size_t)got;
        return connection->pending_bytes == 0;
    }
    connection->answer.size += (size_t)got;
    connection->answer.bytes[connection->answer.size] = 0;
    return connection->is_resp ? resp_is_complete(connection) : http_is_complete(connection);
}

void connection_call(struct connection *connection)
{
    bool keep_body = connection->keep_body;
    connection->keep_body = true;
    connection_send(connection);
    do {
        connection_wait(connection, POLLIN);
    } while (!connection_read(connection));
    connection->keep_body = keep_body;
}

static int connections_watch(struct connection *connections, int count)
{
    int epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (epoll_fd < 0) {
        die("epoll_create1: %s", strerror(errno));
    }
    for (int i = 0; i < count; i++) {
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = &connections[i]};
        if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, connections[i].fd, &event) != 0) {
            die("epoll_ctl: %s", strerror(errno));
        }
    }
    return epoll_fd;
}

void connections_run(struct connection *connections, int count, bool (*on_answer)(struct connection *, void *),
                     void *state)
{
    int epoll_fd = connections_watch(connections, count);
    int in_flight = count;
    for (int i = 0; i < count; i++) {
        connection_send(&connections[i]);
    }
    while (in_flight > 0) {
        struct epoll_event events[EVENTS_PER_WAIT];
        int ready = epoll_wait(epoll_fd, events, EVENTS_PER_WAIT, -1);
        for (int i = 0; i < ready; i++) {
            struct connection *connection = events[i].data.ptr;
            if (!connection_read(connection)) {
                continue;
            }
            if (on_answer(connection, state)) {
                connection_send(connection);
            } else {
                in_flight--;
            }
        }
    }
    close(epoll_fd);
}

const char *json_find_string(const char *from, const char *name, char *out, size_t out_size)
{
    char key[64];
    snprintf(key, sizeof key, "\"%s\":\"", name);
    const char *start = strstr(from, key);
    if (!start) {
        return NULL;
    }
    start += strlen(key);
    size_t size = strcspn(start, "\"");
    if (size >= out_size) {
        return NULL;
    }
    memcpy(out, start, size);
    out[size] = 0;
    return start + size;
}

long json_find_number(const char *from, const char *name)
{
    char key[64];
    snprintf(key, sizeof key, "\"%s\":", name);
    const char *start = strstr(from, key);
    return start ? strtol(start + strlen(key), NULL, 10) : -1;
}

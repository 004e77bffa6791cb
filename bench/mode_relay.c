// How much later a viewer sees a piece of a model's answer because somebody stands between. This process is the
// provider at one end and all viewers at the other, so one clock measures both; every piece carries its number and its
// time, and every viewer must get every piece once and in order.
#include "load.h"
#include "samples.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

enum { MARK_BYTES = 2 + 6 + 16 + 1, CARRY_BYTES = MARK_BYTES - 1, DEADLINE_MS = 30000, WARM_UP = 20 };

enum end_kind { END_LISTENER, END_TIMER, END_STREAM, END_VIEWER };

struct end {
    enum end_kind kind;
    int fd;
    long next; // piece to send, or to see
    bool is_asked;
    size_t carried_bytes;
    char carry[CARRY_BYTES];
};

struct relay {
    const struct options *options;
    int epoll_fd;
    struct end listener, timer;
    struct end *streams, *viewers; // of the provider; of those who watch
    int stream_count, asked_count;
    long turn; // whose piece is next
    long seen; // pieces in all
    struct samples samples;
};

static void relay_watch(struct relay *relay, struct end *end)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = end};
    if (epoll_ctl(relay->epoll_fd, EPOLL_CTL_ADD, end->fd, &event) != 0)
        die("cannot watch a connection: %s", strerror(errno));
}

// --- the provider ---

static void provider_listen(struct relay *relay, int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int yes = 1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(fd, (struct sockaddr *)&address, sizeof address) != 0 || listen(fd, 512) != 0)
        die("cannot listen on %d: %s", port, strerror(errno));
    relay->listener = (struct end){.kind = END_LISTENER, .fd = fd};
    relay_watch(relay, &relay->listener);
}

static void provider_accept(struct relay *relay)
{
    int fd = accept4(relay->listener.fd, NULL, NULL, SOCK_CLOEXEC);
    if (fd < 0 || relay->stream_count == relay->options->connections)
        die("one connection more than there are viewers, or none: %s", strerror(errno));
    struct end *stream = &relay->streams[relay->stream_count++];
    *stream = (struct end){.kind = END_STREAM, .fd = fd};
    relay_watch(relay, stream);
}

static void put(int fd, const char *bytes, size_t size)
{
    if (send(fd, bytes, size, MSG_NOSIGNAL) != (ssize_t)size)
        die("the relay does not read: %s", strerror(errno));
}

// The request is not looked at: it is whole when nothing more of it comes, which for one small request is at once.
static void provider_take(struct relay *relay, struct end *stream)
{
    static const char head[] =
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
    static char request[65536];
    ssize_t got = recv(stream->fd, request, sizeof request, MSG_DONTWAIT);
    if (got <= 0) {
        epoll_ctl(relay->epoll_fd, EPOLL_CTL_DEL, stream->fd, NULL);
        return;
    }
    if (!stream->is_asked) {
        stream->is_asked = true;
        relay->asked_count++;
        put(stream->fd, head, sizeof head - 1);
    }
}

static void put_chunk(int fd, const char *body, int size)
{
    char chunk[512];
    int whole = snprintf(chunk, sizeof chunk, "%x\r\n%.*s\r\n", size, size, body);
    put(fd, chunk, (size_t)whole);
}

static void provider_say(struct end *stream)
{
    char body[400];
    int size =
        snprintf(body, sizeof body,
                 "data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":"
                 "[{\"index\":0,\"delta\":{\"content\":\"<%06lx:%016llx>, and so on \"},"
                 "\"finish_reason\":null}]}\n\n",
                 (unsigned long)stream->next++, (unsigned long long)now_ns());
    put_chunk(stream->fd, body, size);
}

static void provider_end(struct end *stream)
{
    static const char last[] = "data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\","
                               "\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"
                               "data: [DONE]\n\n";
    put_chunk(stream->fd, last, sizeof last - 1);
    put(stream->fd, "0\r\n\r\n", 5);
}

static void provider_start_clock(struct relay *relay)
{
    long each_ns = 1000000000L / ((long)relay->options->rate * relay->options->connections);
    struct itimerspec pace = {.it_interval = {each_ns / 1000000000L, each_ns % 1000000000L}};
    pace.it_value = pace.it_interval;
    relay->timer = (struct end){.kind = END_TIMER, .fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC)};
    timerfd_settime(relay->timer.fd, 0, &pace, NULL);
    relay_watch(relay, &relay->timer);
}

// One piece per tick, stream after stream; ticks that were missed are made up for.
static void provider_tick(struct relay *relay)
{
    uint64_t ticks = 0;
    long all = (long)relay->options->events * relay->options->connections;
    if (read(relay->timer.fd, &ticks, sizeof ticks) != sizeof ticks)
        return;
    for (; ticks > 0 && relay->turn < all; ticks--) {
        struct end *stream = &relay->streams[relay->turn++ % relay->options->connections];
        provider_say(stream);
        if (stream->next == relay->options->events)
            provider_end(stream);
    }
}

// --- the viewers ---

// A mark is "<" number ":" time ">"; old ones, which a stored text repeats, are passed over.
static void viewer_note(struct relay *relay, struct end *viewer, const char *mark, uint64_t at_ns)
{
    char *end;
    long number = strtol(mark + 1, &end, 16);
    if (end != mark + 7 || *end != ':' || number < viewer->next)
        return;
    if (number != viewer->next)
        die("piece %ld came when %ld was due", number, viewer->next);
    viewer->next++;
    relay->seen++;
    if (number >= WARM_UP)
        samples_add(&relay->samples, at_ns - strtoull(mark + 8, NULL, 16));
}

static void viewer_take(struct relay *relay, struct end *viewer)
{
    static char bytes[CARRY_BYTES + 65536 + 1];
    memcpy(bytes, viewer->carry, viewer->carried_bytes);
    ssize_t got = recv(viewer->fd, bytes + viewer->carried_bytes, 65536, MSG_DONTWAIT);
    uint64_t at_ns = now_ns();
    if (got <= 0) {
        epoll_ctl(relay->epoll_fd, EPOLL_CTL_DEL, viewer->fd, NULL);
        return;
    }
    size_t size = viewer->carried_bytes + (size_t)got, at = 0;
    bytes[size] = '\0';
    for (; at + MARK_BYTES <= size; at++)
        if (bytes[at] == '<' && bytes[at + MARK_BYTES - 1] == '>')
            viewer_note(relay, viewer, bytes + at, at_ns);
    viewer->carried_bytes = size - at;
    memcpy(viewer->carry, bytes + at, viewer->carried_bytes);
}

static void viewer_open(struct relay *relay, int index, const struct text *request)
{
    struct end *viewer = &relay->viewers[index];
    *viewer = (struct end){.kind = END_VIEWER, .fd = target_connect(&relay->options->target)};
    put(viewer->fd, request->bytes, request->size);
    relay_watch(relay, viewer);
}

// --- both ---

static void relay_pump(struct relay *relay, const char *what)
{
    struct epoll_event events[256];
    int ready = epoll_wait(relay->epoll_fd, events, 256, DEADLINE_MS);
    if (ready == 0)
        die("%s: %d streams asked for, %ld pieces seen", what, relay->asked_count, relay->seen);
    for (int i = 0; i < ready; i++) {
        struct end *end = events[i].data.ptr;
        switch (end->kind) {
        case END_LISTENER:
            provider_accept(relay);
            break;
        case END_TIMER:
            provider_tick(relay);
            break;
        case END_STREAM:
            provider_take(relay, end);
            break;
        case END_VIEWER:
            viewer_take(relay, end);
            break;
        }
    }
}

// A session each, watched before its message is sent.
static void relay_open_sessions(struct relay *relay)
{
    const struct options *options = relay->options;
    struct connection connection;
    struct text request = {0}, body = {0};
    char id[129], path[256];
    connection_open(&connection, &options->target, 0);
    text_print(&body, "{\"text\":\"Go on\"}");
    for (int i = 0; i < options->connections; i++) {
        session_create(&connection, options, "idle", id);
        snprintf(path, sizeof path, "/api/sessions/%s/events", id);
        request_build(&request, &options->target, "GET", path, "Accept: text/event-stream\r\n", NULL);
        viewer_open(relay, i, &request);
        snprintf(path, sizeof path, "/api/sessions/%s/messages", id);
        request_build(&connection.request, &options->target, "POST", path, "", &body);
        connection_call(&connection);
        connection_expect_success(&connection, "send a message");
    }
    text_release(&request);
    text_release(&body);
    connection_close(&connection);
}

static void relay_open_path(struct relay *relay)
{
    struct text request = {0};
    request_build(&request, &relay->options->target, "GET", relay->options->subscribe, "", NULL);
    for (int i = 0; i < relay->options->connections; i++)
        viewer_open(relay, i, &request);
    text_release(&request);
}

static void relay_measure(struct relay *relay)
{
    const struct options *options = relay->options;
    long all = (long)options->events * options->connections, begun = (long)WARM_UP * options->connections;
    double cpu_s = 0, queued_s = 0;
    provider_start_clock(relay);
    while (relay->seen < all) {
        bool was_warm = relay->seen >= begun;
        relay_pump(relay, "the pieces stopped");
        if (!was_warm && relay->seen >= begun) {
            cpu_s = server_cpu_s(options);
            queued_s = server_queued_s(options);
        }
    }
    cpu_s = server_cpu_s(options) - cpu_s;
    queued_s = server_queued_s(options) - queued_s;
    printf("pieces=%zu p50_us=%u p99_us=%u p999_us=%u cpu_us_per_piece=%.2f queued_us_per_piece=%.2f\n",
           relay->samples.count, samples_percentile_us(&relay->samples, 0.5),
           samples_percentile_us(&relay->samples, 0.99), samples_percentile_us(&relay->samples, 0.999),
           cpu_s * 1e6 / (double)relay->samples.count, queued_s * 1e6 / (double)relay->samples.count);
}

void mode_relay(const struct options *options)
{
    struct relay relay = {.options = options, .epoll_fd = epoll_create1(EPOLL_CLOEXEC)};
    relay.streams = calloc((size_t)options->connections, sizeof *relay.streams);
    relay.viewers = calloc((size_t)options->connections, sizeof *relay.viewers);
    if (!relay.streams || !relay.viewers || options->provider == 0 || options->events <= WARM_UP)
        die("relay needs --provider PORT and more than %d --events", WARM_UP);
    provider_listen(&relay, options->provider);
    if (options->subscribe)
        relay_open_path(&relay);
    else
        relay_open_sessions(&relay);
    while (relay.asked_count < options->connections)
        relay_pump(&relay, "not all streams were asked for");
    relay_measure(&relay);
    samples_release(&relay.samples);
    free(relay.streams);
    free(relay.viewers);
}

// How much later a viewer sees a piece of a model's answer because somebody stands between. This process is the
// provider at one end and all viewers at the other, each in a thread of its own, so one clock measures both. Every
// viewer of a relay has a twin that asked the provider itself: each piece is sent to both at the same moment and read
// by the same thread. Every piece carries its number and its time, and every viewer must get every piece once and in
// order.
#include "load.h"
#include "samples.h"

#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

enum { MARK_BYTES = 2 + 6 + 16 + 1, CARRY_BYTES = MARK_BYTES - 1, DEADLINE_MS = 30000, WARM_UP = 20 };

enum end_kind { END_LISTENER, END_TIMER, END_STREAM, END_VIEWER };
enum line { LINE_RELAYED, LINE_DIRECT, LINE_COUNT };

struct end {
    enum end_kind kind;
    enum line line;
    int fd;
    long next; // piece to send, or to see
    bool is_asked;
    size_t carried_bytes;
    char carry[CARRY_BYTES];
};

// The provider's thread owns what is named after it; `asked_count` is read by the other.
struct provider {
    int epoll_fd;
    struct end listener, timer;
    struct end *streams;            // in the order they came
    struct end **lines[LINE_COUNT]; // the same, by who asked
    int stream_count, line_counts[LINE_COUNT];
    long turn; // whose piece is next
    atomic_int asked_count;
};

struct relay {
    const struct options *options;
    struct provider provider;
    int epoll_fd;
    struct end *viewers;
    long seen[LINE_COUNT]; // pieces in all
    struct samples samples[LINE_COUNT];
};

static void watch(int epoll_fd, struct end *end)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = end};
    if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, end->fd, &event) != 0) {
        die("cannot watch a connection: %s", strerror(errno));
    }
}

static int all_viewers(const struct relay *relay)
{
    return LINE_COUNT * relay->options->connections;
}

// --- the provider ---

static void provider_listen(struct provider *provider, int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int yes = 1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(fd, (struct sockaddr *)&address, sizeof address) != 0 || listen(fd, 512) != 0) {
        die("cannot listen on %d: %s", port, strerror(errno));
    }
    provider->listener = (struct end){.kind = END_LISTENER, .fd = fd};
    watch(provider->epoll_fd, &provider->listener);
}

static void provider_accept(struct relay *relay)
{
    struct provider *provider = &relay->provider;
    int fd = accept4(provider->listener.fd, NULL, NULL, SOCK_CLOEXEC);
    if (fd < 0 || provider->stream_count == all_viewers(relay)) {
        die("one connection more than there are viewers, or none: %s", strerror(errno));
    }
    struct end *stream = &provider->streams[provider->stream_count++];
    *stream = (struct end){.kind = END_STREAM, .fd = fd};
    watch(provider->epoll_fd, stream);
}

static void put(int fd, const char *bytes, size_t size)
{
    if (send(fd, bytes, size, MSG_NOSIGNAL) != (ssize_t)size) {
        die("the relay does not read: %s", strerror(errno));
    }
}

// Of the request only the verb is looked at: viewers ask with GET, relays with POST. It is whole when nothing more of
// it comes, which for one small request is at once.
static void provider_take(struct relay *relay, struct end *stream)
{
    static const char head[] =
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
    static char request[65536];
    struct provider *provider = &relay->provider;
    ssize_t got = recv(stream->fd, request, sizeof request, MSG_DONTWAIT);
    if (got <= 0) {
        epoll_ctl(provider->epoll_fd, EPOLL_CTL_DEL, stream->fd, NULL);
        return;
    }
    if (stream->is_asked) {
        return;
    }
    stream->is_asked = true;
    stream->line = request[0] == 'G' ? LINE_DIRECT : LINE_RELAYED;
    if (provider->line_counts[stream->line] == relay->options->connections) {
        die("more streams were asked for than there are viewers");
    }
    provider->lines[stream->line][provider->line_counts[stream->line]++] = stream;
    put(stream->fd, head, sizeof head - 1);
    atomic_fetch_add(&provider->asked_count, 1);
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
    struct provider *provider = &relay->provider;
    long each_ns = 1000000000L / ((long)relay->options->rate * relay->options->connections);
    struct itimerspec pace = {.it_interval = {each_ns / 1000000000L, each_ns % 1000000000L}};
    pace.it_value = pace.it_interval;
    provider->timer = (struct end){.kind = END_TIMER, .fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC)};
    timerfd_settime(provider->timer.fd, 0, &pace, NULL);
    watch(provider->epoll_fd, &provider->timer);
}

// One piece per tick, pair after pair; ticks that were missed are made up for. Who of a pair is first alternates.
static void provider_tick(struct relay *relay)
{
    struct provider *provider = &relay->provider;
    uint64_t ticks = 0;
    int pairs = relay->options->connections;
    if (read(provider->timer.fd, &ticks, sizeof ticks) != sizeof ticks) {
        return;
    }
    for (; ticks > 0 && provider->turn < (long)relay->options->events * pairs; ticks--) {
        long turn = provider->turn++;
        for (long i = 0; i < LINE_COUNT; i++) {
            struct end *stream = provider->lines[(turn / pairs + i) % LINE_COUNT][turn % pairs];
            provider_say(stream);
            if (stream->next == relay->options->events) {
                provider_end(stream);
            }
        }
    }
}

static void *provider_main(void *owner)
{
    struct relay *relay = owner;
    for (;;) {
        struct epoll_event events[64];
        int ready = epoll_wait(relay->provider.epoll_fd, events, 64, -1);
        for (int i = 0; i < ready; i++) {
            struct end *end = events[i].data.ptr;
            if (end->kind == END_LISTENER) {
                provider_accept(relay);
            } else if (end->kind == END_TIMER) {
                provider_tick(relay);
            } else {
                provider_take(relay, end);
            }
        }
    }
    return NULL;
}

// --- the viewers ---

// A mark is "<" number ":" time ">"; old ones, which a stored text repeats, are passed over.
static void viewer_note(struct relay *relay, struct end *viewer, const char *mark, uint64_t at_ns)
{
    char *end;
    long number = strtol(mark + 1, &end, 16);
    if (end != mark + 7 || *end != ':' || number < viewer->next) {
        return;
    }
    if (number != viewer->next) {
        die("piece %ld came when %ld was due", number, viewer->next);
    }
    viewer->next++;
    relay->seen[viewer->line]++;
    if (number >= WARM_UP) {
        samples_add(&relay->samples[viewer->line], at_ns - strtoull(mark + 8, NULL, 16));
    }
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
    for (; at + MARK_BYTES <= size; at++) {
        if (bytes[at] == '<' && bytes[at + MARK_BYTES - 1] == '>') {
            viewer_note(relay, viewer, bytes + at, at_ns);
        }
    }
    viewer->carried_bytes = size - at;
    memcpy(viewer->carry, bytes + at, viewer->carried_bytes);
}

static void viewer_open(struct relay *relay, int index, enum line line, const struct text *request)
{
    const struct options *options = relay->options;
    struct target target = options->target;
    struct end *viewer = &relay->viewers[(int)line * options->connections + index];
    if (line == LINE_DIRECT) {
        target.port = options->provider;
    }
    *viewer = (struct end){.kind = END_VIEWER, .line = line, .fd = target_connect(&target)};
    put(viewer->fd, request->bytes, request->size);
    watch(relay->epoll_fd, viewer);
}

static void viewers_pump(struct relay *relay)
{
    struct epoll_event events[256];
    int ready = epoll_wait(relay->epoll_fd, events, 256, DEADLINE_MS);
    if (ready == 0) {
        die("the pieces stopped: %d streams asked for, %ld pieces seen", atomic_load(&relay->provider.asked_count),
            relay->seen[LINE_RELAYED]);
    }
    for (int i = 0; i < ready; i++) {
        viewer_take(relay, events[i].data.ptr);
    }
}

// --- both ---

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
        viewer_open(relay, i, LINE_RELAYED, &request);
        snprintf(path, sizeof path, "/api/sessions/%s/messages", id);
        request_build(&connection.request, &options->target, "POST", path, "", &body);
        connection_call(&connection);
        connection_expect_success(&connection, "send a message");
    }
    text_release(&request);
    text_release(&body);
    connection_close(&connection);
}

static void relay_open_path(struct relay *relay, enum line line, const char *path)
{
    struct text request = {0};
    request_build(&request, &relay->options->target, "GET", path, "", NULL);
    for (int i = 0; i < relay->options->connections; i++) {
        viewer_open(relay, i, line, &request);
    }
    text_release(&request);
}

// Frames that come before the pieces are read meanwhile, as a viewer would.
static void relay_wait_for_streams(struct relay *relay)
{
    uint64_t until_ns = now_ns() + DEADLINE_MS * UINT64_C(1000000);
    while (atomic_load(&relay->provider.asked_count) < all_viewers(relay)) {
        struct epoll_event events[64];
        int ready = epoll_wait(relay->epoll_fd, events, 64, 10);
        for (int i = 0; i < ready; i++) {
            viewer_take(relay, events[i].data.ptr);
        }
        if (now_ns() > until_ns) {
            die("only %d streams were asked for", atomic_load(&relay->provider.asked_count));
        }
    }
}

static void print_line(struct samples *samples, const char *prefix)
{
    printf("%sp50_us=%u %sp99_us=%u %sp999_us=%u ", prefix, samples_percentile_us(samples, 0.5), prefix,
           samples_percentile_us(samples, 0.99), prefix, samples_percentile_us(samples, 0.999));
}

static void relay_measure(struct relay *relay)
{
    const struct options *options = relay->options;
    long all = (long)options->events * options->connections, begun = (long)WARM_UP * options->connections;
    long *seen = &relay->seen[LINE_RELAYED];
    double cpu_s = 0, queued_s = 0;
    provider_start_clock(relay);
    while (*seen < all || relay->seen[LINE_DIRECT] < all) {
        bool was_warm = *seen >= begun;
        viewers_pump(relay);
        if (!was_warm && *seen >= begun) {
            cpu_s = server_cpu_s(options);
            queued_s = server_queued_s(options);
        }
    }
    double pieces = (double)relay->samples[LINE_RELAYED].count;
    cpu_s = server_cpu_s(options) - cpu_s;
    queued_s = server_queued_s(options) - queued_s;
    printf("pieces=%.0f ", pieces);
    print_line(&relay->samples[LINE_RELAYED], "");
    print_line(&relay->samples[LINE_DIRECT], "direct_");
    printf("cpu_us_per_piece=%.2f queued_us_per_piece=%.2f\n", cpu_s * 1e6 / pieces, queued_s * 1e6 / pieces);
}

static void *array_of(int count, size_t size)
{
    void *array = calloc((size_t)count, size);
    if (!array) {
        die("out of memory");
    }
    return array;
}

static void relay_init(struct relay *relay, const struct options *options)
{
    struct provider *provider = &relay->provider;
    relay->options = options;
    relay->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    relay->viewers = array_of(all_viewers(relay), sizeof *relay->viewers);
    provider->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    provider->streams = array_of(all_viewers(relay), sizeof *provider->streams);
    for (int line = 0; line < LINE_COUNT; line++) {
        provider->lines[line] = array_of(options->connections, sizeof(struct end *));
    }
}

// The provider's thread ends with the process.
void mode_relay(const struct options *options)
{
    static struct relay relay;
    pthread_t thread;
    if (options->provider == 0 || options->events <= WARM_UP) {
        die("relay needs --provider PORT and more than %d --events", WARM_UP);
    }
    relay_init(&relay, options);
    provider_listen(&relay.provider, options->provider);
    if (pthread_create(&thread, NULL, provider_main, &relay) != 0) {
        die("cannot start the provider");
    }
    if (options->subscribe) {
        relay_open_path(&relay, LINE_RELAYED, options->subscribe);
    } else {
        relay_open_sessions(&relay);
    }
    relay_open_path(&relay, LINE_DIRECT, "/");
    relay_wait_for_streams(&relay);
    relay_measure(&relay);
}

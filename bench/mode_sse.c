// Fan-out: every reader must get every event once and in order, and only then the next one is written. So the figures
// are those of one event to all readers, not of a burst that a server may merge.
#include "event.h"
#include "load.h"
#include "samples.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { UNANSWERED_MAX = 256, CARRY_BYTES = 512, SETTLE_MS = 1000, DELIVERY_DEADLINE_MS = 30000 };

struct reader {
    int fd;
    bool is_established;
    long next_mark;
    size_t carried_bytes; // of an incomplete head or mark
    char carry[CARRY_BYTES];
};

struct fanout {
    struct reader *readers;
    int count;
    int epoll_fd;
    int established;
    int delivered; // readers that have the current event
    long current;
};

static void reader_take_marks(struct fanout *fanout, struct reader *reader, const char *bytes, size_t size)
{
    const char *end = bytes + size;
    bool had_current = reader->next_mark > fanout->current;
    bytes = marks_expect(bytes, size, &reader->next_mark);
    if (!had_current && reader->next_mark > fanout->current) {
        fanout->delivered++;
    }
    size_t rest = (size_t)(end - bytes);
    reader->carried_bytes = rest < MARK_SIZE - 1 ? rest : MARK_SIZE - 1;
    memcpy(reader->carry, end - reader->carried_bytes, reader->carried_bytes);
}

static void reader_take(struct fanout *fanout, struct reader *reader, const char *bytes, size_t size)
{
    if (!reader->is_established) {
        const char *end = memmem(bytes, size, "\r\n\r\n", 4);
        if (size > 12 && memcmp(bytes, "HTTP/1.1 200", 12) != 0) {
            die("a reader was refused: %.*s", (int)size, bytes);
        }
        if (!end) {
            reader->carried_bytes = size < CARRY_BYTES ? size : CARRY_BYTES;
            memcpy(reader->carry, bytes, reader->carried_bytes);
            return;
        }
        reader->is_established = true;
        fanout->established++;
    }
    reader_take_marks(fanout, reader, bytes, size);
}

static void reader_read(struct fanout *fanout, struct reader *reader)
{
    static char bytes[65536];
    memcpy(bytes, reader->carry, reader->carried_bytes);
    ssize_t got = recv(reader->fd, bytes + reader->carried_bytes, sizeof bytes - reader->carried_bytes, MSG_DONTWAIT);
    if (got > 0) {
        reader_take(fanout, reader, bytes, reader->carried_bytes + (size_t)got);
    } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
        die("the server closed a reader");
    }
}

// Handles what is ready; returns false when nothing came within the time.
static bool fanout_pump(struct fanout *fanout, int wait_ms)
{
    struct epoll_event events[1024];
    int ready = epoll_wait(fanout->epoll_fd, events, 1024, wait_ms);
    for (int i = 0; i < ready; i++) {
        reader_read(fanout, events[i].data.ptr);
    }
    return ready > 0;
}

static void fanout_open(struct fanout *fanout, const struct options *options, const struct text *request)
{
    for (int i = 0; i < fanout->count; i++) {
        struct reader *reader = &fanout->readers[i];
        *reader = (struct reader){.fd = target_connect(&options->target), .next_mark = 1};
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = reader};
        if (epoll_ctl(fanout->epoll_fd, EPOLL_CTL_ADD, reader->fd, &event) != 0 ||
            send(reader->fd, request->bytes, request->size, MSG_NOSIGNAL) != (ssize_t)request->size) {
            die("cannot open reader %d: %s", i, strerror(errno));
        }
        while (i + 1 - fanout->established > UNANSWERED_MAX) {
            if (!fanout_pump(fanout, DELIVERY_DEADLINE_MS)) {
                die("reader %d of %d was not answered", fanout->established + 1, fanout->count);
            }
        }
    }
    while (fanout->established < fanout->count) {
        if (!fanout_pump(fanout, DELIVERY_DEADLINE_MS)) {
            die("only %d of %d readers were answered", fanout->established, fanout->count);
        }
    }
    for (uint64_t end = now_ns() + SETTLE_MS * 1000000u; now_ns() < end;) {
        fanout_pump(fanout, SETTLE_MS / 10);
    }
}

static void publish(struct connection *publisher, const struct options *options, const char *path, long mark)
{
    struct text body = {0};
    if (options->publish) {
        event_append(&body, (size_t)options->bytes, mark);
    } else {
        event_append_batch(&body, (size_t)options->bytes, 1, mark);
    }
    request_build(&publisher->request, &options->target, "POST", path, "", &body);
    text_release(&body);
    connection_call(publisher);
    connection_expect_success(publisher, "publish");
}

static void fanout_deliver(struct fanout *fanout, struct connection *publisher, const struct options *options,
                           const char *path, long mark)
{
    fanout->current = mark;
    fanout->delivered = 0;
    publish(publisher, options, path, mark);
    while (fanout->delivered < fanout->count) {
        if (!fanout_pump(fanout, DELIVERY_DEADLINE_MS)) {
            die("event %ld reached %d of %d readers", mark, fanout->delivered, fanout->count);
        }
    }
}

// Names the paths; for a session, the readers start after an event written here, so that nothing is replayed to them.
static void choose_paths(struct connection *publisher, const struct options *options, char publish_path[256],
                         char subscribe_path[256])
{
    if (options->publish) {
        snprintf(publish_path, 256, "%s", options->publish);
        snprintf(subscribe_path, 256, "%s", options->subscribe);
        return;
    }
    char id[129];
    session_create(publisher, options, "idle", id);
    snprintf(publish_path, 256, "/api/sessions/%s/events", id);
    publish(publisher, options, publish_path, 0);
    snprintf(subscribe_path, 256, "/api/sessions/%s/events?after=%ld", id,
             json_find_number(connection_body(publisher), "sequence"));
}

static void fanout_measure(struct fanout *fanout, struct connection *publisher, const struct options *options,
                           const char *path, long idle_kb)
{
    struct samples samples = {0};
    long connected_kb = server_rss_kb(options);
    fanout_deliver(fanout, publisher, options, path, 1); // the first one warms up and is not counted
    double cpu_s = server_cpu_s(options);
    uint64_t start = now_ns();
    for (long mark = 2; mark <= options->events + 1; mark++) {
        uint64_t sent_at = now_ns();
        fanout_deliver(fanout, publisher, options, path, mark);
        samples_add(&samples, now_ns() - sent_at);
    }
    double wall_s = (double)(now_ns() - start) / 1e9;
    cpu_s = server_cpu_s(options) - cpu_s;
    printf("readers=%d events=%d wall_ms_per_event=%.2f cpu_ms_per_event=%.2f p50_us=%u p99_us=%u "
           "bytes_per_reader=%.0f rss_idle_kb=%ld rss_connected_kb=%ld\n",
           fanout->count, options->events, wall_s * 1e3 / options->events, cpu_s * 1e3 / options->events,
           samples_percentile_us(&samples, 0.5), samples_percentile_us(&samples, 0.99),
           (double)(connected_kb - idle_kb) * 1024 / fanout->count, idle_kb, connected_kb);
    samples_release(&samples);
}

void mode_sse(const struct options *options)
{
    if (!options->publish != !options->subscribe) {
        die("--publish and --subscribe belong together");
    }
    char publish_path[256];
    char subscribe_path[256];
    struct text request = {0};
    struct connection publisher;
    connection_open(&publisher, &options->target, 0);
    choose_paths(&publisher, options, publish_path, subscribe_path);
    request_build(&request, &options->target, "GET", subscribe_path, "Accept: text/event-stream\r\n", NULL);
    struct fanout fanout = {.count = options->connections, .epoll_fd = epoll_create1(EPOLL_CLOEXEC)};
    fanout.readers = calloc((size_t)fanout.count, sizeof *fanout.readers);
    long idle_kb = server_rss_kb(options);
    fanout_open(&fanout, options, &request);
    fanout_measure(&fanout, &publisher, options, publish_path, idle_kb);
    for (int i = 0; i < fanout.count; i++) {
        close(fanout.readers[i].fd);
    }
    close(fanout.epoll_fd);
    free(fanout.readers);
    text_release(&request);
    connection_close(&publisher);
}

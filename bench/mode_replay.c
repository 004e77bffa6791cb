// Reads a long session whole, again and again. The first pass checks that every event came once and in order; the
// measured passes only look for the last one.
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

enum { BATCH_EVENTS = 100, PAGE_EVENTS = 1000, CHUNK_BYTES = 262144 };

struct replay {
    const struct options *options;
    struct text request; // of a stream
    char last_mark[MARK_SIZE + 1];
    int started;
    uint64_t bytes;
    struct samples samples;
};

struct stream {
    int fd;
    uint64_t start_ns;
    size_t carried_bytes;
    char *bytes; // owned; CHUNK_BYTES and the carry in front
};

static void fill_session(struct connection *connection, const struct options *options, char id[129])
{
    char path[256];
    struct text body = {0};
    session_create(connection, options, "idle", id);
    snprintf(path, sizeof path, "/api/sessions/%s/events", id);
    for (long mark = 0; mark < options->events; mark += BATCH_EVENTS) {
        long left = options->events - mark;
        body.size = 0;
        event_append_batch(&body, (size_t)options->bytes, left < BATCH_EVENTS ? left : BATCH_EVENTS, mark);
        request_build(&connection->request, &options->target, "POST", path, "", &body);
        connection_call(connection);
        connection_expect_success(connection, "append");
    }
    text_release(&body);
}

static void stream_open(struct stream *stream, struct replay *replay)
{
    stream->fd = target_connect(&replay->options->target);
    stream->carried_bytes = 0;
    stream->start_ns = now_ns();
    if (send(stream->fd, replay->request.bytes, replay->request.size, MSG_NOSIGNAL) != (ssize_t)replay->request.size) {
        die("send: %s", strerror(errno));
    }
    replay->started++;
}

// Returns the bytes now held, carry included; 0 at the end of the stream.
static size_t stream_read(struct stream *stream, uint64_t *total_bytes)
{
    ssize_t got = recv(stream->fd, stream->bytes + stream->carried_bytes, CHUNK_BYTES, 0);
    if (got < 0) {
        die("recv: %s", strerror(errno));
    }
    *total_bytes += (uint64_t)got;
    return got == 0 ? 0 : stream->carried_bytes + (size_t)got;
}

// Keeps what may be the start of a mark in front of the next read.
static void stream_carry(struct stream *stream, const char *rest, size_t size)
{
    stream->carried_bytes = size < MARK_SIZE - 1 ? size : MARK_SIZE - 1;
    memmove(stream->bytes, rest + size - stream->carried_bytes, stream->carried_bytes);
}

static void stream_check(struct replay *replay)
{
    struct stream stream = {.bytes = malloc(CHUNK_BYTES + MARK_SIZE)};
    uint64_t bytes = 0;
    long next_mark = 0;
    stream_open(&stream, replay);
    bool is_first = true;
    while (next_mark < replay->options->events) {
        size_t size = stream_read(&stream, &bytes);
        if (size == 0) {
            die("replay ended after %ld of %d events", next_mark, replay->options->events);
        }
        if (is_first && (size < 12 || memcmp(stream.bytes, "HTTP/1.1 200", 12) != 0)) {
            die("replay was refused: %.*s", (int)size, stream.bytes);
        }
        is_first = false;
        const char *rest = marks_expect(stream.bytes, size, &next_mark);
        stream_carry(&stream, rest, (size_t)(stream.bytes + size - rest));
    }
    close(stream.fd);
    free(stream.bytes);
    replay->started = 0;
}

static void replay_streams(struct replay *replay, int parallel)
{
    struct stream *streams = calloc((size_t)parallel, sizeof *streams);
    int epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    for (int i = 0; i < parallel; i++) {
        streams[i].bytes = malloc(CHUNK_BYTES + MARK_SIZE);
        stream_open(&streams[i], replay);
        epoll_ctl(epoll_fd, EPOLL_CTL_ADD, streams[i].fd,
                  &(struct epoll_event){.events = EPOLLIN, .data.ptr = &streams[i]});
    }
    for (int open = parallel; open > 0;) {
        struct epoll_event event;
        if (epoll_wait(epoll_fd, &event, 1, -1) != 1) {
            continue;
        }
        struct stream *stream = event.data.ptr;
        size_t size = stream_read(stream, &replay->bytes);
        if (size == 0) {
            die("a replay ended early");
        }
        if (!memmem(stream->bytes, size, replay->last_mark, MARK_SIZE)) {
            stream_carry(stream, stream->bytes, size);
            continue;
        }
        samples_add(&replay->samples, now_ns() - stream->start_ns);
        close(stream->fd);
        if (replay->started == replay->options->count) {
            open--;
            continue;
        }
        stream_open(stream, replay);
        epoll_ctl(epoll_fd, EPOLL_CTL_ADD, stream->fd, &(struct epoll_event){.events = EPOLLIN, .data.ptr = stream});
    }
    for (int i = 0; i < parallel; i++) {
        free(streams[i].bytes);
    }
    free(streams);
    close(epoll_fd);
}

// One whole read by pages; checks every mark, which costs little next to the pages.
static void replay_pages(struct replay *replay, struct connection *connection, const char *id)
{
    long next_mark = 0;
    long after = 0;
    uint64_t start = now_ns();
    for (bool has_more = true; has_more;) {
        char path[256];
        snprintf(path, sizeof path, "/api/sessions/%s/events?limit=%d&after=%ld", id, PAGE_EVENTS, after);
        request_build(&connection->request, &replay->options->target, "GET", path, "", NULL);
        connection_call(connection);
        connection_expect_success(connection, "page of events");
        const char *body = connection_body(connection);
        size_t size = connection->answer.size - connection->body_at;
        marks_expect(body, size, &next_mark);
        replay->bytes += connection->answer.size;
        for (const char *at = body; (at = strstr(at, "\"sequence\":")); at++) {
            after = json_find_number(at, "sequence");
        }
        has_more = strstr(body, "\"has_more\":true") != NULL;
    }
    if (next_mark != replay->options->events) {
        die("the pages held %ld of %d events", next_mark, replay->options->events);
    }
    samples_add(&replay->samples, now_ns() - start);
}

static void replay_report(struct replay *replay, uint64_t elapsed_ns)
{
    double seconds = (double)elapsed_ns / 1e9;
    double replays = (double)replay->samples.count;
    printf("replays_per_s=%.2f events_per_s=%.0f mb_per_s=%.1f p50_us=%u p99_us=%u\n", replays / seconds,
           replays * replay->options->events / seconds, (double)replay->bytes / 1e6 / seconds,
           samples_percentile_us(&replay->samples, 0.5), samples_percentile_us(&replay->samples, 0.99));
}

void mode_replay(const struct options *options)
{
    struct replay replay = {.options = options};
    char id[129] = "";
    char path[256];
    struct connection connection = {.fd = -1};
    mark_write(replay.last_mark, options->events - 1);
    if (!options->subscribe) {
        connection_open(&connection, &options->target, 0);
        if (options->session) {
            snprintf(id, sizeof id, "%s", options->session);
        } else {
            fill_session(&connection, options, id);
        }
    }
    snprintf(path, sizeof path, "/api/sessions/%s/events?after=0", id);
    request_build(&replay.request, &options->target, "GET", options->subscribe ? options->subscribe : path,
                  "Accept: text/event-stream\r\n", NULL);
    if (!options->json) {
        stream_check(&replay);
    }
    uint64_t start = now_ns();
    if (!options->json) {
        replay_streams(&replay, options->connections < options->count ? options->connections : options->count);
    }
    for (int i = 0; options->json && i < options->count; i++) {
        replay_pages(&replay, &connection, id);
    }
    replay_report(&replay, now_ns() - start);
    text_release(&replay.request);
    samples_release(&replay.samples);
    if (connection.fd >= 0) {
        connection_close(&connection);
    }
}

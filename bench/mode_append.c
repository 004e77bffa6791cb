#include "event.h"
#include "load.h"
#include "samples.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct append_run {
    uint64_t measure_from_ns;
    uint64_t measure_to_ns;
    struct samples samples;
};

static bool append_answered(struct connection *connection, void *state)
{
    struct append_run *run = state;
    uint64_t now = now_ns();
    if (connection->status != 200 && connection->status != 201)
        connection_expect_success(connection, "append");
    if (now >= run->measure_to_ns)
        return false;
    if (now >= run->measure_from_ns)
        samples_add(&run->samples, now - connection->start_ns);
    return true;
}

static void prepare_http(struct connection *connections, const struct options *options)
{
    char(*ids)[129] = calloc((size_t)options->sessions, sizeof *ids);
    for (int i = 0; i < options->sessions; i++)
        session_create(&connections[0], options, "idle", ids[i]);
    struct text body = {0};
    event_append_batch(&body, (size_t)options->bytes, options->events, 0);
    for (int i = 0; i < options->connections; i++) {
        char path[256];
        snprintf(path, sizeof path, "/api/sessions/%s/events", ids[i % options->sessions]);
        request_build(&connections[i].request, &options->target, "POST", path, "", &body);
    }
    text_release(&body);
    free(ids);
}

// The same event as one field of a stream entry.
static void prepare_resp(struct connection *connections, const struct options *options)
{
    struct text event = {0};
    event_append(&event, (size_t)options->bytes, 0);
    for (int i = 0; i < options->connections; i++) {
        char key[32];
        snprintf(key, sizeof key, "session:%d", i % options->sessions);
        text_print(&connections[i].request, "*5\r\n$4\r\nXADD\r\n$%zu\r\n%s\r\n$1\r\n*\r\n$1\r\ne\r\n$%zu\r\n%s\r\n",
                   strlen(key), key, event.size, event.bytes);
    }
    text_release(&event);
}

void mode_append(const struct options *options)
{
    struct connection *connections = connections_open(options, options->connections);
    if (options->target.is_resp)
        prepare_resp(connections, options);
    else
        prepare_http(connections, options);
    uint64_t start = now_ns();
    struct append_run run = {.measure_from_ns = start + 1000000000u};
    run.measure_to_ns = run.measure_from_ns + (uint64_t)options->seconds * 1000000000u;
    double cpu_s = server_cpu_s(options);
    connections_run(connections, options->connections, append_answered, &run);
    double share = (server_cpu_s(options) - cpu_s) * 1e9 / (double)(now_ns() - start);
    double rate = (double)run.samples.count / options->seconds;
    printf("requests_per_s=%.0f events_per_s=%.0f p50_us=%u p99_us=%u server_cpus=%.2f\n", rate, rate * options->events,
           samples_percentile_us(&run.samples, 0.5), samples_percentile_us(&run.samples, 0.99), share);
    samples_release(&run.samples);
    connections_close(connections, options->connections);
}

#include "event.h"
#include "load.h"
#include "samples.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct append_run {
    struct text *requests; // one per session
    int sessions;
    uint64_t measure_from_ns;
    uint64_t measure_to_ns;
    struct samples samples;
};

// Every request goes to a session drawn at random, as independent clients would.
static void prepare_request(struct append_run *run, struct connection *connection)
{
    const struct text *request = &run->requests[draw((unsigned)run->sessions)];
    connection->request.size = 0;
    text_append(&connection->request, request->bytes, request->size);
}

static bool append_answered(struct connection *connection, void *state)
{
    struct append_run *run = state;
    uint64_t now = now_ns();
    connection_expect_success(connection, "append");
    if (now >= run->measure_to_ns) {
        return false;
    }
    if (now >= run->measure_from_ns) {
        samples_add(&run->samples, now - connection->start_ns);
    }
    prepare_request(run, connection);
    return true;
}

static void build_http(struct append_run *run, struct connection *connection, const struct options *options)
{
    struct text body = {0};
    event_append_batch(&body, (size_t)options->bytes, options->events, 0);
    for (int i = 0; i < options->sessions; i++) {
        char id[129];
        char path[256];
        session_create(connection, options, "idle", id);
        snprintf(path, sizeof path, "/api/sessions/%s/events", id);
        request_build(&run->requests[i], &options->target, "POST", path, "", &body);
    }
    text_release(&body);
}

// The same event as one field of a stream entry.
static void build_resp(struct append_run *run, const struct options *options)
{
    struct text event = {0};
    event_append(&event, (size_t)options->bytes, 0);
    for (int i = 0; i < options->sessions; i++) {
        char key[32];
        snprintf(key, sizeof key, "session:%d", i);
        text_print(&run->requests[i], "*5\r\n$4\r\nXADD\r\n$%zu\r\n%s\r\n$1\r\n*\r\n$1\r\ne\r\n$%zu\r\n%s\r\n",
                   strlen(key), key, event.size, event.bytes);
    }
    text_release(&event);
}

static void report_append(struct append_run *run, const struct options *options, double server_cpus)
{
    double rate = (double)run->samples.count / options->seconds;
    printf("requests_per_s=%.0f events_per_s=%.0f p50_us=%u p99_us=%u server_cpus=%.2f\n", rate, rate * options->events,
           samples_percentile_us(&run->samples, 0.5), samples_percentile_us(&run->samples, 0.99), server_cpus);
}

void mode_append(const struct options *options)
{
    struct connection *connections = connections_open(options, options->connections);
    struct append_run run = {.sessions = options->sessions};
    run.requests = calloc((size_t)options->sessions, sizeof *run.requests);
    if (options->target.is_resp) {
        build_resp(&run, options);
    } else {
        build_http(&run, &connections[0], options);
    }
    for (int i = 0; i < options->connections; i++) {
        prepare_request(&run, &connections[i]);
    }
    uint64_t start = now_ns();
    run.measure_from_ns = start + 1000000000u;
    run.measure_to_ns = run.measure_from_ns + (uint64_t)options->seconds * 1000000000u;
    double cpu_s = server_cpu_s(options);
    connections_run(connections, options->connections, append_answered, &run);
    cpu_s = server_cpu_s(options) - cpu_s;
    report_append(&run, options, cpu_s * 1e9 / (double)(now_ns() - start));
    for (int i = 0; i < options->sessions; i++) {
        text_release(&run.requests[i]);
    }
    free(run.requests);
    samples_release(&run.samples);
    connections_close(connections, options->connections);
}

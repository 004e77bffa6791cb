// The large data set, through the public interface: sessions of several agents, workspaces and titles, each with the
// same number of events, so that a filtered list has something to filter.
#include "event.h"
#include "load.h"

#include <stdio.h>

struct fill {
    const struct options *options;
    int next; // session to create
};

static void prepare_create(struct fill *fill, struct connection *connection)
{
    static const char *const statuses[] = {"idle", "pending", "draft"};
    struct text body = {0};
    int number = fill->next++;
    connection->item = number;
    text_print(&body,
               "{\"id\":\"fill-%08d\",\"type\":\"agent\",\"agent\":\"agent-%d\",\"status\":\"%s\","
               "\"title\":\"Session %d of the large data set\",\"workspace\":\"workspace-%d\","
               "\"metadata\":{\"batch\":\"%d\"}}",
               number, number % 7, statuses[number % 3], number, number % 100, number % 1000);
    request_build(&connection->request, &fill->options->target, "POST", "/api/sessions", "", &body);
    text_release(&body);
}

static void prepare_events(struct fill *fill, struct connection *connection)
{
    char path[64];
    struct text body = {0};
    snprintf(path, sizeof path, "/api/sessions/fill-%08d/events", connection->item);
    event_append_batch(&body, (size_t)fill->options->bytes, fill->options->events, 0);
    request_build(&connection->request, &fill->options->target, "POST", path, "", &body);
    text_release(&body);
}

static bool fill_answered(struct connection *connection, void *state)
{
    struct fill *fill = state;
    connection_expect_success(connection, "fill");
    connection->step = !connection->step;
    if (connection->step) {
        prepare_events(fill, connection);
        return true;
    }
    if (fill->next >= fill->options->count) {
        return false;
    }
    prepare_create(fill, connection);
    return true;
}

void mode_fill(const struct options *options)
{
    struct fill fill = {.options = options};
    int count = options->count < options->connections ? options->count : options->connections;
    struct connection *connections = connections_open(options, count);
    for (int i = 0; i < count; i++) {
        prepare_create(&fill, &connections[i]);
    }
    uint64_t start = now_ns();
    connections_run(connections, count, fill_answered, &fill);
    double seconds = (double)(now_ns() - start) / 1e9;
    printf("sessions=%d events=%ld seconds=%.1f\n", options->count, (long)options->count * options->events, seconds);
    connections_close(connections, count);
}

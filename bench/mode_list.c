#include "load.h"
#include "samples.h"

#include <stdio.h>
#include <string.h>

enum { WARM_REQUESTS = 20 };

// The sessions of `load fill`: an empty page would be fast and prove nothing.
static int count_sessions(const char *body)
{
    int count = 0;
    for (const char *at = body; (at = strstr(at, "\"fill-")); at++) {
        count++;
    }
    return count;
}

void mode_list(const struct options *options)
{
    struct samples samples = {0};
    struct connection connection;
    char path[1024];
    connection_open(&connection, &options->target, 0);
    snprintf(path, sizeof path, "/api/sessions?%s", options->query);
    request_build(&connection.request, &options->target, "GET", path, "", NULL);
    for (int i = 0; i < options->count + WARM_REQUESTS; i++) {
        connection_call(&connection);
        connection_expect_success(&connection, "list");
        if (i >= WARM_REQUESTS) {
            samples_add(&samples, now_ns() - connection.start_ns);
        }
    }
    int rows = count_sessions(connection_body(&connection));
    if (rows == 0) {
        die("the list is empty: %s", connection_body(&connection));
    }
    printf("p50_us=%u p99_us=%u rows=%d body_bytes=%zu\n", samples_percentile_us(&samples, 0.5),
           samples_percentile_us(&samples, 0.99), rows, connection.answer.size - connection.body_at);
    samples_release(&samples);
    connection_close(&connection);
}

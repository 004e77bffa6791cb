#include "load.h"
#include "samples.h"

#include <stdio.h>

enum { WARM_REQUESTS = 20 };

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
        if (i >= WARM_REQUESTS)
            samples_add(&samples, now_ns() - connection.start_ns);
    }
    printf("p50_us=%u p99_us=%u body_bytes=%zu\n", samples_percentile_us(&samples, 0.5),
           samples_percentile_us(&samples, 0.99), connection.answer.size - connection.body_at);
    samples_release(&samples);
    connection_close(&connection);
}

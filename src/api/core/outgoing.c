#include "api/core/outgoing.h"

#include <stdlib.h>

#include "base/arena.h"

enum { LOOPS_MAX = 256 };

struct leaving {
    struct loop_message message;
    struct http_client **client;
};

struct outgoing {
    const char *ca_file;
    struct http_client *clients[LOOPS_MAX]; /* by loop, each touched by its own thread only */
    struct leaving stopping[LOOPS_MAX], leaving[LOOPS_MAX];
};

struct outgoing *outgoing_new(const char *ca_file)
{
    struct outgoing *outgoing = memory_zeroed(sizeof *outgoing);
    outgoing->ca_file = ca_file;
    return outgoing;
}

struct http_client *outgoing_client(struct outgoing *outgoing, struct loop *loop)
{
    struct http_client **client = &outgoing->clients[loop_index(loop) % LOOPS_MAX];
    if (!*client) {
        *client = http_client_new(
            loop, &(struct http_client_options){.ca_file = outgoing->ca_file, .ignores_environment = true});
    }
    return *client;
}

static void stop_waiting(struct loop_message *message)
{
    struct leaving *stopping = (struct leaving *)message;
    if (*stopping->client) {
        http_client_stop_waiting(*stopping->client);
    }
}

static void leave(struct loop_message *message)
{
    struct leaving *leaving = (struct leaving *)message;
    if (*leaving->client) {
        http_client_free(*leaving->client);
        *leaving->client = NULL;
    }
}

static void post_all(struct outgoing *outgoing, struct loop *const *loops, size_t count, struct leaving *messages,
                     void (*run)(struct loop_message *message))
{
    for (size_t i = 0; i < count && i < LOOPS_MAX; i++) {
        size_t at = (size_t)loop_index(loops[i]) % LOOPS_MAX;
        messages[at] = (struct leaving){{.run = run}, &outgoing->clients[at]};
        loop_post(loops[i], &messages[at].message);
    }
}

void outgoing_stop_waiting(struct outgoing *outgoing, struct loop *const *loops, size_t count)
{
    post_all(outgoing, loops, count, outgoing->stopping, stop_waiting);
}

void outgoing_leave(struct outgoing *outgoing, struct loop *const *loops, size_t count)
{
    post_all(outgoing, loops, count, outgoing->leaving, leave);
}

void outgoing_free(struct outgoing *outgoing)
{
    free(outgoing);
}

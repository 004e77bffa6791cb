#include "api/outgoing.h"

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
    struct leaving leaving[LOOPS_MAX];
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

static void leave(struct loop_message *message)
{
    struct leaving *leaving = (struct leaving *)message;
    if (*leaving->client) {
        http_client_free(*leaving->client);
        *leaving->client = NULL;
    }
}

void outgoing_leave(struct outgoing *outgoing, struct loop *const *loops, size_t count)
{
    for (size_t i = 0; i < count && i < LOOPS_MAX; i++) {
        size_t at = (size_t)loop_index(loops[i]) % LOOPS_MAX;
        outgoing->leaving[at] = (struct leaving){{.run = leave}, &outgoing->clients[at]};
        loop_post(loops[i], &outgoing->leaving[at].message);
    }
}

void outgoing_free(struct outgoing *outgoing)
{
    free(outgoing);
}

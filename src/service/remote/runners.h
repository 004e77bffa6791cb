/* Runners: agents that run elsewhere and reach the server over a WebSocket, one per session. To the host of turns
 * (service/turn/turn_host.h) a runner is a driver like any other; what differs is that it comes and goes:
 *
 *     away ─connects→ there ─says idle→ free ─prompt→ busy ─complete→ free …
 *       ▲               │                               │
 *       └───────────────┴── connection lost ────────────┘  the turn in hand waits `grace_ms` for it to come back, then
 *                                                          its prompt is pending again; after `lost_ms`: runner.lost
 *
 * A session is claimed only while its runner is free. A newer connection takes the place of the older. All of it lives
 * on the loop of the turns; sockets, on whatever loop, speak with it through a `struct runner_line`. */
#ifndef SERVICE_RUNNERS_H
#define SERVICE_RUNNERS_H

#include "service/core/limits.h"
#include "service/turn/turn_host.h"

struct runners_options {
    const struct service *service;
    struct writer *writer;
    struct loop *loop; /* of the turns */
    struct runners_limits limits;
};

struct runners;
struct runner_connection;

struct runners *runners_new(const struct runners_options *options);
/* After the loops have ended. */
void runners_free(struct runners *runners);
/* Lives as long as the runners. */
const struct driver *runners_driver(const struct runners *runners);
/* For turn_host_options.take_ready; `owner` is the runners. */
size_t runners_take_ready(void *owner, struct turn_candidate *out, size_t room);
/* Something was committed here. Writer thread. */
void runners_on_commit(struct runners *runners, const struct publication *publication);
/* Another node wrote to this session (0 = to any). Any thread. */
void runners_wake(struct runners *runners, int64_t tenant_key, int64_t session_key);

/* --- for sockets --- */

struct runner_hello {
    int64_t tenant_key, session_key;
    struct slice session_id;
    struct slice actor; /* access_holder of its token */
};
/* Both run on the socket's loop. `end` closes the connection; runner_line_close follows. */
struct runner_sink {
    void *owner;
    void (*send)(void *owner, struct slice text);
    void (*end)(void *owner, int code, struct slice reason);
};
/* All three on the socket's loop. The socket has sent `init` already. */
struct runner_connection *runner_connection_open(struct runners *runners, struct loop *loop,
                                                 const struct runner_hello *hello, const struct runner_sink *sink);
void runner_connection_hear(struct runner_connection *line, struct slice text);
/* The connection is gone: the sink is not called any more, and the line is not the caller's. */
void runner_connection_close(struct runner_connection *line);

#endif

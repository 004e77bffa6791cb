/* Which sandbox listens on a port of this machine: one with network shares the machine's loopback, and only what
 * listens inside of it may be reached in its name. Any thread. */
#ifndef RUNNER_SANDBOX_PORT_H
#define RUNNER_SANDBOX_PORT_H

#include <stdbool.h>
#include <stdint.h>

struct sandbox_place {
    const char *tree;   /* the workspace of the sandbox, as the server sees it */
    const char *inside; /* and as its processes do */
};
/* Does a connection to 127.0.0.1 and the TCP port end at a process of that sandbox? False when nobody listens, or when
 * another might take it: a port alone says nothing, since each address of the loopback may have its own listener. */
bool sandbox_listens(const struct sandbox_place *place, int64_t port);

#endif

/* This server among those of one PostgreSQL database: says that it lives, and looks after sandboxes whose own server
 * does not, or which another server was told to move (decision 44).
 *
 *     timer (loop) ─→ job (writer: renew the row, find what is due) ─→ runtime_host_attend (loop) */
#ifndef SERVICE_NODE_H
#define SERVICE_NODE_H

#include "service/sandbox/runtime_host.h"

struct node_options {
    const struct service *service; /* whose `node` is this one */
    struct writer *writer;
    struct loop *loop; /* where the sandboxes live */
    struct runtime_host *runtimes;
    struct slice address; /* for people */
    int64_t lease_ms;     /* unheard for so long it is lost */
    int64_t look_ms;
};

struct node;

struct node *node_new(const struct node_options *options);
/* The writer and the loop are started. Accepts NULL. */
void node_start(struct node *node);
/* Its row stays until its time is over: a server that comes back soon finds its sandboxes as they were. Accepts NULL.
 */
void node_stop(struct node *node);
void node_free(struct node *node); /* accepts NULL */

#endif

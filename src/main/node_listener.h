/* PostgreSQL: other nodes write to the same database. This thread hears of it and wakes viewers, waiting claims and
 * turns. */
#ifndef MAIN_NODE_LISTENER_H
#define MAIN_NODE_LISTENER_H

#include "fanout/fanout.h"
#include "service/remote/runners.h"

struct node_listener_options {
    const struct db_options *db;
    int64_t poll_ms;
    struct fanout *fanout;
    struct writer *writer;
    struct turn_host *turns;
    struct runners *runners;
    struct runtime_host *runtimes;
};

struct node_listener;

MUST_CHECK enum status node_listener_start(const struct node_listener_options *options, struct node_listener **out,
                                           struct failure *failure);
/* Accepts NULL. */
void node_listener_stop(struct node_listener *nodes);

#endif

/* PostgreSQL: other nodes write to the same database. This thread hears of it and wakes viewers, waiting claims and
 * turns. */
#ifndef MAIN_NODES_H
#define MAIN_NODES_H

#include "fanout/fanout.h"
#include "service/remote/runners.h"

struct nodes_options {
    const struct db_options *db;
    int64_t poll_ms;
    struct fanout *fanout;
    struct writer *writer;
    struct turn_host *turns;
    struct runners *runners;
    struct runtime_host *runtimes;
};

struct nodes;

MUST_CHECK enum status nodes_start(const struct nodes_options *options, struct nodes **out, struct failure *failure);
/* Accepts NULL. */
void nodes_stop(struct nodes *nodes);

#endif

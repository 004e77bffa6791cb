/* Everything that runs agents: their drivers, sandboxes, runners, gateway tools, turns, watchdogs and the place among
 * other servers. Made before the writer and the loops start, started after them, stopped before them. */
#ifndef MAIN_HOSTING_H
#define MAIN_HOSTING_H

#include "main/drivers.h"
#include "main/sandboxing.h"
#include "service/core/blobs.h"
#include "service/gateway/gateway_snapshot.h"
#include "service/agent/models.h"
#include "service/core/node.h"
#include "service/remote/runners.h"
#include "service/turn/turn_host.h"
#include "service/core/watchdog.h"

/* Where they live; set before hosting_make. */
struct hosting_place {
    const struct options *options;
    const struct service *service;
    struct writer *writer;
    struct fanout *fanout;
    struct loop *loop;
    void *read_owner;
    bool (*submit_read)(void *owner, struct read_job *job);
};

struct hosting {
    struct hosting_place place;
    struct drivers *drivers;
    struct sandboxing *sandboxing;
    struct runtime_host *runtimes;
    struct runners *runners;
    struct gateway *gateway;
    struct gateway_snapshots snapshots;
    struct turn_host *turns;
    struct watchdogs *watchdogs;
    struct blobs *blobs;
    struct models *models;
    struct node *node; /* NULL = there is only one */
};

void hosting_make(struct hosting *hosting, const struct hosting_place *place);
/* The writer and the loop run. */
void hosting_start(struct hosting *hosting);
/* After a commit, on the writer's thread; `hosting` is the owner. */
void hosting_on_commit(void *hosting, const struct publication *publication);
/* What is not there is not stopped, or freed. */
void hosting_stop(struct hosting *hosting);
void hosting_free(struct hosting *hosting);

#endif

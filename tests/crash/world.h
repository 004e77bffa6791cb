/* A server without threads and sockets: the store on a simulated disk, the writer, the host of turns and an agent by
 * script, all in the caller's thread, with a clock that moves only when it is told to. Everything but the disk and the
 * driver is what the real server runs.
 *
 * A life ends by being left where it stands: nothing of it is stopped or freed, only the disk goes on. */
#ifndef TESTS_CRASH_WORLD_H
#define TESTS_CRASH_WORLD_H

#include "service/turn/turn_host.h"
#include "service/core/writer.h"

struct world {
    struct clock clock; /* first: the clock is its world */
    int64_t now_ms;
    struct id_source ids;
    struct service service;
    struct db *db;
    struct loop *loop;
    struct fanout *fanout;
    struct writer *writer;
    struct turn_host *turns;
    struct queue_item *reads, **reads_end;
    struct arena arena;
    struct principal who; /* a person; owner of the first tenant */
};

/* The first life on an empty disk: a tenant, its owner, an agent for each resume policy and a session with each, called
 * as the policy. Nothing runs yet. */
void world_make(struct world *world);
/* The next life, on what the disk kept of `former`; who lived in it is known still. Nothing runs yet. */
void world_reopen(struct world *world, const struct world *former);
/* From now on things happen in world_round. */
void world_run(struct world *world);
/* Everybody does once what he can do now: the writer, the loop, the readers. False when nobody did anything. */
bool world_round(struct world *world);
void world_wait(struct world *world, int64_t ms);

/* A call for reading, outside of the writer's transactions. */
struct call world_look(struct world *world, struct arena *arena);

/* Ends the process with a sentence, unless the status is OK. */
void world_must(enum status status, const struct failure *failure, const char *doing);

#endif

/* Which sessions are watched, on whatever loop: asked by those who would put them to sleep. Any thread. */
#ifndef FANOUT_WATCHED_H
#define FANOUT_WATCHED_H

#include <pthread.h>

#include "base/map.h"

struct watched {
    pthread_mutex_t lock;
    struct map sessions; /* by key: on how many hubs */
};

void watched_init(struct watched *watched);
void watched_release(struct watched *watched);
/* A hub has its first viewer of the session (+1), or lost its last (-1). */
void watched_count(struct watched *watched, int64_t session_key, int change);
bool watched_has(struct watched *watched, int64_t session_key);

#endif

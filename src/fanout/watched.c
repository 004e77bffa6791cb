#include "fanout/watched.h"

#include <stdlib.h>

#include "base/arena.h"

struct watch {
    int64_t session_key;
    int64_t hubs;
};

static struct slice key_of(const int64_t *session_key)
{
    return (struct slice){(const char *)session_key, sizeof *session_key};
}

void watched_init(struct watched *watched)
{
    *watched = (struct watched){0};
    pthread_mutex_init(&watched->lock, NULL);
}

void watched_release(struct watched *watched)
{
    size_t cursor = 0;
    for (struct watch *watch; (watch = map_next(&watched->sessions, &cursor));) {
        free(watch);
    }
    map_release(&watched->sessions);
    pthread_mutex_destroy(&watched->lock);
}

void watched_count(struct watched *watched, int64_t session_key, int change)
{
    pthread_mutex_lock(&watched->lock);
    struct watch *watch = map_get(&watched->sessions, key_of(&session_key));
    if (!watch) {
        watch = memory_zeroed(sizeof *watch);
        watch->session_key = session_key;
        map_put(&watched->sessions, key_of(&watch->session_key), watch);
    }
    watch->hubs += change;
    if (watch->hubs <= 0) {
        map_remove(&watched->sessions, key_of(&session_key));
        free(watch);
    }
    pthread_mutex_unlock(&watched->lock);
}

bool watched_has(struct watched *watched, int64_t session_key)
{
    pthread_mutex_lock(&watched->lock);
    bool has = map_get(&watched->sessions, key_of(&session_key)) != NULL;
    pthread_mutex_unlock(&watched->lock);
    return has;
}

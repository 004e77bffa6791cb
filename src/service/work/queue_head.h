/* The first sessions of the queues that workers ask for, in the order they are claimed: a claim then reads no index.
 *
 * A head is filled from the store once and from then on hears of every session that begins to wait, stops waiting or
 * changes its place, so that it always is what the store would say after a flush. Only for SQLite, where one thread
 * writes all sessions. A writer thread's own; a rollback forgets all. */
#ifndef SERVICE_QUEUE_HEAD_H
#define SERVICE_QUEUE_HEAD_H

#include "domain/session.h"

enum { QUEUE_HEAD_ROOM = 64, QUEUE_HEADS_MAX = 16, QUEUE_AGENT_BYTES_MAX = 128 };

struct candidate {
    int64_t key, priority, queued_ms;
};

/* Which sessions a worker asks for; `agent` absent and `type` -1 = any. `hosted` ones are the server's own to run. */
struct queue_filter {
    int64_t tenant_key;
    struct slice agent;
    int type;
    bool hosted;
};

struct queue_head {
    struct queue_filter filter; /* the agent's name stands in `agent` */
    char agent[QUEUE_AGENT_BYTES_MAX];
    struct candidate items[QUEUE_HEAD_ROOM];
    size_t first, count; /* items[first] … items[first + count - 1] */
    bool whole;          /* nobody waits behind the last one */
    int64_t used_at;
};

struct queue_heads {
    struct queue_head *heads[QUEUE_HEADS_MAX];
    size_t count;
    int64_t uses;
};

/* Higher priority first, then who waits longer. */
bool candidate_goes_before(const struct candidate *a, const struct candidate *b);

/* NULL when it is not known or too short to say who the first `wanted` are: fill it. */
const struct queue_head *queue_heads_find(struct queue_heads *heads, const struct queue_filter *filter, size_t wanted);
/* `items` are the first of the queue, at most QUEUE_HEAD_ROOM; fewer are the whole queue. NULL when this filter is
 * too long to be kept. */
const struct queue_head *queue_heads_fill(struct queue_heads *heads, const struct queue_filter *filter,
                                          const struct candidate *items, size_t count);
/* A session that may be claimed stands at this place from now on; it stood at none. */
void queue_heads_add(struct queue_heads *heads, const struct session *session);
void queue_heads_remove(struct queue_heads *heads, int64_t session_key);
/* Forgets all. */
void queue_heads_clear(struct queue_heads *heads);

#endif

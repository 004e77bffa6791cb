/* What a server keeps per loop: its connections, spare exchanges and the scratch memory they share. Everything here is
 * touched by the loop's own thread only, except the figures, which any thread may read. */
#ifndef NET_SERVER_LOOP_H
#define NET_SERVER_LOOP_H

#include <stdatomic.h>

#include "base/id.h"
#include "net/connection.h"
#include "net/server.h"

enum {
    READ_BYTES = 64 * 1024,
    SPARE_EXCHANGES_MAX = 256,
    REQUEST_ID_POOL = 64, /* request ids whose random bytes are fetched in one call */
};

/* Written by the owner with plain relaxed stores: one writer each. */
struct server_loop_stats {
    _Atomic int64_t connections, connections_total, requests_total, streams, bytes_in, bytes_out, refused_total;
};

/* Hands out random bytes fetched in bulk: a system call per request would cost more than parsing it. */
struct id_pool {
    struct id_source source;
    struct id_source *from;
    size_t used;
    unsigned char bytes[REQUEST_ID_POOL * 10];
};

struct connection_list {
    struct connection *first, *last;
};

struct server_loop {
    struct server *server;
    const struct server_options *options;
    struct loop *loop;
    struct loop_message open_message, drain_message;
    uv_prepare_t flusher; /* before the loop sleeps, everything answered is written */
    uv_timer_t sweeper;
    int64_t now_ms; /* steady, refreshed with every event */
    struct connection_list waiting[WAIT_KIND_COUNT];
    size_t connection_count;
    struct connection *dirty; /* have something to write */
    struct exchange *spare;
    size_t spare_count;
    struct buffer scratch; /* heads while they are composed */
    struct id_pool ids;
    int64_t date_second;
    char date[HTTP_DATE_BYTES];
    int handles_open;
    bool draining;
    int64_t cut_at_ms; /* draining: when the rest is cut */
    struct server_loop_stats figures;
    char read_bytes[READ_BYTES];
};

static inline void counter_add(_Atomic int64_t *figure, int64_t more)
{
    atomic_store_explicit(figure, atomic_load_explicit(figure, memory_order_relaxed) + more, memory_order_relaxed);
}

void server_loop_init(struct server_loop *home, struct server *server, const struct server_options *options,
                      struct loop *loop);
void server_loop_release(struct server_loop *home);
/* The value of the Date header now. */
struct slice server_loop_date(struct server_loop *home);
/* A connection with something to write is flushed before the loop sleeps. */
void server_loop_mark_dirty(struct server_loop *home, struct connection *connection);
/* Closes what waits between requests, cuts the rest after `timeout_ms`, then closes the loop's own handles and calls
 * server_loop_drained. */
void server_loop_drain(struct server_loop *home, int64_t timeout_ms);
/* Implemented by the server: this loop has no connection left. */
void server_loop_drained(struct server_loop *home);
void server_loop_check_drained(struct server_loop *home);

#endif

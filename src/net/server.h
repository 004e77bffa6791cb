/* Listeners and HTTP/1.1 connections on one or several loops. */
#ifndef NET_SERVER_H
#define NET_SERVER_H

#include "base/clock.h"
#include "base/status.h"
#include "net/exchange.h"

/* Every limit is an option; main fills this in. */
struct server_limits {
    size_t header_bytes_max; /* all header lines of a request; the request line counts towards uri_bytes_max */
    size_t uri_bytes_max;
    size_t header_count_max;
    size_t body_bytes_max;
    size_t pipeline_max;     /* requests of one connection in flight */
    size_t unsent_bytes_max; /* of answers of one connection; above it the next pipelined request waits; 0 = no limit */
    size_t connections_max;
    int64_t header_timeout_ms;
    int64_t body_timeout_ms;
    int64_t idle_timeout_ms;
    int64_t write_timeout_ms;
};

struct server_options {
    struct server_limits limits;
    const char *tls_cert_path; /* NULL = plain */
    const char *tls_key_path;
    struct clock *clock;
    struct id_source *ids; /* used by every loop's thread */
    void *owner;
    /* Loop thread; the head of a request is here and its body is not: the exchange is the callee's until exchange_admit
     * or exchange_reply. NULL = every body may come. */
    void (*on_head)(void *owner, struct exchange *exchange);
    /* Loop thread; the exchange is the callee's until exchange_reply. */
    void (*on_request)(void *owner, struct exchange *exchange);
};

/* Atomic counters for /metrics. */
struct server_stats {
    int64_t connections, connections_total, requests_total, streams, bytes_in, bytes_out, refused_total;
};

struct server;

/* Loops may be running already or be started later. The first one accepts and deals connections out in turn. */
struct server *server_new(const struct server_options *options, struct loop *const *loops, size_t loop_count);
/* After server_drain and when the loops are joined: answers given late still need what they belong to. */
void server_free(struct server *server);
/* Any thread. "127.0.0.1:8080", "[::1]:8080", ":8080" (every address) or "unix:/path" (mode 0660; a socket file that
 * nobody listens on is replaced). Port 0 picks one; out_address gets "http://127.0.0.1:PORT", with TLS "https://…". */
MUST_CHECK enum status server_listen(struct server *server, struct slice address, char *out_address, size_t room,
                                     struct failure *failure);
/* Any thread, once, with the loops running. Stops accepting; connections between requests close; calls `drained` (on a
 * loop thread, once) when none is left or `timeout_ms` has passed and the rest was cut. Streams are ended by their
 * owners. Afterwards nothing of the server keeps a loop alive. */
void server_drain(struct server *server, int64_t timeout_ms, void (*drained)(void *owner), void *owner);
void server_figures_read(struct server *server, struct server_stats *out);

#endif

/* One HTTP request and its answer. The loop thread makes it when the whole request is there and hands it to the
 * `on_request` hook; whoever handles it fills the answer and calls exchange_reply, from any thread, exactly once. */
#ifndef NET_EXCHANGE_H
#define NET_EXCHANGE_H

#include <stdatomic.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/byte_hold.h"
#include "base/id.h"
#include "loop/loop.h"
#include "loop/work_queue.h"
#include "wire/http.h"

struct connection;
struct server_loop;

enum { EXCHANGE_HEADERS_MAX = 12 };

struct exchange {
    struct queue_item work;      /* while it waits for a worker thread */
    struct loop_message message; /* while it travels back */
    struct loop *loop;
    struct connection *connection;    /* loop thread only */
    struct arena arena;               /* owns the request and what handlers allocate; gone with the exchange */
    struct http_request request;      /* method, path, query, headers, body: slices into the arena */
    struct slice peer;                /* "127.0.0.1", or "unix" */
    char request_id[UUID_TEXT_BYTES]; /* of the client when acceptable, else generated */
    void *owner;                      /* of the handler */
    size_t body_bytes_max;            /* of the request; on_head may lower it */
    struct byte_hold hold;            /* what request and answer hold; given back with the exchange */

    /* The answer. */
    int status;
    const char *content_type;
    struct http_header headers[EXCHANGE_HEADERS_MAX];
    size_t header_count;
    struct buffer body;       /* owned by the exchange */
    struct slice static_body; /* instead of `body`: lives for ever */
    /* When set, runs on the loop thread in place of sending an answer: the handler takes the connection over with
     * stream_accept, or answers after all with exchange_send. */
    void (*take_over)(struct exchange *exchange);

    /* Of net. */
    struct server_loop *home;
    struct exchange *next;   /* younger request of the same connection, or the next spare exchange */
    struct slice head;       /* of the answer, once it is being written */
    size_t sent_bytes;       /* of head and body */
    bool ready;              /* to be written */
    bool raw;                /* `head` is all there is to send */
    bool head_only;          /* the body is only counted, not sent */
    atomic_bool peer_closed; /* see exchange_peer_closed */
};

/* Any thread, once, in answer to on_head: the body may come. Otherwise exchange_reply, and the body is not read. */
void exchange_admit(struct exchange *exchange);
/* Any thread. The exchange belongs to its loop afterwards. */
void exchange_reply(struct exchange *exchange);
/* Any thread, while the caller has the exchange: the client closed its side, so that most likely nobody waits for the
 * answer. What must not be handed out for nothing (a lease) is better kept. */
bool exchange_peer_closed(const struct exchange *exchange);
/* Loop thread only, from take_over: sends the answer after all. */
void exchange_send(struct exchange *exchange);
/* `value` must live in the exchange's arena or for ever. Content-Length, Content-Type, Connection, Date and
 * X-Request-Id are written by net. */
void exchange_header(struct exchange *exchange, const char *name, struct slice value);

#endif

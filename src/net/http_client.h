/* Outgoing HTTP of the server: many calls at once on one loop, each streamed to its handler as bytes arrive. HTTP/1.1,
 * certificates are always checked. What stands in request headers may be a secret: it is never logged and wiped after
 * the call. Everything here happens on the loop's thread. */
#ifndef NET_HTTP_CLIENT_H
#define NET_HTTP_CLIENT_H

#include <sys/socket.h>

#include "base/status.h"
#include "loop/loop.h"
#include "wire/http.h"

struct http_client;
struct http_call;

struct http_client_options {
    const char *ca_file;     /* certificates to trust, PEM; NULL = the system's */
    const char *user_agent;  /* NULL = sojourn/VERSION */
    long connections_max;    /* kept open for reuse; 0 = curl's own */
    size_t header_bytes_max; /* of one answer; 0 = 64 KiB */
    int64_t gather_us; /* how long pieces wait for each other while very many come (net/read_coalescing.h); 0 = not */
    bool ignores_environment; /* no proxy from HTTPS_PROXY and friends */
};

/* Borrowed during http_call_start only. */
struct http_call_spec {
    const char *method; /* NULL = GET, or POST with a body */
    const char *url;
    const struct http_header *headers;
    size_t header_count;
    struct slice body;     /* absent = none */
    int64_t connect_ms;    /* 0 = 30 s */
    int64_t total_ms;      /* 0 = no limit */
    int64_t silence_ms;    /* no byte for that long ends the call (`silent`); 0 = no limit */
    size_t body_bytes_max; /* of the answer (`too_large`); 0 = no limit */
    int follow_redirects;  /* how many; 0 = a redirect is an answer like others */
    bool allow_http;       /* otherwise only https */
    /* Asked before every connection, after names were resolved; NULL = any address. One refusal ends the call. Such
     * a call shares no connection with others and uses no proxy. */
    bool (*allow_address)(void *owner, const struct sockaddr *address);
    void *address_owner;
    /* "websocket": asks to leave HTTP for it, by GET without a body. After a head of 101 the body is what comes,
     * without an end of its own, and http_call_write sends; silence counts until that head only. Another answer is told
     * without its body. */
    const char *upgrade;
    void (*on_writable)(void *owner); /* with `upgrade`: after http_call_write took less than offered */
};

/* on_head comes once before the body; on_end exactly once and last, with NULL or what went wrong: `silent`, `timeout`,
 * `connect`, `resolve`, `tls`, `cut`, `protocol`, `too_large`, `address_refused`, `stopping`. An answer of any status
 * is no failure. The call is freed after on_end. Any of them may be NULL but on_end. */
struct http_call_handler {
    void *owner;
    void (*on_head)(void *owner, int status, const struct http_header *headers, size_t count);
    void (*on_body)(void *owner, struct slice bytes);
    void (*on_end)(void *owner, const struct failure *failure);
};

struct http_client *http_client_new(struct loop *loop, const struct http_client_options *options);
/* Nobody waits any more: calls whose answer has not begun to come end with `stopping`, and no other is started. What
 * has begun goes on. Not from within a handler. */
void http_client_stop_waiting(struct http_client *client);
/* Cancels every call. Not from within a handler; the loop must run on to close its handles. */
void http_client_free(struct http_client *client);

/* INVALID, with nothing started, for a URL or header that cannot be sent, UNAVAILABLE after http_client_stop_waiting.
 * No handler runs before it returns. */
MUST_CHECK enum status http_call_start(struct http_client *client, const struct http_call_spec *spec,
                                       const struct http_call_handler *handler, struct http_call **out,
                                       struct failure *failure);
/* No handler runs any more. Allowed anywhere, also within a handler; NULL is nothing. */
void http_call_cancel(struct http_call *call);
/* Stop and go on reading the answer; silence does not count meanwhile. */
void http_call_pause(struct http_call *call, bool paused);

/* After a head of 101: offers bytes, returns how many were taken (0 .. len); on_writable follows when fewer were. What
 * was taken may wait here, one record of TLS at most. Calls nobody back: that the connection broke is told by on_end.
 */
size_t http_call_write(struct http_call *call, struct slice bytes);

#endif

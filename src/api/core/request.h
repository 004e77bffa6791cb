/* A request on its way through the api: matched, authenticated, validated, handled, answered. */
#ifndef API_REQUEST_H
#define API_REQUEST_H

#include "api/core/door.h"
#include "api/core/limits.h"
#include "net/exchange.h"
#include "service/session/media.h"
#include "service/core/reader.h"
#include "service/core/service.h"
#include "service/core/writer.h"

struct accounts;
struct gateway;
struct outgoing;
struct proxy_guards;
struct runners;
struct runtime_host;
struct server;
struct signin_guard;

/* What all handlers share; set once by main. */
struct api {
    const struct service *service;
    struct fanout *fanout;
    struct writer *writer;
    struct readers *readers;
    struct runners *runners;
    struct gateway *gateway;
    struct runtime_host *runtimes;
    struct models *models;
    struct outgoing *outgoing;
    struct proxy_guards *proxy_guards;
    struct server *server; /* for figures only */
    struct signin_guard *signin_guard;
    struct accounts *accounts;
    struct doors *doors;
    const char *const *cors_origins;
    size_t cors_origin_count;
    struct api_limits limits;
    const char *const *tunnel_hosts; /* of tunnels that may lead to addresses which are not public */
    size_t tunnel_host_count;
    bool metrics_public;
    bool secure_cookies;
    const char *public_url; /* NULL = not told: links are paths */
    const char *version;
    int64_t started_at_ms; /* wall */
    _Atomic bool ready;    /* all listeners are open */
    _Atomic bool stopping;
};

struct request {
    struct command command; /* first: what a route on the writer submits */
    struct read_job read_job;
    struct exchange *exchange;
    struct api *api;
    const struct door *door;
    const struct route *route;
    struct slice params[ROUTE_PARAMS_MAX];
    const struct url_query *query; /* NULL when there is none */
    const struct json *body;       /* NULL when the route takes none */
    struct principal who;
    struct slice ticket_session; /* a ticket bound to one session */
    struct slice csrf;           /* of a caller with a cookie */
    const struct failure *fault; /* of the query or the body: told once the caller is known; NULL = none */
    bool prepared;
    struct call call;
    struct slice idempotency_key;
    enum status (*once)(struct request *request); /* what request_once runs */
    int64_t subject_key;         /* of the session the answer tells of, where the path does not name it; 0 = none */
    const int64_t *further_keys; /* of more sessions it tells of, in the arena */
    size_t further_count;
    /* Set by a handler on a reader or the loop that does not answer itself: runs when its read is over; request_reply
     * or request_fail follows, once, from any thread. */
    void (*defer)(struct request *request);
    void *state;             /* of the handler, from prepare to handle */
    struct media_list media; /* taken out of the body by prepare */
    struct json_out out;     /* writes the answer's body */
};

/* Match net's on_head and on_request; owner is the api. Loop thread. */
void api_on_head(void *owner, struct exchange *exchange);
void api_on_request(void *owner, struct exchange *exchange);
/* Frees what the calling thread kept (principals). */
void api_thread_end(void);

/* For handlers. */
struct slice request_param(const struct request *request,
                           const char *name); /* query parameter; absent when not given */
int64_t request_param_i64(const struct request *request, const char *name, int64_t fallback);
/* A query parameter with several names: INVALID when more than one is given. */
MUST_CHECK enum status request_param_of(struct request *request, const char *const *names, size_t count,
                                        struct slice *out);
/* INVALID for a parameter that the route knows and that means nothing for `what` is asked of it now. */
MUST_CHECK enum status request_check_query(struct request *request, const struct enum_names *accepted,
                                           const char *what);
/* Whether the caller wants to leave HTTP for a WebSocket. */
bool request_is_upgrade(const struct request *request);
/* The one-use ticket shown, where the route takes one; else absent. */
struct slice request_ticket(const struct request *request);
/* Prefer: return=minimal (RFC 7240): the answer may leave out what the caller can ask for. */
bool request_wants_minimal(struct request *request);
/* The end of a page of a list: `last` is its last item's cursor. */
void request_end_page(struct request *request, bool has_more, struct slice last);
/* Whether the page is as large as one may be (option page-bytes-max): it ends with the item just written, and says so
 * when there are more. */
bool request_page_is_full(const struct request *request);
/* How many rows a page of a list has: the parameter `limit` within the options sessions-page-default and -max. */
int64_t request_list_limit(const struct request *request);
/* FORBIDDEN for a credential that reaches one session only. */
MUST_CHECK enum status request_check_unbound(struct request *request);
/* FORBIDDEN for a credential that reaches a part of the tenant: one session, or the ids of a namespace. */
MUST_CHECK enum status request_check_tenant_wide(struct request *request);
/* A header's text; absent when not sent. */
struct slice request_header(const struct request *request, const char *name);
static inline struct arena *request_arena(struct request *request)
{
    return &request->exchange->arena;
}
/* Writer: runs `handle` once for this key (command_run_once). */
struct hash;
MUST_CHECK enum status request_once(struct request *request, struct slice key, const struct hash *fingerprint,
                                    enum status (*handle)(struct request *request));
void request_reply(struct request *request);
void request_fail(struct request *request, const struct failure *failure);
/* Fills the answer as the request's door phrases failures, and does not send it. */
void request_refuse(struct request *request, const struct failure *failure);
struct slice request_copy(struct request *request, const char *text);

#endif

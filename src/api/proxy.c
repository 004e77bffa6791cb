#include <stdlib.h>

#include "api/handlers.h"
#include "api/outgoing.h"
#include "domain/tunnel.h"
#include "net/address.h"
#include "net/stream.h"
#include "service/runtimes.h"
#include "service/tunnel.h"
#include "wire/url.h"

enum { HEADERS_MAX = 64, UNSENT_BYTES_MAX = 256 * 1024, URL_BYTES = 16384 };

/* One request on its way through a tunnel. The request is its own until the answer's head came; then the stream is.
 * On the loop of the caller's connection from `start` on. */
struct passage {
    struct loop_message message;
    struct request *request; /* until it is answered */
    struct loop *loop;
    struct http_call *call;
    struct stream *stream;
    struct arena arena;
    struct slice base, prefix; /* where the tunnel leads; what stands for it here */
    const char *url;
    bool any_address;           /* the operator named the host */
    bool loopback;              /* it leads to a sandbox of this machine */
    struct runtime_visit visit; /* of the session's sandbox */
    struct buffer unsent;
    bool chunked, no_body;
    bool paused;      /* the call, until what came was written */
    bool over, ended; /* the call; the stream */
};

static void passage_free(struct passage *passage)
{
    http_call_cancel(passage->call);
    runtimes_visit_end(&passage->visit);
    buffer_release(&passage->unsent);
    arena_release(&passage->arena);
    free(passage);
}

static bool is_listed(struct slice name, const char *const *names)
{
    for (; *names; names++) {
        if (slice_eq_nocase(name, slice_of(*names))) {
            return true;
        }
    }
    return false;
}

/* Of one connection only, whoever is at its ends. */
static const char *const hop_by_hop[] = {"connection",
                                         "keep-alive",
                                         "proxy-authenticate",
                                         "proxy-authorization",
                                         "te",
                                         "proxy-connection",
                                         "trailer",
                                         "transfer-encoding",
                                         "upgrade",
                                         "content-length",
                                         NULL};

/* --- there --- */

static bool is_kept_back(struct slice name)
{
    static const char *const own[] = {
        "authorization", "cookie",          "x-csrf-token", "host",    "expect", "sojourn-lease",
        "x-request-id",  "idempotency-key", "origin",       "referer", NULL};
    return is_listed(name, hop_by_hop) || is_listed(name, own);
}

static bool allow_address(void *owner, const struct sockaddr *address)
{
    const struct passage *passage = owner;
    if (passage->loopback) {
        return address_is_loopback(address);
    }
    return passage->any_address || address_is_public(address);
}

static void on_head(void *owner, int status, const struct http_header *headers, size_t count);
static void on_body(void *owner, struct slice bytes);
static void on_end(void *owner, const struct failure *failure);

static size_t copy_headers(struct passage *passage, struct http_header *out)
{
    const struct http_request *http = &passage->request->exchange->request;
    size_t count = 0;
    for (size_t i = 0; i < http->header_count && count < HEADERS_MAX - 1; i++) {
        if (!is_kept_back(http->headers[i].name)) {
            out[count++] = http->headers[i];
        }
    }
    out[count++] = (struct http_header){SLICE("x-forwarded-prefix"), passage->prefix};
    return count;
}

static void start(struct loop_message *message)
{
    struct passage *passage = (struct passage *)message;
    struct request *request = passage->request;
    const struct http_request *http = &request->exchange->request;
    struct http_header headers[HEADERS_MAX];
    struct failure failure;
    struct http_call_spec spec = {
        .method = arena_copy(&passage->arena, http->method_text).ptr,
        .url = passage->url,
        .headers = headers,
        .header_count = copy_headers(passage, headers),
        .body = http->body.len > 0 ? http->body : (struct slice){0},
        .connect_ms = request->api->proxy_connect_ms,
        .silence_ms = request->api->proxy_silence_ms,
        .allow_http = true,
        .allow_address = allow_address,
        .address_owner = passage,
    };
    struct http_client *client = outgoing_client(request->api->outgoing, passage->loop);
    struct http_call_handler handler = {passage, on_head, on_body, on_end};
    if (http_call_start(client, &spec, &handler, &passage->call, &failure) != STATUS_OK) {
        request_fail(request, &failure);
        passage->call = NULL;
        passage_free(passage);
    }
}

static void defer(struct request *request)
{
    struct passage *passage = request->state;
    passage->message.run = start;
    loop_post(passage->loop, &passage->message);
}

/* --- back --- */

static void write_unsent(struct passage *passage)
{
    buffer_consume(&passage->unsent, stream_write(passage->stream, buffer_slice(&passage->unsent)));
    if (passage->unsent.len == 0) {
        buffer_release(&passage->unsent);
        if (passage->over && !passage->ended) {
            passage->ended = true;
            stream_end(passage->stream, 0);
        } else if (passage->call && passage->paused) {
            passage->paused = false;
            http_call_pause(passage->call, false);
        }
    }
}

static void on_writable(void *owner)
{
    write_unsent(owner);
}

static void on_closed(void *owner)
{
    passage_free(owner);
}

static const struct stream_handler stream_handler = {.on_writable = on_writable, .on_closed = on_closed};

static void take_over(struct exchange *exchange)
{
    struct request *request = exchange->owner;
    struct passage *passage = request->state;
    passage->request = NULL;
    passage->stream = stream_accept(exchange, STREAM_PLAIN, &stream_handler, passage);
    if (!passage->stream) {
        passage_free(passage);
        return;
    }
    write_unsent(passage);
}

/* A page of the sandbox is no page of this server: it gets no cookies, sets none, and its scripts are strangers here.
 */
static bool is_dropped(struct slice name)
{
    static const char *const own[] = {"set-cookie", "date", "x-request-id", "strict-transport-security",
                                      "server",     NULL};
    return is_listed(name, hop_by_hop) || is_listed(name, own) || slice_starts(name, SLICE("access-control-")) ||
           slice_starts(name, SLICE("Access-Control-"));
}

/* Where the service leads to itself, the way is through the tunnel again. */
static struct slice lead_back(struct passage *passage, struct slice location)
{
    if (slice_starts(location, passage->base)) {
        location = slice_after(location, passage->base.len);
    } else if (!slice_starts(location, SLICE("/")) || slice_starts(location, SLICE("//"))) {
        return location;
    }
    bool slash = slice_starts(location, SLICE("/"));
    return arena_format(&passage->arena, "%.*s%s%.*s", SLICE_ARG(passage->prefix), slash ? "" : "/",
                        SLICE_ARG(location));
}

static void write_head(struct passage *passage, struct buffer *out, const struct http_header *headers, size_t count)
{
    struct slice length = http_header_find(headers, count, "content-length");
    for (size_t i = 0; i < count; i++) {
        struct slice name = headers[i].name, value = headers[i].value;
        if (!is_dropped(name)) {
            http_write_header(out, name, slice_eq_nocase(name, SLICE("location")) ? lead_back(passage, value) : value);
        }
    }
    http_write_header(out, SLICE("Content-Security-Policy"), SLICE("sandbox allow-scripts allow-forms allow-popups"));
    http_write_header(out, SLICE("Referrer-Policy"), SLICE("no-referrer"));
    passage->chunked = !passage->no_body && !slice_present(length);
    if (passage->chunked) {
        http_write_header(out, SLICE("Transfer-Encoding"), SLICE("chunked"));
    } else if (slice_present(length)) {
        http_write_header(out, SLICE("Content-Length"), length);
    }
}

static void on_head(void *owner, int status, const struct http_header *headers, size_t count)
{
    struct passage *passage = owner;
    struct request *request = passage->request;
    struct exchange *exchange = request->exchange;
    passage->no_body = exchange->request.method == HTTP_HEAD || status == 204 || status == 304;
    exchange->status = status;
    exchange->body.len = 0;
    write_head(passage, &exchange->body, headers, count);
    exchange->owner = request;
    exchange->take_over = take_over;
    passage->paused = true; /* until there is a stream to write to */
    http_call_pause(passage->call, true);
    request_reply(request);
}

static void on_body(void *owner, struct slice bytes)
{
    struct passage *passage = owner;
    if (bytes.len == 0 || passage->no_body) {
        return;
    }
    if (passage->chunked) {
        buffer_format(&passage->unsent, "%zx\r\n", bytes.len);
    }
    buffer_add(&passage->unsent, bytes);
    if (passage->chunked) {
        buffer_add(&passage->unsent, SLICE("\r\n"));
    }
    if (passage->stream) {
        write_unsent(passage);
    }
    if (passage->unsent.len > UNSENT_BYTES_MAX && !passage->paused) {
        passage->paused = true;
        http_call_pause(passage->call, true);
    }
}

static void fail_before_head(struct passage *passage, const struct failure *failure)
{
    struct failure told;
    struct slice code = slice_of(failure->code);
    if (slice_is(code, "address_refused")) {
        (void)failure_set(
            &told, STATUS_FORBIDDEN, "tunnel_refused",
            "The tunnel leads to an address that is not public; the option tunnel-hosts names exceptions.");
    } else if (slice_is(code, "stopping")) {
        (void)failure_set(&told, STATUS_UNAVAILABLE, "server_stopping", "The server stops; try again.");
        told.retry_after_s = 1;
    } else if (slice_is(code, "timeout") || slice_is(code, "silent")) {
        (void)failure_set(&told, STATUS_TIMEOUT, "tunnel_timeout", "The service behind the tunnel does not answer.");
    } else {
        (void)failure_set(&told, STATUS_BAD_GATEWAY, "tunnel_failed", "The service behind the tunnel failed: %s",
                          failure->detail);
    }
    request_fail(passage->request, &told);
    passage_free(passage);
}

static void on_end(void *owner, const struct failure *failure)
{
    struct passage *passage = owner;
    passage->call = NULL;
    passage->over = true;
    if (passage->request && failure) {
        fail_before_head(passage, failure);
        return;
    }
    if (failure) { /* cut short, and seen to be: no last chunk, fewer bytes than told */
        passage->chunked = false;
    }
    if (passage->chunked) {
        buffer_add(&passage->unsent, SLICE("0\r\n\r\n"));
    }
    if (passage->stream) {
        write_unsent(passage);
    }
}

/* --- which way --- */

static bool is_named(const struct api *api, struct slice host, struct slice authority)
{
    for (size_t i = 0; i < api->tunnel_host_count; i++) {
        struct slice name = slice_of(api->tunnel_hosts[i]);
        if (slice_eq_nocase(name, host) || slice_eq_nocase(name, authority)) {
            return true;
        }
    }
    return false;
}

static enum status check_sandbox(struct request *request, const struct session *session, int64_t port)
{
    struct call *call = &request->call;
    if (!runtime_is_up(session->runtime)) {
        return failure_set(&call->failure, STATUS_UNAVAILABLE, "sandbox_not_running",
                           "The session's sandbox is %s; a message wakes it.", runtime_words.names[session->runtime]);
    }
    if (!runtimes_listens(request->api->runtimes, session->tenant_key, session->key, port)) {
        return failure_set(&call->failure, STATUS_UNAVAILABLE, "nobody_listens",
                           "Nothing in the session's sandbox listens on port %lld of this machine.", (long long)port);
    }
    return STATUS_OK;
}

static struct slice authority_of(struct slice base)
{
    struct slice rest = slice_after(base, slice_starts(base, SLICE("https://")) ? 8 : 7);
    size_t end = 0;
    while (end < rest.len && !strchr("/?", rest.ptr[end])) {
        end++;
    }
    return slice_from(rest.ptr, end);
}

static struct slice host_of(struct slice authority)
{
    const char *colon = authority.len > 0 && authority.ptr[0] != '[' ? memchr(authority.ptr, ':', authority.len) : NULL;
    return colon ? slice_from(authority.ptr, (size_t)(colon - authority.ptr)) : authority;
}

/* What follows the tunnel's name, as it was sent: its encoding is the service's matter. */
static struct slice rest_of(const struct request *request)
{
    struct slice path = request->exchange->request.path, segment;
    for (int skip = 0; skip < 6; skip++) { /* "", api, sessions, {id}, proxy, {tunnel} */
        if (!slice_cut(path, '/', &segment, &path)) {
            return SLICE("");
        }
    }
    return path;
}

static void find_way(struct request *request, struct passage *passage, struct slice target)
{
    struct arena *arena = &passage->arena;
    struct slice query = request->exchange->request.query;
    int64_t port = tunnel_local_port(target);
    struct slice base =
        port ? arena_format(arena, "http://127.0.0.1:%lld", (long long)port) : arena_copy(arena, target);
    while (base.len > 0 && base.ptr[base.len - 1] == '/') {
        base.len--;
    }
    struct slice authority = authority_of(base);
    passage->base = base;
    passage->loopback = port != 0;
    passage->any_address = is_named(request->api, host_of(authority), authority);
    passage->prefix = arena_format(arena, "/api/sessions/%.*s/proxy/%.*s", SLICE_ARG(request->params[0]),
                                   SLICE_ARG(request->params[1]));
    passage->url = arena_format(arena, "%.*s/%.*s%s%.*s", SLICE_ARG(base), SLICE_ARG(rest_of(request)),
                                slice_present(query) ? "?" : "", SLICE_ARG(query))
                       .ptr;
}

enum status proxy_pass(struct request *request)
{
    struct session session;
    struct slice target;
    struct exchange *exchange = request->exchange;
    bool reads = exchange->request.method == HTTP_GET || exchange->request.method == HTTP_HEAD;
    enum status status = tunnel_find(&request->call, request->params[0], request->params[1], reads, &session, &target);
    if (status == STATUS_OK && tunnel_local_port(target) != 0) {
        status = check_sandbox(request, &session, tunnel_local_port(target));
    }
    if (status == STATUS_OK && slice_present(exchange->request.upgrade)) {
        return failure_set(&request->call.failure, STATUS_UNSUPPORTED, "upgrade_unsupported",
                           "A tunnel passes requests and answers; it upgrades no connection.");
    }
    if (status != STATUS_OK) {
        return status;
    }
    struct passage *passage = memory_zeroed(sizeof *passage);
    passage->request = request;
    passage->loop = exchange->loop;
    find_way(request, passage, target);
    runtimes_visit(request->api->runtimes, session.key, &passage->visit);
    request->state = passage;
    request->defer = defer;
    return STATUS_OK;
}

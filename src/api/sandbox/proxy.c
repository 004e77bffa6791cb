#include <stdlib.h>

#include "api/core/handlers.h"
#include "api/core/outgoing.h"
#include "api/sandbox/proxy_socket.h"
#include "api/sandbox/proxy_target.h"
#include "net/stream.h"
#include "service/sandbox/runtime_host.h"

enum { UNSENT_BYTES_MAX = 256 * 1024 };

/* One request on its way through a tunnel. The request is its own until the answer's head came; then the stream is.
 * On the loop of the caller's connection from `start` on. */
struct passage {
    struct loop_message message;
    struct request *request; /* until it is answered */
    struct loop *loop;
    struct http_call *call;
    struct stream *stream;
    struct arena arena;
    struct proxy_target way;
    struct sandbox_keepalive visit; /* of the session's sandbox */
    struct buffer unsent;
    bool chunked, no_body;
    bool paused;      /* the call, until what came was written */
    bool over, ended; /* the call; the stream */
};

static void passage_free(struct passage *passage)
{
    http_call_cancel(passage->call);
    runtime_host_visit_end(&passage->visit);
    buffer_release(&passage->unsent);
    arena_release(&passage->arena);
    free(passage);
}

/* --- there --- */

static void on_head(void *owner, int status, const struct http_header *headers, size_t count);
static void on_body(void *owner, struct slice bytes);
static void on_end(void *owner, const struct failure *failure);

static void start(struct loop_message *message)
{
    struct passage *passage = (struct passage *)message;
    struct request *request = passage->request;
    const struct http_request *http = &request->exchange->request;
    struct http_header headers[PROXY_HEADERS_MAX];
    struct failure failure;
    struct http_call_spec spec = {
        .method = arena_copy(&passage->arena, http->method_text).ptr,
        .url = passage->way.url,
        .headers = headers,
        .header_count = proxy_target_headers(&passage->way, http, headers),
        .body = http->body.len > 0 ? http->body : (struct slice){0},
        .connect_ms = request->api->limits.proxy_connect_ms,
        .silence_ms = request->api->limits.proxy_silence_ms,
        .allow_http = true,
        .allow_address = proxy_target_allows,
        .address_owner = &passage->way,
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

static void write_head(struct passage *passage, struct buffer *out, const struct http_header *headers, size_t count)
{
    int64_t length = -1;
    bool is_chunked = slice_present(http_header_find(headers, count, "transfer-encoding"));
    bool is_sized =
        !is_chunked && slice_to_i64(http_header_find(headers, count, "content-length"), &length) && length >= 0;
    proxy_target_write_back(&passage->way, &passage->arena, headers, count, out);
    http_write_header(out, "Content-Security-Policy", SLICE("sandbox allow-scripts allow-forms allow-popups"));
    http_write_header(out, "Referrer-Policy", SLICE("no-referrer"));
    passage->chunked = !passage->no_body && !is_sized;
    if (passage->chunked) {
        http_write_header(out, "Transfer-Encoding", SLICE("chunked"));
    } else if (is_sized) {
        http_write_header_i64(out, "Content-Length", length);
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

static void on_end(void *owner, const struct failure *failure)
{
    struct passage *passage = owner;
    passage->call = NULL;
    passage->over = true;
    if (passage->request && failure) {
        struct failure told;
        proxy_tell_failure(failure, &told);
        request_fail(passage->request, &told);
        passage_free(passage);
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

static enum status proxy_pass(struct request *request)
{
    struct session session;
    struct slice target;
    struct exchange *exchange = request->exchange;
    bool reads = exchange->request.method == HTTP_GET || exchange->request.method == HTTP_HEAD;
    if (request_is_upgrade(request)) {
        return proxy_socket_open(request);
    }
    enum status status = proxy_check(request, reads, &session, &target);
    if (status != STATUS_OK) {
        return status;
    }
    struct passage *passage = memory_zeroed(sizeof *passage);
    passage->request = request;
    passage->loop = exchange->loop;
    proxy_target_find(request, target, &passage->arena, &passage->way);
    runtime_host_visit(request->api->runtimes, session.key, &passage->visit);
    request->state = passage;
    request->defer = defer;
    return STATUS_OK;
}

const struct route proxy_routes[] = {
    {HTTP_GET, "/api/sessions/{id}/proxy/{tunnel}/{rest}", proxy_pass, .auth = AUTH_UPGRADE, .query = any_query,
     .body = any_body,
     .summary = "Send a GET through a tunnel to a service in the sandbox, or open a WebSocket as a collaborator."},
    {HTTP_POST, "/api/sessions/{id}/proxy/{tunnel}/{rest}", proxy_pass, .run_on = RUN_READER, .query = any_query,
     .body = any_body, .summary = "Send a POST through a tunnel, as a collaborator."},
    {HTTP_PUT, "/api/sessions/{id}/proxy/{tunnel}/{rest}", proxy_pass, .run_on = RUN_READER, .query = any_query,
     .body = any_body, .summary = "Send a PUT through a tunnel, as a collaborator."},
    {HTTP_PATCH, "/api/sessions/{id}/proxy/{tunnel}/{rest}", proxy_pass, .run_on = RUN_READER, .query = any_query,
     .body = any_body, .summary = "Send a PATCH through a tunnel, as a collaborator."},
    {HTTP_DELETE, "/api/sessions/{id}/proxy/{tunnel}/{rest}", proxy_pass, .run_on = RUN_READER, .query = any_query,
     .body = any_body, .summary = "Send a DELETE through a tunnel, as a collaborator."},
    {0},
};

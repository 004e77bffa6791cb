#include "api/core/authenticate.h"
#include "api/core/handlers.h"
#include "api/core/request_internal.h"
#include "api/core/validate.h"

static enum status read_query(struct request *request, struct failure *failure)
{
    struct slice text = request->exchange->request.query;
    if (text.len == 0) {
        return STATUS_OK;
    }
    struct url_query *query = arena_alloc(request_arena(request), sizeof *query);
    enum status status = url_query_parse(request_arena(request), text, query, failure);
    request->query = query;
    return request->route->query == any_query ? STATUS_OK
           : status == STATUS_OK
               ? validate_query_as(request->door->ignores_unknown, request->route->query, query, failure)
               : status;
}

static const struct {
    enum http_method method;
    const char *name;
} method_names[] = {
    {HTTP_GET, "GET"}, {HTTP_POST, "POST"}, {HTTP_PUT, "PUT"}, {HTTP_PATCH, "PATCH"}, {HTTP_DELETE, "DELETE"}};

static struct slice allow_list(struct request *request, unsigned allowed)
{
    struct buffer list = {0};
    for (size_t i = 0; i < sizeof method_names / sizeof *method_names; i++) {
        if (allowed & (1u << method_names[i].method)) {
            buffer_format(&list, "%s%s", list.len ? ", " : "", method_names[i].name);
            if (method_names[i].method == HTTP_GET) {
                buffer_add(&list, SLICE(", HEAD"));
            }
        }
    }
    buffer_add(&list, SLICE(", OPTIONS"));
    struct slice copy = arena_copy(request_arena(request), buffer_slice(&list));
    buffer_release(&list);
    return copy;
}

static void answer_options(struct request *request, unsigned allowed)
{
    struct exchange *exchange = request->exchange;
    exchange->status = 204;
    exchange_header(exchange, "Allow", allow_list(request, allowed));
    if (slice_present(request_header(request, "access-control-request-method")) &&
        request->api->cors_origin_count > 0) {
        exchange_header(exchange, "Access-Control-Allow-Methods", SLICE("GET, POST, PUT, PATCH, DELETE"));
        exchange_header(exchange, "Access-Control-Allow-Headers",
                        SLICE("Authorization, Content-Type, Idempotency-Key, If-Match, If-Sequence, Last-Event-ID, "
                              "Prefer, Sojourn-Lease, X-CSRF-Token, X-Request-Id, traceparent"));
        exchange_header(exchange, "Access-Control-Max-Age", SLICE("600"));
    }
    request_reply(request);
}

static enum status match(struct request *request, unsigned *out_allowed, struct failure *failure)
{
    struct path path;
    const struct http_request *http = &request->exchange->request;
    const struct route_index *index;
    request->door = doors_find(request->api->doors, http->path, &index);
    if (http->method == HTTP_OPTIONS && slice_is(http->path, "*")) { /* of the server as a whole */
        *out_allowed = ~0u;
        return STATUS_OK;
    }
    enum status status = path_split(request_arena(request), http->path, &path, failure);
    *out_allowed = 0;
    if (status != STATUS_OK) {
        return status;
    }
    request->route = route_find(index, http->method, &path, request->params, out_allowed);
    if (request->route) {
        return STATUS_OK;
    }
    if (*out_allowed != 0) {
        return failure_set(failure, STATUS_NOT_ALLOWED, "method_not_allowed", "This path does not answer %.*s.",
                           SLICE_ARG(slice_utf8_prefix(http->method_text, 20)));
    }
    return failure_set(failure, STATUS_NOT_FOUND, "not_found", "There is nothing here.");
}

static void refuse(struct request *request, const struct failure *failure, unsigned allowed)
{
    const struct door *door = request->door;
    if (failure->status == STATUS_NOT_FOUND && door->serve_page && door->serve_page(request)) {
        request_reply(request);
        return;
    }
    request_refuse(request, failure);
    if (failure->status == STATUS_NOT_ALLOWED) {
        exchange_header(request->exchange, "Allow", allow_list(request, allowed));
    }
    request_reply(request);
}

/* Who shows no credentials at all hears that first, before anything about the request itself. */
static enum status check_credentials(struct request *request, struct failure *failure)
{
    bool may_be_ticket = request->route->auth >= AUTH_TICKET && request->exchange->request.query.len > 0;
    if (request->route->auth == AUTH_NONE || may_be_ticket ||
        request->door->credential(request).kind != PRESENTED_NOTHING) {
        return STATUS_OK;
    }
    return refuse_unauthenticated(request, failure);
}

/* All that the head alone decides. Otherwise the request is answered, and false. */
static bool accept_head(struct request *request)
{
    struct failure failure;
    unsigned allowed;
    enum status status = match(request, &allowed, &failure);
    if (request->exchange->request.method == HTTP_OPTIONS && allowed != 0) {
        answer_options(request, allowed);
        return false;
    }
    if (status == STATUS_OK) {
        status = check_credentials(request, &failure);
    }
    if (status == STATUS_OK) {
        status = request_check_length(request, &failure);
    }
    if (status != STATUS_OK) {
        refuse(request, &failure, allowed);
    }
    return status == STATUS_OK;
}

static struct request *request_new(struct api *api, struct exchange *exchange)
{
    struct request *request = arena_alloc(&exchange->arena, sizeof *request);
    request->api = api;
    request->exchange = exchange;
    exchange->owner = request;
    return request;
}

void api_on_head(void *owner, struct exchange *exchange)
{
    struct request *request = request_new(owner, exchange);
    if (accept_head(request)) {
        request_admit(request);
    }
}

static enum status read_all(struct request *request, struct failure *failure)
{
    enum status status = read_query(request, failure);
    return status == STATUS_OK && !request_body_waits(request) ? request_read_body(request, failure) : status;
}

/* Whoever is a stranger hears that, and nothing about what they sent. */
static void run(struct request *request)
{
    struct failure failure;
    enum status status = request_count_body(request, &failure);
    if (status != STATUS_OK) {
        request_fail(request, &failure);
        return;
    }
    status = read_all(request, &failure);
    if (status != STATUS_OK && request->route->auth == AUTH_NONE) {
        request_fail(request, &failure);
        return;
    }
    if (status != STATUS_OK) {
        struct failure *kept = arena_alloc(request_arena(request), sizeof *kept);
        *kept = failure;
        request->fault = kept;
    }
    request_run(request);
}

void api_on_request(void *owner, struct exchange *exchange)
{
    struct request *request = exchange->owner;
    if (!request) {
        request = request_new(owner, exchange);
        if (!accept_head(request)) {
            return;
        }
    }
    run(request);
}

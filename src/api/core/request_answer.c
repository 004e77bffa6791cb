#include "api/core/request_internal.h"
#include "base/log.h"
#include "wire/traceparent.h"

static void add_cors(struct request *request)
{
    struct api *api = request->api;
    struct slice origin = request_header(request, "origin");
    for (size_t i = 0; i < api->cors_origin_count && slice_present(origin); i++) {
        bool any = slice_is(slice_of(api->cors_origins[i]), "*");
        if (!any && !slice_is(origin, api->cors_origins[i])) {
            continue;
        }
        struct exchange *exchange = request->exchange;
        exchange_header(exchange, "Access-Control-Allow-Origin", any ? SLICE("*") : origin);
        exchange_header(exchange, "Vary", SLICE("Origin"));
        exchange_header(exchange, "Access-Control-Expose-Headers",
                        SLICE("Idempotency-Replayed, Retry-After, Traceparent, WWW-Authenticate, X-Request-Id"));
        if (!any) {
            exchange_header(exchange, "Access-Control-Allow-Credentials", SLICE("true"));
        }
        return;
    }
}

/* A path that holds a secret is logged as its pattern. */
static struct slice loggable_path(const struct request *request)
{
    bool secret = request->route && strstr(request->route->path, "{token}");
    return secret ? slice_of(request->route->path) : request->exchange->request.path;
}

static void log_request(const struct request *request)
{
    const struct exchange *exchange = request->exchange;
    enum log_level level = exchange->status >= 500 ? LOG_WARN : LOG_DEBUG;
    if (!log_enabled(level)) {
        return;
    }
    struct slice trace = http_request_header(&exchange->request, "traceparent");
    struct log_field fields[] = {LOG_TEXT("request_id", slice_of(exchange->request_id)),
                                 LOG_TEXT("method", exchange->request.method_text),
                                 LOG_TEXT("path", loggable_path(request)),
                                 LOG_NUM("status", exchange->status),
                                 LOG_TEXT("peer", exchange->peer),
                                 slice_present(trace) ? LOG_TEXT("traceparent", trace) : (struct log_field){0},
                                 {0}};
    log_write(level, "request", fields);
}

/* The caller's trace goes on in the answer, with a span of our own. */
static void pass_trace_on(struct request *request)
{
    struct traceparent came, ours;
    if (!traceparent_parse(request_header(request, "traceparent"), &came)) {
        return;
    }
    char *text = arena_bytes(request_arena(request), TRACEPARENT_TEXT_BYTES);
    traceparent_child(&came, request->api->service->ids, &ours);
    traceparent_format(&ours, text);
    exchange_header(request->exchange, "traceparent", slice_of(text));
}

void request_reply(struct request *request)
{
    request_count_bytes(request);
    add_cors(request);
    pass_trace_on(request);
    log_request(request);
    exchange_reply(request->exchange);
}

void request_refuse(struct request *request, const struct failure *failure)
{
    request->door->refuse(request->exchange, failure, (struct slice){0});
}

void request_fail(struct request *request, const struct failure *failure)
{
    request_refuse(request, failure);
    request_reply(request);
}

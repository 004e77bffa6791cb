#include "runner/model/provider.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/buffer.h"
#include "domain/redact.h"
#include "wire/anthropic.h"
#include "wire/openai.h"

enum { ERROR_BODY_MAX = 16 * 1024, HEADERS_MAX = 4 };

/* What is known of a vendor. */
struct provider {
    const char *name;
    const struct model_wire *wire;
    const char *base, *path, *models_path;
    const char *secret;     /* its name */
    const char *key_header; /* in which the key goes */
    const char *key_prefix; /* before it */
    const char *extra_header, *extra_value;
};

static const struct provider providers[] = {
    {"anthropic", &anthropic_wire, "https://api.anthropic.com", "/v1/messages", "/v1/models?limit=1000",
     "ANTHROPIC_API_KEY", "x-api-key", "", "anthropic-version", "2023-06-01"},
    {"openai", &openai_wire, "https://api.openai.com/v1", "/chat/completions", "/models", "OPENAI_API_KEY",
     "Authorization", "Bearer ", NULL, NULL},
};
enum { PROVIDER_COUNT = sizeof providers / sizeof providers[0] };

struct provider_call {
    const struct provider *provider;
    struct provider_handler handler;
    struct http_call *http;
    struct model_stream stream;
    int status;
    int64_t retry_after_ms;
    struct buffer error_body;
    bool has_stopped; /* the model said that it has finished */
    bool is_failed;   /* `failure` is set: the rest is not heard */
    bool is_inside;   /* a handler runs: freed after it */
    bool is_cancelled;
    struct provider_failure failure;
};

static const struct provider *provider_find(struct slice name)
{
    for (size_t i = 0; i < PROVIDER_COUNT; i++) {
        if (slice_is(name, providers[i].name)) {
            return &providers[i];
        }
    }
    return NULL;
}

void provider_options_read_environment(struct provider_options *options)
{
    const char *anthropic = getenv("ANTHROPIC_BASE_URL"), *openai = getenv("OPENAI_BASE_URL");
    options->anthropic_base = anthropic && *anthropic ? anthropic : options->anthropic_base;
    options->openai_base = openai && *openai ? openai : options->openai_base;
}

/* --- failures --- */

struct verdict {
    enum turn_error error;
    bool may_retry, may_fall_back;
};

static const struct verdict unavailable = {TURN_PROVIDER_UNAVAILABLE, true, true};

/* The first row that holds the status decides. */
static const struct {
    int from, to;
    struct verdict verdict;
} by_status[] = {
    {400, 400, {TURN_VALIDATION, false, false}},          {401, 401, {TURN_PROVIDER_AUTH, false, true}},
    {402, 402, {TURN_PROVIDER_RATE_LIMIT, false, true}},  {403, 403, {TURN_PROVIDER_AUTH, false, true}},
    {404, 404, {TURN_PROVIDER_UNAVAILABLE, false, true}}, {408, 408, {TURN_PROVIDER_UNAVAILABLE, true, true}},
    {429, 429, {TURN_PROVIDER_RATE_LIMIT, true, true}},   {405, 499, {TURN_VALIDATION, false, false}},
    {500, 599, {TURN_PROVIDER_UNAVAILABLE, true, true}},  {0, 999, {TURN_PROVIDER_UNAVAILABLE, false, true}},
};

/* Errors told inside a stream that began well. */
static const struct {
    const char *name;
    struct verdict verdict;
} by_name[] = {
    {"authentication_error", {TURN_PROVIDER_AUTH, false, true}},
    {"permission_error", {TURN_PROVIDER_AUTH, false, true}},
    {"rate_limit_error", {TURN_PROVIDER_RATE_LIMIT, true, true}},
    {"insufficient_quota", {TURN_PROVIDER_RATE_LIMIT, false, true}},
    {"invalid_request_error", {TURN_VALIDATION, false, false}},
    {"content_filter", {TURN_FILTERED, false, false}},
};

static struct verdict verdict_of_status(int status)
{
    size_t i = 0;
    while (status < by_status[i].from || status > by_status[i].to) {
        i++;
    }
    return by_status[i].verdict;
}

static struct verdict verdict_of_name(struct slice name)
{
    for (size_t i = 0; i < sizeof by_name / sizeof by_name[0]; i++) {
        if (slice_is(name, by_name[i].name)) {
            return by_name[i].verdict;
        }
    }
    return unavailable;
}

static void failure_fill(struct provider_failure *failure, struct verdict verdict, const char *who, const char *what,
                         struct slice words)
{
    struct buffer masked = {0};
    redact_add(&masked, slice_utf8_prefix(slice_trim(words), 300));
    *failure = (struct provider_failure){.error = verdict.error,
                                         .may_retry = verdict.may_retry,
                                         .may_fall_back = verdict.may_fall_back,
                                         .retry_after_ms = -1};
    snprintf(failure->message, sizeof failure->message, "%s: %s%s%.*s", who, what, masked.len ? ": " : "",
             SLICE_ARG(buffer_slice(&masked)));
    buffer_release(&masked);
}

static void call_fail(struct provider_call *call, struct verdict verdict, const char *what, struct slice words)
{
    if (!call->is_failed) {
        call->is_failed = true;
        failure_fill(&call->failure, verdict, call->provider->name, what, words);
    }
}

static void fail_by_answer(struct provider_call *call)
{
    struct arena arena = {0};
    struct slice name, words = {0};
    char what[64];
    if (!model_error_read(&arena, buffer_slice(&call->error_body), &name, &words)) {
        words = (struct slice){0}; /* a page of some proxy: not for people */
    }
    snprintf(what, sizeof what, "the provider answered with status %d", call->status);
    call_fail(call, verdict_of_status(call->status), what, words);
    call->failure.retry_after_ms = call->retry_after_ms;
    arena_release(&arena);
}

/* --- the answer --- */

static void on_part(void *owner, const struct model_part *part)
{
    struct provider_call *call = owner;
    if (call->is_cancelled || call->is_failed) {
        return;
    }
    if (part->kind == PART_ERROR) {
        call_fail(call, verdict_of_name(part->name), "the provider gave up", part->text);
        return;
    }
    call->has_stopped = call->has_stopped || part->kind == PART_STOP;
    call->handler.part(call->handler.owner, part);
}

/* Seconds, or the milliseconds of a header of its own; a date is not worth reading. */
static int64_t retry_after(const struct http_header *headers, size_t count)
{
    int64_t value;
    if (slice_to_i64(http_header_find(headers, count, "retry-after-ms"), &value) && value >= 0) {
        return value;
    }
    if (slice_to_i64(http_header_find(headers, count, "retry-after"), &value) && value >= 0 && value < 1000000) {
        return value * 1000;
    }
    return -1;
}

static void on_head(void *owner, int status, const struct http_header *headers, size_t count)
{
    struct provider_call *call = owner;
    call->status = status;
    call->retry_after_ms = retry_after(headers, count);
}

static void call_free(struct provider_call *call)
{
    model_stream_release(&call->stream);
    buffer_release(&call->error_body);
    free(call);
}

static void on_body(void *owner, struct slice bytes)
{
    struct provider_call *call = owner;
    struct failure failure = {0};
    if (call->is_failed) {
        return;
    }
    if (call->status != 200) {
        buffer_add(&call->error_body, slice_utf8_prefix(bytes, ERROR_BODY_MAX - call->error_body.len));
        return;
    }
    call->is_inside = true;
    if (model_stream_feed(&call->stream, bytes, (struct model_sink){call, on_part}, &failure) != STATUS_OK) {
        call_fail(call, unavailable, "the answer can't be understood", slice_of(failure.detail));
    }
    call->is_inside = false;
    if (call->is_cancelled) {
        call_free(call);
    }
}

static void on_end(void *owner, const struct failure *failure)
{
    struct provider_call *call = owner;
    bool is_answered = call->status == 200;
    call->http = NULL;
    if (call->status && !is_answered) {
        fail_by_answer(call);
    } else if (failure && !call->stream.is_finished) {
        call_fail(call, unavailable, failure->code, slice_of(failure->detail));
    } else if (!call->is_failed && !call->stream.is_finished && !call->has_stopped) {
        call_fail(call, unavailable, "cut", SLICE("the answer ended before the model had finished"));
    }
    call->is_inside = true;
    call->handler.end(call->handler.owner, call->is_failed ? &call->failure : NULL);
    call_free(call);
}

/* --- the request --- */

static struct slice secret_find(const struct provider_options *options, const char *name)
{
    if (options->secret) {
        return options->secret(options->secret_owner, name);
    }
    return slice_of(getenv(name));
}

static const char *base_of(const struct provider_options *options, const struct provider *provider)
{
    const char *given = provider->wire == &anthropic_wire ? options->anthropic_base : options->openai_base;
    return given ? given : provider->base;
}

static void url_build(struct buffer *url, const struct provider_options *options, const struct provider *provider,
                      const char *at)
{
    struct slice base = slice_of(base_of(options, provider)), path = slice_of(at);
    while (base.len && base.ptr[base.len - 1] == '/') {
        base.len--;
    }
    bool says_v1 = base.len > 3 && memcmp(base.ptr + base.len - 3, "/v1", 3) == 0;
    buffer_add(url, base);
    buffer_add(url, says_v1 && slice_starts(path, SLICE("/v1/")) ? slice_after(path, 3) : path);
    buffer_add_byte(url, '\0');
}

static size_t headers_build(struct http_header *headers, const struct provider *provider, struct slice accept,
                            struct slice key)
{
    size_t count = 0;
    headers[count++] = http_header_own("Content-Type", SLICE("application/json"));
    headers[count++] = http_header_own("Accept", accept);
    if (key.len) {
        headers[count++] = http_header_own(provider->key_header, key);
    }
    if (provider->extra_header) {
        headers[count++] = http_header_own(provider->extra_header, slice_of(provider->extra_value));
    }
    return count;
}

/* In one place, which the caller wipes. */
static void key_build(struct buffer *key, const struct provider *provider, struct slice secret)
{
    buffer_reserve(key, 16 + secret.len);
    if (secret.len) {
        buffer_add(key, slice_of(provider->key_prefix));
        buffer_add(key, secret);
    }
}

static void key_wipe(struct buffer *key)
{
    explicit_bzero(key->ptr, key->len);
    buffer_release(key);
}

static bool speaks_plainly(const struct provider_options *options, const struct provider *provider)
{
    return slice_starts(slice_of(base_of(options, provider)), SLICE("http://"));
}

static enum status call_send(struct provider_call *call, struct http_client *client,
                             const struct provider_options *options, struct slice secret,
                             const struct model_request *request, struct failure *failure)
{
    struct buffer url = {0}, body = {0}, key = {0};
    struct http_header headers[HEADERS_MAX];
    url_build(&url, options, call->provider, call->provider->path);
    call->provider->wire->write(&body, request);
    key_build(&key, call->provider, secret);
    struct http_call_spec spec = {
        .method = "POST",
        .url = url.ptr,
        .headers = headers,
        .header_count = headers_build(headers, call->provider, SLICE("text/event-stream"), buffer_slice(&key)),
        .body = buffer_slice(&body),
        .connect_ms = options->limits.connect_ms,
        .silence_ms = options->limits.silence_ms,
        .body_bytes_max = options->limits.answer_bytes_max,
        .allow_http = speaks_plainly(options, call->provider),
    };
    struct http_call_handler handler = {call, on_head, on_body, on_end};
    enum status status = http_call_start(client, &spec, &handler, &call->http, failure);
    key_wipe(&key);
    buffer_release(&url);
    buffer_release(&body);
    return status;
}

size_t provider_count(void)
{
    return PROVIDER_COUNT;
}

const char *provider_name(size_t index)
{
    return providers[index].name;
}

bool provider_is_configured(const struct provider_options *options, size_t index)
{
    const struct provider *provider = &providers[index];
    return secret_find(options, provider->secret).len > 0 || strcmp(base_of(options, provider), provider->base) != 0;
}

const char *provider_key_name(const struct provider_options *options, struct slice vendor)
{
    const struct provider *provider = provider_find(vendor);
    return provider && strcmp(base_of(options, provider), provider->base) == 0 ? provider->secret : NULL;
}

enum status provider_list_models(struct http_client *client, const struct provider_options *options, size_t index,
                                 const struct provider_question *question, const struct http_call_handler *handler,
                                 struct http_call **out, struct failure *failure)
{
    const struct provider *provider = &providers[index];
    struct buffer url = {0}, key = {0};
    struct http_header headers[HEADERS_MAX];
    url_build(&url, options, provider, provider->models_path);
    key_build(&key, provider, secret_find(options, provider->secret));
    struct http_call_spec spec = {
        .url = url.ptr,
        .headers = headers,
        .header_count = headers_build(headers, provider, SLICE("application/json"), buffer_slice(&key)),
        .connect_ms = options->limits.connect_ms,
        .total_ms = question->total_ms,
        .body_bytes_max = question->bytes_max,
        .allow_http = speaks_plainly(options, provider),
    };
    enum status status = http_call_start(client, &spec, handler, out, failure);
    key_wipe(&key);
    buffer_release(&url);
    return status;
}

enum status provider_start(struct http_client *client, const struct provider_options *options,
                           const struct model_choice *choice, const struct model_request *request,
                           const struct provider_handler *handler, struct provider_call **out,
                           struct provider_failure *out_failure)
{
    static const struct verdict no_key = {TURN_PROVIDER_AUTH, false, true}, unknown = {TURN_VALIDATION, false, true};
    const struct provider *provider = provider_find(choice->provider);
    struct failure failure = {0};
    if (!provider) {
        failure_fill(out_failure, unknown, "provider", "not known; anthropic and openai are accepted",
                     choice->provider);
        return STATUS_INVALID;
    }
    struct slice secret = secret_find(options, provider->secret);
    bool is_vendors_own = strcmp(base_of(options, provider), provider->base) == 0;
    if (!secret.len && is_vendors_own) {
        char typed[200];
        snprintf(typed, sizeof typed, "set %s in the server's environment, or run: sojourn secrets set %s --data DIR",
                 provider->secret, provider->secret);
        failure_fill(out_failure, no_key, provider->name, "no key is configured", slice_of(typed));
        return STATUS_UNAUTHENTICATED;
    }
    struct provider_call *call = memory_zeroed(sizeof *call);
    call->provider = provider;
    call->handler = *handler;
    call->retry_after_ms = -1;
    model_stream_init(&call->stream, provider->wire, options->limits.event_bytes_max);
    if (call_send(call, client, options, secret, request, &failure) != STATUS_OK) {
        failure_fill(out_failure, unknown, provider->name, "the call can't be made", slice_of(failure.detail));
        call_free(call);
        return STATUS_INVALID;
    }
    *out = call;
    return STATUS_OK;
}

void provider_cancel_question(struct http_call *call)
{
    http_call_cancel(call);
}

void provider_cancel(struct provider_call *call)
{
    if (!call) {
        return;
    }
    call->is_cancelled = true;
    http_call_cancel(call->http);
    if (!call->is_inside) {
        call_free(call);
    }
}

void provider_pause(struct provider_call *call, bool paused)
{
    if (call && call->http) {
        http_call_pause(call->http, paused);
    }
}

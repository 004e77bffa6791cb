#include "runner/tool/tool_call.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "net/address.h"
#include "net/http_client.h"
#include "wire/url.h"

enum { REDIRECTS_MAX = 5, HEADERS_MAX = 32 };

/* One call, over all its redirects: each hop is checked like the first, its address when it is connected to. */
struct fetching {
    struct arena arena;
    struct tool_place place;
    struct tool_call call;
    struct tool_done then;
    struct http_call *http; /* of this hop */
    const char *method;
    struct slice body;
    struct http_header headers[HEADERS_MAX];
    size_t header_count;
    struct url url; /* of this hop */
    bool is_open;   /* this hop goes to a host of this machine that the operator opened */
    int redirects;
    int64_t end_ms;
    int status;
    struct slice type, location;
    struct buffer answer;
    void *giving;
};

static enum status start_hop(struct fetching *f, struct slice url, struct failure *failure);

static int64_t now_ms(void)
{
    return (int64_t)(uv_hrtime() / 1000000);
}

static void fetching_free(struct fetching *f)
{
    buffer_release(&f->answer);
    arena_release(&f->arena);
    free(f);
}

/* --- where it may go --- */

static bool is_listed(const struct agent *agent, struct slice host)
{
    for (size_t i = 0; i < agent->host_count; i++) {
        if (slice_eq_nocase(agent->hosts[i], host)) {
            return true;
        }
    }
    return false;
}

static bool is_opened(const struct tool_settings *settings, const struct url *url)
{
    char text[300];
    snprintf(text, sizeof text, "%.*s:%d", SLICE_ARG(url->host), url->port);
    for (size_t i = 0; i < settings->open_host_count; i++) {
        if (slice_eq_nocase(slice_of(settings->open_hosts[i]), slice_of(text))) {
            return true;
        }
    }
    return false;
}

static enum status check_url(struct fetching *f, struct slice text, struct failure *failure)
{
    enum status status = url_parse(&f->arena, text, &f->url, failure);
    if (status != STATUS_OK) {
        return status;
    }
    f->is_open = is_opened(tool_settings_of(&f->place), &f->url);
    if (f->url.scheme != URL_HTTPS && !(f->url.scheme == URL_HTTP && f->is_open)) {
        return failure_set(failure, STATUS_FORBIDDEN, "url_refused", "Only https:// addresses are called.");
    }
    if (slice_present(f->url.user)) {
        return failure_set(failure, STATUS_FORBIDDEN, "url_refused", "An address with a user or password is refused.");
    }
    if (!is_listed(f->place.agent, f->url.host)) {
        return failure_set(failure, STATUS_FORBIDDEN, "host_refused",
                           "The host \"%.*s\" is not one this agent may call; the exact names stand in its \"hosts\".",
                           SLICE_ARG(f->url.host));
    }
    return STATUS_OK;
}

static bool allow_address(void *owner, const struct sockaddr *address)
{
    const struct fetching *f = owner;
    return f->is_open ? address_is_loopback(address) : address_is_public(address);
}

/* Written anew from its parts, so that nobody reads it differently from how it was checked. */
static const char *url_text(struct fetching *f)
{
    bool is_ipv6 = f->url.host.len && memchr(f->url.host.ptr, ':', f->url.host.len);
    return arena_format(&f->arena, "%s://%s%.*s%s:%d%.*s%s%.*s", f->url.tls ? "https" : "http", is_ipv6 ? "[" : "",
                        SLICE_ARG(f->url.host), is_ipv6 ? "]" : "", f->url.port, SLICE_ARG(f->url.path),
                        slice_present(f->url.query) ? "?" : "", SLICE_ARG(f->url.query))
        .ptr;
}

/* --- the end --- */

static void given(void *owner, const struct tool_result *result)
{
    struct fetching *f = owner;
    f->then.done(f->then.owner, result);
    fetching_free(f);
}

static void give(struct fetching *f, struct buffer *text, enum turn_error error)
{
    void *giving = tool_give(&f->place, &f->call, (struct tool_done){f, given}, text, error);
    if (giving) {
        f->giving = giving;
    }
}

static void give_failure(struct fetching *f, const struct failure *failure)
{
    struct buffer text = {0};
    enum turn_error error = tool_error_of(failure->status);
    if (strcmp(failure->code, "address_refused") == 0) {
        buffer_format(&text, "The host \"%.*s\" leads to an address that is not public; it is not called.",
                      SLICE_ARG(f->url.host));
        error = TURN_TOOL_DENIED;
    } else {
        buffer_add(&text, slice_of(failure->detail));
    }
    give(f, &text, failure->status == STATUS_TIMEOUT ? TURN_TIMEOUT : error);
}

static void give_answer(struct fetching *f)
{
    struct buffer text = {0};
    struct slice body = buffer_slice(&f->answer);
    bool is_text = slice_is_utf8(body) && !memchr(body.ptr, 0, body.len);
    buffer_format(&text, "HTTP %d", f->status);
    if (f->type.len > 0) {
        buffer_add(&text, SLICE("\ncontent-type: "));
        tool_text_add(&text, f->type);
    }
    if (f->redirects > 0) {
        buffer_format(&text, "\nafter %d redirect%s, from %s", f->redirects, f->redirects == 1 ? "" : "s", url_text(f));
    }
    buffer_add(&text, SLICE("\n\n"));
    if (is_text) {
        tool_text_add(&text, body);
    } else {
        buffer_format(&text, "[%zu bytes that are not text]", body.len);
    }
    give(f, &text, TURN_OK);
}

/* --- redirects --- */

static bool is_redirect(int status)
{
    return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

static bool has_scheme(struct slice location)
{
    size_t letters = 0;
    while (letters < location.len && isalnum((unsigned char)location.ptr[letters])) {
        letters++;
    }
    return letters > 0 && slice_starts(slice_after(location, letters), SLICE(":"));
}

/* What a Location means from here (RFC 3986, 5.2; dots in paths are the server's business). */
static struct slice resolve(struct fetching *f, struct slice location)
{
    const char *scheme = f->url.tls ? "https" : "http";
    struct slice host = f->url.host, path = f->url.path, left;
    bool is_ipv6 = memchr(host.ptr, ':', host.len);
    slice_cut(location, '#', &location, &left);
    if (has_scheme(location)) {
        return location;
    }
    if (slice_starts(location, SLICE("//"))) {
        return arena_format(&f->arena, "%s:%.*s", scheme, SLICE_ARG(location));
    }
    const char *slash = memrchr(path.ptr, '/', path.len);
    size_t keeps = slice_starts(location, SLICE("/"))   ? 0
                   : slice_starts(location, SLICE("?")) ? path.len
                   : slash                              ? (size_t)(slash - path.ptr) + 1
                                                        : 0;
    return arena_format(&f->arena, "%s://%s%.*s%s:%d%.*s%.*s", scheme, is_ipv6 ? "[" : "", SLICE_ARG(host),
                        is_ipv6 ? "]" : "", f->url.port, (int)keeps, path.ptr, SLICE_ARG(location));
}

static void follow(struct fetching *f)
{
    struct failure failure = {0};
    struct slice host = f->url.host, next = resolve(f, f->location);
    int port = f->url.port;
    if (f->status == 303 || ((f->status == 301 || f->status == 302) && strcmp(f->method, "POST") == 0)) {
        f->method = strcmp(f->method, "HEAD") == 0 ? "HEAD" : "GET";
        f->body = (struct slice){0};
    }
    f->redirects++;
    enum status status = f->redirects <= REDIRECTS_MAX
                             ? check_url(f, next, &failure)
                             : failure_set(&failure, STATUS_FORBIDDEN, "too_many_redirects",
                                           "There are more than %d redirects.", REDIRECTS_MAX);
    if (!slice_eq_nocase(host, f->url.host) || port != f->url.port) {
        f->header_count = 0; /* what was meant for one host is not told another */
    }
    if (status == STATUS_OK) {
        status = start_hop(f, (struct slice){0}, &failure);
    }
    if (status != STATUS_OK) {
        failure.status = status;
        give_failure(f, &failure);
    }
}

/* --- one hop --- */

static void on_head(void *owner, int status, const struct http_header *headers, size_t count)
{
    struct fetching *f = owner;
    f->status = status;
    f->type = arena_copy(&f->arena, http_header_find(headers, count, "content-type"));
    f->location = arena_copy(&f->arena, http_header_find(headers, count, "location"));
}

static void on_body(void *owner, struct slice bytes)
{
    struct fetching *f = owner;
    buffer_add(&f->answer, bytes);
}

static void on_end(void *owner, const struct failure *failure)
{
    struct fetching *f = owner;
    f->http = NULL;
    if (failure) {
        give_failure(f, failure);
    } else if (is_redirect(f->status) && f->location.len > 0) {
        follow(f);
    } else {
        give_answer(f);
    }
}

static enum status start_hop(struct fetching *f, struct slice url, struct failure *failure)
{
    const struct tool_settings *settings = tool_settings_of(&f->place);
    enum status status = slice_present(url) ? check_url(f, url, failure) : STATUS_OK;
    int64_t left_ms = f->end_ms - now_ms();
    if (status != STATUS_OK) {
        return status;
    }
    const struct http_call_spec spec = {
        .method = f->method,
        .url = url_text(f),
        .headers = f->headers,
        .header_count = f->header_count,
        .body = f->body,
        .connect_ms = left_ms > 0 ? left_ms : 1,
        .total_ms = left_ms > 0 ? left_ms : 1,
        .body_bytes_max = settings->http_bytes_max,
        .allow_http = f->is_open,
        .allow_address = allow_address,
        .address_owner = f,
    };
    f->answer.len = 0;
    return http_call_start(f->place.http, &spec, &(struct http_call_handler){f, on_head, on_body, on_end}, &f->http,
                           failure);
}

/* Headers that say where a call goes, or how it is framed, are not the model's to set. */
static bool is_forbidden_header(struct slice name)
{
    static const char *const names[] = {
        "host",   "content-length", "transfer-encoding", "connection",         "upgrade", "te", "trailer", "expect",
        "cookie", "keep-alive",     "proxy-connection",  "proxy-authorization"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (slice_eq_nocase(name, slice_of(names[i]))) {
            return true;
        }
    }
    return false;
}

static enum status read_arguments(struct fetching *f, const struct json *arguments, struct failure *failure)
{
    const struct json *headers = json_get_value(arguments, "headers");
    struct slice method = json_text_of(arguments, "method");
    f->method = arena_copy(&f->arena, slice_present(method) ? method : SLICE("GET")).ptr;
    f->body = arena_copy(&f->arena, json_text_of(arguments, "body"));
    for (const struct json *one = headers ? headers->child : NULL; one; one = one->next) {
        if (f->header_count == HEADERS_MAX || is_forbidden_header(one->key)) {
            return failure_set(failure, STATUS_INVALID, "header_refused",
                               "The header \"%.*s\" is refused: it is set by the server, or there are more than %d.",
                               SLICE_ARG(one->key), HEADERS_MAX);
        }
        struct slice name = arena_copy(&f->arena, one->key), value = arena_copy(&f->arena, one->text);
        if (!http_header_make(name, value, &f->headers[f->header_count++])) {
            return failure_set(failure, STATUS_INVALID, "header_refused",
                               "\"%.*s\" is not a header: its name must be a token, and its value one line without "
                               "control characters.",
                               SLICE_ARG(slice_utf8_prefix(name, 100)));
        }
    }
    return STATUS_OK;
}

TOOL_RUN(http_request_run)
{
    struct failure failure = {0};
    if (!place->http) {
        tool_refuse(then, TURN_TOOL_UNAVAILABLE, SLICE("Calls to other hosts are not possible here."));
        return NULL;
    }
    struct fetching *f = memory_zeroed(sizeof *f);
    f->place = *place;
    f->then = then;
    f->call = (struct tool_call){.id = arena_copy(&f->arena, call->id), .name = arena_copy(&f->arena, call->name)};
    f->end_ms = now_ms() + tool_settings_of(place)->http_ms_max;
    enum status status = read_arguments(f, call->arguments, &failure);
    if (status == STATUS_OK) {
        status = start_hop(f, arena_copy(&f->arena, json_text_of(call->arguments, "url")), &failure);
    }
    if (status != STATUS_OK) {
        tool_refuse(then, tool_error_of(status), slice_of(failure.detail));
        fetching_free(f);
        return NULL;
    }
    return f;
}

void http_request_cancel(void *running)
{
    struct fetching *f = running;
    http_call_cancel(f->http);
    if (f->giving) {
        tool_job_cancel(f->giving);
    }
    fetching_free(f);
}

#include "api/sandbox/proxy_target.h"

#include "domain/tunnel.h"
#include "net/address.h"
#include "service/sandbox/runtime_host.h"
#include "service/session/tunnel.h"

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
                           "The session's sandbox is %s; a message wakes it.", runtime_enum.names[session->runtime]);
    }
    if (!runtime_host_listens(request->api->runtimes, session->tenant_key, session->key, port)) {
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

/* The one-use ticket of a socket is for this server only. */
static struct slice query_without_ticket(struct arena *arena, struct slice query)
{
    struct buffer kept = {0};
    struct slice part, rest = query;
    while (rest.len > 0) {
        slice_cut(rest, '&', &part, &rest);
        if (!slice_starts(part, SLICE("ticket="))) {
            buffer_add(&kept, kept.len > 0 ? SLICE("&") : SLICE(""));
            buffer_add(&kept, part);
        }
    }
    struct slice copy = kept.len > 0 ? arena_copy(arena, buffer_slice(&kept)) : (struct slice){0};
    buffer_release(&kept);
    return copy;
}

void proxy_target_find(struct request *request, struct slice target, struct arena *arena, struct proxy_target *out)
{
    struct slice query = request->exchange->request.query;
    if (slice_present(request_ticket(request))) {
        query = query_without_ticket(arena, query);
    }
    int64_t port = tunnel_local_port(target);
    struct slice base =
        port ? arena_format(arena, "http://127.0.0.1:%lld", (long long)port) : arena_copy(arena, target);
    while (base.len > 0 && base.ptr[base.len - 1] == '/') {
        base.len--;
    }
    struct slice authority = authority_of(base);
    out->base = base;
    out->loopback = port != 0;
    out->any_address = is_named(request->api, host_of(authority), authority);
    out->prefix = arena_format(arena, "/api/sessions/%.*s/proxy/%.*s", SLICE_ARG(request->params[0]),
                               SLICE_ARG(request->params[1]));
    out->url = arena_format(arena, "%.*s/%.*s%s%.*s", SLICE_ARG(base), SLICE_ARG(rest_of(request)),
                            slice_present(query) ? "?" : "", SLICE_ARG(query))
                   .ptr;
}

enum status proxy_check(struct request *request, bool reads, struct session *out_session, struct slice *out_target)
{
    enum status status =
        tunnel_find(&request->call, request->params[0], request->params[1], reads, out_session, out_target);
    if (status == STATUS_OK && tunnel_local_port(*out_target) != 0) {
        status = check_sandbox(request, out_session, tunnel_local_port(*out_target));
    }
    return status;
}

bool proxy_target_allows(void *way, const struct sockaddr *address)
{
    const struct proxy_target *to = way;
    if (to->loopback) {
        return address_is_loopback(address);
    }
    return to->any_address || address_is_public(address);
}

/* --- what passes --- */

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

/* There. */
static bool is_kept_back(struct slice name)
{
    static const char *const own[] = {"authorization", "cookie",        "x-csrf-token",       "host",
                                      "expect",        "sojourn-lease", "x-request-id",       "idempotency-key",
                                      "origin",        "referer",       "x-forwarded-prefix", NULL};
    return is_listed(name, hop_by_hop) || is_listed(name, own);
}

size_t proxy_target_headers(const struct proxy_target *way, const struct http_request *from, struct http_header *out)
{
    size_t count = 0;
    for (size_t i = 0; i < from->header_count && count < PROXY_HEADERS_MAX - 1; i++) {
        if (!is_kept_back(from->headers[i].name)) {
            out[count++] = from->headers[i];
        }
    }
    out[count++] = http_header_own("x-forwarded-prefix", way->prefix);
    return count;
}

/* Back: what describes the answer itself. Everything else a service may say speaks to the browser, to a proxy in front
 * of this server, or for the whole origin, which is this server's: cookies, passwords, where to go, what to forget,
 * which file to send instead. */
static bool passes_back(struct slice name)
{
    static const char *const names[] = {"accept-ranges",
                                        "allow",
                                        "content-disposition",
                                        "content-encoding",
                                        "content-language",
                                        "content-range",
                                        "content-type",
                                        "etag",
                                        "last-modified",
                                        "location",
                                        "retry-after",
                                        "sec-websocket-accept",
                                        "sec-websocket-extensions",
                                        "sec-websocket-protocol",
                                        "vary",
                                        NULL};
    return is_listed(name, names);
}

/* Where the service leads to itself, the way is through the tunnel again. */
static struct slice lead_back(const struct proxy_target *way, struct arena *arena, struct slice location)
{
    if (slice_starts(location, way->base)) {
        location = slice_after(location, way->base.len);
    } else if (!slice_starts(location, SLICE("/")) || slice_starts(location, SLICE("//"))) {
        return location;
    }
    bool slash = slice_starts(location, SLICE("/"));
    return arena_format(arena, "%.*s%s%.*s", SLICE_ARG(way->prefix), slash ? "" : "/", SLICE_ARG(location));
}

/* A part of a multipart document has headers of its own, of which browsers take some, Set-Cookie among them. */
static bool has_parts(const struct http_header *header)
{
    static const struct slice multipart = SLICE("multipart");
    for (size_t i = 0; slice_eq_nocase(header->name, SLICE("content-type")) && i + multipart.len <= header->value.len;
         i++) {
        if (slice_eq_nocase(slice_from(header->value.ptr + i, multipart.len), multipart)) {
            return true;
        }
    }
    return false;
}

/* A cache in front of this server must not give to others what one caller may see; the caller's own asks each time. */
static void write_caching(const struct http_header *headers, size_t count, struct buffer *out)
{
    bool is_kept = !http_list_has(http_header_find(headers, count, "cache-control"), "no-store");
    http_write_header(out, "Cache-Control", is_kept ? SLICE("private, no-cache") : SLICE("no-store"));
}

void proxy_target_write_back(struct proxy_target *way, struct arena *arena, const struct http_header *headers,
                             size_t count, struct buffer *out)
{
    for (size_t i = 0; i < count; i++) {
        const struct http_header *header = &headers[i];
        if (slice_eq_nocase(header->name, SLICE("location"))) {
            http_write_header(out, "Location", lead_back(way, arena, header->value));
        } else if (has_parts(header)) {
            http_write_header(out, "Content-Type", SLICE("application/octet-stream"));
        } else if (passes_back(header->name)) {
            http_write_header_as_is(out, header);
        }
    }
    write_caching(headers, count, out);
}

void proxy_tell_failure(const struct failure *failure, struct failure *out)
{
    struct slice code = slice_of(failure->code);
    if (slice_is(code, "address_refused")) {
        (void)failure_set(
            out, STATUS_FORBIDDEN, "tunnel_refused",
            "The tunnel leads to an address that is not public; the option tunnel-hosts names exceptions.");
    } else if (slice_is(code, "stopping")) {
        (void)failure_set(out, STATUS_UNAVAILABLE, "server_stopping", "The server stops; try again.");
        out->retry_after_s = 1;
    } else if (slice_is(code, "timeout") || slice_is(code, "silent")) {
        (void)failure_set(out, STATUS_TIMEOUT, "tunnel_timeout", "The service behind the tunnel does not answer.");
    } else {
        (void)failure_set(out, STATUS_BAD_GATEWAY, "tunnel_failed", "The service behind the tunnel failed: %s",
                          failure->detail);
    }
}

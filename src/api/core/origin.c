#include "api/core/origin.h"

/* "https://host:8443" → "host:8443" */
static struct slice authority_of(struct slice origin)
{
    struct slice scheme, rest;
    bool whole = slice_cut(origin, ':', &scheme, &rest) && slice_starts(rest, SLICE("//")) && rest.len > 2;
    return whole ? slice_after(rest, 2) : (struct slice){0};
}

/* A proxy before this server may have written another Host; then it tells the one it was asked for, or the operator
 * did. Pages can set neither header. */
static bool is_this_host(const struct request *request, struct slice authority)
{
    return slice_eq_nocase(authority, request_header(request, "host")) ||
           slice_eq_nocase(authority, request_header(request, "x-forwarded-host"));
}

static bool is_public_url(const struct api *api, struct slice origin)
{
    struct slice url = slice_of(api->public_url ? api->public_url : "");
    return slice_starts(url, origin) && (url.len == origin.len || url.ptr[origin.len] == '/');
}

static bool is_named(const struct api *api, struct slice origin)
{
    bool found = false;
    for (size_t i = 0; i < api->cors_origin_count && !found; i++) {
        found = slice_is(origin, api->cors_origins[i]);
    }
    return found;
}

bool origin_is_ours(const struct request *request)
{
    struct slice origin = request_header(request, "origin"), authority = authority_of(origin);
    bool same = slice_is(request_header(request, "sec-fetch-site"), "same-origin");
    return same ||
           (slice_present(authority) && (is_this_host(request, authority) || is_public_url(request->api, origin) ||
                                         is_named(request->api, origin)));
}

static enum status refuse(struct request *request)
{
    return failure_set(&request->call.failure, STATUS_FORBIDDEN, "foreign_origin",
                       "A browser does this from a page of this server only, or of an origin that cors-origin names; "
                       "behind a proxy that changes Host, public-url tells which page that is.");
}

enum status origin_check(struct request *request)
{
    struct slice site = request_header(request, "sec-fetch-site");
    bool is_browser = slice_present(request_header(request, "origin")) ||
                      (slice_present(site) && !slice_is(site, "none")); /* none: typed by a person */
    return !is_browser || origin_is_ours(request) ? STATUS_OK : refuse(request);
}

enum status origin_check_upgrade(struct request *request)
{
    return origin_is_ours(request) ? STATUS_OK : refuse(request);
}

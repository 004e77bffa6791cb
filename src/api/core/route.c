#include "api/core/route.h"

#include <assert.h>

enum { ROUTES_MAX = 192 };

const struct field any_query[] = {{0}}, any_body[] = {{0}};

/* The patterns, cut into segments once, so that a request only compares. */
static struct pattern {
    struct slice segments[PATH_SEGMENTS_MAX];
    size_t count;
    bool is_open; /* anything may follow */
} patterns[ROUTES_MAX];

static void cut_pattern(const char *path, struct pattern *out)
{
    struct slice rest = slice_of(path + 1);
    bool more = rest.len > 0; /* "/" has no segments */
    for (out->count = 0; more; out->count++) {
        assert(out->count < PATH_SEGMENTS_MAX);
        more = slice_cut(rest, '/', &out->segments[out->count], &rest);
    }
    out->is_open = out->count > 0 && slice_is(out->segments[out->count - 1], "{rest}");
    out->count -= out->is_open;
}

void routes_prepare(void)
{
    for (size_t i = 0; routes[i].path; i++) {
        assert(i < ROUTES_MAX);
        cut_pattern(routes[i].path, &patterns[i]);
    }
}

static bool is_parameter(struct slice segment)
{
    return segment.len > 0 && segment.ptr[0] == '{';
}

/* A parameter takes any text that is not empty. */
static bool pattern_matches(const struct pattern *pattern, const struct path *path,
                            struct slice params[ROUTE_PARAMS_MAX])
{
    size_t param_count = 0;
    if (pattern->is_open ? path->count < pattern->count : path->count != pattern->count) {
        return false;
    }
    for (size_t i = 0; i < pattern->count; i++) {
        struct slice wanted = pattern->segments[i], got = path->segments[i];
        if (!is_parameter(wanted) && !slice_eq(wanted, got)) {
            return false;
        }
        if (is_parameter(wanted)) {
            if (got.len == 0 || param_count >= ROUTE_PARAMS_MAX) {
                return false;
            }
            params[param_count++] = got;
        }
    }
    return true;
}

const struct route *route_find(enum http_method method, const struct path *path, struct slice params[ROUTE_PARAMS_MAX],
                               unsigned *out_allowed)
{
    enum http_method wanted = method == HTTP_HEAD ? HTTP_GET : method;
    *out_allowed = 0;
    for (size_t i = 0; routes[i].path; i++) {
        struct slice found[ROUTE_PARAMS_MAX] = {{0}};
        if (!pattern_matches(&patterns[i], path, found)) {
            continue;
        }
        if (routes[i].method == wanted) {
            memcpy(params, found, sizeof found);
            return &routes[i];
        }
        *out_allowed |= 1u << routes[i].method;
    }
    return NULL;
}

bool route_names_session(const struct route *route)
{
    return slice_starts(slice_of(route->path), SLICE("/api/sessions/{id}"));
}

#include "api/route.h"

/* Compares one segment of a pattern with one of a path; a parameter takes any non-empty text. */
static bool segment_matches(struct slice pattern, struct slice segment, struct slice *params, size_t *param_count)
{
    if (pattern.len > 0 && pattern.ptr[0] == '{') {
        if (segment.len == 0 || *param_count >= ROUTE_PARAMS_MAX) {
            return false;
        }
        params[(*param_count)++] = segment;
        return true;
    }
    return slice_eq(pattern, segment);
}

static bool path_matches(const char *pattern, const struct path *path, struct slice params[ROUTE_PARAMS_MAX])
{
    struct slice rest = slice_of(pattern + 1);
    size_t param_count = 0;
    for (size_t i = 0; i < path->count; i++) {
        struct slice segment;
        bool more = slice_cut(rest, '/', &segment, &rest);
        if (!segment_matches(segment, path->segments[i], params, &param_count) || (!more && i + 1 < path->count)) {
            return false;
        }
        if (more && i + 1 == path->count) {
            return false;
        }
    }
    return path->count > 0 || rest.len == 0;
}

const struct route *route_find(enum http_method method, const struct path *path, struct slice params[ROUTE_PARAMS_MAX],
                               unsigned *out_allowed)
{
    enum http_method wanted = method == HTTP_HEAD ? HTTP_GET : method;
    *out_allowed = 0;
    for (const struct route *route = routes; route->path; route++) {
        struct slice found[ROUTE_PARAMS_MAX] = {{0}};
        if (!path_matches(route->path, path, found)) {
            continue;
        }
        if (route->method == wanted) {
            memcpy(params, found, sizeof found);
            return route;
        }
        *out_allowed |= 1u << route->method;
    }
    return NULL;
}

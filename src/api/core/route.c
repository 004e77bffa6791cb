#include "api/core/route.h"

#include <assert.h>
#include <stdlib.h>

#include "base/arena.h"

const struct field any_query[] = {{0}}, any_body[] = {{0}};

struct pattern {
    const struct route *route;
    struct slice segments[PATH_SEGMENTS_MAX];
    size_t count;
    bool is_open; /* anything may follow */
};

struct route_index {
    size_t count;
    struct pattern patterns[];
};

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

struct route_index *route_index_new(const struct route *table)
{
    size_t count = 0;
    while (table[count].path) {
        count++;
    }
    struct route_index *index = memory_zeroed(sizeof *index + count * sizeof *index->patterns);
    index->count = count;
    for (size_t i = 0; i < count; i++) {
        index->patterns[i].route = &table[i];
        cut_pattern(table[i].path, &index->patterns[i]);
    }
    return index;
}

void route_index_free(struct route_index *index)
{
    free(index);
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

const struct route *route_find(const struct route_index *index, enum http_method method, const struct path *path,
                               struct slice params[ROUTE_PARAMS_MAX], unsigned *out_allowed)
{
    enum http_method wanted = method == HTTP_HEAD ? HTTP_GET : method;
    *out_allowed = 0;
    for (size_t i = 0; i < index->count; i++) {
        const struct route *route = index->patterns[i].route;
        struct slice found[ROUTE_PARAMS_MAX] = {{0}};
        if (!pattern_matches(&index->patterns[i], path, found)) {
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

bool route_names_session(const struct route *route)
{
    const char *at = strstr(route->path, "/sessions/{id}");
    return at && at + strlen("/sessions/") == strchr(route->path, '{');
}

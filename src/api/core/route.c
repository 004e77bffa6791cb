#include "api/core/route.h"

#include <assert.h>
#include <stdlib.h>

#include "base/arena.h"
#include "domain/principal.h"

const struct field any_query[] = {{0}}, any_body[] = {{0}}, empty_body[] = {{0}};

/* A path cut into segments once, so that a request only compares. */
struct pattern {
    const struct route *route;
    struct slice segments[PATH_SEGMENTS_MAX];
    size_t count;
    bool is_open; /* anything may follow */
};

/* The patterns stand in the order in which they are tried. */
struct route_index {
    size_t count;
    struct route *rows; /* end with a NULL path */
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

static bool is_parameter(struct slice segment)
{
    return segment.len > 0 && segment.ptr[0] == '{';
}

static int compare_segments(struct slice a, struct slice b)
{
    if (is_parameter(a) || is_parameter(b)) { /* the names of parameters do not count */
        return (int)is_parameter(a) - (int)is_parameter(b);
    }
    size_t both = a.len < b.len ? a.len : b.len;
    int order = memcmp(a.ptr, b.ptr, both);
    return order != 0 ? order : (a.len > b.len) - (a.len < b.len);
}

/* Of two patterns that fit the same path, the one with the earlier fixed segment is tried first; an open one last. */
static int compare_patterns(const void *left, const void *right)
{
    const struct pattern *a = left, *b = right;
    for (size_t i = 0; i < a->count && i < b->count; i++) {
        int order = compare_segments(a->segments[i], b->segments[i]);
        if (order != 0) {
            return order;
        }
    }
    if (a->count != b->count) {
        return a->count > b->count ? -1 : 1;
    }
    if (a->is_open != b->is_open) {
        return a->is_open ? 1 : -1;
    }
    return (int)a->route->method - (int)b->route->method;
}

static bool sends_body(enum http_method method)
{
    return method == HTTP_POST || method == HTTP_PUT || method == HTTP_PATCH;
}

static void fill_in(struct route *route, const char *tag)
{
    bool is_get = route->method == HTTP_GET;
    unsigned usual = is_get ? SCOPE_READ : SCOPE_WRITE;
    route->tag = tag;
    route->run_on = route->run_on ? route->run_on : is_get ? RUN_READER : RUN_WRITER;
    route->scope = route->auth == AUTH_NONE || route->scope == SCOPE_ANY ? 0 : route->scope ? route->scope : usual;
    route->success = route->success ? route->success : 200;
    route->body = route->body || !sends_body(route->method) ? route->body : empty_body;
}

/* The copies are private: the tables stay as they are written. */
static void collect(struct route_index *index, const struct route_table *table)
{
    for (const struct route *row = table->rows; row->path; row++) {
        struct route *copy = &index->rows[index->count];
        struct pattern *pattern = &index->patterns[index->count++];
        assert(row->handle && row->summary);
        *copy = *row;
        fill_in(copy, table->tag);
        pattern->route = copy;
        cut_pattern(row->path, pattern);
    }
}

static size_t count_rows(const struct route_table *tables)
{
    size_t count = 0;
    for (const struct route_table *table = tables; table->rows; table++) {
        for (const struct route *row = table->rows; row->path; row++) {
            count++;
        }
    }
    return count;
}

struct route_index *route_index_new(const struct route_table *tables)
{
    size_t count = count_rows(tables);
    struct route_index *index = memory_zeroed(sizeof *index + count * sizeof *index->patterns);
    index->rows = memory_zeroed((count + 1) * sizeof *index->rows);
    for (const struct route_table *table = tables; table->rows; table++) {
        collect(index, table);
    }
    qsort(index->patterns, count, sizeof index->patterns[0], compare_patterns);
    for (size_t i = 1; i < count; i++) {
        assert(compare_patterns(&index->patterns[i - 1], &index->patterns[i]) < 0);
    }
    return index;
}

void route_index_free(struct route_index *index)
{
    if (index) {
        free(index->rows);
    }
    free(index);
}

const struct route *route_index_rows(const struct route_index *index)
{
    return index->rows;
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

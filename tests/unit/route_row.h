/* Rows of the server's routes, for tests. */
#ifndef TESTS_UNIT_ROUTE_ROW_H
#define TESTS_UNIT_ROUTE_ROW_H

#include "api/core/route.h"

static struct route_index *route_index;

static int prepare_routes(void **state)
{
    (void)state;
    route_index = route_index_new(route_tables);
    return 0;
}

static int release_routes(void **state)
{
    (void)state;
    route_index_free(route_index);
    return 0;
}

/* The row as it is written, without matching. */
static const struct route *route_row(enum http_method method, const char *path)
{
    const struct route *route = route_index_rows(route_index);
    while (route->path && (route->method != method || strcmp(route->path, path) != 0)) {
        route++;
    }
    assert_non_null(route->path);
    return route;
}

#endif

#include "unit.h"
#include "api/core/handlers.h"
#include "domain/agent_fields.h"

static struct route_index *route_index;

static const struct route *find(enum http_method method, const char *text, struct slice *params, unsigned *allowed)
{
    static struct arena arena;
    struct path path;
    struct failure failure;
    arena_reset(&arena);
    assert_int_equal(path_split(&arena, slice_of(text), &path, &failure), STATUS_OK);
    return route_find(route_index, method, &path, params, allowed);
}

static void test_fixed_segments_win(void **state)
{
    (void)state;
    struct slice params[ROUTE_PARAMS_MAX];
    unsigned allowed;
    assert_ptr_equal(find(HTTP_POST, "/api/sessions/bulk-delete", params, &allowed)->handle, sessions_bulk_delete);
    assert_ptr_equal(find(HTTP_POST, "/api/sessions/join/tok", params, &allowed)->handle, shares_redeem);
    assert_slice(params[0], "tok");
    assert_ptr_equal(find(HTTP_GET, "/api/sessions/bulk-delete", params, &allowed)->handle, sessions_get);
}

static void test_parameters(void **state)
{
    (void)state;
    struct slice params[ROUTE_PARAMS_MAX];
    unsigned allowed;
    const struct route *route = find(HTTP_DELETE, "/api/sessions/cli%3Ahome/participants/u1", params, &allowed);
    assert_ptr_equal(route->handle, participants_remove);
    assert_slice(params[0], "cli:home");
    assert_slice(params[1], "u1");
}

static void test_head_is_get(void **state)
{
    (void)state;
    struct slice params[ROUTE_PARAMS_MAX];
    unsigned allowed;
    assert_ptr_equal(find(HTTP_HEAD, "/healthz", params, &allowed)->handle, system_health);
}

static void test_unknown(void **state)
{
    (void)state;
    struct slice params[ROUTE_PARAMS_MAX];
    unsigned allowed;
    assert_null(find(HTTP_GET, "/api/session", params, &allowed));
    assert_int_equal(allowed, 0);
    assert_null(find(HTTP_GET, "/api/sessions/", params, &allowed));
    assert_null(find(HTTP_GET, "/api/sessions/a/b/c/d", params, &allowed));
    assert_null(find(HTTP_PUT, "/api/sessions", params, &allowed));
    assert_int_equal(allowed, 1u << HTTP_POST | 1u << HTTP_GET);
}

/* What a careless row would break. */
static void test_every_row_is_complete(void **state)
{
    (void)state;
    for (const struct route *route = routes; route->path; route++) {
        assert_non_null(route->handle);
        assert_non_null(route->summary);
        assert_true(route->success >= 101 && route->success < 300);
        assert_true(!route->prepare || route->run_on == RUN_WRITER);
        assert_true(!route->idempotent || route->run_on == RUN_WRITER);
        bool has_body = route->method == HTTP_POST || route->method == HTTP_PUT || route->method == HTTP_PATCH;
        bool passes_on = route->query == any_query; /* whatever it is */
        bool reads_itself =                         /* what its body is */
            strcmp(route->path, "/asks/{token}") == 0 || strcmp(route->path, "/api/sessions/{id}/files") == 0;
        assert_true(has_body == (route->body != NULL) || reads_itself || passes_on);
        for (const struct route *other = routes; other < route; other++) {
            assert_false(other->method == route->method && strcmp(other->path, route->path) == 0);
        }
    }
}

/* The API describes a definition, the domain reads it: both know the same members, in the same order. */
static void test_agents_have_the_members_of_a_definition(void **state)
{
    (void)state;
    size_t i = 0;
    for (; agent_fields[i].name && agent_body[i].name; i++) {
        assert_string_equal(agent_body[i].name, agent_fields[i].name);
    }
    assert_true(!agent_fields[i].name && !agent_body[i].name);
}

static int prepare(void **state)
{
    (void)state;
    route_index = route_index_new(routes);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fixed_segments_win),    cmocka_unit_test(test_parameters),
        cmocka_unit_test(test_head_is_get),           cmocka_unit_test(test_unknown),
        cmocka_unit_test(test_every_row_is_complete), cmocka_unit_test(test_agents_have_the_members_of_a_definition),
    };
    return cmocka_run_group_tests(tests, prepare, NULL);
}

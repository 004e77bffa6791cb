#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"

#include "route_row.h"
#include "domain/agent_fields.h"

static const struct route *find(enum http_method method, const char *text, struct slice *params, unsigned *allowed)
{
    static struct arena arena;
    struct path path;
    struct failure failure;
    arena_reset(&arena);
    assert_int_equal(path_split(&arena, slice_of(text), &path, &failure), STATUS_OK);
    return route_find(route_index, method, &path, params, allowed);
}

static void assert_route(const struct route *route, enum http_method method, const char *path)
{
    assert_non_null(route);
    assert_int_equal(route->method, method);
    assert_string_equal(route->path, path);
}

static void test_fixed_segments_win(void **state)
{
    (void)state;
    struct slice params[ROUTE_PARAMS_MAX];
    unsigned allowed;
    assert_route(find(HTTP_POST, "/api/sessions/bulk-delete", params, &allowed), HTTP_POST,
                 "/api/sessions/bulk-delete");
    assert_route(find(HTTP_POST, "/api/sessions/join/tok", params, &allowed), HTTP_POST, "/api/sessions/join/{token}");
    assert_slice(params[0], "tok");
    assert_route(find(HTTP_GET, "/api/sessions/bulk-delete", params, &allowed), HTTP_GET, "/api/sessions/{id}");
}

static void test_parameters(void **state)
{
    (void)state;
    struct slice params[ROUTE_PARAMS_MAX];
    unsigned allowed;
    const struct route *route = find(HTTP_DELETE, "/api/sessions/cli%3Ahome/participants/u1", params, &allowed);
    assert_route(route, HTTP_DELETE, "/api/sessions/{id}/participants/{user_id}");
    assert_slice(params[0], "cli:home");
    assert_slice(params[1], "u1");
}

static void test_head_is_get(void **state)
{
    (void)state;
    struct slice params[ROUTE_PARAMS_MAX];
    unsigned allowed;
    assert_route(find(HTTP_HEAD, "/healthz", params, &allowed), HTTP_GET, "/healthz");
}

static enum status answer_nothing(struct request *request)
{
    (void)request;
    return STATUS_OK;
}

/* The worst order: what is open and what are parameters first. */
static const struct route backward[] = {
    {HTTP_GET, "/a/{x}/{rest}", answer_nothing, .summary = "Open."},
    {HTTP_GET, "/a/{x}/{y}", answer_nothing, .summary = "Two parameters."},
    {HTTP_GET, "/a/b/{y}", answer_nothing, .summary = "A fixed segment first."},
    {HTTP_GET, "/a/{x}/c", answer_nothing, .summary = "A fixed segment last."},
    {HTTP_GET, "/a/b/c", answer_nothing, .summary = "Fixed."},
    {0},
};

static void test_the_order_of_rows_does_not_matter(void **state)
{
    (void)state;
    static const struct route_table tables[] = {{"Backward", backward}, {NULL, NULL}};
    struct slice params[ROUTE_PARAMS_MAX];
    unsigned allowed;
    struct route_index *server = route_index;
    route_index = route_index_new(tables);
    assert_route(find(HTTP_GET, "/a/b/c", params, &allowed), HTTP_GET, "/a/b/c");
    assert_route(find(HTTP_GET, "/a/b/z", params, &allowed), HTTP_GET, "/a/b/{y}");
    assert_route(find(HTTP_GET, "/a/z/c", params, &allowed), HTTP_GET, "/a/{x}/c");
    assert_route(find(HTTP_GET, "/a/y/z", params, &allowed), HTTP_GET, "/a/{x}/{y}");
    assert_route(find(HTTP_GET, "/a/z", params, &allowed), HTTP_GET, "/a/{x}/{rest}");
    assert_route(find(HTTP_GET, "/a/b/c/d", params, &allowed), HTTP_GET, "/a/{x}/{rest}");
    route_index_free(route_index);
    route_index = server;
}

/* Names of parameters do not tell rows apart. */
static void test_a_row_that_stands_twice_is_a_bug(void **state)
{
    (void)state;
    static const struct route again[] = {{HTTP_GET, "/a/{other}/{name}", answer_nothing, .summary = "Two parameters."},
                                         {0}};
    static const struct route_table tables[] = {{"Backward", backward}, {"Again", again}, {NULL, NULL}};
    pid_t child = fork();
    if (child == 0) {
        fclose(stderr);
        signal(SIGABRT, SIG_DFL);
        (void)route_index_new(tables);
        _exit(0);
    }
    int ended;
    assert_int_equal(waitpid(child, &ended, 0), child);
    assert_true(WIFSIGNALED(ended) && WTERMSIG(ended) == SIGABRT);
}

/* Its own path with "x" for each parameter leads to every row, unless a row with a fixed segment "x" stands there. */
static void test_every_row_is_found(void **state)
{
    (void)state;
    struct slice params[ROUTE_PARAMS_MAX];
    unsigned allowed;
    for (const struct route *route = route_index_rows(route_index); route->path; route++) {
        char path[200];
        size_t used = 0;
        for (const char *at = route->path; *at; at++) {
            path[used++] = *at == '{' ? 'x' : *at;
            at = *at == '{' ? strchr(at, '}') : at;
        }
        path[used] = '\0';
        assert_ptr_equal(find(route->method, path, params, &allowed), route);
    }
}

static void test_defaults_are_filled_in(void **state)
{
    (void)state;
    const struct route *get = route_row(HTTP_GET, "/api/sessions/{id}"),
                       *archive = route_row(HTTP_POST, "/api/sessions/{id}/archive");
    assert_int_equal(get->run_on, RUN_READER);
    assert_int_equal(get->scope, SCOPE_READ);
    assert_int_equal(get->auth, AUTH_NEEDED);
    assert_int_equal(get->success, 200);
    assert_null(get->body);
    assert_int_equal(archive->run_on, RUN_WRITER);
    assert_int_equal(archive->scope, SCOPE_WRITE);
    assert_ptr_equal(archive->body, empty_body);
    assert_string_equal(archive->tag, "Sessions");
    assert_int_equal(route_row(HTTP_GET, "/api/me")->scope, 0);
    assert_int_equal(route_row(HTTP_GET, "/healthz")->scope, 0);
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
    for (const struct route *route = route_index_rows(route_index); route->path; route++) {
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
        for (const struct route *other = route_index_rows(route_index); other < route; other++) {
            assert_false(other->method == route->method && strcmp(other->path, route->path) == 0);
        }
    }
}

/* The API describes a definition, the domain reads it: both know the same members, in the same order. */
static void test_agents_have_the_members_of_a_definition(void **state)
{
    (void)state;
    const struct field *agent_body = route_row(HTTP_POST, "/api/agents")->body;
    size_t i = 0;
    for (; agent_fields[i].name && agent_body[i].name; i++) {
        assert_string_equal(agent_body[i].name, agent_fields[i].name);
    }
    assert_true(!agent_fields[i].name && !agent_body[i].name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fixed_segments_win),
        cmocka_unit_test(test_parameters),
        cmocka_unit_test(test_head_is_get),
        cmocka_unit_test(test_unknown),
        cmocka_unit_test(test_every_row_is_complete),
        cmocka_unit_test(test_agents_have_the_members_of_a_definition),
        cmocka_unit_test(test_every_row_is_found),
        cmocka_unit_test(test_the_order_of_rows_does_not_matter),
        cmocka_unit_test(test_a_row_that_stands_twice_is_a_bug),
        cmocka_unit_test(test_defaults_are_filled_in),
    };
    return cmocka_run_group_tests(tests, prepare_routes, release_routes);
}

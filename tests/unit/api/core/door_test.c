#include "unit.h"
#include "api/core/handlers.h"
#include "api/core/validate.h"
#include "doors/native/native.h"

/* A foreign protocol, as small as one can be. */
static struct presented_credential key_header(const struct request *request)
{
    struct slice key = request_header(request, "x-api-key");
    return slice_present(key) ? (struct presented_credential){PRESENTED_TOKEN, key}
                              : (struct presented_credential){.kind = PRESENTED_NOTHING};
}

static void refuse_tersely(struct exchange *exchange, const struct failure *failure, struct slice members)
{
    (void)members;
    exchange->status = status_http(failure->status);
    buffer_format(&exchange->body, "{\"error\":\"%s\"}", failure->code);
}

static enum status read_session(struct request *request)
{
    (void)request;
    return STATUS_OK;
}

static const struct route foreign_routes[] = {
    {HTTP_GET, "/acp/v1/sessions/{id}", read_session, .summary = "One session."},
    {0},
};
static const struct route_table foreign_tables[] = {{"Sessions", foreign_routes}, {NULL, NULL}};

static struct door foreign; /* filled by prepare: its encoders are those of the native door */
static const struct door *const table[] = {&foreign, &native_door, NULL};
static struct doors *doors;

static int prepare(void **state)
{
    (void)state;
    foreign = (struct door){
        .name = "foreign",
        .prefix = "/acp",
        .tables = foreign_tables,
        .credential = key_header,
        .unauthenticated = "Send x-api-key.",
        .refuse = refuse_tersely,
        .ignores_unknown = true,
        .sse = native_door.sse,
        .websocket = native_door.websocket,
    };
    doors = doors_new(table);
    return 0;
}

static int finish(void **state)
{
    (void)state;
    doors_free(doors);
    doors_free(NULL);
    return 0;
}

static void a_prefix_leads_to_its_door(void **state)
{
    static const struct {
        const char *path;
        const struct door *door;
    } rows[] = {
        {"/acp", &foreign},      {"/acp/v1/sessions/a", &foreign},
        {"/acpx", &native_door}, {"/api/sessions", &native_door},
        {"/", &native_door},     {"*", &native_door},
    };
    const struct route_index *index;
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_ptr_equal(doors_find(doors, slice_of(rows[i].path), &index), rows[i].door);
        assert_non_null(index);
    }
}

static const struct route *find(const char *text, struct slice params[ROUTE_PARAMS_MAX], unsigned *allowed)
{
    static struct arena arena;
    const struct route_index *index;
    struct path path;
    struct failure failure;
    arena_reset(&arena);
    assert_int_equal(path_split(&arena, slice_of(text), &path, &failure), STATUS_OK);
    (void)doors_find(doors, slice_of(text), &index);
    return route_find(index, HTTP_GET, &path, params, allowed);
}

static void each_door_has_its_own_routes(void **state)
{
    struct slice params[ROUTE_PARAMS_MAX];
    unsigned allowed;
    (void)state;
    assert_ptr_equal(find("/acp/v1/sessions/s1", params, &allowed)->handle, read_session);
    assert_slice(params[0], "s1");
    assert_null(find("/acp/api/sessions", params, &allowed));
    assert_string_equal(find("/api/sessions/s1", params, &allowed)->path, "/api/sessions/{id}");
    assert_null(find("/v1/sessions/s1", params, &allowed));
    assert_true(route_names_session(&foreign_routes[0]));
    assert_true(route_names_session(find("/api/sessions/s1/events", params, &allowed)));
    assert_false(route_names_session(find("/api/sessions", params, &allowed)));
    assert_false(route_names_session(find("/api/agents/a", params, &allowed)));
}

static void each_door_finds_its_credential(void **state)
{
    struct http_header headers[] = {{SLICE("x-api-key"), SLICE("k")}, {SLICE("authorization"), SLICE("Bearer t")}};
    struct route route = {.auth = AUTH_NEEDED};
    struct exchange exchange = {.request = {.headers = headers, .header_count = 2}};
    struct request request = {.exchange = &exchange, .route = &route};
    (void)state;
    assert_slice(foreign.credential(&request).secret, "k");
    assert_slice(native_door.credential(&request).secret, "t");
    headers[1].value = SLICE("Basic t");
    assert_int_equal(native_door.credential(&request).kind, PRESENTED_UNUSABLE);
    headers[1] = (struct http_header){SLICE("cookie"), SLICE("sojourn_session=c")};
    assert_int_equal(native_door.credential(&request).kind, PRESENTED_COOKIE);
    assert_slice(native_door.credential(&request).secret, "c");
    exchange.request.header_count = 1;
    assert_int_equal(native_door.credential(&request).kind, PRESENTED_NOTHING);
}

static void each_door_phrases_failures(void **state)
{
    struct exchange exchange = {0};
    struct request request = {.exchange = &exchange, .door = &foreign};
    struct failure failure;
    (void)state;
    assert_int_equal(failure_set(&failure, STATUS_NOT_FOUND, "not_found", "There is nothing here."), STATUS_NOT_FOUND);
    request_refuse(&request, &failure);
    assert_int_equal(exchange.status, 404);
    assert_slice(buffer_slice(&exchange.body), "{\"error\":\"not_found\"}");
    request.door = &native_door;
    request_refuse(&request, &failure);
    assert_slice(buffer_slice(&exchange.body),
                 "{\"type\":\"about:blank\",\"title\":\"Not Found\",\"status\":404,\"code\":\"not_found\","
                 "\"detail\":\"There is nothing here.\"}");
    native_door.refuse(&exchange, &failure, SLICE("\"result\":{}"));
    assert_slice(buffer_slice(&exchange.body),
                 "{\"type\":\"about:blank\",\"title\":\"Not Found\",\"status\":404,\"code\":\"not_found\","
                 "\"detail\":\"There is nothing here.\",\"result\":{}}");
    buffer_release(&exchange.body);
}

static void a_door_may_ignore_what_it_does_not_know(void **state)
{
    static const struct field fields[] = {{"a", FIELD_INTEGER, true, "A number.", NULL, 0, 9}, {0}};
    struct arena arena = {0};
    struct failure failure;
    struct url_query query;
    const struct json *body;
    (void)state;
    assert_int_equal(json_parse(&arena, SLICE("{\"a\":1,\"b\":2}"), &body, NULL), STATUS_OK);
    assert_int_equal(validate_body_as(true, fields, body, &failure), STATUS_OK);
    assert_int_equal(validate_body_as(false, fields, body, &failure), STATUS_INVALID);
    assert_int_equal(json_parse(&arena, SLICE("{\"a\":10,\"b\":2}"), &body, NULL), STATUS_OK);
    assert_int_equal(validate_body_as(true, fields, body, &failure), STATUS_INVALID);
    assert_int_equal(json_parse(&arena, SLICE("{\"b\":2}"), &body, NULL), STATUS_OK);
    assert_int_equal(validate_body_as(true, fields, body, &failure), STATUS_INVALID);
    assert_int_equal(url_query_parse(&arena, SLICE("a=1&beta=true"), &query, &failure), STATUS_OK);
    assert_int_equal(validate_query_as(true, fields, &query, &failure), STATUS_OK);
    assert_int_equal(validate_query_as(false, fields, &query, &failure), STATUS_INVALID);
    arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_prefix_leads_to_its_door),
        cmocka_unit_test(each_door_has_its_own_routes),
        cmocka_unit_test(each_door_finds_its_credential),
        cmocka_unit_test(each_door_phrases_failures),
        cmocka_unit_test(a_door_may_ignore_what_it_does_not_know),
    };
    return cmocka_run_group_tests(tests, prepare, finish);
}

#include "unit.h"

#include "wire/url.h"

static struct arena arena;

static int release(void **state)
{
    (void)state;
    arena_release(&arena);
    return 0;
}

static void test_decode(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *as_url; /* NULL = refused */
        const char *as_form;
    } rows[] = {
        {"", "", ""},
        {"plain", "plain", "plain"},
        {"a%20b", "a b", "a b"},
        {"a+b", "a+b", "a b"},
        {"a%2Bb", "a+b", "a+b"},
        {"%2f%2F", "//", "//"},
        {"%E2%82%ac", "\xE2\x82\xAC", "\xE2\x82\xAC"},
        {"%25", "%", "%"},
        {"%", NULL, NULL},
        {"%2", NULL, NULL},
        {"%2g", NULL, NULL},
        {"%g2", NULL, NULL},
        {"%%20", NULL, NULL},
        {"%00", NULL, NULL},
        {"%FF", NULL, NULL},
        {"%C3", NULL, NULL},
        {"\xFF", NULL, NULL},
        {"x%u0041", NULL, NULL},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct slice url = SLICE("untouched"), form = SLICE("untouched");
        assert_row(rows[i].text, url_decode(&arena, slice_of(rows[i].text), &url) == (rows[i].as_url != NULL));
        assert_row(rows[i].text, form_decode(&arena, slice_of(rows[i].text), &form) == (rows[i].as_form != NULL));
        assert_slice(url, rows[i].as_url ? rows[i].as_url : "untouched");
        assert_slice(form, rows[i].as_form ? rows[i].as_form : "untouched");
    }
    struct slice out;
    assert_false(url_decode(&arena, SLICE("a\0b"), &out));
}

static void test_encode(void **state)
{
    (void)state;
    struct buffer buffer = {0};
    url_encode(&buffer, SLICE("aZ09-._~ /?#&=+%\xC3\xA9"));
    assert_slice(buffer_slice(&buffer), "aZ09-._~%20%2F%3F%23%26%3D%2B%25%C3%A9");
    buffer.len = 0;
    buffer_add(&buffer, SLICE("/api?"));
    form_add(&buffer, SLICE("after"), SLICE("12"));
    form_add(&buffer, SLICE("q"), SLICE("a&b c"));
    form_add(&buffer, SLICE("empty"), SLICE(""));
    assert_slice(buffer_slice(&buffer), "/api?after=12&q=a%26b%20c&empty=");
    buffer.len = 0;
    form_add(&buffer, SLICE("a"), SLICE("b"));
    assert_slice(buffer_slice(&buffer), "a=b");
    buffer_release(&buffer);
}

static void test_query(void **state)
{
    (void)state;
    struct url_query query;
    assert_status(url_query_parse(&arena, SLICE("a=1&&b=x+y%21&c&=v&d=1=2&a=second&"), &query, NULL), STATUS_OK);
    assert_int_equal(query.count, 6);
    assert_slice(url_query_get(&query, "a"), "1");
    assert_slice(url_query_get(&query, "b"), "x y!");
    assert_slice(url_query_get(&query, "c"), "");
    assert_slice(url_query_get(&query, ""), "v");
    assert_slice(url_query_get(&query, "d"), "1=2");
    assert_absent(url_query_get(&query, "e"));
    assert_slice(query.params[5].value, "second");
    assert_status(url_query_parse(&arena, (struct slice){NULL, 0}, &query, NULL), STATUS_OK);
    assert_int_equal(query.count, 0);
}

static void test_query_refuses(void **state)
{
    (void)state;
    struct url_query query;
    struct failure failure;
    assert_status(url_query_parse(&arena, SLICE("a=%zz"), &query, &failure), STATUS_INVALID);
    assert_string_equal(failure.code, "invalid_query");
    assert_status(url_query_parse(&arena, SLICE("%=1"), &query, &failure), STATUS_INVALID);
    struct buffer text = {0};
    for (int i = 0; i < QUERY_PARAMS_MAX; i++) {
        form_add(&text, SLICE("a"), SLICE("1"));
    }
    assert_status(url_query_parse(&arena, buffer_slice(&text), &query, &failure), STATUS_OK);
    assert_int_equal(query.count, QUERY_PARAMS_MAX);
    form_add(&text, SLICE("a"), SLICE("1"));
    assert_status(url_query_parse(&arena, buffer_slice(&text), &query, &failure), STATUS_INVALID);
    buffer_release(&text);
}

static void test_path(void **state)
{
    (void)state;
    struct path path;
    assert_status(path_split(&arena, SLICE("/api/sessions/a%2Fb"), &path, NULL), STATUS_OK);
    assert_int_equal(path.count, 3);
    assert_slice(path.segments[0], "api");
    assert_slice(path.segments[2], "a/b");
    assert_status(path_split(&arena, SLICE("/"), &path, NULL), STATUS_OK);
    assert_int_equal(path.count, 0);
    assert_status(path_split(&arena, SLICE("/a/"), &path, NULL), STATUS_OK);
    assert_int_equal(path.count, 2);
    assert_slice(path.segments[1], "");
    assert_status(path_split(&arena, SLICE("//a"), &path, NULL), STATUS_OK);
    assert_int_equal(path.count, 2);
    assert_slice(path.segments[0], "");
    assert_status(path_split(&arena, SLICE("/cli:home"), &path, NULL), STATUS_OK);
    assert_slice(path.segments[0], "cli:home");
    assert_status(path_split(&arena, SLICE("/a+b/..."), &path, NULL), STATUS_OK);
    assert_slice(path.segments[0], "a+b");
}

static void test_path_refuses(void **state)
{
    (void)state;
    static const char *const rows[] = {
        "",     "api",   "*",         "/a/../b",
        "/./a", "/a/..", "/%2e%2e/x", "/.%2E",
        "/a%",  "/a%00", "/%FF",      "/1/2/3/4/5/6/7/8/9/0/1/2/3/4/5/6/7/8/9/0/1/2/3/4/5/6/7/8/9/0/1/2/3",
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct path path;
        struct failure failure = {0};
        assert_row(rows[i], path_split(&arena, slice_of(rows[i]), &path, &failure) == STATUS_INVALID);
        assert_string_equal(failure.code, "invalid_path");
    }
}

static void test_parse(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum url_scheme scheme;
        bool tls;
        const char *host; /* NULL = absent */
        int port;
        const char *path;
        const char *query;
    } rows[] = {
        {"http://localhost", URL_HTTP, false, "localhost", 80, "/", NULL},
        {"HTTPS://example.com/a/b?x=1", URL_HTTPS, true, "example.com", 443, "/a/b", "x=1"},
        {"http://127.0.0.1:7000?q", URL_HTTP, false, "127.0.0.1", 7000, "/", "q"},
        {"ws://[::1]:80/ws", URL_WS, false, "::1", 80, "/ws", NULL},
        {"wss://[fe80::1%25eth0]", URL_WSS, true, "fe80::1%25eth0", 443, "/", NULL},
        {"unix:/run/s.sock", URL_UNIX, false, NULL, 0, "/run/s.sock", NULL},
        {"unix:s%20t.sock", URL_UNIX, false, NULL, 0, "s t.sock", NULL},
        {"postgres://db/app", URL_POSTGRES, false, "db", 5432, "/app", NULL},
        {"postgresql://db:5433/app?sslmode=require", URL_POSTGRES, false, "db", 5433, "/app", "sslmode=require"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct url url;
        assert_status(url_parse(&arena, slice_of(rows[i].text), &url, NULL), STATUS_OK);
        assert_row(rows[i].text, url.scheme == rows[i].scheme && url.tls == rows[i].tls && url.port == rows[i].port);
        assert_row(rows[i].text, rows[i].host ? slice_is(url.host, rows[i].host) : !slice_present(url.host));
        assert_slice(url.path, rows[i].path);
        assert_row(rows[i].text, rows[i].query ? slice_is(url.query, rows[i].query) : !slice_present(url.query));
        assert_absent(url.user);
    }
}

static void test_parse_user(void **state)
{
    (void)state;
    struct url url;
    assert_status(url_parse(&arena, SLICE("postgres://joe%40x:p%3Aw:d@db:1/x"), &url, NULL), STATUS_OK);
    assert_slice(url.user, "joe@x");
    assert_slice(url.password, "p:w:d");
    assert_slice(url.host, "db");
    assert_int_equal(url.port, 1);
    assert_status(url_parse(&arena, SLICE("http://joe@h"), &url, NULL), STATUS_OK);
    assert_slice(url.user, "joe");
    assert_absent(url.password);
}

static void test_parse_refuses(void **state)
{
    (void)state;
    static const char *const rows[] = {
        "",
        "localhost:80",
        "ftp://x",
        "http:/x",
        "http://",
        "http:///a",
        "http://:80",
        "http://h:",
        "http://h:0",
        "http://h:65536",
        "http://h:8x",
        "http://h:-1",
        "http://[::1",
        "http://[::1]x",
        "http://[]",
        "http://::1",
        "http://a b",
        "http://h/\n",
        "http://h/#x",
        "http://h\xC3\xA9",
        "http://%zz@h",
        "http://h/\x7F",
        "unix:",
        "unix:%00",
        "http://h_!x",
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct url url;
        struct failure failure = {0};
        assert_row(rows[i], url_parse(&arena, slice_of(rows[i]), &url, &failure) == STATUS_INVALID);
        assert_string_equal(failure.code, "invalid_url");
    }
}

static void test_without_password(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *shown;
    } rows[] = {
        {"postgres://joe:secret@db/x", "postgres://joe:***@db/x"},
        {"postgres://joe:se@cr:et@db/x", "postgres://joe:***@db/x"},
        {"postgres://joe:se/cr?et@db/x", "postgres://joe:***@db/x"},
        {"postgres://:secret@db", "postgres://:***@db"},
        {"postgres://joe@db/x", "postgres://joe@db/x"},
        {"postgres://db:5432/x", "postgres://db:5432/x"},
        {"postgres://db/x?user=a&password=secret&sslpassword=s&x=1",
         "postgres://db/x?user=a&password=***&sslpassword=***&x=1"},
        {"unix:/run/x", "unix:/run/x"},
        {"", ""},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        assert_slice(url_without_password(&arena, slice_of(rows[i].text)), rows[i].shown);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_decode),        cmocka_unit_test(test_encode),
        cmocka_unit_test(test_query),         cmocka_unit_test(test_query_refuses),
        cmocka_unit_test(test_path),          cmocka_unit_test(test_path_refuses),
        cmocka_unit_test(test_parse),         cmocka_unit_test(test_parse_user),
        cmocka_unit_test(test_parse_refuses), cmocka_unit_test(test_without_password),
    };
    return cmocka_run_group_tests(tests, NULL, release);
}

#include "unit.h"

#include "wire/cookie.h"

static void test_find(void **state)
{
    (void)state;
    struct slice header = SLICE("a=1; session=abc-DEF; quoted=\"x y\"; plain=\"xy\"; b=; session=second");
    assert_slice(cookie_find(header, "a"), "1");
    assert_slice(cookie_find(header, "session"), "abc-DEF");
    assert_slice(cookie_find(header, "plain"), "xy");
    assert_slice(cookie_find(header, "b"), "");
    assert_absent(cookie_find(header, "quoted"));
    assert_absent(cookie_find(header, "sess"));
    assert_absent(cookie_find(header, "A"));
    assert_absent(cookie_find((struct slice){NULL, 0}, "a"));
}

static void test_next_passes_over_rubbish(void **state)
{
    (void)state;
    struct slice rest = SLICE(";; novalue; =noname; a b=1; good=1;bad=x,y; bad=\xC3\xA9; also=good=really;");
    struct cookie cookie;
    assert_true(cookie_next(&rest, &cookie));
    assert_slice(cookie.name, "good");
    assert_slice(cookie.value, "1");
    assert_true(cookie_next(&rest, &cookie));
    assert_slice(cookie.name, "also");
    assert_slice(cookie.value, "good=really");
    assert_false(cookie_next(&rest, &cookie));
    assert_false(cookie_next(&rest, &cookie));
}

static void test_write(void **state)
{
    (void)state;
    struct buffer buffer = {0};
    struct set_cookie cookie = {.name = "sj", .value = SLICE("v1.abc"), .max_age_s = 3600, .http_only = true};
    assert_true(set_cookie_write(&buffer, &cookie));
    assert_slice(buffer_slice(&buffer), "sj=v1.abc; Path=/; Max-Age=3600; SameSite=Lax; HttpOnly");
    buffer.len = 0;
    cookie = (struct set_cookie){.name = "sj",
                                 .value = SLICE(""),
                                 .path = "/app",
                                 .max_age_s = -1,
                                 .same_site = SAME_SITE_STRICT,
                                 .http_only = true,
                                 .secure = true};
    assert_true(set_cookie_write(&buffer, &cookie));
    assert_slice(buffer_slice(&buffer), "sj=; Path=/app; SameSite=Strict; HttpOnly; Secure");
    buffer.len = 0;
    cookie = (struct set_cookie){.name = "sj", .value = SLICE("x"), .same_site = SAME_SITE_NONE, .secure = true};
    assert_true(set_cookie_write(&buffer, &cookie));
    assert_slice(buffer_slice(&buffer), "sj=x; Path=/; Max-Age=0; SameSite=None; Secure");
    buffer_release(&buffer);
}

static void test_write_refuses(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        const char *value;
        const char *path;
    } rows[] = {
        {"", "x", "/"},      {"a=b", "x", "/"},           {"a b", "x", "/"},
        {"a", "x;y", "/"},   {"a", "x\r\nEvil: 1", "/"},  {"a", "x y", "/"},
        {"a", "\"x\"", "/"}, {"a", "x", "/;Domain=evil"}, {"a", "x", "relative"},
        {"a", "x", "/a\n"},  {"a\n", "x", "/"},
    };
    struct buffer buffer = {0};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct set_cookie cookie = {.name = rows[i].name, .value = slice_of(rows[i].value), .path = rows[i].path};
        assert_row(rows[i].name, !set_cookie_write(&buffer, &cookie));
        assert_int_equal(buffer.len, 0);
    }
    buffer_release(&buffer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_find),
        cmocka_unit_test(test_next_passes_over_rubbish),
        cmocka_unit_test(test_write),
        cmocka_unit_test(test_write_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

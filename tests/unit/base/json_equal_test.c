#include "unit.h"

#include "base/json.h"

static bool equal(struct arena *arena, const char *a, const char *b)
{
    const struct json *x = NULL, *y = NULL;
    assert_status(json_parse(arena, slice_of(a), &x, NULL), STATUS_OK);
    assert_status(json_parse(arena, slice_of(b), &y, NULL), STATUS_OK);
    bool one_way = json_equal(x, y);
    assert_int_equal(json_equal(y, x), one_way);
    return one_way;
}

static void test_table(void **state)
{
    (void)state;
    static const struct {
        const char *a;
        const char *b;
        bool equal;
    } rows[] = {
        {"null", "null", true},
        {"null", "false", false},
        {"true", "true", true},
        {"true", "false", false},
        {"\"a\"", "\"\\u0061\"", true},
        {"\"1\"", "1", false},
        {"1", "1.0", true},
        {"1", "1e0", true},
        {"10", "1e1", true},
        {"10", "1E+1", true},
        {"1.5e9223372036854775807", "1.5e9223372036854775807", true},
        {"1.5e9223372036854775807", "15e9223372036854775806", false},
        {"1e-9223372036854775807", "1e9223372036854775807", false},
        {"100", "1.00e2", true},
        {"0.001", "1e-3", true},
        {"1.5", "15e-1", true},
        {"120.050", "1.2005e2", true},
        {"0", "-0", true},
        {"0", "0.000e99", true},
        {"0e99999999999999999999", "0", true},
        {"1", "-1", false},
        {"1", "10", false},
        {"1.5", "1.05", false},
        {"12", "1.2", false},
        {"9007199254740993", "9007199254740992", false},
        {"1e400", "1e401", false},
        {"1e400", "10e399", true},
        {"1e99999999999999999999", "1e99999999999999999999", true},
        {"1e99999999999999999999", "1e99999999999999999998", false},
        {"[]", "[]", true},
        {"[]", "{}", false},
        {"[1,2]", "[1,2]", true},
        {"[1,2]", "[2,1]", false},
        {"[1,2]", "[1]", false},
        {"{\"a\":1,\"b\":[2]}", "{\"b\":[2.0],\"a\":1}", true},
        {"{\"a\":1}", "{\"b\":1}", false},
        {"{\"a\":1}", "{\"a\":2}", false},
        {"{\"a\":1}", "{\"a\":1,\"b\":2}", false},
    };
    struct arena arena = {0};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        assert_row(rows[i].a, equal(&arena, rows[i].a, rows[i].b) == rows[i].equal);
    }
    arena_release(&arena);
}

static void test_large_objects(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct buffer up = {0}, down = {0};
    for (int i = 0; i < 100; i++) {
        buffer_format(&up, "%c\"k%d\":%d", i ? ',' : '{', i, i);
        buffer_format(&down, "%c\"k%d\":%d", i ? ',' : '{', 99 - i, 99 - i);
    }
    buffer_add(&up, SLICE("}\0"));
    buffer_add(&down, SLICE("}\0"));
    assert_true(equal(&arena, up.ptr, down.ptr));
    *strstr(down.ptr, "\"k50\"") = ' ';
    char *name = strstr(down.ptr, "k50\"");
    name[0] = '"';
    assert_false(equal(&arena, up.ptr, down.ptr));
    buffer_release(&up);
    buffer_release(&down);
    arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_large_objects),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

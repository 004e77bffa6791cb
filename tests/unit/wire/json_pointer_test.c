#include "unit.h"

#include "wire/json_pointer.h"

static struct arena arena;

static int release(void **state)
{
    (void)state;
    arena_release(&arena);
    return 0;
}

/* The examples of RFC 6901 §5, and what must not be found. */
static void test_get(void **state)
{
    (void)state;
    static const char text[] = "{\"foo\":[\"bar\",\"baz\"],\"\":0,\"a/b\":1,\"c%d\":2,\"e^f\":3,\"g|h\":4,\"i\\\\j\":5,"
                               "\"k\\\"l\":6,\" \":7,\"m~n\":8,\"01\":9}";
    static const struct {
        const char *pointer;
        const char *raw; /* NULL = nothing there */
    } rows[] = {
        {"/foo", "[\"bar\",\"baz\"]"},
        {"/foo/0", "\"bar\""},
        {"/foo/1", "\"baz\""},
        {"/", "0"},
        {"/a~1b", "1"},
        {"/c%d", "2"},
        {"/e^f", "3"},
        {"/g|h", "4"},
        {"/i\\j", "5"},
        {"/k\"l", "6"},
        {"/ ", "7"},
        {"/m~0n", "8"},
        {"/01", "9"},
        {"/foo/2", NULL},
        {"/foo/-", NULL},
        {"/foo/01", NULL},
        {"/foo/+1", NULL},
        {"/foo/", NULL},
        {"/foo/0/x", NULL},
        {"/foo/4294967296", NULL},
        {"/absent", NULL},
        {"//", NULL},
    };
    const struct json *document = NULL;
    assert_status(json_parse(&arena, slice_of(text), &document, NULL), STATUS_OK);
    struct json_pointer pointer;
    assert_true(json_pointer_parse(&arena, SLICE(""), &pointer));
    assert_ptr_equal(json_pointer_get(&pointer, document), document);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        assert_row(rows[i].pointer, json_pointer_parse(&arena, slice_of(rows[i].pointer), &pointer));
        const struct json *found = json_pointer_get(&pointer, document);
        assert_row(rows[i].pointer, rows[i].raw ? found && slice_is(found->raw, rows[i].raw) : !found);
    }
}

static void test_parse_refuses(void **state)
{
    (void)state;
    static const char *const rows[] = {"a", "a/b", "/~", "/a~2", "/~~0", "/ok/~", " /a", "#/a"};
    struct json_pointer pointer = {NULL, 77};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        assert_row(rows[i], !json_pointer_parse(&arena, slice_of(rows[i]), &pointer));
        assert_int_equal(pointer.count, 77);
    }
    char deep[JSON_DEPTH_MAX + 1];
    memset(deep, '/', sizeof deep);
    assert_true(json_pointer_parse(&arena, slice_from(deep, JSON_DEPTH_MAX), &pointer));
    assert_int_equal(pointer.count, JSON_DEPTH_MAX);
    assert_false(json_pointer_parse(&arena, slice_from(deep, sizeof deep), &pointer));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_get),
        cmocka_unit_test(test_parse_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, release);
}

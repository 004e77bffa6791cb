#include "domain/merge.h"
#include "domain_unit.h"

static void patches_replace_add_and_remove(void **state)
{
    static const struct {
        const char *old, *patch, *expected;
    } rows[] = {
        {NULL, "{}", "{}"},
        {NULL, "{\"a\":1,\"b\":null}", "{\"a\":1}"},
        {"{\"a\":1,\"b\":2}", "{\"b\":3}", "{\"a\":1,\"b\":3}"},
        {"{\"a\":1,\"b\":2}", "{\"a\":null}", "{\"b\":2}"},
        {"{\"a\":1}", "{\"c\":\"x\",\"d\":1.50}", "{\"a\":1,\"c\":\"x\",\"d\":1.50}"},
        {"{\"a\\u0041\":1}", "{\"aA\":2}", "{\"aA\":2}"},
        {"not json", "{\"a\":1}", "{\"a\":1}"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        assert_slice(merge_objects(&test_arena, slice_of(rows[i].old), json_of(rows[i].patch)), rows[i].expected);
    }
    assert_slice(merge_objects(&test_arena, SLICE("{\"a\":1}"), NULL), "{\"a\":1}");
}

static void totals_add_up(void **state)
{
    static const struct {
        const char *total, *more, *expected;
    } rows[] = {
        {NULL, "{\"a\":1}", "{\"a\":1}"},
        {"{\"a\":1}", "{\"a\":2,\"b\":3}", "{\"a\":3,\"b\":3}"},
        {"{\"a\":{\"x\":1,\"y\":2}}", "{\"a\":{\"x\":10}}", "{\"a\":{\"x\":11,\"y\":2}}"},
        {"{\"cost\":0.5}", "{\"cost\":1.25}", "{\"cost\":1.75}"},
        {"{\"cost\":1}", "{\"cost\":0.5}", "{\"cost\":1.5}"},
        {"{\"m\":\"old\"}", "{\"m\":\"new\"}", "{\"m\":\"new\"}"},
        {"{\"a\":1}", "5", "{\"a\":1}"},
        {"{\"a\":1,\"b\":{\"c\":2}}", "{\"a\":\"x\",\"b\":{\"c\":null}}", "{\"a\":1,\"b\":{\"c\":2}}"},
        {"{\"a\":9223372036854775807}", "{\"a\":1}", "{\"a\":9.22337203685478e+18}"},
        {"{\"a\":1e308}", "{\"a\":1.7e308}", "{\"a\":1.7e308}"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        assert_slice(merge_totals(&test_arena, slice_of(rows[i].total), slice_of(rows[i].more)), rows[i].expected);
    }
    assert_absent(merge_totals(&test_arena, (struct slice){NULL, 0}, SLICE("7")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patches_replace_add_and_remove),
        cmocka_unit_test(totals_add_up),
    };
    return cmocka_run_group_tests(tests, NULL, release_test_arena);
}

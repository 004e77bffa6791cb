#include "domain/entity.h"
#include "domain_unit.h"

static void fields_are_merged(void **state)
{
    struct entity entity = {.id = SLICE("e"), .type = SLICE("t"), .fields = SLICE("{\"a\":1,\"b\":2}"), .version = 1};
    bool changed;
    (void)state;
    assert_status(entity_apply(&test_arena, &entity, json_of("{\"a\":1.0}"), 100, &changed, NULL), STATUS_OK);
    assert_false(changed);
    assert_int_equal(entity.version, 1);
    assert_status(entity_apply(&test_arena, &entity, json_of("{\"a\":null,\"c\":3}"), 100, &changed, NULL), STATUS_OK);
    assert_true(changed);
    assert_int_equal(entity.version, 2);
    assert_slice(entity.fields, "{\"b\":2,\"c\":3}");
    assert_status(entity_apply(&test_arena, &entity, json_of("{\"d\":\"long\"}"), 20, &changed, NULL),
                  STATUS_TOO_LARGE);
    assert_slice(entity.fields, "{\"b\":2,\"c\":3}");
}

static void what_is_one(void **state)
{
    static const struct {
        const char *id, *type;
        enum status status;
    } rows[] = {{"a:b.c-1", "t", STATUS_OK}, {"a b", "t", STATUS_INVALID}, {"a", "t t", STATUS_INVALID}};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct entity entity = {.id = slice_of(rows[i].id), .type = slice_of(rows[i].type), .fields = SLICE("{}")};
        assert_status(entity_check(&entity, 2, NULL), rows[i].status);
        assert_row(rows[i].id, rows[i].status || entity_check(&entity, 1, NULL) == STATUS_TOO_LARGE);
    }
}

static void what_has_a_text(void **state)
{
    static const struct {
        const char *text;
        bool has;
    } rows[] = {
        {"T-1", true},  {"icke", true}, {"TITLE", true}, {"broken", true}, {"z\xc3\xbcrich", true}, {"00fc", false},
        {"4711", true}, {"deep", true}, {"\"", false},   {"true", true},   {"nothing", false},      {"{", false},
    };
    (void)state;
    struct entity entity = {
        .id = SLICE("t-1"),
        .type = SLICE("ticket"),
        .fields = SLICE("{\"title\":\"Broken\",\"city\":\"Z\\u00fcrich\",\"n\":[4711,{\"x\":\"Deep\"}],\"ok\":true}"),
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        assert_row(rows[i].text, entity_has_text(&test_arena, &entity, slice_of(rows[i].text)) == rows[i].has);
    }
    entity.fields = SLICE("{}");
    assert_false(entity_has_text(&test_arena, &entity, SLICE("broken")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_are_merged),
        cmocka_unit_test(what_is_one),
        cmocka_unit_test(what_has_a_text),
    };
    return cmocka_run_group_tests(tests, NULL, release_test_arena);
}

#include "base/json_index.h"
#include "unit.h"

static struct arena arena;

static int release(void **state)
{
    (void)state;
    arena_release(&arena);
    return 0;
}

static const struct json *object_of(unsigned count)
{
    struct buffer text = {0};
    const struct json *object = NULL;
    for (unsigned i = 0; i < count; i++) {
        buffer_format(&text, "%c\"k%u\":%u", i ? ',' : '{', i * 7919 % count, i);
    }
    buffer_add(&text, count ? SLICE("}") : SLICE("{}"));
    assert_status(json_parse(&arena, arena_copy(&arena, buffer_slice(&text)), &object, NULL), STATUS_OK);
    buffer_release(&text);
    return object;
}

/* Around the size from which on an object has an index. */
static void every_member_is_found(void **state)
{
    static const unsigned counts[] = {0, 1, JSON_UNINDEXED_MAX, JSON_UNINDEXED_MAX + 1, 1000};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(counts); i++) {
        const struct json *object = object_of(counts[i]);
        assert_int_equal(object->index != NULL, counts[i] > JSON_UNINDEXED_MAX);
        for (const struct json *member = object->child; member; member = member->next) {
            assert_ptr_equal(json_member(object, member->key), member);
        }
        assert_null(json_member(object, SLICE("k")));
        assert_null(json_member(object, SLICE("k99999")));
        assert_null(json_get(object, ""));
    }
    assert_null(json_member(NULL, SLICE("k")));
}

static void a_member_named_twice_is_refused(void **state)
{
    struct buffer text = {0};
    const struct json *object;
    (void)state;
    for (int i = 0; i < 40; i++) {
        buffer_format(&text, "%c\"k%d\":1", i ? ',' : '{', i == 39 ? 3 : i);
    }
    buffer_add_byte(&text, '}');
    assert_status(json_parse(&arena, buffer_slice(&text), &object, NULL), STATUS_INVALID);
    buffer_release(&text);
}

static void texts_of_a_list(void **state)
{
    const struct json *list;
    (void)state;
    assert_status(json_parse(&arena, SLICE("[\"b\",1,\"a\",null,\"c\",\"a\"]"), &list, NULL), STATUS_OK);
    const struct json_index *index = json_index_texts(&arena, list);
    assert_ptr_equal(json_index_find(index, SLICE("b")), list->child);
    assert_null(json_index_find(index, SLICE("1")));
    assert_true(slice_is(json_index_repeated(index)->text, "a"));
    assert_null(json_index_find(json_index_texts(&arena, NULL), SLICE("a")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(every_member_is_found, release),
        cmocka_unit_test_teardown(a_member_named_twice_is_refused, release),
        cmocka_unit_test_teardown(texts_of_a_list, release),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "unit.h"

#include <stdlib.h>

#include "base/arena.h"

static void test_alloc_is_aligned_and_zeroed(void **state)
{
    (void)state;
    struct arena arena = {0};
    for (size_t size = 0; size < 300; size += 7) {
        unsigned char *bytes = arena_alloc(&arena, size);
        assert_int_equal((uintptr_t)bytes % 16, 0);
        for (size_t i = 0; i < size; i++) {
            assert_int_equal(bytes[i], 0);
        }
        memset(bytes, 0xAA, size);
        arena_bytes(&arena, 3);
    }
    arena_release(&arena);
}

static void test_values_stay_where_they_are(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena);
    uint64_t *values[2000];
    for (uint64_t i = 0; i < COUNT_OF(values); i++) {
        values[i] = arena_alloc(&arena, sizeof *values[i]);
        *values[i] = i;
    }
    char *large = arena_bytes(&arena, 5u << 20);
    memset(large, 1, 5u << 20);
    for (uint64_t i = 0; i < COUNT_OF(values); i++) {
        assert_int_equal(*values[i], i);
    }
    assert_true(arena.used_bytes >= sizeof *values[0] * COUNT_OF(values) + (5u << 20));
    arena_release(&arena);
    assert_null(arena.block);
    assert_int_equal(arena.used_bytes, 0);
    arena_release(&arena);
}

static void test_reset_reuses_memory_and_zeroes_it(void **state)
{
    (void)state;
    struct arena arena = {0};
    arena_reset(&arena);
    assert_null(arena.block);
    char *first = arena_alloc(&arena, 64);
    memset(first, 0x55, 64);
    arena_reset(&arena);
    assert_int_equal(arena.used_bytes, 0);
    char *second = arena_alloc(&arena, 64);
    assert_ptr_equal(first, second);
    for (int i = 0; i < 64; i++) {
        assert_int_equal(second[i], 0);
    }
    arena_bytes(&arena, 1u << 16);
    arena_reset(&arena);
    assert_int_equal(arena.used_bytes, 0);
    arena_release(&arena);
}

static void test_reserve_is_exact_and_only_the_beginning(void **state)
{
    (void)state;
    struct arena arena = {0};
    arena_reserve(&arena, 100);
    char *first = arena_bytes(&arena, 60);
    assert_ptr_equal(arena_bytes(&arena, 40), first + 60);
    memset(first, 'a', 100);
    arena_reserve(&arena, 1); /* there is a block */
    char *large = arena_alloc(&arena, 5000);
    assert_int_equal(large[4999], 0);
    assert_int_equal(first[99], 'a');
    assert_int_equal(arena.used_bytes, 5100);
    arena_release(&arena);
}

static void test_copy(void **state)
{
    (void)state;
    struct arena arena = {0};
    char text[] = "hello";
    struct slice copy = arena_copy(&arena, slice_of(text));
    text[0] = 'j';
    assert_slice(copy, "hello");
    assert_int_equal(copy.ptr[copy.len], 0);
    assert_absent(arena_copy(&arena, (struct slice){NULL, 0}));
    assert_slice(arena_copy(&arena, SLICE("")), "");
    arena_release(&arena);
}

static void test_format(void **state)
{
    (void)state;
    struct arena arena = {0};
    assert_slice(arena_format(&arena, "%s-%d", "a", 7), "a-7");
    assert_slice(arena_format(&arena, "%s", ""), "");
    struct slice wide = arena_format(&arena, "%*d", 9000, 1);
    assert_int_equal(wide.len, 9000);
    assert_int_equal(wide.ptr[8999], '1');
    assert_int_equal(wide.ptr[9000], 0);
    arena_release(&arena);
}

static void test_array(void **state)
{
    (void)state;
    struct arena arena = {0};
    int *numbers = arena_array(&arena, 10, sizeof *numbers);
    assert_int_equal(numbers[9], 0);
    assert_non_null(arena_array(&arena, 0, sizeof *numbers));
    assert_non_null(arena_array(&arena, 5, 0));
    arena_release(&arena);
}

static void test_memory(void **state)
{
    (void)state;
    char *bytes = memory_alloc(0);
    assert_non_null(bytes);
    bytes = memory_resize(bytes, 100);
    bytes[99] = 'x';
    free(bytes);
    bytes = memory_zeroed(100);
    assert_int_equal(bytes[99], 0);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_alloc_is_aligned_and_zeroed),
        cmocka_unit_test(test_values_stay_where_they_are),
        cmocka_unit_test(test_reset_reuses_memory_and_zeroes_it),
        cmocka_unit_test(test_reserve_is_exact_and_only_the_beginning),
        cmocka_unit_test(test_copy),
        cmocka_unit_test(test_format),
        cmocka_unit_test(test_array),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

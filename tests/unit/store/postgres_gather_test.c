#include "unit.h"

#include <stdlib.h>

#include "store/postgres/gather.h"

/* An update with four parameters: the new sequence, two keys, the old sequence. */
static bool add_update(struct gather *gather, int64_t to, int64_t a, int64_t b, int64_t from)
{
    struct parameter parameters[4];
    parameter_set_i64(&parameters[0], OID_INT8, to);
    parameter_set_i64(&parameters[1], OID_INT8, a);
    parameter_set_i64(&parameters[2], OID_INT8, b);
    parameter_set_i64(&parameters[3], OID_INT8, from);
    return gather_add(gather, parameters);
}

static int64_t cell(const struct gather *gather, size_t row, int column)
{
    struct slice bytes = gather->cells[row * (size_t)gather->parameter_count + (size_t)column];
    int64_t number = 0;
    for (size_t i = 0; i < bytes.len; i++) {
        number = number << 8 | (unsigned char)bytes.ptr[i];
    }
    return number;
}

static void updates_of_one_row_merge(void **state)
{
    (void)state;
    struct gather gather = {.updates = true, .parameter_count = 4};
    for (int64_t session = 0; session < 100; session++) {
        assert_true(add_update(&gather, 6, 1, session, 5));
    }
    assert_true(add_update(&gather, 9, 1, 42, 6));
    assert_true(add_update(&gather, 10, 1, 42, 9));
    assert_true(add_update(&gather, 2, 2, 42, 1)); /* another tenant */
    assert_int_equal(gather.row_count, 101);
    assert_int_equal(cell(&gather, 42, 0), 10);
    assert_int_equal(cell(&gather, 42, 3), 5);
    assert_false(add_update(&gather, 11, 1, 42, 6)); /* does not start where the last one ended */
    gather_reset(&gather);
    assert_int_equal(gather.row_count, 0);
    assert_true(add_update(&gather, 11, 1, 42, 10));
    gather_release(&gather);
}

static void arrays_are_binary(void **state)
{
    (void)state;
    struct gather gather = {.parameter_count = 2};
    struct arena arena = {0};
    struct parameter parameters[2];
    const char *values[2];
    int lengths[2];
    parameter_set_i64(&parameters[0], OID_INT4, 7);
    parameter_set_bytes(&parameters[1], OID_TEXT, SLICE("ab"), &arena);
    assert_true(gather_add(&gather, parameters));
    parameter_set_i64(&parameters[0], OID_INT4, -1);
    parameter_set_null(&parameters[1]);
    assert_true(gather_add(&gather, parameters));
    gather_write(&gather, (Oid[]){OID_INT4_ARRAY, OID_TEXT_ARRAY}, values, lengths);
    assert_bytes(slice_from(values[0], (size_t)lengths[0]), "\0\0\0\1\0\0\0\0\0\0\0\x17\0\0\0\2\0\0\0\1"
                                                            "\0\0\0\4\0\0\0\7\0\0\0\4\xff\xff\xff\xff");
    assert_bytes(slice_from(values[1], (size_t)lengths[1]), "\0\0\0\1\0\0\0\1\0\0\0\x19\0\0\0\2\0\0\0\1"
                                                            "\0\0\0\2ab\xff\xff\xff\xff");
    gather_release(&gather);
    arena_release(&arena);
}

static void a_huge_row_fills_it_and_is_given_back(void **state)
{
    (void)state;
    struct gather gather = {.parameter_count = 1};
    struct parameter parameter;
    size_t len = GATHER_BYTES_MAX + 1;
    char *bytes = memory_zeroed(len);
    parameter_set_bytes(&parameter, OID_TEXT, slice_from(bytes, len), NULL);
    assert_false(gather_is_full(&gather));
    assert_true(gather_add(&gather, &parameter));
    assert_true(gather_is_full(&gather));
    gather_reset(&gather);
    assert_null(gather.arena.block);
    free(bytes);
    gather_release(&gather);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(updates_of_one_row_merge),
        cmocka_unit_test(arrays_are_binary),
        cmocka_unit_test(a_huge_row_fills_it_and_is_given_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "unit.h"

#include <stdlib.h>

#include "base/buffer.h"

static void test_add(void **state)
{
    (void)state;
    struct buffer buffer;
    buffer_init(&buffer);
    assert_slice(buffer_slice(&buffer), "");
    buffer_add(&buffer, SLICE("abc"));
    buffer_add(&buffer, (struct slice){NULL, 0});
    buffer_add_byte(&buffer, '\0');
    buffer_add(&buffer, SLICE("d"));
    assert_bytes(buffer_slice(&buffer), "abc\0d");
    buffer_release(&buffer);
    assert_null(buffer.ptr);
    assert_int_equal(buffer.room, 0);
    buffer_release(&buffer);
}

static void test_grows(void **state)
{
    (void)state;
    struct buffer buffer = {0};
    for (int i = 0; i < 10000; i++) {
        buffer_add_byte(&buffer, (char)('a' + i % 26));
    }
    assert_int_equal(buffer.len, 10000);
    for (int i = 0; i < 10000; i++) {
        assert_int_equal(buffer.ptr[i], 'a' + i % 26);
    }
    buffer_reserve(&buffer, 100000);
    assert_true(buffer.room - buffer.len >= 100000);
    assert_int_equal(buffer.len, 10000);
    buffer_release(&buffer);
}

static void test_add_i64(void **state)
{
    (void)state;
    struct buffer buffer = {0};
    const int64_t values[] = {0, 7, -7, 1234567890123, INT64_MAX, INT64_MIN};
    for (size_t i = 0; i < COUNT_OF(values); i++) {
        buffer_add_i64(&buffer, values[i]);
        buffer_add_byte(&buffer, ' ');
    }
    assert_slice(buffer_slice(&buffer), "0 7 -7 1234567890123 9223372036854775807 -9223372036854775808 ");
    buffer_release(&buffer);
}

static void test_format(void **state)
{
    (void)state;
    struct buffer buffer = {0};
    buffer_format(&buffer, "%s", "");
    buffer_format(&buffer, "%d %s;", 12, "monkeys");
    buffer_format(&buffer, "%300d", 5);
    assert_int_equal(buffer.len, 311);
    assert_slice(slice_from(buffer.ptr, 11), "12 monkeys;");
    assert_int_equal(buffer.ptr[310], '5');
    buffer_release(&buffer);
}

static void test_consume(void **state)
{
    (void)state;
    struct buffer buffer = {0};
    buffer_add(&buffer, SLICE("abcdef"));
    buffer_consume(&buffer, 0);
    buffer_consume(&buffer, 2);
    assert_slice(buffer_slice(&buffer), "cdef");
    buffer_consume(&buffer, 4);
    assert_slice(buffer_slice(&buffer), "");
    buffer_consume(&buffer, 99);
    assert_int_equal(buffer.len, 0);
    buffer_release(&buffer);
}

static void test_detach(void **state)
{
    (void)state;
    struct buffer buffer = {0};
    size_t len;
    buffer_add(&buffer, SLICE("abc"));
    char *bytes = buffer_detach(&buffer, &len);
    assert_slice(slice_from(bytes, len), "abc");
    assert_null(buffer.ptr);
    assert_int_equal(buffer.len, 0);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_add),    cmocka_unit_test(test_grows),   cmocka_unit_test(test_add_i64),
        cmocka_unit_test(test_format), cmocka_unit_test(test_consume), cmocka_unit_test(test_detach),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

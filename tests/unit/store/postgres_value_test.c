#include "unit.h"

#include "store/postgres/value.h"

static PGresult *result_of(Oid type, const char *bytes, int len)
{
    PGresAttDesc column = {.name = (char[]){"c"}, .typid = type, .format = 1};
    PGresult *result = PQmakeEmptyPGresult(NULL, PGRES_TUPLES_OK);
    PQsetResultAttrs(result, 1, &column);
    PQsetvalue(result, 0, 0, (char *)bytes, len);
    return result;
}

static int64_t read_back(const struct parameter *parameter, Oid type)
{
    PGresult *result = result_of(type, parameter_bytes(parameter), parameter->len);
    int64_t number = column_i64(result, 0, 0);
    PQclear(result);
    return number;
}

static void numbers_survive(void **state)
{
    (void)state;
    static const struct {
        Oid type;
        int64_t number;
        int len, format;
    } rows[] = {
        {OID_INT8, INT64_MIN, 8, 1},
        {OID_INT8, INT64_MAX, 8, 1},
        {OID_INT8, -1, 8, 1},
        {OID_XID8, 1234567890123, 8, 1},
        {OID_INT4, INT32_MIN, 4, 1},
        {OID_INT4, 256, 4, 1},
        {OID_INT2, -32768, 2, 1},
        {OID_BOOL, 1, 1, 1},
        {OID_TEXT, -42, 3, 0},
        {OID_INT4, INT64_C(1) << 40, 13, 0}, /* too large: as text, for the server to refuse */
        {OID_INT2, 32768, 5, 0},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct parameter parameter;
        parameter_set_i64(&parameter, rows[i].type, rows[i].number);
        assert_int_equal(parameter.len, rows[i].len);
        assert_int_equal(parameter.format, rows[i].format);
        assert_int_equal(read_back(&parameter, rows[i].format ? rows[i].type : OID_TEXT), rows[i].number);
    }
}

static void sums_are_numeric(void **state)
{
    (void)state;
    static const struct {
        int64_t number;
        const char *bytes;
        int len;
    } rows[] = {
        {0, "\0\0\0\0\0\0\0\0", 8},
        {7, "\0\1\0\0\0\0\0\0\0\7", 10},
        {-7, "\0\1\0\0\x40\0\0\0\0\7", 10},
        {10000, "\0\1\0\1\0\0\0\0\0\1", 10}, /* trailing zero digits are left out */
        {12345678, "\0\2\0\1\0\0\0\0\x04\xd2\x16\x2e", 12},
        {7, "\0\2\0\0\0\0\0\2\0\7\x13\x88", 12}, /* 7.50 */
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        PGresult *result = result_of(OID_NUMERIC, rows[i].bytes, rows[i].len);
        assert_int_equal(column_i64(result, 0, 0), rows[i].number);
        PQclear(result);
    }
}

static void text_is_sent_as_it_is(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct parameter parameter;
    parameter_set_bytes(&parameter, OID_TEXT, slice_from("abcdef", 3), &arena);
    assert_int_equal(parameter.format, 1);
    assert_int_equal(parameter.len, 3);
    parameter_set_bytes(&parameter, 3802 /* jsonb */, slice_from("{}rest", 2), &arena);
    assert_int_equal(parameter.format, 0);
    assert_string_equal(parameter_bytes(&parameter), "{}"); /* text must end */
    parameter_set_bytes(&parameter, OID_TEXT, SLICE(""), &arena);
    assert_non_null(parameter_bytes(&parameter));
    assert_int_equal(parameter.len, 0);
    parameter_set_bytes(&parameter, OID_BYTEA, (struct slice){0}, &arena);
    assert_null(parameter_bytes(&parameter));
    arena_release(&arena);
}

static void null_is_nothing(void **state)
{
    (void)state;
    PGresult *result = result_of(OID_INT8, NULL, -1);
    assert_int_equal(column_i64(result, 0, 0), 0);
    PQclear(result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_survive),
        cmocka_unit_test(sums_are_numeric),
        cmocka_unit_test(text_is_sent_as_it_is),
        cmocka_unit_test(null_is_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

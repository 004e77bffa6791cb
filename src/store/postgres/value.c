#include "store/postgres/value.h"

#include <stdio.h>

static void put_be(char *to, int64_t number, int bytes)
{
    for (int i = bytes - 1; i >= 0; i--) {
        to[i] = (char)(number & 0xff);
        number >>= 8;
    }
}

static int64_t get_be(const char *from, int bytes)
{
    int64_t number = (signed char)from[0];
    for (int i = 1; i < bytes; i++) {
        number = (int64_t)((uint64_t)number << 8) | (unsigned char)from[i];
    }
    return number;
}

/* Bytes of the binary form of a number type, or 0. */
static int number_bytes(Oid type)
{
    switch (type) {
    case OID_INT8:
    case OID_XID8:
        return 8;
    case OID_INT4:
    case OID_OID:
        return 4;
    case OID_INT2:
        return 2;
    case OID_BOOL:
        return 1;
    default:
        return 0;
    }
}

static bool is_raw(Oid type)
{
    switch (type) {
    case OID_TEXT:
    case OID_VARCHAR:
    case OID_BPCHAR:
    case OID_NAME:
    case OID_JSON:
    case OID_BYTEA:
        return true;
    default:
        return false;
    }
}

/* A number too large for its column must fail on the server instead of losing its upper bytes here. */
static bool fits(int64_t number, int bytes)
{
    return bytes == 8 || (number >= -(INT64_C(1) << (bytes * 8 - 1)) && number < INT64_C(1) << (bytes * 8 - 1));
}

void parameter_set_i64(struct parameter *value, Oid type, int64_t number)
{
    int bytes = number_bytes(type);
    *value = (struct parameter){.is_number = true};
    if (bytes && fits(number, bytes)) {
        put_be(value->number, number, bytes);
        value->len = bytes;
        value->format = 1;
    } else {
        value->len = snprintf(value->number, sizeof value->number, "%lld", (long long)number);
    }
}

void parameter_set_bytes(struct parameter *value, Oid type, struct slice bytes, struct arena *arena)
{
    if (!slice_present(bytes)) {
        parameter_set_null(value);
    } else if (is_raw(type)) {
        *value = (struct parameter){.ptr = bytes.ptr, .len = (int)bytes.len, .format = 1};
    } else {
        *value = (struct parameter){.ptr = arena_copy(arena, bytes).ptr, .len = (int)bytes.len};
    }
}

void parameter_set_null(struct parameter *value)
{
    *value = (struct parameter){.format = 1};
}

const char *parameter_bytes(const struct parameter *value)
{
    return value->is_number ? value->number : value->ptr;
}

Oid array_element_type(Oid array_type)
{
    static const struct {
        Oid array, element;
    } types[] = {
        {OID_INT8_ARRAY, OID_INT8},       {OID_TEXT_ARRAY, OID_TEXT}, {OID_BYTEA_ARRAY, OID_BYTEA},
        {OID_INT4_ARRAY, OID_INT4},       {OID_INT2_ARRAY, OID_INT2}, {OID_BOOL_ARRAY, OID_BOOL},
        {OID_VARCHAR_ARRAY, OID_VARCHAR},
    };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (types[i].array == array_type) {
            return types[i].element;
        }
    }
    return 0;
}

bool column_is_readable(Oid type)
{
    return number_bytes(type) || is_raw(type) || type == OID_NUMERIC;
}

/* A whole number as sum() of bigint makes it: digits of base 10000, the first worth 10000^weight. */
static int64_t numeric_i64(const char *from)
{
    int64_t digits = get_be(from, 2), weight = get_be(from + 2, 2);
    bool negative = get_be(from + 4, 2) != 0;
    int64_t number = 0;
    for (int64_t i = 0; i <= weight; i++) {
        number = number * 10000 + (i < digits ? get_be(from + 8 + i * 2, 2) : 0);
    }
    return negative ? -number : number;
}

int64_t column_i64(const PGresult *result, int row, int column)
{
    if (PQgetisnull(result, row, column)) {
        return 0;
    }
    const char *from = PQgetvalue(result, row, column);
    Oid type = PQftype(result, column);
    int bytes = number_bytes(type);
    if (bytes) {
        return get_be(from, bytes);
    }
    int64_t number = 0;
    if (type == OID_NUMERIC) {
        return numeric_i64(from);
    }
    return slice_to_i64(slice_from(from, (size_t)PQgetlength(result, row, column)), &number) ? number : 0;
}

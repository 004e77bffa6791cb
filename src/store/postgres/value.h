/* Values between C and PostgreSQL's binary format. */
#ifndef STORE_POSTGRES_VALUE_H
#define STORE_POSTGRES_VALUE_H

#include <libpq-fe.h>

#include "base/arena.h"

/* The types this engine speaks, by their fixed numbers in the system catalogue. */
enum {
    OID_BOOL = 16,
    OID_BYTEA = 17,
    OID_NAME = 19,
    OID_INT8 = 20,
    OID_INT2 = 21,
    OID_INT4 = 23,
    OID_TEXT = 25,
    OID_OID = 26,
    OID_JSON = 114,
    OID_XID8 = 5069,
    OID_BPCHAR = 1042,
    OID_VARCHAR = 1043,
    OID_NUMERIC = 1700,
    OID_BOOL_ARRAY = 1000,
    OID_BYTEA_ARRAY = 1001,
    OID_INT2_ARRAY = 1005,
    OID_INT4_ARRAY = 1007,
    OID_TEXT_ARRAY = 1009,
    OID_VARCHAR_ARRAY = 1015,
    OID_INT8_ARRAY = 1016,
};

/* One parameter. Borrows what it was made of; numbers live in the value itself. */
struct parameter {
    const char *ptr; /* NULL = SQL NULL; for numbers see parameter_bytes */
    int len;
    int format; /* 1 = binary, 0 = text, terminated by a zero byte */
    bool is_number;
    char number[24];
};

void parameter_set_i64(struct parameter *value, Oid type, int64_t number);
/* Types without a binary form of ours are sent as text, copied into `arena` to be terminated. */
void parameter_set_bytes(struct parameter *value, Oid type, struct slice bytes, struct arena *arena);
void parameter_set_null(struct parameter *value);
/* The bytes to send; NULL for NULL. Valid as long as `value` does not move. */
const char *parameter_bytes(const struct parameter *value);

/* The element type of an array type, or 0. */
Oid array_element_type(Oid array_type);
/* True for a column this engine can read. */
bool column_is_readable(Oid type);
/* A column of a binary result; 0 for NULL. */
int64_t column_i64(const PGresult *result, int row, int column);

#endif

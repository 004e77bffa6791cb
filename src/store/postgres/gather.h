/* Rows waiting to be sent as one statement with array parameters: `insert … select … from unnest($1::bigint[], …)`.
 *
 * A statement of store/sql is gathered when its text for PostgreSQL takes its rows from `unnest($1`; it then has one
 * array per parameter. A gathered UPDATE is always guarded, with this order of parameters: $1 is the sequence the row
 * moves to, the last three are the row's two keys and the sequence it must be at. Two updates of one row become one,
 * because a statement cannot update a row twice: it keeps the first old sequence and takes everything else from the
 * last. Owned by its connection. */
#ifndef STORE_POSTGRES_GATHER_H
#define STORE_POSTGRES_GATHER_H

#include "base/buffer.h"
#include "base/map.h"
#include "store/postgres/value.h"
#include "store/sql.h"

enum { GATHER_ROWS_MAX = 4096, GATHER_BYTES_MAX = 4 * 1024 * 1024 };

struct gather {
    enum sql sql;
    bool updates; /* guarded, and one row per key */
    char table[64];
    int parameter_count;
    struct arena arena;
    struct slice *cells; /* row by row; a missing slice is NULL */
    size_t row_count, row_room;
    struct map rows; /* keys → number of the row, from 1 */
    struct buffer arrays;
};

/* Copies the values. False when this update does not start where the one gathered before it ended. */
bool gather_add(struct gather *gather, const struct parameter *values);
bool gather_is_full(const struct gather *gather);
/* Writes the arrays in binary form; out_values[i] points into gather->arrays until the next call. */
void gather_write(struct gather *gather, const Oid *array_types, const char **out_values, int *out_lengths);
/* Forgets the rows, keeps the room. */
void gather_reset(struct gather *gather);
void gather_release(struct gather *gather);

#endif

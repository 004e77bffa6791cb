/* Running a named statement with its values in one call. Private to the room. */
#ifndef STORE_STATEMENT_H
#define STORE_STATEMENT_H

#include "store/db.h"

/* Without rows; out_changed may be NULL. */
MUST_CHECK enum status statement_run(struct db *db, struct sql_call call, int64_t *out_changed,
                                     struct failure *failure);
/* Starts a query and steps to its first row; NOT_FOUND (and the query is ended) when there is none. After OK the caller
 * reads the row and calls query_end. */
MUST_CHECK enum status statement_first(struct query *query, struct db *db, struct sql_call call,
                                       struct failure *failure);
/* The first column of the first row, or `none` when there is no row. */
MUST_CHECK enum status statement_number(struct db *db, struct sql_call call, int64_t none, int64_t *out,
                                        struct failure *failure);
/* Reads every row with `read` into an array of items of `size` bytes in the arena. */
MUST_CHECK enum status statement_rows(struct db *db, struct sql_call call, size_t size,
                                      void (*read)(struct query *query, struct arena *arena, void *item),
                                      struct arena *arena, void *out_items, size_t *out_count, struct failure *failure);
/* A column copied into the arena; absent stays absent. */
struct slice column_copy(struct query *query, int column, struct arena *arena);
/* The same for a text that may be sealed; seal_check follows (statement_rows does it by itself). */
struct slice column_open(struct query *query, int column, struct arena *arena);

/* The ids that begin with `prefix`, as a half-open range: absent values for an absent prefix. The end lives in `end`.
 */
enum { PREFIX_END_BYTES = 128 }; /* as long as an id may be */
struct id_range {
    struct slice from, to;
    char end[PREFIX_END_BYTES];
};
void id_range_of(struct slice prefix, struct id_range *out);

#endif

/* Running a named statement with its values in one call. Private to the room. */
#ifndef STORE_STATEMENT_H
#define STORE_STATEMENT_H

#include "store/db.h"

enum value_kind { VALUE_NULL, VALUE_NUMBER, VALUE_TEXT, VALUE_BYTES };

struct value {
    enum value_kind kind;
    int64_t number;
    struct slice text;
};

static inline struct value number(int64_t n)
{
    return (struct value){VALUE_NUMBER, n, {0}};
}

static inline struct value text(struct slice s)
{
    return (struct value){VALUE_TEXT, 0, s};
}

static inline struct value bytes(struct slice s)
{
    return (struct value){VALUE_BYTES, 0, s};
}

static inline struct value null_value(void)
{
    return (struct value){VALUE_NULL, 0, {0}};
}

/* As many values as the statement has parameters. */
#define VALUES(...) ((const struct value[]){__VA_ARGS__})

void statement_start(struct query *query, struct db *db, enum sql sql, const struct value *values);
/* Without rows; out_changed may be NULL. */
MUST_CHECK enum status statement_run(struct db *db, enum sql sql, const struct value *values, int64_t *out_changed,
                                     struct failure *failure);
/* Starts a query and steps to its first row; NOT_FOUND (and the query is ended) when there is none. After OK the caller
 * reads the row and calls query_end. */
MUST_CHECK enum status statement_first(struct query *query, struct db *db, enum sql sql, const struct value *values,
                                       struct failure *failure);
/* The first column of the first row, or `none` when there is no row. */
MUST_CHECK enum status statement_number(struct db *db, enum sql sql, const struct value *values, int64_t none,
                                        int64_t *out, struct failure *failure);
/* Reads every row with `read` into an array of items of `size` bytes in the arena. */
MUST_CHECK enum status statement_rows(struct db *db, enum sql sql, const struct value *values, size_t size,
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

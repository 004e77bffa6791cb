/* How a caller gives values to a statement: by the names of its parameters, all of them, or it does not compile. The
 * generated sql.h has a struct and a macro per statement:
 *
 *     sql_task_get(.tenant_key = tenant_key, .id = id)
 */
#ifndef STORE_SQL_VALUES_H
#define STORE_SQL_VALUES_H

#include "base/slice.h"

struct session;

enum sql_kind {
    SQL_I64,
    SQL_OPTIONAL, /* struct sql_optional */
    SQL_BOOL,
    SQL_TEXT,    /* struct slice; absent = NULL */
    SQL_BYTES,   /* the same, bound as bytes */
    SQL_SESSION, /* a field of a session: see session_row.h */
};

struct sql_optional {
    bool given; /* false = NULL */
    int64_t number;
};

static inline struct sql_optional optional(int64_t number, bool given)
{
    return (struct sql_optional){given, number};
}

/* Where a parameter's value is. Parameters are numbered from 1 in the order of their table. */
struct sql_parameter {
    const char *name;
    enum sql_kind kind;
    int field;     /* SQL_SESSION: its row in session_fields; -1 = the key */
    size_t offset; /* in the struct of the statement */
};

/* gcc refuses values without a name; clang does not know the word. */
#if defined(__GNUC__) && !defined(__clang__)
#define SQL_NAMED __attribute__((designated_init))
#else
#define SQL_NAMED
#endif

/* An unknown name and a repeated one are errors of the initialiser; a missing one makes the count differ. */
#define SQL_CALL(statement, type, members, ...)                                                                        \
    ((struct sql_call){(enum sql)((statement) + 0 * SQL_ALL_GIVEN(members, __VA_ARGS__)),                              \
                       &(const struct type){__VA_ARGS__}})
#define SQL_ALL_GIVEN(members, ...)                                                                                    \
    sizeof(struct {                                                                                                    \
        _Static_assert(SQL_GIVEN(__VA_ARGS__) == (members), "each parameter of the statement is given once");          \
        int all;                                                                                                       \
    })
#define SQL_GIVEN(...)                                                                                                 \
    SQL_GIVEN_(__VA_ARGS__, 40, 39, 38, 37, 36, 35, 34, 33, 32, 31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19,    \
               18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define SQL_GIVEN_(a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19, a20, a21,     \
                   a22, a23, a24, a25, a26, a27, a28, a29, a30, a31, a32, a33, a34, a35, a36, a37, a38, a39, a40,      \
                   count, ...)                                                                                         \
    count

#endif

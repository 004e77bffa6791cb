/* What every unit test includes: cmocka in its required order, and checks for our own types. */
#ifndef UNIT_H
#define UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/slice.h"
#include "base/status.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static inline void check_slice(struct slice actual, const char *expected, size_t len, const char *file, int line)
{
    if (!slice_present(actual) || !slice_eq(actual, slice_from(expected, len))) {
        print_error("got %s\"%.*s\", expected \"%s\"\n", slice_present(actual) ? "" : "(absent) ", SLICE_ARG(actual),
                    expected);
        _fail(file, line);
    }
}

static inline void check_status(enum status actual, enum status expected, const char *file, int line)
{
    if (actual != expected) {
        print_error("got %s, expected %s\n", status_name(actual), status_name(expected));
        _fail(file, line);
    }
}

/* Fails, naming the row of a table, unless the condition holds. */
static inline void check_row(bool holds, const char *row, const char *condition, const char *file, int line)
{
    if (!holds) {
        print_error("row \"%s\": %s does not hold\n", row, condition);
        _fail(file, line);
    }
}

/* The number a program printed; fails when it printed anything else. */
static inline int64_t check_number(struct slice printed, const char *file, int line)
{
    int64_t number = 0;
    if (!slice_to_i64(slice_trim(printed), &number)) {
        print_error("got \"%.*s\", expected a number\n", SLICE_ARG(printed));
        _fail(file, line);
    }
    return number;
}

#define number_of(printed) check_number((printed), __FILE__, __LINE__)
#define assert_slice(actual, expected) check_slice((actual), (expected), strlen(expected), __FILE__, __LINE__)
#define assert_bytes(actual, literal) check_slice((actual), (literal), sizeof(literal) - 1, __FILE__, __LINE__)
#define assert_absent(actual) assert_null((actual).ptr)
#define assert_status(actual, expected) check_status((actual), (expected), __FILE__, __LINE__)
#define assert_row(row, condition) check_row((condition), (row), #condition, __FILE__, __LINE__)

#endif

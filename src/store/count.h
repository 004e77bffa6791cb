/* How many sessions of a tenant are in each state. Changes are gathered in the connection and written when the
 * transaction commits: a group of moves touches each number once. */
#ifndef STORE_COUNT_H
#define STORE_COUNT_H

#include "store/db.h"

enum { COUNT_CHANGES_MAX = 32 };

struct count_change {
    int64_t tenant_key, type, work, add;
};

/* Of the running transaction. */
struct count_changes {
    struct count_change items[COUNT_CHANGES_MAX];
    size_t count;
};

MUST_CHECK enum status count_add(struct db *db, int64_t tenant_key, int type, int work, int64_t add,
                                 struct failure *failure);
/* Writes what was gathered: before a commit and before the numbers are read. */
MUST_CHECK enum status counts_flush(struct db *db, struct failure *failure);

#endif

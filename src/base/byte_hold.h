/* Memory that is held for somebody, counted before it is there: an account says for how many bytes at most, a hold
 * takes them from up to BYTE_ACCOUNTS_MAX accounts at once and is given back whole. */
#ifndef BASE_BYTE_HOLD_H
#define BASE_BYTE_HOLD_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/status.h"

/* Shared by all threads; outlives every hold on it. */
struct byte_account {
    _Atomic int64_t used;
    int64_t max;
    const char *whose;  /* for people: "this caller" */
    const char *option; /* that sets `max` */
    enum status status; /* when it is full */
};

enum { BYTE_ACCOUNTS_MAX = 2 };

/* A hold of zeroes is ready: without accounts, everything may be taken. Used by one thread at a time. */
struct byte_hold {
    struct byte_account *accounts[BYTE_ACCOUNTS_MAX];
    int64_t bytes;
};

/* All accounts or none; the first one without room is named in `failure`. */
MUST_CHECK enum status byte_hold_take(struct byte_hold *hold, int64_t bytes, struct failure *failure);
/* For what is there already: counted though an account may have no room. */
void byte_hold_add(struct byte_hold *hold, int64_t bytes);
/* Fails when an account has no room at all. */
MUST_CHECK enum status byte_hold_check(const struct byte_hold *hold, struct failure *failure);
/* What is held is counted for others from now on; NULL = nobody. */
void byte_hold_move(struct byte_hold *hold, struct byte_account *first, struct byte_account *second);
/* Gives everything back, and leaves the accounts in place. */
void byte_hold_release(struct byte_hold *hold);

#endif

/* Random group commits against a model of what was acknowledged, for the tests with broken disks. */
#ifndef TESTS_STORE_WORKLOAD_H
#define TESTS_STORE_WORKLOAD_H

#include "domain/change.h"
#include "store/store.h"

enum { WORKLOAD_SESSIONS_MAX = 24, WORKLOAD_EVENTS_MAX = 1200 };

struct model_session {
    bool exists, deleted;
    int64_t events;
};

struct workload_session {
    char id[16];
    struct session row;
    struct arena arena;                   /* of the row's strings */
    uint64_t hashes[WORKLOAD_EVENTS_MAX]; /* of each event's content */
};

struct workload {
    struct db *db;
    int64_t tenant;
    int64_t now_ms;
    uint64_t (*random)(void);
    struct workload_session sessions[WORKLOAD_SESSIONS_MAX];
    struct model_session acknowledged[WORKLOAD_SESSIONS_MAX];
    struct model_session attempted[WORKLOAD_SESSIONS_MAX]; /* after the group that was in flight */
    int64_t groups, events;
    bool kept_in_flight; /* the last check found the group that was in flight */
};

void workload_init(struct workload *workload, uint64_t (*random)(void));
void workload_release(struct workload *workload);
/* Makes the tenant, or finds it. */
MUST_CHECK enum status workload_start(struct workload *workload, struct db *db, struct failure *failure);
/* One transaction: appends, creates, moves, deletes. After a failure it was rolled back, and `attempted` says what it
 * would have been. `leave_open` stops before the commit. */
MUST_CHECK enum status workload_group(struct workload *workload, bool leave_open, struct failure *failure);
/* Loads the state from a database that was opened again: it must be exactly what was acknowledged or, when a group was
 * in flight, exactly that and this group; every event must be there as written, and `store_verify` must find nothing.
 * A sentence about the first problem, or NULL. */
const char *workload_check(struct workload *workload, struct db *db, bool in_flight);

#endif

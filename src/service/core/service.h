/* The commands. A function here is straight-line C on a writer thread (commands) or a reader thread (queries): load,
 * decide, write; the caller commits. Nothing here replies or sends. */
#ifndef SERVICE_SERVICE_H
#define SERVICE_SERVICE_H

#include "base/clock.h"
#include "base/id.h"
#include "domain/access.h"
#include "domain/session.h"
#include "service/core/limits.h"
#include "store/blob/blob.h"
#include "store/store.h"

struct identity_epoch;
struct media_list;
struct secrets;
struct watchdog_record;

/* What all threads share: set once by main, then only read. What changes meanwhile belongs to others. */
struct service {
    struct clock *clock;
    struct id_source *ids;
    struct slice node; /* PostgreSQL: which of the servers this is; absent = there is only one */
    struct limits limits;
    struct secrets *secrets; /* NULL = none */
    struct blob_place blobs; /* where files of sessions are kept */
    struct identity_epoch *identity_epoch;
    struct watchdog_record *watchdog_record;
};

struct transaction;

/* One call: who asks, and where its memory comes from. */
struct call {
    const struct service *service;
    struct db *db;
    struct transaction *transaction; /* NULL on a reader thread */
    struct arena *arena;
    const struct principal *who;
    struct slice lease_token;       /* of the Sojourn-Lease header; absent = none */
    const struct media_list *media; /* taken out of what the caller sent; NULL = none */
    int64_t now_ms;                 /* wall */
    int64_t steady_ms;
    struct failure failure;
};

#endif

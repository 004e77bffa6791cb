/* Work for workers: claim → heartbeat → append → settle, under a lease with a fencing number. */
#ifndef SERVICE_CLAIM_H
#define SERVICE_CLAIM_H

#include "service/session/session.h"

enum { CLAIM_AGENTS_MAX = 16, CLAIM_BATCH_MAX = 64 };

struct claim_request {
    struct slice worker;
    struct slice agents[CLAIM_AGENTS_MAX]; /* none = any */
    size_t agent_count;
    int types[TYPE_COUNT]; /* enum session_type; none = any */
    size_t type_count;
    bool hosted; /* the server itself asks: for sessions whose driver it runs, which no worker gets */
    int64_t max;
    int64_t lease_ms; /* 0 = the default */
};

struct claimed {
    struct loaded_session *loaded;
    char token[TOKEN_TEXT_BYTES];
    int64_t fence;
    int64_t expires_at_ms; /* wall */
};

/* Takes what is there, highest priority first, then oldest; 0 when there is nothing. */
MUST_CHECK enum status claim_take(struct call *call, const struct claim_request *request, struct claimed *out,
                                  size_t *out_count);
/* The same for one session; *out_taken is false when it is not pending. */
MUST_CHECK enum status claim_take_key(struct call *call, const struct claim_request *request, int64_t session_key,
                                      struct claimed *out, bool *out_taken);
/* Extends the caller's lease; lease_ms 0 keeps its length. When nothing was written
 * (unit_writes), the answer needs no commit: it says nothing that the running group changed. */
MUST_CHECK enum status claim_heartbeat(struct call *call, struct slice id, int64_t lease_ms, struct session_access *out,
                                       int64_t *out_expires_at_ms);
/* TOO_LARGE `usage_too_large` when the session's totals would outgrow their limit with this usage. */
MUST_CHECK enum status claim_check_usage(struct call *call, const struct session *session, const struct json *usage);
MUST_CHECK enum status claim_settle(struct call *call, struct slice id, const struct settlement *settlement,
                                    struct session_access *out);
/* Gives the session back: pending again. */
MUST_CHECK enum status claim_release(struct call *call, struct slice id, struct session_access *out);

/* Writer. The lease is taken from its holder: hosted turns are cut for this cause, the work of others waits again. */
MUST_CHECK enum status lease_revoke(struct call *call, struct loaded_session *loaded, const char *cause);

/* Reader. What waits in each queue, and who works. Whoever could claim it may know of it, whatever else they see. */
MUST_CHECK enum status claim_stats(struct call *call, struct session_filter *filter, struct queue_stats **out_queues,
                                   size_t *out_queue_count, struct worker_stats **out_workers,
                                   size_t *out_worker_count);

#endif

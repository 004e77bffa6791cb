/* Runs of automations: a row beside each session whose source is an automation. It follows the session in the same
 * transaction, and keeps what automation.complete says of it. */
#ifndef SERVICE_AUTOMATION_RUN_H
#define SERVICE_AUTOMATION_RUN_H

#include "service/core/transaction.h"

/* Writer, for the unit: after a session was created, or moved. Nothing for sessions of other sources. */
MUST_CHECK enum status automation_run_begin(struct call *call, const struct session *session);
MUST_CHECK enum status automation_run_keep_up(struct call *call, const struct session *session);
/* Writer, for the gateway: {outcome, summary, completion_id}. CONFLICT `no_run` when no automation started the session.
 * The result is JSON in the call's arena. */
MUST_CHECK enum status automation_run_report(struct call *call, struct loaded_session *loaded,
                                             const struct json *arguments, struct slice *out);

/* Reader. NOT_FOUND `run_not_found`, also for runs of sessions that the caller may not see. */
MUST_CHECK enum status automation_run_find(struct call *call, struct slice id, struct automation_run *out);
struct run_page {
    struct automation_run *runs;
    size_t count;
    struct slice next; /* `before` of the next page; absent = none */
};
/* Newest first; status -1 = any. */
MUST_CHECK enum status automation_run_list(struct call *call, int status_wanted, struct slice before, int64_t limit,
                                           struct run_page *out);

#endif

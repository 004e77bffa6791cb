/* A run of an automation: one session that nobody sits before, and what became of it. The row of its own follows the
 * session until somebody says the outcome or the session ends; then it stands.
 *
 *     queued ⇄ running ⇄ needs_human ─→ succeeded | failed | needs_human   the tool automation.complete says so
 *                                  └─→ succeeded | failed | timed_out      the session ended: inferred
 */
#ifndef DOMAIN_RUN_H
#define DOMAIN_RUN_H

#include "domain/session.h"

#define SOURCE_AUTOMATION "automation"

enum run_status { RUN_QUEUED, RUN_RUNNING, RUN_SUCCEEDED, RUN_FAILED, RUN_NEEDS_HUMAN, RUN_TIMED_OUT, RUN_COUNT };
extern const struct enum_names run_status_enum;
/* What is said of it: the first three by automation.complete, `completed` only by inference. */
enum run_outcome { OUTCOME_SUCCEEDED, OUTCOME_FAILED, OUTCOME_NEEDS_HUMAN, OUTCOME_COMPLETED, OUTCOME_COUNT };
extern const struct enum_names run_said_enum;

enum { RUN_SUMMARY_CHARS_MAX = 20000, RUN_COMPLETION_BYTES_MAX = 200 };

struct automation_run {
    struct slice id, session_id;
    int64_t session_key;
    enum run_status status;
    int outcome; /* enum run_outcome; -1 = not known yet */
    struct slice summary, completion_id;
    int64_t created_at_ms, started_at_ms, ended_at_ms; /* 0 = not yet */
};

bool run_belongs_to(const struct session *session);
/* As the session stands; ended_at_ms and the outcome when it has ended. */
void run_follow(struct automation_run *run, const struct session *session);
/* A report of its outcome. INVALID (`invalid_outcome`) lists the words; CONFLICT (`run_ended`) when it ended before
 * and this is not the same said again: *out_repeated then. */
struct run_verdict {
    struct slice outcome, summary, completion_id;
};
MUST_CHECK enum status run_complete(struct automation_run *run, const struct run_verdict *verdict, int64_t now_ms,
                                    bool *out_repeated, struct failure *failure);
void run_write(struct json_out *out, const struct automation_run *run);

#endif

#include "domain/run.h"

#include "domain/input.h"

static const char *const status_names[RUN_COUNT] = {
    [RUN_QUEUED] = "queued", [RUN_RUNNING] = "running",         [RUN_SUCCEEDED] = "succeeded",
    [RUN_FAILED] = "failed", [RUN_NEEDS_HUMAN] = "needs_human", [RUN_TIMED_OUT] = "timed_out",
};
const struct enum_names run_status_enum = {status_names, RUN_COUNT};

static const char *const outcome_names[OUTCOME_COUNT] = {
    [OUTCOME_SUCCEEDED] = "succeeded",
    [OUTCOME_FAILED] = "failed",
    [OUTCOME_NEEDS_HUMAN] = "needs_human",
    [OUTCOME_COMPLETED] = "completed",
};
const struct enum_names run_said_enum = {outcome_names, OUTCOME_COMPLETED};

static const struct {
    enum run_status status;
    int outcome;
} by_work[SESSION_STATUS_COUNT] = {
    [SESSION_DRAFT] = {RUN_QUEUED, -1},
    [SESSION_PENDING] = {RUN_QUEUED, -1},
    [SESSION_RUNNING] = {RUN_RUNNING, -1},
    [SESSION_WAITING_HUMAN] = {RUN_NEEDS_HUMAN, -1},
    [SESSION_AWAITING_TOOL] = {RUN_NEEDS_HUMAN, -1},
    [SESSION_IDLE] = {RUN_RUNNING, -1},
    [SESSION_COMPLETED] = {RUN_SUCCEEDED, OUTCOME_COMPLETED},
    [SESSION_FAILED] = {RUN_FAILED, OUTCOME_FAILED},
    [SESSION_EXPIRED] = {RUN_TIMED_OUT, OUTCOME_FAILED},
    [SESSION_ABANDONED] = {RUN_FAILED, OUTCOME_FAILED},
};

static const enum run_status by_outcome[OUTCOME_COUNT] = {
    [OUTCOME_SUCCEEDED] = RUN_SUCCEEDED,
    [OUTCOME_FAILED] = RUN_FAILED,
    [OUTCOME_NEEDS_HUMAN] = RUN_NEEDS_HUMAN,
    [OUTCOME_COMPLETED] = RUN_SUCCEEDED,
};

bool run_belongs_to(const struct session *session)
{
    return slice_is(session->source_kind, SOURCE_AUTOMATION);
}

void run_follow(struct automation_run *run, const struct session *session)
{
    bool never_ran = session->status == SESSION_IDLE && session->started_at_ms == 0;
    run->status = never_ran ? RUN_QUEUED : by_work[session->status].status;
    run->outcome = by_work[session->status].outcome;
    run->started_at_ms = session->started_at_ms;
    run->ended_at_ms = session_status_is_ended(session->status) ? session->completed_at_ms : 0;
}

/* By its own name, or word for word. */
static bool is_repeated(const struct automation_run *run, const struct run_verdict *verdict, int outcome)
{
    if (slice_present(verdict->completion_id) || slice_present(run->completion_id)) {
        return slice_present(verdict->completion_id) && slice_eq(verdict->completion_id, run->completion_id);
    }
    return run->outcome == outcome && slice_eq(run->summary, verdict->summary);
}

enum status run_complete(struct automation_run *run, const struct run_verdict *verdict, int64_t now_ms,
                         bool *out_repeated, struct failure *failure)
{
    char list[80];
    int outcome = enum_names_find(run_said_enum, verdict->outcome);
    enum_names_list(run_said_enum, list, sizeof list);
    *out_repeated = false;
    if (outcome < 0) {
        return failure_set(failure, STATUS_INVALID, "invalid_outcome", "`outcome` must be one of %s.", list);
    }
    enum status status = input_check_chars(verdict->summary, "summary", 0, RUN_SUMMARY_CHARS_MAX, failure);
    if (status == STATUS_OK) {
        status = input_check_name(verdict->completion_id, "completion_id", RUN_COMPLETION_BYTES_MAX, failure);
    }
    if (status != STATUS_OK) {
        return status;
    }
    if (run->ended_at_ms != 0) {
        *out_repeated = is_repeated(run, verdict, outcome);
        return *out_repeated
                   ? STATUS_OK
                   : failure_set(failure, STATUS_CONFLICT, "run_ended",
                                 "This run ended before, as %s; an outcome is said once.", status_names[run->status]);
    }
    run->outcome = outcome;
    run->status = by_outcome[outcome];
    run->summary = verdict->summary;
    run->completion_id = verdict->completion_id;
    run->ended_at_ms = now_ms;
    return STATUS_OK;
}

void run_write(struct json_out *out, const struct automation_run *run)
{
    json_begin_object(out);
    json_put_text(out, "id", run->id);
    json_put_text(out, "session_id", run->session_id);
    json_put_text(out, "status", slice_of(status_names[run->status]));
    json_put_text(out, "outcome", run->outcome >= 0 ? slice_of(outcome_names[run->outcome]) : (struct slice){0});
    json_put_text(out, "summary", run->summary);
    json_put_text(out, "completion_id", run->completion_id);
    json_put_time(out, "created_at", run->created_at_ms);
    json_put_time(out, "started_at", run->started_at_ms);
    json_put_time(out, "ended_at", run->ended_at_ms);
    json_end_object(out);
}

#include <assert.h>

#include "domain/prompt.h"
#include "service/session/session_end.h"
#include "service/session/session.h"
#include "service/work/step_internal.h"

enum { RESULT_BYTES_MAX = 16 * 1024 }; /* of a step before, told to those after it; longer ones are looked up */

/* All steps of one run. */
struct work_run {
    struct call *call;
    int64_t tenant_key;
    struct loaded_session *parent;
    struct step_row *rows;
    struct task_step steps[TASK_STEPS_MAX];
    enum session_status states[TASK_STEPS_MAX];
    size_t count;
    size_t ended; /* the one that made us look */
};

static enum status read_steps(struct call *call, int64_t parent_key, struct work_run *out)
{
    enum status status =
        store_step_list(call->db, out->tenant_key, parent_key, call->arena, &out->rows, &out->count, &call->failure);
    if (status == STATUS_OK && out->count > TASK_STEPS_MAX) {
        return failure_set(&call->failure, STATUS_INTERNAL, "run_broken", "The run has %zu steps.", out->count);
    }
    for (size_t i = 0; i < out->count && status == STATUS_OK; i++) {
        const struct json *definition = NULL;
        status = json_parse(call->arena, out->rows[i].definition, &definition, &call->failure);
        if (status == STATUS_OK) {
            status = task_read_step(definition, &out->steps[i], &call->failure);
        }
        out->states[i] = out->rows[i].status;
    }
    return status == STATUS_OK ? task_link(out->steps, out->count, &call->failure) : status;
}

enum status step_check_turn(struct call *call, int64_t tenant_key, const struct loaded_step *step)
{
    struct work_run run = {.call = call, .tenant_key = tenant_key};
    if (!step->row.parent_key || !step->step.depends_on) {
        return STATUS_OK;
    }
    enum status status = transaction_flush(call->transaction, &call->failure);
    if (status == STATUS_OK) {
        status = read_steps(call, step->row.parent_key, &run);
    }
    for (size_t i = 0; i < run.count && status == STATUS_OK; i++) {
        for (size_t before = 0; before < run.count && run.rows[i].session_key == step->row.session_key; before++) {
            if ((run.steps[i].after >> before & 1) && !session_status_is_done(run.states[before])) {
                return failure_set(&call->failure, STATUS_CONFLICT, "step_waits",
                                   "This step waits for %.*s, which is %s.", SLICE_ARG(run.steps[before].id),
                                   session_status_enum.names[run.states[before]]);
            }
        }
    }
    return status;
}

/* --- one that starts --- */

/* What the steps before it yielded, as a message that starts nothing by itself. */
static enum status tell_results(const struct work_run *run, size_t at, struct loaded_session *step)
{
    struct call *call = run->call;
    struct buffer text = {0};
    struct json_out json = json_out_to(&text);
    buffer_add(&text, SLICE("Results of the steps before: "));
    json_begin_object(&json);
    for (size_t i = 0; i < run->count; i++) {
        struct slice result = run->rows[i].result;
        if (run->steps[at].after >> i & 1) {
            json_key_slice(&json, run->steps[i].id);
            json_raw(&json, result.len <= RESULT_BYTES_MAX ? result : SLICE("\"too long to repeat\""));
        }
    }
    json_end_object(&json);
    struct event event = {
        .kind = EVENT_USER_MESSAGE,
        .role = ROLE_SYSTEM,
        .actor = SLICE("system"),
        .content = prompt_content_of(call->arena, buffer_slice(&text)),
        .metadata = SLICE("{\"appended\":true}"),
    };
    buffer_release(&text);
    return session_append_events(call, step, &event, 1);
}

static enum status tell_person(const struct work_run *run, const struct loaded_session *step)
{
    struct changes note = {0};
    const char *keys[] = {"child_id", "kind"};
    struct slice values[] = {step->session.id, SLICE("step")};
    change_note(run->call->arena, EVENT_SESSION_CHILD_WAITING, keys, values, 2, &note);
    return session_append_changes(run->call, run->parent, &note);
}

static enum status start_step(const struct work_run *run, size_t at)
{
    struct call *call = run->call;
    struct loaded_session *step;
    struct changes changes = {0};
    bool human = !slice_present(run->steps[at].agent);
    if (human && !(run->steps[at].after >> run->ended & 1)) {
        return STATUS_OK; /* a person's step stays a draft until somebody begins: it was told before */
    }
    enum status status =
        transaction_load_key(call->transaction, run->tenant_key, run->rows[at].session_key, &step, &call->failure);
    if (status == STATUS_OK) {
        status = tell_results(run, at, step);
    }
    if (status == STATUS_OK && human) {
        return tell_person(run, step);
    }
    if (status == STATUS_OK) {
        status = change_status(call->arena, &step->session, SESSION_PENDING, "the steps before it are completed",
                               STOP_NONE, &changes, &call->failure);
    }
    return status == STATUS_OK ? session_append_changes(call, step, &changes) : status;
}

/* --- one that never will --- */

static enum status fail_step(const struct work_run *run, size_t at)
{
    struct call *call = run->call;
    struct loaded_session *step;
    struct changes changes = {0};
    struct settlement settlement = {
        .to = SESSION_FAILED,
        .error_code = SLICE("dependency_failed"),
        .error_message = arena_format(call->arena, "A step before it, %.*s, was not completed.",
                                      SLICE_ARG(run->steps[run->ended].id)),
    };
    enum status status =
        transaction_load_key(call->transaction, run->tenant_key, run->rows[at].session_key, &step, &call->failure);
    if (status == STATUS_OK) {
        status = change_end(call->arena, &step->session, &settlement, &changes, &call->failure);
    }
    if (status == STATUS_OK) {
        status = session_append_changes(call, step, &changes);
    }
    if (status == STATUS_OK) {
        status = session_leave_turn(call, step);
    }
    return status == STATUS_OK ? session_end_close(call, step) : status;
}

/* --- the whole --- */

static enum status end_run(const struct work_run *run, enum run_end end)
{
    struct call *call = run->call;
    struct settlement settlement = {.to = SESSION_COMPLETED, .reason = SLICE("all its steps are completed")};
    if (end == RUN_GOES_ON) {
        return STATUS_OK;
    }
    if (end == RUN_HAS_FAILED) {
        settlement = (struct settlement){
            .to = SESSION_FAILED,
            .error_code = SLICE("step_failed"),
            .error_message =
                arena_format(call->arena, "Its step %.*s was not completed.", SLICE_ARG(run->steps[run->ended].id)),
        };
    }
    return step_end(call, run->parent, &settlement);
}

static enum status follow_plan(const struct work_run *run)
{
    enum step_action actions[TASK_STEPS_MAX];
    enum run_end end = task_plan(run->steps, run->states, run->count, actions);
    enum status status = STATUS_OK;
    for (size_t i = 0; i < run->count && status == STATUS_OK; i++) {
        if (actions[i] == STEP_FAILS) {
            status = fail_step(run, i);
        } else if (actions[i] == STEP_STARTS && end == RUN_GOES_ON) {
            status = start_step(run, i);
        }
    }
    return status == STATUS_OK ? end_run(run, end) : status;
}

/* The parent was told of the end before this, and is written by the flush: on PostgreSQL that is where two nodes that
 * end steps of one run at the same moment meet. One of them goes again, and sees what the other did. */
enum status step_advance(struct call *call, struct loaded_session *ended, const struct loaded_step *step)
{
    assert(call_writes(call));
    struct work_run run = {.call = call, .tenant_key = ended->session.tenant_key};
    enum status status =
        transaction_load_key(call->transaction, run.tenant_key, step->row.parent_key, &run.parent, &call->failure);
    if (status == STATUS_NOT_FOUND || (status == STATUS_OK && session_status_is_ended(run.parent->session.status))) {
        return STATUS_OK; /* nothing is left to go on with */
    }
    if (status == STATUS_OK) {
        status = transaction_flush(call->transaction, &call->failure);
    }
    if (status == STATUS_OK) {
        status = read_steps(call, step->row.parent_key, &run);
    }
    for (size_t i = 0; i < run.count; i++) {
        run.ended = run.rows[i].session_key == ended->session.key ? i : run.ended;
    }
    return status == STATUS_OK ? follow_plan(&run) : status;
}

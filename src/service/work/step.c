#include <assert.h>

#include "service/work/step.h"

#include "domain/contract.h"
#include "service/work/entity.h"
#include "service/session/session.h"
#include "service/work/step_internal.h"

enum status step_load(struct call *call, const struct session *session, struct loaded_step *out)
{
    const struct json *definition = NULL;
    *out = (struct loaded_step){0};
    if (!slice_present(session->task_id)) {
        return STATUS_OK;
    }
    enum status status =
        store_step_get(call->db, session->tenant_key, session->key, call->arena, &out->row, &call->failure);
    if (status == STATUS_NOT_FOUND) {
        return STATUS_OK;
    }
    if (status == STATUS_OK) {
        status = json_parse(call->arena, out->row.definition, &definition, &call->failure);
    }
    if (status == STATUS_OK) {
        status = task_read_step(definition, &out->step, &call->failure);
    }
    out->found = status == STATUS_OK;
    return status;
}

enum status session_is_step(struct call *call, const struct session *session, bool *out)
{
    struct loaded_step step;
    enum status status = step_load(call, session, &step);
    *out = step.found;
    return status;
}

/* --- is the output right? --- */

static void fail(struct call *call, const char *code, const char *message, struct settlement *settlement)
{
    settlement->to = SESSION_FAILED;
    settlement->error_code = slice_of(code);
    settlement->error_message = arena_copy(call->arena, slice_of(message));
}

/* It must be there, and have room. */
static enum status judge_entity(struct call *call, const struct session *session, const struct task_step *step,
                                struct settlement *settlement)
{
    struct entity entity;
    bool changed;
    const struct json *patch = NULL;
    struct failure why = {0};
    struct contract_yield yield = contract_yield(call->arena, step->output, settlement->result);
    if (!slice_present(session->entity_id) || !slice_present(yield.fields)) {
        return STATUS_OK;
    }
    enum status status =
        store_entity_lock(call->db, session->tenant_key, session->entity_id, call->arena, &entity, &call->failure);
    if (status == STATUS_NOT_FOUND) {
        fail(call, "entity_gone", "The entity that this output is for is not there any more.", settlement);
        return STATUS_OK;
    }
    if (status == STATUS_OK) {
        status = json_parse(call->arena, yield.fields, &patch, &call->failure);
    }
    if (status == STATUS_OK && entity_apply(call->arena, &entity, patch, call->service->limits.work.entity_bytes_max,
                                            &changed, &why) != STATUS_OK) {
        fail(call, "output_contract", why.detail, settlement);
    }
    return status;
}

enum status step_judge(struct call *call, const struct session *session, const struct task_step *step,
                       struct settlement *settlement)
{
    struct failure why = {0};
    if (contract_enforce(step->output, settlement->result, &why) != STATUS_OK) {
        fail(call, "output_contract", why.detail, settlement);
        return STATUS_OK;
    }
    struct safety safety = criteria_evaluate(call->arena, step->criteria, settlement->result);
    if (!safety.ok) {
        struct slice message = arena_format(call->arena, "%.*s is %.*s, which is never accepted.",
                                            SLICE_ARG(safety.dimension), SLICE_ARG(safety.option));
        fail(call, "output_blocked", message.ptr, settlement);
        return STATUS_OK;
    }
    return judge_entity(call, session, step, settlement);
}

static enum status find_output(struct call *call, const struct session *session, struct settlement *settlement)
{
    bool given = settlement->result && !json_is(settlement->result, JSON_NULL);
    return given || !slice_present(session->result)
               ? STATUS_OK
               : json_parse(call->arena, arena_copy(call->arena, session->result), &settlement->result, &call->failure);
}

enum status step_decide(struct call *call, const struct session *session, struct settlement *settlement,
                        bool *out_staged)
{
    struct loaded_step step;
    *out_staged = false;
    if (!session_status_is_done(settlement->to)) {
        return STATUS_OK;
    }
    enum status status = step_load(call, session, &step);
    if (status != STATUS_OK || !step.found) {
        return status;
    }
    status = find_output(call, session, settlement);
    if (status == STATUS_OK) {
        status = step_judge(call, session, &step.step, settlement);
    }
    if (status == STATUS_OK && session_status_is_done(settlement->to) && step.step.requires_approval) {
        *out_staged = true;
        settlement->to = SESSION_WAITING_HUMAN;
        settlement->reason = SLICE("its output waits for approval");
    }
    return status;
}

/* --- ends --- */

enum status step_end(struct call *call, struct loaded_session *loaded, const struct settlement *settlement)
{
    assert(call_writes(call));
    struct changes changes = {0};
    enum status status = change_end(call->arena, &loaded->session, settlement, &changes, &call->failure);
    if (status == STATUS_OK) {
        status = session_append_changes(call, loaded, &changes);
    }
    return status == STATUS_OK ? session_after_move(call, loaded) : status;
}

static enum status move_to_stage(struct call *call, struct loaded_session *loaded, const struct settlement *settlement)
{
    struct changes changes = {0};
    enum status status = change_settle(call->arena, &loaded->session, settlement, &changes, &call->failure);
    if (status == STATUS_OK) {
        status = session_append_changes(call, loaded, &changes);
    }
    if (status == STATUS_OK) {
        status = session_drop_lease(call, loaded);
    }
    return status == STATUS_OK ? step_stage(call, loaded) : status;
}

enum status step_move(struct call *call, struct loaded_session *loaded, enum session_status to, struct slice reason,
                      bool *out_done)
{
    assert(call_writes(call));
    struct loaded_step step;
    struct settlement settlement = {.to = to, .reason = reason.len ? reason : (struct slice){0}};
    bool staged = false;
    *out_done = false;
    enum status status = step_load(call, &loaded->session, &step);
    if (status != STATUS_OK || !step.found || !session_status_allows(loaded->session.status, to)) {
        return status;
    }
    if (session_status_is_unbegun(loaded->session.status) &&
        (!session_status_is_ended(to) || session_status_is_done(to))) {
        status = step_check_turn(call, loaded->session.tenant_key, &step);
    }
    if (status != STATUS_OK || !session_status_is_done(to)) {
        return status;
    }
    *out_done = true;
    status = step_decide(call, &loaded->session, &settlement, &staged);
    if (status != STATUS_OK) {
        return status;
    }
    return staged ? move_to_stage(call, loaded, &settlement) : step_end(call, loaded, &settlement);
}

enum status step_check_prompt(struct call *call, const struct session *session)
{
    struct loaded_step step;
    if (!session_status_is_unbegun(session->status)) {
        return STATUS_OK;
    }
    enum status status = step_load(call, session, &step);
    return status == STATUS_OK && step.found ? step_check_turn(call, session->tenant_key, &step) : status;
}

static enum status fill_entity(struct call *call, struct loaded_session *loaded, const struct task_step *step)
{
    struct entity entity;
    const struct json *output = NULL;
    bool changed = false;
    const struct session *session = &loaded->session;
    if (!slice_present(session->entity_id) || !step->output || !slice_present(session->result)) {
        return STATUS_OK;
    }
    enum status status = json_parse(call->arena, arena_copy(call->arena, session->result), &output, &call->failure);
    struct contract_yield yield = contract_yield(call->arena, step->output, output);
    if (status != STATUS_OK || !slice_present(yield.fields)) {
        return status;
    }
    status = entity_fill(call, session->tenant_key, session->entity_id, yield.fields, &entity, &changed);
    if (status != STATUS_OK || !changed) {
        return status;
    }
    struct changes changes = {0};
    change_entity_updated(call->arena, &entity, yield.names, &changes);
    return session_append_changes(call, loaded, &changes);
}

enum status step_after_end(struct call *call, struct loaded_session *loaded)
{
    assert(call_writes(call));
    struct loaded_step step;
    enum status status = step_load(call, &loaded->session, &step);
    if (status != STATUS_OK || !step.found) {
        return status;
    }
    if (session_status_is_done(loaded->session.status)) {
        status = fill_entity(call, loaded, &step.step);
    }
    return status == STATUS_OK && step.row.parent_key ? step_advance(call, loaded, &step) : status;
}

/* --- again --- */

enum status step_check_retry(struct call *call, const struct session *old)
{
    struct step_row *rows;
    size_t count = 0;
    if (!slice_present(old->task_id)) {
        return STATUS_OK;
    }
    enum status status =
        store_step_list(call->db, old->tenant_key, old->key, call->arena, &rows, &count, &call->failure);
    return status == STATUS_OK && count > 0
               ? failure_set(&call->failure, STATUS_CONFLICT, "run_again",
                             "This is a run of several steps: start another with POST /api/tasks/%.*s/runs.",
                             SLICE_ARG(old->task_id))
               : status;
}

enum status step_copy(struct call *call, const struct session *old, const struct session *retry)
{
    struct loaded_step step;
    enum status status = step_load(call, old, &step);
    if (status != STATUS_OK || !step.found) {
        return status;
    }
    struct step_row row = {.session_key = retry->key, .definition = step.row.definition};
    return store_step_insert(call->db, retry->tenant_key, &row, &call->failure);
}

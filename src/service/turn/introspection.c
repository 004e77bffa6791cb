#include <assert.h>

#include "service/turn/introspection.h"

#include "service/agent/agent.h"

enum { RUNNING_MAX = 1000, BUSY_MS = 10000 };

/* --- rows and timers --- */

/* What belongs to no chat of a model has no row, and nobody asks for one. */
static bool may_apply(const struct session *session)
{
    return session->driver == DRIVER_MODEL && session_is_chat(session);
}

static enum status load(struct call *call, const struct session *session, struct introspection *out)
{
    *out = (struct introspection){.tenant_key = session->tenant_key, .session_key = session->key};
    enum status status = store_introspection_get(call->db, session->tenant_key, session->key, out, &call->failure);
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

static enum status save(struct call *call, const struct introspection *row)
{
    return store_introspection_put(call->db, row, &call->failure);
}

static enum status read_settings(struct call *call, const struct session *session, struct introspection_settings *out)
{
    struct agent agent;
    enum status status = agent_of_session_or_none(call, session, call->arena, &agent);
    if (status == STATUS_OK) {
        *out = agent.introspection;
        out->enabled =
            introspection_applies(session, &agent.introspection) && call->service->limits.introspection.max > 0;
    }
    return status;
}

/* `wait_ms` below 0 takes the timer away. */
static enum status set_timer(struct call *call, const struct loaded_session *loaded, int64_t wait_ms)
{
    return transaction_timer(call, loaded, TIMER_INTROSPECTION, wait_ms < 0 ? 0 : call->steady_ms + wait_ms);
}

static enum status interrupt(struct call *call, struct loaded_session *loaded, struct introspection *row,
                             const char *cause)
{
    struct changes changes = {0};
    bool told = row->runs && !session_status_is_ended(loaded->session.status);
    change_introspection_interrupted(call->arena, row, cause, &changes);
    introspection_interrupt(row);
    enum status status = save(call, row);
    return status == STATUS_OK && told ? session_append_changes(call, loaded, &changes) : status;
}

/* --- what people and turns do to it --- */

static enum status count(struct call *call, struct loaded_session *loaded, struct introspection *row, bool turn)
{
    struct introspection_settings settings = {0};
    enum status status = read_settings(call, &loaded->session, &settings);
    if (status != STATUS_OK || !settings.enabled) {
        return status;
    }
    row->turns += turn;
    row->passive += !turn;
    status = save(call, row);
    bool begins = row->to == 0 && introspection_may_run(&loaded->session); /* what is in hand has its timer */
    return status == STATUS_OK && begins ? set_timer(call, loaded, introspection_wait_ms(row, &settings)) : status;
}

enum status introspection_after_turn(struct call *call, struct loaded_session *loaded)
{
    assert(call_writes(call));
    struct introspection row;
    if (!may_apply(&loaded->session)) {
        return STATUS_OK;
    }
    enum status status = load(call, &loaded->session, &row);
    if (status == STATUS_OK && row.to != 0) {
        status = interrupt(call, loaded, &row, "turn");
    }
    return status == STATUS_OK ? count(call, loaded, &row, true) : status;
}

enum status introspection_overhear(struct call *call, struct loaded_session *loaded)
{
    assert(call_writes(call));
    struct introspection row;
    if (!may_apply(&loaded->session)) {
        return STATUS_OK;
    }
    enum status status = load(call, &loaded->session, &row);
    return status == STATUS_OK ? count(call, loaded, &row, false) : status;
}

enum status introspection_on_message(struct call *call, struct loaded_session *loaded)
{
    assert(call_writes(call));
    struct introspection row;
    if (!may_apply(&loaded->session)) {
        return STATUS_OK;
    }
    enum status status = load(call, &loaded->session, &row);
    if (status == STATUS_OK && row.to != 0) {
        status = interrupt(call, loaded, &row, "message");
    }
    bool has_timer = row.turns > 0 || row.passive > 0;
    return status == STATUS_OK && has_timer ? set_timer(call, loaded, -1) : status;
}

/* --- its timer --- */

static enum status begin(struct call *call, struct loaded_session *loaded, struct introspection *row,
                         const struct introspection_settings *settings)
{
    struct changes changes = {0};
    introspection_begin(row, &loaded->session, settings);
    change_introspection_started(call->arena, row, &changes);
    enum status status = save(call, row);
    if (status == STATUS_OK) {
        status = session_append_changes(call, loaded, &changes);
    }
    return status == STATUS_OK ? set_timer(call, loaded, call->service->limits.claim.lease_ms_default) : status;
}

static enum status begin_if_room(struct call *call, struct loaded_session *loaded, struct introspection *row,
                                 bool *out_again)
{
    struct introspection *running;
    size_t count = 0;
    struct introspection_settings settings = {0};
    enum status status = read_settings(call, &loaded->session, &settings);
    if (status != STATUS_OK || !settings.enabled || introspection_wait_ms(row, &settings) < 0) {
        return status;
    }
    *out_again = true;
    int64_t most = call->service->limits.introspection.max;
    status = store_introspection_running(call->db, most, call->arena, &running, &count, &call->failure);
    if (status == STATUS_OK && (int64_t)count >= most) {
        return set_timer(call, loaded, BUSY_MS);
    }
    return status == STATUS_OK ? begin(call, loaded, row, &settings) : status;
}

/* Nothing was heard of its host, or it failed. `retry_ms` 0 = at once. */
static enum status fail(struct call *call, struct loaded_session *loaded, struct introspection *row, const char *cause,
                        const struct turn_end *end, int64_t retry_ms)
{
    struct changes changes = {0};
    change_introspection_failed(call->arena, row, cause, end, &changes);
    bool again = introspection_fail(row, call->service->limits.introspection.attempts_max);
    enum status status = save(call, row);
    if (status == STATUS_OK) {
        status = session_append_changes(call, loaded, &changes);
    }
    return status == STATUS_OK ? set_timer(call, loaded, again ? retry_ms : -1) : status;
}

enum status introspection_due(struct call *call, struct loaded_session *loaded, bool *out_again)
{
    assert(call_writes(call));
    struct introspection row;
    struct session *session = &loaded->session;
    enum status status = load(call, session, &row);
    if (status != STATUS_OK) {
        return status;
    }
    if (!introspection_may_run(session)) {
        return row.to != 0 ? interrupt(call, loaded, &row, "session") : STATUS_OK;
    }
    *out_again = row.runs || session_blocks_turns(session);
    if (row.runs) {
        return fail(call, loaded, &row, "lease_lost", NULL, 0);
    }
    if (session_blocks_turns(session)) {
        return set_timer(call, loaded, call->service->limits.introspection.retry_ms);
    }
    return begin_if_room(call, loaded, &row, out_again);
}

static enum status recover_one(struct call *call, const struct introspection *row)
{
    struct loaded_session *loaded;
    struct introspection own = *row;
    enum status status =
        transaction_load_key(call->transaction, row->tenant_key, row->session_key, &loaded, &call->failure);
    return status == STATUS_OK ? fail(call, loaded, &own, "server_restarted", NULL, 0) : status;
}

enum status introspection_recover(struct call *call)
{
    struct introspection *rows;
    size_t count = 0;
    enum status status = store_introspection_running(call->db, RUNNING_MAX, call->arena, &rows, &count, &call->failure);
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        status = recover_one(call, &rows[i]);
    }
    return status;
}

/* --- for its host --- */

static enum status enter(struct call *call, struct slice session_id, int64_t run, struct session_access *out,
                         struct introspection *out_row)
{
    *out = (struct session_access){.role = ACCESS_OWNER};
    enum status status =
        transaction_load(call->transaction, call->who->tenant_key, session_id, &out->loaded, &call->failure);
    if (status == STATUS_OK) {
        status = load(call, &out->loaded->session, out_row);
    }
    if (status == STATUS_OK && !introspection_is_held(out_row, run, &out->loaded->session)) {
        return failure_set(&call->failure, STATUS_STALE, "introspection_over", "The look back was interrupted.");
    }
    return status;
}

enum status introspection_enter(struct call *call, struct slice session_id, int64_t run, struct session_access *out)
{
    assert(call_writes(call));
    struct introspection row;
    return enter(call, session_id, run, out, &row);
}

enum status introspection_renew(struct call *call, struct slice session_id, int64_t run)
{
    struct session_access entry;
    enum status status = introspection_enter(call, session_id, run, &entry);
    return status == STATUS_OK ? set_timer(call, entry.loaded, call->service->limits.claim.lease_ms_default) : status;
}

static enum status finish(struct call *call, struct loaded_session *loaded, struct introspection *row,
                          const struct turn_end *end, int64_t tool_calls)
{
    struct changes changes = {0};
    struct introspection_settings settings = {0};
    change_introspection_ended(call->arena, row, end, tool_calls, &changes);
    introspection_finish(row);
    enum status status = read_settings(call, &loaded->session, &settings);
    if (status == STATUS_OK) {
        status = save(call, row);
    }
    if (status == STATUS_OK) {
        status = session_append_changes(call, loaded, &changes);
    }
    return status == STATUS_OK ? set_timer(call, loaded, introspection_wait_ms(row, &settings)) : status;
}

enum status introspection_settle(struct call *call, struct slice session_id, int64_t run, const struct turn_end *end,
                                 int64_t tool_calls)
{
    struct session_access entry;
    struct introspection row;
    enum status status = enter(call, session_id, run, &entry, &row);
    if (status != STATUS_OK) {
        return status;
    }
    return introspection_is_done(end) ? finish(call, entry.loaded, &row, end, tool_calls)
                                      : fail(call, entry.loaded, &row, turn_error_enum.names[end->error], end,
                                             call->service->limits.introspection.retry_ms);
}

enum status introspection_return(struct call *call, struct slice session_id, int64_t run, const char *cause)
{
    struct session_access entry;
    struct introspection row;
    enum status status = enter(call, session_id, run, &entry, &row);
    return status == STATUS_OK
               ? fail(call, entry.loaded, &row, cause, NULL, call->service->limits.introspection.retry_ms)
               : status;
}

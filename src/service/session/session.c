#include <assert.h>

#include "service/session/session.h"

#include "service/ask/ask.h"
#include "service/session/session_end.h"
#include "service/identity/identity.h"
#include "service/prompt/prompt.h"
#include "service/session/session_internal.h"
#include "service/turn/turn_close.h"
#include "service/turn/turn_partial.h"
#include "service/work/step.h"

static enum status start_stale(struct call *call, struct loaded_session *loaded)
{
    int64_t stale_ms = call->service->limits.health.stale_ms;
    return stale_ms != 0 && session_is_from_channel(&loaded->session)
               ? transaction_timer(call, loaded, TIMER_STALE, call->steady_ms + stale_ms)
               : STATUS_OK;
}

enum status session_start_timers(struct call *call, struct loaded_session *loaded)
{
    assert(call_writes(call));
    const struct session *session = &loaded->session;
    enum status status = STATUS_OK;
    if (session->expires_at_ms != 0) {
        status = transaction_timer(call, loaded, TIMER_EXPIRY, call->steady_ms + session->expires_at_ms - call->now_ms);
    }
    if (status == STATUS_OK && session_is_human_bridge(session)) {
        status =
            transaction_timer(call, loaded, TIMER_HUMAN, call->steady_ms + call->service->limits.sessions.human_ms);
    }
    return status == STATUS_OK ? start_stale(call, loaded) : status;
}

/* An end stops the timers; whoever comes back from it needs them again. */
enum status session_revive(struct call *call, struct loaded_session *loaded, struct changes *changes)
{
    assert(call_writes(call));
    bool was_ended = session_status_is_ended(loaded->session.status);
    enum status status = session_append_changes(call, loaded, changes);
    if (status != STATUS_OK || !was_ended || session_status_is_ended(loaded->session.status)) {
        return status;
    }
    status = ask_forget_rules(call, loaded);
    if (status == STATUS_OK) { /* of its life before */
        status = token_end_of(call, &loaded->session, PRINCIPAL_SANDBOX);
    }
    return status == STATUS_OK ? session_start_timers(call, loaded) : status;
}

enum status session_tell_parent(struct call *call, struct loaded_session *parent, enum event_kind kind,
                                const struct session *child)
{
    assert(call_writes(call));
    struct changes note = {0};
    parent->children_known = parent->has_children = true;
    const char *keys[] = {"child_id", "status"};
    struct slice values[] = {child->id, slice_of(session_status_enum.names[child->status])};
    change_note(call->arena, kind, keys, values, 2, &note);
    return session_append_changes(call, parent, &note);
}

enum status session_update(struct call *call, struct slice id, const struct json *patch, struct session_access *out)
{
    assert(call_writes(call));
    struct session_access entry;
    struct changes changes = {0};
    enum status status = session_authorize(call, id, ACTION_UPDATE, &entry);
    if (status == STATUS_OK) {
        status = change_update(call->arena, &entry.loaded->session, patch, &call->service->limits.session, call->now_ms,
                               &changes, &call->failure);
    }
    if (status != STATUS_OK) {
        return status;
    }
    enum visibility visibility_before = entry.loaded->session.visibility;
    int64_t expires_before = entry.loaded->session.expires_at_ms;
    if (changes.count > 0) {
        status = session_append_changes(call, entry.loaded, &changes);
    }
    if (entry.loaded->session.visibility < visibility_before) { /* whoever still may watch comes back */
        transaction_close_viewers(call->transaction, &entry.loaded->session, SLICE("access_changed"),
                                  (struct slice){0});
    }
    int64_t expires = entry.loaded->session.expires_at_ms;
    if (status == STATUS_OK && expires != expires_before) {
        status =
            transaction_timer(call, entry.loaded, TIMER_EXPIRY, expires ? call->steady_ms + expires - call->now_ms : 0);
    }
    *out = entry;
    return status;
}

enum status session_set_git_state(struct call *call, struct slice id, const struct json *git_state,
                                  struct session_access *out)
{
    assert(call_writes(call));
    struct changes changes = {0};
    const struct json *patch;
    struct slice text = arena_format(call->arena, "{\"details\":{\"git_state\":%.*s}}", SLICE_ARG(git_state->raw));
    enum status status = json_parse(call->arena, text, &patch, &call->failure);
    if (status == STATUS_OK) {
        status = session_authorize(call, id, ACTION_APPEND, out);
    }
    if (status == STATUS_OK) {
        status = change_update(call->arena, &out->loaded->session, patch, &call->service->limits.session, call->now_ms,
                               &changes, &call->failure);
    }
    return status == STATUS_OK && changes.count > 0 ? session_append_changes(call, out->loaded, &changes) : status;
}

enum status session_set_archived(struct call *call, struct slice id, bool archived, struct session_access *out)
{
    assert(call_writes(call));
    struct session_access entry;
    struct changes changes = {0};
    enum status status = session_authorize(call, id, ACTION_ARCHIVE, &entry);
    if (status == STATUS_OK) {
        status = change_archive(call->arena, &entry.loaded->session, archived, &changes, &call->failure);
    }
    if (status == STATUS_OK && changes.count > 0) {
        status = session_append_changes(call, entry.loaded, &changes);
    }
    if (status == STATUS_OK && changes.count > 0 && !archived) {
        status = start_stale(call, entry.loaded);
    }
    if (status == STATUS_OK) {
        *out = entry;
    }
    return status;
}

enum status session_drop_lease(struct call *call, struct loaded_session *loaded)
{
    assert(call_writes(call));
    const struct lease *lease;
    enum status status = transaction_lease(call->transaction, loaded, &lease, &call->failure);
    if (status == STATUS_OK && lease && agent_is_hosted((enum agent_driver)loaded->session.driver)) {
        status = turn_abandon(call, loaded);
    }
    if (status == STATUS_OK && lease) {
        status = transaction_lease_delete(call->transaction, loaded, &call->failure);
        if (status == STATUS_OK) {
            status = transaction_timer(call, loaded, TIMER_LEASE, 0);
        }
    }
    return status;
}

/* Its worker loses the session in mid-turn; whoever settles it has said what there is to say. */
static enum status leave_worker(struct call *call, struct loaded_session *loaded)
{
    const struct lease *lease;
    enum status status = transaction_lease(call->transaction, loaded, &lease, &call->failure);
    bool is_worker = status == STATUS_OK && lease && !agent_is_hosted((enum agent_driver)loaded->session.driver);
    if (is_worker) {
        status = turn_keep_partial(call, loaded, (struct slice){0});
    }
    struct turn_end end = {.stop = TURN_ABORTED, .error = TURN_CANCELLED};
    return is_worker && status == STATUS_OK ? turn_end_claimed(call, loaded, loaded->session.status, &end) : status;
}

enum status session_leave_turn(struct call *call, struct loaded_session *loaded)
{
    assert(call_writes(call));
    enum status status = STATUS_OK;
    if (!session_status_is_leased(loaded->session.status)) {
        status = leave_worker(call, loaded);
        status = status == STATUS_OK ? session_drop_lease(call, loaded) : status;
    }
    if (status == STATUS_OK) {
        status = ask_after_move(call, loaded);
    }
    return status == STATUS_OK ? prompt_after_move(call, loaded) : status;
}

enum status session_after_move(struct call *call, struct loaded_session *loaded)
{
    assert(call_writes(call));
    enum status status = session_leave_turn(call, loaded);
    return status == STATUS_OK && session_status_is_ended(loaded->session.status) ? session_end_run(call, loaded)
                                                                                  : status;
}

enum status session_move(struct call *call, struct slice id, enum session_status to, struct slice reason,
                         struct session_access *out)
{
    assert(call_writes(call));
    struct session_access entry;
    enum status status = session_authorize(call, id, session_status_is_ended(to) ? ACTION_STOP : ACTION_APPEND, &entry);
    if (status != STATUS_OK) {
        return status;
    }
    *out = entry;
    bool done = false;
    bool has_holder = access_runs(call->who, &entry.loaded->session, entry.holds_lease);
    status = change_check_has_holder(&entry.loaded->session, to, has_holder, &call->failure);
    if (status == STATUS_OK) {
        status = step_move(call, entry.loaded, to, reason, &done);
    }
    if (status != STATUS_OK || done) {
        return status;
    }
    struct changes changes = {0};
    struct slice line = arena_format(call->arena, "%.*s", SLICE_ARG(reason));
    status = change_status(call->arena, &entry.loaded->session, to, line.ptr,
                           session_status_is_ended(to) ? STOP_USER : STOP_NONE, &changes, &call->failure);
    if (status != STATUS_OK || changes.count == 0) {
        return status; /* moving twice is moving once */
    }
    if (session_status_is_under_way(to)) {
        status = session_check_begin(call, &entry.loaded->session);
    }
    if (status == STATUS_OK) {
        status = session_revive(call, entry.loaded, &changes);
    }
    if (status == STATUS_OK &&
        session_status_is_waiting(to)) { /* parked from outside: whoever ran it does so no longer */
        status = session_drop_lease(call, entry.loaded);
    }
    return status == STATUS_OK ? session_after_move(call, entry.loaded) : status;
}

enum status session_reopen(struct call *call, struct slice id, struct session_access *out)
{
    assert(call_writes(call));
    struct session_access entry;
    struct changes changes = {0};
    enum status status = session_authorize(call, id, ACTION_APPEND, &entry);
    if (status == STATUS_OK) {
        status = change_reopen(call->arena, &entry.loaded->session, "reopened", &changes, &call->failure);
    }
    if (status == STATUS_OK) {
        status = session_revive(call, entry.loaded, &changes);
    }
    if (status == STATUS_OK) {
        *out = entry;
    }
    return status;
}

enum status session_delete(struct call *call, struct slice id)
{
    struct session_access entry;
    enum status status = session_authorize(call, id, ACTION_DELETE, &entry);
    if (status == STATUS_OK) { /* what follows depends on its state, and no write to it would tell that this is old */
        const struct session *known = &entry.loaded->session;
        status =
            transaction_load_fresh(call->transaction, known->tenant_key, known->key, &entry.loaded, &call->failure);
        status = status == STATUS_NOT_FOUND ? access_not_found(&call->failure) : status;
    }
    if (status == STATUS_OK) {
        status = change_check_delete(&entry.loaded->session, &call->failure);
    }
    if (status == STATUS_OK) { /* what hangs on it learns of it, too */
        status = session_end_erase(call, entry.loaded);
    }
    if (status == STATUS_OK) {
        status = token_end_of(call, &entry.loaded->session, PRINCIPAL_SANDBOX);
    }
    if (status == STATUS_OK) {
        status = token_end_of(call, &entry.loaded->session, PRINCIPAL_RUNNER);
    }
    return status == STATUS_OK ? transaction_delete(call, entry.loaded) : status;
}

/* --- as it was --- */

struct refold {
    struct session *session;
    struct arena *arena;
    int64_t until;
};

static bool refold_one(void *owner, const struct event *event)
{
    struct refold *refold = owner;
    session_apply(refold->session, event, refold->arena);
    return event->sequence < refold->until;
}

enum status session_view_at(struct call *call, struct slice id, int64_t sequence, struct session *out)
{
    struct session now;
    enum status status = session_authorize_read(call, id, ACTION_READ, &now, NULL);
    if (status != STATUS_OK) {
        return status;
    }
    if (sequence < 1 || sequence > now.last_sequence) {
        return failure_set(&call->failure, STATUS_INVALID, "invalid_sequence", "`at` must be between 1 and %lld.",
                           (long long)now.last_sequence);
    }
    *out = (struct session){.key = now.key, .tenant_key = now.tenant_key, .id = now.id};
    struct refold refold = {out, call->arena, sequence};
    while (status == STATUS_OK && out->last_sequence < sequence) {
        struct event_filter filter = {.tenant_key = now.tenant_key,
                                      .session_key = now.key,
                                      .after = out->last_sequence,
                                      .before = sequence + 1,
                                      .limit = 1000};
        int64_t before = out->last_sequence;
        status = store_event_read(call->db, &filter, refold_one, &refold, &call->failure);
        if (status == STATUS_OK && out->last_sequence == before) {
            status = failure_set(&call->failure, STATUS_INTERNAL, "log_broken", "The log ends before event %lld.",
                                 (long long)sequence);
        }
    }
    return status;
}

enum status session_list(struct call *call, const struct session_filter *filter, struct session_page *out)
{
    return store_session_list(call->db, filter, call->arena, out, &call->failure);
}

enum status session_count(struct call *call, const struct session_filter *filter,
                          int64_t counts[TYPE_COUNT][SESSION_STATUS_COUNT])
{
    return store_counts(call->db, filter, counts, &call->failure);
}

enum status session_count_children(struct call *call, const struct session *session, int64_t *out)
{
    return store_session_count_children(call->db, session->tenant_key, session->id, out, &call->failure);
}

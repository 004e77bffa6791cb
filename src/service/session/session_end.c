#include <assert.h>

#include "service/session/session_end.h"

#include "service/session/session_internal.h"
#include "service/work/step.h"

/* How many sessions one transaction ends because of another one. */
enum { CASCADE_STEP = 64 };

/* --- one session --- */

static enum status stop_timers(struct call *call, struct loaded_session *loaded)
{
    enum status status = STATUS_OK;
    if (loaded->session.expires_at_ms != 0) {
        status = transaction_timer(call, loaded, TIMER_EXPIRY, 0);
    }
    if (status == STATUS_OK && session_is_human_bridge(&loaded->session)) {
        status = transaction_timer(call, loaded, TIMER_HUMAN, 0);
    }
    if (status == STATUS_OK && session_is_from_channel(&loaded->session)) {
        status = transaction_timer(call, loaded, TIMER_STALE, 0);
    }
    return status; /* those of the lease, the asks and collected prompts go with them */
}

static enum status tell_parent(struct call *call, const struct session *session)
{
    if (!slice_present(session->parent_id)) {
        return STATUS_OK;
    }
    struct loaded_session *parent;
    enum status status =
        transaction_load(call->transaction, session->tenant_key, session->parent_id, &parent, &call->failure);
    if (status == STATUS_NOT_FOUND) {
        return STATUS_OK; /* the parent was deleted */
    }
    return status == STATUS_OK ? session_tell_parent(call, parent, EVENT_SESSION_CHILD_ENDED, session) : status;
}

/* --- what hangs on it --- */

/* Sessions whose children are still to be ended: a list instead of a recursion, however deep they nest. */
struct cascade {
    struct loaded_session *parents[CASCADE_STEP + 1];
    size_t count, done;
    bool is_full;
};

static enum status learn_children(struct call *call, struct loaded_session *loaded)
{
    int64_t children = 0;
    const struct session *session = &loaded->session;
    if (loaded->children_known) {
        return STATUS_OK;
    }
    enum status status =
        store_session_count_children(call->db, session->tenant_key, session->id, &children, &call->failure);
    loaded->children_known = status == STATUS_OK;
    loaded->has_children = children > 0;
    return status;
}

static enum status move_to_end(struct call *call, struct loaded_session *loaded, enum session_status to,
                               enum stop_reason stop, const char *reason)
{
    struct changes changes = {0};
    enum status status = change_status(call->arena, &loaded->session, to, reason, stop, &changes, &call->failure);
    return status == STATUS_OK ? session_append_changes(call, loaded, &changes) : status;
}

/* The same steps, but its own children wait in the list. */
static enum status end_child(struct call *call, struct loaded_session *child)
{
    enum status status =
        move_to_end(call, child, session_status_stopped_as(child->session.status), STOP_PARENT, "its parent ended");
    if (status == STATUS_OK) {
        status = session_leave_turn(call, child);
    }
    if (status == STATUS_OK) {
        status = stop_timers(call, child);
    }
    return status == STATUS_OK ? tell_parent(call, &child->session) : status;
}

static enum status end_children_of(struct call *call, struct cascade *cascade, const struct loaded_session *parent)
{
    struct slice ids[CASCADE_STEP + 1];
    size_t count = 0, room = CASCADE_STEP + 1 - cascade->count;
    const struct session *session = &parent->session;
    enum status status = transaction_flush(call->transaction, &call->failure);
    if (status == STATUS_OK) {
        status = store_session_active_children(call->db, session->tenant_key, session->id, (int64_t)room + 1,
                                               call->arena, ids, &count, &call->failure);
    }
    cascade->is_full |= count > room;
    for (size_t i = 0; i < count && i < room && status == STATUS_OK; i++) {
        struct loaded_session *child;
        status = transaction_load(call->transaction, session->tenant_key, ids[i], &child, &call->failure);
        if (status == STATUS_OK) {
            cascade->parents[cascade->count++] = child;
            status = end_child(call, child);
        }
    }
    return status;
}

static enum status end_descendants(struct call *call, struct loaded_session *root, bool *out_rest)
{
    struct cascade cascade = {.parents = {root}, .count = 1};
    enum status status = STATUS_OK;
    *out_rest = false;
    while (cascade.done < cascade.count && !cascade.is_full && status == STATUS_OK) {
        struct loaded_session *parent = cascade.parents[cascade.done];
        status = learn_children(call, parent);
        if (status == STATUS_OK && parent->has_children) {
            status = end_children_of(call, &cascade, parent);
        }
        cascade.done += !cascade.is_full;
    }
    for (; cascade.done < cascade.count && status == STATUS_OK; cascade.done++) {
        struct loaded_session *parent = cascade.parents[cascade.done];
        *out_rest |= parent == root;
        status = transaction_timer(call, parent, TIMER_CASCADE, call->steady_ms);
    }
    return status;
}

/* --- the routine --- */

enum status session_end_close(struct call *call, struct loaded_session *loaded)
{
    assert(call_writes(call));
    enum status status = stop_timers(call, loaded);
    return status == STATUS_OK ? tell_parent(call, &loaded->session) : status;
}

enum status session_end_run(struct call *call, struct loaded_session *loaded)
{
    assert(call_writes(call));
    bool rest;
    enum status status = session_end_close(call, loaded);
    if (status == STATUS_OK) {
        status = step_after_end(call, loaded);
    }
    return status == STATUS_OK && call->service->limits.sessions.children_end_with_parent
               ? end_descendants(call, loaded, &rest)
               : status;
}

enum status session_end_continue(struct call *call, struct loaded_session *loaded, bool *out_again)
{
    assert(call_writes(call));
    return session_status_is_ended(loaded->session.status) ? end_descendants(call, loaded, out_again) : STATUS_OK;
}

enum status session_end(struct call *call, struct loaded_session *loaded, enum stop_reason stop, const char *reason)
{
    assert(call_writes(call));
    if (session_status_is_ended(loaded->session.status)) {
        return STATUS_OK;
    }
    bool step;
    enum session_status to = session_ends_as(&loaded->session, stop);
    enum status status = session_is_step(call, &loaded->session, &step);
    if (status == STATUS_OK) { /* who ends a step from outside does not complete it */
        to = step ? session_status_cut_short(to) : to;
        status = move_to_end(call, loaded, to, stop, reason);
    }
    return status == STATUS_OK ? session_after_move(call, loaded) : status;
}

enum status session_end_erase(struct call *call, struct loaded_session *loaded)
{
    assert(call_writes(call));
    struct session gone = loaded->session;
    bool rest = call->service->limits.sessions.children_end_with_parent, step;
    enum status status = session_is_step(call, &gone, &step);
    if (status == STATUS_OK && step) { /* its run must not wait for it */
        status = session_end(call, loaded, STOP_DELETED, "deleted");
    } else if (status == STATUS_OK && !session_status_is_ended(gone.status)) {
        gone.status = session_ends_as(&gone, STOP_DELETED);
        status = tell_parent(call, &gone);
    }
    while (rest && status == STATUS_OK) { /* it has no timer to go on with later */
        status = end_descendants(call, loaded, &rest);
    }
    return status;
}

enum status session_end_stop(struct call *call, struct slice session_id, struct slice reason,
                             struct session_access *out, bool *out_changed)
{
    assert(call_writes(call));
    enum status status = session_authorize(call, session_id, ACTION_STOP, out);
    if (status != STATUS_OK) {
        return status;
    }
    struct slice line = arena_format(call->arena, "%.*s", SLICE_ARG(reason));
    *out_changed = !session_status_is_ended(out->loaded->session.status);
    return session_end(call, out->loaded, STOP_USER, line.len ? line.ptr : "stopped");
}

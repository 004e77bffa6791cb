#include "service/ask/ask_internal.h"

static enum status tell_waiting(struct call *call, struct loaded_session *parent, const struct session *child,
                                const struct ask *ask)
{
    enum status status = STATUS_OK;
    const char *keys[] = {"child_id", "ask_id", "kind", "text", "tool"};
    struct slice values[] = {child->id, ask->id, slice_of(ask_kind_enum.names[ask->kind]), ask->text, ask->tool};
    const enum event_kind kinds[] = {EVENT_SESSION_CHILD_WAITING, EVENT_SESSION_WAITING_APPROVAL};
    for (int i = 0; i < (ask->kind == ASK_APPROVAL ? 2 : 1) && status == STATUS_OK; i++) {
        struct changes note = {0};
        change_note(call->arena, kinds[i], keys, values, 5, &note);
        status = session_append_changes(call, parent, &note);
    }
    return status;
}

/* What was answered, and why, stays with the child. */
static enum status tell_decided(struct call *call, struct loaded_session *parent, const struct session *child,
                                const struct ask *ask)
{
    struct changes note = {0};
    bool decided = ask->decision != DECISION_NONE;
    const char *keys[] = {"child_id", "ask_id", "kind", "tool", "state", "decision", "by"};
    struct slice values[] = {child->id,
                             ask->id,
                             slice_of(ask_kind_enum.names[ask->kind]),
                             ask->tool,
                             slice_of(ask_state_enum.names[ask->state]),
                             decided ? slice_of(ask_decision_enum.names[ask->decision]) : (struct slice){0},
                             ask->answered_by};
    change_note(call->arena, EVENT_SESSION_CHILD_DECIDED, keys, values, 7, &note);
    return session_append_changes(call, parent, &note);
}

enum status ask_tell_parent(struct call *call, const struct session *child, const struct ask *ask)
{
    struct loaded_session *parent;
    if (!slice_present(child->parent_id)) {
        return STATUS_OK;
    }
    enum status status =
        transaction_load(call->transaction, child->tenant_key, child->parent_id, &parent, &call->failure);
    if (status != STATUS_OK) {
        return status == STATUS_NOT_FOUND ? STATUS_OK : status; /* the parent was deleted */
    }
    return ask->state == ASK_PENDING ? tell_waiting(call, parent, child, ask) : tell_decided(call, parent, child, ask);
}

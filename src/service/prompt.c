#include "service/prompt.h"

/* --- what waits --- */

/* How many wait is known from the first question on: every change of the queue goes through this writer, or makes the
 * session stale. */
static enum status learn_queue(struct call *call, struct loaded_session *loaded)
{
    if (loaded->prompts_known) {
        return STATUS_OK;
    }
    const struct session *session = &loaded->session;
    enum status status = store_prompt_figures(call->db, session->tenant_key, session->key, &loaded->prompts_waiting,
                                              &loaded->prompts_last, &call->failure);
    loaded->prompts_known = status == STATUS_OK;
    return status;
}

static enum status remove_prompt(struct call *call, struct loaded_session *loaded, const struct prompt *prompt)
{
    const struct session *session = &loaded->session;
    loaded->prompts_waiting--;
    unit_wrote(call->unit);
    return store_prompt_delete(call->db, session->tenant_key, session->key, prompt->position, &call->failure);
}

static enum status withdraw_one(struct call *call, struct loaded_session *loaded, const struct prompt *prompt,
                                const char *reason)
{
    struct changes changes = {0};
    change_withdraw(call->arena, prompt, reason, &changes);
    enum status status = unit_append_changes(call, loaded, &changes);
    return status == STATUS_OK ? remove_prompt(call, loaded, prompt) : status;
}

static enum status withdraw_all(struct call *call, struct loaded_session *loaded, const char *reason,
                                struct prompt **out, size_t *out_count)
{
    const struct session *session = &loaded->session;
    enum status status =
        store_prompt_list(call->db, session->tenant_key, session->key, call->arena, out, out_count, &call->failure);
    for (size_t i = 0; i < *out_count && status == STATUS_OK; i++) {
        status = withdraw_one(call, loaded, &(*out)[i], reason);
    }
    return status;
}

/* --- sending --- */

static enum status dispatch(struct call *call, struct loaded_session *loaded, const struct prompt *prompt)
{
    struct changes changes = {0};
    enum status status = change_dispatch(call->arena, &loaded->session, prompt, &changes, &call->failure);
    return status == STATUS_OK ? unit_append_changes(call, loaded, &changes) : status;
}

static enum status dispatch_now(struct call *call, struct loaded_session *loaded, const struct prompt *prompt,
                                struct prompt_receipt *out)
{
    out->sequence = loaded->session.last_sequence + 1;
    return dispatch(call, loaded, prompt);
}

static enum status reopen_and_dispatch(struct call *call, struct loaded_session *loaded, const struct prompt *prompt,
                                       struct prompt_receipt *out)
{
    struct session_entry entry;
    enum status status = session_reopen(call, loaded->session.id, &entry);
    return status == STATUS_OK ? dispatch_now(call, entry.loaded, prompt, out) : status;
}

static enum status check_room(struct call *call, const struct loaded_session *loaded, enum queue_mode mode)
{
    if (mode == QUEUE_REJECT) {
        return failure_set(&call->failure, STATUS_CONFLICT, "busy",
                           "This session is %s; send the message again when it is idle, or in mode followup.",
                           work_words.names[loaded->session.work]);
    }
    if (loaded->prompts_waiting >= call->service->prompts_queued_max) {
        return failure_set(&call->failure, STATUS_LIMITED, "queue_full",
                           "%lld messages wait already; the limit is %lld (option prompts-queued-max).",
                           (long long)loaded->prompts_waiting, (long long)call->service->prompts_queued_max);
    }
    return STATUS_OK;
}

static enum status enqueue(struct call *call, struct loaded_session *loaded, struct prompt *prompt,
                           struct prompt_receipt *out)
{
    struct changes changes = {0};
    const struct session *session = &loaded->session;
    enum status status = learn_queue(call, loaded);
    if (status == STATUS_OK) {
        status = check_room(call, loaded, prompt->mode);
    }
    if (status != STATUS_OK) {
        return status;
    }
    out->queued = true;
    out->place = ++loaded->prompts_waiting;
    out->sequence = session->last_sequence + 1;
    prompt->position = ++loaded->prompts_last;
    change_queue(call->arena, prompt, out->place, &changes);
    status = unit_append_changes(call, loaded, &changes);
    return status == STATUS_OK
               ? store_prompt_insert(call->db, session->tenant_key, session->key, prompt, &call->failure)
               : status;
}

static enum status accept(struct call *call, struct loaded_session *loaded, struct prompt *prompt,
                          struct prompt_receipt *out)
{
    enum prompt_meets meets;
    enum status status = prompt_meet(&loaded->session, &meets, &call->failure);
    if (status != STATUS_OK) {
        return status;
    }
    switch (meets) {
    case PROMPT_DISPATCHES:
        return dispatch_now(call, loaded, prompt, out);
    case PROMPT_REOPENS:
        return reopen_and_dispatch(call, loaded, prompt, out);
    case PROMPT_QUEUES:
        break;
    }
    return enqueue(call, loaded, prompt, out);
}

enum status prompt_send(struct call *call, struct slice session_id, const struct prompt_request *request,
                        struct prompt_receipt *out)
{
    struct session_entry entry;
    enum status status = session_enter(call, session_id, ACTION_APPEND, &entry);
    if (status != STATUS_OK) {
        return status;
    }
    char id[UUID_TEXT_BYTES];
    id_uuid7(call->service->ids, call->now_ms, id);
    struct prompt prompt = {
        .id = arena_copy(call->arena, slice_of(id)),
        .mode = request->mode >= 0 ? (enum queue_mode)request->mode : entry.loaded->session.queue_mode,
        .actor = call->who->name,
        .content = request->content,
        .metadata = request->metadata ? request->metadata->raw : (struct slice){0},
        .thread_id = request->thread_id,
        .created_at_ms = call->now_ms,
    };
    *out = (struct prompt_receipt){.id = prompt.id};
    status = prompt_check_mode(prompt.mode, &call->failure);
    if (status == STATUS_OK) {
        status = prompt_check_metadata(request->metadata, &call->failure);
    }
    return status == STATUS_OK ? accept(call, entry.loaded, &prompt, out) : status;
}

/* --- the queue --- */

enum status prompt_withdraw(struct call *call, struct slice session_id, struct slice prompt_id)
{
    struct session_entry entry;
    struct prompt prompt;
    enum status status = session_enter(call, session_id, ACTION_APPEND, &entry);
    if (status == STATUS_OK) {
        status = learn_queue(call, entry.loaded);
    }
    if (status != STATUS_OK) {
        return status;
    }
    const struct session *session = &entry.loaded->session;
    status = store_prompt_by_id(call->db, session->tenant_key, session->key, prompt_id, call->arena, &prompt,
                                &call->failure);
    if (status == STATUS_NOT_FOUND) {
        return failure_set(&call->failure, status, "prompt_not_found",
                           "No such message waits: it was dispatched or withdrawn, or never was.");
    }
    return status == STATUS_OK ? withdraw_one(call, entry.loaded, &prompt, "withdrawn") : status;
}

enum status prompt_clear(struct call *call, struct slice session_id, struct prompt **out, size_t *out_count)
{
    struct session_entry entry;
    *out_count = 0;
    enum status status = session_enter(call, session_id, ACTION_APPEND, &entry);
    if (status == STATUS_OK) {
        status = learn_queue(call, entry.loaded);
    }
    return status == STATUS_OK ? withdraw_all(call, entry.loaded, "cleared", out, out_count) : status;
}

enum status prompt_list(struct call *call, struct slice session_id, struct prompt **out, size_t *out_count)
{
    struct session session;
    enum status status = session_view(call, session_id, ACTION_READ, &session, NULL);
    return status == STATUS_OK ? store_prompt_list(call->db, session.tenant_key, session.key, call->arena, out,
                                                   out_count, &call->failure)
                               : status;
}

/* --- when a turn ends --- */

static enum status dispatch_next(struct call *call, struct loaded_session *loaded)
{
    struct prompt prompt;
    const struct session *session = &loaded->session;
    enum status status =
        store_prompt_first(call->db, session->tenant_key, session->key, call->arena, &prompt, &call->failure);
    if (status == STATUS_OK) {
        status = remove_prompt(call, loaded, &prompt);
    }
    return status == STATUS_OK ? dispatch(call, loaded, &prompt) : status;
}

enum status prompt_after_move(struct call *call, struct loaded_session *loaded)
{
    enum work work = loaded->session.work;
    bool at_rest = work_takes_prompt(work);
    if (!at_rest && !work_is_ended(work)) {
        return STATUS_OK;
    }
    enum status status = learn_queue(call, loaded);
    if (status != STATUS_OK || loaded->prompts_waiting == 0) {
        return status;
    }
    if (at_rest) {
        return dispatch_next(call, loaded);
    }
    struct prompt *withdrawn;
    size_t count = 0;
    return withdraw_all(call, loaded, arena_format(call->arena, "session_%s", work_words.names[work]).ptr, &withdrawn,
                        &count);
}

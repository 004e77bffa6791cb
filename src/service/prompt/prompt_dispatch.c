#include <assert.h>

#include "service/prompt/prompt_internal.h"

#include "service/agent/agent.h"

/* --- what waits --- */

enum status prompt_learn_queue(struct call *call, struct loaded_session *loaded)
{
    assert(call_writes(call));
    if (loaded->prompts_known) {
        return STATUS_OK;
    }
    const struct session *session = &loaded->session;
    enum status status =
        store_prompt_stats(call->db, session->tenant_key, session->key, &loaded->prompts, &call->failure);
    loaded->prompts_known = status == STATUS_OK;
    return status;
}

enum status prompt_read_queue(struct call *call, struct loaded_session *loaded, struct prompt **out, size_t *out_count)
{
    assert(call_writes(call));
    const struct session *session = &loaded->session;
    *out_count = 0;
    enum status status = prompt_learn_queue(call, loaded);
    return status == STATUS_OK && loaded->prompts.waiting > 0
               ? store_prompt_list(call->db, session->tenant_key, session->key, call->arena, out, out_count,
                                   &call->failure)
               : status;
}

static enum status remove_prompt(struct call *call, struct loaded_session *loaded, const struct prompt *prompt)
{
    const struct session *session = &loaded->session;
    loaded->prompts.waiting--;
    return store_prompt_delete(call->db, session->tenant_key, session->key, prompt->id, &call->failure);
}

enum status prompt_withdraw_one(struct call *call, struct loaded_session *loaded, const struct prompt *prompt,
                                const char *reason)
{
    assert(call_writes(call));
    struct changes changes = {0};
    change_withdraw(call->arena, prompt, reason, &changes);
    enum status status = session_append_changes(call, loaded, &changes);
    return status == STATUS_OK ? remove_prompt(call, loaded, prompt) : status;
}

enum status prompt_withdraw_many(struct call *call, struct loaded_session *loaded, const struct slice *thread_id,
                                 const char *reason, struct prompt **out, size_t *out_count)
{
    assert(call_writes(call));
    size_t waiting;
    *out_count = 0;
    enum status status = prompt_read_queue(call, loaded, out, &waiting);
    for (size_t i = 0; i < waiting && status == STATUS_OK; i++) {
        struct prompt prompt = (*out)[i];
        if (!thread_id || slice_eq(*thread_id, prompt.thread_id)) {
            (*out)[(*out_count)++] = prompt;
            status = prompt_withdraw_one(call, loaded, &prompt, reason);
        }
    }
    return status;
}

/* --- dispatching --- */

/* What its agent says, else the option. The host of hosted turns says it itself, in the log (service/turn/turn_life.c).
 */
static enum status turn_host_max_of(struct call *call, const struct session *session, int64_t *out)
{
    struct agent agent;
    *out = call->service->limits.prompt.turns_per_session_max;
    if (!session->agent_version) {
        return STATUS_OK;
    }
    if (agent_is_hosted((enum agent_driver)session->driver)) {
        *out = 0;
        return STATUS_OK;
    }
    enum status status = agent_of_session_or_none(call, session, call->arena, &agent);
    *out = status == STATUS_OK ? agent.turns_max : 0;
    return status;
}

enum status prompt_turn_left(struct call *call, const struct session *session, struct failure *failure)
{
    int64_t turns_max;
    enum status status = turn_host_max_of(call, session, &turns_max);
    return status == STATUS_OK ? prompt_check_turns(session, 0, turns_max, failure) : status;
}

enum status prompt_turn_left_for(struct call *call, struct loaded_session *loaded, const struct prompt *prompt)
{
    assert(call_writes(call));
    struct prompt *queue;
    size_t count = 0;
    int64_t turns_max;
    const struct session *session = &loaded->session;
    enum status status = turn_host_max_of(call, session, &turns_max);
    if (status == STATUS_OK) {
        status = prompt_learn_queue(call, loaded);
    }
    if (status != STATUS_OK || prompt_check_turns(session, loaded->prompts.waiting, turns_max, NULL) == STATUS_OK) {
        return status; /* even if each that waits takes a turn of its own */
    }
    status = prompt_read_queue(call, loaded, &queue, &count);
    return status == STATUS_OK
               ? prompt_check_turns(session, prompt_turns_ahead(queue, count, prompt), turns_max, &call->failure)
               : status;
}

enum status prompt_dispatch(struct call *call, struct loaded_session *loaded, const struct prompt *prompts,
                            size_t count, struct prompt_receipt *receipt)
{
    assert(call_writes(call));
    struct changes changes = {0};
    int64_t sequence = loaded->session.last_sequence + 1;
    enum status status = change_dispatch(call->arena, &loaded->session, prompts, count, &changes, &call->failure);
    for (size_t i = 0; receipt && i < count; i++) {
        if (slice_eq(prompts[i].id, receipt->id)) {
            receipt->queued = false;
            receipt->place = 0;
            receipt->sequence = sequence;
        }
    }
    return status == STATUS_OK ? session_append_changes(call, loaded, &changes) : status;
}

static enum status take_out_and_dispatch(struct call *call, struct loaded_session *loaded, const struct prompt *prompts,
                                         size_t count, struct prompt_receipt *receipt)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        status = remove_prompt(call, loaded, &prompts[i]);
    }
    return status == STATUS_OK ? prompt_dispatch(call, loaded, prompts, count, receipt) : status;
}

static enum status arm_timer(struct call *call, struct loaded_session *loaded, const struct prompt *queue, size_t count,
                             bool *out_armed)
{
    int64_t due_ms = prompt_next_due(queue, count, call->steady_ms);
    *out_armed = due_ms != 0;
    return due_ms ? transaction_timer(call, loaded, TIMER_COLLECT, due_ms) : STATUS_OK;
}

/* Collected prompts wait, so that the first is not always the next. */
static enum status dispatch_ready(struct call *call, struct loaded_session *loaded, struct prompt_receipt *receipt)
{
    struct prompt *queue;
    size_t count;
    bool armed;
    enum status status = prompt_read_queue(call, loaded, &queue, &count);
    if (status != STATUS_OK || count == 0) {
        return status;
    }
    struct prompt *picked = arena_array(call->arena, count, sizeof *picked);
    size_t picked_count = prompt_pick(queue, count, call->steady_ms, call->service->limits.event.bytes_max, picked);
    return picked_count > 0 ? take_out_and_dispatch(call, loaded, picked, picked_count, receipt)
                            : arm_timer(call, loaded, queue, count, &armed);
}

enum status prompt_dispatch_next(struct call *call, struct loaded_session *loaded, struct prompt_receipt *receipt)
{
    assert(call_writes(call));
    struct prompt first;
    const struct session *session = &loaded->session;
    struct failure turn_limit;
    enum status status = prompt_turn_left(call, session, &turn_limit);
    if (status == STATUS_LIMITED) {
        struct prompt *withdrawn;
        size_t count;
        return prompt_withdraw_many(call, loaded, NULL, "turn_limit", &withdrawn, &count);
    }
    if (status == STATUS_OK) {
        status = store_prompt_first(call->db, session->tenant_key, session->key, call->arena, &first, &call->failure);
    }
    if (status == STATUS_NOT_FOUND) { /* another node took it since the queue was counted */
        loaded->prompts_known = false;
        return STATUS_OK;
    }
    if (status != STATUS_OK) {
        return status;
    }
    return first.mode == QUEUE_COLLECT ? dispatch_ready(call, loaded, receipt)
                                       : take_out_and_dispatch(call, loaded, &first, 1, receipt);
}

/* --- when a turn ends --- */

enum status prompt_after_move(struct call *call, struct loaded_session *loaded)
{
    assert(call_writes(call));
    enum session_status work = loaded->session.status;
    bool at_rest = session_takes_prompt(&loaded->session);
    if (!at_rest && !session_status_is_ended(work)) {
        return STATUS_OK;
    }
    enum status status = prompt_learn_queue(call, loaded);
    if (status != STATUS_OK || loaded->prompts.waiting == 0) {
        return status;
    }
    if (at_rest) {
        return prompt_dispatch_next(call, loaded, NULL);
    }
    struct prompt *withdrawn;
    size_t count;
    struct slice reason = arena_format(call->arena, "session_%s", session_status_enum.names[work]);
    return prompt_withdraw_many(call, loaded, NULL, reason.ptr, &withdrawn, &count);
}

enum status prompt_collect_over(struct call *call, struct loaded_session *loaded, bool *out_again)
{
    assert(call_writes(call));
    struct prompt *queue;
    size_t count;
    enum status status = STATUS_OK;
    if (session_takes_prompt(&loaded->session)) {
        status = prompt_after_move(call, loaded);
    }
    if (status == STATUS_OK) {
        status = prompt_read_queue(call, loaded, &queue, &count);
    }
    return status == STATUS_OK && count > 0 ? arm_timer(call, loaded, queue, count, out_again) : status;
}

#include "service/prompt/prompt.h"

#include "service/session/channel.h"
#include "service/turn/introspection.h"
#include "service/session/media.h"
#include "service/prompt/prompt_internal.h"
#include "service/identity/secret.h"
#include "service/session/session.h"
#include "service/turn/turn.h"
#include "service/work/step.h"

/* --- into the queue --- */

static enum status check_room(struct call *call, const struct loaded_session *loaded, enum queue_mode mode)
{
    if (mode == QUEUE_REJECT) {
        return failure_set(&call->failure, STATUS_CONFLICT, "busy",
                           "This session is %s; send the message again when it is idle, or in mode followup.",
                           session_blocks_turns(&loaded->session) ? "paused"
                                                                  : session_status_enum.names[loaded->session.status]);
    }
    if (loaded->prompts.waiting >= call->service->limits.prompt.queued_max) {
        return failure_set(&call->failure, STATUS_LIMITED, "queue_full",
                           "%lld messages wait already; the limit is %lld (option prompts-queued-max).",
                           (long long)loaded->prompts.waiting, (long long)call->service->limits.prompt.queued_max);
    }
    return STATUS_OK;
}

/* Among those that wait, in front of the less urgent. */
static enum status squeeze_in(struct call *call, struct loaded_session *loaded, struct prompt *prompt,
                              int64_t *out_place)
{
    struct prompt *queue;
    size_t count;
    struct prompt_stats *figures = &loaded->prompts;
    const struct session *session = &loaded->session;
    enum status status = prompt_read_queue(call, loaded, &queue, &count);
    if (status != STATUS_OK) {
        return status;
    }
    size_t at = prompt_place(queue, count, prompt);
    *out_place = (int64_t)at + 1;
    if (at == 0 && count > 0) {
        prompt->position = --figures->first;
        return STATUS_OK;
    }
    figures->last++;
    prompt->position = at < count ? queue[at].position : figures->last;
    return at < count
               ? store_prompt_make_room(call->db, session->tenant_key, session->key, prompt->position, &call->failure)
               : STATUS_OK;
}

static enum status take_place(struct call *call, struct loaded_session *loaded, struct prompt *prompt, bool first,
                              int64_t *out_place)
{
    struct prompt_stats *figures = &loaded->prompts;
    if (!first && figures->waiting > 0 && prompt->priority > figures->lowest) {
        return squeeze_in(call, loaded, prompt, out_place);
    }
    figures->lowest = figures->waiting == 0 || prompt->priority < figures->lowest ? prompt->priority : figures->lowest;
    prompt->position = first ? --figures->first : ++figures->last;
    *out_place = first ? 1 : figures->waiting + 1;
    return STATUS_OK;
}

static enum status insert(struct call *call, struct loaded_session *loaded, struct prompt *prompt, bool first,
                          struct prompt_receipt *out)
{
    struct changes changes = {0};
    const struct session *session = &loaded->session;
    struct prompt_stats *figures = &loaded->prompts;
    enum status status = take_place(call, loaded, prompt, first, &out->place);
    if (status != STATUS_OK) {
        return status;
    }
    figures->waiting++;
    out->queued = true;
    out->sequence = session->last_sequence + 1;
    change_queue(call->arena, prompt, out->place, &changes);
    status = session_append_changes(call, loaded, &changes);
    return status == STATUS_OK
               ? store_prompt_insert(call->db, session->tenant_key, session->key, prompt, &call->failure)
               : status;
}

static enum status enqueue(struct call *call, struct loaded_session *loaded, struct prompt *prompt,
                           struct prompt_receipt *out)
{
    enum status status = prompt_learn_queue(call, loaded);
    if (status == STATUS_OK) {
        status = check_room(call, loaded, prompt->mode);
    }
    return status == STATUS_OK ? insert(call, loaded, prompt, false, out) : status;
}

/* --- the modes --- */

static enum status thread_waits(struct call *call, struct loaded_session *loaded, const struct prompt *prompt,
                                bool *out)
{
    struct prompt *queue;
    size_t count;
    enum status status = prompt_read_queue(call, loaded, &queue, &count);
    *out = false;
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        *out |= prompt_same_thread(prompt, &queue[i]);
    }
    return status;
}

/* A session at rest with prompts that are still being collected: what follows them in their thread ends that, and goes
 * behind them. */
static enum status start(struct call *call, struct loaded_session *loaded, struct prompt *prompt,
                         struct prompt_receipt *out)
{
    bool behind = false;
    enum status status = prompt->mode == QUEUE_STEER ? STATUS_OK : thread_waits(call, loaded, prompt, &behind);
    if (status != STATUS_OK || !behind) {
        return status == STATUS_OK ? prompt_dispatch(call, loaded, prompt, 1, out) : status;
    }
    status = enqueue(call, loaded, prompt, out);
    return status == STATUS_OK ? prompt_dispatch_next(call, loaded, out) : status;
}

static enum status collect(struct call *call, struct loaded_session *loaded, struct prompt *prompt,
                           struct prompt_receipt *out)
{
    enum status status = enqueue(call, loaded, prompt, out);
    bool at_rest = session_takes_prompt(&loaded->session), again;
    if (status != STATUS_OK) {
        return status;
    }
    return at_rest ? prompt_dispatch_next(call, loaded, out) : prompt_collect_over(call, loaded, &again);
}

/* Interrupts the turn of its own thread only. One that nobody runs is over at once. */
static enum status steer(struct call *call, struct loaded_session *loaded, struct prompt *prompt,
                         struct prompt_receipt *out)
{
    struct turn_message running = {0};
    struct turn_interrupted interrupted = {0};
    enum status status = check_room(call, loaded, prompt->mode);
    if (status == STATUS_OK && session_status_is_in_turn(loaded->session.status)) {
        status = turn_read_message(call, &loaded->session, &running);
    }
    if (status == STATUS_OK && slice_eq(running.thread_id, prompt->thread_id)) {
        status = turn_interrupt_for_prompt(call, loaded, "steer", prompt->id, &interrupted);
    }
    if (status != STATUS_OK) {
        return status;
    }
    return session_takes_prompt(&loaded->session) ? prompt_dispatch(call, loaded, prompt, 1, out)
                                                  : insert(call, loaded, prompt, true, out);
}

/* --- sending --- */

static enum status take(struct call *call, struct loaded_session *loaded, struct prompt *prompt,
                        const struct prompt_request *request, struct prompt_receipt *out)
{
    bool at_rest = session_takes_prompt(&loaded->session);
    enum status status = prompt_learn_queue(call, loaded);
    if (status == STATUS_OK && request->clear_queue) {
        status =
            prompt_withdraw_many(call, loaded, &prompt->thread_id, "cleared", &out->withdrawn, &out->withdrawn_count);
    }
    if (status != STATUS_OK) {
        return status;
    }
    if (prompt->mode == QUEUE_COLLECT) {
        return collect(call, loaded, prompt, out);
    }
    if (at_rest) {
        return start(call, loaded, prompt, out);
    }
    return prompt->mode == QUEUE_STEER ? steer(call, loaded, prompt, out) : enqueue(call, loaded, prompt, out);
}

enum status prompt_settle_media(struct call *call, const struct session *session, struct prompt *prompt)
{
    enum status status = media_attach(call, session, call->media);
    if (status == STATUS_OK) {
        status = media_extract_and_attach(call, session, &prompt->content);
    }
    return status == STATUS_OK ? media_extract_and_attach(call, session, &prompt->metadata) : status;
}

static enum status accept(struct call *call, struct loaded_session *loaded, struct prompt *prompt,
                          const struct prompt_request *request, struct prompt_receipt *out)
{
    enum prompt_admission meets;
    struct session_access entry = {.loaded = loaded};
    enum status status = prompt_admit(&loaded->session, &meets, &call->failure);
    if (status == STATUS_OK) {
        status = request->clear_queue ? prompt_turn_left(call, &loaded->session, &call->failure)
                                      : prompt_turn_left_for(call, loaded, prompt);
    }
    if (status == STATUS_OK && (meets == PROMPT_REOPENS || session_takes_prompt(&loaded->session))) {
        status = session_check_begin(call, &loaded->session);
    }
    if (status == STATUS_OK && meets == PROMPT_REOPENS) {
        status = session_reopen(call, loaded->session.id, &entry);
    }
    if (status == STATUS_OK) {
        status = prompt_settle_media(call, &entry.loaded->session, prompt);
    }
    return status == STATUS_OK ? take(call, entry.loaded, prompt, request, out) : status;
}

enum status prompt_check_secrets(struct call *call, struct slice content, struct slice metadata)
{
    enum status status = secret_check_json(call, content);
    return status == STATUS_OK ? secret_check_json(call, metadata) : status;
}

static struct prompt prompt_of(struct call *call, const struct session *session, const struct prompt_request *request)
{
    char id[UUID_TEXT_BYTES];
    int64_t debounce_ms =
        request->debounce_ms >= 0 ? request->debounce_ms : call->service->limits.prompt.collect_debounce_ms;
    id_uuid7(call->service->ids, call->now_ms, id);
    return (struct prompt){
        .id = arena_copy(call->arena, slice_of(id)),
        .mode = request->mode >= 0 ? (enum queue_mode)request->mode : session->queue_mode,
        .actor = call->who->name,
        .content = request->content,
        .metadata = request->metadata,
        .thread_id = request->thread_id,
        .priority = request->priority,
        .created_at_ms = call->now_ms,
        .revision = 1,
        .due_ms = call->steady_ms + debounce_ms,
    };
}

enum status prompt_send(struct call *call, struct slice session_id, const struct prompt_request *request,
                        struct prompt_receipt *out)
{
    struct session_access entry;
    enum status status = session_authorize(call, session_id, ACTION_SPEAK, &entry);
    if (status == STATUS_OK) {
        status = prompt_check_secrets(call, request->content, request->metadata);
    }
    if (status == STATUS_OK) {
        status = step_check_prompt(call, &entry.loaded->session);
    }
    if (status != STATUS_OK) {
        return status;
    }
    struct prompt prompt = prompt_of(call, &entry.loaded->session, request);
    *out = (struct prompt_receipt){.id = prompt.id};
    if (request->clear_queue && prompt.mode != QUEUE_STEER) {
        return failure_set(&call->failure, STATUS_INVALID, "invalid_clear_queue",
                           "`clear_queue` belongs to mode steer; this message is sent in mode %s.",
                           queue_mode_enum.names[prompt.mode]);
    }
    enum routing routing;
    status = prompt_route(call, &entry, request, &prompt, &routing);
    if (status != STATUS_OK) {
        return status;
    }
    if (!routing_triggers(routing)) {
        status = prompt_log(call, entry.loaded, &prompt, out);
        return status == STATUS_OK ? introspection_overhear(call, entry.loaded) : status;
    }
    status = accept(call, entry.loaded, &prompt, request, out);
    if (status == STATUS_OK) {
        status = introspection_on_message(call, entry.loaded);
    }
    return status == STATUS_OK ? channel_note_message(call, entry.loaded, request->metadata) : status;
}

enum status prompt_append(struct call *call, struct slice session_id, const struct prompt_request *request,
                          int64_t *out_sequence)
{
    struct session_access entry;
    struct changes changes = {0};
    enum status status = session_authorize(call, session_id, ACTION_SPEAK, &entry);
    if (status == STATUS_OK) {
        status = prompt_check_append(&entry.loaded->session, &call->failure);
    }
    if (status == STATUS_OK) {
        status = prompt_check_secrets(call, request->content, request->metadata);
    }
    if (status != STATUS_OK) {
        return status;
    }
    struct prompt prompt = prompt_of(call, &entry.loaded->session, request);
    status = prompt_name_sender(call, &entry, request->sender, &prompt.content);
    if (status == STATUS_OK) {
        status = prompt_settle_media(call, &entry.loaded->session, &prompt);
    }
    if (status == STATUS_OK) {
        status = change_append_message(call->arena, &prompt, &changes, &call->failure);
    }
    *out_sequence = entry.loaded->session.last_sequence + 1;
    if (status == STATUS_OK) {
        status = session_append_changes(call, entry.loaded, &changes);
    }
    return status == STATUS_OK ? introspection_overhear(call, entry.loaded) : status;
}

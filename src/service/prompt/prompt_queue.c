#include "service/prompt/prompt.h"
#include "service/prompt/prompt_internal.h"
#include "service/turn/turn.h"

/* --- one that waits --- */

/* A queue opened to change one of its prompts. */
struct queue_entry {
    struct session_access entry;
    struct loaded_session *loaded;
    struct prompt *queue;
    size_t count;
    size_t at;
};

static enum status check_revision(struct call *call, const struct prompt *prompt, int64_t revision)
{
    if (revision == 0 || revision == prompt->revision) {
        return STATUS_OK;
    }
    enum status status = failure_set(&call->failure, STATUS_CONFLICT, "prompt_changed",
                                     "This message is at revision %lld, not %lld; read the queue again.",
                                     (long long)prompt->revision, (long long)revision);
    failure_members(&call->failure, "\"revision\":%lld", (long long)prompt->revision);
    return status;
}

static size_t place_of(const struct queue_entry *entry, struct slice prompt_id)
{
    size_t at = 0;
    while (at < entry->count && !slice_eq(entry->queue[at].id, prompt_id)) {
        at++;
    }
    return at;
}

static enum status not_waiting(struct call *call)
{
    return failure_set(&call->failure, STATUS_NOT_FOUND, "prompt_not_found",
                       "No such message waits: it was dispatched or withdrawn, or never was.");
}

static enum status enter_queue(struct call *call, struct slice session_id, struct slice prompt_id, int64_t revision,
                               struct queue_entry *out)
{
    struct session_access entry;
    enum status status = session_authorize(call, session_id, ACTION_SPEAK, &entry);
    if (status == STATUS_OK) {
        out->entry = entry;
        out->loaded = entry.loaded;
        status = prompt_read_queue(call, entry.loaded, &out->queue, &out->count);
    }
    if (status != STATUS_OK) {
        return status;
    }
    out->at = place_of(out, prompt_id);
    return out->at < out->count ? check_revision(call, &out->queue[out->at], revision) : not_waiting(call);
}

static enum status save(struct call *call, struct loaded_session *loaded, const struct prompt *prompt,
                        struct changes *changes)
{
    const struct session *session = &loaded->session;
    enum status status = session_append_changes(call, loaded, changes);
    return status == STATUS_OK
               ? store_prompt_update(call->db, session->tenant_key, session->key, prompt, &call->failure)
               : status;
}

enum status prompt_withdraw(struct call *call, struct slice session_id, struct slice prompt_id, int64_t revision)
{
    struct queue_entry entry;
    enum status status = enter_queue(call, session_id, prompt_id, revision, &entry);
    return status == STATUS_OK ? prompt_withdraw_one(call, entry.loaded, &entry.queue[entry.at], "withdrawn") : status;
}

/* --- editing --- */

/* It will be said in its author's name, so nobody else chooses the words. */
static enum status check_author(struct call *call, const struct prompt *prompt)
{
    return slice_eq(prompt->actor, call->who->name)
               ? STATUS_OK
               : failure_set(&call->failure, STATUS_FORBIDDEN, "not_the_author",
                             "Only its author edits a message; you may withdraw it and send your own.");
}

/* New content of a group's message says who sent it, like the old one did. */
static enum status replace_content(struct call *call, const struct queue_entry *entry, struct slice content,
                                   struct prompt *prompt)
{
    const struct json *metadata = NULL;
    if (!slice_present(content)) {
        return STATUS_OK;
    }
    if (slice_present(prompt->metadata) && json_parse(call->arena, prompt->metadata, &metadata, NULL) != STATUS_OK) {
        metadata = NULL;
    }
    prompt->content = content;
    return prompt_name_sender(call, &entry->entry, json_get_value(metadata, "sender"), &prompt->content);
}

enum status prompt_edit(struct call *call, struct slice session_id, struct slice prompt_id,
                        const struct prompt_edit *edit, struct prompt *out, int64_t *out_place)
{
    struct queue_entry entry;
    struct changes changes = {0};
    enum status status = enter_queue(call, session_id, prompt_id, edit->revision, &entry);
    if (status == STATUS_OK) {
        status = check_author(call, &entry.queue[entry.at]);
    }
    if (status == STATUS_OK) {
        status = prompt_check_secrets(call, edit->content, edit->metadata);
    }
    if (status != STATUS_OK) {
        return status;
    }
    *out = entry.queue[entry.at];
    *out_place = (int64_t)entry.at + 1;
    status = replace_content(call, &entry, edit->content, out);
    out->metadata = slice_present(edit->metadata) ? edit->metadata : out->metadata;
    out->revision++;
    if (status == STATUS_OK) {
        status = prompt_settle_media(call, &entry.loaded->session, out);
    }
    if (status != STATUS_OK) {
        return status;
    }
    change_edit_prompt(call->arena, out, &changes);
    return save(call, entry.loaded, out, &changes);
}

/* --- moving --- */

/* Before the one that stands at `to` among the others. */
static enum status make_room(struct call *call, struct queue_entry *entry, size_t to, struct prompt *prompt)
{
    const struct session *session = &entry->loaded->session;
    struct prompt_stats *figures = &entry->loaded->prompts;
    if (to == 0) {
        prompt->position = --figures->first;
        return STATUS_OK;
    }
    figures->last++;
    if (to + 1 >= entry->count) {
        prompt->position = figures->last;
        return STATUS_OK;
    }
    prompt->position = entry->queue[to < entry->at ? to : to + 1].position;
    return store_prompt_make_room(call->db, session->tenant_key, session->key, prompt->position, &call->failure);
}

static enum status put_at(struct call *call, struct queue_entry *entry, size_t to, struct prompt *prompt)
{
    struct changes changes = {0};
    enum status status = make_room(call, entry, to, prompt);
    if (status != STATUS_OK) {
        return status;
    }
    prompt->revision++;
    change_move_prompt(call->arena, prompt, (int64_t)to + 1, &changes);
    return save(call, entry->loaded, prompt, &changes);
}

static enum status find_target(struct call *call, const struct queue_entry *entry, const struct prompt_move *move,
                               size_t *out)
{
    if (!slice_present(move->before)) {
        size_t last = entry->count - 1;
        *out = (size_t)(move->place - 1) < last ? (size_t)(move->place - 1) : last;
        return STATUS_OK;
    }
    size_t target = place_of(entry, move->before);
    if (target == entry->count) {
        return not_waiting(call);
    }
    *out = target > entry->at ? target - 1 : target; /* counted without the one that moves */
    return STATUS_OK;
}

enum status prompt_move(struct call *call, struct slice session_id, struct slice prompt_id,
                        const struct prompt_move *move, struct prompt *out, int64_t *out_place)
{
    struct queue_entry entry;
    size_t to = 0;
    enum status status = enter_queue(call, session_id, prompt_id, move->revision, &entry);
    if (status == STATUS_OK) {
        status = find_target(call, &entry, move, &to);
    }
    if (status != STATUS_OK) {
        return status;
    }
    *out = entry.queue[entry.at];
    *out_place = (int64_t)to + 1;
    bool stays = slice_eq(move->before, prompt_id) || to == entry.at;
    *out_place = stays ? (int64_t)entry.at + 1 : *out_place;
    return stays ? STATUS_OK : put_at(call, &entry, to, out);
}

static enum status interrupt_for(struct call *call, struct loaded_session *loaded, const struct prompt *prompt)
{
    struct turn_message running;
    struct turn_interrupted interrupted;
    enum status status = turn_read_message(call, &loaded->session, &running);
    return status == STATUS_OK && slice_eq(running.thread_id, prompt->thread_id)
               ? turn_interrupt_for_prompt(call, loaded, "steer", prompt->id, &interrupted)
               : status;
}

enum status prompt_promote(struct call *call, struct slice session_id, struct slice prompt_id, int64_t revision,
                           bool steers, struct prompt_receipt *out)
{
    struct queue_entry entry;
    enum status status = enter_queue(call, session_id, prompt_id, revision, &entry);
    if (status != STATUS_OK) {
        return status;
    }
    struct prompt prompt = entry.queue[entry.at];
    struct loaded_session *loaded = entry.loaded;
    *out = (struct prompt_receipt){
        .id = prompt.id, .queued = true, .place = 1, .sequence = loaded->session.last_sequence + 1};
    prompt.mode = steers ? QUEUE_STEER : QUEUE_FOLLOWUP;
    prompt.due_ms = 0;
    status = put_at(call, &entry, 0, &prompt);
    if (status == STATUS_OK && steers) {
        status = interrupt_for(call, loaded, &prompt);
    }
    bool at_rest = session_takes_prompt(&loaded->session);
    return status == STATUS_OK && at_rest ? prompt_dispatch_next(call, loaded, out) : status;
}

/* --- all of it --- */

enum status prompt_clear(struct call *call, struct slice session_id, const struct slice *thread_id, struct prompt **out,
                         size_t *out_count)
{
    struct session_access entry;
    *out_count = 0;
    enum status status = session_authorize(call, session_id, ACTION_SPEAK, &entry);
    return status == STATUS_OK ? prompt_withdraw_many(call, entry.loaded, thread_id, "cleared", out, out_count)
                               : status;
}

enum status prompt_list(struct call *call, struct slice session_id, struct prompt **out, size_t *out_count)
{
    struct session session;
    enum status status = session_authorize_read(call, session_id, ACTION_READ, &session, NULL);
    return status == STATUS_OK ? store_prompt_list(call->db, session.tenant_key, session.key, call->arena, out,
                                                   out_count, &call->failure)
                               : status;
}

enum status prompt_queue_stats(struct call *call, const struct session *session, struct prompt_stats *out)
{
    return store_prompt_stats(call->db, session->tenant_key, session->key, out, &call->failure);
}

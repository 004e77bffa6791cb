#include <assert.h>

#include "base/budget.h"
#include "domain/silence.h"
#include "service/session/media.h"
#include "service/work/automation_run.h"
#include "service/identity/secret.h"
#include "service/core/transaction_internal.h"

static void publish(struct transaction *transaction, const struct publication_entry *entry)
{
    assert(transaction_is_open(transaction));
    if (!transaction->publication) {
        transaction->publication = publication_new();
    }
    publication_add(transaction->publication, entry);
}

static void publish_event(struct transaction *transaction, const struct session *session, const struct event *event,
                          enum session_status before)
{
    assert(event->sequence > 0 && event->sequence <= session->last_sequence);
    transaction->scratch.len = 0;
    event_write(&transaction->scratch, session->id, event);
    publish(transaction, &(struct publication_entry){
                             .kind = PUBLISH_EVENTS,
                             .tenant_key = session->tenant_key,
                             .session_key = session->key,
                             .session_id = session->id,
                             .sequence = event->sequence,
                             .event = {event->kind, before, session->status, session->runtime, session->fence},
                             .type = event_type(event),
                             .thread_id = event->thread_id,
                             .json = buffer_slice(&transaction->scratch),
                         });
}

/* The files an event tells of get their rows; what cannot be read of them stays in the log only. */
static enum status keep_files(struct call *call, const struct session *session, const struct event *event)
{
    const struct json *metadata = NULL;
    struct file_change change;
    if (!file_change_is_told_by(event->kind) || !slice_present(event->metadata) ||
        json_parse(call->arena, event->metadata, &metadata, NULL) != STATUS_OK) {
        return STATUS_OK;
    }
    const struct json *files = json_get_value(metadata, "files");
    enum status status = STATUS_OK;
    int room = FILES_PER_EVENT_MAX;
    for (const struct json *file = json_is(files, JSON_ARRAY) ? files->child : NULL;
         file && status == STATUS_OK && room; file = file->next, room--) {
        if (file_change_read(file, &change, NULL) == STATUS_OK) {
            status = store_file_change_put(call->db, session->tenant_key, session->key, &change, event->sequence,
                                           event->at_ms, &call->failure);
        }
    }
    return status;
}

static void apply(struct call *call, struct loaded_session *loaded, struct event *event)
{
    event->sequence = loaded->session.last_sequence + 1;
    event->at_ms = event->at_ms ? event->at_ms : call->now_ms;
    event->actor = slice_present(event->actor) ? event->actor : call->who->name;
    loaded->changed |= session_apply(&loaded->session, event, &loaded->arena);
    assert(loaded->session.last_sequence == event->sequence);
}

/* After a change of the session, or its creation. */
static void note_queue_place(struct transaction *transaction, const struct session *session, bool was_claimable)
{
    if (was_claimable) {
        queue_heads_remove(&transaction->queue_heads, session->key);
    }
    if (session_is_claimable(session)) {
        queue_heads_add(&transaction->queue_heads, session);
    }
}

static enum status settle_media(struct call *call, const struct session *session, struct event *event)
{
    enum status status = media_extract_and_attach(call, session, &event->content);
    return status == STATUS_OK ? media_extract_and_attach(call, session, &event->metadata) : status;
}

enum status session_append_events(struct call *call, struct loaded_session *loaded, struct event *events, size_t count)
{
    assert(call_writes(call));
    struct transaction *transaction = call->transaction;
    enum session_status before = loaded->session.status;
    bool held = session_blocks_turns(&loaded->session);
    bool was_claimable = session_is_claimable(&loaded->session);
    if (budget_check(&call->failure) != STATUS_OK) {
        return call->failure.status;
    }
    transaction_touch(transaction, loaded);
    for (size_t i = 0; i < count; i++) {
        silence_keep(call->arena, &loaded->session, &events[i]);
        events[i].content = secret_mask_json(call, events[i].content);
        events[i].metadata = secret_mask_json(call, events[i].metadata);
        enum status status = settle_media(call, &loaded->session, &events[i]);
        if (status != STATUS_OK) {
            return status;
        }
        enum session_status status_before = loaded->session.status;
        apply(call, loaded, &events[i]);
        status = store_event_insert(transaction->db, loaded->session.tenant_key, loaded->session.key, &events[i],
                                    &call->failure);
        if (status == STATUS_OK) {
            status = keep_files(call, &loaded->session, &events[i]);
        }
        if (status != STATUS_OK) {
            return status;
        }
        publish_event(transaction, &loaded->session, &events[i], status_before);
    }
    note_queue_place(transaction, &loaded->session, was_claimable);
    if (loaded->session.status != before) {
        enum status status = automation_run_keep_up(call, &loaded->session);
        if (status != STATUS_OK) {
            return status;
        }
    }
    if ((loaded->session.status != before || held) && session_is_claimable(&loaded->session)) {
        transaction->work_queued = true;
    }
    return STATUS_OK;
}

enum status session_append_changes(struct call *call, struct loaded_session *loaded, struct changes *changes)
{
    assert(call_writes(call));
    return session_append_events(call, loaded, changes->events, changes->count);
}

enum status transaction_create(struct call *call, int64_t tenant_key, struct slice id, const struct changes *changes,
                               struct loaded_session **out)
{
    assert(call_writes(call));
    struct transaction *transaction = call->transaction;
    if (budget_check(&call->failure) != STATUS_OK) {
        return call->failure.status;
    }
    struct loaded_session *loaded = transaction_remember(transaction, tenant_key, id);
    loaded->session = (struct session){.tenant_key = tenant_key, .id = arena_copy(&loaded->arena, id)};
    transaction_touch(transaction, loaded);
    struct changes own = *changes;
    for (size_t i = 0; i < own.count; i++) {
        apply(call, loaded, &own.events[i]);
    }
    enum status status = store_session_insert(transaction->db, &loaded->session, &call->failure);
    for (size_t i = 0; i < own.count && status == STATUS_OK; i++) {
        status = store_event_insert(transaction->db, tenant_key, loaded->session.key, &own.events[i], &call->failure);
        publish_event(transaction, &loaded->session, &own.events[i], loaded->session.status);
    }
    if (status != STATUS_OK) {
        return status;
    }
    transaction_know_key(transaction, loaded);
    transaction_mark_stored(loaded);
    loaded->lease_known = loaded->prompts_known = loaded->asks_known = loaded->children_known = true;
    note_queue_place(transaction, &loaded->session, false);
    transaction->work_queued |= session_status_is_claimable(loaded->session.status);
    assert(loaded->session.key != 0 && loaded->changed == 0);
    *out = loaded;
    return automation_run_begin(call, &loaded->session);
}

enum status transaction_timer(struct call *call, const struct loaded_session *loaded, enum timer_kind kind,
                              int64_t due_ms)
{
    assert(call_writes(call));
    struct transaction *transaction = call->transaction;
    assert(due_ms >= 0 && loaded->session.key != 0);
    bool is_lease = kind == TIMER_LEASE; /* its own row says when it is due */
    if (due_ms == 0) {
        return is_lease ? STATUS_OK : store_timer_delete(transaction->db, kind, loaded->session.key, &call->failure);
    }
    if (transaction->earliest_timer_ms == 0 || due_ms < transaction->earliest_timer_ms) {
        transaction->earliest_timer_ms = due_ms;
    }
    if (is_lease) {
        return STATUS_OK;
    }
    struct timer timer = {kind, loaded->session.tenant_key, loaded->session.key, due_ms};
    return store_timer_put(transaction->db, &timer, &call->failure);
}

void transaction_close_viewers(struct transaction *transaction, const struct session *session, struct slice reason,
                               struct slice only_user)
{
    publish(transaction, &(struct publication_entry){
                             .kind = PUBLISH_CLOSE,
                             .tenant_key = session->tenant_key,
                             .session_key = session->key,
                             .session_id = session->id,
                             .sequence = session->last_sequence,
                             .reason = reason,
                             .only_user = only_user,
                         });
}

void transaction_close_streams_of(struct transaction *transaction, int64_t tenant_key, struct slice holder)
{
    if (slice_present(holder)) {
        publish(transaction, &(struct publication_entry){.kind = PUBLISH_CLOSE,
                                                         .tenant_key = tenant_key,
                                                         .reason = SLICE("access_revoked"),
                                                         .only_user = holder});
    }
}

void transaction_identity_changed(struct call *call)
{
    struct transaction *transaction = call->transaction;
    assert(call_writes(call));
    if (!transaction->identity_changed) {
        transaction->identity_changed = true;
        db_touch(transaction->db, call->who->tenant_key, IDENTITY_TOUCHED);
        publish(transaction, &(struct publication_entry){.kind = PUBLISH_RECHECK});
    }
}

enum status transaction_delete(struct call *call, struct loaded_session *loaded)
{
    assert(call_writes(call));
    struct transaction *transaction = call->transaction;
    /* The row must be as the store knows it before it goes, or counts would drift. */
    transaction_touch(transaction, loaded);
    enum status status = transaction_save(transaction, loaded, &call->failure);
    if (status == STATUS_OK) {
        status = store_session_delete(transaction->db, &loaded->session, call->who->name, call->now_ms, &call->failure);
    }
    if (status != STATUS_OK) {
        return status;
    }
    queue_heads_remove(&transaction->queue_heads, loaded->session.key);
    transaction_close_viewers(transaction, &loaded->session, SLICE("deleted"), (struct slice){0});
    struct loaded_session **link = &transaction->touched;
    while (*link != loaded) {
        link = &(*link)->next_touched;
    }
    *link = loaded->next_touched;
    transaction_forget(transaction, loaded);
    return STATUS_OK;
}

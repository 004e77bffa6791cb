#include "base/budget.h"
#include "domain/silence.h"
#include "service/media.h"
#include "service/run.h"
#include "service/secret.h"
#include "service/unit_parts.h"

static void publish(struct unit *unit, const struct publication_entry *entry)
{
    if (!unit->publication) {
        unit->publication = publication_new();
    }
    publication_add(unit->publication, entry);
}

static void publish_event(struct unit *unit, const struct session *session, const struct event *event)
{
    unit->scratch.len = 0;
    event_write(&unit->scratch, session->id, event);
    publish(unit, &(struct publication_entry){
                      .kind = PUBLISH_EVENTS,
                      .tenant_key = session->tenant_key,
                      .session_key = session->key,
                      .session_id = session->id,
                      .sequence = event->sequence,
                      .type = event->type,
                      .thread_id = event->thread_id,
                      .json = buffer_slice(&unit->scratch),
                  });
}

/* The files an event tells of get their rows; what cannot be read of them stays in the log only. */
static enum status keep_files(struct call *call, const struct session *session, const struct event *event)
{
    const struct json *metadata = NULL;
    struct file_change change;
    if (!file_change_is_told_by(event->type) || !slice_present(event->metadata) ||
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
}

/* After a change of the session, or its creation. */
static void note_queue_place(struct unit *unit, const struct session *session, bool was_claimable)
{
    if (was_claimable) {
        queue_heads_remove(&unit->queue_heads, session->key);
    }
    if (session_is_claimable(session)) {
        queue_heads_add(&unit->queue_heads, session);
    }
}

static enum status settle_media(struct call *call, const struct session *session, struct event *event)
{
    enum status status = media_settle(call, session, &event->content);
    return status == STATUS_OK ? media_settle(call, session, &event->metadata) : status;
}

enum status unit_append(struct call *call, struct loaded_session *loaded, struct event *events, size_t count)
{
    struct unit *unit = call->unit;
    enum work before = loaded->session.work;
    bool held = session_is_held(&loaded->session);
    bool was_claimable = session_is_claimable(&loaded->session);
    if (budget_check(&call->failure) != STATUS_OK) {
        return call->failure.status;
    }
    unit_touch(unit, loaded);
    for (size_t i = 0; i < count; i++) {
        silence_keep(call->arena, &loaded->session, &events[i]);
        events[i].content = secret_mask_json(call, events[i].content);
        events[i].metadata = secret_mask_json(call, events[i].metadata);
        enum status status = settle_media(call, &loaded->session, &events[i]);
        if (status != STATUS_OK) {
            return status;
        }
        apply(call, loaded, &events[i]);
        status =
            store_event_insert(unit->db, loaded->session.tenant_key, loaded->session.key, &events[i], &call->failure);
        if (status == STATUS_OK) {
            status = keep_files(call, &loaded->session, &events[i]);
        }
        if (status != STATUS_OK) {
            return status;
        }
        publish_event(unit, &loaded->session, &events[i]);
    }
    note_queue_place(unit, &loaded->session, was_claimable);
    if (loaded->session.work != before) {
        enum status status = run_keep_up(call, &loaded->session);
        if (status != STATUS_OK) {
            return status;
        }
    }
    if ((loaded->session.work != before || held) && session_is_claimable(&loaded->session)) {
        unit->work_queued = true;
    }
    return STATUS_OK;
}

enum status unit_append_changes(struct call *call, struct loaded_session *loaded, struct changes *changes)
{
    return unit_append(call, loaded, changes->events, changes->count);
}

enum status unit_create(struct call *call, int64_t tenant_key, struct slice id, const struct changes *changes,
                        struct loaded_session **out)
{
    struct unit *unit = call->unit;
    if (budget_check(&call->failure) != STATUS_OK) {
        return call->failure.status;
    }
    struct loaded_session *loaded = unit_remember(unit, tenant_key, id);
    loaded->session = (struct session){.tenant_key = tenant_key, .id = arena_copy(&loaded->arena, id)};
    unit_touch(unit, loaded);
    struct changes own = *changes;
    for (size_t i = 0; i < own.count; i++) {
        apply(call, loaded, &own.events[i]);
    }
    enum status status = store_session_insert(unit->db, &loaded->session, &call->failure);
    for (size_t i = 0; i < own.count && status == STATUS_OK; i++) {
        status = store_event_insert(unit->db, tenant_key, loaded->session.key, &own.events[i], &call->failure);
        publish_event(unit, &loaded->session, &own.events[i]);
    }
    if (status != STATUS_OK) {
        return status;
    }
    unit_know_key(unit, loaded);
    unit_mark_stored(loaded);
    loaded->lease_known = loaded->prompts_known = loaded->asks_known = loaded->children_known = true;
    note_queue_place(unit, &loaded->session, false);
    unit->work_queued |= work_is_claimable(loaded->session.work);
    *out = loaded;
    return run_begin(call, &loaded->session);
}

enum status unit_timer(struct call *call, const struct loaded_session *loaded, enum timer_kind kind, int64_t due_ms)
{
    struct unit *unit = call->unit;
    bool is_lease = kind == TIMER_LEASE; /* its own row says when it is due */
    if (due_ms == 0) {
        return is_lease ? STATUS_OK : store_timer_delete(unit->db, kind, loaded->session.key, &call->failure);
    }
    if (unit->earliest_timer_ms == 0 || due_ms < unit->earliest_timer_ms) {
        unit->earliest_timer_ms = due_ms;
    }
    if (is_lease) {
        return STATUS_OK;
    }
    struct timer timer = {kind, loaded->session.tenant_key, loaded->session.key, due_ms};
    return store_timer_put(unit->db, &timer, &call->failure);
}

void unit_close_viewers(struct unit *unit, const struct session *session, struct slice reason, struct slice only_user)
{
    publish(unit, &(struct publication_entry){
                      .kind = PUBLISH_CLOSE,
                      .tenant_key = session->tenant_key,
                      .session_key = session->key,
                      .session_id = session->id,
                      .sequence = session->last_sequence,
                      .reason = reason,
                      .only_user = only_user,
                  });
}

void unit_close_streams_of(struct unit *unit, int64_t tenant_key, struct slice holder)
{
    if (slice_present(holder)) {
        publish(unit, &(struct publication_entry){.kind = PUBLISH_CLOSE,
                                                  .tenant_key = tenant_key,
                                                  .reason = SLICE("access_revoked"),
                                                  .only_user = holder});
    }
}

void unit_identity_changed(struct call *call)
{
    struct unit *unit = call->unit;
    if (!unit->identity_changed) {
        unit->identity_changed = true;
        db_touch(unit->db, call->who->tenant_key, IDENTITY_TOUCHED);
        publish(unit, &(struct publication_entry){.kind = PUBLISH_RECHECK});
    }
}

enum status unit_delete(struct call *call, struct loaded_session *loaded)
{
    struct unit *unit = call->unit;
    /* The row must be as the store knows it before it goes, or counts would drift. */
    unit_touch(unit, loaded);
    enum status status = unit_save(unit, loaded, &call->failure);
    if (status == STATUS_OK) {
        status = store_session_delete(unit->db, &loaded->session, call->who->name, call->now_ms, &call->failure);
    }
    if (status != STATUS_OK) {
        return status;
    }
    queue_heads_remove(&unit->queue_heads, loaded->session.key);
    unit_close_viewers(unit, &loaded->session, SLICE("deleted"), (struct slice){0});
    struct loaded_session **link = &unit->touched;
    while (*link != loaded) {
        link = &(*link)->next_touched;
    }
    *link = loaded->next_touched;
    unit_forget(unit, loaded);
    return STATUS_OK;
}

#include "service/session/event.h"

#include "service/session/media.h"
#include "service/prompt/prompt.h"
#include "service/identity/secret.h"

static enum status check_sequence(struct call *call, const struct session *session, int64_t if_sequence)
{
    if (if_sequence < 0 || if_sequence == session->last_sequence) {
        return STATUS_OK;
    }
    enum status status = failure_set(&call->failure, STATUS_STALE, "sequence_mismatch",
                                     "The log ends at %lld, not at %lld; nothing was appended.",
                                     (long long)session->last_sequence, (long long)if_sequence);
    failure_members(&call->failure, "\"sequence\":%lld", (long long)session->last_sequence);
    return status;
}

struct keep_event {
    struct event *to;
    struct arena *arena;
};

static bool keep_event(void *owner, const struct event *event)
{
    struct keep_event *keep = owner;
    *keep->to = *event;
    struct slice *slices[] = {&keep->to->custom,    &keep->to->content,     &keep->to->metadata,
                              &keep->to->thread_id, &keep->to->external_id, &keep->to->actor};
    for (size_t i = 0; i < sizeof slices / sizeof *slices; i++) {
        *slices[i] = arena_copy(keep->arena, *slices[i]);
    }
    return false;
}

/* An external id that is in the log already turns its event into the stored one. */
static enum status find_duplicate(struct call *call, const struct session *session, struct event *event, bool *out)
{
    int64_t sequence = 0;
    enum status status = store_event_by_external_id(call->db, session->tenant_key, session->key, event->external_id,
                                                    &sequence, &call->failure);
    *out = sequence != 0;
    if (status != STATUS_OK || sequence == 0) {
        return status;
    }
    struct event_filter filter = {
        .tenant_key = session->tenant_key, .session_key = session->key, .after = sequence - 1, .limit = 1};
    struct keep_event keep = {event, call->arena};
    return store_event_read(call->db, &filter, keep_event, &keep, &call->failure);
}

static enum status check_repeats(struct call *call, const struct append *append)
{
    struct map seen = {0};
    enum status status = STATUS_OK;
    for (size_t i = 0; i < append->count && status == STATUS_OK; i++) {
        const struct event *event = &append->events[i];
        if (slice_present(event->external_id) && map_put(&seen, event->external_id, (void *)(uintptr_t)event)) {
            status = failure_set(&call->failure, STATUS_INVALID, "repeated_external_event_id",
                                 "Two events of one request carry the same external_event_id.");
        }
    }
    map_release(&seen);
    return status;
}

/* Types without a fixed role, such as state.patch, have that of a user unless they say otherwise: not when an agent's
 * own code writes them. */
static enum status check_speaker(struct call *call, struct event *event)
{
    if (event->role != ROLE_USER || access_speaks_for_people(call->who)) {
        return STATUS_OK;
    }
    if (event->kind != EVENT_CUSTOM && event_kinds[event->kind].role == ROLE_USER && !event->role_is_given) {
        event->role = ROLE_AGENT;
        return STATUS_OK;
    }
    return failure_set(&call->failure, STATUS_FORBIDDEN, "person_required",
                       "A %s writes with the role agent or system, never user.",
                       principal_kind_enum.names[call->who->kind]);
}

/* Events may say it in other words, but not for somebody else. */
static enum status name_sender(struct call *call, const struct session_access *entry, struct event *event)
{
    return event->role == ROLE_USER ? prompt_name_sender(call, entry, NULL, &event->content) : STATUS_OK;
}

static enum status check_events(struct call *call, struct append *append)
{
    const struct session *session = &append->entry.loaded->session;
    for (size_t i = 0; i < append->count; i++) {
        struct event *event = &append->events[i];
        enum status status = access_check_event(call->who, session, append->entry.role, append->entry.holds_lease,
                                                event_type(event), &call->failure);
        if (status == STATUS_OK) {
            status = check_speaker(call, event);
        }
        if (status == STATUS_OK) {
            status = secret_check_json(call, event->content);
        }
        if (status == STATUS_OK) {
            status = secret_check_json(call, event->metadata);
        }
        if (status == STATUS_OK) {
            status = name_sender(call, &append->entry, event);
        }
        if (status == STATUS_OK && slice_present(event->external_id)) {
            status = find_duplicate(call, session, event, &append->duplicates[i]);
        }
        if (status != STATUS_OK) {
            return status;
        }
    }
    return STATUS_OK;
}

/* Runs of new events are appended together; stored ones are left out. */
static enum status append_new(struct call *call, struct append *append)
{
    size_t first = 0;
    enum status status = STATUS_OK;
    while (first < append->count && status == STATUS_OK) {
        size_t end = first;
        while (end < append->count && !append->duplicates[end]) {
            end++;
        }
        if (end > first) {
            status = session_append_events(call, append->entry.loaded, append->events + first, end - first);
        }
        first = end + 1;
    }
    return status;
}

enum status event_append(struct call *call, struct slice session_id, struct append *append)
{
    enum status status = session_authorize(call, session_id, ACTION_APPEND, &append->entry);
    if (status == STATUS_OK) {
        status = check_sequence(call, &append->entry.loaded->session, append->if_sequence);
    }
    if (status == STATUS_OK) {
        status = check_events(call, append);
    }
    if (status == STATUS_OK) {
        status = check_repeats(call, append);
    }
    if (status == STATUS_OK) {
        status = media_attach(call, &append->entry.loaded->session, call->media);
    }
    return status == STATUS_OK ? append_new(call, append) : status;
}

enum status event_last(struct call *call, const struct session *session, const enum event_kind *kinds, size_t count,
                       bool (*keep)(void *owner, const struct event *event), void *owner)
{
    struct event_filter filter = {.tenant_key = session->tenant_key,
                                  .session_key = session->key,
                                  .kinds = kinds,
                                  .kind_count = count,
                                  .newest_first = true,
                                  .limit = 1};
    return store_event_read(call->db, &filter, keep, owner, &call->failure);
}

enum status event_log_read(struct call *call, const struct session *session, struct event_filter *filter,
                           bool (*each)(void *owner, const struct event *event), void *owner)
{
    filter->tenant_key = session->tenant_key;
    filter->session_key = session->key;
    return store_event_read(call->db, filter, each, owner, &call->failure);
}

enum status event_read_partial(struct call *call, const struct session *session, struct partial *out)
{
    return store_partial_load(call->db, session->tenant_key, session->key, call->arena, out, &call->failure);
}

enum status event_firehose_end(struct call *call, struct position *out)
{
    int64_t horizon;
    enum status status = store_firehose_horizon(call->db, &horizon, &call->failure);
    return status == STATUS_OK ? store_firehose_end(call->db, call->who->tenant_key, horizon, out, &call->failure)
                               : status;
}

enum status event_check_live(struct call *call, const struct session *session)
{
    struct lease lease;
    if (!session_status_is_active(session->status)) {
        return failure_set(&call->failure, STATUS_CONFLICT, "session_ended",
                           "Live output belongs to a turn; this session is %s.",
                           session_status_enum.names[session->status]);
    }
    if (access_runs(call->who, session, slice_present(call->lease_token))) {
        return STATUS_OK;
    }
    enum status status =
        store_lease_get(call->db, session->tenant_key, session->key, call->arena, &lease, &call->failure);
    if (status == STATUS_OK && lease.expires_at_ms > call->steady_ms) {
        return failure_set(&call->failure, STATUS_STALE, "lease_required",
                           "Somebody else runs this session; live output comes from the holder of its lease.");
    }
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

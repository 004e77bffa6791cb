#include "service/session.h"

#include <stdio.h>

#include "base/hash.h"
#include "service/prompt.h"

static enum status participant_role(struct call *call, const struct session *session, enum access_role *out)
{
    *out = ACCESS_NONE;
    bool owns = slice_present(session->owner) && slice_eq(session->owner, call->who->user_id);
    if (!slice_present(call->who->user_id) || owns) {
        return STATUS_OK;
    }
    return store_participant_role(call->db, session->tenant_key, session->key, call->who->user_id, out, &call->failure);
}

static bool lease_matches(const struct call *call, const struct lease *lease)
{
    if (!lease || lease->expires_at_ms <= call->steady_ms) {
        return false;
    }
    struct hash hash = hash_of(call->lease_token);
    return hash_equal(hash_slice(&hash), lease->token_hash);
}

/* Who may neither see the session nor claim work must not learn from a lease that it exists. */
static bool is_stale(const struct call *call, enum access_role role, bool holds_lease)
{
    bool may_claim = (call->who->scopes & SCOPE_CLAIM) != 0 && access_check_claim(call->who, NULL) == STATUS_OK;
    bool may_know = role != ACCESS_NONE || may_claim;
    return slice_present(call->lease_token) && !holds_lease && may_know;
}

static enum status stale_lease(struct call *call, const struct session *session)
{
    enum status status =
        failure_set(&call->failure, STATUS_STALE, "stale_lease",
                    "The lease in Sojourn-Lease is not the live lease of this session; nothing was changed.");
    failure_members(&call->failure, "\"fence\":%lld", (long long)session->fence);
    return status;
}

/* NOT_FOUND in the words every stranger hears. */
static enum status hide(struct call *call, enum status status)
{
    return status == STATUS_NOT_FOUND ? access_not_found(&call->failure) : status;
}

enum status session_enter(struct call *call, struct slice id, enum action action, struct session_entry *out)
{
    struct loaded_session *loaded;
    enum status status = unit_load(call->unit, call->who->tenant_key, id, &loaded, &call->failure);
    if (status != STATUS_OK) {
        return hide(call, status);
    }
    bool holds_lease = false;
    if (slice_present(call->lease_token)) {
        const struct lease *lease;
        status = unit_lease(call->unit, loaded, &lease, &call->failure);
        if (status != STATUS_OK) {
            return status;
        }
        holds_lease = lease_matches(call, lease);
    }
    enum access_role stored;
    status = participant_role(call, &loaded->session, &stored);
    if (status != STATUS_OK) {
        return status;
    }
    enum access_role role = access_role(call->who, &loaded->session, stored, holds_lease);
    if (is_stale(call, role, holds_lease)) {
        return stale_lease(call, &loaded->session);
    }
    status = access_check(call->who, role, action, &call->failure);
    if (status == STATUS_OK) {
        *out = (struct session_entry){loaded, role, holds_lease};
    }
    return status;
}

static enum status reader_holds_lease(struct call *call, const struct session *session, bool *out)
{
    *out = false;
    if (!slice_present(call->lease_token)) {
        return STATUS_OK;
    }
    struct lease lease;
    enum status status =
        store_lease_get(call->db, session->tenant_key, session->key, call->arena, &lease, &call->failure);
    if (status == STATUS_OK) {
        *out = lease_matches(call, &lease);
    }
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

enum status session_view(struct call *call, struct slice id, enum action action, struct session *out,
                         enum access_role *out_role)
{
    if (!session_id_is_valid(id)) {
        return access_not_found(&call->failure);
    }
    enum status status = store_session_by_id(call->db, call->who->tenant_key, id, call->arena, out, &call->failure);
    if (status != STATUS_OK) {
        return hide(call, status);
    }
    bool holds_lease;
    enum access_role stored;
    status = reader_holds_lease(call, out, &holds_lease);
    if (status == STATUS_OK) {
        status = participant_role(call, out, &stored);
    }
    if (status != STATUS_OK) {
        return status;
    }
    enum access_role role = access_role(call->who, out, stored, holds_lease);
    if (is_stale(call, role, holds_lease)) {
        return stale_lease(call, out);
    }
    if (out_role) {
        *out_role = role;
    }
    return access_check(call->who, role, action, &call->failure);
}

/* --- creation --- */

static enum status check_concurrency(struct call *call, const struct session_input *input, const struct session *parent)
{
    bool interactive = !slice_present(input->purpose) || slice_is(input->purpose, "interactive");
    bool child_of_orchestrator = parent && parent->purpose == PURPOSE_ORCHESTRATOR;
    if (!slice_present(call->who->user_id) || !interactive || child_of_orchestrator) {
        return STATUS_OK;
    }
    int64_t limit = call->service->sessions_per_user_max;
    struct user user;
    enum status status = store_user_by_id(call->db, call->who->user_id, call->arena, &user, &call->failure);
    if (status == STATUS_OK && user.sessions_max > 0) {
        limit = user.sessions_max;
    }
    if (status != STATUS_OK && status != STATUS_NOT_FOUND) {
        return status;
    }
    if (limit == 0) {
        return STATUS_OK;
    }
    int64_t active = 0;
    status = unit_flush(call->unit, &call->failure);
    if (status == STATUS_OK) {
        status = store_session_count_concurrent(call->db, call->who->tenant_key, call->who->user_id, &active,
                                                &call->failure);
    }
    if (status != STATUS_OK || active < limit) {
        return status;
    }
    status = failure_set(&call->failure, STATUS_LIMITED, "too_many_sessions",
                         "You have %lld active sessions; the limit is %lld. End one or raise sessions-per-user-max.",
                         (long long)active, (long long)limit);
    failure_members(&call->failure, "\"active_count\":%lld,\"limit\":%lld", (long long)active, (long long)limit);
    call->failure.retry_after_s = 30;
    return status;
}

static enum status find_parent(struct call *call, struct slice parent_id, struct loaded_session **out)
{
    *out = NULL;
    if (!slice_present(parent_id)) {
        return STATUS_OK;
    }
    struct session_entry entry;
    enum status status = session_enter(call, parent_id, ACTION_APPEND, &entry);
    if (status == STATUS_OK) {
        *out = entry.loaded;
    } else if (status == STATUS_NOT_FOUND) {
        return failure_set(
            &call->failure, STATUS_INVALID, "unknown_parent",
            "parent_id names no session you can reach; give the id of an existing session or leave it out.");
    }
    return status;
}

static enum status check_children(struct call *call, const struct session *parent)
{
    int64_t children = 0;
    enum status status = unit_flush(call->unit, &call->failure);
    if (status == STATUS_OK) {
        status = store_session_count_children(call->db, parent->tenant_key, parent->id, &children, &call->failure);
    }
    if (status == STATUS_OK && children >= call->service->children_max) {
        return failure_set(&call->failure, STATUS_LIMITED, "too_many_children",
                           "A session has at most %lld children (option children-max).",
                           (long long)call->service->children_max);
    }
    return status;
}

/* The previous human session of this user ends when a new one begins (design: completed, reason superseded). */
static enum status supersede_human(struct call *call)
{
    struct session previous;
    enum status status = unit_flush(call->unit, &call->failure);
    if (status == STATUS_OK) {
        status = store_session_active_human(call->db, call->who->tenant_key, call->who->user_id, call->arena, &previous,
                                            &call->failure);
    }
    if (status == STATUS_NOT_FOUND) {
        return STATUS_OK;
    }
    struct loaded_session *loaded;
    if (status == STATUS_OK) {
        status = unit_load(call->unit, call->who->tenant_key, previous.id, &loaded, &call->failure);
    }
    struct changes changes = {0};
    if (status == STATUS_OK) {
        status = change_status(call->arena, &loaded->session, WORK_COMPLETED, "superseded", STOP_SUPERSEDED, &changes,
                               &call->failure);
    }
    if (status == STATUS_OK) {
        status = unit_append_changes(call, loaded, &changes);
    }
    return status == STATUS_OK ? session_after_move(call, loaded) : status;
}

static enum status start_timers(struct call *call, struct loaded_session *loaded)
{
    const struct session *session = &loaded->session;
    enum status status = STATUS_OK;
    if (session->expires_at_ms != 0) {
        status = unit_timer(call, loaded, TIMER_EXPIRY, call->steady_ms + session->expires_at_ms - call->now_ms);
    }
    if (status == STATUS_OK && session_is_human_bridge(session)) {
        status = unit_timer(call, loaded, TIMER_HUMAN, call->steady_ms + call->service->human_session_ms);
    }
    return status;
}

/* An end stops the timers; whoever comes back from it needs them again. */
static enum status append_and_revive(struct call *call, struct loaded_session *loaded, struct changes *changes)
{
    bool was_ended = work_is_ended(loaded->session.work);
    enum status status = unit_append_changes(call, loaded, changes);
    bool revived = was_ended && !work_is_ended(loaded->session.work);
    return status == STATUS_OK && revived ? start_timers(call, loaded) : status;
}

static enum status tell_parent(struct call *call, struct loaded_session *parent, const char *type,
                               const struct session *child)
{
    struct changes note = {0};
    const char *keys[] = {"child_id", "status"};
    struct slice values[] = {child->id, slice_of(work_words.names[child->work])};
    change_note(call->arena, type, keys, values, 2, &note);
    return unit_append_changes(call, parent, &note);
}

static enum status pick_id(struct call *call, struct slice given, struct slice *out)
{
    struct slice prefix = call->who->id_prefix;
    if (!slice_present(given)) {
        char uuid[UUID_TEXT_BYTES];
        id_uuid7(call->service->ids, call->now_ms, uuid);
        *out = arena_format(call->arena, "%.*s%s", SLICE_ARG(prefix), uuid);
        return STATUS_OK;
    }
    if (!session_id_is_valid(given)) {
        return failure_set(&call->failure, STATUS_INVALID, "invalid_id",
                           "id must be 1 to 128 characters of A-Z a-z 0-9 . _ : -");
    }
    if (slice_is(given, "join") || slice_is(given, "bulk-delete")) { /* their paths would lead elsewhere */
        return failure_set(&call->failure, STATUS_INVALID, "invalid_id",
                           "%.*s is the name of a route; choose another id.", SLICE_ARG(given));
    }
    if (slice_present(prefix) && !slice_starts(given, prefix)) {
        return failure_set(&call->failure, STATUS_FORBIDDEN, "id_prefix",
                           "This token only reaches ids that begin with \"%.*s\".", SLICE_ARG(prefix));
    }
    *out = given;
    return STATUS_OK;
}

static enum status open_existing(struct call *call, const struct session_input *input, struct session_entry *out)
{
    struct session_entry entry;
    enum status status = session_enter(call, input->id, ACTION_APPEND, &entry);
    if (status == STATUS_NOT_FOUND) {
        return failure_set(&call->failure, STATUS_CONFLICT, "id_taken", "This id cannot be used; choose another.");
    }
    struct changes changes = {0};
    if (status == STATUS_OK) {
        status = change_open(call->arena, &entry.loaded->session, input, &call->service->session_limits, &changes,
                             &call->failure);
    }
    if (status == STATUS_OK && changes.count > 0) {
        status = append_and_revive(call, entry.loaded, &changes);
    }
    if (status == STATUS_OK) {
        *out = entry;
    }
    return status;
}

static enum status check_unused(struct call *call, struct slice id)
{
    bool deleted = false;
    enum status status = store_tombstone_exists(call->db, call->who->tenant_key, id, &deleted, &call->failure);
    if (status == STATUS_OK && deleted) {
        return failure_set(&call->failure, STATUS_GONE, "session_deleted",
                           "A session with this id was deleted; ids are not used again. Choose another.");
    }
    return status;
}

/* A source may be an object or just its kind. */
static bool names_human_bridge(const struct session_input *input)
{
    struct slice kind = json_text_of(input->source, "kind");
    json_as_text(input->source, &kind);
    return slice_is(kind, SOURCE_HUMAN_BRIDGE);
}

static enum status create_new(struct call *call, const struct session_input *input, struct slice id,
                              struct session_entry *out)
{
    struct loaded_session *parent;
    enum status status = find_parent(call, input->parent_id, &parent);
    if (status == STATUS_OK && parent) {
        status = check_children(call, &parent->session);
    }
    if (status == STATUS_OK) {
        status = check_concurrency(call, input, parent ? &parent->session : NULL);
    }
    struct changes changes = {0};
    if (status == STATUS_OK) {
        status = change_create(call->arena, input, &call->service->session_limits, id, call->who->user_id, call->now_ms,
                               &changes, &call->failure);
    }
    if (status == STATUS_OK && names_human_bridge(input)) {
        status = supersede_human(call);
    }
    struct loaded_session *loaded = NULL;
    if (status == STATUS_OK) {
        status = unit_create(call, call->who->tenant_key, id, &changes, &loaded);
    }
    if (status == STATUS_OK) {
        status = start_timers(call, loaded);
    }
    if (status == STATUS_OK && parent) {
        status = tell_parent(call, parent, "session.child_created", &loaded->session);
    }
    if (status == STATUS_OK) {
        *out = (struct session_entry){loaded, ACCESS_OWNER, false};
    }
    return status;
}

enum status session_create(struct call *call, const struct session_input *input, struct session_entry *out,
                           bool *out_created)
{
    struct slice id;
    enum status status = pick_id(call, input->id, &id);
    if (status != STATUS_OK) {
        return status;
    }
    if (slice_present(call->who->session_id) && !slice_eq(call->who->session_id, id)) {
        return failure_set(&call->failure, STATUS_FORBIDDEN, "session_bound",
                           "This credential reaches one session and cannot make others.");
    }
    *out_created = true;
    if (slice_present(input->id)) {
        struct loaded_session *existing;
        status = unit_load(call->unit, call->who->tenant_key, id, &existing, &call->failure);
        if (status == STATUS_OK) {
            *out_created = false;
            return open_existing(call, input, out);
        }
        if (status == STATUS_NOT_FOUND) {
            status = check_unused(call, id);
        }
    }
    return status == STATUS_OK ? create_new(call, input, id, out) : status;
}

/* --- changes --- */

enum status session_update(struct call *call, struct slice id, const struct json *patch, struct session_entry *out)
{
    struct session_entry entry;
    struct changes changes = {0};
    enum status status = session_enter(call, id, ACTION_UPDATE, &entry);
    if (status == STATUS_OK) {
        status = change_update(call->arena, &entry.loaded->session, patch, &call->service->session_limits, call->now_ms,
                               &changes, &call->failure);
    }
    if (status != STATUS_OK) {
        return status;
    }
    enum visibility visibility_before = entry.loaded->session.visibility;
    int64_t expires_before = entry.loaded->session.expires_at_ms;
    if (changes.count > 0) {
        status = unit_append_changes(call, entry.loaded, &changes);
    }
    if (entry.loaded->session.visibility < visibility_before) { /* whoever still may watch comes back */
        unit_close_viewers(call->unit, &entry.loaded->session, SLICE("access_changed"), (struct slice){0});
    }
    int64_t expires = entry.loaded->session.expires_at_ms;
    if (status == STATUS_OK && expires != expires_before) {
        status = unit_timer(call, entry.loaded, TIMER_EXPIRY, expires ? call->steady_ms + expires - call->now_ms : 0);
    }
    *out = entry;
    return status;
}

enum status session_set_archived(struct call *call, struct slice id, bool archived, struct session_entry *out)
{
    struct session_entry entry;
    struct changes changes = {0};
    enum status status = session_enter(call, id, ACTION_ARCHIVE, &entry);
    if (status == STATUS_OK) {
        status = change_archive(call->arena, &entry.loaded->session, archived, &changes, &call->failure);
    }
    if (status == STATUS_OK && changes.count > 0) {
        status = unit_append_changes(call, entry.loaded, &changes);
    }
    if (status == STATUS_OK) {
        *out = entry;
    }
    return status;
}

static enum status drop_lease(struct call *call, struct loaded_session *loaded)
{
    const struct lease *lease;
    enum status status = unit_lease(call->unit, loaded, &lease, &call->failure);
    if (status == STATUS_OK && lease) {
        status = unit_lease_delete(call->unit, loaded, &call->failure);
        if (status == STATUS_OK) {
            status = unit_timer(call, loaded, TIMER_LEASE, 0);
        }
    }
    return status;
}

static enum status tell_parent_of_end(struct call *call, struct loaded_session *loaded)
{
    if (!slice_present(loaded->session.parent_id)) {
        return STATUS_OK;
    }
    struct loaded_session *parent;
    enum status status =
        unit_load(call->unit, loaded->session.tenant_key, loaded->session.parent_id, &parent, &call->failure);
    if (status == STATUS_NOT_FOUND) {
        return STATUS_OK; /* the parent was deleted */
    }
    return status == STATUS_OK ? tell_parent(call, parent, "session.child_ended", &loaded->session) : status;
}

enum status session_after_move(struct call *call, struct loaded_session *loaded)
{
    enum status status = STATUS_OK;
    if (!work_is_leased(loaded->session.work)) {
        status = drop_lease(call, loaded);
    }
    if (status == STATUS_OK) {
        status = prompt_after_move(call, loaded);
    }
    if (status != STATUS_OK || !work_is_ended(loaded->session.work)) {
        return status;
    }
    if (loaded->session.expires_at_ms != 0) {
        status = unit_timer(call, loaded, TIMER_EXPIRY, 0);
    }
    if (status == STATUS_OK && session_is_human_bridge(&loaded->session)) {
        status = unit_timer(call, loaded, TIMER_HUMAN, 0);
    }
    return status == STATUS_OK ? tell_parent_of_end(call, loaded) : status;
}

enum status session_move(struct call *call, struct slice id, enum work to, struct slice reason,
                         struct session_entry *out)
{
    struct session_entry entry;
    enum status status = session_enter(call, id, work_is_ended(to) ? ACTION_STOP : ACTION_APPEND, &entry);
    if (status != STATUS_OK) {
        return status;
    }
    *out = entry;
    if (entry.loaded->session.work == to && work_is_ended(to)) {
        return STATUS_OK; /* stopping twice is stopping once */
    }
    struct changes changes = {0};
    struct slice line = arena_format(call->arena, "%.*s", SLICE_ARG(reason));
    status = change_status(call->arena, &entry.loaded->session, to, line.ptr, work_is_ended(to) ? STOP_USER : STOP_NONE,
                           &changes, &call->failure);
    if (status == STATUS_OK) {
        status = append_and_revive(call, entry.loaded, &changes);
    }
    return status == STATUS_OK ? session_after_move(call, entry.loaded) : status;
}

enum status session_reopen(struct call *call, struct slice id, struct session_entry *out)
{
    struct session_entry entry;
    struct changes changes = {0};
    enum status status = session_enter(call, id, ACTION_APPEND, &entry);
    if (status == STATUS_OK) {
        status = change_reopen(call->arena, &entry.loaded->session, "reopened", &changes, &call->failure);
    }
    if (status == STATUS_OK) {
        status = append_and_revive(call, entry.loaded, &changes);
    }
    if (status == STATUS_OK) {
        *out = entry;
    }
    return status;
}

enum status session_retry(struct call *call, struct slice id, struct session_entry *out)
{
    struct session_entry entry;
    enum status status = session_enter(call, id, ACTION_APPEND, &entry);
    if (status != STATUS_OK) {
        return status;
    }
    const struct session *old = &entry.loaded->session;
    if (!work_is_failing(old->work)) {
        return failure_set(&call->failure, STATUS_CONFLICT, "not_failed",
                           "Only a failed, expired or abandoned session can be retried; this one is %s.",
                           work_words.names[old->work]);
    }
    struct buffer source = {0};
    struct json_out json = json_out_to(&source);
    json_begin_object(&json);
    json_maybe_text(&json, "kind", old->source_kind);
    json_maybe_text(&json, "platform", old->source_platform);
    json_maybe_text(&json, "trigger_id", old->source_trigger_id);
    json_put_bool(&json, "interactive", old->source_interactive);
    json_end_object(&json);
    struct slice source_text = arena_copy(call->arena, buffer_slice(&source));
    buffer_release(&source);
    struct session_input input = {
        .type = slice_of(session_type_words.names[old->type]),
        .agent = old->agent,
        .title = old->title,
        .workspace = old->workspace,
        .parent_id = old->parent_id,
        .task_id = old->task_id,
        .entity_id = old->entity_id,
        .visibility = slice_of(visibility_words.names[old->visibility]),
        .prompt = old->initial_prompt,
        .purpose = slice_of(purpose_words.names[old->purpose]),
        .queue_mode = slice_of(queue_mode_words.names[old->queue_mode]),
        .retry_of = old->id,
        .priority = old->priority,
        .attempt = old->attempt + 1,
        .ttl_ms = -1,
    };
    status = json_parse(call->arena, source_text, &input.source, &call->failure);
    if (status == STATUS_OK && slice_present(old->metadata)) {
        status = json_parse(call->arena, arena_copy(call->arena, old->metadata), &input.metadata, &call->failure);
    }
    struct slice new_id;
    if (status == STATUS_OK) {
        status = pick_id(call, (struct slice){0}, &new_id);
    }
    return status == STATUS_OK ? create_new(call, &input, new_id, out) : status;
}

enum status session_delete(struct call *call, struct slice id)
{
    struct session_entry entry;
    enum status status = session_enter(call, id, ACTION_DELETE, &entry);
    if (status == STATUS_OK) {
        status = change_check_delete(&entry.loaded->session, &call->failure);
    }
    return status == STATUS_OK ? unit_delete(call, entry.loaded) : status;
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
    enum status status = session_view(call, id, ACTION_READ, &now, NULL);
    if (status != STATUS_OK) {
        return status;
    }
    if (sequence < 1 || sequence > now.last_sequence) {
        return failure_set(&call->failure, STATUS_INVALID, "invalid_sequence", "at must be between 1 and %lld.",
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

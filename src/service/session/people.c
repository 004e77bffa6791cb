#include <assert.h>

#include "service/session/people.h"

#include "base/hash.h"

static enum status note(struct call *call, struct loaded_session *loaded, enum event_kind kind, const char *key_a,
                        struct slice a, const char *key_b, struct slice b)
{
    struct changes changes = {0};
    const char *keys[] = {key_a, key_b};
    struct slice values[] = {a, b};
    change_note(call->arena, kind, keys, values, key_b ? 2 : 1, &changes);
    return session_append_changes(call, loaded, &changes);
}

static enum status find_member(struct call *call, struct slice user_id, struct slice email, struct user *out)
{
    enum status status = slice_present(user_id) ? store_user_by_id(call->db, user_id, call->arena, out, &call->failure)
                                                : store_member_by_email(call->db, call->who->tenant_key, email,
                                                                        call->arena, out, &call->failure);
    enum member_role member = MEMBER_NONE;
    if (status == STATUS_OK) {
        status = store_membership_get(call->db, call->who->tenant_key, out->id, &member, &call->failure);
    }
    /* Somebody else's user and nobody's user get the same answer. */
    if (status == STATUS_NOT_FOUND || (status == STATUS_OK && member == MEMBER_NONE)) {
        return failure_set(&call->failure, STATUS_INVALID, "unknown_user",
                           "No member of this tenant has that user_id or email.");
    }
    return status;
}

/* One who is there already takes no further place. */
static enum status check_place(struct call *call, const struct session *session, struct slice user_id)
{
    struct participant *present;
    size_t count = 0, invited = 0;
    enum status status = store_participant_list(call->db, session->tenant_key, session->key, call->arena, &present,
                                                &count, &call->failure);
    bool is_there = false;
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        is_there |= slice_eq(present[i].user_id, user_id);
        invited += present[i].role != ACCESS_OWNER;
    }
    if (status == STATUS_OK && !is_there && invited >= call->service->limits.people.participants_max) {
        return failure_set(&call->failure, STATUS_LIMITED, "too_many_participants",
                           "A session has at most %zu participants (option participants-max).",
                           call->service->limits.people.participants_max);
    }
    return status;
}

/* Nobody but its owner ever sees such a session, so that nobody is invited to it either. */
static enum status check_shareable(struct call *call, const struct session *session)
{
    if (!session_purpose_is_private(session->purpose)) {
        return STATUS_OK;
    }
    return failure_set(&call->failure, STATUS_CONFLICT, "not_shareable",
                       "A session of purpose %s is its owner's alone and cannot be shared.",
                       purpose_enum.names[session->purpose]);
}

enum status participant_add(struct call *call, struct slice session_id, struct slice user_id, struct slice email,
                            enum access_role role, struct slice *out_user_id)
{
    struct session_access entry;
    struct user user;
    enum status status = session_authorize(call, session_id, ACTION_PARTICIPANTS, &entry);
    if (status == STATUS_OK) {
        status = check_shareable(call, &entry.loaded->session);
    }
    if (status == STATUS_OK) {
        status = find_member(call, user_id, email, &user);
    }
    if (status == STATUS_OK) {
        status = check_place(call, &entry.loaded->session, user.id);
    }
    if (status == STATUS_OK) {
        *out_user_id = user.id;
        status = store_participant_put(call->db, entry.loaded->session.tenant_key, entry.loaded->session.key, user.id,
                                       role, call->now_ms, &call->failure);
    }
    return status == STATUS_OK ? note(call, entry.loaded, EVENT_SESSION_PARTICIPANT_ADDED, "user_id", user.id, "role",
                                      slice_of(access_role_enum.names[role]))
                               : status;
}

enum status participant_remove(struct call *call, struct slice session_id, struct slice user_id)
{
    struct session_access entry;
    bool removed = false;
    enum status status = session_authorize(call, session_id, ACTION_PARTICIPANTS, &entry);
    if (status == STATUS_OK) {
        status = store_participant_delete(call->db, entry.loaded->session.tenant_key, entry.loaded->session.key,
                                          user_id, &removed, &call->failure);
    }
    if (status != STATUS_OK || !removed) {
        return status;
    }
    transaction_close_viewers(call->transaction, &entry.loaded->session, SLICE("access_revoked"), user_id);
    return note(call, entry.loaded, EVENT_SESSION_PARTICIPANT_REMOVED, "user_id", user_id, NULL, (struct slice){0});
}

static enum status check_link_room(struct call *call, const struct session *session)
{
    struct share_link *links;
    size_t count = 0;
    enum status status =
        store_share_list(call->db, session->tenant_key, session->key, call->arena, &links, &count, &call->failure);
    size_t active = 0;
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        active += links[i].active;
    }
    if (status == STATUS_OK && active >= call->service->limits.people.share_links_max) {
        return failure_set(&call->failure, STATUS_LIMITED, "too_many_share_links",
                           "A session has at most %zu share links (option share-links-max); deactivate one.",
                           call->service->limits.people.share_links_max);
    }
    return status;
}

enum status share_create(struct call *call, struct slice session_id, const struct share_request *request,
                         struct share_link *out, char out_token[TOKEN_TEXT_BYTES])
{
    struct session_access entry;
    enum status status = session_authorize(call, session_id, ACTION_SHARE, &entry);
    if (status == STATUS_OK) {
        status = check_shareable(call, &entry.loaded->session);
    }
    if (status == STATUS_OK) {
        status = check_link_room(call, &entry.loaded->session);
    }
    if (status != STATUS_OK) {
        return status;
    }
    char id[UUID_TEXT_BYTES];
    id_uuid7(call->service->ids, call->now_ms, id);
    id_token(call->service->ids, "ss_", out_token);
    struct hash hash = hash_of(slice_of(out_token));
    *out = (struct share_link){
        .id = arena_copy(call->arena, slice_of(id)),
        .tenant_key = entry.loaded->session.tenant_key,
        .session_key = entry.loaded->session.key,
        .session_id = session_id,
        .token_hash = arena_copy(call->arena, hash_slice(&hash)),
        .role = request->role,
        .expires_at_ms = request->expires_at_ms,
        .max_uses = request->max_uses,
        .active = true,
        .created_by = call->who->name,
        .created_at_ms = call->now_ms,
    };
    status = store_share_insert(call->db, out, &call->failure);
    return status == STATUS_OK ? note(call, entry.loaded, EVENT_SESSION_SHARE_CREATED, "link_id", out->id, "role",
                                      slice_of(access_role_enum.names[out->role]))
                               : status;
}

enum status share_deactivate(struct call *call, struct slice session_id, struct slice link_id)
{
    struct session_access entry;
    bool changed = false;
    enum status status = session_authorize(call, session_id, ACTION_SHARE, &entry);
    if (status == STATUS_OK) {
        status = store_share_deactivate(call->db, entry.loaded->session.tenant_key, entry.loaded->session.key, link_id,
                                        &changed, &call->failure);
    }
    if (status != STATUS_OK || !changed) {
        return status;
    }
    transaction_identity_changed(call);
    transaction_close_viewers(call->transaction, &entry.loaded->session, SLICE("access_revoked"),
                              arena_format(call->arena, "share_link:%.*s", SLICE_ARG(link_id)));
    return note(call, entry.loaded, EVENT_SESSION_SHARE_DEACTIVATED, "link_id", link_id, NULL, (struct slice){0});
}

static enum status refuse_link(struct call *call)
{
    return failure_set(&call->failure, STATUS_NOT_FOUND, "not_found", "There is no such share link, or it is over.");
}

static enum status find_link(struct call *call, struct slice token, struct share_link *out)
{
    struct hash hash = hash_of(token);
    enum status status = store_share_by_hash(call->db, hash_slice(&hash), call->arena, out, &call->failure);
    if (status == STATUS_NOT_FOUND) {
        return refuse_link(call);
    }
    if (status != STATUS_OK) {
        return status;
    }
    bool over = !out->active || (out->expires_at_ms != 0 && out->expires_at_ms <= call->now_ms);
    return over || out->tenant_key != call->who->tenant_key ? refuse_link(call) : STATUS_OK;
}

/* The link's session, when it can be shared, and what the caller is there already. */
static enum status find_shared(struct call *call, const struct share_link *link, struct loaded_session **out,
                               enum access_role *out_present)
{
    enum status status = transaction_load(call->transaction, link->tenant_key, link->session_id, out, &call->failure);
    if (status == STATUS_NOT_FOUND || (status == STATUS_OK && session_purpose_is_private((*out)->session.purpose))) {
        return refuse_link(call);
    }
    if (status != STATUS_OK) {
        return status;
    }
    struct slice owner = (*out)->session.owner;
    if (slice_present(owner) && slice_eq(owner, call->who->user_id)) {
        *out_present = ACCESS_OWNER;
        return STATUS_OK;
    }
    return store_participant_role(call->db, link->tenant_key, link->session_key, call->who->user_id, out_present,
                                  &call->failure);
}

static enum status join(struct call *call, const struct share_link *link, struct loaded_session *loaded)
{
    bool first = false;
    enum status status = check_place(call, &loaded->session, call->who->user_id);
    if (status == STATUS_OK) {
        status = store_share_redeem(call->db, link, call->who->user_id, call->now_ms, &first, &call->failure);
    }
    if (status == STATUS_OK) {
        status = store_participant_put(call->db, link->tenant_key, link->session_key, call->who->user_id, link->role,
                                       call->now_ms, &call->failure);
    }
    return status == STATUS_OK
               ? note(call, loaded, EVENT_SESSION_SHARE_REDEEMED, "user_id", call->who->user_id, "link_id", link->id)
               : status;
}

enum status share_redeem(struct call *call, struct slice token, struct session_access *out, enum access_role *out_role)
{
    assert(call_writes(call));
    struct share_link link;
    struct loaded_session *loaded = NULL;
    enum access_role present = ACCESS_NONE;
    if (!slice_present(call->who->user_id)) {
        return failure_set(&call->failure, STATUS_FORBIDDEN, "user_required", "Only a user can redeem a share link.");
    }
    enum status status = find_link(call, token, &link);
    if (status == STATUS_OK && !access_covers(call->who, link.session_id, link.session_id)) {
        return refuse_link(call); /* a narrow token of the user takes him nowhere it does not reach itself */
    }
    if (status == STATUS_OK) {
        status = find_shared(call, &link, &loaded, &present);
    }
    if (status == STATUS_OK && present < link.role) { /* who gains nothing uses nothing up */
        status = join(call, &link, loaded);
    }
    if (status == STATUS_OK) {
        *out = (struct session_access){loaded, link.role, false};
        *out_role = present > link.role ? present : link.role;
    }
    return status;
}

enum status participant_list(struct call *call, struct slice session_id, struct participant **out, size_t *out_count)
{
    struct session session;
    enum status status = session_authorize_read(call, session_id, ACTION_READ, &session, NULL);
    return status == STATUS_OK ? store_participant_list(call->db, session.tenant_key, session.key, call->arena, out,
                                                        out_count, &call->failure)
                               : status;
}

enum status share_list(struct call *call, struct slice session_id, struct share_link **out, size_t *out_count)
{
    struct session session;
    enum status status = session_authorize_read(call, session_id, ACTION_SHARE, &session, NULL);
    return status == STATUS_OK ? store_share_list(call->db, session.tenant_key, session.key, call->arena, out,
                                                  out_count, &call->failure)
                               : status;
}

#include <assert.h>

#include "service/prompt/prompt_internal.h"

static enum status find_user(struct call *call, struct slice user_id, struct user *out)
{
    *out = (struct user){0};
    enum status status =
        slice_present(user_id) ? store_user_by_id(call->db, user_id, call->arena, out, &call->failure) : STATUS_OK;
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

/* Whom a channel names counts, not the channel's own account. */
static enum status is_owners(struct call *call, const struct session_access *entry, const struct json *sender,
                             bool *out)
{
    const struct session *session = &entry->loaded->session;
    struct slice email = json_text_of(sender, "email");
    struct user owner;
    *out = sender ? routing_names_owner(session, sender)
                  : entry->role == ACCESS_OWNER && call->who->kind != PRINCIPAL_CHANNEL;
    if (*out || email.len == 0) {
        return STATUS_OK;
    }
    enum status status = find_user(call, session->owner, &owner);
    *out = owner.email.len > 0 && slice_eq_nocase(owner.email, email);
    return status;
}

static enum status speakers_name(struct call *call, const struct json *sender, struct slice *out)
{
    struct user user;
    struct slice name = json_text_of(sender, "display_name");
    *out = slice_present(name) ? name : json_text_of(sender, "channel_user_id");
    if (slice_present(*out)) {
        return STATUS_OK;
    }
    enum status status = find_user(call, call->who->user_id, &user);
    *out = user.name.len > 0 ? user.name : call->who->name;
    return status;
}

enum status prompt_route(struct call *call, const struct session_access *entry, const struct prompt_request *request,
                         struct prompt *prompt, enum routing *out)
{
    bool is_owner = false;
    struct slice name = {0};
    *out = routing_of(&entry->loaded->session, false, !request->not_mentioned);
    if (*out == ROUTING_DIRECT) {
        return STATUS_OK;
    }
    enum status status = is_owners(call, entry, request->sender, &is_owner);
    if (status == STATUS_OK) {
        status = speakers_name(call, request->sender, &name);
    }
    *out = routing_of(&entry->loaded->session, is_owner, !request->not_mentioned);
    prompt->content = routing_content(call->arena, *out, name, prompt->content);
    prompt->metadata = routing_metadata(call->arena, *out, prompt->metadata);
    return status;
}

enum status prompt_name_sender(struct call *call, const struct session_access *entry, const struct json *sender,
                               struct slice *content)
{
    bool is_owner = false;
    struct slice name = {0};
    if (routing_of(&entry->loaded->session, false, false) == ROUTING_DIRECT || !slice_present(*content)) {
        return STATUS_OK;
    }
    enum status status = is_owners(call, entry, sender, &is_owner);
    if (status == STATUS_OK) {
        status = speakers_name(call, sender, &name);
    }
    if (status == STATUS_OK) {
        *content = routing_content(call->arena, is_owner ? ROUTING_OWNER : ROUTING_NOT_MENTIONED, name, *content);
    }
    return status;
}

enum status prompt_log(struct call *call, struct loaded_session *loaded, const struct prompt *prompt,
                       struct prompt_receipt *out)
{
    assert(call_writes(call));
    struct changes changes = {0};
    enum status status = prompt_check_append(&loaded->session, &call->failure);
    if (status == STATUS_OK) {
        status = change_append_message(call->arena, prompt, &changes, &call->failure);
    }
    out->logged = true;
    out->sequence = loaded->session.last_sequence + 1;
    return status == STATUS_OK ? session_append_changes(call, loaded, &changes) : status;
}

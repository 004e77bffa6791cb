#include "service/session/tunnel.h"

#include <assert.h>
#include <stdio.h>

#include "domain/tunnel.h"

static enum status check_name(struct call *call, struct slice name)
{
    return tunnel_name_is_valid(name)
               ? STATUS_OK
               : failure_set(&call->failure, STATUS_INVALID, "invalid_tunnel",
                             "The name of a tunnel has 1 to %d characters of A-Z a-z 0-9 . _ -", TUNNEL_NAME_BYTES_MAX);
}

static enum status not_found(struct call *call)
{
    return failure_set(&call->failure, STATUS_NOT_FOUND, "tunnel_not_found", "The session has no such tunnel.");
}

/* The session's owner, or whoever runs it: nobody else decides what leads into its sandbox. */
static enum status enter_to_open(struct call *call, struct slice session_id, struct session_access *out)
{
    enum status status = session_authorize(call, session_id, ACTION_APPEND, out);
    if (status == STATUS_OK && out->role < ACCESS_OWNER &&
        !access_runs(call->who, &out->loaded->session, out->holds_lease)) {
        return failure_set(&call->failure, STATUS_FORBIDDEN, "insufficient_role",
                           "Tunnels are opened by the owner of the session, or by whoever runs it.");
    }
    if (status == STATUS_OK && session_status_is_ended(out->loaded->session.status)) {
        return failure_set(&call->failure, STATUS_CONFLICT, "session_ended", "A session that is %s has no tunnels.",
                           session_status_enum.names[out->loaded->session.status]);
    }
    return status;
}

enum status tunnel_open(struct call *call, struct slice session_id, struct slice name, struct slice target,
                        bool *out_new)
{
    struct session_access entry;
    struct changes changes = {0};
    enum status status = enter_to_open(call, session_id, &entry);
    if (status == STATUS_OK) {
        status = check_name(call, name);
    }
    if (status == STATUS_OK) {
        status = tunnel_check_target(target, &call->failure);
    }
    if (status != STATUS_OK) {
        return status;
    }
    const struct json *present = tunnels_of(call->arena, &entry.loaded->session);
    char key[TUNNEL_NAME_BYTES_MAX + 1];
    snprintf(key, sizeof key, "%.*s", SLICE_ARG(name));
    struct slice old = json_text_of(present, key);
    *out_new = !slice_present(old);
    if (*out_new && present && (int64_t)present->count >= call->service->limits.channel.tunnels_max) {
        return failure_set(&call->failure, STATUS_LIMITED, "too_many_tunnels",
                           "A session has at most %lld tunnels (option tunnels-max).",
                           (long long)call->service->limits.channel.tunnels_max);
    }
    if (slice_eq(old, target)) {
        return STATUS_OK;
    }
    change_tunnel_opened(call->arena, name, target, &changes);
    return session_append_changes(call, entry.loaded, &changes);
}

static struct slice target_of(struct arena *arena, const struct session *session, struct slice name)
{
    char key[TUNNEL_NAME_BYTES_MAX + 1];
    snprintf(key, sizeof key, "%.*s", SLICE_ARG(name));
    return tunnel_name_is_valid(name) ? json_text_of(tunnels_of(arena, session), key) : (struct slice){0};
}

enum status tunnel_close(struct call *call, struct slice session_id, struct slice name)
{
    struct session_access entry;
    struct changes changes = {0};
    enum status status = session_authorize(call, session_id, ACTION_APPEND, &entry);
    if (status != STATUS_OK) {
        return status;
    }
    if (!slice_present(target_of(call->arena, &entry.loaded->session, name))) {
        return not_found(call);
    }
    change_tunnel_closed(call->arena, name, &changes);
    return session_append_changes(call, entry.loaded, &changes);
}

enum status tunnel_find(struct call *call, struct slice session_id, struct slice name, bool reads,
                        struct session *out_session, struct slice *out_target)
{
    enum action action = reads ? ACTION_READ : ACTION_APPEND;
    enum status status = session_authorize_read(call, session_id, action, out_session, NULL);
    if (status != STATUS_OK) {
        return status;
    }
    *out_target = target_of(call->arena, out_session, name);
    return slice_present(*out_target) ? STATUS_OK : not_found(call);
}

enum status system_message_append(struct call *call, struct loaded_session *loaded, struct slice content,
                                  struct slice metadata)
{
    assert(call_writes(call));
    struct event event = {
        .kind = EVENT_SYSTEM_MESSAGE,
        .role = ROLE_SYSTEM,
        .content = content,
        .metadata = metadata,
    };
    return session_append_events(call, loaded, &event, 1);
}

#include "service/session/people.h"

#include "api/core/handlers.h"

/* What can be given to others: never ownership. */
static const char *const share_role_names[] = {"viewer", "collaborator"};
static const struct enum_names share_role_enum = {share_role_names, 2};

static const struct field participant_body[] = {
    {"user_id", FIELD_STRING, false, "The user; or give email.", NULL, 1, 128},
    {"email", FIELD_STRING, false, "The user's email; or give user_id.", NULL, 3, 254},
    {"role", FIELD_WORD, false, "Default: collaborator.", &share_role_enum, 0, 0},
    {0},
};

static const struct field share_body[] = {
    {"role", FIELD_WORD, false, "Default: collaborator.", &share_role_enum, 0, 0},
    {"expires_at", FIELD_TIMESTAMP, false, "Expiry of the link. Default: never.", NULL, 0, 0},
    {"max_uses", FIELD_INTEGER, false, "How many users may redeem it. Default: no limit.", NULL, 1, 1000000},
    {0},
};

static enum access_role read_role(const struct request *request)
{
    return slice_is(json_text_of(request->body, "role"), "viewer") ? ACCESS_VIEWER : ACCESS_COLLABORATOR;
}

static enum status participants_list(struct request *request)
{
    struct participant *list;
    size_t count;
    struct call *call = &request->call;
    enum status status = participant_list(call, request->params[0], &list, &count);
    if (status != STATUS_OK) {
        return status;
    }
    struct json_out *out = &request->out;
    json_begin_object(out);
    json_key(out, "participants");
    json_begin_array(out);
    for (size_t i = 0; i < count; i++) {
        json_begin_object(out);
        json_put_text(out, "user_id", list[i].user_id);
        json_put_text(out, "name", list[i].name);
        json_put_text(out, "email", list[i].email);
        json_put_text(out, "role", slice_of(access_role_enum.names[list[i].role]));
        json_put_time(out, "added_at", list[i].added_at_ms);
        json_end_object(out);
    }
    json_end_array(out);
    json_end_object(out);
    return STATUS_OK;
}

static enum status participants_add(struct request *request)
{
    struct slice user_id = json_text_of(request->body, "user_id");
    struct slice email = json_text_of(request->body, "email");
    if (slice_present(user_id) == slice_present(email)) {
        return failure_set(&request->call.failure, STATUS_INVALID, "invalid_member",
                           "Give either `user_id` or `email`.");
    }
    enum access_role role = read_role(request);
    struct slice added = {0};
    enum status status = participant_add(&request->call, request->params[0], user_id, email, role, &added);
    if (status == STATUS_OK) {
        struct json_out *out = &request->out;
        json_begin_object(out);
        json_put_text(out, "user_id", added);
        json_put_text(out, "role", slice_of(access_role_enum.names[role]));
        json_end_object(out);
    }
    return status;
}

static enum status participants_remove(struct request *request)
{
    return participant_remove(&request->call, request->params[0], request->params[1]);
}

static void write_link(struct json_out *out, const struct share_link *link, struct slice token)
{
    json_begin_object(out);
    json_put_text(out, "id", link->id);
    json_maybe_text(out, "token", token);
    json_put_text(out, "role", slice_of(access_role_enum.names[link->role]));
    json_put_time(out, "expires_at", link->expires_at_ms);
    json_key(out, "max_uses");
    if (link->max_uses) {
        json_i64(out, link->max_uses);
    } else {
        json_null(out);
    }
    json_put_i64(out, "use_count", link->use_count);
    json_put_bool(out, "active", link->active);
    json_put_text(out, "created_by", link->created_by);
    json_put_time(out, "created_at", link->created_at_ms);
    json_end_object(out);
}

static enum status shares_list(struct request *request)
{
    struct share_link *links;
    size_t count;
    struct call *call = &request->call;
    enum status status = share_list(call, request->params[0], &links, &count);
    if (status != STATUS_OK) {
        return status;
    }
    struct json_out *out = &request->out;
    json_begin_object(out);
    json_key(out, "share_links");
    json_begin_array(out);
    for (size_t i = 0; i < count; i++) {
        write_link(out, &links[i], (struct slice){0});
    }
    json_end_array(out);
    json_end_object(out);
    return STATUS_OK;
}

static enum status shares_create(struct request *request)
{
    struct share_link link;
    char token[TOKEN_TEXT_BYTES];
    struct share_request wanted = {.role = read_role(request), .max_uses = json_i64_of(request->body, "max_uses")};
    struct slice expires = json_text_of(request->body, "expires_at");
    if (slice_present(expires) &&
        (!time_parse(expires, &wanted.expires_at_ms) || wanted.expires_at_ms <= request->call.now_ms)) {
        return failure_set(&request->call.failure, STATUS_INVALID, "invalid_member",
                           "`expires_at` must lie in the future.");
    }
    enum status status = share_create(&request->call, request->params[0], &wanted, &link, token);
    if (status == STATUS_OK) {
        write_link(&request->out, &link, slice_of(token));
    }
    return status;
}

static enum status shares_deactivate(struct request *request)
{
    return share_deactivate(&request->call, request->params[0], request->params[1]);
}

static enum status shares_redeem(struct request *request)
{
    struct session_access entry;
    enum access_role role;
    enum status status = share_redeem(&request->call, request->params[0], &entry, &role);
    if (status == STATUS_OK) {
        struct json_out *out = &request->out;
        json_begin_object(out);
        json_put_text(out, "session_id", entry.loaded->session.id);
        json_put_text(out, "role", slice_of(access_role_enum.names[role]));
        json_end_object(out);
    }
    return status;
}

const struct route people_routes[] = {
    {HTTP_POST, "/api/sessions/join/{token}", shares_redeem, .answer = "Joined", .summary = "Redeem a share link."},
    {HTTP_GET, "/api/sessions/{id}/participants", participants_list, .answer = "ParticipantList",
     .summary = "The session's participants."},
    {HTTP_POST, "/api/sessions/{id}/participants", participants_add, .idempotent = true, .body = participant_body,
     .success = 201, .answer = "Participant", .summary = "Add a user of the tenant as a participant."},
    {HTTP_DELETE, "/api/sessions/{id}/participants/{user_id}", participants_remove, .success = 204,
     .summary = "Remove a participant."},
    {HTTP_POST, "/api/sessions/{id}/share-link", shares_create, .body = share_body, .success = 201,
     .answer = "ShareLink", .summary = "Create a share link; its token is shown only in this answer."},
    {HTTP_GET, "/api/sessions/{id}/share-links", shares_list, .answer = "ShareLinkList",
     .summary = "The session's share links."},
    {HTTP_DELETE, "/api/sessions/{id}/share-link/{link_id}", shares_deactivate, .success = 204,
     .summary = "Deactivate a share link."},
    {0},
};

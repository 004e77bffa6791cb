#include "api/core/handlers.h"
#include "service/identity/identity.h"

static const char *const giveable_names[] = {"member", "admin", "owner"};
static const struct enum_names giveable_enum = {giveable_names, 3};
static const char *const token_kind_names[] = {"user", "worker", "runner", "sandbox", "channel"};
static const struct enum_names token_kind_enum = {token_kind_names, 5};

static const struct field user_body[] = {
    {"email", FIELD_STRING, true, "Email, unique.", NULL, 3, 254},
    {"name", FIELD_STRING, false, "Name for people.", NULL, 1, 100},
    {"role", FIELD_WORD, false, "Role in the tenant. Default: member.", &giveable_enum, 0, 0},
    {"sessions_max", FIELD_INTEGER, false, "Own limit of active sessions; 0 = the server's.", NULL, 0, 1000000},
    {0},
};
static const struct field user_update_body[] = {
    {"name", FIELD_STRING, false, "Name for people.", NULL, 1, 100},
    {"role", FIELD_WORD, false, "Role in the tenant.", &giveable_enum, 0, 0},
    {"sessions_max", FIELD_INTEGER, false, "Own limit of active sessions; 0 = the server's.", NULL, 0, 1000000},
    {0},
};
static const struct field token_body[] = {
    {"name", FIELD_STRING, true, "Name for people; workers show it as their actor.", NULL, 1, 100},
    {"kind", FIELD_WORD, false, "The kind of client. Default: user.", &token_kind_enum, 0, 0},
    {"scopes", FIELD_TEXTS, false, "Its scopes. Default: all scopes of the caller.", &scope_enum, 0, 0},
    {"id_prefix", FIELD_STRING, false, "Only sessions whose id begins with this, such as telegram:", NULL, 1, 64},
    {"session_id", FIELD_STRING, false, "Only this session.", NULL, 1, 128},
    {"user_id", FIELD_STRING, false, "The user it acts for. Default: the caller.", NULL, 1, 128},
    {"expires_at", FIELD_TIMESTAMP, false, "Expiry. Default: never.", NULL, 0, 0},
    {0},
};
static const struct field tenant_body[] = {
    {"id", FIELD_STRING, true, "Short name: a-z, 0-9 and -.", NULL, 1, 64},
    {"name", FIELD_STRING, false, "Name for people.", NULL, 1, 100},
    {0},
};

/* --- users --- */

static void write_user(struct json_out *out, const struct user *user, enum member_role role, struct slice link)
{
    json_begin_object(out);
    json_put_text(out, "id", user->id);
    json_put_text(out, "email", user->email);
    json_put_text(out, "name", user->name);
    json_put_text(out, "role", slice_of(member_role_enum.names[role]));
    json_put_i64(out, "sessions_max", user->sessions_max);
    json_put_time(out, "created_at", user->created_at_ms);
    json_maybe_text(out, "sign_in_secret", link);
    json_end_object(out);
}

static enum status users_list(struct request *request)
{
    struct user *users;
    enum member_role *roles;
    size_t count;
    struct call *call = &request->call;
    enum status status = request_check_tenant_wide(request);
    if (status == STATUS_OK) {
        status = user_list(call, &users, &roles, &count);
    }
    if (status != STATUS_OK) {
        return status;
    }
    struct json_out *out = &request->out;
    json_begin_object(out);
    json_key(out, "users");
    json_begin_array(out);
    for (size_t i = 0; i < count; i++) {
        write_user(out, &users[i], roles[i], (struct slice){0});
    }
    json_end_array(out);
    json_end_object(out);
    return STATUS_OK;
}

static enum member_role read_role(const struct request *request, enum member_role fallback)
{
    int role = enum_names_find(member_role_enum, json_text_of(request->body, "role"));
    return role > 0 ? (enum member_role)role : fallback;
}

static enum status users_create(struct request *request)
{
    struct user user;
    char link[TOKEN_TEXT_BYTES];
    struct user_request wanted = {
        .email = json_text_of(request->body, "email"),
        .name = json_text_of(request->body, "name"),
        .role = read_role(request, MEMBER_MEMBER),
        .sessions_max = json_i64_of(request->body, "sessions_max"),
    };
    enum status status = request_check_tenant_wide(request); /* a new user can sign in without any bounds */
    if (status == STATUS_OK) {
        status = user_create(&request->call, &wanted, &user, link);
    }
    if (status == STATUS_OK) {
        write_user(&request->out, &user, wanted.role, slice_of(link));
    }
    return status;
}

static enum status users_update(struct request *request)
{
    struct user user;
    int64_t sessions_max = -1;
    json_as_i64(json_get(request->body, "sessions_max"), &sessions_max);
    struct user_request change = {
        .name = json_text_of(request->body, "name"),
        .role = read_role(request, MEMBER_NONE),
        .sessions_max = sessions_max,
    };
    enum member_role role = MEMBER_NONE;
    struct call *call = &request->call;
    enum status status = request_check_tenant_wide(request);
    if (status == STATUS_OK) {
        status = user_update(call, request->params[0], &change, &user);
    }
    if (status == STATUS_OK) {
        status = user_role(call, call->who->tenant_key, user.id, &role);
    }
    if (status == STATUS_OK) {
        write_user(&request->out, &user, role, (struct slice){0});
    }
    return status;
}

static enum status users_remove(struct request *request)
{
    enum status status = request_check_tenant_wide(request);
    return status == STATUS_OK ? user_remove(&request->call, request->params[0]) : status;
}

/* --- tokens --- */

void scopes_write(struct json_out *out, unsigned scopes)
{
    json_key(out, "scopes");
    json_begin_array(out);
    for (int bit = 0; bit < scope_enum.count; bit++) {
        if (scopes & (1u << bit)) {
            json_text(out, slice_of(scope_enum.names[bit]));
        }
    }
    json_end_array(out);
}

void token_write(struct json_out *out, const struct token *token, struct slice secret)
{
    json_begin_object(out);
    json_put_text(out, "id", token->id);
    json_put_text(out, "name", token->name);
    json_put_text(out, "kind", slice_of(principal_kind_enum.names[token->kind]));
    json_maybe_text(out, "token", secret);
    scopes_write(out, token->scopes);
    json_put_text(out, "user_id", token->user_id);
    json_put_text(out, "id_prefix", token->id_prefix);
    json_put_text(out, "session_id", token->session_id);
    json_put_time(out, "created_at", token->created_at_ms);
    json_put_time(out, "expires_at", token->expires_at_ms);
    json_put_time(out, "revoked_at", token->revoked_at_ms);
    json_end_object(out);
}

static const struct field token_list_query[] = {
    {"revoked", FIELD_BOOLEAN, false,
     "Also those that were revoked or have expired, as long as they are kept (option ended-keep-ms).", NULL, 0, 0},
    {0},
};

static enum status tokens_list(struct request *request)
{
    struct token *tokens;
    size_t count;
    struct call *call = &request->call;
    bool all = slice_is(request_param(request, "revoked"), "true");
    enum status status = token_list(call, all, &tokens, &count);
    if (status != STATUS_OK) {
        return status;
    }
    struct json_out *out = &request->out;
    bool sees_all = access_rank(&request->who) >= MEMBER_ADMIN;
    json_begin_object(out);
    json_key(out, "tokens");
    json_begin_array(out);
    for (size_t i = 0; i < count; i++) {
        bool own = slice_present(tokens[i].user_id) && slice_eq(tokens[i].user_id, request->who.user_id);
        if ((sees_all || own) && access_covers(&request->who, tokens[i].id_prefix, tokens[i].session_id)) {
            token_write(out, &tokens[i], (struct slice){0});
        }
    }
    json_end_array(out);
    json_end_object(out);
    return STATUS_OK;
}

static enum status read_scopes(struct request *request, unsigned *out)
{
    const struct json *list = json_get_value(request->body, "scopes");
    *out = list ? 0 : request->who.scopes;
    for (const struct json *one = list ? list->child : NULL; one; one = one->next) {
        int bit = json_is(one, JSON_STRING) ? enum_names_find(scope_enum, one->text) : -1;
        if (bit < 0) {
            return failure_set(&request->call.failure, STATUS_INVALID, "invalid_member",
                               "`scopes` must be of: read, write, claim, admin.");
        }
        *out |= 1u << bit;
    }
    return STATUS_OK;
}

static enum status tokens_create(struct request *request)
{
    struct token token;
    char secret[TOKEN_TEXT_BYTES];
    int kind = enum_names_find(principal_kind_enum, json_text_of(request->body, "kind"));
    struct token_request wanted = {
        .name = json_text_of(request->body, "name"),
        .kind = kind < 0 ? PRINCIPAL_USER : (enum principal_kind)kind,
        .id_prefix = json_text_of(request->body, "id_prefix"),
        .session_id = json_text_of(request->body, "session_id"),
        .user_id = json_text_of(request->body, "user_id"),
    };
    struct slice expires = json_text_of(request->body, "expires_at");
    if (slice_present(expires) &&
        (!time_parse(expires, &wanted.expires_at_ms) || wanted.expires_at_ms <= request->call.now_ms)) {
        return failure_set(&request->call.failure, STATUS_INVALID, "invalid_member",
                           "`expires_at` must lie in the future.");
    }
    enum status status = read_scopes(request, &wanted.scopes);
    if (status == STATUS_OK) {
        status = token_create(&request->call, &wanted, &token, secret);
    }
    if (status == STATUS_OK) {
        token_write(&request->out, &token, slice_of(secret));
    }
    return status;
}

static enum status tokens_revoke(struct request *request)
{
    return token_revoke(&request->call, request->params[0]);
}

/* --- tenants --- */

static void write_tenant(struct json_out *out, const struct tenant *tenant, enum member_role role)
{
    json_begin_object(out);
    json_put_text(out, "id", tenant->id);
    json_put_text(out, "name", tenant->name);
    json_put_text(out, "role", slice_of(member_role_enum.names[role]));
    json_put_time(out, "created_at", tenant->created_at_ms);
    json_end_object(out);
}

/* Only the caller's own: other tenants do not exist for him. */
static enum status tenants_list(struct request *request)
{
    struct tenant *tenants = NULL;
    enum member_role *roles = NULL;
    size_t count = 0;
    struct call *call = &request->call;
    enum status status = tenant_list(call, &tenants, &roles, &count);
    if (status != STATUS_OK) {
        return status;
    }
    struct json_out *out = &request->out;
    json_begin_object(out);
    json_key(out, "tenants");
    json_begin_array(out);
    for (size_t i = 0; i < count; i++) {
        write_tenant(out, &tenants[i], roles[i]);
    }
    json_end_array(out);
    json_end_object(out);
    return STATUS_OK;
}

/* The first token of the new tenant is told with it, since every other token of the caller belongs elsewhere. */
static enum status tenants_create(struct request *request)
{
    struct tenant tenant;
    struct token token;
    char secret[TOKEN_TEXT_BYTES];
    struct call *call = &request->call;
    enum status status = request_check_tenant_wide(request);
    if (status == STATUS_OK) {
        status = tenant_create(call, json_text_of(request->body, "id"), json_text_of(request->body, "name"), &tenant);
    }
    if (status != STATUS_OK) {
        return status;
    }
    struct principal there = request->who;
    there.tenant_key = tenant.key;
    there.member = MEMBER_OWNER;
    struct call inside = *call;
    inside.who = &there;
    struct token_request wanted = {.name = SLICE("first"), .kind = PRINCIPAL_USER, .scopes = request->who.scopes};
    status = token_create(&inside, &wanted, &token, secret);
    if (status != STATUS_OK) {
        call->failure = inside.failure;
        return status;
    }
    struct json_out *out = &request->out;
    json_begin_object(out);
    json_key(out, "tenant");
    write_tenant(out, &tenant, MEMBER_OWNER);
    json_put_text(out, "token", slice_of(secret));
    json_end_object(out);
    return STATUS_OK;
}

const struct route identity_routes[] = {
    {HTTP_GET, "/api/users", users_list, .answer = "UserList", .summary = "The tenant's users."},
    {HTTP_POST, "/api/users", users_create, .scope = SCOPE_ADMIN, .body = user_body, .success = 201, .answer = "User",
     .summary = "Add a user; the answer contains a one-time sign-in link."},
    {HTTP_PATCH, "/api/users/{user_id}", users_update, .scope = SCOPE_ADMIN, .body = user_update_body, .answer = "User",
     .summary = "Change a user."},
    {HTTP_DELETE, "/api/users/{user_id}", users_remove, .scope = SCOPE_ADMIN, .success = 204,
     .summary = "Remove a user from the tenant."},
    {HTTP_GET, "/api/tokens", tokens_list, .scope = SCOPE_ADMIN, .query = token_list_query, .answer = "TokenList",
     .summary = "Valid API tokens: all of them for admins, otherwise the caller's own."},
    {HTTP_POST, "/api/tokens", tokens_create, .scope = SCOPE_ADMIN, .body = token_body, .success = 201,
     .answer = "Token", .summary = "Create an API token; its value is shown only in this answer."},
    {HTTP_DELETE, "/api/tokens/{token_id}", tokens_revoke, .scope = SCOPE_ADMIN, .success = 204,
     .summary = "Revoke a token immediately."},
    {HTTP_GET, "/api/tenants", tenants_list, .answer = "TenantList", .summary = "The caller's tenants."},
    {HTTP_POST, "/api/tenants", tenants_create, .scope = SCOPE_ADMIN, .body = tenant_body, .success = 201,
     .answer = "TenantCreated", .summary = "Create a tenant; the answer contains its first token."},
    {0},
};

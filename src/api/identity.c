#include "service/identity.h"

#include "api/authenticate.h"
#include "api/handlers.h"
#include "api/origin.h"
#include "api/signin_guard.h"
#include "net/listener.h"
#include "wire/cookie.h"

enum { ACCOUNTS_PER_EMAIL_MAX = 8 };

static const char *const giveable_names[] = {"member", "admin", "owner"};
static const struct words giveable_words = {giveable_names, 3};
static const char *const token_kind_names[] = {"user", "worker", "runner", "sandbox", "channel"};
static const struct words token_kind_words = {token_kind_names, 5};

const struct field sign_in_body[] = {
    {"email", FIELD_STRING, true, "Email of the user.", NULL, 1, 254},
    {"password", FIELD_STRING, true, "Password of the user.", NULL, 1, 512},
    {0},
};
const struct field link_body[] = {
    {"secret", FIELD_STRING, true, "The secret of the one-time link.", NULL, 1, 100},
    {0},
};
const struct field password_body[] = {
    {"password", FIELD_STRING, true, "The new password.", NULL, 1, 512},
    {"current", FIELD_STRING, false, "The password until now, when there is one.", NULL, 1, 512},
    {0},
};
const struct field ticket_body[] = {
    {"session_id", FIELD_STRING, false, "Only for this session; all unless told.", NULL, 1, 128},
    {0},
};
const struct field user_body[] = {
    {"email", FIELD_STRING, true, "Email, unique.", NULL, 3, 254},
    {"name", FIELD_STRING, false, "Name for people.", NULL, 1, 100},
    {"role", FIELD_WORD, false, "Role in the tenant; member unless told.", &giveable_words, 0, 0},
    {"sessions_max", FIELD_INTEGER, false, "Own limit of active sessions; 0 = the server's.", NULL, 0, 1000000},
    {0},
};
const struct field user_update_body[] = {
    {"name", FIELD_STRING, false, "Name for people.", NULL, 1, 100},
    {"role", FIELD_WORD, false, "Role in the tenant.", &giveable_words, 0, 0},
    {"sessions_max", FIELD_INTEGER, false, "Own limit of active sessions; 0 = the server's.", NULL, 0, 1000000},
    {0},
};
const struct field token_body[] = {
    {"name", FIELD_STRING, true, "Name for people; workers show it as their actor.", NULL, 1, 100},
    {"kind", FIELD_WORD, false, "What uses it; user unless told.", &token_kind_words, 0, 0},
    {"scopes", FIELD_LIST, false, "read, write, claim, admin; all the maker has unless told.", NULL, 0, 0},
    {"id_prefix", FIELD_STRING, false, "Only sessions whose id begins so, such as telegram:", NULL, 1, 64},
    {"session_id", FIELD_STRING, false, "Only this session.", NULL, 1, 128},
    {"user_id", FIELD_STRING, false, "The user it acts for; the maker unless told.", NULL, 1, 128},
    {"expires_at", FIELD_TIMESTAMP, false, "When it ends; never unless told.", NULL, 0, 0},
    {0},
};
const struct field tenant_body[] = {
    {"id", FIELD_STRING, true, "Short name: a-z, 0-9 and -.", NULL, 1, 64},
    {"name", FIELD_STRING, false, "Name for people.", NULL, 1, 100},
    {0},
};

/* --- signing in --- */

static enum status set_cookie(struct request *request, struct slice value, int64_t max_age_s)
{
    struct buffer text = {0};
    struct set_cookie cookie = {
        .name = COOKIE_NAME,
        .value = value,
        .max_age_s = max_age_s,
        .same_site = SAME_SITE_LAX,
        .http_only = true,
        .secure = request->api->secure_cookies,
    };
    bool written = set_cookie_write(&text, &cookie);
    exchange_header(request->exchange, "Set-Cookie", arena_copy(request_arena(request), buffer_slice(&text)));
    buffer_release(&text);
    return written ? STATUS_OK
                   : failure_set(&request->call.failure, STATUS_INTERNAL, "cookie", "The cookie cannot be written.");
}

static enum status answer_sign_in(struct request *request, const struct sign_in *sign_in)
{
    struct json_out *out = &request->out;
    json_begin_object(out);
    json_put_text(out, "user_id", sign_in->user_id);
    json_put_text(out, "csrf_token", slice_of(sign_in->csrf));
    json_put_time(out, "expires_at", sign_in->expires_at_ms);
    json_end_object(out);
    return set_cookie(request, request_copy(request, sign_in->cookie), request->api->service->cookie_ms / 1000);
}

/* The account with this email and password; the tenants of several people with one email do not know of each other. An
 * unknown email costs as much as a wrong password. */
static enum status find_account(struct call *call, struct slice email, struct slice password, struct user *out)
{
    struct user *accounts;
    size_t count = 0;
    bool found = false;
    enum status status =
        store_users_by_email(call->db, email, ACCOUNTS_PER_EMAIL_MAX, call->arena, &accounts, &count, &call->failure);
    if (status != STATUS_OK) {
        return status;
    }
    for (size_t i = 0; i < count && !found; i++) {
        *out = accounts[i];
        found = password_matches(out->password_hash, password) && out->disabled_at_ms == 0;
    }
    if (count == 0) {
        (void)password_matches((struct slice){0}, password);
    }
    return found ? STATUS_OK
                 : failure_set(&call->failure, STATUS_UNAUTHENTICATED, "wrong_credentials",
                               "Email or password is wrong.");
}

/* What the last of all proxies wrote: the end of the last such header. */
static struct slice last_forwarded(const struct http_request *http)
{
    struct slice rest = {0}, last = {0};
    for (size_t i = 0; i < http->header_count; i++) {
        rest = slice_eq_nocase(http->headers[i].name, SLICE("x-forwarded-for")) ? http->headers[i].value : rest;
    }
    for (bool more = slice_present(rest); more;) {
        more = slice_cut(rest, ',', &last, &rest);
    }
    return slice_trim(last);
}

/* Who comes from this machine is mostly a proxy on it, which says whom it speaks for: else one stranger would close the
 * door for everybody behind it. */
static struct slice guarded_peer(const struct request *request)
{
    struct slice peer = request->exchange->peer;
    bool near = slice_is(peer, PEER_UNIX) || slice_is(peer, "::1") || slice_starts(peer, SLICE("127."));
    struct slice told = near ? last_forwarded(&request->exchange->request) : (struct slice){0};
    return told.len > 0 ? told : peer;
}

/* Every guess of a password counts, wherever it is made. */
static enum status enter_guard(struct request *request, struct slice email)
{
    struct failure *failure = &request->call.failure;
    int64_t wait_ms =
        signin_guard_enter(request->api->signin_guard, guarded_peer(request), email, request->call.steady_ms);
    if (wait_ms <= 0) {
        return STATUS_OK;
    }
    enum status limited = failure_set(failure, STATUS_LIMITED, "too_many_attempts",
                                      "Too many sign-in attempts; wait %lld seconds.", (long long)(wait_ms / 1000 + 1));
    failure->retry_after_s = (int)(wait_ms / 1000 + 1);
    return limited;
}

/* Reader: the slow part. Keeps the user's id for the writer. */
enum status auth_sign_in_prepare(struct request *request)
{
    struct call *call = &request->call;
    struct slice email = json_text_of(request->body, "email");
    struct user user = {0};
    enum status status = origin_check(request); /* a stranger's form would sign somebody in as the stranger */
    if (status == STATUS_OK) {
        status = enter_guard(request, email);
    }
    if (status == STATUS_OK) {
        status = find_account(call, email, json_text_of(request->body, "password"), &user);
    }
    if (status != STATUS_OK) {
        return status;
    }
    signin_guard_passed(request->api->signin_guard, guarded_peer(request), email);
    struct slice *user_id = arena_alloc(call->arena, sizeof *user_id);
    *user_id = user.id;
    request->state = user_id;
    return STATUS_OK;
}

enum status auth_sign_in(struct request *request)
{
    struct sign_in sign_in;
    const struct slice *user_id = request->state;
    enum status status = sign_in_start(&request->call, *user_id, 0, &sign_in);
    return status == STATUS_OK ? answer_sign_in(request, &sign_in) : status;
}

enum status auth_link(struct request *request)
{
    struct sign_in sign_in;
    enum status status = origin_check(request);
    if (status == STATUS_OK) {
        status = sign_in_by_link(&request->call, json_text_of(request->body, "secret"), &sign_in);
    }
    return status == STATUS_OK ? answer_sign_in(request, &sign_in) : status;
}

enum status auth_sign_out(struct request *request)
{
    struct slice cookie = cookie_find(request_header(request, "cookie"), COOKIE_NAME);
    enum status status = slice_present(cookie) ? sign_out(&request->call, cookie) : STATUS_OK;
    return status == STATUS_OK ? set_cookie(request, SLICE(""), 0) : status;
}

enum status auth_me(struct request *request)
{
    const struct principal *who = &request->who;
    struct json_out *out = &request->out;
    json_begin_object(out);
    json_put_text(out, "kind", slice_of(principal_kind_words.names[who->kind]));
    json_put_text(out, "actor", who->name);
    json_put_text(out, "tenant_id", who->tenant_id);
    json_put_text(out, "user_id", who->user_id);
    json_put_text(out, "role",
                  who->member == MEMBER_NONE ? (struct slice){0} : slice_of(member_role_words.names[who->member]));
    json_key(out, "scopes");
    json_begin_array(out);
    for (int bit = 0; bit < scope_words.count; bit++) {
        if (who->scopes & (1u << bit)) {
            json_text(out, slice_of(scope_words.names[bit]));
        }
    }
    json_end_array(out);
    json_put_text(out, "id_prefix", who->id_prefix);
    json_put_text(out, "session_id", who->session_id);
    json_maybe_text(out, "csrf_token", request->csrf);
    json_end_object(out);
    return STATUS_OK;
}

/* Whoever got hold of a browser or a token must not find the password out here. */
static enum status check_current(struct request *request, const struct user *user)
{
    enum status status = enter_guard(request, user->email);
    if (status == STATUS_OK && !password_matches(user->password_hash, json_text_of(request->body, "current"))) {
        return failure_set(&request->call.failure, STATUS_FORBIDDEN, "wrong_password", "current is not your password.");
    }
    if (status == STATUS_OK) {
        signin_guard_passed(request->api->signin_guard, guarded_peer(request), user->email);
    }
    return status;
}

enum status auth_password_prepare(struct request *request)
{
    struct call *call = &request->call;
    const struct principal *who = &request->who;
    struct user user;
    bool narrow = who->kind != PRINCIPAL_USER || who->scopes != SCOPE_ALL || slice_present(who->id_prefix) ||
                  slice_present(who->session_id);
    if (!slice_present(who->user_id) || narrow) { /* signing in gives all rights of the user */
        return failure_set(&call->failure, STATUS_FORBIDDEN, "user_required",
                           "Only a user who is signed in, or his token with all scopes, can set his password.");
    }
    enum status status = store_user_by_id(call->db, who->user_id, call->arena, &user, &call->failure);
    if (status == STATUS_OK && user.password_hash.len > 0) {
        status = check_current(request, &user);
    }
    struct slice *hash = arena_alloc(call->arena, sizeof *hash);
    request->state = hash;
    return status == STATUS_OK ? password_hash(call, json_text_of(request->body, "password"), hash) : status;
}

enum status auth_password(struct request *request)
{
    struct user user;
    struct user_request change = {.sessions_max = -1, .password_hash = *(const struct slice *)request->state};
    return user_update(&request->call, request->who.user_id, &change, &user);
}

enum status auth_ticket(struct request *request)
{
    char ticket[TOKEN_TEXT_BYTES];
    int64_t expires_at_ms;
    enum status status =
        ticket_create(&request->call, json_text_of(request->body, "session_id"), ticket, &expires_at_ms);
    if (status == STATUS_OK) {
        struct json_out *out = &request->out;
        json_begin_object(out);
        json_put_text(out, "ticket", slice_of(ticket));
        json_put_time(out, "expires_at", expires_at_ms);
        json_end_object(out);
    }
    return status;
}

/* --- users --- */

static void write_user(struct json_out *out, const struct user *user, enum member_role role, struct slice link)
{
    json_begin_object(out);
    json_put_text(out, "id", user->id);
    json_put_text(out, "email", user->email);
    json_put_text(out, "name", user->name);
    json_put_text(out, "role", slice_of(member_role_words.names[role]));
    json_put_i64(out, "sessions_max", user->sessions_max);
    json_put_time(out, "created_at", user->created_at_ms);
    json_maybe_text(out, "sign_in_secret", link);
    json_end_object(out);
}

enum status users_list(struct request *request)
{
    struct user *users;
    enum member_role *roles;
    size_t count;
    struct call *call = &request->call;
    enum status status = request_check_tenant_wide(request);
    if (status == STATUS_OK) {
        status =
            store_user_list(call->db, request->who.tenant_key, call->arena, &users, &roles, &count, &call->failure);
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

static enum member_role read_role(const struct request *request, enum member_role otherwise)
{
    int role = words_find(member_role_words, json_text_of(request->body, "role"));
    return role > 0 ? (enum member_role)role : otherwise;
}

enum status users_create(struct request *request)
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

enum status users_update(struct request *request)
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
        status = store_membership_get(call->db, request->who.tenant_key, user.id, &role, &call->failure);
    }
    if (status == STATUS_OK) {
        write_user(&request->out, &user, role, (struct slice){0});
    }
    return status;
}

enum status users_remove(struct request *request)
{
    enum status status = request_check_tenant_wide(request);
    return status == STATUS_OK ? user_remove(&request->call, request->params[0]) : status;
}

/* --- tokens --- */

void token_write(struct json_out *out, const struct token *token, struct slice secret)
{
    json_begin_object(out);
    json_put_text(out, "id", token->id);
    json_put_text(out, "name", token->name);
    json_put_text(out, "kind", slice_of(principal_kind_words.names[token->kind]));
    json_maybe_text(out, "token", secret);
    json_key(out, "scopes");
    json_begin_array(out);
    for (int bit = 0; bit < scope_words.count; bit++) {
        if (token->scopes & (1u << bit)) {
            json_text(out, slice_of(scope_words.names[bit]));
        }
    }
    json_end_array(out);
    json_put_text(out, "user_id", token->user_id);
    json_put_text(out, "id_prefix", token->id_prefix);
    json_put_text(out, "session_id", token->session_id);
    json_put_time(out, "created_at", token->created_at_ms);
    json_put_time(out, "expires_at", token->expires_at_ms);
    json_put_time(out, "revoked_at", token->revoked_at_ms);
    json_end_object(out);
}

enum status tokens_list(struct request *request)
{
    struct token *tokens;
    size_t count;
    struct call *call = &request->call;
    enum status status =
        store_token_list(call->db, request->who.tenant_key, call->arena, &tokens, &count, &call->failure);
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
        int bit = json_is(one, JSON_STRING) ? words_find(scope_words, one->text) : -1;
        if (bit < 0) {
            return failure_set(&request->call.failure, STATUS_INVALID, "invalid_member",
                               "scopes must be of: read, write, claim, admin.");
        }
        *out |= 1u << bit;
    }
    return STATUS_OK;
}

enum status tokens_create(struct request *request)
{
    struct token token;
    char secret[TOKEN_TEXT_BYTES];
    int kind = words_find(principal_kind_words, json_text_of(request->body, "kind"));
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
                           "expires_at must lie in the future.");
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

enum status tokens_revoke(struct request *request)
{
    return token_revoke(&request->call, request->params[0]);
}

/* --- tenants --- */

static void write_tenant(struct json_out *out, const struct tenant *tenant, enum member_role role)
{
    json_begin_object(out);
    json_put_text(out, "id", tenant->id);
    json_put_text(out, "name", tenant->name);
    json_put_text(out, "role", slice_of(member_role_words.names[role]));
    json_put_time(out, "created_at", tenant->created_at_ms);
    json_end_object(out);
}

/* Only the caller's own: other tenants do not exist for him. */
enum status tenants_list(struct request *request)
{
    struct tenant *tenants = NULL;
    enum member_role *roles = NULL;
    size_t count = 0;
    struct call *call = &request->call;
    enum status status = STATUS_OK;
    if (slice_present(request->who.user_id)) {
        status = store_membership_list(call->db, request->who.user_id, call->arena, &tenants, &roles, &count,
                                       &call->failure);
    }
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
enum status tenants_create(struct request *request)
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

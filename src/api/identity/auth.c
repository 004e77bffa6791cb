#include "api/core/authenticate.h"
#include "api/core/handlers.h"
#include "api/core/origin.h"
#include "api/identity/signin_guard.h"
#include "net/listener.h"
#include "service/identity/identity.h"
#include "wire/cookie.h"

static const struct field sign_in_body[] = {
    {"email", FIELD_STRING, true, "Email of the user.", NULL, 1, 254},
    {"password", FIELD_STRING, true, "Password of the user.", NULL, 1, 512},
    {0},
};
static const struct field link_body[] = {
    {"secret", FIELD_STRING, true, "The secret of the one-time link.", NULL, 1, 100},
    {0},
};
static const struct field password_body[] = {
    {"password", FIELD_STRING, true, "The new password.", NULL, 1, 512},
    {"current", FIELD_STRING, false, "The password until now, when there is one.", NULL, 1, 512},
    {0},
};
static const struct field ticket_body[] = {
    {"session_id", FIELD_STRING, false, "Only for this session. Default: all sessions.", NULL, 1, 128},
    {0},
};

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
    return set_cookie(request, request_copy(request, sign_in->cookie),
                      request->api->service->limits.identity.cookie_ms / 1000);
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
static enum status auth_sign_in_prepare(struct request *request)
{
    struct call *call = &request->call;
    struct slice email = json_text_of(request->body, "email");
    struct user user = {0};
    enum status status = origin_check(request); /* a stranger's form would sign somebody in as the stranger */
    if (status == STATUS_OK) {
        status = enter_guard(request, email);
    }
    if (status == STATUS_OK) {
        status = user_by_password(call, email, json_text_of(request->body, "password"), &user);
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

static enum status auth_sign_in(struct request *request)
{
    struct sign_in sign_in;
    const struct slice *user_id = request->state;
    enum status status = sign_in_start(&request->call, *user_id, 0, &sign_in);
    return status == STATUS_OK ? answer_sign_in(request, &sign_in) : status;
}

static enum status auth_link(struct request *request)
{
    struct sign_in sign_in;
    enum status status = origin_check(request);
    if (status == STATUS_OK) {
        status = sign_in_by_link(&request->call, json_text_of(request->body, "secret"), &sign_in);
    }
    return status == STATUS_OK ? answer_sign_in(request, &sign_in) : status;
}

static enum status auth_sign_out(struct request *request)
{
    struct slice cookie = cookie_find(request_header(request, "cookie"), COOKIE_NAME);
    enum status status = slice_present(cookie) ? sign_out(&request->call, cookie) : STATUS_OK;
    return status == STATUS_OK ? set_cookie(request, SLICE(""), 0) : status;
}

static enum status auth_me(struct request *request)
{
    const struct principal *who = &request->who;
    struct json_out *out = &request->out;
    json_begin_object(out);
    json_put_text(out, "kind", slice_of(principal_kind_enum.names[who->kind]));
    json_put_text(out, "actor", who->name);
    json_put_text(out, "tenant_id", who->tenant_id);
    json_put_text(out, "user_id", who->user_id);
    json_put_text(out, "role",
                  who->member == MEMBER_NONE ? (struct slice){0} : slice_of(member_role_enum.names[who->member]));
    scopes_write(out, who->scopes);
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
        return failure_set(&request->call.failure, STATUS_FORBIDDEN, "wrong_password",
                           "`current` is not your password.");
    }
    if (status == STATUS_OK) {
        signin_guard_passed(request->api->signin_guard, guarded_peer(request), user->email);
    }
    return status;
}

static enum status auth_password_prepare(struct request *request)
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
    enum status status = user_find(call, who->user_id, &user);
    if (status == STATUS_OK && user.password_hash.len > 0) {
        status = check_current(request, &user);
    }
    struct slice *hash = arena_alloc(call->arena, sizeof *hash);
    request->state = hash;
    return status == STATUS_OK ? password_hash(call, json_text_of(request->body, "password"), hash) : status;
}

static enum status auth_password(struct request *request)
{
    struct user user;
    struct user_request change = {.sessions_max = -1, .password_hash = *(const struct slice *)request->state};
    return user_update(&request->call, request->who.user_id, &change, &user);
}

static enum status auth_ticket(struct request *request)
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

const struct route auth_routes[] = {
    {HTTP_POST, "/api/auth/sign-in", auth_sign_in, .auth = AUTH_NONE, .body = sign_in_body,
     .prepare = auth_sign_in_prepare, .answer = "SignIn",
     .summary = "Sign in with a password; sets the browser's cookie."},
    {HTTP_POST, "/api/auth/link", auth_link, .auth = AUTH_NONE, .body = link_body, .answer = "SignIn",
     .summary = "Sign in with a one-time link."},
    {HTTP_POST, "/api/auth/sign-out", auth_sign_out, .scope = SCOPE_ANY, .success = 204,
     .summary = "Sign the browser out."},
    {HTTP_GET, "/api/me", auth_me, .scope = SCOPE_ANY, .answer = "Me", .summary = "The authenticated caller."},
    {HTTP_PUT, "/api/me/password", auth_password, .scope = SCOPE_ANY, .body = password_body,
     .prepare = auth_password_prepare, .success = 204, .summary = "Set the caller's password."},
    {HTTP_POST, "/api/tickets", auth_ticket, .scope = SCOPE_READ, .body = ticket_body, .success = 201,
     .answer = "Ticket", .summary = "Create a one-use ticket for EventSource or WebSocket."},
    {0},
};

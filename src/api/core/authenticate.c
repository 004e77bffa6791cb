#include "api/core/authenticate.h"

#include <stdio.h>

#include "api/core/origin.h"
#include "base/hash.h"
#include "service/identity/identity.h"

/* Each reader and writer thread keeps the principals it met; nothing is shared between them. */
static _Thread_local struct principal_cache principals;

void authenticate_thread_end(void)
{
    principal_cache_release(&principals);
}

static enum status check_csrf(struct request *request, struct slice expected)
{
    if (request_is_upgrade(request)) { /* any page may open a WebSocket, with our cookies */
        return origin_check_upgrade(request);
    }
    if (http_method_is_safe(request->exchange->request.method)) {
        return STATUS_OK;
    }
    struct slice sent = request_header(request, "x-csrf-token");
    struct hash a = hash_of(sent), b = hash_of(expected);
    if (slice_present(sent) && hash_equal(hash_slice(&a), hash_slice(&b))) {
        return STATUS_OK;
    }
    return failure_set(&request->call.failure, STATUS_FORBIDDEN, "csrf",
                       "A signed-in browser must repeat its csrf value in the X-CSRF-Token header.");
}

static enum status by_cookie(struct request *request, struct slice secret)
{
    enum status status = identity_of_cookie(&request->call, secret, &request->who, &request->csrf);
    return status == STATUS_OK ? check_csrf(request, request->csrf) : status;
}

static enum status check_scope(struct request *request)
{
    unsigned needed = request->route->scope;
    if (request->route->auth == AUTH_UPGRADE && request_is_upgrade(request)) {
        needed |= SCOPE_WRITE;
    }
    bool holder = slice_present(request->call.lease_token) && (request->who.scopes & SCOPE_CLAIM) != 0;
    if (holder && route_names_session(request->route)) { /* who may claim may work; the session checks the lease */
        needed &= ~(unsigned)(SCOPE_READ | SCOPE_WRITE);
    }
    if ((request->who.scopes & needed) == needed) {
        return STATUS_OK;
    }
    char words[80];
    size_t used = 0;
    for (int bit = 0; bit < scope_enum.count; bit++) {
        if (needed & (1u << bit)) {
            used +=
                (size_t)snprintf(words + used, sizeof words - used, "%s%s", used ? ", " : "", scope_enum.names[bit]);
        }
    }
    return failure_set(&request->call.failure, STATUS_FORBIDDEN, "scope_required",
                       "This needs a token with the scope %s.", words);
}

/* The cache of this thread forgets with the next call, and what the request begins (a stream, an answer that follows a
 * turn) asks later, on another thread, who it is for. One that waits in the writer begins nothing. */
static void keep_principal(struct request *request)
{
    struct slice *strings[PRINCIPAL_STRINGS_MAX];
    size_t count = request->command.is_parked ? 0 : principal_strings(&request->who, strings);
    for (size_t i = 0; i < count; i++) {
        *strings[i] = arena_copy(request->call.arena, *strings[i]);
    }
}

static enum status by_token(struct request *request, struct slice secret)
{
    enum status status = identity_of_token(&request->call, &principals, secret, &request->who);
    if (status == STATUS_OK) {
        keep_principal(request);
    }
    return status;
}

static enum status by_credential(struct request *request)
{
    struct presented_credential presented = request->door->credential(request);
    switch (presented.kind) {
    case PRESENTED_TOKEN:
        return by_token(request, presented.secret);
    case PRESENTED_TICKET:
        return identity_of_ticket(&request->call, presented.secret, &request->who, &request->ticket_session);
    case PRESENTED_COOKIE:
        return by_cookie(request, presented.secret);
    case PRESENTED_NOTHING:
    case PRESENTED_UNUSABLE:
        break;
    }
    return refuse_unauthenticated(request, &request->call.failure);
}

enum status refuse_unauthenticated(const struct request *request, struct failure *failure)
{
    return failure_set(failure, STATUS_UNAUTHENTICATED, "unauthenticated", "%s", request->door->unauthenticated);
}

enum status authenticate(struct request *request)
{
    if (request->route->auth == AUTH_NONE) {
        return STATUS_OK; /* a browser sends its old cookie along when it signs in */
    }
    enum status status = by_credential(request);
    return status == STATUS_OK ? check_scope(request) : status;
}

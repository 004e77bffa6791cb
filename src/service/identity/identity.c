#include "service/identity/identity.h"

#include "base/hash.h"
#include "service/identity/identity_rows.h"

enum { PRINCIPALS_KEPT_MS = 1000, PRINCIPALS_MAX = 10000 };

struct cached_principal {
    struct principal principal;
    struct hash hash;
    int64_t expires_at_ms; /* wall; 0 = never */
};

void principal_cache_release(struct principal_cache *cache)
{
    map_release(&cache->principals);
    arena_release(&cache->arena);
}

static void cache_refresh(struct call *call, struct principal_cache *cache)
{
    /* What another command of this transaction changed holds for the next one, and is not remembered: it may be rolled
     * back. */
    bool changes = call->transaction && call->transaction->identity_changed;
    int64_t epoch = changes ? -1 : call->service->identity_epoch->value;
    bool old = changes || cache->epoch != epoch || call->steady_ms - cache->filled_at_ms > PRINCIPALS_KEPT_MS ||
               cache->principals.count > PRINCIPALS_MAX;
    if (old) {
        principal_cache_release(cache);
        *cache = (struct principal_cache){.epoch = epoch, .filled_at_ms = call->steady_ms};
    }
}

static enum status unauthenticated(struct call *call)
{
    return failure_set(&call->failure, STATUS_UNAUTHENTICATED, "unauthenticated",
                       "Send a valid API token as \"Authorization: Bearer TOKEN\", or sign in.");
}

static enum status fill_user(struct call *call, struct arena *arena, struct slice user_id, int64_t tenant_key,
                             struct principal *out)
{
    struct user user;
    struct tenant tenant;
    enum status status = store_tenant_by_key(call->db, tenant_key, arena, &tenant, &call->failure);
    if (status == STATUS_OK) {
        out->tenant_key = tenant_key;
        out->tenant_id = tenant.id;
    }
    if (status != STATUS_OK || !slice_present(user_id)) {
        return status;
    }
    status = store_user_by_id(call->db, user_id, arena, &user, &call->failure);
    if (status == STATUS_OK && user.disabled_at_ms != 0) {
        return STATUS_NOT_FOUND;
    }
    if (status == STATUS_OK) {
        status = store_membership_get(call->db, tenant_key, user_id, &out->member, &call->failure);
    }
    if (status == STATUS_OK && out->member == MEMBER_NONE) {
        return STATUS_NOT_FOUND;
    }
    if (status == STATUS_OK) {
        out->user_id = user.id;
    }
    return status;
}

static enum status principal_of_token(struct call *call, struct arena *arena, const struct hash *hash,
                                      struct cached_principal *out)
{
    struct token token;
    enum status status = store_token_by_hash(call->db, hash_slice(hash), arena, &token, &call->failure);
    if (status != STATUS_OK) {
        return status;
    }
    if (token.revoked_at_ms != 0) {
        return STATUS_NOT_FOUND;
    }
    out->expires_at_ms = token.expires_at_ms;
    struct credential credential = {CREDENTIAL_TOKEN, *hash, token.expires_at_ms};
    struct principal *who = &out->principal;
    *who = (struct principal){
        .kind = token.kind,
        .scopes = token.scopes,
        .id_prefix = token.id_prefix,
        .session_id = token.session_id,
        .token_id = token.id,
        .name = identity_actor_name(arena, &token),
        .credential = credential,
    };
    return fill_user(call, arena, token.user_id, token.tenant_key, who);
}

static enum status principal_of_share(struct call *call, struct arena *arena, const struct hash *hash,
                                      struct cached_principal *out)
{
    struct share_link link;
    enum status status = store_share_by_hash(call->db, hash_slice(hash), arena, &link, &call->failure);
    if (status != STATUS_OK) {
        return status;
    }
    if (!link.active || link.max_uses > 0) { /* counted uses are counted when users redeem it */
        return STATUS_NOT_FOUND;
    }
    out->expires_at_ms = link.expires_at_ms;
    out->principal = (struct principal){
        .kind = PRINCIPAL_SHARE_LINK,
        .scopes = SCOPE_READ | SCOPE_WRITE,
        .session_id = link.session_id,
        .share_role = (int)link.role,
        .name = arena_format(arena, "share_link:%.*s", SLICE_ARG(link.id)),
        .credential = {CREDENTIAL_SHARE_LINK, *hash, link.expires_at_ms},
    };
    return fill_user(call, arena, (struct slice){0}, link.tenant_key, &out->principal);
}

enum status identity_of_token(struct call *call, struct principal_cache *cache, struct slice secret,
                              struct principal *out)
{
    cache_refresh(call, cache);
    struct hash hash = hash_of(secret);
    struct cached_principal *known = map_get(&cache->principals, hash_slice(&hash));
    if (!known) {
        struct cached_principal fresh = {.hash = hash};
        bool share = slice_starts(secret, SLICE("ss_"));
        enum status status = share ? principal_of_share(call, &cache->arena, &hash, &fresh)
                                   : principal_of_token(call, &cache->arena, &hash, &fresh);
        if (status != STATUS_OK) {
            return status == STATUS_NOT_FOUND ? unauthenticated(call) : status;
        }
        known = arena_alloc(&cache->arena, sizeof *known);
        *known = fresh;
        map_put(&cache->principals, hash_slice(&known->hash), known);
    }
    if (known->expires_at_ms != 0 && known->expires_at_ms <= call->now_ms) {
        return unauthenticated(call);
    }
    *out = known->principal;
    return STATUS_OK;
}

enum status identity_of_grant(struct call *call, enum grant_kind kind, struct slice secret, struct grant *grant,
                              struct principal *out)
{
    struct hash hash = hash_of(secret);
    enum status status = store_grant_by_hash(call->db, kind, hash_slice(&hash), call->arena, grant, &call->failure);
    if (status == STATUS_OK && grant->expires_at_ms <= call->now_ms) {
        status = STATUS_NOT_FOUND;
    }
    if (status == STATUS_OK) {
        *out = (struct principal){
            .kind = PRINCIPAL_USER,
            .scopes = SCOPE_ALL,
            .name = arena_format(call->arena, "user:%.*s", SLICE_ARG(grant->user_id)),
        };
        status = fill_user(call, call->arena, grant->user_id, grant->tenant_key, out);
    }
    return status == STATUS_NOT_FOUND ? unauthenticated(call) : status;
}

enum status identity_of_cookie(struct call *call, struct slice secret, struct principal *out, struct slice *out_csrf)
{
    struct grant grant;
    enum status status = identity_of_grant(call, GRANT_COOKIE, secret, &grant, out);
    if (status == STATUS_OK) {
        *out_csrf = grant.csrf;
        out->credential = (struct credential){CREDENTIAL_COOKIE, hash_of(secret), grant.expires_at_ms};
    }
    return status;
}

/* The ticket of a token is no more than the token was. */
static enum status narrow_to_token(struct call *call, struct slice token_id, struct principal *who)
{
    struct token token;
    enum status status = store_token_by_id(call->db, who->tenant_key, token_id, call->arena, &token, &call->failure);
    bool over = status == STATUS_OK &&
                (token.revoked_at_ms != 0 || (token.expires_at_ms != 0 && token.expires_at_ms <= call->now_ms));
    if (status == STATUS_NOT_FOUND || over) {
        return unauthenticated(call);
    }
    if (status == STATUS_OK) {
        who->kind = token.kind;
        who->scopes = token.scopes;
        who->id_prefix = token.id_prefix;
        who->session_id = token.session_id;
        who->token_id = token.id;
        who->name = identity_actor_name(call->arena, &token);
        who->credential = (struct credential){.kind = CREDENTIAL_TOKEN, .expires_at_ms = token.expires_at_ms};
        memcpy(who->credential.hash.bytes, token.hash.ptr, HASH_BYTES);
    }
    return status;
}

/* The ticket of a browser goes with its cookie: the ticket's row names it. */
static enum status narrow_to_cookie(struct call *call, struct slice cookie_hash, struct principal *who)
{
    struct grant cookie;
    struct hash hash;
    if (!hash_parse(cookie_hash, &hash)) {
        return STATUS_OK;
    }
    enum status status =
        store_grant_by_hash(call->db, GRANT_COOKIE, hash_slice(&hash), call->arena, &cookie, &call->failure);
    if (status == STATUS_OK) {
        who->credential = (struct credential){CREDENTIAL_COOKIE, hash, cookie.expires_at_ms};
    }
    return status;
}

enum status identity_of_ticket(struct call *call, struct slice secret, struct principal *out,
                               struct slice *out_session_id)
{
    struct grant grant;
    enum status status = identity_of_grant(call, GRANT_TICKET, secret, &grant, out);
    if (status == STATUS_OK && slice_present(grant.token_id)) {
        status = narrow_to_token(call, grant.token_id, out);
    } else if (status == STATUS_OK) {
        status = narrow_to_cookie(call, grant.csrf, out);
    }
    if (status == STATUS_OK) {
        struct hash hash = hash_of(secret);
        status = store_grant_delete(call->db, GRANT_TICKET, hash_slice(&hash), &call->failure);
        *out_session_id = grant.session_id;
    }
    return status == STATUS_NOT_FOUND ? unauthenticated(call) : status;
}

enum status identity_of_ask_link(struct call *call, struct slice secret, struct principal *out,
                                 struct slice *out_session_id, struct slice *out_ask_id)
{
    struct grant grant;
    enum status status = identity_of_grant(call, GRANT_ASK, secret, &grant, out);
    if (status == STATUS_OK && slice_present(grant.token_id)) {
        status = narrow_to_token(call, grant.token_id, out);
    }
    if (status == STATUS_OK) {
        out->name = arena_format(call->arena, "link:%.*s", SLICE_ARG(grant.user_id));
        *out_session_id = grant.session_id;
        *out_ask_id = grant.ask_id;
    }
    return status;
}

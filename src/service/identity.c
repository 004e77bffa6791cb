#include "service/identity.h"

#include "base/hash.h"

enum { PRINCIPALS_KEPT_MS = 1000, PRINCIPALS_MAX = 10000, BOOTSTRAP_BYTES_MIN = 32 };

static const char first_tenant_id[] = "default";

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
    int64_t epoch = call->service->identity_epoch;
    bool old = cache->epoch != epoch || call->steady_ms - cache->filled_at_ms > PRINCIPALS_KEPT_MS ||
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

static struct slice actor_name(struct arena *arena, const struct token *token)
{
    if (token->kind == PRINCIPAL_USER) {
        return arena_format(arena, "user:%.*s", SLICE_ARG(token->user_id));
    }
    return arena_format(arena, "%s:%.*s", principal_kind_words.names[token->kind], SLICE_ARG(token->name));
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
    struct principal *who = &out->principal;
    *who = (struct principal){
        .kind = token.kind,
        .scopes = token.scopes,
        .id_prefix = token.id_prefix,
        .session_id = token.session_id,
        .token_id = token.id,
        .name = actor_name(arena, &token),
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

static enum status principal_of_grant(struct call *call, enum grant_kind kind, struct slice secret, struct grant *grant,
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
    enum status status = principal_of_grant(call, GRANT_COOKIE, secret, &grant, out);
    if (status == STATUS_OK) {
        *out_csrf = grant.csrf;
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
        who->name = actor_name(call->arena, &token);
    }
    return status;
}

enum status identity_of_ticket(struct call *call, struct slice secret, struct principal *out,
                               struct slice *out_session_id)
{
    struct grant grant;
    enum status status = principal_of_grant(call, GRANT_TICKET, secret, &grant, out);
    if (status == STATUS_OK && slice_present(grant.token_id)) {
        status = narrow_to_token(call, grant.token_id, out);
    }
    if (status == STATUS_OK) {
        struct hash hash = hash_of(secret);
        unit_wrote(call->unit);
        status = store_grant_delete(call->db, GRANT_TICKET, hash_slice(&hash), &call->failure);
        *out_session_id = grant.session_id;
    }
    return status == STATUS_NOT_FOUND ? unauthenticated(call) : status;
}

/* --- first start --- */

static struct slice new_id(struct call *call)
{
    char id[UUID_TEXT_BYTES];
    id_uuid7(call->service->ids, call->now_ms, id);
    return arena_copy(call->arena, slice_of(id));
}

static enum status insert_token(struct call *call, struct token *token, struct slice secret)
{
    struct hash hash = hash_of(secret);
    token->id = new_id(call);
    token->hash = arena_copy(call->arena, hash_slice(&hash));
    token->created_at_ms = call->now_ms;
    unit_wrote(call->unit);
    return store_token_insert(call->db, token, &call->failure);
}

static enum status insert_grant(struct call *call, struct grant *grant, const char *prefix, int64_t keep_ms,
                                char out_secret[TOKEN_TEXT_BYTES])
{
    id_token(call->service->ids, prefix, out_secret);
    struct hash hash = hash_of(slice_of(out_secret));
    grant->hash = hash_slice(&hash);
    grant->created_at_ms = call->now_ms;
    grant->expires_at_ms = call->now_ms + keep_ms;
    unit_wrote(call->unit);
    return store_grant_insert(call->db, grant, &call->failure);
}

static enum status make_owner(struct call *call, struct tenant *tenant, struct user *user)
{
    *tenant = (struct tenant){.id = slice_of(first_tenant_id), .name = SLICE("Default"), .created_at_ms = call->now_ms};
    *user = (struct user){
        .id = new_id(call), .email = SLICE("owner@localhost"), .name = SLICE("Owner"), .created_at_ms = call->now_ms};
    unit_wrote(call->unit);
    enum status status = store_tenant_insert(call->db, tenant, &call->failure);
    if (status == STATUS_OK) {
        status = store_user_insert(call->db, user, &call->failure);
    }
    return status == STATUS_OK ? store_membership_put(call->db, tenant->key, user->id, MEMBER_OWNER, &call->failure)
                               : status;
}

enum status identity_first_start(struct call *call, struct slice bootstrap_token, bool *out_made,
                                 char out_link[TOKEN_TEXT_BYTES])
{
    int64_t users = 0;
    *out_made = false;
    out_link[0] = '\0';
    if (slice_present(bootstrap_token) && bootstrap_token.len < BOOTSTRAP_BYTES_MIN) {
        return failure_set(&call->failure, STATUS_INVALID, "weak_bootstrap_token",
                           "SOJOURN_BOOTSTRAP_TOKEN must have at least %d characters.", BOOTSTRAP_BYTES_MIN);
    }
    enum status status = store_user_count(call->db, &users, &call->failure);
    if (status != STATUS_OK || users > 0) {
        return status;
    }
    struct tenant tenant;
    struct user user;
    status = make_owner(call, &tenant, &user);
    if (status != STATUS_OK) {
        return status;
    }
    *out_made = true;
    if (slice_present(bootstrap_token)) {
        struct token token = {.name = SLICE("bootstrap"),
                              .kind = PRINCIPAL_USER,
                              .user_id = user.id,
                              .tenant_key = tenant.key,
                              .scopes = SCOPE_ALL};
        return insert_token(call, &token, bootstrap_token);
    }
    struct grant link = {.kind = GRANT_LINK, .user_id = user.id, .tenant_key = tenant.key};
    return insert_grant(call, &link, "sk_", call->service->link_ms, out_link);
}

/* --- tokens --- */

static enum status check_token_request(struct call *call, const struct token_request *request)
{
    const struct principal *who = call->who;
    if (request->name.len == 0 || request->name.len > 100) {
        return failure_set(&call->failure, STATUS_INVALID, "invalid_name", "name must have 1 to 100 characters.");
    }
    if ((request->scopes & ~who->scopes) != 0 || request->scopes == 0) {
        return failure_set(&call->failure, STATUS_FORBIDDEN, "scopes_too_wide",
                           "A token can only have scopes its maker has, and at least one.");
    }
    bool for_other = slice_present(request->user_id) && !slice_eq(request->user_id, who->user_id);
    if ((for_other || request->kind != PRINCIPAL_USER) && who->member < MEMBER_ADMIN) {
        return failure_set(&call->failure, STATUS_FORBIDDEN, "admin_required",
                           "Only an admin or owner can make tokens for others or of kind %s.",
                           principal_kind_words.names[request->kind]);
    }
    return STATUS_OK;
}

/* A token made with a token is no more than that one: its namespace, its session and its end stay. */
static enum status inherit_bounds(struct call *call, struct token *token)
{
    const struct principal *who = call->who;
    struct token maker = {0};
    enum status status = STATUS_OK;
    if (slice_present(who->token_id)) {
        status = store_token_by_id(call->db, who->tenant_key, who->token_id, call->arena, &maker, &call->failure);
        status = status == STATUS_NOT_FOUND ? STATUS_OK : status;
    }
    token->id_prefix = slice_present(token->id_prefix) ? token->id_prefix : who->id_prefix;
    token->session_id = slice_present(token->session_id) ? token->session_id : who->session_id;
    token->expires_at_ms = token->expires_at_ms ? token->expires_at_ms : maker.expires_at_ms;
    bool wider = (slice_present(who->id_prefix) && !slice_starts(token->id_prefix, who->id_prefix)) ||
                 (slice_present(who->session_id) && !slice_eq(token->session_id, who->session_id)) ||
                 (maker.expires_at_ms != 0 && token->expires_at_ms > maker.expires_at_ms);
    if (status == STATUS_OK && wider) {
        return failure_set(&call->failure, STATUS_FORBIDDEN, "token_too_wide",
                           "A token made with a token keeps its id_prefix and session_id and ends no later.");
    }
    return status;
}

static enum status check_member(struct call *call, struct slice user_id, enum member_role *out)
{
    enum status status = store_membership_get(call->db, call->who->tenant_key, user_id, out, &call->failure);
    if (status == STATUS_NOT_FOUND || (status == STATUS_OK && *out == MEMBER_NONE)) {
        return failure_set(&call->failure, STATUS_NOT_FOUND, "not_found", "No such user.");
    }
    return status;
}

static enum status check_token_room(struct call *call, struct slice user_id)
{
    struct token *tokens;
    size_t count = 0, own = 0;
    enum status status =
        store_token_list(call->db, call->who->tenant_key, call->arena, &tokens, &count, &call->failure);
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        own += tokens[i].revoked_at_ms == 0 && slice_eq(tokens[i].user_id, user_id);
    }
    if (status == STATUS_OK && own >= call->service->tokens_per_user_max) {
        return failure_set(&call->failure, STATUS_LIMITED, "too_many_tokens",
                           "One user has at most %zu tokens (option tokens-per-user-max); revoke one.",
                           call->service->tokens_per_user_max);
    }
    return status;
}

enum status token_create(struct call *call, const struct token_request *request, struct token *out,
                         char out_secret[TOKEN_TEXT_BYTES])
{
    enum status status = check_token_request(call, request);
    struct slice user_id =
        request->kind == PRINCIPAL_USER && !slice_present(request->user_id) ? call->who->user_id : request->user_id;
    enum member_role member = MEMBER_NONE;
    if (status == STATUS_OK && slice_present(user_id)) {
        status = check_member(call, user_id, &member);
    }
    if (status == STATUS_OK && member > call->who->member) {
        return failure_set(&call->failure, STATUS_FORBIDDEN, "role_too_high",
                           "You cannot make a token for somebody with more rights than you have.");
    }
    if (status == STATUS_OK) {
        status = check_token_room(call, user_id);
    }
    if (status != STATUS_OK) {
        return status;
    }
    *out = (struct token){
        .name = request->name,
        .kind = request->kind,
        .user_id = user_id,
        .tenant_key = call->who->tenant_key,
        .scopes = request->scopes,
        .id_prefix = request->id_prefix,
        .session_id = request->session_id,
        .expires_at_ms = request->expires_at_ms,
    };
    status = inherit_bounds(call, out);
    if (status != STATUS_OK) {
        return status;
    }
    id_token(call->service->ids, "sj_", out_secret);
    return insert_token(call, out, slice_of(out_secret));
}

enum status token_revoke(struct call *call, struct slice id)
{
    struct token token;
    bool changed;
    enum status status = store_token_by_id(call->db, call->who->tenant_key, id, call->arena, &token, &call->failure);
    bool own = status == STATUS_OK && slice_present(token.user_id) && slice_eq(token.user_id, call->who->user_id);
    if (status == STATUS_NOT_FOUND || (status == STATUS_OK && !own && call->who->member < MEMBER_ADMIN)) {
        return failure_set(&call->failure, STATUS_NOT_FOUND, "not_found", "No such token.");
    }
    if (status != STATUS_OK) {
        return status;
    }
    unit_wrote(call->unit);
    call->unit->identity_changed = true;
    unit_close_streams_of(call->unit, call->who->tenant_key,
                          slice_present(token.user_id) ? token.user_id : actor_name(call->arena, &token));
    return store_token_revoke(call->db, call->who->tenant_key, id, call->now_ms, &changed, &call->failure);
}

/* --- users and tenants --- */

static enum status require_rank(struct call *call, enum member_role needed)
{
    enum member_role least = needed > MEMBER_ADMIN ? needed : MEMBER_ADMIN;
    if (call->who->member < least) {
        return failure_set(&call->failure, STATUS_FORBIDDEN, "role_required", "This needs the role %s in the tenant.",
                           member_role_words.names[least]);
    }
    return STATUS_OK;
}

static bool is_email(struct slice email)
{
    struct slice local, domain;
    return email.len <= 254 && slice_cut(email, '@', &local, &domain) && local.len > 0 && domain.len > 0 &&
           !memchr(domain.ptr, '@', domain.len) && !memchr(email.ptr, ' ', email.len);
}

enum status user_create(struct call *call, const struct user_request *request, struct user *out,
                        char out_link[TOKEN_TEXT_BYTES])
{
    enum status status = require_rank(call, request->role);
    if (status == STATUS_OK && !is_email(request->email)) {
        return failure_set(&call->failure, STATUS_INVALID, "invalid_email", "email must look like name@host.");
    }
    if (status != STATUS_OK) {
        return status;
    }
    *out = (struct user){
        .id = new_id(call),
        .email = request->email,
        .name = slice_present(request->name) ? request->name : request->email,
        .password_hash = request->password_hash,
        .created_at_ms = call->now_ms,
        .sessions_max = request->sessions_max > 0 ? request->sessions_max : 0,
    };
    struct user existing;
    status = store_user_by_email(call->db, request->email, call->arena, &existing, &call->failure);
    if (status == STATUS_OK) {
        return failure_set(&call->failure, STATUS_CONFLICT, "email_taken", "A user with this email exists already.");
    }
    if (status == STATUS_NOT_FOUND) {
        unit_wrote(call->unit);
        status = store_user_insert(call->db, out, &call->failure);
    }
    if (status == STATUS_OK) {
        status = store_membership_put(call->db, call->who->tenant_key, out->id, request->role, &call->failure);
    }
    struct grant link = {.kind = GRANT_LINK, .user_id = out->id, .tenant_key = call->who->tenant_key};
    return status == STATUS_OK ? insert_grant(call, &link, "sk_", call->service->link_ms, out_link) : status;
}

enum status user_update(struct call *call, struct slice user_id, const struct user_request *request, struct user *out)
{
    enum member_role present;
    enum status status = check_member(call, user_id, &present);
    bool self = slice_eq(user_id, call->who->user_id);
    bool rank_changes = request->role != MEMBER_NONE && request->role != present;
    if (status == STATUS_OK && self && rank_changes && call->who->member >= MEMBER_ADMIN) {
        return failure_set(&call->failure, STATUS_CONFLICT, "self", "You cannot change your own role.");
    }
    if (status == STATUS_OK && (!self || rank_changes || request->sessions_max >= 0)) {
        status = require_rank(call, request->role > present ? request->role : present);
    }
    if (status == STATUS_OK) {
        status = store_user_by_id(call->db, user_id, call->arena, out, &call->failure);
    }
    if (status != STATUS_OK) {
        return status;
    }
    out->name = slice_present(request->name) ? request->name : out->name;
    out->password_hash = slice_present(request->password_hash) ? request->password_hash : out->password_hash;
    out->sessions_max = request->sessions_max >= 0 ? request->sessions_max : out->sessions_max;
    unit_wrote(call->unit);
    call->unit->identity_changed = true;
    status = store_user_update(call->db, out, &call->failure);
    if (status == STATUS_OK && rank_changes) {
        unit_close_streams_of(call->unit, call->who->tenant_key, user_id);
        status = store_membership_put(call->db, call->who->tenant_key, user_id, request->role, &call->failure);
    }
    return status;
}

enum status user_remove(struct call *call, struct slice user_id)
{
    enum member_role present;
    enum status status = check_member(call, user_id, &present);
    if (status == STATUS_OK) {
        status = require_rank(call, present);
    }
    if (status == STATUS_OK && slice_eq(user_id, call->who->user_id)) {
        return failure_set(&call->failure, STATUS_CONFLICT, "self", "You cannot remove yourself from the tenant.");
    }
    if (status != STATUS_OK) {
        return status;
    }
    unit_wrote(call->unit);
    call->unit->identity_changed = true;
    unit_close_streams_of(call->unit, call->who->tenant_key, user_id);
    return store_membership_put(call->db, call->who->tenant_key, user_id, MEMBER_NONE, &call->failure);
}

static bool is_tenant_id(struct slice id)
{
    if (id.len == 0 || id.len > 64) {
        return false;
    }
    for (size_t i = 0; i < id.len; i++) {
        char c = id.ptr[i];
        if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (c == '-' && i > 0))) {
            return false;
        }
    }
    return true;
}

enum status tenant_create(struct call *call, struct slice id, struct slice name, struct tenant *out)
{
    enum status status = require_rank(call, MEMBER_OWNER);
    if (status == STATUS_OK && !slice_is(call->who->tenant_id, first_tenant_id)) {
        /* Owners of other tenants would learn which ids are taken. */
        return failure_set(&call->failure, STATUS_FORBIDDEN, "first_tenant_required",
                           "Tenants are made by owners of the first tenant, \"%s\".", first_tenant_id);
    }
    if (status == STATUS_OK && !is_tenant_id(id)) {
        return failure_set(&call->failure, STATUS_INVALID, "invalid_id",
                           "A tenant's id is 1 to 64 characters of a-z 0-9 and -, not beginning with -.");
    }
    if (status == STATUS_OK && !slice_present(call->who->user_id)) {
        return failure_set(&call->failure, STATUS_FORBIDDEN, "user_required", "Only a user can own a tenant.");
    }
    struct tenant existing;
    if (status == STATUS_OK) {
        status = store_tenant_by_id(call->db, id, call->arena, &existing, &call->failure);
        if (status == STATUS_OK) {
            return failure_set(&call->failure, STATUS_CONFLICT, "id_taken", "This id cannot be used; choose another.");
        }
    }
    if (status != STATUS_NOT_FOUND) {
        return status;
    }
    *out = (struct tenant){.id = id, .name = slice_present(name) ? name : id, .created_at_ms = call->now_ms};
    unit_wrote(call->unit);
    status = store_tenant_insert(call->db, out, &call->failure);
    return status == STATUS_OK
               ? store_membership_put(call->db, out->key, call->who->user_id, MEMBER_OWNER, &call->failure)
               : status;
}

/* --- signing in --- */

enum status sign_in_start(struct call *call, struct slice user_id, int64_t tenant_key, struct sign_in *out)
{
    struct tenant *tenants;
    enum member_role *roles;
    size_t count = 0;
    enum status status =
        store_membership_list(call->db, user_id, call->arena, &tenants, &roles, &count, &call->failure);
    if (status != STATUS_OK) {
        return status;
    }
    size_t at = 0;
    while (at < count && tenant_key != 0 && tenants[at].key != tenant_key) {
        at++;
    }
    if (at >= count) {
        return failure_set(&call->failure, STATUS_FORBIDDEN, "no_membership", "This user belongs to no tenant.");
    }
    id_token(call->service->ids, "sx_", out->csrf);
    struct grant grant = {
        .kind = GRANT_COOKIE, .user_id = user_id, .csrf = slice_of(out->csrf), .tenant_key = tenants[at].key};
    out->user_id = user_id;
    status = insert_grant(call, &grant, "sc_", call->service->cookie_ms, out->cookie);
    out->expires_at_ms = call->now_ms + call->service->cookie_ms;
    return status;
}

enum status sign_in_by_link(struct call *call, struct slice secret, struct sign_in *out)
{
    struct grant grant;
    struct principal who;
    enum status status = principal_of_grant(call, GRANT_LINK, secret, &grant, &who);
    if (status == STATUS_OK) {
        struct hash hash = hash_of(secret);
        unit_wrote(call->unit);
        status = store_grant_delete(call->db, GRANT_LINK, hash_slice(&hash), &call->failure);
    }
    if (status == STATUS_NOT_FOUND || status == STATUS_UNAUTHENTICATED) {
        return failure_set(&call->failure, STATUS_UNAUTHENTICATED, "link_over",
                           "This sign-in link was used already or is over; ask for a new one.");
    }
    return status == STATUS_OK ? sign_in_start(call, grant.user_id, grant.tenant_key, out) : status;
}

enum status sign_out(struct call *call, struct slice cookie_secret)
{
    struct hash hash = hash_of(cookie_secret);
    unit_wrote(call->unit);
    enum status status = store_grant_delete(call->db, GRANT_COOKIE, hash_slice(&hash), &call->failure);
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

enum status ticket_create(struct call *call, struct slice session_id, char out_ticket[TOKEN_TEXT_BYTES],
                          int64_t *out_expires_at_ms)
{
    if (!slice_present(call->who->user_id)) {
        return failure_set(
            &call->failure, STATUS_FORBIDDEN, "user_required",
            "Only users and their tokens can ask for a ticket; other callers can send their token itself.");
    }
    struct grant grant = {.kind = GRANT_TICKET,
                          .user_id = call->who->user_id,
                          .token_id = call->who->token_id,
                          .session_id = session_id,
                          .tenant_key = call->who->tenant_key};
    *out_expires_at_ms = call->now_ms + call->service->ticket_ms;
    return insert_grant(call, &grant, "st_", call->service->ticket_ms, out_ticket);
}

#include "service/identity/identity_rows.h"
#include "service/session/session.h"

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
    if ((for_other || request->kind != PRINCIPAL_USER) && access_rank(who) < MEMBER_ADMIN) {
        return failure_set(&call->failure, STATUS_FORBIDDEN, "admin_required",
                           "Only an admin or owner can make tokens for others or of kind %s.",
                           principal_kind_enum.names[request->kind]);
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
    bool wider = !access_covers(who, token->id_prefix, token->session_id) ||
                 (maker.expires_at_ms != 0 && token->expires_at_ms > maker.expires_at_ms);
    if (status == STATUS_OK && wider) {
        return failure_set(&call->failure, STATUS_FORBIDDEN, "token_too_wide",
                           "A token made with a token keeps its id_prefix and session_id and ends no later.");
    }
    return status;
}

/* A token reaches no session that its maker does not. Workers and channels without a session reach any that they can
 * claim, and a token for another user what is theirs alone: an owner of the tenant reaches all of it. */
static enum status check_reach(struct call *call, const struct token *token)
{
    struct session_access entry;
    bool for_other = slice_present(token->user_id) && !slice_eq(token->user_id, call->who->user_id);
    bool is_bound = slice_present(token->session_id);
    if ((for_other || (token->kind != PRINCIPAL_USER && !is_bound)) && access_rank(call->who) < MEMBER_OWNER) {
        return failure_set(&call->failure, STATUS_FORBIDDEN, "owner_required",
                           "Only an owner of the tenant can make a token for another user, or one of kind %s without a "
                           "session_id.",
                           principal_kind_enum.names[token->kind]);
    }
    return is_bound ? session_authorize(call, token->session_id, ACTION_SHARE, &entry) : STATUS_OK;
}

static enum status check_token_room(struct call *call, struct slice user_id)
{
    struct token *tokens;
    size_t count = 0, own = 0;
    enum status status =
        store_token_list(call->db, call->who->tenant_key, call->now_ms, call->arena, &tokens, &count, &call->failure);
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        own += tokens[i].revoked_at_ms == 0 && slice_eq(tokens[i].user_id, user_id);
    }
    if (status == STATUS_OK && own >= call->service->limits.identity.tokens_per_user_max) {
        return failure_set(&call->failure, STATUS_LIMITED, "too_many_tokens",
                           "One user has at most %zu tokens (option tokens-per-user-max); revoke one.",
                           call->service->limits.identity.tokens_per_user_max);
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
    if (status == STATUS_OK && request->kind == PRINCIPAL_USER && !slice_present(user_id)) {
        return failure_set(&call->failure, STATUS_FORBIDDEN, "user_required",
                           "A token of kind user acts for its maker, who must be a user; a %s is none.",
                           principal_kind_enum.names[call->who->kind]);
    }
    if (status == STATUS_OK && slice_present(user_id)) {
        status = identity_check_member(call, user_id, &member);
    }
    if (status == STATUS_OK && member > access_rank(call->who)) {
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
    if (status == STATUS_OK) {
        status = check_reach(call, out);
    }
    if (status != STATUS_OK) {
        return status;
    }
    id_token(call->service->ids, "sj_", out_secret);
    return identity_insert_token(call, out, slice_of(out_secret));
}

static enum status revoke_row(struct call *call, const struct token *token)
{
    bool changed;
    transaction_identity_changed(call);
    transaction_close_streams_of(call->transaction, token->tenant_key,
                                 slice_present(token->user_id) ? token->user_id
                                                               : identity_actor_name(call->arena, token));
    return store_token_revoke(call->db, token->tenant_key, token->id, call->now_ms, &changed, &call->failure);
}

static enum status enter_for_token(struct call *call, struct slice session_id, enum principal_kind kind)
{
    struct session_access entry;
    enum status status = session_authorize(call, session_id, ACTION_SHARE, &entry);
    if (status == STATUS_OK && kind == PRINCIPAL_RUNNER && entry.loaded->session.driver != DRIVER_RUNNER) {
        return failure_set(&call->failure, STATUS_CONFLICT, "no_runner_session",
                           "Only a session whose agent has the driver runner takes a runner.");
    }
    return status;
}

static enum status revoke_old(struct call *call, int64_t tenant_key, struct slice session_id, enum principal_kind kind)
{
    struct token *old;
    size_t count = 0;
    enum status status =
        store_token_of_session(call->db, tenant_key, session_id, kind, call->arena, &old, &count, &call->failure);
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        status = revoke_row(call, &old[i]);
    }
    return status;
}

enum status token_end_of(struct call *call, const struct session *session, enum principal_kind kind)
{
    return revoke_old(call, session->tenant_key, session->id, kind);
}

static enum status insert_in_place(struct call *call, struct token *token, char out_secret[TOKEN_TEXT_BYTES])
{
    enum status status = revoke_old(call, token->tenant_key, token->session_id, token->kind);
    if (status == STATUS_OK) {
        id_token(call->service->ids, "sj_", out_secret);
        status = identity_insert_token(call, token, slice_of(out_secret));
    }
    return status;
}

static struct token token_for(const struct call *call, struct slice session_id, enum principal_kind kind,
                              unsigned scopes)
{
    return (struct token){
        .name = slice_utf8_prefix(session_id, 100),
        .kind = kind,
        .tenant_key = call->who->tenant_key,
        .scopes = scopes,
        .session_id = session_id,
    };
}

enum status token_of_session(struct call *call, struct slice session_id, enum principal_kind kind, struct token *out,
                             char out_secret[TOKEN_TEXT_BYTES])
{
    enum status status = enter_for_token(call, session_id, kind);
    *out = token_for(call, session_id, kind, call->who->scopes & (SCOPE_READ | SCOPE_WRITE));
    if (status == STATUS_OK) {
        status = inherit_bounds(call, out);
    }
    return status == STATUS_OK ? insert_in_place(call, out, out_secret) : status;
}

enum status token_replace(struct call *call, struct slice session_id, enum principal_kind kind, struct token *out,
                          char out_secret[TOKEN_TEXT_BYTES])
{
    *out = token_for(call, session_id, kind, SCOPE_READ | SCOPE_WRITE);
    return insert_in_place(call, out, out_secret);
}

enum status token_revoke(struct call *call, struct slice id)
{
    struct token token;
    enum status status = store_token_by_id(call->db, call->who->tenant_key, id, call->arena, &token, &call->failure);
    bool own = status == STATUS_OK && slice_present(token.user_id) && slice_eq(token.user_id, call->who->user_id);
    bool reached = (own || access_rank(call->who) >= MEMBER_ADMIN) && status == STATUS_OK &&
                   access_covers(call->who, token.id_prefix, token.session_id);
    if (status == STATUS_NOT_FOUND || (status == STATUS_OK && !reached)) {
        return failure_set(&call->failure, STATUS_NOT_FOUND, "not_found", "No such token.");
    }
    return status == STATUS_OK ? revoke_row(call, &token) : status;
}

enum status token_list(struct call *call, bool ended, struct token **out, size_t *out_count)
{
    return store_token_list(call->db, call->who->tenant_key, ended ? 0 : call->now_ms, call->arena, out, out_count,
                            &call->failure);
}

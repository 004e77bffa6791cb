#include <assert.h>

#include "service/ask/ask_internal.h"

enum status ask_apply_rules(struct call *call, const struct session *session, struct ask *ask, bool *out_found)
{
    struct ask_rule *rules;
    size_t count = 0;
    *out_found = false;
    if (ask->kind != ASK_APPROVAL || !slice_present(ask->tool)) {
        return STATUS_OK;
    }
    enum status status = store_ask_rule_candidates(call->db, session->tenant_key, ask->tool, session->key, call->arena,
                                                   &rules, &count, &call->failure);
    for (size_t i = 0; i < count && status == STATUS_OK && !*out_found; i++) {
        if (ask_rule_matches(call->arena, &rules[i], session, ask)) {
            *out_found = true;
            ask->state = ASK_ANSWERED;
            ask->decision = rules[i].session_key ? DECISION_SESSION : DECISION_ALWAYS;
            ask->answered_by = arena_format(call->arena, "rule:%.*s", SLICE_ARG(rules[i].id));
            ask->answered_at_ms = call->now_ms;
        }
    }
    return status;
}

static bool is_admin(const struct principal *who)
{
    return who->kind == PRINCIPAL_USER && who->member >= MEMBER_ADMIN;
}

/* A rule reaches other sessions: those of the owner by his word, those of all by an admin's. */
enum status ask_check_rule(struct call *call, const struct session *session, enum access_role role,
                           enum ask_decision decision)
{
    int64_t count = 0;
    if (decision != DECISION_SESSION && decision != DECISION_ALWAYS) {
        return STATUS_OK;
    }
    bool owns = role == ACCESS_OWNER && slice_present(session->owner) && slice_eq(session->owner, call->who->user_id);
    if (decision == DECISION_ALWAYS && !owns && !is_admin(call->who)) {
        return failure_set(&call->failure, STATUS_FORBIDDEN, "insufficient_role",
                           "`always` is decided by the owner of the session or an admin; you can decide once, session "
                           "or deny.");
    }
    enum status status = store_ask_rule_count(call->db, session->tenant_key, &count, &call->failure);
    if (status == STATUS_OK && count >= call->service->limits.ask.rules_max) {
        return failure_set(&call->failure, STATUS_LIMITED, "too_many_rules",
                           "Too many rules: %lld; the limit is %lld (option ask-rules-max). Revoke one.",
                           (long long)count, (long long)call->service->limits.ask.rules_max);
    }
    return status;
}

static enum status answer_the_same(struct call *call, struct loaded_session *loaded)
{
    struct ask *pending;
    size_t count = 0;
    const struct session *session = &loaded->session;
    enum status status =
        store_ask_pending(call->db, session->tenant_key, session->key, call->arena, &pending, &count, &call->failure);
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        bool found = false;
        status = ask_apply_rules(call, session, &pending[i], &found);
        if (status == STATUS_OK && found) {
            status = ask_close(call, loaded, &pending[i], pending[i].answered_by);
        }
    }
    return status;
}

enum status ask_add_rule(struct call *call, struct loaded_session *loaded, const struct ask *ask,
                         const struct ask_reply *reply, const struct ask_grant *grant)
{
    assert(call_writes(call));
    const struct session *session = &loaded->session;
    if (reply->decision != DECISION_SESSION && reply->decision != DECISION_ALWAYS) {
        return STATUS_OK;
    }
    bool here = reply->decision == DECISION_SESSION;
    char id[UUID_TEXT_BYTES];
    id_uuid7(call->service->ids, call->now_ms, id);
    bool is_exact = slice_present(grant->subject.arguments);
    struct ask_rule rule = {
        .id = slice_of(id),
        .tenant_key = session->tenant_key,
        .session_key = here ? session->key : 0,
        .user_id = here || is_admin(call->who) ? (struct slice){0} : session->owner,
        .agent = session->agent,
        .tool = slice_present(grant->subject.tool) ? grant->subject.tool : SLICE(""),
        .arguments = is_exact && reply->answer ? reply->answer->raw : grant->subject.arguments,
        .subject = grant->subject,
        .session_id = session->id,
        .ask_id = ask->id,
        .created_by = call->who->name,
        .created_at_ms = call->now_ms,
    };
    enum status status = store_ask_rule_insert(call->db, &rule, &call->failure);
    return status == STATUS_OK ? answer_the_same(call, loaded) : status;
}

enum status ask_rules(struct call *call, struct ask_rule **out, size_t *out_count)
{
    enum status status =
        store_ask_rule_list(call->db, call->who->tenant_key, call->arena, out, out_count, &call->failure);
    if (status != STATUS_OK || is_admin(call->who)) {
        return status;
    }
    size_t kept = 0;
    for (size_t i = 0; i < *out_count; i++) {
        struct slice user = (*out)[i].user_id;
        if (slice_present(user) && slice_eq(user, call->who->user_id)) {
            (*out)[kept++] = (*out)[i];
        }
    }
    *out_count = kept;
    return STATUS_OK;
}

enum status ask_forget_rules(struct call *call, struct loaded_session *loaded)
{
    assert(call_writes(call));
    return store_ask_rule_delete_of_session(call->db, loaded->session.tenant_key, loaded->session.key, &call->failure);
}

enum status ask_rule_revoke(struct call *call, struct slice rule_id)
{
    struct ask_rule rule;
    bool deleted = false;
    enum status status =
        store_ask_rule_by_id(call->db, call->who->tenant_key, rule_id, call->arena, &rule, &call->failure);
    bool hers = status == STATUS_OK && slice_present(rule.user_id) && slice_eq(rule.user_id, call->who->user_id);
    if (status == STATUS_NOT_FOUND || (status == STATUS_OK && !hers && !is_admin(call->who))) {
        return failure_set(&call->failure, STATUS_NOT_FOUND, "rule_not_found",
                           "There is no such rule, or it is not for you.");
    }
    if (status == STATUS_OK) {
        status = store_ask_rule_delete(call->db, call->who->tenant_key, rule_id, &deleted, &call->failure);
    }
    return status;
}

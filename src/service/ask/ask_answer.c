#include "service/ask/ask_internal.h"
#include "service/identity/secret.h"
#include "service/work/step.h"
#include "wire/json_schema.h"

static enum status check_form(struct call *call, const struct ask *ask, const struct ask_reply *reply)
{
    const struct json *schema;
    if (ask->kind != ASK_ELICITATION || !reply->answer) {
        return STATUS_OK;
    }
    enum status status = json_parse(call->arena, ask->schema, &schema, &call->failure);
    return status == STATUS_OK ? json_schema_validate(schema, reply->answer, &call->failure) : status;
}

static enum status check_size(struct call *call, const struct ask_reply *reply)
{
    size_t bytes = (reply->answer ? reply->answer->raw.len : 0) + reply->reason.len;
    return bytes <= call->service->limits.event.bytes_max
               ? STATUS_OK
               : failure_set(&call->failure, STATUS_TOO_LARGE, "answer_too_large",
                             "The answer has %zu bytes; at most %zu are accepted (option event-bytes-max).", bytes,
                             call->service->limits.event.bytes_max);
}

/* What is answered reaches the model like what is said. */
static enum status check_secrets(struct call *call, const struct ask_reply *reply)
{
    enum status status = reply->answer ? secret_check_json(call, reply->answer->raw) : STATUS_OK;
    return status == STATUS_OK ? secret_check_text(call, reply->reason) : status;
}

static enum status check(struct call *call, const struct session_access *entry, const struct ask *ask,
                         const struct ask_reply *reply)
{
    enum status status = ask_check_reply(call->arena, ask, reply, &call->failure);
    if (status == STATUS_OK) {
        status = check_size(call, reply);
    }
    if (status == STATUS_OK) {
        status = check_secrets(call, reply);
    }
    if (status == STATUS_OK) {
        status = check_form(call, ask, reply);
    }
    if (status == STATUS_OK) {
        status = step_check_reply(call, &entry->loaded->session, ask, reply);
    }
    return status == STATUS_OK ? ask_check_rule(call, &entry->loaded->session, entry->role, reply->decision) : status;
}

static enum status vote(struct call *call, struct loaded_session *loaded, const struct ask *ask,
                        const struct ask_reply *reply)
{
    struct changes changes = {0};
    change_ask_voted(call->arena, ask, reply, &changes);
    enum status status = session_append_changes(call, loaded, &changes);
    return status == STATUS_OK
               ? store_ask_update(call->db, loaded->session.tenant_key, loaded->session.key, ask, &call->failure)
               : status;
}

static enum status decide(struct call *call, struct loaded_session *loaded, struct ask *ask,
                          const struct ask_reply *reply, const struct ask_grant *grant)
{
    enum ask_effect effect;
    enum status status = ask_apply(call->arena, ask, reply, call->now_ms, &effect, &call->failure);
    if (status != STATUS_OK || effect == ASK_WAS_REPEATED) {
        return status;
    }
    if (effect == ASK_WAS_VOTED) {
        return vote(call, loaded, ask, reply);
    }
    status = ask_close(call, loaded, ask, (struct slice){0});
    if (status == STATUS_OK) {
        status = ask_add_rule(call, loaded, ask, reply, grant);
    }
    return status == STATUS_OK ? ask_follow(call, loaded, ask) : status;
}

bool ask_is_overdue(const struct call *call, const struct ask *ask)
{
    return ask->state == ASK_PENDING && ask->expires_at_ms != 0 && ask->expires_at_ms <= call->now_ms;
}

enum status ask_answer(struct call *call, struct slice session_id, struct slice ask_id, const struct ask_reply *given,
                       struct ask *out)
{
    struct session_access entry;
    struct ask_grant grant;
    struct ask_reply reply = *given;
    reply.by = call->who->name;
    reply.voter = slice_present(call->who->user_id)
                      ? arena_format(call->arena, "user:%.*s", SLICE_ARG(call->who->user_id))
                      : call->who->name;
    enum status status = session_authorize(call, session_id, ACTION_ANSWER, &entry);
    if (status == STATUS_OK) {
        status = ask_load(call, &entry.loaded->session, ask_id, out);
    }
    if (status == STATUS_OK) {
        status = ask_check_person(call->who, entry.role, entry.holds_lease, out, &call->failure);
    }
    if (status == STATUS_OK) {
        status = ask_choose_grant(call->arena, out, &reply, &grant, &call->failure);
    }
    if (status != STATUS_OK || ask_reply_repeats(call->arena, out, &reply)) {
        return status;
    }
    if (ask_is_overdue(call, out)) {
        out->state = ASK_EXPIRED;
    }
    if (out->state != ASK_PENDING) {
        return ask_not_pending(out, &call->failure);
    }
    status = check(call, &entry, out, &reply);
    if (status == STATUS_OK) {
        status = ask_check_edit_of_grant(&reply, &grant, &call->failure);
    }
    return status == STATUS_OK ? decide(call, entry.loaded, out, &reply, &grant) : status;
}

enum status ask_find(struct call *call, struct slice session_id, enum ask_kind kind, struct slice call_id,
                     struct slice *out_ask_id)
{
    struct session_access entry;
    struct ask *pending;
    size_t count = 0, found = 0;
    enum status status = session_authorize(call, session_id, ACTION_ANSWER, &entry);
    if (status == STATUS_OK) {
        status = store_ask_pending(call->db, entry.loaded->session.tenant_key, entry.loaded->session.key, call->arena,
                                   &pending, &count, &call->failure);
    }
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        bool fits =
            !slice_present(call_id) || slice_eq(pending[i].call_id, call_id) || slice_eq(pending[i].id, call_id);
        if (pending[i].kind == kind && fits) {
            *out_ask_id = pending[i].id;
            found++;
        }
    }
    if (status == STATUS_OK && found != 1) {
        return failure_set(&call->failure, found ? STATUS_CONFLICT : STATUS_NOT_FOUND,
                           found ? "ask_ambiguous" : "ask_not_found",
                           found ? "Several asks of kind %s are pending; say which." : "No such %s is pending.",
                           ask_kind_enum.names[kind]);
    }
    return status;
}

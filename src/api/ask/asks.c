#include "api/ask/asks.h"

#include "api/core/handlers.h"
#include "api/core/validate.h"
#include "base/clock.h"

static const char *const action_names[] = {"accept", "decline", "cancel"};
static const struct enum_names action_enum = {action_names, 3};

static const struct field ask_body[] = {
    {"id", FIELD_STRING, false, "Unique in the session. Default: generated.", NULL, 1, ASK_ID_BYTES_MAX},
    {"kind", FIELD_WORD, true, "Kind of the ask.", &ask_kind_enum, 0, 0},
    {"text", FIELD_STRING, false, "One line for people; for an approval of a tool the server writes it.", NULL, 1,
     ASK_TEXT_CHARS_MAX},
    {"tool", FIELD_STRING, false, "approval: the tool to call; without it, the ask approves the output in arguments.",
     NULL, 1, ASK_ID_BYTES_MAX},
    {"call_id", FIELD_STRING, false, "approval: the tool call.", NULL, 1, ASK_ID_BYTES_MAX},
    {"arguments", FIELD_OBJECT, false, "approval: the staged arguments.", NULL, 0, 0},
    {"editable", FIELD_BOOLEAN, false, "approval: the answer may change the arguments.", NULL, 0, 0},
    {"options", FIELD_TEXTS, false, "question: the answers to choose from. Default: free text.", NULL, 0, 0},
    {"schema", FIELD_OBJECT, false, "elicitation: JSON Schema of the form.", NULL, 0, 0},
    {"details", FIELD_OBJECT, false, "For people: action, risk, integration, preview.", NULL, 0, 0},
    {"role", FIELD_WORD, false, "The role needed to answer. Default: the option ask-role.", &access_role_given_enum, 0,
     0},
    {"quorum", FIELD_INTEGER, false, "approval: how many people must approve. Default: 1.", NULL, 1, ASK_QUORUM_MAX},
    {"expires_in_ms", FIELD_INTEGER, false, "How long it waits. Default: the option of its kind.", NULL, 1,
     366 * DAY_MS},
    {0},
};

const struct field answer_body[] = {
    {"decision", FIELD_WORD, false,
     "approval: how far it applies; deny declines asks of every kind. session and always give the narrowest grant.",
     &ask_choice_enum, 0, 0},
    {"answer", FIELD_ANY, false, "The chosen option, the text, the form, or the edited arguments.", NULL, 0, 0},
    {"arguments", FIELD_OBJECT, false, "The edited arguments: the same as answer.", NULL, 0, 0},
    {"reason", FIELD_STRING, false, "The reason for denying it.", NULL, 1, ASK_TEXT_CHARS_MAX},
    {"grant", FIELD_STRING, false,
     "approval: the id of one of the ask's `grants`; without it, the narrowest of the decision.", NULL, 1, 100},
    {"these_arguments", FIELD_BOOLEAN, false,
     "Accepted from older clients, without effect: exactly these arguments is the narrowest grant.", NULL, 0, 0},
    {0},
};

static const struct field approve_body[] = {
    {"tool_call_id", FIELD_STRING, true, "The tool call that waits, or the id of the ask.", NULL, 1, ASK_ID_BYTES_MAX},
    {"approved", FIELD_BOOLEAN, true, "Whether it may run.", NULL, 0, 0},
    {"reason", FIELD_STRING, false, "The reason for denying it.", NULL, 1, ASK_TEXT_CHARS_MAX},
    {0},
};

static const struct field elicitation_body[] = {
    {"ask_id", FIELD_STRING, false, "The form. Default: the pending one.", NULL, 1, ASK_ID_BYTES_MAX},
    {"action", FIELD_WORD, false, "Default: accept.", &action_enum, 0, 0},
    {"content", FIELD_OBJECT, false, "The form, when accepted.", NULL, 0, 0},
    {0},
};

static const struct field ask_list_query[] = {
    {"state", FIELD_WORD, false, "Default: pending.", &ask_state_filter_enum, 0, 0},
    {"descendants", FIELD_BOOLEAN, false, "Include the asks of descendant sessions.", NULL, 0, 0},
    {"cursor", FIELD_STRING, false, "next_cursor of the previous page.", NULL, 1, 30},
    {"limit", FIELD_INTEGER, false, "Rows per page.", NULL, 1, 200},
    {0},
};

static const struct field inbox_query[] = {
    {"cursor", FIELD_STRING, false, "next_cursor of the previous page.", NULL, 1, 30},
    {"limit", FIELD_INTEGER, false, "Rows per page.", NULL, 1, 200},
    {0},
};

/* --- writing --- */

void asks_write(struct json_out *out, const struct ask *ask, const struct session *session)
{
    json_begin_object(out);
    json_put_text(out, "session_id", session->id);
    json_put_text(out, "session_title", session->title);
    json_put_text(out, "agent", session->agent);
    json_put_text(out, "parent_id", session->parent_id);
    ask_write_members(out, ask);
    json_end_object(out);
}

static enum status answer_page(struct request *request, const struct ask_page *page)
{
    struct json_out *out = &request->out;
    json_begin_object(out);
    json_key(out, "asks");
    json_begin_array(out);
    for (size_t i = 0; i < page->count; i++) {
        asks_write(out, &page->asks[i].ask, &page->asks[i].session);
    }
    json_end_array(out);
    struct slice next =
        page->next ? arena_format(request_arena(request), "%lld", (long long)page->next) : (struct slice){0};
    json_put_text(out, "next_cursor", next);
    json_end_object(out);
    return STATUS_OK;
}

static enum status answer_ask(struct request *request, const struct ask *ask)
{
    json_begin_object(&request->out);
    json_put_text(&request->out, "session_id", request->params[0]);
    ask_write_members(&request->out, ask);
    json_end_object(&request->out);
    return STATUS_OK;
}

/* --- reading --- */

static enum status read_cursor(struct request *request, int64_t *out)
{
    struct slice cursor = request_param(request, "cursor");
    *out = 0;
    return !slice_present(cursor) || (slice_to_i64(cursor, out) && *out > 0)
               ? STATUS_OK
               : failure_set(&request->call.failure, STATUS_INVALID, "invalid_cursor",
                             "`cursor` must be the next_cursor of an earlier page.");
}

enum { ASKS_PAGE_DEFAULT = 50 };

static enum status asks_inbox(struct request *request)
{
    struct ask_page page;
    int64_t before;
    enum status status = request_check_unbound(request);
    if (status == STATUS_OK) {
        status = read_cursor(request, &before);
    }
    if (status == STATUS_OK) {
        status = ask_inbox(&request->call, before, request_param_i64(request, "limit", ASKS_PAGE_DEFAULT), &page);
    }
    return status == STATUS_OK ? answer_page(request, &page) : status;
}

static enum status asks_list(struct request *request)
{
    struct ask_page page;
    int64_t before;
    struct slice name = request_param(request, "state");
    int state = slice_present(name) ? enum_names_find(ask_state_enum, name) : ASK_PENDING;
    bool descendants = slice_is(request_param(request, "descendants"), "true");
    enum status status = read_cursor(request, &before);
    if (status == STATUS_OK) {
        status = ask_list(&request->call, request->params[0], state, descendants, before,
                          request_param_i64(request, "limit", ASKS_PAGE_DEFAULT), &page);
    }
    return status == STATUS_OK ? answer_page(request, &page) : status;
}

static enum status asks_get(struct request *request)
{
    struct ask ask;
    struct session session;
    enum status status = ask_view(&request->call, request->params[0], request->params[1], &ask, &session);
    if (status == STATUS_OK) {
        asks_write(&request->out, &ask, &session);
    }
    return status;
}

/* --- asking --- */

static enum status asks_open(struct request *request)
{
    const struct json *body = request->body;
    int64_t expires_in_ms = json_i64_of(body, "expires_in_ms");
    int role = enum_names_find(access_role_enum, json_text_of(body, "role"));
    struct ask ask = {
        .id = json_text_of(body, "id"),
        .kind = (enum ask_kind)enum_names_find(ask_kind_enum, json_text_of(body, "kind")),
        .tool = json_text_of(body, "tool"),
        .call_id = json_text_of(body, "call_id"),
        .arguments = json_raw_of(body, "arguments"),
        .text = json_text_of(body, "text"),
        .options = json_raw_of(body, "options"),
        .schema = json_raw_of(body, "schema"),
        .details = json_raw_of(body, "details"),
        .role = role > 0 ? (enum access_role)role : ACCESS_NONE,
        .quorum = json_i64_of(body, "quorum"),
        .expires_at_ms = expires_in_ms ? request->call.now_ms + expires_in_ms : 0,
    };
    json_as_bool(json_get(body, "editable"), &ask.editable);
    enum status status = ask_request(&request->call, request->params[0], &ask);
    return status == STATUS_OK ? answer_ask(request, &ask) : status;
}

static enum status asks_withdraw(struct request *request)
{
    return ask_withdraw(&request->call, request->params[0], request->params[1], SLICE("withdrawn"));
}

/* --- answering --- */

enum status asks_check_answer(const struct json *body, struct failure *failure)
{
    return validate_body(answer_body, body, failure);
}

void asks_read_reply(const struct json *body, struct ask_reply *out)
{
    int decision = enum_names_find(ask_choice_enum, json_text_of(body, "decision"));
    const struct json *answer = json_get_value(body, "answer");
    *out = (struct ask_reply){
        .decision = (enum ask_decision)(decision + DECISION_ONCE),
        .answer = answer ? answer : json_get_value(body, "arguments"),
        .reason = json_text_of(body, "reason"),
        .grant = json_text_of(body, "grant"),
    };
}

static enum status answer(struct request *request, struct slice ask_id, const struct ask_reply *reply)
{
    struct ask ask;
    enum status status = ask_answer(&request->call, request->params[0], ask_id, reply, &ask);
    return status == STATUS_OK ? answer_ask(request, &ask) : status;
}

static enum status asks_answer(struct request *request)
{
    struct ask_reply reply;
    asks_read_reply(request->body, &reply);
    return answer(request, request->params[1], &reply);
}

static enum status asks_again(struct request *request)
{
    struct prompt_receipt receipt;
    enum status status = ask_again(&request->call, request->params[0], request->params[1], &receipt);
    if (status == STATUS_OK) {
        prompts_write_receipt(&request->out, &receipt);
    }
    return status;
}

static enum status asks_approve(struct request *request)
{
    bool approved = false;
    struct slice ask_id;
    json_as_bool(json_get(request->body, "approved"), &approved);
    struct ask_reply reply = {
        .decision = approved ? DECISION_ONCE : DECISION_DENY,
        .reason = json_text_of(request->body, "reason"),
    };
    enum status status = ask_find(&request->call, request->params[0], ASK_APPROVAL,
                                  json_text_of(request->body, "tool_call_id"), &ask_id);
    return status == STATUS_OK ? answer(request, ask_id, &reply) : status;
}

static enum status asks_elicitation_reply(struct request *request)
{
    struct slice ask_id, action = json_text_of(request->body, "action");
    bool accepted = !slice_present(action) || slice_is(action, "accept");
    struct ask_reply reply = {
        .decision = accepted ? DECISION_ONCE : DECISION_DENY,
        .answer = json_get_value(request->body, "content"),
        .reason = accepted ? (struct slice){0} : action,
    };
    enum status status =
        ask_find(&request->call, request->params[0], ASK_ELICITATION, json_text_of(request->body, "ask_id"), &ask_id);
    return status == STATUS_OK ? answer(request, ask_id, &reply) : status;
}

/* --- standing decisions --- */

static enum status rules_list(struct request *request)
{
    struct ask_rule *rules;
    size_t count = 0;
    enum status status = request_check_unbound(request);
    if (status == STATUS_OK) {
        status = ask_rules(&request->call, &rules, &count);
    }
    if (status != STATUS_OK) {
        return status;
    }
    json_begin_object(&request->out);
    json_key(&request->out, "rules");
    json_begin_array(&request->out);
    for (size_t i = 0; i < count; i++) {
        ask_rule_write(&request->out, &rules[i]);
    }
    json_end_array(&request->out);
    json_end_object(&request->out);
    return STATUS_OK;
}

static enum status rules_revoke(struct request *request)
{
    enum status status = request_check_unbound(request);
    return status == STATUS_OK ? ask_rule_revoke(&request->call, request->params[0]) : status;
}

const struct route ask_routes[] = {
    {HTTP_GET, "/api/asks", asks_inbox, .query = inbox_query, .answer = "AskList",
     .summary = "Pending asks the caller may answer, newest first."},
    {HTTP_GET, "/api/rules", rules_list, .answer = "RuleList",
     .summary = "Saved rules: all of them for admins, otherwise those for the caller's own sessions."},
    {HTTP_DELETE, "/api/rules/{rule_id}", rules_revoke, .success = 204, .summary = "Revoke a rule."},
    {HTTP_GET, "/api/sessions/{id}/asks", asks_list, .query = ask_list_query, .answer = "AskList",
     .summary = "The session's asks, newest first."},
    {HTTP_POST, "/api/sessions/{id}/asks", asks_open, .idempotent = true, .body = ask_body, .success = 201,
     .answer = "Ask", .summary = "Open an ask, as lease holder, runner or sandbox."},
    {HTTP_GET, "/api/sessions/{id}/asks/{ask_id}", asks_get, .answer = "Ask", .summary = "One ask."},
    {HTTP_DELETE, "/api/sessions/{id}/asks/{ask_id}", asks_withdraw, .success = 204,
     .summary = "Withdraw an ask, as lease holder, runner or sandbox."},
    {HTTP_POST, "/api/sessions/{id}/asks/{ask_id}/answer", asks_answer, .idempotent = true, .body = answer_body,
     .answer = "Ask", .summary = "Answer an ask, once."},
    {HTTP_POST, "/api/sessions/{id}/asks/{ask_id}/again", asks_again, .idempotent = true, .success = 202,
     .answer = "Receipt",
     .summary = "Send a message in the caller's name that asks the agent to repeat an expired ask."},
    {HTTP_POST, "/api/sessions/{id}/approve", asks_approve, .idempotent = true, .body = approve_body, .answer = "Ask",
     .summary = "Approve or deny a tool call, once."},
    {HTTP_POST, "/api/sessions/{id}/elicitation-reply", asks_elicitation_reply, .idempotent = true,
     .body = elicitation_body, .answer = "Ask", .summary = "Submit or decline a form."},
    {0},
};

#include "api/core/handlers.h"
#include "base/clock.h"
#include "domain/vocabulary.h"
#include "service/ask/ask.h"
#include "service/identity/identity.h"
#include "service/session/session.h"
#include "service/turn/turn_close.h"

static const struct field session_create_body[] = {
    {"id", FIELD_STRING, false, "Id of your own; if a session with this id exists, it is returned.", NULL, 1, 128},
    {"type", FIELD_WORD, true, "What kind of work it is.", &session_type_enum, 0, 0},
    {"status", FIELD_WORD, false, "Initial status, one that the type allows.", &session_status_enum, 0, 0},
    {"agent", FIELD_STRING, false, "Slug of the agent that runs it.", NULL, 1, 128},
    {"agent_config", FIELD_OBJECT, false,
     "Restrictions of the agent in this session: tools, permissions, commands, hosts, fs_scope, "
     "turns_max, "
     "tool_rounds_max, cost_microcents_max, sandbox.network.",
     NULL, 0, 0},
    {"title", FIELD_STRING, false, "Title (option title-chars-max).", NULL, 0, INT64_MAX},
    {"workspace", FIELD_STRING, false, "Workspace or repository (option workspace-chars-max).", NULL, 1, INT64_MAX},
    {"source", FIELD_OBJECT, false, "Where it came from: kind, platform, interactive, trigger_id, type.", NULL, 0, 0},
    {"metadata", FIELD_OBJECT, false, "Free keys with string, number or boolean values.", NULL, 0, 0},
    {"details", FIELD_OBJECT, false, "Fields of coding sessions, such as branch_name or snapshot_id.", NULL, 0, 0},
    {"parent_id", FIELD_STRING, false, "The parent session.", NULL, 1, 128},
    {"task_id", FIELD_STRING, false, "The task it belongs to.", NULL, 1, 128},
    {"entity_id", FIELD_STRING, false, "The entity it is about.", NULL, 1, 128},
    {"visibility", FIELD_WORD, false, "Who in the tenant can see it.", &visibility_enum, 0, 0},
    {"purpose", FIELD_WORD, false, "What it is for.", &purpose_enum, 0, 0},
    {"queue_mode", FIELD_WORD, false, "What happens to a message while a turn is running.", &queue_mode_enum, 0, 0},
    {"prompt", FIELD_STRING, false, "First prompt; an agent session becomes pending (option prompt-chars-max).", NULL,
     1, INT64_MAX},
    {"priority", FIELD_INTEGER, false, "Higher priorities are claimed first.", NULL, -1000, 1000},
    {"ttl_ms", FIELD_INTEGER, false, "Time to live; 0 = never expires.", NULL, 0, INT64_MAX},
    {"anonymous", FIELD_BOOLEAN, false, "A respondent without an account.", NULL, 0, 0},
    {"persona", FIELD_STRING, false, "Id of a persona: its prompt is frozen into the session.", NULL, 1, 64},
    {"idle_timeout_ms", FIELD_INTEGER, false,
     "How long its sandbox is idle before it hibernates. Default: the agent's or the caller's setting.", NULL, 1000,
     30 * DAY_MS},
    {"sandbox", FIELD_OBJECT, false, "An existing sandbox: id, tunnel_urls. The session is running at once.", NULL, 0,
     0},
    {"start", FIELD_BOOLEAN, false, "Create the agent's sandbox now, not with the first message.", NULL, 0, 0},
    {0},
};

static const struct field session_view_query[] = {
    {"at", FIELD_INTEGER, false, "Show the session as it was after this event.", NULL, 1, INT64_MAX},
    {0},
};

static const struct field session_update_body[] = {
    {"title", FIELD_STRING, false, "New title (option title-chars-max).", NULL, 0, INT64_MAX},
    {"metadata", FIELD_OBJECT, false, "Merged into the present object; a null value removes its key.", NULL, 0, 0},
    {"details", FIELD_OBJECT, false, "Merged into the present object; a null value removes its key.", NULL, 0, 0},
    {"visibility", FIELD_WORD, false, "Who in the tenant can see it.", &visibility_enum, 0, 0},
    {"queue_mode", FIELD_WORD, false, "What happens to a message while a turn is running.", &queue_mode_enum, 0, 0},
    {"ttl_ms", FIELD_INTEGER, false, "New time to live from now; 0 = never expires.", NULL, 0, INT64_MAX},
    {0},
};

static const struct field session_move_body[] = {
    {"status", FIELD_WORD, true, "The state to move to.", &session_status_enum, 0, 0},
    {"reason", FIELD_STRING, false, "One line for people.", NULL, 0, 200},
    {0},
};

static const struct field bulk_delete_body[] = {
    {"ids", FIELD_TEXTS, true, "Ids of sessions you own.", NULL, 0, 0},
    {0},
};

/* Where its stream is, as seen by whoever asks. */
static struct slice stream_url(struct request *request, struct slice id)
{
    const struct api *api = request->api;
    struct slice host = request_header(request, "host");
    struct slice rest = slice_of(api->public_url ? api->public_url : "");
    bool secure = api->public_url ? slice_starts(rest, SLICE("https:")) : api->secure_cookies;
    if (api->public_url) {
        host = slice_after(rest, secure ? 8 : 7);
        while (host.len > 0 && host.ptr[host.len - 1] == '/') {
            host.len--;
        }
    }
    return arena_format(request_arena(request), "%s://%.*s/api/sessions/%.*s/ws", secure ? "wss" : "ws",
                        SLICE_ARG(host), SLICE_ARG(id));
}

/* All of it; what else the answer says follows. */
static void write_members(struct request *request, const struct session *session)
{
    request->subject_key = session->key;
    session_write_members(&request->out, session, true);
    json_put_text(&request->out, "ws_url", stream_url(request, session->id));
}

/* What most commands answer: the session as it is now, when they went well. */
static enum status answer_entry(struct request *request, enum status status, const struct session_access *entry)
{
    if (status == STATUS_OK) {
        json_begin_object(&request->out);
        write_members(request, &entry->loaded->session);
        json_end_object(&request->out);
    }
    return status;
}

/* Answers to an Idempotency-Key are kept, and a secret is not: who sends one asks for the token by itself. */
static enum status write_runner_token(struct request *request, const struct session *session)
{
    struct token token;
    char secret[TOKEN_TEXT_BYTES];
    bool own = slice_present(session->owner) && slice_eq(session->owner, request->who.user_id);
    if (session->driver != DRIVER_RUNNER || !own || slice_present(request->idempotency_key)) {
        return STATUS_OK;
    }
    enum status status = token_of_session(&request->call, session->id, PRINCIPAL_RUNNER, &token, secret);
    if (status == STATUS_OK) {
        json_put_text(&request->out, "runner_token", slice_of(secret));
    }
    return status;
}

static enum status write_created(struct request *request, const struct session *session, bool created)
{
    struct json_out *out = &request->out;
    json_begin_object(out);
    write_members(request, session);
    enum status status = created ? write_runner_token(request, session) : STATUS_OK;
    json_end_object(out);
    return status;
}

static struct session_input read_input(const struct json *body)
{
    int64_t ttl_ms = -1;
    bool anonymous = false, starts = false;
    json_as_i64(json_get(body, "ttl_ms"), &ttl_ms);
    json_as_bool(json_get(body, "anonymous"), &anonymous);
    json_as_bool(json_get(body, "start"), &starts);
    return (struct session_input){
        .id = json_text_of(body, "id"),
        .type = json_text_of(body, "type"),
        .status = json_text_of(body, "status"),
        .agent = json_text_of(body, "agent"),
        .agent_config = json_get_value(body, "agent_config"),
        .title = json_text_of(body, "title"),
        .workspace = json_text_of(body, "workspace"),
        .source = json_get_value(body, "source"),
        .metadata = json_get_value(body, "metadata"),
        .details = json_get_value(body, "details"),
        .parent_id = json_text_of(body, "parent_id"),
        .task_id = json_text_of(body, "task_id"),
        .entity_id = json_text_of(body, "entity_id"),
        .visibility = json_text_of(body, "visibility"),
        .prompt = json_text_of(body, "prompt"),
        .purpose = json_text_of(body, "purpose"),
        .queue_mode = json_text_of(body, "queue_mode"),
        .priority = json_i64_of(body, "priority"),
        .attempt = 1,
        .ttl_ms = ttl_ms,
        .anonymous = anonymous,
        .persona = json_text_of(body, "persona"),
        .idle_timeout_ms = json_i64_of(body, "idle_timeout_ms"),
        .sandbox = json_get_value(body, "sandbox"),
        .starts_sandbox = starts,
    };
}

static enum status sessions_create(struct request *request)
{
    struct session_input input = read_input(request->body);
    struct session_access entry;
    bool created = false;
    enum status status = session_create(&request->call, &input, &entry, &created);
    if (status != STATUS_OK) {
        return status;
    }
    request->exchange->status = created ? 201 : 200;
    return write_created(request, &entry.loaded->session, created);
}

/* What people are asked just now. */
static enum status write_waiting_for(struct request *request, const struct session *session)
{
    struct ask *pending;
    size_t count = 0;
    struct call *call = &request->call;
    struct json_out *out = &request->out;
    enum status status = ask_pending(call, session, &pending, &count);
    if (count == 0) {
        return status;
    }
    json_key(out, "waiting_for");
    json_begin_array(out);
    for (size_t i = 0; i < count; i++) {
        json_begin_object(out);
        json_put_text(out, "ask_id", pending[i].id);
        json_put_text(out, "kind", slice_of(ask_kind_enum.names[pending[i].kind]));
        json_put_text(out, "text", pending[i].text);
        json_put_text(out, "tool", pending[i].tool);
        json_put_time(out, "since", pending[i].created_at_ms);
        json_put_time(out, "expires_at", pending[i].expires_at_ms);
        json_end_object(out);
    }
    json_end_array(out);
    return status;
}

static enum status sessions_get(struct request *request)
{
    struct session session;
    int64_t at = request_param_i64(request, "at", 0);
    enum status status = at ? session_view_at(&request->call, request->params[0], at, &session)
                            : session_authorize_read(&request->call, request->params[0], ACTION_READ, &session, NULL);
    if (status != STATUS_OK) {
        return status;
    }
    json_begin_object(&request->out);
    write_members(request, &session);
    if (!at && session_status_is_waiting(session.status)) {
        status = write_waiting_for(request, &session);
    }
    json_end_object(&request->out);
    return status;
}

static enum status sessions_update(struct request *request)
{
    struct session_access entry;
    enum status status = session_update(&request->call, request->params[0], request->body, &entry);
    return answer_entry(request, status, &entry);
}

static enum status sessions_delete(struct request *request)
{
    return session_delete(&request->call, request->params[0]);
}

static enum status sessions_archive(struct request *request)
{
    struct session_access entry;
    enum status status = session_set_archived(&request->call, request->params[0], true, &entry);
    return answer_entry(request, status, &entry);
}

static enum status sessions_unarchive(struct request *request)
{
    struct session_access entry;
    enum status status = session_set_archived(&request->call, request->params[0], false, &entry);
    return answer_entry(request, status, &entry);
}

static enum status sessions_move(struct request *request)
{
    struct session_access entry;
    int to = enum_names_find(session_status_enum, json_text_of(request->body, "status"));
    enum status status = session_move(&request->call, request->params[0], (enum session_status)to,
                                      json_text_of(request->body, "reason"), &entry);
    return answer_entry(request, status, &entry);
}

static enum status sessions_reopen(struct request *request)
{
    struct session_access entry;
    enum status status = session_reopen(&request->call, request->params[0], &entry);
    return answer_entry(request, status, &entry);
}

static enum status sessions_resume(struct request *request)
{
    struct session_access entry;
    enum status status = turn_resume(&request->call, request->params[0], &entry);
    return answer_entry(request, status, &entry);
}

static enum status sessions_retry(struct request *request)
{
    struct session_access entry;
    enum status status = session_retry(&request->call, request->params[0], &entry);
    return answer_entry(request, status, &entry);
}

/* --- bulk delete --- */

static enum status check_ids(struct request *request, const struct json *ids)
{
    size_t max = request->api->service->limits.sessions.bulk_delete_max;
    if (ids->count == 0 || ids->count > max) {
        return failure_set(&request->call.failure, STATUS_INVALID, "invalid_member",
                           "`ids` must name 1 to %zu sessions.", max);
    }
    for (const struct json *id = ids->child; id; id = id->next) {
        if (!json_is(id, JSON_STRING)) {
            return failure_set(&request->call.failure, STATUS_INVALID, "invalid_member", "`ids` must be strings.");
        }
    }
    return STATUS_OK;
}

/* Each id gets its own answer; one that cannot be deleted does not stop the others. */
static enum status sessions_bulk_delete(struct request *request)
{
    const struct json *ids = json_get(request->body, "ids");
    enum status status = check_ids(request, ids);
    if (status != STATUS_OK) {
        return status;
    }
    struct json_out *out = &request->out;
    int64_t deleted = 0;
    json_begin_object(out);
    json_key(out, "results");
    json_begin_array(out);
    for (const struct json *id = ids->child; id; id = id->next) {
        int64_t writes = transaction_writes(request->call.transaction);
        status = session_delete(&request->call, id->text);
        if (status != STATUS_OK && transaction_writes(request->call.transaction) != writes) {
            return status;
        }
        json_begin_object(out);
        json_put_text(out, "id", id->text);
        json_put_bool(out, "deleted", status == STATUS_OK);
        if (status != STATUS_OK) {
            json_put_text(out, "code", request_copy(request, request->call.failure.code));
        }
        json_end_object(out);
        deleted += status == STATUS_OK;
    }
    json_end_array(out);
    json_put_i64(out, "deleted", deleted);
    json_end_object(out);
    return STATUS_OK;
}

const struct route session_routes[] = {
    {HTTP_POST, "/api/sessions", sessions_create, .idempotent = true, .body = session_create_body, .success = 201,
     .answer = "Session", .summary = "Create a session, or return the one with the given id."},
    {HTTP_POST, "/api/sessions/bulk-delete", sessions_bulk_delete, .body = bulk_delete_body, .answer = "BulkDeleted",
     .summary = "Delete several sessions; each has its own result."},
    {HTTP_GET, "/api/sessions/{id}", sessions_get, .query = session_view_query, .answer = "Session",
     .summary = "One session; with `at`, as it was at that event."},
    {HTTP_PATCH, "/api/sessions/{id}", sessions_update, .body = session_update_body, .answer = "Session",
     .summary = "Change a session's title, metadata, visibility, queue mode, details or time to live."},
    {HTTP_DELETE, "/api/sessions/{id}", sessions_delete, .success = 204, .summary = "Delete a session and its events."},
    {HTTP_POST, "/api/sessions/{id}/archive", sessions_archive, .answer = "Session",
     .summary = "Hide a session from lists."},
    {HTTP_POST, "/api/sessions/{id}/unarchive", sessions_unarchive, .answer = "Session",
     .summary = "Show a session in lists again."},
    {HTTP_POST, "/api/sessions/{id}/status", sessions_move, .idempotent = true, .body = session_move_body,
     .answer = "Session", .summary = "Change a session's status; docs/states.md lists the allowed transitions."},
    {HTTP_POST, "/api/sessions/{id}/reopen", sessions_reopen, .idempotent = true, .answer = "Session",
     .summary = "Reopen an ended conversation."},
    {HTTP_POST, "/api/sessions/{id}/retry", sessions_retry, .idempotent = true, .success = 201, .answer = "Session",
     .summary = "Create a new session for the same work."},
    {HTTP_POST, "/api/sessions/{id}/resume", sessions_resume, .idempotent = true, .answer = "Session",
     .summary = "Rerun the message of a turn that a crash or a shutdown aborted."},
    {0},
};

#include <assert.h>

#include "domain/tool_spec.h"
#include "service/gateway/gateway_snapshot.h"
#include "service/identity/identity.h"
#include "service/agent/memory.h"
#include "service/turn/turn_close.h"

/* Tools of a turn that are commands of the service. Each decides and writes in the name of the turn's agent, but a
 * child belongs to whoever owns the session, and counts for him. */

/* The buffer is released. */
static enum status update(struct call *call, struct loaded_session *loaded, struct buffer *buffer, struct slice *out)
{
    struct changes changes = {0};
    const struct json *patch = NULL;
    struct slice text = arena_copy(call->arena, buffer_slice(buffer));
    buffer_release(buffer);
    enum status status = json_parse(call->arena, text, &patch, &call->failure);
    if (status == STATUS_OK) {
        status = change_update(call->arena, &loaded->session, patch, &call->service->limits.session, call->now_ms,
                               &changes, &call->failure);
    }
    *out = SLICE("{\"ok\":true}");
    return status == STATUS_OK && changes.count > 0 ? session_append_changes(call, loaded, &changes) : status;
}

static enum status tool_set_title(struct call *call, struct loaded_session *loaded, const struct json *arguments,
                                  struct slice *out)
{
    struct buffer buffer = {0};
    struct json_out json = json_out_to(&buffer);
    json_begin_object(&json);
    json_put_text(&json, "title", json_text_of(arguments, "title"));
    json_end_object(&json);
    return update(call, loaded, &buffer, out);
}

static enum status tool_set_description(struct call *call, struct loaded_session *loaded, const struct json *arguments,
                                        struct slice *out)
{
    struct buffer buffer = {0};
    struct json_out json = json_out_to(&buffer);
    json_begin_object(&json);
    json_key(&json, "details");
    json_begin_object(&json);
    json_put_text(&json, "description", json_text_of(arguments, "description"));
    json_put_text(&json, "description_source", SLICE("ai"));
    json_end_object(&json);
    json_end_object(&json);
    return update(call, loaded, &buffer, out);
}

static enum status tool_set_working_memory(struct call *call, struct loaded_session *loaded,
                                           const struct json *arguments, struct slice *out)
{
    struct buffer buffer = {0};
    struct json_out json = json_out_to(&buffer);
    json_begin_object(&json);
    json_key(&json, "details");
    json_begin_object(&json);
    json_put_text(&json, "working_memory", json_text_of(arguments, "text"));
    json_end_object(&json);
    json_end_object(&json);
    return update(call, loaded, &buffer, out);
}

static struct slice describe(struct call *call, const struct session *session)
{
    struct buffer buffer = {0};
    struct json_out json = json_out_to(&buffer);
    json_begin_object(&json);
    json_put_text(&json, "session_id", session->id);
    json_put_text(&json, "status", slice_of(session_status_enum.names[session->status]));
    json_put_text(&json, "last_message", slice_of(session->preview));
    json_maybe_text(&json, "error", session->error_message);
    json_end_object(&json);
    struct slice text = arena_copy(call->arena, buffer_slice(&buffer));
    buffer_release(&buffer);
    return text;
}

static enum status tool_spawn_session(struct call *call, struct loaded_session *loaded, const struct json *arguments,
                                      struct slice *out)
{
    struct principal owner = *call->who;
    struct call own = *call;
    struct session_access entry;
    bool created;
    owner.kind = PRINCIPAL_USER;
    owner.user_id = loaded->session.owner;
    owner.scopes = SCOPE_READ | SCOPE_WRITE;
    own.who = &owner;
    own.lease_token = (struct slice){0};
    struct slice agent = json_text_of(arguments, "agent");
    struct session_input input = {
        .type = slice_of(session_type_enum.names[TYPE_AGENT]),
        .agent = slice_present(agent) ? agent : loaded->session.agent,
        .title = json_text_of(arguments, "title"),
        .workspace = loaded->session.workspace,
        .prompt = json_text_of(arguments, "prompt"),
        .parent_id = loaded->session.id,
        .ttl_ms = -1,
    };
    enum status status = session_create(&own, &input, &entry, &created);
    call->failure = own.failure;
    if (status == STATUS_OK) {
        *out = describe(call, &entry.loaded->session);
    }
    return status;
}

static enum status tool_session_status(struct call *call, struct loaded_session *loaded, const struct json *arguments,
                                       struct slice *out)
{
    struct slice id = json_text_of(arguments, "session_id");
    struct loaded_session *child;
    if (!slice_present(id) || slice_eq(id, loaded->session.id)) {
        *out = describe(call, &loaded->session);
        return STATUS_OK;
    }
    enum status status = transaction_load(call->transaction, loaded->session.tenant_key, id, &child, &call->failure);
    if (status == STATUS_NOT_FOUND ||
        (status == STATUS_OK && !slice_eq(child->session.parent_id, loaded->session.id))) {
        return failure_set(&call->failure, STATUS_INVALID, "no_such_child",
                           "This session started no session %.*s; use the id that spawn_session gave.", SLICE_ARG(id));
    }
    if (status == STATUS_OK) {
        *out = describe(call, &child->session);
    }
    return status;
}

/* What turn_snapshot.c took: {"snapshot","bytes"}. */
static enum status tool_save_snapshot(struct call *call, struct loaded_session *loaded, const struct json *arguments,
                                      struct slice *out)
{
    *out = arguments->raw;
    return gateway_snapshot_keep(call, loaded, arguments);
}

/* For the process that is started now: the one before it is gone, and its token ends. */
static enum status tool_gateway_token(struct call *call, struct loaded_session *loaded, const struct json *arguments,
                                      struct slice *out)
{
    struct token token;
    char secret[TOKEN_TEXT_BYTES];
    struct buffer text = {0};
    struct json_out json = json_out_to(&text);
    (void)arguments;
    enum status status = token_replace(call, loaded->session.id, PRINCIPAL_SANDBOX, &token, secret);
    json_begin_object(&json);
    json_put_text(&json, "token", slice_of(secret));
    json_end_object(&json);
    *out = status == STATUS_OK ? arena_copy(call->arena, buffer_slice(&text)) : (struct slice){0};
    buffer_release(&text);
    return status;
}

/* By tool; those that are not here run elsewhere. */
static enum status (*const served[TOOL_COUNT])(struct call *call, struct loaded_session *loaded,
                                               const struct json *arguments, struct slice *out) = {
    [TOOL_SAVE_SNAPSHOT] = tool_save_snapshot,
    [TOOL_SET_TITLE] = tool_set_title,
    [TOOL_SPAWN_SESSION] = tool_spawn_session,
    [TOOL_SESSION_STATUS] = tool_session_status,
    [TOOL_SESSION_DESCRIPTION_UPDATE] = tool_set_description,
    [TOOL_WORKING_MEMORY_UPDATE] = tool_set_working_memory,
    [TOOL_MEMORY_RECALL] = memory_recall,
    [TOOL_MEMORY_ADD] = memory_add,
    [TOOL_MEMORY_UPDATE] = memory_update,
    [TOOL_MEMORY_DELETE] = memory_delete,
};

enum status turn_tool_serve(struct call *call, struct loaded_session *loaded, struct slice tool, struct slice arguments,
                            struct slice *out)
{
    assert(call_writes(call));
    const struct json *object = NULL;
    const struct tool_spec *spec = tool_spec_find(tool);
    enum status status = json_parse(call->arena, arguments, &object, &call->failure);
    if (status != STATUS_OK) {
        return status;
    }
    if (slice_is(tool, "gateway_token")) { /* no tool: the host of an agent asks for it */
        return tool_gateway_token(call, loaded, object, out);
    }
    return spec && served[spec - tool_specs] ? served[spec - tool_specs](call, loaded, object, out)
                                             : failure_set(&call->failure, STATUS_INVALID, "unknown_tool",
                                                           "The server has no tool %.*s for a turn.", SLICE_ARG(tool));
}

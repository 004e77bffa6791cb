#include "service/gateway/gateway.h"

#include <assert.h>
#include <stdlib.h>

#include "domain/redact.h"
#include "service/gateway/gateway_internal.h"
#include "wire/json_schema.h"

enum { CALL_ID_BYTES_MAX = 200 };

struct gateway *gateway_new(const struct gateway_options *options)
{
    struct gateway *gateway = memory_zeroed(sizeof *gateway);
    gateway->options = *options;
    pthread_mutex_init(&gateway->lock, NULL);
    return gateway;
}

void gateway_free(struct gateway *gateway)
{
    if (gateway) {
        map_release(&gateway->running);
        pthread_mutex_destroy(&gateway->lock);
        free(gateway);
    }
}

int64_t gateway_timeout_ms(const struct gateway *gateway)
{
    return gateway->options.limits.timeout_ms;
}

/* --- results --- */

struct slice gateway_tidy(const struct gateway *gateway, struct arena *arena, struct slice json)
{
    struct buffer text = {0};
    const struct json *ignored;
    redact_add(&text, json);
    struct slice tidy = arena_copy(arena, buffer_slice(&text));
    buffer_release(&text);
    bool fits = tidy.len <= gateway->options.limits.result_bytes_max;
    return fits && json_parse(arena, tidy, &ignored, NULL) == STATUS_OK ? tidy : SLICE("\"[too long, or secret]\"");
}

enum status gateway_tell(struct call *call, struct loaded_session *loaded, const struct gateway_tool *tool,
                         struct slice call_id, const struct json *arguments, bool success, struct slice result)
{
    assert(call_writes(call));
    struct buffer metadata = {0};
    struct json_out out = json_out_to(&metadata);
    json_begin_object(&out);
    json_put_text(&out, "call_id", call_id);
    json_put_bool(&out, "success", success);
    if (tool->spec->logs_arguments) {
        json_put_raw(&out, "arguments", arguments->raw);
    }
    json_put_raw(&out, "result", result);
    json_end_object(&out);
    struct event event = {
        .role = ROLE_SYSTEM,
        .metadata = arena_copy(call->arena, buffer_slice(&metadata)),
    };
    buffer_release(&metadata);
    event_set_type(&event, arena_format(call->arena, "tool.%s", tool->spec->name));
    return session_append_events(call, loaded, &event, 1);
}

/* --- the registry --- */

static enum status unknown_tool(struct call *call)
{
    struct buffer names = {0};
    for (const struct gateway_tool *tool = gateway_tools; tool->spec; tool++) {
        buffer_format(&names, "%s%s", names.len ? ", " : "", tool->spec->name);
    }
    failure_set(&call->failure, STATUS_NOT_FOUND, "unknown_tool", "There is no such tool. There are: %.*s.",
                SLICE_ARG(buffer_slice(&names)));
    buffer_release(&names);
    return STATUS_NOT_FOUND;
}

static const struct gateway_tool *find_tool(struct slice name)
{
    const struct gateway_tool *tool = gateway_tools;
    while (tool->spec && !slice_is(name, tool->spec->name)) {
        tool++;
    }
    return tool->spec ? tool : NULL;
}

static enum status check_arguments(struct call *call, const struct gateway_tool *tool,
                                   const struct gateway_request *request)
{
    const struct json *schema = NULL;
    if (request->call_id.len == 0 || request->call_id.len > CALL_ID_BYTES_MAX) {
        return failure_set(&call->failure, STATUS_INVALID, "invalid_call_id", "`call_id` has 1 to %d bytes.",
                           CALL_ID_BYTES_MAX);
    }
    enum status status = json_parse(call->arena, slice_of(tool->spec->schema), &schema, &call->failure);
    return status == STATUS_OK ? json_schema_validate(schema, request->arguments, &call->failure) : status;
}

/* --- a call --- */

/* One call of one session. */
struct one_call {
    struct gateway *gateway;
    struct call *call;
    struct loaded_session *loaded;
    const struct gateway_tool *tool;
    const struct gateway_request *request;
    struct hash hash; /* of the arguments */
    struct slice key;
};

static enum status refuse_ambiguous(struct call *call)
{
    return failure_set(&call->failure, STATUS_CONFLICT, "ambiguous",
                       "The server stopped during this call; its outcome is unknown. Check, then call "
                       "again with a new call_id.");
}

/* Another node may be at it; for as long as it may take, it is believed to be. */
static bool may_run_elsewhere(const struct one_call *one, const struct gateway_call_row *row)
{
    int64_t age_ms = one->call->now_ms - row->created_at_ms;
    return db_has_other_writers(one->call->db) && age_ms < one->gateway->options.limits.timeout_ms;
}

static enum status answer_from_row(const struct one_call *one, const struct gateway_call_row *row,
                                   struct gateway_answer *out)
{
    struct call *call = one->call;
    if (!hash_equal(hash_slice(&one->hash), row->arguments_hash)) {
        return failure_set(&call->failure, STATUS_CONFLICT, "call_id_reused",
                           "This call_id was used with other arguments; every call has its own.");
    }
    if (row->state == TOOL_CALL_RUNNING) {
        out->waits = gateway_job_runs(one->gateway, one->key) || may_run_elsewhere(one, row);
        return out->waits ? STATUS_OK : refuse_ambiguous(call);
    }
    *out = (struct gateway_answer){.success = row->state == TOOL_CALL_DONE, .result = row->result};
    return STATUS_OK;
}

static enum status run_inside(const struct one_call *one, struct gateway_answer *out)
{
    struct call *call = one->call;
    const struct session *session = &one->loaded->session;
    struct slice result;
    enum status status = one->tool->run(call, one->loaded, one->request->arguments, &result);
    if (status != STATUS_OK) {
        return status;
    }
    result = gateway_tidy(one->gateway, call->arena, result);
    struct gateway_call_row row = {
        .tenant_key = session->tenant_key,
        .session_key = session->key,
        .tool = slice_of(one->tool->spec->name),
        .call_id = one->request->call_id,
        .arguments_hash = hash_slice(&one->hash),
        .state = TOOL_CALL_DONE,
        .result = result,
        .created_at_ms = call->now_ms,
        .ended_at_ms = call->now_ms,
    };
    status = store_tool_call_insert(call->db, &row, &call->failure);
    if (status == STATUS_OK) {
        status =
            gateway_tell(call, one->loaded, one->tool, one->request->call_id, one->request->arguments, true, result);
    }
    *out = (struct gateway_answer){.success = true, .result = result};
    return status;
}

static enum status start_outside(const struct one_call *one, struct gateway_answer *out)
{
    struct call *call = one->call;
    enum status status = one->tool->check
                             ? one->tool->check(one->gateway, call, &one->loaded->session, one->request->arguments)
                             : STATUS_OK;
    if (status != STATUS_OK) {
        return status;
    }
    struct gateway_job *job = memory_zeroed(sizeof *job);
    struct slice text = arena_copy(&job->arena, one->request->arguments->raw);
    job->gateway = one->gateway;
    job->tool = one->tool;
    job->key = arena_copy(&job->arena, one->key);
    job->tenant_key = one->loaded->session.tenant_key;
    job->session_key = one->loaded->session.key;
    job->session_id = arena_copy(&job->arena, one->loaded->session.id);
    job->actor = arena_copy(&job->arena, call->who->name);
    job->call_id = arena_copy(&job->arena, one->request->call_id);
    job->arguments_hash = one->hash;
    (void)!json_parse(&job->arena, text, &job->arguments, NULL); /* it was parsed before */
    out->waits = gateway_job_start(job);
    return out->waits ? STATUS_OK
                      : failure_set(&call->failure, STATUS_UNAVAILABLE, "overloaded",
                                    "Too many writes wait, or the server stops; try again.");
}

static enum status answer(struct one_call *one, struct gateway_answer *out)
{
    struct gateway_call_row row;
    struct call *call = one->call;
    const struct session *session = &one->loaded->session;
    one->hash = hash_of(one->request->arguments->raw);
    one->key = arena_format(call->arena, "%lld/%lld/%s/%.*s", (long long)session->tenant_key, (long long)session->key,
                            one->tool->spec->name, SLICE_ARG(one->request->call_id));
    enum status status =
        store_tool_call_get(call->db, session->tenant_key, session->key, slice_of(one->tool->spec->name),
                            one->request->call_id, call->arena, &row, &call->failure);
    if (status == STATUS_OK) {
        return answer_from_row(one, &row, out);
    }
    if (status != STATUS_NOT_FOUND) {
        return status;
    }
    if (gateway_job_runs(one->gateway, one->key)) { /* its row is on its way */
        out->waits = true;
        return STATUS_OK;
    }
    return one->tool->run ? run_inside(one, out) : start_outside(one, out);
}

enum status gateway_call(struct gateway *gateway, struct call *call, struct slice session_id,
                         const struct gateway_request *request, struct gateway_answer *out)
{
    struct session_access entry;
    struct one_call one = {.gateway = gateway, .call = call, .request = request, .tool = find_tool(request->tool)};
    *out = (struct gateway_answer){0};
    enum status status = session_authorize(call, session_id, ACTION_APPEND, &entry);
    if (status != STATUS_OK) {
        return status;
    }
    bool runs = access_runs(call->who, &entry.loaded->session, entry.holds_lease);
    if (!runs && entry.role < ACCESS_OWNER) {
        return failure_set(&call->failure, STATUS_FORBIDDEN, "sandbox_token_required",
                           "Tools are for code in the session's sandbox (POST sandbox-token), and for its owner.");
    }
    one.loaded = entry.loaded;
    if (!one.tool) {
        return unknown_tool(call);
    }
    status = check_arguments(call, one.tool, request);
    return status == STATUS_OK ? answer(&one, out) : status;
}

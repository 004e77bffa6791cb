#include "domain/redact.h"
#include "service/gateway/gateway_internal.h"
#include "service/gateway/gateway_snapshot.h"
#include "service/work/automation_run.h"
#include "service/turn/turn_close.h"

static const struct slice done = SLICE("{\"ok\":true}");

static enum status run_set_title(struct call *call, struct loaded_session *loaded, const struct json *arguments,
                                 struct slice *out)
{
    return turn_tool_serve(call, loaded, SLICE("set_title"), arguments->raw, out);
}

static enum status run_session_status(struct call *call, struct loaded_session *loaded, const struct json *arguments,
                                      struct slice *out)
{
    const struct session *session = &loaded->session;
    struct slice id = json_text_of(arguments, "session_id");
    struct buffer text = {0};
    struct json_out json = json_out_to(&text);
    if (slice_present(id) && !slice_eq(id, session->id)) {
        return turn_tool_serve(call, loaded, SLICE("session_status"), arguments->raw, out);
    }
    json_begin_object(&json);
    json_put_text(&json, "session_id", session->id);
    json_put_text(&json, "status", slice_of(session_status_enum.names[session->status]));
    json_put_text(&json, "title", session->title);
    json_put_i64(&json, "turn_count", session->turn_count);
    json_end_object(&json);
    *out = arena_copy(call->arena, buffer_slice(&text));
    buffer_release(&text);
    return STATUS_OK;
}

static enum status refuse_secret(struct call *call, struct slice where)
{
    return failure_set(&call->failure, STATUS_INVALID, "looks_secret",
                       "%.*s looks like a secret; only names are kept, and commands without secrets.",
                       SLICE_ARG(slice_utf8_prefix(where, 40)));
}

/* Any text in it that would be masked elsewhere is not kept here. */
static enum status check_no_secrets(struct call *call, const struct json *value)
{
    enum status status = STATUS_OK;
    if (value->kind == JSON_STRING) {
        struct buffer masked = {0};
        redact_add(&masked, value->text);
        bool clean = slice_eq(buffer_slice(&masked), value->text);
        buffer_release(&masked);
        return clean ? STATUS_OK : refuse_secret(call, slice_present(value->key) ? value->key : SLICE("A value"));
    }
    for (const struct json *child = value->child; child && status == STATUS_OK; child = child->next) {
        status = check_no_secrets(call, child);
    }
    return status;
}

/* The event is what is kept: the newest one holds. */
static enum status run_save(struct call *call, struct loaded_session *loaded, const struct json *arguments,
                            struct slice *out)
{
    (void)loaded;
    *out = done;
    return check_no_secrets(call, arguments);
}

/* --- the snapshot --- */

static enum status check_snapshot(const struct gateway *gateway, struct call *call, const struct session *session,
                                  const struct json *arguments)
{
    (void)arguments;
    return gateway->options.snapshot && runtime_is_up(session->runtime)
               ? STATUS_OK
               : failure_set(&call->failure, STATUS_CONFLICT, "no_sandbox",
                             "This session has no live sandbox of which a snapshot could be taken.");
}

static void begin_snapshot(struct gateway_job *job)
{
    const struct gateway_options *options = &job->gateway->options;
    options->snapshot(options->snapshot_owner, job->tenant_key, job->session_key,
                      (struct gateway_done){job, gateway_job_done});
}

static enum status end_snapshot(struct call *call, struct loaded_session *loaded, const struct json *arguments,
                                struct slice result)
{
    (void)arguments;
    const struct json *snapshot = NULL;
    enum status status = json_parse(call->arena, result, &snapshot, &call->failure);
    return status == STATUS_OK ? gateway_snapshot_keep(call, loaded, snapshot) : status;
}

/* What each is and takes, its file in domain/tools says. */
const struct gateway_tool gateway_tools[] = {
    {&tool_specs[TOOL_AUTOMATION_COMPLETE], automation_run_report, NULL, NULL, NULL},
    {&tool_specs[TOOL_SAVE_ENV_FILES], run_save, NULL, NULL, NULL},
    {&tool_specs[TOOL_SAVE_SERVICE_COMMANDS], run_save, NULL, NULL, NULL},
    {&tool_specs[TOOL_SAVE_SNAPSHOT], NULL, check_snapshot, begin_snapshot, end_snapshot},
    {&tool_specs[TOOL_SESSION_STATUS], run_session_status, NULL, NULL, NULL},
    {&tool_specs[TOOL_SET_TITLE], run_set_title, NULL, NULL, NULL},
    {&tool_specs[TOOL_VERIFY], NULL, gateway_verify_check, gateway_verify_begin, gateway_verify_end},
    {0},
};

#include "api/core/handlers.h"
#include "service/sandbox/runtime.h"

static const struct field pause_body[] = {
    {"reason", FIELD_STRING, false, "One line for people.", NULL, 0, 200},
    {0},
};

/* Saying something twice is no error: `changed` tells whether it was news. */
static void write_outcome(struct request *request, const struct runtime_outcome *outcome)
{
    struct json_out *out = &request->out;
    const struct session *session = &outcome->loaded->session;
    json_begin_object(out);
    json_put_text(out, "session_id", session->id);
    json_put_bool(out, "changed", outcome->changed);
    json_put_text(out, "status", slice_of(session_status_enum.names[session->status]));
    struct slice pause = slice_of(pause_reason_enum.names[session->pause_reason]);
    json_put_text(out, "runtime", slice_of(runtime_enum.names[session->runtime]));
    json_put_text(out, "pause_reason", pause.len > 0 ? pause : (struct slice){0});
    json_end_object(out);
}

static enum status runtime_post_hibernate(struct request *request)
{
    struct runtime_outcome outcome;
    enum status status = runtime_hibernate(&request->call, request->params[0], &outcome);
    if (status == STATUS_OK) {
        write_outcome(request, &outcome);
    }
    return status;
}

static enum status runtime_post_wake(struct request *request)
{
    struct runtime_outcome outcome;
    enum status status = runtime_wake(&request->call, request->params[0], &outcome);
    if (status == STATUS_OK) {
        write_outcome(request, &outcome);
    }
    return status;
}

static enum status set_paused(struct request *request, bool paused, const char *reason)
{
    struct runtime_outcome outcome;
    enum status status = runtime_pause(&request->call, request->params[0], paused, reason, &outcome);
    if (status == STATUS_OK) {
        write_outcome(request, &outcome);
    }
    return status;
}

static enum status runtime_post_pause(struct request *request)
{
    struct slice reason = json_text_of(request->body, "reason");
    return set_paused(request, true, slice_present(reason) ? arena_copy(request->call.arena, reason).ptr : "paused");
}

static enum status runtime_post_unpause(struct request *request)
{
    return set_paused(request, false, "unpaused");
}

const struct route runtime_routes[] = {
    {HTTP_POST, "/api/sessions/{id}/hibernate", runtime_post_hibernate, .answer = "RuntimeOutcome",
     .summary = "Hibernate the session's sandbox: saves a snapshot and stops its processes."},
    {HTTP_POST, "/api/sessions/{id}/wake", runtime_post_wake, .answer = "RuntimeOutcome",
     .summary = "Wake the session's sandbox; sending a message also wakes it."},
    {HTTP_POST, "/api/sessions/{id}/pause", runtime_post_pause, .body = pause_body, .answer = "RuntimeOutcome",
     .summary = "Pause the session: the running turn finishes, messages queue."},
    {HTTP_POST, "/api/sessions/{id}/unpause", runtime_post_unpause, .answer = "RuntimeOutcome",
     .summary = "Unpause the session and dispatch queued messages."},
    {0},
};

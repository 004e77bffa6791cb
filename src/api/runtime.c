#include "api/handlers.h"
#include "service/runtime.h"

/* Saying something twice is no error: `changed` tells whether it was news. */
static void write_outcome(struct request *request, const struct runtime_outcome *outcome)
{
    struct json_out *out = &request->out;
    const struct session *session = &outcome->loaded->session;
    json_begin_object(out);
    json_put_text(out, "session_id", session->id);
    json_put_bool(out, "changed", outcome->changed);
    json_put_text(out, "status", slice_of(work_words.names[session->work]));
    json_put_text(out, "runtime", slice_of(runtime_words.names[session->runtime]));
    json_end_object(out);
}

enum status runtime_post_hibernate(struct request *request)
{
    struct runtime_outcome outcome;
    enum status status = runtime_hibernate(&request->call, request->params[0], &outcome);
    if (status == STATUS_OK) {
        write_outcome(request, &outcome);
    }
    return status;
}

enum status runtime_post_wake(struct request *request)
{
    struct runtime_outcome outcome;
    enum status status = runtime_wake(&request->call, request->params[0], &outcome);
    if (status == STATUS_OK) {
        write_outcome(request, &outcome);
    }
    return status;
}

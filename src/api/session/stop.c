#include "api/core/handlers.h"
#include "service/session/session_end.h"

static const struct field stop_body[] = {
    {"reason", FIELD_STRING, false, "One line for people.", NULL, 0, 200},
    {0},
};

static enum status sessions_stop(struct request *request)
{
    struct session_access entry;
    bool changed;
    struct json_out *out = &request->out;
    enum status status =
        session_end_stop(&request->call, request->params[0], json_text_of(request->body, "reason"), &entry, &changed);
    if (status == STATUS_OK) {
        json_begin_object(out);
        json_put_bool(out, "changed", changed);
        json_key(out, "session");
        session_write(out->buffer, &entry.loaded->session, true);
        out->need_comma = true;
        json_end_object(out);
    }
    return status;
}

const struct route stop_routes[] = {
    {HTTP_POST, "/api/sessions/{id}/stop", sessions_stop, .idempotent = true, .body = stop_body, .answer = "Stopped",
     .summary = "End a session, its turn and its children; does nothing if it has ended."},
    {0},
};

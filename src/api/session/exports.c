#include "api/core/handlers.h"
#include "service/session/export.h"

static const struct field export_body[] = {
    {"path", FIELD_STRING, false, "Where you keep the file, recorded in the log. Default: ID.relavium.yaml.", NULL, 1,
     1000},
    {0},
};

static enum status exports_prepare(struct request *request)
{
    struct export_document *document = arena_alloc(request_arena(request), sizeof *document);
    request->state = document;
    return export_make(&request->call, request->params[0], document);
}

static enum status exports_create(struct request *request)
{
    const struct export_document *document = request->state;
    struct slice path = json_text_of(request->body, "path");
    struct json_out *out = &request->out;
    int64_t sequence;
    if (!slice_present(path)) {
        path = arena_format(request_arena(request), "%s.relavium.yaml", document->workflow_id);
    }
    enum status status = export_note(&request->call, request->params[0], document, path, &sequence);
    if (status == STATUS_OK) {
        json_begin_object(out);
        json_put_text(out, "session_id", request->params[0]);
        json_put_text(out, "workflow_id", slice_of(document->workflow_id));
        json_put_text(out, "workflow_path", path);
        json_put_i64(out, "through", document->through);
        json_put_i64(out, "sequence", sequence);
        json_put_text(out, "document", document->yaml);
        json_end_object(out);
    }
    return status;
}

const struct route export_routes[] = {
    {HTTP_POST, "/api/sessions/{id}/export", exports_create, .body = export_body, .prepare = exports_prepare,
     .answer = "Export",
     .summary =
         "Export the conversation as a YAML workflow with secrets masked; the session's status becomes exported."},
    {0},
};

#include "service/work/automation_run.h"

#include "api/core/handlers.h"

static const struct field run_list_query[] = {
    {"status", FIELD_WORD, false, "Only those in this state.", &run_status_enum, 0, 0},
    {"limit", FIELD_INTEGER, false, "Maximum number of results.", NULL, 1, INT64_MAX},
    {"before", FIELD_STRING, false, "Only those before this id: the next_before of the page before.", NULL, 1, 128},
    {0},
};

static enum status runs_get(struct request *request)
{
    struct automation_run run;
    enum status status = request_check_unbound(request);
    if (status == STATUS_OK) {
        status = automation_run_find(&request->call, request->params[0], &run);
    }
    if (status == STATUS_OK) {
        run_write(&request->out, &run);
    }
    return status;
}

static enum status runs_list(struct request *request)
{
    struct run_page page;
    struct json_out *out = &request->out;
    struct slice wanted = request_param(request, "status");
    enum status status = request_check_unbound(request);
    if (status == STATUS_OK) {
        status =
            automation_run_list(&request->call, slice_present(wanted) ? enum_names_find(run_status_enum, wanted) : -1,
                                request_param(request, "before"), request_list_limit(request), &page);
    }
    if (status != STATUS_OK) {
        return status;
    }
    json_begin_object(out);
    json_key(out, "runs");
    json_begin_array(out);
    for (size_t i = 0; i < page.count; i++) {
        run_write(out, &page.runs[i]);
    }
    json_end_array(out);
    json_put_bool(out, "has_more", slice_present(page.next));
    json_put_text(out, "next_before", page.next);
    json_end_object(out);
    return STATUS_OK;
}

const struct route run_routes[] = {
    {HTTP_GET, "/api/runs", runs_list, .query = run_list_query, .answer = "RunList",
     .summary = "Runs of automations, newest first."},
    {HTTP_GET, "/api/runs/{run}", runs_get, .answer = "Run", .summary = "One run and its outcome."},
    {0},
};

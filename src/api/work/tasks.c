#include "service/work/task.h"

#include "api/core/handlers.h"
#include "service/work/entity.h"

static const struct field task_body[] = {
    {"id", FIELD_STRING, true, "Its slug, in kebab-case.", NULL, 1, 64},
    {"name", FIELD_STRING, false, "The name for people.", NULL, 1, 200},
    {"description", FIELD_STRING, false, "What it is for.", NULL, 0, 100000},
    {"steps", FIELD_LIST, false,
     "Steps: id, name, agent (a slug) or human, prompt, depends_on, output (fields, required), requires_approval, "
     "criteria.",
     NULL, 0, 0},
    {"agent", FIELD_STRING, false, "Short form: the agent of the only step.", NULL, 1, 64},
    {"human", FIELD_BOOLEAN, false, "Short form: the only step is done by a person.", NULL, 0, 0},
    {"prompt", FIELD_STRING, false, "Short form: the prompt of the only step.", NULL, 0, 100000},
    {"output", FIELD_OBJECT, false, "Short form: fields (name to type) and required (names; default: all).", NULL, 0,
     0},
    {"requires_approval", FIELD_BOOLEAN, false, "Short form: a person approves the output before it is kept.", NULL, 0,
     0},
    {"criteria", FIELD_OBJECT, false, "Short form: dimensions with options (score, flag, hard_block).", NULL, 0, 0},
    {0},
};
static const struct field task_update_body[] = {
    {"name", FIELD_STRING, false, "The name for people.", NULL, 1, 200},
    {"description", FIELD_STRING, false, "What it is for.", NULL, 0, 100000},
    {"steps", FIELD_LIST, false, "All steps; they replace the present ones. Existing runs keep their steps.", NULL, 0,
     0},
    {"version", FIELD_INTEGER, false, "The version you read; 409 if it has changed since.", NULL, 1, INT64_MAX},
    {0},
};
static const struct field task_list_query[] = {
    {"limit", FIELD_INTEGER, false, "Maximum number of results.", NULL, 1, INT64_MAX},
    {"after", FIELD_STRING, false, "Only tasks after this id: next_cursor of the previous page.", NULL, 1, 128},
    {0},
};
static const struct field task_run_body[] = {
    {"entity_id", FIELD_STRING, false, "What it is about; the output fills its fields.", NULL, 1, 128},
    {"input", FIELD_OBJECT, false, "Input for every step.", NULL, 0, 0},
    {"source", FIELD_ANY, false, "Where it comes from, as of a session; {\"kind\": \"task\"} when left out.", NULL, 0,
     0},
    {0},
};

static enum status write_task(struct request *request, const struct task_row *row)
{
    struct json_out *out = &request->out;
    const struct json *definition = NULL;
    enum status status = json_parse(request_arena(request), row->definition, &definition, &request->call.failure);
    json_begin_object(out);
    json_put_text(out, "id", row->id);
    json_put_text(out, "name", row->name);
    json_put_text(out, "description", json_text_of(definition, "description"));
    json_put_i64(out, "version", row->version);
    json_put_raw(out, "steps", json_raw_of(definition, "steps"));
    json_put_time(out, "created_at", row->created_at_ms);
    json_put_time(out, "updated_at", row->updated_at_ms);
    json_put_text(out, "updated_by", row->updated_by);
    json_end_object(out);
    return status;
}

/* --- queries --- */

static enum status tasks_get(struct request *request)
{
    struct task_row row;
    enum status status = entity_check_reach(&request->call);
    if (status == STATUS_OK) {
        status = task_find(&request->call, request->params[0], &row);
    }
    return status == STATUS_OK ? write_task(request, &row) : status;
}

static enum status tasks_list(struct request *request)
{
    struct task_row *rows;
    size_t count = 0;
    struct call *call = &request->call;
    struct json_out *out = &request->out;
    int64_t limit = request_list_limit(request);
    enum status status = task_list(call, request_param(request, "after"), limit + 1, &rows, &count);
    if (status != STATUS_OK) {
        return status;
    }
    bool has_more = (int64_t)count > limit;
    json_begin_object(out);
    json_key(out, "tasks");
    json_begin_array(out);
    size_t shown = has_more ? (size_t)limit : count;
    for (size_t i = 0; i < shown && status == STATUS_OK; i++) {
        status = write_task(request, &rows[i]);
        if (request_page_is_full(request) && i + 1 < shown) {
            shown = i + 1;
            has_more = true;
        }
    }
    request_end_page(request, has_more, has_more ? rows[shown - 1].id : (struct slice){0});
    return status;
}

/* --- commands --- */

static enum status tasks_create(struct request *request)
{
    struct task_row row;
    enum status status = task_define(&request->call, request->body, &row);
    return status == STATUS_OK ? write_task(request, &row) : status;
}

static enum status tasks_update(struct request *request)
{
    struct task_row row;
    enum status status =
        task_change(&request->call, request->params[0], request->body, json_i64_of(request->body, "version"), &row);
    return status == STATUS_OK ? write_task(request, &row) : status;
}

static enum status tasks_delete(struct request *request)
{
    return task_remove(&request->call, request->params[0]);
}

static void write_session(struct json_out *out, const struct session *session)
{
    json_begin_object(out);
    session_write_members(out, session, true);
    json_end_object(out);
}

static enum status tasks_run(struct request *request)
{
    struct started_task *started = arena_alloc(request_arena(request), sizeof *started);
    struct json_out *out = &request->out;
    struct task_order order = {
        .entity_id = json_text_of(request->body, "entity_id"),
        .input = json_get_value(request->body, "input"),
        .source = json_get_value(request->body, "source"),
    };
    enum status status = task_start(&request->call, request->params[0], &order, started);
    if (status != STATUS_OK) {
        return status;
    }
    request->subject_key = started->run->session.key;
    json_begin_object(out);
    json_key(out, "session");
    write_session(out, &started->run->session);
    json_key(out, "steps");
    json_begin_array(out);
    for (size_t i = 0; i < started->task.step_count; i++) {
        json_begin_object(out);
        json_put_text(out, "step", started->task.steps[i].id);
        json_put_text(out, "session_id", started->steps[i]->session.id);
        json_put_text(out, "status", slice_of(session_status_enum.names[started->steps[i]->session.status]));
        json_end_object(out);
    }
    json_end_array(out);
    json_end_object(out);
    return STATUS_OK;
}

const struct route task_routes[] = {
    {HTTP_GET, "/api/tasks", tasks_list, .query = task_list_query, .answer = "TaskList",
     .summary = "The configured tasks, ordered by id."},
    {HTTP_POST, "/api/tasks", tasks_create, .scope = SCOPE_ADMIN, .idempotent = true, .body = task_body, .success = 201,
     .answer = "Task", .summary = "Create a task."},
    {HTTP_GET, "/api/tasks/{task}", tasks_get, .answer = "Task", .summary = "One task."},
    {HTTP_PATCH, "/api/tasks/{task}", tasks_update, .scope = SCOPE_ADMIN, .body = task_update_body, .answer = "Task",
     .summary = "Change a task; existing runs keep their steps."},
    {HTTP_DELETE, "/api/tasks/{task}", tasks_delete, .scope = SCOPE_ADMIN, .success = 204,
     .summary = "Remove a task; its runs continue."},
    {HTTP_POST, "/api/tasks/{task}/runs", tasks_run, .idempotent = true, .body = task_run_body, .success = 201,
     .answer = "TaskRun", .summary = "Run a task: creates one session per step and a parent session."},
    {0},
};

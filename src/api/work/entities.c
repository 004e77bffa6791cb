#include "service/work/entity.h"

#include "api/core/handlers.h"
#include "domain/vocabulary.h"
#include "service/session/session.h"
#include "service/work/task.h"

enum { SESSIONS_DEFAULT = 20, SESSIONS_MAX = 100 };

static const struct field entity_body[] = {
    {"id", FIELD_STRING, false, "Its id; one is made when left out.", NULL, 1, 128},
    {"type", FIELD_STRING, true, "What kind of thing it is.", NULL, 1, 64},
    {"fields", FIELD_OBJECT, false, "What is known of it.", NULL, 0, 0},
    {0},
};
static const struct field entity_update_body[] = {
    {"fields", FIELD_OBJECT, true, "Members replace those that stand; null removes one.", NULL, 0, 0},
    {"version", FIELD_INTEGER, false, "The version you saw: 409 when it is another by now.", NULL, 1, INT64_MAX},
    {0},
};
static const struct field entity_list_query[] = {
    {"type", FIELD_STRING, false, "Only those of this type.", NULL, 1, 64},
    {"q", FIELD_STRING, false,
     "Only those with this text in id, type, or a name or value of a field. A page may then be short and still have "
     "more.",
     NULL, 0, 200},
    {"limit", FIELD_INTEGER, false, "Maximum number of results.", NULL, 1, INT64_MAX},
    {"after", FIELD_STRING, false, "Only those after this id: the next_cursor of the page before.", NULL, 1, 128},
    {0},
};
static const struct field entity_remove_query[] = {
    {"version", FIELD_INTEGER, false, "The version you saw: 409 when it is another by now.", NULL, 1, INT64_MAX},
    {0},
};
static const struct field entity_sessions_query[] = {
    {"limit", FIELD_INTEGER, false, "Maximum number of results, at most 100. Default: 20.", NULL, 1, INT64_MAX},
    {"parents_only", FIELD_BOOLEAN, false, "One row for each run, without its steps.", NULL, 0, 0},
    {0},
};

/* --- commands --- */

static enum status entities_create(struct request *request)
{
    struct entity entity;
    const struct json *body = request->body;
    enum status status = entity_create(&request->call, json_text_of(body, "id"), json_text_of(body, "type"),
                                       json_get_value(body, "fields"), &entity);
    if (status == STATUS_OK) {
        entity_write(&request->out, &entity);
    }
    return status;
}

static enum status entities_update(struct request *request)
{
    struct entity entity;
    enum status status = entity_change(&request->call, request->params[0], json_get_value(request->body, "fields"),
                                       json_i64_of(request->body, "version"), &entity);
    if (status == STATUS_OK) {
        entity_write(&request->out, &entity);
    }
    return status;
}

static enum status entities_delete(struct request *request)
{
    return entity_remove(&request->call, request->params[0], request_param_i64(request, "version", 0));
}

/* --- queries --- */

static enum status entities_get(struct request *request)
{
    struct entity entity;
    enum status status = entity_check_reach(&request->call);
    if (status == STATUS_OK) {
        status = entity_find(&request->call, request->params[0], &entity);
    }
    if (status == STATUS_OK) {
        entity_write(&request->out, &entity);
    }
    return status;
}

static enum status entities_list(struct request *request)
{
    struct entity_page page;
    struct json_out *out = &request->out;
    struct entity_query query = {
        .after = request_param(request, "after"),
        .type = request_param(request, "type"),
        .text = request_param(request, "q"),
        .limit = request_list_limit(request),
    };
    enum status status = entity_list(&request->call, &query, &page);
    if (status != STATUS_OK) {
        return status;
    }
    json_begin_object(out);
    json_key(out, "entities");
    json_begin_array(out);
    for (size_t i = 0; i < page.count; i++) {
        entity_write(out, &page.entities[i]);
        if (request_page_is_full(request) && i + 1 < page.count) {
            page.has_more = true;
            page.count = i + 1;
            page.cursor = page.entities[i].id;
        }
    }
    request_end_page(request, page.has_more, page.cursor);
    return STATUS_OK;
}

/* --- its sessions --- */

static int64_t duration_of(const struct session *session, int64_t now_ms)
{
    int64_t end_ms = session->completed_at_ms ? session->completed_at_ms : now_ms;
    return session->started_at_ms && end_ms > session->started_at_ms ? end_ms - session->started_at_ms : 0;
}

static enum status write_summary(struct request *request, const struct session *session)
{
    struct call *call = &request->call;
    struct json_out *out = &request->out;
    struct task_row task = {0};
    int64_t children = 0;
    enum status status = session_count_children(call, session, &children);
    if (status == STATUS_OK && slice_present(session->task_id)) {
        status = task_find(call, session->task_id, &task);
    }
    if (status != STATUS_OK && status != STATUS_NOT_FOUND) {
        return status;
    }
    json_begin_object(out);
    json_put_text(out, "id", session->id);
    json_put_text(out, "type", slice_of(session_type_enum.names[session->type]));
    json_put_text(out, "title", session->title);
    json_put_text(out, "task_id", session->task_id);
    json_put_text(out, "task_name", task.name);
    json_put_raw(out, "task_definition", task.definition);
    json_put_text(out, "status", slice_of(session_status_enum.names[session->status]));
    json_put_text(out, "block_status", slice_of(block_word(session)));
    json_put_time(out, "started_at", session->started_at_ms);
    json_put_time(out, "completed_at", session->completed_at_ms);
    json_put_i64(out, "duration_ms", duration_of(session, call->now_ms));
    json_put_text(out, "parent_id", session->parent_id);
    json_put_text(out, "error_message", session->error_message);
    json_put_i64(out, "child_count", children);
    json_end_object(out);
    return STATUS_OK;
}

static enum status entities_sessions(struct request *request)
{
    struct entity entity;
    struct session_page page;
    struct session_filter filter;
    struct call *call = &request->call;
    struct json_out *out = &request->out;
    int64_t limit = request_param_i64(request, "limit", SESSIONS_DEFAULT);
    enum status status = entity_check_reach(call);
    if (status == STATUS_OK) {
        status = entity_find(call, request->params[0], &entity);
    }
    if (status == STATUS_OK) {
        request_filter_sessions(request, &filter);
        filter.entity_id = entity.id;
        filter.limit = limit < SESSIONS_MAX ? limit : SESSIONS_MAX;
        filter.parents_only = slice_is(request_param(request, "parents_only"), "true");
        status = session_list(call, &filter, &page);
    }
    if (status != STATUS_OK) {
        return status;
    }
    json_begin_object(out);
    json_key(out, "sessions");
    json_begin_array(out);
    for (size_t i = 0; i < page.count && status == STATUS_OK; i++) {
        status = write_summary(request, &page.sessions[i]);
    }
    json_end_array(out);
    json_put_bool(out, "has_more", page.has_more);
    json_end_object(out);
    return status;
}

const struct route entity_routes[] = {
    {HTTP_GET, "/api/entities", entities_list, .query = entity_list_query, .answer = "EntityList",
     .summary = "The tenant's entities, ordered by id."},
    {HTTP_POST, "/api/entities", entities_create, .idempotent = true, .body = entity_body, .success = 201,
     .answer = "Entity", .summary = "Create an entity."},
    {HTTP_GET, "/api/entities/{entity}", entities_get, .answer = "Entity", .summary = "One entity."},
    {HTTP_PATCH, "/api/entities/{entity}", entities_update, .body = entity_update_body, .answer = "Entity",
     .summary = "Change fields of an entity if it still has the given version."},
    {HTTP_DELETE, "/api/entities/{entity}", entities_delete, .query = entity_remove_query, .success = 204,
     .summary = "Remove an entity; its sessions are kept."},
    {HTTP_GET, "/api/entities/{entity}/sessions", entities_sessions, .query = entity_sessions_query,
     .answer = "EntitySessions", .summary = "The sessions of an entity, most recently active first."},
    {0},
};

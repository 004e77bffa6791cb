#include "api/core/handlers.h"
#include "service/agent/persona.h"

enum { PREFERRED_IDLE_MS = 900000, IDLE_MS_MAX = 2592000 * 1000LL };

static const char *const persona_visibility_names[] = {"private", "shared"};
static const struct enum_names persona_visibility_enum = {persona_visibility_names, 2};

static const struct field persona_body[] = {
    {"id", FIELD_STRING, false, "Its id. Default: generated.", NULL, 1, 64},
    {"name", FIELD_STRING, true, "The name for people.", NULL, 1, 200},
    {"prompt", FIELD_STRING, true, "Text added after the agent's own system prompt.", NULL, 1, 500000},
    {"visibility", FIELD_WORD, false, "private: only its owner; shared: everybody in the tenant. Default: private.",
     &persona_visibility_enum, 0, 0},
    {0},
};
static const struct field persona_update_body[] = {
    {"name", FIELD_STRING, false, "The name for people.", NULL, 1, 200},
    {"prompt", FIELD_STRING, false, "Text added after the agent's own system prompt; existing sessions do not change.",
     NULL, 1, 500000},
    {"visibility", FIELD_WORD, false, "private or shared.", &persona_visibility_enum, 0, 0},
    {0},
};
static const struct field persona_list_query[] = {
    {"limit", FIELD_INTEGER, false, "Maximum number of results.", NULL, 1, INT64_MAX},
    {"after", FIELD_STRING, false, "Only personas after this id: next_cursor of the previous page.", NULL, 1, 64},
    {0},
};
static const struct field preferences_body[] = {
    {"idle_timeout_ms", FIELD_INTEGER, false, "How long your sandboxes are idle before they hibernate.", NULL, 1000,
     IDLE_MS_MAX},
    {"queue_mode", FIELD_WORD, false, "What happens to a message while a turn is running.", &queue_mode_enum, 0, 0},
    {0},
};

static void write_persona(struct json_out *out, const struct persona *persona)
{
    json_begin_object(out);
    json_put_text(out, "id", persona->id);
    json_put_text(out, "name", persona->name);
    json_put_text(out, "prompt", persona->prompt);
    json_put_text(out, "visibility", slice_of(persona_visibility_names[persona->shared]));
    json_put_text(out, "owner_id", persona->owner);
    json_put_time(out, "created_at", persona->created_at_ms);
    json_put_time(out, "updated_at", persona->updated_at_ms);
    json_end_object(out);
}

static struct persona_request read_request(const struct request *request, struct slice id)
{
    const struct json *body = request->body;
    struct slice visibility = json_text_of(body, "visibility");
    return (struct persona_request){
        .id = id,
        .name = json_text_of(body, "name"),
        .prompt = json_text_of(body, "prompt"),
        .shared = slice_present(visibility) ? enum_names_find(persona_visibility_enum, visibility) : -1,
    };
}

static enum status put(struct request *request, struct slice id, bool create)
{
    struct persona persona;
    struct persona_request wanted = read_request(request, id);
    enum status status = request_check_unbound(request);
    if (status == STATUS_OK) {
        status = persona_put(&request->call, &wanted, create, &persona);
    }
    if (status == STATUS_OK) {
        write_persona(&request->out, &persona);
    }
    return status;
}

static enum status personas_create(struct request *request)
{
    return put(request, json_text_of(request->body, "id"), true);
}

static enum status personas_update(struct request *request)
{
    return put(request, request->params[0], false);
}

static enum status personas_remove(struct request *request)
{
    enum status status = request_check_unbound(request);
    return status == STATUS_OK ? persona_delete(&request->call, request->params[0]) : status;
}

static enum status personas_get(struct request *request)
{
    struct persona persona;
    enum status status = request_check_unbound(request);
    if (status == STATUS_OK) {
        status = persona_find(&request->call, request->params[0], &persona);
    }
    if (status == STATUS_OK) {
        write_persona(&request->out, &persona);
    }
    return status;
}

static enum status personas_list(struct request *request)
{
    struct persona *personas;
    size_t count = 0;
    struct call *call = &request->call;
    struct json_out *out = &request->out;
    int64_t asked = request_param_i64(request, "limit", request->api->limits.sessions_page_default);
    int64_t limit = asked < request->api->limits.sessions_page_max ? asked : request->api->limits.sessions_page_max;
    enum status status = request_check_unbound(request);
    if (status == STATUS_OK) {
        status = persona_list(call, request_param(request, "after"), limit + 1, &personas, &count);
    }
    if (status != STATUS_OK) {
        return status;
    }
    bool has_more = (int64_t)count > limit;
    json_begin_object(out);
    json_key(out, "personas");
    json_begin_array(out);
    size_t shown = has_more ? (size_t)limit : count;
    for (size_t i = 0; i < shown; i++) {
        write_persona(out, &personas[i]);
        if (request_page_is_full(request) && i + 1 < shown) {
            shown = i + 1;
            has_more = true;
        }
    }
    request_end_page(request, has_more, has_more ? personas[shown - 1].id : (struct slice){0});
    return STATUS_OK;
}

/* --- preferences --- */

static void write_preferences(struct json_out *out, const struct preferences *preferences)
{
    int mode = preferences->queue_mode >= 0 ? preferences->queue_mode : QUEUE_FOLLOWUP;
    json_begin_object(out);
    json_put_i64(out, "idle_timeout_ms",
                 preferences->idle_timeout_ms > 0 ? preferences->idle_timeout_ms : PREFERRED_IDLE_MS);
    json_put_text(out, "queue_mode", slice_of(queue_mode_enum.names[mode]));
    json_key(out, "set");
    json_begin_array(out);
    if (preferences->idle_timeout_ms > 0) {
        json_text(out, SLICE("idle_timeout_ms"));
    }
    if (preferences->queue_mode >= 0) {
        json_text(out, SLICE("queue_mode"));
    }
    json_end_array(out);
    json_end_object(out);
}

static enum status preferences_get(struct request *request)
{
    struct preferences preferences;
    enum status status = request_check_unbound(request);
    if (status == STATUS_OK) {
        status = preferences_of(&request->call, &preferences);
    }
    if (status == STATUS_OK) {
        write_preferences(&request->out, &preferences);
    }
    return status;
}

static enum status preferences_patch(struct request *request)
{
    struct preferences preferences;
    struct slice mode = json_text_of(request->body, "queue_mode");
    struct preferences told = {
        .idle_timeout_ms = json_i64_of(request->body, "idle_timeout_ms"),
        .queue_mode = slice_present(mode) ? enum_names_find(queue_mode_enum, mode) : -1,
    };
    enum status status = request_check_unbound(request);
    if (status == STATUS_OK) {
        status = preferences_update(&request->call, &told, &preferences);
    }
    if (status == STATUS_OK) {
        write_preferences(&request->out, &preferences);
    }
    return status;
}

const struct route persona_routes[] = {
    {HTTP_GET, "/api/me/preferences", preferences_get, .answer = "Preferences",
     .summary = "The caller's defaults for new sessions."},
    {HTTP_PATCH, "/api/me/preferences", preferences_patch, .body = preferences_body, .answer = "Preferences",
     .summary = "Change the caller's defaults for new sessions."},
    {HTTP_GET, "/api/personas", personas_list, .query = persona_list_query, .answer = "PersonaList",
     .summary = "The caller's own and the shared personas, ordered by id."},
    {HTTP_POST, "/api/personas", personas_create, .body = persona_body, .success = 201, .answer = "Persona",
     .summary = "Create a persona: a named prompt for new sessions."},
    {HTTP_GET, "/api/personas/{persona_id}", personas_get, .answer = "Persona", .summary = "One persona."},
    {HTTP_PATCH, "/api/personas/{persona_id}", personas_update, .body = persona_update_body, .answer = "Persona",
     .summary = "Change a persona; existing sessions do not change."},
    {HTTP_DELETE, "/api/personas/{persona_id}", personas_remove, .success = 204, .summary = "Delete a persona."},
    {0},
};

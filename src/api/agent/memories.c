#include "api/core/handlers.h"
#include "service/agent/memory.h"

static const struct field memory_list_query[] = {
    {"limit", FIELD_INTEGER, false, "Maximum number of results.", NULL, 1, INT64_MAX},
    {"after", FIELD_STRING, false, "Only those after this id: the next_cursor of the page before.", NULL, 1, 128},
    {0},
};

static void write_memory(struct json_out *out, const struct memory *memory)
{
    json_begin_object(out);
    json_put_text(out, "id", memory->id);
    json_put_text(out, "text", memory->text);
    json_put_text(out, "owner_id", memory->owner.len > 0 ? memory->owner : (struct slice){0});
    json_put_text(out, "session_id", memory->session_id);
    json_put_time(out, "created_at", memory->created_at_ms);
    json_put_time(out, "updated_at", memory->updated_at_ms);
    json_end_object(out);
}

static enum status memories_list(struct request *request)
{
    struct memory *memories;
    size_t count = 0;
    struct json_out *out = &request->out;
    int64_t limit = request_list_limit(request);
    enum status status = request_check_unbound(request);
    if (status == STATUS_OK) {
        status = memory_list(&request->call, request->params[0], request_param(request, "after"), limit + 1, &memories,
                             &count);
    }
    if (status != STATUS_OK) {
        return status;
    }
    bool has_more = (int64_t)count > limit;
    size_t shown = has_more ? (size_t)limit : count;
    json_begin_object(out);
    json_key(out, "memories");
    json_begin_array(out);
    for (size_t i = 0; i < shown; i++) {
        write_memory(out, &memories[i]);
        if (request_page_is_full(request) && i + 1 < shown) {
            shown = i + 1;
            has_more = true;
        }
    }
    request_end_page(request, has_more, has_more ? memories[shown - 1].id : (struct slice){0});
    return STATUS_OK;
}

static enum status memories_delete(struct request *request)
{
    enum status status = request_check_unbound(request);
    return status == STATUS_OK ? memory_forget(&request->call, request->params[0], request->params[1]) : status;
}

const struct route memory_routes[] = {
    {HTTP_GET, "/api/agents/{agent}/memories", memories_list, .query = memory_list_query, .answer = "MemoryList",
     .summary = "The agent's memories from the caller's sessions, oldest first; for admins, from all sessions."},
    {HTTP_DELETE, "/api/agents/{agent}/memories/{memory}", memories_delete, .success = 204,
     .summary = "Delete a memory."},
    {0},
};

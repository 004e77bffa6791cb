#include "api/core/handlers.h"
#include "service/agent/agent.h"

/* A definition is checked by domain/agent_read.c; what stands here is for the description and the first look. */
static const struct field agent_body[] = {
    {"id", FIELD_STRING, true, "Its slug, in kebab-case; an id that exists gets a new version.", NULL, 1, 64},
    {"version", FIELD_INTEGER, false, "Assigned by the server; ignored in requests.", NULL, 0, INT64_MAX},
    {"name", FIELD_STRING, false, "The name for people.", NULL, 1, 200},
    {"description", FIELD_STRING, false, "What it is for.", NULL, 0, 4000},
    {"driver", FIELD_WORD, false, "Who runs its turns; model when left out.", &agent_driver_enum, 0, 0},
    {"provider", FIELD_STRING, false, "anthropic or openai; needed by the driver model.", NULL, 1, 64},
    {"model", FIELD_STRING, false, "The model's name; needed by the driver model.", NULL, 1, 200},
    {"fallback_chain", FIELD_LIST, false, "Models that are tried in order when it fails: provider, model.", NULL, 0, 0},
    {"system_prompt", FIELD_STRING, false, "Needed by the driver model.", NULL, 1, 500000},
    {"reasoning_effort", FIELD_STRING, false, "off, low, medium, high or max.", NULL, 1, 64},
    {"tools", FIELD_TEXTS, false, "Names of its tools.", NULL, 0, 0},
    {"permissions", FIELD_LIST, false,
     "Rules: tool, argument and path (patterns with *), then allow, ask or deny; the strictest that matches decides.",
     NULL, 0, 0},
    {"commands", FIELD_TEXTS, false, "Command lines, or patterns with *, that run_command accepts.", NULL, 0, 0},
    {"hosts", FIELD_TEXTS, false, "Exact names of hosts that http_request reaches.", NULL, 0, 0},
    {"fs_scope", FIELD_WORD, false, "Which files its tools reach.", &fs_scope_enum, 0, 0},
    {"caps", FIELD_OBJECT, false,
     "turns_max (50), tool_rounds_max (16), cost_microcents_max (0 = none), on_exceed (fail, pause or warn).", NULL, 0,
     0},
    {"messages_max", FIELD_INTEGER, false, "Messages kept in the context.", NULL, 1, 1000000},
    {"compact_threshold", FIELD_ANY, false, "The part of the context window at which it is compacted.", NULL, 0, 0},
    {"context_tokens", FIELD_INTEGER, false, "The model's context window; 0 = unknown.", NULL, 0, 1000000000},
    {"input_microcents_per_mtok", FIELD_INTEGER, false, "Price of a million input tokens.", NULL, 0, INT64_MAX},
    {"output_microcents_per_mtok", FIELD_INTEGER, false, "Price of a million output tokens.", NULL, 0, INT64_MAX},
    {"cache_read_microcents_per_mtok", FIELD_INTEGER, false,
     "Price of a million cached input tokens. 0 or absent: a tenth of the price of "
     "input for anthropic, half of it for openai.",
     NULL, 0, INT64_MAX},
    {"cache_write_microcents_per_mtok", FIELD_INTEGER, false,
     "Price of a million input tokens written to the vendor's cache. 0 or absent: 1.25 times the price of "
     "input for anthropic, the same for openai.",
     NULL, 0, INT64_MAX},
    {"prices", FIELD_LIST, false,
     "Prices of other models: objects with model and the four prices. What counts is the price of the "
     "model that answered.",
     NULL, 0, 0},
    {"sandbox", FIELD_OBJECT, false,
     "kind (none, local or http), url, network, memory_bytes_max, processes_max, disk_bytes_max, command_ms_max, "
     "repository, branch.",
     NULL, 0, 0},
    {"command", FIELD_TEXTS, false, "The program to start, with arguments; needed by the driver acp.", NULL, 0, 0},
    {"environment", FIELD_OBJECT, false, "Variables for the program. Never put secrets here.", NULL, 0, 0},
    {"pass_environment", FIELD_TEXTS, false, "Names of variables taken from the server's environment.", NULL, 0, 0},
    {"gateway_tools", FIELD_TEXTS, false,
     "acp: tools of the server that the agent gets as files of its sandbox (.opencode/tool).", NULL, 0, 0},
    {"idle_timeout_ms", FIELD_ANY, false, "Milliseconds, or a text with a unit: 15m.", NULL, 0, 0},
    {"ask_expiry_ms", FIELD_ANY, false,
     "How long its approvals, questions and forms wait: milliseconds, or a text with a unit: 2m. 0 = the options of "
     "the server.",
     NULL, 0, 0},
    {"queue_mode", FIELD_WORD, false, "What happens to a message while a turn is running.", &queue_mode_enum, 0, 0},
    {"resume", FIELD_WORD, false, "What happens after a crash during a turn.", &resume_policy_enum, 0, 0},
    {"introspection", FIELD_OBJECT, false,
     "How it reviews its chats and saves memories: enabled (true), turn_interval (5), passive_turn_interval (20), "
     "idle_timeout_ms "
     "(10m), tool_calls_max (10), model (its own).",
     NULL, 0, 0},
    {0},
};

static const struct field agent_list_query[] = {
    {"limit", FIELD_INTEGER, false, "Maximum number of results.", NULL, 1, INT64_MAX},
    {"after", FIELD_STRING, false, "Only agents after this id: next_cursor of the previous page.", NULL, 1, 128},
    {0},
};
static const struct field agent_view_query[] = {
    {"version", FIELD_INTEGER, false, "This version. Default: the latest.", NULL, 1, INT64_MAX},
    {0},
};
static const struct field agent_versions_query[] = {
    {"limit", FIELD_INTEGER, false, "Maximum number of results.", NULL, 1, INT64_MAX},
    {"before", FIELD_INTEGER, false, "Only versions below this: the next_before of the page before.", NULL, 1,
     INT64_MAX},
    {0},
};

/* --- answers --- */

static enum status write_agent(struct request *request, const struct agent_row *row, bool full)
{
    struct json_out *out = &request->out;
    struct agent agent;
    enum status status = agent_of_row(request_arena(request), row, &agent, &request->call.failure);
    if (status != STATUS_OK) {
        return status;
    }
    json_begin_object(out);
    json_put_text(out, "id", row->slug);
    json_put_i64(out, "version", row->version);
    json_put_text(out, "name", agent.name);
    json_put_text(out, "description", agent.description);
    json_put_text(out, "driver", slice_of(agent_driver_enum.names[agent.driver]));
    json_put_text(out, "provider", agent.model.provider);
    json_put_text(out, "model", agent.model.model);
    json_put_text(out, "source", slice_of(agent_origin_enum.names[row->source]));
    json_put_bool(out, "shared", row->tenant_key == 0);
    json_put_time(out, "created_at", row->created_at_ms);
    json_put_text(out, "created_by", row->created_by);
    json_put_time(out, "removed_at", row->removed_at_ms);
    if (full) {
        json_put_raw(out, "definition", row->definition);
    }
    json_end_object(out);
    return STATUS_OK;
}

/* The object stays open for the cursor. One row more than asked for tells that there is more. */
static enum status begin_page(struct request *request, const struct agent_row *rows, size_t count, int64_t limit)
{
    struct json_out *out = &request->out;
    bool has_more = (int64_t)count > limit;
    size_t shown = has_more ? (size_t)limit : count;
    enum status status = STATUS_OK;
    json_begin_object(out);
    json_key(out, "agents");
    json_begin_array(out);
    for (size_t i = 0; status == STATUS_OK && i < shown; i++) {
        status = write_agent(request, &rows[i], false);
    }
    json_end_array(out);
    json_put_bool(out, "has_more", has_more);
    return status;
}

/* --- queries --- */

static enum status agents_list(struct request *request)
{
    struct agent_row *rows;
    size_t count = 0;
    struct call *call = &request->call;
    int64_t limit = request_list_limit(request);
    enum status status = request_check_unbound(request);
    if (status == STATUS_OK) {
        status = agent_list(call, request_param(request, "after"), limit + 1, &rows, &count);
    }
    if (status == STATUS_OK) {
        status = begin_page(request, rows, count, limit);
    }
    if (status == STATUS_OK) {
        bool has_more = (int64_t)count > limit;
        json_put_text(&request->out, "next_cursor", has_more ? rows[limit - 1].slug : (struct slice){0});
        json_end_object(&request->out);
    }
    return status;
}

static enum status agents_versions(struct request *request)
{
    struct agent_row *rows;
    size_t count = 0;
    struct call *call = &request->call;
    int64_t limit = request_list_limit(request), before = request_param_i64(request, "before", 0);
    enum status status = request_check_unbound(request);
    if (status == STATUS_OK) {
        status = agent_versions(call, request->params[0], before, limit + 1, &rows, &count);
    }
    if (status == STATUS_OK) {
        status = begin_page(request, rows, count, limit);
    }
    if (status == STATUS_OK) {
        json_key(&request->out, "next_before");
        if ((int64_t)count > limit) {
            json_i64(&request->out, rows[limit - 1].version);
        } else {
            json_null(&request->out);
        }
        json_end_object(&request->out);
    }
    return status;
}

static enum status agents_get(struct request *request)
{
    struct agent_row row;
    enum status status = request_check_unbound(request);
    if (status == STATUS_OK) {
        status = agent_find(&request->call, request->params[0], request_param_i64(request, "version", 0), &row);
    }
    return status == STATUS_OK ? write_agent(request, &row, true) : status;
}

/* --- commands --- */

static enum status agents_push(struct request *request)
{
    struct agent_row row;
    bool is_new = false;
    enum status status = request_check_tenant_wide(request);
    if (status == STATUS_OK) {
        status = agent_push(&request->call, request->body, &row, &is_new);
    }
    if (status == STATUS_OK) {
        request->exchange->status = is_new ? 201 : 200;
        status = write_agent(request, &row, true);
    }
    return status;
}

static enum status agents_remove(struct request *request)
{
    enum status status = request_check_tenant_wide(request);
    return status == STATUS_OK ? agent_remove(&request->call, request->params[0]) : status;
}

const struct route agent_routes[] = {
    {HTTP_GET, "/api/agents", agents_list, .query = agent_list_query, .answer = "AgentList",
     .summary = "The latest version of every agent, ordered by id."},
    {HTTP_POST, "/api/agents", agents_push, .scope = SCOPE_ADMIN, .idempotent = true, .body = agent_body,
     .success = 201, .answer = "Agent",
     .summary = "Create an agent or its next version; 200 if the latest version is identical."},
    {HTTP_GET, "/api/agents/{agent}", agents_get, .query = agent_view_query, .answer = "Agent",
     .summary = "One agent with its definition."},
    {HTTP_GET, "/api/agents/{agent}/versions", agents_versions, .query = agent_versions_query,
     .answer = "AgentVersions", .summary = "All versions of an agent, newest first."},
    {HTTP_DELETE, "/api/agents/{agent}", agents_remove, .scope = SCOPE_ADMIN, .success = 204,
     .summary = "Remove an agent; existing sessions keep their version."},
    {0},
};

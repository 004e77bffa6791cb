#include "service/agent/agent.h"

#include "base/log.h"
#include "domain/context.h"
#include "domain/session_details.h"
#include "runner/tool/agent_names.h"
#include "service/identity/identity_rows.h"

enum { SHARED_PAGE = 200 };

static const char *const origin_names[AGENT_ORIGIN_COUNT] = {
    [AGENT_BUILT_IN] = "built_in",
    [AGENT_OF_FILE] = "file",
    [AGENT_OF_API] = "api",
};
const struct enum_names agent_origin_enum = {origin_names, AGENT_ORIGIN_COUNT};

/* --- rows and definitions --- */

enum status agent_of_row(struct arena *arena, const struct agent_row *row, struct agent *out, struct failure *failure)
{
    struct agent_source source = {0};
    enum status status = json_parse(arena, row->definition, &source.object, failure);
    if (status == STATUS_OK) {
        status = agent_read(arena, &source, out, failure);
    }
    if (status != STATUS_OK) {
        struct slice why = arena_copy(arena, slice_utf8_prefix(slice_of(failure->detail), 400));
        return failure_set(failure, STATUS_INTERNAL, "bad_agent", "Version %lld of the agent %.*s cannot be read: %.*s",
                           (long long)row->version, SLICE_ARG(row->slug), SLICE_ARG(why));
    }
    out->version = row->version;
    return STATUS_OK;
}

/* As it is kept: with every default, so that later defaults do not change what is frozen. */
static struct slice definition_of(struct arena *arena, const struct agent *agent)
{
    struct agent plain = *agent;
    struct buffer text = {0};
    plain.version = 0;
    agent_write(&text, &plain);
    struct slice copy = arena_copy(arena, buffer_slice(&text));
    buffer_release(&text);
    return copy;
}

static enum status keep(struct call *call, int64_t tenant_key, const struct agent *agent, enum agent_origin source,
                        struct agent_row *out, bool *out_new)
{
    struct slice definition = definition_of(call->arena, agent);
    enum status status = store_agent_newest(call->db, tenant_key, agent->id, call->arena, out, &call->failure);
    *out_new = false;
    if (status == STATUS_OK && out->tenant_key == tenant_key && slice_eq(out->definition, definition)) {
        return STATUS_OK;
    }
    if (status != STATUS_OK && status != STATUS_NOT_FOUND) {
        return status;
    }
    *out = (struct agent_row){
        .tenant_key = tenant_key,
        .slug = agent->id,
        .definition = definition,
        .source = source,
        .created_at_ms = call->now_ms,
        .created_by = call->who->name,
    };
    *out_new = true;
    return store_agent_insert(call->db, out, &call->failure);
}

/* --- commands --- */

static enum status require_admin(struct call *call)
{
    if (access_rank(call->who) < MEMBER_ADMIN) {
        return failure_set(&call->failure, STATUS_FORBIDDEN, "role_required", "This needs the role %s in the tenant.",
                           member_role_enum.names[MEMBER_ADMIN]);
    }
    return STATUS_OK;
}

/* Whoever may do this runs programs with the server's rights. */
static enum status check_reach(struct call *call, const struct agent *agent)
{
    const char *key = agent_reaches_host(agent);
    bool is_operator = access_rank(call->who) == MEMBER_OWNER && slice_is(call->who->tenant_id, FIRST_TENANT_ID);
    if (!key || is_operator || call->service->limits.agent.reach_host) {
        return STATUS_OK;
    }
    return failure_set(&call->failure, STATUS_FORBIDDEN, "operator_required",
                       "`%s` reaches the server's machine: such an agent is defined in a file, or by an owner of the "
                       "first tenant, \"%s\".",
                       key, FIRST_TENANT_ID);
}

enum status agent_push(struct call *call, const struct json *definition, struct agent_row *out, bool *out_new)
{
    struct agent_source source = {.object = definition};
    struct agent agent;
    enum status status = require_admin(call);
    if (status == STATUS_OK) {
        status = agent_read(call->arena, &source, &agent, &call->failure);
    }
    if (status == STATUS_OK) {
        status = agent_check_names(&agent, &call->failure);
    }
    if (status == STATUS_OK) {
        status = check_reach(call, &agent);
    }
    return status == STATUS_OK ? keep(call, call->who->tenant_key, &agent, AGENT_OF_API, out, out_new) : status;
}

enum status agent_remove(struct call *call, struct slice slug)
{
    struct agent_row row;
    bool removed = false;
    enum status status = require_admin(call);
    if (status == STATUS_OK) {
        status = agent_find(call, slug, 0, &row);
    }
    if (status != STATUS_OK) {
        return status;
    }
    if (row.tenant_key != call->who->tenant_key) {
        return failure_set(&call->failure, STATUS_CONFLICT, "agent_is_shared",
                           "This agent is of all tenants: it is removed with its file or by an option of the server.");
    }
    return store_agent_remove(call->db, row.tenant_key, slug, call->now_ms, &removed, &call->failure);
}

enum status agent_check_narrowing(struct call *call, const struct agent *agent, const struct json *narrower)
{
    struct agent asked = *agent;
    asked.permission_count = asked.narrower_count = 0;
    enum status status = agent_narrow(call->arena, narrower, &asked, &call->failure);
    asked.tool_count = asked.gateway_tool_count = 0; /* some of the agent's */
    return status == STATUS_OK ? agent_check_names(&asked, &call->failure) : status;
}

/* --- queries --- */

enum status agent_find(struct call *call, struct slice slug, int64_t version, struct agent_row *out)
{
    int64_t tenant_key = call->who->tenant_key;
    return version ? store_agent_by_version(call->db, tenant_key, slug, version, call->arena, out, &call->failure)
                   : store_agent_newest(call->db, tenant_key, slug, call->arena, out, &call->failure);
}

enum status agent_for_new(struct call *call, struct slice slug, const struct agent **out)
{
    struct agent_row row;
    *out = NULL;
    if (!slice_present(slug)) {
        return STATUS_OK;
    }
    enum status status = agent_find(call, slug, 0, &row);
    if (status == STATUS_NOT_FOUND) {
        return STATUS_OK;
    }
    struct agent *agent = arena_alloc(call->arena, sizeof *agent);
    if (status == STATUS_OK) {
        status = agent_of_row(call->arena, &row, agent, &call->failure);
    }
    *out = status == STATUS_OK ? agent : NULL;
    return status;
}

/* What was frozen into the session when it began. */
static void take_own(struct arena *arena, const struct session *session, struct agent *agent)
{
    int64_t idle_ms = session_details_number(session, "idle_timeout_ms");
    agent->idle_timeout_ms = idle_ms > 0 ? idle_ms : agent->idle_timeout_ms;
    agent->system_prompt = session_prompt_with_persona(arena, session, agent->system_prompt);
}

enum status agent_of_session(struct call *call, const struct session *session, struct arena *arena, struct agent *out)
{
    struct agent_row row;
    const struct json *narrower = NULL;
    if (!session->agent_version) {
        agent_set_undefined(out, arena_copy(arena, session->agent));
        take_own(arena, session, out);
        return STATUS_OK;
    }
    enum status status = store_agent_by_version(call->db, session->tenant_key, session->agent, session->agent_version,
                                                arena, &row, &call->failure);
    if (status == STATUS_OK) {
        status = agent_of_row(arena, &row, out, &call->failure);
    }
    if (status != STATUS_OK) {
        return status;
    }
    take_own(arena, session, out);
    if (slice_present(session->agent_config)) {
        status = json_parse(arena, arena_copy(arena, session->agent_config), &narrower, &call->failure);
    }
    if (status == STATUS_OK && narrower) {
        status = agent_narrow(arena, narrower, out, &call->failure);
    }
    /* Last: the narrowing was checked against the agent as it is defined. */
    enum fs_scope asked = context_fs_scope(session, out->fs_scope);
    out->fs_scope = asked < out->fs_scope ? asked : out->fs_scope;
    return status;
}

enum status agent_of_session_or_none(struct call *call, const struct session *session, struct arena *arena,
                                     struct agent *out)
{
    enum status status = agent_of_session(call, session, arena, out);
    if (status != STATUS_INTERNAL && status != STATUS_INVALID && status != STATUS_NOT_FOUND) {
        return status;
    }
    log_warn("agent_not_readable", LOG_TEXT("session", session->id), LOG_TEXT("agent", session->agent),
             LOG_TEXT("detail", slice_of(call->failure.detail)));
    agent_set_undefined(out, arena_copy(arena, session->agent));
    out->driver = (enum agent_driver)session->driver;
    out->introspection.enabled = false;
    return STATUS_OK;
}

/* --- the agents of all tenants --- */

static bool is_given(const struct shared_agent *agents, size_t count, struct slice slug)
{
    for (size_t i = 0; i < count; i++) {
        if (slice_eq(agents[i].agent.id, slug)) {
            return true;
        }
    }
    return false;
}

static enum status remove_missing(struct call *call, const struct shared_agent *agents, size_t count)
{
    struct agent_row *rows;
    size_t found = SHARED_PAGE;
    struct slice after = {0};
    enum status status = STATUS_OK;
    while (status == STATUS_OK && found == SHARED_PAGE) {
        status = store_agent_list(call->db, 0, after, SHARED_PAGE, call->arena, &rows, &found, &call->failure);
        for (size_t i = 0; status == STATUS_OK && i < found; i++) {
            bool removed = false;
            after = rows[i].slug;
            if (!is_given(agents, count, after)) {
                status = store_agent_remove(call->db, 0, after, call->now_ms, &removed, &call->failure);
                log_info("agent_removed", LOG_TEXT("agent", after));
            }
        }
    }
    return status;
}

/* Another node may start at the same moment with the same files. */
static enum status share_one(struct call *call, const struct shared_agent *shared)
{
    struct agent_row row;
    bool is_new = false;
    enum status status = keep(call, 0, &shared->agent, shared->source, &row, &is_new);
    if (status == STATUS_CONFLICT) {
        status = keep(call, 0, &shared->agent, shared->source, &row, &is_new);
    }
    if (status == STATUS_OK && is_new) {
        log_info("agent_defined", LOG_TEXT("agent", row.slug), LOG_NUM("version", row.version));
    }
    return status;
}

enum status agent_share(struct call *call, const struct shared_agent *agents, size_t count)
{
    enum status status = remove_missing(call, agents, count);
    for (size_t i = 0; status == STATUS_OK && i < count; i++) {
        status = share_one(call, &agents[i]);
    }
    return status;
}

enum status agent_list(struct call *call, struct slice after, int64_t limit, struct agent_row **out, size_t *out_count)
{
    return store_agent_list(call->db, call->who->tenant_key, after, limit, call->arena, out, out_count, &call->failure);
}

enum status agent_versions(struct call *call, struct slice slug, int64_t before, int64_t limit, struct agent_row **out,
                           size_t *out_count)
{
    enum status status = store_agent_versions(call->db, call->who->tenant_key, slug, before, limit, call->arena, out,
                                              out_count, &call->failure);
    if (status == STATUS_OK && *out_count == 0 && before == 0) {
        return failure_set(&call->failure, STATUS_NOT_FOUND, "agent_not_found", "There is no such agent.");
    }
    return status;
}

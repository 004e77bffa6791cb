#include "service/work/task.h"

#include "domain/merge.h"
#include "service/agent/agent.h"
#include "service/work/entity.h"
#include "service/work/task_internal.h"

static enum status require_admin(struct call *call)
{
    enum status status = entity_check_reach(call);
    if (status == STATUS_OK && access_rank(call->who) < MEMBER_ADMIN) {
        return failure_set(&call->failure, STATUS_FORBIDDEN, "role_required", "This needs the role %s in the tenant.",
                           member_role_enum.names[MEMBER_ADMIN]);
    }
    return status;
}

enum status task_check_agents(struct call *call, const struct task *task)
{
    for (size_t i = 0; i < task->step_count; i++) {
        struct agent_row row;
        struct slice agent = task->steps[i].agent;
        enum status status = slice_present(agent) ? agent_find(call, agent, 0, &row) : STATUS_OK;
        if (status == STATUS_NOT_FOUND) {
            return failure_set(&call->failure, STATUS_INVALID, "unknown_agent",
                               "The step %.*s is for the agent %.*s, which nobody defined.",
                               SLICE_ARG(task->steps[i].id), SLICE_ARG(agent));
        }
        if (status != STATUS_OK) {
            return status;
        }
    }
    return STATUS_OK;
}

static enum status read_checked(struct call *call, const struct json *object, struct task *out)
{
    enum status status =
        task_read(call->arena, object, (size_t)call->service->limits.work.task_steps_max, out, &call->failure);
    if (status == STATUS_OK) {
        status = task_check_agents(call, out);
    }
    return status;
}

static void fill_row(struct call *call, const struct task *task, struct task_row *row)
{
    struct buffer text = {0};
    struct json_out json = json_out_to(&text);
    task_write_definition(&json, task);
    row->id = task->id;
    row->name = task->name;
    row->definition = arena_copy(call->arena, buffer_slice(&text));
    row->version++;
    row->updated_at_ms = call->now_ms;
    row->updated_by = call->who->name;
    buffer_release(&text);
}

enum status task_define(struct call *call, const struct json *object, struct task_row *out)
{
    struct task task;
    enum status status = require_admin(call);
    if (status == STATUS_OK) {
        status = read_checked(call, object, &task);
    }
    if (status != STATUS_OK) {
        return status;
    }
    *out = (struct task_row){.created_at_ms = call->now_ms};
    fill_row(call, &task, out);
    return store_task_insert(call->db, call->who->tenant_key, out, &call->failure);
}

enum status task_find(struct call *call, struct slice id, struct task_row *out)
{
    enum status status = store_task_get(call->db, call->who->tenant_key, id, call->arena, out, &call->failure);
    return status == STATUS_NOT_FOUND ? failure_set(&call->failure, status, "task_not_found", "There is no such task.")
                                      : status;
}

enum status task_of_row(struct call *call, const struct task_row *row, const struct json *patch,
                        const struct json **out)
{
    struct buffer text = {0};
    struct json_out json = json_out_to(&text);
    const struct json *names = NULL;
    json_begin_object(&json);
    json_put_text(&json, "id", row->id);
    json_put_text(&json, "name", row->name);
    json_end_object(&json);
    enum status status = json_parse(call->arena, arena_copy(call->arena, buffer_slice(&text)), &names, &call->failure);
    buffer_release(&text);
    if (status != STATUS_OK) {
        return status;
    }
    struct slice whole = merge_objects(call->arena, row->definition, names);
    whole = patch ? merge_objects(call->arena, whole, patch) : whole;
    return json_parse(call->arena, whole, out, &call->failure);
}

static enum status check_version(struct call *call, const struct task_row *row, int64_t version)
{
    if (version == 0 || version == row->version) {
        return STATUS_OK;
    }
    enum status status = failure_set(&call->failure, STATUS_STALE, "version_changed",
                                     "The task has version %lld by now, not %lld; look at it and try again.",
                                     (long long)row->version, (long long)version);
    failure_members(&call->failure, "\"version\":%lld", (long long)row->version);
    return status;
}

enum status task_change(struct call *call, struct slice id, const struct json *patch, int64_t version,
                        struct task_row *out)
{
    struct task task;
    const struct json *whole = NULL;
    enum status status = require_admin(call);
    if (status == STATUS_OK) {
        status = task_find(call, id, out);
    }
    if (status == STATUS_OK) {
        status = check_version(call, out, version);
    }
    if (status == STATUS_OK) {
        status = task_of_row(call, out, patch, &whole);
    }
    if (status == STATUS_OK) {
        status = read_checked(call, whole, &task);
    }
    if (status != STATUS_OK) {
        return status;
    }
    fill_row(call, &task, out);
    return store_task_update(call->db, call->who->tenant_key, out, &call->failure);
}

enum status task_remove(struct call *call, struct slice id)
{
    struct task_row row;
    bool deleted = false;
    enum status status = require_admin(call);
    if (status == STATUS_OK) {
        status = task_find(call, id, &row);
    }
    if (status != STATUS_OK) {
        return status;
    }
    return store_task_delete(call->db, call->who->tenant_key, id, &deleted, &call->failure);
}

enum status task_list(struct call *call, struct slice after, int64_t limit, struct task_row **out, size_t *out_count)
{
    enum status status = entity_check_reach(call);
    return status == STATUS_OK ? store_task_list(call->db, call->who->tenant_key, after, limit, call->arena, out,
                                                 out_count, &call->failure)
                               : status;
}

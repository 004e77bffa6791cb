#include "service/work/entity.h"
#include "service/work/task_internal.h"

/* What all sessions of one run are made with. */
struct starting {
    struct call *call;
    const struct task *task;
    const struct task_order *order;
    const struct json *source; /* of the steps */
};

static enum status check_order(struct call *call, const struct task *task, const struct task_order *order)
{
    struct entity entity;
    enum status status = task_check_agents(call, task);
    if (status != STATUS_OK || !slice_present(order->entity_id)) {
        return status;
    }
    status = store_entity_get(call->db, call->who->tenant_key, order->entity_id, call->arena, &entity, &call->failure);
    return status == STATUS_NOT_FOUND
               ? failure_set(&call->failure, STATUS_INVALID, "unknown_entity",
                             "`entity_id` names no entity of the tenant; make it first, or leave it out.")
               : status;
}

static enum status make_session(const struct starting *starting, struct session_input *input,
                                struct loaded_session **out)
{
    struct session_access entry;
    bool created;
    input->task_id = starting->task->id;
    input->entity_id = starting->order->entity_id;
    input->ttl_ms = -1;
    enum status status = session_create(starting->call, input, &entry, &created);
    if (status == STATUS_OK) {
        *out = entry.loaded;
    }
    return status;
}

static enum status make_parent(const struct starting *starting, struct loaded_session **out)
{
    struct session_input input = {
        .type = slice_of(session_type_enum.names[TYPE_MIXED]),
        .status = slice_of(session_status_enum.names[SESSION_RUNNING]),
        .purpose = SLICE("workflow"),
        .title = starting->task->name,
        .source = starting->order->source ? starting->order->source : starting->source,
    };
    return make_session(starting, &input, out);
}

static struct slice metadata_of(struct arena *arena, const struct task_step *step)
{
    return arena_format(arena, "{\"step\":\"%.*s\"}", SLICE_ARG(step->id)); /* ids are plain */
}

static enum status keep_step(struct call *call, const struct task_step *step, int64_t position,
                             const struct loaded_session *parent, const struct loaded_session *session)
{
    struct buffer text = {0};
    struct json_out json = json_out_to(&text);
    task_write_step(&json, step);
    struct step_row row = {
        .session_key = session->session.key,
        .parent_key = parent ? parent->session.key : 0,
        .position = position,
        .definition = buffer_slice(&text),
    };
    enum status status = store_step_insert(call->db, session->session.tenant_key, &row, &call->failure);
    buffer_release(&text);
    return status;
}

static enum status make_step(const struct starting *starting, size_t position, const struct loaded_session *parent,
                             struct loaded_session **out)
{
    struct call *call = starting->call;
    const struct task_step *step = &starting->task->steps[position];
    bool human = !slice_present(step->agent);
    struct slice title =
        parent ? arena_format(call->arena, "%.*s: %.*s", SLICE_ARG(starting->task->name), SLICE_ARG(step->name))
               : starting->task->name;
    struct session_input input = {
        .type = slice_of(session_type_enum.names[human ? TYPE_RESPONSE : TYPE_AGENT]),
        .status = slice_of(session_status_enum.names[human || step->after ? SESSION_DRAFT : SESSION_PENDING]),
        .agent = step->agent,
        .title = slice_utf8_prefix(title, call->service->limits.session.title_chars_max),
        .prompt = task_brief(call->arena, starting->task, step,
                             starting->order->input ? starting->order->input->raw : (struct slice){0}),
        .parent_id = parent ? parent->session.id : (struct slice){0},
        .source = !parent && starting->order->source ? starting->order->source : starting->source,
    };
    enum status status = json_parse(call->arena, metadata_of(call->arena, step), &input.metadata, &call->failure);
    if (status == STATUS_OK) {
        status = make_session(starting, &input, out);
    }
    return status == STATUS_OK ? keep_step(call, step, (int64_t)position, parent, *out) : status;
}

static enum status read_task(struct call *call, struct slice id, struct task *out)
{
    struct task_row row;
    const struct json *whole = NULL;
    enum status status = task_find(call, id, &row);
    if (status == STATUS_OK) {
        status = task_of_row(call, &row, NULL, &whole);
    }
    return status == STATUS_OK ? task_read(call->arena, whole, TASK_STEPS_MAX, out, &call->failure) : status;
}

enum status task_start(struct call *call, struct slice id, const struct task_order *order, struct started_task *out)
{
    struct starting starting = {.call = call, .task = &out->task, .order = order};
    struct loaded_session *parent = NULL;
    enum status status = entity_check_reach(call);
    if (status == STATUS_OK) {
        status = read_task(call, id, &out->task);
    }
    if (status == STATUS_OK) {
        status = check_order(call, &out->task, order);
    }
    if (status == STATUS_OK) {
        struct slice source =
            arena_format(call->arena, "{\"kind\":\"task\",\"trigger_id\":\"%.*s\"}", SLICE_ARG(out->task.id));
        status = json_parse(call->arena, source, &starting.source, &call->failure);
    }
    if (status == STATUS_OK && out->task.step_count > 1) {
        status = make_parent(&starting, &parent);
    }
    for (size_t i = 0; i < out->task.step_count && status == STATUS_OK; i++) {
        status = make_step(&starting, i, parent, &out->steps[i]);
    }
    out->run = parent ? parent : out->steps[0];
    return status;
}

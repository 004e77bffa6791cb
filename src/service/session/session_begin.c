#include "service/agent/persona.h"
#include "service/session/session_internal.h"

enum { IDLE_DEFAULT_MS = 900000, IDLE_MS_MIN = 1000 };

/* The agent's own word counts before the user's, the request's before both. */
static void wish(struct session_input *input, const struct preferences *wishes)
{
    const struct agent *agent = input->definition;
    bool agent_queues = agent && agent->queue_mode >= 0;
    bool agent_idles = agent && agent->idle_timeout_ms != IDLE_DEFAULT_MS;
    if (!slice_present(input->queue_mode) && !agent_queues && wishes->queue_mode >= 0) {
        input->queue_mode = slice_of(queue_mode_enum.names[wishes->queue_mode]);
    }
    if (input->idle_timeout_ms == 0 && !agent_idles) {
        input->idle_timeout_ms = wishes->idle_timeout_ms;
    }
}

static enum status apply_wishes(struct call *call, struct session_input *input)
{
    struct preferences wishes;
    if (!slice_present(call->who->user_id)) {
        return STATUS_OK;
    }
    enum status status = preferences_of(call, &wishes);
    if (status == STATUS_OK) {
        wish(input, &wishes);
    }
    return status;
}

/* Whoever names a sandbox that the server will stop one day must be trusted with those of others. */
static enum status check_given_sandbox(struct call *call, const struct session_input *input)
{
    const struct agent *agent = input->definition;
    bool acts = agent && agent_has_sandbox(agent);
    if (input->sandbox && acts && access_rank(call->who) < MEMBER_ADMIN) {
        return failure_set(&call->failure, STATUS_FORBIDDEN, "role_required",
                           "`sandbox` of an agent with a remote backend needs the role %s in the tenant.",
                           member_role_enum.names[MEMBER_ADMIN]);
    }
    if (input->starts_sandbox && (!agent || !agent_has_sandbox(agent))) {
        return failure_set(&call->failure, STATUS_INVALID, "no_sandbox",
                           "`start` makes the sandbox of the agent at once; this agent has none.");
    }
    return STATUS_OK;
}

static void put_persona(struct json_out *out, const struct persona *persona)
{
    json_put_text(out, "persona_id", persona->id);
    json_key(out, "persona");
    json_begin_object(out);
    json_put_text(out, "id", persona->id);
    json_put_text(out, "name", persona->name);
    json_put_text(out, "prompt", persona->prompt);
    json_end_object(out);
}

enum status session_equip(struct call *call, struct session_input *input)
{
    struct persona persona;
    struct buffer buffer = {0};
    struct json_out out = json_out_to(&buffer);
    bool has_persona = slice_present(input->persona);
    enum status status = check_given_sandbox(call, input);
    if (status == STATUS_OK && has_persona) {
        status = persona_find(call, input->persona, &persona);
    }
    if (status == STATUS_OK) {
        status = apply_wishes(call, input);
    }
    if (status != STATUS_OK || (!has_persona && input->idle_timeout_ms == 0)) {
        return status;
    }
    json_begin_object(&out);
    if (has_persona) {
        put_persona(&out, &persona);
    }
    if (input->idle_timeout_ms > 0) {
        json_put_i64(&out, "idle_timeout_ms", input->idle_timeout_ms);
    }
    json_end_object(&out);
    struct slice text = arena_copy(call->arena, buffer_slice(&buffer));
    buffer_release(&buffer);
    return json_parse(call->arena, text, &input->served, &call->failure);
}

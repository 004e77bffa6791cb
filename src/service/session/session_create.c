#include <assert.h>

#include "service/agent/agent.h"
#include "service/session/channel.h"
#include "service/session/session_end.h"
#include "service/session/session_internal.h"
#include "service/identity/secret.h"
#include "service/work/step.h"

static enum status check_limit(struct call *call, const struct session_input *input, const struct session *parent)
{
    bool interactive = !slice_present(input->purpose) || slice_is(input->purpose, "interactive");
    bool child_of_orchestrator = parent && parent->purpose == PURPOSE_ORCHESTRATOR;
    return interactive && !child_of_orchestrator ? session_check_limit(call, call->who->user_id) : STATUS_OK;
}

static enum status find_parent(struct call *call, struct slice parent_id, struct loaded_session **out)
{
    *out = NULL;
    if (!slice_present(parent_id)) {
        return STATUS_OK;
    }
    struct session_access entry;
    enum status status = session_authorize(call, parent_id, ACTION_APPEND, &entry);
    if (status == STATUS_OK) {
        *out = entry.loaded;
    } else if (status == STATUS_NOT_FOUND) {
        return failure_set(
            &call->failure, STATUS_INVALID, "unknown_parent",
            "`parent_id` names no session you can reach; give the id of an existing session or leave it out.");
    }
    return status;
}

static enum status check_children(struct call *call, const struct session *parent)
{
    int64_t children = 0;
    enum status status = transaction_flush(call->transaction, &call->failure);
    if (status == STATUS_OK) {
        status = store_session_count_children(call->db, parent->tenant_key, parent->id, &children, &call->failure);
    }
    if (status == STATUS_OK && children >= call->service->limits.sessions.children_max) {
        return failure_set(&call->failure, STATUS_LIMITED, "too_many_children",
                           "A session has at most %lld children (option children-max).",
                           (long long)call->service->limits.sessions.children_max);
    }
    return status;
}

/* The previous human session of this user ends when a new one begins (design: completed, reason superseded). */
static enum status supersede_human(struct call *call)
{
    struct session previous;
    enum status status = transaction_flush(call->transaction, &call->failure);
    if (status == STATUS_OK) {
        status = store_session_active_human(call->db, call->who->tenant_key, call->who->user_id, call->arena, &previous,
                                            &call->failure);
    }
    if (status == STATUS_NOT_FOUND) {
        return STATUS_OK;
    }
    struct loaded_session *loaded;
    if (status == STATUS_OK) {
        status = transaction_load(call->transaction, call->who->tenant_key, previous.id, &loaded, &call->failure);
    }
    return status == STATUS_OK ? session_end(call, loaded, STOP_SUPERSEDED, "superseded") : status;
}

static enum status pick_id(struct call *call, struct slice given, struct slice *out)
{
    struct slice prefix = call->who->id_prefix;
    if (!slice_present(given)) {
        char uuid[UUID_TEXT_BYTES];
        id_uuid7(call->service->ids, call->now_ms, uuid);
        *out = arena_format(call->arena, "%.*s%s", SLICE_ARG(prefix), uuid);
        return STATUS_OK;
    }
    if (!session_id_is_valid(given)) {
        return failure_set(&call->failure, STATUS_INVALID, "invalid_id",
                           "id must be 1 to 128 characters of A-Z a-z 0-9 . _ : - and not only one or two dots.");
    }
    if (slice_is(given, "join") || slice_is(given, "bulk-delete")) { /* their paths would lead elsewhere */
        return failure_set(&call->failure, STATUS_INVALID, "invalid_id",
                           "%.*s is the name of a route; choose another id.", SLICE_ARG(given));
    }
    if (slice_present(prefix) && !slice_starts(given, prefix)) {
        return failure_set(&call->failure, STATUS_FORBIDDEN, "id_prefix",
                           "This token only reaches ids that begin with \"%.*s\".", SLICE_ARG(prefix));
    }
    *out = given;
    return STATUS_OK;
}

static enum status open_existing(struct call *call, const struct session_input *input, struct session_access *out)
{
    struct session_access entry;
    enum status status = session_authorize(call, input->id, ACTION_APPEND, &entry);
    if (status == STATUS_NOT_FOUND) {
        return failure_set(&call->failure, STATUS_CONFLICT, "id_taken", "This id cannot be used; choose another.");
    }
    struct changes changes = {0};
    if (status == STATUS_OK) {
        status = change_open(call->arena, &entry.loaded->session, input, &call->service->limits.session, &changes,
                             &call->failure);
    }
    if (status == STATUS_OK && changes.count > 0) {
        status = session_revive(call, entry.loaded, &changes);
    }
    if (status == STATUS_OK) {
        *out = entry;
    }
    return status;
}

static enum status check_unused(struct call *call, struct slice id)
{
    bool deleted = false;
    enum status status = store_tombstone_exists(call->db, call->who->tenant_key, id, &deleted, &call->failure);
    if (status == STATUS_OK && deleted) {
        return failure_set(&call->failure, STATUS_GONE, "session_deleted",
                           "A session with this id was deleted; ids are not used again. Choose another.");
    }
    return status;
}

/* A source may be an object or just its kind. */
static bool names_human_bridge(const struct session_input *input)
{
    struct slice kind = json_text_of(input->source, "kind");
    json_as_text(input->source, &kind);
    return slice_is(kind, SOURCE_HUMAN_BRIDGE);
}

static enum status create_new(struct call *call, const struct session_input *input, struct slice id,
                              struct session_access *out)
{
    struct loaded_session *parent;
    enum status status = find_parent(call, input->parent_id, &parent);
    if (status == STATUS_OK && parent) {
        status = check_children(call, &parent->session);
    }
    if (status == STATUS_OK) {
        status = check_limit(call, input, parent ? &parent->session : NULL);
    }
    struct changes changes = {0};
    if (status == STATUS_OK) {
        status = change_create(call->arena, input, &call->service->limits.session, id, call->who->user_id, call->now_ms,
                               &changes, &call->failure);
    }
    if (status == STATUS_OK && names_human_bridge(input)) {
        status = supersede_human(call);
    }
    struct loaded_session *loaded = NULL;
    if (status == STATUS_OK) {
        status = transaction_create(call, call->who->tenant_key, id, &changes, &loaded);
    }
    if (status == STATUS_OK) {
        status = session_start_timers(call, loaded);
    }
    if (status == STATUS_OK) {
        status = channel_bind_web(call, loaded);
    }
    if (status == STATUS_OK && parent) {
        status = session_tell_parent(call, parent, EVENT_SESSION_CHILD_CREATED, &loaded->session);
    }
    if (status == STATUS_OK) {
        *out = (struct session_access){loaded, ACCESS_OWNER, false};
    }
    return status;
}

static enum status check_no_secret(struct call *call, const struct session_input *input)
{
    const struct json *parts[] = {input->metadata, input->details, input->agent_config, input->source, input->sandbox};
    enum status status = secret_check_text(call, input->prompt);
    if (status == STATUS_OK) {
        status = secret_check_text(call, input->title);
    }
    for (size_t i = 0; i < sizeof parts / sizeof parts[0] && status == STATUS_OK; i++) {
        status = parts[i] ? secret_check_json(call, parts[i]->raw) : STATUS_OK;
    }
    return status;
}

enum status session_create(struct call *call, const struct session_input *input, struct session_access *out,
                           bool *out_created)
{
    assert(call_writes(call));
    struct slice id;
    enum status status = check_no_secret(call, input);
    if (status == STATUS_OK) {
        status = pick_id(call, input->id, &id);
    }
    if (status != STATUS_OK) {
        return status;
    }
    if (slice_present(call->who->session_id) && !slice_eq(call->who->session_id, id)) {
        return failure_set(&call->failure, STATUS_FORBIDDEN, "session_bound",
                           "This credential reaches one session and cannot make others.");
    }
    *out_created = true;
    if (slice_present(input->id)) {
        struct loaded_session *existing;
        status = transaction_load(call->transaction, call->who->tenant_key, id, &existing, &call->failure);
        if (status == STATUS_OK) {
            *out_created = false;
            return open_existing(call, input, out);
        }
        if (status == STATUS_NOT_FOUND) {
            status = check_unused(call, id);
        }
    }
    struct session_input resolved = *input;
    if (status == STATUS_OK) {
        status = agent_for_new(call, input->agent, &resolved.definition);
    }
    if (status == STATUS_OK && resolved.definition && json_is(input->agent_config, JSON_OBJECT)) {
        status = agent_check_narrowing(call, resolved.definition, input->agent_config);
    }
    if (status == STATUS_OK) {
        status = session_equip(call, &resolved);
    }
    return status == STATUS_OK ? create_new(call, &resolved, id, out) : status;
}

/* A retry has the same agent in the same version, whatever became of it since. */
static enum status keep_agent(struct call *call, const struct session *old, struct session_input *input)
{
    struct session whole = *old;
    struct agent *agent = arena_alloc(call->arena, sizeof *agent);
    if (!old->agent_version) {
        return STATUS_OK;
    }
    whole.agent_config = (struct slice){0};
    input->definition = agent;
    enum status status = agent_of_session(call, &whole, call->arena, agent);
    if (status == STATUS_OK && slice_present(old->agent_config)) {
        status =
            json_parse(call->arena, arena_copy(call->arena, old->agent_config), &input->agent_config, &call->failure);
    }
    return status;
}

/* Where it came from, as a creation is told. */
static enum status read_source(struct call *call, const struct session *old, const struct json **out)
{
    struct buffer text = {0};
    struct json_out json = json_out_to(&text);
    json_begin_object(&json);
    json_maybe_text(&json, "kind", old->source_kind);
    json_maybe_text(&json, "platform", old->source_platform);
    json_maybe_text(&json, "trigger_id", old->source_trigger_id);
    json_put_bool(&json, "interactive", old->source_interactive);
    json_end_object(&json);
    struct slice kept = arena_copy(call->arena, buffer_slice(&text));
    buffer_release(&text);
    return json_parse(call->arena, kept, out, &call->failure);
}

/* What would have to be sent to make this session once more. */
static enum status retry_input(struct call *call, const struct session *old, struct session_input *out)
{
    *out = (struct session_input){
        .type = slice_of(session_type_enum.names[old->type]),
        .agent = old->agent,
        .title = old->title,
        .workspace = old->workspace,
        .parent_id = old->parent_id,
        .task_id = old->task_id,
        .entity_id = old->entity_id,
        .visibility = slice_of(visibility_enum.names[old->visibility]),
        .prompt = old->initial_prompt,
        .purpose = slice_of(purpose_enum.names[old->purpose]),
        .queue_mode = slice_of(queue_mode_enum.names[old->queue_mode]),
        .retry_of = old->id,
        .priority = old->priority,
        .attempt = old->attempt + 1,
        .ttl_ms = -1,
    };
    enum status status = read_source(call, old, &out->source);
    if (status == STATUS_OK && slice_present(old->metadata)) {
        status = json_parse(call->arena, arena_copy(call->arena, old->metadata), &out->metadata, &call->failure);
    }
    return status == STATUS_OK ? keep_agent(call, old, out) : status;
}

enum status session_retry(struct call *call, struct slice id, struct session_access *out)
{
    assert(call_writes(call));
    struct session_access entry;
    struct session_input input;
    struct slice new_id;
    enum status status = session_authorize(call, id, ACTION_APPEND, &entry);
    if (status != STATUS_OK) {
        return status;
    }
    const struct session *old = &entry.loaded->session;
    if (!session_can_retry(old)) {
        return failure_set(&call->failure, STATUS_CONFLICT, "not_failed",
                           "Only a failed, expired or abandoned session can be retried; this one is %s.",
                           session_status_enum.names[old->status]);
    }
    status = retry_input(call, old, &input);
    if (status == STATUS_OK) {
        status = step_check_retry(call, old);
    }
    if (status == STATUS_OK) {
        status = pick_id(call, (struct slice){0}, &new_id);
    }
    if (status == STATUS_OK) {
        status = create_new(call, &input, new_id, out);
    }
    return status == STATUS_OK ? step_copy(call, old, &out->loaded->session) : status;
}

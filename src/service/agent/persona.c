#include "service/agent/persona.h"

#include "domain/input.h"
#include "service/identity/identity_rows.h"

static enum status not_found(struct call *call)
{
    return failure_set(&call->failure, STATUS_NOT_FOUND, "persona_not_found", "There is no such persona for you.");
}

static enum status require_user(struct call *call)
{
    if (!slice_present(call->who->user_id)) {
        return failure_set(&call->failure, STATUS_FORBIDDEN, "user_required",
                           "Only users have personas and preferences.");
    }
    return STATUS_OK;
}

static bool is_own(const struct call *call, const struct persona *persona)
{
    return slice_present(call->who->user_id) && slice_eq(persona->owner, call->who->user_id);
}

enum status persona_find(struct call *call, struct slice id, struct persona *out)
{
    enum status status = store_persona_get(call->db, call->who->tenant_key, id, call->arena, out, &call->failure);
    if (status == STATUS_NOT_FOUND || (status == STATUS_OK && !out->shared && !is_own(call, out))) {
        return not_found(call);
    }
    return status;
}

/* --- changes --- */

static enum status check_texts(struct call *call, const struct persona_request *request)
{
    enum status status = input_check_name(request->id, "id", NAME_BYTES_MAX, &call->failure);
    if (status == STATUS_OK) {
        status =
            input_check_chars(request->name, "name", 1, call->service->limits.session.title_chars_max, &call->failure);
    }
    if (status == STATUS_OK) {
        status = input_check_chars(request->prompt, "prompt", 1, call->service->limits.session.prompt_chars_max,
                                   &call->failure);
    }
    return status;
}

static enum status check_room(struct call *call)
{
    int64_t count = 0;
    enum status status =
        store_persona_count(call->db, call->who->tenant_key, call->who->user_id, &count, &call->failure);
    if (status == STATUS_OK && count >= call->service->limits.people.personas_per_user_max) {
        return failure_set(&call->failure, STATUS_LIMITED, "too_many_personas",
                           "One user has at most %lld personas (option personas-per-user-max); delete one.",
                           (long long)call->service->limits.people.personas_per_user_max);
    }
    return status;
}

static enum status find_changeable(struct call *call, struct slice id, struct persona *out)
{
    enum status status = persona_find(call, id, out);
    if (status == STATUS_OK && !is_own(call, out) && access_rank(call->who) < MEMBER_ADMIN) {
        return failure_set(&call->failure, STATUS_FORBIDDEN, "owner_required",
                           "Only its owner or an admin changes a shared persona.");
    }
    return status;
}

static enum status begin_new(struct call *call, const struct persona_request *request, struct persona *out)
{
    struct persona existing;
    struct slice id = slice_present(request->id) ? request->id : identity_new_id(call);
    enum status status = check_room(call);
    if (status == STATUS_OK) {
        status = store_persona_get(call->db, call->who->tenant_key, id, call->arena, &existing, &call->failure);
    }
    if (status == STATUS_OK) {
        return failure_set(&call->failure, STATUS_CONFLICT, "id_taken", "This id cannot be used; choose another.");
    }
    *out = (struct persona){
        .tenant_key = call->who->tenant_key,
        .id = id,
        .owner = call->who->user_id,
        .created_at_ms = call->now_ms,
    };
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

enum status persona_put(struct call *call, const struct persona_request *request, bool create, struct persona *out)
{
    enum status status = require_user(call);
    if (status == STATUS_OK) {
        status = check_texts(call, request);
    }
    if (status == STATUS_OK) {
        status = create ? begin_new(call, request, out) : find_changeable(call, request->id, out);
    }
    if (status != STATUS_OK) {
        return status;
    }
    out->name = slice_present(request->name) ? request->name : out->name;
    out->prompt = slice_present(request->prompt) ? request->prompt : out->prompt;
    out->shared = request->shared >= 0 ? request->shared != 0 : out->shared;
    out->updated_at_ms = call->now_ms;
    return store_persona_put(call->db, out, &call->failure);
}

enum status persona_delete(struct call *call, struct slice id)
{
    struct persona persona;
    enum status status = require_user(call);
    if (status == STATUS_OK) {
        status = find_changeable(call, id, &persona);
    }
    if (status != STATUS_OK) {
        return status;
    }
    return store_persona_delete(call->db, persona.tenant_key, id, &call->failure);
}

/* --- preferences --- */

enum status preferences_of(struct call *call, struct preferences *out)
{
    enum status status = require_user(call);
    return status == STATUS_OK
               ? store_preferences_get(call->db, call->who->tenant_key, call->who->user_id, out, &call->failure)
               : status;
}

enum status preferences_update(struct call *call, const struct preferences *told, struct preferences *out)
{
    enum status status = preferences_of(call, out);
    if (status != STATUS_OK) {
        return status;
    }
    out->idle_timeout_ms = told->idle_timeout_ms > 0 ? told->idle_timeout_ms : out->idle_timeout_ms;
    out->queue_mode = told->queue_mode >= 0 ? told->queue_mode : out->queue_mode;
    return store_preferences_put(call->db, call->who->tenant_key, call->who->user_id, out, &call->failure);
}

enum status persona_list(struct call *call, struct slice after, int64_t limit, struct persona **out, size_t *out_count)
{
    struct slice self = slice_present(call->who->user_id) ? call->who->user_id : SLICE("");
    return store_persona_list(call->db, call->who->tenant_key, self, after, limit, call->arena, out, out_count,
                              &call->failure);
}

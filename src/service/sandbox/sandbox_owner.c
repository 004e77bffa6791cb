#include <assert.h>

#include "service/sandbox/sandbox_owner.h"

#include "service/sandbox/runtime.h"

/* Sandboxes elsewhere than on this machine belong to no node, and a session with a runner goes where that connects. */
static bool belongs_to_a_node(const struct call *call, const struct session *session, const struct agent *agent)
{
    return slice_present(call->service->node) && agent->sandbox.kind == SANDBOX_LOCAL &&
           session->driver != DRIVER_RUNNER;
}

enum status sandbox_owner_find(struct call *call, const struct session *session, const struct agent *agent,
                               struct host_place *out)
{
    *out = (struct host_place){.at = HOST_HERE};
    if (!belongs_to_a_node(call, session, agent)) {
        return STATUS_OK;
    }
    struct sandbox_host host;
    enum status status =
        store_host_get(call->db, session->tenant_key, session->key, call->arena, &host, &call->failure);
    if (status != STATUS_OK) {
        return status;
    }
    out->counts = true;
    out->node = host.node;
    if (!slice_present(host.node)) {
        out->at = HOST_NOWHERE;
    } else if (!slice_eq(host.node, call->service->node)) {
        out->at = host.expires_at_ms > call->steady_ms ? HOST_ELSEWHERE : HOST_LOST;
    }
    return STATUS_OK;
}

static enum status append(struct call *call, struct loaded_session *loaded, struct changes *changes)
{
    return changes->count > 0 ? runtime_append(call, loaded, changes) : STATUS_OK;
}

/* Only what it could be restored from outlives its node, and that only where this node reaches it. */
enum status sandbox_owner_take_over(struct call *call, struct loaded_session *loaded, const struct host_place *place,
                                    bool snapshot_kept)
{
    assert(call_writes(call));
    const struct session *session = &loaded->session;
    bool has_snapshot = session_has_snapshot(session);
    bool sleeps_well = runtime_is_hibernated(session->runtime) && snapshot_kept;
    struct changes changes = {0};
    struct runtime_update news = {.sandbox_over = true, .snapshot_over = has_snapshot && !snapshot_kept};
    enum pause_reason pause = session_status_is_ended(session->status) ? PAUSE_NONE : PAUSE_ORPHANED;
    enum status status = STATUS_OK;
    if (!sleeps_well && runtime_is_something(session->runtime)) {
        change_runtime_lost(call->arena, session, place->node, snapshot_kept, &changes);
        status = append(call, loaded, &changes);
        if (status == STATUS_OK) {
            status = change_sandbox(call->arena, session, RUNTIME_ERROR, pause, "node_lost", &news, &changes,
                                    &call->failure);
        }
        status = status == STATUS_OK ? append(call, loaded, &changes) : status;
    }
    return status == STATUS_OK ? store_host_delete(call->db, session->tenant_key, session->key, &call->failure)
                               : status;
}

enum status sandbox_owner_keep(struct call *call, const struct session *session, const struct host_place *place,
                               bool needed)
{
    if (!place->counts) {
        return STATUS_OK;
    }
    bool is_mine = place->at == HOST_HERE;
    if (needed && !is_mine) {
        return store_host_put(call->db, session->tenant_key, session->key, call->service->node, &call->failure);
    }
    if (!needed && is_mine) {
        return store_host_delete(call->db, session->tenant_key, session->key, &call->failure);
    }
    return STATUS_OK;
}

#include <stdlib.h>

#include "base/log.h"
#include "service/turn/introspection.h"
#include "service/turn/turn_close.h"
#include "service/turn/turn_run.h"

enum { LOOK_AGAIN_MS = 30000 };

void turn_free(struct turn *turn)
{
    turn_snapshot_forget(turn);
    turn_op_free_all(turn->queue);
    turn_op_free_all(turn->writing);
    secret_streams_release(&turn->live);
    buffer_release(&turn->live_key);
    turn_text_release(turn);
    arena_release(&turn->arena);
    arena_release(&turn->log_arena);
    arena_release(&turn->names_arena);
    free(turn);
}
static void add_found(struct call *call, struct turn_host *host, const struct claimed *claimed)
{
    const struct session *session = &claimed->loaded->session;
    struct turn *turn = memory_zeroed(sizeof *turn);
    turn->host_calls = &turn_host_calls;
    turn->host = host;
    turn->queue_end = &turn->queue;
    turn->input.loop = host->options.loop;
    turn->input.tenant_key = session->tenant_key;
    turn->input.session_key = session->key;
    turn->input.session_id = arena_copy(&turn->arena, session->id);
    turn->input.number = claimed->fence;
    turn->actor = arena_format(&turn->arena, "agent:%.*s", SLICE_ARG(session->agent));
    turn->driver = host->options.drivers[session->driver];
    turn->sequence = turn->log_read_to = session->last_sequence;
    turn->lease_ms = claimed->expires_at_ms - call->now_ms;
    memcpy(turn->lease, claimed->token, sizeof turn->lease);
    turn->next = host->found;
    host->found = turn;
}

static void forget_found(struct turn_host *host)
{
    while (host->found) {
        struct turn *turn = host->found;
        host->found = turn->next;
        turn_free(turn);
    }
}

static enum status claim_in(struct call *call, struct turn_host *host, int64_t tenant_key, int64_t max, int64_t *room)
{
    struct principal principal = turn_principal(tenant_key, SLICE(TURN_HOST_NAME));
    struct claim_request request = {.worker = principal.name, .hosted = true, .max = max};
    struct claimed claimed[CLAIM_BATCH_MAX];
    size_t count = 0;
    call->who = &principal;
    enum status status = claim_take(call, &request, claimed, &count);
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        add_found(call, host, &claimed[i]);
    }
    *room -= (int64_t)count;
    return status;
}

/* Of those taken before this try, and of those that became ready since; what there is no room for is not taken. */
static enum status claim_ready(struct call *call, struct turn_host *host, int64_t *room)
{
    const struct turn_host_options *options = &host->options;
    size_t most = *room < TURN_CANDIDATES_MAX ? (size_t)*room : TURN_CANDIDATES_MAX;
    enum status status = STATUS_OK;
    if (options->take_ready && host->ready_count < most) {
        host->ready_count +=
            options->take_ready(options->ready_owner, host->ready + host->ready_count, most - host->ready_count);
    }
    for (size_t i = 0; i < host->ready_count && status == STATUS_OK; i++) {
        struct principal principal = turn_principal(host->ready[i].tenant_key, SLICE(TURN_HOST_NAME));
        struct claim_request request = {.worker = principal.name, .hosted = true, .max = 1};
        struct claimed claimed;
        bool taken = false;
        call->who = &principal;
        status = claim_take_key(call, &request, host->ready[i].session_key, &claimed, &taken);
        if (taken) {
            add_found(call, host, &claimed);
            (*room)--;
        }
    }
    return status;
}

/* Those behind the tenant that was served last come first, so that one with a long queue starves nobody. */
static size_t first_to_serve(const struct turn_host *host, const struct tenant *tenants, size_t count)
{
    size_t at = 0;
    while (at < count && tenants[at].key <= host->served_tenant) {
        at++;
    }
    return at < count ? at : 0;
}

/* Each tenant gets at most `share`; tells whether one may have wanted more. */
static enum status claim_round(struct call *call, struct turn_host *host, const struct tenant *tenants, size_t count,
                               int64_t share, int64_t *room, bool *out_is_more)
{
    size_t first = first_to_serve(host, tenants, count);
    enum status status = STATUS_OK;
    *out_is_more = false;
    for (size_t i = 0; i<count && * room> 0 && status == STATUS_OK; i++) {
        int64_t key = tenants[(first + i) % count].key, before = *room, max = share < before ? share : before;
        status = claim_in(call, host, key, max, room);
        *out_is_more |= before - *room == max;
        host->served_tenant = *room < before ? key : host->served_tenant;
    }
    return status;
}

/* What the shares of others leave goes to whoever has more to do. */
static enum status claim_everywhere(struct call *call, struct turn_host *host)
{
    struct tenant *tenants;
    size_t count = 0;
    bool is_more = false;
    int64_t room = host->options.limits.max - host->count;
    if (room <= 0) {
        return STATUS_OK;
    }
    enum status status = claim_ready(call, host, &room);
    if (status == STATUS_OK) {
        status = store_tenant_list(call->db, call->arena, &tenants, &count, &call->failure);
    }
    int64_t share = count > 0 && room / (int64_t)count > 1 ? room / (int64_t)count : 1;
    if (status == STATUS_OK) {
        status = claim_round(call, host, tenants, count, share, &room, &is_more);
    }
    if (status == STATUS_OK && is_more && room > 0) {
        status = claim_round(call, host, tenants, count, room, &room, &is_more);
    }
    return status;
}

/* Where nobody else writes, a lease of a host that is found at its start belongs to a life before. Otherwise it may be
 * another node's, and runs out by itself. */
static enum status abort_orphans(struct call *call, struct turn_host *host)
{
    struct lease *leases;
    size_t count = 0;
    if (host->orphans_aborted || db_has_other_writers(call->db)) {
        return STATUS_OK;
    }
    enum status status =
        store_lease_of_worker(call->db, SLICE(TURN_HOST_NAME), call->arena, &leases, &count, &call->failure);
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        struct loaded_session *loaded;
        status = transaction_load_key(call->transaction, leases[i].tenant_key, leases[i].session_key, &loaded,
                                      &call->failure);
        if (status == STATUS_OK) {
            status = turn_abort(call, loaded, "server_restarted");
        }
    }
    return status == STATUS_OK ? introspection_recover(call) : status;
}

static enum status claim_run(struct call *call, struct command *command)
{
    struct turn_host *host = (struct turn_host *)command;
    int64_t writes_before = transaction_writes(call->transaction);
    forget_found(host);
    if (host->stopping) {
        return STATUS_OK;
    }
    enum status status = abort_orphans(call, host);
    if (status == STATUS_OK) {
        status = claim_everywhere(call, host);
    }
    if (status == STATUS_OK && !host->found && transaction_writes(call->transaction) == writes_before) {
        command->waits = true;
        command->waits_until_ms = call->steady_ms + LOOK_AGAIN_MS;
        host->orphans_aborted = true;
        host->ready_count = 0;
    }
    return status;
}

static void claim_finish(struct command *command, enum status status, const struct failure *failure)
{
    struct turn_host *host = (struct turn_host *)command;
    host->claim_failed = status != STATUS_OK;
    if (status != STATUS_OK) {
        forget_found(host);
        log_warn("agent_claim_failed", LOG_TEXT("code", slice_of(failure->code)),
                 LOG_TEXT("detail", slice_of(failure->detail)));
    } else {
        host->orphans_aborted = true;
        host->ready_count = 0;
    }
    loop_post(host->options.loop, &host->claimed_message);
}

const struct command_type turn_host_claim = {"turn.claim", COMMAND_STANDING, claim_run, claim_finish};

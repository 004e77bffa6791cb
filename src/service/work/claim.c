#include "service/work/claim.h"

#include <assert.h>

#include "base/hash.h"
#include "domain/merge.h"
#include "service/ask/ask.h"
#include "service/session/session.h"
#include "service/turn/turn.h"
#include "service/turn/turn_close.h"
#include "service/turn/turn_partial.h"
#include "service/work/step.h"

struct candidates {
    struct candidate items[CLAIM_BATCH_MAX];
    size_t count;
};

/* Keeps the best `max`, in order. */
static void candidates_add(struct candidates *candidates, const struct candidate *one, size_t max)
{
    size_t at = candidates->count;
    while (at > 0 && candidate_goes_before(one, &candidates->items[at - 1])) {
        at--;
    }
    if (at >= max) {
        return;
    }
    if (candidates->count < max) {
        candidates->count++;
    }
    for (size_t i = candidates->count - 1; i > at; i--) {
        candidates->items[i] = candidates->items[i - 1];
    }
    candidates->items[at] = *one;
}

static enum status read_queue(struct call *call, const struct queue_filter *filter, size_t max, struct candidate *out,
                              size_t *out_count)
{
    int64_t keys[CLAIM_BATCH_MAX], priorities[CLAIM_BATCH_MAX], queued[CLAIM_BATCH_MAX];
    struct claim_search search = {
        .tenant_key = filter->tenant_key,
        .agent = filter->agent,
        .type = filter->type,
        .id_prefix = call->who->id_prefix,
        .limit = (int64_t)max,
        .hosted = filter->hosted,
        .node = call->service->node,
        .steady_ms = call->steady_ms,
    };
    enum status status = transaction_flush(call->transaction, &call->failure);
    if (status == STATUS_OK) {
        status = store_claim_candidates(call->db, &search, keys, priorities, queued, out_count, &call->failure);
    }
    for (size_t i = 0; status == STATUS_OK && i < *out_count; i++) {
        out[i] = (struct candidate){keys[i], priorities[i], queued[i]};
    }
    return status;
}

/* Another node may change what is in memory here, and an id prefix is asked for by few. */
static bool may_remember(const struct call *call)
{
    return !db_has_other_writers(call->db) && !slice_present(call->who->id_prefix);
}

static enum status look_for(struct call *call, const struct queue_filter *filter, size_t max,
                            struct candidates *candidates)
{
    static_assert((int)QUEUE_HEAD_ROOM <= (int)CLAIM_BATCH_MAX, "a head is filled by one query");
    struct candidate read[CLAIM_BATCH_MAX];
    const struct candidate *found = read;
    size_t count = 0;
    enum status status = STATUS_OK;
    bool remember = may_remember(call);
    struct queue_heads *heads = &call->transaction->queue_heads;
    const struct queue_head *head = remember ? queue_heads_find(heads, filter, max) : NULL;
    if (!head) {
        status = read_queue(call, filter, remember ? QUEUE_HEAD_ROOM : max, read, &count);
    }
    if (status == STATUS_OK && !head && remember) {
        head = queue_heads_fill(heads, filter, read, count);
    }
    if (head) {
        found = &head->items[head->first];
        count = head->count;
    }
    for (size_t i = 0; i < count && i < max && status == STATUS_OK; i++) {
        candidates_add(candidates, &found[i], max);
    }
    return status;
}

/* Who is bound to a session finds that one only. */
static enum status find_own(struct call *call, struct candidates *candidates)
{
    struct loaded_session *loaded;
    enum status status =
        transaction_load(call->transaction, call->who->tenant_key, call->who->session_id, &loaded, &call->failure);
    if (status == STATUS_OK && !agent_is_hosted((enum agent_driver)loaded->session.driver)) {
        candidates->items[candidates->count++] = (struct candidate){.key = loaded->session.key};
    }
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

static enum status find_candidates(struct call *call, const struct claim_request *request, size_t max,
                                   struct candidates *candidates)
{
    if (slice_present(call->who->session_id)) {
        return find_own(call, candidates);
    }
    size_t agent_count = request->agent_count ? request->agent_count : 1;
    size_t type_count = request->type_count ? request->type_count : 1;
    enum status status = STATUS_OK;
    for (size_t a = 0; a < agent_count && status == STATUS_OK; a++) {
        struct slice agent = request->agent_count ? request->agents[a] : (struct slice){0};
        for (size_t t = 0; t < type_count && status == STATUS_OK; t++) {
            int type = request->type_count ? request->types[t] : -1;
            struct queue_filter filter = {call->who->tenant_key, agent, type, request->hosted};
            status = look_for(call, &filter, max, candidates);
        }
    }
    return status;
}

static int64_t lease_length(const struct call *call, int64_t asked_ms)
{
    const struct service *service = call->service;
    int64_t lease_ms = asked_ms ? asked_ms : service->limits.claim.lease_ms_default;
    lease_ms = lease_ms < service->limits.claim.lease_ms_min ? service->limits.claim.lease_ms_min : lease_ms;
    return lease_ms > service->limits.claim.lease_ms_max ? service->limits.claim.lease_ms_max : lease_ms;
}

static enum status grant_lease(struct call *call, struct loaded_session *loaded, const struct claim_request *request,
                               struct claimed *out)
{
    int64_t lease_ms = lease_length(call, request->lease_ms);
    id_token(call->service->ids, "sl_", out->token);
    struct hash hash = hash_of(slice_of(out->token));
    struct lease lease = {
        .tenant_key = loaded->session.tenant_key,
        .session_key = loaded->session.key,
        .token_hash = hash_slice(&hash),
        .fence = loaded->session.fence,
        .worker = request->worker,
        .lease_ms = lease_ms,
        .expires_at_ms = call->steady_ms + lease_ms,
        .claimed_at_ms = call->now_ms,
        .heartbeat_at_ms = call->now_ms,
    };
    out->loaded = loaded;
    out->fence = lease.fence;
    out->expires_at_ms = call->now_ms + lease_ms;
    enum status status = transaction_lease_put(call->transaction, loaded, &lease, &call->failure);
    return status == STATUS_OK ? transaction_timer(call, loaded, TIMER_LEASE, lease.expires_at_ms) : status;
}

static enum status claim_one(struct call *call, int64_t key, const struct claim_request *request, struct claimed *out,
                             bool *out_taken)
{
    struct loaded_session *loaded;
    struct changes changes = {0};
    *out_taken = false;
    enum status status = transaction_load_key(call->transaction, call->who->tenant_key, key, &loaded, &call->failure);
    if (status == STATUS_OK && !session_is_claimable(&loaded->session)) { /* another node may have queued it */
        status = transaction_load_fresh(call->transaction, call->who->tenant_key, key, &loaded, &call->failure);
    }
    if (status == STATUS_NOT_FOUND || (status == STATUS_OK && !session_is_claimable(&loaded->session))) {
        return STATUS_OK;
    }
    if (status == STATUS_OK) {
        status = change_claim(call->arena, &loaded->session, request->worker, &changes, &call->failure);
    }
    if (status == STATUS_OK) {
        status = session_append_changes(call, loaded, &changes);
    }
    if (status == STATUS_OK) {
        status = grant_lease(call, loaded, request, out);
    }
    *out_taken = status == STATUS_OK;
    return status;
}

enum status claim_take(struct call *call, const struct claim_request *request, struct claimed *out, size_t *out_count)
{
    int64_t most =
        call->service->limits.claim.max < CLAIM_BATCH_MAX ? call->service->limits.claim.max : CLAIM_BATCH_MAX;
    size_t max = (size_t)(request->max < most ? request->max : most);
    struct candidates candidates = {.count = 0};
    *out_count = 0;
    enum status status = access_check_claim(call->who, &call->failure);
    if (status != STATUS_OK) {
        return status;
    }
    status = find_candidates(call, request, max, &candidates);
    for (size_t i = 0; i < candidates.count && status == STATUS_OK; i++) {
        bool taken;
        status = claim_one(call, candidates.items[i].key, request, &out[*out_count], &taken);
        *out_count += taken;
    }
    return status;
}

enum status claim_take_key(struct call *call, const struct claim_request *request, int64_t session_key,
                           struct claimed *out, bool *out_taken)
{
    *out_taken = false;
    enum status status = access_check_claim(call->who, &call->failure);
    return status == STATUS_OK ? claim_one(call, session_key, request, out, out_taken) : status;
}

/* The caller must hold the lease; a session without one tells the same as a lost one. */
static enum status enter_as_holder(struct call *call, struct slice id, struct session_access *out)
{
    enum status status = session_authorize(call, id, ACTION_APPEND, out);
    if (status == STATUS_OK && !out->holds_lease) {
        return failure_set(&call->failure, STATUS_STALE, "lease_required",
                           "This call needs the session's live lease in the Sojourn-Lease header.");
    }
    return status;
}

enum status claim_heartbeat(struct call *call, struct slice id, int64_t lease_ms, struct session_access *out,
                            int64_t *out_expires_at_ms)
{
    assert(call_writes(call));
    enum status status = enter_as_holder(call, id, out);
    const struct lease *held = NULL;
    if (status == STATUS_OK) {
        status = transaction_lease(call->transaction, out->loaded, &held, &call->failure);
    }
    if (status != STATUS_OK) {
        return status;
    }
    struct lease lease = *held;
    lease.lease_ms = lease_ms ? lease_length(call, lease_ms) : lease.lease_ms;
    lease.expires_at_ms = call->steady_ms + lease.lease_ms;
    lease.heartbeat_at_ms = call->now_ms;
    *out_expires_at_ms = call->now_ms + lease.lease_ms;
    if (lease.lease_ms == held->lease_ms && transaction_lease_renew(call, out->loaded, lease.expires_at_ms)) {
        return STATUS_OK;
    }
    status = transaction_lease_put(call->transaction, out->loaded, &lease, &call->failure);
    return status == STATUS_OK ? transaction_timer(call, out->loaded, TIMER_LEASE, lease.expires_at_ms) : status;
}

enum status claim_check_usage(struct call *call, const struct session *session, const struct json *usage)
{
    size_t bytes_max = call->service->limits.sessions.usage_bytes_max;
    if (!json_is(usage, JSON_OBJECT) || bytes_max == 0) {
        return STATUS_OK;
    }
    struct slice totals = merge_totals(call->arena, session->usage, usage->raw);
    if (totals.len <= bytes_max) {
        return STATUS_OK;
    }
    return failure_set(&call->failure, STATUS_TOO_LARGE, "usage_too_large",
                       "The session's usage would take %zu bytes of at most %zu (option usage-bytes-max).", totals.len,
                       bytes_max);
}

/* The turn of a worker ends like any other. */
static enum status end_claimed(struct call *call, struct loaded_session *loaded, const struct settlement *settlement)
{
    bool failed = settlement->to == SESSION_FAILED;
    struct turn_end end = {.stop = failed                                ? TURN_ERROR
                                   : settlement->to == SESSION_ABANDONED ? TURN_ABORTED
                                                                         : TURN_STOP,
                           .error = failed ? TURN_INTERNAL : TURN_OK,
                           .error_message = settlement->error_message,
                           .usage = settlement->usage ? settlement->usage->raw : (struct slice){0}};
    return turn_end_claimed(call, loaded, settlement->to, &end);
}

enum status claim_settle(struct call *call, struct slice id, const struct settlement *settlement,
                         struct session_access *out)
{
    assert(call_writes(call));
    const struct lease *lease = NULL;
    enum status status = session_authorize(call, id, ACTION_APPEND, out);
    if (status == STATUS_OK) {
        status = transaction_lease(call->transaction, out->loaded, &lease, &call->failure);
    }
    if (status == STATUS_OK && lease && !out->holds_lease) {
        return failure_set(&call->failure, STATUS_STALE, "lease_required",
                           "Somebody else runs this session; only the holder of its lease can settle it.");
    }
    bool ends_turn = status == STATUS_OK && lease != NULL;
    struct changes changes = {0};
    bool ends_as_guest = status == STATUS_OK && session_status_is_ended(settlement->to) &&
                         !access_runs(call->who, &out->loaded->session, out->holds_lease);
    if (ends_as_guest) {
        status = access_check(call->who, out->role, ACTION_STOP, &call->failure);
    }
    struct settlement decided = *settlement;
    bool staged = false;
    if (status == STATUS_OK) {
        status = claim_check_usage(call, &out->loaded->session, settlement->usage);
    }
    if (status == STATUS_OK) {
        status = step_decide(call, &out->loaded->session, &decided, &staged);
    }
    if (status == STATUS_OK) {
        status = change_settle(call->arena, &out->loaded->session, &decided, &changes, &call->failure);
    }
    if (status == STATUS_OK && ends_turn) {
        status = end_claimed(call, out->loaded, settlement);
    }
    if (status == STATUS_OK) {
        status = session_append_changes(call, out->loaded, &changes);
    }
    if (status == STATUS_OK) { /* whoever parks the turn leaves it, also where a turn that waits keeps its lease */
        status = session_drop_lease(call, out->loaded);
    }
    if (status == STATUS_OK) {
        status = staged ? step_stage(call, out->loaded) : ask_after_park(call, out->loaded);
    }
    if (status == STATUS_OK &&
        !session_status_is_waiting(out->loaded->session.status)) { /* else its holder wants it so */
        status = turn_after_requeue(call, out->loaded);
    }
    return status == STATUS_OK ? session_after_move(call, out->loaded) : status;
}

enum status claim_release(struct call *call, struct slice id, struct session_access *out)
{
    assert(call_writes(call));
    struct changes changes = {0};
    enum status status = enter_as_holder(call, id, out);
    if (status == STATUS_OK) {
        status = turn_keep_partial(call, out->loaded, (struct slice){0});
    }
    if (status == STATUS_OK) {
        status = change_lease_over(call->arena, &out->loaded->session, true, call->service->limits.claim.attempts_max,
                                   &changes, &call->failure);
    }
    if (status == STATUS_OK) {
        status = session_append_changes(call, out->loaded, &changes);
    }
    if (status == STATUS_OK) {
        status = session_drop_lease(call, out->loaded);
    }
    if (status == STATUS_OK) {
        status = turn_after_requeue(call, out->loaded);
    }
    return status == STATUS_OK ? session_after_move(call, out->loaded) : status;
}

enum status lease_revoke(struct call *call, struct loaded_session *loaded, const char *cause)
{
    assert(call_writes(call));
    struct changes changes = {0};
    enum status status = STATUS_OK;
    if (agent_is_hosted((enum agent_driver)loaded->session.driver)) {
        return turn_abort(call, loaded, cause);
    }
    if (session_status_is_leased(loaded->session.status)) {
        status = turn_keep_partial(call, loaded, (struct slice){0});
    }
    if (status == STATUS_OK && session_status_is_leased(loaded->session.status)) {
        status = change_lease_over(call->arena, &loaded->session, false, call->service->limits.claim.attempts_max,
                                   &changes, &call->failure);
    }
    if (status == STATUS_OK && changes.count > 0) {
        status = session_append_changes(call, loaded, &changes);
    }
    if (status == STATUS_OK) {
        status = transaction_lease_delete(call->transaction, loaded, &call->failure);
    }
    if (status == STATUS_OK) {
        status = turn_after_requeue(call, loaded);
    }
    return status == STATUS_OK ? session_after_move(call, loaded) : status;
}

enum status claim_stats(struct call *call, struct session_filter *filter, struct queue_stats **out_queues,
                        size_t *out_queue_count, struct worker_stats **out_workers, size_t *out_worker_count)
{
    if (access_check_claim(call->who, NULL) == STATUS_OK) {
        filter->visible_to = filter->private_of = (struct slice){0};
    }
    enum status status = store_queue_stats(call->db, filter, call->arena, out_queues, out_queue_count, &call->failure);
    return status == STATUS_OK
               ? store_worker_stats(call->db, filter, call->arena, out_workers, out_worker_count, &call->failure)
               : status;
}

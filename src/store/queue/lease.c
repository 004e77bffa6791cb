#include "store/statement.h"
#include "store/store.h"

/* --- candidates --- */

/* The end of the range lives in `ids` while the query runs. */
static void start_search(struct query *query, struct db *db, const struct claim_search *search, struct id_range *ids)
{
    enum sql of_workers = slice_present(search->agent) ? SQL_CLAIM_CANDIDATES_OF_AGENT : SQL_CLAIM_CANDIDATES;
    id_range_of(search->id_prefix, ids);
    query_start(query, db,
                sql_claim_candidates(
                    search->hosted ? SQL_CLAIM_CANDIDATES_HOSTED : of_workers, .tenant_key = search->tenant_key,
                    .agent = search->agent, .type = optional(search->type, search->type >= 0), .id_from = ids->from,
                    .id_to = ids->to, .limit = search->limit, .node = search->node, .steady_ms = search->steady_ms));
}

enum status store_claim_candidates(struct db *db, const struct claim_search *search, int64_t *out_keys,
                                   int64_t *out_priority, int64_t *out_queued_ms, size_t *out_count,
                                   struct failure *failure)
{
    struct query query;
    bool row = false;
    size_t count = 0;
    struct id_range ids;
    start_search(&query, db, search, &ids);
    enum status status = query_step(&query, &row, failure);
    while (status == STATUS_OK && row) {
        out_keys[count] = query_i64(&query, CLAIM_CANDIDATES_COLUMN_KEY);
        out_priority[count] = query_i64(&query, CLAIM_CANDIDATES_COLUMN_PRIORITY);
        out_queued_ms[count++] = query_i64(&query, CLAIM_CANDIDATES_COLUMN_QUEUED_AT_MS);
        status = query_step(&query, &row, failure);
    }
    query_end(&query);
    if (status == STATUS_OK) {
        *out_count = count;
    }
    return status;
}

/* --- leases --- */

enum status store_lease_put(struct db *db, const struct lease *lease, struct failure *failure)
{
    return statement_run(db,
                         sql_lease_put(.tenant_key = lease->tenant_key, .session_key = lease->session_key,
                                       .token_hash = lease->token_hash, .fence = lease->fence, .worker = lease->worker,
                                       .lease_ms = lease->lease_ms, .expires_at_ms = lease->expires_at_ms,
                                       .claimed_at_ms = lease->claimed_at_ms,
                                       .heartbeat_at_ms = lease->heartbeat_at_ms),
                         NULL, failure);
}

static void read_lease(struct query *query, struct arena *arena, void *item)
{
    struct lease *out = item;
    out->tenant_key = query_i64(query, LEASE_COLUMN_TENANT_KEY);
    out->session_key = query_i64(query, LEASE_COLUMN_SESSION_KEY);
    out->token_hash = column_copy(query, LEASE_COLUMN_TOKEN_HASH, arena);
    out->fence = query_i64(query, LEASE_COLUMN_FENCE);
    out->worker = column_copy(query, LEASE_COLUMN_WORKER, arena);
    out->lease_ms = query_i64(query, LEASE_COLUMN_LEASE_MS);
    out->expires_at_ms = query_i64(query, LEASE_COLUMN_EXPIRES_AT_MS);
    out->claimed_at_ms = query_i64(query, LEASE_COLUMN_CLAIMED_AT_MS);
    out->heartbeat_at_ms = query_i64(query, LEASE_COLUMN_HEARTBEAT_AT_MS);
}

enum status store_lease_get(struct db *db, int64_t tenant_key, int64_t session_key, struct arena *arena,
                            struct lease *out, struct failure *failure)
{
    struct query query;
    enum status status =
        statement_first(&query, db, sql_lease_get(.tenant_key = tenant_key, .session_key = session_key), failure);
    if (status != STATUS_OK) {
        return status;
    }
    read_lease(&query, arena, out);
    query_end(&query);
    return STATUS_OK;
}

enum status store_lease_of_worker(struct db *db, struct slice worker, struct arena *arena, struct lease **out,
                                  size_t *out_count, struct failure *failure)
{
    return statement_rows(db, sql_lease_of_worker(.worker = worker), sizeof **out, read_lease, arena, out, out_count,
                          failure);
}

enum status store_lease_delete(struct db *db, int64_t tenant_key, int64_t session_key, struct failure *failure)
{
    return statement_run(
        db, sql_session_part(SQL_SESSION_DELETE_LEASE, .tenant_key = tenant_key, .session_key = session_key), NULL,
        failure);
}

enum status store_lease_renew(struct db *db, const struct lease *lease, int64_t stored_expires_at_ms,
                              struct failure *failure)
{
    return statement_run(db,
                         sql_lease_renew(.expires_at_ms = lease->expires_at_ms,
                                         .heartbeat_at_ms = lease->heartbeat_at_ms, .tenant_key = lease->tenant_key,
                                         .session_key = lease->session_key, .fence = lease->fence,
                                         .stored_expires_at_ms = stored_expires_at_ms),
                         NULL, failure);
}

enum status store_lease_renew_all(struct db *db, int64_t now_ms, struct failure *failure)
{
    return statement_run(db, sql_lease_renew_all(.now_ms = now_ms), NULL, failure);
}

/* --- figures --- */

static void read_queue(struct query *query, struct arena *arena, void *item)
{
    struct queue_stats *out = item;
    out->agent = column_copy(query, QUEUE_FIGURES_COLUMN_AGENT, arena);
    out->pending = query_i64(query, QUEUE_FIGURES_COLUMN_PENDING);
    out->oldest_queued_ms = query_i64(query, QUEUE_FIGURES_COLUMN_OLDEST_MS);
    out->leased = query_i64(query, QUEUE_FIGURES_COLUMN_LEASED);
}

enum status store_queue_stats(struct db *db, const struct session_filter *who, struct arena *arena,
                              struct queue_stats **out, size_t *out_count, struct failure *failure)
{
    return statement_rows(
        db,
        sql_queue_figures(.tenant_key = who->tenant_key, .visible_to = who->visible_to, .private_of = who->private_of),
        sizeof **out, read_queue, arena, out, out_count, failure);
}

static void read_worker(struct query *query, struct arena *arena, void *item)
{
    struct worker_stats *out = item;
    out->worker = column_copy(query, WORKER_FIGURES_COLUMN_WORKER, arena);
    out->leases = query_i64(query, WORKER_FIGURES_COLUMN_LEASES);
    out->last_heartbeat_ms = query_i64(query, WORKER_FIGURES_COLUMN_HEARTBEAT_AT_MS);
}

enum status store_worker_stats(struct db *db, const struct session_filter *who, struct arena *arena,
                               struct worker_stats **out, size_t *out_count, struct failure *failure)
{
    return statement_rows(
        db,
        sql_worker_figures(.tenant_key = who->tenant_key, .visible_to = who->visible_to, .private_of = who->private_of),
        sizeof **out, read_worker, arena, out, out_count, failure);
}

#include <assert.h>

#include "store/statement.h"
#include "store/store.h"

static_assert(TIMER_COUNT == 10, "{timer_kinds} of store/sql/lease.sql names every kind but the lease");

static const char *const timer_kind_names[TIMER_COUNT] = {
    [0] = "",
    [TIMER_LEASE] = "lease",
    [TIMER_EXPIRY] = "expiry",
    [TIMER_HUMAN] = "human_session",
    [TIMER_ASK] = "ask",
    [TIMER_COLLECT] = "collect",
    [TIMER_CASCADE] = "end_children",
    [TIMER_STALE] = "stale",
    [TIMER_FOLLOWUP] = "channel_followup",
    [TIMER_INTROSPECTION] = "introspection",
};
const struct enum_names timer_kind_enum = {timer_kind_names, TIMER_COUNT};

enum status store_timer_put(struct db *db, const struct timer *timer, struct failure *failure)
{
    assert(timer->kind != TIMER_LEASE);
    return statement_run(db,
                         sql_timer_put(.kind = timer->kind, .session_key = timer->session_key,
                                       .tenant_key = timer->tenant_key, .due_ms = timer->due_ms),
                         NULL, failure);
}

enum status store_timer_delete(struct db *db, enum timer_kind kind, int64_t session_key, struct failure *failure)
{
    return statement_run(db, sql_timer_delete(.kind = kind, .session_key = session_key), NULL, failure);
}

enum status store_timer_delete_due(struct db *db, const struct timer *timer, int64_t now_ms, struct failure *failure)
{
    return statement_run(db,
                         sql_timer_delete_due(.kind = timer->kind, .session_key = timer->session_key, .now_ms = now_ms),
                         NULL, failure);
}

enum status store_timer_is_due(struct db *db, const struct timer *timer, int64_t now_ms, bool *out,
                               struct failure *failure)
{
    int64_t due_ms = INT64_MAX;
    enum status status = statement_number(db, sql_timer_get(.kind = timer->kind, .session_key = timer->session_key),
                                          INT64_MAX, &due_ms, failure);
    *out = status == STATUS_OK && due_ms <= now_ms;
    return status;
}

static enum status read_due(struct db *db, int64_t now_ms, size_t max, struct timer *out, size_t *out_count,
                            struct failure *failure)
{
    struct query query;
    bool row = false;
    size_t count = 0;
    query_start(&query, db, sql_timer_due(.now_ms = now_ms, .limit = (int64_t)max));
    enum status status = query_step(&query, &row, failure);
    while (status == STATUS_OK && row) {
        out[count++] = (struct timer){
            (enum timer_kind)query_i64(&query, TIMER_DUE_COLUMN_KIND), query_i64(&query, TIMER_DUE_COLUMN_TENANT_KEY),
            query_i64(&query, TIMER_DUE_COLUMN_SESSION_KEY), query_i64(&query, TIMER_DUE_COLUMN_DUE_MS)};
        status = query_step(&query, &row, failure);
    }
    query_end(&query);
    if (status == STATUS_OK) {
        *out_count = count;
    }
    return status;
}

/* A full page means that more may be due: the next one is due now. */
enum status store_timer_due(struct db *db, int64_t now_ms, size_t max, struct timer *out, size_t *out_count,
                            int64_t *out_next_due_ms, struct failure *failure)
{
    enum status status = read_due(db, now_ms, max, out, out_count, failure);
    if (status != STATUS_OK) {
        return status;
    }
    if (*out_count == max) {
        *out_next_due_ms = now_ms;
        return STATUS_OK;
    }
    return statement_number(db, sql_timer_next(.now_ms = now_ms), 0, out_next_due_ms, failure);
}

enum status store_timer_of_session(struct db *db, int64_t session_key, struct timer *out, struct failure *failure)
{
    struct query query;
    bool row = false;
    query_start(&query, db, sql_timer_of_session(.session_key = session_key));
    enum status status = query_step(&query, &row, failure);
    if (status == STATUS_OK && row) {
        *out = (struct timer){.kind = (enum timer_kind)query_i64(&query, TIMER_OF_SESSION_COLUMN_KIND),
                              .session_key = session_key,
                              .due_ms = query_i64(&query, TIMER_OF_SESSION_COLUMN_DUE_MS)};
    }
    query_end(&query);
    return status != STATUS_OK ? status : row ? STATUS_OK : STATUS_NOT_FOUND;
}

enum status store_health_candidates(struct db *db, const struct health_search *search, struct health_suspect *out,
                                    size_t *out_count, struct failure *failure)
{
    struct query query;
    bool row = false;
    size_t count = 0;
    query_start(&query, db,
                sql_health_candidates(.after_key = search->after, .lease_over_ms = search->lease_over_ms,
                                      .silent_since_ms = search->silent_since_ms,
                                      .queued_since_ms = search->queued_since_ms,
                                      .unled_since_ms = search->unled_since_ms, .limit = search->limit));
    enum status status = query_step(&query, &row, failure);
    while (status == STATUS_OK && row) {
        out[count++] = (struct health_suspect){query_i64(&query, HEALTH_CANDIDATES_COLUMN_TENANT_KEY),
                                               query_i64(&query, HEALTH_CANDIDATES_COLUMN_SESSION_KEY)};
        status = query_step(&query, &row, failure);
    }
    query_end(&query);
    if (status == STATUS_OK) {
        *out_count = count;
    }
    return status;
}

#include <assert.h>

#include "store/statement.h"
#include "store/store.h"

static_assert(TIMER_LEASE == 1 && TIMER_COUNT == 10, "timer kinds in store/sql");

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
    return statement_run(
        db, SQL_TIMER_PUT,
        VALUES(number(timer->kind), number(timer->session_key), number(timer->tenant_key), number(timer->due_ms)), NULL,
        failure);
}

enum status store_timer_delete(struct db *db, enum timer_kind kind, int64_t session_key, struct failure *failure)
{
    return statement_run(db, SQL_TIMER_DELETE, VALUES(number(kind), number(session_key)), NULL, failure);
}

enum status store_timer_delete_due(struct db *db, const struct timer *timer, int64_t now_ms, struct failure *failure)
{
    return statement_run(db, SQL_TIMER_DELETE_DUE,
                         VALUES(number(timer->kind), number(timer->session_key), number(now_ms)), NULL, failure);
}

enum status store_timer_is_due(struct db *db, const struct timer *timer, int64_t now_ms, bool *out,
                               struct failure *failure)
{
    int64_t due_ms = INT64_MAX;
    enum status status = statement_number(db, SQL_TIMER_GET, VALUES(number(timer->kind), number(timer->session_key)),
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
    statement_start(&query, db, SQL_TIMER_DUE, VALUES(number(now_ms), number((int64_t)max)));
    enum status status = query_step(&query, &row, failure);
    while (status == STATUS_OK && row) {
        out[count++] = (struct timer){(enum timer_kind)query_i64(&query, 0), query_i64(&query, 1), query_i64(&query, 2),
                                      query_i64(&query, 3)};
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
    return statement_number(db, SQL_TIMER_NEXT, VALUES(number(now_ms)), 0, out_next_due_ms, failure);
}

enum status store_timer_of_session(struct db *db, int64_t session_key, struct timer *out, struct failure *failure)
{
    struct query query;
    bool row = false;
    statement_start(&query, db, SQL_TIMER_OF_SESSION, VALUES(number(session_key)));
    enum status status = query_step(&query, &row, failure);
    if (status == STATUS_OK && row) {
        *out = (struct timer){
            .kind = (enum timer_kind)query_i64(&query, 0), .session_key = session_key, .due_ms = query_i64(&query, 1)};
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
    statement_start(&query, db, SQL_HEALTH_CANDIDATES,
                    VALUES(number(search->after), number(search->lease_over_ms), number(search->silent_since_ms),
                           number(search->queued_since_ms), number(search->unled_since_ms), number(search->limit)));
    enum status status = query_step(&query, &row, failure);
    while (status == STATUS_OK && row) {
        out[count++] = (struct health_suspect){query_i64(&query, 0), query_i64(&query, 1)};
        status = query_step(&query, &row, failure);
    }
    query_end(&query);
    if (status == STATUS_OK) {
        *out_count = count;
    }
    return status;
}

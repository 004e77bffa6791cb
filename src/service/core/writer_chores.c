#include "base/log.h"
#include "service/core/timer.h"
#include "service/core/writer_internal.h"

enum { TIMERS_PER_GROUP = 64, PRUNE_EVERY_MS = 600000, RETRY_TIMERS_MS = 1000 };

static enum status fire_timers(struct writer *writer, const struct timer *timers, size_t count, struct failure *failure)
{
    struct arena arena = {0};
    struct call call = transaction_call(&writer->transaction, &arena, &server_principal);
    enum status status = transaction_begin(&writer->transaction, &call.failure);
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        transaction_start_command(&writer->transaction);
        status = timer_fire(&call, &timers[i]);
    }
    if (status == STATUS_OK) {
        status = writer_end_group(writer, &call.failure);
    } else {
        transaction_rollback(&writer->transaction);
    }
    if (status == STATUS_OK) {
        writer->timers_fired += (int64_t)count;
    }
    *failure = call.failure;
    arena_release(&arena);
    return status;
}

/* Nobody named anything wrong, so a refusal says that another node came between two reads of this one, or that
 * something is remembered as it was: the next try sees it as it is. */
static bool may_be_another_node(struct writer *writer, enum status status)
{
    bool is_own_trouble = status == STATUS_OK || status == STATUS_UNAVAILABLE || status == STATUS_UNCERTAIN;
    if (is_own_trouble || !db_has_other_writers(writer->transaction.db)) {
        return false;
    }
    (void)transaction_forget_remembered(&writer->transaction);
    return true;
}

static enum status fire_one(struct writer *writer, const struct timer *timer)
{
    struct failure failure = {0};
    enum status status = fire_timers(writer, timer, 1, &failure);
    for (int tries = 1; tries < TRIES_WHEN_STALE && may_be_another_node(writer, status); tries++) {
        status = fire_timers(writer, timer, 1, &failure);
    }
    if (status != STATUS_OK && status != STATUS_STALE) {
        log_error("timers_failed", LOG_TEXT("code", slice_of(failure.code)),
                  LOG_TEXT("kind", slice_of(timer_kind_enum.names[timer->kind])),
                  LOG_TEXT("detail", slice_of(failure.detail)));
    }
    return status;
}

/* Where all together failed. One that fails stays and is tried again later. */
static enum status fire_each(struct writer *writer, const struct timer *timers, size_t count)
{
    enum status worst = STATUS_OK;
    for (size_t i = 0; i < count; i++) {
        enum status status = fire_one(writer, &timers[i]);
        worst = status == STATUS_OK ? worst : status;
    }
    return worst;
}

static enum status fire_due(struct writer *writer, const struct timer *timers, size_t count)
{
    struct failure failure;
    if (count == 1) {
        return fire_one(writer, timers);
    }
    return fire_timers(writer, timers, count, &failure) == STATUS_OK ? STATUS_OK : fire_each(writer, timers, count);
}

void writer_run_timers(struct writer *writer)
{
    struct timer due[TIMERS_PER_GROUP];
    size_t count = 0;
    struct failure failure = {0};
    int64_t now = writer_steady_ms(writer);
    enum status status = transaction_begin(&writer->transaction, &failure);
    if (status == STATUS_OK) {
        status = store_timer_due(writer->transaction.db, now, TIMERS_PER_GROUP, due, &count, &writer->next_timer_ms,
                                 &failure);
        transaction_rollback(&writer->transaction);
    }
    writer->timers_known = status == STATUS_OK;
    if (status == STATUS_OK && count > 0) {
        status = fire_due(writer, due, count);
        writer->timers_known = false;
    }
    if (status != STATUS_OK) {
        writer->timers_known = true;
        writer->next_timer_ms = now + RETRY_TIMERS_MS;
    }
}

void writer_save_renewals(struct writer *writer)
{
    struct renewals *renewals = &writer->transaction.renewals;
    struct failure failure = {0};
    enum status status = transaction_begin(&writer->transaction, &failure);
    if (status == STATUS_OK) {
        status = renewals_save(renewals, writer->transaction.db, &failure);
        if (status == STATUS_OK) {
            status = writer_end_group(writer, &failure);
        } else {
            transaction_rollback(&writer->transaction);
        }
    }
    if (status == STATUS_OK) {
        renewals_clear(renewals);
    } else {
        renewals->due_ms = writer_steady_ms(writer) + RENEWAL_DELAY_MS;
        writer_log_failed(&failure);
    }
}

/* What nobody can use any more, and nobody needs to see. */
static enum status prune(struct db *db, const struct service *service, struct failure *failure)
{
    int64_t now_ms = clock_wall_ms(service->clock);
    int64_t ended_ms = now_ms - service->limits.retention.ended_ms;
    enum status status = store_idempotency_prune(db, now_ms - service->limits.retention.idempotency_ms, failure);
    if (status == STATUS_OK) {
        status = store_grant_prune(db, now_ms, failure);
    }
    if (status == STATUS_OK && service->limits.retention.ended_ms > 0) {
        status = store_token_prune(db, ended_ms, failure);
    }
    return status == STATUS_OK && service->limits.retention.ended_ms > 0 ? store_share_prune(db, ended_ms, failure)
                                                                         : status;
}

void writer_prune(struct writer *writer)
{
    const struct service *service = writer->options.service;
    struct failure failure = {0};
    writer->next_prune_ms = writer_steady_ms(writer) +
                            (service->limits.retention.sweep_ms ? service->limits.retention.sweep_ms : PRUNE_EVERY_MS);
    enum status status = transaction_begin(&writer->transaction, &failure);
    if (status == STATUS_OK) {
        status = prune(writer->transaction.db, service, &failure);
    }
    if (status == STATUS_OK) {
        status = writer_end_group(writer, &failure);
    } else {
        transaction_rollback(&writer->transaction);
    }
    if (status != STATUS_OK) {
        log_warn("prune_failed", LOG_TEXT("detail", slice_of(failure.detail)));
    }
}

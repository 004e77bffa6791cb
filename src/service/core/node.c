#include "service/core/node.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/log.h"
#include "loop/timer.h"

enum { DUE_MAX = 256, PRUNED_AFTER_LEASES = 1000 };

struct node {
    struct command command; /* first */
    struct node_options options;
    struct loop_message start_message, stop_message, looked_message;
    struct loop_timer *timer; /* the loop's */
    bool looks;               /* the job is in the writer or on its way back */
    bool stopping, started;
    int64_t started_at_ms;
    int64_t renew_at_ms; /* steady */
    int64_t renewed_at_ms;
    /* the writer's while it looks, then the loop's */
    struct session_key due[DUE_MAX];
    size_t due_count;
    int64_t live; /* nodes */
    bool lost_one, renews;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool over; /* under the lock */
};

/* --- on the writer --- */

/* Three times in its life, and at every start. */
static enum status renew(struct call *call, struct node *node)
{
    struct node_row row = {
        .id = call->service->node,
        .address = node->options.address,
        .started_at_ms = node->started_at_ms,
        .expires_at_ms = call->steady_ms + node->options.lease_ms,
    };
    int64_t before_ms = call->steady_ms - PRUNED_AFTER_LEASES * node->options.lease_ms;
    if (call->steady_ms < node->renew_at_ms) {
        return STATUS_OK;
    }
    node->renews = true;
    node->renewed_at_ms = call->steady_ms;
    enum status status = store_node_renew(call->db, &row, &call->failure);
    return status == STATUS_OK ? store_node_prune(call->db, before_ms, &call->failure) : status;
}

static enum status look(struct call *call, struct node *node)
{
    struct session_key *due;
    size_t count = 0;
    int64_t live = 0;
    enum status status = renew(call, node);
    if (status == STATUS_OK) {
        status = store_node_count_live(call->db, call->steady_ms, &live, &call->failure);
    }
    if (status == STATUS_OK) {
        status = store_host_due(call->db, call->service->node, call->steady_ms, DUE_MAX, call->arena, &due, &count,
                                &call->failure);
    }
    if (status == STATUS_OK) {
        node->lost_one = live < node->live;
        node->live = live;
        node->due_count = count;
        if (count > 0) {
            memcpy(node->due, due, count * sizeof *due);
        }
    }
    return status;
}

static enum status look_run(struct call *call, struct command *command)
{
    struct node *node = (struct node *)command;
    node->due_count = 0;
    node->lost_one = node->renews = false;
    enum status status = transaction_flush(call->transaction, &call->failure); /* what this group wrote counts */
    return status == STATUS_OK ? look(call, node) : status;
}

static void look_finish(struct command *command, enum status status, const struct failure *failure)
{
    struct node *node = (struct node *)command;
    if (status != STATUS_OK) {
        node->due_count = 0;
        log_warn("node_look_failed", LOG_TEXT("code", slice_of(failure->code)),
                 LOG_TEXT("detail", slice_of(failure->detail)));
    } else if (node->renews) { /* counted from its beginning: a slow commit brings the next one no later */
        node->renew_at_ms = node->renewed_at_ms + node->options.lease_ms / 3;
    }
    loop_post(node->options.loop, &node->looked_message);
}

static const struct command_type look_type = {"node.look", COMMAND_UNBOUNDED, look_run, look_finish};

/* --- on the loop --- */

static void finish_if_over(struct node *node)
{
    if (!node->stopping || node->looks) {
        return;
    }
    loop_timer_free(node->timer);
    pthread_mutex_lock(&node->lock);
    node->over = true;
    pthread_cond_signal(&node->changed);
    pthread_mutex_unlock(&node->lock);
}

static void on_looked(struct loop_message *message)
{
    struct node *node = (struct node *)((char *)message - offsetof(struct node, looked_message));
    node->looks = false;
    for (size_t i = 0; i < node->due_count && !node->stopping; i++) {
        runtime_host_attend(node->options.runtimes, node->due[i].tenant_key, node->due[i].key);
    }
    if (node->lost_one) {
        log_warn("node_lost", LOG_NUM("nodes_left", node->live));
        writer_retry_parked(node->options.writer); /* what only it could claim is for everybody now */
    }
    finish_if_over(node);
}

static void on_timer(void *owner)
{
    struct node *node = owner;
    node->looks = node->looks || writer_submit(node->options.writer, &node->command);
    loop_timer_set(node->timer, node->options.look_ms);
}

static void on_start(struct loop_message *message)
{
    struct node *node = (struct node *)((char *)message - offsetof(struct node, start_message));
    node->timer = loop_timer_new(node->options.loop, on_timer, node);
    on_timer(node);
}

static void on_stop(struct loop_message *message)
{
    struct node *node = (struct node *)((char *)message - offsetof(struct node, stop_message));
    node->stopping = true;
    finish_if_over(node);
}

/* --- start and stop --- */

struct node *node_new(const struct node_options *options)
{
    struct node *node = memory_zeroed(sizeof *node);
    node->options = *options;
    node->started_at_ms = clock_wall_ms(options->service->clock);
    node->command.type = &look_type;
    node->looked_message.run = on_looked;
    node->start_message.run = on_start;
    node->stop_message.run = on_stop;
    pthread_mutex_init(&node->lock, NULL);
    pthread_cond_init(&node->changed, NULL);
    return node;
}

void node_start(struct node *node)
{
    if (node) {
        node->started = true;
        loop_post(node->options.loop, &node->start_message);
    }
}

void node_stop(struct node *node)
{
    if (!node || !node->started) {
        return;
    }
    loop_post(node->options.loop, &node->stop_message);
    pthread_mutex_lock(&node->lock);
    while (!node->over) {
        pthread_cond_wait(&node->changed, &node->lock);
    }
    pthread_mutex_unlock(&node->lock);
    node->started = false;
}

void node_free(struct node *node)
{
    if (node) {
        pthread_mutex_destroy(&node->lock);
        pthread_cond_destroy(&node->changed);
        free(node);
    }
}

#include "main/node_listener.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/log.h"
#include "store/postgres/notify.h"

struct node_listener {
    struct postgres_listener *listener;
    struct node_listener_options options;
    pthread_t thread;
};

static void wake(struct node_listener *nodes, const struct postgres_wake *news)
{
    bool identity_changed = news->many;
    for (size_t i = 0; i < news->count; i++) {
        if (news->touches[i].session_key == IDENTITY_TOUCHED) {
            identity_changed = true;
            continue;
        }
        fanout_refresh(nodes->options.fanout, news->touches[i].tenant_key, news->touches[i].session_key);
        turn_host_wake(nodes->options.turns, news->touches[i].session_key);
        runtime_host_wake(nodes->options.runtimes, news->touches[i].session_key);
        runners_wake(nodes->options.runners, news->touches[i].tenant_key, news->touches[i].session_key);
    }
    if (identity_changed) {
        fanout_recheck(nodes->options.fanout);
    }
    if (news->many) {
        turn_host_wake(nodes->options.turns, 0);
    }
    if (news->many || news->count == 0) {
        runners_wake(nodes->options.runners, 0, 0);
        fanout_refresh(nodes->options.fanout, 0, 0); /* the time was over: look, in case a notification was lost */
    }
    writer_retry_parked(nodes->options.writer);
}

static void *node_listener_main(void *argument)
{
    struct node_listener *nodes = argument;
    struct arena arena = {0};
    struct postgres_wake news;
    struct failure failure;
    enum status status = STATUS_OK;
    pthread_setname_np(pthread_self(), "nodes");
    while (status != STATUS_GONE) {
        arena_reset(&arena);
        status = postgres_listen_next(nodes->listener, nodes->options.poll_ms, &arena, &news, &failure);
        if (status == STATUS_OK) {
            wake(nodes, &news);
        } else if (status != STATUS_GONE) {
            log_warn("listen_failed", LOG_TEXT("detail", slice_of(failure.detail)));
        }
    }
    arena_release(&arena);
    return NULL;
}

enum status node_listener_start(const struct node_listener_options *options, struct node_listener **out,
                                struct failure *failure)
{
    struct node_listener *nodes = memory_zeroed(sizeof *nodes);
    nodes->options = *options;
    enum status status = postgres_listen_open(options->db, &nodes->listener, failure);
    if (status != STATUS_OK) {
        free(nodes);
        return status;
    }
    if (pthread_create(&nodes->thread, NULL, node_listener_main, nodes) != 0) {
        abort();
    }
    *out = nodes;
    return STATUS_OK;
}

void node_listener_stop(struct node_listener *nodes)
{
    if (!nodes) {
        return;
    }
    postgres_listen_stop(nodes->listener);
    pthread_join(nodes->thread, NULL);
    postgres_listen_close(nodes->listener);
    free(nodes);
}

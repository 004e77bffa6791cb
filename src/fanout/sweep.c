#include "fanout/sweep.h"

#include <assert.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/log.h"
#include "fanout/hub.h"

void sweep_free(struct sweep *sweep)
{
    free(sweep->touched);
    free(sweep);
}

static bool on_row(void *owner, const struct firehose_row *row)
{
    struct sweep *sweep = owner;
    sweep->at = row->at;
    bool repeated = sweep->touched_count > 0 && sweep->touched[sweep->touched_count - 1] == row->session_key;
    if (!repeated) {
        sweep->touched[sweep->touched_count++] = row->session_key;
    }
    return --sweep->rows_left > 0;
}

static void sweep_ask(struct lookup *lookup, struct db *db)
{
    struct sweep *sweep = (struct sweep *)lookup;
    struct failure failure = {0};
    int64_t horizon;
    sweep->touched_count = 0;
    sweep->status = store_firehose_horizon(db, &horizon, &failure);
    if (sweep->status == STATUS_OK && sweep->known) {
        sweep->rows_left = sweep->events_max;
        sweep->status =
            store_firehose_read(db, sweep->tenant_key, sweep->at, horizon, sweep->events_max, on_row, sweep, &failure);
        sweep->more = sweep->rows_left == 0;
    } else if (sweep->status == STATUS_OK) {
        sweep->status = store_firehose_end(db, sweep->tenant_key, horizon, &sweep->at, &failure);
    }
    if (sweep->status != STATUS_OK) {
        log_error("stream changes not read", LOG_TEXT("code", slice_of(failure.code)),
                  LOG_TEXT("detail", slice_of(failure.detail)));
    }
}

static void poke_touched(struct hub *hub, const struct sweep *sweep)
{
    for (size_t i = 0; i < sweep->touched_count; i++) {
        struct feed *feed = hub_find(hub, sweep->tenant_key, sweep->touched[i]);
        if (feed) {
            feed_refresh(feed);
        }
    }
    if (sweep->touched_count > 0) {
        hub_poke_firehose(hub, sweep->tenant_key);
    }
}

static void submit(struct hub *hub, struct sweep *sweep)
{
    sweep->running = true;
    sweep->again = false;
    lookup_start(&sweep->lookup, hub);
}

static void on_swept(struct lookup *lookup)
{
    struct sweep *sweep = (struct sweep *)lookup;
    struct hub *hub = lookup->hub;
    sweep->running = false;
    if (sweep->status != STATUS_OK || atomic_load(&lookup->abandoned)) {
        return; /* the next poke looks again */
    }
    if (sweep->known) {
        poke_touched(hub, sweep);
    } else {
        sweep->known = true;
        hub_poke_each(hub, sweep->tenant_key);
    }
    if (sweep->more || sweep->again) {
        submit(hub, sweep);
    }
}

void sweep_start(struct hub *hub, int64_t tenant_key)
{
    assert(loop_is_mine(hub->loop));
    struct slice key = slice_from(&tenant_key, sizeof tenant_key);
    struct sweep *sweep = map_get(&hub->sweeps, key);
    if (!sweep) {
        sweep = memory_zeroed(sizeof *sweep);
        sweep->tenant_key = tenant_key;
        sweep->events_max = hub->fanout->options.page_events;
        sweep->touched = memory_alloc((size_t)sweep->events_max * sizeof *sweep->touched);
        sweep->lookup.ask = sweep_ask;
        sweep->lookup.done = on_swept;
        map_put(&hub->sweeps, slice_from(&sweep->tenant_key, sizeof sweep->tenant_key), sweep);
    }
    if (sweep->running) {
        sweep->again = true;
    } else {
        submit(hub, sweep);
    }
}

void sweep_stop(struct hub *hub, int64_t tenant_key)
{
    assert(loop_is_mine(hub->loop));
    struct slice key = slice_from(&tenant_key, sizeof tenant_key);
    struct sweep *sweep = map_get(&hub->sweeps, key);
    if (sweep && !sweep->running) {
        map_remove(&hub->sweeps, key);
        sweep_free(sweep);
    }
}

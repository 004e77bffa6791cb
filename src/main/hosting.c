#include "main/hosting.h"

static void leave_backends(void *owner)
{
    struct hosting *hosting = owner;
    sandboxing_leave(hosting->sandboxing, hosting->place.loop);
}

static void make_runtimes(struct hosting *hosting)
{
    const struct options *options = hosting->place.options;
    hosting->sandboxing = sandboxing_new(options);
    struct runtime_host_options runtimes = {
        .service = hosting->place.service,
        .writer = hosting->place.writer,
        .fanout = hosting->place.fanout,
        .loop = hosting->place.loop,
        .sandboxes = sandboxing_registry(hosting->sandboxing),
        .owner = hosting,
        .on_stopped = leave_backends,
        .limits = options->limits.runtimes,
    };
    for (int kind = 0; kind < DRIVER_COUNT; kind++) {
        runtimes.drivers[kind] = drivers_of(hosting->drivers, (enum agent_driver)kind);
    }
    hosting->runtimes = runtime_host_new(&runtimes);
}

static void make_runners(struct hosting *hosting)
{
    struct runners_options runners = {
        .service = hosting->place.service,
        .writer = hosting->place.writer,
        .loop = hosting->place.loop,
        .limits = hosting->place.options->limits.runners,
    };
    hosting->runners = runners_new(&runners);
}

static void make_gateway(struct hosting *hosting)
{
    struct gateway_options gateway = {
        .service = hosting->place.service,
        .writer = hosting->place.writer,
        .read_owner = hosting->place.read_owner,
        .submit_read = hosting->place.submit_read,
        .snapshot_owner = &hosting->snapshots,
        .snapshot = gateway_snapshot_take,
        .limits = hosting->place.options->limits.gateway,
    };
    hosting->snapshots = (struct gateway_snapshots){
        .runtimes = hosting->runtimes,
        .sandboxes = sandboxing_registry(hosting->sandboxing),
        .loop = hosting->place.loop,
    };
    hosting->gateway = gateway_new(&gateway);
}

static void make_turns(struct hosting *hosting)
{
    const struct options *options = hosting->place.options;
    struct turn_host_options turns = {
        .service = hosting->place.service,
        .writer = hosting->place.writer,
        .fanout = hosting->place.fanout,
        .loop = hosting->place.loop,
        .read_owner = hosting->place.read_owner,
        .submit_read = hosting->place.submit_read,
        .runtime_host = hosting->runtimes,
        .snapshot_owner = &hosting->snapshots,
        .snapshot = gateway_snapshot_take,
        .project_dirs = (const char *const *)options->tool_project_dir.items,
        .project_dir_count = options->tool_project_dir.count,
        .limits = options->limits.turns,
    };
    for (int kind = 0; kind < DRIVER_COUNT; kind++) {
        turns.drivers[kind] = drivers_of(hosting->drivers, (enum agent_driver)kind);
    }
    turns.drivers[DRIVER_RUNNER] = runners_driver(hosting->runners);
    turns.ready_owner = hosting->runners;
    turns.take_ready = runners_take_ready;
    hosting->turns = turn_host_new(&turns);
}

static void make_watchdogs(struct hosting *hosting)
{
    struct watchdogs_options watchdogs = {
        .service = hosting->place.service,
        .writer = hosting->place.writer,
        .loop = hosting->place.loop,
        .limits = hosting->place.options->limits.watchdogs,
    };
    hosting->watchdogs = watchdogs_new(&watchdogs);
}

static void make_blobs(struct hosting *hosting)
{
    struct blobs_options blobs = {
        .service = hosting->place.service,
        .writer = hosting->place.writer,
        .loop = hosting->place.loop,
        .read_owner = hosting->place.read_owner,
        .submit_read = hosting->place.submit_read,
        .limits = hosting->place.options->limits.blobs,
    };
    hosting->blobs = blobs_new(&blobs);
}

static void make_models(struct hosting *hosting)
{
    struct models_options models = {
        .providers = drivers_providers(hosting->drivers),
        .clock = hosting->place.service->clock,
        .loop = hosting->place.loop,
        .limits = hosting->place.options->limits.models,
    };
    hosting->models = models_new(&models);
}

static void make_node(struct hosting *hosting)
{
    const struct options *options = hosting->place.options;
    int64_t look_ms_max = options->node_lease_ms / 3;
    struct node_options node = {
        .service = hosting->place.service,
        .writer = hosting->place.writer,
        .loop = hosting->place.loop,
        .runtimes = hosting->runtimes,
        .address = slice_of(options->public_url ? options->public_url : options->listen.items[0]),
        .lease_ms = options->node_lease_ms,
        .look_ms = options->node_look_ms < look_ms_max ? options->node_look_ms : look_ms_max,
    };
    hosting->node = slice_present(hosting->place.service->node) ? node_new(&node) : NULL;
}

void hosting_make(struct hosting *hosting, const struct hosting_place *place)
{
    hosting->place = *place;
    hosting->drivers = drivers_new(place->options);
    make_runtimes(hosting);
    make_runners(hosting);
    make_gateway(hosting);
    make_turns(hosting);
    make_watchdogs(hosting);
    make_blobs(hosting);
    make_models(hosting);
    make_node(hosting);
}

void hosting_start(struct hosting *hosting)
{
    runtime_host_start(hosting->runtimes);
    node_start(hosting->node);
    turn_host_start(hosting->turns);
    watchdogs_start(hosting->watchdogs);
    blobs_start(hosting->blobs);
}

void hosting_on_commit(void *owner, const struct publication *publication)
{
    struct hosting *hosting = owner;
    runtime_host_on_commit(hosting->runtimes, publication);
    turn_host_on_commit(hosting->turns, publication);
    runners_on_commit(hosting->runners, publication);
}

void hosting_stop(struct hosting *hosting)
{
    blobs_stop(hosting->blobs);
    watchdogs_stop(hosting->watchdogs);
    turn_host_stop(hosting->turns);
    node_stop(hosting->node);
    runtime_host_stop(hosting->runtimes);
}

void hosting_free(struct hosting *hosting)
{
    turn_host_free(hosting->turns);
    node_free(hosting->node);
    watchdogs_free(hosting->watchdogs);
    blobs_free(hosting->blobs);
    models_free(hosting->models);
    runtime_host_free(hosting->runtimes);
    sandboxing_free(hosting->sandboxing);
    runners_free(hosting->runners);
    gateway_free(hosting->gateway);
    drivers_free(hosting->drivers);
}

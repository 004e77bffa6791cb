#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "runner/sandbox/sandbox_local.h"
#include "runner/sandbox/snapshot.h"

/* Ends and snapshots take the same way, and leave it where they may:
 *
 *     processes stopped ─→ packed ─→ older snapshots collected ─→ tree discarded ─→ sandbox freed ─→ told
 *     (not for a snapshot)  (not to terminate)                    (not for a snapshot)                    */
struct ending {
    struct local_sandbox *sandbox;
    struct sandbox_callback told;
    struct sandbox_result news;
    struct loop_message message;
    char id[SNAPSHOT_ID_BYTES];
    bool packs, ends;
};

static void tell(struct loop_message *message)
{
    struct ending *ending = (struct ending *)((char *)message - offsetof(struct ending, message));
    struct local_sandbox *sandbox = ending->sandbox;
    if (sandbox) {
        sandbox->is_packing = sandbox->is_ending = false;
    }
    ending->told.tell(ending->told.owner, &ending->news);
    free(ending);
}

static void finish(struct ending *ending)
{
    struct local_sandbox *sandbox = ending->sandbox;
    struct loop *loop = sandbox->base.loop;
    if (ending->ends && ending->news.outcome == SANDBOX_OK) {
        if (!local_discard(sandbox->provider, sandbox->dir)) {
            ending->news.outcome = SANDBOX_FAILED;
            (void)failure_set(&ending->news.failure, STATUS_UNAVAILABLE, "sandbox_failed",
                              "The tree of the sandbox cannot be removed: %s.", strerror(errno));
        } else {
            local_sweep(sandbox->provider, loop);
            local_sandbox_free(sandbox);
            ending->sandbox = NULL;
        }
    }
    loop_post(loop, &ending->message);
}

static void on_packed(void *owner, const struct snapshot_result *news)
{
    struct ending *ending = owner;
    struct local_sandbox *sandbox = ending->sandbox;
    struct local_provider *local = sandbox->provider;
    if (news->status != STATUS_OK) {
        ending->news.outcome = SANDBOX_FAILED;
        ending->news.failure = news->failure;
    } else {
        snprintf(ending->id, sizeof ending->id, "%s", news->id);
        ending->news.snapshot = slice_of(ending->id);
        ending->news.snapshot_bytes = news->bytes;
        snapshot_collect(local->snapshots, sandbox->tenant_key, sandbox->session_key,
                         (size_t)local->options.limits.snapshots_kept);
    }
    finish(ending);
}

static void pack(struct ending *ending)
{
    struct local_sandbox *sandbox = ending->sandbox;
    struct local_provider *local = sandbox->provider;
    struct snapshot_request order = {
        .dir = local->snapshots,
        .tenant_key = sandbox->tenant_key,
        .session_key = sandbox->session_key,
        .tree = sandbox->dir,
        .etc = local->etc,
        .bytes_max = local->options.limits.snapshot_bytes_max,
        .time_ms_max = local->options.limits.prepare_ms_max,
    };
    snapshot_save(sandbox->base.loop, &order, (struct snapshot_callback){ending, on_packed});
}

static void go_on(void *owner)
{
    struct ending *ending = owner;
    if (ending->packs) {
        pack(ending);
    } else {
        finish(ending);
    }
}

static struct ending *ending_new(struct sandbox *sandbox, struct sandbox_callback told, bool packs, bool ends)
{
    struct ending *ending = memory_zeroed(sizeof *ending);
    ending->sandbox = (struct local_sandbox *)sandbox;
    ending->told = told;
    ending->message.run = tell;
    ending->packs = packs;
    ending->ends = ends;
    ending->sandbox->is_packing = packs;
    ending->sandbox->is_ending = ends;
    return ending;
}

static void stop_all(struct ending *ending)
{
    struct local_sandbox *sandbox = ending->sandbox;
    if (!sandbox->base.processes) {
        go_on(ending);
        return;
    }
    sandbox->when_empty = go_on;
    sandbox->empty_owner = ending;
    for (struct process *process = sandbox->base.processes; process; process = process_next(process)) {
        process_stop(process);
    }
}

static void refuse(struct loop_message *message)
{
    struct ending *ending = (struct ending *)((char *)message - offsetof(struct ending, message));
    ending->told.tell(ending->told.owner, &ending->news);
    free(ending);
}

/* One thing at a time; what comes second to an end finds the sandbox gone. */
static bool is_refused(struct sandbox *base, struct sandbox_callback told)
{
    struct local_sandbox *sandbox = (struct local_sandbox *)base;
    if (!sandbox->is_packing && !sandbox->is_ending) {
        return false;
    }
    struct ending *ending = memory_zeroed(sizeof *ending);
    ending->told = told;
    ending->news.outcome = sandbox->is_packing ? SANDBOX_FAILED : SANDBOX_GONE;
    ending->message.run = refuse;
    (void)failure_set(&ending->news.failure, STATUS_CONFLICT, "sandbox_busy", "The sandbox is being packed or ended.");
    loop_post(base->loop, &ending->message);
    return true;
}

void local_hibernate(void *owner, struct sandbox *sandbox, struct sandbox_callback told)
{
    (void)owner;
    if (!is_refused(sandbox, told)) {
        stop_all(ending_new(sandbox, told, true, true));
    }
}

void local_terminate(void *owner, struct sandbox *sandbox, struct sandbox_callback told)
{
    (void)owner;
    if (!is_refused(sandbox, told)) {
        stop_all(ending_new(sandbox, told, false, true));
    }
}

void local_snapshot(struct local_provider *local, struct sandbox *sandbox, struct sandbox_callback told)
{
    (void)local;
    if (!is_refused(sandbox, told)) {
        go_on(ending_new(sandbox, told, true, false));
    }
}

void local_save(struct local_provider *local, struct sandbox *sandbox, struct sandbox_callback told)
{
    (void)local;
    if (!is_refused(sandbox, told)) {
        stop_all(ending_new(sandbox, told, true, false));
    }
}

void local_give_up(struct local_sandbox *sandbox)
{
    while (sandbox->base.processes) {
        struct process *process = sandbox->base.processes;
        process_detach(process);
        process_abandon(process);
    }
    local_watch_stop(sandbox);
    local_sandbox_free(sandbox);
}

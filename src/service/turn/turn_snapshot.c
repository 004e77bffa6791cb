#include <assert.h>
#include <stdlib.h>

#include "service/turn/turn_run.h"

/* One snapshot that a turn asked for: taken on the loop, then kept by the writer like every tool of the service. It may
 * outlive its turn; whoever asked is told in any case. */
struct turn_snapshot {
    struct turn *turn; /* NULL = it is over */
    struct turn_served then;
};

static void on_taken(void *owner, struct slice result, struct slice error)
{
    struct turn_snapshot *snapshot = owner;
    struct turn *turn = snapshot->turn;
    if (turn) {
        turn->snapshot = NULL;
    }
    if (turn && turn_is_open(turn) && !slice_present(error)) {
        turn_serve_now(turn, SLICE("save_snapshot"), result, snapshot->then);
        turn_flush(turn);
        turn_host_rearm(turn->host);
    } else {
        snapshot->then.done(snapshot->then.owner, (struct slice){0},
                            slice_present(error) ? error : SLICE("The turn is over."));
    }
    free(snapshot);
}

void turn_snapshot_take(struct turn *turn, struct turn_served then)
{
    assert(loop_is_mine(turn->input.loop));
    const struct turn_host_options *options = &turn->host->options;
    if (!options->snapshot || !turn->input.sandbox || turn->snapshot) {
        then.done(then.owner, (struct slice){0},
                  SLICE("This session has no sandbox of which a snapshot could be taken."));
        return;
    }
    turn->snapshot = memory_zeroed(sizeof *turn->snapshot);
    *turn->snapshot = (struct turn_snapshot){turn, then};
    options->snapshot(options->snapshot_owner, turn->input.tenant_key, turn->input.session_key,
                      (struct gateway_done){turn->snapshot, on_taken});
}

void turn_snapshot_forget(struct turn *turn)
{
    if (turn->snapshot) {
        turn->snapshot->turn = NULL;
        turn->snapshot = NULL;
    }
}

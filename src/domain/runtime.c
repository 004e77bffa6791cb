#include "domain/runtime.h"

static const char *const runtime_names[RUNTIME_COUNT] = {
    [RUNTIME_NONE] = "none",
    [RUNTIME_STARTING] = "starting",
    [RUNTIME_RUNNING] = "running",
    [RUNTIME_HIBERNATING] = "hibernating",
    [RUNTIME_HIBERNATED] = "hibernated",
    [RUNTIME_RESTORING] = "restoring",
    [RUNTIME_STOPPED] = "stopped",
    [RUNTIME_ERROR] = "error",
};
const struct enum_names runtime_enum = {runtime_names, RUNTIME_COUNT};

static const char *const pause_reason_names[PAUSE_COUNT] = {
    [PAUSE_NONE] = "",
    [PAUSE_MANUAL] = "manual",
    [PAUSE_INACTIVITY] = "inactivity",
    [PAUSE_CREDIT_LIMIT] = "credit_limit",
    [PAUSE_PAYMENT_FAILED] = "payment_failed",
    [PAUSE_OVERAGE_CAP] = "overage_cap",
    [PAUSE_SUSPENDED] = "suspended",
    [PAUSE_ORPHANED] = "orphaned",
};
const struct enum_names pause_reason_enum = {pause_reason_names, PAUSE_COUNT};

static const char *const stop_reason_names[STOP_COUNT] = {
    [STOP_NONE] = "",
    [STOP_COMPLETED] = "completed",
    [STOP_FAILED] = "failed",
    [STOP_USER] = "user",
    [STOP_PARENT] = "parent",
    [STOP_SUPERSEDED] = "superseded",
    [STOP_EXPIRED] = "expired",
    [STOP_ABANDONED] = "abandoned",
    [STOP_ATTEMPTS_EXHAUSTED] = "attempts_exhausted",
    [STOP_SNAPSHOT_FAILED] = "snapshot_failed",
    [STOP_SANDBOX_GONE] = "sandbox_gone",
    [STOP_TURN_LIMIT] = "turn_limit",
    [STOP_BUDGET_EXCEEDED] = "budget_exceeded",
    [STOP_DELETED] = "deleted",
};
const struct enum_names stop_reason_enum = {stop_reason_names, STOP_COUNT};

/* A set of states. */
enum {
    STARTING = 1 << RUNTIME_STARTING,
    RUNNING = 1 << RUNTIME_RUNNING,
    HIBERNATING = 1 << RUNTIME_HIBERNATING,
    HIBERNATED = 1 << RUNTIME_HIBERNATED,
    RESTORING = 1 << RUNTIME_RESTORING,
    STOPPED = 1 << RUNTIME_STOPPED,
    ERROR = 1 << RUNTIME_ERROR,
    NONE = 1 << RUNTIME_NONE,
};

/* A stopped sandbox never comes back; reopening the session puts its runtime back to none. One that could not be put
 * to sleep runs on; one that sleeps fails when its snapshot is lost. */
static const struct {
    unsigned always;
    unsigned with_snapshot;
} runtime_edges[RUNTIME_COUNT] = {
    [RUNTIME_NONE] = {STARTING | RUNNING, RESTORING},
    [RUNTIME_STARTING] = {RUNNING | STOPPED | ERROR, 0},
    [RUNTIME_RUNNING] = {HIBERNATING | STOPPED | ERROR, 0},
    [RUNTIME_HIBERNATING] = {HIBERNATED | RUNNING | STOPPED | ERROR, 0},
    [RUNTIME_HIBERNATED] = {RESTORING | STOPPED | ERROR, 0},
    [RUNTIME_RESTORING] = {RUNNING | STOPPED | ERROR, 0},
    [RUNTIME_STOPPED] = {0, 0},
    [RUNTIME_ERROR] = {STARTING | STOPPED, RESTORING},
};

static bool in_group(unsigned group, enum runtime state)
{
    return (unsigned)state < RUNTIME_COUNT && (group >> state & 1u) != 0;
}

bool runtime_allows(enum runtime from, enum runtime to, bool has_snapshot)
{
    if ((unsigned)from >= RUNTIME_COUNT) {
        return false;
    }
    unsigned targets = runtime_edges[from].always | (has_snapshot ? runtime_edges[from].with_snapshot : 0);
    return in_group(targets, to);
}

void runtime_targets(enum runtime from, bool has_snapshot, char *out, size_t room)
{
    const char *names[RUNTIME_COUNT];
    int count = 0;
    for (int to = 0; to < RUNTIME_COUNT; to++) {
        if (runtime_allows(from, (enum runtime)to, has_snapshot)) {
            names[count++] = runtime_names[to];
        }
    }
    enum_names_list((struct enum_names){names, count}, out, room);
}

bool pause_blocks_turns(enum pause_reason reason)
{
    static const bool holds[PAUSE_COUNT] = {
        [PAUSE_MANUAL] = true,      [PAUSE_CREDIT_LIMIT] = true, [PAUSE_PAYMENT_FAILED] = true,
        [PAUSE_OVERAGE_CAP] = true, [PAUSE_SUSPENDED] = true,
    };
    return (unsigned)reason < PAUSE_COUNT && holds[reason];
}

bool runtime_can_pause(enum runtime state)
{
    return in_group(NONE | STARTING | HIBERNATING | HIBERNATED | RESTORING | ERROR, state);
}

bool runtime_is_asleep(enum runtime state)
{
    return in_group(HIBERNATING | HIBERNATED, state);
}

bool runtime_is_something(enum runtime state)
{
    return in_group(STARTING | RUNNING | HIBERNATING | HIBERNATED | RESTORING | ERROR, state);
}

bool runtime_is_transitioning(enum runtime state)
{
    return in_group(STARTING | HIBERNATING | RESTORING, state);
}

bool runtime_is_inhabited(enum runtime state)
{
    return in_group(STARTING | RUNNING | HIBERNATING | RESTORING, state);
}

bool runtime_is_up(enum runtime state)
{
    return in_group(RUNNING, state);
}

bool runtime_is_hibernated(enum runtime state)
{
    return in_group(HIBERNATED, state);
}

/* --- what is to be done next --- */

/* Whoever ends a session wants nothing of its sandbox any more. */
static struct runtime_step next_of_ended(const struct runtime_facts *facts)
{
    if (facts->live) {
        return (struct runtime_step){facts->state, facts->used ? RUNTIME_WAIT : RUNTIME_END};
    }
    if (in_group(RUNNING | HIBERNATING, facts->state)) {
        return (struct runtime_step){facts->state, RUNTIME_MAKE}; /* what an earlier life left, to be ended */
    }
    return (struct runtime_step){runtime_is_something(facts->state) ? RUNTIME_STOPPED : facts->state,
                                 facts->wanted ? RUNTIME_REFUSE : RUNTIME_REST};
}

static struct runtime_step next_of_running(const struct runtime_facts *facts)
{
    enum runtime_action idle = facts->live ? RUNTIME_WAIT : RUNTIME_REST;
    enum runtime_action wanted = facts->live ? RUNTIME_GIVE : RUNTIME_MAKE;
    return (struct runtime_step){RUNTIME_RUNNING, facts->wanted ? wanted : idle};
}

static struct runtime_step next_of_falling_asleep(const struct runtime_facts *facts)
{
    if (!facts->live) {
        return (struct runtime_step){RUNTIME_HIBERNATING, RUNTIME_MAKE};
    }
    if (facts->used) {
        return (struct runtime_step){RUNTIME_HIBERNATING, RUNTIME_WAIT};
    }
    return (struct runtime_step){RUNTIME_HIBERNATING, facts->saved ? RUNTIME_END : RUNTIME_SAVE};
}

static struct runtime_step next_of_absent(const struct runtime_facts *facts)
{
    if (!facts->wanted) {
        return (struct runtime_step){facts->state, RUNTIME_REST};
    }
    return (struct runtime_step){facts->has_snapshot ? RUNTIME_RESTORING : RUNTIME_STARTING, RUNTIME_MAKE};
}

struct runtime_step runtime_next(const struct runtime_facts *facts)
{
    if (facts->ended) {
        return next_of_ended(facts);
    }
    switch (facts->state) {
    case RUNTIME_RUNNING:
        return next_of_running(facts);
    case RUNTIME_HIBERNATING:
        return next_of_falling_asleep(facts);
    case RUNTIME_STARTING:
    case RUNTIME_RESTORING:
        return (struct runtime_step){facts->state, RUNTIME_MAKE};
    case RUNTIME_NONE:
    case RUNTIME_HIBERNATED:
    case RUNTIME_ERROR:
        return next_of_absent(facts);
    case RUNTIME_STOPPED:
    case RUNTIME_COUNT:
        break;
    }
    return (struct runtime_step){facts->state, facts->wanted ? RUNTIME_REFUSE : RUNTIME_REST};
}

#include "domain/work.h"

static const char *const work_names[WORK_COUNT] = {
    [WORK_DRAFT] = "draft",
    [WORK_PENDING] = "pending",
    [WORK_RUNNING] = "running",
    [WORK_WAITING_HUMAN] = "waiting_human",
    [WORK_AWAITING_TOOL] = "awaiting_tool",
    [WORK_IDLE] = "idle",
    [WORK_COMPLETED] = "completed",
    [WORK_FAILED] = "failed",
    [WORK_EXPIRED] = "expired",
    [WORK_ABANDONED] = "abandoned",
};
const struct words work_words = {work_names, WORK_COUNT};

static const char *const session_type_names[TYPE_COUNT] = {
    [TYPE_AGENT] = "agent",
    [TYPE_RESPONSE] = "response",
    [TYPE_TOOL] = "tool",
    [TYPE_MIXED] = "mixed",
};
const struct words session_type_words = {session_type_names, TYPE_COUNT};

/* A set of states. */
enum {
    DRAFT = 1 << WORK_DRAFT,
    PENDING = 1 << WORK_PENDING,
    RUNNING = 1 << WORK_RUNNING,
    WAITING_HUMAN = 1 << WORK_WAITING_HUMAN,
    AWAITING_TOOL = 1 << WORK_AWAITING_TOOL,
    IDLE = 1 << WORK_IDLE,
    COMPLETED = 1 << WORK_COMPLETED,
    FAILED = 1 << WORK_FAILED,
    EXPIRED = 1 << WORK_EXPIRED,
    ABANDONED = 1 << WORK_ABANDONED,
    ENDED = COMPLETED | FAILED | EXPIRED | ABANDONED,
    IN_TURN = RUNNING | WAITING_HUMAN | AWAITING_TOOL,
};

/* Where each state may go. Everything that has not ended may end, in any of the four ways; a failure is final, because
 * failed work is retried as a new session. A turn that waits for a person and a tool at once moves between the two
 * waits as they are answered. */
static const unsigned work_edges[WORK_COUNT] = {
    [WORK_DRAFT] = PENDING | RUNNING | IDLE | ENDED,
    [WORK_PENDING] = RUNNING | IDLE | ENDED,
    [WORK_RUNNING] = PENDING | WAITING_HUMAN | AWAITING_TOOL | IDLE | ENDED,
    [WORK_WAITING_HUMAN] = PENDING | RUNNING | AWAITING_TOOL | IDLE | ENDED,
    [WORK_AWAITING_TOOL] = PENDING | RUNNING | WAITING_HUMAN | IDLE | ENDED,
    [WORK_IDLE] = PENDING | RUNNING | ENDED,
    [WORK_COMPLETED] = IDLE,
    [WORK_FAILED] = 0,
    [WORK_EXPIRED] = IDLE,
    [WORK_ABANDONED] = IDLE,
};

static const struct {
    unsigned allowed;
    enum work plain;      /* when nothing is asked for */
    enum work dispatched; /* when there is something to do already */
} work_initials[TYPE_COUNT] = {
    [TYPE_AGENT] = {DRAFT | PENDING | IDLE, WORK_IDLE, WORK_PENDING},
    [TYPE_RESPONSE] = {DRAFT, WORK_DRAFT, WORK_DRAFT},
    [TYPE_TOOL] = {DRAFT, WORK_DRAFT, WORK_DRAFT},
    [TYPE_MIXED] = {RUNNING | IDLE, WORK_IDLE, WORK_RUNNING},
};

/* A state from outside the enum is in no group. */
static bool in_group(unsigned group, enum work state)
{
    return (unsigned)state < WORK_COUNT && (group >> state & 1u) != 0;
}

bool work_allows(enum work from, enum work to)
{
    return (unsigned)from < WORK_COUNT && in_group(work_edges[from], to);
}

bool work_is_initial(enum session_type type, bool approval, enum work state)
{
    if ((unsigned)type >= TYPE_COUNT) {
        return false;
    }
    return in_group(approval ? WAITING_HUMAN : work_initials[type].allowed, state);
}

enum work work_initial(enum session_type type, bool dispatched)
{
    return dispatched ? work_initials[type].dispatched : work_initials[type].plain;
}

bool work_is_active(enum work state)
{
    return in_group(~(unsigned)ENDED, state);
}

bool work_is_live(enum work state)
{
    return in_group(PENDING | RUNNING, state);
}

bool work_is_failing(enum work state)
{
    return in_group(FAILED | EXPIRED | ABANDONED, state);
}

bool work_is_ended(enum work state)
{
    return in_group(ENDED, state);
}

bool work_is_claimable(enum work state)
{
    return in_group(PENDING, state);
}

bool work_is_running(enum work state)
{
    return in_group(RUNNING, state);
}

bool work_is_unbegun(enum work state)
{
    return in_group(DRAFT, state);
}

bool work_is_done(enum work state)
{
    return in_group(COMPLETED, state);
}

bool work_is_leased(enum work state)
{
    return in_group(IN_TURN, state);
}

bool work_is_waiting(enum work state)
{
    return in_group(WAITING_HUMAN | AWAITING_TOOL, state);
}

bool work_can_reopen(enum work state)
{
    return in_group(COMPLETED | EXPIRED | ABANDONED, state);
}

bool work_takes_prompt(enum work state)
{
    return in_group(DRAFT | IDLE, state);
}

bool work_blocks_delete(enum work state)
{
    return in_group(IN_TURN, state);
}

bool work_counts_as_concurrent(enum work state)
{
    return in_group(IN_TURN, state);
}

bool work_is_under_way(enum work state)
{
    return in_group(IN_TURN, state) || work_is_claimable(state);
}

bool work_is_in_turn(enum work state)
{
    return in_group(IN_TURN, state);
}

enum work work_stopped_as(enum work state)
{
    return in_group(IDLE, state) ? WORK_COMPLETED : WORK_ABANDONED;
}

enum work work_cut_short(enum work to)
{
    return work_is_done(to) ? WORK_ABANDONED : to;
}

void work_targets(enum work from, char *out, size_t room)
{
    const char *names[WORK_COUNT];
    int count = 0;
    for (int to = 0; to < WORK_COUNT; to++) {
        if (work_allows(from, (enum work)to)) {
            names[count++] = work_names[to];
        }
    }
    words_list((struct words){names, count}, out, room);
}

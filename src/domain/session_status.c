#include "domain/session_status.h"

static const char *const work_names[SESSION_STATUS_COUNT] = {
    [SESSION_DRAFT] = "draft",
    [SESSION_PENDING] = "pending",
    [SESSION_RUNNING] = "running",
    [SESSION_WAITING_HUMAN] = "waiting_human",
    [SESSION_AWAITING_TOOL] = "awaiting_tool",
    [SESSION_IDLE] = "idle",
    [SESSION_COMPLETED] = "completed",
    [SESSION_FAILED] = "failed",
    [SESSION_EXPIRED] = "expired",
    [SESSION_ABANDONED] = "abandoned",
};
const struct enum_names session_status_enum = {work_names, SESSION_STATUS_COUNT};

static const char *const session_type_names[TYPE_COUNT] = {
    [TYPE_AGENT] = "agent",
    [TYPE_RESPONSE] = "response",
    [TYPE_TOOL] = "tool",
    [TYPE_MIXED] = "mixed",
};
const struct enum_names session_type_enum = {session_type_names, TYPE_COUNT};

/* A set of states. */
enum {
    DRAFT = 1 << SESSION_DRAFT,
    PENDING = 1 << SESSION_PENDING,
    RUNNING = 1 << SESSION_RUNNING,
    WAITING_HUMAN = 1 << SESSION_WAITING_HUMAN,
    AWAITING_TOOL = 1 << SESSION_AWAITING_TOOL,
    IDLE = 1 << SESSION_IDLE,
    COMPLETED = 1 << SESSION_COMPLETED,
    FAILED = 1 << SESSION_FAILED,
    EXPIRED = 1 << SESSION_EXPIRED,
    ABANDONED = 1 << SESSION_ABANDONED,
    ENDED = COMPLETED | FAILED | EXPIRED | ABANDONED,
    IN_TURN = RUNNING | WAITING_HUMAN | AWAITING_TOOL,
};

/* Where each state may go. Everything that has not ended may end, in any of the four ways; a failure is final, because
 * failed work is retried as a new session. A turn that waits for a person and a tool at once moves between the two
 * waits as they are answered. */
static const unsigned work_edges[SESSION_STATUS_COUNT] = {
    [SESSION_DRAFT] = PENDING | RUNNING | IDLE | ENDED,
    [SESSION_PENDING] = RUNNING | IDLE | ENDED,
    [SESSION_RUNNING] = PENDING | WAITING_HUMAN | AWAITING_TOOL | IDLE | ENDED,
    [SESSION_WAITING_HUMAN] = PENDING | RUNNING | AWAITING_TOOL | IDLE | ENDED,
    [SESSION_AWAITING_TOOL] = PENDING | RUNNING | WAITING_HUMAN | IDLE | ENDED,
    [SESSION_IDLE] = PENDING | RUNNING | ENDED,
    [SESSION_COMPLETED] = IDLE,
    [SESSION_FAILED] = 0,
    [SESSION_EXPIRED] = IDLE,
    [SESSION_ABANDONED] = IDLE,
};

static const struct {
    unsigned allowed;
    enum session_status plain;      /* when nothing is asked for */
    enum session_status dispatched; /* when there is something to do already */
} work_initials[TYPE_COUNT] = {
    [TYPE_AGENT] = {DRAFT | PENDING | IDLE, SESSION_IDLE, SESSION_PENDING},
    [TYPE_RESPONSE] = {DRAFT, SESSION_DRAFT, SESSION_DRAFT},
    [TYPE_TOOL] = {DRAFT, SESSION_DRAFT, SESSION_DRAFT},
    [TYPE_MIXED] = {RUNNING | IDLE, SESSION_IDLE, SESSION_RUNNING},
};

/* A state from outside the enum is in no group. */
static bool in_group(unsigned group, enum session_status state)
{
    return (unsigned)state < SESSION_STATUS_COUNT && (group >> state & 1u) != 0;
}

bool session_status_allows(enum session_status from, enum session_status to)
{
    return (unsigned)from < SESSION_STATUS_COUNT && in_group(work_edges[from], to);
}

bool session_status_is_initial(enum session_type type, bool approval, enum session_status state)
{
    if ((unsigned)type >= TYPE_COUNT) {
        return false;
    }
    return in_group(approval ? WAITING_HUMAN : work_initials[type].allowed, state);
}

enum session_status session_status_initial(enum session_type type, bool dispatched)
{
    return dispatched ? work_initials[type].dispatched : work_initials[type].plain;
}

bool session_status_is_active(enum session_status state)
{
    return in_group(~(unsigned)ENDED, state);
}

bool session_status_is_live(enum session_status state)
{
    return in_group(PENDING | RUNNING, state);
}

bool session_status_is_failing(enum session_status state)
{
    return in_group(FAILED | EXPIRED | ABANDONED, state);
}

bool session_status_is_ended(enum session_status state)
{
    return in_group(ENDED, state);
}

bool session_status_is_claimable(enum session_status state)
{
    return in_group(PENDING, state);
}

bool session_status_is_running(enum session_status state)
{
    return in_group(RUNNING, state);
}

bool session_status_is_unbegun(enum session_status state)
{
    return in_group(DRAFT, state);
}

bool session_status_is_done(enum session_status state)
{
    return in_group(COMPLETED, state);
}

bool session_status_is_leased(enum session_status state)
{
    return in_group(IN_TURN, state);
}

bool session_status_is_waiting(enum session_status state)
{
    return in_group(WAITING_HUMAN | AWAITING_TOOL, state);
}

bool session_status_can_reopen(enum session_status state)
{
    return in_group(COMPLETED | EXPIRED | ABANDONED, state);
}

bool session_status_takes_prompt(enum session_status state)
{
    return in_group(DRAFT | IDLE, state);
}

bool session_status_blocks_delete(enum session_status state)
{
    return in_group(IN_TURN, state);
}

bool session_status_counts_as_concurrent(enum session_status state)
{
    return in_group(IN_TURN, state);
}

bool session_status_is_under_way(enum session_status state)
{
    return in_group(IN_TURN, state) || session_status_is_claimable(state);
}

bool session_status_is_in_turn(enum session_status state)
{
    return in_group(IN_TURN, state);
}

enum session_status session_status_stopped_as(enum session_status state)
{
    return in_group(IDLE, state) ? SESSION_COMPLETED : SESSION_ABANDONED;
}

enum session_status session_status_cut_short(enum session_status to)
{
    return session_status_is_done(to) ? SESSION_ABANDONED : to;
}

void session_status_targets(enum session_status from, char *out, size_t room)
{
    const char *names[SESSION_STATUS_COUNT];
    int count = 0;
    for (int to = 0; to < SESSION_STATUS_COUNT; to++) {
        if (session_status_allows(from, (enum session_status)to)) {
            names[count++] = work_names[to];
        }
    }
    enum_names_list((struct enum_names){names, count}, out, room);
}

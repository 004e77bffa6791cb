/* Follows one prompt through the events of its session, from its acceptance to the end of its turn. Pure; what it keeps
 * is its own. */
#ifndef DOMAIN_TURN_FOLLOW_H
#define DOMAIN_TURN_FOLLOW_H

#include "base/buffer.h"
#include "base/json.h"
#include "domain/event_kind.h"

enum follow_state {
    FOLLOW_QUEUED,
    FOLLOW_PENDING,   /* said; nobody runs it yet, or nobody any more */
    FOLLOW_RUNNING,   /* in its turn */
    FOLLOW_ENDED,     /* its turn is over; what the same transaction adds still counts */
    FOLLOW_WITHDRAWN, /* it will not run */
    FOLLOW_COUNT
};

struct turn_follow {
    struct slice prompt_id; /* the caller's */
    enum follow_state state;
    int64_t turn;     /* 0 = none yet */
    int64_t from, to; /* sequences: its user.message and the last event of its turn; 0 = none yet */
    bool interrupted;
    bool sealed;                             /* something else came after the end */
    struct buffer text;                      /* what the agent said, a line break between messages */
    struct buffer tool_calls;                /* elements of a JSON array */
    struct buffer status;                    /* where the session went, or why the prompt was withdrawn */
    struct buffer error, usage, stop_reason; /* JSON; empty = none */
};

void turn_follow_release(struct turn_follow *follow);
/* The next event of the session; `json` as event_write writes it, read only where its type says that it may matter.
 * True when it belongs to the prompt or its turn. */
bool turn_follow_take(struct turn_follow *follow, enum event_kind kind, int64_t sequence, struct slice json);
static inline bool turn_follow_is_over(const struct turn_follow *follow)
{
    return follow->state == FOLLOW_ENDED || follow->state == FOLLOW_WITHDRAWN;
}
/* queued pending running completed interrupted failed withdrawn, or the word for the session's end */
struct slice turn_follow_status(const struct turn_follow *follow);
/* prompt_id, turn, status, text, tool_calls, stop_reason, error, usage, from, to: members of an open object. */
void turn_follow_write(const struct turn_follow *follow, struct json_out *out);

#endif

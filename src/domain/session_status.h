/* The work machine: what a session is doing as a piece of work. One table of states, one of edges; nothing outside this
 * room compares a status. */
#ifndef DOMAIN_SESSION_STATUS_H
#define DOMAIN_SESSION_STATUS_H

#include "base/slice.h"
#include "base/enum_names.h"

enum session_status {
    SESSION_DRAFT,
    SESSION_PENDING,
    SESSION_RUNNING,
    SESSION_WAITING_HUMAN,
    SESSION_AWAITING_TOOL,
    SESSION_IDLE,
    SESSION_COMPLETED,
    SESSION_FAILED,
    SESSION_EXPIRED,
    SESSION_ABANDONED,
    SESSION_STATUS_COUNT
};

enum session_type { TYPE_AGENT, TYPE_RESPONSE, TYPE_TOOL, TYPE_MIXED, TYPE_COUNT };

extern const struct enum_names session_status_enum;
extern const struct enum_names session_type_enum;

bool session_status_allows(enum session_status from, enum session_status to);
/* `approval` sessions (an approval gate's own row) start waiting for a person. */
bool session_status_is_initial(enum session_type type, bool approval, enum session_status state);
enum session_status session_status_initial(enum session_type type, bool dispatched);
/* Groups. */
bool session_status_is_active(enum session_status state);  /* not ended: polled */
bool session_status_is_live(enum session_status state);    /* hot: shown as a live run */
bool session_status_is_failing(enum session_status state); /* ended badly */
bool session_status_is_ended(enum session_status state);
bool session_status_is_claimable(enum session_status state);
bool session_status_is_running(enum session_status state);
bool session_status_is_unbegun(enum session_status state); /* a draft */
bool session_status_is_done(enum session_status state);    /* ended, and well */
bool session_status_is_leased(enum session_status state);  /* in a turn: a lease may exist */
bool session_status_is_waiting(enum session_status state); /* inside a turn, for a person or a tool */
bool session_status_can_reopen(enum session_status state);
bool session_status_takes_prompt(enum session_status state);         /* idle: the next prompt starts a turn */
bool session_status_blocks_delete(enum session_status state);        /* running, or waiting inside a turn */
bool session_status_counts_as_concurrent(enum session_status state); /* towards the limit per user */
bool session_status_is_under_way(enum session_status state);         /* in a turn, or about to begin one */
bool session_status_is_in_turn(enum session_status state);           /* running, or waiting inside a turn */
/* The end that being stopped from outside makes of an active state: work under way is abandoned, what rests is done. */
enum session_status session_status_stopped_as(enum session_status state);
/* The end that one from outside makes of a step of a task, which is `to` for others: it is not done by that. */
enum session_status session_status_cut_short(enum session_status to);
/* "running, idle, completed": where `from` may go; empty when nowhere. */
void session_status_targets(enum session_status from, char *out, size_t room);

#endif

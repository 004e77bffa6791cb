/* The work machine: what a session is doing as a piece of work. One table of states, one of edges; nothing outside this
 * room compares a status. */
#ifndef DOMAIN_WORK_H
#define DOMAIN_WORK_H

#include "base/slice.h"
#include "base/words.h"

enum work {
    WORK_DRAFT,
    WORK_PENDING,
    WORK_RUNNING,
    WORK_WAITING_HUMAN,
    WORK_AWAITING_TOOL,
    WORK_IDLE,
    WORK_COMPLETED,
    WORK_FAILED,
    WORK_EXPIRED,
    WORK_ABANDONED,
    WORK_COUNT
};

enum session_type { TYPE_AGENT, TYPE_RESPONSE, TYPE_TOOL, TYPE_MIXED, TYPE_COUNT };

extern const struct words work_words;
extern const struct words session_type_words;

bool work_allows(enum work from, enum work to);
/* `approval` sessions (an approval gate's own row) start waiting for a person. */
bool work_is_initial(enum session_type type, bool approval, enum work state);
enum work work_initial(enum session_type type, bool dispatched);
/* Groups. */
bool work_is_active(enum work state);  /* not ended: polled */
bool work_is_live(enum work state);    /* hot: shown as a live run */
bool work_is_failing(enum work state); /* ended badly */
bool work_is_ended(enum work state);
bool work_is_claimable(enum work state);
bool work_is_running(enum work state);
bool work_is_unbegun(enum work state); /* a draft */
bool work_is_done(enum work state);    /* ended, and well */
bool work_is_leased(enum work state);  /* in a turn: a lease may exist */
bool work_is_waiting(enum work state); /* inside a turn, for a person or a tool */
bool work_can_reopen(enum work state);
bool work_takes_prompt(enum work state);         /* at rest: the next prompt starts a turn */
bool work_blocks_delete(enum work state);        /* running, or waiting inside a turn */
bool work_counts_as_concurrent(enum work state); /* towards the limit per user */
bool work_is_under_way(enum work state);         /* in a turn, or about to begin one */
bool work_is_in_turn(enum work state);           /* running, or waiting inside a turn */
/* The end that being stopped from outside makes of an active state: work under way is abandoned, what rests is done. */
enum work work_stopped_as(enum work state);
/* The end that one from outside makes of a step of a task, which is `to` for others: it is not done by that. */
enum work work_cut_short(enum work to);
/* "running, idle, completed": where `from` may go; empty when nowhere. */
void work_targets(enum work from, char *out, size_t room);

#endif

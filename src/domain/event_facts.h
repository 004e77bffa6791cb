/* What an event did, for the rest of the process: filled by the writer as it folds the event into its session, so that
 * nobody has to read the event's text again. */
#ifndef DOMAIN_EVENT_FACTS_H
#define DOMAIN_EVENT_FACTS_H

#include "domain/event.h"
#include "domain/runtime.h"
#include "domain/session_status.h"

struct event_facts {
    enum event_kind kind;
    enum session_status from, to; /* the session's status before and after it */
    enum runtime runtime;
    int64_t turn; /* the session's last, by its number */
};

/* Of an event that another node wrote: what its text tells of a change of status. The rest stays 0. */
struct event_facts event_facts_read(const struct event *event);

static inline bool event_facts_move(const struct event_facts *facts)
{
    return facts->kind == EVENT_SESSION_STATUS_CHANGE;
}
/* The session came to an end. */
static inline bool event_facts_end(const struct event_facts *facts)
{
    return event_facts_move(facts) && session_status_is_ended(facts->to);
}
/* The turn is over, or the session does not run any more. */
static inline bool event_facts_end_turn(const struct event_facts *facts)
{
    return facts->kind == EVENT_TURN_ENDED || (event_facts_move(facts) && facts->to != SESSION_RUNNING);
}

#endif

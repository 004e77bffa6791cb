/* When an agent looks back at a chat (domain/introspection.h): what messages and the ends of turns do to it, its
 * timer, and the writes of the turn in which it does so (service/turn/turn_introspect.c). The timer of a session is one
 * of three things: when to begin, when to try again, and, while it runs, until when its host must be heard of. */
#ifndef SERVICE_INTROSPECTION_H
#define SERVICE_INTROSPECTION_H

#include "domain/introspection.h"
#include "service/session/session.h"

/* Writer. A turn ended and the session may rest: the next look back is at once, or after a silence. */
MUST_CHECK enum status introspection_after_turn(struct call *call, struct loaded_session *loaded);
/* Writer. Somebody speaks to the agent: the timer is cleared, and what runs is interrupted. */
MUST_CHECK enum status introspection_on_message(struct call *call, struct loaded_session *loaded);
/* Writer. Somebody spoke in the session without speaking to the agent: the silence begins again. */
MUST_CHECK enum status introspection_overhear(struct call *call, struct loaded_session *loaded);
/* Writer. The timer. */
MUST_CHECK enum status introspection_due(struct call *call, struct loaded_session *loaded, bool *out_again);
/* Writer. What an earlier life of this server left running begins again, over the same range. */
MUST_CHECK enum status introspection_recover(struct call *call);

/* Writer, for the host of run `run`: STALE when it is no longer the one. */
MUST_CHECK enum status introspection_enter(struct call *call, struct slice session_id, int64_t run,
                                           struct session_access *out);
MUST_CHECK enum status introspection_renew(struct call *call, struct slice session_id, int64_t run);
MUST_CHECK enum status introspection_settle(struct call *call, struct slice session_id, int64_t run,
                                            const struct turn_end *end, int64_t tool_calls);
/* Its host gives it up: the range is tried again. */
MUST_CHECK enum status introspection_return(struct call *call, struct slice session_id, int64_t run, const char *cause);

#endif

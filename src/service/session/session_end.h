/* The end of a session: one routine, whatever ended it (settled, stopped, expired, abandoned, superseded, given up,
 * its sandbox gone, its parent ended, deleted), in the transaction of the move:
 *
 *     the lease goes (a hosted turn gets its turn.ended) → asks are cancelled → queued prompts are withdrawn
 *     → timers stop → the parent is told → a step fills its entity and its run goes on (service/work/step.h)
 *     → the children that are active end, and theirs
 *
 * A session that has ended ends no second time. */
#ifndef SERVICE_SESSION_END_H
#define SERVICE_SESSION_END_H

#include "service/session/session.h"

/* Writer. Ends an active session, as session_ends_as says; nothing when it has
 * ended. */
MUST_CHECK enum status session_end(struct call *call, struct loaded_session *loaded, enum stop_reason stop,
                                   const char *reason);
/* Writer, for people: stop. *out_changed false: it had ended before. */
MUST_CHECK enum status session_end_stop(struct call *call, struct slice session_id, struct slice reason,
                                        struct session_access *out, bool *out_changed);

/* Writer. Before a session is deleted: its parent is told unless it had ended, and its children end. Its own log goes
 * anyway. */
MUST_CHECK enum status session_end_erase(struct call *call, struct loaded_session *loaded);

/* Writer. The timers of one that ended stop, and its parent is told: what session_end_run begins with. */
MUST_CHECK enum status session_end_close(struct call *call, struct loaded_session *loaded);
/* For session_after_move: the steps behind the lease, the asks and the prompts. */
MUST_CHECK enum status session_end_run(struct call *call, struct loaded_session *loaded);
/* TIMER_CASCADE: more sessions hung on this one than one transaction ends. */
MUST_CHECK enum status session_end_continue(struct call *call, struct loaded_session *loaded, bool *out_again);

#endif

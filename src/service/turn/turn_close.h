/* What commands do with a turn: its end, and its end without its driver. */
#ifndef SERVICE_TURN_CLOSE_H
#define SERVICE_TURN_CLOSE_H

#include "domain/agent.h"
#include "domain/turn.h"
#include "service/session/session.h"

/* Who holds the leases of the turns that the server runs. */
#define TURN_HOST_NAME "server"

/* Writer. The holder of the lease ends its turn: turn.ended, the move, and what follows from it. What is written of the
 * turn is of the thread of its prompt; absent = the main one. */
MUST_CHECK enum status turn_finish(struct call *call, struct slice session_id, struct slice thread_id,
                                   const struct turn_end *end);
/* Writer. The turn's host is gone, or stops: tool calls in flight are marked ambiguous, turn.ended says aborted and
 * why, and the agent's policy decides what becomes of the prompt: run again (pending), offered (idle, see
 * turn_resume), or the session fails. A runner gets its prompt again: it was cut by a connection, not by a crash. */
MUST_CHECK enum status turn_abort(struct call *call, struct loaded_session *loaded, const char *cause);
/* Writer. The turn of a hosted session loses its lease and nobody wrote its end: the same without a policy. Nothing
 * when its turn.ended was written. */
MUST_CHECK enum status turn_abandon(struct call *call, struct loaded_session *loaded);
/* Writer. The same event for a turn that a worker runs, before the session moves to `to`. Nothing where the turn goes
 * on
 * (`to` waits for somebody), the session is hosted, or its end was written. */
MUST_CHECK enum status turn_end_claimed(struct call *call, struct loaded_session *loaded, enum session_status to,
                                        const struct turn_end *end);
/* Writer. Runs the prompt of an aborted turn again: CONFLICT (`nothing_to_resume`) when the last turn was not cut or
 * the session is not at rest. */
MUST_CHECK enum status turn_resume(struct call *call, struct slice session_id, struct session_access *out);

/* Writer. Every tool call of the turn that has no result gets one: not run, when a person was still asked about it,
 * else ambiguous. */
MUST_CHECK enum status turn_close_calls(struct call *call, struct loaded_session *loaded, struct slice thread_id);

/* Writer. A tool that only the service can run, for a turn: set_title, spawn_session, session_status, its memory
 * (memory_*, working_memory_update, session_description_update). The result is JSON in the call's arena. */
MUST_CHECK enum status turn_tool_serve(struct call *call, struct loaded_session *loaded, struct slice tool,
                                       struct slice arguments, struct slice *out);

#endif

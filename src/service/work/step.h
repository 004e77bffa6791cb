/* Sessions that are steps of a task: what their output must be, who approves it, what it fills, and what starts next.
 *
 *     settled as completed → output kept to its contract? ─no→ failed (output_contract, output_blocked, entity_gone)
 *                              │yes
 *                              ├ requires approval → waiting_human, an ask about the staged output
 *                              │     approved (or edited and approved) → completed      denied, expired → failed
 *                              └ completed → fields of the entity written → dependents start → the last ends the run
 *
 * All of it in the transaction of the move; sessions that are no steps pass unchanged. Writer thread. */
#ifndef SERVICE_STEP_H
#define SERVICE_STEP_H

#include "domain/turn.h"
#include "service/session/session.h"

/* Before a move is written: what its output makes of it. *out_staged: it goes to waiting_human, and step_stage follows
 * the move. */
MUST_CHECK enum status step_decide(struct call *call, const struct session *session, struct settlement *settlement,
                                   bool *out_staged);
/* Asks people about the output that is the session's result now. */
MUST_CHECK enum status step_stage(struct call *call, struct loaded_session *loaded);
/* The turn of a hosted agent ended: a step is over then. What the agent said last is its output, unless the turn has a
 * result. */
MUST_CHECK enum status step_end_turn(struct call *call, const struct session *session, const struct turn_end *end,
                                     struct settlement *settlement);
/* A person moves it to `to` without a settlement: *out_done when that was a step's end and all is done.
 * CONFLICT `step_waits` for a step whose turn has not come. */
MUST_CHECK enum status step_move(struct call *call, struct loaded_session *loaded, enum session_status to,
                                 struct slice reason, bool *out_done);

/* Before a prompt: CONFLICT `step_waits` for a step whose turn has not come. */
MUST_CHECK enum status step_check_prompt(struct call *call, const struct session *session);

/* Is it about the output of a step? */
bool step_asks(const struct ask *ask);
/* May the staged output be kept as it was edited? INVALID `output_contract`, `output_blocked`. */
MUST_CHECK enum status step_check_reply(struct call *call, const struct session *session, const struct ask *ask,
                                        const struct ask_reply *reply);
/* Such an ask is over: the step ends. */
MUST_CHECK enum status step_follow_ask(struct call *call, struct loaded_session *loaded, const struct ask *ask);

/* For the ending: fills the entity, then goes on with the run. */
MUST_CHECK enum status step_after_end(struct call *call, struct loaded_session *loaded);
/* Ends that come from outside do not complete a step. */
MUST_CHECK enum status session_is_step(struct call *call, const struct session *session, bool *out);
/* A retry keeps the contract; the run it was a part of is over. CONFLICT `run_again` for a whole run. */
MUST_CHECK enum status step_check_retry(struct call *call, const struct session *old);
MUST_CHECK enum status step_copy(struct call *call, const struct session *old, const struct session *retry);

#endif

/* Steps that asking and answering share. Private to these files. */
#ifndef SERVICE_ASK_INTERNAL_H
#define SERVICE_ASK_INTERNAL_H

#include "domain/ask_grant.h"
#include "service/ask/ask.h"

/* NOT_FOUND `ask_not_found`. */
MUST_CHECK enum status ask_load(struct call *call, const struct session *session, struct slice ask_id, struct ask *out);
/* Saves an ask that is pending no longer, and says so in the log. `actor` absent = the caller. */
MUST_CHECK enum status ask_close(struct call *call, struct loaded_session *loaded, const struct ask *ask,
                                 struct slice actor);
/* The parent's people see that a child waits for somebody (session.child_waiting), and that it does so no longer
 * (session.child_decided): for each ask one of both, in the transaction of the child's own event. */
MUST_CHECK enum status ask_tell_parent(struct call *call, const struct session *child, const struct ask *ask);
/* What the caller left open: state, turn, role, quorum, times, text, id. */
MUST_CHECK enum status ask_fill(struct call *call, const struct session *session, struct ask *ask);
/* Past its deadline, though the timer did not say so yet. */
bool ask_is_overdue(const struct call *call, const struct ask *ask);
/* After a change: the timer of what is left, and (`moves`) the state that belongs to it. */
MUST_CHECK enum status ask_refresh(struct call *call, struct loaded_session *loaded, bool moves);
/* The same after this one was answered or ran out: about the output of a step, it ends the step. */
MUST_CHECK enum status ask_follow(struct call *call, struct loaded_session *loaded, const struct ask *ask);
/* What a matching rule answers; *out_found false when none does. */
MUST_CHECK enum status ask_apply_rules(struct call *call, const struct session *session, struct ask *ask,
                                       bool *out_found);
/* A decision for more than once becomes a rule, which answers what else is pending and matches. */
MUST_CHECK enum status ask_check_rule(struct call *call, const struct session *session, enum access_role role,
                                      enum ask_decision decision);
MUST_CHECK enum status ask_add_rule(struct call *call, struct loaded_session *loaded, const struct ask *ask,
                                    const struct ask_reply *reply, const struct ask_grant *grant);

#endif

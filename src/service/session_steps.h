/* Steps that several commands on sessions share. Private to the room. */
#ifndef SERVICE_SESSION_STEPS_H
#define SERVICE_SESSION_STEPS_H

#include "service/session.h"

/* What a new session gets besides what its maker said: its persona, what its user wishes, both frozen into it.
 * NOT_FOUND for a persona he may not use. Reads, and changes only `input`. */
MUST_CHECK enum status session_equip(struct call *call, struct session_input *input);
/* The timers a session that is not ended has: its time to live, the rule for human sessions. */
MUST_CHECK enum status session_start_timers(struct call *call, struct loaded_session *loaded);
/* Whoever runs it does so no longer; nothing when nobody does. */
MUST_CHECK enum status session_drop_lease(struct call *call, struct loaded_session *loaded);
/* What a turn leaves behind after a move: its lease, its asks, the prompts behind it. A part of session_after_move. */
MUST_CHECK enum status session_leave_turn(struct call *call, struct loaded_session *loaded);
/* Appends changes that may have reopened the session; its timers then run again, and it asks again. */
MUST_CHECK enum status session_revive(struct call *call, struct loaded_session *loaded, struct changes *changes);
/* Notes in the parent's log what became of a child. */
MUST_CHECK enum status session_tell_parent(struct call *call, struct loaded_session *parent, const char *type,
                                           const struct session *child);

#endif

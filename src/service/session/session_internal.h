/* Steps that several commands on sessions share. Private to these files. */
#ifndef SERVICE_SESSION_INTERNAL_H
#define SERVICE_SESSION_INTERNAL_H

#include "service/session/session.h"

/* What a new session gets besides what its maker said: its persona, what its user wishes, both frozen into it.
 * NOT_FOUND for a persona he may not use. Reads, and changes only `input`. */
MUST_CHECK enum status session_equip(struct call *call, struct session_input *input);
/* LIMITED, with the numbers, when its owner has as many sessions under way as he may. */
MUST_CHECK enum status session_check_limit(struct call *call, struct slice owner);
/* The timers a session that is not ended has: its time to live, the rule for human sessions. */
MUST_CHECK enum status session_start_timers(struct call *call, struct loaded_session *loaded);
/* Appends changes that may have reopened the session; its timers then run again, and it asks again. */
MUST_CHECK enum status session_revive(struct call *call, struct loaded_session *loaded, struct changes *changes);
/* Notes in the parent's log what became of a child. */
MUST_CHECK enum status session_tell_parent(struct call *call, struct loaded_session *parent, enum event_kind kind,
                                           const struct session *child);

#endif

/* What the files of the unit share. Private to them. */
#ifndef SERVICE_UNIT_INTERNAL_H
#define SERVICE_UNIT_INTERNAL_H

#include "service/core/unit.h"

/* session_cache.c: the sessions this writer knows. */
struct loaded_session *unit_remember(struct unit *unit, int64_t tenant_key, struct slice id);
void unit_forget(struct unit *unit, struct loaded_session *loaded);
void unit_know_key(struct unit *unit, struct loaded_session *loaded); /* from now on it is found by it, too */
void unit_mark_stored(struct loaded_session *loaded);

/* unit.c: the group. */
void unit_touch(struct unit *unit, struct loaded_session *loaded);
MUST_CHECK enum status unit_save(struct unit *unit, struct loaded_session *loaded, struct failure *failure);

#endif

/* What a turn said live before it was cut. */
#ifndef SERVICE_TURN_PARTIAL_H
#define SERVICE_TURN_PARTIAL_H

#include "service/session/session.h"

/* Writer. A turn ends early: text and reasoning that were published live, were saved, and are in no event yet become
 * events marked `partial`, because people have read them. Everything else (a driver that wrote its text itself, an
 * earlier turn) adds nothing. Live output is saved every partial-flush-ms. */
MUST_CHECK enum status turn_keep_partial(struct call *call, struct loaded_session *loaded, struct slice thread_id);

#endif

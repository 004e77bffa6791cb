/* A request that goes on after its command was committed: it waits for the end of the turn its prompt begins, or shows
 * the turn as it happens. */
#ifndef API_FOLLOW_H
#define API_FOLLOW_H

#include "api/core/request.h"

/* Does the query ask for it (`wait`, `stream`)? Routes that do not offer it refuse these parameters. */
bool follow_is_wanted(const struct request *request);
/* Writer thread; the answer so far is a receipt {prompt_id, sequence, …}. */
MUST_CHECK enum status follow_begin(struct request *request);

#endif

/* Where a browser's request comes from. */
#ifndef API_ORIGIN_H
#define API_ORIGIN_H

#include "api/core/request.h"

/* From a page of this server, or of an origin that the operator named (cors-origin, but not "*"). A browser tells it
 * in headers that no page can write: Sec-Fetch-Site and Origin. False when it tells nothing. */
bool origin_is_ours(const struct request *request);
/* FORBIDDEN for a page of somebody else; OK for ours, and for callers that are no browsers. */
MUST_CHECK enum status origin_check(struct request *request);
/* The same for what a browser sends with its cookies and without asking, where silence is no excuse: WebSockets. */
MUST_CHECK enum status origin_check_upgrade(struct request *request);

#endif

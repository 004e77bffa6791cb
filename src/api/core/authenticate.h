/* From credentials to a principal. */
#ifndef API_AUTHENTICATE_H
#define API_AUTHENTICATE_H

#include "api/core/request.h"

#define COOKIE_NAME "sojourn_session"

/* Fills request->who. Bearer token, then ticket (writer only), then cookie with X-CSRF-Token on unsafe methods.
 * Reader or writer thread. */
MUST_CHECK enum status authenticate(struct request *request);
/* The principals this thread keeps. */
void authenticate_thread_end(void);

#endif

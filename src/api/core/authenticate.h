/* From credentials to a principal. */
#ifndef API_AUTHENTICATE_H
#define API_AUTHENTICATE_H

#include "api/core/request.h"

#define COOKIE_NAME "sojourn_session"

/* Fills request->who from the credential that the request's door finds: a token, a ticket (writer only), or a cookie
 * with X-CSRF-Token on unsafe methods. Reader or writer thread. */
MUST_CHECK enum status authenticate(struct request *request);
/* UNAUTHENTICATED, with what the door's clients have to show. */
MUST_CHECK enum status refuse_unauthenticated(const struct request *request, struct failure *failure);
/* The principals this thread keeps. */
void authenticate_thread_end(void);

#endif

/* The stages of a request, in the order it goes through them: receive.c, request_body.c, request_run.c,
 * request_answer.c. request.c is what handlers ask meanwhile. */
#ifndef API_REQUEST_PARTS_H
#define API_REQUEST_PARTS_H

#include "api/request.h"

/* A long body of somebody unknown costs no more than its bytes: it is read after its caller was let in, and not on the
 * loop. */
bool request_body_waits(const struct request *request);
/* Reads and checks the body as the route wants it. */
MUST_CHECK enum status request_read_body(struct request *request, struct failure *failure);
/* Runs the handler where its route says, and answers. Loop thread. */
void request_run(struct request *request);

#endif

/* The stages of a request, in the order it goes through them: request_receive.c, request_admit.c, request_body.c,
 * request_run.c, request_answer.c. request.c is what handlers ask meanwhile. */
#ifndef API_REQUEST_INTERNAL_H
#define API_REQUEST_INTERNAL_H

#include "api/core/request.h"

/* The largest body that the route takes. */
int64_t request_body_bytes_max(const struct request *request);
MUST_CHECK enum status request_check_length(const struct request *request, struct failure *failure);
/* The head was accepted: the body may come when there is room for it, and when its caller is known if it is long. Loop
 * thread. */
void request_admit(struct request *request);
/* A body that came with its head is counted. */
MUST_CHECK enum status request_count_body(struct request *request, struct failure *failure);
/* The caller is known: what the request holds is the caller's. Fails when that is too much. */
MUST_CHECK enum status request_enter(struct request *request);
/* What the request and its answer hold by now. */
void request_count_bytes(struct request *request);
/* The same, as long as there is room for it. */
MUST_CHECK enum status request_take_bytes(struct request *request);

/* A long body of somebody unknown costs no more than its bytes: it is read after its caller was let in, and not on the
 * loop. */
bool request_body_waits(const struct request *request);
/* Reads and checks the body as the route wants it. */
MUST_CHECK enum status request_read_body(struct request *request, struct failure *failure);
/* Whether the body is of a type that the route reads. */
MUST_CHECK enum status request_check_type(const struct request *request, struct failure *failure);
/* Starts the call of a query; a command brings its own. */
void request_start(struct request *request, struct db *db);
/* Runs the job on a reader, or answers that there is no room. */
void request_read_on(struct request *request, void (*run)(struct read_job *job, struct db *db));
/* Runs the handler where its route says, and answers. Loop thread. */
void request_run(struct request *request);

#endif

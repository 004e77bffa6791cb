/* What the routes about asks share. */
#ifndef API_ASKS_H
#define API_ASKS_H

#include "api/core/request.h"
#include "service/ask/ask.h"

extern const struct field answer_body[];

/* One ask with the session it belongs to. */
void asks_write(struct json_out *out, const struct ask *ask, const struct session *session);
/* The one check of an answer, whatever it came through. */
MUST_CHECK enum status asks_check_answer(const struct json *body, struct failure *failure);
/* A checked answer; its slices are borrowed. */
void asks_read_reply(const struct json *body, struct ask_reply *out);

#endif

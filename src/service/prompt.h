/* Messages that make a session's agent run. While a turn is under way they wait in a durable queue; the next one is
 * dispatched in the transaction that ends the turn. */
#ifndef SERVICE_PROMPT_H
#define SERVICE_PROMPT_H

#include "service/session.h"

struct prompt_request {
    int mode;             /* enum queue_mode; -1 = as the session says */
    struct slice content; /* a JSON array */
    const struct json *metadata;
    struct slice thread_id;
};

struct prompt_receipt {
    struct slice id;
    bool queued;      /* else its user.message is in the log */
    int64_t place;    /* in the queue, from 1; 0 when dispatched */
    int64_t sequence; /* of its user.message or prompt.queued */
};

/* Writer. Dispatches the prompt or queues it: CONFLICT (`busy`) in mode reject, LIMITED when the queue is full. */
MUST_CHECK enum status prompt_send(struct call *call, struct slice session_id, const struct prompt_request *request,
                                   struct prompt_receipt *out);
/* Writer. NOT_FOUND (`prompt_not_found`) when it does not wait any more. */
MUST_CHECK enum status prompt_withdraw(struct call *call, struct slice session_id, struct slice prompt_id);
/* Writer. Withdraws all that wait and hands them out. */
MUST_CHECK enum status prompt_clear(struct call *call, struct slice session_id, struct prompt **out, size_t *out_count);
/* Reader. */
MUST_CHECK enum status prompt_list(struct call *call, struct slice session_id, struct prompt **out, size_t *out_count);

/* For session_after_move: a session at rest starts its next prompt, an ended one withdraws what waits. */
MUST_CHECK enum status prompt_after_move(struct call *call, struct loaded_session *loaded);

#endif

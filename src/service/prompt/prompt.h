/* Messages that make a session's agent run. While a turn is under way they wait in a durable queue; the next one is
 * dispatched in the transaction that ends the turn. */
#ifndef SERVICE_PROMPT_H
#define SERVICE_PROMPT_H

#include "service/session/session.h"

struct prompt_request {
    int mode;              /* enum queue_mode; -1 = as the session says */
    struct slice content;  /* a JSON array */
    struct slice metadata; /* a JSON object, checked by prompt_metadata_of; absent = none */
    struct slice thread_id;
    bool clear_queue;          /* steer: withdraw what waits in its thread */
    int64_t debounce_ms;       /* collect; -1 = the option */
    int64_t priority;          /* within the queue; higher first */
    const struct json *sender; /* whom a channel names; NULL = the caller */
    bool not_mentioned;        /* of a group: the agent was not named */
};

struct prompt_receipt {
    struct slice id;
    bool queued;      /* else its user.message is in the log */
    bool logged;      /* it is in the log and makes nobody run: routing of groups */
    int64_t place;    /* in the queue, from 1; 0 when dispatched */
    int64_t sequence; /* of its user.message or prompt.queued */
    struct prompt *withdrawn;
    size_t withdrawn_count;
};

/* Writer. Dispatches the prompt or queues it: CONFLICT (`busy`) in mode reject, LIMITED when the queue is full or the
 * session had all its turns. */
MUST_CHECK enum status prompt_send(struct call *call, struct slice session_id, const struct prompt_request *request,
                                   struct prompt_receipt *out);
/* Writer. Writes the message into the log and makes nobody run. */
MUST_CHECK enum status prompt_append(struct call *call, struct slice session_id, const struct prompt_request *request,
                                     int64_t *out_sequence);

/* --- what waits; all of it NOT_FOUND (`prompt_not_found`) when the prompt does not wait any more, CONFLICT
 * (`prompt_changed`) when `revision` (0 = any) is not its revision --- */

/* Writer. */
MUST_CHECK enum status prompt_withdraw(struct call *call, struct slice session_id, struct slice prompt_id,
                                       int64_t revision);
/* Writer. Only its author may; absent members stay as they are. */
struct prompt_edit {
    int64_t revision;
    struct slice content;
    struct slice metadata;
};
MUST_CHECK enum status prompt_edit(struct call *call, struct slice session_id, struct slice prompt_id,
                                   const struct prompt_edit *edit, struct prompt *out, int64_t *out_place);
struct prompt_move {
    int64_t revision;
    struct slice before; /* the prompt it shall stand in front of; absent = `place` */
    int64_t place;       /* from 1; beyond the end = last */
};
MUST_CHECK enum status prompt_move(struct call *call, struct slice session_id, struct slice prompt_id,
                                   const struct prompt_move *move, struct prompt *out, int64_t *out_place);
/* It becomes the first, on its own; with `steer` the running turn of its thread is interrupted. */
MUST_CHECK enum status prompt_promote(struct call *call, struct slice session_id, struct slice prompt_id,
                                      int64_t revision, bool steer, struct prompt_receipt *out);
/* Writer. Withdraws all that wait, of one thread (NULL = of all), and hands them out. */
MUST_CHECK enum status prompt_clear(struct call *call, struct slice session_id, const struct slice *thread_id,
                                    struct prompt **out, size_t *out_count);
/* Reader. */
MUST_CHECK enum status prompt_list(struct call *call, struct slice session_id, struct prompt **out, size_t *out_count);

/* For session_after_move: a session at rest starts its next prompt, an ended one withdraws what waits. */
MUST_CHECK enum status prompt_after_move(struct call *call, struct loaded_session *loaded);
/* TIMER_COLLECT. *out_again: it was set anew. */
MUST_CHECK enum status prompt_collect_over(struct call *call, struct loaded_session *loaded, bool *out_again);

/* Reader. How many prompts wait, and from when on. */
MUST_CHECK enum status prompt_queue_stats(struct call *call, const struct session *session, struct prompt_stats *out);

/* How many wait is known from the first question on: every change of the queue goes through this writer, or makes the
 * session stale. */
MUST_CHECK enum status prompt_learn_queue(struct call *call, struct loaded_session *loaded);
/* The prompts that wait, in their order. */
MUST_CHECK enum status prompt_read_queue(struct call *call, struct loaded_session *loaded, struct prompt **out,
                                         size_t *out_count);
/* The content of a message of a group that takes another way than prompt_route says who sent it, too. `sender` may be
 * NULL. */
MUST_CHECK enum status prompt_name_sender(struct call *call, const struct session_access *entry,
                                          const struct json *sender, struct slice *content);

#endif

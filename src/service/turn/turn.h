/* The turn a session is in, whoever runs it: which message began it, and how people end it. */
#ifndef SERVICE_TURN_H
#define SERVICE_TURN_H

#include "service/session/session.h"

/* The message that began the turn a session is in, or waits for; in the call's arena. What was only appended, or
 * written into the log by somebody else, begins no turn. */
struct turn_message {
    int64_t sequence; /* 0 = none: the prompt given at creation, or work without one */
    struct slice content;
    struct slice thread_id;
    const struct slice *prompt_ids; /* several when it was collected */
    size_t prompt_count;
};
/* Reader or writer. */
MUST_CHECK enum status turn_read_message(struct call *call, const struct session *session, struct turn_message *out);

struct turn_interrupted {
    int64_t turn;
    bool requested; /* a request stands: the turn was told to end, now or before, or is over by it */
};
/* Writer. Asks whoever runs the turn to end it: turn.interrupt_requested {turn, reason, by}, once per turn. A turn that
 * nobody runs any more (it waits for a person without a lease) comes to rest at once, but its next prompt is the
 * caller's to start. Nothing happens when the session is in no turn. */
MUST_CHECK enum status turn_request_interrupt(struct call *call, struct loaded_session *loaded, const char *reason);
/* The same with the prompt that wants it (absent = none), and with what came of it. */
MUST_CHECK enum status turn_interrupt_for_prompt(struct call *call, struct loaded_session *loaded, const char *reason,
                                                 struct slice prompt_id, struct turn_interrupted *out);
/* Writer, for people: interrupts the turn. One that nobody has claimed yet will not run: its prompts are withdrawn
 * (`interrupted`). What waits in the queue goes on. */
MUST_CHECK enum status turn_interrupt(struct call *call, struct slice session_id, struct turn_interrupted *out);
/* Was the turn it is in told to end? Reader or writer. */
MUST_CHECK enum status turn_is_interrupted(struct call *call, const struct session *session, bool *out);
/* A session lost whoever ran it without its turn being done: a turn that was told to end does not run again. */
MUST_CHECK enum status turn_after_requeue(struct call *call, struct loaded_session *loaded);

#endif

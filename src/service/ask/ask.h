/* Approvals, questions and forms: what turns ask of people. Durable rows with a deadline, decided once.
 *
 * Asking moves the session to waiting_human or awaiting_tool and leaves its lease where it is. When nothing is left to
 * decide, a session that still waits goes on: running where its turn is held, pending (to be claimed anew) where it is
 * not. Writer thread, unless said otherwise. */
#ifndef SERVICE_ASK_H
#define SERVICE_ASK_H

#include "service/prompt/prompt.h"
#include "service/session/session.h"

/* Writer. Sends the agent a message that asks for the same once more, for an ask that expired: CONFLICT
 * (`ask_not_expired`), and what prompt_send answers. */
MUST_CHECK enum status ask_again(struct call *call, struct slice session_id, struct slice ask_id,
                                 struct prompt_receipt *out);
/* Asks, in the name of the turn that runs. Fills what is not given (state, role, quorum, times); an approval that a
 * standing rule allows is stored as answered (answered_by "rule:ID") and moves nothing. The same ask again is no new
 * one: *ask becomes the stored one. CONFLICT `no_turn`, `ask_exists`; LIMITED `too_many_asks`. */
MUST_CHECK enum status ask_open(struct call *call, struct loaded_session *loaded, struct ask *ask);
/* The same for a turn that goes on where earlier attempts at the same message were cut; `after` is the sequence of that
 * message. When one of them asked the same and died before it heard the answer, this ask has that answer
 * (ask.resumed): people are not asked twice, and what they said is heard once. Everything else is asked anew, under
 * another id where an earlier attempt used it. ask->id is the stored one afterwards. */
MUST_CHECK enum status ask_open_again(struct call *call, struct loaded_session *loaded, int64_t after, struct ask *ask);
/* The same as ask_open for whoever runs the session from outside: its lease holder, runner or sandbox. */
MUST_CHECK enum status ask_request(struct call *call, struct slice session_id, struct ask *ask);

/* A person decides. `by` and `voter` of the reply are the caller's and need not be set. The same reply by the same
 * caller again changes nothing; any other is CONFLICT `ask_not_pending`. *out is the ask afterwards. */
MUST_CHECK enum status ask_answer(struct call *call, struct slice session_id, struct slice ask_id,
                                  const struct ask_reply *reply, struct ask *out);
/* The pending ask of this kind: the one about the call `call_id`, or, where that is absent, the only one. */
MUST_CHECK enum status ask_find(struct call *call, struct slice session_id, enum ask_kind kind, struct slice call_id,
                                struct slice *out_ask_id);

/* Nobody needs to know any more; the session goes on as after an answer. NOT_FOUND when there is none such. */
MUST_CHECK enum status ask_cancel(struct call *call, struct loaded_session *loaded, struct slice ask_id,
                                  struct slice reason);
/* The same for whoever runs the session from outside. */
MUST_CHECK enum status ask_withdraw(struct call *call, struct slice session_id, struct slice ask_id,
                                    struct slice reason);
/* Cancels all; moves nothing: for interrupts and ends, whose caller decides where the session goes. */
MUST_CHECK enum status ask_cancel_all(struct call *call, struct loaded_session *loaded, struct slice reason);
/* For session_after_move: a session at rest or ended asks nothing. */
MUST_CHECK enum status ask_after_move(struct call *call, struct loaded_session *loaded);
/* For a settlement to a wait: when everything the turn asked was decided meanwhile, the session is pending at once;
 * nobody would wake it later. */
MUST_CHECK enum status ask_after_park(struct call *call, struct loaded_session *loaded);
/* For the timer: expires what is due. *out_again: the timer was put anew. */
MUST_CHECK enum status ask_expire(struct call *call, struct loaded_session *loaded, bool *out_again);

/* A one-time link to one ask, made by somebody who may answer it; it can do what its maker could, once or deny. */
MUST_CHECK enum status ask_link_create(struct call *call, struct slice session_id, struct slice ask_id, int64_t link_ms,
                                       char out_token[TOKEN_TEXT_BYTES], int64_t *out_expires_at_ms);
/* Writer or reader: whose link it is and where it leads. NOT_FOUND, in the same words, for every link that is none. */
struct ask_link {
    struct principal who; /* its maker, as he is now */
    struct slice session_id, ask_id;
};
MUST_CHECK enum status ask_link_resolve(struct call *call, struct slice token, struct ask_link *out);
/* NOT_FOUND in the words that all links that are none hear. */
enum status ask_link_refuse(struct call *call);
/* Decides and uses the link up. */
MUST_CHECK enum status ask_link_answer(struct call *call, struct slice token, const struct ask_reply *reply,
                                       struct ask *out);

/* Reader. */
MUST_CHECK enum status ask_view(struct call *call, struct slice session_id, struct slice ask_id, struct ask *out,
                                struct session *out_session);
struct ask_page {
    struct ask_with_access *asks;
    size_t count;
    int64_t next; /* `before` of the next page; 0 = none */
};
/* The asks of a session (and with `descendants` of those below it that the caller may see), newest first. */
MUST_CHECK enum status ask_list(struct call *call, struct slice session_id, int state, bool descendants, int64_t before,
                                int64_t limit, struct ask_page *out);
/* Pending asks that the caller may answer, of all sessions. */
MUST_CHECK enum status ask_inbox(struct call *call, int64_t before, int64_t limit, struct ask_page *out);

/* Standing decisions: all for admins, else those for the caller's own sessions. */
MUST_CHECK enum status ask_rules(struct call *call, struct ask_rule **out, size_t *out_count);
/* Writer. Decisions for this session only hold until it ends or sleeps: one that comes back asks again. */
MUST_CHECK enum status ask_forget_rules(struct call *call, struct loaded_session *loaded);
MUST_CHECK enum status ask_rule_revoke(struct call *call, struct slice rule_id);

/* Reader. What the session waits for, oldest first. */
MUST_CHECK enum status ask_pending(struct call *call, const struct session *session, struct ask **out,
                                   size_t *out_count);

/* How many are pending is known from the first question on: each change of an ask is an event of its session. */
MUST_CHECK enum status ask_load_count(struct call *call, struct loaded_session *loaded);

#endif

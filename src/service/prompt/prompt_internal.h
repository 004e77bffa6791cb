/* Steps that the commands on prompts share. Private to these files. */
#ifndef SERVICE_PROMPT_INTERNAL_H
#define SERVICE_PROMPT_INTERNAL_H

#include "domain/routing.h"
#include "service/prompt/prompt.h"

MUST_CHECK enum status prompt_withdraw_one(struct call *call, struct loaded_session *loaded,
                                           const struct prompt *prompt, const char *reason);
/* All of a thread, or of every thread; *out are those withdrawn. */
MUST_CHECK enum status prompt_withdraw_many(struct call *call, struct loaded_session *loaded,
                                            const struct slice *thread_id, const char *reason, struct prompt **out,
                                            size_t *out_count);
/* INVALID (`contains_secret`) when the value of a secret is in what is said, or in what comes with it. */
MUST_CHECK enum status prompt_check_secrets(struct call *call, struct slice content, struct slice metadata);
/* Media of the prompt, and what the call brought, become files of the session. */
MUST_CHECK enum status prompt_settle_media(struct call *call, const struct session *session, struct prompt *prompt);
/* LIMITED (`turn_limit`) when the session had all the turns it may have. */
MUST_CHECK enum status prompt_turn_left(struct call *call, const struct session *session, struct failure *failure);
/* The same for one that is sent now, after those that wait have had their turns. */
MUST_CHECK enum status prompt_turn_left_for(struct call *call, struct loaded_session *loaded,
                                            const struct prompt *prompt);
/* The session is at rest: says the prompt, in place of the queue. */
MUST_CHECK enum status prompt_dispatch(struct call *call, struct loaded_session *loaded, const struct prompt *prompts,
                                       size_t count, struct prompt_receipt *receipt);
/* The session is at rest: starts what is ready, if anything is, and arms the timer for what is not. `receipt` (may be
 * NULL) learns when its prompt is among what was said. */
MUST_CHECK enum status prompt_dispatch_next(struct call *call, struct loaded_session *loaded,
                                            struct prompt_receipt *receipt);
/* Who is heard in a group; the prompt then says who spoke. */
MUST_CHECK enum status prompt_route(struct call *call, const struct session_access *entry,
                                    const struct prompt_request *request, struct prompt *prompt, enum routing *out);
/* Into the log, and nobody runs. */
MUST_CHECK enum status prompt_log(struct call *call, struct loaded_session *loaded, const struct prompt *prompt,
                                  struct prompt_receipt *out);

#endif

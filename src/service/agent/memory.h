/* What agents remember beyond a session: short texts per agent and owner of the sessions they come from, so that what
 * one person said is never told to another. Written by the tools memory_*, told to the model with its system prompt. */
#ifndef SERVICE_MEMORY_H
#define SERVICE_MEMORY_H

#include "domain/agent.h"
#include "service/session/session.h"

/* Reader. Puts what the agent remembers of the session's owner, and the session's working memory, behind the system
 * prompt; the newest that fit (option memories-prompt-bytes-max). Nothing in sessions that have no memory. */
MUST_CHECK enum status memory_tell(struct call *call, const struct session *session, struct arena *arena,
                                   struct agent *agent);

/* Writer. The tools: memory_recall, memory_add, memory_update, memory_delete. The result is JSON in the call's arena.
 */
MUST_CHECK enum status memory_recall(struct call *call, struct loaded_session *loaded, const struct json *arguments,
                                     struct slice *out);
MUST_CHECK enum status memory_add(struct call *call, struct loaded_session *loaded, const struct json *arguments,
                                  struct slice *out);
MUST_CHECK enum status memory_update(struct call *call, struct loaded_session *loaded, const struct json *arguments,
                                     struct slice *out);
MUST_CHECK enum status memory_delete(struct call *call, struct loaded_session *loaded, const struct json *arguments,
                                     struct slice *out);

/* For people. Reader: one's own, for admins those of everybody; behind the id `after`. NOT_FOUND when there is no
 * such agent and nothing that it remembered. */
MUST_CHECK enum status memory_list(struct call *call, struct slice agent, struct slice after, int64_t limit,
                                   struct memory **out, size_t *out_count);
/* Writer. NOT_FOUND also for what is another's, unless an admin asks. */
MUST_CHECK enum status memory_forget(struct call *call, struct slice agent, struct slice id);

#endif

/* The events of a turn that the server writes itself. */
#ifndef DOMAIN_CHANGE_TURN_H
#define DOMAIN_CHANGE_TURN_H

#include "domain/change.h"
#include "domain/turn.h"

/* turn.ended {turn, stop_reason, error, cause, usage}; `cause` (may be NULL) says what cut it. */
void change_turn_ended(struct arena *arena, int64_t turn, const struct turn_end *end, const char *cause,
                       struct changes *out);
/* Of an agent.message or agent.thinking that was cut: the agent had said so much of it when its turn ended early. */
#define PARTIAL_METADATA "{\"partial\":true}"
/* agent.message (or agent.thinking) {partial}. */
void change_partial(struct arena *arena, const struct session *session, bool thinking, struct slice text,
                    struct changes *out);
/* agent.tool_result of a call that was open when its turn was cut: nobody knows whether it was done, or (`asked`) it
 * still waited for a person and was not. */
void change_tool_cut(struct arena *arena, struct slice call_id, bool asked, struct changes *out);

#endif

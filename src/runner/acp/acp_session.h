/* The agent's own sessions: one for each thread of ours, because an agent remembers what was said in one of its
 * sessions and in no other. The acp driver's own; on the loop of its turns. */
#ifndef RUNNER_ACP_SESSION_H
#define RUNNER_ACP_SESSION_H

#include "base/buffer.h"
#include "base/json.h"

enum { ACP_SESSIONS_MAX = 64 }; /* of one agent; the one that rested longest is forgotten for another */

struct acp_session {
    struct acp_session *next;
    struct buffer thread;    /* empty = the main one */
    struct buffer name;      /* as the agent calls it; empty = it has none yet, or lost it */
    bool is_open;            /* in this process */
    bool is_fresh;           /* it knows nothing yet: neither instructions nor history */
    int64_t cost_microcents; /* of all of it, as the agent told last */
};

/* The one of this thread, made when there is none; it becomes the first of the list. */
struct acp_session *acp_session_of(struct acp_session **list, struct slice thread);
/* The agent does not know it any more. */
void acp_session_lose(struct acp_session *session);
/* From what the last process left with the session, as far as it is of use in this directory. */
void acp_sessions_recall(struct acp_session **list, const struct json *kept, struct slice directory);
/* As members of what is kept. */
void acp_sessions_write(struct json_out *out, struct acp_session *list, struct slice directory);
void acp_sessions_release(struct acp_session **list);

#endif

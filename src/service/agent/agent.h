/* Definitions of agents: kept in versions, found for new sessions, and found again for running ones. */
#ifndef SERVICE_AGENT_H
#define SERVICE_AGENT_H

#include "service/session/session.h"

extern const struct enum_names agent_origin_enum; /* built_in file api */

/* Writer. Keeps the definition as the next version of its id; *out_new is false when the newest one says the same. For
 * admins; what reaches the server's machine (agent_reaches_host) is for owners of the first tenant, unless the operator
 * opened it to all. */
MUST_CHECK enum status agent_push(struct call *call, const struct json *definition, struct agent_row *out,
                                  bool *out_new);
/* Can what a session takes away from its agent be meant? As agent_check_names (runner/tool/agent_names.h). */
MUST_CHECK enum status agent_check_narrowing(struct call *call, const struct agent *agent, const struct json *narrower);
/* Writer. No new session gets it; those that have it keep their version. */
MUST_CHECK enum status agent_remove(struct call *call, struct slice slug);
/* Reader or writer. The version, or with 0 the newest that is not removed. */
MUST_CHECK enum status agent_find(struct call *call, struct slice slug, int64_t version, struct agent_row *out);

/* The definition in a row; its strings in the arena. */
MUST_CHECK enum status agent_of_row(struct arena *arena, const struct agent_row *row, struct agent *out,
                                    struct failure *failure);
/* What a new session with this agent gets; NULL when nobody defined it. */
MUST_CHECK enum status agent_for_new(struct call *call, struct slice slug, const struct agent **out);
/* Reader or writer. The version frozen into the session, narrowed as the session asked (a context asks for
 * a file scope too, and never gets a wider one); of an agent nobody defined: a
 * worker's with every default. Its strings are in `arena`. */
MUST_CHECK enum status agent_of_session(struct call *call, const struct session *session, struct arena *arena,
                                        struct agent *out);
/* For the end of a turn, which must not depend on a definition that can't be read: then every default, and a log line.
 */
MUST_CHECK enum status agent_of_session_or_none(struct call *call, const struct session *session, struct arena *arena,
                                                struct agent *out);

/* One agent of all tenants: built in, or of a file. */
struct shared_agent {
    struct agent agent;
    enum agent_origin source;
};
/* Writer. Makes the agents of all tenants what is given: what differs becomes a new version, what is missing is
 * removed. */
MUST_CHECK enum status agent_share(struct call *call, const struct shared_agent *agents, size_t count);

/* Reader. The newest version of every agent of the caller's tenant, by id, those behind `after` (absent = from the
 * first). */
MUST_CHECK enum status agent_list(struct call *call, struct slice after, int64_t limit, struct agent_row **out,
                                  size_t *out_count);
/* Reader. Newest first, those before `before` (0 = from the newest); NOT_FOUND when there is no such agent. */
MUST_CHECK enum status agent_versions(struct call *call, struct slice slug, int64_t before, int64_t limit,
                                      struct agent_row **out, size_t *out_count);

#endif

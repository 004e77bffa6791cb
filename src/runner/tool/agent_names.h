/* What a definition names must be there: a name that means nothing would forbid nothing. Pure. */
#ifndef RUNNER_AGENT_NAMES_H
#define RUNNER_AGENT_NAMES_H

#include "domain/agent.h"

/* Are all tools that it names, in lists and in rules, tools of the server, and can its rules do what they say? For
 * definitions that come in. INVALID `unknown_tool`, `invalid_agent`, with what is accepted. */
MUST_CHECK enum status agent_check_names(const struct agent *agent, struct failure *failure);

#endif

/* Rules of agents for the tests of the domain. */
#ifndef PERMISSION_UNIT_H
#define PERMISSION_UNIT_H

#include "domain/agent.h"
#include "domain/call_subject.h"

/* Of a call whose tool, arguments and path the driver knows. */
static inline enum permission permission_at(const struct agent *agent, struct slice tool, struct slice arguments,
                                            struct slice path, enum permission fallback)
{
    struct call_facts facts = {
        .tool = tool, .arguments = arguments, .paths = &path, .path_count = slice_present(path) ? 1 : 0};
    return agent_permission(agent, &facts, fallback);
}

#endif

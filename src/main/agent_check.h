/* Whether an agent could run on this machine: its key, its program, its repository. */
#ifndef MAIN_AGENT_CHECK_H
#define MAIN_AGENT_CHECK_H

#include "domain/agent.h"
#include "main/options.h"

enum { AGENT_CHECK_COUNT = 5, AGENT_CHECK_BYTES = 512 };

/* True when a turn of the agent would fail here by this one of the checks; *out says why and what to type. */
bool agent_check_fails(const struct options *options, const struct agent *agent, size_t check,
                       char out[AGENT_CHECK_BYTES]);
/* Logs a warning for every agent of the options that could not run. */
void agents_warn(const struct options *options);

#endif

/* The agents of all tenants: those of `*.agent.yaml` files, and those built in. */
#ifndef MAIN_AGENTS_H
#define MAIN_AGENTS_H

#include "main/options.h"
#include "service/agent/agent.h"

/* Reads the folder of the options and adds what is built in; a file wins over a built-in agent of the same id. The
 * failure of a wrong file names it and the line. Everything lives in the arena. */
MUST_CHECK enum status agents_load(const struct options *options, struct arena *arena, struct shared_agent **out,
                                   size_t *out_count, struct failure *failure);
/* Writer: loads them and makes them the agents of all tenants. */
MUST_CHECK enum status agents_share(const struct options *options, struct call *call);

#endif

/* The acp driver: agents that speak the Agent Client Protocol, version 1, on standard input and output.
 *
 * Every session has a process of its own, which is started by its first turn, stays between turns, and goes when the
 * session rests or ends. A process that died is started again by the next turn, which goes on with the agent's own
 * session (session/load), or, where the agent can't, tells it the history as text.
 *
 * All of it lives on one loop: the one of the turns. */
#ifndef RUNNER_ACP_H
#define RUNNER_ACP_H

#include "runner/limits.h"
#include "runner/driver.h"

struct acp_options {
    struct acp_limits limits;
    const char *directory; /* where agents without a sandbox work, each session in a directory of its own; NULL = they
                              can't; must outlive the driver */
    /* The secret of that name, for agents whose definition names it in pass_environment; borrowed for the moment. NULL
     * = the server's environment alone. */
    struct slice (*secret)(void *owner, const char *name);
    void *secret_owner;
};

struct acp;

struct acp *acp_new(const struct acp_options *options);
/* Any thread: the address under which processes in sandboxes reach this server; it must outlive the driver. NULL =
 * they don't. */
void acp_set_gateway(struct acp *acp, const char *url);
/* After its `close`. Accepts NULL. */
void acp_free(struct acp *acp);
/* The driver's face; its owner is `acp`. */
struct driver acp_driver(struct acp *acp);

#endif

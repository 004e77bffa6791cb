/* The tools of the server, for models and for code in a sandbox: a file each in domain/tools, which the build makes
 * into this table. The loop around a model, the files of an agent's sandbox, the gateway and docs/tools.md read it. */
#ifndef DOMAIN_TOOL_SPEC_H
#define DOMAIN_TOOL_SPEC_H

#include "base/slice.h"
#include "domain/agent.h"
#include "domain/tool_id.h"

/* What a tool touches; what may be done without asking depends on it. */
enum tool_risk { RISK_READ, RISK_WRITE_FILES, RISK_PROCESS, RISK_EGRESS, RISK_SERVER };

/* Where a call runs. */
enum tool_runs {
    TOOL_RUNS_FILES,   /* beside the loop, in the files of the sandbox */
    TOOL_RUNS_PROCESS, /* as a process in the sandbox */
    TOOL_RUNS_NETWORK, /* as an outgoing request of the server */
    TOOL_RUNS_PERSON,  /* nowhere: people are asked */
    TOOL_RUNS_SERVICE, /* as a command of the service */
};

struct tool_spec {
    const char *name;
    const char *description;   /* for the model */
    const char *when;          /* of gateway tools, for the system prompt: "before …" */
    const char *schema;        /* JSON Schema of the arguments */
    const char *path_argument; /* which argument is a path, or NULL */
    enum tool_runs runs;
    enum tool_risk risk;
    enum permission permission; /* when no rule of the agent matches */
    bool for_model, for_gateway, for_introspection;
    bool logs_arguments; /* of gateway tools: the event of a call holds them */
};

extern const struct tool_spec tool_specs[TOOL_COUNT];

/* NULL when there is none. */
const struct tool_spec *tool_spec_find(struct slice name);

#endif

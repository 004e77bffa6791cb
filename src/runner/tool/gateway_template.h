/* The gateway tools as code inside a sandbox has them: one table, from which the server takes what it accepts, the
 * agent in the sandbox the file with which it calls the tool, and the system prompt the sentence that says when. */
#ifndef RUNNER_GATEWAY_TEMPLATE_H
#define RUNNER_GATEWAY_TEMPLATE_H

#include "base/buffer.h"
#include "domain/agent.h"

struct gateway_template {
    const char *name;
    const char *description; /* for the model */
    const char *when;        /* for the system prompt: "before …" */
    const char *schema;      /* JSON Schema of its arguments */
};
extern const struct gateway_template gateway_templates[]; /* ends with a NULL name */
const struct gateway_template *gateway_template_find(struct slice name);

/* Where the file that all of them share is, below the workspace. */
extern const char gateway_library_path[];
/* Its text: callGatewayTool(), which reads SOJOURN_GATEWAY_URL and SOJOURN_GATEWAY_TOKEN. */
extern const char gateway_library_text[];
/* The file of a tool, below the workspace; in the arena. */
struct slice gateway_template_path(struct arena *arena, const struct gateway_template *tool);
void gateway_template_write(struct buffer *to, const struct gateway_template *tool);
/* What the agent is told of the tools its definition names; nothing when it names none. */
void gateway_template_explain(struct buffer *to, const struct agent *agent);

#endif

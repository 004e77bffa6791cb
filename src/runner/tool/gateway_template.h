/* The gateway tools as code inside a sandbox has them: the file with which the agent calls a tool, and the sentence of
 * the system prompt that says when. What a tool is and takes stands in domain/tool_spec.h. */
#ifndef RUNNER_GATEWAY_TEMPLATE_H
#define RUNNER_GATEWAY_TEMPLATE_H

#include "base/buffer.h"
#include "domain/tool_spec.h"

/* A tool that code inside a sandbox may call; NULL when there is none. */
const struct tool_spec *gateway_tool_find(struct slice name);

/* Where the file that all of them share is, below the workspace. */
extern const char gateway_library_path[];
/* Its text: callGatewayTool(), which reads SOJOURN_GATEWAY_URL and SOJOURN_GATEWAY_TOKEN. */
extern const char gateway_library_text[];
/* The file of a tool, below the workspace; in the arena. */
struct slice gateway_template_path(struct arena *arena, const struct tool_spec *tool);
void gateway_template_write(struct buffer *to, const struct tool_spec *tool);
/* What the agent is told of the tools its definition names; nothing when it names none. */
void gateway_template_explain(struct buffer *to, const struct agent *agent);

#endif

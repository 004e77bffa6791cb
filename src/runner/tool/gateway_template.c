#include "runner/tool/gateway_template.h"

const struct tool_spec *gateway_tool_find(struct slice name)
{
    const struct tool_spec *tool = tool_spec_find(name);
    return tool && tool->for_gateway ? tool : NULL;
}

/* --- the files --- */

const char gateway_library_path[] = ".opencode/sojourn/gateway.ts";

/* A call keeps its id when it is tried again: the server does it once. */
const char gateway_library_text[] =
    "// Written by the server when the agent starts; changes are lost.\n"
    "const TRIES = 5\n"
    "const pause = (ms) => new Promise((done) => setTimeout(done, ms))\n"
    "const given = ([, value]) => value !== null && value !== undefined && value !== \"\"\n"
    "\n"
    "async function post(name, body) {\n"
    "  const { SOJOURN_GATEWAY_URL: url, SOJOURN_GATEWAY_TOKEN: token } = process.env\n"
    "  const headers = { authorization: `Bearer ${token}`, \"content-type\": \"application/json\" }\n"
    "  const response = await fetch(`${url}/tools/${name}`, { method: \"POST\", headers, body })\n"
    "  return { status: response.status, text: await response.text(),\n"
    "           after: Number(response.headers.get(\"retry-after\")) * 1000 }\n"
    "}\n"
    "\n"
    "const isPassing = (status) => status === 408 || status === 425 || status === 429 || status >= 500\n"
    "\n"
    "export async function callGatewayTool(name, args, context) {\n"
    "  const id = `${context?.messageID ?? \"\"}:${context?.callID ?? crypto.randomUUID()}`\n"
    "  const body = JSON.stringify({ call_id: id, arguments: Object.fromEntries(Object.entries(args).filter(given)) "
    "})\n"
    "  let last = \"\"\n"
    "  for (let tried = 0; tried < TRIES; tried++) {\n"
    "    let wait = 250 * 2 ** tried\n"
    "    try {\n"
    "      const answer = await post(name, body)\n"
    "      if (answer.status < 300) return answer.text\n"
    "      if (!isPassing(answer.status)) return `refused (${answer.status}): ${answer.text}`\n"
    "      last = `${answer.status} ${answer.text}`\n"
    "      wait = Math.min(Math.max(wait, answer.after || 0), 30000)\n"
    "    } catch (error) {\n"
    "      last = String(error)\n"
    "    }\n"
    "    if (tried + 1 < TRIES) await pause(wait)\n"
    "  }\n"
    "  throw new Error(`${name} could not be called: ${last}`)\n"
    "}\n";

/* Models know no dots in names of tools. */
static struct slice model_name(struct arena *arena, const struct tool_spec *tool)
{
    struct slice name = arena_copy(arena, slice_of(tool->name));
    for (size_t i = 0; i < name.len; i++) {
        if (name.ptr[i] == '.') {
            ((char *)(uintptr_t)name.ptr)[i] = '_';
        }
    }
    return name;
}

struct slice gateway_template_path(struct arena *arena, const struct tool_spec *tool)
{
    return arena_format(arena, ".opencode/tool/%.*s.ts", SLICE_ARG(model_name(arena, tool)));
}

void gateway_template_write(struct buffer *to, const struct tool_spec *tool)
{
    struct arena arena = {0};
    const struct json *schema = NULL;
    struct json_out out = json_out_to(to);
    struct slice arguments = SLICE("{}");
    if (json_parse(&arena, slice_of(tool->schema), &schema, NULL) == STATUS_OK) {
        arguments = json_raw_of(schema, "properties");
    }
    buffer_add(to,
               SLICE("// Written by the server when the agent starts; changes are lost.\n"
                     "import { callGatewayTool } from \"../sojourn/gateway\"\n\nexport default {\n  description: "));
    json_text(&out, slice_of(tool->description));
    buffer_format(to,
                  ",\n  args: %.*s,\n"
                  "  execute: (args, context) => callGatewayTool(\"%s\", args, context),\n}\n",
                  SLICE_ARG(arguments), tool->name);
    arena_release(&arena);
}

/* --- the prompt --- */

void gateway_template_explain(struct buffer *to, const struct agent *agent)
{
    struct arena arena = {0};
    if (agent->gateway_tool_count > 0) {
        buffer_add(to, SLICE("Tools that the server does for you:"));
    }
    for (size_t i = 0; i < agent->gateway_tool_count; i++) {
        const struct tool_spec *tool = gateway_tool_find(agent->gateway_tools[i]);
        if (tool) {
            buffer_format(to, "\n- `%.*s`: %s Use it %s.", SLICE_ARG(model_name(&arena, tool)), tool->description,
                          tool->when);
        }
    }
    arena_release(&arena);
}

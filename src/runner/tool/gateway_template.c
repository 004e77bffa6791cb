#include "runner/tool/gateway_template.h"

#define NAME "{\"type\":\"string\",\"minLength\":1,\"maxLength\":200}"
#define TEXT "{\"type\":\"string\",\"minLength\":1,\"maxLength\":2000}"
#define OBJECT(required, properties)                                                                                   \
    "{\"type\":\"object\",\"additionalProperties\":false,\"required\":[" required "],\"properties\":{" properties "}}"
#define LIST(most, items) "{\"type\":\"array\",\"minItems\":1,\"maxItems\":" most ",\"items\":" items "}"

const struct gateway_template gateway_templates[] = {
    {"automation.complete", "Says how the automation that started this session came out.",
     "as the last thing you do in a session that an automation started, and never before",
     OBJECT("\"outcome\"", "\"outcome\":" NAME ",\"summary\":{\"type\":\"string\"},\"completion_id\":" NAME)},
    {"save_env_files",
     "Remembers which files of variables this project needs: their paths and the names in them, never a value.",
     "once you found out which variables the project reads",
     OBJECT("\"files\"",
            "\"files\":" LIST("100", OBJECT("\"path\",\"names\"", "\"path\":" NAME ",\"names\":" LIST("500", NAME))))},
    {"save_service_commands", "Remembers the commands that start the services of this project.",
     "once a command that starts a service of the project has worked",
     OBJECT("\"commands\"",
            "\"commands\":" LIST(
                "100", OBJECT("\"name\",\"command\"", "\"name\":" NAME ",\"command\":" TEXT ",\"directory\":" NAME)))},
    {"save_snapshot", "Saves the whole file tree, so that the session can go back to it.",
     "before something risky, and when the project is set up", OBJECT("", "\"reason\":" TEXT)},
    {"session_status", "Tells how a session stands: this one, or one that it started.",
     "when you need to know how far a session is", OBJECT("", "\"session_id\":" NAME)},
    {"set_title", "Gives the session a title that people see in lists.",
     "when you know what the session is about, in a few words", OBJECT("\"title\"", "\"title\":" TEXT)},
    {"verify", "Keeps files as evidence that the work is done: test logs, pictures. People read them.",
     "after you checked your work, with what shows the result",
     OBJECT("\"files\"", "\"summary\":" TEXT ",\"files\":" LIST(
                             "50", OBJECT("\"name\"", "\"name\":" NAME ",\"content\":{\"type\":\"string\"},"
                                                      "\"content_base64\":{\"type\":\"string\"}")))},
    {0},
};

const struct gateway_template *gateway_template_find(struct slice name)
{
    const struct gateway_template *tool = gateway_templates;
    while (tool->name && !slice_is(name, tool->name)) {
        tool++;
    }
    return tool->name ? tool : NULL;
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
static struct slice model_name(struct arena *arena, const struct gateway_template *tool)
{
    struct slice name = arena_copy(arena, slice_of(tool->name));
    for (size_t i = 0; i < name.len; i++) {
        if (name.ptr[i] == '.') {
            ((char *)(uintptr_t)name.ptr)[i] = '_';
        }
    }
    return name;
}

struct slice gateway_template_path(struct arena *arena, const struct gateway_template *tool)
{
    return arena_format(arena, ".opencode/tool/%.*s.ts", SLICE_ARG(model_name(arena, tool)));
}

void gateway_template_write(struct buffer *to, const struct gateway_template *tool)
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
        const struct gateway_template *tool = gateway_template_find(agent->gateway_tools[i]);
        if (tool) {
            buffer_format(to, "\n- `%.*s`: %s Use it %s.", SLICE_ARG(model_name(&arena, tool)), tool->description,
                          tool->when);
        }
    }
    arena_release(&arena);
}

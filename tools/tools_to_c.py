#!/usr/bin/env python3
"""Turns src/domain/tools/NAME.json into tool_id.h (numbers) and tool_specs.c (the table), or into docs/tools.md:

    tools_to_c.py HEADER SOURCE FILE…
    tools_to_c.py --document FILE…
"""
import json
import re
import sys
from pathlib import Path

READERS = ("model", "gateway", "introspection")
RUNS = ("files", "process", "network", "person", "service")
RISKS = ("read", "write_files", "process", "egress", "server")
PERMISSIONS = ("allow", "ask", "deny")
NEEDED = {"description", "offered_to", "runs", "risk", "permission", "arguments", "required"}
OPTIONAL = {"when", "path_argument", "logs_arguments"}

DOCUMENT = """# Tools

Written by `tools/docs` from `src/domain/tools`; change the file of the tool there. The loop around a model, the files
in an agent's sandbox (`gateway_tools`) and `POST /api/sessions/{id}/tools/{tool}` read the same table.
"""


class Mistake(Exception):
    pass


def check(name, tool):
    """Refuses what the table cannot say."""
    def need(fits, what):
        if not fits:
            raise Mistake(f"{name}: {what}")
    need(re.fullmatch(r"[a-z][a-z_]*(\.[a-z_]+)?", name), "not a name of a tool")
    need(NEEDED <= set(tool) <= NEEDED | OPTIONAL, f"members are {sorted(NEEDED)} and perhaps {sorted(OPTIONAL)}")
    need(tool["description"].endswith("."), "the description is one or more sentences")
    need(tool["offered_to"] and set(tool["offered_to"]) <= set(READERS), f"offered_to: {READERS}")
    need(tool["runs"] in RUNS, f"runs: {RUNS}")
    need(tool["risk"] in RISKS, f"risk: {RISKS}")
    need(tool["permission"] in PERMISSIONS, f"permission: {PERMISSIONS}")
    is_gateway = "gateway" in tool["offered_to"]
    need(is_gateway == ("when" in tool) == ("logs_arguments" in tool), "when and logs_arguments are for gateway tools")
    need(set(tool["required"]) <= set(tool["arguments"]), "what is required is an argument")
    need(tool.get("path_argument") in [None, *tool["arguments"]], "path_argument is an argument")


def read(paths):
    """{name: tool}, by name."""
    tools = {}
    for path in sorted(Path(one) for one in paths):
        tools[path.name.removesuffix(".json")] = json.loads(path.read_text(encoding="utf-8"))
    for name, tool in tools.items():
        check(name, tool)
    return tools


def schema(tool):
    return {"type": "object", "properties": tool["arguments"], "required": tool["required"],
            "additionalProperties": False}


def constant(name):
    return "TOOL_" + re.sub(r"\W", "_", name).upper()


def text(value):
    """A C string, or NULL."""
    return "NULL" if value is None else json.dumps(value, ensure_ascii=False)


def header(tools):
    lines = ["/* Made by tools/tools_to_c.py from src/domain/tools. */",
             "#ifndef DOMAIN_TOOL_ID_H", "#define DOMAIN_TOOL_ID_H", "", "enum tool_id {"]
    lines += [f"    {constant(name)}," for name in tools]
    return "\n".join(lines + ["    TOOL_COUNT", "};", "", "#endif", ""])


def source(tools):
    lines = ["/* Made by tools/tools_to_c.py from src/domain/tools. */", '#include "domain/introspection.h"',
             '#include "domain/tool_spec.h"', "", "const struct tool_spec tool_specs[TOOL_COUNT] = {"]
    for name, tool in tools.items():
        packed = json.dumps(schema(tool), ensure_ascii=False, separators=(",", ":"))
        readers = "".join(f"\n        .for_{one} = true," for one in READERS if one in tool["offered_to"])
        lines.append(f"""    [{constant(name)}] = {{
        .name = {text(name)},
        .description = {text(tool["description"])},
        .when = {text(tool.get("when"))},
        .schema = {text(packed)},
        .path_argument = {text(tool.get("path_argument"))},
        .runs = TOOL_RUNS_{tool["runs"].upper()},
        .risk = RISK_{tool["risk"].upper()},
        .permission = PERMISSION_{tool["permission"].upper()},{readers}
        .logs_arguments = {str(tool.get("logs_arguments", False)).lower()},
    }},""")
    names = [name for name, tool in tools.items() if "introspection" in tool["offered_to"]]
    lines += ["};", "", "const struct slice introspection_tools[] = {"]
    lines += [f"    SLICE({text(name)})," for name in names]
    lines += ["};", f"const size_t introspection_tool_count = {len(names)};", ""]
    return "\n".join(lines)


def type_words(one):
    words = one.get("type", "string")
    if "enum" in one:
        words = ", ".join(f"`{word}`" for word in one["enum"])
    if words == "array":
        words = "list of " + type_words(one["items"]) + (f", at most {one['maxItems']}" if "maxItems" in one else "")
    if words == "object" and "properties" in one:
        words = "object with " + ", ".join(f"`{name}`" for name in one["properties"])
    bounds = [str(one[key]) for key in ("maxLength", "maximum") if key in one]
    return words + (f", up to {bounds[0]}" + (" characters" if "maxLength" in one else "") if bounds else "")


def document(tools):
    """Markdown."""
    parts = [DOCUMENT]
    for name, tool in tools.items():
        lines = [f"## {name}", "", tool["description"], ""]
        lines.append(f"Offered to: {', '.join(tool['offered_to'])}. Runs: {tool['runs']}. "
                     f"Without a rule: {tool['permission']}.")
        if tool["arguments"]:
            lines += ["", "| argument | type | what |", "|---|---|---|"]
        for argument, one in tool["arguments"].items():
            needed = ", required" if argument in tool["required"] else ""
            lines.append(f"| `{argument}` | {type_words(one)}{needed} | {one.get('description', '')} |")
        parts.append("\n".join(lines) + "\n")
    return "\n".join(parts)


def main(arguments):
    if arguments[0] == "--document":
        sys.stdout.write(document(read(arguments[1:])))
        return
    tools = read(arguments[2:])
    Path(arguments[0]).write_text(header(tools), encoding="utf-8")
    Path(arguments[1]).write_text(source(tools), encoding="utf-8")


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except Mistake as mistake:
        sys.exit(f"src/domain/tools: {mistake}")

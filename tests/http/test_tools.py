"""The tools of the server are declared once (src/domain/tools): everything that offers or checks them says the same."""
import json
import os
import re

from harness import check, people
from harness.model_server import ModelServer
from harness.server import ROOT
from harness.suite import test
from harness.talk import send, wait_event

TOOLS = os.path.join(ROOT, "src", "domain", "tools")
AGENT = """
id: helper
driver: model
provider: {provider}
model: first
system_prompt: You help.
sandbox: {{kind: none}}
tools: [{tools}]
"""
GATEWAY = ("automation.complete", "save_env_files", "save_service_commands", "save_snapshot", "session_status",
           "set_title", "verify")  # tools that code inside a sandbox calls: their names are public


def declared(reader):
    """{name: declaration} of the tools that a reader is offered."""
    found = {}
    for name in sorted(os.listdir(TOOLS)):
        with open(os.path.join(TOOLS, name), encoding="utf-8") as file:
            tool = json.load(file)
        if reader in tool["offered_to"]:
            found[name.removesuffix(".json")] = tool
    return found


def schema(tool):
    return {"type": "object", "properties": tool["arguments"], "required": tool["required"],
            "additionalProperties": False}


def offered(request):
    """{name: (description, schema)} as a provider is told."""
    tools = [tool.get("function", tool) for tool in request["body"]["tools"]]
    return {tool["name"]: (tool["description"], tool.get("input_schema", tool.get("parameters"))) for tool in tools}


@test
def models_are_offered_what_is_declared(env):
    """Names, words and schemas, in both formats."""
    tools = declared("model")
    folder = os.path.join(env.directory, "agents")
    os.makedirs(folder)
    for provider in ("anthropic", "openai"):
        with open(os.path.join(folder, "helper.agent.yaml"), "w", encoding="utf-8") as file:
            file.write(AGENT.format(provider=provider, tools=", ".join(tools)))
        with ModelServer([{"text": "Good morning."}]) as model:
            client = env.server(["--agents", folder], model.environment()).client()
            path = people.session(client, agent="helper")
            send(client, path, "Hello?")
            wait_event(client, path, lambda event: event["type"] == "turn.ended")
            check.equal(offered(model.requests[0]), {name: (tool["description"], schema(tool))
                                                     for name, tool in tools.items()}, provider)


@test
def the_gateway_takes_what_is_declared(server):
    """Every gateway tool by its name, and arguments by its schema."""
    client = server.client()
    path = people.session(client)
    inside = client.with_token(client.post(path + "/sandbox-token", {}, expect=201).json()["token"])
    tools = declared("gateway")
    check.equal(tuple(tools), GATEWAY)
    unknown = inside.post(f"{path}/tools/nothing", {"call_id": "c", "arguments": {}}, expect=404).json()
    check.equal(unknown["detail"].split("There are: ")[1], ", ".join(tools) + ".")
    for name, tool in tools.items():
        wrong = [{"no_such_argument": 1}] + [{}] * bool(tool["required"])
        wrong += [{argument: "x" * (one["maxLength"] + 1)} for argument, one in tool["arguments"].items()
                  if "maxLength" in one]
        for number, arguments in enumerate(wrong):
            body = {"call_id": f"{name}-{number}", "arguments": arguments}
            check.equal(inside.post(f"{path}/tools/{name}", body).status, 400, f"{name} {str(arguments)[:60]}")


@test(on=("sqlite",))
def a_title_has_one_limit(env):
    """The model, code in a sandbox and the declaration agree."""
    longest = declared("model")["set_title"]["arguments"]["title"]["maxLength"]
    folder = os.path.join(env.directory, "agents")
    os.makedirs(folder)
    with open(os.path.join(folder, "helper.agent.yaml"), "w", encoding="utf-8") as file:
        file.write(AGENT.format(provider="anthropic", tools="set_title"))
    calls = [{"name": "set_title", "input": {"title": "x" * length}} for length in (longest, longest + 1)]
    with ModelServer([{"tools": calls}, {"text": "Done."}]) as model:
        client = env.server(["--agents", folder], model.environment()).client()
        path = people.session(client, agent="helper")
        send(client, path, "Hello?")
        wait_event(client, path, lambda event: event["type"] == "turn.ended")
        check.equal(client.get(path).json()["title"], "x" * longest)
        inside = client.with_token(client.post(path + "/sandbox-token", {}, expect=201).json()["token"])
        for length, status in ((longest, 200), (longest + 1, 400)):
            body = {"call_id": f"{length}", "arguments": {"title": "y" * length}}
            check.equal(inside.post(f"{path}/tools/set_title", body).status, status, f"{length} characters")


@test(on=("sqlite",))
def an_agent_names_what_is_declared(env):
    """The names in a refusal are those of the declarations."""
    client = env.server([]).client()
    for member, reader, driver in (("tools", "model", {"driver": "model", "provider": "anthropic", "model": "m",
                                                       "system_prompt": "s"}),
                                   ("gateway_tools", "gateway", {"driver": "acp", "command": ["agent"]})):
        answer = client.post("/api/agents", {"id": "a", member: ["nothing"], **driver}, expect=400).json()
        names = re.search(r"accepted: (.*)\.$", answer["detail"]).group(1).split(", ")
        check.equal(names, list(declared(reader)), member)

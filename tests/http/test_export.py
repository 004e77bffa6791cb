"""A conversation handed out as the scaffold of a workflow: one node per answered turn, the whole transcript beside them."""
import os
import re

from harness import check, people
from harness.model_server import ModelServer
from harness.suite import test
from harness.talk import claim, events, send, settle, speak, talk

KEY = "sk-ant-api03-" + "a1B2c3D4" * 5
TOOLS = [{"name": "list_directory", "input": {"path": "."}}]


def export(client, session, expect=200, **body):
    return client.post(session + "/export", body, expect=expect).json()


def wait_turns(client, path, count):
    check.eventually(lambda: client.get(path).json()["turn_count"] == count, f"{count} turns are over", 30)


@test
def a_chain_of_turns(env):
    """S4-008, S4-015, S4-019, S4-051 to S4-053, S4-056 to S4-062, S4-064, S4-065: nodes, edges, agent and transcript."""
    script = [{"text": "Let me look.", "tools": TOOLS}, {"text": "It is empty.", "reasoning": "Hm."}, {"text": "Done."}]
    folder = os.path.join(env.directory, "agents")
    os.makedirs(folder)
    with open(os.path.join(folder, "helper.agent.yaml"), "w", encoding="utf-8") as file:
        file.write("id: helper\ndriver: model\nprovider: anthropic\nmodel: first\nsystem_prompt: You help.\n"
                   "tools: [list_directory]\nsandbox: {kind: none}\n")
    with ModelServer(script) as model:
        client = env.server(["--agents", folder], model.environment()).client()
        path = people.session(client, agent="helper", title="Look around")
        send(client, path, "What is here?\nSay {{all}} of it.")
        wait_turns(client, path, 1)
        send(client, path, "Good.")
        wait_turns(client, path, 2)
        check.equal(client.get(path).json()["words"]["chat"], "idle")
        first = export(client, path)
        session = client.get(path).json()
        check.equal(session["words"]["chat"], "exported")
        check.equal(session["status"], "idle", "an export ends nothing")
        again = export(client, path, path="flows/look.relavium.yaml")
        check.equal(first["document"], again["document"], "the same log gives the same bytes")
        check.contains(first, {"workflow_id": "look-around", "workflow_path": "look-around.relavium.yaml"})
        noted = [one["metadata"] for one in events(client, path, "session.exported")]
        check.equal([one["workflow_path"] for one in noted], ["look-around.relavium.yaml", "flows/look.relavium.yaml"])
        check.equal(noted[0]["bytes"], len(first["document"].encode()))
        document = first["document"]
        names = re.findall(r"^([a-z_]+):", document, re.M)
        check.equal(names, ["agents", "edges", "id", "metadata", "name", "nodes", "schema_version"])
        check.contains(document, "edges:\n  - from: input\n    to: turn-1\n  - from: turn-1\n    to: turn-2\n"
                                 "  - from: turn-2\n    to: output\nid: look-around\n")
        check.contains(document, "nodes:\n  - id: input\n    type: input\n  - agent_ref: helper\n    id: turn-1\n"
                                 "    prompt_template: |-\n      What is here?\n      Say { {all}} of it.\n"
                                 "    tools:\n      - list_directory\n    type: agent\n  - agent_ref: helper\n"
                                 "    id: turn-2\n    prompt_template: Good.\n    type: agent\n"
                                 "  - id: output\n    type: output\nschema_version: \"1.0\"\n")
        check.contains(document, "system_prompt: \"You help.\"\n")
        for text in ("Let me look.", "It is empty.", "Done.", "type: reasoning", "role: tool", "modelId: first"):
            check.contains(document, text)
        check.true("c2lnbmF0dXJl" not in document, "no signature")


@test
def nothing_secret_leaves(server):
    """S4-060, S4-067: what somebody typed is masked, in prompts, transcript and title; the log keeps it."""
    client = server.client()
    path = talk(client, title=f"Use {KEY}")
    send(client, path, f"My key is {KEY}, use it")
    held = claim(client)
    call = {"type": "agent.tool_call", "content": [{"type": "tool_call", "name": "login", "input": {"password": "swordfish99"}}]}
    client.post(path + "/events", {"events": [call]}, headers=held, expect=201)
    speak(client, path, held, f"I used {KEY}.")
    settle(client, path, held)
    document = export(client, path)["document"]
    for secret in (KEY, KEY.lower(), "swordfish99"):
        check.true(secret not in document, "masked")
    check.true(document.count("[redacted]") >= 4, document)
    check.contains(events(client, path, "user.message")[0]["content"][0]["text"], KEY)


@test
def turns_without_an_answer_are_only_told(server):
    """S4-057, S4-059, S4-062, S4-063: no answered turn gives input → output; the words are in the transcript."""
    client = server.client()
    path = talk(client)
    document = export(client, path)["document"]
    check.contains(document, "edges:\n  - from: input\n    to: output\nid: exported-session\n")
    check.true("agents:" not in document, "nobody defined this agent")
    send(client, path, "Is anybody there?")
    refused = export(client, path, 409)
    check.equal(refused["code"], "turn_running")
    settle(client, path, claim(client))
    document = export(client, path)["document"]
    check.true("turn-1" not in document, "it was not answered")
    check.contains(document, "Is anybody there?")


@test
def who_may_and_how_much(env):
    """Only those who may write; a conversation above the limit is refused with both numbers; other kinds are no conversation."""
    server = env.server(["--export-bytes-max", "1KiB"])
    client = server.client()
    path = talk(client, visibility="org_visible")
    stranger = people.person(client, "eve").client
    check.equal(stranger.post(path + "/export", {}).status, 403)
    form = people.session(client, type="response")
    check.equal(export(client, form, 409)["code"], "not_a_conversation")
    send(client, path, "word " * 300)
    settle(client, path, claim(client))
    check.contains(export(client, path, 413)["detail"], "1024")
    check.equal(events(client, path, "session.exported"), [])

"""A conversation from its first word to its end: kept without saving, reloaded, continued, never rewritten."""
import json
import os
import re

from harness import check, people
from harness.model_server import ModelServer
from harness.suite import test
from harness.talk import events, send

ENVELOPE = ("session_id", "sequence", "type", "role", "actor", "content", "metadata", "created_at")
INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")


def wait_turns(client, path, count):
    check.eventually(lambda: client.get(path).json()["turn_count"] == count, f"{count} turns are over", 30)


def model_talk(env, model):
    """A server with one agent that is a model, and the path of a conversation with it."""
    folder = os.path.join(env.directory, "agents")
    os.makedirs(folder)
    with open(os.path.join(folder, "helper.agent.yaml"), "w", encoding="utf-8") as file:
        file.write("id: helper\ndriver: model\nprovider: anthropic\nmodel: first\nsystem_prompt: You help.\nsandbox: {kind: none}\n")
    server = env.server(["--agents", folder], model.environment())
    return server, people.session(server.client(), agent="helper")


@test
def kept_without_saving_and_continued(env):
    """S4-001, S4-006, S4-009, S4-013, S4-018: it starts idle with an id, survives kill -9 as it stands, and the next turn of the
    same agent knows what was said before."""
    with ModelServer([{"text": "It is tea."}, {"text": "Tea, as I said."}]) as model:
        server, path = model_talk(env, model)
        client = server.client()
        check.contains(client.get(path).json(), {"status": "idle", "agent": "helper", "turn_count": 0})
        send(client, path, "What is in the cup?")
        wait_turns(client, path, 1)
        before = client.get(path + "/messages").json()["messages"]
        server.kill()
        client = server.start().client()
        check.equal(client.get(path + "/messages").json()["messages"], before)
        check.equal(client.get(path).json()["status"], "idle")
        send(client, path, "Again?")
        wait_turns(client, path, 2)
        told = json.dumps(model.requests[1]["body"]["messages"])
        for text in ("What is in the cup?", "It is tea.", "Again?"):
            check.contains(told, text)
        after = client.get(path + "/messages").json()["messages"]
        check.equal(after[:len(before)], before)
        check.equal([message["role"] for message in after], ["user", "assistant"] * 2)
        check.contains(client.get(path).json(), {"agent": "helper", "agent_version": 1})


@test
def a_message_and_its_fields(env):
    """S4-037: id, session, sequence, role, content, model and time."""
    with ModelServer([{"text": "Hello."}]) as model:
        server, path = model_talk(env, model)
        client = server.client()
        send(client, path, "Hi")
        wait_turns(client, path, 1)
        [asked, answered] = client.get(path + "/messages").json()["messages"]
        for message, role, text in ((asked, "user", "Hi"), (answered, "assistant", "Hello.")):
            check.contains(message, {"session_id": path.split("/")[-1], "role": role,
                                     "parts": [{"type": "text", "text": text}]})
            check.true(INSTANT.fullmatch(message["created_at"]), message["created_at"])
        check.true(asked["id"] and answered["id"] and asked["id"] != answered["id"], "each has its id")
        check.true(asked["sequence"] < answered["sequence"], "they are in order")
        check.equal(answered["metadata"]["model"], "first")


@test
def nothing_said_is_changed(server):
    """S4-036: no request edits or deletes an event; whatever happens to the session, its log only grows."""
    client = server.client()
    path = people.session(client, agent="demo", prompt="echo one")
    wait_turns(client, path, 1)
    before = events(client, path)
    for method in ("PUT", "PATCH", "DELETE"):
        for place in ("/events", "/events/2", "/messages", "/messages/2"):
            check.one_of(client.request(method, path + place, {}).status, (404, 405), f"{method} {place}")
    client.patch(path, {"title": "Another", "metadata": {"a": 1}}, expect=200)
    client.post(path + "/archive", expect=200)
    client.post(path + "/unarchive", expect=200)
    client.post(path + "/stop", {}, expect=200)
    after = events(client, path)
    check.equal(after[:len(before)], before)
    check.true(len(after) > len(before), "it grew")


@test
def one_envelope_without_gaps(server):
    """S4-049: every event of every kind has the same members, and the numbers show whether one is missing."""
    client = server.client()
    path = people.session(client, agent="demo", prompt="Show me around")
    check.eventually(lambda: client.get(path + "/asks?state=pending").json()["asks"], "it asks", 30)
    client.post(path + "/stop", {}, expect=200)
    log = events(client, path)
    check.true(len({event["type"] for event in log}) > 6, "there are many kinds")
    for event in log:
        check.equal(sorted(set(event) & set(ENVELOPE)), sorted(ENVELOPE), event["type"])
    check.equal([event["sequence"] for event in log], list(range(1, len(log) + 1)))


@test
def messages_are_not_steps(server):
    """S4-041: the conversation lists what was said; what was done on the way stands in the log, not among the messages."""
    client = server.client()
    path = people.session(client, agent="demo", prompt="echo one")
    wait_turns(client, path, 1)
    said = [message["sequence"] for message in client.get(path + "/messages").json()["messages"]]
    kinds = {event["sequence"]: event["type"] for event in events(client, path)}
    check.equal({kinds[sequence] for sequence in said}, {"user.message", "agent.message"})
    for step in ("agent.tool_call", "agent.tool_result", "agent.thinking"):
        check.true(step in kinds.values(), step)


@test
def ended_at_rest(server):
    """S4-014: an idle conversation is ended by whoever owns it, and takes no more."""
    client = server.client()
    path = people.session(client, agent="demo")
    check.equal(client.get(path).json()["status"], "idle")
    check.equal(client.post(path + "/stop", {}, expect=200).json()["session"]["status"], "completed")
    check.contains(client.get(path).json(), {"status": "completed", "stop_reason": "user", "active": False})


@test
def a_chat_is_not_a_run(server):
    """S4-007: a conversation is in no list of runs, whatever happened in it; what was handed over with a prompt is."""
    client = server.client()
    chat = client.post("/api/sessions", {"type": "agent", "agent": "demo"}, expect=201).json()["id"]
    runs = [client.post("/api/sessions", {"type": "agent", "agent": "a", **body}, expect=201).json()["id"]
            for body in ({"prompt": "do it"}, {"task_id": "t1"}, {"purpose": "workflow"}, {"purpose": "orchestrator"})]
    runs.append(client.post("/api/sessions", {"type": "tool"}, expect=201).json()["id"])
    send(client, f"/api/sessions/{chat}", "echo hi")
    wait_turns(client, f"/api/sessions/{chat}", 1)
    listed = lambda **query: {one["id"] for one in client.get("/api/sessions", query=query).json()["sessions"]}
    check.equal(listed(kind="run"), set(runs))
    check.equal(listed(kind="chat"), {chat})
    check.equal(listed(), {chat, *runs})
    kinds = {one["id"]: one["words"]["kind"] for one in client.get("/api/sessions").json()["sessions"]}
    check.equal(kinds, {chat: "chat", **{run: "run" for run in runs}})
    check.equal(client.get("/api/sessions?kind=walk").status, 400)

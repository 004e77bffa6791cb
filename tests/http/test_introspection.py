"""Agents look back at their chats: when, over what, with which tools, and that people come first."""
import json
import os

from harness import check, people
from harness.model_server import ModelServer
from harness.suite import test
from harness.talk import events, send, wait_event

AGENT = """
id: helper
driver: model
provider: anthropic
model: first
system_prompt: You help.
sandbox: {{kind: none}}
introspection: {{{introspection}}}
"""
DAY = "1d"
OVER = ("introspection.ended", "introspection.failed", "introspection.interrupted")


def start(env, model, introspection, options=(), **body):
    """A server with one agent; the server, its client and the path of a chat."""
    folder = os.path.join(env.directory, "agents")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "helper.agent.yaml"), "w", encoding="utf-8") as file:
        file.write(AGENT.format(introspection=introspection))
    server = env.server(["--agents", folder, "--model-backoff-ms", "1", *options], model.environment())
    client = server.client()
    return server, client, people.session(client, agent="helper", **body)


def nth(client, path, kind, count=1, seconds=30):
    """The `count`-th event of the type, waited for."""
    seen = []
    is_it = lambda event: event["type"] == kind and (seen.append(1) or len(seen) == count)
    return wait_event(client, path, is_it, seconds)


def turn(client, path, text, count):
    send(client, path, text)
    return nth(client, path, "turn.ended", count)


def told(request):
    """What the model was told by the user's side of this request."""
    return json.dumps(request["body"]["messages"])


def use(name, **arguments):
    return {"name": name, "input": arguments}


def timer(client, path):
    """When the session's look back is due, or None."""
    found = client.get(path + "/explain", expect=200).json().get("next_timer") or {}
    return found.get("due_at") if found.get("kind") == "introspection" else None


@test
def after_some_turns(env):
    """S2-030: after turn_interval turns at once, over what was said since; it is no part of the conversation, and what
    it kept is told to the model from then on."""
    looks = [{"tools": [use("memory_add", text="Ada drinks tea."), use("session_description_update", description="Tea"),
                        use("working_memory_update", text="The kettle is on."), use("read_file", path="a")],
              "usage": {"input": 100, "output": 10}},
             {"text": "Noted."}]
    script = [{"text": "One."}, {"text": "Two."}, *looks, {"text": "Three."}, {"text": "Four."}, {"text": "Nothing."}]
    with ModelServer(script) as model:
        _, client, path = start(env, model, f"turn_interval: 2, idle_timeout_ms: {DAY}, model: small")
        turn(client, path, "I drink tea.", 1)
        check.equal(events(client, path, "introspection.started"), [])
        turn(client, path, "Always.", 2)
        first = nth(client, path, "introspection.started")
        check.contains(first["metadata"], {"from": 1, "reason": "turn_limit", "attempt": 1})
        end = nth(client, path, "introspection.ended")
        check.contains(end["metadata"], {"from": 1, "to": first["metadata"]["to"], "tool_calls": 3})
        check.equal((end["role"], end["metadata"]["usage"]["input_tokens"]), ("system", 110))
        look = model.requests[2]
        check.equal(look["body"]["model"], "small")
        for part in ("I drink tea.", "One.", "Always.", "Two."):
            check.contains(told(look), part)
        offered = sorted(tool["name"] for tool in look["body"]["tools"])
        check.equal(offered, ["memory_add", "memory_delete", "memory_recall", "memory_update",
                              "session_description_update", "set_title", "working_memory_update"])
        session = client.get(path, expect=200).json()
        check.contains(session, {"status": "idle", "turn_count": 2, "message_count": 4})
        check.contains(session["details"], {"description": "Tea", "description_source": "ai",
                                            "working_memory": "The kettle is on."})
        check.equal([one["content"][0]["text"] for one in events(client, path, "agent.message")], ["One.", "Two."])
        check.equal(events(client, path, "agent.tool_call"), [])
        refused = events(client, path, "introspection.tool_result")[-1]["content"][0]
        check.contains(refused["output"], "there is no tool read_file here")

        turn(client, path, "Again?", 3)
        for part in ("Ada drinks tea.", "The kettle is on.", "You help."):
            check.contains(json.dumps(model.requests[4]["body"]["system"]), part)
        check.true("Noted." not in told(model.requests[4]), "the look back is not in the conversation")
        turn(client, path, "And now?", 4)
        second = nth(client, path, "introspection.ended", 2)["metadata"]
        check.equal(second["from"], end["metadata"]["to"] + 1)
        check.true("I drink tea." not in told(model.requests[6]), "the second look begins behind the first")
        check.contains(told(model.requests[6]), "Again?")


@test
def messages_clear_its_timer(env):
    """S2-023: a turn schedules it, a message clears the timer, and the end of its turn sets it anew."""
    with ModelServer([{"text": "One."}, {"hold": True, "text": "Two."}]) as model:
        _, client, path = start(env, model, f"idle_timeout_ms: {DAY}")
        turn(client, path, "Hello?", 1)
        first = timer(client, path)
        check.true(first, "the end of the turn schedules it")
        client.post(path + "/pause", {}, expect=200)  # no turn, so that no lease is due before it
        check.true(timer(client, path), "a pause does not")
        send(client, path, "One thing more")
        check.equal(timer(client, path), None, "the message clears the timer")
        client.post(path + "/unpause", {}, expect=200)
        check.true(model.wait_requests(2), "the second turn runs")
        model.release()
        nth(client, path, "turn.ended", 2)
        check.true(timer(client, path) > first, "the silence begins again")
        check.equal(events(client, path, "introspection.started"), [])


@test
def after_a_silence(env):
    """S2-030: when nobody says anything for idle_timeout_ms, it looks back, once."""
    with ModelServer([{"text": "One."}, {"text": "Nothing to keep."}]) as model:
        _, client, path = start(env, model, "idle_timeout_ms: 100ms")
        turn(client, path, "Hello?", 1)
        check.contains(nth(client, path, "introspection.started")["metadata"], {"from": 1, "reason": "idle"})
        nth(client, path, "introspection.ended")
        check.equal(timer(client, path), None, "nothing is new")
        check.equal(len(model.requests), 2)


@test
def a_message_interrupts_it(env):
    """A person comes first: the turn begins at once, nothing more is written, and the range is looked at again."""
    script = [{"text": "One."}, {"hold": True, "tools": [use("memory_add", text="Half a thought.")]},
              {"text": "Two."}, {"text": "Nothing."}]
    with ModelServer(script) as model:
        _, client, path = start(env, model, f"turn_interval: 1, idle_timeout_ms: {DAY}")
        turn(client, path, "Hello?", 1)
        check.true(model.wait_requests(2), "it looks back")
        check.equal(client.get(path, expect=200).json()["status"], "idle")
        turn(client, path, "Wait!", 2)
        model.release()
        check.equal(nth(client, path, "introspection.interrupted")["metadata"]["cause"], "message")
        end = nth(client, path, "introspection.ended")["metadata"]
        check.contains(end, {"from": 1, "attempt": 1, "tool_calls": 0})
        for part in ("Hello?", "Wait!"):
            check.contains(told(model.requests[3]), part)
        check.equal(client.get("/api/agents/helper/memories", expect=200).json()["memories"], [])


@test
def failures_are_tried_again(env):
    """A failure before the end: the same range again, up to the limit; then it waits for something new."""
    failing = {"status": 400, "message": "no"}
    script = [{"text": "One."}, failing, failing, {"text": "Two."}, failing, {"text": "Nothing."}]
    options = ["--introspection-retry-ms", "1", "--introspection-attempts-max", "2"]
    with ModelServer(script) as model:
        _, client, path = start(env, model, f"turn_interval: 1, idle_timeout_ms: {DAY}", options)
        turn(client, path, "Hello?", 1)
        failed = [nth(client, path, "introspection.failed", count)["metadata"] for count in (1, 2)]
        check.equal([one["attempt"] for one in failed], [1, 2])
        check.equal({(one["from"], one["to"]) for one in failed}, {(1, failed[0]["to"])})
        check.equal(timer(client, path), None)
        turn(client, path, "Still there?", 2)
        end = nth(client, path, "introspection.ended")["metadata"]
        third = nth(client, path, "introspection.failed", 3)["metadata"]
        check.contains(end, {"from": 1, "to": third["to"], "attempt": 2})
        check.true(third["to"] > failed[0]["to"], "the range has grown")


@test(timeout_s=120)
def a_killed_server_takes_the_range_again(env):
    """kill -9 in the middle: nothing is lost, the same range is looked at once more."""
    script = [{"text": "One."}, {"hold": True, "tools": [use("memory_add", text="Lost.")]},
              {"tools": [use("memory_add", text="Kept.")]}, {"text": "Noted."}]
    options = ["--lease-ms-default", "10s"]  # how long another node would have to wait
    with ModelServer(script) as model:
        server, client, path = start(env, model, f"turn_interval: 1, idle_timeout_ms: {DAY}", options)
        turn(client, path, "Hello?", 1)
        check.true(model.wait_requests(2), "it looks back")
        started = nth(client, path, "introspection.started")["metadata"]
        server.kill()
        server.start()
        model.release()
        client = server.client()
        end = nth(client, path, "introspection.ended", seconds=60)["metadata"]
        check.contains(end, {"from": started["from"], "to": started["to"], "attempt": 2})
        check.equal(told(model.requests[1]), told(model.requests[2]))
        memories = client.get("/api/agents/helper/memories", expect=200).json()["memories"]
        check.equal([one["text"] for one in memories], ["Kept."])
        server.stop()
        server.verify()


@test
def groups_and_appended_messages(env):
    """What nobody answers counts too: after passive_turn_interval messages it looks back."""
    with ModelServer([{"text": "Nothing."}]) as model:
        group = {"source": {"kind": "channel", "platform": "telegram", "type": "group"},
                 "metadata": {"telegram_owner_id": "7"}}
        _, client, path = start(env, model, f"passive_turn_interval: 3, idle_timeout_ms: {DAY}", **group)
        bob = {"channel": "telegram", "channel_user_id": "8", "display_name": "Bob"}
        for text in ("one", "two"):
            check.equal(send(client, path, text, sender=bob, mentioned=False)["triggered"], False)
        check.true(timer(client, path), "the silence is waited for")
        client.post(path + "/messages?append=true", {"text": "three"}, expect=200)
        end = nth(client, path, "introspection.ended")["metadata"]
        check.contains(end, {"from": 1, "reason": "turn_limit"})
        for text in ("one", "two", "three"):
            check.contains(told(model.requests[0]), text)
        check.equal(client.get(path, expect=200).json()["turn_count"], 0)


@test
def memories_belong_to_their_owner(env):
    """The tools of memory, their limits, and that nobody else is told or shown what was remembered."""
    with ModelServer([{}]) as model:
        options = ["--memories-max", "2", "--memory-bytes-max", "20", "--memories-prompt-bytes-max", "12"]
        _, client, path = start(env, model, f"turn_interval: 1, tool_calls_max: 5, idle_timeout_ms: {DAY}", options)
        model.say_next({"text": "One."},
                       {"tools": [use("memory_add", text="Tea."), use("memory_add", text="Rum."),
                                  use("memory_add", text="Gin."), use("memory_recall", query="RUM"),
                                  use("memory_add", text="x" * 21), use("set_title", title="Bar")]},
                       {"text": "Done."})
        turn(client, path, "Hello?", 1)
        check.equal(nth(client, path, "introspection.ended")["metadata"]["tool_calls"], 5)
        results = [one["content"][0]["output"] for one in events(client, path, "introspection.tool_result")]
        check.contains(results[2], "memories-max")
        [found] = json.loads(results[3])["memories"]
        check.equal(found["text"], "Rum.")
        check.contains(results[4], "memory-bytes-max")
        check.contains(results[5], "used up")
        listed = client.get("/api/agents/helper/memories", expect=200).json()["memories"]
        check.equal([one["text"] for one in listed], ["Tea.", "Rum."])
        page = client.get("/api/agents/helper/memories?limit=1", expect=200).json()
        check.equal((page["has_more"], page["next_cursor"]), (True, listed[0]["id"]))

        bob = people.person(client, "bob")
        check.equal(bob.client.get("/api/agents/helper/memories", expect=200).json()["memories"], [])
        bob.client.delete(f"/api/agents/helper/memories/{found['id']}", expect=404)
        other = people.session(bob.client, agent="helper")
        model.say_next({"text": "Hello, Bob."}, {"tools": [use("memory_delete", id=found["id"])]}, {"text": "No."})
        turn(bob.client, other, "What do I drink?", 1)
        check.true("Rum." not in json.dumps(model.requests[3]["body"]), "another's memory is not told")
        nth(client, other, "introspection.ended")
        [refused] = events(client, other, "introspection.tool_result")
        check.contains(refused["content"][0]["output"], "There is no memory")

        count = len(model.requests)
        model.say_next({"text": "Two."}, {"tools": [use("memory_update", id=found["id"], text="Water.")]},
                       {"text": "Done."})
        turn(client, path, "And now?", 2)
        system = json.dumps(model.requests[count]["body"]["system"])
        check.true("Rum." in system and "Tea." not in system, "the newest that fit are told")
        nth(client, path, "introspection.ended", 2)
        listed = client.get("/api/agents/helper/memories", expect=200).json()["memories"]
        check.equal([one["text"] for one in listed], ["Tea.", "Water."])
        client.delete(f"/api/agents/helper/memories/{found['id']}", expect=204)
        client.delete(f"/api/agents/helper/memories/{found['id']}", expect=404)


@test
def where_it_is_not(env):
    """Work that was handed over with a prompt is no chat, and an agent or a server may have it off."""
    with ModelServer([{"text": "Done."}]) as model:
        server, client, path = start(env, model, f"turn_interval: 1, idle_timeout_ms: {DAY}", prompt="Count.")
        nth(client, path, "turn.ended")
        check.equal(timer(client, path), None)
        server.stop()
        for introspection, options in (("enabled: false", []), ("turn_interval: 1", ["--introspections-max", "0"])):
            server, client, path = start(env, model, introspection, options)
            turn(client, path, "Hello?", 1)
            check.equal((timer(client, path), events(client, path, *OVER)), (None, []))
            server.stop()

"""Runners: agents that run elsewhere and take their prompts over a WebSocket."""
import json

from harness import check, people
from harness.runner import Runner, begin, runner_token
from harness.suite import test
from harness.talk import watch

QUICK = ["--runner-grace-ms", "200", "--runner-lost-ms", "600"]
PATIENT = ["--runner-grace-ms", "1h"]


def send(client, path, text, **body):
    return client.post(path + "/messages", {"text": text, **body}, expect=202).json()


def events(client, path, types=None):
    query = f"&types={types}" if types else ""
    return client.get(f"{path}/events?limit=1000{query}", expect=200).json()["events"]


def wait_for(client, path, type, count=1):
    check.eventually(lambda: len(events(client, path, type)) >= count, f"{count} {type}", 20)
    return events(client, path, type)


def wait_status(client, path, status):
    check.eventually(lambda: client.get(path).json()["status"] == status, f"the session is {status}", 20)


def ends(client, path):
    return [(end["metadata"]["turn"], end["metadata"]["stop_reason"]) for end in events(client, path, "turn.ended")]


@test
def a_turn(server):
    """Text, a tool call and the end of a turn are durable and in order; viewers see the pieces live."""
    client = server.client()
    path = begin(client, model="m-9", provider="openai")
    runner = Runner(client, path)
    check.contains(runner.init, {"queueLength": 0, "pendingQuestions": [], "agent": {"id": "remote", "version": 1}})
    with watch(client, path) as stream:
        receipt = send(client, path, "Good \"morning\" ☀", thread_id="t1")
        prompt = runner.hear("prompt")
        check.contains(prompt, {"messageId": receipt["prompt_id"], "turn": 1, "content": "Good \"morning\" ☀",
                                "threadId": "t1", "model": "m-9", "again": False})
        check.true(prompt["author"].startswith("user:"), prompt["author"])
        check.equal(client.get(path).json()["status"], "running")
        runner.say("agentStatus", status="streaming")
        runner.speak("I look", finalize=False)
        call = {"callId": "c1", "toolName": "read_file"}
        runner.say("message.part.tool-update", **call, status="running", args={"path": "a"})
        runner.say("message.part.tool-update", **call, status="running", result="half")
        runner.say("message.part.tool-update", **call, status="completed", result={"lines": 3})
        runner.say("message.part.tool-update", **call, status="completed", result={"lines": 4})
        runner.say("message.part.text-delta", id="m1", delta="done.")
        runner.say("message.finalize", id="m1", reason="end_turn")
        runner.say("message.finalize", id="m1", reason="end_turn", finalText="again and again")
        runner.complete(prompt, usage={"input_tokens": 7})
        frames = stream.until(lambda frame: frame.event == "event" and frame.json()["metadata"].get("to") == "idle", 20)
    log = [event for event in events(client, path) if event["role"] == "agent"]
    check.equal([event["type"] for event in log],
                ["agent.message", "agent.tool_call", "agent.tool_result", "agent.message"])
    check.equal([log[0]["content"][0]["text"], log[3]["content"][0]["text"]], ["Ilook", "done."])
    check.contains(log[3]["metadata"], {"message_id": "m1", "reason": "end_turn"})
    check.contains(log[1]["content"][0], {"tool_call_id": "c1", "name": "read_file", "input": {"path": "a"}})
    check.contains(log[2]["content"][0], {"tool_call_id": "c1", "output": {"lines": 3}, "is_error": False})
    deltas = [frame.json() for frame in frames if frame.event == "delta"]
    check.equal([(one["kind"], one["id"], one["text"]) for one in deltas],
                [("text", "m1", "I"), ("text", "m1", "look"), ("tool_output", "c1", "half"), ("text", "m1", "done.")])
    check.equal(ends(client, path), [(1, "stop")])
    check.contains(client.get(path).json(), {"turn_count": 1, "usage": {"input_tokens": 7}})


@test
def collected_attachments(server):
    """All that came with several messages comes with the one they became."""
    client = server.client()
    path = begin(client)
    runner = Runner(client, path)
    files = [{"type": "file", "url": f"https://files.example/{name}"} for name in ("a", "b")]
    for file in files:
        send(client, path, "See this", mode="collect", debounce_ms=60000, attachments=[file])
    send(client, path, "That is all.")
    prompt = runner.hear("prompt")
    check.equal((prompt["attachments"], len(prompt["prompts"])), (files, 2))
    runner.complete(prompt)


@test
def nothing_before_idle(server):
    """Dispatch before the runner is ready: only `idle` makes it take prompts; then the queue drains in order."""
    client = server.client()
    path = begin(client)
    receipts = [send(client, path, f"message {n}") for n in range(3)]
    runner = Runner(client, path, idle=False)
    check.equal(runner.init["queueLength"], 2)
    runner.nothing_is_said()
    runner.say("agentStatus", status="thinking")
    runner.nothing_is_said()
    check.equal(client.get(path).json()["status"], "pending")
    runner.say("agentStatus", status="idle")
    for receipt in receipts:
        prompt = runner.hear("prompt")
        check.equal(prompt["messageId"], receipt["prompt_id"])
        runner.complete(prompt)
    wait_status(client, path, "idle")
    said = [event["metadata"]["prompt_id"] for event in events(client, path, "user.message")]
    check.equal(said, [receipt["prompt_id"] for receipt in receipts])
    check.equal(ends(client, path), [(1, "stop"), (2, "stop"), (3, "stop")])


@test
def a_stale_complete_changes_nothing(server):
    """Duplicate, unscoped and foreign `complete` neither end the turn in hand nor drain the queue twice."""
    client = server.client()
    path = begin(client)
    runner = Runner(client, path)
    send(client, path, "one")
    first = runner.hear("prompt")
    send(client, path, "two")
    runner.complete(first)
    second = runner.hear("prompt")
    runner.complete(first)
    runner.say("complete", messageId="never-was")
    runner.say("complete", messageId=second["messageId"], turn=first["turn"])
    runner.say("error", messageId=first["messageId"], error="late")
    runner.say("complete")
    check.equal(runner.hear("error")["code"], "invalid_message")
    runner.nothing_is_said()
    check.equal(client.get(path).json()["status"], "running")
    check.equal(ends(client, path), [(1, "stop")])
    runner.complete(second)
    wait_status(client, path, "idle")
    runner.say("message.part.text-delta", id="m9", delta="too late")
    check.equal(runner.hear("error")["code"], "stale_turn")
    check.equal(ends(client, path), [(1, "stop"), (2, "stop")])


@test(options=PATIENT)
def a_newer_runner_replaces_the_older(server):
    """The older is closed with 1000; the newer goes on with the turn when it has it, or gets the prompt again."""
    client = server.client()
    path = begin(client)
    token = runner_token(client, path)
    older = Runner(client, path, token)
    receipt = send(client, path, "hello")
    prompt = older.hear("prompt")
    newer = Runner(client, path, token, idle=False)
    check.equal(older.socket.next(), None)
    check.equal((older.socket.close_code, older.socket.close_reason), (1000, "Replaced by new runner connection"))
    newer.say("agentStatus", status="streaming")
    newer.speak("still here")
    wait_for(client, path, "agent.message")
    newest = Runner(client, path, token)
    again = newest.hear("prompt")
    check.contains(again, {"messageId": receipt["prompt_id"], "turn": prompt["turn"] + 1, "again": True})
    newest.complete(again)
    wait_status(client, path, "idle")
    check.equal(ends(client, path), [(1, "aborted"), (2, "stop")])
    check.equal(len(events(client, path, "user.message")), 1)
    check.equal(len(events(client, path, "runner.connected")), 3)


@test(options=PATIENT)
def a_newer_runner_says_itself_that_it_is_idle(server):
    """What the older one said does not count for it."""
    client = server.client()
    path, other = begin(client), begin(client)
    token = runner_token(client, path)
    older = Runner(client, path, token)
    older.nothing_is_said()
    newer = Runner(client, path, token, idle=False)
    check.equal(older.socket.next(), None)
    receipt = send(client, path, "hello")
    witness = Runner(client, other)
    send(client, other, "later")
    witness.complete(witness.hear("prompt"))
    wait_status(client, other, "idle")
    newer.nothing_is_said()
    check.equal(client.get(path).json()["status"], "pending")
    newer.say("agentStatus", status="idle")
    check.equal(newer.hear("prompt")["messageId"], receipt["prompt_id"])


@test(options=QUICK)
def disconnect_returns_the_prompt(server):
    """After the grace the prompt in hand is pending again and is said once; open tool calls are ambiguous."""
    client = server.client()
    path = begin(client)
    token = runner_token(client, path)
    runner = Runner(client, path, token)
    receipt = send(client, path, "hello")
    runner.hear("prompt")
    runner.say("message.part.tool-update", callId="c1", toolName="deploy", status="running")
    wait_for(client, path, "agent.tool_call")
    runner.vanish()
    wait_status(client, path, "pending")
    check.equal(events(client, path, "turn.ended")[0]["metadata"]["cause"], "runner_disconnected")
    check.contains(json.dumps(events(client, path, "agent.tool_result")), "ambiguous")
    wait_for(client, path, "runner.lost")
    runner = Runner(client, path, token)
    prompt = runner.hear("prompt")
    check.contains(prompt, {"messageId": receipt["prompt_id"], "turn": 2, "again": True})
    runner.complete(prompt)
    wait_status(client, path, "idle")
    check.equal(len(events(client, path, "user.message")), 1)
    check.equal(ends(client, path), [(1, "aborted"), (2, "stop")])


@test(options=PATIENT)
def reconnect_within_the_grace(server):
    """Who comes back in time and still works continues: one turn, nothing lost."""
    client = server.client()
    path = begin(client)
    token = runner_token(client, path)
    runner = Runner(client, path, token)
    send(client, path, "hello")
    prompt = runner.hear("prompt")
    runner.speak("first half", finalize=False)
    runner.nothing_is_said()
    runner.vanish()
    wait_for(client, path, "runner.disconnected")
    runner = Runner(client, path, token, idle=False)
    runner.say("message.part.text-delta", id="m1", delta=" and the rest")
    runner.say("message.finalize", id="m1", reason="end_turn")
    runner.complete(prompt)
    wait_status(client, path, "idle")
    check.equal(events(client, path, "agent.message")[0]["content"][0]["text"], "firsthalf and the rest")
    check.equal(ends(client, path), [(1, "stop")])


@test(options=PATIENT + ["--lease-ms-default", "4s"])
def killed_server(server):
    """kill -9 with a prompt in hand: after the restart the prompt goes to the runner again, once."""
    client = server.client()
    path = begin(client)
    token = runner_token(client, path)
    runner = Runner(client, path, token)
    receipts = [send(client, path, "one"), send(client, path, "two")]
    runner.hear("prompt")
    server.kill()
    client = server.start().client()
    runner = Runner(client, path, token)
    for receipt in receipts:
        prompt = runner.hear("prompt", 60)
        check.equal(prompt["messageId"], receipt["prompt_id"])
        runner.complete(prompt)
    wait_status(client, path, "idle")
    check.equal([end[1] for end in ends(client, path)], ["aborted", "stop", "stop"])


@test
def questions(server):
    """A question waits for a person; the answer reaches the runner, an expired one says so."""
    client = server.client()
    path = begin(client)
    runner = Runner(client, path)
    send(client, path, "hello")
    prompt = runner.hear("prompt")
    runner.say("question", questionId="q1", text="Which colour?", options=["red", "green"])
    wait_status(client, path, "waiting_human")
    client.post(path + "/asks/q1/answer", {"answer": "green"}, expect=200)
    check.contains(runner.hear("answer"), {"questionId": "q1", "answer": "green"})
    wait_status(client, path, "running")
    runner.say("approval", questionId="a1", toolName="deploy", callId="c7", text="Deploy?", args={"to": "live"})
    wait_status(client, path, "awaiting_tool")
    client.post(path + "/asks/a1/answer", {"decision": "deny", "reason": "not now"}, expect=200)
    check.contains(runner.hear("answer"), {"questionId": "a1", "decision": "deny", "reason": "not now"})
    for id, more in (("a2", {}), ("a3", {"args": {}})):
        runner.say("approval", questionId=id, toolName="deploy", text="Deploy?", **more)
        wait_status(client, path, "awaiting_tool")
        ask = client.get(f"{path}/asks/{id}", expect=200).json()
        check.equal("arguments" in ask, False, "what was not shown is not shown as empty")
        check.equal([grant["scope"] for grant in ask["grants"]], ["once"])
        check.problem(client.post(f"{path}/asks/{id}/answer", {"decision": "session"}), 400, "invalid_decision")
        client.post(f"{path}/asks/{id}/answer", {"decision": "once"}, expect=200)
        check.contains(runner.hear("answer"), {"questionId": id, "decision": "once"})
    runner.say("question", questionId="q2", text="")
    check.contains(runner.hear("answer"), {"questionId": "q2", "answer": "__expired__", "state": "cancelled"})
    runner.complete(prompt)
    wait_status(client, path, "idle")


@test(options=["--question-expiry-ms", "200"])
def a_question_expires(server):
    client = server.client()
    path = begin(client)
    runner = Runner(client, path)
    send(client, path, "hello")
    prompt = runner.hear("prompt")
    runner.say("question", questionId="q1", text="Anybody?")
    check.contains(runner.hear("answer", 20), {"questionId": "q1", "answer": "__expired__", "state": "expired"})
    runner.complete(prompt)
    wait_status(client, path, "idle")


@test(options=["--interrupt-ms", "500"])
def abort(server):
    """An interrupted turn ends when the runner says so; the next prompt is not completed by it."""
    client = server.client()
    path = begin(client)
    runner = Runner(client, path)
    send(client, path, "one")
    first = runner.hear("prompt")
    send(client, path, "two")
    client.post(path + "/interrupt", {}, expect=200)
    check.contains(runner.hear("abort"), {"messageId": first["messageId"], "turn": 1})
    runner.say("message.finalize", id="m1", reason="canceled", finalText="I was about to")
    runner.complete(first)
    second = runner.hear("prompt")
    runner.complete(first)
    client.post(path + "/interrupt", {}, expect=200)
    runner.hear("abort")
    wait_status(client, path, "idle")  # the server ended it: the runner did not answer
    send(client, path, "three")
    runner.nothing_is_said()
    runner.complete(second)
    third = runner.hear("prompt")
    runner.complete(third)
    wait_status(client, path, "idle")
    check.equal(ends(client, path), [(1, "aborted"), (2, "aborted"), (3, "stop")])


@test
def an_error_ends_the_turn(server):
    client = server.client()
    path = begin(client)
    runner = Runner(client, path)
    send(client, path, "hello")
    prompt = runner.hear("prompt")
    send(client, path, "next")
    runner.speak("Before it broke", finalize=False)
    runner.say("error", messageId=prompt["messageId"], error="out of luck")
    wait_for(client, path, "turn.ended")
    runner.nothing_is_said()
    runner.say("agentStatus", status="idle")
    runner.complete(runner.hear("prompt"))
    wait_status(client, path, "idle")
    check.equal(ends(client, path), [(1, "error"), (2, "stop")])
    check.contains(json.dumps(events(client, path, "turn.ended")[0]), "out of luck")
    check.equal(events(client, path, "agent.message")[0]["content"][0]["text"], "Beforeitbroke")


@test(options=["--runner-grace-ms", "300"])
def an_error_that_nothing_follows(server):
    """A runner that says `error`, in whatever way, and then neither completes nor says idle keeps nothing waiting."""
    client = server.client()

    def safety_nets(path):
        return [one["metadata"]["cause"] for one in events(client, path, "watchdog.error_safety_net")]

    def say_error(runner, prompt):
        runner.say("error", messageId=prompt["messageId"], error="out of luck")

    def say_status(runner, prompt):
        runner.say("agentStatus", status="error")
    for say in (say_error, say_status):
        path = begin(client)
        runner = Runner(client, path)
        send(client, path, "hello")
        prompt = runner.hear("prompt")
        send(client, path, "next")
        say(runner, prompt)
        told = runner.socket.until(lambda frame: frame["type"] == "prompt", 10)[-1]
        check.equal((told["content"], safety_nets(path)), ("next", ["runner_error"]))
        runner.complete(told)
        wait_status(client, path, "idle")
        check.equal(ends(client, path), [(1, "error"), (2, "stop")])
        runner.say("agentStatus", status="error")  # between turns
        send(client, path, "last")
        waits = client.get(path + "/explain", expect=200).json()
        check.contains(json.dumps(waits), "become idle")
        runner.complete(runner.hear("prompt"))
        wait_status(client, path, "idle")
        say_status(runner, None)
        runner.say("agentStatus", status="thinking")  # it goes on: no safety net
        runner.say("agentStatus", status="idle")
        check.equal(len(safety_nets(path)), 2)


@test
def beside_the_turn(server):
    """Title, changed files, git and pull requests need no turn."""
    client = server.client()
    path = begin(client)
    runner = Runner(client, path)
    runner.say("title", title="A better name")
    runner.say("files-changed", files=[{"path": "a.c", "status": "modified"}])
    runner.say("git-state", branch="main", commitCount=2)
    runner.say("pr-created", number=7, url="https://example.test/7")
    check.equal(wait_for(client, path, "external.pr_created")[0]["metadata"]["number"], 7)
    check.equal(events(client, path, "external.files_changed")[0]["metadata"]["files"][0]["path"], "a.c")
    check.equal(events(client, path, "external.git_state")[0]["metadata"], {"branch": "main", "commitCount": 2})
    check.equal(client.get(path).json()["title"], "A better name")


@test
def git_state_reaches_the_session(server):
    """What the runner says about git stands in the session's details; nonsense changes nothing."""
    client = server.client()
    path = begin(client)
    runner = Runner(client, path)
    runner.say("git-state", branch="work", baseBranch="main", commitCount=2, mood="good")
    runner.say("git-state", prState="lost")
    runner.say("git-state", commitCount=3)
    runner.say("pr-created", number=7, url="https://example.test/7", title="Better")
    want = {"branch": "work", "base_branch": "main", "commit_count": 3, "pr_number": 7, "pr_state": "open",
            "pr_url": "https://example.test/7"}

    def told():
        state = client.get(path + "/git-state", expect=200).json()
        return all(state[name] == value for name, value in want.items())
    check.eventually(told, "the git state is told", 20)
    check.contains(client.get(path).json()["details"]["git_state"], want)
    check.equal([event["metadata"] for event in events(client, path, "external.git_state")][1], {"prState": "lost"})


@test(options=["--runner-frame-chars-max", "1000"])
def what_is_wrong(server):
    """Unknown messages are answered, too long and malformed ones close the connection."""
    client = server.client()
    path = begin(client)
    token = runner_token(client, path)
    runner = Runner(client, path, token)
    runner.say("dance")
    check.contains(runner.hear("error"), {"code": "unknown_message", "of": "dance"})
    runner.say("agentStatus", status="bored")
    check.equal(runner.hear("error")["code"], "invalid_message")
    runner.socket.send("☀" * 990)  # characters, not bytes: it is read, and is no JSON
    check.equal((runner.socket.next(), runner.socket.close_code), (None, 1007))
    for text, code in (("{", 1007), ("[1]", 1007), ('{"type":"ping","x":"' + "a" * 1000 + '"}', 1009)):
        runner = Runner(client, path, token)
        runner.socket.send(text)
        check.equal((runner.socket.next(), runner.socket.close_code), (None, code), text[:20])


@test(options=["--runner-silence-ms", "300"])
def a_silent_runner_is_gone(server):
    client = server.client()
    path = begin(client)
    runner = Runner(client, path)
    check.equal((runner.socket.next(), runner.socket.close_code), (None, 1008))
    check.equal(wait_for(client, path, "runner.disconnected")[0]["metadata"]["reason"], "silent")


@test
def tokens(server):
    """Only the session's own runner token opens it; a new token ends the connection of the one before."""
    client = server.client()
    path = begin(client)
    other = people.session(client, agent="remote")
    plain = people.session(client)
    client.post(plain + "/runner-token", {}, expect=409)
    client.websocket(path + "/ws?role=runner", expect=403)
    client.websocket(path + "/ws?role=nobody", expect=400)
    token = runner_token(client, path)
    client.with_token(token).websocket(other + "/ws?role=runner", expect=404)
    client.with_token(token).post(path + "/runner-token", {}, expect=403)
    client.with_token(token).post("/api/claims", {"worker": "w"}, expect=403)
    stranger = people.person(client, "stranger")
    stranger.client.post(path + "/runner-token", {}, expect=404)
    runner = Runner(client, path, token)
    fresh = runner_token(client, path)
    check.equal((runner.socket.next(), runner.socket.close_code), (None, 1008))
    client.with_token(token).websocket(path + "/ws?role=runner", expect=401)
    Runner(client, path, fresh)


@test
def an_ended_session_stops_its_runner(server):
    client = server.client()
    path = begin(client)
    runner = Runner(client, path)
    send(client, path, "hello")
    runner.hear("prompt")
    client.post(path + "/status", {"status": "abandoned"}, expect=200)
    types = [message["type"] for message in runner.socket.until(lambda message: message["type"] == "stop")]
    check.true(set(types) <= {"abort", "stop"}, str(types))
    check.equal((runner.socket.next(), runner.socket.close_code), (None, 1000))
    check.equal([end[1] for end in ends(client, path)], ["aborted"] if ends(client, path) else [])


@test
def no_runner_no_worker(server):
    """Neither the server nor a worker takes what is meant for a runner."""
    client = server.client()
    path = begin(client)
    send(client, path, "hello")
    check.equal(client.post("/api/claims", {"worker": "w", "wait_ms": 0}, expect=200).json()["claims"], [])
    check.equal(client.get(path).json()["status"], "pending")
    check.equal(events(client, path, "session.claimed"), [])


@test
def people_speak_over_websocket(server):
    """A viewer sends prompts, aborts and pings where it watches; each gets its result."""
    client = server.client()
    path = begin(client)
    runner = Runner(client, path)
    with client.websocket(path + "/ws") as socket:
        def say(type, **message):
            socket.send({"type": type, **message})
            return socket.until(lambda frame: frame.get("type") == "result" and frame["id"] == message["id"])[-1]
        first = say("prompt", id=1, content="one", threadId="t", attachments=[{"type": "url", "url": "https://example.test/a"}])
        check.contains(first["receipt"], {"status": "dispatched"})
        prompt = runner.hear("prompt")
        check.contains(prompt, {"messageId": first["receipt"]["prompt_id"], "content": "one", "threadId": "t"})
        check.equal(prompt["attachments"][0]["url"], "https://example.test/a")
        check.contains(say("prompt", id=2, content=[{"type": "text", "text": "two"}])["receipt"], {"status": "queued"})
        check.equal(say("prompt", id=3, text="now", queueMode="reject")["error"]["status"], 409)
        check.equal(say("prompt", id=4, text="now", mode="later")["error"]["code"], "invalid_message")
        check.equal(say("prompt", id=5)["error"]["code"], "invalid_message")
        check.contains(say("abort", id=6), {"ok": True, "turn": 1, "requested": True})
        check.equal(runner.hear("abort")["turn"], 1)
        runner.complete(prompt)
        check.equal(runner.hear("prompt")["content"], "two")
        socket.send({"type": "ping"})
        socket.until(lambda frame: frame["type"] == "pong")
    reader = people.token(client, scopes=["read"])
    with reader.websocket(path + "/ws") as socket:
        socket.send({"type": "prompt", "id": 1, "content": "three"})
        refused = socket.until(lambda frame: frame.get("type") == "result")[-1]
        check.contains(refused["error"], {"status": 403, "code": "insufficient_scope"})


@test
def a_pause_keeps_prompts_from_a_runner(server):
    """A runner that is there and free gets nothing while the session is paused, at rest or pending, and all of it after."""
    client = server.client()
    path = begin(client)
    send(client, path, "one")
    client.post(path + "/pause", expect=200)  # pending: there was no runner
    runner = Runner(client, path)
    runner.nothing_is_said()
    check.equal(send(client, path, "two")["status"], "queued")
    runner.nothing_is_said()
    check.equal(client.get(path).json()["status"], "pending")
    client.post(path + "/unpause", expect=200)
    for text in ("one", "two"):
        prompt = runner.hear("prompt")
        check.equal(prompt["content"], text)
        runner.complete(prompt)
    wait_status(client, path, "idle")

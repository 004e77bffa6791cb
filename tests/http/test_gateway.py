"""Gateway tools: what code in a sandbox asks of the server, done once per call."""
import base64
import hashlib
import os
import sqlite3
import threading

from harness import check, people, talk
from harness.client import encode_request
from harness.suite import test


def begin(client):
    """The path of a session and a client with its sandbox token."""
    path = people.session(client)
    token = client.post(path + "/sandbox-token", {}, expect=201).json()
    check.contains(token, {"kind": "sandbox", "session_id": path.split("/")[-1]})
    return path, client.with_token(token["token"])


def use(inside, path, tool, call_id="c1", expect=200, **arguments):
    return inside.post(f"{path}/tools/{tool}", {"call_id": call_id, "arguments": arguments}, expect=expect).json()


def events(client, path, types):
    return client.get(f"{path}/events?limit=1000&types={types}", expect=200).json()["events"]


@test
def a_call_is_done_once(server):
    """The same call again, also after a restart, gets the same answer and changes nothing."""
    client = server.client()
    path, inside = begin(client)
    first = use(inside, path, "set_title", title="One")
    check.equal(first, {"tool": "set_title", "call_id": "c1", "success": True, "result": {"ok": True}})
    client.patch(path, {"title": "By hand"}, expect=200)
    check.equal(use(inside, path, "set_title", title="One"), first)
    server.kill()
    server.start()
    client, inside = server.client(), server.client().with_token(inside.token)
    check.equal(use(inside, path, "set_title", title="One"), first)
    check.equal(client.get(path).json()["title"], "By hand")
    check.equal(use(inside, path, "set_title", title="Two", expect=409)["code"], "call_id_reused")
    use(inside, path, "set_title", "c2", title="Two")
    check.equal(client.get(path).json()["title"], "Two")
    told = events(client, path, "tool.set_title")
    check.equal([event["metadata"]["call_id"] for event in told], ["c1", "c2"])
    check.equal(told[0]["metadata"]["arguments"], {"title": "One"})
    check.true(told[0]["actor"].startswith("sandbox:"), told[0]["actor"])


@test
def what_is_kept(server):
    """Commands and names of variables are kept as events; what looks like a secret is refused and not remembered."""
    client = server.client()
    path, inside = begin(client)
    commands = [{"name": "web", "command": "npm run dev", "directory": "web"}]
    use(inside, path, "save_service_commands", commands=commands)
    check.equal(events(client, path, "tool.save_service_commands")[0]["metadata"]["arguments"]["commands"], commands)
    files = [{"path": ".env", "names": ["DATABASE_URL", "PORT"]}]
    use(inside, path, "save_env_files", files=files)
    check.equal(events(client, path, "tool.save_env_files")[0]["metadata"]["arguments"]["files"], files)
    secret = "sk-ant-api03-" + "a1B2" * 20
    refused = use(inside, path, "save_env_files", "s", expect=400, files=[{"path": ".env", "names": [secret]}])
    check.equal(refused["code"], "looks_secret")
    check.true(secret not in str(refused), "the answer does not repeat it")
    use(inside, path, "save_env_files", "s", files=files)
    use(inside, path, "save_env_files", "v", expect=400, files=[{"path": ".env", "names": ["A"], "values": ["b"]}])
    check.contains(use(inside, path, "session_status")["result"], {"session_id": path.split("/")[-1], "status": "idle"})


@test
def evidence(server):
    """verify keeps files under their checksums; people read them."""
    client = server.client()
    path, inside = begin(client)
    text, blob = "all green ☀\n", os.urandom(100000)
    arguments = {"summary": "It works.", "files": [{"name": "test.log", "content": text},
                                                   {"name": "page.png", "content_base64": base64.b64encode(blob).decode()}]}
    done = use(inside, path, "verify", **arguments)
    sums = [hashlib.sha256(one).hexdigest() for one in (text.encode(), blob)]
    check.equal(done["result"], {"summary": "It works.", "files": [
        {"name": "test.log", "bytes": len(text.encode()), "sha256": sums[0]},
        {"name": "page.png", "bytes": len(blob), "sha256": sums[1]}]})
    check.equal(use(inside, path, "verify", **arguments), done)
    told = events(client, path, "tool.verify")
    check.equal([event["metadata"]["result"] for event in told], [done["result"]])
    check.true("arguments" not in told[0]["metadata"], "the log holds no contents")
    for checksum, content in zip(sums, (text.encode(), blob)):
        check.equal(client.get(f"{path}/evidence/{checksum}", expect=200).body, content)
    other = people.session(client)
    client.get(f"{other}/evidence/{sums[0]}", expect=404)
    for wrong in ("0" * 64, "..%2f" * 8, "x"):
        client.get(f"{path}/evidence/{wrong}", expect=404)
    check.equal(use(inside, path, "verify", "w", expect=400, files=[{"name": "a"}])["code"], "invalid_evidence")
    use(inside, path, "verify", "w", expect=400, files=[{"name": "a", "content_base64": "?"}])


@test(options=("--files-per-session-max", "3"))
def evidence_has_an_end(server):
    """Code in a sandbox does not fill the disk of the server: its files count like those of people."""
    path, inside = begin(server.client())
    files = [{"name": f"{number}", "content": f"{number}"} for number in range(4)]
    use(inside, path, "verify", "one", files=files[:2])
    check.equal(use(inside, path, "verify", "two", expect=429, files=files[2:])["code"], "too_many_files")
    use(inside, path, "verify", "three", files=files[2:3])


@test
def duplicates_share_one_execution(server):
    """The same call from many connections at once: one execution, one event, one answer for all."""
    client = server.client()
    path, inside = begin(client)
    answers = [None] * 12

    def call(index):
        content = "x" * 200000
        answers[index] = use(server.client().with_token(inside.token), path, "verify",
                             files=[{"name": f"{n}", "content": content} for n in range(3)])
    threads = [threading.Thread(target=call, args=(index,)) for index in range(len(answers))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    check.true(answers[0] and answers[0]["success"], str(answers[0]))
    check.equal(answers, [answers[0]] * len(answers))
    check.equal(len(events(client, path, "tool.verify")), 1)


@test
def duplicates_in_one_breath(server):
    """All there before the first is noted anywhere."""
    client = server.client()
    path, inside = begin(client)
    rounds = 15
    for number in range(rounds):
        body = {"call_id": f"b{number}", "arguments": {"files": [{"name": "a", "content": f"{number}"}]}}
        request = encode_request("POST", f"{path}/tools/verify", body, [("Authorization", f"Bearer {inside.token}")])
        connections = [client.connect() for _ in range(10)]
        for connection in connections:
            connection.send(request[:-1])
        for connection in connections:
            connection.send(request[-1:])
        answers = [connection.read_response("POST") for connection in connections]
        check.equal([answer.status for answer in answers], [200] * len(answers))
        check.equal([answer.json() for answer in answers], [answers[0].json()] * len(answers))
        for connection in connections:
            connection.close()
    check.equal([event["metadata"]["call_id"] for event in events(client, path, "tool.verify")],
                [f"b{number}" for number in range(rounds)])


@test(options=["--blob-bytes-max", "1KiB"])
def evidence_has_a_limit(server):
    """To the byte, as it is when decoded; nothing is kept of a call that is refused."""
    client = server.client()
    path, inside = begin(client)
    for name, encode in (("content", lambda size: "x" * size),
                         ("content_base64", lambda size: base64.b64encode(b"y" * size).decode())):
        files = lambda size, name=name, encode=encode: [{"name": "small", "content": "s"}, {"name": "big", name: encode(size)}]
        refused = use(inside, path, "verify", f"{name} 1025", expect=413, files=files(1025))
        check.equal(refused["code"], "file_too_large")
        check.equal(use(inside, path, "verify", f"{name} 1024", files=files(1024))["success"], True)
    check.equal(len(events(client, path, "tool.verify")), 2)


@test(on=["sqlite"])
def a_call_cut_by_a_crash_is_ambiguous(server):
    """A call that ran when the server died is never silently repeated."""
    client = server.client()
    path, inside = begin(client)
    use(inside, path, "verify", files=[{"name": "a", "content": "b"}])
    server.stop()
    with sqlite3.connect(os.path.join(server.data_directory(), "sojourn.db")) as database:
        database.execute("UPDATE tool_calls SET state = 0, result = NULL, ended_at_ms = 0")
    server.start()
    inside, client = server.client().with_token(inside.token), server.client()
    for _ in range(2):
        check.equal(use(inside, path, "verify", expect=409, files=[{"name": "a", "content": "b"}])["code"], "ambiguous")
    check.equal(len(events(client, path, "tool.verify")), 1)
    use(inside, path, "verify", "c2", files=[{"name": "a", "content": "b"}])


@test
def who_may(server):
    """The sandbox of the session and its owner; others see nothing."""
    client = server.client()
    path, inside = begin(client)
    other, _ = begin(client)
    unknown = use(inside, path, "dance", expect=404)
    check.equal(unknown["code"], "unknown_tool")
    check.contains(unknown["detail"], "save_snapshot")
    use(inside, other, "session_status", expect=404)
    use(client, path, "session_status", "by-owner")
    use(people.person(client, "stranger").client, path, "session_status", expect=404)
    friend = people.person(client, "friend")
    client.post(path + "/participants", {"user_id": friend.id}, expect=201)
    check.equal(use(friend.client, path, "session_status", expect=403)["code"], "sandbox_token_required")
    use(inside, path, "session_status", "", expect=400)
    use(inside, path, "set_title", expect=400, titel="x")
    anew = client.with_token(client.post(path + "/sandbox-token", {}, expect=201).json()["token"])
    use(inside, path, "session_status", expect=401)
    use(anew, path, "session_status")
    client.post(path + "/stop", {}, expect=200)
    use(anew, path, "session_status", "late", expect=404)
    anew.get(path, expect=404)


@test
def code_in_a_sandbox_does_not_steer(server):
    """It neither speaks to its own agent, nor touches what people queued, nor stops it."""
    client = server.client()
    path = talk.talk(client)
    talk.send(client, path, "first")
    talk.claim(client)
    queued = talk.send(client, path, "second")
    inside = client.with_token(client.post(path + "/sandbox-token", {}, expect=201).json()["token"])
    one = f"/queue/{queued['prompt_id']}"
    for method, target, body in (("POST", "/messages", {"text": "x"}), ("POST", "/messages?append=true", {"text": "x"}),
                                 ("POST", "/clear-queue", {}), ("DELETE", one, None), ("PATCH", one, {"text": "x"}),
                                 ("POST", one + "/move", {"position": 1}), ("POST", one + "/promote", {"steer": True}),
                                 ("POST", "/interrupt", {}), ("POST", "/pause", {}), ("POST", "/hibernate", {})):
        check.problem(inside.request(method, path + target, body), 403, "person_required")
    check.equal(talk.waiting(client, path), ["second"])


@test
def a_snapshot_is_saved(server):
    """Of the live sandbox, once per call; the session knows it and can be restored from it. Without a sandbox it is refused."""
    client = server.client()
    client.post("/api/agents", {"id": "boxed", "driver": "demo", "sandbox": {"kind": "local"}}, expect=201)
    path = people.session(client, agent="boxed", prompt="echo one")
    check.eventually(lambda: client.get(path).json()["turn_count"] == 1, "the turn is over", 30)
    inside = client.with_token(client.post(path + "/sandbox-token", {}, expect=201).json()["token"])
    saved = use(inside, path, "save_snapshot", reason="before the risky part")
    check.true(saved["success"], str(saved))
    check.equal(use(inside, path, "save_snapshot", reason="before the risky part"), saved)
    session = client.get(path).json()
    check.equal((session["runtime"], session["details"]["snapshot_id"]), ("running", saved["result"]["snapshot"]))
    check.equal(len(events(client, path, "tool.save_snapshot")), 1)
    path, inside = begin(client)
    check.equal(use(inside, path, "save_snapshot", expect=409)["code"], "no_sandbox")


@test
def gone_with_the_session(server):
    client = server.client()
    path, inside = begin(client)
    use(inside, path, "session_status")
    client.delete(path, expect=204)
    use(inside, path, "session_status", expect=401)
    server.stop()
    server.verify()
    server.start()
    use(server.client(inside.token), path, "session_status", expect=401)


@test
def the_token_ends_with_its_sandbox(server):
    """Asleep, the sandbox is gone, and so is the way in that was given to it: also after it woke, also for streams."""
    client = server.client()
    client.post("/api/agents", {"id": "boxed", "driver": "demo", "sandbox": {"kind": "local"}}, expect=201)
    path = people.session(client, agent="boxed", prompt="echo one")
    check.eventually(lambda: client.get(path).json()["turn_count"] == 1, "the turn is over", 30)
    inside = client.with_token(client.post(path + "/sandbox-token", {}, expect=201).json()["token"])
    use(inside, path, "session_status")
    with inside.stream(path + "/events") as stream:
        stream.until("event")
        client.post(path + "/hibernate", {}, expect=200)
        check.eventually(lambda: client.get(path).json()["runtime"] == "hibernated", "it sleeps", 30)
        stream.until("closed")
    use(inside, path, "session_status", "asleep", expect=401)
    client.post(path + "/wake", {}, expect=200)
    check.eventually(lambda: client.get(path).json()["runtime"] == "running", "it is awake", 30)
    use(inside, path, "session_status", "awake", expect=401)
    inside = client.with_token(client.post(path + "/sandbox-token", {}, expect=201).json()["token"])
    use(inside, path, "session_status", "again")


@test
def the_token_ends_with_its_session(server):
    """However the session ends, what was inside reads and writes nothing afterwards; reopening it gives nothing back."""
    client = server.client()
    path, inside = begin(client)
    use(inside, path, "session_status")
    client.post(path + "/stop", {}, expect=200)
    use(inside, path, "session_status", "after", expect=404)
    inside.get(path, expect=404)
    inside.get(path + "/events", expect=404)
    inside.post(path + "/events", {"events": [{"type": "note.x"}]}, expect=404)
    client.post(path + "/reopen", {}, expect=200)
    use(inside, path, "session_status", "reopened", expect=401)

"""How a session begins: its persona, what its user wishes, its channels and tunnels, a sandbox that is there already."""
from harness import check, people
from harness.suite import test
from harness.talk import events


@test
def personas_are_private_or_shared(server):
    """S3-116: a persona is found by whoever may use it, frozen into the session, and nobody learns of others' own."""
    owner = server.client()
    anna, bert = people.person(owner, "anna"), people.person(owner, "bert")
    own = anna.client.post("/api/personas", {"id": "poet", "name": "Poet", "prompt": "Speak in rhymes."}, expect=201)
    check.contains(own.json(), {"visibility": "private", "owner_id": anna.id})
    shared = {"id": "judge", "name": "Judge", "prompt": "Be fair.", "visibility": "shared"}
    anna.client.post("/api/personas", shared, expect=201)

    def ids(client):
        return [persona["id"] for persona in client.get("/api/personas", expect=200).json()["personas"]]
    check.equal((ids(anna.client), ids(bert.client)), (["judge", "poet"], ["judge"]))
    body = {"type": "agent", "agent": "demo", "persona": "poet"}
    for missing in ("poet", "nobody"):
        check.problem(bert.client.get(f"/api/personas/{missing}"), 404, "persona_not_found")
        check.problem(bert.client.post("/api/sessions", {**body, "persona": missing}), 404, "persona_not_found")
        check.problem(bert.client.delete(f"/api/personas/{missing}"), 404, "persona_not_found")
    check.problem(bert.client.post("/api/personas", {**shared, "id": "poet"}), 409, "id_taken")
    check.problem(bert.client.patch("/api/personas/judge", {"name": "Mine"}), 403, "owner_required")
    check.equal(bert.client.get("/api/sessions").json()["sessions"], [])

    made = anna.client.post("/api/sessions", body, expect=201).json()
    frozen = {"id": "poet", "name": "Poet", "prompt": "Speak in rhymes."}
    check.equal((made["details"]["persona_id"], made["details"]["persona"]), ("poet", frozen))
    anna.client.patch("/api/personas/poet", {"prompt": "Speak plainly."}, expect=200)
    anna.client.delete("/api/personas/poet", expect=204)
    path = f"/api/sessions/{made['id']}"
    check.equal(anna.client.get(path).json()["details"]["persona"], frozen)
    check.problem(anna.client.patch(path, {"details": {"persona": {"prompt": "x"}}}), 400, "served_detail")
    bert.client.post("/api/sessions", {**body, "persona": "judge"}, expect=201)
    people.person(owner, "carl", "admin").client.delete("/api/personas/judge", expect=204)
    check.equal(ids(bert.client), [])


@test(options=["--personas-per-user-max", "2"])
def personas_have_limits(server):
    client = server.client()
    for name in ("a", "b"):
        client.post("/api/personas", {"name": name, "prompt": "p"}, expect=201)
    check.problem(client.post("/api/personas", {"name": "c", "prompt": "p"}), 429, "too_many_personas")
    page = client.get("/api/personas?limit=1", expect=200).json()
    check.equal((len(page["personas"]), page["has_more"]), (1, True))
    rest = client.get(f"/api/personas?limit=5&after={page['next_cursor']}", expect=200).json()
    check.equal((len(rest["personas"]), rest["has_more"]), (1, False))


@test
def wishes_of_a_user(server):
    """S3-120: 900 s and followup unless he says otherwise; the request and the agent count more than his wish."""
    owner = server.client()
    anna = people.person(owner, "anna").client
    told = anna.get("/api/me/preferences", expect=200).json()
    check.equal(told, {"idle_timeout_ms": 900000, "queue_mode": "followup", "set": []})

    def begun(client, **body):
        made = client.post("/api/sessions", {"type": "agent", **body}, expect=201).json()
        return made["queue_mode"], made["details"]["idle_timeout_ms"]
    check.equal(begun(anna, agent="demo"), ("followup", None))
    anna.patch("/api/me/preferences", {"queue_mode": "steer"}, expect=200)
    told = anna.patch("/api/me/preferences", {"idle_timeout_ms": 60000}, expect=200).json()
    check.equal(told, {"idle_timeout_ms": 60000, "queue_mode": "steer", "set": ["idle_timeout_ms", "queue_mode"]})
    check.equal(anna.get("/api/me/preferences").json(), told)
    check.equal(begun(anna, agent="demo"), ("steer", 60000))
    check.equal(begun(anna, agent="demo", queue_mode="collect", idle_timeout_ms=5000), ("collect", 5000))
    owner.post("/api/agents", {"id": "firm", "driver": "demo", "queue_mode": "reject", "idle_timeout_ms": 7000},
               expect=201)
    check.equal(begun(anna, agent="firm"), ("reject", None))
    check.equal(begun(owner, agent="demo"), ("followup", None))
    for wrong in ({"idle_timeout_ms": 1}, {"idle_timeout_ms": "x"}, {"queue_mode": "later"}, {"colour": "red"}):
        check.one_of(anna.patch("/api/me/preferences", wrong).status, (400, 422), str(wrong))
    worker = people.token(owner, kind="worker")
    check.problem(worker.get("/api/me/preferences"), 403, "user_required")


@test
def the_answer_to_a_creation(server):
    """S3-113, S3-123: the session, where its stream is, and once the token for its runner."""
    client = server.client()
    client.post("/api/agents", {"id": "remote", "driver": "runner"}, expect=201)
    made = client.post("/api/sessions", {"type": "agent", "agent": "remote"}, expect=201).json()
    check.true(made["ws_url"].startswith("ws://") and made["ws_url"].endswith(f"/api/sessions/{made['id']}/ws"),
               "the address of the stream")
    runner = client.with_token(made["runner_token"])
    check.contains(runner.get("/api/me").json(), {"kind": "runner", "session_id": made["id"]})
    check.equal(runner.get(f"/api/sessions/{made['id']}").status, 200)
    path = made["ws_url"].split("/", 3)[3]
    with runner.websocket("/" + path + "?role=runner") as socket:
        check.equal(socket.next_json()["type"], "init")
    opened = client.post("/api/sessions", {"type": "agent", "agent": "remote", "id": made["id"]}, expect=200).json()
    check.true("runner_token" not in opened, "a session that is opened again tells no token")
    key = {"Idempotency-Key": "once"}
    kept = client.post("/api/sessions", {"type": "agent", "agent": "remote"}, headers=key, expect=201)
    check.true("runner_token" not in kept.json(), "an answer that is kept holds no secret")
    again = client.post("/api/sessions", {"type": "agent", "agent": "remote"}, headers=key, expect=201)
    check.equal(again.body, kept.body)
    check.true("runner_token" not in client.post("/api/sessions", {"type": "agent", "agent": "demo"}).json(),
               "an agent of the server needs none")


@test(options=["--public-url", "https://sessions.example.test/"])
def the_stream_is_where_the_server_says(server):
    made = server.client().post("/api/sessions", {"type": "agent"}, expect=201).json()
    check.equal(made["ws_url"], f"wss://sessions.example.test/api/sessions/{made['id']}/ws")


@test
def a_sandbox_that_is_there_already(server):
    """S3-121: a session that is begun with a sandbox is running at once, with its tunnels; it stops with its end."""
    client = server.client()
    given = {"id": "box-7", "tunnel_urls": {"preview": "https://box-7.example.test/"}}
    client.post("/api/agents", {"id": "remote", "driver": "runner"}, expect=201)
    made = client.post("/api/sessions", {"type": "agent", "agent": "remote", "sandbox": given}, expect=201).json()
    check.equal((made["runtime"], made["details"]["sandbox_id"]), ("running", "box-7"))
    check.equal(made["details"]["tunnel_urls"], given["tunnel_urls"])
    path = f"/api/sessions/{made['id']}"
    server.restart()
    client = server.client()
    check.equal(client.get(path).json()["runtime"], "running")
    client.post(path + "/stop", {}, expect=200)
    check.eventually(lambda: client.get(path).json()["runtime"] == "stopped", "it stopped")
    session = client.get(path).json()
    check.equal((session["details"]["sandbox_id"], session["details"]["tunnel_urls"]), (None, {}))
    check.equal([event["metadata"]["to"] for event in events(client, path, "session.runtime_change")],
                ["running", "stopped"])


@test
def whose_sandbox_may_be_given(server):
    """S3-121: nobody hands the server a sandbox of others to act upon, or one of this machine."""
    owner = server.client()
    owner.post("/api/agents", {"id": "boxed", "driver": "demo", "sandbox": {"kind": "local"}}, expect=201)
    http = {"kind": "http", "url": "http://127.0.0.1:1"}
    owner.post("/api/agents", {"id": "far", "driver": "demo", "sandbox": http}, expect=201)
    anna = people.person(owner, "anna").client
    body = {"type": "agent", "agent": "boxed", "sandbox": {"id": "x"}}
    check.problem(owner.post("/api/sessions", body), 400, "sandbox_is_local")
    check.problem(anna.post("/api/sessions", {**body, "agent": "far"}), 403, "role_required")
    check.equal(owner.post("/api/sessions", {**body, "agent": "far"}, expect=201).json()["runtime"], "running")
    for wrong in ({}, {"id": ""}, {"id": "a b"}, {"id": "x", "tunnel_urls": []},
                  {"id": "x", "tunnel_urls": {"a/b": "https://h"}}, {"id": "x", "tunnel_urls": {"a": "ftp://h"}},
                  {"id": "x", "tunnel_urls": {"a": "https://user@h"}}, {"id": "x", "tunnel_urls": {"a": 5}}):
        check.one_of(owner.post("/api/sessions", {"type": "agent", "sandbox": wrong}).status, (400, 422), str(wrong))
    check.problem(owner.post("/api/sessions", {"type": "agent", "agent": "demo", "start": True}), 400, "no_sandbox")


@test
def a_sandbox_that_is_made_at_once(server):
    """S3-121, S3-124: it runs without any message; when it cannot be made, the log says why, for people too."""
    client = server.client()
    client.post("/api/agents", {"id": "boxed", "driver": "demo", "sandbox": {"kind": "local"}}, expect=201)
    broken = {"kind": "local", "repository": "/nowhere/at/all"}
    client.post("/api/agents", {"id": "broken", "driver": "demo", "sandbox": broken}, expect=201)
    path = people.session(client, agent="boxed", start=True)
    check.eventually(lambda: client.get(path).json()["runtime"] == "running", "it runs", 30)
    check.equal(client.get(path).json()["turn_count"], 0)
    path = people.session(client, agent="broken", start=True)
    check.eventually(lambda: client.get(path).json()["runtime"] == "error", "it is in error", 30)
    [said] = client.get(path + "/messages?roles=system", expect=200).json()["messages"]
    check.contains(said["content"], "could not be started")
    check.contains(said["content"], "/nowhere/at/all")
    [event] = events(client, path, "system.message")
    check.true(event["metadata"]["code"], "and a code")


@test
def every_conversation_is_on_the_web(server):
    """S3-122: a session is bound to the web when it begins; other channels are bound by hand or by their messages."""
    client = server.client()
    path = people.session(client, agent="a")
    [web] = client.get(path + "/channels", expect=200).json()["channels"]
    check.contains(web, {"id": "web", "kind": "web", "address": None, "followup_ms": 0, "waiting": False})
    bound = client.post(path + "/channels", {"kind": "slack", "address": "C1"}, expect=201).json()
    check.contains(bound, {"id": "slack:C1", "followup_ms": 300000})
    client.post(path + "/channels", {"kind": "slack", "address": "C1", "followup_ms": 9000}, expect=201)
    told = {"channel_type": "telegram", "channel_id": "42"}
    client.post(path + "/messages", {"text": "hello", "metadata": told}, expect=202)
    all_of_them = {one["id"]: one for one in client.get(path + "/channels").json()["channels"]}
    check.equal(sorted(all_of_them), ["slack:C1", "telegram:42", "web"])
    check.equal((all_of_them["slack:C1"]["followup_ms"], all_of_them["telegram:42"]["waiting"]), (9000, True))
    client.delete(path + "/channels/slack:C1", expect=204)
    check.problem(client.delete(path + "/channels/slack:C1"), 404, "channel_not_found")
    check.equal([event["metadata"]["channel_id"] for event in events(client, path, "channel.*")],
                ["slack:C1", "telegram:42", "slack:C1"])
    check.equal(people.person(client, "stranger").client.get(path + "/channels").status, 404)
    check.problem(client.post(path + "/events", {"events": [{"type": "channel.bound"}]}), 403, "reserved_event_type")


@test(options=["--channels-max", "2"])
def channels_have_limits(server):
    client = server.client()
    path = people.session(client, agent="a")
    client.post(path + "/channels", {"kind": "slack", "address": "C1"}, expect=201)
    check.problem(client.post(path + "/channels", {"kind": "slack", "address": "C2"}), 429, "too_many_channels")
    for wrong in ({"kind": "a:b"}, {"kind": "a b"}, {"kind": ""}, {}):
        check.one_of(client.post(path + "/channels", wrong).status, (400, 422), str(wrong))


@test
def a_message_nobody_answered(server):
    """S3-136: it is remembered once, after the time of its channel, also when the server was away; an answer ends it."""
    client = server.client()
    path = people.session(client, agent="a")
    answered = people.session(client, agent="b")
    sent = {path: {"sender": {"channel": "slack", "channel_id": "C1"}},  # either way names the channel
            answered: {"metadata": {"channel_type": "slack", "channel_id": "C1"}}}
    answer = {"type": "agent.message", "content": [{"type": "text", "text": "hi"}]}
    for one in (path, answered):
        client.post(one + "/events", {"events": [answer]}, expect=201)  # what was said before answers nothing
        client.post(one + "/channels", {"kind": "slack", "address": "C1", "followup_ms": 1500}, expect=201)
        client.post(one + "/messages", {"text": "hello", **sent[one]}, expect=202)
    [said] = events(client, path, "user.message")
    client.post(answered + "/events", {"events": [answer]}, expect=201)
    server.kill()
    server.start()
    client = server.client()
    check.eventually(lambda: events(client, path, "channel.followup_due"), "it is remembered", 30)
    [due] = events(client, path, "channel.followup_due")
    check.equal(due["metadata"]["channel_id"], "slack:C1")
    check.true(said["sequence"] <= due["metadata"]["sequence"] < due["sequence"], "it names the place in the log")

    def waits(one):
        return [channel["waiting"] for channel in client.get(one + "/channels").json()["channels"]]
    check.eventually(lambda: True not in waits(answered), "the answered one is settled", 30)
    check.equal(events(client, answered, "channel.followup_due"), [])
    check.equal((True in waits(path), len(events(client, path, "channel.followup_due"))), (False, 1))


@test
def words_of_the_system(server):
    """S3-075: they stand in the log and among the messages and trigger nothing, unless asked to."""
    client = server.client()
    path = people.session(client, agent="demo")
    said = client.post(path + "/system-messages", {"text": "The build is red."}, expect=201).json()
    session = client.get(path).json()
    check.equal((session["status"], session["last_sequence"]), ("idle", said["sequence"]))
    [message] = client.get(path + "/messages?roles=system", expect=200).json()["messages"]
    check.contains(message, {"role": "system", "content": "The build is red.", "sequence": said["sequence"]})
    check.equal(client.get(path + "/queue").json()["prompts"], [])
    told = client.post(path + "/system-messages", {"text": "echo Go on.", "trigger": True}, expect=201).json()
    check.true(told["prompt_id"], "it is a prompt too")
    check.eventually(lambda: client.get(path).json()["turn_count"] == 1, "a turn ran", 30)
    check.equal([event["metadata"].get("system") for event in events(client, path, "user.message")], [True])
    anna = people.person(client, "anna")
    client.post(path + "/participants", {"user_id": anna.id, "role": "collaborator"}, expect=201)
    check.equal(anna.client.post(path + "/system-messages", {"text": "x"}).status, 403)
    for wrong in ({}, {"text": 5}, {"content": []}, {"text": "a", "content": [{"type": "text", "text": "b"}]}):
        check.one_of(client.post(path + "/system-messages", wrong).status, (400, 422), str(wrong))


@test
def tunnels_are_opened_and_closed(server):
    """S3-077: by the owner and whoever runs the session; closed by collaborators; seen by viewers."""
    client = server.client()
    client.post("/api/agents", {"id": "remote", "driver": "runner"}, expect=201)
    made = client.post("/api/sessions", {"type": "agent", "agent": "remote"}, expect=201).json()
    path, runner = f"/api/sessions/{made['id']}", client.with_token(made["runner_token"])
    opened = runner.post(path + "/tunnels", {"name": "web", "url": "https://a.example.test/x"}, expect=201).json()
    check.equal(opened, {"name": "web", "url": "https://a.example.test/x", "port": None, "proxy": path + "/proxy/web/"})
    client.post(path + "/tunnels", {"name": "dev", "port": 3000}, expect=201)
    client.post(path + "/tunnels", {"name": "dev", "port": 3000}, expect=200)
    client.post(path + "/tunnels", {"name": "dev", "port": 3001}, expect=200)
    seen = client.get(path + "/tunnels", expect=200).json()["tunnels"]
    check.equal([(one["name"], one["url"], one["port"]) for one in seen],
                [("web", "https://a.example.test/x", None), ("dev", None, 3001)])
    anna, bert = people.person(client, "anna"), people.person(client, "bert")
    client.post(path + "/participants", {"user_id": anna.id, "role": "collaborator"}, expect=201)
    client.post(path + "/participants", {"user_id": bert.id, "role": "viewer"}, expect=201)
    check.problem(anna.client.post(path + "/tunnels", {"name": "x", "port": 1}), 403, "insufficient_role")
    check.equal(len(bert.client.get(path + "/tunnels", expect=200).json()["tunnels"]), 2)
    check.equal(bert.client.delete(path + "/tunnels/web").status, 403)
    anna.client.delete(path + "/tunnels/web", expect=204)
    check.problem(anna.client.delete(path + "/tunnels/web"), 404, "tunnel_not_found")
    names = [event["type"] for event in events(client, path) if event["type"].startswith("session.tunnel")]
    check.equal(names, ["session.tunnel_opened"] * 3 + ["session.tunnel_closed"])
    for wrong in ({"name": "x"}, {"name": "x", "port": 1, "url": "https://h"}, {"name": "a/b", "port": 1},
                  {"name": "x", "port": 0}, {"name": "x", "url": "local:80"}, {"name": "x", "url": "file:///etc"},
                  {"name": "x", "url": "https://u:p@h/"}, {"name": "..", "port": 5}):
        check.one_of(client.post(path + "/tunnels", wrong).status, (400, 422), str(wrong))
    client.post(path + "/stop", {}, expect=200)
    check.problem(client.post(path + "/tunnels", {"name": "x", "port": 1}), 409, "session_ended")

"""How sessions begin and how work goes its way: what is checked first, what is made, what every failure tells."""
from harness import check, people
from harness.suite import test
from harness.talk import events

WRONG = {
    "no object": [],
    "unknown type": {"type": "robot"},
    "unknown member": {"type": "agent", "colour": "red"},
    "id with a space": {"type": "agent", "id": "a b"},
    "title that is a number": {"type": "agent", "title": 7},
    "metadata that is a list": {"type": "agent", "metadata": []},
    "metadata with a list inside": {"type": "agent", "metadata": {"a": []}},
    "unknown queue mode": {"type": "agent", "queue_mode": "later"},
    "unknown visibility": {"type": "agent", "visibility": "everybody"},
    "context with an unknown key": {"type": "agent", "details": {"context": {"nowhere": 1}}},
}


def claim(client, agent, **body):
    [got] = client.post("/api/claims", {"worker": "w", "agents": [agent], **body}, expect=200).json()["claims"]
    return {"Sojourn-Lease": got["lease"]["token"]}


@test
def wrong_input_fails_at_once(server):
    """S4-068: nothing is made of a request that is wrong anywhere, and the answer says what is."""
    client = server.client()
    for what, body in WRONG.items():
        answer = client.post("/api/sessions", body)
        check.one_of(answer.status, (400, 422), what)
        check.true(answer.json()["code"] and answer.json()["detail"], what)
    check.equal(client.get("/api/sessions").json()["sessions"], [])
    path = people.session(client, agent="demo")
    last = client.get(path).json()["last_sequence"]
    for body in ({}, {"text": 5}, {"text": "x", "mode": "whenever"}, {"text": "x", "colour": "red"}):
        check.one_of(client.post(path + "/messages", body).status, (400, 422), str(body))
    check.equal(client.get(path).json()["last_sequence"], last)


@test
def an_id_a_token_and_an_owner(server):
    """S3-113, S3-114, S3-117: a new session has an id, an owner who exists, initial words, and a token for its runner."""
    client = server.client()
    client.post("/api/agents", {"id": "remote", "driver": "runner"}, expect=201)
    made = client.post("/api/sessions", {"type": "agent", "agent": "remote", "prompt": "go"}, expect=201).json()
    again = client.post("/api/sessions", {"type": "agent", "agent": "remote"}, expect=201).json()
    check.true(made["id"] != again["id"], "every id is new")
    check.equal(made["words"]["live_status"], "initializing")
    check.contains([user["id"] for user in client.get("/api/users").json()["users"]], made["owner_id"])
    token = client.post(f"/api/sessions/{made['id']}/runner-token", {}, expect=201).json()
    check.contains(token, {"kind": "runner", "session_id": made["id"]})
    check.true(len(token["token"]) >= 32, "it cannot be guessed")
    older, newer = (client.with_token(one["token"]) for one in (
        token, client.post(f"/api/sessions/{made['id']}/runner-token", {}, expect=201).json()))
    newer.get(f"/api/sessions/{made['id']}", expect=200)
    check.problem(older.get(f"/api/sessions/{made['id']}"), 401, "unauthenticated")


@test
def the_usual_path_of_work(server):
    """S0-056: draft, pending, running, then completed or failed; each step is in the log."""
    client = server.client()
    for end in ("completed", "failed"):
        path = people.session(client, agent="crew", status="draft")
        client.post(path + "/status", {"status": "pending"}, expect=200)
        held = claim(client, "crew")
        client.post(path + "/settle", {"status": end}, headers=held, expect=200)
        moves = [event["metadata"]["to"] for event in events(client, path, "session.status_change")]
        check.equal(moves, ["pending", "running", end])


@test(options=["--lease-ms-min", "100", "--claim-attempts-max", "1"])
def every_failure_tells(server):
    """S0-049: however work fails, exactly one session.error says why."""
    client = server.client()

    def settled(path):
        client.post(path + "/settle", {"status": "failed", "error": {"code": "boom", "message": "It broke."}},
                    headers=claim(client, "crew"), expect=200)

    def moved(path):
        claim(client, "crew")
        client.post(path + "/status", {"status": "failed", "reason": "no use"}, expect=200)

    def lost(_):
        claim(client, "crew", lease_ms=100)
    for fails, code in ((settled, "boom"), (moved, "user"), (lost, "attempts_exhausted")):
        path = people.session(client, agent="crew", status="pending")
        fails(path)
        check.eventually(lambda: client.get(path).json()["status"] == "failed", f"{code}: it failed", 30)
        [error] = events(client, path, "session.error")
        check.equal(error["metadata"]["code"], code)
        check.true(error["metadata"]["message"], "in words")


@test
def only_what_waits_is_resumed(server):
    """S0-142: a tool's answer goes on with the turn that asked for it, once; nothing else is resumed."""
    client = server.client()
    path = people.session(client, agent="demo")
    check.problem(client.post(path + "/resume", {}), 409, "nothing_to_resume")
    client.post(path + "/messages", {"text": "Show me around"}, expect=202)
    check.eventually(lambda: client.get(path + "/asks?state=pending").json()["asks"], "it asks", 30)
    check.problem(client.post(path + "/resume", {}), 409, "nothing_to_resume")
    [ask] = client.get(path + "/asks?state=pending").json()["asks"]
    check.equal(client.get(path).json()["status"], "awaiting_tool")
    client.post(f"{path}/asks/{ask['id']}/answer", {"decision": "deny"}, expect=200)
    check.equal(client.post(f"{path}/asks/{ask['id']}/answer", {"decision": "once"}).status, 409)
    client.post(path + "/stop", {}, expect=200)
    check.problem(client.post(path + "/resume", {}), 409, "nothing_to_resume")

"""Interrupt, stop, pause, hibernate, archive, delete: each does its own thing, once, and leaves that of the others alone."""
import itertools

from harness import check, people
from harness.suite import test

VERBS = ("interrupt", "stop", "pause", "hibernate", "archive", "delete")


def events(client, path, types):
    return client.get(f"{path}/events?limit=1000&types={types}", expect=200).json()["events"]


def status(client, path):
    return client.get(path, expect=200).json()["status"]


def send(client, path, text, **body):
    return client.post(path + "/messages", {"text": text, **body}, expect=202).json()


def wait_turns(client, path, count):
    check.eventually(lambda: client.get(path).json()["turn_count"] == count, f"{count} turns are over", 30)


def do(client, path, verb):
    return client.delete(path) if verb == "delete" else client.post(f"{path}/{verb}", {})


def facts(client, path):
    """What each verb is about, seen from outside; None when there is no such session."""
    answer = client.get(path)
    if answer.status == 404:
        return None
    session = answer.json()
    return {
        "interrupt": bool(events(client, path, "turn.interrupt_requested")),
        "stop": session["stop_reason"] == "user",
        "pause": session["pause_reason"] == "manual",
        "hibernate": session["runtime"] in ("hibernating", "hibernated"),
        "archive": session["archived_at"] is not None,
    }


def at_rest(client, count):
    """Sessions that had a turn and have a sandbox which is awake."""
    client.post("/api/agents", {"id": "boxed", "driver": "demo", "sandbox": {"kind": "local"}}, expect=201)
    paths = [people.session(client, agent="boxed", prompt="echo one") for _ in range(count)]
    for path in paths:
        check.eventually(lambda: client.get(path).json()["runtime"] == "running" and status(client, path) == "idle",
                         "the turn is over", 60)
    return paths


def in_a_turn(client):
    """A hosted session that waits for an approval in the middle of its turn."""
    path = people.session(client, agent="demo", prompt="Show me around")
    check.eventually(lambda: client.get(path + "/asks?state=pending").json()["asks"], "it asks", 30)
    return path


# The second verb is refused only where there is nothing left that it could be about.
REFUSED = {("stop", "pause"): "session_ended", ("stop", "hibernate"): "session_ended"}


def expected(first, second):
    """The end takes the pause and the sandbox with it; at rest there is no turn to interrupt."""
    if "delete" in (first, second):
        return None
    done = {first, second} - {"interrupt"}
    if (first, second) in REFUSED:
        done -= {second}
    if "stop" in done:
        done -= {"pause", "hibernate"}
    return {verb: verb in done for verb in VERBS[:-1]}


def check_pair(client, path, first, second):
    what = f"{first}, then {second}"
    check.true(do(client, path, first).status in (200, 202, 204), f"{first} is accepted")
    answer = do(client, path, second)
    if first == "delete":
        check.equal(answer.status, 404, what)
    elif (first, second) in REFUSED:
        check.problem(answer, 409, REFUSED[first, second])
    else:
        check.true(answer.status in (200, 202, 204), f"{what}: {answer.status} {answer.body}")
    if "stop" in (first, second):  # the sandbox goes after the end
        check.eventually(lambda: not (facts(client, path) or {}).get("hibernate"), f"{what}: no sandbox is left", 30)
    check.equal(facts(client, path), expected(first, second), what)


@test(options=["--sessions-per-user-max", "100"], timeout_s=120)
def no_verb_does_what_another_does(server):
    """X-05: every verb after every other, on a session at rest with its sandbox awake."""
    client = server.client()
    pairs = list(itertools.permutations(VERBS, 2))
    for path, (first, second) in zip(at_rest(client, len(pairs)), pairs):
        check_pair(client, path, first, second)


@test
def twice_is_once(server):
    """X-05: the second time nothing is written, and the answer says so where it says anything."""
    client = server.client()
    for path, verb in zip(at_rest(client, len(VERBS)), VERBS):
        do(client, path, verb)
        before = facts(client, path)
        told = len(events(client, path, "session.status_change,session.archived,turn.*")) if before else 0
        again = do(client, path, verb)
        check.equal(again.status, 404 if verb == "delete" else again.status, verb)
        check.equal(facts(client, path), before, verb)
        if before:
            check.equal(len(events(client, path, "session.status_change,session.archived,turn.*")), told, verb)
        if verb in ("stop", "pause", "hibernate"):
            check.equal(again.json()["changed"], False, verb)


@test(options=["--demo-pace-percent", "5"])
def in_a_turn_every_verb_keeps_to_itself(server):
    """X-05: pause and archive leave the turn alone, hibernate and delete are refused, interrupt ends the turn and stop all."""
    client = server.client()
    after = {"pause": "awaiting_tool", "archive": "awaiting_tool", "hibernate": "awaiting_tool",
             "delete": "awaiting_tool", "interrupt": "idle", "stop": "abandoned"}
    for verb, state in after.items():
        path = in_a_turn(client)
        refused = do(client, path, verb).status == 409
        check.equal(refused, verb in ("hibernate", "delete"), verb)
        check.eventually(lambda: status(client, path) == state, f"{verb} leaves it {state}", 30)
        client.post(path + "/stop", {}, expect=200)


@test(options=["--demo-pace-percent", "5"])
def a_paused_session_starts_no_turn(server):
    """S1-024, S1-034: messages are accepted and wait in their order; unpaused, the first starts its turn at once."""
    client = server.client()
    path = people.session(client, agent="demo", prompt="echo one")
    wait_turns(client, path, 1)
    got = client.post(path + "/pause", {"reason": "let me look"}, expect=200).json()
    check.contains(got, {"changed": True, "pause_reason": "manual", "status": "idle"})
    session = client.get(path).json()
    check.contains(session, {"display_status": "paused", "display_reason": "paused by a person",
                             "status_reason": "let me look"})
    check.true(session["paused_at"], "it says since when")
    explained = client.get(path + "/explain", expect=200).json()
    check.equal((explained["waits_for"], explained["unblocked_by"][0]["how"]), ("person", f"POST {path}/unpause"))
    modes = ("followup", "steer", "collect")
    receipts = [send(client, path, f"echo {mode}", mode=mode) for mode in modes]
    check.equal([receipt["status"] for receipt in receipts], ["queued"] * 3)
    check.problem(client.post(path + "/messages", {"text": "now", "mode": "reject"}), 409, "busy")
    client.post("/api/claims", {"worker": "w"}, expect=200)
    other = people.session(client, agent="demo", prompt="echo other")
    wait_turns(client, other, 1)  # the host was there, and left the paused one
    check.contains(client.get(path).json(), {"status": "idle", "turn_count": 1})
    got = client.post(path + "/unpause", {}, expect=200).json()
    check.contains(got, {"changed": True, "pause_reason": None, "status": "pending"})
    check.contains(client.post(path + "/unpause", {}, expect=200).json(), {"changed": False})
    wait_turns(client, path, 4)
    said = [event["content"][0]["text"] for event in events(client, path, "user.message")]
    check.equal(said, ["echo one", "echo steer", "echo followup", "echo collect"])


@test
def what_is_promoted_waits_too(server):
    client = server.client()
    path = people.session(client, agent="demo", prompt="echo one")
    wait_turns(client, path, 1)
    client.post(path + "/pause", expect=200)
    [first, second] = [send(client, path, f"echo {text}") for text in ("two", "three")]
    client.post(f"{path}/queue/{second['prompt_id']}/promote", {}, expect=200)
    check.equal(status(client, path), "idle")
    waiting = [prompt["prompt_id"] for prompt in client.get(path + "/queue").json()["prompts"]]
    check.equal(waiting, [second["prompt_id"], first["prompt_id"]])


@test
def a_paused_session_is_not_claimed(server):
    """Pending work that is paused is handed to nobody; a worker that waits gets it when the pause ends."""
    client = server.client()
    path = people.session(client, agent="crew", status="pending")
    client.post(path + "/pause", expect=200)
    check.equal(client.post("/api/claims", {"worker": "w", "agents": ["crew"]}, expect=200).json()["claims"], [])
    server.restart()
    client = server.client()
    check.contains(client.get(path).json(), {"status": "pending", "pause_reason": "manual", "display_status": "paused"})
    check.equal(client.post("/api/claims", {"worker": "w", "agents": ["crew"]}, expect=200).json()["claims"], [])
    client.post(path + "/unpause", expect=200)
    [got] = client.post("/api/claims", {"worker": "w", "agents": ["crew"]}, expect=200).json()["claims"]
    check.equal(f"/api/sessions/{got['session']['id']}", path)


@test
def a_paused_turn_ends_and_the_next_waits(server):
    """The running turn is not aborted: it is answered and ends; what waits behind it begins after the pause."""
    client = server.client()
    path = in_a_turn(client)
    send(client, path, "echo later")
    client.post(path + "/pause", expect=200)
    check.equal(events(client, path, "turn.interrupt_requested"), [])

    def answered():
        for ask in client.get(path + "/asks?state=pending").json()["asks"]:
            answer = {"decision": "once"} if ask["kind"] == "approval" else {"answer": ask["options"][0]}
            client.post(f"{path}/asks/{ask['id']}/answer", answer)
        return status(client, path) == "idle"
    check.eventually(answered, "the turn is over", 60)
    [end] = events(client, path, "turn.ended")
    check.equal(end["metadata"]["stop_reason"], "stop")
    check.equal(len(client.get(path + "/queue").json()["prompts"]), 1)
    client.post(path + "/unpause", expect=200)
    wait_turns(client, path, 2)


@test
def a_pause_outlives_sleep_and_waking(server):
    """Hibernating and waking a paused session leaves it paused; ending the pause does not wake it."""
    client = server.client()
    [path] = at_rest(client, 1)
    client.post(path + "/pause", expect=200)
    for verb, state in (("hibernate", "hibernated"), ("wake", "running"), ("hibernate", "hibernated")):
        client.post(f"{path}/{verb}", expect=200)
        check.eventually(lambda: client.get(path).json()["runtime"] == state, f"it is {state}", 30)
        check.equal(client.get(path).json()["pause_reason"], "manual", verb)
    client.post(path + "/unpause", expect=200)
    check.contains(client.get(path).json(), {"runtime": "hibernated", "pause_reason": "inactivity",
                                             "display_status": "idle"})


@test
def who_may_pause(server):
    """Collaborators pause; viewers are refused and strangers learn nothing."""
    client = server.client()
    path = people.session(client)
    helper, viewer = people.person(client, "pauser"), people.person(client, "onlooker")
    stranger = people.person(client, "stranger").client
    client.post(path + "/participants", {"user_id": helper.id, "role": "collaborator"}, expect=201)
    client.post(path + "/participants", {"user_id": viewer.id, "role": "viewer"}, expect=201)
    check.equal(viewer.client.post(path + "/pause").status, 403)
    check.equal(stranger.post(path + "/pause").status, 404)
    check.equal(helper.client.post(path + "/pause", expect=200).json()["changed"], True)
    check.equal(client.post(path + "/pause", expect=200).json()["changed"], False)
    check.equal(viewer.client.post(path + "/unpause").status, 403)
    check.equal(helper.client.post(path + "/unpause", expect=200).json()["changed"], True)
    check.problem(client.post(path + "/pause", {"why": "x"}), 400, "unknown_member")


@test
def what_a_person_stopped_has_not_failed(server):
    """C-10: in the middle of a turn, waiting, or at rest: shown as completed, in no list of failures; real ones are there."""
    client = server.client()
    worker = people.token(client, kind="worker", scopes=["claim"])
    failed = people.session(client, id="failed", agent="w", status="pending")
    lease = worker.post("/api/claims", {"worker": "w1", "agents": ["w"]}, expect=200).json()["claims"][0]["lease"]["token"]
    worker.post(failed + "/settle", {"status": "failed"}, headers={"Sojourn-Lease": lease}, expect=200)
    for status in ("draft", "pending", "idle"):
        path = people.session(client, id=f"stopped-{status}", status=status, agent="x")
        child = people.session(client, id=f"child-of-{status}", parent_id=f"stopped-{status}", status="pending", agent="x")
        client.post(path + "/stop", {}, expect=200)
        for one, words in ((path, "stopped by a person"), (child, "stopped with its parent")):
            check.contains(client.get(one).json(),
                           {"display_status": "completed", "display_reason": words, "failing": False})
    for query, expected in (("group=failing", ["failed"]), ("display_status=failed", ["failed"])):
        got = client.get("/api/sessions?" + query, expect=200).json()["sessions"]
        check.equal([one["id"] for one in got], expected, query)
    done = client.get("/api/sessions?display_status=completed", expect=200).json()["sessions"]
    check.equal(len(done), 6, "the stopped ones are among the completed")


@test
def what_can_be_retried_and_reopened_says_so(server):
    """C-28: the flags of a session are what its commands then do."""
    client = server.client()
    worker = people.token(client, kind="worker", scopes=["claim"])
    for number, (type, end) in enumerate((("agent", "completed"), ("agent", "failed"), ("agent", "expired"),
                                          ("agent", "abandoned"), ("agent", None), ("response", None))):
        started = {"status": "pending", "agent": f"w{number}"} if end else {}
        path = people.session(client, id=f"s{number}", type=type, **started)
        if end:
            body = {"worker": "w", "agents": [f"w{number}"]}
            lease = worker.post("/api/claims", body, expect=200).json()["claims"][0]["lease"]["token"]
            worker.post(path + "/settle", {"status": end}, headers={"Sojourn-Lease": lease}, expect=200)
        shown = client.get(path, expect=200).json()
        check.equal(client.post(path + "/retry", {}).status in (200, 201), shown["retryable"], f"retry {type} {end}")
        if not shown["active"]:
            check.equal(client.post(path + "/reopen", {}).status == 200, shown["reopenable"], f"reopen {type} {end}")

"""GET /api/sessions/{id}/explain: what a session waits for, in every state it can be in."""
import re

from harness import check, people
from harness.model_server import ModelServer
from harness.suite import test


def explain(client, path):
    return client.get(path + "/explain", expect=200).json()


def ways(explained):
    return [one["how"] for one in explained["unblocked_by"] if one["how"]]


def claim(client, path, agent="a"):
    [got] = client.post("/api/claims", {"worker": "w", "agents": [agent]}, expect=200).json()["claims"]
    check.equal(f"/api/sessions/{got['session']['id']}", path)
    return {"Sojourn-Lease": got["lease"]["token"]}


@test
def at_rest(server):
    client = server.client()
    path = people.session(client, ttl_ms=3600000)
    got = explain(client, path)
    check.contains(got, {"status": "idle", "waits_for": "message", "asks": [], "lease": None, "turn": None, "children": [],
                         "last_watchdog": None})
    check.equal(got["since"], client.get(path).json()["created_at"])
    check.contains(got["next_timer"], {"kind": "expiry"})
    check.contains(ways(got), f"POST {path}/messages")
    check.equal(got["queue"], {"length": 0, "first_prompt_id": None, "first_created_at": None})


@test
def drafts_and_ends(server):
    client = server.client()
    draft = people.session(client, status="draft")
    check.equal(explain(client, draft)["waits_for"], "message")
    for status, way in (("completed", "/reopen"), ("failed", "/retry"), ("abandoned", "/reopen")):
        path = people.session(client)
        client.post(path + "/status", {"status": status}, expect=200)
        got = explain(client, path)
        check.contains(got, {"status": status, "waits_for": "nothing", "next_timer": None})
        check.contains(ways(got), f"POST {path}{way}")


@test
def a_claimed_turn(server):
    """Pending, running, told to end, waiting with and without an ask."""
    client = server.client()
    path = people.session(client, agent="a", status="pending")
    got = explain(client, path)
    check.equal(got["waits_for"], "claim")
    check.contains(got["unblocked_by"], {"kind": "worker", "how": "POST /api/claims"})
    held = claim(client, path)
    got = explain(client, path)
    check.contains(got, {"waits_for": "agent"})
    check.contains(got["lease"], {"worker": "w", "fence": 1})
    check.equal(got["turn"]["number"], 1)
    check.equal(got["next_timer"]["kind"], "lease")
    check.contains(got["unblocked_by"], {"kind": "agent", "name": "w", "how": None})
    first = client.post(path + "/messages", {"text": "one"}, expect=202).json()
    client.post(path + "/messages", {"text": "two"}, expect=202)
    check.contains(explain(client, path)["queue"], {"length": 2, "first_prompt_id": first["prompt_id"]})
    client.post(path + "/asks", {"id": "q", "kind": "question", "text": "Which?"}, headers=held, expect=201)
    got = explain(client, path)
    check.contains(got, {"status": "waiting_human", "waits_for": "person"})
    check.equal([ask["id"] for ask in got["asks"]], ["q"])
    check.equal(got["since"], got["asks"][0]["created_at"])
    check.contains(ways(got), f"POST {path}/asks/q/answer")
    client.post(path + "/asks/q/answer", {"answer": "this"}, expect=200)
    client.post(path + "/interrupt", {}, expect=200)
    check.contains(explain(client, path)["detail"], "interrupted")


@test
def parked(server):
    client = server.client()
    for status, kind in (("waiting_human", "person"), ("awaiting_tool", "tool")):
        path = people.session(client, agent="a", status="pending")
        held = claim(client, path)
        client.post(path + "/settle", {"status": status}, headers=held, expect=200)
        check.contains(explain(client, path), {"status": status, "waits_for": kind, "lease": None})


@test
def a_person_runs_it_himself(server):
    client = server.client()
    path = people.session(client, type="mixed", status="running")
    check.contains(explain(client, path), {"status": "running", "waits_for": "agent", "lease": None})


@test
def a_hosted_turn_asks(server):
    client = server.client()
    path = people.session(client, agent="demo", prompt="Show me around")
    check.eventually(lambda: explain(client, path)["asks"], "it asks", 30)
    got = explain(client, path)
    check.contains(got, {"waits_for": "person", "status": "awaiting_tool"})
    check.equal(got["lease"]["worker"], "server")


@test(options=["--turns-max", "1"])
def a_hosted_turn_waits_for_room(server):
    client = server.client()
    first = people.session(client, agent="demo", prompt="Show me around")
    check.eventually(lambda: explain(client, first)["asks"], "it asks", 30)
    second = people.session(client, agent="demo", prompt="echo hello")
    got = explain(client, second)
    check.contains(got, {"waits_for": "claim", "status": "pending"})
    check.equal(got["unblocked_by"][0], {"kind": "server", "how": None})


@test(options=["--collect-debounce-ms", "1h"])
def collected(server):
    client = server.client()
    path = people.session(client, agent="a", queue_mode="collect")
    client.post(path + "/messages", {"text": "one"}, expect=202)
    got = explain(client, path)
    check.contains(got, {"status": "idle", "waits_for": "timer"})
    check.equal((got["next_timer"]["kind"], got["queue"]["length"]), ("collect", 1))


@test
def children_still_running(server):
    client = server.client()
    path = people.session(client)
    one, two = (people.session(client, parent_id=path.split("/")[-1]) for _ in range(2))
    client.post(one + "/stop", {}, expect=200)
    check.equal(explain(client, path)["children"], [two.split("/")[-1]])


@test
def a_provider_that_refuses_for_now(env):
    """What looks like work is a wait: the log says for how long, and the answer that it is one."""
    with ModelServer([{"status": 529, "message": "overloaded"}]) as model:
        client = env.server(["--model-backoff-ms", "60s"], model.environment()).client()
        client.post("/api/agents", {"id": "helper", "driver": "model", "provider": "anthropic", "model": "m",
                                    "system_prompt": "You help.", "sandbox": {"kind": "none"}}, expect=201)
        path = people.session(client, agent="helper", prompt="Hello?")
        told = lambda: client.get(path + "/events?types=model.retrying").json()["events"]
        check.eventually(told, "it is told", 30)
        check.contains(told()[0]["metadata"], {"model": "m", "provider": "anthropic", "retry": 1})
        check.true(30000 <= told()[0]["metadata"]["after_ms"] <= 60000, "for how long")
        check.contains(explain(client, path), {"status": "running", "waits_for": "timer"})
        client.post(path + "/interrupt", {}, expect=200)
        check.eventually(lambda: client.get(path).json()["status"] == "idle", "it can be interrupted", 30)


@test
def paused_and_asleep(server):
    """Since when is the moment it was paused or fell asleep, not that of its last turn; asleep it says so."""
    client = server.client()
    client.post("/api/agents", {"id": "boxed", "driver": "demo", "sandbox": {"kind": "local"}}, expect=201)
    path = people.session(client, agent="boxed", prompt="echo one")
    check.eventually(lambda: client.get(path).json()["turn_count"] == 1, "the turn is over", 30)
    last = lambda: client.get(path + "/events?types=session.runtime_change").json()["events"][-1]["created_at"]
    rested = explain(client, path)
    client.post(path + "/pause", {}, expect=200)
    paused = explain(client, path)
    check.contains(paused, {"waits_for": "person", "since": last()})
    check.true(paused["since"] > rested["since"], "later than the turn")
    client.post(path + "/unpause", {}, expect=200)
    check.equal(explain(client, path)["since"], rested["since"])
    client.post(path + "/hibernate", {}, expect=200)
    check.eventually(lambda: client.get(path).json()["runtime"] == "hibernated", "it sleeps", 30)
    asleep = explain(client, path)
    check.contains(asleep, {"waits_for": "message", "since": last()})
    check.contains(asleep["detail"], "hibernated")
    check.contains(ways(asleep), f"POST {path}/wake")


@test
def every_way_is_a_route(server):
    """What the answer proposes exists."""
    client = server.client()
    described = client.get("/api/openapi.json", expect=200).json()["paths"]
    path = people.session(client, agent="a", status="pending")
    all_ways = set(ways(explain(client, path)))
    held = claim(client, path)
    all_ways |= set(ways(explain(client, path)))
    client.post(path + "/settle", {"status": "awaiting_tool"}, headers=held, expect=200)
    all_ways |= set(ways(explain(client, path)))
    client.post(path + "/stop", {}, expect=200)
    all_ways |= set(ways(explain(client, path)))
    check.true(len(all_ways) >= 6, "there are ways")
    for way in all_ways:
        method, target = way.split(" ")
        known = re.sub(r"^/api/sessions/[^/]+", "/api/sessions/{id}", target)
        check.contains(list(described), known)
        check.contains(list(described[known]), method.lower())


@test
def strangers_learn_nothing(server):
    client = server.client()
    path = people.session(client)
    stranger = people.person(client, "stranger").client
    stranger.get(path + "/explain", expect=404)
    client.get("/api/sessions/nobody/explain", expect=404)

"""However a session ends, the same happens: lease, timers, prompts, asks, children, parent."""
from harness import check, people
from harness.suite import test


def events(client, path, types=None):
    query = f"&types={types}" if types else ""
    return client.get(f"{path}/events?limit=1000{query}", expect=200).json()["events"]


def status(client, path):
    return client.get(path, expect=200).json()["status"]


def child_of(client, path, **body):
    return people.session(client, parent_id=path.split("/")[-1], **body)


def claim(client, path, agent):
    [got] = client.post("/api/claims", {"worker": "w", "agents": [agent]}, expect=200).json()["claims"]
    check.equal(f"/api/sessions/{got['session']['id']}", path)
    return {"Sojourn-Lease": got["lease"]["token"]}


def demo_in_a_turn(client):
    """A hosted session that waits for an approval in the middle of its turn."""
    path = people.session(client, agent="demo", prompt="Show me around")
    check.eventually(lambda: client.get(path + "/asks?state=pending").json()["asks"], "it asks", 30)
    return path


def stop(client, path, **body):
    return client.post(path + "/stop", body, expect=200).json()


@test
def stop_is_idempotent(server):
    """Twice is once; who may not write may not stop, and strangers learn nothing."""
    client = server.client()
    path = people.session(client)
    first = stop(client, path, reason="enough")
    check.equal(first["changed"], True)
    check.contains(first["session"], {"status": "completed", "stop_reason": "user", "status_reason": "enough"})
    again = stop(client, path)
    check.equal(again["changed"], False)
    check.equal(again["session"]["last_sequence"], first["session"]["last_sequence"])
    client.post("/api/sessions/nobody/stop", {}, expect=404)
    client.post(path + "/stop", {"why": "x"}, expect=400)
    stranger = people.person(client, "stranger").client
    stranger.post(people.session(client) + "/stop", {}, expect=404)


@test
def a_stopped_turn_has_exactly_one_end(server):
    """Stopping a hosted turn that waits for a person: one turn.ended, no ask left, nothing queued, nobody holds it."""
    client = server.client()
    path = demo_in_a_turn(client)
    queued = client.post(path + "/messages", {"text": "later"}, expect=202).json()
    check.equal(queued["status"], "queued")
    got = stop(client, path)
    check.contains(got["session"], {"status": "abandoned", "stop_reason": "user"})
    [end] = events(client, path, "turn.ended")
    check.contains(end["metadata"], {"turn": 1, "stop_reason": "aborted", "cause": "user"})
    check.equal(client.get(path + "/asks?state=pending").json()["asks"], [])
    check.equal(len(events(client, path, "ask.cancelled")), 1)
    [withdrawn] = events(client, path, "prompt.withdrawn")
    check.contains(withdrawn["metadata"], {"prompt_id": queued["prompt_id"], "reason": "session_abandoned"})
    last = client.get(path).json()["last_sequence"]
    other = people.session(client, agent="demo", prompt="echo next")
    check.eventually(lambda: status(client, other) == "idle", "the next turn is over", 30)
    check.equal(client.get(path).json()["last_sequence"], last)  # the driver went quietly


@test
def a_turn_that_ends_itself_has_one_end(server):
    client = server.client()
    path = people.session(client, agent="demo", prompt="echo hello")
    check.eventually(lambda: status(client, path) == "idle", "the turn is over", 30)
    check.equal(len(events(client, path, "turn.ended")), 1)
    stop(client, path)
    check.equal(len(events(client, path, "turn.ended")), 1)


@test
def a_hosted_turn_parked_by_a_person_has_one_end(server):
    """Moving a session away from its turn from outside is an end of the turn as well."""
    client = server.client()
    path = demo_in_a_turn(client)
    client.post(path + "/status", {"status": "idle"}, expect=200)
    [end] = events(client, path, "turn.ended")
    check.equal(end["metadata"]["turn"], 1)
    check.equal(client.get(path + "/asks?state=pending").json()["asks"], [])


@test
def expiry_ends_a_turn(server):
    """A time to live that ends inside a hosted turn: the same routine."""
    client = server.client()
    path = demo_in_a_turn(client)
    client.patch(path, {"ttl_ms": 1}, expect=200)
    check.eventually(lambda: status(client, path) == "expired", "it expires", 30)
    [end] = events(client, path, "turn.ended")
    check.equal(end["metadata"]["cause"], "expired")
    check.equal(client.get(path + "/asks?state=pending").json()["asks"], [])


@test
def stop_takes_the_lease(server):
    """A worker whose session was stopped is told so, and settles nothing."""
    client = server.client()
    path = people.session(client, agent="a", status="pending")
    held = claim(client, path, "a")
    stop(client, path)
    client.post(path + "/settle", {"status": "completed"}, headers=held, expect=409)
    check.contains(client.get(path).json(), {"status": "abandoned", "stop_reason": "user"})


@test
def children_end_with_their_parent(server):
    """Every way down, once; those that ended before stay as they were; each parent is told once per child."""
    client = server.client()
    top = people.session(client, agent="a", status="pending")
    done, idle, busy = child_of(client, top), child_of(client, top), child_of(client, top, agent="demo", prompt="Show me around")
    deep = child_of(client, idle, agent="b", status="pending")
    client.post(done + "/status", {"status": "failed", "reason": "broken"}, expect=200)
    check.eventually(lambda: client.get(busy + "/asks?state=pending").json()["asks"], "it asks", 30)
    held = claim(client, top, "a")
    client.post(top + "/settle", {"status": "failed", "error": "no"}, headers=held, expect=200)
    check.equal([status(client, one) for one in (done, idle, busy, deep)], ["failed", "completed", "abandoned", "abandoned"])
    for one in (idle, busy, deep):
        check.contains(client.get(one).json(), {"stop_reason": "parent", "status_reason": "its parent ended"})
    check.equal(len(events(client, busy, "turn.ended")), 1)
    told = [event["metadata"]["child_id"] for event in events(client, top, "session.child_ended")]
    check.equal(sorted(told), sorted(one.split("/")[-1] for one in (done, idle, busy)))
    check.equal(len(events(client, idle, "session.child_ended")), 1)
    check.equal(stop(client, top)["changed"], False)


@test(options=["--no-end-children"])
def children_may_outlive_their_parent(server):
    client = server.client()
    top = people.session(client)
    child = child_of(client, top)
    stop(client, top)
    check.equal(status(client, child), "idle")


@test(timeout_s=120)
def deep_and_wide_families_end(server):
    """More than one transaction ends, and deeper than a stack would like; none is forgotten."""
    client = server.client()
    top = people.session(client)
    chain, wide = [top], []
    for _ in range(150):
        chain.append(child_of(client, chain[-1]))
    for _ in range(90):
        wide.append(child_of(client, chain[3]))
    stop(client, top)
    for path in chain[1:] + wide:
        check.eventually(lambda: status(client, path) == "completed", f"{path} ends", 30)
        check.equal(client.get(path).json()["stop_reason"], "parent")
    check.equal(len(events(client, chain[3], "session.child_ended")), 91)


@test(timeout_s=120)
def a_cascade_survives_a_kill(server):
    """What one transaction could not end is durable."""
    client = server.client()
    top = people.session(client)
    children = [child_of(client, top) for _ in range(150)]
    stop(client, top)
    server.kill()
    client = server.start().client()
    for path in children:
        check.eventually(lambda: status(client, path) == "completed", f"{path} ends", 30)
    check.equal(len(events(client, top, "session.child_ended")), 150)


@test
def deletion_ends_what_hangs_on_it(server):
    """The parent of a deleted session is told, its children end."""
    client = server.client()
    top = people.session(client)
    middle = child_of(client, top)
    leaf = child_of(client, middle)
    client.delete(middle, expect=204)
    check.contains(client.get(leaf).json(), {"status": "completed", "stop_reason": "parent"})
    wide = child_of(client, top)
    leaves = [child_of(client, wide) for _ in range(130)]
    client.delete(wide, expect=204)
    check.equal({status(client, leaf) for leaf in leaves}, {"completed"})
    told = events(client, top, "session.child_ended")
    check.equal([event["metadata"]["child_id"] for event in told], [middle.split("/")[-1], wide.split("/")[-1]])


@test
def an_end_is_in_the_audit_log(server):
    client = server.client()
    path = people.session(client)
    stop(client, path, reason="enough")
    audit = client.get(path + "/audit-log", expect=200).json()["events"]
    [end] = [event for event in audit if event["metadata"].get("to") == "completed"]
    check.contains(end["metadata"], {"stop_reason": "user", "reason": "enough"})
    check.true(end["actor"].startswith(("user:", "token:")), "it says who")

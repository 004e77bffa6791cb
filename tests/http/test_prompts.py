"""Messages: one makes the agent run, the others wait, and each is said exactly once."""
from harness import check, people
from harness.suite import test
from harness.talk import claim, events, said, send, settle, talk, waiting


@test
def dispatch(server):
    """A message to an idle session is in the log at once and makes the session pending."""
    client = server.client()
    path = talk(client)
    receipt = send(client, path, "hello", metadata={"from": "test"}, thread_id="t1")
    check.contains(receipt, {"status": "dispatched", "position": 0, "sequence": 2})
    check.equal(client.get(path).json()["status"], "pending")
    [message] = events(client, path, "user.message")
    check.contains(message, {"sequence": 2, "role": "user", "thread_id": "t1", "actor": client.get("/api/me").json()["actor"],
                             "content": [{"type": "text", "text": "hello"}],
                             "metadata": {"prompt_id": receipt["prompt_id"], "from": "test"}})
    [change] = events(client, path, "session.status_change")
    check.contains(change["metadata"], {"from": "idle", "to": "pending", "reason": "prompt"})
    draft = talk(client, status="draft")
    parts = [{"type": "text", "text": "see"}, {"type": "image", "url": "x"}]
    client.post(draft + "/messages", {"content": parts}, expect=202)
    check.equal(events(client, draft, "user.message")[0]["content"], parts)


@test
def queue_is_first_in_first_out(server):
    """What is sent while a turn waits or runs is dispatched one by one, in order, each exactly once."""
    client = server.client()
    path = talk(client)
    send(client, path, "m0")
    places = [send(client, path, f"m{n}") for n in (1, 2)]
    held = claim(client)
    places += [send(client, path, f"m{n}") for n in (3, 4)]
    check.equal([(one["status"], one["position"]) for one in places], [("queued", n) for n in (1, 2, 3, 4)])
    queued = events(client, path, "prompt.queued")
    check.equal([event["metadata"] for event in queued],
                [{"prompt_id": one["prompt_id"], "mode": "followup", "position": one["position"]} for one in places])
    check.equal([event["sequence"] for event in queued], [one["sequence"] for one in places])
    check.equal(said(client, path), ["m0"])
    check.equal(waiting(client, path), ["m1", "m2", "m3", "m4"])
    for n in (1, 2, 3, 4):
        check.equal(settle(client, path, held), "pending")
        check.equal(said(client, path), [f"m{k}" for k in range(n + 1)])
        held = claim(client)
    check.equal(settle(client, path, held), "idle")
    check.equal(waiting(client, path), [])
    check.equal([event["metadata"]["prompt_id"] for event in events(client, path, "user.message")][1:],
                [one["prompt_id"] for one in places])
    check.equal(client.get(path).json()["turn_count"], 5)


@test
def queue_survives_a_restart(server):
    """Accepted is durable: killed with a queue, the server goes on with it."""
    client = server.client()
    path = talk(client)
    for n in range(3):
        send(client, path, f"m{n}")
    server.kill()
    client = server.start().client()
    check.equal(waiting(client, path), ["m1", "m2"])
    send(client, path, "m3")
    for _ in range(4):
        settle(client, path, claim(client))
    check.equal(said(client, path), ["m0", "m1", "m2", "m3"])


@test
def modes(server):
    """reject is 409 while busy; the session's queue_mode is the default."""
    client = server.client()
    path = talk(client, queue_mode="reject")
    send(client, path, "one")
    check.problem(client.post(path + "/messages", {"text": "two"}), 409, "busy")
    check.equal(send(client, path, "three", mode="followup")["status"], "queued")
    check.problem(client.post(path + "/messages", {"text": "x", "mode": "later"}), 400)
    check.equal(waiting(client, path), ["three"])


@test
def refusals(server):
    """What cannot be answered is refused before it is accepted, and leaves no trace."""
    client = server.client()
    path = talk(client)
    for body in ({}, {"text": "a", "content": [{"type": "text", "text": "a"}]}, {"text": ""}, {"content": []}, {"text": 1},
                 {"text": "a", "metadata": {"prompt_id": "mine"}}, {"text": "a", "unknown": 1}):
        check.problem(client.post(path + "/messages", body), 400)
    check.problem(client.post(people.session(client) + "/messages", {"text": "a"}), 409, "no_agent")
    check.problem(client.post(people.session(client, type="tool", agent="a") + "/messages", {"text": "a"}), 409,
                  "not_a_conversation")
    client.post(path + "/archive", {}, expect=200)
    check.problem(client.post(path + "/messages", {"text": "a"}), 409, "session_archived")
    failed = talk(client)
    client.post(failed + "/status", {"status": "failed"}, expect=200)
    check.problem(client.post(failed + "/messages", {"text": "a"}), 409, "session_failed")
    check.equal(said(client, path) + said(client, failed), [])


@test
def withdraw_and_clear(server):
    """A waiting message can be taken back once; clearing answers what it removed."""
    client = server.client()
    path = talk(client)
    receipts = [send(client, path, f"m{n}") for n in range(4)]
    client.delete(f"{path}/queue/{receipts[2]['prompt_id']}", expect=204)
    check.problem(client.delete(f"{path}/queue/{receipts[2]['prompt_id']}"), 404, "prompt_not_found")
    check.problem(client.delete(f"{path}/queue/{receipts[0]['prompt_id']}"), 404, "prompt_not_found")
    check.equal(waiting(client, path), ["m1", "m3"])
    removed = client.post(path + "/clear-queue", {}, expect=200).json()["prompts"]
    check.equal([one["prompt_id"] for one in removed], [receipts[1]["prompt_id"], receipts[3]["prompt_id"]])
    check.contains(removed[0], {"mode": "followup", "position": 1, "content": [{"type": "text", "text": "m1"}]})
    check.equal(client.post(path + "/clear-queue", {}, expect=200).json()["prompts"], [])
    check.equal([(event["metadata"]["prompt_id"], event["metadata"]["reason"]) for event in events(client, path, "prompt.withdrawn")],
                [(receipts[2]["prompt_id"], "withdrawn"), (receipts[1]["prompt_id"], "cleared"),
                 (receipts[3]["prompt_id"], "cleared")])
    check.equal(send(client, path, "m4")["position"], 1)
    settle(client, path, claim(client))
    check.equal(said(client, path), ["m0", "m4"])
    audit = [event["type"] for event in client.get(path + "/audit-log?limit=1000").json()["events"]]
    check.equal((audit.count("prompt.queued"), audit.count("prompt.withdrawn")), (4, 3))


@test
def an_end_withdraws(server):
    """A session that ends says of each waiting message that it was withdrawn; a new message reopens the conversation."""
    client = server.client()
    path = talk(client)
    receipts = [send(client, path, f"m{n}") for n in range(3)]
    check.equal(settle(client, path, claim(client), "completed"), "completed")
    check.equal([event["metadata"] for event in events(client, path, "prompt.withdrawn")],
                [{"prompt_id": one["prompt_id"], "reason": "session_completed"} for one in receipts[1:]])
    check.equal(waiting(client, path), [])
    receipt = send(client, path, "again")
    check.equal(receipt["status"], "dispatched")
    check.equal(client.get(path).json()["status"], "pending")
    check.equal([event["type"] for event in events(client, path)][-4:],
                ["session.reopened", "session.status_change", "user.message", "session.status_change"])
    check.equal(events(client, path, "user.message")[-1]["sequence"], receipt["sequence"])
    check.equal(said(client, path), ["m0", "again"])


@test
def a_deleted_session_leaves_no_prompts(server):
    """Deletion takes the queue along."""
    client = server.client()
    path = talk(client)
    send(client, path, "one")
    send(client, path, "two")
    client.delete(path, expect=204)
    check.problem(client.get(path + "/queue"), 404)


@test
def who_may(server):
    """Collaborators send and withdraw, viewers read the queue, strangers learn nothing."""
    owner = server.client()
    viewer, helper, stranger = (people.person(owner, name) for name in ("viewer", "helper", "stranger"))
    path = talk(owner)
    for one, role in ((viewer, "viewer"), (helper, "collaborator")):
        owner.post(path + "/participants", {"user_id": one.id, "role": role}, expect=201)
    check.equal(send(helper.client, path, "mine")["status"], "dispatched")
    receipt = send(helper.client, path, "more")
    check.equal(events(owner, path, "user.message")[0]["actor"], f"user:{helper.id}")
    check.equal(waiting(viewer.client, path), ["more"])
    for client, status in ((viewer.client, 403), (stranger.client, 404)):
        check.problem(client.post(path + "/messages", {"text": "x"}), status)
        check.problem(client.delete(f"{path}/queue/{receipt['prompt_id']}"), status)
        check.problem(client.post(path + "/clear-queue", {}), status)
    check.problem(stranger.client.get(path + "/queue"), 404)
    settle(owner, path, claim(owner))
    check.equal(events(owner, path, "user.message")[1]["actor"], f"user:{helper.id}")


@test
def idempotent(server):
    """The same key gives the same receipt and one message."""
    client = server.client()
    path = talk(client)
    for text, status in (("one", "dispatched"), ("two", "queued")):
        key = {"Idempotency-Key": text}
        first = client.post(path + "/messages", {"text": text}, headers=key, expect=202).json()
        check.equal(first["status"], status)
        check.equal(client.post(path + "/messages", {"text": text}, headers=key, expect=202).json(), first)
    check.equal((said(client, path), waiting(client, path)), (["one"], ["two"]))


@test(options=["--prompts-queued-max", "2"])
def queue_limit(server):
    """The queue has a limit; room is there again when one was taken."""
    client = server.client()
    path = talk(client)
    for n in range(3):
        send(client, path, f"m{n}")
    check.problem(client.post(path + "/messages", {"text": "m3"}), 429, "queue_full")
    settle(client, path, claim(client))
    check.equal(send(client, path, "m3")["position"], 2)


@test
def the_prompt_at_creation_is_the_first_message(server):
    """`prompt` starts the work and is said: the second event of the log."""
    client = server.client()
    made = client.post("/api/sessions", {"type": "agent", "agent": "a", "prompt": "go"}, expect=201).json()
    check.contains(made, {"status": "pending", "message_count": 1, "last_sequence": 2})
    path = f"/api/sessions/{made['id']}"
    send(client, path, "and then")
    settle(client, path, claim(client))
    check.equal(said(client, path), ["go", "and then"])
    form = people.session(client, type="response", prompt="fill in")
    check.equal(said(client, form), [])

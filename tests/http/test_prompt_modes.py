"""Modes of the queue: steer interrupts and goes first, collect waits for more, threads keep apart."""
from harness import check
from harness.suite import test
from harness.talk import claim, events, prompt_ids, said, send, settle, talk, wait_event, waiting


def ids(receipts):
    return [one["prompt_id"] for one in receipts]


def statuses(client, path):
    return [event["metadata"]["to"] for event in events(client, path, "session.status_change")]


@test
def steer_interrupts_and_goes_first(server):
    """The running turn is asked to end, once; what waited still waits, behind the new one."""
    client = server.client()
    path = talk(client)
    send(client, path, "m0")
    held = claim(client)
    send(client, path, "m1")
    first = send(client, path, "now", mode="steer")
    check.contains(first, {"status": "queued", "position": 1})
    second = send(client, path, "no, this", mode="steer")
    check.equal(second["position"], 1)
    check.equal(waiting(client, path), ["no, this", "now", "m1"])
    [request] = events(client, path, "turn.interrupt_requested")
    actor = client.get("/api/me").json()["actor"]
    check.equal(request["metadata"], {"turn": 1, "reason": "steer", "by": actor, "prompt_id": first["prompt_id"]})
    check.equal(settle(client, path, held), "pending")
    check.equal(said(client, path), ["m0", "no, this"])
    for _ in range(3):
        settle(client, path, claim(client))
    check.equal(said(client, path), ["m0", "no, this", "now", "m1"])
    check.equal(client.get(path).json()["status"], "idle")


@test
def steer_before_the_turn_is_claimed(server):
    """Nobody runs yet, so that nobody is interrupted; at rest it is a message like any other."""
    client = server.client()
    path = talk(client)
    check.equal(send(client, path, "m0", mode="steer")["status"], "dispatched")
    send(client, path, "m1")
    send(client, path, "urgent", mode="steer")
    check.equal(events(client, path, "turn.interrupt_requested"), [])
    for _ in range(3):
        settle(client, path, claim(client))
    check.equal(said(client, path), ["m0", "urgent", "m1"])


@test
def steer_a_turn_that_nobody_runs(server):
    """A turn that waits for a person without a lease is over at once."""
    client = server.client()
    path = talk(client)
    send(client, path, "m0")
    check.equal(settle(client, path, claim(client), "waiting_human"), "waiting_human")
    send(client, path, "later")
    check.equal(send(client, path, "instead", mode="steer")["status"], "dispatched")
    check.equal(said(client, path), ["m0", "instead"])
    check.equal(waiting(client, path), ["later"])


@test
def steer_with_clear_queue(server):
    """The receipt holds what was withdrawn, of its own thread only."""
    client = server.client()
    path = talk(client)
    send(client, path, "m0")
    claim(client)
    old = [send(client, path, f"m{n}") for n in (1, 2)]
    send(client, path, "elsewhere", thread_id="t")
    receipt = send(client, path, "only this", mode="steer", clear_queue=True)
    check.equal(ids(receipt["withdrawn"]), ids(old))
    check.equal([one["content"][0]["text"] for one in receipt["withdrawn"]], ["m1", "m2"])
    check.equal(waiting(client, path), ["only this", "elsewhere"])
    check.equal([event["metadata"]["reason"] for event in events(client, path, "prompt.withdrawn")], ["cleared"] * 2)
    check.problem(client.post(path + "/messages", {"text": "x", "mode": "followup", "clear_queue": True}), 400,
                  "invalid_clear_queue")


@test
def steer_in_another_thread(server):
    """It goes first, but leaves the turn of the other thread alone."""
    client = server.client()
    path = talk(client)
    send(client, path, "a0", thread_id="a")
    held = claim(client)
    send(client, path, "a1", thread_id="a")
    send(client, path, "b0", thread_id="b", mode="steer")
    check.equal(events(client, path, "turn.interrupt_requested"), [])
    client.post(path + "/messages?append=true", {"text": "aside", "thread_id": "b"}, expect=200)
    send(client, path, "a2", thread_id="a", mode="steer")
    check.equal(len(events(client, path, "turn.interrupt_requested")), 1)
    settle(client, path, held)
    for _ in range(3):
        settle(client, path, claim(client))
    check.equal(said(client, path), ["a0", "aside", "a2", "b0", "a1"])


@test
def interrupt(server):
    """Once per turn, nothing at rest; the queue goes on."""
    client = server.client()
    path = talk(client)
    check.equal(client.post(path + "/interrupt", expect=200).json(), {"turn": 0, "requested": False})
    send(client, path, "m0")
    held = claim(client)
    send(client, path, "m1")
    for _ in range(2):
        check.equal(client.post(path + "/interrupt", expect=200).json(), {"turn": 1, "requested": True})
    check.equal(len(events(client, path, "turn.interrupt_requested")), 1)
    check.equal(waiting(client, path), ["m1"])
    settle(client, path, held)
    check.equal(said(client, path), ["m0", "m1"])
    settle(client, path, claim(client))
    check.equal(client.post(path + "/interrupt", expect=200).json(), {"turn": 2, "requested": False})


@test
def interrupt_before_the_claim(server):
    """What nobody has begun is withdrawn and not run; the next message is."""
    client = server.client()
    path = talk(client)
    receipt = send(client, path, "m0")
    send(client, path, "m1")
    check.equal(client.post(path + "/interrupt", expect=200).json()["requested"], True)
    [withdrawn] = events(client, path, "prompt.withdrawn")
    check.equal(withdrawn["metadata"], {"prompt_id": receipt["prompt_id"], "reason": "interrupted"})
    check.equal((said(client, path), client.get(path).json()["status"]), (["m0", "m1"], "pending"))
    check.equal(statuses(client, path), ["pending", "idle", "pending"])
    client.post(path + "/interrupt", expect=200)
    check.equal(client.get(path).json()["status"], "idle")


@test
def an_interrupted_turn_does_not_run_again(server):
    """Given back by its worker after it was told to end, the session rests and goes on with the next message."""
    client = server.client()
    path = talk(client)
    send(client, path, "m0")
    held = claim(client)
    send(client, path, "m1", mode="steer")
    client.post(path + "/release", headers=held, expect=200)
    check.equal(said(client, path), ["m0", "m1"])
    check.equal(statuses(client, path), ["pending", "running", "pending", "idle", "pending"])


@test(options=["--lease-ms-min", "100"])
def an_interrupted_turn_of_a_lost_worker(server):
    """The same when its lease runs out."""
    client = server.client()
    path = talk(client)
    send(client, path, "m0")
    client.post("/api/claims", {"worker": "w", "agents": ["a"], "lease_ms": 100}, expect=200)
    client.post(path + "/interrupt", expect=200)
    wait_event(client, path, lambda event: event["metadata"].get("to") == "idle")
    check.equal(client.get(path).json()["status"], "idle")


@test
def an_interrupted_turn_that_asks_does_not_run_again(server):
    """The same while a person is asked: nobody needs to answer any more, and the next message runs."""
    client = server.client()
    path = talk(client)
    send(client, path, "m0")
    held = claim(client)
    client.post(path + "/asks", {"kind": "question", "text": "?"}, headers=held, expect=201)
    send(client, path, "m1", mode="steer")
    client.post(path + "/release", headers=held, expect=200)
    check.equal([event["type"] for event in events(client, path, "ask.*")], ["ask.requested", "ask.cancelled"])
    check.equal(statuses(client, path), ["pending", "running", "waiting_human", "idle", "pending"])
    check.equal(said(client, path), ["m0", "m1"])


@test
def who_may_interrupt(server):
    """Collaborators do, viewers do not."""
    from harness import people
    owner = server.client()
    viewer = people.person(owner, "viewer")
    path = talk(owner)
    owner.post(path + "/participants", {"user_id": viewer.id, "role": "viewer"}, expect=201)
    check.problem(viewer.client.post(path + "/interrupt"), 403)


@test
def collect_at_rest(server):
    """Messages that follow each other are said as one, with every author and attachment kept."""
    from harness import people
    owner = server.client()
    helper = people.person(owner, "helper")
    path = talk(owner)
    owner.post(path + "/participants", {"user_id": helper.id, "role": "collaborator"}, expect=201)
    file = [{"type": "image/png", "url": "https://x.test/a.png"}]
    one = send(owner, path, "one", mode="collect", debounce_ms=3600000)
    two = send(helper.client, path, "two", mode="collect", debounce_ms=3600000, attachments=file, metadata={"k": 1})
    check.equal([(r["status"], r["position"]) for r in (one, two)], [("queued", 1), ("queued", 2)])
    check.equal((client_status(owner, path), said(owner, path)), ("idle", []))
    three = send(owner, path, "three", mode="collect", debounce_ms=0)
    check.equal(three["status"], "dispatched")
    [message] = events(owner, path, "user.message")
    check.equal([part["text"] for part in message["content"]], ["one", "two", "three"])
    prompts = message["metadata"]["prompts"]
    check.equal(ids(prompts), ids([one, two, three]))
    check.equal([p["actor"] == f"user:{helper.id}" for p in prompts], [False, True, False])
    check.equal(prompts[1]["metadata"], {"k": 1, "attachments": file})
    check.equal((message["sequence"], [p["parts"] for p in prompts]), (three["sequence"], [1, 1, 1]))
    check.equal((waiting(owner, path), client_status(owner, path)), ([], "pending"))


def client_status(client, path):
    return client.get(path).json()["status"]


@test
def collect_fires_by_itself(server):
    """The debounce is a durable timer: it fires after a restart as well."""
    client = server.client()
    path = talk(client)
    send(client, path, "one", mode="collect", debounce_ms=300)
    send(client, path, "two", mode="collect", debounce_ms=300)
    server.kill()
    client = server.start().client()
    message = wait_event(client, path, lambda event: event["type"] == "user.message")
    check.equal([part["text"] for part in message["content"]], ["one", "two"])
    check.equal(client_status(client, path), "pending")
    check.equal(waiting(client, path), [])


@test
def collect_restarts_with_each_message(server):
    """A further message puts the end off."""
    client = server.client()
    path = talk(client)
    send(client, path, "one", mode="collect", debounce_ms=1)
    send(client, path, "other thread", thread_id="t", mode="collect", debounce_ms=3600000)
    first = wait_event(client, path, lambda event: event["type"] == "user.message")
    check.equal(len(first["metadata"]["prompts"]), 1)
    held = claim(client)
    send(client, path, "two", mode="collect", debounce_ms=1)
    send(client, path, "three", mode="collect", debounce_ms=3600000)
    check.equal(settle(client, path, held), "idle")
    check.equal(waiting(client, path), ["other thread", "two", "three"])


@test
def collect_during_a_turn(server):
    """What is due when the turn ends is said then, as one; a followup ends the collecting and keeps its place."""
    client = server.client()
    path = talk(client)
    send(client, path, "m0")
    held = claim(client)
    for text in ("c1", "c2"):
        send(client, path, text, mode="collect", debounce_ms=3600000)
    send(client, path, "f1")
    send(client, path, "c3", mode="collect", debounce_ms=3600000)
    check.equal(waiting(client, path), ["c1", "c2", "f1", "c3"])
    settle(client, path, held)
    settle(client, path, claim(client))
    check.equal(settle(client, path, claim(client)), "idle")
    told = [[part["text"] for part in event["content"]] for event in events(client, path, "user.message")]
    check.equal(told, [["m0"], ["c1", "c2"], ["f1"]])
    check.equal(waiting(client, path), ["c3"])


@test
def a_followup_at_rest_ends_the_collecting(server):
    """The collected ones go first, then it; reject finds the session busy; steer overtakes."""
    client = server.client()
    path = talk(client)
    send(client, path, "c1", mode="collect", debounce_ms=3600000)
    check.problem(client.post(path + "/messages", {"text": "x", "mode": "reject"}), 409, "busy")
    check.equal(send(client, path, "first", mode="steer")["status"], "dispatched")
    check.equal(settle(client, path, claim(client)), "idle")
    receipt = send(client, path, "f1")
    check.equal(receipt["status"], "queued")
    check.equal(said(client, path), ["first", "c1"])
    settle(client, path, claim(client))
    check.equal(said(client, path), ["first", "c1", "f1"])


@test(options=["--event-bytes-max", "2000"])
def collected_messages_fit_an_event(server):
    """More than one event may hold is said in several turns."""
    client = server.client()
    path = talk(client)
    send(client, path, "m0")
    held = claim(client)
    receipts = [send(client, path, str(n) * 700, mode="collect", debounce_ms=0) for n in range(3)]
    settle(client, path, held)
    settle(client, path, claim(client))
    told = [prompt_ids(event) for event in events(client, path, "user.message")][1:]
    check.equal(told, [ids(receipts[:2]), ids(receipts[2:])])


@test
def an_end_withdraws_what_is_collected(server):
    """Nothing is left behind, and its timer does nothing."""
    client = server.client()
    path = talk(client)
    send(client, path, "c1", mode="collect", debounce_ms=3600000)
    client.post(path + "/status", {"status": "completed"}, expect=200)
    check.equal([e["metadata"]["reason"] for e in events(client, path, "prompt.withdrawn")], ["session_completed"])
    check.equal(send(client, path, "c2", mode="collect", debounce_ms=0)["status"], "dispatched")
    check.equal(said(client, path), ["c2"])


@test
def threads_share_the_turns_fairly(server):
    """The oldest message is next, whatever its thread; a thread can be cleared alone."""
    client = server.client()
    path = talk(client)
    send(client, path, "a0", thread_id="a")
    for text in ("b0", "a1", "b1"):
        send(client, path, text, thread_id=text[0])
    settle(client, path, claim(client))
    check.equal(said(client, path), ["a0", "b0"])
    removed = client.post(path + "/clear-queue?thread_id=b", {}, expect=200).json()["prompts"]
    check.equal([one["content"][0]["text"] for one in removed], ["b1"])
    check.equal(waiting(client, path), ["a1"])


@test(options=["--turns-per-session-max", "2"])
def turn_limit(server):
    """C-26: what would come after the last turn is refused when it is sent; nothing that was accepted is withdrawn."""
    client = server.client()
    path = talk(client)
    send(client, path, "m0")
    send(client, path, "m1")
    check.problem(client.post(path + "/messages", {"text": "m2"}), 429, "turn_limit")
    settle(client, path, claim(client))
    check.problem(client.post(path + "/messages", {"text": "x"}), 429, "turn_limit")
    check.equal(settle(client, path, claim(client)), "idle")
    check.equal(events(client, path, "prompt.withdrawn"), [])
    problem = check.problem(client.post(path + "/messages", {"text": "x"}), 429, "turn_limit")
    check.contains(problem, {"limit": 2, "turn_count": 2})

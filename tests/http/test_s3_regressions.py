"""Bugs that live session systems had, each by its name: none of them is possible here.

Not here because its part is not there yet: stale_channel_bindings, and double_dispatch by the protocols of channels.
"""
import concurrent.futures
import glob
import os
import time

from harness import check, people
from harness.suite import test
from harness.talk import claim, events, said, send, settle, speak, talk, waiting


def status(client, path):
    return client.get(path, expect=200).json()["status"]


@test
def abort_clears_busy_early(server):
    """A prompt sent behind an interrupt waits for the turn to end; it is not completed with it."""
    client = server.client()
    path = talk(client)
    send(client, path, "m0")
    held = claim(client)
    client.post(path + "/interrupt", {}, expect=200)
    check.equal(status(client, path), "running")  # as long as somebody runs it
    check.equal(send(client, path, "m1")["status"], "queued")
    check.equal(said(client, path), ["m0"])
    check.equal(settle(client, path, held), "pending")
    check.equal(said(client, path), ["m0", "m1"])
    speak(client, path, claim(client), "an answer to m1")
    check.equal(client.get(path).json()["turn_count"], 1)


@test(options=["--lease-ms-min", "100"])
def reconnect_without_idle(server):
    """A worker that comes back without a word about its turn: the turn is handed out again and the queue drains."""
    client = server.client()
    path = talk(client)
    send(client, path, "m0")
    client.post("/api/claims", {"worker": "w", "agents": ["a"], "lease_ms": 100}, expect=200)
    send(client, path, "m1")
    check.eventually(lambda: status(client, path) == "pending", "the lease runs out", 20)
    check.equal(settle(client, path, claim(client)), "pending")
    check.equal(said(client, path), ["m0", "m1"])
    check.equal(settle(client, path, claim(client)), "idle")


@test
def duplicate_complete_re_drains(server):
    """A second word about the same end changes nothing, above all not the next turn."""
    client = server.client()
    path = talk(client)
    for text in ("m0", "m1", "m2"):
        send(client, path, text)
    held = claim(client)
    check.equal(settle(client, path, held), "pending")
    client.post(path + "/settle", {"status": "idle"}, headers=held, expect=409)
    second = claim(client)
    client.post(path + "/settle", {"status": "idle"}, headers=held, expect=409)
    check.equal((said(client, path), waiting(client, path)), (["m0", "m1"], ["m2"]))
    settle(client, path, second)
    check.equal(said(client, path), ["m0", "m1", "m2"])


@test
def dispatch_before_runner_ready(server):
    """Nobody is there yet: the turn waits for a claim and is lost to nobody."""
    client = server.client()
    path = talk(client)
    send(client, path, "m0")
    check.equal(client.get(path + "/explain").json()["waits_for"], "claim")
    check.equal(events(client, path, "session.claimed"), [])
    settle(client, path, claim(client))
    check.equal(said(client, path), ["m0"])


@test
def unscoped_complete_wipes_sibling_threads(server):
    """The end of a turn in one thread leaves what waits in others."""
    client = server.client()
    path = talk(client)
    for thread in ("one", "two", "three"):
        send(client, path, f"in {thread}", thread_id=thread)
    settle(client, path, claim(client))
    check.equal((said(client, path), waiting(client, path)), (["in one", "in two"], ["in three"]))
    client.post(path + "/clear-queue?thread_id=one", {}, expect=200)
    check.equal(waiting(client, path), ["in three"])


@test(options=["--watchdog-sweep-ms", "20", "--queue-stuck-ms", "1", "--waiting-unasked-ms", "1", "--turn-without-lease-ms", "1",
               "--turn-abort-ms", "1"])
def tight_alarm_loops(server):
    """Deadlines that are over fire once; nothing spins around them."""
    client = server.client()
    path = people.session(client)
    client.patch(path, {"ttl_ms": 1}, expect=200)
    check.eventually(lambda: status(client, path) == "expired", "it expires", 20)
    asker = talk(client)
    send(client, asker, "m0")
    held = claim(client)
    now = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(time.time() + 1))
    client.post(asker + "/asks", {"id": "q", "kind": "question", "text": "?", "expires_at": now}, headers=held)

    def fired():
        lines = client.get("/metrics", expect=200).body.decode().splitlines()
        return int(next(line for line in lines if line.startswith("sojourn_timers_fired_total")).split()[-1])
    before, sequence = fired(), client.get(path).json()["last_sequence"]
    for number in range(20):  # commits, each of which looks at the timers
        people.session(client, title=str(number))
    check.true(fired() - before <= 1, "no timer fires again and again")
    check.equal(client.get(path).json()["last_sequence"], sequence)


@test
def double_dispatch(server):
    """The same message delivered many times at once is said once."""
    client = server.client()
    path = talk(client)

    def deliver(_):
        answer = server.client().post(path + "/messages", {"text": "hello"}, headers={"Idempotency-Key": "delivery-1"})
        return answer.json().get("prompt_id")
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        ids = set(pool.map(deliver, range(16)))
    check.equal(len(ids - {None}), 1)
    check.equal((said(client, path), waiting(client, path)), (["hello"], []))


@test
def wrong_thread_for_child_notifications(server):
    """A child's end is noted in its parent's log, once, and starts or ends no turn of any thread."""
    client = server.client()
    path = talk(client)
    send(client, path, "m0", thread_id="one")
    claim(client)
    send(client, path, "m1", thread_id="two")
    child = people.session(client, parent_id=path.split("/")[-1])
    client.post(child + "/stop", {}, expect=200)
    [told] = events(client, path, "session.child_ended")
    check.equal(told.get("thread_id"), None)
    check.equal((status(client, path), said(client, path), waiting(client, path)), ("running", ["m0"], ["m1"]))


@test
def session_scoped_approvals_survive_an_end(server):
    """A decision for this session holds in this session only, and a session that came back from its end asks again."""
    client = server.client()
    path = talk(client)
    send(client, path, "m0")
    held = claim(client)

    def ask(at, with_lease, id):
        return client.post(at + "/asks", {"id": id, "kind": "approval", "tool": "t", "call_id": id, "arguments": {}},
                           headers=with_lease, expect=201).json()["state"]
    ask(path, held, "1")
    client.post(path + "/asks/1/answer", {"decision": "session"}, expect=200)
    check.equal(ask(path, held, "2"), "answered")
    other = talk(client)
    send(client, other, "m0")
    check.equal(ask(other, claim(client), "1"), "pending")
    client.post(path + "/stop", {}, expect=200)
    client.post(other + "/stop", {}, expect=200)
    client.post(path + "/reopen", {}, expect=200)
    send(client, path, "m1")
    check.equal(ask(path, claim(client), "3"), "pending")


def boxed(client, prompt):
    """The path of a session that works in a sandbox."""
    client.post("/api/agents", {"id": "boxed", "driver": "demo", "sandbox": {"kind": "local"}}, expect=201)
    return people.session(client, agent="boxed", prompt=prompt)


def answer_all(client, path, decision):
    """Decides whatever is asked until the session is at rest; the tools that a person was asked about."""
    asked = []

    def at_rest():
        for ask in client.get(path + "/asks?state=pending", expect=200).json()["asks"]:
            reply = {"decision": decision} if ask["kind"] == "approval" else {"answer": ask["options"][0]}
            client.post(f"{path}/asks/{ask['id']}/answer", reply, expect=200)
            asked.append(ask.get("tool"))
        return status(client, path) == "idle"
    check.eventually(at_rest, "the turn is over", 60)
    return asked


def runtime(client, path):
    return client.get(path, expect=200).json()["runtime"]


def sleep(client, path):
    client.post(path + "/hibernate", expect=200)
    check.eventually(lambda: runtime(client, path) == "hibernated", "it sleeps", 30)


@test(options=["--demo-pace-percent", "5"])
def session_scoped_approvals_survive_hibernation(server):
    """A decision for this session holds while the session is awake; one that slept asks again."""
    client = server.client()
    path = boxed(client, "tour")
    check.equal(answer_all(client, path, "session"), ["edit_file", None, "git_commit"])
    send(client, path, "tour again")
    check.equal(answer_all(client, path, "session"), [None])
    sleep(client, path)
    send(client, path, "tour once more")
    check.equal(answer_all(client, path, "once"), ["edit_file", None, "git_commit"])


def trees(server):
    """What is on disk for sandboxes that are awake."""
    return glob.glob(os.path.join(server.data_directory(), "sandboxes", "[0-9]*", "[0-9]*", "workspace"))


@test(options=["--demo-pace-percent", "5"])
def re_entrant_hibernate_leaks(server):
    """Many ask at once, also while it falls asleep: one snapshot is taken and no sandbox is left behind."""
    client = server.client()
    path = boxed(client, "echo one")
    answer_all(client, path, "once")
    check.equal(len(trees(server)), 1)

    def press(_):
        return server.client().post(path + "/hibernate", expect=200).json()["changed"]
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        check.equal(sum(pool.map(press, range(16))), 1)
    check.eventually(lambda: runtime(client, path) == "hibernated", "it sleeps", 30)
    check.equal(client.post(path + "/hibernate", expect=200).json()["changed"], False)
    check.equal(trees(server), [])
    saved = [event["metadata"].get("snapshot_id") for event in events(client, path, "session.runtime_change")]
    check.equal(len(set(saved) - {None}), 1)
    client.post(path + "/wake", expect=200)
    check.eventually(lambda: runtime(client, path) == "running", "it is awake", 30)
    check.equal(len(trees(server)), 1)


@test
def hibernate_button_skipped_by_guard(server):
    """Whoever presses it gets the sleep or the reason why not; it is never silently nothing."""
    client = server.client()
    path = boxed(client, "tour")
    check.eventually(lambda: client.get(path + "/asks?state=pending").json()["asks"], "it asks", 30)
    refused = check.problem(client.post(path + "/hibernate"), 409, "turn_running")
    check.contains(refused["detail"], "interrupt")
    check.equal(runtime(client, path), "running")
    client.post(path + "/interrupt", {}, expect=200)
    check.eventually(lambda: status(client, path) == "idle", "the turn is over", 30)
    sleep(client, path)


@test
def zombie_live_objects(server):
    """An ended session holds nothing and takes nothing: no lease, no turn, no queue, no asks, no timers."""
    client = server.client()
    path = people.session(client, agent="demo", prompt="Show me around", ttl_ms=3600000)
    check.eventually(lambda: client.get(path + "/asks?state=pending").json()["asks"], "it asks", 30)
    send(client, path, "later")
    client.post(path + "/stop", {}, expect=200)
    got = client.get(path + "/explain", expect=200).json()
    check.contains(got, {"waits_for": "nothing", "lease": None, "turn": None, "asks": [], "next_timer": None})
    check.equal(got["queue"]["length"], 0)
    last = client.get(path).json()["last_sequence"]
    client = server.restart().client()
    other = people.session(client, agent="demo", prompt="echo hello")
    check.eventually(lambda: status(client, other) == "idle", "another turn runs", 30)
    check.equal(client.get(path).json()["last_sequence"], last)


@test(options=["--watchdog-sweep-ms", "10"])
def metric_flush_load(server):
    """An idle server writes nothing, however many sessions it keeps and however often it looks after them."""
    client = server.client()
    for number in range(50):
        people.session(client, title=str(number))

    def figures():
        lines = client.get("/metrics", expect=200).body.decode().splitlines()
        return {line.split()[0]: int(line.split()[-1]) for line in lines if not line.startswith("#")}
    before = figures()
    check.eventually(lambda: figures()["sojourn_write_jobs_total"] >= before["sojourn_write_jobs_total"] + 5,
                     "the watchdogs looked", 20)
    listed = client.get("/api/sessions?limit=100").json()["sessions"]
    check.equal({session["last_sequence"] for session in listed}, {1})


@test(options=["--lease-ms-default", "3s"])
def parallel_turns_after_restart(server):
    """A session that ran when the server died is run by one turn afterwards, not by two."""
    client = server.client()
    path = people.session(client, agent="demo", prompt="echo hello")
    check.eventually(lambda: events(client, path, "session.claimed"), "it is claimed", 30)
    server.kill()
    client = server.start().client()
    check.eventually(lambda: status(client, path) == "idle", "the turn is over", 60)
    begun = [event["metadata"]["fence"] for event in events(client, path, "session.claimed")]
    ended = [event["metadata"]["turn"] for event in events(client, path, "turn.ended")]
    check.equal(ended, begun)
    check.equal(begun, sorted(set(begun)))


@test
def message_truncated_across_sessions(server):
    """A long message comes through whole, in the log, from the queue and to a child."""
    client = server.client()
    path = talk(client)
    text = "".join(f"{number} ☀ " for number in range(12000))
    send(client, path, "m0")
    send(client, path, text)
    settle(client, path, claim(client))
    check.equal(said(client, path)[1] == text, True)
    child = people.session(client, parent_id=path.split("/")[-1], agent="b", prompt=text)
    check.equal(client.get(child).json()["initial_prompt"] == text, True)
    [got] = client.post("/api/claims", {"worker": "w", "agents": ["b"]}, expect=200).json()["claims"]
    check.equal(got["session"]["initial_prompt"] == text, True)

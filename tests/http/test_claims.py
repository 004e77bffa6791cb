"""Claims: one holder at a time, fenced, counted, surviving restarts."""
import os
import subprocess
import threading

from harness import check
from harness.suite import OPTIMISED, test


def queue(client, count=1, **body):
    return [client.post("/api/sessions", {"type": "agent", "agent": "a", "status": "pending", **body}, expect=201).json()["id"]
            for _ in range(count)]


def claim(client, **body):
    return client.post("/api/claims", {"worker": "w1", **body}, expect=200).json()["claims"]


@test
def cycle(server):
    """claim → heartbeat → append → settle under one lease."""
    client = server.client()
    [session] = queue(client)
    [got] = claim(client, agents=["a"], lease_ms=30000)
    check.equal(got["session"]["id"], session)
    check.equal(got["session"]["status"], "running")
    check.equal(got["lease"]["fence"], 1)
    held = {"Sojourn-Lease": got["lease"]["token"]}
    path = f"/api/sessions/{session}"
    client.post(path + "/lease", {"lease_ms": 60000}, headers=held, expect=200)
    client.post(path + "/events", {"events": [{"type": "agent.message", "content": [{"type": "text", "text": "hi"}]}]}, headers=held,
                expect=201)
    done = client.post(path + "/settle", {"status": "completed", "result": {"ok": True}, "usage": {"input_tokens": 5}}, headers=held,
                       expect=200).json()
    check.contains(done, {"status": "completed", "result": {"ok": True}, "message_count": 1})
    check.equal(client.post(path + "/lease", {}, headers=held, expect=409).json()["code"], "stale_lease")
    check.equal(claim(client), [])


@test
def a_settlement_claims_the_next(server):
    """One step: the held session ends, the oldest waiting one is claimed; both or neither."""
    client = server.client()
    first, second = queue(client, 2)
    [got] = claim(client, agents=["a"])
    held = {"Sojourn-Lease": got["lease"]["token"]}
    path = f"/api/sessions/{first}/settle"
    check.problem(client.post(path, {"status": "completed", "claim": {}}, headers=held), 400, "missing_member")
    check.problem(client.post(path, {"status": "completed", "claim": {"worker": "w", "wait_ms": 5}}, headers=held), 400,
                  "invalid_member")
    check.problem(client.post(path, {"status": "draft", "claim": {"worker": "w"}}, headers=held), 409, "illegal_transition")
    check.equal(client.get(f"/api/sessions/{second}").json()["status"], "pending")
    body = {"status": "completed", "claim": {"worker": "w", "agents": ["a"], "lease_ms": 30000}}
    done = client.post(path, body, headers=held, expect=200).json()
    check.contains(done, {"id": first, "status": "completed"})
    [following] = done["claims"]
    check.contains(following["session"], {"id": second, "status": "running"})
    check.problem(client.post(path, body, headers=held), 409, "stale_lease")
    last = client.post(f"/api/sessions/{second}/settle", body, headers={"Sojourn-Lease": following["lease"]["token"]},
                       expect=200).json()
    check.contains(last, {"id": second, "status": "completed", "claims": []})


@test
def a_settlement_claims_only_for_who_may(server):
    """Without the scope claim nothing is settled and nothing is claimed."""
    client = server.client()
    session = client.post("/api/sessions", {"type": "mixed", "status": "running"}, expect=201).json()["id"]
    queue(client)
    token = client.post("/api/tokens", {"name": "t", "scopes": ["read", "write"]}, expect=201).json()["token"]
    body = {"status": "completed", "claim": {"worker": "w"}}
    check.problem(server.client(token).post(f"/api/sessions/{session}/settle", body), 403, "scope_required")
    check.equal(client.get(f"/api/sessions/{session}").json()["status"], "running")


@test
def many_heartbeats_reach_the_store(server):
    """A heartbeat lengthens the lease for all who ask, and is in the figures a moment later."""
    client = server.client()
    [session] = queue(client)
    [got] = claim(client, lease_ms=30000)
    held = {"Sojourn-Lease": got["lease"]["token"]}
    before = client.get("/api/queue", expect=200).json()["workers"][0]["last_heartbeat_at"]
    told = [client.post(f"/api/sessions/{session}/lease", {}, headers=held, expect=200).json()["expires_at"] for _ in range(5)]
    check.equal(sorted(told), told)
    check.eventually(lambda: client.get("/api/queue").json()["workers"][0]["last_heartbeat_at"] > before, "the heartbeat is stored")
    client.get(f"/api/sessions/{session}", headers=held, expect=200)


@test
def order_and_filters(server):
    """Oldest first, priority before age, by agent and type."""
    client = server.client()
    old, = queue(client)
    new, = queue(client)
    urgent, = queue(client, priority=5)
    other, = queue(client, agent="b")
    check.equal(claim(client, agents=["c"]), [])
    check.equal(claim(client, types=["tool"]), [])
    check.equal(claim(client, agents=["b"])[0]["session"]["id"], other)
    check.equal([one["session"]["id"] for one in claim(client, agents=["a"], max=2)], [urgent, old])
    check.equal(claim(client)[0]["session"]["id"], new)


@test
def who_is_paused_is_in_nobodys_way(env):
    """Work behind a paused session is found by a claim of one, also by a server that remembers nothing."""
    server = env.server()
    client = server.client()
    paused, _ = queue(client, priority=9) + queue(client, priority=8)
    client.post(f"/api/sessions/{paused}/pause", {}, expect=200)
    server.kill()
    server.start()
    client = server.client()
    [got] = claim(client, max=1)
    check.true(got["session"]["id"] != paused, "it is held")
    check.equal(claim(client, max=1), [])
    client.post(f"/api/sessions/{paused}/unpause", {}, expect=200)
    check.equal([one["session"]["id"] for one in claim(client, max=1)], [paused])


@test
def order_of_a_long_queue_that_changes(server):
    """Who comes, goes, is paused or raised while others are claimed stands at his place in the queue."""
    client = server.client()
    first = queue(client, 70)

    def following(count):
        return [one["session"]["id"] for _ in range(count) for one in claim(client, agents=["a"])]
    check.equal(following(3), first[:3])
    client.delete(f"/api/sessions/{first[3]}", expect=204)
    client.post(f"/api/sessions/{first[4]}/pause", {}, expect=200)
    urgent, = queue(client, priority=3)
    last, = queue(client)
    check.equal(following(2), [urgent, first[5]])
    client.post(f"/api/sessions/{first[4]}/unpause", {}, expect=200)
    check.equal(following(1), [first[4]])
    check.equal(following(64), first[6:])
    [got] = claim(client)
    check.equal(got["session"]["id"], last)
    client.post(f"/api/sessions/{last}/release", {}, headers={"Sojourn-Lease": got["lease"]["token"]}, expect=200)
    check.equal(following(2), [last])
    check.equal(following(1), [])


@test
def a_short_answer(server):
    """Prefer: return=minimal leaves out what a worker can ask for."""
    client = server.client()
    first, second = queue(client, 2, prompt="do it", metadata={"k": 1})
    short = {"Prefer": "respond-async, return=minimal"}
    [got] = client.post("/api/claims", {"worker": "w"}, headers=short, expect=200).json()["claims"]
    check.contains(got["session"], {"id": first, "status": "running", "agent": "a", "fence": 1, "initial_prompt": "do it",
                                    "metadata": {"k": 1}})
    check.true("words" not in got["session"], "a short session")
    held = {"Sojourn-Lease": got["lease"]["token"], **short}
    done = client.post(f"/api/sessions/{first}/settle", {"status": "completed", "claim": {"worker": "w"}}, headers=held,
                       expect=200).json()
    check.contains(done, {"id": first, "status": "completed"})
    check.true("words" not in done, "a short session")
    check.equal(done["claims"][0]["session"]["id"], second)
    held = {"Sojourn-Lease": done["claims"][0]["lease"]["token"], "Prefer": "return=representation"}
    check.true("words" in client.post(f"/api/sessions/{second}/release", {}, headers=held, expect=200).json(), "the whole session")


@test
def each_session_to_one_worker(server):
    """S0-084: many workers at once, every session exactly once."""
    client = server.client()
    wanted = set(queue(client, 40))
    got, lock = [], threading.Lock()

    def work(name):
        own = server.client()
        while True:
            claims = own.post("/api/claims", {"worker": name, "max": 2}, expect=200).json()["claims"]
            if not claims:
                return
            with lock:
                got.extend(one["session"]["id"] for one in claims)
    threads = [threading.Thread(target=work, args=(f"w{i}",)) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    check.equal(sorted(got), sorted(wanted))


@test
def waiting_claim_gets_new_work(server):
    """A long poll ends as soon as work is queued, however: made, given back, said, let go on."""
    client = server.client()

    def claim_while(act):
        """What a claim gets that waits already when `act` happens."""
        result = []

        def wait():
            own = server.client(timeout_s=60)
            result.extend(own.post("/api/claims", {"worker": "w", "wait_ms": 50000}, expect=200).json()["claims"])
        thread = threading.Thread(target=wait)
        thread.start()
        check.eventually(lambda: "sojourn_claims_waiting 1" in client.get("/metrics").body.decode(), "the claim waits")
        acted = act()
        thread.join(30)
        check.equal(len(result), 1, "claims that the waiting worker got")
        return result[0], acted

    got, [session] = claim_while(lambda: queue(client))
    check.equal(got["session"]["id"], session)
    path = f"/api/sessions/{session}"
    held = lambda: {"Sojourn-Lease": got["lease"]["token"]}
    got, _ = claim_while(lambda: client.post(path + "/release", {}, headers=held(), expect=200))
    client.post(path + "/settle", {"status": "idle"}, headers=held(), expect=200)
    got, _ = claim_while(lambda: client.post(path + "/messages", {"text": "go on"}, expect=202))
    client.post(path + "/pause", {}, expect=200)
    client.post(path + "/release", {}, headers=held(), expect=200)
    got, _ = claim_while(lambda: client.post(path + "/unpause", {}, expect=200))
    check.equal((got["session"]["id"], got["lease"]["fence"]), (session, 4))


@test(options=["--lease-ms-min", "100", "--claim-attempts-max", "2"])
def lost_lease(server):
    """An expired lease returns the session; the stale holder is refused; the cap ends it failed."""
    client = server.client()
    [session] = queue(client)
    path = f"/api/sessions/{session}"
    [first] = claim(client, lease_ms=150)
    check.eventually(lambda: client.get(path).json()["status"] == "pending", "pending again")
    stale = {"Sojourn-Lease": first["lease"]["token"]}
    for call, body in [("/lease", {}), ("/events", {"events": [{"type": "agent.message"}]}), ("/settle", {"status": "completed"})]:
        check.equal(client.post(path + call, body, headers=stale, expect=409).json()["code"], "stale_lease")
    [second] = claim(client, lease_ms=150)
    check.equal(second["lease"]["fence"], 2)
    check.eventually(lambda: client.get(path).json()["status"] == "failed", "failed at the cap")
    check.equal(client.get(path).json()["stop_reason"], "attempts_exhausted")
    types = [event["type"] for event in client.get(path + "/events").json()["events"]]
    check.contains(types, "session.lease_lost")


@test
def release_and_settle_rules(server):
    """Released work is pending again; only the holder settles."""
    client = server.client()
    [session] = queue(client)
    path = f"/api/sessions/{session}"
    [got] = claim(client)
    check.equal(client.post(path + "/settle", {"status": "completed"}, expect=409).json()["code"], "lease_required")
    held = {"Sojourn-Lease": got["lease"]["token"]}
    check.equal(client.post(path + "/release", {}, headers=held, expect=200).json()["status"], "pending")
    [again] = claim(client)
    check.equal(again["lease"]["fence"], 2)
    held = {"Sojourn-Lease": again["lease"]["token"]}
    parked = client.post(path + "/settle", {"status": "waiting_human", "reason": "asks"}, headers=held, expect=200).json()
    check.equal(parked["status"], "waiting_human")
    check.equal(client.post(path + "/status", {"status": "pending"}, expect=200).json()["status"], "pending")
    [third] = claim(client)
    held = {"Sojourn-Lease": third["lease"]["token"]}
    failed = client.post(path + "/settle", {"status": "failed", "error": {"code": "boom", "message": "it broke"}}, headers=held,
                         expect=200).json()
    check.contains(failed, {"status": "failed", "error": {"code": "boom", "message": "it broke"}})


@test
def leases_survive_a_restart(server):
    """The holder goes on after the server came back."""
    client = server.client()
    [session] = queue(client)
    [got] = claim(client, lease_ms=60000)
    server.restart()
    client = server.client()
    held = {"Sojourn-Lease": got["lease"]["token"]}
    client.post(f"/api/sessions/{session}/lease", {}, headers=held, expect=200)
    figures = client.get("/api/queue", expect=200).json()
    check.equal(figures["workers"][0]["leases"], 1)


JUMPING_CLOCK = r"""
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t id, struct timespec *out)
{
    long seconds = 0;
    int result = (int)syscall(SYS_clock_gettime, id, out);
    FILE *file = id == CLOCK_REALTIME ? fopen(getenv("JUMP_FILE"), "r") : NULL;
    if (file) {
        if (fscanf(file, "%ld", &seconds) == 1)
            out->tv_sec += seconds;
        fclose(file);
    }
    return result;
}
"""


class JumpingClock:
    """The wall clock of a server, moved while it runs; its monotonic clocks stay as they are."""

    def __init__(self, directory):
        source, self.library = os.path.join(directory, "jump.c"), os.path.join(directory, "jump.so")
        with open(source, "w", encoding="ascii") as file:
            file.write(JUMPING_CLOCK)
        subprocess.run(["cc", "-shared", "-fPIC", "-O2", "-o", self.library, source], check=True)
        self.file = os.path.join(directory, "jump")
        self.jump(0)

    def jump(self, seconds):
        with open(self.file + ".new", "w", encoding="ascii") as file:
            file.write(f"{seconds}\n")
        os.rename(self.file + ".new", self.file)

    def environment(self):
        return {"LD_PRELOAD": self.library, "JUMP_FILE": self.file}


@test(on=OPTIMISED)
def leases_survive_clock_jumps(env):
    """A day forwards takes no lease and ends no session; a day back lets none live longer; both also over a restart."""
    clock, day = JumpingClock(env.directory), 86400
    server = env.server(environment=clock.environment())
    client = server.client()
    long, short = queue(client, 2)
    kept, lost = claim(client, max=2, lease_ms=600000)
    held = {"Sojourn-Lease": kept["lease"]["token"]}
    mortal = client.post("/api/sessions", {"type": "agent", "ttl_ms": 600000}, expect=201).json()["id"]
    started = client.get(f"/api/sessions/{long}").json()["created_at"]
    for seconds in (day, -day):
        clock.jump(seconds)
        client.post(f"/api/sessions/{long}/lease", {}, headers=held, expect=200)
        said = client.post(f"/api/sessions/{long}/events", {"events": [{"type": "agent.message"}]}, headers=held, expect=201)
        check.equal(said.json()["events"][0]["created_at"][:10] == started[:10], False, "the server sees the jump")
        client.post(f"/api/sessions/{short}/lease", {"lease_ms": 1000 if seconds < 0 else 600000},
                    headers={"Sojourn-Lease": lost["lease"]["token"]}, expect=200)
        check.equal(client.get(f"/api/sessions/{mortal}").json()["status"], "idle")
    check.eventually(lambda: client.get(f"/api/sessions/{short}").json()["status"] == "pending", "the short lease ends")
    [again] = claim(client, lease_ms=600000)
    for seconds in (0, -day, day):
        clock.jump(seconds)
        server.restart()
        client = server.client()
        client.post(f"/api/sessions/{long}/lease", {}, headers=held, expect=200)
    client.post(f"/api/sessions/{short}/settle", {"status": "completed"},
                headers={"Sojourn-Lease": again["lease"]["token"]}, expect=200)
    check.equal(client.get(f"/api/sessions/{long}").json()["status"], "running")


@test
def timers_fire_after_a_restart(server):
    """A time to live that ran out while the server was down ends the session once."""
    client = server.client()
    session = client.post("/api/sessions", {"type": "agent", "ttl_ms": 300}, expect=201).json()
    server.stop()
    server.start()
    client = server.client()
    path = f"/api/sessions/{session['id']}"
    check.eventually(lambda: client.get(path).json()["status"] == "expired", "expired")
    changes = [event for event in client.get(path + "/events").json()["events"] if event["type"] == "session.status_change"]
    check.equal(len(changes), 1)


@test
def usage_is_the_sum_of_its_parts(server):
    """X-12: each turn adds its numbers in the transaction that settles it; the log and verify agree."""
    client = server.client()
    [session] = queue(client)
    path = f"/api/sessions/{session}"
    total = 0
    for turn in range(1, 5):
        [got] = claim(client)
        held = {"Sojourn-Lease": got["lease"]["token"]}
        to = "completed" if turn == 4 else "pending"
        if to == "pending":
            client.post(path + "/settle", {"status": "idle", "usage": {"input_tokens": turn, "cost_usd": 0.5}}, headers=held,
                        expect=200)
            client.post(path + "/status", {"status": "pending"}, expect=200)
        else:
            client.post(path + "/settle", {"status": "completed", "usage": {"input_tokens": turn, "cost_usd": 0.5}},
                        headers=held, expect=200)
        total += turn
        shown = client.get(path).json()
        check.contains(shown["usage"], {"input_tokens": total, "cost_usd": 0.5 * turn})
        check.equal(client.get(f"{path}?at={shown['last_sequence']}").json()["usage"], shown["usage"])
    check.equal(client.get(path).json()["turn_count"], 4)


@test
def totals_only_grow(server):
    """X-12: nothing that is no number, or less than nothing, undoes a sum; words beside the numbers are kept."""
    client = server.client()
    [session] = queue(client)
    path = f"/api/sessions/{session}"
    for usage, total in (({"tokens": 5, "by": {"a": 1}, "model": "one"}, {"tokens": 5, "by": {"a": 1}, "model": "one"}),
                         ({"tokens": "x", "by": {"a": None}, "model": "two"},
                          {"tokens": 5, "by": {"a": 1}, "model": "two"})):
        [got] = claim(client)
        held = {"Sojourn-Lease": got["lease"]["token"]}
        for bad in ({"tokens": -1}, {"by": {"a": -0.5}}):
            check.problem(client.post(path + "/settle", {"status": "idle", "usage": bad}, headers=held), 400,
                          "invalid_usage")
        client.post(path + "/settle", {"status": "idle", "usage": usage}, headers=held, expect=200)
        check.equal(client.get(path).json()["usage"], total)
        client.post(path + "/status", {"status": "pending"}, expect=200)


@test
def what_has_no_turn_is_not_settled(server):
    """The answer says so, and does not name the wanted state among those that could follow."""
    client = server.client()
    [session] = queue(client)
    problem = client.post(f"/api/sessions/{session}/settle", {"status": "completed"})
    check.problem(problem, 409, "illegal_transition")
    check.contains(problem.json(), {"from": "pending", "to": "completed"})
    check.contains(problem.json()["detail"], "has no turn")


@test
def a_failed_turn_says_why(server):
    """S0-087: the error stands on the session and in the log."""
    client = server.client()
    [session] = queue(client)
    [got] = claim(client)
    path = f"/api/sessions/{session}"
    client.post(path + "/settle", {"status": "failed", "error": {"code": "boom", "message": "it broke"}},
                headers={"Sojourn-Lease": got["lease"]["token"]}, expect=200)
    events = client.get(path + "/events").json()["events"]
    [error] = [event for event in events if event["type"] == "session.error"]
    check.contains(error["metadata"], {"message": "it broke", "code": "boom"})
    check.contains(client.get(path).json(), {"display_status": "failed", "failing": True, "stop_reason": "failed"})


@test
def settling_goes_only_where_running_may_go(server):
    """S0-012, S0-016 to S0-018: every state behind running, and none else; the lease ends with the turn."""
    client = server.client()
    for to in ("completed", "failed", "waiting_human", "awaiting_tool", "idle", "expired", "abandoned", "pending"):
        [session] = queue(client, agent=f"to-{to}")
        [got] = claim(client, agents=[f"to-{to}"])
        held = {"Sojourn-Lease": got["lease"]["token"]}
        path = f"/api/sessions/{session}"
        check.problem(client.post(path + "/settle", {"status": "draft"}, headers=held), 409, "illegal_transition")
        check.equal(client.post(path + "/settle", {"status": to}, headers=held, expect=200).json()["status"], to)
        check.problem(client.post(path + "/lease", {}, headers=held), 409, "stale_lease")
        if to == "pending":
            claim(client, agents=[f"to-{to}"])


@test
def the_log_tells_the_whole_story(server):
    """S0-030, S0-083 to S0-085: created, claimed with worker and fence, every move with its reason, completed."""
    client = server.client()
    [session] = queue(client)
    path = f"/api/sessions/{session}"
    [got] = claim(client, worker="w9")
    held = {"Sojourn-Lease": got["lease"]["token"]}
    client.post(path + "/events", {"events": [{"type": "agent.thinking"}, {"type": "agent.tool_call"}]}, headers=held,
                expect=201)
    client.post(path + "/settle", {"status": "completed", "result": {"n": 1}}, headers=held, expect=200)
    events = client.get(path + "/events").json()["events"]
    types = [event["type"] for event in events]
    check.equal(types[0], "session.created")
    check.equal(types[-1], "session.completed")
    check.contains(types, "session.status_change")
    [claimed] = [event for event in events if event["type"] == "session.claimed"]
    check.contains(claimed["metadata"], {"worker": "w9", "fence": 1})
    check.equal(events[-1]["metadata"]["result"], {"n": 1})


@test
def running_is_reached_by_a_claim(server):
    """S0-015: nobody moves an agent's session to running by hand, from wherever it is: nobody would run it."""
    client = server.client()
    [session] = queue(client)
    path = f"/api/sessions/{session}"
    refuse = lambda: check.problem(client.post(path + "/status", {"status": "running"}), 409, "claim_needed")
    refuse()
    for parked in ("waiting_human", "awaiting_tool", "idle"):
        [got] = claim(client)
        check.equal(got["session"]["status"], "running")
        held = {"Sojourn-Lease": got["lease"]["token"]}
        client.post(path + "/settle", {"status": parked}, headers=held, expect=200)
        refuse()
        check.equal(client.get(path).json()["status"], parked)
        client.post(path + "/status", {"status": "pending"}, expect=200)
    refuse()
    [got] = claim(client)
    held = {"Sojourn-Lease": got["lease"]["token"]}
    client.post(path + "/asks", {"id": "q", "kind": "question", "text": "which?"}, headers=held, expect=201)
    check.equal(client.get(path).json()["status"], "waiting_human")
    refuse()
    client.post(path + "/status", {"status": "running"}, headers=held, expect=200)


@test
def figures_of_the_queue(server):
    """Depth by agent, the oldest, who holds what."""
    client = server.client()
    queue(client, 3)
    queue(client, 1, agent="b")
    claim(client, agents=["a"], worker="w1")
    figures = client.get("/api/queue", expect=200).json()
    rows = {row["agent"]: (row["pending"], row["leased"]) for row in figures["queues"]}
    check.equal(rows, {"a": (2, 1), "b": (1, 0)})
    check.equal([(row["worker"], row["leases"]) for row in figures["workers"]], [("w1", 1)])


@test(options=["--claim-wait-ms-max", "300"])
def a_wait_ends(server):
    """Nothing came: an empty answer after the time, which the server bounds; a client that left costs nothing."""
    client = server.client()
    check.equal(claim(client, wait_ms=600000), [])
    gone = client.connect()
    from harness.client import encode_request
    gone.send(encode_request("POST", "/api/claims", {"worker": "gone", "wait_ms": 600000},
                             [("Authorization", f"Bearer {server.token}")]))
    check.eventually(lambda: "sojourn_claims_waiting 1" in client.get("/metrics").body.decode(), "it waits")
    gone.abort()
    check.eventually(lambda: "sojourn_claims_waiting 0" in client.get("/metrics").body.decode(), "it is gone")
    [session] = queue(client)
    check.equal(claim(client)[0]["session"]["id"], session, "nobody else was given it")


@test
def a_worker_needs_no_more_than_claim(server):
    """The scope claim is enough for the whole cycle, and only under the lease."""
    client = server.client()
    worker = server.client(client.post("/api/tokens", {"name": "w", "kind": "worker", "scopes": ["claim"]}, expect=201).json()["token"])
    [session] = queue(client)
    path = f"/api/sessions/{session}"
    worker.get(path, expect=(403, 404))
    [got] = claim(worker)
    held = {"Sojourn-Lease": got["lease"]["token"]}
    worker.get(path, headers=held, expect=200)
    worker.post(path + "/events", {"events": [{"type": "agent.message"}]}, headers=held, expect=201)
    worker.post(path + "/events", {"events": [{"type": "agent.message"}]}, expect=(403, 404))
    worker.post(path + "/settle", {"status": "completed"}, headers=held, expect=200)


@test
def turns_of_workers_end(server):
    """Each turn that a worker settles, or a stop takes from it, has one turn.ended; one that is parked goes on, and one
    that was given back or lost is tried again."""
    client = server.client()

    def run(end, **first):
        [session] = queue(client)
        path = f"/api/sessions/{session}"
        [got] = claim(client, agents=["a"], **first)
        held = {"Sojourn-Lease": got["lease"]["token"]}
        end(path, held)
        log = client.get(path + "/events?limit=100", expect=200).json()["events"]
        types = [one["type"] for one in log]
        if "turn.ended" in types and end is not stop:
            check.true("session.status_change" in types[types.index("turn.ended"):], types)
        return [one["metadata"] for one in log if one["type"] == "turn.ended"]

    def stop(path, held):
        client.post(path + "/stop", {}, expect=200)

    def settle(status, **body):
        return lambda path, held: client.post(path + "/settle", {"status": status, **body}, headers=held, expect=200)

    def park(path, held):
        settle("waiting_human")(path, held)

    def lose(path, held):
        check.eventually(lambda: client.get(path).json()["status"] == "pending", "the lease is over")
        client.post(path + "/stop", {}, expect=200)
    check.equal(run(settle("idle", usage={"input_tokens": 3})), [{"turn": 1, "stop_reason": "stop", "usage": {"input_tokens": 3}}])
    check.equal(run(settle("completed")), [{"turn": 1, "stop_reason": "stop"}])
    [failed] = run(settle("failed", error={"message": "out of luck"}))
    check.contains(failed, {"turn": 1, "stop_reason": "error"})
    check.equal(failed["error"]["message"], "out of luck")
    [stopped] = run(stop)
    check.contains(stopped, {"turn": 1, "stop_reason": "aborted"})
    for parked in (park, lambda path, held: client.post(path + "/release", {}, headers=held, expect=200)):
        check.equal(run(parked), [])
        for one in client.get("/api/sessions?status=pending", expect=200).json()["sessions"]:
            client.post(f"/api/sessions/{one['id']}/stop", {}, expect=200)
    check.equal(run(lose, lease_ms=150), [])

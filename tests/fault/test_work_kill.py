"""kill -9 while steps of tasks end: every run goes on exactly once, and every output is written exactly once."""
import threading

from harness import check
from harness.check import Failure
from harness.suite import OPTIMISED, test

ROUNDS = 12
RUNS_PER_ROUND = 4
# A diamond with a tail: two beside each other, one that joins them, one that needs approval.
STEPS = [{"id": "first", "agent": "doer", "output": {"fields": {"first": "string"}}},
         {"id": "left", "agent": "doer", "depends_on": ["first"], "output": {"fields": {"left": "string"}}},
         {"id": "right", "agent": "doer", "depends_on": ["first"], "output": {"fields": {"right": "string"}}},
         {"id": "join", "agent": "doer", "depends_on": ["left", "right"], "output": {"fields": {"join": "string"}}},
         {"id": "tail", "agent": "doer", "depends_on": ["join"], "requires_approval": True, "output": {"fields": {"tail": "string"}}}]
IDS = [step["id"] for step in STEPS]


class Doer(threading.Thread):
    """Claims steps and settles them, approves outputs, and bears the death of the server; ends with its round."""

    def __init__(self, server, limit):
        super().__init__(daemon=True)
        self.server, self.limit, self.done, self.over = server, limit, 0, threading.Event()

    def run(self):
        client = self.server.client(timeout_s=10)
        while self.done < self.limit and not self.over.is_set():
            try:
                self.work(client)
            except (Failure, OSError):
                return  # the server died

    def work(self, client):
        for one in client.post("/api/claims", {"worker": self.name, "agents": ["doer"], "wait_ms": 50}, expect=200).json()["claims"]:
            session = one["session"]
            step = session["metadata"]["step"]
            client.post(f"/api/sessions/{session['id']}/settle", {"status": "completed", "result": {step: session["id"]}},
                        headers={"Sojourn-Lease": one["lease"]["token"]}, expect=200)
            self.done += 1
        for ask in client.get("/api/asks", expect=200).json()["asks"]:
            client.post(f"/api/sessions/{ask['session_id']}/asks/{ask['id']}/answer", {"decision": "once"}, expect=200)
            self.done += 1


def begin(client, number):
    """A run about an entity of its own; the same call again is the same run."""
    entity = f"e{number}"
    client.post("/api/entities", {"id": entity, "type": "thing"}, headers={"Idempotency-Key": "make-" + entity}, expect=201)
    client.post("/api/tasks/diamond/runs", {"entity_id": entity}, headers={"Idempotency-Key": "run-" + entity}, expect=201)


def events(client, session, types):
    return client.get(f"/api/sessions/{session}/events?limit=1000&types={types}", expect=200).json()["events"]


def check_run(client, entity):
    """Five steps, each started, ended and written once; the run ended once."""
    sessions = client.get(f"/api/sessions?entity_id={entity}&limit=100&archived=all", expect=200).json()["sessions"]
    [whole] = [one for one in sessions if one["type"] == "mixed"]
    steps = {one["metadata"]["step"]: one["id"] for one in sessions if one["type"] == "agent"}
    check.equal((len(sessions), sorted(steps)), (6, sorted(IDS)), entity)
    for step, id in steps.items():
        moves = [event["metadata"]["to"] for event in events(client, id, "session.status_change")]
        check.equal(moves.count("completed"), 1, f"{entity} {step}: {moves}")
        queued = [event for event in events(client, id, "session.status_change")
                  if event["metadata"]["to"] == "pending" and not event["metadata"].get("requeued")]
        check.equal(len(queued), 0 if step == "first" else 1, f"{entity} {step} was started")
        check.equal([event["metadata"]["fields"] for event in events(client, id, "entity.updated")], [[step]])
    ends = [event["metadata"]["to"] for event in events(client, whole["id"], "session.status_change")]
    check.equal(ends, ["completed"], entity)
    stored = client.get(f"/api/entities/{entity}", expect=200).json()
    check.equal((stored["version"], stored["fields"]), (6, {step: steps[step] for step in IDS}), entity)


@test(on=OPTIMISED, options=["--lease-ms-default", "400", "--lease-ms-min", "100", "--claim-attempts-max", "1000",
                             "--sessions-per-user-max", "100000"], timeout_s=300)
def killed_while_steps_end(env):
    """After a random number of them, again and again; then everything comes to its end."""
    chance = env.random()
    server = env.server()
    client = server.client()
    client.post("/api/agents", {"id": "doer", "driver": "worker"}, expect=201)
    client.post("/api/tasks", {"id": "diamond", "steps": STEPS}, expect=201)
    count = 0
    for _ in range(env.rounds(ROUNDS)):
        for number in range(count, count + RUNS_PER_ROUND):
            begin(client, number)
        count += RUNS_PER_ROUND
        doers = [Doer(server, chance.randrange(1, 12)) for _ in range(3)]
        for one in doers:
            one.start()
        doers[0].join(20)
        server.kill()
        for one in doers:
            one.over.set()
            one.join(20)
        client = server.start().client()
        begin(client, count - 1)
    doers = [Doer(server, 1000000) for _ in range(3)]
    for one in doers:
        one.start()

    def all_ended():
        counts = client.get("/api/counts", expect=200).json()["by_type"]
        return counts["mixed"]["completed"] == count
    check.eventually(all_ended, f"{count} runs ended", 120)
    for one in doers:
        one.over.set()
        one.join(20)
    for number in range(count):
        check_run(client, f"e{number}")
    server.stop()
    server.verify()

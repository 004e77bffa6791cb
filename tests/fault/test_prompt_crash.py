"""Three messages in every order of modes to an agent that a worker plays, and kill -9 in the middle of every step: each
accepted message is said once, or waits, or says why it was withdrawn."""
import itertools

from harness import check
from harness.suite import OPTIMISED, test
from fault.scene import AT_A_TIME, Scene

SCRIPTS = list(itertools.product(("followup", "steer", "collect", "reject"), repeat=3))
STEPS = ("send 0", "send 1", "claim", "send 2", "settle", "claim", "settle", "claim", "settle")
LEASE_MS = 1500
OPTIONS = ["--lease-ms-min", "100", "--claim-attempts-max", "1000", "--sessions-per-user-max", "100000"]


class Work(Scene):
    """And a worker for all of the sessions."""

    def __init__(self, server, run):
        super().__init__(server, f"r{run}", f"agent{run}", SCRIPTS)
        self.leases = {}  # path: token

    def settles(self):
        """The end of every turn in hand."""
        for path, lease in self.leases.items():
            yield "POST", path + "/settle", {"status": "idle"}, {"Sojourn-Lease": lease}

    def claims(self):
        """As many turns as there are."""
        yield "POST", "/api/claims", {"worker": "w", "agents": [self.agent], "max": 64, "lease_ms": LEASE_MS}, {}

    def requests_of(self, step):
        """The requests of a step."""
        kind, _, number = step.partition(" ")
        return list(self.sends(int(number)) if kind == "send" else self.settles() if kind == "settle" else self.claims())

    def cut(self, step):
        """Sends what fits at once and kills the server without reading an answer."""
        with self.client.connect() as connection:
            connection.send(b"".join(self.encode(request) for request in self.requests_of(step)[:AT_A_TIME]))
            self.server.kill()
        self.server.start()
        self.begin_again()
        self.check_now()

    def perform(self, step):
        """The step, and what its answers promise."""
        kind, _, number = step.partition(" ")
        for index, answer in enumerate(self.exchange(self.requests_of(step))):
            if kind == "send":
                self.note_send(index, int(number), answer)
            elif kind == "claim":
                check.equal(answer.status, 200, "status of a claim")
                for claim in answer.json()["claims"]:
                    self.leases[f"/api/sessions/{claim['session']['id']}"] = claim["lease"]["token"]
            else:
                check.one_of(answer.status, (200, 409, 412), f"status of a settlement: {answer.body[:300]!r}")
        if kind == "settle":
            self.leases.clear()

    def statuses(self):
        """In one question: they are all that this agent has."""
        listed = self.client.get(f"/api/sessions?agent={self.agent}&limit=100", expect=200).json()["sessions"]
        check.equal(len(listed), len(SCRIPTS))
        return [session["status"] for session in listed]

    def drain(self):
        """Plays the worker until every session is at rest with nothing waiting."""
        def at_rest():
            self.perform("claim")
            self.perform("settle")
            return self.is_at_rest()
        check.eventually(at_rest, "every session comes to rest", 30)


def play(server, run, killed_at):
    """All scripts side by side; the server dies in the middle of the steps `killed_at`."""
    scene = Work(server, run)
    for number, step in enumerate(STEPS):
        if number in killed_at:
            scene.cut(step)
        scene.perform(step)
    scene.drain()
    scene.check_end()


@test(on=OPTIMISED, options=OPTIONS, timeout_s=300)
def killed_in_the_middle_of_each_step(server):
    """Once in each step; then in all of them."""
    for run in range(len(STEPS)):
        play(server, run, {run})
    play(server, len(STEPS), set(range(len(STEPS))))
    server.stop()
    server.verify()
    server.start()

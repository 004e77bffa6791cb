"""Three messages in every order of modes, and kill -9 in the middle of every step: each accepted message is said once, or
waits, or says why it was withdrawn."""
import itertools

from harness import check
from harness.client import encode_request
from harness.suite import OPTIMISED, test

MODES = ("followup", "steer", "collect", "reject")
SCRIPTS = list(itertools.product(MODES, repeat=3))
STEPS = ("send 0", "send 1", "claim", "send 2", "settle", "claim", "settle", "claim", "settle")
AT_A_TIME = 16  # requests on one connection without waiting for answers
DEBOUNCE_MS, LEASE_MS = 40, 1500
OPTIONS = ["--lease-ms-min", "100", "--claim-attempts-max", "1000", "--sessions-per-user-max", "100000"]


class Scene:
    """One session per script, a worker for all of them, and what was promised to whom."""

    def __init__(self, server, run):
        self.server = server
        self.run = run
        self.agent = f"agent{run}"
        self.client = server.client()
        self.paths = [f"/api/sessions/r{run}-{'-'.join(script)}" for script in SCRIPTS]
        self.accepted = [{} for _ in SCRIPTS]  # number of the message: its prompt_id, or None when it was refused
        self.leases = {}                       # path: token
        for path in self.paths:
            body = {"id": path.split("/")[-1], "type": "agent", "agent": self.agent}
            self.client.post("/api/sessions", body, expect=201)

    # --- the requests of a step ---

    def sends(self, number):
        """One message to every session, each with a key, so that it may be sent again."""
        for index, path in enumerate(self.paths):
            mode = SCRIPTS[index][number]
            body = {"text": f"m{number}", "mode": mode}
            if mode == "collect":
                body["debounce_ms"] = DEBOUNCE_MS
            yield path + "/messages", body, {"Idempotency-Key": f"{path}#{number}"}

    def settles(self):
        """The end of every turn in hand."""
        for path, lease in self.leases.items():
            yield path + "/settle", {"status": "idle"}, {"Sojourn-Lease": lease}

    def claims(self):
        """As many turns as there are."""
        yield "/api/claims", {"worker": "w", "agents": [self.agent], "max": 64, "lease_ms": LEASE_MS}, {}

    def requests_of(self, step):
        """The requests of a step, as (path, body, headers)."""
        kind, _, number = step.partition(" ")
        return list(self.sends(int(number)) if kind == "send" else self.settles() if kind == "settle" else self.claims())

    # --- asking ---

    def exchange(self, requests):
        """Sends them, some at a time, and returns the answers."""
        answers = []
        with self.client.connect() as connection:
            for at in range(0, len(requests), AT_A_TIME):
                part = requests[at:at + AT_A_TIME]
                connection.send(b"".join(self.encode(request) for request in part))
                answers += [connection.read_response("POST", f"POST {path}") for path, _, _ in part]
        return answers

    def encode(self, request):
        """The bytes of one."""
        path, body, headers = request
        return encode_request("POST", path, body, self.client.headers_for(headers))

    def cut(self, step):
        """Sends what fits at once and kills the server without reading an answer."""
        with self.client.connect() as connection:
            connection.send(b"".join(self.encode(request) for request in self.requests_of(step)[:AT_A_TIME]))
            self.server.kill()
        self.client.close()
        self.client = self.server.start().client()
        self.check_now()

    def perform(self, step):
        """The step, and what its answers promise."""
        requests = self.requests_of(step)
        kind, _, number = step.partition(" ")
        for index, answer in enumerate(self.exchange(requests)):
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

    def note_send(self, index, number, answer):
        """Accepted, or refused because the session is busy; nothing else."""
        if SCRIPTS[index][number] == "reject" and answer.status == 409:
            check.problem(answer, 409, "busy")
            self.accepted[index][number] = None
            return
        check.equal(answer.status, 202, f"status of {answer.request_line}: {answer.body[:300]!r}")
        self.accepted[index][number] = answer.json()["prompt_id"]

    # --- what must hold ---

    def fate(self, path):
        """prompt_id: the texts of where it is found, over the log and the queue."""
        found = {}
        query = "/events?limit=1000&types=user.message,prompt.withdrawn"
        for event in self.client.get(path + query, expect=200).json()["events"]:
            metadata = event["metadata"]
            prompts = metadata.get("prompts", [metadata])
            for prompt in prompts:
                found.setdefault(prompt["prompt_id"], []).append(event["type"])
            if event["type"] == "user.message":
                check.equal(len(event["content"]), len(prompts), f"parts of a message in {path}")
        for prompt in self.client.get(path + "/queue", expect=200).json()["prompts"]:
            found.setdefault(prompt["prompt_id"], []).append("waits")
        return found

    def check_now(self):
        """Every message that was accepted is in exactly one place, and nothing is in two."""
        for path, accepted in zip(self.paths, self.accepted):
            found = self.fate(path)
            for prompt_id, places in found.items():
                check.equal(len(places), 1, f"places of {prompt_id} in {path}: {places}")
            for number, prompt_id in accepted.items():
                check.true(prompt_id is None or prompt_id in found, f"message {number} of {path} is somewhere")

    def drain(self):
        """Plays the worker until every session is at rest with nothing waiting."""
        def at_rest():
            self.perform("claim")
            self.perform("settle")
            listed = self.client.get(f"/api/sessions?agent={self.agent}&limit=100", expect=200).json()["sessions"]
            check.equal(len(listed), len(SCRIPTS))
            return all(session["status"] == "idle" for session in listed) and not any(
                self.client.get(path + "/queue", expect=200).json()["prompts"] for path in self.paths)
        check.eventually(at_rest, "every session comes to rest", 30)

    def check_end(self):
        """All was said, nothing more; where all are followups, in their order."""
        for path, accepted, script in zip(self.paths, self.accepted, SCRIPTS):
            found = self.fate(path)
            wanted = {prompt_id for prompt_id in accepted.values() if prompt_id}
            check.equal(set(found), wanted, f"messages of {path}")
            check.true(all(places == ["user.message"] for places in found.values()), f"all of {path} is said: {found}")
            if set(script) == {"followup"}:
                check.equal(list(found), [accepted[n] for n in range(3)], f"the order in {path}")


def play(server, run, killed_at):
    """All scripts side by side; the server dies in the middle of the steps `killed_at`."""
    scene = Scene(server, run)
    for number, step in enumerate(STEPS):
        if number in killed_at:
            scene.cut(step)
        scene.perform(step)
    scene.drain()
    scene.check_end()


@test(on=OPTIMISED, options=OPTIONS, timeout_s=120)
def killed_in_the_middle_of_each_step(server):
    """Once in each step; then in all of them."""
    for run in range(len(STEPS)):
        play(server, run, {run})
    play(server, len(STEPS), set(range(len(STEPS))))
    server.stop()
    server.verify()
    server.start()

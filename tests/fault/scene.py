"""Many sessions side by side, one for each order of message modes, and what was promised about every message.

Messages carry keys, so that one whose answer was lost can be sent again. What must hold whenever no request is under way:
`check_now`. What must hold once all sessions are at rest: `check_end`.
"""
from harness import check
from harness.client import encode_request
from fault.conversation import Log

AT_A_TIME = 16  # requests on one connection without waiting for answers
DEBOUNCE_MS = 40


class Scene:
    """One session per script (the modes of its messages, in order)."""

    def __init__(self, server, name, agent, scripts):
        self.server = server
        self.agent = agent
        self.scripts = scripts
        self.client = server.client(timeout_s=30)
        self.paths = [f"/api/sessions/{name}-{'-'.join(script)}" for script in scripts]
        self.accepted = [{} for _ in scripts]  # number of the message: its name in `fate`, or None when it was refused
        self.ask_all(("POST", "/api/sessions", {"id": path.split("/")[-1], "type": "agent", "agent": agent}, {})
                     for path in self.paths)

    # --- asking ---

    def exchange(self, requests):
        """Sends (method, path, body, headers) each, some at a time, and returns the answers."""
        answers = []
        with self.client.connect() as connection:
            for at in range(0, len(requests), AT_A_TIME):
                part = requests[at:at + AT_A_TIME]
                connection.send(b"".join(self.encode(request) for request in part))
                answers += [connection.read_response(method, f"{method} {path}") for method, path, _, _ in part]
        return answers

    def ask_all(self, requests):
        """The same; all of them must succeed."""
        answers = self.exchange(list(requests))
        for answer in answers:
            check.true(answer.status < 300, f"{answer.request_line}: {answer.status} {answer.body[:300]!r}")
        return [answer.json() for answer in answers]

    def encode(self, request):
        """The bytes of one."""
        method, path, body, headers = request
        return encode_request(method, path, body, self.client.headers_for(headers))

    def begin_again(self):
        """The server died: a client of its next life."""
        self.client.close()
        self.client = self.server.client(timeout_s=30)

    # --- messages ---

    def sends(self, number, text="m{}"):
        """One message to every session."""
        for path, script in zip(self.paths, self.scripts):
            mode = script[number]
            body = {"text": text.format(number), "mode": mode}
            if mode == "append":
                del body["mode"]
            if mode == "collect":
                body["debounce_ms"] = DEBOUNCE_MS
            yield ("POST", path + "/messages" + ("?append=true" if mode == "append" else ""), body,
                   {"Idempotency-Key": f"{path}#{number}"})

    def note_send(self, index, number, answer):
        """Accepted, or refused because the session is busy; nothing else."""
        mode = self.scripts[index][number]
        if mode == "reject" and answer.status == 409:
            check.problem(answer, 409, "busy")
            self.accepted[index][number] = None
            return
        want = 200 if mode == "append" else 202
        check.equal(answer.status, want, f"status of {answer.request_line}: {answer.body[:300]!r}")
        name = f"event {answer.json()['sequence']}" if mode == "append" else answer.json()["prompt_id"]
        before = self.accepted[index].setdefault(number, name)
        check.equal(name, before, f"the answer to {answer.request_line}, sent again")

    # --- what must hold ---

    def read(self):
        """For each session its queue, read first, and its log: what is dispatched in between is found twice at most."""
        queues = self.ask_all(("GET", path + "/queue", None, {}) for path in self.paths)
        logs = self.ask_all(("GET", path + "/events?limit=1000", None, {}) for path in self.paths)
        return [(queue["prompts"], log["events"]) for queue, log in zip(queues, logs)]

    @staticmethod
    def fate(prompts, entries):
        """name of a message: where it is found, over the log and the queue."""
        found = {}
        for event in entries:
            metadata = event["metadata"]
            if event["type"] not in ("user.message", "prompt.withdrawn"):
                continue
            if not {"prompts", "prompt_id"} & metadata.keys():
                found.setdefault(f"event {event['sequence']}", []).append("appended")
                continue
            said = metadata.get("prompts", [metadata])
            for prompt in said:
                found.setdefault(prompt["prompt_id"], []).append(event["type"])
            if event["type"] == "user.message":
                check.equal(len(event["content"]), len(said), f"parts of a message in {event['session_id']}")
        for prompt in prompts:
            if found.get(prompt["prompt_id"]) != ["user.message"]:  # said since the queue was read
                found.setdefault(prompt["prompt_id"], []).append("waits")
        return found

    def check_now(self):
        """Every message that was accepted is in exactly one place, and nothing is in two."""
        for path, accepted, (prompts, entries) in zip(self.paths, self.accepted, self.read()):
            found = self.fate(prompts, entries)
            for name, places in found.items():
                check.equal(len(places), 1, f"places of {name} in {path}: {places}")
            for number, name in accepted.items():
                check.true(name is None or name in found, f"message {number} of {path} is somewhere")

    def statuses(self):
        """Of all sessions."""
        return [session["status"] for session in self.ask_all(("GET", path, None, {}) for path in self.paths)]

    def is_at_rest(self):
        """Whether nothing runs and nothing waits."""
        if set(self.statuses()) != {"idle"}:
            return False
        queues = self.ask_all(("GET", path + "/queue", None, {}) for path in self.paths)
        return not any(queue["prompts"] for queue in queues)

    def check_end(self):
        """All was said, nothing more; where all are followups, in their order. The logs."""
        logs = []
        for path, accepted, script, (prompts, entries) in zip(self.paths, self.accepted, self.scripts, self.read()):
            found = self.fate(prompts, entries)
            wanted = {name for name in accepted.values() if name}
            check.equal(set(found), wanted, f"messages of {path}")
            check.true(all(places in (["user.message"], ["appended"]) for places in found.values()),
                       f"all of {path} is said: {found}")
            if set(script) == {"followup"}:
                check.equal(list(found), [accepted[n] for n in range(len(script))], f"the order in {path}")
            logs.append(Log(entries))
        return logs

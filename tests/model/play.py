"""The server and the model side by side: random commands for both, and the comparison after each."""
import threading
import time

from harness import check
from harness.client import Closed
from model.model import ENDED, STATES, Model, Principal, Refused

OPTIONS = ["--lease-ms-min", "100ms", "--claim-attempts-max", "3", "--sessions-per-user-max", "100000",
           "--share-links-max", "1000", "--children-max", "10000"]
COMPARED = ["type", "status", "purpose", "title", "agent", "metadata", "visibility", "queue_mode", "parent_id",
            "task_id", "priority", "attempt", "retry_of", "fence", "claim_attempts", "message_count",
            "tool_call_count", "turn_count", "preview", "result", "usage", "error", "stop_reason", "status_reason",
            "owner_id"]
NEW = {"status": STATES[:6], "agent": ["a", "b"], "priority": [-1, 0, 5], "title": ["one", "two"], "task_id": ["t1"],
       "visibility": ["private", "org_visible", "org_joinable"], "queue_mode": ["steer", "followup"],
       "metadata": [{"a": 1}, {"a": "x", "b": True}], "purpose": ["workflow", "orchestrator", "approval"],
       "prompt": ["do it"]}
CHANGES = {"title": ["three", "four"], "metadata": [{"a": None}, {"c": 3}, {"a": 2, "b": None}],
           "visibility": ["private", "org_visible", "org_joinable"], "queue_mode": ["steer", "followup"]}
EVENT_TYPES = ["user.message", "user.message", "note.x", "agent.message", "agent.tool_call", "session.x"]
WEIGHTS = {"create": 12, "append": 22, "claim": 8, "settle": 9, "release": 4, "heartbeat": 4, "lose": 1, "expire": 1,
           "status": 10, "update": 7, "archive": 4, "delete": 3, "reopen": 4, "retry": 3, "participants": 6, "share": 3,
           "redeem": 6, "read": 8, "look_back": 4}
SHOWN = 20  # commands that are printed when something differs


class Firehose(threading.Thread):
    """Everything the tenant's owner is told while the commands run."""

    def __init__(self, client):
        super().__init__(daemon=True)
        self.client = client
        self.address = client.address
        self.events = []
        self.deleted = []
        self.cursor = "0-0"
        self.is_over = False
        self.start()

    def run(self):
        while not self.is_over:
            try:
                self.client.address = self.address
                with self.client.stream("/api/stream", last_event_id=self.cursor) as stream:
                    while frame := stream.next(3600):
                        if frame.event == "event":
                            event = frame.json()
                            self.cursor = frame.id
                            if is_delete(event):
                                self.deleted.append(event["session_id"])
                            else:
                                self.events.append((event["session_id"], event["sequence"]))
            except (OSError, Closed):
                time.sleep(0.01)  # the server restarts


class Play:
    """The server, the model, and the commands between them."""

    def __init__(self, env):
        self.env = env
        self.chance = env.random()
        self.server = env.server(OPTIONS)
        self.clients, self.callers = {}, []
        self.make_people()
        self.model = Model({caller.user_id: caller for caller in self.callers if caller.user_id})
        self.users = [caller for caller in self.callers if caller.kind == "user"]
        self.links = []
        self.tokens = ["sl_nobodys"]
        self.history = []
        self.number = 0
        self.when = {}   # (session, sequence) → the number of the command that wrote it
        self.known = {}  # session → how much of its log was compared
        self.past = {}   # session → {sequence: its fields after that event}
        self.firehose = Firehose(self.server.client(timeout_s=3600))

    # --- people ---

    def make_people(self):
        """The owner, an admin, two members, a worker."""
        owner = self.server.client()
        self.add_caller(Principal("owner", "user", "owner", owner.get("/api/me", expect=200).json()["user_id"]),
                        self.server.token)
        for name, role in (("admin", "admin"), ("ann", "member"), ("bob", "member")):
            user = owner.post("/api/users", {"email": f"{name}@example.org", "role": role}, expect=201).json()
            token = owner.post("/api/tokens", {"name": name, "user_id": user["id"]}, expect=201).json()
            self.add_caller(Principal(name, "user", role, user["id"]), token["token"])
        worker = owner.post("/api/tokens", {"name": "worker", "kind": "worker", "scopes": ["read", "write", "claim"]},
                            expect=201).json()
        self.add_caller(Principal("worker", "worker"), worker["token"])

    def add_caller(self, caller, token):
        """One who may call."""
        self.callers.append(caller)
        self.clients[caller.name] = self.server.client(token)

    def restart(self):
        """kill -9; what was answered must be there."""
        self.note("kill -9 and start")
        self.server.kill()
        self.server.start()
        for client in self.clients.values():
            client.close()
            client.address = self.server.address
        self.firehose.address = self.server.address
        self.compare_all()

    # --- one command on both ---

    def note(self, text):
        """For the list that is printed when something differs."""
        self.history.append(f"{self.number:5} {text}")
        del self.history[:-SHOWN]

    def call(self, caller, method, path, body, decide, success, headers=None):
        """Decides in the model, asks the server, compares the two; (result of the model, answer) when it was done."""
        try:
            result, wanted = decide(), (success, None)
        except Refused as refusal:
            result, wanted = None, (refusal.status, refusal.code)
        client = self.clients[caller.name]
        answer = client.request(method, path, body, headers=headers or {})
        self.note(f"{caller.name} {method} {path} {check.show(body or {})} {headers or ''} → {answer.status}")
        got = (answer.status, answer.json().get("code") if answer.status >= 400 else None)
        if callable(wanted[0]):
            wanted = (wanted[0](result), None)
        check.equal(got, wanted, f"answer to {caller.name} {method} {path} {check.show(body)} {answer.body[:400]!r}")
        return result, answer

    def compare_changed(self):
        """Every session the last command wrote to, and nothing else, has changed."""
        for session in list(self.model.sessions.values()):
            if self.known.get(session.id) != len(session.log):
                self.compare(session)

    def compare(self, session):
        """Row and log of one session, as its tenant's owner sees them."""
        owner = self.clients["owner"]
        row = owner.get(f"/api/sessions/{session.id}", expect=200).json()
        session.queued_at = row["queued_at"]
        for name in COMPARED:
            check.equal(row[name], session[name], f"{name} of {session.id}")
        check.equal(row["archived_at"] is not None, session["archived"], f"archived of {session.id}")
        check.equal(row["last_sequence"], len(session.log),
                    f"last_sequence of {session.id}; its log should be {session.log[-5:]}")
        check.equal(row["queued_at"] is not None, session["status"] == "pending", f"queued_at of {session.id} is set")
        known = self.known.get(session.id, 0)
        while known < len(session.log):
            page = owner.get(f"/api/sessions/{session.id}/events", query={"after": known, "limit": 1000},
                             expect=200).json()["events"]
            for event in page:
                known += 1
                kind, metadata = session.log[known - 1]
                check.equal((event["sequence"], event["type"]), (known, kind), f"event of {session.id}")
                check.contains(event["metadata"],
                               {name: value for name, value in metadata.items() if value is not None},
                               f"metadata of event {known} of {session.id}")
                self.when[session.id, known] = self.number
        self.known[session.id] = known
        self.past.setdefault(session.id, {})[known] = dict(session.fields)

    def compare_all(self):
        """Everything, from the beginning."""
        self.known = {}
        when, self.when = self.when, {}
        self.compare_changed()
        self.when = when
        self.compare_lists()

    def compare_lists(self):
        """Lists as each user sees them, page by page, counts, queue, figures."""
        for caller in self.users:
            wanted = {session.id for session in self.model.visible(caller) if not session["archived"]}
            check.equal(self.list_all(caller), wanted, f"the list of {caller.name}")
        caller = self.chance.choice(self.users)
        status = self.chance.choice(STATES)
        wanted = {session.id for session in self.model.visible(caller) if session["status"] == status}
        check.equal(self.list_all(caller, status=status, archived="all"), wanted,
                    f"the list of {status} sessions of {caller.name}")
        mine = {session.id for session in self.model.visible(caller) if session.owner == caller.user_id}
        check.equal(self.list_all(caller, ownership="mine", archived="all"), mine,
                    f"the list of {caller.name}'s own sessions")
        counts = self.clients["owner"].get("/api/counts", expect=200).json()
        for status in STATES:
            wanted = sum(1 for session in self.model.sessions.values() if session["status"] == status)
            check.equal(counts["by_status"][status], wanted, f"count of {status} sessions")
        check.equal(counts["total"], len(self.model.sessions), "count of sessions")
        queue = self.clients["owner"].get("/api/queue", expect=200).json()
        check.equal(sum(row["pending"] for row in queue["queues"]), len(self.model.queue()),
                    f"depth of the queue {queue}")

    def list_all(self, caller, **query):
        """The ids of a whole list, taken in pages of a random size."""
        found, cursor = [], None
        while True:
            page_query = query | {"limit": self.chance.choice((3, 50, 200))} | ({"cursor": cursor} if cursor else {})
            page = self.clients[caller.name].get("/api/sessions", query=page_query, expect=200).json()
            found += [session["id"] for session in page["sessions"]]
            cursor = page["next_cursor"]
            if not page["has_more"]:
                check.equal(len(found), len(set(found)), f"sessions that are listed once, for {caller.name} {query}")
                return set(found)

    # --- choices ---

    def any_session(self):
        """An id: mostly of a living session, sometimes of one that is gone or never was."""
        if self.model.sessions and self.chance.random() < 0.96:
            return self.chance.choice(list(self.model.sessions)[-60:])
        return self.chance.choice([*self.model.deleted[-5:], "nobody:knows"])

    def any_user(self):
        """One of the users; the owner more often, so that something happens."""
        return self.chance.choice(self.users + [self.users[0]])

    def owner_of(self, id):
        """Mostly somebody who may do it."""
        session = self.model.sessions.get(id)
        if session and self.chance.random() < 0.7:
            return next((user for user in self.users if user.user_id == session.owner), self.users[0])
        return self.chance.choice(self.callers)

    def any_token(self, id):
        """A lease token: mostly the live one."""
        session = self.model.sessions.get(id)
        if session and session.lease and self.chance.random() < 0.8:
            return session.lease.token
        return self.chance.choice(self.tokens[-10:])

    def leased(self):
        """The id of a session that somebody runs, if there is one."""
        running = [session.id for session in self.model.sessions.values() if session.lease]
        return self.chance.choice(running) if running else self.any_session()

    # --- commands ---

    def do_create(self):
        caller, chance = self.any_user(), self.chance
        body = {"type": chance.choice(("agent", "agent", "agent", "mixed", "tool", "response"))}
        choices = NEW | {"id": [f"cli:{chance.randrange(40)}"], "parent_id": [self.any_session()]}
        for name, values in choices.items():
            if chance.random() < (0.5 if name in ("visibility", "agent") else 0.12):
                body[name] = chance.choice(values)
        if chance.random() < 0.4 and body["type"] == "agent" and "purpose" not in body:
            body["status"] = "pending"
        result, answer = self.call(caller, "POST", "/api/sessions", body, lambda: self.model.create(caller, body),
                                   lambda result: 201 if result[1] else 200)
        if result and result[1]:
            self.model.register(result[0], answer.json()["id"])

    def do_retry(self):
        failed = [session.id for session in self.model.sessions.values() if session["status"] in ENDED - {"completed"}]
        id = self.chance.choice(failed) if failed and self.chance.random() < 0.8 else self.any_session()
        caller = self.any_user()
        result, answer = self.call(caller, "POST", f"/api/sessions/{id}/retry", {},
                                   lambda: self.model.retry(caller, id), 201)
        if result:
            self.model.register(result, answer.json()["id"])

    def do_update(self):
        id = self.any_session()
        caller, patch = self.owner_of(id), {}
        for name, values in CHANGES.items():
            if self.chance.random() < 0.5:
                patch[name] = self.chance.choice(values)
        self.call(caller, "PATCH", f"/api/sessions/{id}", patch, lambda: self.model.update(caller, id, patch), 200)

    def do_archive(self):
        id = self.any_session()
        caller, archived = self.owner_of(id), self.chance.random() < 0.5
        self.call(caller, "POST", f"/api/sessions/{id}/{'archive' if archived else 'unarchive'}", {},
                  lambda: self.model.archive(caller, id, archived), 200)

    def do_delete(self):
        id = self.any_session()
        caller = self.owner_of(id)
        if self.chance.random() < 0.7:
            self.call(caller, "DELETE", f"/api/sessions/{id}", None, lambda: self.model.delete(caller, id), 204)
            return
        ids = [id, self.any_session()]

        def delete_each():
            results = []
            for one in ids:
                try:
                    self.model.delete(caller, one)
                    results.append(True)
                except Refused:
                    results.append(False)
            return results
        result, answer = self.call(caller, "POST", "/api/sessions/bulk-delete", {"ids": ids}, delete_each, 200)
        check.equal([row["deleted"] for row in answer.json()["results"]], result, "what was deleted")

    def do_status(self):
        id, to = self.any_session(), self.chance.choice(STATES)
        caller, reason = self.owner_of(id), self.chance.choice((None, "because"))
        body = {"status": to} | ({"reason": reason} if reason else {})
        self.call(caller, "POST", f"/api/sessions/{id}/status", body,
                  lambda: self.model.set_status(caller, id, to, reason), 200)

    def do_reopen(self):
        ended = [session.id for session in self.model.sessions.values() if session["status"] in ENDED]
        id = self.chance.choice(ended) if ended and self.chance.random() < 0.7 else self.any_session()
        caller = self.owner_of(id)
        self.call(caller, "POST", f"/api/sessions/{id}/reopen", {}, lambda: self.model.reopen(caller, id), 200)

    def do_append(self):
        under_lease = self.chance.random() < 0.3
        id = self.leased() if under_lease else self.any_session()
        token = self.any_token(id) if under_lease else None
        caller = self.chance.choice(self.callers) if under_lease else self.owner_of(id)
        events, ids = [], set()
        for _ in range(self.chance.choice((1, 1, 2, 5))):
            event = {"type": self.chance.choice(EVENT_TYPES), "metadata": {"n": self.chance.randrange(10)},
                     "content": [{"type": "text", "text": f"text {self.number}"}]}
            external = f"x{self.chance.randrange(20)}"
            if self.chance.random() < 0.3 and external not in ids:
                ids.add(external)
                event["external_event_id"] = external
            if event["type"] == "session.x" and self.chance.random() < 0.8:
                event["type"] = "note.y"
            events.append(event)
        known = self.model.sessions.get(id)
        if_sequence = self.chance.choice((None, None, None, len(known.log) if known else 1, 1))
        headers = {"Sojourn-Lease": token} if token else {}
        if if_sequence is not None:
            headers["If-Sequence"] = str(if_sequence)
        result, answer = self.call(caller, "POST", f"/api/sessions/{id}/events", {"events": events},
                                   lambda: self.model.append(caller, id, events, token, if_sequence), 201, headers)
        if result:
            told = [(event["sequence"], event.get("duplicate", False)) for event in answer.json()["events"]]
            check.equal(told, result[1], f"sequences of the events appended to {id}")

    def claim(self, most, lease_ms):
        """A claim; the sessions it took."""
        caller = self.chance.choice((self.callers[0], self.callers[-1], self.chance.choice(self.callers)))
        agents = self.chance.choice((None, None, ["a"], ["b", "a"]))
        types = self.chance.choice((None, None, None, ["agent"], ["tool"]))
        worker = f"w{self.chance.randrange(3)}"
        body = {"worker": worker, "max": most, "lease_ms": lease_ms}
        body |= ({"agents": agents} if agents else {}) | ({"types": types} if types else {})
        result, answer = self.call(caller, "POST", "/api/claims", body,
                                   lambda: self.model.claim(caller, worker, most, agents, types), 200)
        if result is None:
            return []
        claims = answer.json()["claims"]
        check.equal([(claim["session"]["id"], claim["lease"]["fence"]) for claim in claims],
                    [(session.id, session["fence"])
                     for session in result], "what was claimed, in order, with its fence")
        for session, claim in zip(result, claims):
            session.lease.token = claim["lease"]["token"]
            self.tokens.append(session.lease.token)
        return result

    def do_claim(self):
        self.claim(self.chance.choice((1, 1, 2, 5)), 3600000)

    def do_lose(self):
        """A lease that runs out."""
        for session in self.claim(1, 100):
            self.compare_changed_until(session, lambda: self.model.lease_over(session, False))

    def do_expire(self):
        """A time to live that runs out."""
        id = self.any_session()
        session = self.model.sessions.get(id)
        if session is None or session["status"] in ENDED:
            return
        owner = self.users[0]

        def shorten():
            session.add("session.updated")
            return session
        self.call(owner, "PATCH", f"/api/sessions/{id}", {"ttl_ms": 20}, shorten, 200)
        self.compare_changed_until(session, lambda: self.model.expire(session))

    def compare_changed_until(self, session, happens):
        """Waits for what the server does by itself, and does it in the model."""
        before = session["status"]
        path = f"/api/sessions/{session.id}"
        check.eventually(lambda: self.clients["owner"].get(path, expect=200).json()["status"] != before,
                         f"{session.id} changes by itself")
        happens()
        self.note(f"{session.id} became {session['status']} by itself")

    def do_heartbeat(self):
        id = self.leased()
        caller, token = self.chance.choice(self.callers), self.any_token(id)
        self.call(caller, "POST", f"/api/sessions/{id}/lease", {"lease_ms": 3600000},
                  lambda: self.model.hold(caller, id, token), 200,
                  {"Sojourn-Lease": token})

    def do_settle(self):
        id = self.leased()
        token = self.any_token(id) if self.chance.random() < 0.9 else None
        caller, to = self.chance.choice(self.callers), self.chance.choice(STATES)
        body, more = {"status": to}, {}
        for name, value in (("result", {"n": self.number}), ("usage", {"tokens": 3}), ("reason", "so")):
            if self.chance.random() < 0.4:
                body[name] = more[name] = value
        if self.chance.random() < 0.2:
            body["error"] = {"code": "boom", "message": "it broke"}
            more["error"] = ("boom", "it broke")
        self.call(caller, "POST", f"/api/sessions/{id}/settle", body,
                  lambda: self.model.settle(caller, id, token, to, **more), 200,
                  {"Sojourn-Lease": token} if token else {})

    def do_release(self):
        id = self.leased()
        caller, token = self.chance.choice(self.callers), self.any_token(id)
        self.call(caller, "POST", f"/api/sessions/{id}/release", {}, lambda: self.model.release(caller, id, token), 200,
                  {"Sojourn-Lease": token})

    def do_participants(self):
        id, user = self.any_session(), self.chance.choice(self.users)
        caller, role = self.owner_of(id), self.chance.choice(("viewer", "collaborator"))
        if self.chance.random() < 0.6:
            self.call(caller, "POST", f"/api/sessions/{id}/participants", {"user_id": user.user_id, "role": role},
                      lambda: self.model.add_participant(caller, id, user.user_id, role), 201)
        else:
            self.call(caller, "DELETE", f"/api/sessions/{id}/participants/{user.user_id}", None,
                      lambda: self.model.remove_participant(caller, id, user.user_id), 204)
        if id in self.model.sessions:
            listed = self.clients["owner"].get(f"/api/sessions/{id}/participants", expect=200).json()["participants"]
            session = self.model.sessions[id]
            wanted = session.participants | ({session.owner: "owner"} if session.owner else {})
            check.equal({one["user_id"]: one["role"] for one in listed}, wanted, f"participants of {id}")

    def do_share(self):
        id, role, most = self.any_session(), self.chance.choice(("viewer", "collaborator")), self.chance.choice((None,
                                                                                                                 1, 2))
        caller = self.owner_of(id)
        body = {"role": role} | ({"max_uses": most} if most else {})
        result, answer = self.call(caller, "POST", f"/api/sessions/{id}/share-link", body,
                                   lambda: self.model.share(caller, id, role, most), 201)
        if result:
            session, link = result
            link.id, link.token = answer.json()["id"], answer.json()["token"]
            session.links[link.id] = link
            self.links.append((session, link))

    def do_redeem(self):
        if not self.links:
            return
        session, link = self.chance.choice(self.links[-10:])
        caller = self.chance.choice(self.callers)
        if self.chance.random() < 0.2:
            self.call(caller, "DELETE", f"/api/sessions/{session.id}/share-link/{link.id}", None,
                      lambda: self.model.deactivate(caller, session.id, link.id), 204)
            return
        result, answer = self.call(caller, "POST", f"/api/sessions/join/{link.token}", {},
                                   lambda: self.model.redeem(caller, session, link), 200)
        if result:
            check.equal(answer.json(), {"session_id": session.id, "role": result})

    def do_look_back(self):
        """A session as it was after an earlier command."""
        id = self.any_session()
        session = self.model.sessions.get(id)
        if session is None:
            return
        sequence = self.chance.choice(list(self.past[id]))
        was = self.clients["owner"].get(f"/api/sessions/{id}", query={"at": sequence}, expect=200).json()
        self.note(f"owner GET /api/sessions/{id}?at={sequence}")
        for name in COMPARED:
            check.equal(was[name], self.past[id][sequence][name], f"{name} of {id} after event {sequence}")
        check.equal(was["last_sequence"], sequence)

    def do_read(self):
        id, caller = self.any_session(), self.chance.choice(self.callers)
        method = self.chance.choice(("", "/events", "/participants", "/children", "/audit-log"))
        self.call(caller, "GET", f"/api/sessions/{id}{method}", None, lambda: self.model.enter(caller, id, "viewer"),
                  200)

    def step(self):
        """One random command and the comparison."""
        self.number += 1
        getattr(self, "do_" + self.chance.choices(list(WEIGHTS), list(WEIGHTS.values()))[0])()
        self.compare_changed()

    # --- the end ---

    def compare_streams(self):
        """What streams tell, to each what it may see, is what the model has."""
        sessions = self.model.sessions
        complete = lambda told: all(told.get(id, 0) == len(session.log) for id, session in sessions.items())
        check.eventually(lambda: complete(last_told(self.firehose.events)), "the firehose has told everything", 20)
        check.eventually(lambda: len(self.firehose.deleted) >= len(self.model.deleted), "it has told every delete", 20)
        self.firehose.is_over = True
        check.equal(self.firehose.deleted, self.model.deleted, "sessions that were deleted, in their order")
        self.check_order(self.firehose.events)
        for caller in self.users:
            wanted = {session.id: len(session.log) for session in self.model.visible(caller)}
            told = read_until(self.clients[caller.name].stream("/api/stream", last_event_id="0-0"),
                              sum(wanted.values()))
            differs = {id: (last_told(told).get(id), wanted.get(id)) for id in last_told(told).keys() | wanted.keys()}
            differs = {id: both for id, both in differs.items() if both[0] != both[1]}
            check.equal(differs, {}, f"sessions of which the firehose tells {caller.name} another end than they have")
            self.check_order(told)
        for session in self.chance.sample(list(sessions.values()), min(10, len(sessions))):
            caller = self.chance.choice([user for user in self.users if self.model.role(user, session) != "none"])
            after = self.chance.randrange(len(session.log))
            stream = self.clients[caller.name].stream(f"/api/sessions/{session.id}/events", last_event_id=after)
            told = read_until(stream, len(session.log) - after)
            check.equal(told, [(session.id, number) for number in range(after + 1, len(session.log) + 1)])

    def check_order(self, events):
        """Each log in its order, and no command before an earlier one."""
        last, newest = {}, 0
        for id, sequence in events:
            check.equal(sequence, last.get(id, 0) + 1, f"next event of {id} in the firehose")
            last[id] = sequence
            when = self.when.get((id, sequence), newest)
            check.true(when >= newest,
                       f"event {sequence} of {id}, written by command {when}, is told before one of command {newest}")
            newest = when


def is_delete(event):
    """The last the firehose tells of a session."""
    return event["type"] == "session.deleted"


def last_told(events):
    """session → the last sequence in a list of told events."""
    return {id: sequence for id, sequence in events}


def read_until(stream, count):
    """The first `count` events of a stream that are in a log."""
    told = []
    with stream:
        while len(told) < count:
            frame = stream.next()
            if frame.event == "event":
                event = frame.json()
                if not is_delete(event):
                    told.append((event["session_id"], event["sequence"]))
    return told

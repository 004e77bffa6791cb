"""Clients that write, work and watch while the server is killed under them. Each tells a History what happened."""
import itertools
import json
import random
import threading
import time

from harness import check
from harness.check import Failure
from harness.client import Client, Closed, Deadline
from fault.history import Claim, Write

numbers = itertools.count(1)  # makes every marker, key and external id its own


class Gate:
    """Open while clients shall send; tells them where the servers are."""

    def __init__(self, token):
        self.token = token
        self.addresses = ()
        self.opened = threading.Condition()

    def open(self, *addresses):
        """The servers can be reached there."""
        with self.opened:
            self.addresses = addresses
            self.opened.notify_all()

    def close(self):
        """No further requests."""
        self.open()

    def wait(self, seconds):
        """Whether it is open, or opens within this time."""
        with self.opened:
            return self.opened.wait_for(lambda: self.addresses, seconds)

    def client(self, timeout_s=10):
        """A new client of one of the servers as they are now."""
        return Client(random.choice(self.addresses or ("127.0.0.1:1",)), self.token, timeout_s)


class Writer(threading.Thread):
    """Sends requests until the gate closes or the server is gone."""

    def __init__(self, gate, history, random):
        super().__init__(daemon=True)
        self.gate = gate
        self.history = history
        self.random = random
        self.fault = None

    def run(self):
        client = self.gate.client()
        try:
            while self.gate.addresses:
                self.act(client)
        except (OSError, Closed, Deadline):
            pass  # the server was killed
        except BaseException as error:  # told by the main thread
            self.fault = error
        finally:
            client.close()

    def act(self, client):
        """One step."""
        raise NotImplementedError

    def append(self, client, session, events, headers, fence=None):
        """One recorded append; the answer, or an exception when the connection was lost."""
        write = Write(session, [event["metadata"]["marker"] for event in events], {"events": events}, headers, fence)
        self.history.begin(write)
        response = client.post(f"/api/sessions/{session}/events", write.body, headers=headers)
        self.history.end(write, response)
        if response.status not in (201, 409, 503):
            check.fail(f"an append was answered with {response.status}: {response.body!r}")
        return write

    def event(self, external=False):
        """An event with a marker; now and then one that fills pages."""
        marker = f"m{next(numbers)}"
        event = {"type": "note.load", "metadata": {"marker": marker}}
        if self.random.random() < 0.2:
            event["content"] = [{"type": "text", "text": "x" * self.random.randrange(1, 9000)}]
        if external:
            event["external_event_id"] = f"x:{marker}"
        return event


class Appender(Writer):
    """Appends to a few shared sessions: one event or many, with a key, with external ids, or with neither."""

    def __init__(self, gate, history, random, sessions):
        super().__init__(gate, history, random)
        self.sessions = sessions

    def act(self, client):
        kind = self.random.choice(("plain", "key", "external", "sequence"))
        session = self.random.choice(self.sessions)
        headers = {}
        if kind == "key":
            headers["Idempotency-Key"] = f"k{next(numbers)}"
        if kind == "sequence":
            answer = client.get(f"/api/sessions/{session}")
            if answer.status != 200:
                return
            headers["If-Sequence"] = str(answer.json()["last_sequence"])
        count = self.random.choice((1, 1, 1, 2, 20))
        self.append(client, session, [self.event(kind == "external") for _ in range(count)], headers)


class Creator(Writer):
    """Queues work, now and then with a key; remembers the requests that were not answered."""

    def __init__(self, gate, history, random, unanswered):
        super().__init__(gate, history, random)
        self.unanswered = unanswered

    def act(self, client):
        request = ({"type": "agent", "status": "pending", "metadata": {"marker": f"c{next(numbers)}"}},
                   f"k{next(numbers)}")
        self.unanswered.append(request)
        answer = client.post("/api/sessions", request[0], headers={"Idempotency-Key": request[1]})
        if answer.status == 201:
            self.history.created(answer.json()["id"])
            self.unanswered.remove(request)
        check.one_of(answer.status, (201, 503), "status of a creation")
        time.sleep(0.02)  # work shall not outgrow the workers


class Worker(Writer):
    """Claims, heartbeats, appends under its lease, and settles, releases or forgets. `held` outlives the worker."""

    def __init__(self, gate, history, random, name, held):
        super().__init__(gate, history, random)
        self.name = name
        self.held = held

    def act(self, client):
        if self.held and self.random.random() < 0.5:
            self.work(client, self.held.pop())
            return
        lease_ms = self.random.choice((150, 150, 600000))
        body = {"worker": self.name, "max": self.random.choice((1, 3)), "lease_ms": lease_ms, "wait_ms": 50}
        answer = client.post("/api/claims", body)
        check.one_of(answer.status, (200, 503), f"status of a claim, {answer.body!r}")
        for got in answer.json().get("claims", []):
            claim = Claim(got["session"]["id"], got["lease"]["fence"], got["lease"]["token"], self.name, lease_ms)
            self.history.claimed(claim)
            self.held.append(claim)
        while self.held and self.random.random() < 0.7:
            self.work(client, self.held.pop())

    def work(self, client, claim):
        """A turn under the lease; whatever is refused as stale ends it."""
        path = f"/api/sessions/{claim.session}"
        for _ in range(self.random.randrange(3)):
            answer = client.post(path + "/lease", {}, headers=claim.headers())
            check.one_of(answer.status, (200, 409, 503), f"status of a heartbeat, {answer.body!r}")
            if self.append(client, claim.session, [self.event()], claim.headers(), claim.fence).state != "acknowledged":
                return
        how = self.random.random()
        if how < 0.5:
            self.settle(client, claim, path)
        elif how < 0.8:
            claim.is_ending = True
            answer = client.post(path + "/release", {}, headers=claim.headers())
            check.one_of(answer.status, (200, 409, 503), f"status of a release, {answer.body!r}")
            if answer.status == 200:
                self.history.ended(claim, "released")
        elif claim.lease_ms > 1000:
            self.held.insert(0, claim)

    def settle(self, client, claim, path):
        """Ends the turn; a parked one is queued again by somebody."""
        status = self.random.choice(("completed", "failed", "waiting_human", "idle"))
        claim.is_ending = True
        answer = client.post(path + "/settle", {"status": status, "result": {"fence": claim.fence}},
                             headers=claim.headers())
        check.one_of(answer.status, (200, 409, 503), f"status of a settlement, {answer.body!r}")
        if answer.status == 200:
            self.history.ended(claim, "settled", status)
            if status in ("waiting_human", "idle"):
                client.post(path + "/status", {"status": "pending"})


class Reader(threading.Thread):
    """Watches one session (or all of them) through every death of the server, resuming where it was cut."""

    def __init__(self, gate, history, session=None, over_websocket=False):
        super().__init__(daemon=True)
        self.gate = gate
        self.history = history
        self.session = session
        self.over_websocket = over_websocket
        self.cursor = None
        self.last = {}  # session → the last sequence seen
        self.name = f"{'WebSocket' if over_websocket else 'SSE'} reader of {session or 'everything'}"
        self.connection = None
        self.is_over = False
        self.fault = None
        self.is_resuming = False
        self.resumed = 0

    def run(self):
        while not self.is_over:
            if not self.gate.wait(0.2):
                continue
            try:
                self.read()
            except (OSError, Closed):
                time.sleep(0.005)  # the server is gone
            except Deadline:
                pass  # silence is no fault; whether something is missing is seen at the end
            except Failure as failure:  # the server said no: only while its database is gone
                if "answered 503" not in str(failure):
                    self.fault = failure
                time.sleep(0.05)
            except BaseException as error:  # told by the main thread
                self.fault = error
                return

    def read(self):
        """One connection, to its end."""
        client = self.gate.client(timeout_s=5)
        self.is_resuming = bool(self.last)
        path = f"/api/sessions/{self.session}" if self.session else "/api/stream"
        if self.over_websocket:
            query = f"?{'resume_from' if self.session else 'after'}={self.cursor}" if self.cursor else ""
            with client.websocket((path + "/ws" if self.session else path) + query) as socket:
                self.connection = socket.connection
                while (message := socket.next(60)) is not None:
                    frame = json.loads(message)
                    self.take(frame["type"], frame.get("id"), frame.get("data"))
        else:
            with client.stream(path + "/events" if self.session else path, last_event_id=self.cursor) as stream:
                self.connection = stream.connection
                while frame := stream.next(60):
                    self.take(frame.event, frame.id, frame.json())

    def take(self, kind, cursor, data):
        """One frame."""
        if kind == "gap":
            self.history.complain(f"{self.name} was told of a gap: {data}")
        if kind != "event":
            return
        session, sequence = data["session_id"], data["sequence"]
        self.resumed += self.is_resuming
        self.is_resuming = False
        expected = self.last.get(session, 0) + 1
        if sequence != expected:
            self.history.complain(f"{self.name} got event {sequence} of {session} where {expected} was due")
        self.last[session] = max(sequence, expected)
        self.cursor = cursor
        self.history.saw(self.name, data)

    def has_reached(self, ends):
        """Whether everything up to these sequences was seen."""
        wanted = {self.session: ends[self.session]} if self.session else ends
        return all(self.last.get(session, 0) >= end for session, end in wanted.items())

    def finish(self):
        """Ends the thread."""
        self.is_over = True
        if self.connection:
            try:
                self.connection.socket.shutdown(2)
            except OSError:
                pass
        self.join(10)

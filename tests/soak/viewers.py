"""Viewers that come and go, fall behind and resume. Whatever happens to them, what they saw is exactly the log."""
import time

from harness.check import Failure
from harness.client import Connection
from fault import load


class Viewer(load.Reader):
    """One that stays. Of live output it knows that pieces behind an event come in order and belong to the last one."""

    def __init__(self, tenant, session=None, over_websocket=False):
        super().__init__(tenant.gate, tenant.history, session, over_websocket)
        self.tenant = tenant
        self.deltas = {}      # session → (sequence, count) of the last piece on this connection
        self.jumps = []       # (session, expected, got) of a firehose: fine where the session was erased meanwhile
        self.frames = 0
        self.is_erased = False

    def read(self):
        self.deltas = {}
        try:
            super().read()
        except Failure as failure:
            if "answered 404" in str(failure) or "answered 410" in str(failure):
                self.is_over = self.is_erased = True
                return
            raise

    def take(self, kind, cursor, data):
        self.frames += 1
        self.pause()
        if kind == "delta":
            self.take_delta(cursor)
        elif kind in ("snapshot", "slow"):
            self.deltas = {}
        elif kind == "event" and self.session is None:
            self.take_of_all(cursor, data)
        else:
            super().take(kind, cursor, data)
            if kind == "event":
                self.deltas = {}
            elif kind == "closed" and data.get("reason") == "deleted":
                self.is_over = self.is_erased = True

    def take_delta(self, cursor):
        """SEQ.N: SEQ is the last event seen, and N grows by one."""
        sequence, _, number = cursor.partition(".")
        known = self.last.get(self.session, 0)
        if int(sequence) != known:
            self.history.complain(f"{self.name} got live output {cursor} behind event {known}")
        last = self.deltas.get(sequence)
        if last is not None and int(number) != last + 1:
            self.history.complain(f"{self.name} got live output {cursor} behind {sequence}.{last}")
        self.deltas = {sequence: int(number)}

    def take_of_all(self, cursor, data):
        """Of a session that is erased before it was told about, only the end is told."""
        session, sequence = data["session_id"], data["sequence"]
        self.cursor = cursor
        if data["type"] == "session.deleted":
            self.tenant.told_gone.add(session)
            return
        self.resumed += self.is_resuming
        self.is_resuming = False
        expected = self.last.get(session, 0) + 1
        if sequence != expected:
            self.jumps.append((session, expected, sequence))
        self.last[session] = max(sequence, expected)
        self.history.saw(self.name, data)

    def pause(self):
        """Between two frames."""


class Narrow:
    """A gate whose clients have hardly any room for what comes in."""

    def __init__(self, gate):
        self.gate = gate

    def wait(self, seconds):
        return self.gate.wait(seconds)

    def client(self, timeout_s=30):
        client = self.gate.client(timeout_s)
        client.connect = lambda *_: Connection(client.address, client.timeout_s, 4096)
        return client


class Slow(Viewer):
    """Reads so slowly that it falls behind."""

    def __init__(self, tenant, session=None, over_websocket=False):
        super().__init__(tenant, session, over_websocket)
        self.gate = Narrow(tenant.gate)

    def pause(self):
        if not self.tenant.gate.is_over:  # else it hurries: all wait for it
            time.sleep(0.5 if self.frames % 200 == 0 else 0.001)


class Hopper(Viewer):
    """Cuts its connection again and again, and resumes behind the last frame it saw."""

    def pause(self):
        if self.frames % 37 == 0:
            self.connection.socket.shutdown(2)

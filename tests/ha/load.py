"""Servers on the cluster, who appends to them and who watches, and the comparison of all that was told with what is there."""
import threading
import time

from harness import check
from harness.client import Closed, Deadline
from fault import load
from fault.history import History
from soak.actors import Appender, Gate

SESSIONS = 4
APPENDERS = 4
READERS = 4


class Load:
    """Two servers, appends through both, and streams. Use it with `with`."""

    def __init__(self, env, cluster, nodes=2):
        first = env.server(database=cluster.url)
        token = {"SOJOURN_BOOTSTRAP_TOKEN": first.token}
        self.servers = [first]
        for _ in range(nodes - 1):
            server = env.server(database=cluster.url, environment=token)
            server.token = first.token
            self.servers.append(server)
        self.history = History()
        self.gate = Gate(first.token)
        self.gate.excuses = True  # what is unavailable may say so; it may not say anything else
        client = first.client(timeout_s=30)
        self.sessions = [client.post("/api/sessions", {"type": "agent"}, expect=201).json()["id"] for _ in range(SESSIONS)]
        client.close()
        for session in self.sessions:
            self.history.created(session)
        self.actors = [Appender(self.gate, self.history, env.random(), self.sessions) for _ in range(APPENDERS)]
        self.readers = [load.Reader(self.gate, self.history, self.sessions[number % SESSIONS], number % 2 == 1)
                        for number in range(READERS)]

    def __enter__(self):
        self.gate.open(*[server.address for server in self.servers])
        for thread in self.actors + self.readers:
            thread.start()
        return self

    def __exit__(self, *exc):
        self.gate.is_over = True
        self.gate.close()

    def faults(self):
        for thread in self.actors + self.readers:
            if thread.fault:
                raise thread.fault
        check.equal(self.gate.faults[:3], [], "answers that nobody may get")

    def go_on(self, count=50, seconds=60):
        """Until so many further writes are acknowledged."""
        wanted = self.history.acknowledged + count
        check.true(self.history.wait_acknowledged(wanted, seconds), f"{count} further writes are acknowledged")
        self.faults()

    def takes_writes(self, server):
        client = server.client(timeout_s=5)
        try:
            return client.post("/api/sessions", {"type": "tool"}).status == 201
        except (OSError, Closed, Deadline):
            return False
        finally:
            client.close()

    def rest(self):
        """Nobody appends any more, and every server takes writes."""
        self.gate.is_over = True
        for actor in self.actors:
            actor.join(90)
            check.true(not actor.is_alive(), "an appender comes to an end")
        for server in self.servers:
            check.eventually(lambda server=server: self.takes_writes(server), "the server takes writes again", 60)

    def compare(self):
        """What was acknowledged and what was seen against the log."""
        self.rest()
        client = self.servers[-1].client(timeout_s=30)
        self.history.forget_logs()
        for session in self.sessions:
            self.history.check_session(client, session)
        self.finish_readers(client)
        self.faults()

    def finish_readers(self, client):
        ends = {id: client.get(f"/api/sessions/{id}", expect=200).json()["last_sequence"] for id in self.sessions}
        for reader in self.readers:
            if not self.history.lost:
                check.eventually(lambda reader=reader: reader.has_reached(ends), f"{reader.name} sees all", 60)
            reader.finish()

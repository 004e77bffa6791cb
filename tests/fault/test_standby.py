"""A real PostgreSQL whose commits wait for a real standby: nothing is acknowledged or told that only one of them has.

The standby hangs, an append waits in its commit, and its wait is ended in every way there is. What was answered 201, and what
a reader or a stream was shown, must be on the standby when it takes over.
"""
import contextlib
import signal
import threading

from harness import check
from harness.check import Failure
from harness.client import Closed, Deadline
from harness.postgres import database_name
from harness.suite import test

SOON = ["--postgres-answer-ms", "2s", "--postgres-outcome-ms", "1500ms", "--sqlite-busy-ms", "1s"]


class Pair:
    """A primary, its standby, a server, and a session whose events are numbered."""

    def __init__(self, env, options=(), role=None):
        self.primary = env.own_cluster()
        self.standby = None
        try:
            self.database = self.primary.new_database()
            if role:
                self.primary.sql(role.format(database=database_name(self.database)))
            self.standby = self.primary.standby("standby")
            self.server = env.server(SOON + list(options), database=self.url())
            self.client = self.server.client(timeout_s=60)
            session = self.client.post("/api/sessions", {"type": "agent"}, expect=201).json()
        except BaseException:
            self.remove()
            raise
        self.path = f"/api/sessions/{session['id']}"
        self.second = env.server(SOON, database=self.url())
        self.second.token = self.server.token
        self.other = self.second.client(timeout_s=60)
        self.acknowledged, self.shown = [], set()
        self.viewer = threading.Thread(target=self.view, daemon=True)
        self.viewer.start()

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.remove()

    def remove(self):
        for cluster in (self.standby, self.primary):
            if cluster:
                cluster.remove()

    def url(self):
        """Both servers, as a node is told of them."""
        hosts = ",".join(cluster.directory for cluster in (self.primary, self.standby))
        return f"postgres://postgres@/{database_name(self.database)}?host={hosts}"

    def append(self, number):
        """One numbered event; the status of the answer."""
        client = self.server.client(timeout_s=60)
        answer = client.post(self.path + "/events", {"events": [{"type": "note.x", "metadata": {"n": number}}]})
        if answer.status == 201:
            self.acknowledged.append(number)
        client.close()
        return answer

    def read(self):
        """Notes what a reader is shown; whether there was an answer."""
        kept = self.kept()
        self.shown |= set(kept or [])
        return kept is not None

    def kept(self):
        """What a reader finds; None while there is no answer."""
        answer = self.client.get(self.path + "/events", query={"limit": 200})
        return numbers(answer.json()["events"]) if answer.status == 200 else None

    def others_events(self):
        """What the other node finds; None while there is no answer."""
        answer = self.other.get(self.path + "/events", query={"limit": 200})
        return answer.json()["events"] if answer.status == 200 else None

    def view(self):
        """Notes what a stream shows, to its end."""
        with contextlib.suppress(OSError, Failure, Closed, Deadline):
            with self.server.client(timeout_s=120).stream(self.path + "/events") as stream:
                while True:
                    self.shown |= set(numbers([stream.until("event", 120)[-1].json()]))

    def append_while(self, number, harm, is_seen):
        """Appends while the standby hangs and `harm(pid)` befalls the waiting process; the answer. Where that lets everybody
        see the row, another node stops reading, too."""
        self.standby.hang()
        answers = []
        appender = threading.Thread(target=lambda: answers.append(self.append(number)), daemon=True)
        appender.start()
        try:
            check.eventually(self.primary.waiting, "the append waits for the standby", 20)
            harm(self.primary.waiting()[0])
            while appender.is_alive():
                self.read()
                appender.join(0.02)
            for _ in range(5):
                self.read()
            if is_seen:
                check.eventually(lambda: self.other.get(self.path).status == 503, "another node was told of the doubt")
            else:  # unless the server's own housekeeping has committed something meanwhile
                check.one_of(self.other.get(self.path).status, (200, 503))
        finally:
            self.standby.go_on()
        return answers[0]

    def works_again(self, number):
        """Writes go on by themselves."""
        check.eventually(lambda: self.append(number).status == 201, "writes go on", 40)
        check.eventually(self.read, "reads go on", 20)

    def lose_primary(self):
        """The standby takes over, and the server goes on with what is there."""
        self.primary.stop(signal.SIGQUIT)
        self.standby.go_on()
        self.standby.wait_for_nobody()
        self.standby.promote()
        kept = check.eventually(self.kept, "the server finds the standby", 60)
        check.equal([number for number in self.acknowledged if number not in kept], [], "acknowledged and lost")
        check.equal(sorted(self.shown - set(kept)), [], "shown and lost")
        return kept


def numbers(events):
    return [event["metadata"]["n"] for event in events if event["type"] == "note.x"]


def refused(answer):
    """503, and whether it was done is not known."""
    problem = check.problem(answer, 503)
    check.equal(problem["code"], "commit_unknown", f"code of {problem}")


HARMS = {
    "cancelled": lambda pair: lambda pid: pair.primary.sql(f"select pg_cancel_backend({pid})"),
    "terminated": lambda pair: lambda pid: pair.primary.sql(f"select pg_terminate_backend({pid})"),
    "given up": lambda pair: lambda pid: None,
}


def harmed(env, name, role=None):
    """The wait ends so, while the standby hangs for good; then it takes over."""
    with Pair(env, role=role) as pair:
        check.equal(pair.append(0).status, 201)
        check.eventually(lambda: 0 in pair.shown, "the stream shows what is acknowledged")
        refused(pair.append_while(1, HARMS[name](pair), name != "given up"))
        pair.standby.hang()
        check.problem(pair.append(2), 503)
        pair.lose_primary()
        pair.works_again(3)
        pair.server.stop()


@test(on=("postgres",), timeout_s=180)
def a_cancelled_wait_is_no_acknowledgement(env):
    """pg_cancel_backend: COMMIT succeeds with a warning."""
    harmed(env, "cancelled")


@test(on=("postgres",), timeout_s=180)
def a_hidden_warning_is_no_acknowledgement(env):
    """The same where the account hides warnings and asks for less durability."""
    harmed(env, "cancelled", "alter database {database} set client_min_messages = 'error';"
                             "alter role postgres set synchronous_commit = 'local'")


@test(on=("postgres",), timeout_s=180)
def a_terminated_wait_is_no_acknowledgement(env):
    """pg_terminate_backend: the row is there, on one server."""
    harmed(env, "terminated")


@test(on=("postgres",), timeout_s=180)
def a_wait_that_is_given_up_is_no_acknowledgement(env):
    """The server closes a connection that is silent."""
    harmed(env, "given up")


@test(on=("postgres",), timeout_s=180)
def a_retry_at_another_node_is_no_acknowledgement(env):
    """The node whose commit waited is dead when the wait ends, so nobody tells the other of the doubt."""
    with Pair(env) as pair:
        check.equal(pair.append(0).status, 201)
        pair.standby.stop(signal.SIGQUIT)
        body = {"events": [{"type": "note.x", "metadata": {"n": 1}}]}
        key = {"Idempotency-Key": "once"}

        def append():
            with contextlib.suppress(OSError, Closed, Deadline):
                pair.server.client(timeout_s=60).post(pair.path + "/events", body, headers=key)
        threading.Thread(target=append, daemon=True).start()
        check.eventually(pair.primary.waiting, "the append waits for the standby", 20)
        pair.server.kill()
        for pid in pair.primary.waiting():
            pair.primary.sql(f"select pg_terminate_backend({pid})")
        visible = "select metadata from events where type = 'note.x' and sequence = 3"
        check.eventually(lambda: pair.primary.sql(visible, database_name(pair.database)), "the row can be seen", 20)
        for _ in range(3):
            check.problem(pair.other.post(pair.path + "/events", body, headers=key), 503)
            check.problem(pair.other.get(pair.path + "/events"), 503)
        pair.primary.stop(signal.SIGQUIT)
        pair.standby.start()
        pair.standby.wait_for_nobody()
        pair.standby.promote()
        events = check.eventually(pair.others_events, "the other node finds the standby", 60)
        check.equal(numbers(events), [0], "what the standby has")
        check.eventually(lambda: pair.other.post(pair.path + "/events", body, headers=key).status == 201, "it is written now", 30)
        check.equal(numbers(check.eventually(pair.others_events, "reads go on", 20)), [0, 1])

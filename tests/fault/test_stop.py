"""SIGTERM while the storage is away, full or hangs: the server ends in time, and loses nothing acknowledged."""
import contextlib
import os
import resource
import signal
import sqlite3
import threading
import time

from harness import check, people
from harness.client import Closed, Deadline
from harness.suite import test
from fault.postgres_proxy import Proxy

STOP_S, FORCE_S = 3, 2
OPTIONS = ["--stop-timeout-ms", f"{STOP_S}s", "--stop-force-ms", f"{FORCE_S}s", "--demo-pace-percent", "1000"]


class Busy:
    """A server with turns under way, a stream, a claim that waits, and callers who go on writing."""

    def __init__(self, env, ends_by_itself=True, **place):
        self.ends_by_itself = ends_by_itself
        self.server = env.server(OPTIONS, **place)
        self.client = self.server.client(timeout_s=60)
        self.paths = [people.session(self.client, agent="demo") for _ in range(3)]
        self.acknowledged, self.is_over, self.threads = [], False, []
        for path in self.paths:
            self.client.post(path + "/messages", {"text": "a long answer, please"}, expect=202)
        self.log = people.session(self.client)
        self.stream = self.client.stream(self.paths[0] + "/events")
        self.stream.until("event")
        check.eventually(lambda: self.client.get(self.paths[0]).json()["status"] == "running", "a turn runs")
        self.begin(self.write)
        self.begin(self.claim)
        check.eventually(lambda: self.acknowledged, "a write is acknowledged")

    def begin(self, run):
        self.threads.append(threading.Thread(target=run, daemon=True))
        self.threads[-1].start()

    def write(self):
        client, number = self.server.client(timeout_s=60), 0
        with contextlib.suppress(OSError, Closed, Deadline):
            while not self.is_over:
                body = {"events": [{"type": "note.x", "metadata": {"n": number}}]}
                if client.post(self.log + "/events", body).status == 201:
                    self.acknowledged.append(number)
                number += 1
                time.sleep(0.01)

    def claim(self):
        with contextlib.suppress(OSError, Closed, Deadline):
            self.server.client(timeout_s=60).post("/api/claims", {"worker": "w", "wait_ms": 60000})

    def stop(self):
        """SIGTERM; how long it took."""
        process = self.server.process
        started = time.monotonic()
        process.send_signal(signal.SIGTERM)
        with contextlib.suppress(Exception):
            process.wait(60)
        took_s = time.monotonic() - started
        self.is_over = True
        check.true(process.poll() is not None, f"the server ended within {took_s:.1f} s\n{self.server.log.tail()}")
        check.true(took_s < (STOP_S + FORCE_S + 1) * check.patience(), f"the server ended after {took_s:.1f} s")
        check.one_of(process.returncode, (0, 1))
        check.true(process.returncode == 0 or not self.ends_by_itself, "nothing had to be forced")
        print(f"ended with {process.returncode} after {took_s:.1f} s")
        self.server.log.join(5)
        self.server.process = None

    def check_kept(self):
        """What was acknowledged is there."""
        self.server.start()
        client, kept, after = self.server.client(), set(), 1
        while True:
            page = client.get(self.log + "/events", query={"limit": 200, "after": after}, expect=200).json()
            kept |= {event["metadata"].get("n") for event in page["events"]}
            if not page["has_more"]:
                break
            after = page["events"][-1]["sequence"]
        check.equal([number for number in self.acknowledged if number not in kept], [], "acknowledged and lost")
        self.server.stop()


def stumble(busy, seconds=1):
    """The storage is as it is for a while, and everybody meets it."""
    with contextlib.suppress(OSError, Closed, Deadline):
        client = busy.server.client(timeout_s=seconds)
        check.problem(client.post(busy.log + "/events", {"events": [{"type": "note.y"}]}), 503)


@test(on=("sqlite",))
def with_the_database_file_removed(env):
    busy = Busy(env)
    for name in os.listdir(busy.server.data_directory()):
        if name.startswith("sojourn.db"):
            os.remove(os.path.join(busy.server.data_directory(), name))
    stumble(busy)
    busy.stop()


@test(on=("sqlite",))
def with_a_full_disk(env):
    busy = Busy(env)
    resource.prlimit(busy.server.process.pid, resource.RLIMIT_FSIZE, (1024, resource.RLIM_INFINITY))
    stumble(busy)
    busy.stop()
    busy.check_kept()


@test(on=("sqlite",))
def with_a_lock_on_the_database(env):
    """Another program holds the file."""
    busy = Busy(env, ends_by_itself=False)
    database = sqlite3.connect(os.path.join(busy.server.data_directory(), "sojourn.db"), isolation_level=None)
    database.execute("begin immediate")
    stumble(busy)
    busy.stop()
    database.execute("rollback")
    database.close()
    busy.check_kept()


@test(on=("postgres",), timeout_s=120)
def with_a_database_that_hangs(env):
    cluster = env.own_cluster()
    with contextlib.ExitStack() as ends:
        ends.callback(cluster.remove)
        busy = Busy(env, ends_by_itself=False, database=cluster.new_database())
        cluster.hang()
        stumble(busy)
        busy.stop()
        cluster.go_on()
        busy.check_kept()


@test(on=("postgres",), timeout_s=120)
def with_a_database_that_is_gone(env):
    cluster = env.own_cluster()
    with contextlib.ExitStack() as ends:
        ends.callback(cluster.remove)
        busy = Busy(env, database=cluster.new_database())
        cluster.stop(signal.SIGQUIT)
        stumble(busy)
        busy.stop()
        cluster.start()
        busy.check_kept()


@test(on=("postgres",), timeout_s=120)
def with_a_database_that_takes_connections_only(env):
    with Proxy(env.cluster()) as proxy:
        busy = Busy(env, database=proxy.url(env.database()))
        proxy.go_deaf()
        stumble(busy)
        busy.stop()
        proxy.hear_again()
        busy.check_kept()


@test(on=("postgres",), timeout_s=120)
def with_a_standby_that_hangs(env):
    primary = env.own_cluster()
    with contextlib.ExitStack() as ends:
        ends.callback(primary.remove)
        busy = Busy(env, ends_by_itself=False, database=primary.new_database())
        standby = primary.standby("standby")
        ends.callback(standby.remove)
        standby.hang()
        stumble(busy)
        busy.stop()
        standby.go_on()
        busy.check_kept()


@test(on=("postgres",), timeout_s=120)
def before_it_has_started(env):
    """The database answers nobody: a start that waits for it ends like any other."""
    cluster = env.own_cluster()
    with contextlib.ExitStack() as ends:
        ends.callback(cluster.remove)
        server = env.server(OPTIONS + ["--postgres-connect-ms", "60s"], database=cluster.new_database(), start=False)
        cluster.hang()
        server.launch()
        check.eventually(lambda: os.path.exists(os.path.join(server.data_directory(), "node")), "it has begun", 20)
        started = time.monotonic()
        server.process.send_signal(signal.SIGTERM)
        server.wait_exit(expect=1)
        took_s = time.monotonic() - started
        check.true(took_s < (STOP_S + FORCE_S + 1) * check.patience(), f"the server ended after {took_s:.1f} s")

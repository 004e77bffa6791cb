"""The storage fails, is full, is gone, is somebody else's, is newer: a clear answer, nothing acknowledged is lost."""
import fcntl
import os
import random
import resource
import signal
import sqlite3
import subprocess
import threading
import time

from harness import check
from harness.check import Skip
from harness.client import Closed
from harness.postgres import database_name
from harness.suite import OPTIMISED, test
from fault.history import History
from fault.load import Appender, Gate

KIB = 1024


def start(server):
    """A client and the path of a new session."""
    client = server.client()
    session = client.post("/api/sessions", {"type": "agent"}, expect=201).json()
    return client, f"/api/sessions/{session['id']}"


def append(client, path, number, size=64 * KIB):
    """One event of about `size` bytes that can be recognised."""
    body = {"events": [{"type": "note.x", "metadata": {"n": number},
                        "content": [{"type": "text", "text": "x" * size}]}]}
    return client.post(path + "/events", body)


def numbers(client, path):
    """The numbers of all events in the log, in order."""
    found, after = [], 1
    while True:
        page = client.get(path + "/events", query={"after": after, "limit": 50}, expect=200).json()
        found += [event["metadata"]["n"] for event in page["events"]]
        if not page["has_more"]:
            return found
        after = page["events"][-1]["sequence"]


def fill(client, path, limit=2000):
    """Appends until the server refuses; the numbers that were acknowledged and the refusal."""
    for number in range(limit):
        answer = append(client, path, number)
        if answer.status != 201:
            return list(range(number)), answer
    return check.fail(f"{limit} large events were taken: the storage never got full")


def refused_start(server, code, *words):
    """The server ends by itself with 1 and says why."""
    server.launch()
    entry = server.log.wait(lambda entry: entry["event"] == "start_failed", 20)
    server.wait_exit(expect=1)
    check.true(entry, f"the log says why it did not start\n{server.log.tail()}")
    check.equal(entry["code"], code, f"code of {entry}")
    for word in words:
        check.contains(entry["detail"], word)
    return entry


class SmallDisk:
    """A file system of a given size in a directory; needs the right to mount."""

    def __init__(self, directory, size_bytes):
        self.directory = directory
        os.makedirs(directory, exist_ok=True)
        command = ["mount", "-t", "tmpfs", "-o", f"size={size_bytes},mode=0755", "tmpfs", directory]
        if os.geteuid() != 0 or subprocess.run(command, check=False, capture_output=True).returncode:
            raise Skip("a small file system can't be mounted here")

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        subprocess.run(["umount", "--lazy", self.directory], check=True)

    def set_read_only(self):
        """From now on nothing can be written."""
        subprocess.run(["mount", "-o", "remount,ro", self.directory], check=True)


def check_full_and_free(server, free):
    """Writes are refused and told why, reads go on, and after `free()` writes go on; nothing acknowledged is lost."""
    client, path = start(server)
    with client.stream(path + "/events") as stream:
        stream.until("event")
        acknowledged, refusal = fill(client, path)
        problem = check.problem(refusal, 503)
        check.one_of(problem["code"], ("storage_full", "storage_failed"))
        for number in range(3):
            check.problem(append(client, path, 10000 + number), 503)
        check.equal(numbers(client, path), acknowledged, "what reads find while writes are refused")
        check.equal(client.get("/healthz").status, 200, "status of /healthz: the process lives")
        for number in acknowledged:
            check.equal(stream.until("event")[-1].json()["metadata"]["n"], number, "what a stream was told")
        free()
        check.eventually(lambda: append(client, path, 20000).status == 201, "writes go on when there is room", 20)
        check.equal(stream.until("event")[-1].json()["metadata"]["n"], 20000, "what a stream was told afterwards")
    check.equal(numbers(client, path), acknowledged + [20000])
    server.kill()
    server.start()
    check.equal(numbers(server.client(), path), acknowledged + [20000], "the log after a crash")
    server.stop()
    server.verify()


@test(on=("sqlite", "sqlite asan"))
def disk_full(env):
    """ENOSPC: a file system of a few megabytes runs full and is emptied again."""
    server = env.server(start=False)
    with SmallDisk(server.data_directory(), 12 * KIB * KIB) as disk:
        ballast = os.path.join(disk.directory, "ballast")
        with open(ballast, "wb") as file:
            file.write(b"x" * 4 * KIB * KIB)
        server.start()
        check_full_and_free(server, lambda: os.remove(ballast))


@test(on=("sqlite",))
def starting_on_a_full_disk(env):
    """A start that can't write says so; when there is room it starts and has everything."""
    server = env.server(start=False)
    with SmallDisk(server.data_directory(), 8 * KIB * KIB) as disk:
        server.start()
        client, path = start(server)
        acknowledged, _ = fill(client, path)
        server.kill()
        server.launch()
        entry = server.log.wait(lambda entry: entry["event"] in ("start_failed", "listening"), 20)
        check.true(entry, "it starts, or says why it does not")
        if entry["event"] == "start_failed":
            check.one_of(entry["code"], ("storage_full", "storage_failed"))
        server.kill()
        subprocess.run(["mount", "-o", f"remount,size={32 * KIB * KIB}", disk.directory], check=True)
        server.start()
        check.equal(numbers(server.client(), path), acknowledged)
        server.stop()


@test(on=("sqlite",))
def file_size_limit(env):
    """The operating system forbids files to grow: an answer, not a death by signal."""
    server = env.server()
    no_limit = resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (2 * KIB * KIB, no_limit[1]))
    check_full_and_free(server, lambda: resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, no_limit))


@test(on=("sqlite",))
def read_only_directory(env):
    """A data directory that can't be written is refused at the start, by name."""
    server = env.server(start=False)
    with SmallDisk(server.data_directory(), 8 * KIB * KIB) as disk:
        server.start()
        client, path = start(server)
        check.equal(append(client, path, 1).status, 201)
        server.stop()
        disk.set_read_only()
        refused_start(server, "data_directory_unusable", server.data_directory())


@test(on=("sqlite",))
def database_file_removed(env):
    """What is written into a deleted file would be gone: writes are refused."""
    server = env.server()
    client, path = start(server)
    check.equal(append(client, path, 1).status, 201)
    for name in os.listdir(server.data_directory()):
        if name.startswith("sojourn.db"):
            os.remove(os.path.join(server.data_directory(), name))
    check.problem(append(client, path, 2), 503, "storage_moved")
    check.equal(numbers(client, path), [1], "what reads find")


@test(on=("sqlite",))
def not_a_database(env):
    """A file that is no database is refused and left as it is."""
    server = env.server(start=False)
    os.makedirs(server.data_directory())
    file_path = os.path.join(server.data_directory(), "sojourn.db")
    with open(file_path, "wb") as file:
        file.write(b"something else " * 1000)
    refused_start(server, "storage_failed", "not a database")
    with open(file_path, "rb") as file:
        check.equal(file.read(), b"something else " * 1000)


@test(on=OPTIMISED)
def second_server_is_refused(env):
    """One data directory, one server; the first goes on."""
    server = env.server()
    client, path = start(server)
    second = env.server(start=False)
    second.database = server.database
    second.data_directory = server.data_directory
    refused_start(second, "data_directory_in_use", str(server.process.pid), server.data_directory())
    check.equal(append(client, path, 1).status, 201)


@test(on=("sqlite",))
def a_lock_that_a_dying_server_left_is_waited_for(env):
    """What it was about to start when it was killed has its descriptors, for a moment."""
    server = env.server(start=False)
    os.makedirs(server.data_directory())
    with open(os.path.join(server.data_directory(), "lock"), "wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        server.launch()
        time.sleep(0.3)
    server.wait_log("listening")


@test(on=OPTIMISED)
def newer_schema_is_refused(env):
    """A database of a newer program is refused with the numbers, and not touched."""
    server = env.server()
    client, path = start(server)
    check.equal(append(client, path, 1).status, 201)
    server.stop()
    set_schema(env, server, "999")
    refused_start(server, "schema_too_new", "999")
    set_schema(env, server, None)
    server.start()
    check.equal(numbers(server.client(), path), [1])


def set_schema(env, server, version, former=[]):
    """Writes the number of the schema; None writes back the former one."""
    if env.engine == "postgres":
        name = database_name(server.database)
        run = lambda sql: env.cluster().sql(sql, name)
    else:
        database = sqlite3.connect(os.path.join(server.data_directory(), "sojourn.db"), isolation_level=None)
        run = lambda sql: database.execute(sql).fetchall()
    if version:
        former[:] = run("select value from meta where name = 'schema_version'")[0]
    run(f"update meta set value = '{version or former[0]}' where name = 'schema_version'")
    if env.engine == "sqlite":
        database.close()


@test(on=("postgres",), timeout_s=120)
def database_stopped(env):
    """PostgreSQL goes away and comes back: 503 meanwhile, everything as acknowledged afterwards, without a restart."""
    cluster = env.own_cluster()
    try:
        server = env.server(database=cluster.new_database())
        client, path = start(server)
        for number in range(10):
            check.equal(append(client, path, number, 100).status, 201)
        for how in (signal.SIGINT, signal.SIGQUIT):
            check_stop(client, path, cluster, how)
        server.stop()
        cluster.stop()
        refused_start(server, "storage_failed", "PostgreSQL")
    finally:
        cluster.remove()


def check_stop(client, path, cluster, how):
    """One absence of the database."""
    before = numbers(client, path)
    cluster.stop(how)
    check.problem(append(client, path, -1, 100), 503)
    check.problem(client.get(path), 503)
    check.equal(client.get("/healthz").status, 200)
    cluster.start()
    check.eventually(lambda: append(client, path, len(before), 100).status == 201, "writes go on", 20)
    check.equal(numbers(client, path), before + [len(before)])


@test(timeout_s=120)
def stop_under_load(env):
    """SIGTERM: exit code 0, what was acknowledged stays, what was done was answered, whoever waits is told."""
    rounds = env.rounds(3 if env.flavour == "gcc" else 1)
    server, history, chance = env.server(), History(), env.random()
    for _ in range(rounds):
        if server.process is None:
            server.start()
        stop_once(server, history, chance)
    server.start()
    client = server.client(timeout_s=30)
    for session, writes in history.writes.items():
        history.check_session(client, session)
        for write in writes:
            if write.state == "open":
                found = [marker for marker in write.markers if marker in history.stories[session].sequence_of]
                check.equal(found, [], "events of a request that was not answered")
    print(history.verdict())


def stop_once(server, history, chance):
    """Load, SIGTERM, the end."""
    client = server.client()
    sessions = [client.post("/api/sessions", {"type": "agent"}, expect=201).json()["id"] for _ in range(3)]
    for session in sessions:
        history.created(session)
    gate = Gate(server.token)
    gate.open(server.address)
    writers = [Appender(gate, history, random.Random(chance.random()), sessions) for _ in range(6)]
    waiting = WaitingClaim(server)
    stream = client.stream(f"/api/sessions/{sessions[0]}/events")
    socket = client.websocket(f"/api/sessions/{sessions[0]}/ws")
    for writer in writers:
        writer.start()
    check.true(history.wait_acknowledged(history.acknowledged + chance.randrange(20, 200), 20),
               "the load is acknowledged")
    server.stop()
    gate.close()
    for writer in writers:
        writer.join(20)
        if writer.fault:
            raise writer.fault
    check.equal(waiting.result(), [], "what a waiting claim got")
    check.equal(stream.wait_end()[-1].event, "closed")
    frames = []
    while (message := socket.next()) is not None:
        frames.append(message)
    check.contains(frames[-1], "server_stopping")
    check.equal(socket.close_code, 1001, "close code")


class WaitingClaim(threading.Thread):
    """A claim that waits for work that never comes."""

    def __init__(self, server):
        super().__init__(daemon=True)
        self.client = server.client(timeout_s=40)
        self.claims = None
        self.start()
        figures = server.client()
        check.eventually(lambda: b"sojourn_claims_waiting 1" in figures.get("/metrics").body, "the claim waits")

    def run(self):
        try:
            self.claims = self.client.post("/api/claims", {"worker": "w", "wait_ms": 60000},
                                           expect=200).json()["claims"]
        except Closed:
            self.claims = "nothing: the connection was closed"

    def result(self):
        """What it was told."""
        self.join(20)
        return self.claims

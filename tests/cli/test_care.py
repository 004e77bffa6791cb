"""sojourn backup and sojourn verify: copies of a running server, and damage that must be found."""
import os
import re
import shutil
import sqlite3
import threading

from harness import Server, check, test
from harness.people import person
from harness.terminal import on_terminal

DONE, REFUSED, USAGE, UNREACHABLE, MISSING = range(5)


def place(server):
    """The options that name what the server keeps."""
    return ("--database", server.database) if server.database else ("--data", server.data_directory())


def fill(server, sessions=3, events=4):
    client = server.client()
    for number in range(sessions):
        body = {"type": "agent", "id": f"s{number}", "status": "idle", "title": f"number {number}",
                "metadata": {"k": "v"}}
        client.post("/api/sessions", body, expect=201)
        for count in range(events):
            event = {"type": "user.message", "content": [{"type": "text", "text": f"text {count}"}]}
            client.post(f"/api/sessions/s{number}/events", {"events": [event]}, expect=201)
    client.close()


class Appender(threading.Thread):
    """Appends until it is told to stop, and remembers what was acknowledged."""

    def __init__(self, server, id):
        super().__init__()
        self.client = server.client()
        self.id = id
        self.acknowledged = 0
        self.enough = threading.Event()
        self.moved = threading.Condition()

    def run(self):
        self.client.post("/api/sessions", {"type": "agent", "id": self.id, "status": "idle"}, expect=201)
        while not self.enough.is_set():
            events = [{"type": "note.x", "metadata": {"pad": "x" * 300}}] * 20
            answer = self.client.post(f"/api/sessions/{self.id}/events", {"events": events}, expect=201).json()
            with self.moved:
                self.acknowledged = answer["last_sequence"]
                self.moved.notify_all()
        self.client.close()

    def wait_for(self, sequence):
        with self.moved:
            check.true(self.moved.wait_for(lambda: self.acknowledged >= sequence, 30 * check.patience()),
                       f"{sequence} events are appended")


@test
def test_a_sound_database(server):
    fill(server)
    check.equal(server.run("verify", *place(server)).stdout, "checked 3 sessions, 15 events: 0 problems\n")
    server.client().delete("/api/sessions/s1", expect=204)
    check.equal(server.run("verify", *place(server)).stdout, "checked 2 sessions, 10 events: 0 problems\n")
    server.stop()
    check.equal(server.run("verify", *place(server)).stdout, "checked 2 sessions, 10 events: 0 problems\n")


@test(on=("sqlite", "sqlite asan"), timeout_s=120)
def test_a_backup_while_appends_run(env):
    server = env.server()
    appenders = [Appender(server, f"busy{number}") for number in range(3)]
    for appender in appenders:
        appender.start()
    for appender in appenders:
        appender.wait_for(500)
    before = {appender.id: appender.acknowledged for appender in appenders}
    copy = os.path.join(env.directory, "copy.db")
    result = server.run("backup", copy, "--data", server.data_directory())
    check.contains(result.stdout, f"{copy} holds a copy of ")
    check.equal(result.stderr, "", "no progress where nobody looks")
    after = {appender.id: appender.acknowledged for appender in appenders}
    for appender in appenders:
        appender.wait_for(after[appender.id] + 100)
        appender.enough.set()
        appender.join()
    text = server.run("verify", copy).stdout
    check.true(re.fullmatch(r"checked 3 sessions, \d+ events: 0 problems\n", text), text)
    check.equal(os.listdir(env.directory).count("copy.db-wal"), 0, "files left beside the copy")
    check.contains(server.run("backup", copy, "--data", server.data_directory(), expect=REFUSED).stderr, "exists")
    server.stop()

    restored = Server(os.path.join(env.directory, "restored"), "sqlite", env.tree)
    env.servers.append(restored)
    os.makedirs(restored.data_directory())
    shutil.copy(copy, os.path.join(restored.data_directory(), "sojourn.db"))
    restored.token = server.token
    restored.start()
    client = restored.client()
    for id, acknowledged in before.items():
        last = client.get(f"/api/sessions/{id}", expect=200).json()["last_sequence"]
        check.true(acknowledged <= last <= after[id] + 20, f"{id}: {acknowledged} <= {last} <= {after[id]} + 20")
        events = client.get(f"/api/sessions/{id}/events", query={"after": last - 5}).json()["events"]
        check.equal([event["sequence"] for event in events], list(range(last - 4, last + 1)), "the end of the log")
    client.post("/api/sessions/busy0/events", {"events": [{"type": "note.goes_on"}]}, expect=201)
    client.close()
    restored.run("verify", "--data", restored.data_directory())


@test(timeout_s=120)
def test_verify_while_appends_run(server):
    appenders = [Appender(server, f"busy{number}") for number in range(2)]
    for appender in appenders:
        appender.start()
    try:
        for round in range(1, 4):
            for appender in appenders:
                appender.wait_for(100 * round)
            text = server.run("verify", *place(server)).stdout
            check.true(re.fullmatch(r"checked 2 sessions, \d+ events: 0 problems\n", text), text)
    finally:
        for appender in appenders:
            appender.enough.set()
            appender.join()


@test(on=("sqlite", "sqlite asan"))
def test_after_a_kill_the_log_that_was_not_brought_back_counts(env):
    server = env.server()
    fill(server)
    server.kill()
    check.true(os.path.getsize(os.path.join(server.data_directory(), "sojourn.db-wal")) > 0, "there is a log")
    check.contains(server.run("verify", *place(server)).stdout, "checked 3 sessions, 15 events: 0 problems")
    copy = os.path.join(env.directory, "copy.db")
    server.run("backup", copy, *place(server))
    check.contains(server.run("verify", copy).stdout, "checked 3 sessions, 15 events: 0 problems")
    server.start()
    check.equal(server.client().get("/api/sessions/s2", expect=200).json()["last_sequence"], 5)


@test(on=("sqlite",))
def test_progress_is_shown_on_a_terminal(env):
    server = env.server()
    fill(server)
    copy = os.path.join(env.directory, "copy.db")
    code, text = on_terminal(server, "backup", copy, "--data", server.data_directory())
    check.equal(code, DONE)
    check.contains(text, "\rcopying 100 %\r\033[K")
    code, text = on_terminal(server, "verify", copy)
    check.contains(text, "\rchecking 100 %\r\033[K")
    check.true(text.endswith("checked 3 sessions, 15 events: 0 problems\n"), text)


@test(on=("postgres",))
def test_postgresql_has_tools_of_its_own(env):
    server = env.server()
    copy = os.path.join(env.directory, "copy.db")
    result = server.run("backup", copy, "--database", server.database, expect=REFUSED)
    check.contains(result.stderr, "pg_dump")
    check.true(not os.path.exists(copy), "no file is made")
    wrong = server.run("verify", "--database", "postgres://nobody@127.0.0.1:1/nothing", expect=REFUSED)
    check.contains(wrong.stderr, "sojourn: ")


DAMAGE = {
    "a missing event": ("DELETE FROM events WHERE session_key = 1 AND sequence = 3", "event 4 follows event 2"),
    "a missing last event": ("DELETE FROM events WHERE session_key = 2 AND sequence = 5", "log ends at 4"),
    "a changed title": ("UPDATE sessions SET title = 'forged' WHERE key = 2",
                        "session s1: title is not what its log says"),
    "a changed state": ("UPDATE sessions SET work = 2 WHERE key = 3", "session s2: "),
    "a wrong count of messages": ("UPDATE session_activity SET message_count = 9 WHERE session_key = 1",
                                  "session s0: message_count is not what its log says"),
    "a wrong count of sessions": ("UPDATE tenant_counts SET sessions = sessions + 1", "the counter differs"),
    "a wrong last sequence": ("UPDATE session_activity SET last_sequence = 7 WHERE session_key = 3", "session s2: "),
    "a label without session": ("INSERT INTO labels VALUES (1, 'k', 'v', 5, 99)",
                                "a label of session 99 has no session"),
    "a timer without session": ("INSERT INTO timers VALUES (1, 98, 1, 5)", "a timer of session 98 has no session"),
    "a lost session": ("DELETE FROM sessions WHERE key = 1", "of session 1 has no session"),
    "a lost activity row": ("DELETE FROM session_activity WHERE session_key = 2", "session s1 has no activity row"),
    "an event of another session": ("UPDATE events SET session_key = 2 WHERE session_key = 1 AND sequence = 3",
                                    "session 1 has 4 rows of events, the last of which is event 5"),
    "lost labels": ("DELETE FROM labels WHERE session_key = 2", "session s1: it has 0 labels, its metadata makes 1"),
    "a block the firehose skips": ("DELETE FROM tenant_blocks", "does not reach the events of block 0"),
    "a use of a link that is not counted": ("UPDATE share_links SET use_count = 7", "counts 7 uses of 1"),
    "a session that was deleted": ("INSERT INTO tombstones (tenant_key, id, actor, deleted_at_ms) VALUES (1, 's1', 'somebody', 1)",
                                   "session s1 is there although it was deleted"),
    "an event of nobody": ("INSERT INTO events SELECT position + 1000, tenant_key, 97, sequence, at_ms, type, role, "
                           "content, metadata, thread_id, external_id, actor FROM events WHERE session_key = 1",
                           "an event of session 97 has no session"),
}


@test(on=("sqlite", "sqlite asan"))
def test_planted_damage_is_found(env):
    server = env.server()
    fill(server)
    owner = server.client()
    owner.post("/api/sessions", {"type": "agent", "id": "shared"}, expect=201)
    link = owner.post("/api/sessions/shared/share-link", expect=201).json()
    person(owner, "guest").client.post(f"/api/sessions/join/{link['token']}", expect=200)
    copy = os.path.join(env.directory, "copy.db")
    server.run("backup", copy, "--data", server.data_directory())
    for what, (statement, sentence) in DAMAGE.items():
        damaged = os.path.join(env.directory, "damaged.db")
        shutil.copy(copy, damaged)
        database = sqlite3.connect(damaged)
        changed = database.execute(statement).rowcount
        database.commit()
        database.close()
        check.true(changed > 0, f"{what}: the damage was done")
        text = server.run("verify", damaged, expect=REFUSED).stdout
        check.contains(text, sentence, f"what verify says about {what}")
        last = text.splitlines()[-1]
        found = re.fullmatch(r"checked \d+ sessions, \d+ events: (\d+) problems", last)
        check.true(found, f"{what}: the last line is {last!r}")
        check.equal(int(found.group(1)), len(text.splitlines()) - 1, f"{what}: problems counted")


@test(on=("sqlite",))
def test_a_row_without_a_session_is_found_in_every_table(env):
    """Every table whose rows belong to a session; tombstones are of sessions that are gone."""
    server = env.server()
    fill(server, 1, 1)
    copy, damaged = os.path.join(env.directory, "copy.db"), os.path.join(env.directory, "damaged.db")
    server.run("backup", copy, "--data", server.data_directory())
    server.stop()
    database = sqlite3.connect(copy)
    tables = [name for [name] in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    tables = {name: database.execute(f"PRAGMA table_info({name})").fetchall() for name in tables}
    database.close()
    owned = {name: columns for name, columns in tables.items() if "session_key" in [column[1] for column in columns]}
    owned.pop("tombstones")
    check.true(len(owned) > 20, f"tables with rows of sessions: {sorted(owned)}")
    for name, columns in owned.items():
        shutil.copy(copy, damaged)
        database = sqlite3.connect(damaged)
        values = [{"session_key": 96, "tenant_key": 1}.get(column[1], b"x" if column[2] == "BLOB" else 7777)
                  for column in columns]
        database.execute(f"INSERT INTO {name} VALUES ({', '.join('?' * len(values))})", values)
        database.commit()
        database.close()
        text = server.run("verify", damaged, expect=REFUSED).stdout
        check.contains(text, "of session 96 has no session", f"a row of nobody in {name}")


@test(on=("sqlite",))
def test_a_damaged_page_is_found_whichever_it_is(env):
    server = env.server()
    fill(server)
    copy, damaged = os.path.join(env.directory, "copy.db"), os.path.join(env.directory, "damaged.db")
    server.run("backup", copy, "--data", server.data_directory())
    with open(copy, "rb") as file:
        pages = file.read()
    for start in range(0, len(pages), 4096):
        with open(damaged, "wb") as file:
            file.write(pages[:start] + b"\xff" * 160 + pages[start + 160:])
        result = server.run("verify", damaged, expect=REFUSED)
        check.true(result.stdout or result.stderr, f"page {start // 4096 + 1}: something is said")


@test(on=("sqlite",))
def test_what_is_no_database(env):
    server = env.server()
    rubbish = os.path.join(env.directory, "rubbish.db")
    with open(rubbish, "w", encoding="ascii") as file:
        file.write("this is no database" * 1000)
    check.contains(server.run("verify", rubbish, expect=REFUSED).stderr, "not a database")
    check.contains(server.run("verify", "--data", "/nonexistent", expect=MISSING).stderr, "/nonexistent/sojourn.db")
    server.run("backup", "/nonexistent/copy.db", "--data", server.data_directory(), expect=REFUSED)
    server.run("backup", expect=USAGE)
    server.run("verify", "--database", "mysql://x", expect=USAGE)


@test(on=("sqlite",))
def test_the_place_comes_from_environment_and_file_too(env):
    server = env.server()
    fill(server, 1, 0)
    known = {"SOJOURN_DATA": server.data_directory()}
    check.contains(server.run("verify", environment=known).stdout, "checked 1 sessions")
    config = os.path.join(env.directory, "config.yaml")
    with open(config, "w", encoding="ascii") as file:
        file.write(f"data: {server.data_directory()}\nlog_level: warn\n")
    check.contains(server.run("verify", "--config", config).stdout, "checked 1 sessions")
    server.run("verify", "--config", config, "--data", "/nonexistent", expect=MISSING)

"""What was deleted is gone, without a master key: from the database file, its log, the files of sessions and later backups."""
import base64
import os
import sqlite3

from harness import check
from harness.check import Failure
from harness.suite import test
from harness.talk import claim, send, talk

OPTIONS = ["--sqlite-log-ms", "300ms", "--blob-sweep-ms", "200ms", "--blob-grace-ms", "1ms",
           "--sessions-per-user-max", "100"]
MARK, KEPT = "erase-this-mark", "keep-this-mark"
SIZES = (1, 40, 400, 4000, 60000)  # of what surrounds the mark: in a page, in pages of its own


def files_under(directory):
    return [os.path.join(folder, name) for folder, _, names in os.walk(directory) for name in names]


def files_with(server, *more, mark=MARK):
    """The files of the data directory, and more, in which the mark can be read."""
    paths = files_under(server.data_directory())
    forms = [mark.encode(), base64.b64encode(mark.encode())[:16]]
    found = []
    for path in paths + list(more):
        try:
            with open(path, "rb") as file:
                content = file.read()
        except FileNotFoundError:
            continue
        found += [os.path.basename(path)] if any(form in content for form in forms) else []
    return sorted(set(found))


def say_everywhere(client, mark, number):
    """A session with the mark in all that holds content."""
    path = talk(client, title=f"title {mark}", metadata={"m": f"{mark} {number}"})
    client.post(path + "/messages", {"text": f"hello {mark}"}, headers={"Idempotency-Key": f"k{path}"}, expect=202)
    held = claim(client)
    send(client, path, f"waits {mark}")
    client.post(path + "/deltas", {"deltas": [{"kind": "text", "text": f"partial {mark}"}]}, headers=held, expect=202)
    for size in SIZES:
        text = "x" * size + mark + "y" * size
        client.post(path + "/events", {"events": [
            {"type": "agent.message", "content": [{"type": "text", "text": text}], "external_event_id": f"{mark}{size}"},
            {"type": "custom.thing", "metadata": {"x": text}}]}, headers=held, expect=201)
    client.post(path + "/asks", {"id": "q", "kind": "question", "text": f"ask {mark}"}, headers=held, expect=201)
    client.post(path + "/files", f"file {mark}".encode() * 300, query={"name": f"{mark}.txt"}, expect=201)
    return path


def erase(client, path):
    client.post(path + "/stop", {}, expect=200)
    client.delete(path, expect=204)


def gone(server):
    """Waits until it is; else tells where it is."""
    try:
        check.eventually(lambda: not files_with(server), "the mark is gone", 20)
    except Failure:
        check.equal(files_with(server), [], "the files it is in")


@test(on=("sqlite", "sqlite asan"), timeout_s=120)
def deleted_sessions_are_gone(env):
    """Among others that stay, while the server runs, within the time of the option; then after a crash; and in a backup."""
    for blobs in ("files", "database"):
        server = env.server(OPTIONS + ["--blobs", blobs])
        client = server.client()
        kept, paths = [], []
        for number in range(12):
            paths.append(say_everywhere(client, MARK, number))
            kept.append(say_everywhere(client, KEPT, number))
        check.true(files_with(server), "the mark is stored")
        early = os.path.join(env.directory, f"early-{blobs}.db")
        server.run("backup", early, "--data", server.data_directory())
        check.true(files_with(server, early), "a backup has it")
        for path in paths[::2]:
            erase(client, path)
        server.kill()
        server.start()
        client = server.client()
        for path in paths[1::2]:
            erase(client, path)
        gone(server)
        late = os.path.join(env.directory, f"late-{blobs}.db")
        server.run("backup", late, "--data", server.data_directory())
        check.equal(files_with(server, late, *files_under(f"{late}.blobs")), [])
        check.true(files_with(server, mark=KEPT), "what was not deleted is there")
        for path in kept:
            client.get(path, expect=200)
        server.stop()
        check.equal(files_with(server), [])
        server.verify()
        check.contains(server.run("verify", late).stdout, " 0 problems")


@test(on=("sqlite",))
def what_was_written_over_is_gone(env):
    """Titles, metadata, entities and live output: the old words go, too."""
    server = env.server(OPTIONS)
    client = server.client()
    for size in SIZES[:4]:
        path = talk(client, title=f"{MARK}", metadata={"m": "x" * size + MARK})
        client.put("/api/entities/thing", {"type": "order", "state": {"text": "x" * size + MARK}})
        client.patch(path, {"title": "other", "metadata": {"m": None}}, expect=200)
        client.delete(path, expect=204)
        client.delete("/api/entities/thing")
    gone(server)
    server.stop()


@test(on=("sqlite",))
def kept_answers_go_with_what_they_tell_of(env):
    """Of entities and tasks that were made with an Idempotency-Key; those of others stay."""
    server = env.server(OPTIONS)
    client = server.client()
    for number, mark in enumerate((MARK, KEPT)):
        key = {"Idempotency-Key": f"key{number}"}
        body = {"id": f"e:{number}", "type": "order", "fields": {"text": mark}}
        client.post("/api/entities", body, headers=key, expect=201)
        client.post("/api/tasks", {"id": f"t-{number}", "name": mark, "agent": "demo", "prompt": mark}, headers=key | {
            "Idempotency-Key": f"task{number}"}, expect=201)
    client.delete("/api/entities/e%3A0", expect=204)
    client.delete("/api/tasks/t-0", expect=204)
    gone(server)
    again = client.post("/api/entities", body, headers=key, expect=201)
    check.equal(again.header("idempotency-replayed"), "true")
    server.stop()
    server.verify()


@test(on=("sqlite",))
def an_older_database_is_cleaned(env):
    """One that has remains in its free pages: the start warns, a backup has none, and compact takes them away."""
    server = env.server()
    client = server.client()
    path = talk(client)
    client.post(path + "/events", {"events": [{"type": "note.x", "metadata": {"x": KEPT}}]}, expect=201)
    server.stop()
    file_path = os.path.join(server.data_directory(), "sojourn.db")
    database = sqlite3.connect(file_path, isolation_level=None)
    database.execute("pragma secure_delete = off")
    database.execute("pragma user_version = 0")
    database.execute("create table old (text)")
    for _ in range(100):
        database.execute("insert into old values (?)", (MARK * 100,))
    database.execute("drop table old")
    database.close()
    check.equal(files_with(server), ["sojourn.db"])
    server.start()
    server.wait_log("sqlite_remains")
    copy = os.path.join(env.directory, "copy.db")
    server.run("backup", copy, "--data", server.data_directory())
    check.equal(files_with(server, copy), ["sojourn.db"])
    check.contains(server.run("compact", "--data", server.data_directory(), expect=1).stderr, "is used by")
    server.stop()
    check.contains(server.run("compact", "--data", server.data_directory()).stdout, "sojourn.db")
    check.equal(files_with(server), [])
    server.verify()
    server.start()
    check.equal(server.log.wait(lambda entry: entry["event"] == "sqlite_remains", 0.2), None, "a warning")
    events = server.client().get(path + "/events", expect=200).json()["events"]
    check.equal(events[-1]["metadata"], {"x": KEPT})
    server.stop()

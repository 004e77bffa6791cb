"""Content at rest: with a master key nothing that was said can be read on disk, and everything works as before."""
import base64
import contextlib
import os
import sqlite3
import subprocess

from harness import check, people
from harness.postgres import database_name, find_programs
from harness.suite import test
from harness.talk import claim, events, send, settle, talk

NEEDLE = "needle-in-the-hay"


def new_key(env, name="key"):
    """A file with a new master key."""
    path = os.path.join(env.directory, name)
    with open(path, "wb") as file:
        os.chmod(path, 0o600)
        file.write(base64.b64encode(os.urandom(32)) + b"\n")
    return path


def care(server, command, *arguments, expect=0, key=None):
    database = ["--database", server.database] if server.database else []
    options = ["--master-key-file", key] if key else []
    return server.run(command, *arguments, "--data", server.data_directory(), *database, *options, expect=expect)


def at_rest(env, server):
    """Everything that is stored, as (where, bytes)."""
    for folder, _, names in os.walk(server.data_directory()):
        for name in names:
            with open(os.path.join(folder, name), "rb") as file:
                yield os.path.join(folder, name), file.read()
    if server.database:
        cluster = env.cluster()
        dump = os.path.join(find_programs(), "pg_dump")
        yield "dump", subprocess.run([dump, "-h", cluster.directory, "-U", "postgres", database_name(server.database)],
                                     check=True, capture_output=True).stdout


def found(env, server, *needles):
    """Where needles are, in any of the forms in which bytes are shown in a dump."""
    forms = [form for one in needles for form in (one.encode(), one.encode().hex().encode(), base64.b64encode(one.encode())[:16])]
    return sorted({where for where, content in at_rest(env, server) for form in forms if form in content})


def say_everywhere(client):
    """A session with the needle in all that holds content; its path and the url of a file."""
    path = talk(client, title=f"title {NEEDLE}", metadata={"label": "plain-label"})
    client.post(path + "/messages", {"text": f"hello {NEEDLE}", "metadata": {"m": NEEDLE}}, expect=202,
                headers={"Idempotency-Key": "k"})
    held = claim(client)
    send(client, path, f"waits {NEEDLE}", metadata={"w": NEEDLE})
    client.post(path + "/deltas", {"deltas": [{"kind": "text", "text": f"partial {NEEDLE}"}]}, headers=held, expect=202)
    client.post(path + "/events", {"events": [
        {"type": "agent.message", "content": [{"type": "text", "text": f"said {NEEDLE}"}]},
        {"type": "agent.tool_call", "content": [{"id": "c", "name": "n", "input": {"a": NEEDLE}}]},
        {"type": "custom.thing", "metadata": {"x": NEEDLE}}]}, headers=held, expect=201)
    client.post(path + "/asks", {"id": "q", "kind": "question", "text": f"ask {NEEDLE}"}, headers=held, expect=201)
    client.post(path + "/asks/q/answer", {"answer": f"answer {NEEDLE}"}, expect=200)
    made = client.post(path + "/files", f"file {NEEDLE}".encode(), query={"name": f"{NEEDLE}.txt"}, expect=201).json()
    return path, held, made["url"]


@test
def nothing_said_is_readable_at_rest(env):
    """Messages, queue, asks, results, titles, files, kept answers: none of it is in the data directory or a dump."""
    key = new_key(env)
    for place in ("files", "database"):
        server = env.server(["--master-key-file", key, "--blobs", place])
        client = server.client()
        path, held, url = say_everywhere(client)
        server.restart()
        client = server.client()
        check.equal(found(env, server, NEEDLE), [])
        check.contains(client.get(path, expect=200).json(), {"title": f"title {NEEDLE}", "metadata": {"label": "plain-label"}})
        texts = [event["content"][0]["text"] for event in events(client, path, "user.message", "agent.message")]
        check.equal(texts, [f"hello {NEEDLE}", f"said {NEEDLE}"])
        check.equal(client.get(path + "/queue").json()["prompts"][0]["content"][0]["text"], f"waits {NEEDLE}")
        check.equal(client.get(path + "/asks/q").json()["text"], f"ask {NEEDLE}")
        check.equal(client.get(url, expect=200).body, f"file {NEEDLE}".encode())
        check.equal(client.get(path + "/files").json()["files"][0]["name"], f"{NEEDLE}.txt")
        check.equal([one["title"] for one in client.get("/api/sessions").json()["sessions"]], [f"title {NEEDLE}"])
        again = client.post(path + "/messages", {"text": f"hello {NEEDLE}", "metadata": {"m": NEEDLE}}, expect=202,
                            headers={"Idempotency-Key": "k"})
        check.equal(again.header("idempotency-replayed"), "true")
        client.post(path + "/settle", {"status": "failed", "error": {"code": "c", "message": f"error {NEEDLE}"},
                                       "result": {"r": NEEDLE}}, headers=held, expect=200)
        check.equal(client.get(path).json()["result"], {"r": NEEDLE})
        server.stop()
        check.equal(found(env, server, NEEDLE), [])
        check.true("0 problems" in care(server, "verify", key=key).stdout, "the store is whole")


def work_everywhere(client):
    """The needle in all that is kept beside sessions: personas, entities, tasks and their steps, what runs say."""
    client.post("/api/agents", {"id": "a1", "driver": "worker"}, expect=201)
    client.post("/api/personas", {"id": "poet", "name": f"name {NEEDLE}", "prompt": f"rhyme {NEEDLE}"}, expect=201)
    client.post("/api/entities", {"id": "e", "type": "ticket", "fields": {"title": NEEDLE}}, expect=201)
    client.patch("/api/entities/e", {"fields": {"more": NEEDLE}}, expect=200)
    steps = [{"id": "one", "agent": "a1", "prompt": f"look {NEEDLE}", "output": {"fields": {"found": "string"}}},
             {"id": "two", "agent": "a1", "prompt": f"write {NEEDLE}", "depends_on": ["one"]}]
    client.post("/api/tasks", {"id": "work", "name": f"task {NEEDLE}", "steps": steps[:1]}, expect=201)
    client.patch("/api/tasks/work", {"steps": steps}, expect=200)
    started = client.post("/api/tasks/work/runs", {"entity_id": "e", "input": {"i": NEEDLE}}, expect=201).json()
    source = {"kind": "automation", "trigger_id": "nightly", "interactive": False}
    run = people.session(client, source=source, agent="w", status="pending")
    inside = client.with_token(client.post(run + "/sandbox-token", {}, expect=201).json()["token"])
    client.post("/api/claims", {"worker": "w", "agents": ["w"]}, expect=200)
    inside.post(run + "/tools/automation.complete", {"call_id": "c", "arguments": {
        "outcome": "succeeded", "summary": f"summary {NEEDLE}"}}, expect=200)
    return {one["step"]: f"/api/sessions/{one['session_id']}" for one in started["steps"]}


def check_work(client, paths):
    """All of it reads as it was written, and goes on."""
    check.contains(client.get("/api/personas/poet").json(), {"name": f"name {NEEDLE}", "prompt": f"rhyme {NEEDLE}"})
    check.equal(client.get("/api/personas").json()["personas"][0]["prompt"], f"rhyme {NEEDLE}")
    check.contains(client.get("/api/entities/e").json()["fields"], {"title": NEEDLE, "more": NEEDLE})
    check.equal([one["id"] for one in client.get("/api/entities").json()["entities"]], ["e"])
    for text, want in ((NEEDLE.upper(), ["e"]), ("ticket", ["e"]), ("absent", [])):
        check.equal([one["id"] for one in client.get(f"/api/entities?q={text}").json()["entities"]], want)
    task = client.get("/api/tasks/work").json()
    check.equal((task["name"], task["steps"][1]["prompt"]), (f"task {NEEDLE}", f"write {NEEDLE}"))
    check.equal(client.get("/api/tasks").json()["tasks"][0]["name"], f"task {NEEDLE}")
    check.equal([one["summary"] for one in client.get("/api/runs").json()["runs"] if one["summary"]], [f"summary {NEEDLE}"])
    [claimed] = client.post("/api/claims", {"worker": "w", "agents": ["a1"]}, expect=200).json()["claims"]
    client.post(paths["one"] + "/settle", {"status": "completed", "result": {"found": f"out {NEEDLE}"}},
                headers={"Sojourn-Lease": claimed["lease"]["token"]}, expect=200)
    check.equal(client.get("/api/entities/e").json()["fields"]["found"], f"out {NEEDLE}")
    told = [event for event in events(client, paths["two"]) if f"out {NEEDLE}" in str(event)]
    check.true(told, "the second step is told what the first one found")


@test
def work_is_not_readable_at_rest(env):
    """Personas, entities, tasks, their steps and what runs say of themselves: sealed, and after a rekey too."""
    old, new = new_key(env, "old"), new_key(env, "new")
    server = env.server(["--master-key-file", old])
    paths = work_everywhere(server.client())
    server.stop()
    check.equal(found(env, server, NEEDLE), [])
    care(server, "rekey", new, key=old)
    server.options = ["--master-key-file", new]
    server.start()
    check_work(server.client(), paths)
    server.stop()
    check.equal(found(env, server, NEEDLE), [])
    check.true("0 problems" in care(server, "verify", key=new).stdout, "the store is whole")


@test
def work_without_a_key(env):
    """The same is found without one, and stays readable when there is one later."""
    server = env.server()
    paths = work_everywhere(server.client())
    server.stop()
    check.true(found(env, server, NEEDLE), "plain content is plain")
    server.options = ["--master-key-file", new_key(env)]
    server.start()
    check_work(server.client(), paths)


@test
def without_a_key_nothing_changes(env):
    """The same is readable without one: the search of these tests can find what is there."""
    server = env.server()
    say_everywhere(server.client())
    server.stop()
    check.true(found(env, server, NEEDLE), "plain content is plain")


@test
def the_key_is_needed(env):
    """No key, a wrong one and a bad one are refused with a sentence; a store that was plain stays readable."""
    key, other = new_key(env), new_key(env, "other")
    server = env.server()
    plain = talk(server.client(), title="before")
    server.stop()
    server.options = ["--master-key-file", key]
    server.start()
    client = server.client()
    sealed = talk(client, title="after")
    check.equal([client.get(path).json()["title"] for path in (plain, sealed)], ["before", "after"])
    server.stop()
    for options, code in (([], "master_key_missing"), (["--master-key-file", other], "master_key_wrong")):
        server.options = options
        server.launch()
        check.true(server.wait_log("start_failed", code=code), code)
        server.wait_exit(expect=1)
    short, public = os.path.join(env.directory, "short"), new_key(env, "public")
    with open(short, "w", encoding="ascii") as file:
        os.chmod(short, 0o600)
        file.write("AAAA")
    os.chmod(public, 0o644)
    for path in (short, public, os.path.join(env.directory, "nowhere")):
        server.options = ["--master-key-file", path]
        server.launch()
        check.true(server.wait_log("start_failed"), path)
        server.wait_exit(expect=1)
    with open(key, encoding="ascii") as file:
        server.environment["SOJOURN_MASTER_KEY"] = file.read().strip()
    server.options = []
    server.start()
    check.equal(server.client().get(sealed).json()["title"], "after")


@test
def rekey(env):
    """The keys of sessions are wrapped anew: the old master key opens nothing, the new one everything."""
    old, new = new_key(env, "old"), new_key(env, "new")
    server = env.server(["--master-key-file", old])
    path, _, url = say_everywhere(server.client())
    if not server.database:
        refused = care(server, "rekey", new, expect=1, key=old)
        check.true("process" in refused.stderr, "not while a server runs")
    server.stop()
    care(server, "rekey", old, expect=1, key=new)
    check.true("1 sessions" in care(server, "rekey", new, key=old).stdout, "it says what it did")
    care(server, "verify", expect=1, key=old)
    server.options = ["--master-key-file", new]
    server.start()
    check.equal(server.client().get(path).json()["title"], f"title {NEEDLE}")
    check.equal(server.client().get(url, expect=200).body, f"file {NEEDLE}".encode())
    plain = env.server()
    plain.stop()
    check.true("encrypted" in care(plain, "rekey", new, expect=1).stderr, "nothing to change")


def everything(client, path):
    """What is said of all that say_everywhere and work_everywhere made, apart from what time changes."""
    last = client.get(path + "/events?types=custom.x&order=newest&limit=1").json()["events"][0]["sequence"]
    sessions = client.get("/api/sessions?limit=100").json()["sessions"]
    whole = [client.get(target, expect=200).json()
             for target in (f"{path}/events?limit=1000&before={last + 1}", path + "/asks?state=all", path + "/queue",
                            path + "/files", "/api/entities/e", "/api/tasks/work", "/api/personas/poet")]
    return whole + sorted([one["id"], one["title"], one["preview"], one["prompt_snippet"]] for one in sessions)


@test
def what_came_before_the_key_is_sealed(env):
    """`seal` encrypts sessions, files and what belongs to none that were stored in the clear; twice is once; nothing
    of them changes for who reads them."""
    key = new_key(env)
    for place in ("files", "database"):
        server = env.server(["--blobs", place])
        client = server.client()
        path, _, url = say_everywhere(client)
        work_everywhere(client)
        for number in range(3):
            client.post(path + "/events", {"events": [{"type": "custom.x", "metadata": {"n": number, "x": NEEDLE}}] * 90},
                        expect=201)
        before = everything(client, path)
        server.stop()
        check.true(found(env, server, NEEDLE) != [], "it is in the clear")
        check.contains(care(server, "seal", expect=1).stderr, "without a master key")
        if not server.database:
            server.start()
            check.contains(care(server, "seal", key=key, expect=1).stderr, "process")
            server.stop()
        sealed = care(server, "seal", key=key).stdout
        check.true(" sessions from before" in sealed and not sealed.startswith("0 sessions"), sealed)
        if server.database:
            env.cluster().sql("vacuum full", database_name(server.database))
        check.equal(found(env, server, NEEDLE), [])
        check.contains(care(server, "seal", key=key).stdout, "0 sessions from before the master key are encrypted now, 0 texts")
        check.true("0 problems" in care(server, "verify", key=key).stdout, "the store is whole")
        server.options += ["--master-key-file", key]
        client = server.start().client()
        check.equal(everything(client, path), before)
        check.equal(client.get(url, expect=200).body, f"file {NEEDLE}".encode())
        client.post(path + "/events", {"events": [{"type": "custom.x", "metadata": {"late": NEEDLE}}]}, expect=201)
        again = client.post(path + "/messages", {"text": f"hello {NEEDLE}", "metadata": {"m": NEEDLE}}, expect=202,
                            headers={"Idempotency-Key": "k"})
        check.equal(again.header("idempotency-replayed"), "true")
        server.stop()
        check.equal(found(env, server, NEEDLE), [])


@test
def a_deleted_session_takes_its_key_along(env):
    """What is left of a deleted session on disk has no key any more."""
    key = new_key(env)
    server = env.server(["--master-key-file", key])
    client = server.client()
    path, _, _ = say_everywhere(client)
    kept = talk(client, title="kept")
    wrapped = ""
    if not server.database:
        with sqlite3.connect(f"file:{server.data_directory()}/sojourn.db?mode=ro", uri=True) as database:
            [[wrapped]] = database.execute("SELECT hex(wrapped) FROM session_keys ORDER BY session_key LIMIT 1")
        database.close()
    client.post(path + "/stop", {}, expect=200)
    client.delete(path, expect=204)
    server.stop()
    for where, content in at_rest(env, server):
        check.true(not wrapped or bytes.fromhex(wrapped) not in content, f"the key is gone from {where}")
    check.true("0 problems" in care(server, "verify", key=key).stdout, "no key is left over")
    check.true("1 sessions" in care(server, "rekey", new_key(env, "n"), key=key).stdout, "one key is left")
    server.options = ["--master-key-file", os.path.join(env.directory, "n")]
    server.start()
    check.equal(server.client().get(kept).json()["title"], "kept")


def rows(env, server):
    """What the tables say, as SQL."""
    if server.database:
        [(_, dump)] = [one for one in at_rest(env, server) if one[0] == "dump"]
        return dump.decode()
    with contextlib.closing(sqlite3.connect(f"file:{server.data_directory()}/sojourn.db?mode=ro", uri=True)) as database:
        return "\n".join(database.iterdump())


@test
def a_deleted_session_leaves_no_word(env):
    """The tombstone holds no content, and neither do the kept answers to requests that told of the session."""
    server = env.server(["--blobs", "database", "--blob-grace-ms", "1", "--blob-sweep-ms", "20"])
    client = server.client()
    body = {"type": "agent", "id": "web:gone", "title": NEEDLE, "metadata": {"m": NEEDLE}, "prompt": NEEDLE}
    made = {"Idempotency-Key": "made"}
    client.post("/api/sessions", body, headers=made, expect=201)
    path, _, _ = say_everywhere(client)
    said = {"events": [{"type": "custom.thing", "metadata": {"x": NEEDLE}, "external_event_id": NEEDLE}]}
    client.post(path + "/events", said, headers={"Idempotency-Key": "said"}, expect=201)
    client.post(path + "/channels", {"kind": "slack", "address": NEEDLE}, expect=201)
    check.true(NEEDLE in rows(env, server), "the search finds what is there")
    client.post(path + "/stop", {}, expect=200)
    for one in (path, "/api/sessions/web:gone"):
        client.delete(one, expect=204)
    check.eventually(lambda: NEEDLE not in rows(env, server), "no table holds a word of them")
    check.problem(client.post(path + "/events", said, headers={"Idempotency-Key": "said"}), 404, "session_not_found")
    check.problem(client.post("/api/sessions", body, headers=made), 410, "session_deleted")


@test
def an_answer_about_two_sessions_goes_with_either(env):
    """A settlement that claimed the next sessions is kept with their words: until one of them is deleted."""
    server = env.server()
    client = server.client()
    for gone in range(3):
        title = f"{NEEDLE}{gone}"
        ids = [client.post("/api/sessions", {"type": "agent", "agent": "w", "prompt": "x", "title": title,
                                             "metadata": {"m": title}}, expect=201).json()["id"] for _ in range(3)]
        [first] = client.post("/api/claims", {"worker": "w"}, expect=200).json()["claims"]
        held = {"Sojourn-Lease": first["lease"]["token"], "Idempotency-Key": f"settled{gone}"}
        body = {"status": "completed", "claim": {"worker": "w", "max": 2}}
        settle = f"/api/sessions/{first['session']['id']}/settle"
        claimed = client.post(settle, body, headers=held, expect=200).json()["claims"]
        check.equal([first["session"]["id"]] + [one["session"]["id"] for one in claimed], ids)
        again = client.post(settle, body, headers=held, expect=200)
        check.equal((again.header("idempotency-replayed"), again.json()["claims"]), ("true", claimed))
        for one in claimed:
            client.post(f"/api/sessions/{one['session']['id']}/settle", {"status": "completed"},
                        headers={"Sojourn-Lease": one["lease"]["token"]}, expect=200)
        deleted = ids[gone]
        check.true(f"settled{gone}" in rows(env, server), "the answer is kept")
        client.delete(f"/api/sessions/{deleted}", expect=204)
        check.true(f"settled{gone}" not in rows(env, server), "no answer and no subject is left")
        for one in ids:
            if one != deleted:
                client.delete(f"/api/sessions/{one}", expect=204)
        check.true(NEEDLE not in rows(env, server), "no table holds a word of them")
    server.stop()
    check.true("0 problems" in care(server, "verify").stdout, "nothing is left over")


@test(on=("sqlite",))
def a_backup_stays_sealed(env):
    """It is made without the key, holds the files, and is verified with it."""
    key = new_key(env)
    server = env.server(["--master-key-file", key])
    _, _, url = say_everywhere(server.client())
    copy = os.path.join(env.directory, "copy.db")
    care(server, "backup", copy)
    check.true("0 problems" in server.run("verify", copy, "--master-key-file", key).stdout, "the copy is whole")
    server.run("verify", copy, expect=1)
    for folder in (copy, copy + ".blobs"):
        check.true(os.path.exists(folder), folder)
    server.stop()
    restored = env.server(["--master-key-file", key], start=False)
    os.makedirs(restored.data_directory())
    os.rename(copy, os.path.join(restored.data_directory(), "sojourn.db"))
    os.rename(copy + ".blobs", os.path.join(restored.data_directory(), "blobs"))
    restored.token = server.token
    check.equal(restored.start().client().get(url, expect=200).body, f"file {NEEDLE}".encode())


@test(timeout_s=120)
def killed_with_a_key(env):
    """Killed between and under writes: what was acknowledged is there, opens, and verify finds nothing."""
    key = new_key(env)
    server = env.server(["--master-key-file", key])
    chance = env.random()
    acknowledged = []
    for _ in range(env.rounds(5)):
        client = server.client()
        for number in range(chance.randrange(1, 6)):
            path = talk(client, title=f"t{number}")
            client.post(path + "/events", {"events": [{"type": "custom.x", "metadata": {"n": number}}] * 5}, expect=201)
            acknowledged.append((path, number))
        with client.connect() as connection:
            connection.send(b"POST %s/messages HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n"
                            b"Content-Type: application/json\r\nContent-Length: 17\r\n\r\n{\"text\": \"hello\"}"
                            % (path.encode(), server.token.encode()))
            server.kill()
        server.start()
        client = server.client()
        for path, number in acknowledged:
            check.equal(client.get(path).json()["title"], f"t{number}")
            check.equal([one["metadata"]["n"] for one in events(client, path, "custom.x")], [number] * 5)
    server.stop()
    check.true("0 problems" in care(server, "verify", key=key).stdout, "the store is whole")

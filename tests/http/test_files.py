"""Files of sessions: kept by their content, on disk or in the database, and gone when nobody refers to them."""
import glob
import hashlib
import os

from harness import check, people
from harness.suite import test
from harness.talk import events

PLACES = ("files", "database")


def upload(client, path, content, name=None, media_type="text/plain", expect=201):
    query = {"name": name} if name else None
    return client.post(path + "/files", content, headers={"Content-Type": media_type}, query=query, expect=expect).json()


def handle_of(content):
    return "blob:" + hashlib.sha256(content).hexdigest()


def kept_files(server):
    """The files below the data directory that hold content, by name."""
    found = glob.glob(os.path.join(server.data_directory(), "blobs", "*", "??", "*"))
    return {os.path.basename(one): one for one in found}


@test
def a_file_comes_back_as_it_was(env):
    """Kept on disk or in the database: the same bytes, their name and type, once per session, told in the log."""
    for place in PLACES:
        server = env.server(["--blobs", place])
        client = server.client()
        path = people.session(client)
        content = os.urandom(3 * 1024 * 1024 // 2) + b"end"
        made = upload(client, path, content, "a b ☀.bin", "application/x-thing; charset=x")
        check.contains(made, {"handle": handle_of(content), "name": "a b ☀.bin", "bytes": len(content),
                              "media_type": "application/x-thing"})
        got = client.get(made["url"], expect=200)
        check.equal(got.body, content)
        check.equal(got.header("content-disposition"), "attachment; filename*=UTF-8''a%20b%20%E2%98%80.bin")
        check.equal(client.get(f"{path}/files", expect=200).json()["files"], [made])
        check.equal(upload(client, path, content, "other", expect=200), made)
        empty = upload(client, path, b"")
        check.equal(client.get(empty["url"], expect=200).body, b"")
        told = [event["metadata"]["handle"] for event in events(client, path, "session.file_added")]
        check.equal(told, [made["handle"], empty["handle"]])
        check.equal(len(kept_files(server)), 2 if place == "files" else 0)
        server.restart()
        check.equal(server.client().get(made["url"], expect=200).body, content)
        server.stop()
        check.true("0 problems" in server.verify(), "the store is whole")


@test
def a_handle_opens_nothing_elsewhere(server):
    """Whoever knows a handle reads it only in a session that has the file and that he may see."""
    client = server.client()
    path, other = people.session(client), people.session(client)
    made = upload(client, path, b"mine")
    client.get(f"{other}/files/{made['handle']}", expect=404)
    stranger = people.person(client, "sam").client
    stranger.get(made["url"], expect=404)
    stranger.post(path + "/files", b"x", expect=404)
    for wrong in ("x", "blob:", "blob:" + "0" * 63, "blob:" + "G" * 64, "..%2f..%2fsojourn.db"):
        client.get(f"{path}/files/{wrong}", expect=404)
    client.post("/api/sessions/nowhere/files", b"x", expect=404)
    server.anonymous().get(made["url"], expect=401)


@test
def parts_of_a_file(server):
    """Ranges, HEAD and If-None-Match."""
    client = server.client()
    path = people.session(client)
    made = upload(client, path, b"0123456789")
    for header, status, body, told in (("bytes=0-3", 206, b"0123", "bytes 0-3/10"), ("bytes=7-", 206, b"789", "bytes 7-9/10"),
                                       ("bytes=-2", 206, b"89", "bytes 8-9/10"), ("bytes=8-99", 206, b"89", "bytes 8-9/10"),
                                       ("bytes=-99", 206, b"0123456789", "bytes 0-9/10"),
                                       ("bytes=10-", 416, b"", "bytes */10"), ("bytes=5-2", 416, b"", "bytes */10"),
                                       ("lines=1-2", 200, b"0123456789", None), ("bytes=a-b", 200, b"0123456789", None),
                                       ("bytes=0-1,3-4", 200, b"0123456789", None), ("bytes=-", 200, b"0123456789", None)):
        got = client.get(made["url"], headers={"Range": header}, expect=status)
        check.equal((got.body, got.header("content-range")), (body, told), header)
    head = client.request("HEAD", made["url"], expect=200)
    check.equal((head.body, head.header("content-length")), (b"", "10"))
    again = client.get(made["url"], headers={"If-None-Match": head.header("etag")}, expect=304)
    check.equal(again.body, b"")


@test
def nothing_runs_in_a_browser(server):
    """What could be a page is served as bytes to be saved; images keep their type."""
    client = server.client()
    path = people.session(client)
    for number, (told, served) in enumerate((("text/html", "application/octet-stream"),
                                             ("image/svg+xml", "application/octet-stream"),
                                             ("application/xhtml+xml", "application/octet-stream"),
                                             ("image/png", "image/png"), ("text/plain", "text/plain"))):
        made = upload(client, path, b"<script>alert(%d)</script>" % number, "p", told)
        got = client.get(made["url"], expect=200)
        check.equal(got.header("content-type").split(";")[0], served)
        check.equal(got.header("x-content-type-options"), "nosniff")
        check.true(got.header("content-disposition").startswith("attachment"), "it is saved, not shown")
        check.true("sandbox" in got.header("content-security-policy"), "it may do nothing")
    for wrong in ("png", "image/", "a/b/c", "text/<html>", "image/" + "x" * 200):
        check.problem(client.post(path + "/files", b"x", headers={"Content-Type": wrong}), 400, "invalid_media_type")


@test
def limits(env):
    """A file that is too large, and one too many."""
    server = env.server(["--blob-bytes-max", "1KiB", "--files-per-session-max", "2"])
    client = server.client()
    path = people.session(client)
    check.problem(client.post(path + "/files", b"x" * 1025), 413, "file_too_large")
    upload(client, path, b"x" * 1024)
    upload(client, path, b"2")
    check.problem(client.post(path + "/files", b"3"), 429, "too_many_files")
    upload(client, path, b"2", expect=200)
    check.equal(len(client.get(path + "/files").json()["files"]), 2)


@test
def bytes_go_with_the_last_session(env):
    """Content is kept once for all sessions that have it, and collected when the last of them is deleted."""
    for place in PLACES:
        server = env.server(["--blobs", place, "--blob-grace-ms", "1", "--blob-sweep-ms", "20"])
        client = server.client()
        first, second = people.session(client), people.session(client)
        shared, own = b"shared" * 1000, b"own"
        urls = [upload(client, path, shared)["url"] for path in (first, second)]
        upload(client, first, own)
        if place == "files":
            check.equal(len(kept_files(server)), 2)
        client.delete(first, expect=204)
        if place == "files":
            gone = hashlib.sha256(own).hexdigest()
            check.eventually(lambda: gone not in kept_files(server), "the file of the deleted session is collected")
            check.equal(list(kept_files(server)), [hashlib.sha256(shared).hexdigest()])
        check.equal(client.get(urls[1], expect=200).body, shared)
        third = people.session(client)
        check.equal(client.get(upload(client, third, own)["url"], expect=200).body, own)
        for path in (second, third):
            client.delete(path, expect=204)
        if place == "files":
            check.eventually(lambda: not kept_files(server), "all files are collected")
        server.stop()
        check.true("0 problems" in server.verify(), "the store is whole")


@test
def damage_is_noticed(env):
    """A file that changed on disk is not handed out, and verify names it."""
    server = env.server(["--blobs", "files"])
    client = server.client()
    path = people.session(client)
    made = upload(client, path, b"as it was")
    [file] = kept_files(server).values()
    with open(file, "wb") as target:
        target.write(b"as it is ")
    check.problem(client.get(made["url"]), 503, "damaged_file")
    server.stop()
    found = server.run("verify", "--data", server.data_directory(), *(["--database", server.database] if server.database else []), expect=1).stdout
    check.true(made["handle"] in found, "verify names the file")


@test(timeout_s=120)
def killed_while_files_come_in(env):
    """Killed at any moment: every file that was acknowledged is there and whole, and verify finds nothing."""
    chance = env.random()
    server = env.server(["--blobs", "files" if env.seed % 2 else "database"])
    path = people.session(server.client())
    acknowledged = []
    for round_ in range(env.rounds(6)):
        client = server.client()
        for _ in range(chance.randrange(1, 8)):
            content = len(acknowledged).to_bytes(2, "big") + chance.randbytes(chance.choice((0, 1000, 200000)))  # never one twice
            acknowledged.append((upload(client, path, content)["url"], content))
        with client.connect() as connection:
            body = chance.randbytes(300000)
            connection.send(b"POST %s/files HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\n\r\n%s"
                            % (path.encode(), server.token.encode(), len(body), body))
            if round_ % 2:
                connection.read_head()
            server.kill()
        server.start()
        client = server.client()
        for url, content in acknowledged:
            check.equal(client.get(url, expect=200).body, content)
        check.equal(os.listdir(os.path.join(server.data_directory(), "blobs", "new"))
                    if env.seed % 2 else [], [], "halves are gone")
    server.stop()
    check.true("0 problems" in server.verify(), "the store is whole")

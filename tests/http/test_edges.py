"""The edge of the server: what a head decides alone, and how much memory requests and answers can hold."""
import json
import re
import time

from harness import check, people
from harness.client import Closed, Deadline, encode_request
from harness.routes import table
from harness.suite import test

KIB, MIB = 1024, 1024 * 1024
BODY_MAX = MIB
MEASURED = ("sqlite", "postgres")  # sanitizers keep what is freed
GUEST_MAX = 16 * KIB


def routes(client):
    """(method, path, auth) of every row of the table, of a session that is there."""
    session = people.session(client, agent="nobody").split("/")[-1]
    for (method, path), (auth, _, _) in table().items():
        path = path.replace("/api/sessions/{id}", f"/api/sessions/{session}")
        yield method.upper(), re.sub(r"\{\w+\}", "x", path), auth


def head(method, path, token=None, length=None, **more):
    lines = [f"{method} {path} HTTP/1.1", "Host: localhost", "Content-Type: application/json"]
    lines += [f"Authorization: Bearer {token}"] if token else []
    lines += [f"Content-Length: {length}"] if length is not None else []
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in more.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def answer_to(client, data, pieces=None):
    """The answer to raw bytes on a connection of their own."""
    with client.connect() as connection:
        for piece in pieces or [data]:
            connection.send(piece)
        return connection.read_head()


def peak_bytes(server):
    with open(f"/proc/{server.process.pid}/status", encoding="ascii") as status:
        return int(re.search(r"VmHWM:\s+(\d+) kB", status.read()).group(1)) * KIB


def reset_peak(server):
    with open(f"/proc/{server.process.pid}/clear_refs", "w", encoding="ascii") as refs:
        refs.write("5")


def check_less(got, most, what):
    check.true(got < most, f"{what}: {got} is less than {most}")


@test
def strangers_are_told_before_their_body(env):
    """Every route: without a token or with a wrong one it is 401 on the head alone, whatever would follow."""
    server = env.server(options=["--body-bytes-max", str(BODY_MAX)])
    client = server.client()
    for method, path, auth in routes(client):
        if auth == "AUTH_NONE":
            continue
        what = f"{method} {path}"
        for length in (10, GUEST_MAX + 1, BODY_MAX + 1, 1 << 40):
            check.equal(answer_to(client, head(method, path, length=length)).status, 401, f"{what}: no token, {length}")
        for more in ({"length": GUEST_MAX + 1}, {"length": 2, "Expect": "100-continue"}):
            got = answer_to(client, head(method, path, "wrong", **more))
            limit = 413 if more["length"] > GUEST_MAX and got.status == 413 else 401
            check.equal(got.status, limit, f"{what}: wrong token, {more}")
        for body in (b"{", b"[]", b"\xff", b'{"unknown":1}', b""):
            request = head(method, path, "wrong", len(body)) + body
            check.equal(answer_to(client, request).status, 401, f"{what}: wrong token, {body}")
        query = head(method, path + "?unknown=1&%zz", "wrong", 0)
        check.equal(answer_to(client, query).status, 401, f"{what}: wrong token, wrong query")


@test
def too_large_is_told_on_the_head(env):
    """Every route: a body beyond its limit is 413 before a byte of it came; the limit of guests is small."""
    server = env.server(options=["--body-bytes-max", str(BODY_MAX)])
    client = server.client()
    for method, path, auth in routes(client):
        most = GUEST_MAX if auth == "AUTH_NONE" else BODY_MAX
        got = answer_to(client, head(method, path, client.token, most + 1))
        check.equal(got.status, 413, f"{method} {path}: {most + 1} bytes")
        check.equal(got.header("connection"), "close")


@test
def pieces_make_no_difference(env):
    """Every route answers a body that comes byte by byte as it answers one that comes at once."""
    server = env.server()
    client = server.client()
    for method, path, auth in routes(client):
        body = b'{"no_such_member":1}'
        whole = answer_to(client, head(method, path, client.token, len(body)) + body)
        request = head(method, path, client.token, len(body))
        split = answer_to(client, None, [request, *[body[i:i + 1] for i in range(len(body))]])
        check.equal(split.status // 100, whole.status // 100, f"{method} {path}: in pieces")
        chunks = b"".join(b"1\r\n%c\r\n" % byte for byte in body) + b"0\r\n\r\n"
        chunked = answer_to(client, head(method, path, client.token, Transfer_Encoding="chunked") + chunks)
        check.equal(chunked.status // 100, whole.status // 100, f"{method} {path}: in chunks")


@test
def a_word_before_the_body(env):
    """100 Continue is said to those who may send, and after who they are is known."""
    client = env.server().client()
    path = people.session(client, agent="nobody") + "/events"
    body = json.dumps({"events": [{"type": "user.message", "content": [{"type": "text", "text": "x" * 20000}]}]}).encode()
    with client.connect() as connection:
        connection.send(head("POST", path, client.token, len(body), Expect="100-continue"))
        check.equal(connection.read_head().status, 100)
        connection.send(body)
        check.equal(connection.read_response().status, 201)
    for token, length, type, status in (("wrong", 2, "application/json", 401), (None, 2, "application/json", 401),
                                        (client.token, 1 << 30, "application/json", 413),
                                        (client.token, 2, "image/png", 415)):
        request = head("POST", path, token, length, Expect="100-continue").replace(b"application/json", type.encode())
        check.equal(answer_to(client, request).status, status, f"{token} {length} {type}")


@test(on=MEASURED)
def the_largest_body_everywhere(env):
    """Every route with a body of the largest size: answered, and the memory of the server is what it was."""
    server = env.server(options=["--body-bytes-max", str(BODY_MAX)])
    client = server.client()
    body = b'{"no_such_member":"' + b"a" * (BODY_MAX - 21) + b'"}'
    rows, sizes = list(routes(client)), []
    for _ in range(3):
        for method, path, auth in rows:
            with client.connect() as connection:
                try:
                    connection.send(head(method, path, client.token, len(body)) + body)
                except (BrokenPipeError, ConnectionResetError):
                    pass  # answered on the head
                try:
                    status = connection.read_head().status
                    check.true(200 <= status < 500 or status == 503, f"{method} {path}: {status}")
                except Closed:
                    check.true(auth == "AUTH_NONE", f"{method} {path}: closed")
        sizes.append(server.resident_bytes())
    check_less(sizes[-1] - sizes[0], 8 * MIB, f"growth over all routes, {sizes}")
    all_given_back(server)


@test(on=MEASURED)
def guests_hold_little(env):
    """Bodies announced by 150 strangers cost nothing; short ones have one budget, from which callers are not kept."""
    server = env.server(options=["--guest-bytes-max", "64KiB"])
    client = server.client()
    reset_peak(server)
    before = peak_bytes(server)
    for _ in range(150):
        check.equal(answer_to(client, head("POST", "/api/auth/sign-in", length=4 * MIB)).status, 413)
    check_less(peak_bytes(server) - before, 8 * MIB, "150 announced bodies of 4 MiB")
    waiting = []
    for _ in range(4):
        waiting.append(client.connect())
        waiting[-1].send(head("POST", "/api/auth/sign-in", length=GUEST_MAX) + b"{")
    for path in ("/api/auth/sign-in", "/api/auth/link", "/asks/x"):
        check.eventually(lambda path=path: answer_to(client, head("POST", path, length=GUEST_MAX)).status == 503, path)
    session = people.session(client, agent="nobody")
    body = b'{"events":[{"type":"user.message","content":[{"type":"text","text":"here"}]}]}'
    request = head("POST", session + "/events", client.token, len(body))
    check.equal(answer_to(client, None, [request, *[body[i:i + 1] for i in range(len(body))]]).status, 201)
    wrong = answer_to(client, head("POST", session + "/events", "wrong", len(body)))
    check.equal(wrong.status, 401, "asked on the head when there is no room")
    for connection in waiting:
        connection.abort()
    check.eventually(lambda: answer_to(client, head("POST", "/asks/x", length=2) + b"{}").status in (400, 404), "room again")
    all_given_back(server)


@test
def a_caller_holds_so_much(env):
    """Bodies under way count for the caller and its tenant; they are given back, and other tenants have their own."""
    server = env.server(options=["--body-bytes-max", "1MiB", "--caller-bytes-max", "2MiB", "--tenant-bytes-max", "3MiB"])
    owner = server.client()
    one, two = people.person(owner, "one").client, people.person(owner, "two").client
    stranger = people.tenant(owner, "elsewhere").client
    request = lambda client: head("POST", "/api/sessions", client.token, MIB)

    def begin(client):
        connection = client.connect()
        connection.send(request(client)[:-4] + b"\r\nExpect: 100-continue\r\n\r\n")
        return connection, connection.read_head()

    held = [begin(one), begin(one)]
    check.equal([got.status for _, got in held], [100, 100])
    check.equal(begin(one)[1].status, 429, "one caller")
    held.append(begin(two))
    check.equal(held[-1][1].status, 100)
    got = begin(two)
    check.equal(got[1].status, 429, "the tenant")
    check.contains(got[0].read_body(got[1]).decode(), "tenant-bytes-max")
    held.append(begin(stranger))
    check.equal(held[-1][1].status, 100, "another tenant")
    check.equal(one.post("/api/sessions", {"type": "agent"}).status, 201, "commands that are short")
    for connection, _ in held:
        connection.abort()
    check.eventually(lambda: begin(one)[1].status == 100, "given back")
    all_given_back(server)


@test
def chunks_are_counted_as_they_come(env):
    """A body of unknown length takes what it needs, and ends where there is no more."""
    server = env.server(options=["--body-bytes-max", "1MiB", "--caller-bytes-max", "1MiB"])
    client = server.client()
    first = client.connect()
    first.send(head("POST", "/api/sessions", client.token, 900 * KIB, Expect="100-continue"))
    check.equal(first.read_head().status, 100)
    with client.connect() as second:
        second.send(head("POST", "/api/sessions", client.token, Transfer_Encoding="chunked"))
        status = None
        try:
            for _ in range(60):
                second.send(b"%x\r\n%s\r\n" % (16 * KIB, b" " * 16 * KIB))
        except (BrokenPipeError, ConnectionResetError):
            pass
        status = second.read_head().status
        check.equal(status, 429)
    first.abort()


@test
def messages_of_sockets_are_counted(env):
    """Half messages of WebSockets count for who sends them: by the room they take, which is up to twice their bytes."""
    server = env.server(options=["--body-bytes-max", "1MiB", "--caller-bytes-max", "1MiB"])
    client = server.client()
    path = people.session(client, agent="nobody") + "/ws"
    sockets = [client.websocket(path) for _ in range(6)]
    for socket in sockets:
        socket.send_frame(1, b"a" * (200 * KIB), is_final=False)
    codes = [close_code(socket) for socket in sockets]
    check.true(1013 in codes, f"there is no room for six: {codes}")
    check.true(codes.count(None) >= 2, f"there is room for two: {codes}")
    # 1000: the stream had to read its backlog meanwhile, and there was no room for that page either
    check.equal(set(codes) - {1013, 1000, None}, set(), "other reasons")
    for socket, code in zip(sockets, codes):
        if code is None:
            socket.close()
    all_given_back(server)


def close_code(socket):
    """Why the server has closed it; None when it has not."""
    try:
        while socket.next(1) is not None:
            pass
    except Deadline:
        return None
    return socket.close_code


def held(server):
    """What requests and answers are counted for, of the figures of the server."""
    text = server.anonymous().get("/metrics", expect=200).body.decode()
    return int(re.search(r"^sojourn_request_bytes_held (\d+)$", text, re.M).group(1))


def all_given_back(server):
    check.eventually(lambda: held(server) == 0, "everything held is given back")


@test
def backlogs_of_streams_are_counted(env):
    """Viewers who do not read what they asked for hold so much of their caller's memory, and are then told to go."""
    server = env.server(options=["--body-bytes-max", "1MiB", "--caller-bytes-max", "1MiB"])
    client = server.client()
    path = fill(client, 60, 100 * KIB)
    streams = [client.connect(receive_buffer_bytes=4096) for _ in range(16)]
    request = encode_request("GET", path + "/events", None, client.headers_for({"Accept": "text/event-stream"}))
    for connection in streams:
        connection.send(request)
        check.equal(connection.read_head().status, 200)
    check.eventually(lambda: held(server) > 512 * KIB, "their backlog is counted")
    check_less(held(server), 2 * MIB, "and bounded")
    ends = [what_came(connection) for connection in streams]
    check.true(any(b"too_many_bytes" in one for one in ends), "some were told")
    check.true(any(b"too_many_bytes" not in one for one in ends), "not all")
    for connection in streams:
        connection.abort()
    all_given_back(server)


def what_came(connection):
    try:
        return connection.take_rest(check.deadline_after(0.5))
    except Deadline:
        return bytes(connection.buffer)


def fill(client, count, bytes):
    path = people.session(client, agent="nobody")
    for i in range(count):
        content = [{"type": "text", "text": f"{i} " + "x" * bytes}]
        client.post(path + "/events", {"events": [{"type": "user.message", "content": content}]}, expect=201)
    return path


@test(on=MEASURED)
def pipelined_pages_hold_little(env):
    """Twelve pages of large events on one connection that reads nothing: as much as a few pages, not all."""
    server = env.server()
    client = server.client()
    path = fill(client, 60, 400 * KIB)
    client.get(path + "/events?limit=1000", expect=200)
    reset_peak(server)
    before = peak_bytes(server)
    with client.connect() as connection:
        connection.send(encode_request("GET", path + "/events?limit=1000", None, client.headers_for()) * 12)
        time.sleep(1)
        grown = peak_bytes(server) - before
        for _ in range(12):
            check.equal(connection.read_response().status, 200)
    check_less(grown, 40 * MIB, "12 pages")


def walk(client, path, name, cursor_of, param="after", **query):
    """All items of a list, page by page; the sizes of the pages."""
    items, sizes, after = [], [], None
    while True:
        page = client.get(path, query={**query, **({param: after} if after is not None else {})}, expect=200)
        got = page.json()
        check.true(got[name] or not got["has_more"], "a page holds something")
        items += got[name]
        sizes.append(len(page.body))
        if not got["has_more"]:
            return items, sizes
        after = cursor_of(got)


@test
def pages_end_at_their_bytes(env):
    """Pages of every list are cut by bytes with a cursor that leaves nothing out and repeats nothing."""
    client = env.server(options=["--page-bytes-max", "8KiB"]).client()
    path = fill(client, 150, 1000)
    last = lambda name: lambda page: page[name][-1]["sequence"]
    for name, query in (("events", {"limit": 1000}), ("messages", {"limit": 1000}), ("events", {"limit": 3})):
        items, sizes = walk(client, f"{path}/{name}", name, last(name), **query)
        numbers = [item["sequence"] for item in items]
        check.equal(numbers, sorted(set(numbers)), name)
        check.equal(len([item for item in items if item.get("type", "user.message") == "user.message"]), 150, name)
        check_less(max(sizes), 16 * KIB, "a page")
    backwards, before = [], None
    while True:
        query = {"order": "newest", "limit": 1000, **({"before": before} if before else {})}
        page = client.get(path + "/events", query=query, expect=200).json()
        backwards += [event["sequence"] for event in page["events"]]
        if not page["has_more"]:
            break
        before = backwards[-1]
    check.equal(backwards, sorted(set(backwards), reverse=True))
    for i in range(30):
        client.post("/api/entities", {"id": f"e{i}", "type": "t", "fields": {"text": "word " + "y" * 2000}}, expect=201)
        people.session(client, agent="nobody", metadata={"text": "z" * 2000})
    for where, name, query in (("/api/entities", "entities", {}), ("/api/entities", "entities", {"q": "word"}),
                               ("/api/sessions", "sessions", {"param": "cursor"})):
        items, sizes = walk(client, where, name, lambda page: page["next_cursor"], limit=200, **query)
        ids = [item["id"] for item in items]
        check.equal((len(ids), len(set(ids))), (31 if name == "sessions" else 30,) * 2, name)
        check_less(max(sizes), 16 * KIB, "a page")

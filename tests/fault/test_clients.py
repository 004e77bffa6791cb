"""Clients that are slow, that vanish, that send rubbish, that are many: they cost themselves, never the others."""
import contextlib
import os
import resource
import selectors
import socket
import threading
import time

from harness import check
from harness.check import Failure
from harness.client import Closed, Connection, Deadline, encode_request
from harness.suite import OPTIMISED, test

KIB = 1024
MIB = KIB * KIB


def start(server):
    """A client and the path of a new session."""
    client = server.client()
    session = client.post("/api/sessions", {"type": "agent"}, expect=201).json()
    return client, f"/api/sessions/{session['id']}"


def append(client, path, number, size=100):
    """One event with a number; its sequence."""
    event = {"type": "note.x", "metadata": {"n": number}, "content": [{"type": "text", "text": "x" * size}]}
    return client.post(path + "/events", {"events": [event]}, expect=201).json()["events"][0]["sequence"]


def open_files(server):
    """How many descriptors the server holds."""
    return len(os.listdir(f"/proc/{server.process.pid}/fd"))


def figure(client, name):
    """One number of /metrics."""
    for line in client.get("/metrics", expect=200).body.decode().splitlines():
        if line.startswith(f"sojourn_{name} "):
            return int(line.split()[1])
    return check.fail(f"/metrics has no sojourn_{name}")


def request_bytes(server, method, path, body=None, headers=()):
    """A request with the owner's token, as bytes."""
    return encode_request(method, path, body, [("Authorization", f"Bearer {server.token}"), *headers])


# --- slow ---


@test(on=OPTIMISED, options=["--stream-tail-bytes", "128KiB"])
def slow_reader(server):
    """One byte at a time: told `slow`, misses nothing, holds up nobody, costs no memory."""
    client, path = start(server)
    count, size = 300, 64 * KIB
    slow = client.stream(path + "/events", receive_buffer_bytes=4 * KIB)
    with slow, client.stream(path + "/events") as quick:
        quick.until("event")
        append(client, path, -1)
        quick.until("event")
        before = server.resident_bytes()
        for number in range(count):
            append(client, path, number, size)
            check.equal(quick.until("event")[-1].json()["metadata"]["n"], number, "what a quick reader gets meanwhile")
            slow.connection.socket.settimeout(0.001)
            with contextlib.suppress(TimeoutError):
                slow.connection.buffer += slow.connection.socket.recv(1)
        grown = server.resident_bytes() - before
        passed = count * size // MIB
        print(f"{passed} MiB passed a reader that took {count} bytes; the server grew by {grown // KIB} KiB")
        check.true(grown < 16 * MIB, f"the server keeps no backlog for a slow reader (it grew by {grown} bytes)")
        events, kinds = [], []
        while len(events) < count + 2:
            frame = slow.next(30)
            kinds.append(frame.event)
            if frame.event == "event":
                events.append(frame.json()["sequence"])
        check.contains(kinds, "slow")
        check.equal(events, list(range(1, count + 3)), "what the slow reader got in the end")


@test(on=OPTIMISED, options=["--write-timeout-ms", "500ms"])
def reader_that_takes_nothing(server):
    """Who takes no byte for the write timeout is cut; nobody else is."""
    client, path = start(server)
    with client.stream(path + "/events", receive_buffer_bytes=4 * KIB), client.stream(path + "/events") as quick:
        check.eventually(lambda: figure(client, "viewers") == 2, "both watch")
        quick.until("event")
        for number in range(100):
            append(client, path, number, 64 * KIB)
            check.equal(quick.until("event")[-1].json()["metadata"]["n"], number)
        check.eventually(lambda: figure(client, "viewers") == 1, "the one that takes nothing is cut")
        append(client, path, 100)
        check.equal(quick.until("event")[-1].json()["metadata"]["n"], 100)


@test(on=OPTIMISED,
      options=["--header-timeout-ms", "1500ms", "--body-timeout-ms", "1500ms", "--idle-timeout-ms", "1500ms"])
def silent_clients(server):
    """Nothing, half a head, half a body, a byte now and then: each is ended in time, others are served."""
    base = open_files(server)
    silent = [Connection(server.address) for _ in range(100)]
    half_head, half_body = [], []
    for _ in range(20):
        half_head.append(Connection(server.address))
        half_head[-1].send("GET /healthz HTTP/1.1\r\nHost: x\r\nX-Half: ")
        half_body.append(Connection(server.address))
        half_body[-1].send(request_bytes(server, "POST", "/api/sessions", None, [("Content-Length", "1000")]) + b'{"type"')
    with Connection(server.address) as dripping:
        with contextlib.suppress(OSError):
            for byte in b"GET /healthz HTTP/1.1\r\nHost: x\r\nX-Drip: " + b"x" * 1000:
                dripping.send(bytes([byte]))
                time.sleep(0.02)  # a client's pace, not a wait
                check.equal(server.anonymous().get("/healthz").status, 200)
    for connection in silent:
        check.equal(connection.wait_closed(), b"", "what a silent client is told")
    for connection in half_head + half_body:
        check.contains(connection.wait_closed(), b"HTTP/1.1 408 ")
    for connection in silent + half_head + half_body:
        connection.close()
    check.eventually(lambda: open_files(server) <= base, "all descriptors are closed")


# --- vanishing ---


@test
def vanishing_clients(server):
    """Mid-head, mid-body, mid-answer, mid-stream, mid-wait: nothing is left behind, nothing is half done."""
    client, path = start(server)
    for number in range(50):
        append(client, path, number, 8 * KIB)
    base = open_files(server)
    whole = request_bytes(server, "POST", path + "/events",
                          {"events": [{"type": "note.x", "metadata": {"n": "half"}}] * 10})
    for cut in range(1, len(whole), 7):
        connection = Connection(server.address)
        connection.send(whole[:cut])
        connection.abort() if cut % 2 else connection.close()
    for _ in range(50):
        connection = Connection(server.address, receive_buffer_bytes=4 * KIB)
        connection.send(request_bytes(server, "GET", path + "/events?limit=1000") * 5)
        connection.abort()
        stream = client.stream(path + "/events")
        stream.connection.take(1000)
        stream.connection.abort()
        web_socket = client.websocket(path + "/ws")
        web_socket.connection.take(100)
        web_socket.connection.abort()
    check.eventually(lambda: figure(client, "viewers") == 0, "no viewer is left")
    check.eventually(lambda: open_files(server) <= base, "all descriptors are closed")
    halves = [event for event in client.get(path + "/events?after=40&limit=1000").json()["events"]
              if event["metadata"].get("n") == "half"]
    check.equal(halves, [], "events of requests that never came whole")


@test
def vanished_worker_gets_nothing(server):
    """A claim whose client is gone takes no work away from those who are there."""
    client = server.client()
    gone = [Connection(server.address) for _ in range(10)]
    for connection in gone:
        connection.send(request_bytes(server, "POST", "/api/claims", {"worker": "gone", "wait_ms": 60000}))
    check.eventually(lambda: figure(client, "claims_waiting") == 10, "ten claims wait")
    base = figure(client, "connections")
    for connection in gone:
        connection.abort()
    check.eventually(lambda: figure(client, "connections") <= base - 10, "the server has noticed")
    session = client.post("/api/sessions", {"type": "agent", "status": "pending"}, expect=201).json()
    claims = client.post("/api/claims", {"worker": "here", "wait_ms": 5000}, expect=200).json()["claims"]
    check.equal([claim["session"]["id"] for claim in claims], [session["id"]])
    check.eventually(lambda: figure(client, "claims_waiting") == 0, "nobody waits for the gone")


# --- rubbish ---

SMUGGLED = (b"POST /api/sessions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Length: 16\r\n\r\n"
            b'{"type":"agent"}')

POST = b"POST /api/sessions HTTP/1.1\r\nHost: x\r\n"
GET = b"GET /healthz HTTP/1.1\r\nHost: x\r\n"
CHUNKED = b"Transfer-Encoding: chunked\r\n\r\n"
OWNED = b"POST /api/sessions HTTP/1.1\r\nHost: x\r\nTOKEN\r\n"

# (what is wrong, the bytes, the answer); TOKEN stands for the owner's credentials, EVIL for a whole request that must
# not be obeyed
RUBBISH = [
    ("two lengths", POST + b"Content-Length: 0\r\nContent-Length: 5\r\n\r\nEVIL", 400),
    ("the same length twice", POST + b"Content-Length: 0\r\nContent-Length: 0\r\n\r\nEVIL", 400),
    ("a list of lengths", POST + b"Content-Length: 0, 0\r\n\r\nEVIL", 400),
    ("a signed length", POST + b"Content-Length: +0\r\n\r\nEVIL", 400),
    ("a negative length", POST + b"Content-Length: -1\r\n\r\nEVIL", 400),
    ("a hexadecimal length", POST + b"Content-Length: 0x0\r\n\r\nEVIL", 400),
    ("an endless length", POST + b"Content-Length: 99999999999999999999999999\r\n\r\n", (400, 413)),
    ("length and chunks", POST + b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nEVIL", 400),
    ("chunks and length", POST + b"Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\nEVIL", 400),
    ("chunked twice", POST + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nEVIL", 400),
    ("chunked, identity", POST + b"Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\nEVIL", (400, 501)),
    ("an unknown coding", POST + b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\nEVIL", (400, 501)),
    ("a hidden coding", POST + b"Transfer-Encoding:\x0bchunked\r\n\r\n0\r\n\r\nEVIL", (400, 501)),
    ("a space before the colon", POST + b"Transfer-Encoding : chunked\r\n\r\n0\r\n\r\nEVIL", 400),
    ("a folded header", GET + b"X: a\r\n b\r\n\r\nEVIL", 400),
    ("a bare LF", b"GET /healthz HTTP/1.1\nHost: x\n\nEVIL", 400),
    ("a bare LF in a header", b"GET /healthz HTTP/1.1\r\nHost: x\nX: y\r\n\r\nEVIL", 400),
    ("a bare CR", b"GET /healthz HTTP/1.1\r\nHost: x\rX: y\r\n\r\nEVIL", 400),
    ("a NUL", GET + b"X: a\0b\r\n\r\nEVIL", 400),
    ("no host", b"GET /healthz HTTP/1.1\r\n\r\nEVIL", 400),
    ("two hosts", b"GET /healthz HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\nEVIL", 400),
    ("no version", b"GET /healthz\r\n\r\n", 400),
    ("a version of the future", b"GET /healthz HTTP/3.0\r\nHost: x\r\n\r\n", (400, 505)),
    ("another protocol", b"SSH-2.0-OpenSSH_9.2\r\n\r\n", 400),
    ("HTTP/2", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", (400, 505)),
    ("TLS", bytes.fromhex("16030100f8010000f40303") + b"\x42" * 240, 400),
    ("a method with a space", b"GE T /healthz HTTP/1.1\r\nHost: x\r\n\r\n", 400),
    ("a space in the target", b"GET /health z HTTP/1.1\r\nHost: x\r\n\r\n", 400),
    ("an empty request line", b" \r\n\r\n", 400),
    ("a broken escape", b"GET /api/sessions/%zz HTTP/1.1\r\nHost: x\r\nTOKEN\r\nConnection: close\r\n\r\n", (400, 404)),
    ("a NUL in the path",
     b"GET /api/sessions/a%00b HTTP/1.1\r\nHost: x\r\nTOKEN\r\nConnection: close\r\n\r\n", (400, 404)),
    ("a way out of the tree",
     b"GET /api/../../etc/passwd HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", (400, 404)),
    ("a foreign expectation", POST + b"Expect: miracles\r\nContent-Length: 0\r\n\r\n", 417),
    ("a wrong upgrade",
     b"GET /api/stream HTTP/1.1\r\nHost: x\r\nTOKEN\r\nUpgrade: websocket\r\nConnection: Upgrade, close\r\n\r\n",
     (400, 426)),
]

# The same, of what follows the head of a request. It is read when it is known whose request it is.
RUBBISH_CHUNKS = [
    ("a chunk without a size", CHUNKED + b"\r\nEVIL", 400),
    ("a chunk with a wrong size", CHUNKED + b"zz\r\nEVIL", 400),
    ("a chunk with a signed size", CHUNKED + b"-1\r\nEVIL", 400),
    ("a chunk longer than said", CHUNKED + b"2\r\n{}}\r\n0\r\n\r\nEVIL", 400),
    ("a chunk of all memory", CHUNKED + b"ffffffffffffffff\r\n", (400, 413)),
    ("a chunk size that overflows", CHUNKED + b"10000000000000000\r\n", (400, 413)),
    ("chunks ended by LF", CHUNKED + b"0\n\nEVIL", 400),
]


@test
def rubbish(server):
    """Every malformed request is refused, the connection closed, and what hides behind it is not obeyed."""
    owned = [(what, OWNED + data, wanted) for what, data, wanted in RUBBISH_CHUNKS]
    of_strangers = [(f"{what}, of a stranger", POST + data, 401) for what, data, _ in RUBBISH_CHUNKS]
    evil = SMUGGLED % server.token.encode()
    credentials = b"Authorization: Bearer " + server.token.encode()
    for what, data, wanted in RUBBISH + owned + of_strangers:
        with Connection(server.address) as connection:
            connection.send(data.replace(b"EVIL", evil).replace(b"TOKEN", credentials))
            try:
                answer = connection.read_response("GET", what)
            except Closed as closed:
                check.fail(f"{what}: no answer: {closed}")
            check.one_of(answer.status, wanted if isinstance(wanted, tuple) else (wanted,), f"answer to {what}")
            check.equal(answer.header("content-type"), "application/problem+json",
                        f"content type of the answer to {what}")
            try:
                check.equal(connection.wait_closed(), b"", f"what follows the answer to {what}")
            except Deadline:
                check.fail(f"the connection stays open after {what}")
    client = server.client()
    check.equal(client.get("/api/sessions", expect=200).json()["sessions"], [], "sessions made by hidden requests")


# (what is wrong, the frame, the close codes that say so)
WEBSOCKET_RUBBISH = [
    ("a frame without a mask", b"\x81\x02hi", (1002,)),
    ("reserved bits", b"\xf1\x80\0\0\0\0", (1002,)),
    ("an unknown opcode", b"\x83\x80\0\0\0\0", (1002,)),
    ("a fragmented ping", b"\x09\x80\0\0\0\0", (1002,)),
    ("a ping that is too long", b"\x89\xfe\x00\x7e\0\0\0\0" + b"x" * 126, (1002,)),
    ("a continuation of nothing", b"\x80\x80\0\0\0\0", (1002,)),
    ("a message of all memory", b"\x81\xff\x7f\xff\xff\xff\xff\xff\xff\xff\0\0\0\0", (1009, 1002)),
    ("a length with the highest bit", b"\x81\xff\xff\xff\xff\xff\xff\xff\xff\xff\0\0\0\0", (1009, 1002)),
    ("text that is no UTF-8", b"\x81\x82\0\0\0\0\xff\xfe", (1007,)),
    ("a close code that does not exist", b"\x88\x82\0\0\0\0\x03\xe7", (1002,)),
]


@test
def websocket_rubbish(server):
    """Every malformed frame ends its connection with the right code, and only that."""
    client, path = start(server)
    with client.stream(path + "/events") as stream:
        for what, data, codes in WEBSOCKET_RUBBISH:
            with client.websocket(path + "/ws") as web_socket:
                web_socket.connection.send(data)
                while web_socket.next() is not None:
                    pass
                check.one_of(web_socket.close_code, codes, f"close code after {what}")
                check.equal(web_socket.connection.wait_closed(), b"", f"what follows the close frame after {what}")
        append(client, path, 7)
        while stream.until("event")[-1].json()["metadata"].get("n") != 7:
            pass


@test
def random_bytes(env):
    """Noise, and requests with bytes changed, cut and doubled: the server answers or closes, and lives."""
    print(f"seed {env.seed}")
    server, chance = env.server(["--header-timeout-ms", "2s", "--body-timeout-ms", "2s"]), env.random()
    client, path = start(server)
    good = [request_bytes(server, "GET", path),
            request_bytes(server, "GET", path + "/events?after=0&limit=5&types=session.*"),
            request_bytes(server, "POST", path + "/events",
                          {"events": [{"type": "note.x", "metadata": {"a": [1, {"b": "\u00e9"}]}}]}),
            encode_request("POST", "/api/sessions", {"type": "agent"}, [("Authorization", f"Bearer {server.token}")],
                           chunked=True)]
    for number in range(400 if env.flavour == "gcc" else 150):
        data = chance.randbytes(chance.randrange(1, 400)) if number % 4 == 0 else mutated(chance, chance.choice(good))
        with Connection(server.address) as connection:
            with contextlib.suppress(OSError):
                connection.send(data)
                connection.finish_sending()
            answer = connection.take_rest()
            check.true(not answer or answer.startswith(b"HTTP/1.1 "), f"{data!r} is answered in HTTP: {answer[:100]!r}")
            check.true(b"HTTP/1.1 500" not in answer, f"{data!r} is no fault of the server: {answer[:300]!r}")
        if number % 50 == 0:
            check.equal(client.get(path).status, 200)
    check.equal(client.get(path).status, 200)


def mutated(chance, data):
    """The bytes with a few accidents."""
    data = bytearray(data)
    for _ in range(chance.randrange(1, 6)):
        at = chance.randrange(len(data))
        accident = chance.randrange(4)
        if accident == 0:
            data[at] = chance.randrange(256)
        elif accident == 1:
            del data[at:at + chance.randrange(1, 10)]
        elif accident == 2:
            data[at:at] = data[at:at + chance.randrange(1, 30)]
        else:
            data[at:at] = chance.choice((b"\r\n", b"\0", b"\x80", b"{", b'"', b"\\", b"\r\n\r\n", b" "))
        data = data or bytearray(b"x")
    return bytes(data)


# --- too much ---


@test(on=OPTIMISED)
def oversized_requests(server):
    """URI 414, headers 431, body 413: told before the rest is read."""
    client, path = start(server)
    token = ("Authorization", f"Bearer {server.token}")
    cases = [
        (414, encode_request("GET", "/api/sessions?q=" + "x" * 9000, None, [token])),
        (431, encode_request("GET", "/healthz", None, [("X-Long", "x" * 40000)])),
        (431, encode_request("GET", "/healthz", None, [(f"X-{i}", "y") for i in range(200)])),
        (413, encode_request("POST", "/api/sessions", None, [token, ("Content-Length", str(100 * MIB))])),
        (413, encode_request("POST", "/api/sessions", b"x" * (5 * MIB), [token], chunked=True)),
    ]
    for status, data in cases:
        with Connection(server.address) as connection:
            with contextlib.suppress(OSError):
                connection.send(data)
            answer = connection.read_response("GET", f"a request that deserves {status}")
            check.problem(answer, status)
            check.equal(connection.wait_closed(), b"")
    before = server.resident_bytes()
    endless = Connection(server.address)
    with endless, contextlib.suppress(OSError):
        endless.send("GET /healthz HTTP/1.1\r\n")
        for number in range(100000):
            endless.send(f"X-{number}: {'x' * 200}\r\n")
    check.true(server.resident_bytes() - before < 8 * MIB, "headers without end cost no memory")
    check.equal(client.get(path).status, 200)


@test(on=OPTIMISED)
def pipelining_abuse(server):
    """Thousands of requests at once, answers not taken: bounded memory, others served, answers in order."""
    client, path = start(server)
    for number in range(20):
        append(client, path, number, 8 * KIB)
    count, before = 3000, server.resident_bytes()
    connection = Connection(server.address, timeout_s=60, receive_buffer_bytes=8 * KIB)
    data = b"".join(request_bytes(server, "GET", f"{path}/events?after={number % 20}&limit=1")
                    for number in range(count))
    sender = threading.Thread(target=connection.send, args=(data,), daemon=True)
    with connection:
        sender.start()
        for number in range(100):
            append(client, path, 100 + number)
        grown = server.resident_bytes() - before
        check.true(grown < 16 * MIB, f"answers that nobody takes cost no memory (the server grew by {grown} bytes)")
        for number in range(count):
            event = connection.read_response("GET", f"request {number}").json()["events"][0]
            check.equal(event["sequence"], number % 20 + 1, f"answer {number}")
        sender.join(10)


@test(on=OPTIMISED)
def pipelined_writes_keep_their_order(server):
    """Requests that change something run one after the other, and are each answered."""
    client, path = start(server)
    count = 200
    body = lambda number: {"events": [{"type": "note.x", "metadata": {"n": number}}]}
    with Connection(server.address, timeout_s=30) as connection:
        connection.send(b"".join(request_bytes(server, "POST", path + "/events", body(number))
                                 for number in range(count)))
        for number in range(count):
            event = connection.read_response("POST", f"append {number}").json()["events"][0]
            check.equal((event["sequence"], event["metadata"]["n"]), (number + 2, number))
    check.equal(client.get(path).json()["last_sequence"], count + 1)


@test(on=OPTIMISED, options=["--connections-max", "50"])
def too_many_connections(server):
    """Beyond the limit 503; when some are gone, others get in."""
    held = [Connection(server.address) for _ in range(50)]
    for connection in held:
        connection.send("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
        check.equal(connection.read_response().status, 200)
    with Connection(server.address) as one_more:
        one_more.send("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
        answer = one_more.wait_closed()
        check.true(answer == b"" or answer.startswith(b"HTTP/1.1 503 "), f"one more is refused: {answer[:100]!r}")
    for connection in held:
        connection.close()

    def gets_in():
        try:
            return server.anonymous().get("/healthz").status == 200
        except (Failure, OSError):
            return False
    check.eventually(gets_in, "there is room again")


# --- many ---


class Crowd:
    """Thousands of readers of one stream, in one thread."""

    def __init__(self, server, path, count):
        self.selector = selectors.EpollSelector()
        self.sockets = []
        self.texts = {}
        request = request_bytes(server, "GET", path + "/events?after=1", None, [("Accept", "text/event-stream")])
        host, port = server.address.split("://")[1].rsplit(":", 1)
        for number in range(count):
            one = socket.socket()
            one.bind((f"127.0.{1 + number // 5000}.1", 0))  # one address alone would run out of ports
            one.connect((host, int(port)))
            one.sendall(request)
            one.setblocking(False)
            self.sockets.append(one)
            self.texts[one.fileno()] = b""
            self.selector.register(one, selectors.EVENT_READ)

    def read_until(self, mark, seconds):
        """Reads until every text has `mark`; returns how many have."""
        waiting = {file for file, text in self.texts.items() if mark not in text}
        deadline = check.deadline_after(seconds)
        while waiting and time.monotonic() < deadline:
            for key, _ in self.selector.select(1):
                self.texts[key.fd] += key.fileobj.recv(65536)
                if mark in self.texts[key.fd]:
                    waiting.discard(key.fd)
        return len(self.texts) - len(waiting)

    def vanish(self):
        """All at once."""
        self.selector.close()
        for one in self.sockets:
            one.close()


@test(on=("sqlite",), serial=True, timeout_s=120)
def fifteen_thousand_streams(env):
    """One process holds 15,000 streams, tells all of them of an event, and gets everything back when they vanish."""
    wanted = 15000
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    count = min(wanted, hard - 1000)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    server = env.server(["--connections-max", "16000"])
    client, path = start(server)
    append(client, path, 0)
    base_files, base_bytes = open_files(server), server.resident_bytes()
    crowd = Crowd(server, path, count)
    check.equal(crowd.read_until(b'"n": 0', 60), count, "streams that got the backlog")
    check.equal(figure(client, "viewers"), count)
    held = (server.resident_bytes() - base_bytes) / count
    started = time.monotonic()
    append(client, path, 1)
    check.equal(crowd.read_until(b'"n": 1', 60), count, "streams that got the event")
    took_s = time.monotonic() - started
    print(f"{count} streams, {held:.0f} bytes of resident memory each, all told within {took_s:.2f} s")
    once = sum(1 for text in crowd.texts.values() if text.count(b"id: 2\n") == 1 and text.count(b"id: 3\n") == 1)
    check.equal(once, count, "streams that got each event once")
    check.true(held <= 3 * KIB, f"a stream costs at most 3 KiB of resident memory, not {held:.0f} bytes")
    crowd.vanish()
    check.eventually(lambda: figure(client, "viewers") == 0, "no viewer is left", 30)
    check.eventually(lambda: open_files(server) <= base_files, "all descriptors are closed", 30)
    append(client, path, 2)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))

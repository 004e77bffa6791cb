"""WebSockets through a tunnel: frames as they came, closes passed on, and only for those who may."""
import base64
import hashlib
import os
import queue
import socket
import ssl
import struct
import subprocess
import threading

from harness import check, people
from harness.browser import with_password
from harness.client import encode_request
from harness.suite import test
from harness.websocket import BINARY, CLOSE, PING, PONG, TEXT, encode_frame, handshake_headers

GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


class Side:
    """The service's side of one WebSocket, played by the test."""

    def __init__(self, connection, head):
        self.connection = connection
        lines = head.decode().split("\r\n")
        self.target = lines[0].split(" ")[1]
        self.headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}

    def agree(self, *more):
        digest = hashlib.sha1((self.headers["sec-websocket-key"] + GUID).encode()).digest()
        lines = ["HTTP/1.1 101 Switching Protocols", "Upgrade: websocket", "Connection: Upgrade",
                 "Sec-WebSocket-Accept: " + base64.b64encode(digest).decode(), *more]
        self.connection.sendall("".join(line + "\r\n" for line in lines + [""]).encode())

    def send(self, opcode, payload=b"", is_final=True):
        self.connection.sendall(encode_frame(opcode, payload, is_final, is_masked=False))

    def take(self, count):
        data = bytearray()
        while len(data) < count:
            more = self.connection.recv(count - len(data))
            if not more:
                raise EOFError
            data += more
        return bytes(data)

    def frame(self):
        """(first byte, payload) of the next frame, which must be masked."""
        first, second = self.take(2)
        check.true(second & 0x80, "what a client says is masked")
        size = second & 0x7F
        if size >= 126:
            size = int.from_bytes(self.take(2 if size == 126 else 8), "big")
        mask, masked = self.take(4), self.take(size)
        stretched = (mask * (size // 4 + 1))[:size]
        return first, (int.from_bytes(masked, "big") ^ int.from_bytes(stretched, "big")).to_bytes(size, "big")

    def is_over(self):
        try:
            return self.connection.recv(1) == b""
        except ConnectionError:
            return True


class Service:
    """Listens and hands every connection whose head has come to the test."""

    def __init__(self, secure=None):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.secure = secure
        self.sides = queue.Queue()
        threading.Thread(target=self.listen, daemon=True).start()

    def listen(self):
        while True:
            connection, _ = self.listener.accept()
            connection.settimeout(30 * check.patience())
            try:
                connection = self.secure.wrap_socket(connection, server_side=True) if self.secure else connection
            except ssl.SSLError:
                continue
            head = b""
            while not head.endswith(b"\r\n\r\n"):
                head += connection.recv(1)
            self.sides.put(Side(connection, head))

    def next(self):
        return self.sides.get(timeout=30 * check.patience())

    def host(self):
        return f"127.0.0.1:{self.listener.getsockname()[1]}"


def tunnelled(env, *options):
    service = Service()
    server = env.server(options=["--tunnel-hosts", service.host(), *options])
    client = server.client()
    path = people.session(client, agent="nobody")
    client.post(path + "/tunnels", {"name": "web", "url": f"http://{service.host()}/app"}, expect=201)
    return service, client, path


def dial(client, path, headers=()):
    """Asks for a WebSocket, without waiting for the answer."""
    connection = client.connect()
    upgrade, accept = handshake_headers()
    connection.send(encode_request("GET", path, None, client.headers_for(headers) + upgrade))
    return connection, accept


def opened(service, client, path, headers=(), answer=()):
    """Both ends of a WebSocket through the tunnel."""
    found = queue.Queue()

    def agree():
        side = service.next()
        side.agree(*answer)
        found.put(side)

    helper = threading.Thread(target=agree, daemon=True)
    helper.start()
    socket_ = client.websocket(path + "/proxy/web/live?room=1", headers=headers)
    return socket_, found.get(timeout=30)


@test
def frames_pass_both_ways(env):
    """S3-080: text, binary, pieces, pings and large frames pass as they came, with the protocol that both agreed on."""
    service, client, path = tunnelled(env)
    ours = {"Sec-WebSocket-Protocol": "chat.v2, chat.v1", "X-Other": "passes", "Cookie": "a=b"}
    near, far = opened(service, client, path, ours, ["Sec-WebSocket-Protocol: chat.v1", "Set-Cookie: s=1", "X-Own: kept"])
    check.equal((far.target, far.headers["host"]), ("/app/live?room=1", service.host()))
    check.equal((far.headers["sec-websocket-protocol"], far.headers["x-other"]), ("chat.v2, chat.v1", "passes"))
    check.equal(far.headers["x-forwarded-prefix"], path + "/proxy/web")
    for name in ("authorization", "cookie"):
        check.true(name not in far.headers, f"{name} stays here")
    check.equal((near.response.header("sec-websocket-protocol"), near.response.header("x-own")), ("chat.v1", None))
    check.equal(near.response.header("set-cookie"), None)
    near.send("hello")
    check.equal(far.frame(), (0x80 | TEXT, b"hello"))
    far.send(TEXT, b"one ", is_final=False)
    far.send(PING, b"there?")
    far.send(0, b"two")
    check.equal((near.next(), near.pings), ("one two", 1))
    check.equal(far.frame(), (0x80 | PONG, b"there?"))
    near.send_frame(TEXT, b"in ", is_final=False)
    near.send_frame(0, b"pieces")
    check.equal((far.frame(), far.frame()), ((TEXT, b"in "), (0x80, b"pieces")))
    big = os.urandom(3 * 1024 * 1024)
    far.send(BINARY, big)
    check.equal(near.next(), big)
    sender = threading.Thread(target=near.send_frame, args=(BINARY, big), daemon=True)
    sender.start()
    check.equal(far.frame(), (0x80 | BINARY, big))
    sender.join(30)


@test
def closes_pass_both_ways(env):
    """S3-080: whoever closes first, the other hears the code and the reason; an end without one is told as such."""
    service, client, path = tunnelled(env)
    near, far = opened(service, client, path)
    near.send_frame(CLOSE, struct.pack(">H", 4001) + b"enough")
    check.equal(far.frame(), (0x80 | CLOSE, struct.pack(">H", 4001) + b"enough"))
    far.send(CLOSE, struct.pack(">H", 4001))
    check.equal((near.next(), near.close_code), (None, 4001))
    check.equal(near.connection.wait_closed(), b"")
    check.true(far.is_over(), "the service's connection ends too")
    near, far = opened(service, client, path)
    far.send(CLOSE, struct.pack(">H", 4002) + b"over")
    check.equal((near.next(), near.close_code, near.close_reason), (None, 4002, "over"))
    near.send_frame(CLOSE, struct.pack(">H", 4002))
    check.equal(far.frame(), (0x80 | CLOSE, struct.pack(">H", 4002)))
    check.equal(near.connection.wait_closed(), b"")
    near, far = opened(service, client, path)
    far.connection.close()
    check.equal((near.next(), near.close_code), (None, 1011))
    near, far = opened(service, client, path)
    near.connection.close()
    first, payload = far.frame()
    check.equal((first, payload[:2]), (0x80 | CLOSE, struct.pack(">H", 1001)))


@test
def one_that_reads_slowly_holds_the_other_up(env):
    """S3-080: what one side does not read is not gathered here, and nothing is lost when it reads on."""
    service, client, path = tunnelled(env)
    near, far = opened(service, client, path)
    pieces = [os.urandom(512 * 1024) for _ in range(64)]
    sender = threading.Thread(target=lambda: [far.send(BINARY, piece) for piece in pieces], daemon=True)
    sender.start()
    sender.join(1)
    check.true(sender.is_alive(), "32 MiB do not fit on the way")
    for number, piece in enumerate(pieces):
        check.true(near.next(60) == piece, f"piece {number} is whole")
    sender.join(30)
    other = threading.Thread(target=lambda: [near.send_frame(BINARY, piece) for piece in pieces], daemon=True)
    other.start()
    for number, piece in enumerate(pieces):
        check.true(far.frame()[1] == piece, f"piece {number} is whole")
    other.join(30)


@test
def limits_of_a_socket(env):
    """S3-080: frames have a size, a session a number of sockets, silence an end; broken frames end it at once."""
    service, client, path = tunnelled(env, "--proxy-frame-bytes-max", "2KiB", "--proxy-sockets-max", "1",
                                      "--proxy-idle-ms", "700")
    near, far = opened(service, client, path)
    check.problem(client.websocket(path + "/proxy/web/live", expect=429), 429, "too_many_sockets")
    near.send_frame(BINARY, b"x" * 2048)
    check.equal(far.frame(), (0x80 | BINARY, b"x" * 2048))
    near.send_frame(BINARY, b"x" * 2049)
    check.equal((near.next(), near.close_code), (None, 1009))
    check.equal(far.frame()[1][:2], struct.pack(">H", 1009))
    near.connection.wait_closed()
    near, far = opened(service, client, path)
    near.send_frame(TEXT, b"bare", is_masked=False)
    check.equal((near.next(), near.close_code), (None, 1002))
    check.equal(far.frame()[1][:2], struct.pack(">H", 1002))
    near.connection.wait_closed()
    near, far = opened(service, client, path)
    check.equal((near.next(30), near.close_code, near.close_reason), (None, 1001, "nothing passed for too long"))
    check.equal(far.frame()[1][:2], struct.pack(">H", 1001))


@test
def only_collaborators_speak(env):
    """S3-080, S3-148: who may only look may not speak; a token needs the scope to write; strangers find nothing."""
    service, client, path = tunnelled(env)
    anna, bert, carl = (people.person(client, name).client for name in ("anna", "bert", "carl"))
    for someone, role in ((anna, "collaborator"), (bert, "viewer")):
        client.post(path + "/participants", {"user_id": someone.get("/api/me").json()["user_id"], "role": role},
                    expect=201)
    near, far = opened(service, anna, path)
    near.send("I may")
    check.equal(far.frame()[1], b"I may")
    bert.websocket(path + "/proxy/web/live", expect=403)
    carl.websocket(path + "/proxy/web/live", expect=404)
    client.websocket(path + "/proxy/other/live", expect=404)
    env.servers[0].anonymous().websocket(path + "/proxy/web/live", expect=401)
    reader = people.token(client, name="reader", scopes=["read"])
    check.problem(reader.websocket(path + "/proxy/web/live", expect=403), 403, "scope_required")
    check.true(service.sides.empty(), "nobody else got there")


@test
def a_ticket_and_a_cookie(env):
    """S3-080: a page shows a one-use ticket, which the service never sees; a cookie is enough on our own pages only."""
    service, client, path = tunnelled(env)
    server = env.servers[0]
    ticket = client.post("/api/tickets", {"session_id": path.rsplit("/", 1)[1]}, expect=201).json()["ticket"]
    connection, _ = dial(server.anonymous(), f"{path}/proxy/web/live?a=1&ticket={ticket}&b=2")
    side = service.next()
    check.equal(side.target, "/app/live?a=1&b=2")
    side.agree()
    check.equal(connection.read_head().status, 101)
    check.problem(server.anonymous().websocket(f"{path}/proxy/web/live?ticket={ticket}", expect=401), 401)
    anna = people.person(client, "anna")
    browser = with_password(server, anna)
    client.post(path + "/participants", {"user_id": anna.id, "role": "collaborator"}, expect=201)
    for origin in ({}, {"Origin": "https://elsewhere.example"}, {"Origin": "null"}):
        check.problem(browser.websocket(path + "/proxy/web/live", headers=origin, expect=403), 403, "foreign_origin")
    opened(service, browser, path, {"Origin": "http://localhost"})


@test
def a_right_that_ends_ends_the_socket(env):
    """S3-080: a participant removed or demoted, a tunnel closed, a token revoked: an open WebSocket ends with 1008."""
    service, client, path = tunnelled(env, "--heartbeat-ms", "60000")
    anna = people.person(client, "anna")
    user = {"user_id": anna.id}
    client.post(path + "/participants", {**user, "role": "collaborator"}, expect=201)
    near, far = opened(service, anna.client, path)
    client.post(path + "/participants", {**user, "role": "viewer"})
    check.equal((near.next(30), near.close_code), (None, 1008))
    check.equal(far.frame()[1][:2], struct.pack(">H", 1008))
    client.post(path + "/participants", {**user, "role": "collaborator"})
    near, far = opened(service, anna.client, path)
    client.delete(f"{path}/participants/{anna.id}")
    check.equal((near.next(30), near.close_code), (None, 1008))
    near, far = opened(service, client, path)
    client.patch(path, {"title": "another"}, expect=200)
    near.send("still here")
    check.equal(far.frame()[1], b"still here")
    client.delete(path + "/tunnels/web", expect=204)
    check.equal((near.next(30), near.close_code), (None, 1008))
    check.equal(far.frame()[1][:2], struct.pack(">H", 1008))


@test
def services_that_do_not_agree(env):
    """S3-080: 502 for another answer, none, or rubbish; 504 for silence; 403 for an address that is not public."""
    service, client, path = tunnelled(env, "--tunnel-hosts", "127.0.0.1:1", "--proxy-silence-ms", "500")
    for url, name in (("http://127.0.0.1:1/", "dead"), ("http://10.0.0.1/", "inside")):
        client.post(path + "/tunnels", {"name": name, "url": url}, expect=201)
    check.problem(client.websocket(path + "/proxy/dead/x", expect=502), 502, "tunnel_failed")
    check.problem(client.websocket(path + "/proxy/inside/x", expect=403), 403, "tunnel_refused")
    for said, code in ((b"HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\nno", "upgrade_refused"),
                       (b"HTTP/1.1 101 Other\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n", "upgrade_refused"),
                       (b"rubbish\r\n\r\n", "tunnel_failed"), (b"", "tunnel_failed")):
        connection, _ = dial(client, path + "/proxy/web/x")
        side = service.next()
        side.connection.sendall(said)
        if not said:
            side.connection.close()
        check.problem(connection.read_response("GET"), 502, code)
    connection, _ = dial(client, path + "/proxy/web/x")
    side = service.next()
    check.problem(connection.read_response("GET"), 504, "tunnel_timeout")
    check.true(side.is_over(), "it is not waited for")


def certificate(directory):
    """A self-signed certificate for this machine and its key; their paths."""
    cert, key = os.path.join(directory, "cert.pem"), os.path.join(directory, "key.pem")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                    "-keyout", key, "-out", cert, "-days", "2", "-subj", "/CN=localhost", "-addext",
                    "subjectAltName=IP:127.0.0.1"], check=True, capture_output=True)
    return cert, key


@test
def both_ways_over_tls(env):
    """S3-080: the caller's side and the service's side are encrypted; a certificate that is not trusted is refused."""
    cert, key = certificate(env.directory)
    secure = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    secure.load_cert_chain(cert, key)
    service = Service(secure)
    for trusts in (True, False):
        server = env.server(options=["--tls-cert", cert, "--tls-key", key, "--tunnel-hosts", service.host(),
                                     *(["--ca-file", cert] if trusts else [])])
        client = server.client()
        path = people.session(client, agent="nobody")
        client.post(path + "/tunnels", {"name": "web", "url": f"https://{service.host()}/app"}, expect=201)
        if not trusts:
            check.problem(client.websocket(path + "/proxy/web/live", expect=502), 502, "tunnel_failed")
            continue
        near, far = opened(service, client, path)
        pieces = [os.urandom(200_000 + number) for number in range(40)]
        sender = threading.Thread(target=lambda: [far.send(BINARY, piece) for piece in pieces], daemon=True)
        sender.start()
        for number, piece in enumerate(pieces):
            check.true(near.next(60) == piece, f"piece {number} is whole")
        sender.join(30)  # one thread at a time uses a connection with TLS
        other = threading.Thread(target=lambda: [near.send_frame(BINARY, piece) for piece in pieces], daemon=True)
        other.start()
        for number, piece in enumerate(pieces):
            check.true(far.frame()[1] == piece, f"piece {number} is whole")
        other.join(30)
        near.send_frame(CLOSE, struct.pack(">H", 4001))
        check.equal(far.frame(), (0x80 | CLOSE, struct.pack(">H", 4001)))
        far.send(CLOSE, struct.pack(">H", 4001))
        check.equal((near.next(), near.close_code), (None, 4001))


@test
def the_server_stops(env):
    """S3-080: both ends are told 1001, and the server does not wait for them."""
    service, client, path = tunnelled(env, "--stop-timeout-ms", "60000")
    near, far = opened(service, client, path)
    stopper = threading.Thread(target=env.servers[0].stop, daemon=True)
    stopper.start()
    check.equal((near.next(20), near.close_code, near.close_reason), (None, 1001, "the server stops"))
    check.equal(far.frame()[1][:2], struct.pack(">H", 1001))
    near.connection.close()
    stopper.join(20)
    check.true(not stopper.is_alive(), "it stopped at once")

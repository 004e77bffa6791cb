"""Bytes nobody meant: raw HTTP, frames of viewers and of runners, and services behind tunnels, mutated at random, against
a server under the address sanitizer. It goes on serving, answers no 500, and ends without a complaint.

Longer: tests/run --rounds 20000 fault/test_fuzz (a round is one connection).
"""
import json
import re
import time

from harness import check, people
from harness.bytes_service import Bytes
from harness.client import Closed, Connection, encode_request
from harness.runner import Runner, begin, runner_token
from harness.suite import test
from harness.talk import send
from harness.tree import read
from harness.websocket import encode_frame

ROUNDS = 60
ON = ("sqlite asan", "postgres asan")
TOKENS = (b"\r\n", b"\r\n\r\n", b"\n", b"\r", b"\0", b" ", b"\t", b":", b"chunked", b"Transfer-Encoding: chunked\r\n",
          b"Transfer-Encoding: identity, chunked\r\n", b"Content-Length: 0\r\n", b"Content-Length: 5\r\nContent-Length: 6\r\n",
          b"Content-Length: 18446744073709551616\r\n", b"Content-Length: -1\r\n", b"Expect: 100-continue\r\n",
          b"Connection: close\r\n", b"Upgrade: websocket\r\n", b" folded\r\n", b"Host: a\r\nHost: b\r\n", b"0\r\n\r\n",
          b"ffffffffffffffff\r\n", b"5;x=\"\r\n\"\r\n", b"%00", b"%2e%2e/", b"/../", b"//", b"?", b"&", b"=", b"#",
          b"\xff\xfe", b"\xc0\xaf", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe2\x80\xa8", b"{", b"}", b"[", b"]", b'"',
          b"\\u0000", b"\\ud800", b"1e999", b"-0", b"null", b"true", b"[" * 300, b'{"a":' * 200, b"9" * 400,
          b"Sojourn-Lease: x\r\n", b"Idempotency-Key: k\r\n", b"If-Sequence: -1\r\n", b"Last-Event-ID: 1.999\r\n",
          b"Range: bytes=0-0,1-1\r\n", b"Accept-Encoding: gzip\r\n", b"Cookie: sojourn_session=;;=;\r\n")


def mutated(random, data):
    """The bytes with some changes, sometimes none."""
    data = bytearray(data)
    for _ in range(random.choice((0, 1, 1, 2, 3, 8))):
        at, end = sorted((random.randrange(len(data) + 1), random.randrange(len(data) + 1)))
        kind = random.randrange(6)
        if kind == 0 and data:
            data[min(at, len(data) - 1)] = random.randrange(256)
        elif kind == 1:
            data[at:at] = random.choice(TOKENS)
        elif kind == 2:
            del data[at:min(end, at + 40)]
        elif kind == 3:
            data[at:at] = data[at:min(end, at + 2000)]
        elif kind == 4:
            data[at:min(end, at + 10)] = random.choice(TOKENS)
        elif random.random() < 0.3:
            del data[at:]
    return bytes(data)


def send_pieces(random, connection, data):
    """All at once or in pieces; then perhaps the end of what is sent, or a reset."""
    try:
        at = 0
        while at < len(data):
            size = random.choice((1, 7, 100, len(data), len(data)))
            connection.send(data[at:at + size])
            at += size
        if random.random() < 0.3:
            connection.finish_sending()
    except OSError:
        pass  # it was refused before all of it was sent


def drain(connection, seconds=0.05):
    """What comes back within a moment, or until the end."""
    answer, until = b"", time.monotonic() + seconds
    try:
        while True:
            connection.fill(until)
            answer += bytes(connection.buffer)
            connection.buffer.clear()
    except Exception:  # the end, a reset, or nothing more
        return answer


def check_whole(server, answers):
    """It serves, and said of nothing that it is its own fault."""
    server.client(timeout_s=30).get("/api/me", expect=200)
    faults = [answer[:400] for answer in answers if re.search(rb"HTTP/1\.1 500", answer)]
    check.equal(faults, [])


def requests_of(client, path):
    """Requests of many kinds."""
    bodies = {"/api/sessions": {"type": "agent", "metadata": {"a": [1, {"b": None}]}, "title": "T"},
              path + "/messages": {"text": "hi", "attachments": [{"type": "image", "data": "aGk="}]},
              path + "/events": {"events": [{"type": "note.x", "content": [{"type": "text", "text": "é\u2028"}]}]},
              path + "/export": {}, "/api/claims": {"worker": "w", "wait_ms": 1}, "/api/auth/link": {"secret": "x"},
              "/api/entities": {"id": "e", "type": "t", "fields": {"a": 1}}, "/api/batch": {"requests": []},
              "/api/agents": {"id": "z", "driver": "worker", "permissions": [{"tool": "*", "then": "ask"}]}}
    head = [("Host", "localhost"), ("Authorization", f"Bearer {client.token}")]
    for target, body in bodies.items():
        data = json.dumps(body).encode()
        yield encode_request("POST", target, None, head + [("Content-Type", "application/json"), ("Content-Length", str(len(data)))]) + data
        yield encode_request("POST", target, None, head + [("Content-Type", "application/json"), ("Transfer-Encoding", "chunked")]) + \
            b"%x\r\n%s\r\n0\r\nTrailer: x\r\n\r\n" % (len(data), data)
        yield encode_request("POST", target, None, [("Host", "localhost"), ("Content-Length", "4")]) + b"body"
    for target in ("/", "/api/sessions?limit=2&q=a&metadata.x=1", path + "/events?types=a.*,b&after=1", path + "/messages",
                   "/api/stream", path + "/files/blob:" + "0" * 64, "/metrics", "/api/openapi.json", path + "/explain",
                   "/api/counts", "/assets/x.js", "/s/%2e%2e"):
        yield encode_request("GET", target, None, head)
        yield encode_request("GET", target, None, head) * 5
    upgrade = [("Connection", "Upgrade"), ("Upgrade", "websocket"), ("Sec-WebSocket-Version", "13"),
               ("Sec-WebSocket-Key", "AAAAAAAAAAAAAAAAAAAAAA==")]
    yield encode_request("GET", path + "/ws", None, head + upgrade) + encode_frame(1, b'{"type":"ping"}')


@test(on=ON, timeout_s=3600)
def raw_http(env):
    random, server = env.random(), env.server()
    client = server.client()
    path = people.session(client, agent="nobody")
    samples, answers = list(requests_of(client, path)), []
    for _ in range(env.rounds(ROUNDS)):
        with Connection(server.address) as connection:
            data = b"".join(mutated(random, random.choice(samples)) for _ in range(random.choice((1, 1, 2, 4))))
            send_pieces(random, connection, data)
            answers = (answers + [drain(connection)])[-500:]
            if random.random() < 0.1:
                connection.abort()
    check_whole(server, answers)


def frames_of(random, messages):
    """Frames, of which some are no frames."""
    data = b""
    for _ in range(random.choice((1, 2, 5, 20))):
        message = mutated(random, json.dumps(random.choice(messages), ensure_ascii=False).encode())
        cut = random.randrange(len(message) + 1)
        frame = random.choice((encode_frame(1, message), encode_frame(1, message), encode_frame(2, message),
                               encode_frame(1, message[:cut], False) + encode_frame(9, b"x") + encode_frame(0, message[cut:]),
                               encode_frame(random.randrange(16), message[:120]), encode_frame(1, message, is_masked=False)))
        data += frame if random.random() < 0.8 else mutated(random, frame)
    return data


def vocabulary(file, table, members):
    """Messages of every type of a table in the source."""
    text = read(file)
    rows = text[text.index(table):]
    types = re.findall(r'\{"([\w.-]+)",', rows[:rows.index("};")])
    check.true(types, "types were found")
    return [{"type": type} | members for type in types + ["ping", "no.such"]]


PROMPTS = {"id": 1, "text": "é\u2028", "content": [{"type": "image", "mediaType": "image/png", "data": "aGk="}], "mode": "steer",
           "thread_id": "t", "metadata": {"a": [1]}, "ask_id": "q", "decision": "once", "answer": {"a": 1}}


@test(on=ON, timeout_s=3600)
def frames_of_viewers(env):
    random, server = env.random(), env.server(options=["--prompts-queued-max", "10000"])
    client = server.client()
    path = people.session(client, agent="nobody")
    messages = vocabulary("src/api/event/ws_commands.c", "utterances[] = {", PROMPTS)
    messages += [{name: message[name] for name in random.sample(sorted(message), 3)} for message in messages * 4]
    for _ in range(env.rounds(ROUNDS)):
        try:
            with client.websocket(path + "/ws") as socket:
                send_pieces(random, socket.connection, frames_of(random, messages))
                drain(socket.connection)
        except Closed:
            pass
    check_whole(server, [])


RUNS = {"id": "m", "messageId": "m", "turn": 1, "status": "running", "delta": "é", "reason": "end_turn", "finalText": "long " * 50,
        "callId": "c", "toolName": "t", "args": {"a": [1]}, "result": {"a": "b"}, "error": "no", "questionId": "q",
        "text": "Which?", "options": ["a", "b"], "title": "T", "usage": {"input_tokens": 1}, "branch": "b", "number": 3}


@test(on=ON, timeout_s=3600)
def frames_of_runners(env):
    random, server = env.random(), env.server(options=["--runner-grace-ms", "100", "--sessions-per-user-max", "100000"])
    client = server.client()
    messages = vocabulary("src/service/remote/runner_frames.c", "vocabulary[] = {", RUNS)
    messages += [{"type": "agentStatus", "status": "idle"}] * 8
    for number in range(env.rounds(ROUNDS)):
        if number % 5 == 0:  # a session whose runner goes too often fails
            path = begin(client)
            token = runner_token(client, path)
            send(client, path, "hello")
            send(client, path, "next")
        try:
            runner = Runner(client, path, token)
            send_pieces(random, runner.socket.connection, frames_of(random, messages))
            drain(runner.socket.connection)
            runner.vanish()
        except (Closed, check.Failure):
            pass
    check_whole(server, [])


FORBIDDEN = (b"set-cookie", b"nel:", b"x-accel-redirect", b"access-control-allow-origin", b"clear-site-data",
             b"content-type: multipart/")
ANSWERS = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nSet-Cookie: sojourn_session=evil\r\nX-Accel-Redirect: /x\r\nContent-Length: 5\r\n\r\nhello",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nETag: \"a\"\r\nNEL: {}\r\n\r\n5\r\nhello\r\n0\r\nSet-Cookie: a=evil\r\n\r\n",
    b"HTTP/1.1 302 Found\r\nLocation: /there\r\nClear-Site-Data: \"*\"\r\nContent-Length: 0\r\n\r\n",
    b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\nAccess-Control-Allow-Origin: *\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nContent-Type: multipart/x-mixed-replace; boundary=b\r\n\r\n--b\r\nSet-Cookie: a=evil\r\n\r\nx\r\n--b--",
    b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: x\r\n\r\n\x81\x02hi",
    b"HTTP/1.0 200 OK\r\nContent-Encoding: gzip\r\n\r\n\x1f\x8b")


@test(on=ON, timeout_s=3600)
def services_behind_tunnels(env):
    random, service = env.random(), Bytes(b"")
    server = env.server(options=["--tunnel-hosts", service.host()])
    client = server.client()
    path = people.session(client, agent="nobody")
    client.post(path + "/tunnels", {"name": "raw", "url": f"http://{service.host()}/"}, expect=201)
    head = [("Host", "localhost"), ("Authorization", f"Bearer {client.token}")]
    upgrade = [("Connection", "Upgrade"), ("Upgrade", "websocket"), ("Sec-WebSocket-Version", "13"),
               ("Sec-WebSocket-Key", "AAAAAAAAAAAAAAAAAAAAAA==")]
    samples = [encode_request("GET", path + "/proxy/raw/a?b=c", None, head),
               encode_request("POST", path + "/proxy/raw/a", None, head + [("Content-Length", "2")]) + b"hi",
               encode_request("GET", path + "/proxy/raw", None, head + upgrade) + encode_frame(1, b"hi")]
    answers = []
    for _ in range(env.rounds(ROUNDS)):
        service.answer = mutated(random, random.choice(ANSWERS))
        with Connection(server.address) as connection:
            sample = random.choice(samples)
            send_pieces(random, connection, sample if random.random() < 0.6 else mutated(random, sample))
            answer = drain(connection, 0.2)
        lines = answer.split(b"\r\n\r\n")[0].lower().split(b"\r\n")[1:]
        spoken = [line for line in lines if line.startswith(FORBIDDEN)]
        check.equal(spoken, [], repr((service.answer, answer)))
        answers = (answers + [answer])[-500:]
    check_whole(server, answers)

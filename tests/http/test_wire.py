"""The real server on the wire: HTTP/1.1, CORS, TLS, unix sockets, loops, figures, logs, configuration, stopping."""
import json
import os
import re
import signal
import subprocess
import threading
import time

from harness import Client, check, test
from harness.client import encode_request
from harness.people import session
from harness.suite import OPTIMISED

ORIGIN = "https://dash.example"


def send_raw(server, data):
    """The answer to raw bytes on a connection of their own, and that connection."""
    connection = server.client().connect()
    connection.send(data)
    return connection.read_response(), connection


def bearer(server, *more):
    return [("Authorization", f"Bearer {server.token}"), *more]


# --- HTTP/1.1 ---


@test
def keep_alive(server):
    """Many requests on one connection, of every kind, good and refused; close when asked to."""
    with server.client().connect() as connection:
        for _ in range(50):
            check.equal(connection.request("GET", "/healthz").status, 200)
        check.equal(connection.request("GET", "/api/sessions").status, 401)
        check.equal(connection.request("POST", "/api/sessions", b"{", bearer(server)).status, 400)
        check.equal(connection.request("POST", "/api/sessions", {"type": "agent"}, bearer(server)).status, 201)
        check.equal(connection.request("DELETE", "/api/sessions/x", None, bearer(server)).status, 404)
        answer = connection.request("GET", "/healthz", None, [("Connection", "close")])
        check.equal(answer.header("connection"), "close")
        check.equal(connection.wait_closed(), b"")
    with server.client().connect() as connection:
        connection.send("GET /healthz HTTP/1.0\r\n\r\n")
        check.equal(connection.read_response().status, 200)
        check.equal(connection.wait_closed(), b"", "HTTP/1.0 ends with its answer")


@test
def pipelining(server):
    """Answers come in the order of the requests, whatever thread made them and however long each took."""
    client = server.client()
    path = session(client)
    requests, expected = [], []
    for number in range(40):
        headers = bearer(server, ("X-Request-Id", f"n{number}"))
        requests.append(encode_request("POST", path + "/events", {"events": [{"type": "note.x"}]}, headers))
        requests.append(encode_request("GET", path, None, bearer(server, ("X-Request-Id", f"g{number}"))))
        requests.append(encode_request("GET", "/healthz", None, [("X-Request-Id", f"h{number}")]))
        expected += [f"n{number}", f"g{number}", f"h{number}"]
    with client.connect() as connection:
        connection.send(b"".join(requests))
        answers = [connection.read_response() for _ in expected]
    check.equal([answer.header("x-request-id") for answer in answers], expected)
    check.equal({answer.status for answer in answers}, {200, 201})
    check.equal([answer.json()["events"][0]["sequence"] for answer in answers[::3]], list(range(2, 42)))
    for index, answer in enumerate(answers[1::3]):
        check.true(answer.json()["last_sequence"] >= 2, f"read {index} has the session")


@test
def chunked_bodies(server):
    """A chunked body is the same as one with a length; its limits hold too."""
    client = server.client()
    path = session(client)
    text = "x" * 5000
    event = {"events": [{"type": "user.message", "content": [{"type": "text", "text": text}]}]}
    made = client.post(path + "/events", event, chunked=True, expect=201).json()
    check.equal(made["events"][0]["content"][0]["text"], text)
    with client.connect() as connection:
        connection.send(encode_request("POST", path + "/events", None, bearer(server, ("Transfer-Encoding", "chunked"))))
        for byte in b'1b;ext=1\r\n{"events":[{"type":"a.b"}]}\r\n0\r\nTrailer: x\r\n\r\n':
            connection.send(bytes([byte]))
        check.equal(connection.read_response("POST").status, 201)
        check.equal(connection.request("GET", "/healthz").status, 200)


@test
def expect_continue(server):
    """100 Continue before the body is sent; a refusal instead of it when the body will not be taken."""
    client = server.client()
    body = b'{"type":"agent"}'
    with client.connect() as connection:
        head = encode_request("POST", "/api/sessions", None,
                              bearer(server, ("Expect", "100-continue"), ("Content-Length", str(len(body)))))
        connection.send(head)
        check.equal(connection.read_head().status, 100)
        connection.send(body)
        check.equal(connection.read_response("POST").status, 201)
    with client.connect() as connection:
        connection.send(encode_request("POST", "/api/sessions", None, bearer(
            server, ("Expect", "100-continue"), ("Content-Length", "999999999"))))
        check.equal(connection.read_head().status, 413)


@test
def head_is_get_without_a_body(server):
    """The same headers as GET, no bytes behind them, also for refusals."""
    client = server.client()
    path = session(client)
    with client.connect() as connection:
        for target in ("/healthz", "/metrics", path, path + "/events", "/api/sessions/none", "/api/none"):
            got = connection.request("GET", target, None, bearer(server))
            head = connection.request("HEAD", target, None, bearer(server))
            check.equal((head.status, head.body), (got.status, b""), target)
            names = [[name for name, _ in answer.headers] for answer in (head, got)]
            check.equal(names[0], names[1], f"headers of HEAD {target}")
            if target != "/metrics":
                check.equal(head.header("content-length"), got.header("content-length"), target)


@test
def malformed_requests_are_refused(server):
    """Strict parsing: one answer with a problem, then the connection ends."""
    host = b"Host: x\r\n"
    for data, status in (
            (b"GET / HTTP/1.1\r\n\r\n", 400), (b"GET /healthz HTTP/1.1\r\n" + host + host + b"\r\n", 400),
            (b"GET /healthz HTTP/1.1\n" + b"Host: x\n\n", 400), (b"GET /healthz HTTP/2.0\r\n" + host + b"\r\n", 505),
            (b"GET  /healthz HTTP/1.1\r\n" + host + b"\r\n", 400), (b"rubbish\r\n\r\n", 400),
            (b"GET /healthz HTTP/1.1\r\n" + host + b"A: b\r\n folded\r\n\r\n", 400),
            (b"GET /healthz HTTP/1.1\r\n" + host + b"A : b\r\n\r\n", 400),
            (b"GET /healthz HTTP/1.1\r\n" + host + b"A: b\rc\r\n\r\n", 400),
            (b"POST /api/auth/link HTTP/1.1\r\n" + host + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\n", 400),
            (b"POST /api/auth/link HTTP/1.1\r\n" + host + b"Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
            (b"POST /api/auth/link HTTP/1.1\r\n" + host + b"Content-Length: -1\r\n\r\n", 400),
            (b"POST /api/auth/link HTTP/1.1\r\n" + host + b"Transfer-Encoding: gzip\r\n\r\n", 400),
            (b"POST /api/auth/link HTTP/1.1\r\n" + host + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n", 400),
            (b"GET /%zz HTTP/1.1\r\n" + host + b"\r\n", 400), (b"GET /a%00b HTTP/1.1\r\n" + host + b"\r\n", 400)):
        answer, connection = send_raw(server, data)
        check.equal(answer.status, status, f"answer to {data[:80]!r}: {answer.body!r}")
        check.problem(answer, status)
        if b"/%zz" not in data and b"%00" not in data:
            connection.wait_closed()
        connection.close()
    check.equal(server.anonymous().get("/healthz").status, 200)


@test(options=["--header-timeout-ms", "1s", "--body-timeout-ms", "1s", "--idle-timeout-ms", "1s"])
def slow_clients_are_let_go(server):
    """A head or body that does not come gets 408; a silent connection is closed."""
    client = server.client()
    with client.connect() as connection:
        connection.send("GET /healthz HTTP/1.1\r\nHo")
        check.problem(connection.read_response(), 408)
        connection.wait_closed()
    with client.connect() as connection:
        connection.send(encode_request("POST", "/api/sessions", None, bearer(server, ("Content-Length", "10"))) + b"{")
        check.problem(connection.read_response(), 408)
        connection.wait_closed()
    with client.connect() as connection:
        connection.request("GET", "/healthz")
        check.equal(connection.wait_closed(), b"")


@test(options=["--connections-max", "3"])
def connections_have_a_limit(server):
    """The one too many hears 503 and is closed; room comes back."""
    held = [server.client().connect() for _ in range(3)]
    for connection in held:
        check.equal(connection.request("GET", "/healthz").status, 200)
    with server.client().connect() as connection:
        check.problem(connection.read_response(), 503)
        connection.wait_closed()
    for connection in held:
        connection.close()
    check.eventually(lambda: server.is_ready(), "there is room again")


@test
def every_refusal_is_a_problem(server):
    """404, 405, 413, 414, 415, 431, 400, 401, 403, 409, 410, 429: problem+json, a code, a sentence, the request's id."""
    client = server.client()
    path = session(client, id="web:1")
    narrow = client.post("/api/tokens", {"name": "r", "scopes": ["read"]}).json()["token"]
    session(client, id="web:2")
    client.delete("/api/sessions/web:2", expect=204)
    big = {"events": [{"type": "user.message", "metadata": {"x": "y" * 1_200_000}}]}
    refusals = [
        (400, "POST", path + "/events", {"events": [{"type": "A"}]}, client), (401, "GET", path, None, server.anonymous()),
        (403, "PATCH", path, {"title": "x"}, client.with_token(narrow)), (404, "GET", "/api/sessions/x", None, client),
        (405, "PUT", path, {}, client), (409, "POST", path + "/retry", {}, client),
        (410, "POST", "/api/sessions", {"type": "agent", "id": "web:2"}, client),
        (413, "POST", path + "/events", big, client)]
    for status, method, target, body, who in refusals:
        answer = who.request(method, target, body, headers={"X-Request-Id": f"try-{status}"})
        check.problem(answer, status)
        check.equal(answer.header("x-request-id"), f"try-{status}")


@test(options=["--uri-bytes-max", "300", "--header-bytes-max", "1500", "--header-count-max", "10",
               "--event-bytes-max", "1KiB", "--body-bytes-max", "2000"])
def limits_of_requests_are_told(server):
    """413, 414, 431: the sentence says how much is accepted; as much as that is."""
    start, host = b"GET /healthz", b" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
    post = b"POST /api/auth/link HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
    for data, status, most in (
            (start + b"?" + b"a" * 300 + host + b"\r\n", 414, "300 bytes"),
            (start + host + b"A: " + b"b" * 1500 + b"\r\n\r\n", 431, "1500 bytes"),
            (start + host + b"A: b\r\n" * 9 + b"\r\n", 431, "10 headers"), (start + host + b"A: b\r\n" * 8 + b"\r\n", 200, ""),
            (post + b"Content-Length: 2001\r\n\r\n", 413, "2000 bytes"),
            (post + b"Transfer-Encoding: chunked\r\n\r\n7d1\r\n" + b" " * 2001, 413, "2000 bytes"),
            (post + b"Content-Length: 2000\r\n\r\n" + b" " * 2000, 400, "invalid_json")):
        answer, connection = send_raw(server, data)
        connection.close()
        check.equal(answer.status, status, f"{data[:60]!r}: {answer.body!r}")
        check.contains(answer.body.decode(), most)


@test
def request_ids(server):
    """A client's id is echoed when it is harmless, else a new one is made; every answer has one."""
    client = server.anonymous()
    check.equal(client.get("/healthz", headers={"X-Request-Id": "abc-1.2_3:x"}).header("x-request-id"), "abc-1.2_3:x")
    ids = {client.get("/healthz").header("x-request-id") for _ in range(20)}
    check.equal(len(ids), 20)
    for bad in ("x" * 200, "a b", 'a"b', "a;b"):
        got = client.get("/healthz", headers={"X-Request-Id": bad}).header("x-request-id")
        check.true(got and got != bad, f"{bad!r} is not taken")
    answer, connection = send_raw(server, b"rubbish\r\n\r\n")
    connection.close()
    check.true(answer.header("x-request-id"), "a request that could not be read has one too")


# --- CORS ---


@test
def no_cors_unless_asked(server):
    """Without the option no page of another origin reads anything."""
    answer = server.client().get("/api/me", headers={"Origin": ORIGIN}, expect=200)
    check.equal([name for name, _ in answer.headers if name.lower().startswith("access-control")], [])
    answer = server.anonymous().request("OPTIONS", "/api/sessions", headers={
        "Origin": ORIGIN, "Access-Control-Request-Method": "POST"})
    check.equal(answer.status, 204)
    check.equal([name for name, _ in answer.headers if name.lower().startswith("access-control")], [])
    check.equal(sorted(word.strip() for word in answer.header("allow").split(",")), ["GET", "HEAD", "OPTIONS", "POST"])
    check.problem(server.anonymous().request("OPTIONS", "/api/none"), 404)
    answer, connection = send_raw(server, b"OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n")
    connection.close()
    check.equal(answer.status, 204, "the server as a whole")
    for method in ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"):
        check.contains(answer.header("allow"), method)


@test(options=["--cors-origin", ORIGIN, "--cors-origin", "http://localhost:3000"])
def cors_for_named_origins(server):
    """Preflight and answers name the origin, with credentials; refusals too; foreign origins get nothing."""
    client = server.client()
    for origin in (ORIGIN, "http://localhost:3000"):
        answer = server.anonymous().request("OPTIONS", "/api/sessions/x/events", headers={
            "Origin": origin, "Access-Control-Request-Method": "POST",
            "Access-Control-Request-Headers": "authorization,content-type,idempotency-key"})
        check.equal((answer.status, answer.body), (204, b""))
        check.equal(answer.header("access-control-allow-origin"), origin)
        check.equal(answer.header("access-control-allow-credentials"), "true")
        allowed = {word.strip().lower() for word in answer.header("access-control-allow-headers").split(",")}
        for name in ("authorization", "content-type", "idempotency-key", "if-match", "if-sequence", "last-event-id", "sojourn-lease",
                     "x-csrf-token", "x-request-id", "traceparent"):
            check.contains(allowed, name)
        for method in ("GET", "POST", "PUT", "PATCH", "DELETE"):
            check.contains(answer.header("access-control-allow-methods"), method)
        check.true(int(answer.header("access-control-max-age")) > 0, "it may be kept")
        for answer in (client.get("/api/me", headers={"Origin": origin}),
                       client.get("/api/none", headers={"Origin": origin}),
                       server.anonymous().get("/api/me", headers={"Origin": origin})):
            check.equal(answer.header("access-control-allow-origin"), origin, answer.request_line)
            check.contains(answer.header("vary", ""), "Origin")
            shown = {word.strip().lower() for word in answer.header("access-control-expose-headers").split(",")}
            check.contains(shown, "x-request-id")
            check.contains(shown, "retry-after")
    path = session(client)
    with client.stream(path + "/events", headers={"Origin": ORIGIN}) as stream:
        check.equal(stream.response.header("access-control-allow-origin"), ORIGIN, "streams too")
    for foreign in ("https://evil.example", "https://dash.example.evil", "null", "http://dash.example"):
        answer = server.anonymous().request("OPTIONS", "/api/sessions", headers={
            "Origin": foreign, "Access-Control-Request-Method": "POST"})
        check.equal(answer.header("access-control-allow-origin"), None, foreign)
        check.equal(client.get("/api/me", headers={"Origin": foreign}).header("access-control-allow-origin"), None)


@test(options=["--cors-origin", "*"])
def cors_for_everybody_is_without_cookies(server):
    """* and credentials never go together."""
    answer = server.client().get("/api/me", headers={"Origin": "https://any.example"}, expect=200)
    check.equal(answer.header("access-control-allow-origin"), "*")
    check.equal(answer.header("access-control-allow-credentials"), None)


# --- TLS, unix sockets, loops ---


def certificate(directory):
    """A self-signed certificate and its key; their paths."""
    cert, key = os.path.join(directory, "cert.pem"), os.path.join(directory, "key.pem")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                    "-keyout", key, "-out", cert, "-days", "2", "-subj", "/CN=localhost"], check=True,
                   capture_output=True)
    return cert, key


@test
def tls(env):
    """With a certificate every TCP listener speaks TLS only: requests, streams, cookies that are Secure."""
    cert, key = certificate(env.directory)
    server = env.server(options=["--tls-cert", cert, "--tls-key", key],
                        environment={"SOJOURN_BOOTSTRAP_TOKEN": None})
    check.true(server.address.startswith("https://"), "the address says so")
    secret = check.eventually(lambda: re.search(r"(https://\S+)/sign-in#(\S+)", server.output()), "the link").group(2)
    answer = server.anonymous().post("/api/auth/link", {"secret": secret}, expect=200)
    parts = [part.strip().lower() for part in answer.header("set-cookie").split(";")]
    check.contains(parts, "secure")
    browser = server.anonymous()
    browser.extra_headers = [("Cookie", answer.header("set-cookie").split(";")[0]),
                             ("X-CSRF-Token", answer.json()["csrf_token"])]
    path = session(browser)
    with browser.stream(path + "/events") as stream:
        stream.until("event")
        browser.post(path + "/events", {"events": [{"type": "user.message", "metadata": {"x": "y" * 300000}}]}, expect=201)
        check.equal(stream.until("event")[-1].json()["metadata"]["x"], "y" * 300000)
    plain = Client(server.address.replace("https://", "http://"), None, 10).connect()
    plain.send("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
    check.equal(b"200 OK" in plain.wait_closed(), False, "plain text is not answered")
    plain.close()
    over_unix = Client(server.unix_address).get("/healthz")
    check.equal(over_unix.status, 200, "a unix socket stays plain")


@test
def a_wrong_certificate_stops_the_start(env):
    """The message names the file; the exit code tells."""
    server = env.server(options=["--tls-cert", "/nowhere/cert.pem", "--tls-key", "/nowhere/key.pem"], start=False)
    server.launch()
    code = server.process.wait(20 * check.patience())
    server.log.join(5)
    check.true(code != 0, "the server did not start")
    check.contains(server.log.tail(), "/nowhere/cert.pem")
    server.process = None


@test
def unix_sockets(server):
    """The whole API over the socket file, streams too; the file is gone after a stop."""
    client = server.client(over_unix=True)
    path = session(client)
    with client.stream(path + "/events") as stream:
        stream.until("event")
        client.post(path + "/events", {"events": [{"type": "note.x"}]}, expect=201)
        check.equal(stream.until("event")[-1].json()["type"], "note.x")
    mode = os.stat(server.unix_address.removeprefix("unix:")).st_mode & 0o007
    check.equal(mode, 0, "others have no right to the socket")
    server.stop()
    check.equal(os.path.exists(server.unix_address.removeprefix("unix:")), False)


@test(options=["--loop-threads", "3"])
def several_loops(server):
    """Streams on all loops get every event once and in order, deltas with the same numbers; claims wake anywhere."""
    client = server.client()
    path = session(client)
    streams = [client.stream(path + "/events") for _ in range(24)]
    firehoses = [client.stream("/api/stream") for _ in range(6)]
    for stream in streams + firehoses:
        stream.next()
    for number in range(30):
        client.post(path + "/events", {"events": [{"type": "note.x", "metadata": {"n": number}}]}, expect=201)
        if number % 10 == 9:
            client.post(path + "/deltas", {"deltas": [{"kind": "text", "text": str(number)}]}, expect=202)
    last = {"events": [{"type": "note.last"}]}
    client.post(path + "/events", last, expect=201)
    is_last = lambda frame: frame.event == "event" and frame.json()["type"] == "note.last"
    for stream in streams + firehoses:
        frames = stream.until(is_last)
        numbers = [frame.json()["metadata"]["n"] for frame in frames
                   if frame.event == "event" and frame.json()["type"] == "note.x"]
        check.equal(numbers, list(range(30)))
    ids = [[frame.id for frame in stream_frames(client, path)] for _ in range(2)]
    check.equal(ids[0], ids[1])
    for stream in streams + firehoses:
        stream.close()
    figures = metrics(server)
    check.true(figures["sojourn_connections_total"] >= 30, "connections were counted on all loops")


def stream_frames(client, path):
    with client.stream(path + "/events") as stream:
        return stream.until(lambda frame: frame.event == "event" and frame.json()["type"] == "note.last")


# --- figures and logs ---


def metrics(server):
    """{name: value}, after checking the text format."""
    answer = server.anonymous().get("/metrics", expect=200)
    check.contains(answer.header("content-type"), "text/plain; version=0.0.4")
    values, kinds, helped = {}, {}, set()
    check.true(answer.body.endswith(b"\n"), "the last line ends")
    for line in answer.body.decode().splitlines():
        if line.startswith("# HELP "):
            helped.add(line.split(" ", 3)[2])
        elif line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            check.true(name not in kinds and kind in ("counter", "gauge"), line)
            kinds[name] = kind
        else:
            found = re.fullmatch(r"(sojourn_[a-z_]+) (-?[0-9]+)", line)
            check.true(found and found.group(1) in kinds and found.group(1) in helped, f"a sample without labels: {line}")
            check.true(found.group(1) not in values, f"{line} stands once")
            values[found.group(1)] = int(found.group(2))
    for name, kind in kinds.items():
        check.equal(name.endswith("_total"), kind == "counter", f"{name} is a {kind}")
    return values


@test
def figures_follow(server):
    """Counters grow with what happens, gauges come back."""
    client = server.client()
    path = session(client)
    before = metrics(server)
    with client.stream(path + "/events") as stream:
        stream.next()
        during = metrics(server)
        check.equal(during["sojourn_viewers"], before["sojourn_viewers"] + 1)
        check.equal(during["sojourn_watched_sessions"], 1)
    for _ in range(5):
        client.post(path + "/events", {"events": [{"type": "note.x"}]}, expect=201)
    after = metrics(server)
    for name in ("requests_total", "write_jobs_total", "group_commits_total", "bytes_sent_total", "bytes_received_total"):
        check.true(after[f"sojourn_{name}"] >= before[f"sojourn_{name}"] + 5, name)
    check.eventually(lambda: metrics(server)["sojourn_viewers"] == before["sojourn_viewers"], "the viewer is gone")
    send_raw(server, b"rubbish\r\n\r\n")[1].close()
    check.true(metrics(server)["sojourn_requests_refused_total"] > after["sojourn_requests_refused_total"], "refused")


@test(options=["--metrics", "off"])
def figures_can_be_off(server):
    """Then the path is unknown."""
    check.problem(server.client().get("/metrics"), 404, "not_found")


@test
def health_and_readiness(server):
    """Both say so without credentials."""
    guest = server.anonymous()
    check.equal(guest.get("/healthz", expect=200).json(), {"status": "ok"})
    check.equal(guest.get("/readyz", expect=200).json(), {"status": "ready"})


@test(options=["--log-level", "debug"])
def logs_are_structured(server):
    """One JSON object per request with its id, method, path, status and the caller's traceparent; no query, no token."""
    trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    client = server.client()
    client.get("/api/sessions?q=hidden-text", headers={"X-Request-Id": "log-me", "traceparent": trace}, expect=200)
    entry = server.wait_log("request", request_id="log-me")
    check.contains(entry, {"method": "GET", "path": "/api/sessions", "status": 200, "traceparent": trace,
                           "level": "debug"})
    check.true(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", entry["time"]), "the time")
    check.contains(entry["peer"], "127.0.0.1")
    client.get("/api/none", headers={"X-Request-Id": "not-there"})
    check.equal(server.wait_log("request", request_id="not-there")["status"], 404)
    ticket = client.post("/api/tickets").json()["ticket"]
    server.anonymous().get(f"/api/sessions/x/events?ticket={ticket}", headers={"X-Request-Id": "with-ticket"})
    server.wait_log("request", request_id="with-ticket")
    text = server.log.tail(1000)
    for secret in (server.token, ticket, "hidden-text"):
        check.equal(secret in text, False, "a secret is in the log")
    check.equal(server.log.other, [], "lines that are no JSON")


@test
def logs_for_people(env):
    """--log-format text: one line per entry, the words of the entry in it."""
    server = env.server(options=["--log-format", "text"], start=False)
    server.launch()
    line = check.eventually(lambda: next((one for one in server.log.other if "listening" in one), None), "it says where")
    check.true(re.match(r"\d{4}-\S+Z info +listening address=", line), line)
    server.stop()


# --- stopping ---


@test
def a_stop_is_polite(server):
    """Streams are told `closed`, a waiting claim is answered, a request under way is finished, the exit code is 0."""
    client = server.client()
    path = session(client)
    stream, socket = client.stream(path + "/events"), client.websocket(path + "/ws")
    firehose = client.stream("/api/stream")
    stream.until("event")
    socket.until(lambda message: message["type"] == "event")
    firehose.next()
    answers = []
    waiting = threading.Thread(target=lambda: answers.append(server.client(timeout_s=30).post(
        "/api/claims", {"worker": "w", "wait_ms": 30000})))
    waiting.start()
    check.eventually(lambda: metrics(server)["sojourn_claims_waiting"] == 1, "the claim waits")
    half = client.connect()
    body = b'{"type":"agent","id":"web:late"}'
    half.send(encode_request("POST", "/api/sessions", None, bearer(server, ("Content-Length", str(len(body))))) + body[:5])
    idle = client.connect()
    idle.request("GET", "/healthz")
    check.eventually(lambda: metrics(server)["sojourn_connections"] >= 6, "all are connected")
    server.signal(signal.SIGTERM)
    check.equal(stream.until("closed")[-1].json()["reason"], "server_stopping")
    check.equal(stream.wait_end(), [])
    check.equal(firehose.until("closed")[-1].json()["reason"], "server_stopping")
    check.equal(socket.until(lambda message: message["type"] == "closed")[-1]["data"]["reason"], "server_stopping")
    check.equal((socket.next(), socket.close_code), (None, 1001))
    waiting.join(15 * check.patience())
    check.equal([(answer.status, answer.json()) for answer in answers], [(200, {"claims": []})])
    check.equal(idle.wait_closed(), b"")
    half.send(body[5:])
    late = half.read_response("POST")
    check.equal(late.status, 201, "a request under way is finished")
    check.equal(late.header("connection"), "close")
    server.wait_exit(expect=0)
    server.start()
    check.equal(server.client().get("/api/sessions/web:late", expect=200).json()["last_sequence"], 1)


@test(on=OPTIMISED)
def a_stop_does_not_wait_for_streams_to_close(server):
    """Clients that read what they are told but do not close cost no second."""
    client = server.client()
    path = session(client)
    streams = [client.stream(path + "/events") for _ in range(5)]
    sockets = [client.websocket(path + "/ws") for _ in range(5)]
    for stream in streams:
        stream.until("event")
    for socket in sockets:
        socket.until(lambda message: message["type"] == "event")
    began = time.monotonic()
    server.signal(signal.SIGTERM)
    server.wait_exit(expect=0)
    check.true(time.monotonic() - began < 1.5 * check.patience(), f"it took {time.monotonic() - began:.2f} s")
    for stream in streams:
        check.equal(stream.until("closed")[-1].json()["reason"], "server_stopping")


def processes_of(parent):
    """The process and its children."""
    found = [parent]
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
                if file.read().rsplit(")", 1)[1].split()[1] == str(parent):
                    found.append(int(pid))
        except OSError:
            pass
    return found


@test(on=("postgres",))
def readiness_does_not_wait_for_a_database_that_hangs(env):
    """Its processes are stopped, its sockets stay open: /readyz answers 503 within ready-timeout-ms, however many ask."""
    cluster = env.own_cluster()
    server = env.server(database=cluster.new_database(), options=["--ready-timeout-ms", "300"])
    guest = server.anonymous(timeout_s=60)
    guest.get("/readyz", expect=200)
    stopped = processes_of(cluster.process.pid)
    for pid in stopped:
        os.kill(pid, signal.SIGSTOP)
    try:
        for _ in range(12):
            check.problem(guest.get("/readyz"), 503, "database_unavailable")
        guest.get("/healthz", expect=200)
    finally:
        for pid in stopped:
            os.kill(pid, signal.SIGCONT)
    check.eventually(lambda: guest.get("/readyz").status == 200, "it is ready again", 60)
    server.stop()
    cluster.remove()


@test(on=("postgres",))
def readiness_looks_at_the_database(env):
    """While it is away /readyz says so and /healthz does not; it comes back by itself."""
    cluster = env.own_cluster()
    server = env.server(database=cluster.new_database())
    guest = server.anonymous()
    guest.get("/readyz", expect=200)
    cluster.stop()
    check.problem(guest.get("/readyz"), 503)
    guest.get("/healthz", expect=200)
    cluster.start()
    check.eventually(lambda: guest.get("/readyz").status == 200, "it is ready again", 20)
    server.stop()
    cluster.remove()


@test(on=OPTIMISED)
def only_unix_sockets_tell_the_first_link_too(env):
    """Whoever listens on a path alone gets the link: with the public address, or without a host."""
    for options, base in (([], ""), (["--public-url", "https://dash.example"], "https://dash.example")):
        server = env.server(options, environment={"SOJOURN_BOOTSTRAP_TOKEN": None}, start=False)
        command = [word for word in server.command() if not word.startswith("127.0.0.1")]
        command.remove("--listen")
        server.command = lambda command=command: command
        server.launch()
        check.eventually(lambda: f"  {base}/sign-in#" in server.output(), "the link is printed")


@test(options=["--stop-timeout-ms", "300"])
def a_stop_does_not_wait_for_ever(server):
    """A client that never finishes its request is cut after the time."""
    connection = server.client().connect()
    connection.send(encode_request("POST", "/api/sessions", None, bearer(server, ("Content-Length", "10"))) + b"{")
    check.eventually(lambda: metrics(server)["sojourn_connections"] >= 1, "it is connected")
    begun = time.monotonic()
    server.stop()
    check.true(time.monotonic() - begun < 8 * check.patience(), "it stopped soon")
    connection.close()


@test
def nothing_acknowledged_is_lost_by_a_stop(server):
    """Writers that go on until the door closes: what was answered with 201 is there afterwards."""
    paths = [session(server.client()) for _ in range(4)]
    acknowledged = {path: 0 for path in paths}
    started = threading.Barrier(5)

    def write(path):
        client = server.client()
        started.wait()
        try:
            while True:
                answer = client.post(path + "/events", {"events": [{"type": "note.x"}]})
                if answer.status != 201:
                    return
                acknowledged[path] = answer.json()["last_sequence"]
        except (OSError, AssertionError):
            return
    threads = [threading.Thread(target=write, args=(path,)) for path in paths]
    for thread in threads:
        thread.start()
    started.wait()
    check.eventually(lambda: min(acknowledged.values()) > 20, "writing is under way")
    server.stop()
    for thread in threads:
        thread.join()
    server.start()
    for path in paths:
        check.true(server.client().get(path).json()["last_sequence"] >= acknowledged[path], "nothing is lost")


# --- configuration ---


@test
def environment_file_and_command_line(env):
    """The YAML file, over it the environment, over it the command line; the server really does what they say."""
    path = os.path.join(env.directory, "sojourn.yaml")
    with open(path, "w", encoding="utf-8") as file:
        file.write("sessions_page_default: 2\nsessions_page_max: 2\nevents_page_default: 2\ncors_origin:\n"
                   f"  - {ORIGIN}\n  - http://other.example\nlog_level: debug\n")
    server = env.server(options=["--config", path, "--events-page-default", "4"],
                        environment={"SOJOURN_SESSIONS_PAGE_MAX": "3", "SOJOURN_EVENTS_PAGE_DEFAULT": "3"})
    client = server.client()
    paths = [session(client) for _ in range(5)]
    client.post(paths[0] + "/events", {"events": [{"type": "note.x"}] * 9}, expect=201)
    check.equal(len(client.get("/api/sessions").json()["sessions"]), 2, "from the file")
    check.equal(len(client.get("/api/sessions?limit=100").json()["sessions"]), 3, "from the environment")
    check.equal(len(client.get(paths[0] + "/events").json()["events"]), 4, "from the command line")
    answer = client.get("/api/me", headers={"Origin": "http://other.example", "X-Request-Id": "seen"})
    check.equal(answer.header("access-control-allow-origin"), "http://other.example", "a list from the file")
    server.wait_log("request", request_id="seen")
    shown = server.run("check-config", "--config", path, "--events-page-default", "4",
                       environment={"SOJOURN_SESSIONS_PAGE_MAX": "3"}).stdout
    for name, value, origin in (("sessions-page-default", "2", "file"), ("sessions-page-max", "3", "environment"),
                                ("events-page-default", "4", "command line"), ("heartbeat-ms", "15s", "default")):
        check.true(re.search(rf"^{name} +{value} +.*{origin}", shown, re.M), f"{name} is {value} from {origin}")


@test
def unknown_variables_are_told(env):
    """serve starts and warns with the closest name; check-config refuses. Names of the client and of others are fine."""
    fine = {"SOJOURN_URL": "http://x", "SOJOURN_TOKEN": "x", "SOJOURN_TOKEN_FILE": "x", "SOJOURN_CA_FILE": "x",
            "SOJOURN_TIMEOUT_MS": "5", "SOJOURN_ACTIVE_FILE": "x", "SOJOURN_SERVICE_HOST": "10.0.0.1",
            "SOJOURN_SERVICE_PORT_HTTP": "7070", "SOJOURN_PORT": "tcp://10.0.0.1:7070", "SOJOURN_PORT_7070_TCP": "x",
            "SOJOURN_BOOTSTRAP_TOKEN": "x" * 32, "SOJOURN_GATEWAY_URL": "http://x", "SOJOURN_LOG_LEVEL": "debug",
            "SOJOURN_UNUSED": ""}
    server = env.server(environment={"SOJOURN_LOG_LEVL": "hush", "SOJOURN_heartbeat_ms": "5", "SOJOURN_XYZZY": "1"})
    check.equal(server.wait_log("unknown_variable", variable="SOJOURN_LOG_LEVL")["closest"], "SOJOURN_LOG_LEVEL")
    check.equal(server.wait_log("unknown_variable", variable="SOJOURN_heartbeat_ms")["closest"],
                "SOJOURN_HEARTBEAT_MS")
    check.true("closest" not in server.wait_log("unknown_variable", variable="SOJOURN_XYZZY"), "nothing is near")
    server = env.server(environment=fine)
    check.true("unknown_variable" not in server.log.tail(1000), "all are known")
    server.run("check-config", environment=fine)
    for name, closest in (("SOJOURN_LOG_LEVL", "SOJOURN_LOG_LEVEL"), ("SOJOURN_TOKN", "SOJOURN_TOKEN")):
        result = server.run("check-config", environment={name: "hush"}, expect=2)
        check.contains(result.stderr, f"{name}; the closest is {closest};")
        check.true("hush" not in result.stderr, "the value may be a secret")


@test
def wrong_configuration_is_named(env):
    """check-config and serve refuse with exit code 2 and name the option, the value and where it stands."""
    path = os.path.join(env.directory, "wrong.yaml")
    server = env.server(start=False)
    for text, part in (("no_such_option: 1\n", "no_such_option"), ("loop_threads: many\n", "many"),
                       ("loop_threads: 1000\n", "64"), ("data: [a, b\n", "wrong.yaml")):
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        for command in ("check-config", "serve"):
            result = server.run(command, "--config", path, expect=2)
            check.contains(result.stderr, part)
    result = server.run("check-config", environment={"SOJOURN_LOOP_THREADS": "0"}, expect=2)
    check.contains(result.stderr, "SOJOURN_LOOP_THREADS")
    for option, value in (("--listen", "nonsense"), ("--listen", "127.0.0.1:99999"), ("--listen", "unix:"),
                          ("--cors-origin", "https://app.example.org/"), ("--cors-origin", "app.example.org")):
        for command in ("check-config", "serve"):
            result = server.run(command, option, value, expect=2)
            check.contains(result.stderr, option)
    nowhere = os.path.join(env.directory, "nowhere.pem")
    check.contains(server.run("check-config", "--tls-cert", nowhere, "--tls-key", nowhere, expect=2).stderr, nowhere)
    cert, key = certificate(env.directory)
    server.run("check-config", "--listen", "[::1]:1", "--listen", "unix:x", "--cors-origin", "*", "--cors-origin",
               "https://app.example.org:8443", "--tls-cert", cert, "--tls-key", key)


@test(on=("sqlite",))
def one_server_per_directory(env):
    """A second server on the same data does not start and says why."""
    server = env.server()
    command = server.command()
    command[command.index(server.unix_address)] = server.unix_address + "2"
    command[command.index(f"127.0.0.1:{server.port or 0}")] = "127.0.0.1:0"
    result = subprocess.run(command, env=server.full_environment(), capture_output=True, text=True, check=False,
                            timeout=30 * check.patience())
    check.true(result.returncode != 0, "it ends")
    entry = json.loads(result.stderr.splitlines()[-1])
    check.equal((entry["level"], entry["event"]), ("error", "start_failed"))
    check.contains(entry["detail"], "data")
    check.equal(server.client().get("/api/me").status, 200)

"""Through a tunnel to a service in a session's sandbox: streamed, checked, and nowhere else."""
import http.server
import json
import signal
import threading

from harness import check, people
from harness.bytes_service import Bytes
from harness.client import encode_request
from harness.suite import test


class Service(http.server.ThreadingHTTPServer):
    """A service that tells what it was asked, and answers piece by piece when told to."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), ServiceHandler)
        self.asked = []
        self.go_on = threading.Event()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def host(self):
        return f"127.0.0.1:{self.server_address[1]}"


class ServiceHandler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self):
        body = self.rfile.read(int(self.headers.get("content-length") or 0)).decode()
        told = {"method": self.command, "path": self.path, "body": body,
                "headers": {name.lower(): value for name, value in self.headers.items()}}
        self.server.asked.append(told)
        getattr(self, "say_" + self.path.split("?")[0].strip("/").split("/")[-1], self.say_all)(told)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = answer

    def send(self, status, text, **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(text)

    def say_all(self, told):
        self.send(200, json.dumps(told).encode(), Content_Type="application/json", ETag='"kept"', X_Own="dropped")

    def say_moved(self, _):
        self.send(302, b"", Location="/elsewhere?x=1")

    def say_home(self, _):
        self.send(302, b"", Location=f"http://{self.server.host()}/app/in")

    def say_page(self, _):
        self.send(200, b"<script>alert(1)</script>", Content_Type="text/html", Set_Cookie="sojourn_session=x",
                  Access_Control_Allow_Origin="*", Clear_Site_Data='"*"', NEL="{}", Report_To="{}",
                  Reporting_Endpoints='a="https://b"', Alt_Svc="clear", Service_Worker_Allowed="/",
                  aCCESS_cONTROL_aLLOW_mETHODS="*", SET_COOKIE="sojourn_session=y")

    def say_stream(self, _):
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.wfile.write(b"6\r\nfirst \r\n")
        self.wfile.flush()
        self.server.go_on.wait(30)
        self.wfile.write(b"4\r\nlast\r\n0\r\n\r\n")

    def say_big(self, _):
        self.send(200, b"0123456789abcdef" * 65536 * 4)

    def say_cut(self, _):
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.wfile.write(b"6\r\nfirst \r\n")
        self.wfile.flush()
        self.close_connection = True
        self.connection.close()

    def say_teapot(self, _):
        self.send(418, b"short and stout")

    def log_message(self, *_):
        pass


def tunnelled(env, *options):
    """A service, a client, and the path of a tunnel that leads to it."""
    service = Service()
    server = env.server(options=["--tunnel-hosts", service.host(), *options])
    client = server.client()
    path = people.session(client, agent="nobody")
    client.post(path + "/tunnels", {"name": "web", "url": f"http://{service.host()}/app/"}, expect=201)
    return service, client, path


@test
def requests_and_answers_pass(env):
    """S3-080: method, path, query, headers and body there; status, headers and body back; no credential either way."""
    service, client, path = tunnelled(env)
    secret = {"Cookie": "a=b", "X-CSRF-Token": "t", "X-Other": "passes", "TE": "trailers"}
    for method in ("GET", "POST", "PUT", "PATCH", "DELETE"):
        body = None if method in ("GET", "DELETE") else "some text"
        got = client.request(method, path + "/proxy/web/a%2Fb/c?q=1&r=%20", body,
                             headers={**secret, "Content-Type": "text/plain"})
        check.equal((got.status, got.header("etag"), got.header("content-type")), (200, '"kept"', "application/json"))
        check.equal(got.header("x-own"), None, "what does not describe the answer")
        told = got.json()
        check.equal((told["method"], told["path"], told["body"]), (method, "/app/a%2Fb/c?q=1&r=%20", body or ""))
        check.equal(told["headers"]["x-other"], "passes")
        check.equal(told["headers"]["host"], service.host())
        check.equal(told["headers"]["x-forwarded-prefix"], path + "/proxy/web")
        for name in ("authorization", "cookie", "x-csrf-token", "te"):
            check.true(name not in told["headers"], f"{name} stays here")
    check.equal(client.get(path + "/proxy/web").json()["path"], "/app/")
    check.equal(client.request("HEAD", path + "/proxy/web/x").body, b"")
    check.equal((client.get(path + "/proxy/web/teapot").status, client.get(path + "/proxy/web/teapot").body),
                (418, b"short and stout"))
    check.equal(client.get(path + "/proxy/web/moved").header("location"), path + "/proxy/web/elsewhere?x=1")
    check.equal(client.get(path + "/proxy/web/home").header("location"), path + "/proxy/web/in")


@test
def a_page_of_a_sandbox_is_a_stranger(env):
    """S3-080: what a service says is not said by this server: no cookie, no rights of its origin."""
    _, client, path = tunnelled(env)
    got = client.get(path + "/proxy/web/page")
    check.equal((got.status, got.header("content-type")), (200, "text/html"))
    for name in ("set-cookie", "access-control-allow-origin", "access-control-allow-methods"):
        check.equal(got.header(name), None, f"{name}, however it is written")
    check.contains(got.header("content-security-policy"), "sandbox")
    check.true("allow-same-origin" not in got.header("content-security-policy"), "an origin of its own")
    for name in ("clear-site-data", "nel", "report-to", "reporting-endpoints", "alt-svc", "service-worker-allowed"):
        check.equal(got.header(name), None, f"{name} speaks for the whole origin")


PASSES_BACK = {"accept-ranges", "allow", "content-disposition", "content-encoding", "content-language", "content-range",
               "content-type", "etag", "last-modified", "location", "retry-after", "vary"}
OF_THIS_SERVER = {"connection", "date", "x-request-id", "content-length", "transfer-encoding", "cache-control",
                  "content-security-policy", "referrer-policy", "x-content-type-options"}
SPEAKS_FOR_OTHERS = (
    "Set-Cookie", "Set-Cookie2", "Cookie", "WWW-Authenticate", "Proxy-Authenticate", "Authentication-Info", "Refresh",
    "X-Accel-Redirect", "X-Accel-Buffering", "X-Accel-Expires", "X-Accel-Charset", "X-Sendfile", "X-LIGHTTPD-send-file",
    "X-Reproxy-URL", "Clear-Site-Data", "Service-Worker-Allowed", "Strict-Transport-Security", "Alt-Svc", "NEL",
    "Report-To", "Reporting-Endpoints", "Public-Key-Pins", "Expect-CT", "Link", "Content-Location", "SourceMap",
    "Access-Control-Allow-Origin", "Content-Security-Policy", "X-Frame-Options", "Origin-Agent-Cluster", "Accept-CH",
    "Critical-CH", "Set-Login", "Speculation-Rules", "Server", "Via", "X-Powered-By", "X-Request-Id", "Upgrade",
    "Surrogate-Control", "CDN-Cache-Control", "Surrogate-Key", "X-Varnish", "Status", "X-Something-New", "Pragma")


def answer_of(client, path, service, answer):
    service.answer = answer
    return client.get(path + "/proxy/raw")


@test
def only_what_describes_an_answer_passes_back(env):
    """Headers that speak to the browser, to a proxy in front, or for the whole origin do not pass, nor unknown ones."""
    service = Bytes(b"")
    host = service.host()
    client = env.server(options=["--tunnel-hosts", host]).client()
    path = people.session(client, agent="nobody")
    client.post(path + "/tunnels", {"name": "raw", "url": f"http://{host}/"}, expect=201)
    lines = b"".join(b"%s: evil\r\n" % name.encode() for name in SPEAKS_FOR_OTHERS)
    lines += b"".join(b"%s: fine\r\n" % name.encode() for name in sorted(PASSES_BACK - {"location"}))
    got = answer_of(client, path, service, b"HTTP/1.1 200 OK\r\n" + lines + b"Content-Length: 2\r\n\r\nhi")
    check.equal((got.status, got.body), (200, b"hi"))
    names = {name.lower() for name, _ in got.headers}
    check.equal(names - PASSES_BACK - OF_THIS_SERVER, set())
    check.equal(PASSES_BACK - {"location"} - names, set())
    check.true(not any(value == "evil" for _, value in got.headers), "nothing of what speaks for others")
    for told, ours in (("public, max-age=99", "private, no-cache"), ("no-store", "no-store")):
        answer = f"HTTP/1.1 200 OK\r\nCache-Control: {told}\r\nContent-Length: 0\r\n\r\n".encode()
        check.equal(answer_of(client, path, service, answer).header("cache-control"), ours)


@test
def parts_of_an_answer_bring_no_headers(env):
    """Firefox takes Set-Cookie from the parts of a multipart document: such answers pass as bytes."""
    service = Bytes(b"")
    host = service.host()
    client = env.server(options=["--tunnel-hosts", host]).client()
    path = people.session(client, agent="nobody")
    client.post(path + "/tunnels", {"name": "raw", "url": f"http://{host}/"}, expect=201)
    for told in ("multipart/x-mixed-replace; boundary=b", " Multipart/Mixed;boundary=b", "multipart/byteranges; boundary=b",
                 "MULTIPART/x", "text/html\r\nContent-Type: multipart/x-mixed-replace; boundary=b",
                 "text/html, multipart/x-mixed-replace; boundary=b"):
        answer = f"HTTP/1.1 200 OK\r\nContent-Type: {told}\r\nContent-Length: 2\r\n\r\nhi".encode()
        got = answer_of(client, path, service, answer)
        check.true(not any("multipart" in value.lower() for _, value in got.headers), (told, got.headers))


@test
def an_upgrade_that_nobody_asked_for_is_no_answer(env):
    """The caller is told, and nothing of the call is left: a service could fill the server with such answers."""
    service = Bytes(b"")
    host = service.host()
    client = env.server(options=["--tunnel-hosts", host]).client()
    path = people.session(client, agent="nobody")
    client.post(path + "/tunnels", {"name": "raw", "url": f"http://{host}/"}, expect=201)
    upgrade = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n"
    for answer in (upgrade, upgrade + b"\x81\x02hi", upgrade + b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
                   b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n", b"HTTP/1.1 100 Continue\r\n\r\n"):
        check.problem(answer_of(client, path, service, answer), 502, "tunnel_failed")


@test
def a_malformed_head_of_a_service_is_no_answer(env):
    """A name with a fold, a carriage return or a space in it could be another header to somebody else."""
    service = Bytes(b"")
    host = service.host()
    client = env.server(options=["--tunnel-hosts", host]).client()
    path = people.session(client, agent="nobody")
    client.post(path + "/tunnels", {"name": "raw", "url": f"http://{host}/"}, expect=201)
    cookie = b"Set-Cookie: sojourn_session=attacker; Path=/"
    for line in (b"ETag\r" + cookie, b"ETag\r\n " + cookie, b"ETag: a\r\n " + cookie, b"ETag: a\r\n\t" + cookie,
                 b" " + cookie, b"\t" + cookie, b"Set-Cookie : sojourn_session=attacker", b"ETag: a\r" + cookie,
                 b"ETag: a\x0b" + cookie, b"ETag\x0b" + cookie, b"ETag\x00" + cookie, b"no header", b": empty",
                 b"Set-Cookie\r\n : sojourn_session=attacker", b"\xffSet-Cookie: a=b", b"\x7f: a"):
        got = answer_of(client, path, service, b"HTTP/1.1 200 OK\r\n" + line + b"\r\nContent-Length: 0\r\n\r\n")
        check.true(got.header("set-cookie") is None, f"{line}: no cookie")
        check.equal(got.status, 502, f"{line}: refused")
        check.true("attacker" not in str(got.headers) + str(got.body), f"{line}: not a byte of it")


@test
def an_answer_has_one_length(env):
    """A service that names a length and chunks says one of them, whichever it sent."""
    service = Bytes(b"")
    host = service.host()
    client = env.server(options=["--tunnel-hosts", host]).client()
    path = people.session(client, agent="nobody")
    client.post(path + "/tunnels", {"name": "raw", "url": f"http://{host}/"}, expect=201)
    got = answer_of(client, path, service, b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\nTransfer-Encoding: chunked\r\n\r\n"
                                           b"2\r\nhi\r\n0\r\n\r\n")
    check.equal((got.header("content-length"), got.body), (None, b"hi"))


@test
def answers_are_streamed(env):
    """S3-080: the first bytes are here before the last ones are made; a large answer comes whole; a cut one is seen."""
    service, client, path = tunnelled(env)
    with client.connect() as connection:
        connection.send(encode_request("GET", path + "/proxy/web/stream", None, client.headers_for()))
        head = connection.read_head()
        check.equal((head.status, head.header("transfer-encoding")), (200, "chunked"))
        check.equal(connection.read_chunk(), b"first ")
        service.go_on.set()
        check.equal((connection.read_chunk(), connection.read_chunk()), (b"last", b""))
    check.equal(client.get(path + "/proxy/web/big").body, b"0123456789abcdef" * 65536 * 4)
    with client.connect() as connection:
        connection.send(encode_request("GET", path + "/proxy/web/cut", None, client.headers_for()))
        connection.read_head()
        rest = connection.wait_closed()
        check.true(rest.startswith(b"6\r\nfirst ") and not rest.endswith(b"0\r\n\r\n"), "it does not look whole")


@test
def only_through_tunnels_and_only_for_those_inside(env):
    """S3-080, S3-148: viewers look, collaborators do, strangers find nothing; a closed tunnel leads nowhere."""
    service, client, path = tunnelled(env)
    anna, bert, carl = (people.person(client, name).client for name in ("anna", "bert", "carl"))
    for someone, role in ((anna, "collaborator"), (bert, "viewer")):
        client.post(path + "/participants", {"user_id": someone.get("/api/me").json()["user_id"], "role": role},
                    expect=201)
    check.equal([one.get(path + "/proxy/web/x").status for one in (anna, bert, carl)], [200, 200, 404])
    check.equal([one.post(path + "/proxy/web/x", {}).status for one in (anna, bert, carl)], [200, 403, 404])
    check.equal(env.servers[0].anonymous().get(path + "/proxy/web/x").status, 401)
    check.problem(client.get(path + "/proxy/other/x"), 404, "tunnel_not_found")
    client.delete(path + "/tunnels/web", expect=204)
    count = len(service.asked)
    check.problem(client.get(path + "/proxy/web/x"), 404, "tunnel_not_found")
    check.equal(len(service.asked), count)


@test
def no_way_into_the_network_of_the_server(env):
    """S3-080: an address that is not public is reached only where the operator named its host, redirects included."""
    service = Service()
    client = env.server().client()
    path = people.session(client, agent="nobody")
    for name, url in (("a", f"http://{service.host()}"), ("b", f"http://localhost:{service.server_address[1]}"),
                      ("c", f"http://[::1]:{service.server_address[1]}"), ("d", "http://169.254.169.254/latest"),
                      ("e", "http://0x7f000001/"), ("f", "http://10.0.0.1/")):
        client.post(path + "/tunnels", {"name": name, "url": url}, expect=201)
        check.problem(client.get(f"{path}/proxy/{name}/"), 403, "tunnel_refused")
    client.post(path + "/tunnels", {"name": "p", "port": service.server_address[1]}, expect=201)
    check.problem(client.get(path + "/proxy/p/"), 503, "sandbox_not_running")
    check.equal(service.asked, [])


@test
def services_that_fail(env):
    """S3-080: 502 when nobody is there, 504 when nothing is said."""
    service, client, path = tunnelled(env, "--tunnel-hosts", "127.0.0.1:1", "--proxy-silence-ms", "300")
    client.post(path + "/tunnels", {"name": "dead", "url": "http://127.0.0.1:1/"}, expect=201)
    check.problem(client.get(path + "/proxy/dead/"), 502, "tunnel_failed")
    hang = threading.Event()
    service.RequestHandlerClass.say_hang = lambda self, told: hang.wait(20)
    check.problem(client.get(path + "/proxy/web/hang"), 504, "tunnel_timeout")
    hang.set()


@test
def the_server_stops_meanwhile(env):
    """Who waits for a service is told that the server stops, at once; an answer that has begun to come comes whole."""
    service, client, path = tunnelled(env)
    hang = threading.Event()
    service.RequestHandlerClass.say_hang = lambda self, told: hang.wait(20)
    waiting, reading = client.connect(), client.connect()
    waiting.send(encode_request("GET", path + "/proxy/web/hang", None, client.headers_for()))
    reading.send(encode_request("GET", path + "/proxy/web/stream", None, client.headers_for()))
    reading.read_head()
    check.equal(reading.read_chunk(), b"first ")
    check.eventually(lambda: len(service.asked) == 2, "both are asked", 10)
    env.servers[0].signal(signal.SIGTERM)
    answer = waiting.read_response()
    check.problem(answer, 503, "server_stopping")
    check.equal(answer.header("retry-after"), "1")
    service.go_on.set()
    check.equal((reading.read_chunk(), reading.read_chunk()), (b"last", b""))
    env.servers[0].wait_exit()
    hang.set()


AGENT = """
import http.server, json, socket, sys, threading
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.end_headers(); self.wfile.write(b'from inside')
    def log_message(self, *_): pass
def say(message):
    print(json.dumps({'jsonrpc': '2.0', **message}), flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    method, result = asked.get('method'), {}
    if method == 'initialize':
        result = {'protocolVersion': 1, 'agentCapabilities': {}}
    elif method == 'session/new':
        result = {'sessionId': 's'}
    elif method == 'session/prompt':
        words = asked['params']['prompt'][-1]['text'].split()
        address, port = (words[1], int(words[2])) if words[0] == 'listen' else ('127.0.0.1', 0)
        http.server.HTTPServer.address_family = socket.AF_INET6 if ':' in address else socket.AF_INET
        server = http.server.HTTPServer((address, port), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        chunk = {'sessionUpdate': 'agent_message_chunk',
                 'content': {'type': 'text', 'text': str(server.server_address[1])}}
        say({'method': 'session/update', 'params': {'sessionId': 's', 'update': chunk}})
        result = {'stopReason': 'end_turn'}
    if 'id' in asked:
        say({'id': asked['id'], 'result': result})
"""


@test
def another_address_of_the_loopback_is_another_port(env):
    """A process inside that listens on the port of a service of the machine, at another address, does not lead to it."""
    beside = Service()
    client = env.server().client()
    agent = {"id": "serving", "driver": "acp", "command": ["/usr/bin/python3", "-c", AGENT],
             "sandbox": {"kind": "local", "network": True}}
    client.post("/api/agents", agent, expect=201)
    for address in ("127.0.0.2", "::1", "127.255.255.254"):
        path = people.session(client, agent="serving", prompt=f"listen {address} {beside.server_address[1]}")
        check.eventually(lambda path=path: client.get(path).json()["turn_count"] == 1, "it serves", 30)
        [said] = client.get(path + "/messages?roles=assistant").json()["messages"]
        check.equal(int(said["content"]), beside.server_address[1], "it listens there")
        client.post(path + "/tunnels", {"name": "own", "port": beside.server_address[1]}, expect=201)
        check.problem(client.get(path + "/proxy/own/"), 503, "nobody_listens")
    check.equal(beside.asked, [])


@test(options=["--idle-grace-ms", "1s"])
def who_is_connected_keeps_it_awake(env):
    """S1-082: a sandbox does not fall asleep while somebody is connected into it; one that was begun later does."""
    service, client, path = tunnelled(env)
    client.post("/api/agents", {"id": "boxed", "driver": "demo", "sandbox": {"kind": "local"}}, expect=201)
    visited = people.session(client, agent="boxed")
    client.post(visited + "/tunnels", {"name": "web", "url": f"http://{service.host()}/"}, expect=201)
    runtime = lambda one: client.get(one).json()["runtime"]
    with client.connect() as connection:
        connection.send(encode_request("GET", visited + "/proxy/web/stream", None, client.headers_for()))
        connection.read_head()
        check.equal(connection.read_chunk(), b"first ")
        client.post(visited + "/messages", {"text": "echo one"}, expect=202)
        check.eventually(lambda: client.get(visited).json()["turn_count"] == 1, "the turn is over", 30)
        for _ in range(2):
            other = people.session(client, agent="boxed", prompt="echo other")
            check.eventually(lambda: runtime(other) == "hibernated", "the other one sleeps", 30)
        check.equal(runtime(visited), "running")
        service.go_on.set()
        connection.read_chunk()
    check.eventually(lambda: runtime(visited) == "hibernated", "nobody is there any more", 30)


@test
def a_port_of_the_sandbox(env):
    """S3-080: what listens inside is reached by its port; what listens on the machine beside it is not, nor another's."""
    beside = Service()
    client = env.server().client()
    agent = {"id": "serving", "driver": "acp", "command": ["/usr/bin/python3", "-c", AGENT],
             "sandbox": {"kind": "local", "network": True}}
    client.post("/api/agents", agent, expect=201)
    paths, ports = [], []
    for _ in range(2):
        path = people.session(client, agent="serving", prompt="serve")
        check.eventually(lambda: client.get(path).json()["turn_count"] == 1, "it serves", 30)
        [said] = client.get(path + "/messages?roles=assistant").json()["messages"]
        paths.append(path)
        ports.append(int(said["content"]))
    for path, port in zip(paths, ports):
        client.post(path + "/tunnels", {"name": "own", "port": port}, expect=201)
        check.equal(client.get(path + "/proxy/own/").body, b"from inside")
    client.post(paths[0] + "/tunnels", {"name": "other", "port": ports[1]}, expect=201)
    client.post(paths[0] + "/tunnels", {"name": "beside", "port": beside.server_address[1]}, expect=201)
    for name in ("other", "beside"):
        check.problem(client.get(f"{paths[0]}/proxy/{name}/"), 503, "nobody_listens")
    check.equal(beside.asked, [])
    client.post(paths[0] + "/stop", {}, expect=200)
    check.eventually(lambda: client.get(paths[0]).json()["runtime"] == "stopped", "it is over", 30)
    check.equal(client.get(paths[0] + "/proxy/own/").status, 404)

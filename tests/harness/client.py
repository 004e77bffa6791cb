"""A small HTTP/1.1 client on raw sockets.

Tests must be able to send wrong bytes, half a request, two requests at once, and to see exactly what came back; a
library would tidy all that away.
"""
import json as json_module
import socket
import ssl
import time
from urllib.parse import quote, urlencode

from harness import check
from harness.check import Failure
from harness.sse import EventStream
from harness.websocket import WebSocket, handshake_headers


class Closed(Failure):
    """The peer closed the connection before the bytes that were awaited."""


class Deadline(Failure):
    """The awaited bytes did not come in time."""


class Response:
    """One answer. `headers` is a list of (name, value) as they came; `header()` ignores case."""

    def __init__(self, request_line, status, reason, headers, body):
        self.request_line = request_line
        self.status = status
        self.reason = reason
        self.headers = headers
        self.body = body

    def header(self, name, default=None):
        """The value of the first header called `name`."""
        for key, value in self.headers:
            if key.lower() == name.lower():
                return value
        return default

    def json(self):
        """The body as JSON."""
        try:
            return json_module.loads(self.body)
        except ValueError as error:
            what = f"{self.request_line} answered {self.status} with no JSON ({error})"
            raise Failure(f"{what}: {self.body[:300]!r}") from None

    def __repr__(self):
        return f"<{self.request_line} -> {self.status} {self.body[:200]!r}>"


def split_address(address):
    """('unix', path) or ('tcp', (host, port), is_tls) parts of 'unix:PATH', 'http://H:P', 'https://H:P', 'H:P'."""
    if address.startswith("unix:"):
        return "unix", address[len("unix:"):], False
    is_tls = address.startswith("https://")
    rest = address.split("://")[-1].rstrip("/")
    host, _, port = rest.rpartition(":")
    return "tcp", (host.strip("[]"), int(port)), is_tls


def open_socket(address, timeout_s=10, receive_buffer_bytes=None):
    """A connected socket; TLS without checking the certificate when the address says https."""
    kind, where, is_tls = split_address(address)
    if kind == "unix":
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    else:
        family = socket.AF_INET6 if ":" in where[0] else socket.AF_INET
        sock = socket.socket(family, socket.SOCK_STREAM)
    if receive_buffer_bytes:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer_bytes)
    sock.settimeout(timeout_s * check.patience())
    try:
        sock.connect(where)
        if kind == "tcp":
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    except OSError:
        sock.close()
        raise
    if is_tls:
        context = ssl.create_default_context()
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        sock = context.wrap_socket(sock, server_hostname=where[0])
    return sock


class Connection:
    """One socket and the bytes read from it that nobody has taken yet.

    Every read has a deadline of `timeout_s` (stretched by check.patience()).
    """

    def __init__(self, address, timeout_s=10, receive_buffer_bytes=None):
        self.address = address
        self.timeout_s = timeout_s
        self.socket = open_socket(address, timeout_s, receive_buffer_bytes)
        self.buffer = bytearray()
        self.is_closed_by_peer = False

    def close(self):
        """Closes politely; may be called twice."""
        self.socket.close()

    def abort(self):
        """Closes with a reset, as a vanished client would."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.close()

    def send(self, data):
        """Sends raw bytes (or text as UTF-8)."""
        self.socket.sendall(data.encode() if isinstance(data, str) else data)

    def finish_sending(self):
        """Half-closes: no more bytes will be sent."""
        self.socket.shutdown(socket.SHUT_WR)

    def fill(self, deadline):
        """Reads some more bytes into the buffer; raises Closed or Deadline."""
        remaining = deadline - time.monotonic()
        if remaining <= 0:
            raise Deadline(f"nothing more within the deadline; so far {bytes(self.buffer[:300])!r}")
        self.socket.settimeout(remaining)
        try:
            data = self.socket.recv(65536)
        except (TimeoutError, ssl.SSLWantReadError):
            raise Deadline(f"nothing more within the deadline; so far {bytes(self.buffer[:300])!r}") from None
        except ConnectionError as error:
            self.is_closed_by_peer = True
            raise Closed(f"connection lost ({error}); so far {bytes(self.buffer[:300])!r}") from None
        if not data:
            self.is_closed_by_peer = True
            raise Closed(f"connection closed by the server; so far {bytes(self.buffer[:300])!r}")
        self.buffer += data

    def take(self, count, deadline=None):
        """Exactly `count` bytes."""
        deadline = deadline or check.deadline_after(self.timeout_s)
        while len(self.buffer) < count:
            self.fill(deadline)
        data = bytes(self.buffer[:count])
        del self.buffer[:count]
        return data

    def take_until(self, mark, deadline=None):
        """The bytes before `mark`; the mark is dropped."""
        deadline = deadline or check.deadline_after(self.timeout_s)
        start = 0
        while True:
            at = self.buffer.find(mark, start)
            if at >= 0:
                data = bytes(self.buffer[:at])
                del self.buffer[:at + len(mark)]
                return data
            start = max(0, len(self.buffer) - len(mark))
            self.fill(deadline)

    def take_rest(self, deadline=None):
        """Everything until the server closes."""
        deadline = deadline or check.deadline_after(self.timeout_s)
        try:
            while True:
                self.fill(deadline)
        except Closed:
            data = bytes(self.buffer)
            self.buffer.clear()
            return data

    def wait_closed(self, seconds=None):
        """Waits for the server to close and returns the bytes that came before."""
        return self.take_rest(check.deadline_after(seconds or self.timeout_s))

    def read_head(self, request_line="(raw)", deadline=None):
        """Status line and headers of the next answer, as a Response without body."""
        lines = self.take_until(b"\r\n\r\n", deadline).split(b"\r\n")
        version, _, rest = lines[0].decode("latin-1").partition(" ")
        if version != "HTTP/1.1":
            raise Failure(f"{request_line}: not a status line: {lines[0]!r}")
        status, _, reason = rest.partition(" ")
        headers = []
        for line in lines[1:]:
            name, _, value = line.decode("latin-1").partition(":")
            headers.append((name, value.strip()))
        return Response(request_line, int(status), reason, headers, b"")

    def read_chunk(self, deadline=None):
        """The next chunk of a chunked body; empty at the end (trailers are dropped)."""
        size = int(self.take_until(b"\r\n", deadline).split(b";")[0], 16)
        if size == 0:
            while self.take_until(b"\r\n", deadline):
                pass
            return b""
        data = self.take(size, deadline)
        if self.take(2, deadline) != b"\r\n":
            raise Failure("a chunk is not followed by CRLF")
        return data

    def read_body(self, response, method="GET", deadline=None):
        """The body that belongs to a head."""
        if method == "HEAD" or response.status in (204, 304) or response.status < 200:
            return b""
        if "chunked" in response.header("transfer-encoding", "").lower():
            parts = []
            while chunk := self.read_chunk(deadline):
                parts.append(chunk)
            return b"".join(parts)
        length = response.header("content-length")
        return self.take_rest(deadline) if length is None else self.take(int(length), deadline)

    def read_response(self, method="GET", request_line="(raw)", deadline=None):
        """The next whole answer; `100 Continue` and other interim answers are skipped."""
        deadline = deadline or check.deadline_after(self.timeout_s)
        while True:
            response = self.read_head(request_line, deadline)
            if response.status >= 200 or response.status == 101:
                break
        if response.status != 101:
            response.body = self.read_body(response, method, deadline)
        return response

    def request(self, method, path, body=None, headers=(), chunked=False):
        """Sends one request and reads its answer. See encode_request for the parameters."""
        self.send(encode_request(method, path, body, headers, chunked))
        return self.read_response(method, f"{method} {path}")


def encode_request(method, path, body=None, headers=(), chunked=False):
    """The bytes of a request. A body that is neither bytes nor text is sent as JSON.

    `chunked` sends the body in chunks of at most 1,000 bytes. `headers` (pairs or a dict) replace the defaults of the
    same name; a value of None leaves that header out.
    """
    pairs = list(headers.items() if isinstance(headers, dict) else headers)
    given = {name.lower() for name, _ in pairs}
    head = [f"{method} {path} HTTP/1.1"]
    if "host" not in given:
        head.append("Host: localhost")
    payload = b""
    if body is not None:
        is_json = not isinstance(body, (bytes, str))
        text = json_module.dumps(body, ensure_ascii=False) if is_json else body
        payload = text.encode() if isinstance(text, str) else text
        if "content-type" not in given:
            head.append("Content-Type: application/json")
        if chunked:
            head.append("Transfer-Encoding: chunked")
        elif "content-length" not in given:
            head.append(f"Content-Length: {len(payload)}")
    head += [f"{name}: {value}" for name, value in pairs if value is not None]
    if chunked:
        parts = [payload[i:i + 1000] for i in range(0, len(payload), 1000)]
        payload = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"
    return "\r\n".join(head).encode() + b"\r\n\r\n" + payload


class Client:
    """Talks to one server as one principal over one kept-alive connection that is opened again when it was closed."""

    def __init__(self, address, token=None, timeout_s=10, headers=()):
        self.address = address
        self.token = token
        self.timeout_s = timeout_s
        self.extra_headers = list(headers.items() if isinstance(headers, dict) else headers)
        self.connection = None

    def close(self):
        """Closes the kept connection."""
        if self.connection:
            self.connection.close()
            self.connection = None

    def with_token(self, token):
        """The same server as another principal."""
        return Client(self.address, token, self.timeout_s, self.extra_headers)

    def with_headers(self, **headers):
        """The same principal, with headers on every request: with_headers(Sojourn_Lease=token)."""
        more = [(name.replace("_", "-"), value) for name, value in headers.items()]
        return Client(self.address, self.token, self.timeout_s, self.extra_headers + more)

    def headers_for(self, headers=()):
        """Authorization, the client's own headers and `headers`."""
        pairs = list(headers.items() if isinstance(headers, dict) else headers)
        given = {name.lower() for name, _ in pairs}
        own = [("Authorization", f"Bearer {self.token}")] if self.token and "authorization" not in given else []
        own += [(name, value) for name, value in self.extra_headers if name.lower() not in given]
        return own + pairs

    def request(self, method, path, body=None, headers=(), query=None, expect=None, chunked=False):
        """One request; `query` is a dict, `expect` the status (or statuses) it must answer with."""
        if query:
            path += ("&" if "?" in path else "?") + urlencode(query, doseq=True)
        response = self.send_once(method, path, body, self.headers_for(headers), chunked)
        if response.header("connection", "").lower() == "close":
            self.close()
        if expect is not None:
            wanted = expect if isinstance(expect, (tuple, list, set)) else (expect,)
            if response.status not in wanted:
                what = f"{method} {path} answered {response.status}, expected {expect}"
                raise Failure(f"{what}: {response.body[:1000]!r}")
        return response

    def send_once(self, method, path, body, headers, chunked):
        """Sends on the kept connection; once more on a new one if the server had closed the idle one meanwhile."""
        was_kept = self.connection is not None
        if not was_kept:
            self.connection = Connection(self.address, self.timeout_s)
        try:
            return self.connection.request(method, path, body, headers, chunked)
        except (Closed, ConnectionError) as error:
            nothing_came = not self.connection.buffer
            self.close()
            if was_kept and nothing_came and method in ("GET", "HEAD", "OPTIONS"):
                return self.send_once(method, path, body, headers, chunked)
            raise error if isinstance(error, Failure) else Closed(f"{method} {path}: {error}")
        except Failure:
            self.close()
            raise

    def get(self, path, **named):
        """GET."""
        return self.request("GET", path, **named)

    def post(self, path, body=None, **named):
        """POST."""
        return self.request("POST", path, {} if body is None else body, **named)

    def put(self, path, body=None, **named):
        """PUT."""
        return self.request("PUT", path, body, **named)

    def patch(self, path, body=None, **named):
        """PATCH."""
        return self.request("PATCH", path, body, **named)

    def delete(self, path, body=None, **named):
        """DELETE."""
        return self.request("DELETE", path, body, **named)

    def connect(self, receive_buffer_bytes=None):
        """A new raw connection to the same address."""
        return Connection(self.address, self.timeout_s, receive_buffer_bytes)

    def stream(self, path, last_event_id=None, headers=(), expect=200, receive_buffer_bytes=None):
        """Opens a server-sent event stream on a connection of its own; see EventStream."""
        connection = self.connect(receive_buffer_bytes)
        pairs = self.headers_for(headers) + [("Accept", "text/event-stream")]
        if last_event_id is not None:
            pairs.append(("Last-Event-ID", str(last_event_id)))
        connection.send(encode_request("GET", path, None, pairs))
        response = connection.read_head(f"GET {path}")
        if response.status != expect:
            response.body = connection.read_body(response)
            connection.close()
            raise Failure(f"GET {path} answered {response.status}, expected {expect}: {response.body[:1000]!r}")
        return EventStream(connection, response)

    def websocket(self, path, headers=(), expect=101):
        """Opens a WebSocket on a connection of its own; see WebSocket. With another `expect`, returns the Response."""
        connection = self.connect()
        upgrade, accept = handshake_headers()
        connection.send(encode_request("GET", path, None, self.headers_for(headers) + upgrade))
        response = connection.read_response("GET", f"GET {path}")
        if response.status != expect:
            connection.close()
            raise Failure(f"GET {path} answered {response.status}, expected {expect}: {response.body[:1000]!r}")
        if expect != 101:
            connection.close()
            return response
        check.equal(response.header("sec-websocket-accept"), accept, "Sec-WebSocket-Accept")
        return WebSocket(connection, response)


def path_part(text):
    """A session id or another name as one part of a path."""
    return quote(text, safe="")

"""The client against servers that are slow, silent, rude or not Sojourn at all."""
import os
import signal
import socket
import subprocess
import threading

from harness import check, test

DONE, REFUSED, USAGE, UNREACHABLE, MISSING, DENIED = range(6)


class Script:
    """A server that plays one function per connection: play(connection, head of the request)."""

    def __init__(self, *plays):
        self.plays = list(plays)
        self.heads = []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        for play in self.plays:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            with connection:
                head = b""
                while b"\r\n\r\n" not in head:
                    data = connection.recv(4096)
                    if not data:
                        break
                    head += data
                self.heads.append(head.decode())
                try:
                    play(connection)
                except OSError:
                    pass

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.listener.close()


def answer(status, body, *headers):
    text = "".join(f"{header}\r\n" for header in headers)
    whole = f"HTTP/1.1 {status} X\r\nContent-Length: {len(body)}\r\n{text}\r\n{body}".encode()
    return lambda connection: connection.sendall(whole)


def stream(*pieces, end=True):
    """An event stream in these pieces; then it ends, or waits for the client to leave."""
    def play(connection):
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")
        for piece in pieces:
            connection.sendall(piece.encode())
        if not end:
            connection.recv(1)
    return play


def event(sequence, text="x"):
    return (f'id: {sequence}\nevent: event\ndata: {{"sequence": {sequence}, "type": "user.message", "role": "user",\n'
            f'data: "content": [{{"type": "text", "text": "{text}"}}]}}\n\n')


def environment():
    return {name: value for name, value in os.environ.items() if not name.startswith("SOJOURN_")}


def run(program, script, *arguments, expect, token="secret-token"):
    result = subprocess.run([program, *arguments, "--url", script.url, "--token", token], capture_output=True,
                            text=True, env=environment(), timeout=60 * check.patience(), check=False)
    check.equal(result.returncode, expect, f"exit code; {result.stderr}")
    return result


@test
def test_silence(program):
    done = threading.Event()
    with Script(lambda connection: done.wait(60)) as script:
        result = run(program, script, "whoami", "--timeout-ms", "200", expect=UNREACHABLE)
        check.contains(result.stderr, "has not answered in time")
        done.set()


@test
def test_half_an_answer(program):
    half = lambda connection: connection.sendall(b'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"kind"')
    with Script(half) as script:
        result = run(program, script, "whoami", expect=UNREACHABLE)
        check.equal(result.stdout, "")
    with Script(lambda connection: connection.sendall(b"SSH-2.0-OpenSSH_9.2\r\n")) as script:
        run(program, script, "whoami", expect=UNREACHABLE)
    with Script(lambda connection: None) as script:
        run(program, script, "whoami", expect=UNREACHABLE)


@test
def test_not_a_sojourn_server(program):
    with Script(answer(200, "<html>hello</html>")) as script:
        check.contains(run(program, script, "whoami", expect=REFUSED).stderr, "can't be shown")
    with Script(answer(502, "<html>bad\033[31m gateway</html>")) as script:
        text = run(program, script, "whoami", expect=REFUSED).stderr
        check.contains(text, "answered 502, not as a Sojourn server does")
        check.true("\033" not in text, "no control characters")


@test
def test_a_redirect_is_not_followed(program):
    with Script() as other:
        with Script(answer(302, "", f"Location: {other.url}/steal")) as script:
            run(program, script, "whoami", expect=REFUSED)
            check.contains(script.heads[0], "Authorization: Bearer secret-token")
        check.equal(other.heads, [], "what the other server heard")


@test
def test_problems_are_told_with_their_code(program):
    problem = '{"status": 429, "code": "too_many", "detail": "Too many of them."}'
    with Script(answer(429, problem, "Content-Type: application/problem+json", "Retry-After: 7")) as script:
        result = run(program, script, "whoami", expect=REFUSED)
        check.equal(result.stderr, "sojourn: Too many of them. (too_many)\ntry again in 7 s\n")


@test
def test_what_is_sent(program):
    with Script(answer(200, '{"sessions": []}')) as script:
        run(program, script, "sessions", "list", "--q", "a&b c", expect=DONE)
        lines = script.heads[0].split("\r\n")
        check.equal(lines[0], "GET /api/sessions?q=a%26b%20c HTTP/1.1")
        check.contains(lines, "Accept: application/json")
    with Script(answer(204, "")) as script:
        run(program, script, "sessions", "delete", "a/b", "--yes", expect=DONE)
        check.true(script.heads[0].startswith("DELETE /api/sessions/a%2Fb HTTP/1.1\r\n"), script.heads[0])
    with Script(answer(200, "{}")) as script:
        script.url += "/prefix/"
        run(program, script, "whoami", expect=DONE)
        check.true(script.heads[0].startswith("GET /prefix/api/me HTTP/1.1\r\n"), script.heads[0])


def tail(program, script, *arguments):
    return subprocess.Popen([program, "sessions", "tail", "s", "--after", "0", "--url", script.url, *arguments],
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment())


def stop(process):
    process.send_signal(signal.SIGINT)
    rest = process.communicate(timeout=60 * check.patience())
    check.equal(process.returncode, DONE, f"exit code; {rest}")
    return rest


@test
def test_a_stream_cut_in_the_middle_of_an_event(program):
    whole = event(1) + event(2) + event(3)
    cut = len(event(1) + event(2)) + 20
    with Script(stream(whole[:cut]), stream(event(3), event(4), end=False)) as script:
        process = tail(program, script)
        lines = [process.stdout.readline() for _ in range(4)]
        check.equal([int(line.split()[0]) for line in lines], [1, 2, 3, 4])
        check.contains(script.heads[1].split("\r\n"), "Last-Event-ID: 2")
        check.contains(stop(process)[1], "trying again")


@test
def test_a_stream_byte_by_byte(program):
    ready, odd = 'event: ready\ndata: {"cursor": "0"}\n\n: ping\n\n', "event: odd\ndata: 1\n\n"
    pieces = [bytes([byte]) for byte in (ready + event(1, "ä日") + odd + event(2)).encode()]

    def play(connection):
        stream()(connection)
        for piece in pieces:
            connection.sendall(piece)
        connection.recv(1)
    with Script(play) as script:
        process = tail(program, script)
        check.true(process.stdout.readline().endswith("ä日\n"), "the first")
        check.equal(int(process.stdout.readline().split()[0]), 2, "a frame of an unknown kind is left out")
        stop(process)


@test
def test_json_of_several_lines_is_one_line(program):
    slow = 'event: slow\ndata: {"dropped_deltas": 3,\ndata: "cursor": "1"}\n\n'
    with Script(stream(event(1), slow, end=False)) as script:
        process = tail(program, script, "--json")
        check.contains(process.stdout.readline(), '"sequence": 1')
        check.equal(process.stdout.readline(), '{"frame":"slow","data":{"dropped_deltas": 3, "cursor": "1"}}\n')
        stop(process)
    with Script(stream('event: slow\ndata: {"dropped_deltas": 3}\n\n', end=False)) as script:
        process = tail(program, script)
        check.equal(process.stdout.readline(),
                    "slow: this reader fell behind; no event is lost, 3 pieces of live output are\n")
        stop(process)


@test
def test_a_server_that_comes_back_busy(program):
    problem = '{"status": 503, "code": "starting", "detail": "Starting."}'
    with Script(stream(event(1)), answer(503, problem), lambda connection: None, stream(event(2), end=False)) as script:
        process = tail(program, script)
        check.equal([int(process.stdout.readline().split()[0]) for _ in range(2)], [1, 2])
        stop(process)
    refusal = answer(401, '{"status": 401, "code": "unauthenticated", "detail": "Who?"}')
    with Script(stream(event(1)), refusal) as script:
        process = tail(program, script)
        errors = process.communicate(timeout=60 * check.patience())[1]
        check.equal(process.returncode, DENIED)
        check.contains(errors, "sojourn: Who? (unauthenticated)")


@test
def test_a_stream_that_falls_silent(program):
    with Script(stream(event(1), end=False), stream(event(2), end=False)) as script:
        process = tail(program, script, "--silence-ms", "300")
        check.equal([int(process.stdout.readline().split()[0]) for _ in range(2)], [1, 2])
        check.contains(stop(process)[1], "trying again")


@test
def test_no_stream_at_all(program):
    with Script(answer(200, "hello")) as script:
        result = run(program, script, "sessions", "tail", "s", "--after", "0", expect=UNREACHABLE)
        check.contains(result.stderr, "has no such stream")

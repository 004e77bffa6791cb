"""Stands between a server and its PostgreSQL: passes everything on, or nothing any more, and knows of every commit."""
import contextlib
import socket
import threading

COMMIT_ASKED = b"\x00commit\x00"   # the text of a Parse without a name
COMMIT_DONE = b"COMMIT\x00"        # the tag of a CommandComplete


def message(kind, body):
    """A message of the server."""
    return kind + (len(body) + 4).to_bytes(4, "big") + body


def error(state, text, severity=b"ERROR"):
    """An ErrorResponse with this SQLSTATE."""
    fields = [b"S" + severity, b"V" + severity, b"C" + state, b"M" + text]
    return message(b"E", b"".join(field + b"\x00" for field in fields) + b"\x00")


class Proxy:
    """Listens on 127.0.0.1. `on_commit(number, done)` is called before a commit is passed on (done False) and before its
    answer is; what it returns as True is not passed on, and nothing is from then on. `rewrite(data)` is what reaches the
    server of what PostgreSQL answers. Use it with `with`."""

    def __init__(self, cluster, on_commit=None, rewrite=None):
        self.target = f"{cluster.directory}/.s.PGSQL.5432"
        self.on_commit = on_commit
        self.rewrite = rewrite
        self.greeting = None
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.lock = threading.Lock()
        self.sockets = set()
        self.commits = 0
        self.is_deaf = False
        threading.Thread(target=self.accept, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.listener.close()
        self.cut()

    def url(self, database):
        """The same database by way of here."""
        name = database.split("?")[0].rsplit("/", 1)[1]
        return f"postgres://postgres@127.0.0.1:{self.listener.getsockname()[1]}/{name}?sslmode=disable&gssencmode=disable"

    def cut(self):
        """Ends all connections."""
        with self.lock:
            sockets, self.sockets = self.sockets, set()
        for one in sockets:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()

    def go_deaf(self):
        """Connections end; new ones are taken and never hear anything."""
        self.is_deaf = True
        self.cut()

    def hang_up(self, greeting=b""):
        """Connections end; new ones are taken and end after these bytes, as of a proxy without a server behind it."""
        self.greeting = greeting
        self.cut()

    def hear_again(self):
        self.is_deaf = False
        self.greeting = None
        self.cut()

    def address(self):
        """Host and port, for URLs of several hosts."""
        return f"127.0.0.1:{self.listener.getsockname()[1]}"

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            with self.lock:
                self.sockets.add(client)
            if not self.is_deaf:
                threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def refuse(self, client):
        with contextlib.suppress(OSError):
            client.recv(65536)
            client.sendall(self.greeting)
        client.close()

    def serve(self, client):
        if self.greeting is not None:
            self.refuse(client)
            return
        server = socket.socket(socket.AF_UNIX)
        try:
            server.connect(self.target)
        except OSError:
            client.close()
            return
        with self.lock:
            self.sockets.add(server)
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        threading.Thread(target=self.pump, args=(server, client, COMMIT_DONE), daemon=True).start()
        self.pump(client, server, COMMIT_ASKED)

    def pump(self, source, sink, mark):
        """One direction, to its end."""
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                if self.on_commit and mark in data and self.note(mark):
                    break
                if self.rewrite and mark == COMMIT_DONE:
                    data = self.rewrite(data)
                sink.sendall(data)
        for one in (source, sink):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def note(self, mark):
        """Whether this is where it ends."""
        with self.lock:
            self.commits += mark == COMMIT_ASKED
            number = self.commits
        return self.on_commit(number, mark == COMMIT_DONE)

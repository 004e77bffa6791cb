"""Stands between a server and its PostgreSQL: passes everything on, or nothing any more, and knows of every commit."""
import contextlib
import socket
import threading

COMMIT_ASKED = b"\x00commit\x00"   # the text of a Parse without a name
COMMIT_DONE = b"COMMIT\x00"        # the tag of a CommandComplete


class Proxy:
    """Listens on 127.0.0.1. `on_commit(number, done)` is called before a commit is passed on (done False) and before its
    answer is; what it returns as True is not passed on, and nothing is from then on. Use it with `with`."""

    def __init__(self, cluster, on_commit=None):
        self.target = f"{cluster.directory}/.s.PGSQL.5432"
        self.on_commit = on_commit
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

    def hear_again(self):
        self.is_deaf = False
        self.cut()

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

    def serve(self, client):
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

"""SQLite without a server: what the engine itself can do with the same rows (see sqlite_loop.c)."""
from harness import answers, wait_until


def append(workshop):
    data = workshop.directory("sqlite")
    figures = workshop.figures([workshop.build / "bench/sqlite_loop", "append", "--db", data / "events.db"])
    workshop.discard(data)
    return figures


def replay(workshop, events, count):
    """A loop that reads the rows and writes them to a socket, drained by the same client as the server's streams."""
    data = workshop.directory("sqlite")
    port = workshop.port()
    process = workshop.start("sqlite", [workshop.build / "bench/sqlite_loop", "replay", "--db", data / "events.db",
                                        "--port", port])
    wait_until(lambda: answers(port), "sqlite_loop", process)
    figures = workshop.load("replay", port, subscribe="/", events=events, count=count)
    workshop.stop(process)
    workshop.discard(data)
    return figures

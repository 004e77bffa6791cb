"""Redis with every write fsynced before its answer; snapshots and log rewrites, which only slow it down, are off."""
from harness import answers, wait_until

SETTINGS = {"bind": "127.0.0.1", "save": "", "appendonly": "yes", "appendfsync": "always",
            "auto-aof-rewrite-percentage": 0}


class Redis:
    def __init__(self, workshop):
        self.workshop = workshop
        self.data = workshop.directory("redis")
        self.port = workshop.port()
        argv = ["redis-server", "--port", self.port, "--dir", self.data]
        for name, value in SETTINGS.items():
            argv += [f"--{name}", value]
        self.process = workshop.start("redis", argv)
        wait_until(lambda: answers(self.port), "redis", self.process)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.workshop.stop(self.process)
        self.workshop.discard(self.data)


def append(workshop, connections, seconds):
    """XADD of the same event by the same load generator: the client costs both sides the same."""
    with Redis(workshop) as redis:
        return workshop.load("append", redis.port, [redis.process.pid], resp=True, connections=connections,
                             sessions=connections, seconds=seconds)

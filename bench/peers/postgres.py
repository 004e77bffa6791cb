"""A PostgreSQL cluster of its own with Debian's defaults: fsync and synchronous_commit are on."""
import shutil
import signal
import subprocess
from pathlib import Path

from harness import Failure, unprivileged, wait_until

OWNER = "postgres"


def program(name):
    found = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}")) or [shutil.which(name)]
    if not found[-1]:
        raise Failure(f"{name} is missing: apt-get install postgresql")
    return found[-1]


class Postgres:
    def __init__(self, workshop):
        self.workshop = workshop
        identity = unprivileged(OWNER)
        self.data = workshop.directory("postgres", identity.get("user"))
        self.port = workshop.port()
        options = {**identity, "cwd": self.data}
        cluster = self.data / "cluster"
        subprocess.run([program("initdb"), "-D", cluster, "-U", OWNER, "-A", "trust", "-E", "UTF8", "--locale=C"],
                       check=True, stdout=subprocess.DEVNULL, **options)
        argv = [program("postgres"), "-D", cluster, "-k", self.data, "-h", "127.0.0.1", "-p", self.port,
                "-c", "max_connections=200"]
        self.process = workshop.start("postgres", argv, how=signal.SIGINT, **options)
        wait_until(self.is_ready, "postgres", self.process, step_s=0.1)

    def is_ready(self):
        return subprocess.run([program("pg_isready"), "-q", "-h", "127.0.0.1", "-p", str(self.port)]).returncode == 0

    def url(self, database="postgres"):
        return f"postgres://{OWNER}@127.0.0.1:{self.port}/{database}"

    def execute(self, sql):
        quiet = "set client_min_messages to warning"
        subprocess.run(["psql", "-qX", "-v", "ON_ERROR_STOP=1", "-c", quiet, "-c", sql, self.url()], check=True,
                       stdout=subprocess.DEVNULL)

    def fresh(self, database):
        """An empty database of that name, after a checkpoint, so that one side does not pay for the other's writes."""
        self.execute(f'drop database if exists "{database}" with (force)')
        self.execute(f'create database "{database}"')
        self.execute("checkpoint")
        return self.url(database)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.workshop.stop(self.process)
        self.workshop.discard(self.data)


def usual(postgres, connections, sessions, seconds, own=False):
    """Read the highest sequence, insert the next, retry on conflict; with `own` no two clients share a session."""
    program_path = postgres.workshop.build / "bench/postgres_usual"
    argv = [program_path, postgres.fresh("usual"), connections, sessions, seconds]
    return postgres.workshop.figures(argv + ["own"] if own else argv)

"""What a server holds while it works: memory, descriptors, threads, connections, files. It must not grow with time."""
import os
import time

from harness import check
from harness.postgres import database_name

MIB = 1 << 20
# How much more of each may be held in the last third than in the middle one.
ROOM = {"descriptors": 24, "threads": 2, "connections": 3, "files": 64, "wal_bytes": 64 * MIB, "resident_bytes": 48 * MIB}


def tree_figures(directory):
    """(files, bytes of the log of SQLite) under a directory."""
    files = wal = 0
    for folder, _, names in os.walk(directory):
        files += len(names)
        for name in names:
            if name.endswith("-wal"):
                try:
                    wal += os.path.getsize(os.path.join(folder, name))
                except FileNotFoundError:
                    pass
    return files, wal


def process_figures(server):
    """Of a process that may end meanwhile; None then."""
    try:
        pid = server.process.pid
        with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as status:
            fields = dict(line.split(":", 1) for line in status)
        return {"descriptors": len(os.listdir(f"/proc/{pid}/fd")), "threads": int(fields["Threads"]),
                "resident_bytes": int(fields["VmRSS"].split()[0]) << 10}
    except (AttributeError, KeyError, OSError, ValueError):
        return None


class Figures:
    """Samples of all servers, and the judgement."""

    def __init__(self, servers, cluster=None):
        self.servers = servers
        self.cluster = cluster
        self.samples = []  # (seconds, {name: value})
        self.started = time.monotonic()

    def take(self):
        """One sample; none while a server is down."""
        found = [process_figures(server) for server in self.servers]
        if None in found:
            return
        sample = {name: sum(one[name] for one in found) for name in found[0]}
        trees = [tree_figures(server.data_directory()) for server in self.servers]
        sample["files"] = sum(files for files, _ in trees)
        sample["wal_bytes"] = sum(wal for _, wal in trees)
        if self.cluster:
            name = database_name(self.servers[0].database)
            rows = self.cluster.sql(f"select count(*) from pg_stat_activity where datname = '{name}'")
            sample["connections"] = int(rows[0][0])
        self.samples.append((time.monotonic() - self.started, sample))

    def part(self, from_share, to_share):
        """The samples of a part of the time."""
        whole = self.samples[-1][0]
        return [sample for at, sample in self.samples if from_share * whole <= at <= to_share * whole]

    def lines(self):
        """A table of nine moments."""
        step = max(1, len(self.samples) // 8)
        for at, sample in self.samples[::step]:
            yield f"{at:7.0f} s  " + "  ".join(f"{name} {value / MIB:.1f}M" if name.endswith("bytes") else f"{name} {value}"
                                             for name, value in sorted(sample.items()))

    def check(self, names):
        """The last third has not more than the middle one, on the average, beyond the room for chance."""
        middle, last = self.part(1 / 3, 2 / 3), self.part(2 / 3, 1)
        for name in names:
            if middle and last and name in last[0]:
                before, now = [sum(one[name] for one in part) // len(part) for part in (middle, last)]
                check.true(now <= before + ROOM[name], f"{name} stay as they are: {before}, later {now}")

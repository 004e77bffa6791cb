"""Processes, ports and scratch directories of one run; everything is gone when the run ends, however it ends."""
import ctypes
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

BENCH = Path(__file__).resolve().parent
ROOT = BENCH.parent
START_DEADLINE_S = 60
STOP_DEADLINE_S = 20
PACKAGES = {"redis-server": "redis-server", "nginx": "nginx libnginx-mod-nchan"}
PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None)


class Failure(Exception):
    """One sentence for the person who runs the benchmark."""


def die_with_parent():
    _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def wait_until(condition, what, process=None, deadline_s=START_DEADLINE_S, step_s=0.01):
    end = time.monotonic() + deadline_s
    while not condition():
        if process and process.poll() is not None:
            raise Failure(f"{what}: the process ended with code {process.returncode}\n{process.tail()}")
        if time.monotonic() > end:
            raise Failure(f"{what}: not within {deadline_s} s")
        time.sleep(step_s)


class Process(subprocess.Popen):
    """A child that dies with us and whose output goes to a file."""

    def __init__(self, argv, log, **options):
        self.log = log
        with open(log, "wb") as output:
            super().__init__([str(part) for part in argv], stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                             preexec_fn=die_with_parent, **options)

    def tail(self):
        return Path(self.log).read_text(errors="replace")[-2000:]

    def stop(self, how=signal.SIGTERM):
        if self.poll() is None:
            self.send_signal(how)
            try:
                self.wait(STOP_DEADLINE_S)
            except subprocess.TimeoutExpired:
                self.kill()
                self.wait()

    def family(self):
        """Process ids of the child and its own children."""
        of_threads = Path(f"/proc/{self.pid}/task").glob("*/children")
        return [self.pid, *(int(child) for children in of_threads for child in children.read_text().split())]


class Workshop:
    """Owns what a run starts. Use it in a with statement."""

    def __init__(self, build, scratch, port_base):
        self.build = Path(build).resolve()
        self.scratch = scratch
        self.ports = iter(range(port_base, port_base + 100))
        self.port_base = port_base
        self.processes = []
        self.directories = []

    def __enter__(self):
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
        signal.signal(signal.SIGHUP, lambda *_: sys.exit(129))
        return self

    def __exit__(self, *_):
        for process, how in reversed(self.processes):
            process.stop(how)
        for directory in self.directories:
            shutil.rmtree(directory, ignore_errors=True)

    def port(self):
        """The next port of our range that nobody listens on."""
        for _ in range(100):
            port = next(self.ports, None)
            if port is None:
                self.ports = iter(range(self.port_base, self.port_base + 100))
                port = next(self.ports)
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) != 0:
                    return port
        raise Failure(f"no free port from {self.port_base} on")

    def directory(self, name, owner=None):
        path = Path(tempfile.mkdtemp(prefix=f"sojourn-bench-{name}-", dir=self.scratch))
        if owner:
            shutil.chown(path, owner)
        self.directories.append(path)
        return path

    def discard(self, directory):
        shutil.rmtree(directory, ignore_errors=True)
        self.directories.remove(directory)

    def start(self, name, argv, how=signal.SIGTERM, **options):
        if not shutil.which(argv[0]):
            raise Failure(f"{argv[0]} is missing: apt-get install {PACKAGES.get(str(argv[0]), 'it')}")
        process = Process(argv, self.directory(f"{name}-log") / "log", **options)
        self.processes.append((process, how))
        return process

    def stop(self, process):
        how = next(how for known, how in self.processes if known is process)
        process.stop(how)
        self.processes = [entry for entry in self.processes if entry[0] is not process]

    def load(self, mode, port, pids=(), **settings):
        """Runs the load generator and returns its figures."""
        argv = [self.build / "bench/load", mode, "--port", port]
        for pid in pids:
            argv += ["--pid", pid]
        for name, value in settings.items():
            argv += [f"--{name}"] if value is True else [f"--{name}", value]
        return self.figures(argv)

    def figures(self, argv, **options):
        """Runs a program that prints `name=value` pairs on its last line."""
        done = subprocess.run([str(part) for part in argv], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              preexec_fn=die_with_parent, **options)
        lines = done.stdout.strip().splitlines()
        if done.returncode != 0 or not lines:
            raise Failure(f"{Path(str(argv[0])).name} failed: {done.stderr.strip() or done.stdout.strip()}")
        return {name: float(value) for name, value in (pair.split("=") for pair in lines[-1].split())}


def answers(port, path=None):
    """Is somebody listening, and, with a path, is the answer 200?"""
    try:
        with socket.create_connection(("127.0.0.1", port), 1) as connection:
            if path is None:
                return True
            connection.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".encode())
            return connection.recv(12) == b"HTTP/1.1 200"
    except OSError:
        return False


def resident_kb(pid):
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    raise Failure(f"process {pid} has no VmRSS")


def unprivileged(name):
    """PostgreSQL refuses to run as root; anybody else runs it as himself."""
    if os.geteuid() != 0:
        return {}
    group = pwd.getpwnam(name).pw_gid
    return {"user": name, "group": group, "extra_groups": []}

"""Starts, watches, stops and kills the real program."""
import json
import os
import secrets
import signal
import subprocess
import threading
import time

from harness import check
from harness.check import Failure
from harness.client import Client

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

SANITIZER_MARKS = ("AddressSanitizer", "LeakSanitizer", "ThreadSanitizer", "UndefinedBehaviorSanitizer",
                   "runtime error:")


def program_path(tree):
    """The executable of a build tree; SOJOURN_TEST_PROGRAM names another."""
    return os.environ.get("SOJOURN_TEST_PROGRAM") or os.path.join(ROOT, tree, "sojourn")


def sanitizer_environment():
    """Sanitizers report everything and end the process with a code of their own."""
    suppressions = os.path.join(ROOT, "tests", "tsan.supp")
    return {
        "ASAN_OPTIONS": "abort_on_error=0:exitcode=86:detect_leaks=1:strict_string_checks=1",
        "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
        "TSAN_OPTIONS": f"exitcode=86:halt_on_error=0:second_deadlock_stack=1:suppressions={suppressions}",
    }


class LogReader(threading.Thread):
    """Collects the standard error of a server: its log entries (JSON) and everything else."""

    def __init__(self, stream):
        super().__init__(daemon=True)
        self.stream = stream
        self.entries = []
        self.other = []
        self.is_at_end = False
        self.changed = threading.Condition()
        self.start()

    def run(self):
        for line in self.stream:
            entry = parse_entry(line)
            with self.changed:
                if entry is None:
                    self.other.append(line.decode(errors="replace").rstrip("\n"))
                else:
                    self.entries.append(entry)
                self.changed.notify_all()
        with self.changed:
            self.is_at_end = True
            self.changed.notify_all()

    def wait(self, wanted, seconds):
        """The first entry for which `wanted(entry)` holds; None when the log ended or the time is over."""
        deadline = check.deadline_after(seconds)
        seen = 0
        with self.changed:
            while True:
                for entry in self.entries[seen:]:
                    if wanted(entry):
                        return entry
                seen = len(self.entries)
                remaining = deadline - time.monotonic()
                if self.is_at_end or remaining <= 0:
                    return None
                self.changed.wait(remaining)

    def tail(self, count=40):
        """The last lines for a message."""
        with self.changed:
            lines = [json.dumps(entry, ensure_ascii=False) for entry in self.entries[-count:]] + self.other[-400:]
        return "\n".join("    " + line for line in lines)


def parse_entry(line):
    """A log line as a dict, or None."""
    try:
        entry = json.loads(line)
    except ValueError:
        return None
    return entry if isinstance(entry, dict) and "event" in entry else None


class Server:
    """One server process and its data, which outlives the process: start, stop, kill and start again.

    It listens on a TCP port of the system's choice (`address`) and on a unix socket (`unix_address`). `token` is an
    API token of the first tenant's owner.
    """

    def __init__(self, directory, engine="sqlite", tree="build", database=None, options=(), environment=None):
        self.directory = directory
        self.engine = engine
        self.tree = tree
        self.database = database
        self.options = list(options)
        self.environment = dict(environment or {})
        self.token = "test-" + secrets.token_hex(24)
        self.process = None
        self.log = None
        self.address = None
        self.port = None
        os.makedirs(directory, exist_ok=True)
        self.unix_address = f"unix:{directory}/socket"

    def data_directory(self):
        """Where the server keeps its files."""
        return os.path.join(self.directory, "data")

    def command(self):
        """The command line of the server."""
        command = [program_path(self.tree), "serve", "--data", self.data_directory(), "--log-format", "json",
                   "--listen", f"127.0.0.1:{self.port or 0}", "--listen", self.unix_address]
        if self.database:
            command += ["--database", self.database]
        return command + self.options

    def full_environment(self):
        """The environment of the server: nothing of the caller's SOJOURN_ variables and provider keys; None leaves one
        out."""
        inherited = {name: value for name, value in os.environ.items()
                     if not name.startswith("SOJOURN_") and not name.endswith("_API_KEY")}
        whole = inherited | sanitizer_environment() | {"SOJOURN_BOOTSTRAP_TOKEN": self.token} | self.environment
        return {name: value for name, value in whole.items() if value is not None}

    def output(self):
        """What the server wrote to standard output since its last start."""
        with open(os.path.join(self.directory, "stdout"), encoding="utf-8") as file:
            return file.read()

    def launch(self):
        """Starts the process without waiting for anything."""
        if self.process and self.process.poll() is None:
            raise Failure("the server is already running")
        with open(os.path.join(self.directory, "stdout"), "wb") as stdout:
            self.process = subprocess.Popen(self.command(), env=self.full_environment(), stdin=subprocess.DEVNULL,
                                            stdout=stdout, stderr=subprocess.PIPE)
        self.log = LogReader(self.process.stderr)

    def start(self, seconds=20):
        """Starts the process and waits until it says it is ready. Returns the server."""
        self.launch()
        is_tcp = lambda entry: entry["event"] == "listening" and entry.get("address", "").startswith("http")
        entry = self.log.wait(is_tcp, seconds)
        if entry is None:
            self.explain_death("it did not say where it listens")
        self.address = entry["address"]
        check.eventually(self.is_ready, "GET /readyz answers 200", seconds)
        return self

    def is_ready(self):
        """Whether /readyz answers 200; a Failure when the process has ended."""
        if self.process.poll() is not None:
            self.explain_death("it ended while starting")
        try:
            client = Client(self.address)
            ready = client.get("/readyz").status == 200
            client.close()
            return ready
        except (OSError, Failure):
            return False

    def explain_death(self, what):
        """A Failure with the end of the log."""
        code = self.process.poll()
        if code is None:
            self.kill()
        raise Failure(f"server: {what} (exit code {code}); command: {' '.join(self.command())}\n{self.log.tail()}")

    def client(self, token=None, timeout_s=10, over_unix=False):
        """A client with the owner's token, or another."""
        return Client(self.unix_address if over_unix else self.address, token or self.token, timeout_s)

    def anonymous(self, timeout_s=10):
        """A client without credentials."""
        return Client(self.address, None, timeout_s)

    def wait_log(self, event, seconds=10, **fields):
        """Waits for a log entry with this event name and these fields, and returns it."""
        wanted = lambda entry: entry["event"] == event and all(entry.get(key) == value for key, value in fields.items())
        entry = self.log.wait(wanted, seconds)
        if entry is None:
            raise Failure(f"no log entry {event} {fields} within {seconds} s\n{self.log.tail()}")
        return entry

    def stop(self, seconds=20):
        """SIGTERM; the server must end with code 0 and without a word from a sanitizer."""
        if self.process is None:
            return
        self.process.send_signal(signal.SIGTERM)
        self.wait_exit(seconds)

    def wait_exit(self, seconds=20, expect=0):
        """Waits for the process to end by itself and checks how."""
        try:
            code = self.process.wait(seconds * check.patience())
        except subprocess.TimeoutExpired:
            self.kill()
            waited_s = seconds * check.patience()
            raise Failure(f"the server did not end within {waited_s:g} s\n{self.log.tail()}") from None
        self.log.join(5)
        log, self.process = self.log, None
        if any(mark in line for line in log.other for mark in SANITIZER_MARKS):
            raise Failure(f"a sanitizer complained (exit code {code})\n{log.tail()}")
        if code != expect:
            raise Failure(f"the server ended with {code}, expected {expect}\n{log.tail()}")

    def kill(self):
        """kill -9."""
        if self.process:
            self.process.kill()
            self.process.wait()
            self.log.join(5)
            self.process = None

    def verify(self):
        """The program's own check of everything that is stored; the server must be stopped."""
        database = ["--database", self.database] if self.database else []
        return self.run("verify", "--data", self.data_directory(), *database).stdout

    def signal(self, number):
        """Sends any other signal."""
        self.process.send_signal(number)

    def restart(self):
        """Stops politely and starts on the same data."""
        self.stop()
        return self.start()

    def resident_bytes(self):
        """Resident memory of the process."""
        with open(f"/proc/{self.process.pid}/statm", encoding="ascii") as statm:
            return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def run(self, *arguments, input=None, expect=0, environment=None):
        """Runs another command of the same program as a client of this server; returns the CompletedProcess."""
        known = {"SOJOURN_URL": self.address or "", "SOJOURN_TOKEN": self.token}
        result = subprocess.run([program_path(self.tree), *arguments], input=input, capture_output=True, text=True,
                                timeout=60 * check.patience(), check=False,
                                env=self.full_environment() | known | (environment or {}))
        if expect is not None and result.returncode != expect:
            raise Failure(f"sojourn {' '.join(arguments)} ended with {result.returncode}, expected {expect}\n"
                          f"{result.stdout}\n{result.stderr}")
        return result

"""A temporary PostgreSQL cluster: durable settings, a unix socket in its own directory, gone afterwards.

One cluster serves a whole test run; every server under test gets a fresh database in it. A test that must kill the
database server makes a cluster of its own. Their files are where SOJOURN_TEST_MEMORY says, which tests/run sets.
"""
import contextlib
import glob
import itertools
import os
import pwd
import secrets
import shutil
import signal
import subprocess
import tempfile

from harness import check
from harness.check import Failure, Skip

SETTINGS = {
    "fsync": "on",
    "synchronous_commit": "on",
    "full_page_writes": "on",
    "listen_addresses": "",
    "max_connections": "200",
    "shared_buffers": "64MB",
    "max_wal_size": "256MB",
    "autovacuum_naptime": "1min",
    "log_min_messages": "warning",
}


def find_programs():
    """The directory with initdb, postgres and psql of the newest installed version, or None."""
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin/postgres"), key=lambda path: int(path.split("/")[4]))
    if found:
        return os.path.dirname(found[-1])
    program = shutil.which("postgres")
    return os.path.dirname(os.path.realpath(program)) if program else None


def system_user():
    """The account the database server runs as: it refuses root, so then `postgres`."""
    return "postgres" if os.geteuid() == 0 else pwd.getpwuid(os.geteuid()).pw_name


class Cluster:
    """A running cluster in `directory`, or a handle on one that another process runs (`is_ours` False)."""

    def __init__(self, directory, is_ours=True):
        self.directory = directory
        self.is_ours = is_ours
        self.programs = find_programs()
        self.files = None  # where they are, of one that is ours
        self.process = None
        self.settings = SETTINGS
        self.numbers = itertools.count(1)
        if not self.programs:
            raise Skip("PostgreSQL is not installed (tools/setup test)")

    def run_as(self):
        """Popen's arguments for running as the account of the database server."""
        if os.geteuid() != 0:
            return {}
        account = pwd.getpwnam(system_user())
        return {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}

    def create(self):
        """Makes the files and starts the server."""
        os.makedirs(self.directory, mode=0o700)
        self.files = tempfile.mkdtemp(prefix="pg", dir=os.environ.get("SOJOURN_TEST_MEMORY", self.directory))
        if os.geteuid() == 0:
            for directory in (self.directory, self.files):
                shutil.chown(directory, system_user(), system_user())
        result = subprocess.run(
            [f"{self.programs}/initdb", "--pgdata", self.files, "--auth=trust", "--username=postgres",
             "--encoding=UTF8", "--locale=C", "--no-sync"],
            cwd="/", capture_output=True, text=True, **self.run_as())
        if result.returncode:
            raise Failure(f"initdb failed: {result.stderr}")
        self.start()
        return self

    def start(self):
        """Starts the server on the existing files and waits until it answers."""
        command = [f"{self.programs}/postgres", "-D", self.files, "-k", self.directory]
        for name, value in self.settings.items():
            command += ["-c", f"{name}={value}"]
        with open(f"{self.directory}/log", "ab") as log:
            self.process = subprocess.Popen(command, cwd="/", stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                            start_new_session=True, **self.run_as())
        check.eventually(self.is_ready, f"PostgreSQL accepts connections; its log: {self.directory}/log", 60)

    def is_ready(self):
        """Whether the server answers; a Failure when it has ended."""
        if self.process and self.process.poll() is not None:
            with open(f"{self.directory}/log", encoding="utf-8", errors="replace") as log:
                raise Failure(f"PostgreSQL ended with {self.process.returncode}: {log.read()[-2000:]}")
        ready = subprocess.run([f"{self.programs}/pg_isready", "-q", "-h", self.directory], check=False)
        return ready.returncode == 0

    def stop(self, how=signal.SIGINT):
        """Ends the server: SIGINT closes connections and writes everything, SIGQUIT crashes it."""
        if self.process and self.process.poll() is None:
            self.process.send_signal(how)
            self.go_on()
            self.process.wait(60)
        self.process = None

    def remove(self):
        """Stops the server and deletes its files."""
        self.stop(signal.SIGQUIT)
        shutil.rmtree(self.directory, ignore_errors=True)
        if self.files:
            shutil.rmtree(self.files, ignore_errors=True)

    def sql(self, text, database="postgres"):
        """Runs SQL as the superuser and returns its rows as lists of text."""
        result = subprocess.run(
            [f"{self.programs}/psql", "-X", "-q", "-A", "-t", "-F", "\t", "-v", "ON_ERROR_STOP=1", "-h", self.directory,
             "-U", "postgres", "-d", database, "-c", text], capture_output=True, text=True, check=False)
        if result.returncode:
            raise Failure(f"SQL failed: {text}\n{result.stderr}")
        return [line.split("\t") for line in result.stdout.splitlines()]

    @contextlib.contextmanager
    def open_transaction(self, url, text):
        """A connection that has run SQL in a transaction which it neither commits nor ends, while the block runs."""
        command = [f"{self.programs}/psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-h", self.directory, "-U",
                   "postgres", "-d", database_name(url)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
            process.stdin.write(f"begin;\n{text};\n\\echo open\n")
            process.stdin.flush()
            check.equal(process.stdout.readline(), "open\n", "what psql says")
            try:
                yield
            finally:
                process.kill()

    def standby(self, name):
        """A running standby of this server, in a directory beside it: from now on every commit here waits for it."""
        standby = Cluster(f"{self.directory}-{name}")
        os.makedirs(standby.directory, mode=0o700)
        standby.files = tempfile.mkdtemp(prefix="pg", dir=os.environ.get("SOJOURN_TEST_MEMORY", standby.directory))
        if os.geteuid() == 0:
            for directory in (standby.directory, standby.files):
                shutil.chown(directory, system_user(), system_user())
        result = subprocess.run(
            [f"{self.programs}/pg_basebackup", "--pgdata", standby.files, "--write-recovery-conf", "--no-sync",
             "--checkpoint=fast", "--dbname", f"host={self.directory} user=postgres application_name={name}"],
            cwd="/", capture_output=True, text=True, **self.run_as())
        if result.returncode:
            raise Failure(f"pg_basebackup failed: {result.stderr}")
        standby.start()
        self.wait_for_standbys(name)
        return standby

    def wait_for_standbys(self, names):
        """From now on every commit waits for these standbys, as synchronous_standby_names takes them."""
        self.sql(f"alter system set synchronous_standby_names = '{names}'")
        self.sql("select pg_reload_conf()")
        found = "select 1 from pg_stat_replication where sync_state in ('sync', 'quorum')"
        check.eventually(lambda: self.sql(found), "a standby is synchronous", 30)

    def wait_for_nobody(self):
        """Commits wait for no standby, also after a promotion; a standby takes no command that changes its settings."""
        with open(f"{self.files}/postgresql.auto.conf", "a", encoding="utf-8") as settings:
            settings.write("synchronous_standby_names = ''\n")
        self.sql("select pg_reload_conf()")

    def processes(self):
        """The numbers of the server and of what it has started."""
        with open(f"/proc/{self.process.pid}/task/{self.process.pid}/children", encoding="ascii") as children:
            return [self.process.pid] + [int(pid) for pid in children.read().split()]

    def hang(self):
        """Stops every process: connections stay, nothing is answered."""
        for pid in self.processes():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGSTOP)

    def go_on(self):
        """Ends a hang()."""
        for pid in self.processes():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)

    def promote(self):
        """Makes a standby a server of its own."""
        check.equal(self.sql("select pg_promote()"), [["t"]], "whether the standby was promoted")

    def waiting(self):
        """The processes whose commit waits for a standby."""
        return [int(pid) for [pid] in self.sql("select pid from pg_stat_activity where wait_event = 'SyncRep'")]

    def new_database(self):
        """Creates an empty database and returns its URL."""
        name = f"test_{os.getpid()}_{next(self.numbers)}_{secrets.token_hex(4)}"
        self.sql(f"create database {name}")
        return self.url(name)

    def url(self, name):
        """What --database takes."""
        return f"postgres://postgres@/{name}?host={self.directory}"

    def drop_database(self, url):
        """Removes a database and whoever is connected to it, which may take longer than PostgreSQL itself waits."""
        def is_gone():
            try:
                self.sql(f"drop database if exists {database_name(url)} with (force)")
            except Failure as failure:
                if "is being accessed by other users" not in str(failure):
                    raise
                return False
            return True
        check.eventually(is_gone, "the last connection to the database ends", 30)


def database_name(url):
    """The name of the database in a URL made by Cluster.url."""
    return url.split("?")[0].rsplit("/", 1)[1]

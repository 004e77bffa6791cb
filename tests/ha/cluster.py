"""Three PostgreSQL under Patroni with one etcd, and HAProxy before them, each on a host of its own network."""
import json
import os
import shutil
import signal
import subprocess
import urllib.error
import urllib.request

from harness import check
from harness.check import Failure, Skip
from harness.postgres import find_programs, system_user

HOSTS = ("pg1", "pg2", "pg3")
PORT, REST_PORT, ETCD_PORT = 5432, 8008, 2379
PASSWORD = "ha"
# Patroni asks for loop_wait + 2 * retry_timeout <= ttl. A real installation has longer times; the promises are the same.
TIMES = {"ttl": 8, "loop_wait": 1, "retry_timeout": 3}


class HighAvailability:
    """The whole of it. Use it with `with`, inside a Network of HOSTS and "etcd"."""

    def __init__(self, env, network, synchronous=True):
        for program in ("patroni", "etcd", "haproxy"):
            if not shutil.which(program):
                raise Skip(f"{program} is not installed (tools/setup test)")
        if not find_programs():
            raise Skip("PostgreSQL is not installed (tools/setup test)")
        self.network = network
        self.synchronous = synchronous
        self.directory = os.path.join(env.directory, "ha")
        self.processes = {}
        self.gateway = f"{network.prefix}.1"
        self.url = f"postgres://postgres:{PASSWORD}@{self.gateway}:{PORT}/sojourn?connect_timeout=2"

    def __enter__(self):
        os.makedirs(self.directory)
        os.chmod(os.path.dirname(self.directory), 0o755)
        shutil.chown(self.directory, system_user(), system_user())
        try:
            self.start_etcd()
            for host in HOSTS:
                self.write_config(host)
            self.start("pg1")
            check.eventually(lambda: self.role("pg1") == "master", "the first node is the primary", 60)
            for host in HOSTS[1:]:
                self.start(host)
            self.start_proxy()
            self.wait_healthy(90)
            self.sql(self.primary(), "create database sojourn")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *exc):
        for name in self.processes:
            self.kill(name)

    # --- processes ---

    def launch(self, name, command, user=None):
        with open(os.path.join(self.directory, f"{name}.log"), "ab") as log:
            account = {"user": user, "group": user, "extra_groups": []} if user else {}
            self.processes[name] = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd="/",
                                                    start_new_session=True, **account)

    @staticmethod
    def tree(pid):
        """A process and all below it."""
        found = [pid]
        for parent in found:
            try:
                with open(f"/proc/{parent}/task/{parent}/children", encoding="ascii") as file:
                    found += map(int, file.read().split())
            except OSError:
                pass
        return found

    def postgres_of(self, host):
        """The processes of PostgreSQL on a host; Patroni lets go of the first one."""
        try:
            with open(os.path.join(self.directory, host, "postmaster.pid"), encoding="ascii") as file:
                pid = int(file.readline())
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                return self.tree(pid) if os.fsencode(self.directory) in file.read() else []
        except (OSError, ValueError):
            return []

    def all_of(self, host):
        process = self.processes[host]
        return (self.tree(process.pid) if process.poll() is None else []) + self.postgres_of(host)

    @staticmethod
    def signal_all(pids, number):
        for pid in pids:
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                pass

    def start_etcd(self):
        address = self.network.address("etcd")
        client = f"http://{address}:{ETCD_PORT}"
        self.launch("etcd", [*self.network.command("etcd"), "etcd", "--data-dir", os.path.join(self.directory, "etcd"),
                             "--listen-client-urls", client, "--advertise-client-urls", client])
        check.eventually(lambda: self.get(f"http://{address}:{ETCD_PORT}/health"), "etcd answers", 20)

    def write_config(self, host):
        address = self.network.address(host)
        data, sockets = os.path.join(self.directory, host), os.path.join(self.directory, f"sockets-{host}")
        os.makedirs(sockets)
        shutil.chown(sockets, system_user(), system_user())
        config = {
            "scope": "sojourn", "name": host, "namespace": "/ha/",
            "restapi": {"listen": f"{address}:{REST_PORT}", "connect_address": f"{address}:{REST_PORT}"},
            "etcd3": {"hosts": f"{self.network.address('etcd')}:{ETCD_PORT}"},
            "bootstrap": {
                "dcs": TIMES | {"synchronous_mode": self.synchronous, "maximum_lag_on_failover": 1 << 30,
                                "postgresql": {"use_pg_rewind": True, "parameters": {
                                    "max_connections": 100, "shared_buffers": "32MB", "wal_log_hints": "on",
                                    "hot_standby": "on", "wal_keep_size": "256MB", "log_min_messages": "warning"}}},
                "initdb": [{"encoding": "UTF8"}, {"locale": "C"}],
                "pg_hba": [f"host all all {self.network.prefix}.0/24 trust",
                           f"host replication all {self.network.prefix}.0/24 trust", "local all all trust"]},
            "postgresql": {
                "listen": f"{address}:{PORT}", "connect_address": f"{address}:{PORT}", "data_dir": data,
                "bin_dir": find_programs(), "pgpass": os.path.join(self.directory, f"pgpass-{host}"),
                "parameters": {"unix_socket_directories": sockets},
                "authentication": {"superuser": {"username": "postgres", "password": PASSWORD},
                                   "replication": {"username": "replicator", "password": PASSWORD}}}}
        with open(os.path.join(self.directory, f"{host}.yml"), "w", encoding="utf-8") as file:
            json.dump(config, file)

    def start(self, host):
        """Patroni, and PostgreSQL under it."""
        user = system_user()
        self.launch(host, [*self.network.command(host), "setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups",
                           "patroni", os.path.join(self.directory, f"{host}.yml")])

    def start_proxy(self):
        servers = "\n".join(f"  server {host} {self.network.address(host)}:{PORT} check port {REST_PORT}" for host in HOSTS)
        path = os.path.join(self.directory, "haproxy.cfg")
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"""global
  maxconn 500
defaults
  mode tcp
  timeout connect 1s
  timeout client 1h
  timeout server 1h
  timeout check 1s
listen primary
  bind {self.gateway}:{PORT}
  option httpchk OPTIONS /primary
  http-check expect status 200
  default-server inter 500ms fall 2 rise 1 on-marked-down shutdown-sessions
{servers}
""")
        self.launch("haproxy", ["haproxy", "-db", "-f", path])

    # --- what is so ---

    @staticmethod
    def get(url):
        """The JSON there, whatever the status; None when nobody answers."""
        try:
            with urllib.request.urlopen(url, timeout=1) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            try:
                return json.load(error)
            except ValueError:
                return None
        except (OSError, ValueError):
            return None

    def node(self, host):
        return self.get(f"http://{self.network.address(host)}:{REST_PORT}/patroni") or {}

    def role(self, host):
        node = self.node(host)
        return node.get("role") if node.get("state") == "running" else None

    def primary(self):
        """The one that holds the lock and answers."""
        return next((host for host in HOSTS if self.role(host) in ("master", "primary")), None)

    def synchronous_standby(self):
        return next((host for host in HOSTS if self.node(host).get("sync_standby")), None)

    def is_healthy(self):
        roles = [self.role(host) for host in HOSTS]
        primaries = [role for role in roles if role in ("master", "primary")]
        return None not in roles and len(primaries) == 1 and (not self.synchronous or bool(self.synchronous_standby()))

    def wait_healthy(self, seconds=60):
        """One primary, two standbys, one of them synchronous."""
        try:
            check.eventually(self.is_healthy, "all three are well", seconds)
        except Failure as failure:
            raise Failure(f"{failure}: {[self.node(host) for host in HOSTS]}\n{self.logs()}") from None

    def logs(self):
        """The end of each, for a message."""
        told = []
        for name in self.processes:
            with open(os.path.join(self.directory, f"{name}.log"), encoding="utf-8", errors="replace") as file:
                told.append(f"{name}:\n{file.read()[-1200:]}")
        return "\n".join(told)

    def sql(self, host, text, database="postgres"):
        done = subprocess.run([f"{find_programs()}/psql", "-X", "-q", "-A", "-t", "-c", text,
                               f"postgres://postgres:{PASSWORD}@{self.network.address(host)}/{database}?connect_timeout=2"],
                              capture_output=True, text=True, timeout=20, check=False)
        if done.returncode:
            raise Failure(f"{host}: {text}: {done.stderr}")
        return done.stdout.strip()

    # --- what befalls it ---

    def kill(self, host):
        """Patroni and PostgreSQL, by kill -9."""
        pids = self.all_of(host)
        self.signal_all(pids, signal.SIGSTOP)  # nobody starts anybody meanwhile
        self.signal_all(set(pids + self.all_of(host)), signal.SIGKILL)
        self.processes[host].wait()

    def freeze(self, host):
        self.signal_all(self.all_of(host), signal.SIGSTOP)

    def thaw(self, host):
        self.signal_all(self.all_of(host), signal.SIGCONT)

    def thaw_postgres(self, host):
        """PostgreSQL goes on as the primary that it was; its Patroni is a new one. A thawed Patroni of this version may
        take the lock of the new primary, which a watchdog would prevent."""
        process = self.processes[host]
        self.signal_all(self.tree(process.pid), signal.SIGKILL)
        process.wait()
        self.signal_all(self.postgres_of(host), signal.SIGCONT)
        self.start(host)

    def waiting_commits(self, host):
        """How many wait for the synchronous standby."""
        return int(self.sql(host, "select count(*) from pg_stat_activity where wait_event = 'SyncRep'"))

    def switch_over(self):
        """By order, under load."""
        leader = self.primary()
        request = urllib.request.Request(f"http://{self.network.address(leader)}:{REST_PORT}/switchover", method="POST",
                                         data=json.dumps({"leader": leader}).encode())
        try:
            urllib.request.urlopen(request, timeout=30).read()
        except OSError as error:
            raise Failure(f"no switchover: {error}") from None

    def await_other_primary(self, than, seconds=40):
        check.eventually(lambda: self.primary() not in (None, than), f"another primary than {than}", seconds)

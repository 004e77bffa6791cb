"""docs/operate.md and packaging: the configurations as they are printed there, with the programs they are for."""
import os
import re
import shutil
import socket
import subprocess
import tempfile

from harness import Skip, check, test
from harness.client import Client
from harness.server import ROOT
from harness.suite import OPTIMISED
from harness.tree import read


def configuration(language):
    """The block of docs/operate.md in this language."""
    [text] = re.findall(rf"^```{language}\n(.*?)^```$", read("docs/operate.md"), re.M | re.S)
    return text


def free_port():
    """A port that nothing listens on at this moment."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def nginx(server, directory, port):
    """nginx with the block as printed, but for names, ports and certificates of this machine."""
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost", "-days", "2",
                    "-keyout", f"{directory}/key.pem", "-out", f"{directory}/cert.pem"], check=True, capture_output=True)
    block = (configuration("nginx").replace("listen 443 ssl;", f"listen 127.0.0.1:{port} ssl;")
             .replace("/etc/ssl/sojourn.pem", f"{directory}/cert.pem").replace("/etc/ssl/sojourn.key", f"{directory}/key.pem")
             .replace("127.0.0.1:7070", server.address.split("//")[1]))
    places = "".join(f"{name}_temp_path {directory}/{name};\n"
                     for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    with open(f"{directory}/nginx.conf", "w", encoding="utf-8") as file:
        file.write(f"daemon off;\npid {directory}/pid;\nerror_log stderr;\nevents {{}}\n"
                   f"http {{\naccess_log off;\n{places}{block}}}\n")
    user = ["-g", "user root;"] if os.getuid() == 0 else []
    return ["nginx", "-e", "stderr", "-p", directory, "-c", f"{directory}/nginx.conf", *user]


def caddy(server, directory, port):
    """Caddy with the block as printed; it makes its own certificate."""
    block = (configuration("caddy").replace("sojourn.example.org {", f"https://localhost:{port} {{\n    tls internal\n    bind 127.0.0.1")
             .replace("127.0.0.1:7070", server.address.split("//")[1]))
    with open(f"{directory}/Caddyfile", "w", encoding="utf-8") as file:
        file.write(f"{{\nadmin off\nskip_install_trust\nauto_https disable_redirects\n}}\n{block}")
    return ["caddy", "run", "--adapter", "caddyfile", "--config", f"{directory}/Caddyfile"]


def behind(env, make):
    """A server behind a proxy: (the client of the proxy, the process)."""
    port = free_port()
    server = env.server(["--public-url", f"https://localhost:{port}"])
    directory = tempfile.mkdtemp(dir=env.directory)
    environment = dict(os.environ, HOME=directory, XDG_DATA_HOME=directory, XDG_CONFIG_HOME=directory)
    process = subprocess.Popen(make(server, directory, port), env=environment, stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    client = Client(f"https://localhost:{port}", server.token)
    check.eventually(lambda: answers(client), "the proxy answers", 20)
    return server, client, process


def answers(client):
    """Whether a request gets through."""
    try:
        return client.get("/healthz").status == 200
    except OSError:
        return False


def check_proxy(env, make):
    """Requests, a stream that is not buffered, a WebSocket, a large body, and a cookie that is Secure."""
    server, client, process = behind(env, make)
    path = "/api/sessions/behind"
    note = {"events": [{"type": "note.x", "metadata": {"n": 1}}]}
    is_note = lambda frame: frame.get("type") == "note.x"
    try:
        client.post("/api/sessions", {"type": "agent", "id": "behind", "status": "idle"}, expect=201)
        with client.stream(path + "/events") as stream:
            server.client().post(path + "/events", note, expect=201)
            stream.until(lambda frame: frame.event == "event" and is_note(frame.json()))
        with client.websocket(path + "/ws") as socket:
            socket.until(lambda frame: is_note(frame) or is_note(frame.get("event", {})) or is_note(frame.get("data", {})))
        large = {"events": [{"type": "note.large", "metadata": {"text": "x" * 900_000}}]}
        client.post(path + "/events", large, expect=201)
        server.client().put("/api/me/password", {"password": "correct horse battery"}, expect=204)
        guest = client.with_token(None)
        signed = guest.post("/api/auth/sign-in", {"email": "owner@localhost", "password": "correct horse battery"},
                            expect=200)
        check.contains(signed.header("set-cookie"), "Secure")
    finally:
        process.terminate()
        process.wait(20)


@test(on=OPTIMISED[:1])
def nginx_as_documented(env):
    check_proxy(env, nginx)


@test(on=OPTIMISED[:1])
def caddy_as_documented(env):
    check_proxy(env, caddy)


# --- the unit ---

# What systemd does to /proc for a directive; the kernel refuses a sandbox its own /proc where something is mounted over it.
OVER_PROC = {
    "ProtectKernelLogs": "mount --bind /dev/null /proc/kmsg",
    "ProtectHostname": "mount --bind /proc/sys/kernel/hostname /proc/sys/kernel/hostname",
    "ProtectKernelTunables": "mount --bind /proc/sys /proc/sys",
    "ProcSubset": "mount --bind /dev/null /proc/kmsg", "InaccessiblePaths": "mount --bind /dev/null /proc/kmsg"}
HARMLESS = {  # to sandboxes: seen with a systemd in a container
    "DynamicUser", "StateDirectory", "StateDirectoryMode", "WorkingDirectory", "ProtectSystem", "ProtectHome", "PrivateTmp",
    "ProtectClock", "ProtectKernelModules", "LockPersonality", "RestrictRealtime", "RestrictAddressFamilies",
    "CapabilityBoundingSet", "NoNewPrivileges", "UMask", "Delegate", "LimitNOFILE"}
LIFE = {"Type", "ExecStartPre", "ExecStart", "ExecReload", "EnvironmentFile", "Restart", "RestartSec", "TimeoutStopSec"}


def service_section():
    """The directives of the unit, by their names."""
    text = read("packaging/sojourn.service.in").split("[Service]")[1].split("[Install]")[0]
    return dict(re.findall(r"^(\w+)=(.*)$", text, re.M))


@test
def sandboxes_start_under_the_unit():
    """Whatever the unit hardens, bubblewrap gets what it needs."""
    names = set(service_section())
    check.equal(sorted(names - HARMLESS - LIFE - set(OVER_PROC)), [], "directives of which nobody knows what they do to sandboxes")
    if os.geteuid() != 0:
        check.equal(sorted(names & set(OVER_PROC)), [])
        return
    mounts = "\n".join(OVER_PROC[name] for name in sorted(names & set(OVER_PROC)))
    inside = "setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all --bounding-set=-all --no-new-privs " \
             "bwrap --unshare-all --ro-bind / / --proc /proc --dev /dev true"
    result = subprocess.run(["unshare", "--mount", "--propagation", "private", "sh", "-ec", f"{mounts}\n{inside}"],
                            capture_output=True, text=True, check=False)
    check.equal((result.returncode, result.stderr), (0, ""))


@test
def the_unit_needs_no_program_that_may_be_missing():
    """Its commands are the program and the shell: /bin/kill, for one, is not on every Debian."""
    commands = {word for name, line in service_section().items() if name.startswith("Exec") for word in line.split()[:1]}
    check.equal(sorted(commands), ["/bin/sh", "@PREFIX@/bin/sojourn"])
    reload = re.search(r"'(.*)'", service_section()["ExecReload"])[1].replace("$$", "$")
    process = subprocess.Popen(["sleep", "60"])
    subprocess.run(["/bin/sh", "-c", reload], env={"MAINPID": str(process.pid)}, check=True)
    check.equal(process.wait(10), -1, "hung up")


# --- backup and restore ---


def section_blocks():
    """The commands under "Backup and restore", block by block."""
    section = read("docs/operate.md").split("## Backup and restore\n")[1].split("\n## ")[0]
    return re.findall(r"^```sh\n(.*?)^```$", section, re.M | re.S)


def typed(env, block, server, **places):
    """Runs a block with the paths of this test; systemctl is done by hand."""
    for name, path in {"/var/lib/private/sojourn": server.data_directory(), "/var/lib/sojourn": server.data_directory(),
                       "/backup": os.path.join(env.directory, "backup"), **places}.items():
        block = block.replace(name, path)
    for line in block.splitlines():
        if line.startswith("systemctl"):
            (server.stop if "stop" in line else server.start)()
        else:
            path = f"{os.path.join(ROOT, env.tree)}:{os.environ['PATH']}"
            result = subprocess.run(["bash", "-ec", line], env=dict(os.environ, PATH=path), capture_output=True, text=True,
                                    check=False)
            check.equal(result.returncode, 0, f"{line}\n{result.stdout}{result.stderr}")


def filled(env, server):
    """A session with an event and a file, an agent's file and a secret."""
    client = server.client()
    client.post("/api/sessions", {"type": "agent", "id": "kept", "status": "idle"}, expect=201)
    client.post("/api/sessions/kept/events", {"events": [{"type": "note.x", "metadata": {"n": 1}}]}, expect=201)
    server.run("secrets", "set", "A_KEY", "--data", server.data_directory(), input="a-secret-value-of-some-length")
    os.makedirs(os.path.join(server.data_directory(), "agents"), exist_ok=True)
    with open(os.path.join(server.data_directory(), "agents", "w.agent.yaml"), "w", encoding="utf-8") as file:
        file.write("id: w\ndriver: worker\n")
    os.makedirs(os.path.join(env.directory, "backup"))
    client.post("/api/sessions/kept/files", b"some bytes", headers={"Content-Type": "text/plain"}, expect=201)
    client.post("/api/sessions/kept/events", {"events": [{"type": "note.last", "metadata": {}}]}, expect=201)



def is_restored(server):
    """All of it is there again, and what came after the backup is not."""
    client = server.client()
    types = [event["type"] for event in client.get("/api/sessions/kept/events", expect=200).json()["events"]]
    check.equal([one for one in types if one.startswith("note.")], ["note.x", "note.last"])
    [kept] = client.get("/api/sessions/kept/files", expect=200).json()["files"]
    check.equal(client.get(f"/api/sessions/kept/files/{kept['handle']}", expect=200).body, b"some bytes")
    check.equal(server.run("secrets", "list", "--data", server.data_directory()).stdout.split(), ["A_KEY"])


@test(on=OPTIMISED[:1])
def sqlite_is_backed_up_and_restored_as_written(env):
    server = env.server()
    backup, restore = section_blocks()[:2]
    filled(env, server)
    typed(env, backup, server)
    server.client().post("/api/sessions/kept/events", {"events": [{"type": "note.late", "metadata": {}}]}, expect=201)
    typed(env, restore, server)
    is_restored(server)
    client = server.client()
    check.contains([one["id"] for one in client.get("/api/agents", expect=200).json()["agents"]], "w")
    check.true(os.path.isdir(server.data_directory() + ".old"), "the old directory is kept")


@test(on=OPTIMISED[1:])
def postgresql_is_backed_up_and_restored_as_written(env):
    server = env.server()
    dump, restore = section_blocks()[2:]
    filled(env, server)
    here = {"postgres://sojourn@db.example.org/sojourn": f"'{server.database}'",
            "pg_": os.path.join(env.cluster().programs, "pg_")}
    typed(env, dump, server, **here)
    server.client().post("/api/sessions/kept/events", {"events": [{"type": "note.late", "metadata": {}}]}, expect=201)
    server.stop()
    typed(env, restore, server, **here)
    server.start()
    is_restored(server)


# --- monitoring ---


@test(on=OPTIMISED[:1])
def monitoring_names_metrics_that_exist(server):
    """The alert rules and the dashboard of packaging/examples."""
    there = set(re.findall(r"^(sojourn_\w+)", server.anonymous().get("/metrics", expect=200).body.decode(), re.M))
    for file in ("sojourn.rules.yml", "sojourn.grafana.json"):
        named = set(re.findall(r"sojourn_\w+", read(f"packaging/examples/{file}")))
        check.true(len(named) >= 6, f"{file} names metrics")
        check.equal(sorted(named - there), [], f"metrics in {file} that do not exist")


@test
def alert_rules_are_valid():
    """As Prometheus itself reads them."""
    if not shutil.which("promtool"):
        raise Skip("no promtool: Debian's package prometheus")
    result = subprocess.run(["promtool", "check", "rules", os.path.join(ROOT, "packaging/examples/sojourn.rules.yml")],
                            capture_output=True, text=True, check=False)
    check.equal(result.returncode, 0, result.stdout + result.stderr)


@test
def the_package_installs_what_it_says(program):
    """make deb: what it depends on is named, its files are where Debian wants them, the program runs."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("SOJOURN_", "MAKE"))}
    with tempfile.TemporaryDirectory() as directory:
        subprocess.run(["make", "--no-print-directory", "deb"], cwd=ROOT, env=environment, check=True,
                       capture_output=True)
        [package] = [name for name in os.listdir(os.path.join(ROOT, "build")) if name.endswith(".deb")]
        package = os.path.join(ROOT, "build", package)
        depends = subprocess.run(["dpkg-deb", "-f", package, "Depends"], check=True, capture_output=True, text=True).stdout
        for library in ("libuv1", "libsqlite3-0", "libpq5", "libcurl4", "bubblewrap", "git"):
            check.contains(depends, library)
        subprocess.run(["dpkg-deb", "-x", package, directory], check=True)
        version = subprocess.run([f"{directory}/usr/bin/sojourn", "--version"], check=True, capture_output=True, text=True)
        check.contains(version.stdout, "sojourn ")
        result = subprocess.run([f"{directory}/usr/bin/sojourn", "check-config", "--config",
                                 f"{directory}/etc/sojourn/sojourn.yaml"], env=environment, capture_output=True, text=True, check=False)
        check.equal(result.returncode, 0, result.stderr)
        with open(f"{directory}/usr/lib/systemd/system/sojourn.service", encoding="utf-8") as file:
            check.contains(file.read(), "ExecStart=/usr/bin/sojourn serve --config /etc/sojourn/sojourn.yaml")

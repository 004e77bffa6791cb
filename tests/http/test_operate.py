"""docs/operate.md and packaging: the configurations as they are printed there, with the programs they are for."""
import os
import re
import socket
import subprocess
import tempfile

from harness import check, test
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


@test(on=OPTIMISED[:1])
def monitoring_names_metrics_that_exist(server):
    """The alert rules and the dashboard of packaging/examples."""
    there = set(re.findall(r"^(sojourn_\w+)", server.anonymous().get("/metrics", expect=200).body.decode(), re.M))
    for file in ("sojourn.rules.yml", "sojourn.grafana.json"):
        named = set(re.findall(r"sojourn_\w+", read(f"packaging/examples/{file}")))
        check.true(len(named) >= 6, f"{file} names metrics")
        check.equal(sorted(named - there), [], f"metrics in {file} that do not exist")


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

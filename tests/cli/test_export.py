"""sojourn export, sessions pause and unpause, and the context that sojourn chat finds out."""
import json
import os
import subprocess

from harness import check, people, test
from harness.server import program_path

DONE, REFUSED, USAGE, UNREACHABLE, MISSING = range(5)


def run(server, *words, cwd=None, input=None, **environment):
    """The exit code and both outputs of one command."""
    settings = {**server.full_environment(), "SOJOURN_URL": server.address, "SOJOURN_TOKEN": server.token, **environment}
    done = subprocess.run([program_path(server.tree), *words], env=settings, cwd=cwd, input=input, text=True,
                          capture_output=True, timeout=60, check=False)
    return done.returncode, done.stdout, done.stderr


def context_of(server, session):
    return server.client().get(f"/api/sessions/{session}").json()["details"]["context"]


@test
def test_a_file_or_the_screen(env):
    """S4-055: the command and the route give the same bytes; a file that is there stays."""
    server = env.server()
    client = server.client()
    people.session(client, agent="a", id="talk", title="Talk")
    document = client.post("/api/sessions/talk/export", {}, expect=200).json()["document"]
    check.equal(run(server, "export", "talk"), (DONE, document, ""))
    file = os.path.join(env.directory, "talk.relavium.yaml")
    check.equal(run(server, "export", "talk", "--output", file)[0], DONE)
    with open(file, encoding="utf-8") as written:
        check.equal(written.read(), document)
    noted = client.get("/api/sessions/talk/events?types=session.exported").json()["events"]
    check.equal(noted[-1]["metadata"]["workflow_path"], file)
    code, _, said = run(server, "export", "talk", "--output", file)
    check.equal(code, REFUSED)
    check.contains(said, "--force writes over it")
    check.equal(len(client.get("/api/sessions/talk/events?types=session.exported").json()["events"]), len(noted))
    check.equal(run(server, "export", "talk", "--output", file, "--force")[0], DONE)
    check.equal(json.loads(run(server, "export", "talk", "--json")[1])["document"], document)
    check.equal(run(server, "export", "nobody")[0], MISSING)


@test
def test_pause_and_unpause(server):
    client = server.client()
    people.session(client, agent="demo", id="held")
    check.equal(run(server, "sessions", "pause", "held")[0], DONE)
    check.contains(client.get("/api/sessions/held").json(), {"display_status": "paused", "pause_reason": "manual"})
    check.equal(run(server, "sessions", "pause", "held")[0], DONE, "twice is no error")
    check.equal(run(server, "messages", "send", "held", "echo hi")[0], DONE)
    check.equal(client.get("/api/sessions/held").json()["status"], "idle")
    check.equal(run(server, "sessions", "unpause", "held")[0], DONE)
    check.eventually(lambda: client.get("/api/sessions/held").json()["turn_count"] == 1, "what waited runs", 30)


@test
def test_the_context_is_found_out(env):
    """S4-028, S4-034: working directory and git ref are detected, and each can be told otherwise or left out."""
    server = env.server()
    work = os.path.join(os.path.realpath(env.directory), "work")
    os.makedirs(work)
    git = {"GIT_CEILING_DIRECTORIES": os.path.dirname(work), "GIT_CONFIG_NOSYSTEM": "1", "HOME": work}

    def chat(name, *words, **environment):
        code, _, said = run(server, "chat", "demo", "--session", name, *words, cwd=work, input="", **git, **environment)
        check.equal((code, said), (DONE, ""))
        return context_of(server, name)

    check.equal(chat("c1"), {"working_dir": work})
    for words in (["init", "-q", "-b", "topic"], ["-c", "user.name=t", "-c", "user.email=t@t", "commit", "-q", "--allow-empty", "-m", "one"]):
        subprocess.run(["git", "-C", work, *words], check=True, env={**os.environ, **git})
    check.equal(chat("c2"), {"working_dir": work, "git_ref": "topic"})
    commit = subprocess.run(["git", "-C", work, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()
    subprocess.run(["git", "-C", work, "checkout", "-q", "--detach"], check=True, env={**os.environ, **git})
    check.equal(chat("c3", SOJOURN_ACTIVE_FILE="src/a.c"), {"working_dir": work, "git_ref": commit, "active_file": "src/a.c"})
    told = chat("c4", "--working-dir", "/elsewhere", "--git-ref", "v1", "--active-file", "b.c", "--variable", "team=blue")
    check.equal(told, {"working_dir": "/elsewhere", "git_ref": "v1", "active_file": "b.c", "variables": {"team": "blue"}})
    check.equal(chat("c5", "--no-detect-context"), {})
    check.equal(chat("c6", "--no-detect-context", "--git-ref", "v2"), {"git_ref": "v2"})
    code, _, said = run(server, "chat", "demo", "--variable", "nothing", input="")
    check.equal(code, USAGE)
    check.contains(said, "KEY=VALUE")
    key = "sk-ant-api03-" + "a1B2c3D4" * 5
    check.equal(run(server, "chat", "demo", "--variable", f"k={key}", input="")[0], REFUSED)

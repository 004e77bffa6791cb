"""Which token counts, and ids by their first characters."""
import json
import os

from harness import check, test
from harness.terminal import Terminal, on_terminal

DONE, REFUSED, USAGE, UNREACHABLE, MISSING, DENIED = range(6)


def token_file(server, text, name="token"):
    path = os.path.join(server.directory, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, 0o600)
    return path


@test
def test_the_command_line_wins(server):
    """Whichever of the two options for the token it is: what is said on the command line holds."""
    good, bad = token_file(server, server.token), token_file(server, "sk_wrong", "bad")
    for code, words, environment in (
            (DONE, ("--token-file", good), {"SOJOURN_TOKEN": "sk_wrong"}),
            (DENIED, ("--token-file", bad), {}),
            (DONE, ("--token", server.token), {"SOJOURN_TOKEN": "sk_wrong", "SOJOURN_TOKEN_FILE": bad}),
            (DENIED, ("--token", "sk_wrong"), {"SOJOURN_TOKEN_FILE": good}),
            (DONE, (), {"SOJOURN_TOKEN": "", "SOJOURN_TOKEN_FILE": good}),
            (DONE, (), {"SOJOURN_TOKEN_FILE": bad}),  # in one layer the token itself
            (UNREACHABLE, ("--url", "http://127.0.0.1:1"), {}),
            (DONE, ("--url", server.address), {"SOJOURN_URL": "http://127.0.0.1:1"}),
            (USAGE, ("--ca-file", "/nowhere"), {}),
            (DONE, ("--timeout-ms", "30s"), {"SOJOURN_TIMEOUT_MS": "1m"})):
        result = server.run("whoami", *words, environment=environment, expect=None)
        if words[:1] != ("--ca-file",):
            check.equal(result.returncode, code, f"{words} {environment}: {result.stderr}")
    text = server.run("whoami", "--token-file", bad, expect=DENIED).stderr
    check.contains(text, "the token came from token-file (command line)")


def make(server, *ids):
    for name in ids:
        server.client().post("/api/sessions", {"type": "agent", "id": name, "status": "idle"}, expect=201)


@test
def test_reading_by_the_first_characters(server):
    make(server, "report-2026", "report-2025", "other-thing", "other")
    shown = json.loads(server.run("sessions", "show", "report-2026"[:11], "--json").stdout)
    check.equal(shown["id"], "report-2026")
    check.equal(json.loads(server.run("sessions", "show", "other-t", "--json").stdout)["id"], "other-thing")
    check.equal(json.loads(server.run("sessions", "show", "other", "--json").stdout)["id"], "other", "itself first")
    refused = server.run("sessions", "show", "report", expect=USAGE).stderr
    check.contains(refused, "report-2025")
    check.contains(refused, "report-2026")
    check.equal(server.run("sessions", "show", "nothing", expect=MISSING).stdout, "")
    check.contains(server.run("sessions", "events", "other-t").stdout, "session.created")
    check.contains(server.run("sessions", "explain", "other-t").stdout, "idle")
    check.contains(server.run("agents", "show", "dem").stdout, "demo")
    check.equal(server.run("sessions", "show", "ot", expect=MISSING).stdout, "", "too short")


@test
def test_what_may_not_be_seen_is_no_candidate(server):
    """Unknown and forbidden ids answer alike, whole and shortened."""
    make(server, "secret-one")
    user = server.client().post("/api/users", {"email": "guest@example.org", "role": "member"}, expect=201).json()
    token = server.client().post("/api/tokens", {"name": "guest", "user_id": user["id"]}, expect=201).json()["token"]
    said = {server.run("sessions", "show", name, "--token", token, expect=MISSING).stderr
            for name in ("secret-one", "secret", "unknown-one", "unknown")}
    check.equal(len(said), 1, f"{said}")
    check.equal(server.client(token=token).get("/api/sessions?id_prefix=secret").json()["sessions"], [])


@test
def test_scripts_change_only_what_they_name(server):
    """Where nobody sees which session was meant, a shortened id is an unknown one."""
    make(server, "run-10", "keep-1")
    server.run("sessions", "delete", "run-1", "--yes", expect=MISSING)
    server.run("sessions", "archive", "run-1", expect=MISSING)
    server.run("messages", "send", "run-1", "hi", expect=MISSING)
    server.client().get("/api/sessions/run-10", expect=200)
    code, shown = on_terminal(server, "sessions", "delete", "run-1", "--yes")
    check.equal(code, USAGE, "not even on a terminal, without a question")
    check.contains(shown, "give whole ids")
    with Terminal(server, "sessions", "delete", "run-1") as asked:
        asked.see("Delete run-10 with all events?")
        asked.type("y\r")
        check.equal(asked.end(), DONE)
    server.client().get("/api/sessions/run-10", expect=404)
    code, shown = on_terminal(server, "sessions", "archive", "keep")
    check.equal((code, shown), (DONE, "archived keep-1\n"))


@test
def test_the_prefix_of_a_token_is_not_left(server):
    """A token for some ids finds nothing beside them, whatever prefix is asked for."""
    make(server, "tele:1", "tele:2", "mail:1")
    token = server.client().post("/api/tokens", {"name": "t", "id_prefix": "tele:"}, expect=201).json()["token"]
    client = server.client(token=token)
    for asked, found in (("t", ["tele:1", "tele:2"]), ("tele:2", ["tele:2"]), ("mail", []), ("tele:3", [])):
        listed = client.get(f"/api/sessions?id_prefix={asked}", expect=200).json()["sessions"]
        check.equal(sorted(one["id"] for one in listed), found, asked)

"""The program as a client: every command, tables for people, JSON for programs, exit codes."""
import json
import os
import re
import shutil
import subprocess
import threading

from harness import Skip, check, test
from harness.talk import settle, speak
from harness.terminal import on_terminal

DONE, REFUSED, USAGE, UNREACHABLE, MISSING, DENIED = range(6)


def create(server, *arguments):
    return server.run("sessions", "create", *arguments).stdout.strip()


def listed(server, *arguments):
    """What a list command answers as JSON."""
    return json.loads(server.run(*arguments, "--json").stdout)


@test
def test_sessions_from_create_to_delete(server):
    check.equal(create(server, "hello", "--title", "Good day", "--status", "idle"), "hello")
    generated = create(server, "--prompt", "do it", "--agent", "coder", "--priority", "3")
    check.equal(len(generated), 36, "length of a generated id")

    shown = server.run("sessions", "show", "hello").stdout
    check.true(shown.startswith("hello\n"), "the page begins with the id")
    check.contains(shown, "status        idle, ")
    check.contains(shown, "title         Good day")
    session = json.loads(server.run("sessions", "show", "hello", "--json").stdout)
    check.contains(session, {"id": "hello", "type": "agent", "status": "idle", "title": "Good day"})
    told = server.client().get("/api/sessions/hello").json()
    told["ws_url"] = session["ws_url"]  # as whoever asks reaches the server
    check.equal(session, told, "the server's JSON as it is")

    changed = server.run("sessions", "update", "hello", "--title", "Good night", "--metadata", "a=1").stdout
    check.contains(changed, "title         Good night")
    check.contains(changed, 'metadata      {"a":"1"}')
    before = json.loads(server.run("sessions", "show", "hello", "--at", "1", "--json").stdout)
    check.equal(before["title"], "Good day", "title at event 1")

    check.equal(server.run("sessions", "archive", "hello", generated).stdout, f"archived hello\narchived {generated}\n")
    check.contains(server.run("sessions", "list").stderr, "no sessions")
    check.contains(server.run("sessions", "list", "--archived", "true").stdout, "hello")
    check.equal(server.run("sessions", "unarchive", "hello").stdout, "unarchived hello\n")
    check.equal(server.run("sessions", "delete", "hello", "--yes").stdout, "deleted hello\n")
    check.equal(server.run("sessions", "show", "hello", expect=MISSING).stdout, "")


@test
def test_a_list_is_an_aligned_table(server):
    create(server, "short", "--title", "日本語 title", "--status", "idle")
    create(server, "a-much-longer-id", "--agent", "coder", "--prompt", "x")
    text = server.run("sessions", "list").stdout
    lines = text.splitlines()
    check.equal(lines[0].split(), ["SESSION", "TYPE", "STATUS", "AGENT", "TITLE", "EVENTS", "ACTIVE"])
    check.equal(len(lines), 3, "lines")
    start = lines[0].index("TYPE")
    check.equal([line[start:start + 5] for line in lines[1:]], ["agent", "agent"], "the second column")
    check.true(lines[1].startswith("a-much-longer-id  "), "the last active comes first")
    check.true("\033" not in text, "no colours where nobody looks")
    check.true(all(line == line.rstrip() for line in lines), "no line ends with a space")
    check.true(re.search(r"(now|\d+ s ago)$", lines[1]), f"times are relative: {lines[1]}")


@test
def test_filters_and_pages_of_a_list(server):
    for number in range(5):
        create(server, f"s{number}", "--status", "idle", "--metadata", f"odd={number % 2}", "--title",
               f"number {number}")
    ids = lambda *more: [row["id"] for row in listed(server, "sessions", "list", *more)["sessions"]]
    check.equal(ids("--metadata", "odd=1"), ["s3", "s1"])
    check.equal(ids("--q", "number 4", "--type", "agent", "--status", "idle"), ["s4"])
    check.equal(ids("--status", "failed"), [])
    page = listed(server, "sessions", "list", "--limit", "2")
    check.equal([row["id"] for row in page["sessions"]], ["s4", "s3"])
    check.equal(ids("--limit", "2", "--cursor", page["next_cursor"]), ["s2", "s1"])
    lines = server.run("sessions", "list", "--limit", "2", "--all", "--json").stdout.splitlines()
    check.equal([json.loads(line)["id"] for line in lines], ["s4", "s3", "s2", "s1", "s0"], "one session per line")
    result = server.run("sessions", "list", "--limit", "2")
    check.equal(len(result.stdout.splitlines()), 3)
    check.contains(result.stderr, f"--cursor {page['next_cursor']}")
    check.equal(len(server.run("sessions", "list", "--limit", "2", "--all").stdout.splitlines()), 6)


@test
def test_a_terminal_gets_colours_and_lines_that_fit(server):
    create(server, "narrow", "--title", "a title that is much too long for the terminal " * 3, "--status", "idle")
    create(server, "waiting", "--prompt", "x")
    code, text = on_terminal(server, "sessions", "list", columns=60)
    check.equal(code, DONE)
    check.contains(text, "\033[", "colours")
    plain = re.sub(r"\033\[\d*m", "", text)
    check.true(all(len(line) <= 60 for line in plain.splitlines()), f"no line is wider than the terminal:\n{plain}")
    check.contains(plain, "…")
    check.contains(plain, "narrow", "what gives way last")
    for refusal in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        code, text = on_terminal(server, "sessions", "list", columns=60, **refusal)
        check.true("\033[" not in text, f"no colours with {refusal}")


@test
def test_text_of_strangers_can_not_steer_the_terminal(server):
    create(server, "evil", "--title", "red \033[31malert\007 \u202eesrever", "--status", "idle")
    server.run("events", "append", "evil", "--text", "line one\nline two \033[2J\x9b1m")
    for command in (("sessions", "list"), ("sessions", "show", "evil"), ("sessions", "events", "evil")):
        text = server.run(*command).stdout
        check.true(not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", text), f"no control characters in {text!r}")
    check.contains(server.run("sessions", "events", "evil").stdout, "line one line two")


@test
def test_delete_asks_on_a_terminal_and_needs_yes_elsewhere(server):
    create(server, "precious", "--status", "idle")
    refused = server.run("sessions", "delete", "precious", expect=USAGE)
    check.contains(refused.stderr, "--yes")
    code, text = on_terminal(server, "sessions", "delete", "precious", answer="n\n")
    check.equal(code, REFUSED)
    check.contains(text, "Delete precious with all events? They can't be brought back. [y/N]")
    check.contains(text, "nothing was changed")
    server.run("sessions", "show", "precious")
    code, text = on_terminal(server, "sessions", "delete", "precious", answer="y\n")
    check.equal(code, DONE)
    check.contains(text, "deleted precious")
    server.run("sessions", "show", "precious", expect=MISSING)


@test
def test_ways_to_append_events(server):
    create(server, "s", "--status", "idle")
    check.equal(server.run("events", "append", "s", "--text", "one").stdout, "2 user.message\n")
    kept = ("--type", "note.kept", "--metadata", "k=v", "--thread-id", "t")
    check.equal(server.run("events", "append", "s", *kept).stdout, "3 note.kept\n")
    check.equal(server.run("events", "append", "s", "--text", "-", input="from\nstdin").stdout, "4 user.message\n")
    event = {"type": "note.json", "metadata": {"deep": [1, {"x": None}]}}
    for given, count in ((json.dumps(event), 1), (json.dumps([event, event]), 2),
                         (json.dumps({"events": [event]}), 1), (f"{json.dumps(event)}\n\n{json.dumps(event)}\n", 2)):
        text = server.run("events", "append", "s", input=given).stdout
        check.equal(len(text.splitlines()), count, f"events appended from {given}")
    check.equal(server.run("events", "append", "s", "--event", json.dumps(event)).stdout, "11 note.json\n")
    answer = json.loads(server.run("events", "append", "s", "--text", "x", "--json").stdout)
    check.equal(answer["last_sequence"], 12)
    events = server.client().get("/api/sessions/s/events").json()["events"]
    check.equal(events[3]["content"], [{"type": "text", "text": "from\nstdin"}])
    check.contains(events[2], {"metadata": {"k": "v"}, "thread_id": "t"})
    check.equal(events[10]["metadata"], event["metadata"])


@test
def test_appending_safely_more_than_once(server):
    create(server, "s", "--status", "idle")
    for _ in range(2):
        check.equal(server.run("events", "append", "s", "--text", "once", "--idempotency-key", "k").stdout,
                    "2 user.message\n")
    server.run("events", "append", "s", "--text", "named", "--external-event-id", "e")
    again = server.run("events", "append", "s", "--text", "named", "--external-event-id", "e").stdout
    check.equal(again, "3 user.message (was there)\n")
    stale = server.run("events", "append", "s", "--text", "late", "--if-sequence", "1", expect=REFUSED)
    check.true(re.search(r"^sojourn: .*\(\w+\)$", stale.stderr, re.M), f"sentence and code: {stale.stderr}")
    server.run("events", "append", "s", "--text", "in time", "--if-sequence", "3")


@test
def test_mistakes_in_appending(server):
    create(server, "s", "--status", "idle")
    for arguments, given, part in (
            (("--event", "{"), None, "--event is not one event"),
            (("--event", "[]"), None, "--event is not one event"),
            (("--event", "{}", "--text", "x"), None, "leave the options that describe one out"),
            ((), "", "standard input is empty"),
            ((), '{"type": "note.a"}\nrubbish', "line 2 is not one event"),
            (("--metadata", "novalue"), None, "give KEY=VALUE"),
            (("--role", "king"), None, "give user, agent or system")):
        result = server.run("events", "append", "s", *arguments, input=given, expect=USAGE)
        check.contains(result.stderr, part, f"events append {arguments} < {given!r}")
    code, text = on_terminal(server, "events", "append", "s")
    check.equal(code, USAGE)
    check.contains(text, "say what to append")
    check.equal(len(server.client().get("/api/sessions/s/events").json()["events"]), 1, "nothing was appended")


@test
def test_events_are_lines(server):
    create(server, "s", "--status", "idle")
    server.run("events", "append", "s", "--text", "hello there")
    call = {"type": "agent.tool_call", "content": [{"type": "tool_use", "name": "ls"}]}
    server.run("events", "append", "s", "--event", json.dumps(call))
    lines = server.run("sessions", "events", "s", "--after", "1").stdout.splitlines()
    check.true(re.fullmatch(r" +2  \d{4}-\d\d-\d\d \d\d:\d\d:\d\d  user    user\.message +hello there", lines[0]),
               lines[0])
    check.true(lines[1].endswith("[tool_use ls]"), lines[1])
    newest = json.loads(server.run("sessions", "events", "s", "--order", "newest", "--limit", "1", "--json").stdout)
    check.equal((newest["events"][0]["sequence"], newest["has_more"]), (3, True))
    check.equal(len(server.run("sessions", "events", "s", "--types", "agent.*").stdout.splitlines()), 1)
    check.contains(server.run("sessions", "events", "s", "--limit", "1").stderr, "there are more")


TASK = """
id: say-hello
name: Say hello
steps:
  - {id: greet, agent: greeter, prompt: "Hello.", output: {fields: {greeting: string}}}
  - {id: look, human: true, depends_on: [greet]}
"""


@test
def test_tasks(server):
    server.client().post("/api/agents", {"id": "greeter", "driver": "worker"}, expect=201)
    path = os.path.join(server.directory, "hello.yaml")
    with open(path, "w", encoding="utf-8") as file:
        file.write(TASK)
    check.contains(server.run("tasks", "list").stderr, "no tasks")
    check.equal(server.run("tasks", "create", path).stdout, "say-hello version 1\n")
    check.contains(server.run("tasks", "create", "-", input=TASK, expect=REFUSED).stderr, "(task_exists)")
    changed = TASK.replace("Say hello", "Say good day") + "version: 1\n"
    check.equal(server.run("tasks", "update", "-", input=changed).stdout, "say-hello version 2\n")
    check.contains(server.run("tasks", "update", "-", input=changed, expect=REFUSED).stderr, "(version_changed)")
    check.contains(server.run("tasks", "update", "-", input="name: x\n", expect=USAGE).stderr, "give it an id")
    server.run("tasks", "update", "-", input=TASK.replace("say-hello", "say-nothing"), expect=MISSING)
    server.run("tasks", "create", path + ".none", expect=USAGE)
    check.contains(server.run("tasks", "create", "-", input=TASK + "stepps: 1\n", expect=REFUSED).stderr, "stepps")
    lines = server.run("tasks", "list").stdout.splitlines()
    check.equal(lines[0].split(), ["TASK", "NAME", "STEPS", "VERSION", "UPDATED"])
    check.equal(re.split(r"  +", lines[1])[:4], ["say-hello", "Say good day", "2", "2"])
    shown = server.run("tasks", "show", "say-hello").stdout
    check.true(shown.startswith('# version 2\nid: "say-hello"\nname: "Say good day"\n'), shown)
    steps = server.client().get("/api/tasks/say-hello").json()["steps"]
    check.equal(server.run("tasks", "update", "-", input=shown).stdout, "say-hello version 3\n", "what is shown can be given back")
    check.equal(server.client().get("/api/tasks/say-hello").json()["steps"], steps)
    check.equal(json.loads(server.run("tasks", "show", "say-hello", "--json").stdout),
                server.client().get("/api/tasks/say-hello").json())
    server.run("entities", "create", "e", "--type", "guest")
    run = server.run("tasks", "run", "say-hello", "--entity-id", "e", "--input", '{"where": "here"}')
    session = server.client().get(f"/api/sessions/{run.stdout.strip()}", expect=200).json()
    check.equal((session["task_id"], session["entity_id"]), ("say-hello", "e"))
    check.equal([line.split()[::2] for line in run.stderr.splitlines()],
                [["STEP", "STATUS"], ["greet", "pending"], ["look", "draft"]])
    check.contains(server.run("tasks", "run", "say-hello", "--input", "[1]", expect=USAGE).stderr, "give an object")
    server.run("tasks", "run", "nothing", expect=MISSING)
    server.run("tasks", "remove", "say-hello", expect=USAGE)
    check.equal(server.run("tasks", "remove", "say-hello", "--yes").stdout, "removed say-hello\n")
    server.run("tasks", "show", "say-hello", expect=MISSING)


@test
def test_entities(server):
    made = server.run("entities", "create", "t-1", "--type", "ticket", "--field", "title=Login, broken", "--field",
                      "n:=4711", "--field", "tags:=[\"a\"]", "--field", "a=b=c").stdout
    check.equal(made, "t-1\n")
    check.equal(len(server.run("entities", "create", "--type", "page").stdout.strip()), 36, "length of a generated id")
    fields = {"title": "Login, broken", "n": 4711, "tags": ["a"], "a": "b=c"}
    check.equal(json.loads(server.run("entities", "show", "t-1", "--json").stdout)["fields"], fields)
    shown = server.run("entities", "show", "t-1").stdout
    check.true(shown.startswith("t-1\n  type          ticket\n  version       1\n"), shown)
    check.contains(shown, "\n  title: Login, broken\n  n: 4711\n")
    changed = server.run("entities", "update", "t-1", "--field", "n:=null", "--field", "state=open", "--version", "1").stdout
    check.contains(changed, "  version       2\n")
    check.contains(changed, "  state: open\n")
    check.true("4711" not in changed, "null removes")
    check.contains(server.run("entities", "update", "t-1", "--field", "x=y", "--version", "1", expect=REFUSED).stderr,
                   "(version_changed)")
    for wrong in ("x", "=y", ":=1", "x:=nonsense"):
        check.contains(server.run("entities", "update", "t-1", "--field", wrong, expect=USAGE).stderr, "--field")
    lines = server.run("entities", "list", "--type", "ticket").stdout.splitlines()
    check.equal((lines[0].split(), len(lines)), (["ENTITY", "TYPE", "FIELDS", "VERSION", "UPDATED"], 2))
    ids = lambda *more: [row["id"] for row in listed(server, "entities", "list", *more)["entities"]]
    check.equal((ids("--q", "LOGIN"), ids("--q", "nothing"), len(ids())), (["t-1"], [], 2))
    check.contains(server.run("entities", "list", "--limit", "1").stderr, "there are more: --limit or --after ")
    create(server, "about", "--entity-id", "t-1", "--title", "Look at it")
    check.equal([line.split()[0] for line in server.run("entities", "sessions", "t-1").stdout.splitlines()],
                ["SESSION", "about"])
    check.contains(server.run("entities", "sessions", "t-1", "--parents-only", "--json").stdout, '"about"')
    check.equal(server.run("entities", "remove", "t-1", "--yes").stdout, "removed t-1\n")
    server.run("entities", "show", "t-1", expect=MISSING)


@test
def test_agents(server):
    text = "id: helper\nprovider: openai\nmodel: m\nsystem_prompt: |\n  Two\n  lines.\ncaps: {turns_max: 9}\n"
    path = os.path.join(server.directory, "helper.agent.yaml")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    check.equal(server.run("agents", "push", path).stdout, "helper version 1\n")
    check.equal(server.run("agents", "push", "-", input=text).stdout, "helper version 1\n", "the same is the same")
    pushed = json.loads(server.run("agents", "push", "-", "--json", input=text + "resume: fail\n").stdout)
    check.contains(pushed, {"id": "helper", "version": 2})
    rows = [line.split() for line in server.run("agents", "list").stdout.splitlines()]
    check.equal([row[:2] for row in rows], [["AGENT", "VERSION"], ["demo", "1"], ["helper", "2"]])
    check.equal(len(listed(server, "agents", "list", "--limit", "1")["agents"]), 1)
    shown = server.run("agents", "show", "helper", "--version", "1").stdout
    check.contains(shown, '\nsystem_prompt: "Two\\nlines.\\n"\n')
    check.equal(server.run("agents", "push", "-", input=shown).stdout, "helper version 3\n", "what is shown can be pushed")
    wrong = server.run("agents", "push", "-", input=text + "modell: x\n", expect=None)
    check.true(wrong.returncode != 0, "it is refused")
    check.contains(wrong.stderr, "modell")
    server.run("agents", "push", path + ".none", expect=USAGE)
    check.equal(server.run("agents", "remove", "helper", "--yes").stdout, "removed helper\n")
    server.run("agents", "show", "helper", expect=MISSING)


@test
def test_tokens_users_and_tenants(server):
    who = json.loads(server.run("whoami", "--json").stdout)
    check.equal(who["role"], "owner")
    check.contains(server.run("whoami").stdout, "role         owner")

    made = server.run("tokens", "create", "reader", "--scopes", "read", "--expires-at", "2099-01-01T00:00:00Z")
    token = made.stdout.strip()
    check.true(token.startswith("sj_") and "\n" not in token, "the token alone is on standard output")
    as_reader = {"SOJOURN_TOKEN": token}
    check.contains(json.loads(server.run("whoami", "--json", environment=as_reader).stdout), {"scopes": ["read"]})
    denied = server.run("sessions", "create", expect=DENIED, environment=as_reader)
    check.true(re.search(r"^sojourn: .+ \(\w+\)$", denied.stderr, re.M), denied.stderr)
    text = server.run("tokens", "list").stdout
    check.true(token not in text, "a token is told once")
    found = next(row for row in listed(server, "tokens", "list")["tokens"] if row["name"] == "reader")
    check.contains(text, found["id"])
    check.equal(server.run("tokens", "revoke", found["id"]).stdout, f"revoked {found['id']}\n")
    server.run("whoami", expect=DENIED, environment=as_reader)

    link = server.run("users", "create", "ada@example.org", "--name", "Ada", "--role", "admin").stdout
    check.true(re.fullmatch(rf"{re.escape(server.address)}/sign-in#\S+\n", link), f"a link to sign in with: {link}")
    user = next(row for row in listed(server, "users", "list")["users"] if row["name"] == "Ada")
    check.equal((user["email"], user["role"]), ("ada@example.org", "admin"))
    server.run("users", "update", user["id"], "--role", "member", "--sessions-max", "3")
    cells = [line.split() for line in server.run("users", "list").stdout.splitlines()]
    check.equal(cells[0], ["USER", "EMAIL", "NAME", "ROLE", "SESSIONS", "MAX", "CREATED"])
    check.equal(next(line[1:5] for line in cells if line[0] == user["id"]), ["ada@example.org", "Ada", "member", "3"])
    server.run("users", "remove", user["id"], expect=USAGE)
    check.equal(server.run("users", "remove", user["id"], "--yes").stdout, f"removed {user['id']}\n")
    check.true("Ada" not in server.run("users", "list").stdout, "the user is gone")

    first = server.run("tenants", "create", "acme", "--name", "Acme Inc.").stdout.strip()
    there = server.run("whoami", "--json", environment={"SOJOURN_TOKEN": first}).stdout
    check.equal(json.loads(there)["tenant_id"], "acme")
    check.contains(server.run("tenants", "list").stdout, "Acme Inc.")


@test
def test_the_queue(server):
    check.contains(server.run("queue").stderr, "nothing waits")
    create(server, "work", "--agent", "coder", "--prompt", "x")
    create(server, "more", "--agent", "coder", "--prompt", "x")
    server.client().post("/api/claims", {"worker": "w1", "agents": ["coder"]}, expect=200)
    lines = [line.split() for line in server.run("queue").stdout.splitlines()]
    check.equal(lines[0], ["AGENT", "PENDING", "CLAIMED", "OLDEST"])
    check.equal(lines[1][:3], ["coder", "1", "1"])
    check.equal(lines[3][:2], ["w1", "1"])
    check.equal(json.loads(server.run("queue", "--json").stdout)["workers"][0]["worker"], "w1")


@test
def test_exit_codes(server):
    missing = server.run("sessions", "show", "nowhere", expect=MISSING)
    check.equal(missing.stdout, "")
    check.contains(missing.stderr, "(session_not_found)")
    nobody = server.run("whoami", expect=DENIED, environment={"SOJOURN_TOKEN": ""})
    check.contains(nobody.stderr, "set SOJOURN_TOKEN")
    server.run("whoami", "--token", "wrong", expect=DENIED)
    create(server, "s", "--status", "idle")
    refused = server.run("sessions", "create", "--title", "x" * 1000, expect=REFUSED)
    check.contains(refused.stderr, "sojourn: ")
    mixed = server.run("sessions", "archive", "nowhere", "s", expect=MISSING)
    check.equal(mixed.stdout, "archived s\n", "the others are done")
    check.contains(mixed.stderr, "nowhere was not archived")
    for arguments in (("sessions", "list", "--status", "odd"), ("sessions", "show"), ("sessions",),
                      ("sessions", "list", "--limit", "0"), ("sessions", "list", "--url", "ftp://x"),
                      ("sessions", "list", "--timeout-ms", "never"), ("tokens", "create")):
        server.run(*arguments, expect=USAGE)


@test
def test_addresses(server):
    create(server, "s", "--status", "idle")
    for url in (server.address, server.address + "/", server.unix_address):
        check.equal(json.loads(server.run("sessions", "show", "s", "--json", "--url", url).stdout)["id"], "s", url)
    server.run("whoami", environment={"http_proxy": "http://127.0.0.1:1"})
    for url in ("http://127.0.0.1:1", "unix:/nonexistent", "http://nosuchhost.invalid"):
        result = server.run("whoami", "--url", url, expect=UNREACHABLE)
        check.contains(result.stderr, "can't be reached", f"what is said about {url}")
        check.true(server.token not in result.stderr, "the token is not shown")


@test(on=("sqlite", "sqlite asan"))
def test_tls(env):
    if not shutil.which("openssl"):
        raise Skip("not installed: openssl")
    cert, key = os.path.join(env.directory, "cert.pem"), os.path.join(env.directory, "key.pem")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                    "-keyout", key, "-out", cert, "-days", "2", "-subj", "/CN=localhost", "-addext",
                    "subjectAltName=DNS:localhost,IP:127.0.0.1"], check=True, capture_output=True)
    server = env.server(["--tls-cert", cert, "--tls-key", key])
    check.true(server.address.startswith("https://"), f"{server.address} is encrypted")
    server.run("whoami", "--ca-file", cert)
    server.run("whoami", environment={"SOJOURN_CA_FILE": cert})
    stranger = server.run("whoami", expect=UNREACHABLE)
    check.contains(stranger.stderr, "certificate", "what is said about a stranger's certificate")


@test
def test_a_session_id_is_one_part_of_the_path(server):
    create(server, "cli:a.b-c_d", "--status", "idle")
    check.equal(json.loads(server.run("sessions", "show", "cli:a.b-c_d", "--json").stdout)["id"], "cli:a.b-c_d")
    for odd in ("../users", "a/b", "a?x=1", "%2e%2e", "a b"):
        result = server.run("sessions", "show", odd, expect=None)
        check.one_of(result.returncode, (REFUSED, MISSING), f"exit code for {odd!r}")


@test
def test_messages_are_sent_and_taken_back(server):
    create(server, "talk", "--agent", "a")
    first = server.run("messages", "send", "talk", "hello").stdout.strip()
    later = server.run("messages", "send", "talk", "and then", "--mode", "followup", "--thread-id", "t",
                       "--metadata", "k=v")
    check.contains(later.stderr, "place 1")
    [waiting] = listed(server, "messages", "queue", "talk")["prompts"]
    check.contains(waiting, {"prompt_id": later.stdout.strip(), "thread_id": "t", "metadata": {"k": "v"}})
    check.contains(server.run("messages", "queue", "talk").stdout, waiting["prompt_id"])
    server.run("messages", "withdraw", "talk", waiting["prompt_id"])
    check.contains(server.run("messages", "queue", "talk").stderr, "nothing waits")
    server.run("messages", "withdraw", "talk", first, expect=MISSING)
    server.run("messages", "send", "talk", "aside", "--append")
    said = [event["content"][0]["text"] for event in listed(server, "sessions", "events", "talk")["events"]
            if event["type"] == "user.message"]
    check.equal(said, ["hello", "aside"])


@test
def test_a_message_can_wait_for_its_answer(server):
    create(server, "talk", "--agent", "a")

    def answer():
        client = server.client(timeout_s=30)
        [claim] = client.post("/api/claims", {"worker": "w", "agents": ["a"], "wait_ms": 20000}, expect=200).json()["claims"]
        held = {"Sojourn-Lease": claim["lease"]["token"]}
        speak(client, "/api/sessions/talk", held, "Good morning to you")
        settle(client, "/api/sessions/talk", held)

    agent = threading.Thread(target=answer, daemon=True)
    agent.start()
    check.equal(server.run("messages", "send", "talk", "Good morning", "--wait").stdout, "Good morning to you\n")
    agent.join()

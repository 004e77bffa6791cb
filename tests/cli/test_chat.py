"""sojourn chat: a whole conversation on a terminal and over pipes, from the line that the server prints."""
import json
import os
import re
import shlex
import stat
import subprocess

from harness import check, test
from harness.server import program_path
from harness.terminal import Terminal

DONE, REFUSED, USAGE, UNREACHABLE, MISSING, DENIED = range(6)
APPROVAL, QUESTION, IDLE = "n deny: ", "number: ", "\n> "


def events(server, session, kind):
    """The events of one type."""
    page = server.client().get(f"/api/sessions/{session}/events?types={kind}&limit=500").json()
    return page["events"]


def is_idle(server, session):
    return server.client().get(f"/api/sessions/{session}").json()["status"] == "idle"


@test
def test_a_whole_conversation(server):
    with Terminal(server, "chat", "demo", "--session", "talk") as chat:
        before = chat.modes()
        chat.wait("> ")
        chat.type("Grüß dich\r")
        chat.wait("· Somebody wants to see")
        chat.wait("Hello! I am the demo agent")
        chat.wait('▸ read_file {"path":"welcome.txt"}')
        chat.wait("✓ Everything in this session")
        chat.wait("? edit_file: Change welcome.txt")
        chat.wait("path: welcome.txt")
        chat.wait(APPROVAL)
        chat.type("maybe\r")
        chat.wait("Answer y (once)")
        chat.wait(APPROVAL)
        chat.type("y\r")
        chat.wait("2  Hello there")
        chat.wait(QUESTION)
        chat.type("2\r")
        chat.wait("You chose: Hello there")
        chat.wait("? git_commit")
        chat.wait(APPROVAL)
        chat.type("n too early\r")
        chat.wait("✗ Denied")
        chat.wait('You said: "Grüß dich"')
        chat.wait(IDLE)
        chat.type("\x04")
        chat.wait("sojourn chat --session talk")
        check.equal(chat.end(), DONE)
        check.equal(chat.modes()[3], before[3], "the terminal is as it was")
        check.equal(chat.shown.count("Hello! I am the demo agent"), 1, "said once")
    answers = [(event["metadata"]["kind"], event["metadata"].get("decision"), event["metadata"].get("answer"),
                event["metadata"].get("reason")) for event in events(server, "talk", "ask.answered")]
    check.equal([answer[1] for answer in answers if answer[0] == "approval"], ["once", "deny"])
    check.equal([answer[2] for answer in answers if answer[0] == "question"], ["Hello there"])
    check.equal(answers[-1][3], "too early")


@test
def test_decisions_that_stand(server):
    with Terminal(server, "chat", "demo", "--session", "stands") as chat:
        chat.wait("> ")
        chat.type("hi\r")
        chat.wait(APPROVAL)
        chat.type("s\r")
        chat.wait(QUESTION)
        chat.type("/deny not now\r")
        chat.wait(APPROVAL)
        chat.type("a\r")
        chat.wait(IDLE)
        chat.type("/exit\r")
        check.equal(chat.end(), DONE)
    decisions = [event["metadata"]["decision"] for event in events(server, "stands", "ask.answered")]
    check.equal(decisions, ["session", "deny", "always"])


@test
def test_ctrl_c_interrupts_and_twice_leaves(server):
    with Terminal(server, "chat", "demo", "--session", "cut") as chat:
        chat.wait("> ")
        chat.type("hi\r")
        chat.wait("thinking")
        chat.type("\x03")
        chat.wait("turn ended: aborted")
        chat.wait(IDLE)
        check.true(is_idle(server, "cut"), "the session goes on")
        chat.type("echo more\r")
        chat.wait("Hello!")
        chat.type("\x03")
        chat.wait("Ctrl-C again leaves")
        chat.type("\x03")
        check.equal(chat.end(), DONE)
    check.eventually(lambda: is_idle(server, "cut"), "the turn is over")
    check.equal([event["metadata"]["stop_reason"] for event in events(server, "cut", "turn.ended")],
                ["aborted", "aborted"])


@test
def test_ctrl_c_clears_a_line(server):
    with Terminal(server, "chat", "demo", "--session", "clear") as chat:
        chat.wait("> ")
        chat.type("not this")
        chat.wait("not this")
        chat.type("\x03")
        chat.wait("> ")
        chat.type("echo that\r")
        chat.wait('You said: "echo that"')
        chat.wait(IDLE)
        chat.type("\x04")
        check.equal(chat.end(), DONE)


@test
def test_resume_shows_what_was_said_and_what_is_asked(server):
    with Terminal(server, "chat", "demo", "--session", "again") as chat:
        chat.wait("> ")
        chat.type("good evening\r")
        chat.wait(APPROVAL)
        chat.type("\x04")
        check.equal(chat.end(), DONE)
    with Terminal(server, "chat", "--session", "again") as chat:
        chat.wait("> good evening")
        chat.wait("Hello! I am the demo agent")
        chat.wait("? edit_file")
        chat.wait(APPROVAL)
        chat.type("y\r")
        chat.wait(QUESTION)
        chat.type("/stop\r")
        check.equal(chat.end(), MISSING, "the session ended")


@test
def test_typing_while_the_agent_works(server):
    with Terminal(server, "chat", "demo", "--session", "busy") as chat:
        chat.wait("> ")
        chat.type("echo first\r")
        chat.wait("Hello!")
        chat.type("echo second\r")
        chat.wait("waits, at place 1")
        chat.wait('You said: "echo first"')
        chat.wait("> echo second")
        chat.wait('You said: "echo second"')
        chat.wait(IDLE)
        chat.type("/queue\r")
        chat.wait("nothing waits")
        chat.type("/title A talk\r")
        chat.wait("titled")
        chat.type("/status\r")
        chat.wait("2 turns")
        chat.type("/nonsense\r")
        chat.wait("/help lists the commands")
        chat.type("/help\r")
        chat.wait("/cancel")
        chat.type("\x04")
        check.equal(chat.end(), DONE)
    check.equal(server.client().get("/api/sessions/busy").json()["title"], "A talk")


@test
def test_the_server_goes_away_and_comes_back(server):
    with Terminal(server, "chat", "demo", "--session", "away") as chat:
        chat.wait("> ")
        chat.type("echo before\r")
        chat.wait('You said: "echo before"')
        chat.wait(IDLE)
        server.port = server.address.rsplit(":", 1)[1]
        server.kill()
        chat.wait("connection is lost")
        server.start()
        chat.wait("> ")
        chat.type("echo after\r")
        chat.wait('You said: "echo after"')
        check.equal(chat.shown.count('You said: "echo before"'), 1, "nothing twice")


@test
def test_what_strangers_wrote_is_harmless(server):
    client = server.client()
    client.post("/api/sessions", {"type": "agent", "id": "odd", "agent": "demo", "status": "idle"}, expect=201)
    client.post("/api/sessions/odd/messages?append=true", {"text": "a\x1b[2Jb\u202ec"})
    with Terminal(server, "chat", "--session", "odd", NO_COLOR="1") as chat:
        chat.wait("> a\ufffd[2Jb\ufffdc")
        chat.wait(IDLE)
        check.true("\x1b[2m" not in chat.shown and "\x1b[1m" not in chat.shown, "NO_COLOR")
        chat.type("\x04")
        check.equal(chat.end(), DONE)


@test
def test_history_is_private_and_comes_back(server):
    for _ in range(2):
        with Terminal(server, "chat", "demo") as chat:
            chat.wait("> ")
            chat.type("echo remember me\r" if _ == 0 else "\x10\r")
            chat.wait('You said: "echo remember me"')
            chat.wait(IDLE)
            chat.type("\x04")
            check.equal(chat.end(), DONE)
    path = os.path.join(server.directory, ".local/state/sojourn/chat_history")
    check.equal(stat.S_IMODE(os.stat(path).st_mode), 0o600)


@test
def test_pipes(server):
    result = server.run("chat", "demo", "--session", "piped", input="echo one\n\necho two")
    said = [line for line in result.stdout.split("\n") if line.startswith("You said")]
    check.equal([line.split('"')[1] for line in said], ["echo one", "echo two"])
    check.contains(result.stderr, "▸ read_file")
    check.true("read_file" not in result.stdout, "standard output is what the agent said")

    result = server.run("chat", "demo", "--json", input="hi\ny\n1\nn\n")
    frames = [json.loads(line) for line in result.stdout.splitlines()]
    kinds = [frame.get("type") or frame["frame"] for frame in frames]
    check.true("delta" in kinds, "live output too")
    sequences = [frame["sequence"] for frame in frames if "sequence" in frame]
    check.equal(sequences, list(range(1, sequences[-1] + 1)), "every event once and in order")
    check.equal(kinds.count("turn.ended"), 1)
    decisions = [frame["metadata"].get("decision") for frame in frames if frame.get("type") == "ask.answered"]
    check.equal(decisions, ["once", "once", "deny"])


@test
def test_exit_codes(server):
    check.contains(server.run("chat", "demo", "--session", "open", input="hi\n", expect=REFUSED).stderr, "? edit_file")
    check.equal(len(server.client().get("/api/sessions/open/asks").json()["asks"]), 1, "nobody decided")
    server.run("chat", "demo", input="", expect=DONE)
    server.run("chat", "--session", "missing", input="hi\n", expect=MISSING)
    server.run("chat", "demo", "--nonsense", input="", expect=USAGE)
    server.run("chat", "demo", input="echo x\n/stop\n", expect=MISSING)
    server.run("chat", "demo", input="hi\n", expect=DENIED, environment={"SOJOURN_TOKEN": "wrong"})
    server.run("chat", "demo", "--url", "http://127.0.0.1:1", input="hi\n", expect=UNREACHABLE)


@test
def test_the_printed_line_works_as_printed(env):
    directory = os.path.join(env.directory, "server1")
    path = os.path.join(directory, "data", "owner.token")
    server = env.server(options=["--owner-token-file", path], environment={"SOJOURN_BOOTSTRAP_TOKEN": None})
    line = re.search(r"^  (\S+ chat demo .*)$", server.output(), re.M).group(1)
    check.equal(stat.S_IMODE(os.stat(path).st_mode), 0o600)
    check.contains(server.output(), "/sign-in#sk_")
    words = shlex.split(line)
    check.equal(words[0], program_path(server.tree))
    plain = {name: value for name, value in server.full_environment().items() if not name.startswith("SOJOURN_")}
    result = subprocess.run(words, input="echo hi\n", capture_output=True, text=True, timeout=60 * check.patience(),
                            check=False, env=plain)
    check.equal(result.returncode, DONE, result.stderr)
    check.contains(result.stdout, 'You said: "echo hi"')

    server.restart()
    check.equal(re.search(r"^  (\S+ chat demo .*--token-file .*)$", server.output(), re.M).group(1).split()[-1], path)
    check.true("sk_" not in server.output(), "the link was for once")
    os.remove(path)
    server.restart()
    os.chmod(path, 0o644)
    refused = subprocess.run([*words[:1], "whoami", "--url", server.address, "--token-file", path], check=False,
                             capture_output=True, text=True, env=plain)
    check.equal(refused.returncode, USAGE)
    check.contains(refused.stderr, "chmod 600")
    os.chmod(path, 0o600)
    subprocess.run([*words[:1], "whoami", "--url", server.address, "--token-file", path], check=True,
                   capture_output=True, env=plain)

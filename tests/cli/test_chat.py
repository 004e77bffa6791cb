"""sojourn chat: a whole conversation on a terminal and over pipes, from the line that the server prints."""
import json
import os
import re
import shlex
import signal
import stat
import subprocess
import time

from harness import check, test
from harness.server import program_path
from harness.terminal import Terminal

DONE, REFUSED, USAGE, UNREACHABLE, MISSING, DENIED = range(6)
APPROVAL = "allow? y once, s session, a always, n deny:"


def events(server, session, kind):
    """The events of one type."""
    page = server.client().get(f"/api/sessions/{session}/events?types={kind}&limit=500").json()
    return page["events"]


def messages(server, session):
    """What the person said, as the log has it."""
    return [event["content"][0]["text"] for event in events(server, session, "user.message")]


def is_idle(server, session):
    return server.client().get(f"/api/sessions/{session}").json()["status"] == "idle"


def leave(chat):
    chat.line("> ")
    chat.type("\x04")
    check.equal(chat.end(), DONE)
    check.equal(chat.screen.unknown, [], "the screen model knows everything that was written")


def idle(chat):
    chat.until(lambda screen: "· ready" in screen.text() and screen.line_at_cursor() == (">", ">"), "ready")


@test
def test_a_whole_conversation(server):
    with Terminal(server, "chat", "demo", "--session", "talk") as chat:
        before = chat.modes()
        chat.line("> ")
        chat.type("Grüß dich\r")
        chat.see("· Somebody wants to see")
        chat.see("Hello! I am the demo agent")
        chat.see('▸ read_file {"path":"welcome.txt"}')
        chat.see("✓ Everything in this session")
        chat.see("? edit_file: Change welcome.txt")
        chat.see("path: welcome.txt")
        chat.see(APPROVAL)
        chat.type("maybe\r")
        chat.see("Answer y (once)")
        chat.see(APPROVAL)
        chat.type("y\r")
        chat.see("2  Hello there")
        chat.line("number: ")
        chat.type("2\r")
        chat.see("You chose: Hello there")
        chat.see("? git_commit")
        chat.see(APPROVAL)
        chat.type("n too early\r")
        chat.see("✗ Denied")
        chat.see('You said: "Grüß dich"')
        idle(chat)
        check.equal(chat.screen.everything().count("Hello! I am the demo agent"), 1, "said once")
        leave(chat)
        chat.see("sojourn chat --session talk")
        check.equal(chat.modes()[3], before[3], "the terminal is as it was")
        check.true(2004 not in chat.screen.modes, "paste is no longer marked")
    answers = [(event["metadata"]["kind"], event["metadata"].get("decision"), event["metadata"].get("answer"),
                event["metadata"].get("reason")) for event in events(server, "talk", "ask.answered")]
    check.equal([answer[1] for answer in answers if answer[0] == "approval"], ["once", "deny"])
    check.equal([answer[2] for answer in answers if answer[0] == "question"], ["Hello there"])
    check.equal(answers[-1][3], "too early")


@test
def test_decisions_that_stand(server):
    with Terminal(server, "chat", "demo", "--session", "stands") as chat:
        chat.line("> ")
        chat.type("hi\r")
        chat.see(APPROVAL)
        chat.type("s\r")
        chat.line("number: ")
        chat.type("/deny not now\r")
        chat.see(APPROVAL)
        chat.type("a\r")
        idle(chat)
        chat.type("/exit\r")
        check.equal(chat.end(), DONE)
    decisions = [event["metadata"]["decision"] for event in events(server, "stands", "ask.answered")]
    check.equal(decisions, ["session", "deny", "always"])


@test
def test_editing(server):
    """Nothing but Ctrl-D on an empty line leaves, whatever is deleted; Ctrl-C clears a line."""
    with Terminal(server, "chat", "demo", "--session", "edit", columns=40) as chat:
        chat.line("> ")
        for word in ("hello", "日本語", "e\u0301a\u0308", "👩\u200d💻x"):
            chat.type(word)
            chat.until(lambda screen: screen.line_at_cursor()[0] != ">", "something typed")
            chat.type("\x7f" * 12)
            chat.line("> ")
        chat.type("a日本\x1b[D\x1b[DX")
        chat.until(lambda screen: screen.line_at_cursor() == ("> aX日本", "> aX"), "a wide letter is one step")
        chat.type("\x05\x17")
        chat.line("> ")
        chat.type("one\x1b\rtwo\nthree")
        chat.until(lambda screen: screen.lines()[-4:-1] == ["> one", "  two", "  three"], "three lines")
        chat.type("\x1b[A\x1b[A\x1b[H!")
        chat.until(lambda screen: screen.line_at_cursor() == ("> !one", "> !"), "up two lines")
        chat.type("\x03")
        chat.line("> ")
        chat.type("word " * 20)
        chat.until(lambda screen: len([line for line in screen.lines() if "word" in line]) == 3, "wrapped at 40 columns")
        chat.type("\x15\x04")
        check.equal(chat.end(), DONE)
    check.equal(messages(server, "edit"), [])


@test
def test_a_paste_is_one_message(server):
    lines = [f"line {number}" for number in range(200)]
    with Terminal(server, "chat", "demo", "--session", "paste", columns=40) as chat:
        chat.line("> ")
        chat.paste("\n".join(lines))
        chat.until(lambda screen: screen.line_at_cursor() == ("  line 199", "  line 199"), "the end of the paste")
        check.equal(messages(server, "paste"), [])
        chat.type("\r")
        check.eventually(lambda: messages(server, "paste"), "it was sent")
        chat.type("\x1b")
    check.equal(messages(server, "paste"), ["\n".join(lines)])


@test
def test_what_is_pasted_is_no_key(server):
    """Control characters in a paste are text that is left out, never keys."""
    with Terminal(server, "chat", "demo", "--session", "inert") as chat:
        chat.line("> ")
        chat.paste("a\x03b\x04c\x1b[Ad\te")
        chat.line("> abc[Ad    e")
        chat.type("\x15")
        leave(chat)


@test
def test_typing_while_the_agent_works(server):
    with Terminal(server, "chat", "demo", "--session", "busy") as chat:
        chat.line("> ")
        chat.type("echo first\r")
        chat.see("> echo first")
        chat.type("echo sec")
        chat.see("Hello! I am the demo agent")  # above, while the line stays
        chat.see('You said: "echo first"')
        chat.line("> echo sec")
        chat.type("ond\r")
        chat.see('You said: "echo second"')
        idle(chat)
        chat.type("echo third\r")
        chat.see("working")
        chat.type("echo fourth\r")
        chat.see("waits, at place 1")
        chat.see('You said: "echo fourth"')
        idle(chat)
        for typed, seen in (("/queue", "no messages are waiting"), ("/title A talk", "titled"), ("/status", "4 turns"),
                            ("/cost", "4 turns: 0 in, 0 out"), ("/help", "/cancel"), ("/model", "driver demo"),
                            ("/model x", "can't change it"), ("/agents", "* demo")):
            chat.type(f"\x15{typed}\r")
            chat.see(seen)
        chat.type("\x15/nonsense\r")
        chat.see("/help lists the commands")
        chat.line("> /nonsense")  # to be corrected
        chat.type("\x15")
        leave(chat)
    check.equal(server.client().get("/api/sessions/busy").json()["title"], "A talk")


@test
def test_an_ask_that_appears_while_typing_is_not_answered_by_it(server):
    with Terminal(server, "chat", "demo", "--session", "ahead") as chat:
        chat.line("> ")
        chat.type("tour\r")
        chat.see("I would like to change it")
        while "? edit_file" not in chat.screen.text():
            chat.type("y")
            chat.settle(0.02)
        chat.type("\r")  # a message: it was begun before the ask could have been read
        chat.see("waits, at place 1")
        chat.see(APPROVAL)
        check.equal(len(server.client().get("/api/sessions/ahead/asks").json()["asks"]), 1, "not answered")
        chat.type("n\r")
        chat.line("number: ")
        chat.type("/deny\r")
        chat.see(APPROVAL)
        chat.type("some draft")
        client = server.client()
        [ask] = client.get("/api/sessions/ahead/asks").json()["asks"]
        client.post(f"/api/sessions/ahead/asks/{ask['id']}/answer", {"decision": "deny"}, expect=200)
        chat.see("no longer asked; your answer was dropped")
    decisions = [event["metadata"]["decision"] for event in events(server, "ahead", "ask.answered")]
    check.equal(decisions, ["deny", "deny", "deny"])


@test
def test_escape_and_ctrl_c(server):
    with Terminal(server, "chat", "demo", "--session", "cut") as chat:
        chat.line("> ")
        chat.type("hi\r")
        chat.see("thinking")
        chat.type("\x03")
        chat.see("turn ended: aborted")
        idle(chat)
        check.true(is_idle(server, "cut"), "the session goes on")
        chat.type("echo more\r")
        chat.see("working")
        chat.type("\x1b")
        chat.until(lambda screen: screen.text().count("turn ended: aborted") == 2, "Escape interrupts")
        idle(chat)
        chat.type("tour\r")
        chat.see(APPROVAL)
        chat.type("\x1b")
        chat.see("Esc again interrupts")
        check.equal(len(server.client().get("/api/sessions/cut/asks").json()["asks"]), 1, "still asked")
        chat.type("\x1b")
        chat.until(lambda screen: screen.text().count("turn ended: aborted") == 3, "the second one does")
        idle(chat)
        time.sleep(1.6)  # two presses within this time leave
        chat.type("\x03")
        chat.see("Ctrl-C again leaves")
        chat.type("\x03")
        check.equal(chat.end(), DONE)
    check.equal([event["metadata"]["stop_reason"] for event in events(server, "cut", "turn.ended")], ["aborted"] * 3)


@test
def test_resize_while_streaming(server):
    with Terminal(server, "chat", "demo", "--session", "size", columns=90) as chat:
        chat.line("> ")
        chat.type("echo " + "a longer text 日本語 " * 6 + "\r")
        chat.see("Hello! I am")
        chat.type("draft")
        for columns in (40, 23, 60, 31):
            chat.resize(columns)
            chat.see("> draft")
        chat.see("another message")
        chat.until(lambda screen: "· ready" in screen.text(), "ready")
        lines = chat.settle().lines()
        check.equal([line for line in lines if len(line) > 31], [], "no row is wider than the terminal")
        check.equal(lines[-2], "> draft")
        check.equal(chat.screen.text().count("> draft"), 1)
        words = " ".join(line.strip() for line in lines)
        check.contains(words, "Send another message and the demo answers again.")
        check.equal(chat.screen.unknown, [])


@test
def test_suspend(server):
    """Ctrl-Z gives the terminal back to the shell, fg takes it again."""
    with Terminal(server, program=["bash", "--norc", "-i"], PS1="shell> ") as shell:
        shell.line("shell> ")
        shell.type(f"{shlex.quote(program_path(server.tree))} chat demo --session stopped\r")
        shell.line("> ")
        shell.type("kept\x1a")
        shell.line("shell> ")
        check.true(2004 not in shell.screen.modes or "readline", "given back")
        shell.type("echo $((6*7))\r")
        shell.see("42")
        shell.type("fg\r")
        shell.line("> kept")
        shell.type("\x15\x04")
        shell.line("shell> ")
        shell.type("exit\r")
        shell.end()


@test
def test_killed_in_raw_mode(server):
    """Whatever ends the program, the terminal is as it was."""
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGSEGV):
        with Terminal(server, "chat", "demo") as chat:
            before = chat.modes()
            chat.line("> ")
            check.true(chat.modes()[3] != before[3], "raw")
            os.kill(chat.process.pid, number)
            chat.end()
            check.equal(chat.modes()[:4], before[:4], f"after signal {number}")
            check.true(2004 not in chat.screen.modes, "paste is no longer marked")


@test
def test_completion_and_search(server):
    directory = os.path.join(server.directory, "files")
    os.makedirs(os.path.join(directory, "folder"))
    for name in ("alpha-one.txt", "alpha-two.txt", "folder/inner.md", "bad\x1b[2Jname"):
        with open(os.path.join(directory, name), "w", encoding="utf-8"):
            pass
    where = f"cd {shlex.quote(directory)} && exec {shlex.quote(program_path(server.tree))} chat demo --session tabs"
    with Terminal(server, program=["bash", "-c", where]) as chat:
        chat.line("> ")
        chat.type("/ti\t")
        chat.line("> /title ")
        chat.type("\x15look at @al\t")
        chat.line("> look at @alpha-")
        chat.type("\t")
        chat.see("alpha-one.txt  alpha-two.txt")
        chat.type("o\t")
        chat.line("> look at @alpha-one.txt ")
        chat.type("and @fo\t")
        chat.line("> look at @alpha-one.txt and @folder/")
        chat.type("\t")
        chat.line("> look at @alpha-one.txt and @folder/inner.md ")
        chat.type("\x15@\t")
        chat.see("folder")
        check.true("bad" not in chat.settle().text(), "a name that steers terminals is not offered")
        chat.type("\x15/new de\t")
        chat.line("> /new demo ")
        chat.type("\x15echo to be found\r")
        chat.see('You said: "echo to be found"')
        idle(chat)
        chat.type("\x12be fo")
        chat.see("(search be fo): echo to be found")
        chat.type("\r")
        chat.line("> echo to be found")
        chat.type("\x15")
        leave(chat)


@test
def test_other_sessions(server):
    with Terminal(server, "chat", "demo", "--session", "first-one") as chat:
        chat.line("> ")
        chat.type("echo in the first\r")
        chat.see('You said: "echo in the first"')
        idle(chat)
        chat.type("/new\r")
        chat.until(lambda screen: screen.text().count("Ctrl-D leaves") == 2, "another session")
        idle(chat)
        chat.type("/sessions\r")
        chat.see("first-one")
        chat.type("/resume nowhere\r")
        chat.see("not_found")
        chat.line("> /resume nowhere")
        chat.type("\x15/resume first\r")
        chat.see("> echo in the first")
        idle(chat)
        leave(chat)
        chat.see("sojourn chat --session first-one")


@test
def test_resume_shows_what_was_said_and_what_is_asked(server):
    with Terminal(server, "chat", "demo", "--session", "again") as chat:
        chat.line("> ")
        chat.type("good evening\r")
        chat.see(APPROVAL)
        chat.type("\x04")
        check.equal(chat.end(), DONE)
    with Terminal(server, "chat", "--session", "aga") as chat:
        chat.see("> good evening")
        chat.see("Hello! I am the demo agent")
        chat.see("? edit_file")
        chat.see(APPROVAL)
        chat.type("y\r")
        chat.line("number: ")
        chat.type("/stop\r")
        check.equal(chat.end(), MISSING, "the session ended")


@test
def test_the_server_goes_away_and_comes_back(server):
    with Terminal(server, "chat", "demo", "--session", "away") as chat:
        chat.line("> ")
        chat.type("echo before\r")
        chat.see('You said: "echo before"')
        idle(chat)
        server.port = server.address.rsplit(":", 1)[1]
        server.kill()
        chat.see("connection is lost")
        chat.type("echo after\r")
        chat.see("start a server with")
        chat.line("> echo after")  # not lost
        server.start()
        server.client().get("/api/sessions/away")
        check.eventually(lambda: chat.type("\r") or chat.settle(0.5) and messages(server, "away")[-1] == "echo after",
                         "sent when the server is back")
        chat.see('You said: "echo after"')
        check.equal(chat.screen.everything().count('You said: "echo before"'), 1, "nothing twice")


HOSTILE = "a\x1b[2Jb\u202ec\u200bd\x9b31m\rover\x07"


@test
def test_what_strangers_wrote_is_harmless(server):
    """Text of others can't steer the terminal or hide; what is approved is shown complete and exact."""
    client = server.client()
    client.post("/api/sessions", {"type": "agent", "id": "odd", "agent": "odd", "status": "idle"}, expect=201)
    client.post("/api/sessions/odd/messages?append=true", {"text": HOSTILE})
    call = {"type": "agent.tool_call", "content": [{"type": "tool_call", "tool_call_id": "c", "name": "run_command",
                                                   "input": {"command": HOSTILE}}]}
    client.post("/api/sessions/odd/events", {"events": [call]}, expect=201)
    client.post("/api/sessions/odd/status", {"status": "pending"}, expect=200)
    [claim] = client.post("/api/claims", {"worker": "w"}, expect=200).json()["claims"]
    command = "rm -rf /srv/2024-* my_file_name.txt \u202e" + "x" * 300 + "\nallow? y \x1b[8mhidden"
    client.post("/api/sessions/odd/asks", {"kind": "approval", "text": HOSTILE, "tool": "run_command",
                                           "arguments": {"command": command}, "details": {"risk": "high"}},
                headers={"Sojourn-Lease": claim["lease"]["token"]}, expect=201)
    with Terminal(server, "chat", "--session", "odd", columns=60, rows=40, NO_COLOR="1") as chat:
        chat.see("> a\ufffd[2Jb\ufffdc\ufffdd\ufffd31m")
        chat.see('▸ run_command {"command": "a\\u001b[2Jb⟨U+202E⟩c⟨U+200B⟩d')
        chat.see("? HIGH RISK run_command")
        chat.see("│ rm -rf /srv/2024-* my_file_name.txt ⟨U+202E⟩")
        chat.see("│ allow? y ⟨U+001B⟩[8mhidden")
        chat.see(APPROVAL)
        shown = "".join(line.strip() for line in chat.screen.lines())
        check.contains(shown, "x" * 300)
        check.true("\x1b[1m" not in chat.shown and "\x1b[31m" not in chat.shown, "NO_COLOR")
        check.equal(chat.screen.unknown, [])


@test
def test_refusals_say_what_to_type(server):
    """At once, with an exit code, on a terminal and over pipes."""
    text = server.run("chat", "nosuch", input="hi\n", expect=MISSING).stderr
    check.contains(text, "no agent is called nosuch; there are: demo")
    check.contains(text, "sojourn chat AGENT")
    server.client().post("/api/agents", {"id": "haiku", "driver": "model", "provider": "anthropic", "model": "m",
                                          "system_prompt": "Answer."},
                         expect=201)
    text = server.run("chat", "haiku", input="hi\n", expect=REFUSED).stderr
    check.contains(text, "sojourn secrets set ANTHROPIC_API_KEY")
    text = server.run("chat", "demo", "--url", "http://127.0.0.1:1", input="hi\n", expect=UNREACHABLE).stderr
    check.contains(text, "sojourn serve")
    text = server.run("chat", "demo", input="hi\n", expect=DENIED, environment={"SOJOURN_TOKEN": "wrong"}).stderr
    check.contains(text, "the token came from token (environment)")
    text = server.run("chat", "demo", input="hi\n", expect=DENIED, environment={"SOJOURN_TOKEN": ""}).stderr
    check.contains(text, "SOJOURN_TOKEN")
    with Terminal(server, "chat", "nosuch") as chat:
        check.equal(chat.end(), MISSING)
        check.contains(chat.screen.text(), "no agent is called nosuch")


@test
def test_a_message_that_nobody_takes_is_explained(server):
    server.client().post("/api/sessions", {"type": "agent", "id": "alone", "agent": "bot", "status": "idle"}, expect=201)
    with Terminal(server, "chat", "--session", "alone") as chat:
        chat.line("> ")
        chat.type("hello?\r")
        chat.see("(waiting:")
        chat.see("sojourn sessions explain alone")


@test
def test_history_is_private_and_comes_back(server):
    for turn in range(2):
        with Terminal(server, "chat", "demo") as chat:
            chat.line("> ")
            chat.type("echo remember\x1b\rme \\n\r" if turn == 0 else "\x10\r")
            chat.see('You said: "echo remember')
            idle(chat)
            leave(chat)
    path = os.path.join(server.directory, ".local/state/sojourn/chat_history")
    check.equal(stat.S_IMODE(os.stat(path).st_mode), 0o600)
    with open(path, encoding="utf-8") as file:
        check.equal(file.read(), "echo remember\\nme \\\\n\n")


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

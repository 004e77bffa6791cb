"""sojourn sessions tail: lines and frames, a server that goes away in the middle, and the end."""
import json
import queue
import signal
import subprocess
import threading

from harness import check, test
from harness.server import program_path
from harness.terminal import Terminal, on_terminal

DONE, MISSING = 0, 4


class Tail:
    """A running tail whose lines can be awaited."""

    def __init__(self, server, *arguments, command=("sessions", "tail")):
        known = {"SOJOURN_URL": server.address, "SOJOURN_TOKEN": server.token}
        self.process = subprocess.Popen([program_path(server.tree), *command, *arguments], text=True,
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        env=server.full_environment() | known)
        self.lines = self.read(self.process.stdout)
        self.notes = self.read(self.process.stderr)

    @staticmethod
    def read(stream):
        lines = queue.Queue()

        def run():
            for line in stream:
                lines.put(line.rstrip("\n"))
            lines.put(None)
        threading.Thread(target=run, daemon=True).start()
        return lines

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.process.kill()
        self.process.wait()

    @staticmethod
    def take(lines, seconds=20):
        try:
            return lines.get(timeout=seconds * check.patience())
        except queue.Empty:
            check.fail("tail said nothing more in time")

    def line(self):
        line = self.take(self.lines)
        if line is None:
            notes = iter(lambda: self.take(self.notes), None)
            check.fail(f"tail ended with {self.wait()}: {' / '.join(notes)}")
        return line

    def json(self):
        return json.loads(self.line())

    def event(self):
        """The next line that is an event."""
        while True:
            line = self.json()
            if "frame" not in line:
                return line

    def frame(self, name):
        """Everything up to the frame of this name; returns its data."""
        while True:
            line = self.json()
            if line.get("frame") == name:
                return line["data"]

    def stop(self, number=signal.SIGINT):
        """Ctrl-C; the exit code."""
        self.process.send_signal(number)
        return self.process.wait(20 * check.patience())

    def wait(self):
        return self.process.wait(20 * check.patience())


def start(server, count=3, id="s"):
    client = server.client()
    client.post("/api/sessions", {"type": "agent", "id": id, "status": "idle"}, expect=201)
    for number in range(count):
        append(client, f"text {number}", id)
    return client


def append(client, text, id="s"):
    event = {"type": "user.message", "content": [{"type": "text", "text": text}]}
    return client.post(f"/api/sessions/{id}/events", {"events": [event]}, expect=201).json()["events"][0]["sequence"]


@test
def test_the_last_events_then_what_comes(server):
    client = start(server, 30)
    with Tail(server, "s", "--last", "2") as tail:
        check.true(tail.line().endswith("text 28"), "the last but one")
        check.true(tail.line().endswith("text 29"), "the last")
        append(client, "live")
        line = tail.line()
        check.true(line.endswith("user.message              live"), line)
        check.equal(tail.stop(), DONE, "exit code after Ctrl-C")
    with Tail(server, "s", "--last", "0", "--json") as tail:
        check.equal(tail.frame("ready")["cursor"], "32")
        append(client, "only this")
        check.equal(tail.event()["content"][0]["text"], "only this")
        check.equal(tail.stop(signal.SIGTERM), DONE, "exit code after SIGTERM")


@test
def test_from_a_cursor_with_a_filter(server):
    client = start(server, 5)
    client.post("/api/sessions/s/events", {"events": [{"type": "note.other"}]}, expect=201)
    with Tail(server, "s", "--after", "0", "--types", "user.message,note.x", "--json") as tail:
        check.equal([tail.event()["sequence"] for _ in range(5)], [2, 3, 4, 5, 6])
    with Tail(server, "s", "--last", "1", "--types", "user.*", "--json") as tail:
        check.equal(tail.event()["sequence"], 6, "the last that passes the filter")
    with Tail(server, "s", "--after", "5", "--json") as tail:
        check.equal([tail.event()["sequence"] for _ in range(2)], [6, 7])


@test(timeout_s=120)
def test_a_restart_in_the_middle_leaves_no_gap_and_no_repeat(server):
    client = start(server, 50)
    server.port = int(server.address.rsplit(":", 1)[1])
    with Tail(server, "s", "--after", "0", "--json") as tail, Tail(server, "s", "--after", "0") as shown:
        got = [tail.event()["sequence"] for _ in range(51)]
        lines = [int(shown.line().split()[0])]
        for ending in (server.stop, server.kill):
            last = append(client, "before")
            client.close()
            ending()
            server.start()
            client = server.client()
            for _ in range(20):
                last = append(client, "after")
            while got[-1] < last:
                got.append(tail.event()["sequence"])
        check.equal(got, list(range(1, last + 1)), "sequences")
        while lines[-1] < last:
            line = shown.line()
            if line.startswith("closed: "):
                check.equal(line, "closed: server_stopping")
            else:
                lines.append(int(line.split()[0]))
        check.equal(lines, list(range(1, last + 1)), "sequences shown to people")
        check.contains(shown.take(shown.notes), "lost; trying again")
        check.equal(tail.stop(), DONE)


@test
def test_ctrl_c_while_the_server_is_away(server):
    start(server)
    with Tail(server, "s") as tail:
        for _ in range(4):
            tail.line()
        server.kill()
        check.contains(tail.take(tail.notes), "trying again")
        check.equal(tail.stop(), DONE)


@test
def test_the_end_of_the_session_ends_it(server):
    client = start(server)
    with Tail(server, "s", "--after", "3") as tail:
        check.true(tail.line().endswith("text 2"), "connected")
        client.delete("/api/sessions/s", expect=204)
        check.equal(tail.line(), "closed: deleted")
        check.equal(tail.wait(), MISSING)


@test
def test_gap_is_told(server):
    client = start(server)
    with Tail(server, "s", "--after", "90") as tail:
        check.equal(tail.line(), "gap: events 5 to 90 can't be shown (ahead)")
        append(client, "goes on")
        check.true(tail.line().endswith("goes on"), "the stream goes on")
    with Tail(server, "s", "--after", "90", "--json") as tail:
        check.contains(tail.frame("gap"), {"from": 6, "to": 90, "reason": "ahead"})


@test
def test_live_output(server):
    client = start(server, 0)
    client.post("/api/sessions/s/status", {"status": "pending"}, expect=200)
    [claim] = client.post("/api/claims", {"worker": "w"}, expect=200).json()["claims"]
    held = {"Sojourn-Lease": claim["lease"]["token"]}
    arguments = ("s", "--deltas", "--last", "1")
    with Tail(server, *arguments, "--json") as tail, Tail(server, *arguments) as shown:
        tail.event()
        shown.line()
        deltas = [{"kind": "text", "text": "Good "}, {"kind": "text", "text": "day"}]
        client.post("/api/sessions/s/deltas", {"deltas": deltas}, headers=held, expect=202)
        check.equal([tail.frame("delta")["text"] for _ in range(2)], ["Good ", "day"])
        client.post("/api/sessions/s/events", {"events": [{"type": "agent.message", "content": [
            {"type": "text", "text": "Good day"}]}]}, headers=held, expect=201)
        check.equal(tail.event()["type"], "agent.message")
        check.equal(shown.line(), "… Good day", "pieces on one line")
        check.true(shown.line().endswith("Good day"), "then the event")


@test
def test_all_sessions_at_once(server):
    client = start(server, 0)
    with Tail(server, "--json", command=("events", "tail")) as tail:
        tail.frame("ready")
        append(client, "one")
        start(server, 0, "t")
        # The stream may begin a little earlier than it was asked for, but then it is complete.
        events = [tail.event()]
        while events[-1]["session_id"] != "t":
            events.append(tail.event())
        check.equal(events[-2]["content"], [{"type": "text", "text": "one"}])
        names = [(event["session_id"], event["sequence"]) for event in events]
        check.equal(names, sorted(set(names)), "each once and in order")
        check.equal(tail.stop(), DONE)
    with Tail(server, "--after", "0-0", "--types", "user.message", command=("events", "tail")) as tail:
        check.true(tail.line().startswith("s "), "the session stands first")


@test
def test_a_reader_that_goes_away_ends_it(server):
    client = start(server, 5)
    known = {"SOJOURN_URL": server.address, "SOJOURN_TOKEN": server.token}
    line = f"'{program_path(server.tree)}' sessions tail s --after 0 --json | head -n 2"
    process = subprocess.Popen(["bash", "-c", f"set -o pipefail; {line}"], env=server.full_environment() | known,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    check.contains(process.stdout.readline(), '"frame":"ready"')
    check.contains(process.stdout.readline(), '"sequence":1')
    check.eventually(lambda: append(client, "more") and process.poll() is not None, "the pipeline ends")
    check.equal(process.stderr.read(), "")


@test
def test_no_such_session_and_no_server(server):
    check.equal(server.run("sessions", "tail", "nowhere", expect=MISSING).stdout, "")
    server.run("sessions", "tail", "nowhere", "--after", "0", expect=MISSING)
    server.run("sessions", "tail", "s", "--url", "http://127.0.0.1:1", expect=3)


@test
def test_a_conversation_is_worth_reading(server):
    """Calls with arguments, results, asks, answers, ends; exact, and visibly cut on a terminal."""
    server.run("chat", "demo", "--session", "shown", input="hi\ny\n2\nn too early\n")
    with Tail(server, "shown", "--after", "0") as tail:
        lines = []
        while not lines or "turn.ended" not in lines[-1]:
            lines.append(tail.line())
    text = "\n".join(lines)
    for said in ('read_file {"path":"welcome.txt"}', "✓ Everything in this session", "approval demo-1-6: edit_file {",
                 "approval demo-1-6 edit_file: once, by user:", "question demo-1-8: How shall the commit greet? [",
                 "question demo-1-8: once, Hello there", "git_commit: deny, too early", "✗ Denied by a person",
                 "running → awaiting_tool: Approval of edit_file", "turn 1 ended: stop; 0 in, 0 out"):
        check.contains(text, said)
    code, shown = on_terminal(server, "sessions", "events", "shown", columns=40, NO_COLOR="1")
    check.equal(code, DONE)
    check.equal([line for line in shown.split("\n") if len(line) > 40], [], "fits")
    check.contains(shown.replace("\n    ", ""), '"old":"the same.","new":"the same, live."}')
    check.contains(shown, "more bytes; --json shows all")


@test
def test_events_can_not_steer_the_terminal(server):
    client = start(server, 0)
    hostile = "a\x1b[2Jb\u202ec\x9b1m\u200b"
    client.post("/api/sessions/s/events", {"events": [
        {"type": "user.message", "content": [{"type": "text", "text": hostile}]},
        {"type": "note.odd", "metadata": {hostile: hostile}},
        {"type": "agent.tool_result", "content": [{"type": "tool_result", "tool_call_id": "c", "output": hostile}]}]},
                expect=201)
    for words in (("sessions", "tail", "s"), ("sessions", "tail", "s", "--json"), ("sessions", "events", "s"),
                  ("sessions", "events", "s", "--json"), ("sessions", "show", "s", "--json"), ("events", "tail")):
        with Terminal(server, *words, columns=60, NO_COLOR="1") as shown:
            shown.settle(0.5)
            check.equal(shown.screen.unknown, [], words)
            for hidden in "\u202e\u200b\x9b":
                check.true(hidden not in shown.shown, f"{words} hides {hidden!r}")

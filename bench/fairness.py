"""Many sessions with queued messages and fewer places than sessions: how long each waits for its turns.

Messages that come all at once and are served one after the other in order of arrival wait along a straight line, so the
last waits twice as long as the middle one, whoever serves them. What tells is the wait before every turn: a session
that is served goes to the end, so that all wait alike unless somebody is passed over."""
import datetime
import http.client
import json
import statistics
import sys
import time

from harness import BENCH, Failure, answers, wait_until
from sojourn import model_agent

SESSIONS = 500
MESSAGES = 3          # in every session
ANSWER_MS = 300       # of the model
DEADLINE_S = 300


class Line:
    """One kept connection to the server."""

    def __init__(self, server):
        self.server = server
        self.connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)

    def ask(self, method, path, body=None):
        self.connection.request(method, path, json.dumps(body) if body else None,
                                {"Authorization": f"Bearer {self.server.token}", "Content-Type": "application/json"})
        answer = self.connection.getresponse()
        text = answer.read()
        if answer.status >= 300:
            raise Failure(f"{method} {path}: {answer.status} {text[:300]}")
        return json.loads(text)

    def events(self, session):
        return self.ask("GET", f"/api/sessions/{session}/events?limit=1000")["events"]


def moment_ms(event):
    return datetime.datetime.fromisoformat(event["created_at"].replace("Z", "+00:00")).timestamp() * 1000


def waits_of(events):
    """Milliseconds from being ready to being taken up, turn after turn."""
    waits, ready_ms = [], None
    for event in events:
        if event["type"] == "session.status_change" and event["metadata"]["to"] == "pending":
            ready_ms = moment_ms(event)
        elif event["type"] == "session.claimed":
            waits.append(moment_ms(event) - ready_ms)
    return waits


def ended_turns(events):
    return sum(event["type"] == "turn.ended" for event in events)


def run(server, agent, turns):
    """All sessions are there before the first message; every session has one message before any has two."""
    line = Line(server)
    ids = [line.ask("POST", "/api/sessions", {"type": "agent", "agent": agent, "status": "idle"})["id"]
           for _ in range(SESSIONS)]
    began = time.monotonic()
    for _ in range(MESSAGES):
        for session in ids:
            line.ask("POST", f"/api/sessions/{session}/messages", {"text": "echo"})
    told_s = time.monotonic() - began
    logs = {}
    for session in ids:
        def is_over(session=session):
            logs[session] = line.events(session)
            return ended_turns(logs[session]) >= turns
        wait_until(is_over, f"{turns} turns of session {session}", server.process, DEADLINE_S, step_s=0.05)
    waits = [waits_of(log) for log in logs.values()]
    return {"told_s": told_s, "all_s": time.monotonic() - began, "first": [each[0] for each in waits],
            "every": [wait for each in waits for wait in each]}


def judge(report, title, waits, goal=None):
    middle, longest = statistics.median(waits), max(waits)
    judged = f"({goal}) {goal.verdict(longest / middle)}" if goal else "(for information: in order of arrival it is 2)"
    report.line(f"{title}: {len(waits):,} waits, median {middle:,.0f} ms, longest {longest:,.0f} ms, "
                f"ratio {longest / middle:.2f} {judged}")


def measure(bench, title, agent, goal, **settings):
    with bench.sojourn(**settings) as server:
        result = run(server, agent, MESSAGES)
    bench.report.line(f"{title}: {SESSIONS} sessions with {MESSAGES} messages each, accepted within "
                      f"{result['told_s']:.1f} s, all answered after {result['all_s']:.1f} s")
    judge(bench.report, f"{title}, before every turn", result["every"], goal)
    judge(bench.report, f"{title}, until a session's first turn", result["first"])


def bench_fairness(bench, goal):
    port = bench.workshop.port()
    model = bench.workshop.start("model", [sys.executable, BENCH / "peers/model.py", port, ANSWER_MS])
    wait_until(lambda: answers(port), "model", model)
    measure(bench, "fairness, a model", "bench", goal, **model_agent(bench.workshop, port))
    bench.workshop.stop(model)
    demo = bench.workshop.directory("agents")
    (demo / "plain.agent.yaml").write_text("id: plain\ndriver: demo\nsandbox: {kind: none}\n")
    measure(bench, "fairness, the demo", "plain", goal, agents=demo)

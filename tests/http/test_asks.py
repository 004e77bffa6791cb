"""Humans in the loop: approvals, questions and forms are durable, expire, and are decided exactly once."""
import threading
from datetime import datetime

from harness import check, people
from harness.suite import test


class Turn:
    """A session whose turn this test plays as a worker; it keeps its lease while it waits."""

    def __init__(self, client, worker=None, **body):
        self.client = client
        self.worker = worker or people.token(client, kind="worker", scopes=["claim"])
        self.path = people.session(client, **{"agent": "a", "status": "pending", **body})
        self.claim()

    def claim(self):
        claims = self.worker.post("/api/claims", {"worker": "w", "max": 1}, expect=200).json()["claims"]
        check.equal([f"/api/sessions/{one['session']['id']}" for one in claims], [self.path])
        self.held = {"Sojourn-Lease": claims[0]["lease"]["token"]}
        return claims[0]

    def ask(self, expect=201, **body):
        return self.worker.post(self.path + "/asks", body, headers=self.held, expect=expect).json()

    def approval(self, id, expect=201, **body):
        return self.ask(expect, **{"id": id, "kind": "approval", "tool": "run_command", "call_id": f"call-{id}",
                                   "arguments": {"command": "make", "times": 1}, **body})

    def answer(self, id, client=None, expect=200, **body):
        return (client or self.client).post(f"{self.path}/asks/{id}/answer", body, expect=expect).json()

    def grant(self, id, scope, **subject):
        """The grant of this scope that is about just that; without a subject, about the tool."""
        [ask] = [one for one in self.asks() if one["id"] == id]
        same = [one for one in ask["grants"] if one["scope"] == scope and one["subject"] == {"tool": ask["tool"], **subject}]
        return same[-1]["id"]

    def state(self):
        session = self.client.get(self.path, expect=200).json()
        return session["status"], session["status_reason"]

    def settle(self, status="idle"):
        return self.worker.post(self.path + "/settle", {"status": status}, headers=self.held, expect=200).json()["status"]

    def events(self, *types):
        found = self.client.get(self.path + "/events", query={"limit": 1000}, expect=200).json()["events"]
        return [event for event in found if event["type"] in types]

    def asks(self, **query):
        return self.client.get(self.path + "/asks", query=query, expect=200).json()["asks"]


@test
def once(server):
    """An approval moves the session to awaiting_tool and back to running; the lease stays all the while."""
    client = server.client()
    turn = Turn(client, title="Build")
    asked = turn.approval("1", details={"risk": "high", "action": "process"})
    check.contains(asked, {"id": "1", "kind": "approval", "state": "pending", "turn": 1, "tool": "run_command", "quorum": 1,
                           "text": "May run_command be called?", "role": "collaborator", "editable": False,
                           "details": {"risk": "high", "action": "process"}})
    check.equal(turn.state(), ("awaiting_tool", "Approval of run_command"))
    session = client.get(turn.path).json()
    check.equal(session["words"]["conversation"], "awaiting_approval")
    check.contains(session["waiting_for"][0], {"ask_id": "1", "kind": "approval", "tool": "run_command"})
    [requested] = turn.events("ask.requested")
    check.contains(requested["metadata"]["ask"], {"id": "1", "state": "pending", "arguments": {"command": "make", "times": 1}})
    check.equal(turn.ask(**{"id": "1", "kind": "approval", "tool": "run_command", "call_id": "call-1",
                            "arguments": {"command": "make", "times": 1}})["id"], "1", "asking twice is asking once")
    check.equal(len(turn.events("ask.requested")), 1)
    check.problem(turn.worker.post(turn.path + "/asks", {"id": "1", "kind": "question", "text": "?"}, headers=turn.held), 409,
                  "ask_exists")
    [row] = client.get("/api/asks", expect=200).json()["asks"]
    check.contains(row, {"id": "1", "session_title": "Build", "session_id": turn.path.split("/")[-1]})
    answered = turn.answer("1", decision="once")
    check.contains(answered, {"state": "answered", "decision": "once", "answered_by": client.get("/api/me").json()["actor"]})
    check.equal(turn.state(), ("running", "answered"))
    [event] = turn.events("ask.answered")
    check.contains(event["metadata"], {"id": "1", "kind": "approval", "turn": 1, "decision": "once", "tool": "run_command",
                                       "call_id": "call-1"})
    check.equal(turn.answer("1", decision="once"), answered, "the same answer again")
    problem = client.post(turn.path + "/asks/1/answer", {"decision": "deny"})
    check.problem(problem, 409, "ask_not_pending")
    check.equal(problem.json()["state"], "answered")
    other = people.person(client, "other", "owner").client
    check.problem(other.post(turn.path + "/asks/1/answer", {"decision": "once"}), 409, "ask_not_pending")
    check.equal(len(turn.events("ask.answered")), 1)
    check.equal(turn.asks(), [])
    check.equal([one["id"] for one in turn.asks(state="all")], ["1"])
    check.equal(client.get(turn.path).json().get("waiting_for", []), [])
    check.equal(turn.settle(), "idle")


@test
def deny_with_a_reason(server):
    """A denial carries its reason to whoever asked; nothing else may be said with it."""
    turn = Turn(server.client())
    turn.approval("1")
    check.problem(turn.client.post(turn.path + "/asks/1/answer", {"decision": "deny", "answer": {}}), 400, "invalid_answer")
    check.problem(turn.client.post(turn.path + "/asks/1/answer", {"decision": "once", "reason": "x"}), 400, "invalid_decision")
    check.problem(turn.client.post(turn.path + "/asks/1/answer", {}), 400, "invalid_decision")
    check.contains(turn.answer("1", decision="deny", reason="not today"), {"decision": "deny", "reason": "not today"})
    check.contains(turn.events("ask.answered")[0]["metadata"], {"decision": "deny", "reason": "not today"})
    check.equal(turn.state()[0], "running")


@test
def edited_arguments(server):
    """Who approves may change arguments only where the ask allows it, and only within their shape."""
    turn = Turn(server.client())
    turn.approval("fixed")
    answer = {"decision": "once", "arguments": {"command": "make all", "times": 2}}
    check.problem(turn.client.post(turn.path + "/asks/fixed/answer", answer), 400, "not_editable")
    turn.approval("free", editable=True)
    for wrong in ({"command": "x"}, {"command": "x", "times": "2"}, {"command": "x", "times": 1, "more": 1}, {},
                  {"command": ["x"], "times": 1}):
        check.problem(turn.client.post(turn.path + "/asks/free/answer", {"decision": "once", "arguments": wrong}), 400,
                      "edit_does_not_fit")
    check.equal(turn.answer("free", **answer)["answer"], answer["arguments"])
    check.equal(turn.events("ask.answered")[0]["metadata"]["answer"], answer["arguments"])
    check.equal(turn.state(), ("awaiting_tool", "Approval of run_command"), "the other one is still pending")


@test
def for_the_session(server):
    """`session` answers the same tool of the same session from then on, also what is pending already."""
    client = server.client()
    turn = Turn(client)
    turn.approval("1")
    turn.approval("2", arguments={"command": "other", "times": 1})
    turn.approval("3", tool="http_request")
    turn.answer("1", grant=turn.grant("1", "session"))
    states = {one["id"]: (one["state"], one.get("decision")) for one in turn.asks(state="all")}
    check.equal(states, {"1": ("answered", "session"), "2": ("answered", "session"), "3": ("pending", None)})
    later = turn.approval("4")
    check.contains(later, {"state": "answered", "decision": "session"})
    check.true(later["answered_by"].startswith("rule:"), "a rule answered")
    kinds = [(event["type"], event["metadata"]["id"]) for event in turn.events("ask.requested", "ask.answered")]
    check.equal(kinds[-2:], [("ask.requested", "4"), ("ask.answered", "4")])
    turn.answer("3", decision="deny")
    [rule] = client.get("/api/rules", expect=200).json()["rules"]
    check.contains(rule, {"scope": "session", "tool": "run_command", "ask_id": "1", "agent": "a"})
    turn.settle("completed")
    check.equal(Turn(client, turn.worker).approval("1")["state"], "pending", "another session asks anew")
    client.delete(f"/api/rules/{rule['id']}", expect=204)
    check.equal(client.get("/api/rules").json()["rules"], [])


@test
def grants_say_what_they_allow(server):
    """Each approval offers what can be allowed, the narrowest first, in a sentence; the answer names one, and older answers
    give the narrowest."""
    client = server.client()
    turn = Turn(client)
    asked = turn.approval("1", arguments={"command": "git push origin"})
    check.equal([one["scope"] for one in asked["grants"]], ["once"] + 4 * ["session"] + 4 * ["always"])
    check.equal(asked["grants"][0], {"id": "once", "scope": "once", "subject": {"tool": "run_command"},
                                     "text": "This call, once."})
    check.equal([one["subject"].get("command") for one in asked["grants"][1:5]], [None, "git push origin", "git push *", None])
    check.equal(asked["grants"][3]["text"], "Until this session ends or hibernates, without asking again: run_command runs "
                                            "`git push` with any arguments.")
    for one in (turn.events("ask.requested")[0]["metadata"]["ask"], turn.asks()[0],
                client.get(turn.path + "/asks/1", expect=200).json()):
        check.equal(one["grants"], asked["grants"])
    answer = turn.path + "/asks/1/answer"
    push = turn.grant("1", "session", command="git push *")
    for wrong in ({"grant": "session"}, {"grant": push, "decision": "always"}, {"grant": push, "decision": "deny"}):
        check.problem(client.post(answer, wrong), 400, "grant_not_offered")
    for wrong in ({"grant": 5}, {"grant": ""}):
        check.equal(client.post(answer, wrong).status, 400, str(wrong))
    link = link_of(turn, "1")
    check.problem(client.with_token(None).post(link, {"grant": push}), 400, "invalid_decision")
    check.equal(turn.asks()[0]["state"], "pending")
    check.contains(turn.answer("1", grant=push), {"state": "answered", "decision": "session"})
    check.equal("grants" in client.get(turn.path + "/asks/1", expect=200).json(), False)
    for id, arguments, state in (("2", {"command": "git push"}, "answered"), ("3", {"command": "git push -f"}, "answered"),
                                 ("4", {"command": "git push && rm x"}, "pending"),
                                 ("5", {"command": "rm x", "description": "git push"}, "pending"),
                                 ("6", {"command": "git push", "cwd": "/etc"}, "pending"),
                                 ("7", {"command": "git push $(rm x)"}, "pending")):
        check.equal(turn.approval(id, arguments=arguments)["state"], state, str(arguments))
    check.equal(turn.approval("8", tool="other", arguments={"command": "git push"})["state"], "pending")
    [rule] = client.get("/api/rules", expect=200).json()["rules"]
    check.contains(rule, {"subject": {"tool": "run_command", "command": "git push *"}, "arguments": None,
                          "text": "In one session, until it ends or hibernates: run_command runs `git push` with any "
                                  "arguments."})
    turn.answer("4", decision="session")
    check.equal(turn.approval("9", arguments={"command": "git push && rm y"})["state"], "pending", "only the same arguments")
    check.equal(turn.approval("10", arguments={"command": "git push && rm x"})["state"], "answered")


@test
def what_was_not_seen_is_allowed_once(server):
    """Without arguments, by several people, or for an output there is no wider grant; a changed call is allowed as it is."""
    client = server.client()
    turn = Turn(client)
    asks = [turn.ask(id="1", kind="approval", tool="t"), turn.ask(id="2", kind="approval", tool="t", arguments={}, quorum=2),
            turn.ask(id="3", kind="approval", text="Keep it?", arguments={"text": "result"})]
    for ask in asks:
        check.equal([one["id"] for one in ask["grants"]], ["once"])
        for decision in ("session", "always"):
            check.problem(client.post(f"{turn.path}/asks/{ask['id']}/answer", {"decision": decision}), 400, "invalid_decision")
    turn.answer("1", grant="once")
    check.equal(turn.ask(id="4", kind="approval", tool="t")["state"], "pending")
    turn.approval("5", editable=True, arguments={"command": "git push"})
    wide, edited = turn.grant("5", "session", command="git push *"), {"command": "git pull"}
    check.problem(client.post(turn.path + "/asks/5/answer", {"grant": wide, "answer": edited}), 400, "grant_not_offered")
    turn.answer("5", decision="session", answer=edited)
    check.equal(turn.approval("6", arguments={"command": "git pull"})["state"], "answered")
    check.equal(turn.approval("7", arguments={"command": "git push"})["state"], "pending")


@test
def always_is_listed_and_revoked(server):
    """`always` holds in later sessions, for the same arguments where no grant is named; revoked, people are asked again."""
    client = server.client()
    turn = Turn(client)
    turn.approval("1")
    turn.answer("1", decision="always")
    turn.settle("completed")
    [rule] = client.get("/api/rules").json()["rules"]
    check.contains(rule, {"scope": "always", "user_id": None, "arguments": {"command": "make", "times": 1}})
    other = Turn(client, turn.worker)
    check.equal(other.approval("1", arguments={"times": 1.0, "command": "make"})["state"], "answered")
    check.equal(other.state()[0], "running", "nobody was asked, nothing waits")
    check.equal(other.approval("2", arguments={"command": "rm", "times": 1})["state"], "pending")
    other.answer("2", decision="deny")
    check.equal(other.approval("3", tool="other")["state"], "pending")
    other.settle("completed")
    client.delete(f"/api/rules/{rule['id']}", expect=204)
    check.problem(client.delete(f"/api/rules/{rule['id']}"), 404, "rule_not_found")
    check.equal(Turn(client, turn.worker).approval("1")["state"], "pending")


@test
def whose_rules(server):
    """An owner's `always` reaches his own sessions, an admin's all; a collaborator can't, and rules are not for strangers."""
    boss = server.client()
    ann, bob = people.person(boss, "ann"), people.person(boss, "bob")
    worker = people.token(boss, kind="worker", scopes=["claim"])
    turn = Turn(ann.client, worker)
    ann.client.post(turn.path + "/participants", {"user_id": bob.id, "role": "collaborator"}, expect=201)
    turn.approval("1")
    check.problem(bob.client.post(turn.path + "/asks/1/answer", {"decision": "always"}), 403, "insufficient_role")
    turn.answer("1", decision="always")
    turn.settle("completed")
    [rule] = ann.client.get("/api/rules").json()["rules"]
    check.equal(rule["user_id"], ann.id)
    check.equal(bob.client.get("/api/rules").json()["rules"], [])
    check.problem(bob.client.delete(f"/api/rules/{rule['id']}"), 404, "rule_not_found")
    theirs = Turn(bob.client, worker)
    check.equal(theirs.approval("1")["state"], "pending", "not for the sessions of others")
    theirs.settle("completed")
    check.equal(Turn(ann.client, worker).approval("1")["state"], "answered")
    boss.delete(f"/api/rules/{rule['id']}", expect=204)


@test
def quorum(server):
    """Two of many must agree, each person counts once whatever token speaks; anybody's denial decides."""
    boss = server.client()
    ann, bob = people.person(boss, "ann"), people.person(boss, "bob")
    turn = Turn(boss)
    for one in (ann, bob):
        boss.post(turn.path + "/participants", {"user_id": one.id, "role": "collaborator"}, expect=201)
    turn.approval("1", quorum=2)
    check.problem(boss.post(turn.path + "/asks/1/answer", {"decision": "session"}), 400, "invalid_decision")
    first = turn.answer("1", ann.client, decision="once")
    check.contains(first, {"state": "pending", "quorum": 2})
    check.equal([vote["by"] for vote in first["votes"]], [f"user:{ann.id}"])
    second_token = people.token(boss, name="again", user_id=ann.id)
    check.equal(turn.answer("1", second_token, decision="once")["state"], "pending", "the same person again")
    by_link = boss.with_token(None).post(link_of(turn, "1", ann.client), {"decision": "once"}, expect=200).json()
    check.equal(by_link["state"], "pending", "and by a link of hers")
    check.equal(len(turn.events("ask.voted")), 1)
    check.equal(turn.state()[0], "awaiting_tool")
    check.contains(turn.answer("1", bob.client, decision="once"), {"state": "answered", "decision": "once"})
    check.equal(turn.state()[0], "running")
    turn.approval("2", quorum=3)
    turn.answer("2", ann.client, decision="once")
    check.contains(turn.answer("2", bob.client, decision="deny", reason="no"), {"state": "answered", "decision": "deny"})
    check.equal(len(turn.events("ask.voted")), 2)


@test
def questions(server):
    """A question waits as waiting_human; the answer is one of its options, or a text, or declined."""
    turn = Turn(server.client())
    check.problem(turn.worker.post(turn.path + "/asks", {"kind": "question"}, headers=turn.held), 400, "invalid_ask")
    for options in ([], ["a", "a"], [1], [""]):
        check.problem(turn.worker.post(turn.path + "/asks", {"kind": "question", "text": "?", "options": options},
                                       headers=turn.held), 400, "invalid_ask")
    turn.ask(id="1", kind="question", text="Which colour?", options=["red", "green"])
    check.equal(turn.state(), ("waiting_human", "Question: Which colour?"))
    for wrong in ("blue", 1, ["red"], ""):
        check.problem(turn.client.post(turn.path + "/asks/1/answer", {"answer": wrong}), 400, "invalid_answer")
    check.problem(turn.client.post(turn.path + "/asks/1/answer", {"decision": "always"}), 400, "invalid_decision")
    check.contains(turn.answer("1", answer="red"), {"state": "answered", "decision": "once", "answer": "red"})
    check.equal(turn.state()[0], "running")
    made = turn.ask(kind="question", text="Anything else?")
    check.true(len(made["id"]) > 10, "an id was made")
    turn.approval("a")
    check.equal(turn.state(), ("waiting_human", "Question: Anything else?"), "a person's knowledge comes first")
    turn.answer(made["id"], decision="deny")
    check.equal(turn.state(), ("awaiting_tool", "Approval of run_command"))
    turn.answer("a", decision="once")
    check.equal(turn.state()[0], "running")


@test
def forms(server):
    """An elicitation is answered by what fits its schema; the alias takes accept and decline."""
    turn = Turn(server.client())
    schema = {"type": "object", "required": ["name", "age"], "additionalProperties": False,
              "properties": {"name": {"type": "string", "minLength": 1}, "age": {"type": "integer", "minimum": 18},
                             "colour": {"enum": ["red", "green"]}}}
    check.problem(turn.worker.post(turn.path + "/asks", {"kind": "elicitation", "text": "?"}, headers=turn.held), 400, "invalid_ask")
    check.problem(turn.worker.post(turn.path + "/asks", {"kind": "elicitation", "text": "?", "schema": {"$ref": "#/x"}},
                                   headers=turn.held), 400, "invalid_schema")
    turn.ask(id="f", kind="elicitation", text="Who are you?", schema=schema)
    check.equal(turn.state(), ("waiting_human", "Form: Who are you?"))
    for wrong in ({}, {"name": "x"}, {"name": "", "age": 20}, {"name": "x", "age": 17}, {"name": "x", "age": 18.5}, "x",
                  {"name": "x", "age": 18, "more": 1}, {"name": "x", "age": 18, "colour": "blue"}):
        check.problem(turn.client.post(turn.path + "/asks/f/answer", {"answer": wrong}), 400, "does_not_fit")
    check.problem(turn.client.post(turn.path + "/elicitation-reply", {"content": {}}), 400, "does_not_fit")
    filled = {"name": "x", "age": 18, "colour": "red"}
    answered = turn.client.post(turn.path + "/elicitation-reply", {"action": "accept", "content": filled}, expect=200).json()
    check.contains(answered, {"id": "f", "state": "answered", "answer": filled})
    check.problem(turn.client.post(turn.path + "/elicitation-reply", {"content": filled}), 404, "ask_not_found")
    turn.ask(id="g", kind="elicitation", text="Again?", schema=schema)
    check.contains(turn.client.post(turn.path + "/elicitation-reply", {"action": "decline"}, expect=200).json(),
                   {"id": "g", "decision": "deny", "reason": "decline"})


@test
def approve_by_call(server):
    """POST /approve names the tool call, as conversations do."""
    turn = Turn(server.client())
    turn.approval("1")
    turn.approval("2")
    check.problem(turn.client.post(turn.path + "/approve", {"tool_call_id": "call-9", "approved": True}), 404, "ask_not_found")
    check.contains(turn.client.post(turn.path + "/approve", {"tool_call_id": "call-1", "approved": True}, expect=200).json(),
                   {"id": "1", "decision": "once"})
    check.contains(turn.client.post(turn.path + "/approve", {"tool_call_id": "call-2", "approved": False}, expect=200).json(),
                   {"id": "2", "decision": "deny"})


@test
def output_is_approved(server):
    """An approval without a tool is of a result: it waits for a person and is in the audit log."""
    turn = Turn(server.client())
    check.problem(turn.worker.post(turn.path + "/asks", {"kind": "approval", "text": "Good?"}, headers=turn.held), 400, "invalid_ask")
    turn.ask(id="o", kind="approval", text="Good?", arguments={"score": 0.9})
    check.equal(turn.state()[0], "waiting_human")
    turn.answer("o", decision="once")
    log = turn.client.get(turn.path + "/audit-log", expect=200).json()["events"]
    check.contains([one for one in log if one["type"] == "user.output_approval"][0]["metadata"], {"ask_id": "o", "approved": True})


@test(options=["--interactive-approval-expiry-ms", "300", "--question-expiry-ms", "0"])
def expiry(server):
    """What nobody decides in time is expired, counts as denied, and the turn goes on; nothing expires twice."""
    turn = Turn(server.client())
    asked = turn.approval("1")
    check.true(asked["expires_at"], "the option's deadline")
    check.equal(turn.ask(id="q", kind="question", text="?")["expires_at"], None)
    check.eventually(lambda: turn.events("ask.expired"), "the approval expires")
    check.equal(turn.state()[0], "waiting_human", "the question still waits")
    turn.ask(id="q2", kind="question", text="quick?", expires_in_ms=200)
    check.eventually(lambda: len(turn.events("ask.expired")) == 2, "the quick question expires")
    problem = turn.client.post(turn.path + "/asks/1/answer", {"decision": "once"})
    check.problem(problem, 409, "ask_not_pending")
    check.equal(problem.json()["state"], "expired")
    turn.answer("q", answer="yes")
    check.equal(turn.state()[0], "running")
    turn.approval("2")
    check.eventually(lambda: turn.state()[0] == "running", "the turn goes on without an answer")
    check.equal([one["metadata"]["id"] for one in turn.events("ask.expired")], ["1", "q2", "2"])


@test(options=["--asks-pending-max", "2"])
def limits(server):
    """So many at a time; only a turn asks, and only whoever runs it."""
    client = server.client()
    turn = Turn(client)
    turn.approval("1")
    turn.approval("2")
    check.problem(turn.worker.post(turn.path + "/asks", {"kind": "question", "text": "?"}, headers=turn.held), 429, "too_many_asks")
    turn.worker.delete(turn.path + "/asks/1", headers=turn.held, expect=204)
    check.contains(turn.events("ask.cancelled")[0]["metadata"], {"id": "1", "reason": "withdrawn"})
    check.equal(turn.ask(id="3", kind="question", text="?")["state"], "pending")
    check.problem(client.post(turn.path + "/asks", {"kind": "question", "text": "?"}), 409, "lease_required")
    check.problem(client.delete(turn.path + "/asks/2"), 409, "lease_required")
    rest = people.session(client)
    check.problem(client.post(rest + "/asks", {"kind": "question", "text": "?"}), 409, "lease_required")
    check.problem(client.post(turn.path + "/asks/nothing/answer", {"decision": "once"}), 404, "ask_not_found")
    check.problem(client.get(turn.path + "/asks/nothing"), 404, "ask_not_found")


@test
def parked_turns_are_queued_by_the_answer(server):
    """A worker that settles to waiting_human gives its lease up; the answer makes the session pending for the next claim."""
    turn = Turn(server.client())
    turn.ask(id="q", kind="question", text="go on?")
    check.equal(turn.settle("waiting_human"), "waiting_human")
    check.problem(turn.worker.post(turn.path + "/lease", {}, headers=turn.held), 409)
    turn.answer("q", answer="yes")
    check.equal(turn.state(), ("pending", "answered"))
    check.equal(turn.claim()["lease"]["fence"], 2)
    [event] = turn.events("ask.answered")
    check.equal(event["metadata"]["answer"], "yes")
    turn.ask(id="q2", kind="question", text="and now?")
    turn.answer("q2", answer="yes")
    check.equal(turn.settle("waiting_human"), "pending", "the answer was quicker than the settlement")


@test(options=["--lease-ms-min", "100"])
def a_lost_lease_leaves_the_ask(server):
    """The worker dies while it waits: the session goes on waiting, and the answer queues it again."""
    client = server.client()
    worker = people.token(client, kind="worker", scopes=["claim"])
    path = people.session(client, agent="a", status="pending")
    [got] = worker.post("/api/claims", {"worker": "w", "lease_ms": 300}, expect=200).json()["claims"]
    held = {"Sojourn-Lease": got["lease"]["token"]}
    worker.post(path + "/asks", {"id": "1", "kind": "approval", "tool": "t"}, headers=held, expect=201)
    log = lambda: [one["type"] for one in client.get(path + "/events", expect=200).json()["events"]]
    check.eventually(lambda: "session.lease_lost" in log(), "the lease runs out")
    check.equal(client.get(path).json()["status"], "awaiting_tool")
    client.post(path + "/asks/1/answer", {"decision": "once"}, expect=200)
    check.equal(client.get(path).json()["status"], "pending")


@test
def ends_cancel(server):
    """A session that rests or ends asks nothing."""
    for status, reason in (("idle", "turn_ended"), ("completed", "session_completed")):
        turn = Turn(server.client())
        turn.approval("1")
        turn.settle(status)
        check.contains(turn.events("ask.cancelled")[0]["metadata"], {"id": "1", "reason": reason})
        check.problem(turn.client.post(turn.path + "/asks/1/answer", {"decision": "once"}), 409, "ask_not_pending")
        check.equal(turn.asks(), [])


@test
def pending_asks_survive_a_restart(server):
    """After a kill the ask is still pending, offered, and answerable once."""
    turn = Turn(server.client())
    turn.approval("1")
    server.kill()
    server.start()
    turn.client = server.client()
    check.equal([one["id"] for one in turn.asks()], ["1"])
    check.equal(turn.client.get("/api/asks").json()["asks"][0]["id"], "1")
    check.equal(turn.state()[0], "awaiting_tool")
    check.equal(turn.answer("1", decision="once")["state"], "answered")
    check.equal(turn.state()[0], "running")


@test
def exactly_one_wins(server):
    """Many people answer at once, each differently: one 200, the others hear that it was decided."""
    boss = server.client()
    turn = Turn(boss)
    clients = [server.client(timeout_s=30) for _ in range(12)]
    for number in range(5):
        id = f"race-{number}"
        turn.ask(id=id, kind="question", text="who?")
        gate, statuses = threading.Barrier(len(clients)), [None] * len(clients)

        def run(index, id=id, gate=gate, statuses=statuses):
            gate.wait()
            statuses[index] = clients[index].post(f"{turn.path}/asks/{id}/answer", {"answer": f"me {index}"}).status
        threads = [threading.Thread(target=run, args=(index,)) for index in range(len(clients))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        check.equal(sorted(statuses), [200] + [409] * (len(clients) - 1))
        [event] = [one for one in turn.events("ask.answered") if one["metadata"]["id"] == id]
        check.equal(event["metadata"]["answer"], f"me {statuses.index(200)}")


@test
def who_may_answer(server):
    """People with the role the ask wants; never workers, runners or sandboxes; strangers and other tenants see nothing."""
    boss = server.client()
    ann, bob, eve = (people.person(boss, name) for name in ("ann", "bob", "eve"))
    other = people.tenant(boss, "elsewhere")
    worker = people.token(boss, kind="worker", scopes=["claim", "read", "write"])
    turn = Turn(ann.client, worker)
    boss.post(turn.path + "/participants", {"user_id": bob.id, "role": "collaborator"}, expect=201)
    turn.approval("1")
    turn.approval("2", role="owner")
    answer = {"decision": "once"}
    for stranger in (eve.client, other.client):
        for id in ("1", "none"):
            check.problem(stranger.post(f"{turn.path}/asks/{id}/answer", answer), 404, "session_not_found")
            check.problem(stranger.get(f"{turn.path}/asks/{id}"), 404, "session_not_found")
        check.problem(stranger.get(turn.path + "/asks"), 404, "session_not_found")
        check.problem(stranger.post(turn.path + "/asks/1/link", {}), 404, "session_not_found")
        check.equal(stranger.get("/api/asks", expect=200).json()["asks"], [])
    check.problem(turn.worker.post(turn.path + "/asks/1/answer", answer, headers=turn.held), 403)
    sandbox = people.token(boss, kind="sandbox", scopes=["claim", "read", "write"], session_id=turn.path.split("/")[-1])
    check.problem(sandbox.post(turn.path + "/asks/1/answer", answer), 403, "person_required")
    viewer = people.person(boss, "viewer")
    boss.post(turn.path + "/participants", {"user_id": viewer.id, "role": "viewer"}, expect=201)
    check.problem(viewer.client.post(turn.path + "/asks/1/answer", answer), 403, "insufficient_role")
    check.equal([one["id"] for one in viewer.client.get(turn.path + "/asks").json()["asks"]], ["2", "1"])
    check.equal(viewer.client.get("/api/asks").json()["asks"], [], "the inbox holds what one may answer")
    check.problem(bob.client.post(turn.path + "/asks/2/answer", answer), 403, "insufficient_role")
    check.equal([one["id"] for one in bob.client.get("/api/asks").json()["asks"]], ["1"])
    check.equal([one["id"] for one in ann.client.get("/api/asks").json()["asks"]], ["2", "1"])
    turn.answer("1", bob.client, **answer)
    turn.answer("2", ann.client, **answer)
    reader = people.token(boss, user_id=ann.id, scopes=["read"])
    check.problem(reader.post(turn.path + "/asks/1/answer", answer), 403)


@test
def inbox_pages(server):
    """Newest first, page by page, each ask once."""
    boss = server.client()
    turn = Turn(boss)
    for number in range(7):
        turn.ask(id=str(number), kind="question", text="?")
    seen, cursor = [], None
    while True:
        page = boss.get("/api/asks", query={"limit": 3, **({"cursor": cursor} if cursor else {})}, expect=200).json()
        seen += [one["id"] for one in page["asks"]]
        cursor = page["next_cursor"]
        if not cursor:
            break
    check.equal(seen, ["6", "5", "4", "3", "2", "1", "0"])
    check.problem(boss.get("/api/asks?cursor=x"), 400, "invalid_cursor")


@test
def children_show_on_their_parent(server):
    """A child's ask is noted in its parent's log and listed with descendants=true, also of grandchildren."""
    client = server.client()
    parent = people.session(client)
    child = people.session(client, parent_id=parent.split("/")[-1])
    turn = Turn(client, parent_id=child.split("/")[-1])
    turn.approval("1")
    log = client.get(child + "/events", expect=200).json()["events"]
    [note] = [one for one in log if one["type"] == "session.child_waiting"]
    check.contains(note["metadata"], {"child_id": turn.path.split("/")[-1], "ask_id": "1", "kind": "approval", "tool": "run_command"})
    check.equal(len([one for one in log if one["type"] == "session.waiting_approval"]), 1)
    check.equal(client.get(parent + "/asks", expect=200).json()["asks"], [])
    for above in (parent, child):
        [row] = client.get(above + "/asks?descendants=true", expect=200).json()["asks"]
        check.contains(row, {"id": "1", "session_id": turn.path.split("/")[-1], "parent_id": child.split("/")[-1]})
        [row] = client.get(above + "/explain", expect=200).json()["child_asks"]
        check.contains(row, {"id": "1", "session_id": turn.path.split("/")[-1]})


def told_of(client, path, type):
    """What the log says of the asks of its children: (ask, state, decision)."""
    log = client.get(path + "/events?limit=1000", expect=200).json()["events"]
    return [(one["metadata"]["ask_id"], one["metadata"].get("state"), one["metadata"].get("decision"))
            for one in log if one["type"] == type]


@test
def a_parent_hears_that_its_child_waits_no_longer(server):
    """Each ask of a child is told once when it is asked and once when it is over, whatever ended it."""
    client = server.client()
    parent = people.session(client)
    turn = Turn(client, parent_id=parent.split("/")[-1])
    turn.approval("yes")
    turn.approval("no")
    turn.ask(id="gone", kind="question", text="?")
    turn.ask(id="late", kind="question", text="quick?", expires_in_ms=1)
    check.eventually(lambda: turn.events("ask.expired"), "the quick question expires")
    check.equal(told_of(client, parent, "session.child_decided"), [("late", "expired", None)])
    for id, decision in (("yes", "once"), ("yes", "once"), ("no", "deny")):
        turn.answer(id, decision=decision)
    turn.worker.delete(turn.path + "/asks/gone", headers=turn.held, expect=204)
    turn.approval("open", arguments={"command": "x", "times": 2})
    check.equal(len(client.get(parent + "/explain", expect=200).json()["child_asks"]), 1)
    client.post(turn.path + "/stop", {}, expect=200)
    check.equal(told_of(client, parent, "session.child_waiting"),
                [(id, None, None) for id in ("yes", "no", "gone", "late", "open")])
    check.equal(told_of(client, parent, "session.child_decided"),
                [("late", "expired", None), ("yes", "answered", "once"), ("no", "answered", "deny"),
                 ("gone", "cancelled", None), ("open", "cancelled", None)])
    check.equal(client.get(parent + "/asks?descendants=true&state=pending", expect=200).json()["asks"], [])
    check.equal(client.get(parent + "/explain", expect=200).json()["child_asks"], [])


@test
def a_rule_that_decides_for_a_child_is_told(server):
    """What a standing decision answers meanwhile is over for the parent too; what it answers at once was never told."""
    client = server.client()
    parent = people.session(client)
    turn = Turn(client, parent_id=parent.split("/")[-1])
    turn.approval("1")
    turn.approval("2", arguments={"command": "other", "times": 1})
    turn.answer("1", grant=turn.grant("1", "session"))
    turn.approval("3")
    check.equal(told_of(client, parent, "session.child_waiting"), [("1", None, None), ("2", None, None)])
    check.equal(sorted(told_of(client, parent, "session.child_decided")),
                [("1", "answered", "session"), ("2", "answered", "session")])


def link_of(turn, id, client=None, **body):
    made = (client or turn.client).post(f"{turn.path}/asks/{id}/link", body, expect=201).json()
    return made["url"]


@test
def a_link_decides_once(server):
    """GET shows, POST decides, then the link is over; without a valid token there is nothing, in the same bytes."""
    turn = Turn(server.client(), title="<b>Build</b>")
    nobody = server.anonymous()
    turn.approval("1", text='Run <script>alert("x")</script>?')
    url = link_of(turn, "1")
    missing = nobody.get("/asks/sa_wrong")
    check.problem(missing, 404, "not_found")
    check.contains(nobody.get(url, expect=200).json(), {"id": "1", "state": "pending"})
    page = nobody.get(url, headers={"Accept": "text/html,*/*"}, expect=200)
    check.equal(page.header("content-type"), "text/html; charset=utf-8")
    check.equal((page.header("cache-control"), page.header("referrer-policy")), ("no-store", "no-referrer"))
    text = page.body.decode()
    check.true("<script>" not in text and "<b>" not in text and "&lt;script&gt;" in text, "the page escapes")
    check.problem(nobody.post(url, {"decision": "always"}), 400, "invalid_decision")
    check.problem(nobody.post(url, {"nonsense": 1}), 400)
    check.problem(nobody.post("/asks/sa_wrong", {"nonsense": 1}), 404, "not_found")
    check.contains(nobody.post(url, {"decision": "once"}, expect=200).json(), {"state": "answered", "decision": "once"})
    check.equal(turn.state()[0], "running")
    me = turn.client.get("/api/me").json()["user_id"]
    check.equal(turn.events("ask.answered")[0]["actor"], f"link:{me}")
    for answer in (nobody.get(url), nobody.post(url, {"decision": "once"})):
        check.problem(answer, 404, "not_found")
        check.equal({k: v for k, v in answer.json().items() if k != "request_id"},
                    {k: v for k, v in missing.json().items() if k != "request_id"})


@test(options=["--ask-link-ms", "1500"])
def links_end(server):
    """A link ends by time, with its maker's access, and cannot decide what was decided; pages send forms."""
    boss = server.client()
    nobody = server.anonymous()
    ann = people.person(boss, "ann")
    turn = Turn(boss)
    boss.post(turn.path + "/participants", {"user_id": ann.id, "role": "collaborator"}, expect=201)
    turn.ask(id="q", kind="question", text="Which?", options=["red", "green"])
    turn.approval("2")
    turn.approval("3")
    url = link_of(turn, "q")
    form = {"Content-Type": "application/x-www-form-urlencoded", "Accept": "text/html"}
    page = nobody.request("POST", url, b"answer=red", headers=form, expect=200)
    check.true("It is answered." in page.body.decode(), "the page says so")
    check.equal(turn.client.get(turn.path + "/asks/q").json()["answer"], "red")
    decided = link_of(turn, "2")
    turn.answer("2", decision="deny")
    check.problem(nobody.post(decided, {"decision": "once"}), 409, "ask_not_pending")
    hers = link_of(turn, "3", ann.client)
    nobody.get(hers, expect=200)
    boss.delete(f"{turn.path}/participants/{ann.id}", expect=204)
    check.problem(nobody.get(hers), 404, "not_found")
    check.problem(nobody.post(hers, {"decision": "once"}), 404, "not_found")
    short = link_of(turn, "3", expires_in_ms=1)
    check.eventually(lambda: nobody.get(short).status == 404, "the link ends")
    check.problem(nobody.post(short, {"decision": "once"}), 404, "not_found")
    check.equal(turn.client.get(turn.path + "/asks/3").json()["state"], "pending")


@test
def deletion_and_verify(server):
    """Asks and session rules go with their session; the store is whole."""
    client = server.client()
    turn = Turn(client)
    turn.approval("1")
    turn.answer("1", decision="session")
    turn.approval("2", tool="x")
    turn.settle("completed")
    client.delete(turn.path, expect=204)
    check.equal(client.get("/api/rules").json()["rules"], [])
    server.stop()
    server.verify()
    server.start()


@test
def answers_over_websocket(server):
    """A viewer answers where it watches; the result comes between the frames, whoever may not answer hears why."""
    client = server.client()
    turn = Turn(client)
    turn.ask(id="q", kind="question", text="Which?", options=["red", "green"])
    turn.approval("a")
    with client.websocket(turn.path + "/ws") as socket:
        def say(**message):
            socket.send({"type": "answer", **message})
            return socket.until(lambda frame: frame.get("type") == "result" and frame["id"] == message.get("id"))[-1]
        check.contains(say(id=1, ask_id="q", answer="blue")["error"], {"status": 400, "code": "invalid_answer"})
        check.contains(say(id="two", questionId="q", answer="red")["ask"], {"id": "q", "answer": "red"})
        check.contains(say(id=3, ask_id="q", answer="green")["error"], {"status": 409, "code": "ask_not_pending", "state": "answered"})
        check.contains(say(id=4, answer="x")["error"], {"code": "invalid_message"})
        check.contains(say(id=5, ask_id="a", decision="perhaps")["error"], {"code": "invalid_decision"})
        socket.send({"type": "something else", "id": 6})
        check.contains(say(id=7, ask_id="a", decision="once")["ask"], {"decision": "once"})
    check.equal(turn.state()[0], "running")
    check.equal(turn.events("ask.answered")[0]["actor"], client.get("/api/me").json()["actor"])
    turn.approval("b")
    reader = people.token(client, scopes=["read"])
    with reader.websocket(turn.path + "/ws") as socket:
        socket.send({"type": "answer", "id": 1, "ask_id": "b", "decision": "once"})
        refused = socket.until(lambda frame: frame.get("type") == "result")[-1]
        check.contains(refused["error"], {"status": 403, "code": "insufficient_scope"})


@test
def results_come_whole_between_many_frames(server):
    """Answers while a long log is replayed to the same connection: every frame arrives whole."""
    client = server.client()
    turn = Turn(client)
    for _ in range(20):
        client.post(turn.path + "/events", {"events": [{"type": "note.x", "content": [{"text": "x" * 20000}]}] * 10}, expect=201)
    turn.ask(id="q", kind="question", text="?")
    with client.websocket(turn.path + "/ws") as socket:
        for number in range(30):
            socket.send({"type": "answer", "id": number, "ask_id": "q", "answer": f"{number}"})
        results, notes = {}, 0
        while len(results) < 30 or notes < 200:
            frame = socket.next_json()
            if frame.get("type") == "result":
                results[frame["id"]] = frame
            notes += frame["type"] == "event" and frame["data"]["type"] == "note.x"
        check.equal([results[0]["ok"], sorted(results)], [True, list(range(30))])
        codes = {results[number]["error"]["code"] for number in range(1, 30)}
        check.true(codes <= {"ask_not_pending", "too_many_answers"}, f"the others were too late: {codes}")


@test
def a_new_viewer_is_told_what_is_asked(server):
    """`ready` holds the pending asks, wherever the viewer begins, whoever watches already; nobody asks a second time."""
    client = server.client()
    turn = Turn(client)

    def end():
        return f"?after={client.get(turn.path).json()['last_sequence']}"

    def ready(query=""):
        with client.stream(turn.path + "/events" + query) as stream:
            return [ask["id"] for ask in stream.next().json()["asks"]]
    check.equal(ready(), [])
    with client.stream(turn.path + "/events" + end()) as first:
        check.equal(first.next().json()["asks"], [])
        check.equal(ready(end()), [], "a second viewer, from memory")
        asked = turn.ask(id="q", kind="question", text="Which?", options=["red", "green"])
        turn.approval("a")
        first.until(lambda frame: frame.event == "event" and frame.json()["type"] == "ask.requested" and
                    frame.json()["metadata"]["id"] == "a", 20)
        for query in ("", end(), "?after=2", "?types=user.message"):
            check.equal(ready(query), ["q", "a"], query)
        with client.websocket(turn.path + "/ws") as socket:
            [told, _] = socket.until(lambda frame: frame["type"] == "ready")[-1]["data"]["asks"]
            check.contains(told, {"id": "q", "kind": "question", "text": "Which?", "options": asked["options"],
                                  "state": "pending"})
        turn.answer("q", answer="red")
        check.equal(ready(end()), ["a"])
        turn.answer("a", decision="deny", reason="no")
        check.equal(ready(end()), [])
    server.kill()
    server.start()
    client = server.client()
    turn.client = client
    check.equal(ready(end()), [])


DAY_MS = 24 * 60 * 60 * 1000


def waits_ms(ask):
    """From its beginning to its deadline; None when it has none."""
    at = lambda text: datetime.fromisoformat(text.replace("Z", "+00:00"))
    return ask["expires_at"] and round((at(ask["expires_at"]) - at(ask["created_at"])).total_seconds() * 1000)


@test
def asks_wait_long(server):
    """A day; approvals of interactive sessions as long as the session lives; the agent and the session say shorter."""
    client = server.client()
    short = {"ask_expiry_ms": "2m"}
    rows = [({}, {}, (None, DAY_MS, DAY_MS)),
            ({"source": {"kind": "schedule", "interactive": False}}, {}, (DAY_MS, DAY_MS, DAY_MS)),
            ({}, short, (120000, 120000, 120000)),
            ({"agent_config": {"ask_expiry_ms": 5000}}, short, (5000, 5000, 5000)),
            ({"agent_config": {"ask_expiry_ms": 5000}}, {}, (5000, 5000, 5000))]
    for number, (session, agent, expected) in enumerate(rows):
        client.post("/api/agents", {"id": f"asks{number}", "driver": "worker", **agent}, expect=201)
        turn = Turn(client, agent=f"asks{number}", **session)
        seen = [turn.approval("1"), turn.ask(id="q", kind="question", text="?"),
                turn.ask(id="e", kind="elicitation", text="?", schema={"type": "object", "properties": {}})]
        check.equal(tuple(map(waits_ms, seen)), expected, f"{session} {agent}")
        check.equal(waits_ms(turn.ask(id="own", kind="question", text="?", expires_in_ms=7000)), 7000)
    widened = client.post("/api/sessions", {"type": "agent", "agent": "asks2", "agent_config": {"ask_expiry_ms": "3m"}})
    check.problem(widened, 400, "widens_agent")
    check.problem(client.post("/api/agents", {"id": "no", "driver": "worker", "ask_expiry_ms": "400d"}), 400)


@test
def what_expired_is_asked_again(server):
    """It stays as expired; the agent is told to ask again, by a message; anything else is refused and says why."""
    turn = Turn(server.client())
    turn.ask(id="q", kind="question", text="Which way?", expires_in_ms=200)
    turn.ask(id="late", kind="question", text="And?", options=["x"])
    check.problem(turn.client.post(turn.path + "/asks/late/again", {}), 409, "ask_not_expired")
    check.eventually(lambda: turn.events("ask.expired"), "nobody answers")
    check.equal([one["id"] for one in turn.client.get(turn.path + "/asks?state=expired").json()["asks"]], ["q"])
    turn.answer("late", answer="x")
    turn.ask(id="q2", kind="question", text="Now?", expires_in_ms=200)
    check.eventually(lambda: turn.state() == ("running", "ask_expired"), "it goes on, and says why")
    turn.client.post(turn.path + "/asks/q/again", {}, expect=202)
    queued = turn.client.get(turn.path + "/queue", expect=200).json()["prompts"]
    check.true("Which way?" in queued[0]["content"][0]["text"], queued[0]["content"][0]["text"])
    check.problem(turn.client.post(turn.path + "/asks/none/again", {}), 404, "ask_not_found")
    check.problem(turn.client.post("/api/sessions/none/asks/q/again", {}), 404)

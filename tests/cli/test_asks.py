"""What agents ask, decided from the command line."""
import json

from harness import check, test

DONE, REFUSED, USAGE, UNREACHABLE, MISSING, DENIED = range(6)


def asked(server, count=1):
    """A session of a worker that asks so many approvals; its id and the worker's headers."""
    client = server.client()
    id = client.post("/api/sessions", {"type": "agent", "agent": "asker", "status": "pending"}, expect=201).json()["id"]
    [claim] = client.post("/api/claims", {"worker": "w", "agents": ["asker"]}, expect=200).json()["claims"]
    check.equal(claim["session"]["id"], id)
    held = {"Sojourn-Lease": claim["lease"]["token"]}
    for number in range(count):
        client.post(f"/api/sessions/{id}/asks",
                    {"id": f"a{number}", "kind": "approval", "tool": "shell", "call_id": f"c{number}",
                     "text": f"Run \x1b[31mcommand {number}", "arguments": {"n": number}}, headers=held, expect=201)
    return id, held


def state(server, id, ask):
    """What became of an ask."""
    answer = server.client().get(f"/api/sessions/{id}/asks/{ask}", expect=200).json()
    return answer["state"], answer.get("decision"), answer.get("answer"), answer.get("reason")


@test
def an_approval_is_found_and_allowed(server):
    """The list names it, explain says what to type, and one command decides it."""
    check.equal(server.run("asks", "list").stderr, "nothing is asked; sojourn sessions list shows what is running\n")
    id, _ = asked(server)
    lines = server.run("asks", "list").stdout.splitlines()
    check.equal(lines[0].split(), ["SESSION", "ASK", "KIND", "TOOL", "AGENT", "ASKED", "EXPIRES"])
    check.equal(lines[1].split()[:5], [id, "a0", "approval", "shell", "asker"])
    check.equal(len(json.loads(server.run("asks", "list", "--json").stdout)["asks"]), 1)
    check.contains(server.run("sessions", "explain", id).stdout, f"person: sojourn asks allow {id}\n")
    allowed = server.run("asks", "allow", id)
    check.equal(allowed.stdout, "")
    check.contains(allowed.stderr, "allowed: Run ")
    check.true("\x1b" not in allowed.stderr, "what an agent says does not reach the terminal as it is")
    check.equal(state(server, id, "a0"), ("answered", "once", None, None))
    check.contains(server.run("asks", "allow", id, expect=MISSING).stderr, "asks nothing")


@test
def one_of_several_is_named(server):
    """Without a name nothing is decided, and the names are told."""
    id, _ = asked(server, 3)
    refused = server.run("asks", "deny", id, expect=REFUSED)
    check.contains(refused.stderr, f"{id} asks 3 things; say which with --ask:")
    check.contains(refused.stderr, "  a1: Run ")
    server.run("asks", "deny", id, "--ask", "a1", "--reason", "too early")
    check.equal(state(server, id, "a1"), ("answered", "deny", None, "too early"))
    server.run("asks", "allow", id, "--ask", "a0", "--decision", "session", "--these-arguments")
    check.equal(state(server, id, "a0"), ("answered", "session", None, None))
    server.run("asks", "allow", id)
    check.equal(state(server, id, "a2"), ("answered", "once", None, None))


@test
def questions_and_forms_are_answered(server):
    """A question by one of its options, a form by an object; what does not fit is refused by the server."""
    id, held = asked(server, 0)
    ask = lambda body: server.client().post(f"/api/sessions/{id}/asks", body, headers=held, expect=201)
    ask({"id": "q", "kind": "question", "text": "Which?", "options": ["vault", "file"]})
    server.run("asks", "answer", id, "nothing of this", expect=REFUSED)
    server.run("asks", "answer", id, "vault")
    check.equal(state(server, id, "q"), ("answered", "once", "vault", None))
    schema = {"type": "object", "properties": {"port": {"type": "integer"}}, "required": ["port"]}
    ask({"id": "f", "kind": "elicitation", "text": "Where?", "schema": schema})
    server.run("asks", "answer", id, '{"port": 8080}')
    check.equal(state(server, id, "f")[2], {"port": 8080})


@test
def ended_sessions_go_on_or_begin_again(server):
    """Interrupt, reopen and retry."""
    id, _ = asked(server)
    check.equal(server.run("sessions", "interrupt", id).stdout, f"interrupted {id}\n")
    check.equal(server.run("sessions", "stop", id).stdout, f"stopped {id}\n")
    check.equal(server.run("sessions", "reopen", id).stdout, f"reopened {id}\n")
    client = server.client()
    client.post(f"/api/sessions/{id}/status", {"status": "failed", "reason": "no"}, expect=200)
    again = server.run("sessions", "retry", id).stdout.strip()
    check.equal(client.get(f"/api/sessions/{again}").json()["retry_of"], id)

"""No credential reaches further than the one it was made with, and nobody speaks for a person they are not."""
from harness import check, test
from harness.people import person, session, token

SAY = {"events": [{"type": "user.message", "content": [{"type": "text", "text": "delete everything"}]}]}


@test
def bound_tokens_are_made_by_those_who_may_share_the_session(server):
    """S3-148, X-08: for a session one does not own, of whatever kind the token, an unknown session's answer or a refusal."""
    owner = server.client()
    admin, anna, bert = person(owner, "admin", "admin"), person(owner, "anna"), person(owner, "bert")
    hidden = {"kind": session(anna.client, id="plain"),
              "orchestrator": session(owner, id="private", purpose="orchestrator")}
    for kind in ("user", "worker", "runner", "sandbox", "channel", "share_link"):
        for maker in (admin, bert):
            for id in ("plain", "private", "unknown"):
                got = maker.client.post("/api/tokens", {"name": "x", "kind": kind, "session_id": id})
                check.true(got.status in (400, 403, 404), f"{maker.email} {kind} {id} answers {got.status}")
        for id in ("private", "unknown"):
            got = [admin.client.post("/api/tokens", {"name": "x", "kind": kind, "session_id": one}).body
                   for one in (id, "no-such")]
            check.equal(got[0], got[1], "a session that one may not see answers like none")
    check.true(hidden, "there were sessions to find")
    anna.client.post("/api/tokens", {"name": "mine", "session_id": "plain"}, expect=201)


@test
def an_admin_takes_over_no_account(server):
    """Neither a token for another user nor their password: both would open what is theirs alone."""
    owner = server.client()
    admin, anna = person(owner, "admin", "admin"), person(owner, "anna")
    check.problem(admin.client.post("/api/tokens", {"name": "x", "user_id": anna.id}), 403, "owner_required")
    check.problem(admin.client.patch(f"/api/users/{anna.id}", {"password": "a long new password"}), 400)


@test
def code_in_a_sandbox_says_nothing_for_people(server):
    """C-02, X-09: no type that people write, no role of a user; the log stays as it was."""
    owner = server.client()
    path = session(owner, id="run", status="idle")
    for kind in ("sandbox", "runner"):
        inside = token(owner, kind=kind, session_id="run", scopes=["read", "write"])
        before = owner.get(path + "/events").json()
        for type in ("user.message", "user.form_submit", "user.form_draft", "user.tool_confirmation", "user.custom"):
            check.problem(inside.post(path + "/events", {"events": [{"type": type}]}), 403, "person_required")
        for type in ("build.note", "external.event", "tool.invocation_started"):
            body = {"events": [{"type": type, "role": "user"}]}
            check.true(inside.post(path + "/events", body).status in (403, 400), f"{type} with the role of a user")
        check.equal(owner.get(path + "/events").json(), before, "the log")
        patch = {"type": "state.patch", "metadata": {"target": {"kind": "view", "id": "v"},
                                                   "ops": [{"op": "add", "path": "/a", "value": 1}]}}
        inside.post(path + "/events", {"events": [patch]}, expect=201)
        check.equal(owner.get(path + "/events").json()["events"][-1]["role"], "agent")


@test
def a_kept_answer_is_for_who_may_still_read_it(server):
    """Not after a participant was removed, not for a token of the same user with other bounds."""
    owner = server.client()
    anna = person(owner, "anna")
    path = session(owner, id="team")
    owner.post(path + "/participants", {"user_id": anna.id, "role": "collaborator"}, expect=201)
    key = {"Idempotency-Key": "k1"}
    first = anna.client.post(path + "/events", SAY, headers=key, expect=201)
    check.equal(anna.client.post(path + "/events", SAY, headers=key, expect=201).body, first.body)
    narrow = anna.client.post("/api/tokens", {"name": "n", "scopes": ["read"]}, expect=201).json()["token"]
    check.true(server.client().with_token(narrow).post(path + "/events", SAY, headers=key).status in (403, 409),
               "a token without the scope gets no kept answer")
    owner.delete(f"{path}/participants/{anna.id}", expect=204)
    refused = anna.client.post(path + "/events", SAY, headers=key)
    check.problem(refused, 404, "session_not_found")
    check.equal(len([event for event in owner.get(path + "/events").json()["events"] if event["type"] == "user.message"]), 1)


@test
def a_guessed_lease_finds_no_session(server):
    """With whatever stands in Sojourn-Lease, a session that one has no access to answers like one that does not exist."""
    owner = server.client()
    session(owner, id="private", purpose="orchestrator")
    session(person(owner, "anna").client, id="annas")
    guess = {"Sojourn-Lease": "sl_" + "a" * 43}
    callers = [person(owner, "bert").client, token(owner, kind="worker", scopes=["claim"]),
               token(owner, kind="worker", scopes=["read", "write", "claim"], id_prefix="w:"),
               token(owner, kind="channel", scopes=["read", "write", "claim"], id_prefix="t:")]
    for caller in callers:
        for method, tail, body in (("GET", "", None), ("GET", "/events", None), ("POST", "/events", SAY),
                                   ("POST", "/settle", {"status": "completed"}), ("POST", "/heartbeat", {}),
                                   ("PATCH", "", {"title": "x"}), ("DELETE", "", None)):
            got = [(answer.status, answer.body) for answer in
                   (caller.request(method, f"/api/sessions/{id}{tail}", body, headers=guess)
                    for id in ("private", "annas", "unknown"))]
            check.equal(got[0], got[2], f"{method} {tail} of a private session")
            check.equal(got[1], got[2], f"{method} {tail} of somebody else's session")


def total(client):
    """All sessions that GET /api/counts tells of, checked against its parts."""
    counts = client.get("/api/counts", expect=200).json()
    check.equal(counts["total"], sum(counts["by_status"].values()))
    check.equal(counts["total"], sum(sum(states.values()) for states in counts["by_type"].values()))
    return counts["total"]


@test
def counts_and_queues_tell_what_lists_show(server):
    """C-03: for every role, GET /api/counts counts the rows of the list, and the queue only what stands in it."""
    owner = server.client()
    admin, anna, bert = person(owner, "admin", "admin"), person(owner, "anna"), person(owner, "bert")
    session(owner, id="o-1", visibility="private")
    session(owner, id="o-2", visibility="org_visible", status="pending", agent="open-agent")
    session(owner, id="o-3", visibility="private", purpose="orchestrator", status="pending", agent="owners-agent")
    session(anna.client, id="a-1", visibility="private", status="pending", agent="annas-agent")
    session(anna.client, id="a-2", visibility="private", purpose="workflow", status="pending", agent="annas-flow")
    shared = session(anna.client, id="a-3", visibility="private", status="pending", agent="shared-agent")
    anna.client.post(shared + "/participants", {"user_id": bert.id, "role": "viewer"}, expect=201)
    worker = token(owner, kind="worker", scopes=["read", "claim"])
    claimed = worker.post("/api/claims", {"worker": "w1", "agents": ["annas-agent"]}, expect=200).json()["claims"]
    check.equal(len(claimed), 1)
    for client, agents, workers in (
            (owner, {"open-agent", "owners-agent", "annas-agent", "annas-flow", "shared-agent"}, ["w1"]),
            (admin.client, {"open-agent", "annas-agent", "shared-agent"}, ["w1"]),
            (anna.client, {"open-agent", "annas-agent", "annas-flow", "shared-agent"}, ["w1"]),
            (bert.client, {"open-agent", "shared-agent"}, []),
            (worker, {"open-agent", "owners-agent", "annas-agent", "annas-flow", "shared-agent"}, ["w1"])):
        listed = client.get("/api/sessions?limit=200&archived=all", expect=200).json()["sessions"]
        check.equal(total(client), len(listed), "the list and its count")
        queue = client.get("/api/queue", expect=200).json()
        check.equal({one["agent"] for one in queue["queues"]}, agents, "agents with work")
        check.equal([one["worker"] for one in queue["workers"]], workers, "workers")


@test
def a_kept_answer_is_for_the_same_bounds(server):
    """Tokens of one user with other scopes, or for other ids, get none of each other's answers."""
    owner = server.client()
    body = {"id": "web:one", "type": "agent"}
    whole = token(owner, scopes=["read", "write", "claim"])
    key = {"Idempotency-Key": "k"}
    first = whole.post("/api/sessions", body, headers=key, expect=201).json()
    check.equal(whole.post("/api/sessions", body, headers=key, expect=201).json(), first)
    for bounds in ({"scopes": ["write"]}, {"scopes": ["read", "write"]},
                   {"scopes": ["read", "write", "claim"], "id_prefix": "web:"}):
        check.problem(token(owner, **bounds).post("/api/sessions", body, headers=key), 409, "idempotency_key_reused")
    same = token(owner, scopes=["read", "write", "claim"])
    check.equal(same.post("/api/sessions", body, headers=key, expect=201).json(), first)

"""Sessions over HTTP: creation, opening, lists, changes, archive, delete, history, on both engines."""
import datetime

from harness import check
from harness.people import person
from harness.suite import test


def utc_now():
    """As the server writes it."""
    return datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def new(client, **body):
    return client.post("/api/sessions", {"type": "agent", **body}, expect=201).json()


@test
def create_and_get(server):
    """S0-001, S0-003, S2-001: one record, every vocabulary, the same on GET."""
    client = server.client()
    made = new(client, title="Fix login", workspace="acme/web", metadata={"a": 1, "b": "x", "c": True})
    check.equal(made["status"], "idle", "an agent conversation starts idle")
    check.equal(made["metadata"], {"a": 1, "b": "x", "c": True})
    check.equal(made["last_sequence"], 1)
    check.equal(client.get(f"/api/sessions/{made['id']}", expect=200).json(), made)
    log = client.get(f"/api/sessions/{made['id']}/events", expect=200).json()
    check.equal([event["type"] for event in log["events"]], ["session.created"])


@test
def types_and_initial_states(server):
    """S0-013, S0-014, S0-063: each type has its initial states and no others."""
    client = server.client()
    for kind, state in [("agent", "idle"), ("response", "draft"), ("tool", "draft"), ("mixed", "idle")]:
        check.equal(client.post("/api/sessions", {"type": kind}, expect=201).json()["status"], state)
    check.equal(client.post("/api/sessions", {"type": "agent", "prompt": "go"}, expect=201).json()["status"], "pending")
    check.equal(client.post("/api/sessions", {"type": "mixed", "status": "running"}, expect=201).json()["status"], "running")
    for kind, state in [("agent", "running"), ("response", "pending"), ("tool", "completed"), ("mixed", "draft")]:
        problem = client.post("/api/sessions", {"type": kind, "status": state}, expect=(400, 409)).json()
        check.contains(problem["detail"], kind if kind in problem["detail"] else state)


@test
def bad_input_changes_nothing(server):
    """A clear answer with status, code and what is accepted."""
    client = server.client()
    for body, code in [({}, "missing_member"), ({"type": "robot"}, "invalid_member"), ({"type": "agent", "colour": 1}, "unknown_member"),
                       ({"type": "agent", "id": "a b"}, "invalid_id"), ({"type": "agent", "title": 5}, "invalid_member"),
                       ({"type": "agent", "workspace": "x" * 101}, "invalid_length")]:
        answer = client.post("/api/sessions", body, expect=400)
        check.equal(answer.header("content-type"), "application/problem+json")
        check.equal(answer.json()["code"], code)
    check.equal(client.post("/api/sessions", b"{", expect=400).json()["code"], "invalid_json")
    check.equal(client.post("/api/sessions", {"type": "agent", "metadata": {"deep": {"no": 1}}}, expect=400).status, 400)
    check.equal(client.get("/api/sessions", expect=200).json()["sessions"], [])
    check.equal(client.get("/api/sessions?colour=red", expect=400).json()["code"], "unknown_member")
    check.equal(client.get("/api/sessions/none", expect=404).json()["code"], "session_not_found")
    check.equal(client.get("/api/nowhere", expect=404).json()["code"], "not_found")
    check.contains(client.put("/api/sessions", {}, expect=405).header("allow"), "POST")
    check.equal(server.anonymous().get("/api/sessions", expect=401).json()["code"], "unauthenticated")
    check.equal(server.client(token="wrong").get("/api/sessions", expect=401).json()["code"], "unauthenticated")


@test
def open_or_create_by_id(server):
    """S2-017 to S2-019: opening keeps the source and merges metadata, new over old."""
    client = server.client()
    made = client.post("/api/sessions", {"id": "cli:home", "type": "agent", "metadata": {"a": 1, "b": 1}}, expect=201).json()
    check.equal(made["source"]["kind"], "cli")
    again = client.post("/api/sessions", {"id": "cli:home", "type": "agent", "metadata": {"b": 2, "c": 3},
                                          "source": {"kind": "api"}}, expect=200).json()
    check.equal(again["metadata"], {"a": 1, "b": 2, "c": 3})
    check.equal(again["source"]["kind"], "cli", "the original source stays")
    check.equal(again["created_at"], made["created_at"])


@test
def idempotency_key(server):
    """X-04: the same key gives the same answer and creates once; another request with it is refused."""
    client = server.client()
    headers = {"Idempotency-Key": "k1"}
    first = client.post("/api/sessions", {"type": "agent", "title": "one"}, headers=headers, expect=201)
    second = client.post("/api/sessions", {"type": "agent", "title": "one"}, headers=headers, expect=201)
    check.equal(second.json(), first.json())
    check.equal(second.header("idempotency-replayed"), "true")
    check.equal(client.post("/api/sessions", {"type": "agent", "title": "two"}, headers=headers, expect=409).json()["code"],
                "idempotency_key_reused")
    check.equal(len(client.get("/api/sessions").json()["sessions"]), 1)


@test
def lists_page_and_filter(server):
    """Cursor paging without gap or repeat, and every filter."""
    client = server.client()
    ids = [new(client, title=f"number {i}", workspace="w" if i % 2 else "v", agent="a" if i % 3 else "b",
               metadata={"n": i % 4}, task_id=f"t{i % 2}", entity_id="e1" if i == 7 else "e2")["id"] for i in range(25)]
    seen, cursor = [], None
    while True:
        query = {"limit": 7} | ({"cursor": cursor} if cursor else {})
        page = client.get("/api/sessions", query=query, expect=200).json()
        seen += [session["id"] for session in page["sessions"]]
        cursor = page["next_cursor"]
        if not page["has_more"]:
            break
    check.equal(sorted(seen), sorted(ids))
    check.equal(len(seen), len(set(seen)), "no repeats")

    def found(**query):
        return {session["title"] for session in client.get("/api/sessions", query={"limit": 100} | query, expect=200).json()["sessions"]}
    numbers = lambda keep: {f"number {i}" for i in range(25) if keep(i)}
    check.equal(found(workspace="w"), numbers(lambda i: i % 2))
    check.equal(found(agent="b"), numbers(lambda i: i % 3 == 0))
    check.equal(found(task_id="t1", agent="a"), numbers(lambda i: i % 2 and i % 3))
    check.equal(found(entity_id="e1"), {"number 7"})
    check.equal(found(**{"metadata.n": "3"}), numbers(lambda i: i % 4 == 3))
    check.equal(found(q="NUMBER 12"), {"number 12"})
    check.equal(found(q="100%"), set())
    check.equal(found(status="pending"), numbers(lambda i: True))
    check.equal(found(status="running"), set())
    check.equal(found(type="tool"), set())
    check.equal(found(display_status="active", ownership="mine", group="live"), numbers(lambda i: True))
    check.equal(found(ownership="shared"), set())
    check.equal(found(created_before="2001-01-01T00:00:00Z"), set())
    check.equal(found(created_after="2001-01-01T00:00:00Z", interactive="false") | found(interactive="true"), numbers(lambda i: True))
    client.post(f"/api/sessions/{ids[3]}/archive", expect=200)
    check.equal("number 3" in found(), False)
    check.equal(found(archived="true"), {"number 3"})
    check.equal(len(found(archived="all")), 25)


@test
def every_filter_takes_some_and_leaves_others(server):
    """Of four sessions each filter of the document finds exactly those it should, alone and with all others."""
    client = server.client()
    other = person(client, "other")
    parent = new(client, id="web:parent", metadata={"colour": "blue"})
    own = new(client, id="slack:one", type="agent", title="Grün 100% done", status="pending", workspace="w", agent="a",
              source={"kind": "channel", "platform": "slack", "interactive": False}, metadata={"colour": "red"},
              visibility="org_visible", parent_id=parent["id"], task_id="t", entity_id="e")
    check.eventually(lambda: utc_now() > own["created_at"], "a later millisecond")
    tool = client.post("/api/sessions", {"type": "tool", "id": "tool"}, expect=201).json()
    hers = new(other.client, id="hers")
    client.post("/api/sessions/slack:one/participants", {"user_id": other.id, "role": "viewer"}, expect=201)
    me = client.get("/api/me").json()["user_id"]
    everything = {"web:parent", "slack:one", "tool", "hers"}
    after, before = "2001-01-01T00:00:00Z", "2100-01-01T00:00:00Z"
    alone = {  # each value and what it finds
        "id_prefix": [("slack:", {"slack:one"}), ("web:parent", {"web:parent"}), ("x", set())],
        "type": [("tool", {"tool"}), ("agent", everything - {"tool"}), ("mixed", set())],
        "status": [("pending", {"slack:one"}), ("draft", {"tool"}), ("idle", {"web:parent", "hers"})],
        "display_status": [("active", {"slack:one"}), ("idle", everything - {"slack:one"}), ("blocked", set())],
        "group": [("live", {"slack:one"}), ("active", everything), ("failing", set())],
        "kind": [("run", {"slack:one", "tool"}), ("chat", {"web:parent", "hers"})],
        "archived": [("true", set()), ("false", everything), ("all", everything)],
        "source_kind": [("channel", {"slack:one"}), ("web", {"web:parent"})],
        "source_platform": [("slack", {"slack:one"}), ("discord", set())],
        "interactive": [("false", {"slack:one"}), ("true", everything - {"slack:one"})],
        "ownership": [("mine", everything - {"hers"}), ("all", everything), ("shared", set())],
        "owner": [(me, everything - {"hers"}), (other.id, {"hers"})],
        "participant": [(other.id, {"slack:one"}), ("nobody", set())],
        "parent_id": [("web:parent", {"slack:one"}), ("tool", set())],
        "task_id": [("t", {"slack:one"}), ("x", set())],
        "entity_id": [("e", {"slack:one"}), ("x", set())],
        "workspace": [("w", {"slack:one"}), ("x", set())],
        "agent": [("a", {"slack:one"}), ("x", set())],
        "visibility": [("org_visible", {"slack:one"}), ("private", everything - {"slack:one"})],
        "id_prefix": [("slack:", {"slack:one"}), ("x", set())],
        "metadata.": [("red", {"slack:one"}), ("blue", {"web:parent"})],
        "q": [("100%", {"slack:one"}), ("Grün", {"slack:one"}), ("_", set())],
        "created_after": [(tool["created_at"], {"tool", "hers"}), (before, set()), (after, everything)],
        "created_before": [(tool["created_at"], {"web:parent", "slack:one"}), ("1960-01-01T00:00:00Z", set()),
                           (before, everything)],
        "active_after": [(before, set()), (after, everything)],
        "active_before": [(after, set()), (before, everything)],
    }
    operation = client.get("/api/openapi.json").json()["paths"]["/api/sessions"]["get"]
    named = {one["name"] for one in operation["parameters"] if one["in"] == "query"}
    check.equal(named - set(alone), {"cursor", "limit"}, "filters without a row here")

    def found(**query):
        query = {name.replace("metadata.", "metadata.colour"): value for name, value in query.items()}
        return {one["id"] for one in client.get("/api/sessions", query=query, expect=200).json()["sessions"]}
    for name, rows in alone.items():
        for value, wanted in rows:
            check.equal(found(**{name: value}), wanted, f"{name}={value}")
    together = {name: value for name, rows in alone.items() for value, wanted in rows if "slack:one" in wanted}
    check.equal(found(**together), {"slack:one"}, str(together))
    check.equal({one["id"] for one in other.client.get("/api/sessions?ownership=shared").json()["sessions"]}, {"slack:one"})
    client.post("/api/sessions/tool/archive", expect=200)
    check.equal((found(), found(archived="true"), found(archived="all")), (everything - {"tool"}, {"tool"}, everything))


@test
def update_archive_delete(server):
    """Title, metadata by merge, visibility; archive hides; delete erases and keeps a tombstone."""
    client = server.client()
    session = new(client, id="web:x", metadata={"a": 1, "b": 2})
    changed = client.patch("/api/sessions/web:x", {"title": "new", "metadata": {"a": None, "c": 3}, "visibility": "org_visible",
                                                   "queue_mode": "steer"}, expect=200).json()
    check.contains(changed, {"title": "new", "metadata": {"b": 2, "c": 3}, "visibility": "org_visible", "queue_mode": "steer"})
    check.equal(client.patch("/api/sessions/web:x", {"type": "tool"}, expect=400).json()["code"], "unknown_member")
    check.equal(client.post("/api/sessions/web:x/archive", expect=200).json()["archived_at"] is None, False)
    check.equal(client.post("/api/sessions/web:x/unarchive", expect=200).json()["archived_at"], None)
    was = client.get("/api/sessions/web:x?at=1", expect=200).json()
    check.contains(was, {"title": None, "metadata": {"a": 1, "b": 2}, "last_sequence": 1, "visibility": session["visibility"]})
    client.delete("/api/sessions/web:x", expect=204)
    check.equal(client.get("/api/sessions/web:x", expect=404).json()["code"], "session_not_found")
    check.equal(client.get("/api/sessions/web:x/events", expect=404).json()["code"], "session_not_found")
    check.equal(client.post("/api/sessions", {"type": "agent", "id": "web:x"}, expect=410).json()["code"], "session_deleted")
    check.equal(client.get("/api/counts").json()["total"], 0)


@test
def delete_rules_and_bulk(server):
    """S2-045, S2-046, S3-041: running and group sessions stay; at most 100 at once."""
    client = server.client()
    group = new(client, id="telegram:1", source={"kind": "channel", "platform": "telegram", "type": "group"})
    running = client.post("/api/sessions", {"type": "mixed", "status": "running"}, expect=201).json()
    plain = new(client)
    check.equal(client.delete(f"/api/sessions/{group['id']}", expect=409).status, 409)
    check.equal(client.delete(f"/api/sessions/{running['id']}", expect=409).status, 409)
    answer = client.post("/api/sessions/bulk-delete", {"ids": [group["id"], running["id"], plain["id"], "unknown"]}, expect=200).json()
    check.equal([row["deleted"] for row in answer["results"]], [False, False, True, False])
    check.equal(client.post("/api/sessions/bulk-delete", {"ids": [f"x{i}" for i in range(101)]}, expect=400).status, 400)


@test
def status_moves_are_guarded(server):
    """X-01: only the table's edges; an illegal move names both states, is logged and changes nothing."""
    client = server.client()
    session = client.post("/api/sessions", {"type": "response"}, expect=201).json()
    path = f"/api/sessions/{session['id']}"
    check.equal(client.post(path + "/status", {"status": "running"}, expect=200).json()["status"], "running")
    done = client.post(path + "/status", {"status": "completed"}, expect=200).json()
    check.equal(done["words"]["response"], "submitted")
    problem = client.post(path + "/status", {"status": "running"}, expect=409).json()
    check.equal(problem["code"], "illegal_transition")
    check.contains(problem["detail"], "completed")
    check.contains((problem["from"], problem["to"]), "running")
    logged = server.wait_log("move_refused", session=session["id"])
    check.contains(logged, {"detail": problem["detail"], "actor": client.get("/api/me").json()["actor"]})
    check.equal(client.get(path).json()["last_sequence"], done["last_sequence"])
    check.equal(client.post(path + "/status", {"status": "completed"}, expect=200).json()["last_sequence"], done["last_sequence"])


@test
def children_and_parents(server):
    """A child names its parent; the parent's log tells of it."""
    client = server.client()
    parent = new(client)
    child = new(client, parent_id=parent["id"])
    listed = client.get(f"/api/sessions/{parent['id']}/children", expect=200).json()["sessions"]
    check.equal([one["id"] for one in listed], [child["id"]])
    types = [event["type"] for event in client.get(f"/api/sessions/{parent['id']}/events").json()["events"]]
    check.contains(types, "session.child_created")
    check.equal(client.post("/api/sessions", {"type": "agent", "parent_id": "nobody"}, expect=400).json()["code"], "unknown_parent")


@test
def counts_follow(server):
    """Counts per status and type equal what lists show."""
    client = server.client()
    new(client)
    new(client, prompt="x")
    client.post("/api/sessions", {"type": "tool"}, expect=201)
    counts = client.get("/api/counts", expect=200).json()
    check.contains(counts["by_status"], {"idle": 1, "pending": 1, "draft": 1, "running": 0})
    check.equal(counts["total"], 3)
    check.equal(counts["by_type"]["tool"]["draft"], 1)


@test(options=["--sessions-per-user-max", "2"])
def concurrency_limit(server):
    """S3-017, S3-115: sessions with a turn under way count, by user; 429 tells the numbers; an end makes room."""
    client = server.client()
    for _ in range(2):
        client.post("/api/sessions", {"type": "mixed", "status": "running"}, expect=201)
    problem = client.post("/api/sessions", {"type": "mixed", "status": "running"}, expect=429)
    check.contains(problem.json(), {"code": "too_many_sessions", "active_count": 2, "limit": 2})
    check.true(int(problem.header("retry-after")) > 0, "when to come back")
    running = {"type": "mixed", "status": "running"}
    client.post("/api/sessions", running | {"purpose": "workflow"}, expect=201)
    client.post("/api/sessions", running | {"purpose": "orchestrator", "id": "orchestrator:1"}, expect=201)
    check.equal(client.post("/api/sessions", running, expect=429).json()["active_count"], 2, "they run and do not count")
    client.post("/api/sessions", running | {"parent_id": "orchestrator:1"}, expect=201)
    check.equal(client.post("/api/sessions", running, expect=429).json()["active_count"], 2, "its child does not count")
    anna = person(client, "anna")
    for _ in range(2):
        hers = anna.client.post("/api/sessions", running, expect=201).json()
    check.equal(anna.client.post("/api/sessions", running, expect=429).json()["active_count"], 2, "her own alone")
    client.patch(f"/api/users/{anna.id}", {"sessions_max": 3}, expect=200)
    anna.client.post("/api/sessions", running, expect=201)
    check.contains(anna.client.post("/api/sessions", running, expect=429).json(), {"active_count": 3, "limit": 3})
    anna.client.post(f"/api/sessions/{hers['id']}/status", {"status": "waiting_human"}, expect=200)
    anna.client.post("/api/sessions", running, expect=429)
    anna.client.post(f"/api/sessions/{hers['id']}/status", {"status": "completed"}, expect=200)
    anna.client.post("/api/sessions", running, expect=201)


@test(options=["--sessions-per-user-max", "2"])
def the_limit_holds_where_sessions_begin_again(server):
    """S3-017, S3-115: a message to one at rest or ended, a move, a retry and a pause let go are creations in this; a
    refused one has changed nothing, and what is under way goes on."""
    client = server.client()
    anna = person(client, "anna")
    mine = anna.client
    resting, held, over, failed = [new(mine, status="idle", agent="w")["id"] for _ in range(4)]
    shared = new(mine, type="mixed", status="idle")["id"]
    mine.post(f"/api/sessions/{held}/pause", {}, expect=200)
    mine.post(f"/api/sessions/{held}/messages", {"text": "later"}, expect=202)
    mine.post(f"/api/sessions/{over}/status", {"status": "completed"}, expect=200)
    mine.post(f"/api/sessions/{failed}/messages", {"text": "x"}, expect=202)
    mine.post(f"/api/sessions/{failed}/status", {"status": "failed"}, expect=200)
    busy = [new(mine, type="mixed", status="running", agent="w")["id"] for _ in range(2)]
    client.post(f"/api/sessions/{resting}/participants", {"user_id": client.get("/api/me").json()["user_id"],
                                                          "role": "collaborator"})
    ways = [(f"{resting}/messages", {"text": "go"}), (f"{over}/messages", {"text": "go"}),
            (f"{resting}/messages", {"text": "go", "mode": "collect"}), (f"{held}/unpause", {}),
            (f"{shared}/status", {"status": "running"}), (f"{resting}/status", {"status": "pending"}),
            (f"{failed}/retry", {})]
    before = [mine.get(f"/api/sessions/{id}").json()["last_sequence"] for id in (resting, held, over, failed, shared)]
    for way, body in ways:
        answer = mine.post(f"/api/sessions/{way}", body)
        check.problem(answer, 429, "too_many_sessions")
        check.contains(answer.json(), {"active_count": 2, "limit": 2}, way)
    answer = client.post(f"/api/sessions/{resting}/messages", {"text": "for her"})
    check.problem(answer, 429, "too_many_sessions")
    check.contains(answer.json()["detail"], "The owner of this session has 2")
    mine.post(f"/api/sessions/{resting}/messages?append=true", {"text": "only noted"}, expect=200)
    mine.post(f"/api/sessions/{held}/messages", {"text": "waits as well"}, expect=202)
    mine.post(f"/api/sessions/{busy[0]}/messages", {"text": "to one under way"}, expect=202)
    mine.post(f"/api/sessions/{busy[0]}/status", {"status": "waiting_human"}, expect=200)
    after = [mine.get(f"/api/sessions/{id}").json()["last_sequence"] for id in (resting, held, over, failed, shared)]
    check.equal([now - then for then, now in zip(before, after)], [1, 1, 0, 0, 0], "events by what was refused")
    for id in busy:
        mine.post(f"/api/sessions/{id}/status", {"status": "completed"}, expect=200)
    for way, body in ways:
        check.one_of(mine.post(f"/api/sessions/{way}", body).status, (200, 201, 202, 409), way)


@test
def retry_makes_a_new_session(server):
    """S0-100: the failed one stays; the new one is linked and numbered."""
    client = server.client()
    session = new(client, prompt="x", agent="a", task_id="t")
    path = f"/api/sessions/{session['id']}"
    check.equal(client.post(path + "/retry", expect=409).json()["code"], "not_failed")
    client.post(path + "/status", {"status": "failed", "reason": "no"}, expect=200)
    again = client.post(path + "/retry", expect=201).json()
    check.contains(again, {"retry_of": session["id"], "attempt": 2, "task_id": "t", "agent": "a", "status": "pending"})
    check.equal(client.get(path).json()["status"], "failed")


@test
def ids_say_where_sessions_come_from(server):
    """S2-002 to S2-009: the scheme of an id gives the source unless the client says more; lists filter by it."""
    client = server.client()
    for id, source in [
            ("cli:home", {"kind": "cli", "platform": None, "interactive": True}),
            ("web:device-1", {"kind": "web", "platform": None, "interactive": True}),
            ("telegram:20260101-ab12", {"kind": "channel", "platform": "telegram", "interactive": True}),
            ("discord:20260101-ab12", {"kind": "channel", "platform": "discord"}),
            ("slack:20260101-ab12", {"kind": "channel", "platform": "slack"}),
            ("schedule:nightly", {"kind": "schedule", "trigger_id": "nightly", "interactive": False}),
            ("anything.else_1", {"kind": "api", "platform": None})]:
        check.contains(new(client, id=id)["source"], source, id)
    given = new(client, source={"kind": "fax", "platform": "g3", "interactive": False, "trigger_id": "t", "type": "group"})
    check.equal(given["source"], {"kind": "fax", "platform": "g3", "interactive": False, "trigger_id": "t",
                                  "type": "group"}, "any kind is allowed")
    tagged = new(client, id="slack:x", metadata={"slack_channel_id": "C1", "slack_thread_ts": "1.2"})
    check.equal(tagged["metadata"], {"slack_channel_id": "C1", "slack_thread_ts": "1.2"})

    def found(**query):
        return {one["id"] for one in client.get("/api/sessions", query=query, expect=200).json()["sessions"]}
    check.equal(found(source_kind="channel", source_platform="slack"), {"slack:20260101-ab12", "slack:x"})
    check.equal(found(source_kind="schedule"), {"schedule:nightly"})
    check.equal(found(interactive="false"), {"schedule:nightly", given["id"]})
    check.equal(found(**{"metadata.slack_channel_id": "C1"}), {"slack:x"})
    for source in ({"kind": 5}, {"type": "crowd"}, {"colour": "red"}, [], {"interactive": "yes"}):
        check.problem(client.post("/api/sessions", {"type": "agent", "source": source}), 400)
    for id in ("", "a" * 129, "a/b", "a b", "ä", "join", "bulk-delete"):
        check.problem(client.post("/api/sessions", {"type": "agent", "id": id}), 400)
    new(client, id="a" * 128)


@test
def details_have_names_types_and_defaults(server):
    """S1-050 to S1-060, S3-002: what a coding session knows, checked by kind, merged by name, null takes it back."""
    client = server.client()
    made = new(client, details={"branch_name": "main", "idle_timeout_minutes": 5, "agent_config": {"model": "m"}})
    path = f"/api/sessions/{made['id']}"
    check.contains(made["details"], {
        "branch_name": "main", "idle_timeout_minutes": 5, "agent_config": {"model": "m"}, "session_kind": "coding",
        "origin": "web", "auto_delete_days": 7, "billing_token_version": 1, "alive_check_failures": 0,
        "sandbox_id": None, "snapshot_id": None, "automation_id": None, "local_path_hash": None, "client_metadata": {}})
    full = {"repo_id": "r", "session_kind": "setup", "origin": "cli", "client_type": "slack", "base_commit_sha": "abc",
            "sandbox_id": "s", "sandbox_provider": "http", "snapshot_id": "n", "coding_agent_session_id": "c",
            "agent_tunnel_url": "http://a", "preview_tunnel_url": "http://b", "configuration_id": "f",
            "system_prompt": "p", "automation_id": "au", "trigger_event_id": "te", "client_metadata": {"channel": "C"},
            "local_path_hash": "h", "metered_through_at": "2026-01-01T00:00:00.000Z", "last_seen_alive_at": None,
            "sandbox_expires_at": "2026-01-01T00:00:00.000Z", "billing_token_version": 2, "alive_check_failures": 3}
    changed = client.patch(path, {"details": full}, expect=200).json()
    check.contains(changed["details"], full | {"branch_name": "main"})
    check.equal(client.get(path).json(), changed)
    back = client.patch(path, {"details": {"idle_timeout_minutes": None, "origin": None}}, expect=200).json()["details"]
    check.contains(back, {"idle_timeout_minutes": 30, "origin": "web"})
    for wrong in ({"colour": "red"}, {"origin": "fax"}, {"auto_delete_days": -1}, {"agent_config": 5}, {"repo_id": 5},
                  {"metered_through_at": "noon"}):
        check.problem(client.patch(path, {"details": wrong}), 400)
    listed = client.get("/api/sessions").json()["sessions"][0]
    check.equal("details" in listed, False, "lists stay short")


@test
def the_type_is_for_life(server):
    """S0-004: neither a change nor opening the id again alters it."""
    client = server.client()
    new(client, id="web:1")
    check.problem(client.patch("/api/sessions/web:1", {"type": "tool"}), 400, "unknown_member")
    answer = client.post("/api/sessions", {"type": "tool", "id": "web:1"})
    check.true(answer.status in (200, 409), "opening by another type is answered")
    check.equal(client.get("/api/sessions/web:1").json()["type"], "agent")


@test
def conversations_end_and_come_back(server):
    """S2-010 to S2-014, S0-020: ended by a person, hidden, opened again by id or by name; a failure stays one."""
    client = server.client()
    for end in ("completed", "abandoned"):
        made = new(client, id=f"web:{end}")
        path = f"/api/sessions/web:{end}"
        check.equal(made["words"]["conversation"], "idle")
        client.post(path + "/status", {"status": end, "reason": "enough"}, expect=200)
        ended = client.get(path).json()
        check.contains(ended, {"status": end, "status_reason": "enough", "stop_reason": "user"})
        check.true(ended["completed_at"], "it says when")
        check.equal(client.post(path + "/reopen", expect=200).json()["status"], "idle")
        client.post(path + "/status", {"status": end}, expect=200)
        check.equal(client.post("/api/sessions", {"type": "agent", "id": f"web:{end}"}, expect=200).json()["status"], "idle")
        types = [event["type"] for event in client.get(path + "/events").json()["events"]]
        check.equal(types.count("session.reopened"), 2)
        hidden = client.post(path + "/archive", expect=200).json()
        check.equal(hidden["words"]["conversation"], "inactive")
    failed = new(client, id="web:failed", prompt="go")
    client.post("/api/sessions/web:failed/status", {"status": "failed"}, expect=200)
    check.problem(client.post("/api/sessions/web:failed/reopen"), 409)
    check.equal(failed["words"]["conversation"], "running")


@test
def a_person_has_one_session_of_his_own(server):
    """A new human session supersedes the one before; only its owner's."""
    client = server.client()
    body = {"type": "mixed", "source": {"kind": "human-session-bridge"}, "task_id": "t1"}
    first = client.post("/api/sessions", body, expect=201).json()
    check.equal(first["status"], "running")
    other = person(client, "other").client.post("/api/sessions", body, expect=201).json()
    second = client.post("/api/sessions", body | {"task_id": "t2"}, expect=201).json()
    check.contains(client.get(f"/api/sessions/{first['id']}").json(), {"status": "completed", "stop_reason": "superseded"})
    for one in (second, other):
        check.equal(client.get(f"/api/sessions/{one['id']}").json()["status"], "running")


@test(options=["--human-session-ms", "1s", "--ttl-tool-ms", "1s"])
def sessions_left_alone_end(server):
    """S0-019, S0-020: a person's running session is abandoned after its time, an unfinished tool run expires."""
    client = server.client()
    human = client.post("/api/sessions", {"type": "mixed", "source": {"kind": "human-session-bridge"}, "task_id": "t"},
                        expect=201).json()
    tool = client.post("/api/sessions", {"type": "tool"}, expect=201).json()
    check.true(tool["expires_at"], "it says when it expires")
    kept = client.post("/api/sessions", {"type": "tool", "ttl_ms": 0}, expect=201).json()
    for made, state in ((human, "abandoned"), (tool, "expired")):
        path = f"/api/sessions/{made['id']}"
        check.eventually(lambda path=path, state=state: client.get(path).json()["status"] == state, state)
        changes = [event for event in client.get(path + "/events").json()["events"]
                   if event["type"] == "session.status_change"]
        check.equal([event["actor"] for event in changes], ["system"])
    check.equal(client.get(f"/api/sessions/{kept['id']}").json()["status"], "draft")


@test
def history_is_a_fold_of_the_log(server):
    """?at=SEQ shows the session as it was at each event; the last one is what it is now."""
    client = server.client()
    made = new(client, id="web:1", title="first", metadata={"a": 1})
    path = "/api/sessions/web:1"
    shots = [made]
    for method, target, body in (
            ("PATCH", "", {"title": "second", "metadata": {"b": 2}}), ("POST", "/archive", {}), ("POST", "/unarchive", {}),
            ("POST", "/events", {"events": [{"type": "user.message", "content": [{"type": "text", "text": "hello"}]}]}),
            ("POST", "/status", {"status": "pending"}), ("POST", "/status", {"status": "completed"})):
        client.request(method, path + target, body, expect=(200, 201))
        shots.append(client.get(path, expect=200).json())
    for shot in shots:
        check.equal(client.get(f"{path}?at={shot['last_sequence']}", expect=200).json(), shot)
    check.problem(client.get(f"{path}?at=999"), 400)
    check.problem(client.get(f"{path}?at=0"), 400)


@test
def roles_are_asked_at_every_request(server):
    """S2-020: what a user may do follows his role at once, without signing in again."""
    client = server.client()
    anna = person(client, "anna")
    path = f"/api/sessions/{new(client)['id']}"
    check.problem(anna.client.get(path), 404)
    client.patch(f"/api/users/{anna.id}", {"role": "admin"}, expect=200)
    anna.client.get(path, expect=200)
    check.problem(anna.client.patch(path, {"title": "x"}), 403)
    client.patch(f"/api/users/{anna.id}", {"role": "owner"}, expect=200)
    anna.client.patch(path, {"title": "x"}, expect=200)
    client.patch(f"/api/users/{anna.id}", {"role": "member"}, expect=200)
    check.problem(anna.client.get(path), 404)


@test(options=["--children-max", "2", "--title-chars-max", "5", "--prompt-chars-max", "5", "--metadata-bytes-max", "256"])
def sessions_have_limits(server):
    """Each answers clearly and changes nothing."""
    client = server.client()
    parent = new(client)
    for _ in range(2):
        new(client, parent_id=parent["id"])
    check.problem(client.post("/api/sessions", {"type": "agent", "parent_id": parent["id"]}), 429, "too_many_children")
    for body in ({"title": "toolong"}, {"prompt": "toolong"}, {"metadata": {"x": "y" * 300}}):
        answer = client.post("/api/sessions", {"type": "agent", **body})
        check.true(answer.status in (400, 413), f"{body} is refused")
    new(client, title="12345", prompt="äöüäö")
    check.equal(client.get("/api/counts").json()["total"], 4)


@test(options=["--title-chars-max", "300", "--workspace-chars-max", "300", "--prompt-chars-max", "200000"])
def limits_can_be_raised(server):
    """What an option allows beyond its default is taken, up to exactly that many characters."""
    client = server.client()
    for name, most in (("title", 300), ("workspace", 300), ("prompt", 200000)):
        made = new(client, **{name: "ä" * most})
        check.equal(made["initial_prompt" if name == "prompt" else name], "ä" * most)
        problem = client.post("/api/sessions", {"type": "agent", name: "x" * (most + 1)})
        check.problem(problem, 400, "invalid_length")
        check.contains(problem.json()["detail"], str(most))
    path = f"/api/sessions/{made['id']}"
    client.patch(path, {"title": "t" * 300}, expect=200)
    check.problem(client.patch(path, {"title": "t" * 301}), 400, "invalid_length")
    check.equal(len(client.get("/api/sessions?workspace=" + "%C3%A4" * 300).json()["sessions"]), 1)

"""Sessions over HTTP: creation, opening, lists, changes, archive, delete, history, on both engines."""
from harness import check
from harness.suite import test


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
                       ({"type": "agent", "workspace": "x" * 101}, "invalid_member")]:
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
    """X-01: only the table's edges; an illegal move names both states and changes nothing."""
    client = server.client()
    session = client.post("/api/sessions", {"type": "response"}, expect=201).json()
    path = f"/api/sessions/{session['id']}"
    check.equal(client.post(path + "/status", {"status": "running"}, expect=200).json()["status"], "running")
    done = client.post(path + "/status", {"status": "completed"}, expect=200).json()
    check.equal(done["words"]["response"], "submitted")
    problem = client.post(path + "/status", {"status": "running"}, expect=409).json()
    check.equal(problem["code"], "illegal_transition")
    check.contains(problem["detail"], "completed")
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
    """S3-017, S3-115: sessions with a turn under way count; 429 tells the numbers."""
    client = server.client()
    for _ in range(2):
        client.post("/api/sessions", {"type": "mixed", "status": "running"}, expect=201)
    problem = client.post("/api/sessions", {"type": "mixed", "status": "running"}, expect=429)
    check.contains(problem.json(), {"code": "too_many_sessions", "active_count": 2, "limit": 2})
    client.post("/api/sessions", {"type": "agent", "purpose": "workflow"}, expect=201)


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

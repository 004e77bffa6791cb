"""The log over HTTP: append, conditions, duplicates, lists, access to event types."""
from harness import check
from harness.suite import test


def start(server, **body):
    client = server.client()
    session = client.post("/api/sessions", {"type": "agent", **body}, expect=201).json()
    return client, f"/api/sessions/{session['id']}"


def message(text, **more):
    return {"type": "user.message", "content": [{"type": "text", "text": text}], **more}


@test
def append_gives_dense_sequences(server):
    """S0-025 to S0-027, S0-090: assigned by the server, dense, all or nothing."""
    client, path = start(server)
    answer = client.post(path + "/events", {"events": [message("a"), message("b")]}, expect=201).json()
    check.equal([event["sequence"] for event in answer["events"]], [2, 3])
    refused = client.post(path + "/events", {"events": [message("c"), {"type": "Bad Type"}]}, expect=400).json()
    check.true(refused["code"] != "", "a code")
    log = client.get(path + "/events").json()
    check.equal([event["sequence"] for event in log["events"]], [1, 2, 3])
    check.equal(log["events"][1]["content"], [{"type": "text", "text": "a"}])
    session = client.get(path).json()
    check.contains(session, {"last_sequence": 3, "message_count": 2, "preview": "b"})


@test
def if_sequence(server):
    """Append only where the log ends; 409 tells where it does."""
    client, path = start(server)
    client.post(path + "/events", {"events": [message("a")]}, headers={"If-Sequence": "1"}, expect=201)
    problem = client.post(path + "/events", {"events": [message("b")]}, headers={"If-Sequence": "1"}, expect=409).json()
    check.contains(problem, {"code": "sequence_mismatch", "sequence": 2})
    for wrong in ("0", "3"):  # before the end and behind it
        problem = client.post(path + "/events", {"events": [message("b")]}, headers={"If-Sequence": wrong})
        check.equal(check.problem(problem, 409, "sequence_mismatch")["sequence"], 2)
    check.equal(client.post(path + "/events", {"events": [message("b")]}, headers={"If-Sequence": "x"}, expect=400).status, 400)
    check.equal(client.get(path).json()["last_sequence"], 2)


@test
def external_ids_are_appended_once(server):
    """S0-037: a dedup key; the stored event is the answer."""
    client, path = start(server)
    event = {"type": "external.event", "external_event_id": "gh:1", "metadata": {"n": 1}}
    first = client.post(path + "/events", {"events": [event]}, expect=201).json()["events"][0]
    again = client.post(path + "/events", {"events": [event | {"metadata": {"n": 2}}, message("x")]}, expect=201).json()["events"]
    check.contains(again[0], {"sequence": first["sequence"], "metadata": {"n": 1}, "duplicate": True})
    check.equal(again[1]["sequence"], first["sequence"] + 1)
    check.equal(client.post(path + "/events", {"events": [event | {"external_event_id": "z"}] * 2}, expect=400).json()["code"],
                "repeated_external_event_id")


@test
def append_is_idempotent_by_key(server):
    """X-04."""
    client, path = start(server)
    for _ in range(3):
        answer = client.post(path + "/events", {"events": [message("a")]}, headers={"Idempotency-Key": "k"}, expect=201).json()
        check.equal(answer["events"][0]["sequence"], 2)
    check.equal(client.get(path).json()["last_sequence"], 2)


@test
def bytes_survive(server):
    """What a client sent is stored byte for byte: big numbers, order, escapes."""
    client, path = start(server)
    raw = b'{"events":[{"type":"user.message","content":[{"type":"text","text":"\\u00e9\\n"}],"metadata":{"z":12345678901234567890,"a":1.50}}]}'
    client.post(path + "/events", raw, expect=201)
    body = client.get(path + "/events?after=1").body
    check.contains(body, b'"metadata":{"z":12345678901234567890,"a":1.50}')


@test
def lists(server):
    """after, before, types, thread, limit, order and the aliases."""
    client, path = start(server)
    for i in range(10):
        client.post(path + "/events", {"events": [message(str(i), thread_id="t" if i % 2 else "u"), {"type": "note.custom"}]}, expect=201)

    def sequences(**query):
        return [event["sequence"] for event in client.get(path + "/events", query=query, expect=200).json()["events"]]
    check.equal(sequences(), list(range(1, 22)))
    check.equal(sequences(after=19), [20, 21])
    check.equal(sequences(afterSequence=19), [20, 21])
    check.equal(sequences(before=3), [1, 2])
    check.equal(sequences(limit=3), [1, 2, 3])
    check.equal(sequences(limit=3, order="newest"), [21, 20, 19])
    check.equal(sequences(types="user.message"), list(range(2, 22, 2)))
    check.equal(sequences(eventTypes="note.*,session.created"), [1] + list(range(3, 22, 2)))
    check.equal(sequences(thread_id="t", after=10), [12, 16, 20])
    check.equal(client.get(path + "/events?limit=3").json()["has_more"], True)
    check.equal(client.get(path + "/events?after=18&limit=3").json()["has_more"], False)
    for query in ("limit=0", "limit=1001", "after=x", "types=No", "order=up"):
        client.get(path + "/events?" + query, expect=400)


@test
def reserved_types_are_guarded(server):
    """S0-108: nobody writes session.*; human.* needs a running mixed session of one's own."""
    client, path = start(server)
    for kind in ("session.completed", "session.created", "human.navigate"):
        problem = client.post(path + "/events", {"events": [{"type": kind, "metadata": {"pathname": "/", "at": "2026-01-01T00:00:00Z"}}]},
                              expect=(400, 403, 409)).json()
        check.true(problem["detail"], "says why")
    mixed = client.post("/api/sessions", {"type": "mixed", "status": "running"}, expect=201).json()
    client.post(f"/api/sessions/{mixed['id']}/events",
                {"events": [{"type": "human.navigate", "metadata": {"pathname": "/", "at": "2026-01-01T00:00:00Z"}}]}, expect=201)
    check.equal(client.get(path).json()["last_sequence"], 1)


@test
def structured_types_are_checked(server):
    """S0-033: the seven tool types and state.patch have a shape."""
    client, path = start(server)
    client.post(path + "/events", {"events": [{"type": "state.patch", "metadata": {"target": {"kind": "nonsense"}}}]}, expect=400)
    client.post(path + "/events", {"events": [{"type": "tool.invocation_started", "metadata": {}}]}, expect=400)


@test
def audit_log_is_a_filter(server):
    """S3-057."""
    client, path = start(server)
    client.post(path + "/events", {"events": [{"type": "note.custom"}]}, expect=201)
    client.post(path + "/archive", expect=200)
    types = [event["type"] for event in client.get(path + "/audit-log", expect=200).json()["events"]]
    check.contains(types, "session.created")
    check.equal("note.custom" in types, False)


@test(options=["--event-bytes-max", "1024", "--events-per-append-max", "3"])
def limits(server):
    """Every limit answers clearly."""
    client, path = start(server)
    check.equal(client.post(path + "/events", {"events": [message("x" * 2000)]}, expect=413).json()["code"], "event_too_large")
    client.post(path + "/events", {"events": [message("x")] * 4}, expect=400)
    client.post(path + "/events", {"events": []}, expect=400)
    check.equal(client.get(path).json()["last_sequence"], 1)

"""Streams: backlog then live without gap or repeat, cursors, deltas, the honest frames."""
from harness import check
from harness.people import person
from harness.suite import test


def start(server, count=3):
    client = server.client()
    session = client.post("/api/sessions", {"type": "agent"}, expect=201).json()
    path = f"/api/sessions/{session['id']}"
    for i in range(count):
        append(client, path, str(i))
    return client, path


def append(client, path, text, **more):
    return client.post(path + "/events", {"events": [{"type": "user.message", "content": [{"type": "text", "text": text}], **more}]},
                       expect=201).json()["events"][0]["sequence"]


def next_event(stream):
    while True:
        frame = stream.next()
        if frame.event == "event":
            return frame


@test
def backlog_then_live(server):
    """X-02: the same log for lists, backlog and live."""
    client, path = start(server)
    with client.stream(path + "/events") as stream:
        check.equal(stream.next().event, "ready")
        for sequence in range(1, 5):
            frame = next_event(stream)
            check.equal((frame.id, frame.json()["sequence"]), (str(sequence), sequence))
        for sequence in range(5, 25):
            check.equal(append(client, path, "live"), sequence)
            check.equal(next_event(stream).json()["sequence"], sequence)


@test
def resume_by_last_event_id(server):
    """A reader that comes back gets exactly what it missed."""
    client, path = start(server, 10)
    with client.stream(path + "/events", last_event_id="7") as stream:
        check.equal([next_event(stream).json()["sequence"] for _ in range(4)], [8, 9, 10, 11])
    with client.stream(path + "/events?after=10&types=user.*") as stream:
        check.equal(next_event(stream).json()["sequence"], 11)


@test
def long_replay(server):
    """More than a page, complete and in order."""
    client, path = start(server, 0)
    for _ in range(6):
        client.post(path + "/events", {"events": [{"type": "note.x", "metadata": {"pad": "x" * 200}}] * 500}, expect=201)
    with client.stream(path + "/events") as stream:
        for sequence in range(1, 3002):
            check.equal(next_event(stream).json()["sequence"], sequence)


@test
def websocket_is_the_same_stream(server):
    """resume_from, the same frames as JSON messages."""
    client, path = start(server)
    socket = client.websocket(path + "/ws?resume_from=2")
    kinds = []
    while len([kind for kind in kinds if kind == "event"]) < 2:
        message = socket.next_json()
        kinds.append(message["type"])
        if message["type"] == "event":
            check.equal(message["data"]["sequence"], 2 + len([kind for kind in kinds if kind == "event"]))
    append(client, path, "live")
    while True:
        message = socket.next_json()
        if message["type"] == "event":
            check.equal(message["data"]["sequence"], 5)
            break
    socket.close()


@test
def deltas_follow_the_last_event(server):
    """Live output reaches viewers with cursors SEQ.N and folds into the final event."""
    client, path = start(server, 1)
    with client.stream(path + "/events?after=2") as stream:
        check.equal(stream.next().event, "ready")
        for i in range(3):
            client.post(path + "/deltas", {"deltas": [{"kind": "text", "text": f"part {i}"}]}, expect=202)
        ids = []
        while len(ids) < 3:
            frame = stream.next()
            if frame.event == "delta":
                ids.append(frame.id)
        check.equal(ids, ["2.1", "2.2", "2.3"])
        append(client, path, "final")
        check.equal(next_event(stream).id, "3")
    client.post(path + "/deltas", {"deltas": [{"kind": "noise", "text": "x"}]}, expect=400)


@test
def late_viewer_sees_partial_output(server):
    """Deltas replay while the turn is in the window."""
    client, path = start(server, 1)
    for i in range(3):
        client.post(path + "/deltas", {"deltas": [{"kind": "text", "text": f"part {i}"}]}, expect=202)
    with client.stream(path + "/events?after=2.1") as stream:
        ids = []
        while len(ids) < 2:
            frame = stream.next()
            if frame.event == "delta":
                ids.append(frame.id)
        check.equal(ids, ["2.2", "2.3"])


def say_live(client, path, text):
    client.post(path + "/deltas", {"deltas": [{"kind": "text", "id": "m1", "text": text}]}, expect=202)


def live_text(client, path, cursor, is_over):
    """What a viewer who comes now has of a message that is not over, when `is_over(text, frame)`."""
    text = ""
    with client.stream(path + f"/events?after={cursor}") as stream:
        while True:
            frame = stream.next()
            if frame.event == "snapshot":
                text = "".join(part["text"] for part in frame.json()["partial"] if part["kind"] == "text")
            elif frame.event == "delta":
                text += frame.json()["text"]
            if is_over(text, frame):
                return text


@test
def an_event_in_the_middle_of_a_message(server):
    """A tool is called while the agent speaks: who comes later has all of its words, until they are in an event."""
    client, path = start(server, 1)
    with client.stream(path + "/events?after=2") as live:
        check.equal(live.next().event, "ready")
        say_live(client, path, "one ")
        say_live(client, path, "two ")
        check.equal([live.until("delta")[-1].id for _ in range(2)], ["2.1", "2.2"])
        client.post(path + "/events", {"events": [{"type": "note.taken"}]}, expect=201)
        check.equal(next_event(live).id, "3")
        for cursor in ("0", "2", "3"):
            live_text(client, path, cursor, lambda text, _: text == "one two ")
        say_live(client, path, "three")
        frames = live.until("delta")
        check.equal((frames[-1].id, [frame.event for frame in frames if frame.event == "snapshot"]), ("3.1", []))
        for cursor in ("0", "2.1", "3"):
            live_text(client, path, cursor, lambda text, _: text == "one two three")
        said = {"type": "agent.message", "content": [{"type": "text", "text": "one two three"}]}
        client.post(path + "/events", {"events": [said, {"type": "note.taken"}]}, expect=201)
        check.equal(next_event(live).id, "4")
    say_live(client, path, "!")
    check.equal(live_text(client, path, "0", lambda _, frame: frame.event in ("delta", "snapshot")), "!")


@test
def the_firehose_tells_of_deletes(server):
    """To those who could see the session, without what was in it; resumable, in order."""
    owner = server.client()
    one, other = person(owner, "one"), person(owner, "other")
    paths = [one.client.post("/api/sessions", {"type": "agent", "visibility": visibility}, expect=201).json()["id"]
             for visibility in ("private", "org_visible")]
    own = owner.post("/api/sessions", {"type": "agent"}, expect=201).json()["id"]
    streams = [client.stream("/api/stream") for client in (owner, one.client, other.client)]
    cursors = [stream.next().json()["cursor"] for stream in streams]
    for id in paths:
        one.client.delete(f"/api/sessions/{id}", expect=204)
    owner.delete(f"/api/sessions/{own}", expect=204)
    later = owner.post("/api/sessions", {"type": "agent", "visibility": "org_visible"}, expect=201).json()["id"]

    def deletes(stream):
        is_last = lambda frame: frame.event == "event" and frame.json()["session_id"] == later
        frames = [frame.json() for frame in stream.until(is_last, 20) if frame.event == "event"]
        for frame in frames:
            if frame["type"] == "session.deleted":
                check.contains(frame, {"metadata": {"id": frame["session_id"]}, "content": []})
        return [frame["session_id"] for frame in frames if frame["type"] == "session.deleted"]

    expected = [paths + [own], paths, paths[1:]]
    check.equal([deletes(stream) for stream in streams], expected)
    for stream in streams:
        stream.close()
    again = [client.stream(f"/api/stream?after={cursor}")
             for client, cursor in zip((owner, one.client, other.client), cursors)]
    check.equal([deletes(stream) for stream in again], expected)
    for stream in again:
        stream.close()


@test(on=("postgres",))
def the_firehose_waits_for_nobody_elsewhere(env):
    """A transaction that somebody left open in another database of the cluster does not hold it up."""
    server = env.server()
    cluster = env.cluster()
    elsewhere = cluster.new_database()
    env.databases.append(elsewhere)
    with cluster.open_transaction(elsewhere, "create table t (x int)"):
        client, path = start(server, 0)
        with client.stream("/api/stream") as stream:
            check.equal(stream.next().event, "ready")
            append(client, path, "a")
            is_it = lambda frame: frame.event == "event" and frame.json()["type"] == "user.message"
            check.equal(stream.until(is_it, 20)[-1].json()["content"][0]["text"], "a")


@test
def firehose(server):
    """One connection shows all sessions of the tenant and resumes by its own cursor."""
    client, path = start(server, 0)
    with client.stream("/api/stream") as stream:
        check.equal(stream.next().event, "ready")
        append(client, path, "a")
        first = next_event(stream)
        while first.json()["type"] == "session.created":  # PostgreSQL: "the end" waits for every open transaction
            first = next_event(stream)
        check.equal(first.json()["type"], "user.message")
        other = client.post("/api/sessions", {"type": "tool"}, expect=201).json()
        check.equal(next_event(stream).json()["session_id"], other["id"])
    append(client, path, "b")
    with client.stream("/api/stream", last_event_id=first.id) as stream:
        check.equal(next_event(stream).json()["session_id"], other["id"])
        check.equal(next_event(stream).json()["content"][0]["text"], "b")


@test
def closed_is_told(server):
    """Delete and stop end streams with a word."""
    client, path = start(server, 0)
    with client.stream(path + "/events") as stream:
        stream.next()
        next_event(stream)
        client.delete(path, expect=204)
        frame = stream.next()
        check.equal((frame.event, frame.json()["reason"]), ("closed", "deleted"))
    client, path = start(server, 0)
    with client.stream(path + "/events") as stream:
        stream.next()
        next_event(stream)
        server.stop()
        frame = stream.next()
        check.equal((frame.event, frame.json()["reason"]), ("closed", "server_stopping"))


@test
def bad_cursors(server):
    """A cursor that is none is refused before the stream begins; one beyond the end is told."""
    client, path = start(server, 0)
    client.get(path + "/events?after=abc", headers={"Accept": "text/event-stream"}, expect=400)
    client.get("/api/stream?after=zzz", expect=400)
    client.get(path + "/ws", expect=400)
    with client.stream(path + "/events?after=99") as stream:
        kinds = [stream.next().event for _ in range(2)]
        check.contains(kinds, "gap")


@test
def a_stream_refuses_what_only_a_page_knows(server):
    """What a stream cannot do is refused, and the answer names what it takes; so is a page asked for live output."""
    client, path = start(server, 2)
    stream = {"headers": {"Accept": "text/event-stream"}}
    for query in ("before=2", "order=newest", "limit=1", "after=1&before=3"):
        answer = client.get(f"{path}/events?{query}", **stream)
        check.problem(answer, 400, "unknown_member")
        check.contains(answer.json()["detail"], "accepted are: after, afterSequence, types")
    check.problem(client.get(path + "/events?deltas=true"), 400, "unknown_member")
    for target in ("/api/stream?", path + "/ws?", path + "/ws?role=runner&"):
        for query in ("before=2", "order=newest", "limit=1"):
            check.problem(client.get(target + query, **stream), 400, "unknown_member")
    for query in ("after=1", "types=a", "deltas=true"):
        check.problem(client.get(f"{path}/ws?role=runner&{query}"), 400, "unknown_member")
    for query in ("after=1&afterSequence=1", "types=a&eventTypes=a"):
        check.problem(client.get(f"{path}/events?{query}"), 400, "repeated_parameter")
        check.problem(client.get(f"{path}/events?{query}", **stream), 400, "repeated_parameter")
    check.problem(client.post(path + "/messages?timeout_ms=5", {"text": "x"}), 400, "invalid_member")
    with client.stream(path + "/events?after=1&types=note.*&thread_id=t&deltas=false") as opened:
        check.equal(opened.next().event, "ready")
    with client.stream(path + "/events?after=7", last_event_id="1") as opened:
        check.equal(next_event(opened).json()["sequence"], 2, "a browser comes back with the address it began with")


@test
def tickets_work_once(server):
    """EventSource cannot send headers: a ticket in the query, used up by its first use."""
    client, path = start(server, 0)
    ticket = client.post("/api/tickets", {"session_id": path.split("/")[-1]}, expect=201).json()["ticket"]
    guest = server.anonymous()
    with guest.stream(f"{path}/events?ticket={ticket}") as stream:
        check.equal(stream.next().event, "ready")
    guest.get(f"{path}/events?ticket={ticket}", headers={"Accept": "text/event-stream"}, expect=401)
    ticket = client.post("/api/tickets", {"session_id": "other"}, expect=201).json()["ticket"]
    guest.get(f"{path}/events?ticket={ticket}", headers={"Accept": "text/event-stream"}, expect=404)


@test(options=["--heartbeat-ms", "200"])
def silence_has_a_pulse(server):
    """A stream on which nothing happens shows that it is alive, over SSE and WebSocket."""
    client, path = start(server, 0)
    with client.stream(path + "/events") as stream, client.stream("/api/stream") as hose:
        for one in (stream, hose):
            one.wait_comment()
    socket = client.websocket(path + "/ws")
    for _ in range(2):
        socket.until(lambda message: message["type"] == "ping")
    socket.close()


@test
def streams_filter(server):
    """By type, by prefix and by thread; the cursor moves over what is left out."""
    client, path = start(server, 0)
    with client.stream(path + "/events?types=note.*,user.message&thread_id=t") as stream:
        for kind, thread in (("note.a", "u"), ("user.message", "t"), ("other.b", "t"), ("note.c", "t")):
            client.post(path + "/events", {"events": [{"type": kind, "thread_id": thread}]}, expect=201)
        got = [next_event(stream) for _ in range(2)]
        check.equal([(frame.json()["type"], frame.id) for frame in got], [("user.message", "3"), ("note.c", "5")])
    with client.stream(path + "/events?deltas=false&after=5") as stream:
        client.post(path + "/deltas", {"deltas": [{"kind": "text", "text": "x"}]}, expect=202)
        append(client, path, "end")
        kinds = [frame.event for frame in stream.until("event")]
        check.equal("delta" in kinds, False)


@test
def deltas_are_for_who_runs_the_turn(server):
    """Nobody else puts words into the agent's mouth, the owner neither, nor anybody after its end."""
    client, path = start(server, 0)
    bert = person(client, "bert")
    client.post(path + "/participants", {"user_id": bert.id, "role": "collaborator"}, expect=201)
    delta = {"deltas": [{"kind": "text", "text": "x"}]}
    check.problem(bert.client.post(path + "/deltas", delta), 403, "holder_events_only")
    check.problem(bert.client.post(path + "/deltas", delta, headers={"Sojourn-Lease": "sl_none"}), 409, "stale_lease")
    client.post(path + "/deltas", delta, expect=202)
    client.post(path + "/status", {"status": "pending"}, expect=200)
    [claim] = client.post("/api/claims", {"worker": "w"}, expect=200).json()["claims"]
    held = {"Sojourn-Lease": claim["lease"]["token"]}
    client.post(path + "/deltas", delta, headers=held, expect=202)
    check.problem(client.post(path + "/deltas", delta), 409, "lease_required")
    client.post(path + "/settle", {"status": "completed"}, headers=held, expect=200)
    check.problem(client.post(path + "/deltas", delta, headers=held), 409, "stale_lease")
    check.problem(client.post(path + "/deltas", delta), 409, "session_ended")


@test
def a_narrower_visibility_ends_streams(server):
    """Who watched what the organisation could see is told when it can no longer."""
    client, path = start(server, 0)
    bert = person(client, "bert")
    client.patch(path, {"visibility": "org_visible"}, expect=200)
    with bert.client.stream(path + "/events") as stream:
        stream.until("event")
        client.patch(path, {"visibility": "private"}, expect=200)
        check.equal(stream.until("closed")[-1].event, "closed")
    check.problem(bert.client.get(path), 404)

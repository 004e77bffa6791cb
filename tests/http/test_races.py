"""Many clients at once for the same thing: exactly one wins, and everybody hears the truth."""
import threading
import time

from harness import check, test
from harness.people import person, session

THREADS = 16


def together(call, count=THREADS):
    """The results of call(0) … call(count - 1), all begun at the same moment."""
    results, gate = [None] * count, threading.Barrier(count)

    def run(index):
        try:
            gate.wait()
            results[index] = call(index)
        except BaseException as failure:
            results[index] = failure
    threads = [threading.Thread(target=run, args=(index,)) for index in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return results


def clients_of(server, count=THREADS):
    """Connections that are already open, so that the requests really meet."""
    clients = [server.client(timeout_s=30) for _ in range(count)]
    for client in clients:
        client.get("/healthz", expect=200)
    return clients


def statuses(answers):
    """{status: how often}."""
    return {status: sum(1 for answer in answers if answer.status == status)
            for status in sorted({answer.status for answer in answers})}


@test
def one_creates_the_others_open(env):
    """The same id at the same time: one 201, the others get the same session with 200; one log."""
    server = env.server()
    clients = clients_of(server)
    for number in range(env.rounds(10)):
        answers = together(lambda i, number=number: clients[i].post("/api/sessions", {
            "type": "agent", "id": f"web:{number}", "metadata": {f"k{i}": i}}))
        check.equal(statuses(answers), {200: THREADS - 1, 201: 1})
        final = clients[0].get(f"/api/sessions/web:{number}", expect=200).json()
        check.equal(final["metadata"], {f"k{i}": i for i in range(THREADS)}, "every opening merged its metadata")
        check.equal({answer.json()["created_at"] for answer in answers}, {final["created_at"]})
        log = clients[0].get(f"/api/sessions/web:{number}/events").json()["events"]
        check.equal([event["type"] for event in log].count("session.created"), 1)
        check.equal([event["sequence"] for event in log], list(range(1, len(log) + 1)))


@test
def a_key_creates_once(env):
    """The same Idempotency-Key: one session, the same bytes for all; a different body is refused."""
    server = env.server()
    clients = clients_of(server)
    for number in range(env.rounds(10)):
        answers = together(lambda i, number=number: clients[i].post(
            "/api/sessions", {"type": "agent", "title": "x"}, headers={"Idempotency-Key": f"k{number}"}))
        check.equal(statuses(answers), {201: THREADS})
        check.equal(len({answer.body for answer in answers}), 1)
        check.equal(sum(1 for answer in answers if answer.header("idempotency-replayed") == "true"), THREADS - 1)
    check.equal(clients[0].get("/api/counts").json()["total"], env.rounds(10))


@test
def an_external_id_is_appended_once(env):
    """The same external_event_id: one event, the others are told it is a duplicate of it."""
    server = env.server()
    clients = clients_of(server)
    path = session(clients[0])
    for number in range(env.rounds(10)):
        answers = together(lambda i, number=number: clients[i].post(path + "/events", {"events": [
            {"type": "external.event", "external_event_id": f"e{number}", "metadata": {"by": i}}, {"type": "note.x"}]}))
        check.equal(statuses(answers), {201: THREADS})
        first = [answer.json()["events"][0] for answer in answers]
        check.equal(len({event["sequence"] for event in first}), 1)
        check.equal(len({event["metadata"]["by"] for event in first}), 1, "all are told the stored event")
        check.equal(sum(1 for event in first if "duplicate" not in event), 1)
    log = clients[0].get(path + "/events?limit=1000").json()["events"]
    check.equal([event["sequence"] for event in log], list(range(1, len(log) + 1)), "dense")
    check.equal(len(log), 1 + env.rounds(10) * (1 + THREADS))


@test
def a_key_appends_once(env):
    """The same Idempotency-Key on an append."""
    server = env.server()
    clients = clients_of(server)
    path = session(clients[0])
    for number in range(env.rounds(10)):
        answers = together(lambda i, number=number: clients[i].post(
            path + "/events", {"events": [{"type": "note.x"}]}, headers={"Idempotency-Key": f"a{number}"}))
        check.equal(statuses(answers), {201: THREADS})
        check.equal(len({answer.body for answer in answers}), 1)
    check.equal(clients[0].get(path).json()["last_sequence"], 1 + env.rounds(10))


@test
def if_sequence_has_one_winner(env):
    """All saw the log end at the same place: one appends, the others hear where it ends now."""
    server = env.server()
    clients = clients_of(server)
    path = session(clients[0])
    for end in range(1, 1 + env.rounds(10)):
        answers = together(lambda i, end=end: clients[i].post(
            path + "/events", {"events": [{"type": "note.x", "metadata": {"by": i}}]}, headers={"If-Sequence": str(end)}))
        check.equal(statuses(answers), {201: 1, 409: THREADS - 1})
        for answer in answers:
            if answer.status == 409:
                check.contains(check.problem(answer, 409, "sequence_mismatch"), {"sequence": end + 1})
        winner = next(i for i, answer in enumerate(answers) if answer.status == 201)
        check.equal(clients[0].get(f"{path}/events?after={end}").json()["events"][0]["metadata"], {"by": winner})


@test
def appends_interleave_but_never_tear(env):
    """Batches of many writers: each stays together, the whole is dense, nothing is lost."""
    server = env.server()
    clients = clients_of(server)
    path = session(clients[0])

    def write(i):
        return [clients[i].post(path + "/events", {"events": [
            {"type": "note.x", "metadata": {"by": i, "batch": batch, "part": part}} for part in range(3)]},
            expect=201).json()["events"] for batch in range(5)]
    made = together(write)
    log = clients[0].get(path + "/events?limit=1000&after=1").json()["events"]
    check.equal([event["sequence"] for event in log], list(range(2, 2 + THREADS * 15)))
    for batches in made:
        for batch in batches:
            first = batch[0]["sequence"]
            check.equal([event["sequence"] for event in batch], [first, first + 1, first + 2])
            check.equal(log[first - 2:first + 1], batch)
    for i in range(THREADS):
        order = [event["metadata"]["batch"] for event in log if event["metadata"]["by"] == i]
        check.equal(order, sorted(order), "one writer's batches keep their order")


@test
def one_move_wins(env):
    """X-01: conflicting moves from the same state: one changes it, the others are refused with the state there is."""
    server = env.server()
    clients = clients_of(server, 8)
    for _ in range(env.rounds(10)):
        path = session(clients[0], type="response", status="draft")
        clients[0].post(path + "/status", {"status": "running"}, expect=200)
        answers = together(lambda i, path=path: clients[i].post(
            path + "/status", {"status": ("completed", "abandoned")[i % 2]}), 8)
        final = clients[0].get(path).json()["status"]
        for i, answer in enumerate(answers):
            check.equal(answer.status, 200 if ("completed", "abandoned")[i % 2] == final else 409)
        kinds = [event["type"] for event in clients[0].get(path + "/events").json()["events"]]
        check.equal(kinds.count("session.status_change") + kinds.count("session.completed"),
                    2 + (final == "completed"), f"one end: {kinds}")


@test
def deleting_and_appending(env):
    """Whoever comes after the deletion hears 404; nothing of the session is left but its tombstone."""
    server = env.server()
    clients = clients_of(server, 8)
    for number in range(env.rounds(8)):
        path = session(clients[0], id=f"web:{number}")
        answers = together(lambda i, path=path: clients[i].delete(path) if i == 0 else clients[i].post(
            path + "/events", {"events": [{"type": "note.x"}]}), 8)
        check.equal(answers[0].status, 204)
        check.true({answer.status for answer in answers[1:]} <= {201, 404}, f"{statuses(answers)}")
        check.problem(clients[0].get(path), 404)
        check.problem(clients[0].get(path + "/events"), 404)
        check.problem(clients[0].post("/api/sessions", {"type": "agent", "id": f"web:{number}"}), 410)
    check.equal(clients[0].get("/api/counts").json()["total"], 0)


@test(options=["--sessions-per-user-max", "5"])
def the_limit_per_user_holds(server):
    """S3-017: many creations at once never exceed it."""
    anna = person(server.client(), "anna")
    clients = [anna.client.with_headers() for _ in range(THREADS)]
    answers = together(lambda i: clients[i].post("/api/sessions", {"type": "mixed", "status": "running"}))
    check.equal(statuses(answers), {201: 5, 429: THREADS - 5})


@test(options=["--sessions-per-user-max", "3"])
def the_limit_per_user_holds_for_messages(server):
    """S3-017: many messages at once to sessions at rest, which the server runs, begin no more than the limit."""
    owner = server.client()
    owner.post("/api/agents", {"id": "away", "driver": "runner"}, expect=201)
    anna = person(owner, "anna")
    clients = [anna.client.with_headers() for _ in range(THREADS)]
    paths = [session(anna.client, agent="away", status="idle") for _ in range(THREADS)]
    answers = together(lambda i: clients[i].post(paths[i] + "/messages", {"text": "go"}))
    check.equal(statuses(answers), {202: 3, 429: THREADS - 3})


@test(on=("postgres",), options=["--sessions-per-user-max", "3"])
def the_limit_per_user_holds_on_two_nodes(env):
    """S3-017: two nodes of one database count one after the other."""
    first = env.server()
    second = env.server(database=first.database, environment={"SOJOURN_BOOTSTRAP_TOKEN": first.token})
    anna = person(first.client(), "anna")
    running = {"type": "mixed", "status": "running"}
    clients = [anna.client.with_headers() if i % 2 else second.client(anna.client.token) for i in range(THREADS)]
    for _ in range(env.rounds(3)):
        answers = together(lambda i: clients[i].post("/api/sessions", running))
        check.equal(statuses(answers), {201: 3, 429: THREADS - 3})
        for answer in answers:
            if answer.status == 201:
                anna.client.post(f"/api/sessions/{answer.json()['id']}/status", {"status": "completed"}, expect=200)


@test(options=["--claim-attempts-max", "1000"])
def one_lease_at_a_time(env):
    """S0-084: a session that comes back again and again is always given to exactly one worker, with a higher fence."""
    server = env.server()
    clients = clients_of(server, 8)
    path = session(clients[0], status="pending")
    for fence in range(1, 1 + env.rounds(10)):
        answers = together(lambda i: clients[i].post("/api/claims", {"worker": f"w{i}"}, expect=200), 8)
        won = [claim for answer in answers for claim in answer.json()["claims"]]
        check.equal([claim["lease"]["fence"] for claim in won], [fence])
        held = {"Sojourn-Lease": won[0]["lease"]["token"]}
        answers = together(lambda i, held=held: clients[i].post(path + "/release", {}, headers=held), 8)
        check.equal(statuses(answers), {200: 1, 409: 7})


@test
def one_sign_in_per_link(server):
    """A one-time link used by many at once signs in one."""
    owner = server.client()
    for number in range(5):
        secret = person(owner, f"p{number}").secret
        clients = [server.anonymous() for _ in range(8)]
        answers = together(lambda i, secret=secret, clients=clients: clients[i].post(
            "/api/auth/link", {"secret": secret}), 8)
        check.equal(statuses(answers), {200: 1, 401: 7})


# --- two nodes on one database ---


def two_nodes(env):
    """Clients of two servers that share a database, in turn."""
    url = env.database()
    first = env.server(database=url)
    second = env.server(database=url, environment={"SOJOURN_BOOTSTRAP_TOKEN": first.token})
    second.token = first.token
    return first, second, [client for pair in zip(clients_of(first, 6), clients_of(second, 6)) for client in pair]


def insist(client, path, body, **named):
    """Posts until the answer is another than "the other node is at it", as a client would."""
    deadline = check.deadline_after(20)
    while True:
        answer = client.post(path, body, **named)
        if answer.status != 503:
            return answer
        check.problem(answer, 503, "busy")
        check.equal(answer.header("retry-after"), "1")
        check.true(time.monotonic() < deadline, "the other node lets go")


@test(on=("postgres", "postgres tsan"))
def two_nodes_agree(env):
    """Creations, appends, conditions, keys and claims through two nodes at once: one truth, dense logs, one winner."""
    first, second, clients = two_nodes(env)
    count, note = len(clients), {"events": [{"type": "note.x"}]}
    for number in range(env.rounds(6)):
        path = f"/api/sessions/web:{number}"
        answers = together(lambda i, number=number: insist(
            clients[i], "/api/sessions", {"type": "agent", "id": f"web:{number}"}), count)
        check.equal(statuses(answers), {200: count - 1, 201: 1})
        answers = together(lambda i, path=path: insist(
            clients[i], path + "/events", note, headers={"If-Sequence": "1"}), count)
        check.equal(statuses(answers), {201: 1, 409: count - 1})
        answers = together(lambda i, path=path, number=number: insist(
            clients[i], path + "/events", note, headers={"Idempotency-Key": f"k{number}"}), count)
        check.equal((statuses(answers), len({answer.body for answer in answers})), ({201: count}, 1))
        together(lambda i, path=path: [insist(clients[i], path + "/events", note, expect=(201, 503))
                                       for _ in range(4)], count)
        log = clients[0].get(path + "/events?limit=1000").json()["events"]
        check.equal([event["sequence"] for event in log], list(range(1, 4 + count * 4)))
    session(clients[0], status="pending", agent="a")
    answers = together(lambda i: insist(clients[i], "/api/claims", {"worker": f"w{i}", "agents": ["a"]}), count)
    check.equal(sum(len(answer.json()["claims"]) for answer in answers), 1)


@test(on=("postgres", "postgres tsan"))
def two_nodes_show_each_others_events(env):
    """A stream and the firehose on one node carry what the other node writes, complete and in order."""
    first, second, _ = two_nodes(env)
    path = session(first.client())
    with second.client().stream(path + "/events") as stream, second.client().stream("/api/stream?types=note.*") as hose:
        hose.next()
        for number in range(40):
            writer = (first, second)[number % 2].client()
            writer.post(path + "/events", {"events": [{"type": "note.x", "metadata": {"n": number}}]}, expect=201)
        for one in (stream, hose):
            frames = one.until(lambda frame: frame.event == "event" and frame.json()["metadata"].get("n") == 39)
            numbers = [frame.json()["metadata"]["n"] for frame in frames
                       if frame.event == "event" and frame.json()["type"] == "note.x"]
            check.equal(numbers, list(range(40)))

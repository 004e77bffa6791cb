"""Two servers on one PostgreSQL: what one of them ran is taken over when it dies, and left alone while it lives."""
import glob
import os
import signal
import time

from harness import check, people
from harness.suite import test
from harness.talk import events, send

QUICK = ["--lease-ms-default", "1000", "--lease-ms-min", "100", "--claim-attempts-max", "1000", "--demo-pace-percent", "10"]
MORTAL = QUICK + ["--node-lease-ms", "3s", "--node-heartbeat-ms", "100ms"]


def pair(env, *options, second=True):
    """Two nodes; the second one is started later where the first is to run everything meanwhile."""
    database = env.database()
    one = env.server(options, database=database)
    other = env.server(options, database=database, environment={"SOJOURN_BOOTSTRAP_TOKEN": one.token}, start=second)
    other.token = one.token
    return one, other


def boxed(client, **body):
    """The path of a session whose agent works in a sandbox of the server's machine."""
    client.post("/api/agents", {"id": "boxed", "driver": "demo", "sandbox": {"kind": "local"}})
    return people.session(client, agent="boxed", **body)


def trees(server):
    found = glob.glob(os.path.join(server.data_directory(), "sandboxes", "[0-9]*", "[0-9]*", "workspace"))
    return [path for path in found if ".new-" not in path]


def files(server):
    return sorted(name for tree in trees(server) for name in os.listdir(tree))


def put_file(server, name):
    [tree] = trees(server)
    with open(os.path.join(tree, name), "w", encoding="ascii") as file:
        file.write("kept")


def wait_turns(client, path, count):
    """So many turns ended well; a turn that was cut is offered again, and resumed here."""
    def done():
        session = client.get(path).json()
        if session["status"] == "idle" and session["turn_count"] < count:
            client.post(path + "/resume")
        ended = [end["metadata"]["stop_reason"] for end in events(client, path, "turn.ended")]
        return ended.count("stop") >= count
    check.eventually(done, f"{count} turns ended well", 60)
    check.eventually(lambda: client.get(path).json()["status"] == "idle", "it is at rest", 30)


def wait_runtime(client, path, state):
    check.eventually(lambda: client.get(path).json()["runtime"] == state, f"the runtime is {state}", 60)


def losses(client, path):
    return [event["metadata"] for event in events(client, path, "runtime.lost")]


@test(on=("postgres",), timeout_s=180)
def a_prompt_goes_where_the_sandbox_is(env):
    """Whichever node takes the message; sleeping and waking, too."""
    one, other = pair(env, *QUICK, second=False)
    path = boxed(one.client(), prompt="echo 0")
    wait_turns(one.client(), path, 1)
    put_file(one, "kept")
    client = other.start().client()
    for number in range(1, 5):
        send(client, path, f"echo {number}")
        wait_turns(client, path, number + 1)
    client.post(path + "/hibernate", expect=200)
    wait_runtime(client, path, "hibernated")
    client.post(path + "/wake", expect=200)
    wait_runtime(client, path, "running")
    check.equal((files(one), trees(other), losses(client, path)), (["kept"], [], []))
    client.post(path + "/stop", {}, expect=200)
    wait_runtime(client, path, "stopped")
    check.eventually(lambda: trees(one) == [], "its files are gone", 30)


@test(on=("postgres",), timeout_s=180)
def a_node_that_comes_back_in_time_loses_nothing(env):
    """kill -9 and a start within its lease: the other one has waited."""
    one, other = pair(env, *QUICK)
    client = one.client()
    path = boxed(client, prompt="echo 0")
    wait_turns(client, path, 1)
    host, witness = (one, other) if trees(one) else (other, one)
    put_file(host, "kept")
    host.kill()
    send(witness.client(), path, "echo 1")
    host.start()
    wait_turns(witness.client(), path, 2)
    check.equal((files(host), trees(witness), losses(witness.client(), path)), (["kept"], [], []))


def lose_host(env, *options):
    """A session whose sandbox has slept once and got another file since; its node is dead, and the other lives."""
    one, other = pair(env, *MORTAL, *options, second=False)
    client = one.client()
    path = boxed(client, prompt="echo 0")
    wait_turns(client, path, 1)
    put_file(one, "saved")
    client.post(path + "/hibernate", expect=200)
    wait_runtime(client, path, "hibernated")
    send(client, path, "echo 1")
    wait_turns(client, path, 2)
    put_file(one, "unsaved")
    other.start()
    one.kill()
    return one, other, path


@test(on=("postgres",), timeout_s=180)
def a_sandbox_is_restored_on_another_node(env):
    """From its last snapshot, where both see it. What came after that is lost, and the log says so."""
    snapshots = os.path.join(env.directory, "snapshots")
    _, other, path = lose_host(env, "--snapshots", snapshots)
    client = other.client()
    check.eventually(lambda: losses(client, path), "the loss is told", 30)
    [loss] = losses(client, path)
    check.contains(loss, {"runtime": "running", "snapshot": "kept"})
    session = client.get(path).json()
    check.contains(session, {"runtime": "error", "pause_reason": "orphaned", "display_status": "recovering"})
    send(client, path, "echo 2")
    wait_turns(client, path, 3)
    check.equal((files(other), client.get(path).json()["pause_reason"]), (["saved"], None))
    check.equal(len(losses(client, path)), 1)


@test(on=("postgres",), timeout_s=180)
def what_no_other_node_reaches_is_begun_afresh(env):
    """A snapshot in the dead node's own directory is lost with it, and the log says so before the next turn."""
    one, other, path = lose_host(env)
    client = other.client()
    send(client, path, "echo 2")
    wait_turns(client, path, 3)
    [loss] = losses(client, path)
    check.contains(loss, {"snapshot": "lost"})
    check.equal((files(other), client.get(path).json()["details"]["snapshot_id"]), ([], None))
    put_file(other, "new")
    one.start()  # it has an old tree of the session, and leaves it alone
    send(one.client(), path, "echo 3")
    wait_turns(one.client(), path, 4)
    check.equal((files(other), len(losses(client, path))), (["new"], 1))


@test(on=("postgres",), timeout_s=180)
def a_sleeping_session_wakes_on_another_node(env):
    """Its snapshot is in reach: nothing was lost, and nothing is said to be."""
    snapshots = os.path.join(env.directory, "snapshots")
    one, other = pair(env, *MORTAL, "--snapshots", snapshots, second=False)
    path = boxed(one.client(), prompt="echo 0")
    wait_turns(one.client(), path, 1)
    put_file(one, "kept")
    one.client().post(path + "/hibernate", expect=200)
    wait_runtime(one.client(), path, "hibernated")
    client = other.start().client()
    one.kill()
    send(client, path, "echo 1")
    wait_turns(client, path, 2)
    check.equal((files(other), losses(client, path)), (["kept"], []))


@test(on=("postgres",), timeout_s=180)
def a_turn_is_taken_over(env):
    """Its node dies while it waits for a person: the turn is cut once, offered again, and run by the other node."""
    one, other = pair(env, *MORTAL, second=False)
    path = people.session(one.client(), agent="demo", prompt="Show me around")
    check.eventually(lambda: events(one.client(), path, "ask.requested"), "it asks", 30)
    client = other.start().client()
    one.kill()
    check.eventually(lambda: events(client, path, "turn.ended"), "the turn was cut", 30)
    check.contains(events(client, path, "turn.ended")[0]["metadata"], {"turn": 1, "stop_reason": "aborted"})
    answered = set()

    def help_on():
        for ask in client.get(path + "/asks", expect=200).json()["asks"]:
            reply = {"answer": "Hello there"} if ask["kind"] == "question" else {"decision": "once"}
            if ask["id"] not in answered and client.post(f"{path}/asks/{ask['id']}/answer", reply).status == 200:
                answered.add(ask["id"])
        session = client.get(path).json()
        if session["status"] == "idle" and session["turn_count"] == 0:
            client.post(path + "/resume")
        ends = [end["metadata"]["stop_reason"] for end in events(client, path, "turn.ended")]
        return "stop" in ends
    check.eventually(help_on, "the other node ends it well", 60)
    numbers = [end["metadata"]["turn"] for end in events(client, path, "turn.ended")]
    check.equal(len(numbers), len(set(numbers)), "each turn ended once")


@test(on=("postgres",), timeout_s=180)
def a_node_that_was_only_asleep_lets_go(env):
    """It was taken for dead: when it goes on, the session is the other's, and what it had of it goes."""
    one, other = pair(env, *MORTAL, second=False)
    path = boxed(one.client(), prompt="echo 0")
    wait_turns(one.client(), path, 1)
    client = other.start().client()
    one.signal(signal.SIGSTOP)
    try:
        send(client, path, "echo 1")
        wait_turns(client, path, 2)
        put_file(other, "new")
    finally:
        one.signal(signal.SIGCONT)
    check.eventually(lambda: trees(one) == [], "the first one's files are gone", 60)
    send(one.client(), path, "echo 2")
    wait_turns(one.client(), path, 3)
    check.equal((files(other), trees(one), len(losses(client, path))), (["new"], [], 1))


def runner(client, path, token):
    """A connection of the session's runner, which is free."""
    socket = client.with_token(token).websocket(path + "/ws?role=runner")
    check.equal(socket.next_json()["type"], "init")
    socket.send({"type": "agentStatus", "status": "idle"})
    return socket


@test(on=("postgres",), timeout_s=120)
def a_runner_hears_of_what_another_node_took(env):
    """Within a second; and when its node dies it connects to the other one and goes on there."""
    one, other = pair(env, *QUICK)
    client, there = one.client(), other.client()
    client.post("/api/agents", {"id": "remote", "driver": "runner", "resume": "retry"}, expect=201)
    path = people.session(client, agent="remote")
    token = client.post(path + "/runner-token", {}, expect=201).json()["token"]
    socket = runner(client, path, token)
    check.eventually(lambda: events(there, path, "runner.connected"), "the runner is there", 20)
    took_s = []
    for number in range(3):
        began = time.monotonic()
        send(there, path, f"hello {number}")
        prompt = socket.next_json(20)
        took_s.append(time.monotonic() - began)
        check.equal((prompt["type"], prompt["content"]), ("prompt", f"hello {number}"))
        if number < 2:
            socket.send({"type": "complete", "messageId": prompt["messageId"], "turn": prompt["turn"]})
            wait_turns(there, path, number + 1)
    check.true(min(took_s) < 1, f"within a second, where the machine itself does not stall: {took_s}")
    one.kill()
    socket = runner(there, path, token)
    again = socket.next_json(30)
    check.equal((again["type"], again["content"]), ("prompt", "hello 2"))
    socket.send({"type": "complete", "messageId": again["messageId"], "turn": again["turn"]})
    wait_turns(there, path, 3)
    check.equal(len(events(there, path, "user.message")), 3, "each is said once")


@test(on=("postgres",), timeout_s=120)
def an_answer_reaches_a_turn_on_another_node(env):
    """Within a second, and the turn goes on where it is."""
    one, other = pair(env, second=False)
    path = people.session(one.client(), agent="demo", prompt="Show me around")
    check.eventually(lambda: one.client().get(path + "/asks").json()["asks"], "it asks", 30)
    client = other.start().client()
    took_s = []
    is_event = lambda frame, type: frame.event == "event" and frame.json()["type"].startswith(type)
    with client.stream(path + "/events") as stream:
        for reply in ({"decision": "once"}, {"answer": "Hello there"}, {"decision": "once"}):
            ask = stream.until(lambda frame: is_event(frame, "ask.requested"), 20)[-1].json()["metadata"]["id"]
            began = time.monotonic()
            client.post(f"{path}/asks/{ask}/answer", reply, expect=200)
            stream.until(lambda frame: is_event(frame, "agent."), 20)
            took_s.append(time.monotonic() - began)
    check.true(min(took_s) < 1, f"within a second, where the machine itself does not stall: {took_s}")
    check.equal(client.get(path).json()["fence"], 1)


@test(on=("postgres",), timeout_s=180)
def given_back_to_a_node_that_remembers_it_otherwise(env):
    """A worker claims at one node and gives back, or settles, at the one that made the session: the log has it."""
    one, other = pair(env, *QUICK)
    first, second = one.client(), other.client()
    for number in range(20):
        path = people.session(first, type="agent", status="pending")
        [claim] = second.post("/api/claims", {"worker": "w", "lease_ms": 60000}, expect=200).json()["claims"]
        lease = {"Sojourn-Lease": claim["lease"]["token"]}
        verb, body, told = (("release", {}, "session.released"),
                            ("settle", {"status": "completed"}, "session.completed"))[number % 2]
        after = first.post(f"{path}/{verb}", body, headers=lease, expect=200).json()
        kinds = [event["type"] for event in events(second, path)]
        check.contains(kinds[3:], told)
        check.equal(after["last_sequence"], len(kinds))
        first.delete(path, expect=204)


def barked(client, path):
    return [(event["type"], event["metadata"]["action"]) for event in events(client, path, "watchdog.*")]


@test(on=("postgres",), timeout_s=120)
def a_lease_that_only_a_dead_node_knew_of(env):
    """Workers claimed at a node that is killed, and are gone with it: the other one notices that their leases are over."""
    one, other = pair(env, "--watchdog-sweep-ms", "20", "--lease-over-ms", "10", "--sessions-per-user-max", "100")
    client, remote = one.client(), other.client()
    paths = []
    for number in range(12):
        paths.append(people.session(remote, agent=f"a{number}", prompt="work"))
        body = {"worker": "w", "agents": [f"a{number}"], "lease_ms": 2000 + 500 * number}
        [claim] = remote.post("/api/claims", body, expect=200).json()["claims"]
    other.kill()
    waits = lambda path: client.get(path, expect=200).json()["status"] == "pending"
    check.eventually(lambda: all(waits(path) for path in paths), "all of them wait for the next worker", 60)
    found = [pair for path in paths for pair in barked(client, path)]
    check.equal(set(found), {("watchdog.runner_lost", "revert_and_drain")})
    check.equal(client.post("/api/claims", {"worker": "w", "agents": ["a11"]}, expect=200).json()["claims"][0]["session"]["id"],
                paths[-1].split("/")[-1])
    check.problem(client.post(paths[-1] + "/settle", {"status": "completed"},
                              headers={"Sojourn-Lease": claim["lease"]["token"]}), 409)


@test(on=("postgres",), timeout_s=120)
def two_begin_at_once(env):
    """On an empty database, and on one that the other works on: whoever comes second goes again."""
    for _ in range(2):
        one, other = pair(env, second=False)
        one.stop()
        database = env.database()
        one.database = other.database = database
        one.launch()
        other.launch()
        for server in (one, other):
            entry = server.log.wait(lambda entry: entry["event"] in ("listening", "start_failed"), 40)
            check.equal(entry and entry["event"], "listening", f"what a server says first: {entry}")
            server.address = server.wait_log("listening")["address"]
            check.eventually(server.is_ready, "it is ready", 20)
        for server in (one, other):
            check.equal(server.client().get("/api/me").status, 200, "status of the first owner's question")
            server.kill()

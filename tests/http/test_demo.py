"""The demo agent: a session that lives without any model, and survives what a server can meet."""
from datetime import datetime, timedelta

from harness import check, people
from harness.suite import test
from harness.talk import watch

TURN = ["session.status_change", "session.claimed", "agent.thinking", "agent.message", "agent.tool_call", "agent.tool_result",
        "agent.message", "turn.ended", "session.status_change"]
QUICK_LEASES = ["--lease-ms-default", "600", "--lease-ms-min", "100", "--claim-attempts-max", "1000"]


def talk(client, **body):
    return people.session(client, agent="demo", **body)


def send(client, path, text):
    return client.post(path + "/messages", {"text": text}, expect=202).json()


def events(client, path, types=None):
    query = f"&types={types}" if types else ""
    return client.get(f"{path}/events?limit=1000{query}", expect=200).json()["events"]


def moment(event):
    return datetime.fromisoformat(event["created_at"].replace("Z", "+00:00"))


def wait_idle(client, path, seconds=30):
    check.eventually(lambda: client.get(path).json()["status"] == "idle", "the turn is over", seconds)


def check_once(client, path, receipts):
    """Every accepted message is said exactly once, in the order of acceptance."""
    said = [event["metadata"].get("prompt_id") for event in events(client, path, "user.message")]
    check.equal(said, [receipt["prompt_id"] for receipt in receipts])


@test
def answers(server):
    """It streams, calls a tool, says that it is a demo and what was said, and is idle again."""
    client = server.client()
    path = talk(client)
    with watch(client, path) as stream:
        receipt = send(client, path, "echo Good \"morning\" ☀")
        frames = stream.until(lambda frame: frame.event == "event" and frame.json()["metadata"].get("to") == "idle", 30)
    log = events(client, path)
    check.equal([event["type"] for event in log], ["session.created", "user.message", "session.status_change"] + TURN)
    check.equal({event["actor"] for event in log if event["role"] == "agent"}, {"agent:demo"})
    first, second = (event["content"][0]["text"] for event in log if event["type"] == "agent.message")
    check.contains(first, "demo")
    check.contains(second, "echo Good \"morning\" ☀")
    call, result = (event["content"][0] for event in log if event["type"].startswith("agent.tool_"))
    check.equal((call["name"], call["tool_call_id"]), ("read_file", result["tool_call_id"]))
    deltas = [frame.json() for frame in frames if frame.event == "delta"]
    texts = {kind: "".join(one["text"] for one in deltas if one["kind"] == kind) for kind in ("reasoning", "text")}
    check.equal(texts, {"reasoning": log[5]["content"][0]["text"], "text": first + second})
    session = client.get(path).json()
    check.contains(session, {"status": "idle", "turn_count": 1, "message_count": 3, "tool_call_count": 1})
    check.equal(session["usage"]["demo_turns"], 1)
    check_once(client, path, [receipt])


@test
def the_prompt_at_creation_is_answered(server):
    client = server.client()
    path = talk(client, prompt="echo from the start")
    wait_idle(client, path)
    check.contains(events(client, path, "agent.message")[1]["content"][0]["text"], "from the start")


@test
def queued_messages_are_answered_in_turn(server):
    """What is said meanwhile waits, and each gets a turn of its own."""
    client = server.client()
    path = talk(client)
    receipts = [send(client, path, f"echo message {n}") for n in range(3)]
    check.equal([one["status"] for one in receipts], ["dispatched", "queued", "queued"])
    check.eventually(lambda: client.get(path).json()["turn_count"] == 3, "three turns", 30)
    check_once(client, path, receipts)
    answers = [event["content"][0]["text"] for event in events(client, path, "agent.message")][1::2]
    check.equal(len(answers), 3)
    for n, answer in enumerate(answers):
        check.contains(answer, f"message {n}")


@test
def every_tenant_is_served(server):
    """One agent for all tenants; each sees its own session only."""
    owner = server.client()
    other = people.tenant(owner, "elsewhere").client
    paths = [(client, talk(client, prompt="echo hello")) for client in (owner, other)]
    for client, path in paths:
        wait_idle(client, path)
        check.equal(client.get(path).json()["turn_count"], 1)


@test(options=["--lease-ms-default", "2s", "--demo-pace-percent", "200"])
def a_lease_is_renewed(server):
    """A turn longer than its lease keeps it: one claim, one turn."""
    client = server.client()
    path = talk(client, prompt="echo hello")
    wait_idle(client, path)
    [begun], [ended] = (events(client, path, type) for type in ("session.claimed", "turn.ended"))
    check.true(moment(ended) - moment(begun) > timedelta(seconds=2), "it took longer than the lease")
    check.equal(client.get(path).json()["fence"], 1)
    check.equal(events(client, path, "session.lease_lost"), [])


@test(options=QUICK_LEASES, timeout_s=120)
def killed_in_the_middle(server):
    """kill -9 in a turn: it runs again when its lease ran out; nothing is said twice, nothing is lost."""
    client = server.client()
    path = talk(client)
    receipts = [send(client, path, f"echo message {n}") for n in range(2)]
    for type in ("session.claimed", "agent.thinking", "agent.tool_call"):
        check.eventually(lambda: events(client, path, type), f"{type} is in the log", 30)
        server.kill()
        client = server.start().client()
    receipts.append(send(client, path, "echo message 2"))
    check.eventually(lambda: client.get(path).json()["turn_count"] == 3, "three turns", 60)
    wait_idle(client, path)
    check_once(client, path, receipts)
    check.equal(client.get(path + "/queue").json()["prompts"], [])
    lost = len(events(client, path, "session.lease_lost"))
    check.true(lost >= 1, "a lost lease is in the log")
    check.equal(len(events(client, path, "session.claimed")), 3 + lost)
    ends = [event["metadata"]["turn"] for event in events(client, path, "turn.ended")]
    check.equal(ends, [event["metadata"]["fence"] for event in events(client, path, "session.claimed")])
    check.equal(len(events(client, path, "agent.message")), 6)


@test
def a_stop_gives_the_session_back(server):
    """SIGTERM in a turn: it is cut, pending, and goes on in the next server without waiting for a lease."""
    client = server.client()
    path = talk(client)
    receipt = send(client, path, "echo hello")
    check.eventually(lambda: events(client, path, "agent.thinking"), "the turn has begun", 30)
    client = server.restart().client()
    [cut] = [event["metadata"] for event in events(client, path, "turn.ended") if "cause" in event["metadata"]]
    check.contains(cut, {"turn": 1, "stop_reason": "aborted", "cause": "server_stopping"})
    wait_idle(client, path)
    check_once(client, path, [receipt])
    check.equal(len(events(client, path, "agent.thinking")), 1)
    check.equal(client.get(path).json()["fence"], 2)


@test
def a_stopped_session_ends_the_turn(server):
    """Whoever stops the session takes the lease: the agent goes quietly."""
    client = server.client()
    path = talk(client)
    send(client, path, "echo hello")
    check.eventually(lambda: events(client, path, "agent.thinking"), "the turn has begun", 30)
    last = client.post(path + "/status", {"status": "completed"}, expect=200).json()["last_sequence"]
    other = talk(client, prompt="echo still there?")
    wait_idle(client, other)
    check.equal(client.get(path).json()["last_sequence"], last)


@test(options=["--no-demo-agent"])
def switched_off(server):
    """Without it the session waits for a worker of that name."""
    client = server.client()
    path = talk(client, prompt="echo hello")
    [got] = client.post("/api/claims", {"worker": "w", "agents": ["demo"]}, expect=200).json()["claims"]
    check.equal(path, f"/api/sessions/{got['session']['id']}")


@test(options=["--turns-max", "2"])
def turns_have_a_limit(server):
    """No more than that many at a time; the others wait and are served."""
    client = server.client()
    paths = [talk(client, prompt=f"echo hello {n}") for n in range(5)]
    running = lambda: client.get("/api/sessions?status=running").json()["sessions"]
    check.eventually(lambda: len(running()) == 2, "two run", 30)

    def all_answered():
        check.true(len(running()) <= 2, "never more than two run")
        return all(client.get(path).json()["turn_count"] == 1 for path in paths)
    check.eventually(all_answered, "all are answered", 60)


@test(options=["--turns-max", "1"])
def tenants_take_turns(server):
    """A tenant with a long queue lets the session of another one through, and sessions go oldest first."""
    one = server.client()
    two = people.tenant(one, "two").client
    many = [talk(one, prompt=f"echo hello {n}") for n in range(4)]
    single = talk(two, prompt="echo hello")

    def claimed_at(client, path):
        [event] = events(client, path, "session.claimed")
        return event["created_at"]

    for client, path in [*((one, path) for path in many), (two, single)]:
        check.eventually(lambda: client.get(path).json()["turn_count"] == 1, f"{path} is answered", 60)
    order = [claimed_at(one, path) for path in many]
    check.equal(order, sorted(order), "oldest first")
    check.true(claimed_at(two, single) < order[-1], "the other tenant did not have to wait for all of them")


def pending(client, path):
    return client.get(path + "/asks", expect=200).json()["asks"]


def next_ask(client, path, seen):
    check.eventually(lambda: [ask for ask in pending(client, path) if ask["id"] not in seen], "it asks", 30)
    [ask] = pending(client, path)
    seen.add(ask["id"])
    return ask


def answer(client, path, ask, **reply):
    client.post(f"{path}/asks/{ask['id']}/answer", reply, expect=200)


@test
def the_first_turn_is_a_tour(server):
    """Text, reasoning, tools, an approval, a question, a file edit, a commit and a result."""
    client = server.client()
    path = talk(client, prompt="Show me around")
    seen = set()
    edit = next_ask(client, path, seen)
    check.contains(edit, {"kind": "approval", "tool": "edit_file"})
    check.contains(client.get(path).json(), {"status": "awaiting_tool", "display_status": "blocked"})
    answer(client, path, edit, decision="once")
    question = next_ask(client, path, seen)
    check.contains(question, {"kind": "question"})
    check.equal(client.get(path).json()["status"], "waiting_human")
    answer(client, path, question, answer=question["options"][1])
    commit = next_ask(client, path, seen)
    check.contains(commit, {"kind": "approval", "tool": "git_commit"})
    answer(client, path, commit, decision="deny", reason="not today")
    wait_idle(client, path)
    messages = [event["content"][0]["text"] for event in events(client, path, "agent.message")]
    check.contains(messages[2], question["options"][1])
    results = [event["content"][0] for event in events(client, path, "agent.tool_result")]
    check.equal([result["is_error"] for result in results], [False, False, True])
    session = client.get(path).json()
    check.equal(session["result"]["files_changed"], ["welcome.txt"])
    check.equal(session["fence"], 1)


def go_on_after_kill(client, path, seen):
    """Answers everything the demo asks behind its edit; the outcome of each of its calls."""
    question = next_ask(client, path, seen)
    check.equal(question["kind"], "question", "what was approved is not asked again")
    answer(client, path, question, answer=question["options"][0])
    answer(client, path, next_ask(client, path, seen), decision="once")
    wait_idle(client, path)
    turns = [event["metadata"]["fence"] for event in events(client, path, "session.claimed")]
    check.equal(turns, [event["metadata"]["turn"] for event in events(client, path, "turn.ended")])
    return [event["metadata"].get("outcome", "done") for event in events(client, path, "agent.tool_result")]


@test(options=QUICK_LEASES, timeout_s=120)
def a_question_survives_a_kill(server):
    """kill -9 while it asks: the question is still there, and its answer makes the session go on. The call that waited for it
    was surely not run."""
    client = server.client()
    path = talk(client, prompt="Show me around")
    edit = next_ask(client, path, set())
    server.kill()
    client = server.start().client()
    check.eventually(lambda: events(client, path, "turn.ended"), "the turn was cut", 30)
    check.equal([ask["id"] for ask in pending(client, path)], [edit["id"]])
    answer(client, path, edit, decision="once")
    check.equal(go_on_after_kill(client, path, {edit["id"]}), ["done", "not_run", "done"])


@test(on=("postgres",), options=["--lease-ms-default", "5s", "--lease-ms-min", "100"], timeout_s=120)
def an_answer_before_the_loss_is_known(server):
    """Another node may still run the turn until its lease is over, and may have heard the answer: nobody knows whether the
    call was run."""
    client = server.client()
    path = talk(client, prompt="Show me around")
    edit = next_ask(client, path, set())
    server.kill()
    client = server.start().client()
    answer(client, path, edit, decision="once")
    outcomes = go_on_after_kill(client, path, {edit["id"]})
    order = [event["type"] for event in events(client, path, "ask.answered,turn.ended")]
    is_late = order[0] == "turn.ended"  # on a machine so slow that the lease was over first
    check.equal(outcomes, ["done", "not_run" if is_late else "ambiguous", "done"])


@test
def interrupted(server):
    """An interrupt ends the turn, not the session; it says so."""
    client = server.client()
    path = talk(client, prompt="echo something")
    check.eventually(lambda: events(client, path, "agent.thinking"), "the turn has begun", 30)
    client.post(path + "/interrupt", {}, expect=200)
    wait_idle(client, path)
    [end] = [event["metadata"] for event in events(client, path, "turn.ended")]
    check.contains(end, {"turn": 1, "stop_reason": "aborted"})


@test(on=("postgres",), timeout_s=120)
def one_node_runs_it_and_another_answers(env):
    """What a person decides reaches the turn through the log, whichever node took the answer."""
    database = env.cluster().new_database()
    one, other = (env.server(database=database) for _ in range(2))
    other.token = one.token
    path = talk(one.client(), prompt="Show me around")
    seen = set()
    for reply in ({"decision": "once"}, {"answer": "Hello there"}, {"decision": "once"}):
        for server in (one, other):  # both see it; each second answer goes to each node
            check.eventually(lambda: pending(server.client(), path), "it asks", 30)
        answer((one, other)[len(seen) % 2].client(), path, next_ask(other.client(), path, seen), **reply)
    wait_idle(other.client(), path)
    check.equal(one.client().get(path).json()["fence"], 1)
    path = talk(other.client(), prompt="echo again")
    check.eventually(lambda: events(one.client(), path, "agent.thinking"), "it runs", 30)
    one.client().post(path + "/interrupt", {}, expect=200)
    wait_idle(one.client(), path)


@test(options=["--partial-flush-ms", "10ms"] + QUICK_LEASES, timeout_s=120)
def what_was_read_is_not_lost(server):
    """kill -9 in the middle of a sentence: what viewers had read of it is in the log, marked as partial."""
    client = server.client()
    path = talk(client)
    with watch(client, path) as stream:
        send(client, path, "echo something long enough")
        frames = stream.until(lambda frame: frame.event == "delta" and frame.json()["kind"] == "text", 30)
        frames += [stream.next(10) for _ in range(2)]
    server.kill()
    client = server.start().client()
    check.eventually(lambda: events(client, path, "turn.ended"), "the turn was cut", 30)
    partial = [event for event in events(client, path, "agent.message") if event["metadata"].get("partial")]
    check.equal(len(partial), 1)
    check.contains(partial[0], {"actor": "agent:demo", "role": "agent"})
    text = partial[0]["content"][0]["text"]
    whole = "Hello! I am the demo agent of this server: a script, not a model. Let me read a file that I pretend to have."
    check.true(whole.startswith(text) and text, f"it is the beginning of what was said: {text}")
    wait_idle(client, path)
    spoken = [event["content"][0]["text"] for event in events(client, path, "agent.message") if not event["metadata"].get("partial")]
    check.equal(spoken[0], whole)

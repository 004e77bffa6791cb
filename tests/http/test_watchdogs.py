"""Sessions that are stuck are found and freed: one typed event each, and no more than needed."""
import glob
import os
import signal
import sqlite3
import subprocess
import sys

from harness import check, people
from harness.model_server import ModelServer
from harness.postgres import database_name
from harness.runner import begin, runner_token
from harness.server import ROOT
from harness.suite import test

QUICK = ["--watchdog-sweep-ms", "50"]
AGENT = """
id: helper
driver: model
provider: anthropic
model: first
system_prompt: You help.
sandbox: {kind: none}
"""


def events(client, path, types=None):
    query = f"&types={types}" if types else ""
    return client.get(f"{path}/events?limit=1000{query}", expect=200).json()["events"]


def status(client, path):
    return client.get(path, expect=200).json()["status"]


def barked(client, path):
    """The (watchdog, action) pairs in a session's log."""
    return [(event["type"].split(".")[1], event["metadata"]["action"]) for event in events(client, path, "watchdog.*")]


def wait_barked(client, path, *pairs):
    check.eventually(lambda: barked(client, path) == list(pairs), f"the log of {path} has {pairs}", 30)


def claim(client, path, agent="a", **body):
    [got] = client.post("/api/claims", {"worker": "w", "agents": [agent], **body}, expect=200).json()["claims"]
    check.equal(f"/api/sessions/{got['session']['id']}", path)
    return {"Sojourn-Lease": got["lease"]["token"]}


def figure(client, watchdog):
    [line] = [line for line in client.get("/metrics", expect=200).body.decode().splitlines()
              if line.startswith(f"sojourn_watchdog_{watchdog}_total ")]
    return int(line.split()[-1])


def damage(env, server, *statements):
    """Kills the server, changes its tables behind its back, and starts it again."""
    server.kill()
    if env.engine == "sqlite":
        database = sqlite3.connect(os.path.join(server.data_directory(), "sojourn.db"), isolation_level=None)
        for statement in statements:
            database.execute(statement)
        database.close()
    else:
        env.cluster().sql(";".join(statements), database_name(server.database))
    return server.start().client()


def key_of(path):
    return f"(SELECT key FROM sessions WHERE id = '{path.split('/')[-1]}')"


def demo_in_a_turn(client):
    path = people.session(client, agent="demo", prompt="Show me around")
    check.eventually(lambda: client.get(path + "/asks?state=pending").json()["asks"], "it asks", 30)
    return path


@test(options=QUICK + ["--worker-silence-ms", "400", "--turn-abort-ms", "400"])
def stuck_worker(server):
    """A worker that keeps its lease and says nothing is told to end, then loses the turn; it does not run again."""
    client = server.client()
    path = people.session(client, agent="a", prompt="work")
    held = claim(client, path, lease_ms=60000)
    wait_barked(client, path, ("stuck_turn", "interrupt"), ("stuck_turn", "perform_recovery"))
    [asked] = events(client, path, "turn.interrupt_requested")
    check.contains(asked["metadata"], {"turn": 1, "reason": "stuck_turn"})
    check.equal(status(client, path), "idle")
    client.post(path + "/settle", {"status": "completed"}, headers=held, expect=409)
    check.equal(figure(client, "stuck_turn"), 2)
    found = events(client, path, "watchdog.*")[0]
    check.contains(found, {"actor": "system", "role": "system"})
    check.contains(found["metadata"], {"turn": 1, "status": "running"})
    check.contains(client.get(path + "/explain").json()["last_watchdog"], {"type": "watchdog.stuck_turn"})


@test(options=QUICK + ["--worker-silence-ms", "3s", "--partial-flush-ms", "20"])
def live_output_is_a_sign_of_life(server):
    """A turn without events that streams is not stuck."""
    client = server.client()
    path, other = (people.session(client, agent=agent, prompt="work") for agent in ("a", "b"))
    held = claim(client, path, lease_ms=60000)
    claim(client, other, "b", lease_ms=60000)

    def speak():
        client.post(path + "/deltas", {"deltas": [{"kind": "text", "text": "x"}]}, headers=held, expect=202)
        return barked(client, other)
    check.eventually(speak, "the silent one is found", 30)
    check.equal(barked(client, path), [])


def start_model(env, model, *options):
    folder = os.path.join(env.directory, "agents")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "helper.agent.yaml"), "w", encoding="utf-8") as file:
        file.write(AGENT)
    server = env.server(["--agents", folder, "--model-backoff-ms", "1", *QUICK, *options], model.environment())
    return server.client()


@test
def stuck_hosted_turn(env):
    """The server's own agent falls silent: one end of the turn, and the next message works."""
    with ModelServer([{"silent": True}, {"text": "Awake."}]) as model:
        client = start_model(env, model, "--turn-silence-ms", "500")
        path = people.session(client, agent="helper", prompt="Hello?")
        wait_barked(client, path, ("stuck_turn", "interrupt"))
        check.eventually(lambda: status(client, path) == "idle", "it comes to rest", 30)
        [end] = events(client, path, "turn.ended")
        check.contains(end["metadata"], {"turn": 1, "stop_reason": "aborted"})
        client.post(path + "/messages", {"text": "And now?"}, expect=202)
        check.eventually(lambda: len(events(client, path, "turn.ended")) == 2, "the next turn ends", 30)
        check.equal(barked(client, path), [("stuck_turn", "interrupt")])


@test
def silent_stream(env):
    """A turn that had begun to stream is given less time."""
    with ModelServer([{"text": "Once upon a time", "hold": True}]) as model:
        client = start_model(env, model, "--stream-silence-ms", "500", "--partial-flush-ms", "20")
        path = people.session(client, agent="helper", prompt="Tell me a story")
        wait_barked(client, path, ("silent_stream", "interrupt"))
        check.eventually(lambda: status(client, path) == "idle", "it comes to rest", 30)
        check.equal(len(events(client, path, "turn.ended")), 1)
        check.equal(figure(client, "silent_stream"), 1)


STOPPABLE = """
import json, sys
def send(**message):
    print(json.dumps({'jsonrpc': '2.0', **message}), flush=True)
prompt = None
for line in sys.stdin:
    asked = json.loads(line)
    method, result = asked.get('method'), {}
    if method == 'initialize':
        result = {'protocolVersion': 1, 'agentCapabilities': {}}
    elif method == 'session/new':
        result = {'sessionId': 's'}
    elif method == 'session/cancel':
        send(id=prompt, result={'stopReason': 'cancelled'})
    elif method == 'session/prompt':
        prompt = asked['id']
        if 'work' in json.dumps(asked['params']['prompt'][-1]):
            continue
        result = {'stopReason': 'end_turn'}
    if 'id' in asked:
        send(id=asked['id'], result=result)
"""


def processes(mark, name=""):
    """The pids of programs called `name…` with `mark` on their command line."""
    found = []
    for path in glob.glob("/proc/[0-9]*"):
        try:
            with open(path + "/cmdline", encoding="utf-8", errors="replace") as line, \
                 open(path + "/comm", encoding="utf-8") as comm:
                if mark in line.read() and comm.read().startswith(name):
                    found.append(int(path.split("/")[-1]))
        except OSError:
            pass  # it has just ended
    return found


@test(options=QUICK + ["--turn-silence-ms", "3s", "--turn-abort-ms", "500"])
def a_stopped_agent_holds_up_nobody(server):
    """An agent's process that hangs (SIGSTOP) hears no interrupt: its turn is cut, what waits behind it runs, it goes."""
    client = server.client()
    mark = f"mark-{os.path.basename(server.directory)}-{os.getpid()}"
    client.post("/api/agents", {"id": "stoppable", "driver": "acp", "command": ["/usr/bin/python3", "-c", STOPPABLE, mark],
                                "resume": "retry", "sandbox": {"kind": "local"}}, expect=201)
    path = people.session(client, agent="stoppable", prompt="work")
    check.eventually(lambda: processes(mark, "python"), "it works", 30)
    [pid] = processes(mark, "python")
    os.kill(pid, signal.SIGSTOP)
    for text in ("first behind it", "second behind it"):
        client.post(path + "/messages", {"text": text}, expect=202)
    check.eventually(lambda: len(events(client, path, "turn.ended")) == 3, "all turns are over", 30)
    check.equal(barked(client, path)[0], ("stuck_turn", "interrupt"))
    check.equal([(end["metadata"]["turn"], end["metadata"]["stop_reason"]) for end in events(client, path, "turn.ended")],
                [(1, "aborted"), (2, "stop"), (3, "stop")])
    check.equal([message["content"][0]["text"] for message in events(client, path, "user.message")],
                ["work", "first behind it", "second behind it"])
    check.eventually(lambda: pid not in processes(mark), "the process that hung is gone", 30)


@test
def orphans_of_a_killed_server(env):
    """kill -9 in the middle of a command: nothing runs on, and the next life closes what the last one left open."""
    seconds = f"30{os.getpid()}"
    script = [{"tools": [{"name": "run_command", "input": {"command": f"sleep {seconds}"}}]}, {"text": "Not again."}]
    with ModelServer(script) as model:
        server = env.server(QUICK + ["--lease-ms-default", "5s"], model.environment())
        client = server.client()
        client.post("/api/agents", {"id": "runs", "driver": "model", "provider": "anthropic", "model": "m",
                                    "system_prompt": "You run.", "tools": ["run_command"], "commands": ["*"],
                                    "resume": "retry", "sandbox": {"kind": "local"}}, expect=201)
        path = people.session(client, agent="runs", prompt="run")
        check.eventually(lambda: processes(seconds, "sleep"), "the command runs", 30)
        client.post(path + "/messages", {"text": "and then"}, expect=202)
        pid = server.process.pid
        server.kill()
        check.eventually(lambda: not processes(seconds), "nothing runs on without its server", 30)
        client = server.start().client()
        check.eventually(lambda: len(events(client, path, "turn.ended")) == 3, "it ran again, and what waited", 30)
        ends = [event["metadata"] for event in events(client, path, "turn.ended")]
        check.equal([(end["turn"], end["stop_reason"]) for end in ends], [(1, "aborted"), (2, "stop"), (3, "stop")])
        check.equal(ends[0]["cause"], "server_restarted" if env.engine == "sqlite" else "lease_lost")
        [lost] = events(client, path, "session.lease_lost")
        check.equal((lost["actor"], lost["metadata"]["fence"]), ("system", 1))
        [cut] = events(client, path, "agent.tool_result")
        check.contains(cut["metadata"], {"outcome": "ambiguous", "interrupted": True})
        check.equal(glob.glob(f"/sys/fs/cgroup/*/sojourn-*-{pid}*"), [], "control groups of its last life")


class RunnerProcess:
    """A runner in a process of its own, until the end of the block."""

    def __init__(self, client, path):
        program = os.path.join(ROOT, "tests", "fault", "runner_process.py")
        self.process = subprocess.Popen([sys.executable, program, client.address, path, runner_token(client, path)])

    def __enter__(self):
        return self.process

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


@test(options=["--runner-silence-ms", "2s", "--runner-grace-ms", "200", "--runner-lost-ms", "600"])
def a_stopped_runner_is_lost(server):
    """A runner's process that hangs (SIGSTOP) in a turn, or is killed: the log says so, and the next one has its prompt."""
    client = server.client()
    for sign, reason in ((signal.SIGSTOP, "silent"), (signal.SIGKILL, "connection_closed")):
        path = begin(client)
        client.post(path + "/messages", {"text": "work"}, expect=202)
        with RunnerProcess(client, path) as process:
            check.eventually(lambda: client.get(path + "/asks?state=pending").json()["asks"], "it works and asks", 30)
            process.send_signal(sign)
            check.eventually(lambda: events(client, path, "runner.lost"), "it counts as lost", 30)
        check.equal(events(client, path, "runner.disconnected")[-1]["metadata"]["reason"], reason)
        check.equal(events(client, path, "turn.ended")[-1]["metadata"]["stop_reason"], "aborted")
        [ask] = client.get(path + "/asks?state=pending", expect=200).json()["asks"]
        client.post(f"{path}/asks/{ask['id']}/answer", {"decision": "once"}, expect=200)
        with RunnerProcess(client, path):
            check.eventually(lambda: status(client, path) == "idle", "another one ends the turn", 30)
        ends = [event["metadata"] for event in events(client, path, "turn.ended")]
        check.equal((ends[-1]["stop_reason"], len({end["turn"] for end in ends})), ("stop", len(ends)))
        check.equal([event["content"][0]["text"] for event in events(client, path, "user.message")], ["work"])


# The two that follow cannot be caused from outside: whatever ends a turn drops its lease and starts what waits, in one
# transaction. They are a net below a fault of the server's own, and planted in its tables.
@test
def orphaned_lease(env):
    """A lease of a session that is in no turn goes, and what waits behind it starts."""
    server = env.server(QUICK + ["--queue-stuck-ms", "300"])
    client = server.client()
    path = people.session(client, agent="a", prompt="work")
    held = claim(client, path, lease_ms=3600000)
    client.post(path + "/messages", {"text": "next"}, expect=202)
    client = damage(env, server, f"UPDATE sessions SET work = 5 WHERE key = {key_of(path)}")
    wait_barked(client, path, ("orphaned_lease", "mark_not_busy"), ("queue_stuck", "drain_queue"))
    check.equal(status(client, path), "pending")
    client.post(path + "/lease", {}, headers=held, expect=409)
    claim(client, path)


@test
def queue_stuck(env):
    """Messages that wait although nothing runs are started; those that are collected are not."""
    server = env.server(QUICK + ["--queue-stuck-ms", "300", "--collect-debounce-ms", "1h"])
    client = server.client()
    path = people.session(client, agent="a", prompt="work")
    collecting = people.session(client, agent="b", queue_mode="collect")
    client.post(collecting + "/messages", {"text": "one"}, expect=202)
    client.post(path + "/messages", {"text": "next"}, expect=202)
    client = damage(env, server, f"UPDATE sessions SET work = 5, queued_at_ms = 0 WHERE key = {key_of(path)}")
    wait_barked(client, path, ("queue_stuck", "drain_queue"))
    check.equal(status(client, path), "pending")
    check.equal(client.get(path + "/queue").json()["prompts"], [])
    check.equal(barked(client, collecting), [])


@test
def error_safety_net(env):
    """A hosted session that runs although nobody holds it comes to rest, with one end of its turn."""
    server = env.server(QUICK + ["--turn-without-lease-ms", "300"])
    client = server.client()
    path, over = demo_in_a_turn(client), demo_in_a_turn(client)
    client.post(over + "/interrupt", {}, expect=200)
    check.eventually(lambda: status(client, over) == "idle", "its turn has ended", 20)
    keys = f"({key_of(path)}, {key_of(over)})"
    client = damage(env, server, f"UPDATE sessions SET work = 2 WHERE key IN {keys}",
                    f"DELETE FROM leases WHERE session_key IN {keys}",
                    f"UPDATE asks SET state = 3 WHERE session_key IN {keys}")
    for one in (path, over):
        wait_barked(client, one, ("error_safety_net", "force_complete"))
        check.equal(status(client, one), "idle")
        check.equal([event["metadata"]["turn"] for event in events(client, one, "turn.ended")], [1])


@test
def waiting_without_ask(env):
    """A turn that waits though its ask is over goes on; one that a worker parked for a person is left alone."""
    server = env.server(QUICK + ["--waiting-unasked-ms", "300"])
    client = server.client()
    path = people.session(client, agent="a", prompt="work")
    held = claim(client, path)
    client.post(path + "/asks", {"id": "q", "kind": "question", "text": "Which?"}, headers=held, expect=201)
    client.post(path + "/settle", {"status": "waiting_human"}, headers=held, expect=200)
    parked = people.session(client, agent="b", prompt="work")
    client.post(parked + "/settle", {"status": "waiting_human"}, headers=claim(client, parked, "b"), expect=200)
    client = damage(env, server, f"UPDATE asks SET state = 2 WHERE session_key = {key_of(path)}")
    wait_barked(client, path, ("waiting_without_ask", "perform_recovery"))
    check.equal((status(client, path), status(client, parked)), ("pending", "waiting_human"))
    check.equal(barked(client, parked), [])


@test(options=["--lease-ms-min", "100"])
def a_lost_worker(server):
    """A worker that does not come back loses its lease, which says so, and its turn waits for the next one."""
    client = server.client()
    path = people.session(client, agent="a", prompt="work")
    claim(client, path, lease_ms=100)
    check.eventually(lambda: status(client, path) == "pending", "the lease is over", 20)
    [lost] = events(client, path, "session.lease_lost")
    check.contains(lost, {"actor": "system"})
    claim(client, path)


@test
def time_to_live(server):
    """A session whose time is over ends, and says why."""
    client = server.client()
    path = people.session(client, agent="a", ttl_ms=100)
    check.eventually(lambda: status(client, path) == "expired", "its time is over", 20)
    [moved] = events(client, path, "session.status_change")
    check.contains(moved["metadata"], {"to": "expired", "stop_reason": "expired", "reason": "its time to live is over"})


@test(options=["--chat-stale-ms", "3s"])
def stale_chats(server):
    """A chat that nobody uses becomes inactive, once; one that is used, or no chat, does not."""
    client = server.client()
    path, used = (people.session(client, source={"kind": "channel", "type": "direct"}) for _ in range(2))
    plain = people.session(client)

    def marked():
        client.post(used + "/events", {"events": [{"type": "external.event"}]}, expect=201)
        return barked(client, path) and client.get(path).json()["archived_at"]
    check.eventually(marked, "it is inactive", 30)
    check.equal((barked(client, path), barked(client, used), barked(client, plain)), ([("stale", "mark_inactive")], [], []))
    check.equal([event["type"] for event in events(client, path)][-2:], ["watchdog.stale", "session.archived"])
    check.equal(client.get(path).json()["words"]["conversation"], "inactive")
    client.post(path + "/unarchive", expect=200)
    wait_barked(client, path, *[("stale", "mark_inactive")] * 2)


@test(options=QUICK + ["--turn-silence-ms", "10s", "--stream-silence-ms", "10s", "--turn-abort-ms", "200", "--queue-stuck-ms", "200",
                       "--turn-without-lease-ms", "200", "--waiting-unasked-ms", "200", "--worker-silence-ms", "1500"])
def the_healthy_are_left_alone(server):
    """Whatever waits for somebody is not stuck, however short the watchdogs' patience."""
    client = server.client()
    paths = [people.session(client), people.session(client, status="draft"), people.session(client, agent="x", prompt="work"),
             people.session(client, type="mixed", status="running"), demo_in_a_turn(client)]
    stuck = people.session(client, agent="a", prompt="work")
    claim(client, stuck, lease_ms=60000)
    wait_barked(client, stuck, ("stuck_turn", "interrupt"), ("stuck_turn", "perform_recovery"))
    check.equal([barked(client, path) for path in paths], [[]] * len(paths))
    last = client.get(stuck).json()["last_sequence"]
    claim(client, paths[2], "x", lease_ms=60000)
    wait_barked(client, paths[2], ("stuck_turn", "interrupt"), ("stuck_turn", "perform_recovery"))
    check.equal(client.get(stuck).json()["last_sequence"], last)  # found once, not again and again


@test(options=QUICK + ["--worker-silence-ms", "300", "--turn-abort-ms", "1h", "--watchdog-sessions-max", "3"])
def a_look_goes_on_where_the_last_ended(server):
    """More stuck sessions than one look takes: none is passed over."""
    client = server.client()
    paths = [people.session(client, agent="a", prompt="work") for _ in range(10)]
    client.post("/api/claims", {"worker": "w", "agents": ["a"], "max": 10, "lease_ms": 60000}, expect=200)
    for path in paths:
        wait_barked(client, path, ("stuck_turn", "interrupt"))

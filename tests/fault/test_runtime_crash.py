"""kill -9 in the middle of falling asleep and waking: no file is lost, no process stays, every message is answered."""
import glob
import os
import random

from harness import check, people
from harness.suite import OPTIMISED, test

ROUNDS = 12
STATES = ("hibernating", "hibernated", "restoring", "running")


def events(client, path, types):
    return client.get(f"{path}/events?limit=1000&types={types}", expect=200).json()["events"]


def workspaces(server):
    found = glob.glob(os.path.join(server.data_directory(), "sandboxes", "[0-9]*", "[0-9]*", "workspace"))
    return [path for path in found if ".new-" not in path]


def leftovers(server):
    """Processes that still work in the server's directory, though it is dead."""
    found = []
    for entry in glob.glob("/proc/[0-9]*/cmdline"):
        try:
            with open(entry, "rb") as file:
                line = file.read()
        except OSError:
            continue
        if server.data_directory().encode() in line and int(entry.split("/")[2]) != os.getpid():
            found.append(line)
    return found


def changes(client, path):
    return [event["metadata"]["to"] for event in events(client, path, "session.runtime_change")]


def wait_answers(client, path, count):
    """Each message has one turn that ended well; a turn that was cut is offered again, and resumed here."""
    def done():
        session = client.get(path).json()
        if session["status"] == "idle" and session["turn_count"] < count:
            client.post(path + "/resume")
        ends = events(client, path, "turn.ended")
        return len([end for end in ends if end["metadata"]["stop_reason"] == "stop"]) >= count
    check.eventually(done, f"{count} turns ended well", 60)
    check.eventually(lambda: client.get(path).json()["status"] == "idle", "it is at rest", 30)


QUICK = ["--lease-ms-default", "600", "--lease-ms-min", "100", "--claim-attempts-max", "1000", "--runtime-lock-ms", "1s",
         "--demo-pace-percent", "5"]


@test(on=OPTIMISED, options=QUICK, timeout_s=300)
def killed_while_it_sleeps_and_wakes(env):
    """At a random moment of every step; what an agent had written is there whenever it works again."""
    chance = random.Random(env.seed)
    server = env.server()
    client = server.client()
    client.post("/api/agents", {"id": "boxed", "driver": "demo", "sandbox": {"kind": "local"}}, expect=201)
    path = people.session(client, agent="boxed", prompt="echo 0")
    wait_answers(client, path, 1)
    for n in range(ROUNDS):
        [tree] = workspaces(server)
        with open(os.path.join(tree, f"file{n}"), "w") as file:
            file.write("x" * 100000)
        target, before = chance.choice(STATES), len(changes(client, path))
        client.post(path + "/hibernate", expect=200)
        if target in ("restoring", "running"):
            check.eventually(lambda: client.get(path).json()["runtime"] == "hibernated", "it sleeps", 30)
            client.post(path + "/wake", expect=200)
        if chance.random() < 0.7:
            check.eventually(lambda: target in changes(client, path)[before:], f"it was {target}", 30)
        server.kill()
        check.eventually(lambda: leftovers(server) == [], "nothing of it runs any more", 30)
        client = server.start().client()
        client.post(path + "/messages", {"text": f"echo {n + 1}"}, expect=202)
        wait_answers(client, path, n + 2)
        session = client.get(path).json()
        check.equal(session["runtime"], "running")
        [tree] = workspaces(server)
        check.equal(sorted(os.listdir(tree)), sorted(f"file{i}" for i in range(n + 1)), f"files after round {n}, {target}")

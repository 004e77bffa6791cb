"""The sandbox under a session: made for the first turn, put to sleep, woken, stopped. With the real bubblewrap."""
import glob
import os

from harness import check, people
from harness.suite import test


def box(client, **sandbox):
    client.post("/api/agents", {"id": "boxed", "driver": "demo", "sandbox": {"kind": "local", **sandbox}}, expect=201)


def talk(client, **body):
    return people.session(client, agent="boxed", **body)


def send(client, path, text):
    return client.post(path + "/messages", {"text": text}, expect=202).json()


def events(client, path, types):
    return client.get(f"{path}/events?limit=1000&types={types}", expect=200).json()["events"]


def runtimes(client, path):
    """The states the runtime went through, in their order."""
    return [event["metadata"]["to"] for event in events(client, path, "session.runtime_change")]


def wait_turns(client, path, count, seconds=30):
    check.eventually(lambda: client.get(path).json()["turn_count"] == count, f"{count} turns are over", seconds)


def wait_runtime(client, path, state, seconds=30):
    check.eventually(lambda: client.get(path).json()["runtime"] == state, f"the runtime is {state}", seconds)


def trees(server):
    """The sandboxes of sessions on disk, without what is on its way out."""
    found = glob.glob(os.path.join(server.data_directory(), "sandboxes", "[0-9]*", "[0-9]*"))
    return [os.path.join(path, "workspace") for path in found if os.path.isdir(os.path.join(path, "workspace"))]


@test
def a_turn_gets_its_sandbox(server):
    """It is made for the first turn, before the agent says a word, and is there for the second."""
    client = server.client()
    box(client)
    path = talk(client, prompt="echo one")
    wait_turns(client, path, 1)
    check.equal(runtimes(client, path), ["starting", "running"])
    session = client.get(path).json()
    check.equal((session["runtime"], session["details"]["sandbox_id"][:6]), ("running", "local-"))
    first = [event["type"] for event in events(client, path, "session.runtime_change,agent.*")]
    check.equal(first[:3], ["session.runtime_change", "session.runtime_change", "agent.thinking"])
    check.equal(len(trees(server)), 1)
    send(client, path, "echo two")
    wait_turns(client, path, 2)
    check.equal(runtimes(client, path), ["starting", "running"])


@test
def a_session_without_sandbox_has_none(server):
    client = server.client()
    path = people.session(client, agent="demo", prompt="echo one")
    wait_turns(client, path, 1)
    check.equal((runtimes(client, path), client.get(path).json()["runtime"]), ([], "none"))
    check.equal(trees(server), [])


@test
def a_sandbox_that_cannot_be_made(server):
    """The turn ends with the reason, the runtime is in error, and the next message tries again."""
    client = server.client()
    box(client, repository="/nowhere/at/all")
    path = talk(client, prompt="echo one")
    check.eventually(lambda: events(client, path, "turn.ended"), "the turn is over", 30)
    end = events(client, path, "turn.ended")[0]["metadata"]
    check.equal((end["stop_reason"], end["error"]["code"]), ("error", "sandbox_error"))
    wait_runtime(client, path, "error")
    send(client, path, "echo two")
    check.eventually(lambda: len(events(client, path, "turn.ended")) == 2, "the second turn is over", 30)
    check.equal(runtimes(client, path), ["starting", "error", "starting", "error"])

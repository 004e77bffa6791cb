"""The process of an agent lives on between the turns of its session, and no longer than the session."""
import sys

from harness import check, people
from harness.suite import test
from harness.talk import events, send
from fault.ordeal import ACP_AGENT, children_of


def at_rest(client, path):
    return client.get(path).json()["status"] == "idle" and events(client, path, "turn.ended")


@test(options=["--sandbox-unprotected"])
def it_goes_with_its_session(server):
    """Deleted, or ended: not after the time it may idle."""
    client = server.client()
    client.post("/api/agents", {"id": "speaker", "driver": "acp", "command": [sys.executable, ACP_AGENT],
                                "sandbox": {"kind": "none"}}, expect=201)
    for leave in (lambda path: client.delete(path, expect=204), lambda path: client.post(path + "/stop", {}, expect=200)):
        path = people.session(client, agent="speaker")
        send(client, path, "tool x")
        check.eventually(lambda: at_rest(client, path), "the turn ends", 30)
        check.equal(len(list(children_of(server.process.pid))), 1, "processes that wait for the next turn")
        leave(path)
        check.eventually(lambda: not list(children_of(server.process.pid)), "the process ends", 20)

"""A turn that was cut while a person was asked: the next attempt does not ask the same again, and an answer that nobody
heard is heard once."""
import json
import os
import sys

from harness import check, people
from harness.client import encode_request
from harness.runner import Runner, begin, runner_token
from harness.server import ROOT
from harness.suite import OPTIMISED, test
from harness.talk import events, send

ACP_AGENT = os.path.join(ROOT, "tests", "unit", "runner", "acp_agent.py")
QUICK = ["--lease-ms-default", "800", "--lease-ms-min", "100", "--claim-attempts-max", "1000", "--sandbox-unprotected"]


def acp_server(env, resume):
    """A server with a scripted agent that asks before it calls its tool."""
    folder = os.path.join(env.directory, "agents")
    os.makedirs(folder)
    agent = {"id": "helper", "driver": "acp", "command": [sys.executable, ACP_AGENT], "resume": resume,
             "sandbox": {"kind": "none"}}
    with open(os.path.join(folder, "helper.agent.yaml"), "w", encoding="utf-8") as file:
        json.dump(agent, file)
    return env.server(["--agents", folder, *QUICK])


def pending(client, path):
    return client.get(path + "/asks?state=pending", expect=200).json()["asks"]


def wait_asks(client, path, count=1):
    check.eventually(lambda: len(pending(client, path)) == count, f"{count} asks are pending", 30)
    return pending(client, path)


def wait_ends(client, path, count):
    check.eventually(lambda: len(events(client, path, "turn.ended")) == count, f"{count} turns have ended", 30)
    return [event["metadata"]["stop_reason"] for event in events(client, path, "turn.ended")]


def answer(client, path, ask_id, **reply):
    client.post(f"{path}/asks/{ask_id}/answer", reply, expect=200)


def asked(client, path):
    """Of each ask event, what happened to which ask in which turn."""
    return [(event["type"].split(".")[1], event["metadata"]["id"], event["metadata"]["turn"])
            for event in events(client, path, "ask.*")]


def cut_while_asked(env, resume):
    """The client, the path and the ask of a turn whose server was killed; the turn has ended."""
    server = acp_server(env, resume)
    client = server.client()
    path = people.session(client, agent="helper")
    send(client, path, "permit ls")
    [ask] = wait_asks(client, path)
    server.kill()
    return server.start().client(), path, ask


@test(on=OPTIMISED)
def an_answer_nobody_heard(env):
    """Answered after the crash: the agent, asked to go on, gets the answer for the same call and asks nobody."""
    client, path, ask = cut_while_asked(env, "ask")
    check.equal(wait_ends(client, path, 1), ["aborted"])
    answer(client, path, ask["id"], decision="once")
    check.equal(wait_ends(client, path, 2), ["aborted", "stop"])
    check.equal(asked(client, path), [("requested", ask["id"], 1), ("answered", ask["id"], 1), ("resumed", ask["id"], 2)])
    [message] = events(client, path, "agent.message")
    check.contains(message["content"][0]["text"], '"optionId": "yes"')


@test(on=OPTIMISED)
def an_agent_that_goes_on_at_once(env):
    """The same where turns are tried again by themselves: not before the person has decided."""
    client, path, ask = cut_while_asked(env, "retry")
    wait_ends(client, path, 1)
    check.equal(client.get(path).json()["status"], "awaiting_tool")
    answer(client, path, ask["id"], decision="once")
    check.equal(wait_ends(client, path, 2), ["aborted", "stop"])
    check.equal([one[0] for one in asked(client, path)], ["requested", "answered", "resumed"])


@test(on=OPTIMISED)
def a_denial_nobody_heard(env):
    """The same with a no."""
    client, path, ask = cut_while_asked(env, "ask")
    wait_ends(client, path, 1)
    answer(client, path, ask["id"], decision="deny", reason="not now")
    check.equal(wait_ends(client, path, 2), ["aborted", "stop"])
    [message] = events(client, path, "agent.message")
    check.contains(message["content"][0]["text"], '"optionId": "no"')


def approve(runner, name, **arguments):
    runner.say("approval", questionId=name, toolName="deploy", callId="c", text="Deploy?", args=arguments)


@test(on=OPTIMISED, options=["--runner-grace-ms", "1h"])
def what_was_heard_or_differs_is_asked_anew(server):
    """`once` is for one call: who heard it asks again, and so does who asks for something else; under the runner's name."""
    client = server.client()
    path = begin(client)
    token = runner_token(client, path)
    send(client, path, "hello")
    runner = Runner(client, path, token)
    runner.hear("prompt")
    approve(runner, "a", to="live")
    wait_asks(client, path)
    answer(client, path, "a", decision="once")
    check.contains(runner.hear("answer"), {"questionId": "a", "decision": "once"})
    approve(runner, "b", to="test")
    wait_asks(client, path)
    runner = Runner(client, path, token)  # in its place: the turn is cut
    check.equal(wait_ends(client, path, 1), ["aborted"])
    answer(client, path, "b", decision="once")
    runner.hear("prompt")
    approve(runner, "a", to="live")
    [again] = wait_asks(client, path)
    answer(client, path, again["id"], decision="deny")
    check.contains(runner.hear("answer"), {"questionId": "a", "decision": "deny"})
    approve(runner, "b", to="elsewhere")
    [other] = wait_asks(client, path)
    check.equal({again["id"], other["id"]} & {"a", "b"}, set())
    answer(client, path, other["id"], decision="once")
    check.contains(runner.hear("answer"), {"questionId": "b", "decision": "once"})
    for _ in range(2):  # said twice, it is still one question
        approve(runner, "c", to="test")
        check.contains(runner.hear("answer"), {"questionId": "c", "decision": "once"})
    approve(runner, "d", to="test")
    wait_asks(client, path)
    check.equal([one for one in asked(client, path) if one[0] == "resumed"], [("resumed", "b", 2)])


@test(on=OPTIMISED, options=["--runner-grace-ms", "1h"])
def an_answer_is_heard_once(server):
    """The attempt that took the answer dies too: the next one asks."""
    client = server.client()
    path = begin(client)
    token = runner_token(client, path)
    send(client, path, "hello")
    runner = Runner(client, path, token)
    runner.hear("prompt")
    approve(runner, "a", to="live")
    wait_asks(client, path)
    runner = Runner(client, path, token)
    wait_ends(client, path, 1)
    answer(client, path, "a", decision="once")
    runner.hear("prompt")
    approve(runner, "x", to="live")
    check.contains(runner.hear("answer"), {"questionId": "x", "decision": "once"})
    runner = Runner(client, path, token)
    runner.hear("prompt")
    approve(runner, "a", to="live")
    [ask] = wait_asks(client, path)
    check.equal(ask["turn"], 3)


def decided(client, path, type, key):
    return [event["metadata"][key] for event in events(client, path, type)]


@test(on=OPTIMISED)
def a_parent_knows_of_its_child_what_the_child_knows(env):
    """Killed in the middle of many answers: what is over for the child is over for its parent, each once."""
    server = env.server(["--asks-pending-max", "20"])
    for number in range(1, 6):
        client = server.client()
        parent = people.session(client)
        worker = people.token(client, kind="worker", scopes=["claim"])
        path = people.session(client, agent="a", status="pending", parent_id=parent.split("/")[-1])
        [claim] = worker.post("/api/claims", {"worker": "w", "max": 1}, expect=200).json()["claims"]
        held = {"Sojourn-Lease": claim["lease"]["token"]}
        for ask in range(20):
            worker.post(path + "/asks", {"id": str(ask), "kind": "question", "text": "?"}, headers=held, expect=201)
        with client.connect() as connection:
            connection.send(b"".join(encode_request("POST", f"{path}/asks/{ask}/answer", {"answer": "yes"},
                                                    client.headers_for(())) for ask in range(20)))
            for ask in range(3 * number):
                check.equal(connection.read_response("POST", "an answer").status, 200)
            server.kill()
        client = server.start().client()
        of_child = decided(client, path, "ask.answered", "id")
        check.true(len(of_child) >= 3 * number, "what was acknowledged is there")
        check.equal(decided(client, parent, "session.child_decided", "ask_id"), of_child)
        worker.close()
        client.post(parent + "/stop", {}, expect=200)

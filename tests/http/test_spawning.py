"""What a sandbox is begun with, what becomes of it when a backend says otherwise, and figures that never lag."""
import json

from harness import check, people
from harness.backend import Backend
from harness.suite import test
from harness.talk import events


@test
def a_backend_that_says_otherwise(env):
    """S3-141: another word that is not the last is told and changes nothing; the last one ends the session as all ends."""
    backend = Backend()
    server = env.server(options=["--sandbox-backends", backend.url(), "--agents-reach-host"])
    client = server.client()
    agent = {"id": "boxed", "driver": "demo", "sandbox": {"kind": "http", "url": backend.url()}}
    client.post("/api/agents", agent, expect=201)
    path = people.session(client, agent="boxed", prompt="echo one")
    check.eventually(lambda: client.get(path).json()["turn_count"] == 1, "a turn ran", 30)

    def say_after_restart(status, text):
        backend.answers["session-status"] = (200, {"status": status})
        again = server.restart().client()
        if text:
            again.post(path + "/messages", {"text": text}, expect=202)
        return again
    client = say_after_restart("paused", "echo two")
    check.eventually(lambda: client.get(path).json()["turn_count"] == 2, "it goes on", 30)
    [told] = events(client, path, "runtime.disagreed")
    check.contains(told["metadata"], {"ours": "running", "theirs": "paused", "sandbox_id": "far-1"})
    check.equal([event["metadata"]["to"] for event in events(client, path, "session.runtime_change")],
                ["starting", "running"])
    client = say_after_restart("RUNNING", "echo three")
    check.eventually(lambda: client.get(path).json()["turn_count"] == 3, "it goes on", 30)
    check.equal(len(events(client, path, "runtime.disagreed")), 1)
    # The only server of its data asks by itself; where there may be others, whoever wants the sandbox next asks.
    asks_itself = env.engine == "sqlite"
    client = say_after_restart("terminated", None if asks_itself else "echo four")
    check.eventually(lambda: client.get(path).json()["runtime"] == "stopped", "it is over", 30)
    session = client.get(path).json()
    check.equal(session["stop_reason"], "sandbox_gone")
    check.true(session["completed_at"], "the session ended")
    check.equal(len(events(client, path, "turn.ended")), 3 if asks_itself else 4)


@test
def tunnels_of_a_backend(env):
    """S3-124: what a backend says that leads into the sandbox stands in the session as long as the sandbox does."""
    backend = Backend()
    urls = {"preview": "https://far-1.example.test/"}
    backend.answers["create-session"] = (200, {"sandboxId": "far-1", "tunnelUrls": urls})
    client = env.server(options=["--sandbox-backends", backend.url(), "--agents-reach-host"]).client()
    agent = {"id": "boxed", "driver": "demo", "sandbox": {"kind": "http", "url": backend.url()}}
    client.post("/api/agents", agent, expect=201)
    path = people.session(client, agent="boxed", start=True)
    check.eventually(lambda: client.get(path).json()["runtime"] == "running", "it runs", 30)
    [tunnel] = client.get(path + "/tunnels").json()["tunnels"]
    check.contains(tunnel, {"name": "preview", "url": urls["preview"]})
    client.post(path + "/hibernate", {}, expect=200)
    check.eventually(lambda: client.get(path).json()["runtime"] == "hibernated", "it sleeps", 30)
    check.equal(client.get(path + "/tunnels").json()["tunnels"], [])
    backend.answers["create-session"] = (500, {"error": "no room"})
    path = people.session(client, agent="boxed", start=True)
    check.eventually(lambda: client.get(path).json()["runtime"] == "error", "it is in error", 30)
    [said] = client.get(path + "/messages?roles=system").json()["messages"]
    check.contains(said["content"], "no room")


AGENT = """
import json, os, subprocess, sys
def say(message):
    print(json.dumps({'jsonrpc': '2.0', **message}), flush=True)
def git():
    asked = 'protocol=https\\nhost=github.com\\n\\n'
    return subprocess.run(['git', 'credential', 'fill'], input=asked, capture_output=True, text=True).stdout
for line in sys.stdin:
    asked = json.loads(line)
    method, result = asked.get('method'), {}
    if method == 'initialize':
        result = {'protocolVersion': 1, 'agentCapabilities': {}}
    elif method == 'session/new':
        result = {'sessionId': 's'}
    elif method == 'session/prompt':
        names = [name for name in os.environ if name != 'LC_CTYPE']
        told = json.dumps({'names': sorted(names), 'own': os.environ.get('MY_PROVIDER_URL'),
                           'key': os.environ.get('ANTHROPIC_API_KEY', '')[-4:], 'git': git()})
        chunk = {'sessionUpdate': 'agent_message_chunk', 'content': {'type': 'text', 'text': told}}
        say({'method': 'session/update', 'params': {'sessionId': 's', 'update': chunk}})
        result = {'stopReason': 'end_turn'}
    if 'id' in asked:
        say({'id': asked['id'], 'result': result})
"""


@test
def what_is_inside_is_what_was_named(env):
    """S3-119: the environment of an agent is the explicit list: keys only by grant, git by a helper, own providers."""
    secrets = {"ANTHROPIC_API_KEY": "sk-ant-not-a-real-key-0000", "OPENAI_API_KEY": "sk-not-a-real-key-1111",
               "GITHUB_TOKEN": "not-a-real-token-2222", "DATABASE_PASSWORD": "hidden-from-agents"}
    server = env.server(environment=secrets)
    client = server.client()
    usual = ["HOME", "LANG", "LOGNAME", "PATH", "PWD", "TERM", "USER"]
    sandbox = {"kind": "local"}

    def inside(id, **definition):
        body = {"id": id, "driver": "acp", "command": ["/usr/bin/python3", "-c", AGENT], "sandbox": sandbox}
        client.post("/api/agents", {**body, **definition}, expect=201)
        path = people.session(client, agent=id, prompt="tell")
        check.eventually(lambda: client.get(path).json()["turn_count"] == 1, "it told", 30)
        messages = client.get(path + "/messages?roles=assistant").json()["messages"]
        check.equal(len(messages), 1, f"one message among {client.get(path + '/events').json()['events']}")
        [said] = messages
        return json.loads(said["content"].replace("[redacted]", "")) if said["content"].startswith("{") else said
    bare = inside("bare")
    check.equal((bare["names"], bare["git"]), (usual, ""))
    granted = inside("granted", pass_environment=["ANTHROPIC_API_KEY", "GITHUB_TOKEN", "NOT_SET"],
                     environment={"MY_PROVIDER_URL": "https://models.example.test/v1"})
    helper = ["GIT_CONFIG_COUNT", "GIT_CONFIG_KEY_0", "GIT_CONFIG_VALUE_0", "GIT_TERMINAL_PROMPT"]
    check.equal(granted["names"],
                sorted(usual + helper + ["ANTHROPIC_API_KEY", "GITHUB_TOKEN", "MY_PROVIDER_URL"]))
    check.equal((granted["own"], granted["key"]), ("https://models.example.test/v1", "0000"))
    check.contains(granted["git"], "username=x-access-token")


@test
def figures_are_never_behind_the_log(server):
    """S3-071: counts and times are a fold of the log in its own transaction: after kill -9 there is nothing to flush."""
    client = server.client()
    path = people.session(client, agent="demo")
    for round in range(3):
        client.post(path + "/messages", {"text": f"echo {round}"}, expect=202)
        check.eventually(lambda: client.get(path).json()["turn_count"] == round + 1, "a turn ran", 30)
        server.kill()
        server.start()
        client = server.client()
        session, log = client.get(path).json(), events(client, path)
        said = [event for event in log if event["type"] in ("user.message", "agent.message")]
        calls = [event for event in log if event["type"] == "agent.tool_call"]
        check.equal((session["message_count"], session["tool_call_count"], session["last_sequence"]),
                    (len(said), len(calls), log[-1]["sequence"]))
        check.equal(session["turn_count"], len([event for event in log if event["type"] == "turn.ended"]))

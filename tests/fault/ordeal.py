"""Conversations with agents that the server runs, deaths in the middle of them, and the checker that looks at every log.

A good run of an agent is recorded first; its events are the steps. For each step a new conversation goes that far, and then
somebody dies. Conversations that were cut go on in the following rounds, through the deaths of the others.
"""
import contextlib
import json
import os
import signal
import subprocess
import sys
import time

from harness import check
from harness.model_server import ModelServer
from harness.server import ROOT
from harness.talk import events
from fault.conversation import ENDED, Conversation, Verdict

RUNNER = os.path.join(ROOT, "tests", "fault", "runner_process.py")
ACP_AGENT = os.path.join(ROOT, "tests", "unit", "runner", "acp_agent.py")
OPTIONS = ["--lease-ms-default", "800", "--lease-ms-min", "100", "--claim-attempts-max", "1000",
           "--sessions-per-user-max", "100000", "--model-backoff-ms", "1", "--sandbox-unprotected",
           "--runner-grace-ms", "50"]
# What is said to each agent: the first prompt makes it ask a person, the second waits in the queue meanwhile.
PROMPTS = {"demo": ("tour", "echo two"), "model": ("name it", "name it again"), "acp": ("permit ls", "tool two"),
           "runner": ("one", "two")}


class Model(ModelServer):
    """Calls a tool when it is spoken to, and ends when it hears what came of it. Slow enough to be hit between pieces."""

    def __init__(self):
        super().__init__([{}])
        self.http.handle_error = lambda *_: None  # its clients die in the middle of everything

    def take(self, path, headers, body):
        number, _ = super().take(path, headers, body)
        time.sleep(0.01)
        last = json.dumps(self.requests[number]["body"]["messages"][-1])
        if '"tool_result"' in last or '"role": "tool"' in last:
            return number, {"text": "It has a name."}
        call = {"name": "set_title", "input": {"title": f"Title {number}"}}
        return number, {"reasoning": "A name.", "text": "I name it.", "tools": [call]}


def definitions():
    """Agents of every driver and every policy about what follows a crash."""
    for resume in ("retry", "ask", "fail"):
        provider = "openai" if resume == "retry" else "anthropic"
        yield {"id": f"model-{resume}", "driver": "model", "provider": provider, "model": "m", "system_prompt": "Name it.", "resume": resume,
               "tools": ["set_title"], "permissions": [{"tool": "set_title", "then": "ask"}],
               "sandbox": {"kind": "none"}}
    for resume in ("retry", "ask"):
        yield {"id": f"acp-{resume}", "driver": "acp", "command": [sys.executable, ACP_AGENT], "resume": resume,
               "sandbox": {"kind": "none"}}
    yield {"id": "runner", "driver": "runner", "resume": "retry"}


def children_of(parent):
    """The processes directly under that one, as they are now."""
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError), open(f"/proc/{name}/stat", encoding="ascii", errors="replace") as file:
            if int(file.read().rpartition(")")[2].split()[1]) == parent:
                yield int(name)


def agents_of(server):
    """The processes that a server started: each is under a supervisor of its own."""
    for supervisor in children_of(server):
        yield from children_of(supervisor)


class Ordeal:
    """A server, its agents, and every conversation that was begun."""

    def __init__(self, env, model):
        self.env = env
        self.random = env.random()
        folder = os.path.join(env.directory, "agents")
        os.makedirs(folder)
        self.agents = ["demo"]
        for agent in definitions():
            self.agents.append(agent["id"])
            with open(os.path.join(folder, f"{agent['id']}.agent.yaml"), "w", encoding="utf-8") as file:
                json.dump(agent, file)
        self.server = env.server(["--agents", folder, *OPTIONS], model.environment())
        self.client = self.server.client(timeout_s=30)
        self.begun = []
        self.under_way = []
        self.runners = {}  # conversation: the process of its runner
        self.deaths = 0
        self.verdict = Verdict()

    def begin(self, agent, prompts=2):
        """A new conversation; its prompts are accepted before anything else happens."""
        made = Conversation(self.client, agent, f"{agent}-{len(self.begun)}")
        self.begun.append(made)
        self.under_way.append(made)
        for text in PROMPTS[agent.split("-")[0]][:prompts]:
            made.send(self.client, text)
        if agent == "runner":
            self.start_runner(made)
        return made

    def start_runner(self, conversation):
        """Speaks over the server's unix socket, which stays the same when the server is started again."""
        if not conversation.runner_token:
            made = self.client.post(conversation.path + "/runner-token", {}, expect=201).json()
            conversation.runner_token = made["token"]
        self.runners[conversation] = subprocess.Popen(
            [sys.executable, RUNNER, self.server.unix_address, conversation.path, conversation.runner_token])

    def stop_runner(self, conversation):
        """kill -9."""
        process = self.runners.pop(conversation, None)
        if process:
            process.kill()
            process.wait()

    # --- how far ---

    def go_on(self, conversation, steps, of=""):
        """Plays the person until the log has so many events (of agents' own, with `of`), or the conversation is at rest;
        their number."""
        count = 0
        with self.client.stream(conversation.path + "/events", last_event_id="0") as stream:
            while True:
                [frame] = stream.until(lambda frame: frame.event == "event", 60)[-1:]
                event = frame.json()
                count += event["type"].startswith(of)
                if count >= steps:
                    return count
                if event["type"] == "ask.requested":
                    [conversation.answer(self.client, ask) for ask in conversation.pending_asks(self.client)]
                elif event["metadata"].get("to") in ("idle", "failed") and conversation.is_at_rest(self.client):
                    return count

    def steps_of(self, agent):
        """How many events a conversation has that nothing befalls."""
        return self.go_on(self.begin(agent), 1000)

    # --- deaths ---

    def survive(self, death):
        """Whatever was asked before is asked still."""
        asked = {}
        for conversation in self.under_way:
            asked[conversation] = {ask["id"] for ask in conversation.pending_asks(self.client)}
        death()
        for conversation, ids in asked.items():
            conversation.offered |= ids
            row, log = conversation.check(self.client, self.verdict)
            cancelled = {id for id in ids if "ask.cancelled" in log.asks[id]}
            if row["status"] not in ENDED:  # else nobody needs to know any more
                self.verdict.lost |= {(conversation.path, "ask", id) for id in cancelled}

    def kill_server(self):
        self.survive(self.die)

    def die(self):
        self.server.kill()
        self.client.close()
        self.client = self.server.start().client(timeout_s=30)
        self.deaths += 1

    def kill_runners(self):
        """The runners of all conversations under way; others take their places."""
        def replace():
            for conversation in list(self.runners):
                self.stop_runner(conversation)
                self.start_runner(conversation)
                self.deaths += 1
        self.survive(replace)

    def kill_both(self):
        """Server and runners at once."""
        self.kill_server()
        self.kill_runners()

    def kill_agents(self):
        """The processes of agents under the server."""
        def kill():
            for pid in agents_of(self.server.process.pid):
                with contextlib.suppress(ProcessLookupError):  # one that ends by itself just now
                    os.kill(pid, signal.SIGKILL)
                self.deaths += 1
        self.survive(kill)

    # --- rounds ---

    def round(self, agent, step, death):
        """One conversation gets that far; then the death; then everybody is tended to."""
        self.go_on(self.begin(agent), step)
        death()
        self.tend()

    def tend(self):
        """One visit to everybody who is not at rest."""
        for conversation in list(self.under_way):
            conversation.tend(self.client)
            if conversation.is_at_rest(self.client):
                self.under_way.remove(conversation)
                self.stop_runner(conversation)

    def check_allowed(self, conversation):
        """What a runner asked was decided by a person in the end, whoever died meanwhile."""
        results = events(self.client, conversation.path, "agent.tool_result")
        outputs = [event["content"][0].get("output") for event in results if not event["metadata"].get("outcome")]
        if conversation.agent == "runner" and set(outputs) - {"answered"}:
            self.verdict.lost.add((conversation.path, "an approval", str(outputs)))

    def close(self):
        for conversation in list(self.runners):
            self.stop_runner(conversation)

    def finish(self):
        """All come to rest; every log is compared; what is stored is verified."""
        def all_rest():
            self.tend()
            return not self.under_way
        check.eventually(all_rest, "every conversation comes to rest", 90)
        for conversation in self.begun:
            conversation.check_rest(self.client, self.verdict)
            self.check_allowed(conversation)
        self.server.stop()
        self.server.verify()
        print(f"{self.deaths} deaths in {len(self.begun)} conversations")
        print(self.verdict.sentence())


def go_through(env, deaths, agents):
    """Every step of the first agent and some of the others'; all, and so many random ones, with tests/run --rounds N."""
    with Model() as model, contextlib.closing(Ordeal(env, model)) as ordeal:
        steps = {agent: ordeal.steps_of(agent) for agent in agents}
        for number, (agent, count) in enumerate(steps.items()):
            for step in range(2 + number, count + 1, 1 if env.rounds(0) or number == 0 else 4):
                ordeal.round(agent, step, deaths[step % len(deaths)](ordeal))
        for _ in range(env.rounds(0)):
            agent = ordeal.random.choice(agents)
            death = ordeal.random.choice(deaths)(ordeal)
            ordeal.round(agent, ordeal.random.randint(2, steps[agent]), death)
        ordeal.finish()


# Who dies.
SERVER = lambda ordeal: ordeal.kill_server
AGENT = lambda ordeal: ordeal.kill_agents
RUNNERS = lambda ordeal: ordeal.kill_runners
BOTH = lambda ordeal: ordeal.kill_both

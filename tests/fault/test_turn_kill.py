"""kill -9 after every durable event of a turn, of the server and of the agent under it: turns survive.

How it goes: fault/ordeal.py.
"""
from harness import check
from harness.suite import OPTIMISED, test
from fault.ordeal import AGENT, BOTH, PROMPTS, RUNNERS, SERVER, Model, Ordeal, go_through


@test(on=OPTIMISED, timeout_s=300)
def model_killed_after_every_event(env):
    """Agents that are a model, under each policy about what follows."""
    go_through(env, [SERVER], ["model-retry", "model-ask", "model-fail"])


@test(on=OPTIMISED, timeout_s=300)
def acp_killed_after_every_event(env):
    """Agents that are a process, which dies with the server."""
    go_through(env, [SERVER], ["acp-retry", "acp-ask"])


@test(on=OPTIMISED, timeout_s=300)
def acp_process_killed_after_every_event(env):
    """The process of the agent dies; the server lives on."""
    go_through(env, [AGENT], ["acp-retry", "acp-ask"])


@test(on=OPTIMISED, timeout_s=300)
def runner_killed_after_every_event(env):
    """The process of the runner dies; another one takes its place."""
    go_through(env, [RUNNERS], ["runner"])


@test(on=OPTIMISED, timeout_s=300)
def server_of_a_runner_killed_after_every_event(env):
    """The server dies under a runner that connects again, and both die at once, in turns."""
    go_through(env, [SERVER, BOTH], ["runner"])


@test(on=OPTIMISED, timeout_s=300)
def demo_killed_after_every_event(env):
    """A few conversations that die again after each word: the server kills them all, all the way to their end."""
    with Model() as model:
        ordeal = Ordeal(env, model)
        first = [ordeal.begin("demo") for _ in range(3)][0]
        steps = 1
        while not first.is_at_rest(ordeal.client):
            steps = ordeal.go_on(first, steps, "agent.") + 1
            ordeal.kill_server()
            ordeal.tend()
        ordeal.finish()


@test(on=OPTIMISED, timeout_s=300)
def killed_after_what_people_did(env):
    """A message appended beside an open call, three collected into one, and a session stopped within its turn."""
    with Model() as model:
        ordeal = Ordeal(env, model)
        for agent in ordeal.agents[1:]:
            appended, collected, stopped = (ordeal.begin(agent, prompts=0) for _ in range(3))
            first = PROMPTS[agent.split("-")[0]][0]
            for number in range(3):
                collected.send(ordeal.client, f"{first} {number}", mode="collect", debounce_ms=50)
            for one in (appended, stopped):
                one.send(ordeal.client, first)
            for one in (appended, collected, stopped):
                check.eventually(lambda one=one: one.pending_asks(ordeal.client), "it asks", 30)
            ordeal.client.post(appended.path + "/messages", {"text": "by the way"}, query={"append": "true"}, expect=200)
            ordeal.client.post(stopped.path + "/status", {"status": "completed"}, expect=200)
            ordeal.kill_server()
        ordeal.finish()

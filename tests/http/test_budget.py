"""What a conversation may cost: each model has its price, and a cap that is reached holds the session until somebody allows more."""
import os

from harness import check, people
from harness.model_server import ModelServer
from harness.suite import test
from harness.talk import events, send, wait_event, waiting

AGENT = """
id: helper
driver: model
provider: anthropic
model: first
system_prompt: You help.
sandbox: {{kind: none}}
{more}
"""
CAP = "caps: {cost_microcents_max: 100, on_exceed: pause}\ninput_microcents_per_mtok: 1000000"
STEP = {"text": "Yes.", "usage": {"input": 100, "output": 10}}


def start(env, model, more):
    folder = os.path.join(env.directory, "agents")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "helper.agent.yaml"), "w", encoding="utf-8") as file:
        file.write(AGENT.format(more=more))
    server = env.server(["--agents", folder, "--model-backoff-ms", "1"], model.environment())
    client = server.client()
    return server, client, people.session(client, agent="helper")


def ended(client, path, count):
    seen = []
    is_it = lambda event: event["type"] == "turn.ended" and (seen.append(1) or len(seen) == count)
    return wait_event(client, path, is_it)["metadata"]


def asked(client, path, count=1):
    """The `count`-th approval that is asked for, waited for."""
    seen = []
    is_it = lambda event: event["type"] == "ask.requested" and (seen.append(1) or len(seen) == count)
    return wait_event(client, path, is_it)["metadata"]["id"]


def answer(client, path, ask, decision):
    client.post(f"{path}/asks/{ask}/answer", {"decision": decision}, expect=200)


@test
def a_fallback_has_its_own_price(env):
    """What a call costs is the price of the model that answered it."""
    more = ("input_microcents_per_mtok: 1000000\noutput_microcents_per_mtok: 2000000\n"
            "fallback_chain:\n  - {provider: anthropic, model: second}\n"
            "prices:\n  - {model: second, input_microcents_per_mtok: 5000000, output_microcents_per_mtok: 7000000}")
    with ModelServer([STEP, {"status": 401, "message": "no"}, STEP]) as model:
        _, client, path = start(env, model, more)
        send(client, path, "one")
        check.equal(ended(client, path, 1)["usage"]["cost_microcents"], 100 * 1 + 10 * 2)
        send(client, path, "two")
        usage = ended(client, path, 2)["usage"]
        check.contains(usage, {"model": "second", "cost_microcents": 100 * 5 + 10 * 7})
        shown = client.get("/api/agents/helper").json()["definition"]
        [price] = shown["prices"]
        check.contains(price, {"model": "second", "input_microcents_per_mtok": 5000000, "output_microcents_per_mtok": 7000000})


@test
def cached_input_has_its_own_price(env):
    """What the vendor read from its cache and wrote into it costs what the agent says, else the vendor's usual part."""
    step = {"text": "Yes.", "usage": {"input": 1000, "output": 10, "cached": 600, "written": 200}}
    own = "cache_read_microcents_per_mtok: 300000\ncache_write_microcents_per_mtok: 4000000\n"
    row = "prices:\n  - {model: first, input_microcents_per_mtok: 2000000, cache_read_microcents_per_mtok: 1000000}"
    for more, cost in (("", 200 * 1 + 600 * 0.1 + 200 * 1.25), (own, 200 * 1 + 600 * 0.3 + 200 * 4),
                       (row, 200 * 2 + 600 * 1 + 200 * 2.5)):
        with ModelServer([step]) as model:
            server, client, path = start(env, model, "input_microcents_per_mtok: 1000000\n" + more)
            send(client, path, "one")
            usage = {"input_tokens": 1000, "cache_read_tokens": 600, "cache_write_tokens": 200, "cost_microcents": round(cost)}
            check.contains(ended(client, path, 1)["usage"], usage)
            check.contains(client.get(path).json()["usage"], usage)
            server.stop()


@test
def a_cap_counts_cached_input_at_its_price(env):
    """A hundred cached tokens are ten microcents, not a hundred: the cap is reached by the second call, not the first."""
    step = {"text": "Yes.", "usage": {"input": 100, "output": 10, "cached": 100}}
    with ModelServer([step]) as model:
        _, client, path = start(env, model, "caps: {cost_microcents_max: 20, on_exceed: fail}\n"
                                            "input_microcents_per_mtok: 1000000")
        for number, stop in ((1, "stop"), (2, "stop"), (3, "error")):
            send(client, path, "again")
            check.equal(ended(client, path, number)["stop_reason"], stop)
        check.equal(len(model.requests), 2)


@test
def a_cap_holds_until_it_is_lifted(env):
    """on_exceed: pause holds the session with an approval; allowed, the turn goes on; denied, messages wait."""
    with ModelServer([STEP]) as model:
        server, client, path = start(env, model, CAP)
        send(client, path, "one")
        ended(client, path, 1)
        send(client, path, "two")
        ask = asked(client, path)
        check.contains(client.get(path).json(), {"pause_reason": "overage_cap", "status": "awaiting_tool"})
        check.equal(len(model.requests), 1, "nothing leaves before somebody allowed it")
        answer(client, path, ask, "once")
        check.equal(ended(client, path, 2)["stop_reason"], "stop")
        check.contains(client.get(path).json(), {"pause_reason": None, "status": "idle"})
        send(client, path, "three")
        answer(client, path, asked(client, path, 2), "deny")
        check.equal(ended(client, path, 3)["error"]["code"], "budget_exceeded")
        check.contains(client.get(path).json(), {"pause_reason": "overage_cap", "status": "idle", "display_status": "blocked"})
        check.contains(client.get(path + "/explain").json()["detail"], "reached its cost cap")
        check.equal(send(client, path, "four")["status"], "queued")
        check.equal(waiting(client, path), ["four"])
        server.kill()
        client = server.start().client()
        check.equal(waiting(client, path), ["four"], "the hold survives a crash")
        client.post(path + "/unpause", {}, expect=200)
        answer(client, path, asked(client, path, 3), "once")
        check.equal(ended(client, path, 4)["stop_reason"], "stop")
        check.equal(len(model.requests), 3)
        holds = [one["metadata"].get("pause_reason") for one in events(client, path, "session.runtime_change")]
        check.equal(holds, ["overage_cap", None, "overage_cap", None, "overage_cap", None])


@test
def an_interrupt_lifts_what_nobody_decided(env):
    with ModelServer([STEP]) as model:
        _, client, path = start(env, model, CAP)
        send(client, path, "one")
        ended(client, path, 1)
        send(client, path, "two")
        asked(client, path)
        client.post(path + "/interrupt", {}, expect=200)
        check.equal(ended(client, path, 2)["stop_reason"], "aborted")
        check.equal(client.get(path).json()["pause_reason"], None)

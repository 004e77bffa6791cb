"""GET /api/models: what providers offer and agents name."""
import signal
import threading

from harness import check, people
from harness.client import encode_request
from harness.model_server import ModelServer
from harness.suite import test

AGENT = {"id": "helper", "driver": "model", "provider": "openai", "model": "small", "system_prompt": "You help.",
         "fallback_chain": [{"provider": "anthropic", "model": "clever"}], "sandbox": {"kind": "none"}}


BUILT_IN = ("claude", "gpt")  # agents that a key brings along


def models(answer):
    """Those of the answer that no agent of the server's own alone names."""
    return [one for one in answer["models"] if not one["id"].startswith(BUILT_IN)]


def providers(answer):
    """name → state and detail."""
    return {one["name"]: (one["state"], one["detail"]) for one in answer["providers"]}


@test
def what_providers_offer_and_agents_name(env):
    """Both formats are asked, with the key; what only an agent names is there too; nobody is asked again at once."""
    with ModelServer([]) as model:
        model.models = [{"id": "small", "object": "model"}, {"id": "large", "display_name": "The large one"}]
        client = env.server([], model.environment()).client()
        client.post("/api/agents", AGENT, expect=201)
        answer = client.get("/api/models", expect=200).json()
        check.equal(providers(answer), {"anthropic": ("ok", None), "openai": ("ok", None)})
        found = {(one["provider"], one["id"]): one for one in models(answer)}
        check.equal(sorted(found), [("anthropic", "clever"), ("anthropic", "large"), ("anthropic", "small"),
                                    ("openai", "large"), ("openai", "small")])
        check.equal(found["openai", "small"],
                    {"provider": "openai", "id": "small", "name": None, "listed": True, "agents": ["helper"]})
        check.equal(found["anthropic", "clever"],
                    {"provider": "anthropic", "id": "clever", "name": None, "listed": False, "agents": ["helper"]})
        check.equal(found["openai", "large"]["name"], "The large one")
        check.equal(found["anthropic", "small"]["agents"], [])
        asked = len(model.listings)
        check.equal(asked, 2)
        check.equal(client.get("/api/models", expect=200).json(), answer, "the same from memory")
        check.equal(len(model.listings), asked)


@test
def a_provider_that_fails_is_told(env):
    """A failure is an entry, not an error, and is asked about again; what agents name is there all the same."""
    with ModelServer([]) as model:
        model.models = None
        client = env.server([], model.environment()).client()
        client.post("/api/agents", AGENT, expect=201)
        answer = client.get("/api/models", expect=200).json()
        check.equal(providers(answer)["openai"], ("unavailable", "It answered with the status: 503"))
        check.equal([(one["id"], one["listed"]) for one in models(answer)], [("small", False), ("clever", False)])
        model.models = [{"id": "small"}]
        answer = client.get("/api/models", expect=200).json()
        check.equal(providers(answer)["openai"], ("ok", None))
        check.true({"provider": "openai", "id": "small", "name": None, "listed": True, "agents": ["helper"]}
                   in answer["models"], "it is listed now")


@test
def the_server_stops_meanwhile(env):
    """Who waits for a provider's list is told that the server stops, at once."""
    answers, hang = threading.Semaphore(0), threading.Event()

    def list_models(_path, _headers):
        answers.release()
        hang.wait(20)
        return []
    with ModelServer([]) as model:
        model.list_models = list_models
        server = env.server([], model.environment())
        client = server.client()
        waiting = [client.connect() for _ in range(3)]
        for one in waiting:
            one.send(encode_request("GET", "/api/models", None, client.headers_for()))
        check.true(answers.acquire(timeout=10) and answers.acquire(timeout=10), "both providers are asked")
        server.signal(signal.SIGTERM)
        for one in waiting:
            answer = one.read_response()
            check.problem(answer, 503, "server_stopping")
            check.equal(answer.header("retry-after"), "1")
        server.wait_exit()
        hang.set()


@test
def without_a_key_nobody_is_asked(env):
    """No key and no other address: the provider is not configured."""
    client = env.server([], {"OPENAI_API_KEY": "", "ANTHROPIC_API_KEY": ""}).client()
    answer = client.get("/api/models", expect=200).json()
    check.equal(providers(answer), {"anthropic": ("not_configured", None), "openai": ("not_configured", None)})
    check.equal([one["asked_at"] for one in answer["providers"]], [None, None])


@test
def agents_of_others_are_not_named(env):
    """What another tenant's agents name stays there."""
    server = env.server([], {"OPENAI_API_KEY": "", "ANTHROPIC_API_KEY": ""})
    client = server.client()
    client.post("/api/agents", AGENT, expect=201)
    other = people.tenant(client, "other").client
    check.equal(other.get("/api/models", expect=200).json()["models"], [])

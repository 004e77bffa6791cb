"""/api/openapi.json: a right document, the same as the route table, and true about every answer."""
import importlib.util
import os
import re
import sys

from harness import check, test
from harness.model_server import ModelServer
from harness.people import person, session
from harness.routes import table
from harness.schema import KNOWN, mistakes
from harness.server import ROOT
from harness.talk import send, wait_event
from harness.tree import read, report

METHODS = ("get", "post", "put", "patch", "delete")


def operations(document):
    """(method, path, operation) of the document."""
    return [(method, path, operation) for path, methods in document["paths"].items()
            for method, operation in methods.items()]


def get_document(server):
    answer = server.anonymous().get("/api/openapi.json", expect=200)
    check.equal(answer.header("content-type"), "application/json")
    return answer.json()


def walk(schema, where):
    """(where, schema) of a schema and all inside it."""
    yield where, schema
    for name, member in schema.get("properties", {}).items():
        yield from walk(member, f"{where}.{name}")
    if "items" in schema:
        yield from walk(schema["items"], where + "[]")
    for choice in schema.get("anyOf", []):
        yield from walk(choice, where)


def all_schemas(document):
    """(where, schema) of everything the document describes."""
    for name, schema in document["components"]["schemas"].items():
        yield from walk(schema, name)
    for method, path, operation in operations(document):
        where = f"{method} {path}"
        for parameter in operation["parameters"]:
            yield from walk(parameter["schema"], f"{where} {parameter['name']}")
        contents = [operation.get("requestBody", {})] + list(operation["responses"].values())
        for content in contents:
            for media in content.get("content", {}).values():
                yield from walk(media["schema"], where)


@test
def the_document_has_the_form_of_openapi_3_1(server):
    """Everything OpenAPI 3.1 requires of what is used here."""
    document = get_document(server)
    check.equal(document["openapi"], "3.1.0")
    check.equal(sorted(document), ["components", "info", "openapi", "paths", "tags", "x-states",
                                      "x-vocabularies"])
    check.equal(sorted(document["info"]), ["description", "title", "version"])
    schemes = document["components"]["securitySchemes"]
    groups = [tag["name"] for tag in document["tags"]]
    problems, seen = [], set()
    for method, path, operation in operations(document):
        where = f"{method} {path}"
        if method not in METHODS or not path.startswith("/"):
            problems.append(f"{where}: not a method or path")
        if operation["operationId"] in seen or not re.fullmatch(r"[a-z_]+", operation["operationId"], re.I):
            problems.append(f"{where}: operationId {operation['operationId']} is not its own")
        seen.add(operation["operationId"])
        placed = [(one["in"], one["name"]) for one in operation["parameters"]]
        if len(placed) != len(set(placed)):
            problems.append(f"{where}: a parameter stands twice")
        if re.findall(r"\{(\w+)\}", path) != [name for place, name in placed if place == "path"]:
            problems.append(f"{where}: the parameters of the path are not described")
        problems += [f"{where}: {one['name']} is in {one['in']}" for one in operation["parameters"]
                     if one["in"] not in ("path", "query", "header") or "schema" not in one
                     or (one["in"] == "path") != one["required"]]
        if method == "get" and "requestBody" in operation:
            problems.append(f"{where}: a GET with a body")
        problems += [f"{where}: answer {code}" for code, one in operation["responses"].items()
                     if not re.fullmatch(r"[1-5]\d\d|default", code) or not one.get("description")]
        problems += [f"{where}: unknown security {name}" for one in operation["security"] for name in one
                     if name not in schemes]
        if len(operation["tags"]) != 1 or operation["tags"][0] not in groups:
            problems.append(f"{where}: tags {operation['tags']}, which the document does not list")
        if not operation.get("summary", "").endswith("."):
            problems.append(f"{where}: the summary is no sentence")
    if len(groups) != len(set(groups)):
        problems.append(f"a group stands twice: {groups}")
    report(problems, "operations")


@test
def the_schemas_are_sound(server):
    """Known words only, references that lead somewhere, nothing required that is not described, no schema unused."""
    document = get_document(server)
    schemas, used, problems = document["components"]["schemas"], set(), []
    for where, schema in all_schemas(document):
        problems += [f"{where}: the word {word}" for word in set(schema) - KNOWN]
        if "$ref" in schema:
            name = schema["$ref"].removeprefix("#/components/schemas/")
            used.add(name)
            if name not in schemas:
                problems.append(f"{where}: {schema['$ref']} leads nowhere")
        kinds = schema.get("type", [])
        problems += [f"{where}: the type {kind}" for kind in ([kinds] if isinstance(kinds, str) else kinds)
                     if kind not in ("string", "integer", "boolean", "object", "array", "null")]
        problems += [f"{where}: {name} is required but not described" for name in schema.get("required", [])
                     if name not in schema.get("properties", {})]
        if "array" in kinds and "items" not in schema:
            problems.append(f"{where}: an array of what?")
        if "object" in kinds and "properties" not in schema and "additionalProperties" not in schema:
            problems.append(f"{where}: an object that generated clients take for an empty one")
        if "null" in kinds and "enum" in schema and None not in schema["enum"]:
            problems.append(f"{where}: null is no word of its enum")
    problems += [f"{name} is not used" for name in set(schemas) - used]
    report(problems, "schemas")


@test
def the_document_equals_the_route_table(server):
    """The same paths, methods, success codes and credentials as the tables in src/api, nothing more and nothing less."""
    document = get_document(server)
    rows = table()
    check.equal(sorted(rows), sorted((method, path) for method, path, _ in operations(document)))
    for method, path, operation in operations(document):
        auth, idempotent, status = rows[method, path]
        check.equal(bool(operation["security"]), auth != "AUTH_NONE", f"credentials of {method} {path}")
        check.contains(operation["responses"], {str(status): operation["responses"].get(str(status))}, path)
        headers = [one["name"] for one in operation["parameters"] if one["in"] == "header"]
        check.equal("Idempotency-Key" in headers, idempotent, f"Idempotency-Key of {method} {path}")


def methods_at(document, target):
    """The methods of all patterns that fit a path: a name may also be read as an id."""
    found = set()
    for pattern, methods in document["paths"].items():
        if re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", pattern), target):
            found |= set(methods)
    return found


@test
def every_route_answers_and_nothing_else_does(server):
    """Each path and method reaches its handler; other methods get 405 with Allow; other paths 404."""
    client = server.client()
    document = get_document(server)
    for path in document["paths"]:
        target = re.sub(r"\{\w+\}", "x", path)
        methods = methods_at(document, target)
        for method in METHODS:
            target += "?no_such_parameter=1" if method == "get" else ""  # so that no stream begins
            answer = client.request(method.upper(), target, {} if method in ("post", "put", "patch") else None)
            if method in methods:
                known = answer.status != 405 and not (answer.status == 404 and answer.json()["code"] == "not_found"
                                                      and "nothing here" in answer.json()["detail"])
                check.true(known, f"{method} {path} answers {answer.status} {answer.body[:200]!r}")
            else:
                check.problem(answer, 405, "method_not_allowed")
                allowed = {word.strip().lower() for word in answer.header("allow").split(",")}
                extra = {"head"} if "get" in methods else set()
                check.equal(allowed, methods | extra | {"options"}, f"Allow of {path}")
    for path in ("/index.html", "/api", "/api/", "/api/session", "/api/sessions/", "/api/sessions/x/", "/api/sessions/x/nothing",
                 "/api/sessions/x/events/1", "//api/sessions", "/API/sessions", "/api/openapi.yaml"):
        check.problem(client.get(path), 404, "not_found")


class Example:
    """One successful call for every route."""

    def __init__(self, server):
        self.server = server
        self.client = server.client()
        self.user = person(self.client, "example")
        self.calls = {}

    def fresh(self, **body):
        """The id of a new session."""
        return session(self.client, **body).split("/")[-1]

    def claimed(self, agent="example"):
        """(id, headers) of a session that is leased."""
        id = self.fresh(status="pending", agent=agent)
        [claim] = self.client.post("/api/claims", {"worker": "w", "agents": [agent]}).json()["claims"]
        check.equal(claim["session"]["id"], id)
        return id, {"Sojourn-Lease": claim["lease"]["token"]}

    def call(self, method, path, body=None, headers=(), client=None, **parameters):
        """Makes the call; the answer and the part of the document it belongs to are kept."""
        target = path
        for name, value in parameters.items():
            target = target.replace("{" + name + "}", value)
        answer = (client or self.client).request(method, target, body, headers=headers)
        self.calls[method.lower(), path] = answer
        return answer

    def run(self):
        """All of them."""
        self.pages()
        self.system_and_people()
        self.agents()
        self.outside()
        self.sessions()
        self.work()
        self.tasks()
        self.prompts()
        self.asks()
        self.files()
        self.sharing()
        self.beginnings()
        self.tunnels()
        self.cut()

    def beginnings(self):
        self.call("GET", "/api/me/preferences")
        self.call("PATCH", "/api/me/preferences", {"queue_mode": "steer"})
        persona = self.call("POST", "/api/personas", {"name": "n", "prompt": "p"}).json()["id"]
        self.call("GET", "/api/personas")
        self.call("GET", "/api/personas/{persona_id}", persona_id=persona)
        self.call("PATCH", "/api/personas/{persona_id}", {"visibility": "shared"}, persona_id=persona)
        self.call("DELETE", "/api/personas/{persona_id}", persona_id=persona)
        id = self.fresh()
        channel = self.call("POST", "/api/sessions/{id}/channels", {"kind": "slack", "address": "C"}, id=id).json()["id"]
        self.call("GET", "/api/sessions/{id}/channels", id=id)
        self.call("DELETE", "/api/sessions/{id}/channels/{channel_id}", id=id, channel_id=channel)
        self.call("POST", "/api/sessions/{id}/system-messages", {"text": "x"}, id=id)

    def tunnels(self):
        """Through one of them the server is asked how it is, by itself; it is no page of its own then."""
        id = self.fresh()
        address = self.server.address.split("://")[-1]
        self.call("POST", "/api/sessions/{id}/tunnels", {"name": "t", "url": f"http://{address}/"}, id=id)
        self.call("GET", "/api/sessions/{id}/tunnels", id=id)
        for method, rest in (("GET", "metrics"), ("POST", "api/x"), ("PUT", "x"), ("PATCH", "x"), ("DELETE", "x")):
            answer = self.call(method, "/api/sessions/{id}/proxy/{tunnel}/{rest}", id=id, tunnel="t", rest=rest)
            check.equal(answer.status, 200 if method == "GET" else answer.status)
            answer.status = 200  # whatever the service says, passes
        self.call("DELETE", "/api/sessions/{id}/tunnels/{tunnel}", id=id, tunnel="t")

    def cut(self):
        """A turn in which the server stops."""
        self.client.post("/api/agents", {"id": "cut", "driver": "demo"}, expect=201)
        id = self.fresh(agent="cut", prompt="echo")
        status = lambda: self.client.get(f"/api/sessions/{id}").json()["status"]
        check.eventually(lambda: status() == "running", "the turn runs")
        self.client = self.server.restart().client()
        check.equal(status(), "idle")
        self.call("POST", "/api/sessions/{id}/resume", {}, id=id)

    def pages(self):
        guest = self.server.anonymous()
        for path in ("/", "/sign-in", "/sessions", "/inbox", "/agents", "/rules", "/today", "/tasks", "/entities",
                     "/settings"):
            self.call("GET", path, client=guest)
        self.call("GET", "/sessions/{id}", client=guest, id="any")
        self.call("GET", "/agents/{agent}", client=guest, agent="any")
        self.call("GET", "/tasks/{task}", client=guest, task="any")
        self.call("GET", "/entities/{entity}", client=guest, entity="any")
        name = re.search(r"/assets/([\w.-]+)", self.calls["get", "/"].body.decode()).group(1)
        self.call("GET", "/assets/{name}", client=guest, name=name)

    def system_and_people(self):
        guest = self.server.anonymous()
        for path in ("/healthz", "/readyz", "/metrics", "/api/openapi.json"):
            self.call("GET", path, client=guest)
        signed = self.call("POST", "/api/auth/link", {"secret": self.user.secret}, client=guest)
        browser = {"Cookie": signed.header("set-cookie").split(";")[0], "X-CSRF-Token": signed.json()["csrf_token"]}
        self.call("PUT", "/api/me/password", {"password": "a long password"}, browser, guest)
        self.call("POST", "/api/auth/sign-in", {"email": self.user.email, "password": "a long password"}, client=guest)
        self.call("POST", "/api/auth/sign-out", {}, browser, guest)
        for path in ("/api/me", "/api/users", "/api/tokens", "/api/tenants"):
            self.call("GET", path)
        self.call("POST", "/api/tickets", {})
        made = self.call("POST", "/api/users", {"email": "other@example.test"}).json()
        self.call("PATCH", "/api/users/{user_id}", {"name": "x"}, user_id=made["id"])
        self.call("DELETE", "/api/users/{user_id}", user_id=made["id"])
        made = self.call("POST", "/api/tokens", {"name": "x", "kind": "worker", "id_prefix": "a:"}).json()
        self.call("DELETE", "/api/tokens/{token_id}", token_id=made["id"])
        self.call("POST", "/api/tenants", {"id": "example"})

    def agents(self):
        self.call("POST", "/api/agents", {"id": "thinker", "provider": "openai", "model": "m", "system_prompt": "s",
                                          "sandbox": {"kind": "none"}, "tools": ["memory_add"]})
        self.call("GET", "/api/agents")
        self.call("GET", "/api/models")
        self.call("GET", "/api/agents/{agent}", agent="thinker")
        self.call("GET", "/api/agents/{agent}/versions", agent="thinker")
        path = session(self.client, agent="thinker")
        send(self.client, path, "Remember this.")
        wait_event(self.client, path, lambda event: event["type"] == "turn.ended")
        [memory] = self.call("GET", "/api/agents/{agent}/memories", agent="thinker").json()["memories"]
        self.call("DELETE", "/api/agents/{agent}/memories/{memory}", agent="thinker", memory=memory["id"])
        self.call("DELETE", "/api/agents/{agent}", agent="thinker")

    def sessions(self):
        id = self.call("POST", "/api/sessions", {
            "type": "agent", "title": "t", "agent": "a", "workspace": "w", "metadata": {"a": 1}, "prompt": "go",
            "source": {"kind": "channel", "platform": "slack"}, "ttl_ms": 1000000}).json()["id"]
        self.call("POST", "/api/sessions/{id}/events", {"events": [
            {"type": "user.message", "content": [{"type": "text", "text": "x"}], "thread_id": "t",
             "external_event_id": "e", "metadata": {"a": 1}}]}, id=id)
        self.client.post(f"/api/sessions/{id}/events", {"events": [{"type": "note.x", "external_event_id": "e"}]})
        self.fresh(parent_id=id)
        for path in ("/api/sessions", "/api/counts"):
            self.call("GET", path)
        self.call("PATCH", "/api/sessions/{id}/git-state", {"branch": "main", "pr_state": "open"}, id=id)
        self.client.post(f"/api/sessions/{id}/events", {"events": [
            {"type": "external.files_changed", "metadata": {"files": ["a"]}}]}, expect=201)
        for part in ("", "/children", "/audit-log", "/events", "/participants", "/git-state", "/files-changed"):
            self.call("GET", "/api/sessions/{id}" + part, id=id)
        self.call("PATCH", "/api/sessions/{id}", {"title": "x"}, id=id)
        for part, body in (("archive", {}), ("unarchive", {}), ("status", {"status": "failed", "reason": "no"}),
                           ("retry", {})):
            self.call("POST", "/api/sessions/{id}/" + part, body, id=id)
        self.client.post("/api/agents", {"id": "boxed", "driver": "demo", "sandbox": {"kind": "local"}}, expect=201)
        boxed = self.fresh(agent="boxed", prompt="echo")
        rests = lambda: self.client.get(f"/api/sessions/{boxed}").json()["turn_count"] == 1
        check.eventually(rests, "the turn is over", 30)
        for part in ("wake", "pause", "unpause", "hibernate", "stop"):
            self.call("POST", "/api/sessions/{id}/" + part, {}, id=boxed)
        self.call("POST", "/api/sessions/{id}/export", {}, id=self.fresh())
        ended = self.fresh()
        self.client.post(f"/api/sessions/{ended}/status", {"status": "completed"}, expect=200)
        self.call("POST", "/api/sessions/{id}/reopen", {}, id=ended)
        self.call("DELETE", "/api/sessions/{id}", id=ended)
        self.call("POST", "/api/sessions/bulk-delete", {"ids": [self.fresh(), "unknown"]})

    def work(self):
        self.fresh(status="pending", agent="one")
        self.call("POST", "/api/claims", {"worker": "w", "agents": ["one"]})
        id, held = self.claimed()
        self.call("GET", "/api/queue")
        self.call("POST", "/api/sessions/{id}/lease", {}, held, id=id)
        self.call("POST", "/api/sessions/{id}/deltas", {"deltas": [{"kind": "text", "text": "x"}]}, held, id=id)
        self.call("POST", "/api/sessions/{id}/settle", {"status": "completed", "result": [1], "usage": {"n": 1}}, held,
                  id=id)
        id, held = self.claimed()
        self.call("POST", "/api/sessions/{id}/release", {}, held, id=id)
        self.call("POST", "/api/sessions/{id}/messages", {"text": "x", "metadata": {"a": 1}, "thread_id": "t"}, id=id)
        self.call("GET", "/api/sessions/{id}/queue", id=id)
        self.call("POST", "/api/sessions/{id}/clear-queue", {}, id=id)
        waiting = self.client.post(f"/api/sessions/{id}/messages", {"text": "x"}, expect=202).json()
        self.call("DELETE", "/api/sessions/{id}/queue/{prompt_id}", id=id, prompt_id=waiting["prompt_id"])
        self.calls["get", "/api/stream"] = self.client.stream("/api/stream").response
        self.calls["get", "/api/sessions/{id}/ws"] = self.client.websocket(f"/api/sessions/{id}/ws").response

    def prompts(self):
        id = self.fresh(agent="nobody")
        self.call("POST", "/api/sessions/{id}/messages", {"text": "first"}, id=id)
        queued = self.client.post(f"/api/sessions/{id}/messages", {"text": "second"}, expect=202).json()
        self.client.post(f"/api/sessions/{id}/messages", {"text": "third"}, expect=202)
        self.call("GET", "/api/sessions/{id}/messages", id=id)
        self.call("GET", "/api/sessions/{id}/queue", id=id)
        waits = {"id": id, "prompt_id": queued["prompt_id"]}
        self.call("PATCH", "/api/sessions/{id}/queue/{prompt_id}", {"text": "other"}, **waits)
        self.call("POST", "/api/sessions/{id}/queue/{prompt_id}/move", {"position": 2}, **waits)
        self.call("POST", "/api/sessions/{id}/queue/{prompt_id}/promote", {}, **waits)
        self.call("DELETE", "/api/sessions/{id}/queue/{prompt_id}", **waits)
        self.call("POST", "/api/sessions/{id}/clear-queue", {}, id=id)
        self.call("POST", "/api/sessions/{id}/interrupt", {}, id=id)
        self.call("GET", "/api/sessions/{id}/explain", id=id)
        self.call("POST", "/api/sessions/{id}/stop", {"reason": "enough"}, id=id)

    def tasks(self):
        """Something to work on, work to do, and an automation that starts it."""
        one = "/api/entities/{entity}"
        self.call("POST", "/api/entities", {"id": "e", "type": "ticket", "fields": {"a": 1}})
        self.call("GET", "/api/entities")
        self.call("PATCH", one, {"fields": {"a": 2}, "version": 1}, entity="e")
        self.call("GET", one, entity="e")
        self.client.post("/api/agents", {"id": "doer", "driver": "worker"}, expect=201)
        self.call("POST", "/api/tasks", {"id": "t", "steps": [{"id": "a", "agent": "doer"}, {"id": "b", "human": True}]})
        self.call("GET", "/api/tasks")
        self.call("PATCH", "/api/tasks/{task}", {"description": "d"}, task="t")
        self.call("GET", "/api/tasks/{task}", task="t")
        self.call("POST", "/api/tasks/{task}/runs", {"entity_id": "e", "input": {"x": 1}, "source": "automation"}, task="t")
        self.call("GET", one + "/sessions", entity="e")
        run = self.call("GET", "/api/runs").json()["runs"][0]
        self.call("GET", "/api/runs/{run}", run=run["id"])
        self.call("DELETE", "/api/tasks/{task}", task="t")
        self.call("DELETE", one, entity="e")

    def expired(self, asks, id, held):
        """Nobody answers; it is asked again."""
        self.client.post(f"/api/sessions/{id}/asks", {"id": "x", "kind": "question", "text": "?", "expires_in_ms": 1},
                         headers=held, expect=201)
        is_over = lambda: self.client.get(f"/api/sessions/{id}/asks/x").json()["state"] == "expired"
        check.eventually(is_over, "it expires")
        self.call("POST", asks + "/{ask_id}/again", id=id, ask_id="x")

    def asks(self):
        id, held = self.claimed("asker")
        asks = "/api/sessions/{id}/asks"
        for number in range(5):
            self.call("POST", asks, {"id": str(number), "kind": "approval", "tool": "t", "call_id": f"c{number}",
                                     "arguments": {"a": 1}, "details": {"risk": "low"}, "quorum": 1}, held, id=id)
        self.client.post(f"/api/sessions/{id}/asks", {"id": "f", "kind": "elicitation", "text": "?", "schema": {}}, headers=held,
                         expect=201)
        self.client.post(f"/api/sessions/{id}/asks", {"id": "q", "kind": "question", "text": "?", "options": ["a"]}, headers=held,
                         expect=201)
        self.expired(asks, id, held)
        self.call("GET", asks, id=id)
        self.call("GET", "/api/asks")
        self.call("GET", asks + "/{ask_id}", id=id, ask_id="q")
        self.call("POST", asks + "/{ask_id}/answer", {"decision": "deny", "reason": "no"}, id=id, ask_id="0")
        self.call("POST", "/api/sessions/{id}/approve", {"tool_call_id": "c1", "approved": True}, id=id)
        self.call("POST", "/api/sessions/{id}/elicitation-reply", {"content": {}}, id=id)
        link = self.call("POST", asks + "/{ask_id}/link", {}, id=id, ask_id="2").json()["url"].split("/")[-1]
        self.call("GET", "/asks/{token}", client=self.server.anonymous(), token=link)
        self.call("POST", "/asks/{token}", {"decision": "once"}, client=self.server.anonymous(), token=link)
        self.call("DELETE", asks + "/{ask_id}", headers=held, id=id, ask_id="3")
        self.client.post(f"/api/sessions/{id}/asks/4/answer", {"decision": "always", "these_arguments": True}, expect=200)
        rule = self.call("GET", "/api/rules").json()["rules"][0]
        self.call("DELETE", "/api/rules/{rule_id}", rule_id=rule["id"])

    def outside(self):
        self.client.post("/api/agents", {"id": "remote", "driver": "runner"}, expect=201)
        id = self.client.post("/api/sessions", {"type": "agent", "agent": "remote"}, expect=201).json()["id"]
        self.call("POST", "/api/sessions/{id}/runner-token", {}, id=id)
        self.call("POST", "/api/sessions/{id}/sandbox-token", {}, id=id)
        done = self.call("POST", "/api/sessions/{id}/tools/{tool}",
                         {"call_id": "c", "arguments": {"files": [{"name": "a", "content": "b"}]}}, id=id, tool="verify")
        self.call("GET", "/api/sessions/{id}/evidence/{sha256}", id=id, sha256=done.json()["result"]["files"][0]["sha256"])

    def files(self):
        id = self.fresh()
        made = self.call("POST", "/api/sessions/{id}/files", b"content", {"Content-Type": "text/plain"}, id=id).json()
        self.call("GET", "/api/sessions/{id}/files", id=id)
        self.call("GET", "/api/sessions/{id}/files/{handle}", id=id, handle=made["handle"])

    def sharing(self):
        id = self.fresh()
        self.call("POST", "/api/sessions/{id}/participants", {"user_id": self.user.id, "role": "viewer"}, id=id)
        self.call("GET", "/api/sessions/{id}/participants", id=id)
        link = self.call("POST", "/api/sessions/{id}/share-link", {"max_uses": 3}, id=id).json()
        self.call("POST", "/api/sessions/join/{token}", {}, client=self.user.client, token=link["token"])
        self.call("GET", "/api/sessions/{id}/share-links", id=id)
        self.call("DELETE", "/api/sessions/{id}/share-link/{link_id}", id=id, link_id=link["id"])
        self.call("DELETE", "/api/sessions/{id}/participants/{user_id}", id=id, user_id=self.user.id)


@test
def answers_are_as_described(env):
    """One successful call per route: the status, the media type, every member and type, and no member unnamed."""
    with ModelServer([{"tools": [{"name": "memory_add", "input": {"text": "This."}}]}, {"text": "Done."}]) as model:
        server = env.server(["--tunnel-hosts", "127.0.0.1"], model.environment())
        document = get_document(server)
        example = Example(server)
        example.run()
    described = {(method, path): operation for method, path, operation in operations(document)}
    check.equal(sorted(set(described) - set(example.calls)), [], "routes without an example in this test")
    problems = []
    for (method, path), answer in example.calls.items():
        where = f"{method.upper()} {path}"
        expected = next(code for code in described[method, path]["responses"] if code != "default")
        if answer.status != int(expected):
            problems.append(f"{where} answered {answer.status}, not {expected}: {answer.body[:300]!r}")
            continue
        content = described[method, path]["responses"][expected].get("content", {})
        media = answer.header("content-type")
        if content and media != next(iter(content)):
            problems.append(f"{where} is {media}")
        elif content:
            schema = content[media]["schema"]
            problems += [f"{where}: {mistake}" for mistake in mistakes(answer.json(), schema, document)]
        elif answer.body and media == "application/json" and path != "/api/openapi.json":
            problems.append(f"{where} has a body that nobody describes")
    report(problems, "answers that are not as described")


@test
def problems_are_as_described(server):
    """Errors of every kind have the form of Problem."""
    document = get_document(server)
    client, guest = server.client(), server.anonymous()
    schema = {"$ref": "#/components/schemas/Problem"}
    answers = [guest.get("/api/sessions"), client.get("/api/none"), client.get("/api/sessions/none"),
               client.put("/api/sessions", {}), client.post("/api/sessions", b"{"), client.post("/api/sessions", {}),
               client.get("/api/sessions?limit=x"), client.post("/api/sessions", b"x" * 5_000_000),
               client.post("/api/sessions", b"x", headers={"Content-Type": "image/png"}),
               client.get("/" + "x" * 9000), client.get("/api/sessions", headers={"X-Long": "x" * 40000})]
    check.equal([answer.status for answer in answers], [401, 404, 404, 405, 400, 400, 400, 413, 415, 414, 431])
    for answer in answers:
        check.problem(answer, answer.status)
        check.equal(mistakes(answer.json(), schema, document), [], answer.request_line[:60])


@test
def request_bodies_are_held_to_the_document(server):
    """What a body may hold is what the document says: unknown members, wrong types, missing ones are refused."""
    client = server.client()
    wrong = {"string": 5, "integer": "x", "boolean": "x", "object": [], "array": {}}
    for method, path, operation in operations(get_document(server)):
        body = operation.get("requestBody")
        if not body or path.startswith("/api/auth/"):
            continue
        schema = body["content"]["application/json"]["schema"]
        target = re.sub(r"\{\w+\}", "x", path)

        def refuse(body, code):
            check.problem(client.request(method.upper(), target, body), 400, code)
        refuse({"no_such_member": 1}, "unknown_member")
        refuse([], "invalid_body")
        for name, member in schema["properties"].items():
            if "type" in member:
                refuse({name: wrong[member["type"]]}, "invalid_member")
            if "enum" in member:
                refuse({name: "no such word"}, "invalid_member")
            if "maximum" in member:
                refuse({name: member["maximum"] + 1}, "invalid_member")
            if "maxLength" in member:
                refuse({name: "x" * (member["maxLength"] + 1)}, "invalid_member")
            if member.get("format") == "date-time":
                refuse({name: "yesterday"}, "invalid_member")
        for name in schema.get("required", []):
            refuse({}, "missing_member")


@test
def query_parameters_are_held_to_the_document(server):
    """The same for what stands behind the question mark."""
    client = server.client()
    path = session(client)
    for method, pattern, operation in operations(get_document(server)):
        if method != "get" or not operation["security"] or pattern.endswith("{rest}"):
            continue
        target = re.sub(r"\{id\}", path.split("/")[-1], pattern)

        def refuse(query, code):
            check.problem(client.get(f"{target}?{query}"), 400, code)
        refuse("no_such_parameter=1", "unknown_member")
        check.problem(client.request("GET", target, {"limit": 1}), 400, "unknown_member")
        for parameter in operation["parameters"]:
            if parameter["in"] != "query" or parameter["name"].endswith("."):
                continue
            schema, name = parameter["schema"], parameter["name"]
            if schema.get("type") in ("integer", "boolean") or "enum" in schema or "format" in schema:
                refuse(f"{name}=x", "invalid_member")
            if "maxLength" in schema:
                refuse(f"{name}={'x' * (schema['maxLength'] + 1)}", "invalid_member")
            refuse(f"{name}=1&{name}=1", None)


@test
def nothing_is_ignored(server):
    """Commands too refuse parameters they do not know, and bodies where they take none."""
    client = server.client()
    for method, pattern, operation in operations(get_document(server)):
        if method == "get" or pattern.endswith("{rest}"):
            continue
        target = re.sub(r"\{\w+\}", "x", pattern)
        answer = client.request(method.upper(), target + "?no_such_parameter=1", {})
        check.problem(answer, 400, "unknown_member")
        check.contains(answer.json()["detail"], "accepted are:")
        if "requestBody" not in operation and pattern not in ("/api/sessions/{id}/files", "/asks/{token}"):
            check.problem(client.request(method.upper(), target, {"revision": 1}), 400, "unknown_member")
            check.problem(client.request(method.upper(), target, b"{"), 400)
    client.request("DELETE", session(client), {}, expect=204)


def tool(name="api_document"):
    """A program of tools/ as a module."""
    spec = importlib.util.spec_from_file_location(name, os.path.join(ROOT, "tools", f"{name}.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@test(on=("sqlite",))
def the_written_document_follows(server):
    """docs/api.md is what tools/docs makes of it."""
    written = tool().markdown(get_document(server))
    check.true(read("docs/api.md") == written, "docs/api.md is the document of this build (make docs writes it)")


@test(on=("sqlite",))
def the_types_of_the_dashboard_follow(server):
    """web/src/types.ts is what tools/docs makes of it."""
    sys.modules["api_document"] = tool()
    written = tool("web_types").Writer(get_document(server)).text()
    check.true(read("web/src/types.ts") == written, "web/src/types.ts is of this build (make docs writes it)")


@test
def the_vocabularies_are_those_of_the_schemas(server):
    """Each list of words in an answer is a vocabulary, and every status has its row."""
    document = get_document(server)
    known = {tuple(words) for words in document["x-vocabularies"].values()}
    problems = [f"{where}: {schema['enum']}" for where, schema in all_schemas(document)
                if " " not in where and "enum" in schema and tuple(word for word in schema["enum"] if word) not in known]
    report(problems, "words that are no vocabulary")
    check.equal(list(document["x-states"]), document["x-vocabularies"]["status"])
    for state in document["x-states"].values():
        check.contains(document["x-vocabularies"]["display_status"], state["display_status"])

"""Two tenants on one server never see each other, by any route of the table."""
import re
import threading

from harness import check, test
from harness.client import path_part
from harness.people import person, session, tenant

SECRET = "quetzal"  # stands in every text of the first tenant


class Two:
    """Tenant one with something of everything; the owner of tenant two, who shares nothing with it."""

    def __init__(self, server):
        self.server = server
        self.one = server.client()
        self.two = tenant(self.one, "two").client
        self.user = person(self.one, f"{SECRET}-user")
        self.token = self.one.post("/api/tokens", {"name": SECRET}, expect=201).json()
        self.paths, self.ids = {}, []
        for name in ("plain", "open", "pending", "leased", "parent", "archived"):
            self.make(name)
        self.one.patch(self.paths["open"], {"visibility": "org_joinable"}, expect=200)
        self.one.post(self.paths["archived"] + "/archive", expect=200)
        self.one.post(self.paths["plain"] + "/participants", {"user_id": self.user.id}, expect=201)
        self.link = self.one.post(self.paths["plain"] + "/share-link", expect=201).json()
        child = session(self.one, title=SECRET, parent_id=self.paths["parent"].split("/")[-1])
        self.ids.append(child.split("/")[-1])
        claimed = self.one.post("/api/claims", {"worker": SECRET, "agents": [SECRET + "-leased"]}, expect=200).json()
        self.lease = claimed["claims"][0]["lease"]["token"]
        held, leased = {"Sojourn-Lease": self.lease}, self.paths["leased"]
        for id in ("decided", SECRET):
            self.one.post(leased + "/asks", {"id": id, "kind": "approval", "tool": SECRET + id, "text": SECRET,
                                                  "arguments": {"a": 1}}, headers=held,
                          expect=201)
        self.one.post(leased + "/asks/decided/answer", {"decision": "always"}, expect=200)
        [rule] = self.one.get("/api/rules", expect=200).json()["rules"]
        self.one.post("/api/agents", {"id": SECRET, "driver": "worker", "description": SECRET}, expect=201)
        self.one.post("/api/entities", {"id": SECRET, "type": SECRET, "fields": {"x": SECRET}}, expect=201)
        self.one.post("/api/tasks", {"id": SECRET, "name": SECRET, "agent": SECRET, "prompt": SECRET}, expect=201)
        self.one.post(f"/api/tasks/{SECRET}/runs", {"entity_id": SECRET, "input": {"x": SECRET},
                                                    "source": {"kind": "automation"}}, expect=201)
        [run] = self.one.get("/api/runs", expect=200).json()["runs"]
        self.ids += [run["id"], run["session_id"]]
        persona = self.one.post("/api/personas", {"name": SECRET, "prompt": SECRET, "visibility": "shared"}, expect=201).json()
        channel = self.one.post(self.paths["plain"] + "/channels", {"kind": "slack", "address": SECRET}, expect=201).json()
        self.one.post(self.paths["plain"] + "/tunnels", {"name": SECRET, "port": 8080}, expect=201)
        file = self.one.post(self.paths["plain"] + "/files?name=" + SECRET, SECRET.encode(), expect=201).json()
        self.ids += [persona["id"], channel["id"], file["handle"].removeprefix("blob:")]
        for _ in range(2):
            prompt = self.one.post(self.paths["plain"] + "/messages", {"text": SECRET}, expect=202).json()
        self.parameters = {"{id}": self.paths["plain"].split("/")[-1], "{prompt_id}": prompt["prompt_id"], "{user_id}": self.user.id,
                           "{token_id}": self.token["id"], "{link_id}": self.link["id"], "{token}": self.link["token"],
                           "{ask_id}": SECRET, "{rule_id}": rule["id"],
                           "{agent}": SECRET, "{entity}": SECRET, "{task}": SECRET, "{run}": run["id"], "{tool}": "session_status", "{sha256}": "0" * 64,
                           "{memory}": SECRET, "{persona_id}": persona["id"], "{channel_id}": channel["id"], "{tunnel}": SECRET, "{rest}": "x",
                           "{handle}": file["handle"]}

    def make(self, name):
        """A session of tenant one whose every text gives it away."""
        state = {"status": "pending"} if name in ("pending", "leased") else {}
        path = session(self.one, id=f"{SECRET}:{name}", title=f"{SECRET} {name}", agent=f"{SECRET}-{name}",
                       workspace=SECRET, metadata={"label": SECRET}, task_id=SECRET, entity_id=SECRET, **state)
        self.one.post(path + "/events", {"events": [{"type": "user.message", "external_event_id": SECRET,
                                                     "content": [{"type": "text", "text": SECRET}]}]}, expect=201)
        self.paths[name] = path
        self.ids.append(path.split("/")[-1])

    def words(self):
        """What must never reach tenant two."""
        return [SECRET, self.user.id, self.token["id"], self.token["token"], self.link["id"], self.link["token"],
                *self.ids]

    def photograph(self):
        """Everything of tenant one that a request could change."""
        parts = [self.one.get(path).body for path in ("/api/sessions?archived=all&limit=100", "/api/users", "/api/tokens",
                                                      "/api/counts", "/api/queue", "/api/asks",
                                                      "/api/rules", f"/api/agents/{SECRET}/versions",
                                                      "/api/entities", "/api/tasks", "/api/runs", "/api/personas")]
        for path in self.paths.values():
            parts += [self.one.get(path + part).body
                      for part in ("", "/events", "/participants", "/share-links", "/children", "/audit-log", "/queue",
                                   "/asks?state=all", "/git-state", "/files-changed", "/channels", "/tunnels", "/files")]
        return parts


def example(schema, word):
    """A body that fits a request schema; strings that name something are `word`."""
    body = {}
    for name in schema.get("required", []):
        one = schema["properties"][name]
        body[name] = {"string": (one.get("enum") or ["name" if name == "name" else word])[0], "integer": 1,
                      "array": [word], "object": {}, "boolean": True}.get(one.get("type"), {})
    return body


SPECIAL = {"events": {"events": [{"type": "note.x"}]}, "deltas": {"deltas": [{"kind": "text", "text": "x"}]},
           "settle": {"status": "completed"}, "status": {"status": "completed"}, "messages": {"text": "x"},
           "password": {"password": "x" * 20}}


def same(got, want):
    """Two answers that nobody can tell apart."""
    hidden = ("x-request-id", "date")
    check.equal((got.status, got.body), (want.status, want.body), f"{got.request_line} against {want.request_line}")
    heads = [[(name, value) for name, value in answer.headers if name.lower() not in hidden] for answer in (got, want)]
    check.equal(heads[0], heads[1], f"headers of {got.request_line}")


@test
def no_route_leads_across(server):
    """Every path with a parameter: the ids of tenant one get tenant two exactly what unknown ids get."""
    world = Two(server)
    before = world.photograph()
    tried = 0
    paths = world.two.get("/api/openapi.json", expect=200).json()["paths"]
    for pattern, methods in paths.items():
        names = re.findall(r"\{\w+\}", pattern)
        if not names or not pattern.startswith("/api/"):
            continue
        real = unknown = pattern
        for name in names:
            check.contains(world.parameters, {name: world.parameters.get(name)}, "parameters this test knows")
            real = real.replace(name, path_part(world.parameters[name]))
            unknown = unknown.replace(name, "ss_unknown" if name == "{token}" else "unknown")
        for method, operation in methods.items():
            content = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
            body = SPECIAL.get(pattern.split("/")[-1], example(content.get("schema", {}), "x")) if content else None
            for headers in ({}, {"Sojourn-Lease": world.lease}, {"Accept": "text/event-stream"},
                            {"Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13",
                             "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA=="}):
                got, want = (world.two.request(method.upper(), path, body, headers=headers) for path in (real, unknown))
                same(got, want)
                expected = (400, 404, 409) if "Sojourn-Lease" in headers else (400, 404)
                check.true(got.status in expected, f"{method} {pattern} answers {got.status} {got.body[:200]!r}")
                tried += got.status == 404
    check.true(tried > 80, f"{tried} requests were answered with 404")
    check.equal(world.photograph(), before, "tenant one")


@test
def nothing_is_found_by_looking(server):
    """Lists, counts, figures and filters show nothing of tenant one, whatever they are asked."""
    world = Two(server)
    words = world.words()
    paths = world.two.get("/api/openapi.json", expect=200).json()["paths"]
    lists = [path for path, methods in paths.items() if "get" in methods and "{" not in path and path != "/api/stream"]
    check.true(len(lists) >= 10, "there are lists")
    guesses = [f"{key}={value}" for key, value in (
        ("owner", world.one.get("/api/me").json()["user_id"]), ("participant", world.user.id), ("task_id", SECRET),
        ("parent_id", world.ids[0]), ("entity_id", SECRET), ("workspace", SECRET), ("agent", SECRET + "-plain"),
        ("metadata.label", SECRET), ("q", SECRET), ("archived", "all"), ("visibility", "org_joinable"),
        ("status", "pending"), ("group", "live"), ("display_status", "active"), ("type", "agent"),
        ("ownership", "shared"), ("created_after", "2001-01-01T00:00:00Z"))]
    page = world.one.get("/api/sessions?limit=1").json()
    guesses.append(f"cursor={page['next_cursor']}")
    for path in lists + [f"/api/sessions?{guess}" for guess in guesses]:
        body = world.two.get(path, expect=200).body.decode()
        found = [word for word in words if word in body and word not in path]
        check.equal(found, [], f"of tenant one in GET {path}")
    for guess in guesses:
        check.equal(world.two.get(f"/api/sessions?{guess}", expect=200).json()["sessions"], [], guess)
    counts = world.two.get("/api/counts").json()
    check.equal(counts["total"], 0)
    check.equal(world.two.get("/api/queue").json(), {"queues": [], "workers": []})
    check.equal(len(world.two.get("/api/users").json()["users"]), 1, "its own")
    check.equal(world.two.post("/api/claims", {"worker": "w", "max": 64}, expect=200).json()["claims"], [])
    check.equal(world.two.post("/api/claims", {"worker": "w", "agents": [SECRET + "-pending"]}).json()["claims"], [])


@test
def ids_in_bodies_lead_nowhere(server):
    """Parents, participants, owners of tokens, tickets, bulk deletes, leases: as with unknown ids."""
    world = Two(server)
    before = world.photograph()
    two, own = world.two, session(world.two)
    for real, unknown in ((world.ids[0], "unknown"), (world.user.id, "unknown")):
        for method, path, body in (
                ("POST", "/api/sessions", lambda id: {"type": "agent", "parent_id": id}),
                ("POST", own + "/participants", lambda id: {"user_id": id}),
                ("POST", "/api/tokens", lambda id: {"name": "x", "user_id": id}),
                ("DELETE", f"{own}/participants/", None), ("DELETE", f"{own}/share-link/", None)):
            answers = [two.request(method, path if body else path + id, body(id) if body else None)
                       for id in (real, unknown)]
            same(*answers)
    same(two.post(own + "/participants", {"email": world.user.email}),
         two.post(own + "/participants", {"email": "unknown@example.test"}))
    bulk = two.post("/api/sessions/bulk-delete", {"ids": [world.ids[0], "unknown"]}, expect=200).json()
    check.equal([(row["deleted"], row["code"]) for row in bulk["results"]], [(False, "session_not_found")] * 2)
    for id in (world.ids[0], "unknown"):
        ticket = two.post("/api/tickets", {"session_id": id}, expect=201).json()["ticket"]
        answer = server.anonymous().get(f"/api/sessions/{id}/events?ticket={ticket}")
        check.problem(answer, 404, "session_not_found")
    check.problem(two.post(own + "/lease", headers={"Sojourn-Lease": world.lease}), 409, "stale_lease")
    check.problem(two.with_token(world.link["token"]).get(own), 404, "session_not_found")
    check.equal(world.photograph(), before, "tenant one")


@test
def the_same_id_twice_is_two_sessions(server):
    """Ids, idempotency keys, external ids and tombstones belong to the tenant."""
    world = Two(server)
    one, two, id = world.one, world.two, world.ids[0]
    made = two.post("/api/sessions", {"type": "tool", "id": id, "title": "mine"}, expect=201).json()
    check.contains(made, {"title": "mine", "type": "tool", "last_sequence": 1})
    two.post(f"/api/sessions/{id}/events", {"events": [{"type": "note.x", "external_event_id": SECRET}]}, expect=201)
    check.contains(one.get(f"/api/sessions/{id}").json(), {"type": "agent", "title": f"{SECRET} plain"})
    check.equal([event["type"] for event in two.get(f"/api/sessions/{id}/events").json()["events"]],
                ["session.created", "note.x"])
    for client, title in ((one, "first"), (two, "second")):
        answer = client.post("/api/sessions", {"type": "agent", "title": title}, headers={"Idempotency-Key": "k"})
        check.equal((answer.status, answer.json()["title"]), (201, title))
    two.delete(f"/api/sessions/{id}", expect=204)
    one.get(f"/api/sessions/{id}", expect=200)
    check.problem(two.post("/api/sessions", {"type": "agent", "id": id}), 410, "session_deleted")
    one.delete(f"/api/sessions/{world.ids[1]}", expect=204)
    two.post("/api/sessions", {"type": "agent", "id": world.ids[1]}, expect=201)


@test
def streams_carry_only_their_tenant(server):
    """The firehose and a session's stream, over SSE and WebSocket, while both tenants write the same id."""
    world = Two(server)
    id = world.ids[0]
    world.two.post("/api/sessions", {"type": "agent", "id": id}, expect=201)
    position = None
    with world.one.stream("/api/stream") as stream:
        stream.next()
        world.one.post(f"/api/sessions/{id}/events", {"events": [{"type": "note.first"}]}, expect=201)
        position = stream.until("event")[-1].id
    for path in ("/api/stream", f"/api/stream?after={position}", f"/api/sessions/{id}/events?after=1"):
        with world.two.stream(path) as stream:
            stream.next()
            for client, kind in ((world.one, "note.one"), (world.two, "note.two")):
                client.post(f"/api/sessions/{id}/deltas", {"deltas": [{"kind": "text", "text": kind}]}, expect=202)
                client.post(f"/api/sessions/{id}/events", {"events": [{"type": kind}]}, expect=201)
            world.two.post(f"/api/sessions/{id}/events", {"events": [{"type": "note.end"}]}, expect=201)
            frames = stream.until(lambda frame: frame.event == "event" and frame.json()["type"] == "note.end")
            text = "".join(frame.data for frame in frames)
            check.equal([word for word in [SECRET + " ", "note.one", "note.first"] if word in text], [], path)
            check.contains(text, "note.two")
    socket = world.two.websocket(f"/api/sessions/{id}/ws")
    world.one.post(f"/api/sessions/{id}/events", {"events": [{"type": "note.one"}]}, expect=201)
    world.two.post(f"/api/sessions/{id}/events", {"events": [{"type": "note.last"}]}, expect=201)
    messages = socket.until(lambda message: message.get("data", {}).get("type") == "note.last")
    check.equal([one for one in messages if one.get("data", {}).get("type") == "note.one"], [])
    socket.close()


@test
def a_waiting_claim_hears_its_own_tenant_only(server):
    """Work queued in tenant one does not end the wait of tenant two."""
    world = Two(server)
    got = []
    thread = threading.Thread(target=lambda: got.extend(world.two.with_headers().post(
        "/api/claims", {"worker": "w", "wait_ms": 20000}, expect=200).json()["claims"]))
    thread.start()
    check.eventually(lambda: "sojourn_claims_waiting 1" in world.one.get("/metrics").body.decode(), "the claim waits")
    session(world.one, status="pending")
    mine = session(world.two, status="pending")
    thread.join(15 * check.patience())
    check.equal([f"/api/sessions/{one['session']['id']}" for one in got], [mine])


@test
def tenants_are_made_by_the_first(server):
    """The owner of the first tenant makes others; whoever owns another one learns nothing about which exist."""
    world = Two(server)
    names = [one["id"] for one in world.two.get("/api/tenants", expect=200).json()["tenants"]]
    check.equal(names, ["two"])
    check.equal([one["id"] for one in world.one.get("/api/tenants").json()["tenants"]], ["default"])
    same(world.two.post("/api/tenants", {"id": "default"}), world.two.post("/api/tenants", {"id": "unknown"}))
    check.problem(world.two.post("/api/tenants", {"id": "unknown"}), 403)
    check.problem(world.user.client.post("/api/tenants", {"id": "third"}), 403)
    world.one.post("/api/tenants", {"id": "three"}, expect=201)
    check.equal([one["id"] for one in world.one.get("/api/tenants").json()["tenants"]], ["default", "three"])
    check.problem(world.one.post("/api/tenants", {"id": "two"}), 409)
    for id in ("", "Upper", "-x", "a b", "x" * 65):
        check.problem(world.one.post("/api/tenants", {"id": id}), 400)


@test
def figures_name_no_tenant(server):
    """Metrics have no labels, and no word of any tenant."""
    world = Two(server)
    text = server.anonymous().get("/metrics", expect=200).body.decode()
    check.equal([word for word in world.words() + ["default", "{"] if word in text], [])


@test
def the_same_email_twice_is_two_people(server):
    """Adding a user tells nothing about other tenants; each signs in to his own with his own password."""
    world = Two(server)
    email = world.user.email
    made = world.two.post("/api/users", {"email": email.upper(), "name": "Namesake"}, expect=201).json()
    check.problem(world.two.post("/api/users", {"email": email}), 409, "email_taken")
    fresh = world.two.post("/api/users", {"email": "fresh@example.test"}, expect=201).json()
    check.equal(sorted(made), sorted(fresh))
    check.true(made["id"] != world.user.id, "another account")
    for secret, password in ((world.user.secret, "password of the one"), (made["sign_in_secret"], "password of the two")):
        answer = server.anonymous().post("/api/auth/link", {"secret": secret}, expect=200)
        server.anonymous().put("/api/me/password", {"password": password}, expect=204, headers={
            "Cookie": answer.header("set-cookie").split(";")[0], "X-CSRF-Token": answer.json()["csrf_token"]})
    for password, tenant_id, id in (("password of the one", "default", world.user.id),
                                    ("password of the two", "two", made["id"])):
        answer = server.anonymous().post("/api/auth/sign-in", {"email": email, "password": password}, expect=200)
        me = server.anonymous().get("/api/me", headers={"Cookie": answer.header("set-cookie").split(";")[0]}).json()
        check.contains(me, {"tenant_id": tenant_id, "user_id": id})
    world.two.delete(f"/api/users/{made['id']}", expect=204)
    world.user.client.get("/api/me", expect=200)

"""Who may do what with a session: participants, share links, visibility, and what strangers see."""
import datetime
import threading

from harness import check, test
from harness.people import person, session, token

ROLES = ("none", "viewer", "collaborator", "owner")

# What each role may do: (least role, method, path behind the session, body). Each works on a fresh idle session.
ACTIONS = [
    ("viewer", "GET", "", None),
    ("viewer", "GET", "?at=1", None),
    ("viewer", "GET", "/events", None),
    ("viewer", "GET", "/audit-log", None),
    ("viewer", "GET", "/children", None),
    ("viewer", "GET", "/participants", None),
    ("viewer", "GET", "/messages", None),
    ("viewer", "GET", "/queue", None),
    ("viewer", "GET", "/asks", None),
    ("viewer", "GET", "/explain", None),
    ("viewer", "GET", "/git-state", None),
    ("viewer", "GET", "/files-changed", None),
    ("collaborator", "POST", "/messages", {"text": "x"}),
    ("collaborator", "POST", "/messages?append=true", {"text": "x"}),
    ("collaborator", "DELETE", "/queue/nothing", None),
    ("collaborator", "PATCH", "/queue/nothing", {"text": "x"}),
    ("collaborator", "POST", "/queue/nothing/move", {"position": 1}),
    ("collaborator", "POST", "/queue/nothing/promote", {}),
    ("collaborator", "POST", "/clear-queue", {}),
    ("collaborator", "POST", "/interrupt", {}),
    ("collaborator", "POST", "/resume", {}),
    ("collaborator", "POST", "/hibernate", {}),
    ("collaborator", "POST", "/wake", {}),
    ("collaborator", "POST", "/pause", {}),
    ("collaborator", "POST", "/unpause", {}),
    ("owner", "POST", "/stop", {}),
    ("collaborator", "POST", "/events", {"events": [{"type": "user.message"}]}),
    ("collaborator", "POST", "/status", {"status": "pending"}),
    ("collaborator", "POST", "/settle", {"status": "waiting_human"}),
    ("owner", "POST", "/settle", {"status": "completed"}),
    ("owner", "POST", "/status", {"status": "completed"}),
    ("owner", "POST", "/deltas", {"deltas": [{"kind": "text", "text": "x"}]}),
    ("owner", "POST", "/events", {"events": [{"type": "agent.message"}]}),
    ("owner", "PATCH", "", {"title": "x"}),
    ("owner", "PATCH", "", {"metadata": {"a": 1}}),
    ("owner", "PATCH", "", {"visibility": "org_visible"}),
    ("owner", "PATCH", "", {"queue_mode": "steer"}),
    ("owner", "POST", "/archive", {}),
    ("owner", "POST", "/unarchive", {}),
    ("owner", "POST", "/participants", {"email": "owner@localhost"}),
    ("owner", "DELETE", "/participants/nobody", None),
    ("owner", "POST", "/share-link", {}),
    ("owner", "GET", "/share-links", None),
    ("owner", "DELETE", "/share-link/nothing", None),
    ("owner", "DELETE", "", None),
]
# Settling needs a turn under way, a message somebody who answers.
STATES = {"/settle": {"type": "mixed", "status": "running"}, "/messages": {"agent": "a"}}
# Allowed, and then there is nothing to do it with: no sandbox, no turn that was cut, no such prompt.
IN_VAIN = {"/hibernate": 409, "/wake": 409, "/resume": 409, "/queue/nothing": 404, "/queue/nothing/move": 404,
           "/queue/nothing/promote": 404}


class Cast:
    """Two users of one tenant: anna owns the sessions, bert gets a role in them. boss owns the tenant."""

    def __init__(self, server):
        self.server = server
        self.boss = server.client()
        self.anna, self.bert = person(self.boss, "anna"), person(self.boss, "bert")

    def session(self, role="none", **body):
        """A session of anna's in which bert has this role; the path."""
        path = session(self.anna.client, **body)
        if role not in ("none", "owner"):
            self.anna.client.post(path + "/participants", {"user_id": self.bert.id, "role": role}, expect=201)
        return path


def same_answer(one, other):
    """Two answers that nobody can tell apart."""
    hidden = ("x-request-id", "date")
    check.equal((one.status, one.body), (other.status, other.body), f"{one.request_line} against {other.request_line}")
    heads = [[(name, value) for name, value in answer.headers if name.lower() not in hidden] for answer in (one, other)]
    check.equal(heads[0], heads[1], "headers")


def unknown(client, method, target, body):
    """The answer for an id that nobody has."""
    return client.request(method, "/api/sessions/no-such-session" + target, body)


@test
def roles_and_actions(server):
    """S3-016, S3-059 to S3-064, S3-148: every action with every role; strangers see what unknown ids show."""
    cast = Cast(server)
    for least, method, target, body in ACTIONS:
        state = STATES.get(target.split("?")[0], {})
        for role in ROLES:
            client = cast.anna.client if role == "owner" else cast.bert.client
            path = cast.session(role, **state)
            answer = client.request(method, path + target, body)
            what = f"{role}: {method} {target} {body}: {answer.body[:200]!r}"
            if role == "none":
                same_answer(answer, unknown(client, method, target, body))
                check.problem(answer, 404, "session_not_found")
            elif ROLES.index(role) >= ROLES.index(least):
                check.true(answer.status < 300 or answer.status == IN_VAIN.get(target), what)
            else:
                check.equal(answer.status, 403, what)
                check.contains(("insufficient_role", "holder_events_only"), answer.json()["code"])
            cast.anna.client.post(path + "/status", {"status": "completed"})


@test
def strangers_learn_nothing(server):
    """S3-147, X-08: 404 with the same bytes on every route with an id, also with a lease that is none."""
    cast = Cast(server)
    path = cast.session()
    paths = cast.boss.get("/api/openapi.json").json()["paths"]
    bodies = {"settle": {"status": "completed"}, "status": {"status": "completed"}, "deltas": {"deltas": []},
              "events": {"events": [{"type": "note.x"}]}}
    count = 0
    narrow = token(cast.bert.client, scopes=["read", "write"])
    for pattern, methods in paths.items():
        if not pattern.startswith("/api/sessions/{id}"):
            continue
        target = pattern.removeprefix("/api/sessions/{id}").replace("{user_id}", "x").replace("{link_id}", "x")
        for method in methods:
            body = None if method in ("get", "delete") else bodies.get(pattern.split("/")[-1], {})
            for headers in ({}, {"Sojourn-Lease": "sl_none"}, {"Accept": "text/event-stream"}):
                answers = [narrow.request(method.upper(), one + target, body, headers=headers)
                           for one in (path, "/api/sessions/no-such-session")]
                same_answer(*answers)
                check.true(answers[0].status in (400, 403, 404), f"{method} {pattern} is refused")
                count += answers[0].status == 404
    check.true(count > 40, "most answers were 404")
    listed = cast.bert.client.get("/api/sessions?archived=all").json()["sessions"]
    check.equal(listed, [])
    bulk = cast.bert.client.post("/api/sessions/bulk-delete", {"ids": [path.split("/")[-1], "unknown"]}).json()["results"]
    check.equal(bulk[0]["code"], bulk[1]["code"])
    parents = [cast.bert.client.post("/api/sessions", {"type": "agent", "parent_id": id})
               for id in (path.split("/")[-1], "unknown")]
    same_answer(*parents)
    check.equal(cast.anna.client.get(path).json()["last_sequence"], 1)


@test
def tenant_roles(server):
    """S2-022: the tenant's owner does everything; an admin reads; a member nothing of others' sessions."""
    cast = Cast(server)
    admin = person(cast.boss, "admin", "admin")
    path = cast.session()
    cast.boss.patch(path, {"title": "by the boss"}, expect=200)
    check.equal(admin.client.get(path, expect=200).json()["title"], "by the boss")
    check.problem(admin.client.patch(path, {"title": "x"}), 403, "insufficient_role")
    check.problem(cast.bert.client.get(path), 404)
    for client, sees in ((cast.boss, True), (admin.client, True), (cast.anna.client, True), (cast.bert.client, False)):
        ids = [one["id"] for one in client.get("/api/sessions").json()["sessions"]]
        check.equal(path.split("/")[-1] in ids, sees)


@test
def visibility(server):
    """org_visible: everybody reads; org_joinable: everybody writes, nobody becomes owner; private again: nobody."""
    cast = Cast(server)
    path = cast.session()
    event = {"events": [{"type": "user.message"}]}
    for visible, read, write in (("private", 404, 404), ("org_visible", 200, 403), ("org_joinable", 200, 201),
                                 ("private", 404, 404)):
        cast.anna.client.patch(path, {"visibility": visible}, expect=200)
        check.equal(cast.bert.client.get(path).status, read, visible)
        check.equal(cast.bert.client.post(path + "/events", event).status, write, visible)
        listed = [one["id"] for one in cast.bert.client.get("/api/sessions").json()["sessions"]]
        check.equal(path.split("/")[-1] in listed, read == 200, f"{visible}: in the list")
        for method, target, body in (("PATCH", "", {"title": "x"}), ("DELETE", "", None), ("POST", "/share-link", {})):
            check.equal(cast.bert.client.request(method, path + target, body).status, 403 if read == 200 else 404)
    check.equal(cast.anna.client.get(path + "/participants").json()["participants"][1:], [], "reading promotes nobody")
    check.equal(cast.anna.client.get(path).json()["owner_id"], cast.anna.id)


@test
def no_filter_shows_what_is_private(server):
    """Also lists by state, which are found another way than what somebody may see."""
    cast = Cast(server)
    private = {cast.session(type="mixed", status="running"), cast.session(agent="a", status="pending"), cast.session()}
    shared = cast.session(type="mixed", status="running", visibility="org_visible")
    for query in ("", "?status=running", "?status=pending", "?status=idle", "?group=live", "?group=active", "?type=mixed",
                  "?agent=a", f"?owner={cast.anna.id}"):
        hers, his = ({"/api/sessions/" + one["id"] for one in client.get("/api/sessions" + query, expect=200).json()["sessions"]}
                     for client in (cast.anna.client, cast.bert.client))
        check.true(hers & private, f"{query}: there is something to hide")
        check.equal(his, hers & {shared}, query)


@test
def a_session_made_private_loses_its_viewers(server):
    """S3-147: who only sees it as one of the organisation is sent away when it does not see it any more."""
    cast = Cast(server)
    path = cast.session(visibility="org_visible")
    with cast.bert.client.stream(path + "/events") as stream, cast.anna.client.stream(path + "/events") as own:
        stream.until("event")
        own.until("event")
        cast.anna.client.patch(path, {"visibility": "private"}, expect=200)
        check.equal(stream.until("closed", 20)[-1].json()["reason"], "access_changed")
        check.problem(cast.bert.client.get(path + "/events"), 404, "session_not_found")


@test
def viewing_never_promotes(server):
    """X-08: whatever a viewer does, he stays one; opening by id neither changes the owner nor adds him."""
    cast = Cast(server)
    path = cast.session("viewer", id="web:1")
    bert = cast.bert.client
    with bert.stream(path + "/events") as stream:
        stream.until("event")
    bert.get(path + "/events", expect=200)
    check.problem(bert.post("/api/sessions", {"type": "agent", "id": "web:1", "metadata": {"a": 1}}), 403,
                  "insufficient_role")
    members = cast.anna.client.get(path + "/participants").json()["participants"]
    check.equal([(one["user_id"], one["role"]) for one in members],
                [(cast.anna.id, "owner"), (cast.bert.id, "viewer")])
    cast.anna.client.post(path + "/participants", {"user_id": cast.bert.id, "role": "collaborator"}, expect=201)
    opened = bert.post("/api/sessions", {"type": "agent", "id": "web:1", "metadata": {"a": 1}}, expect=200).json()
    check.contains(opened, {"owner_id": cast.anna.id, "metadata": {"a": 1}})


@test
def client_supplied_identity_is_ignored(server):
    """X-08: nobody writes an event in another's name or makes a session that belongs to another."""
    cast = Cast(server)
    for key in ("owner_id", "owner", "user_id", "userId"):
        check.problem(cast.bert.client.post("/api/sessions", {"type": "agent", key: cast.anna.id}), 400,
                      "unknown_member")
    path = cast.session("collaborator")
    check.problem(cast.bert.client.post(path + "/events", {"events": [{"type": "user.message", "actor": "user:x"}]}), 400)
    made = cast.bert.client.post(path + "/events", {"events": [{"type": "user.message"}]}, expect=201).json()
    check.equal(made["events"][0]["actor"], f"user:{cast.bert.id}")


@test
def orchestrators_and_workflows_are_hidden(server):
    """S3-012, S3-147: never for others, whatever the visibility or participants; they can't be shared."""
    cast = Cast(server)
    admin = person(cast.boss, "admin", "admin")
    for purpose in ("orchestrator", "workflow"):
        path = cast.session(purpose=purpose, visibility="org_joinable")
        check.problem(cast.anna.client.post(path + "/participants", {"user_id": cast.bert.id}), 409, "not_shareable")
        check.equal(cast.anna.client.get(path + "/participants").json()["participants"][1:], [], "nobody is added in vain")
        for client in (cast.bert.client, admin.client):
            same_answer(client.get(path), unknown(client, "GET", "", None))
            listed = [one["id"] for one in client.get("/api/sessions").json()["sessions"]]
            check.equal(path.split("/")[-1] in listed, False)
        check.problem(cast.anna.client.post(path + "/share-link"), 409, "not_shareable")
        cast.anna.client.get(path, expect=200)
        cast.boss.get(path, expect=200)
        own = [one["id"] for one in cast.anna.client.get("/api/sessions").json()["sessions"]]
        check.contains(own, path.split("/")[-1])


@test
def firehose_shows_what_one_may_see(server):
    """Sessions appear with access and vanish with it; nothing of others' passes by."""
    cast = Cast(server)
    hidden, shared = cast.session(), cast.session()
    note = {"events": [{"type": "note.x"}]}
    with cast.bert.client.stream("/api/stream?types=note.*") as stream:
        stream.next()
        for path in (hidden, shared):
            cast.anna.client.post(path + "/events", note, expect=201)
        cast.anna.client.post(shared + "/participants", {"user_id": cast.bert.id, "role": "viewer"}, expect=201)
        cast.anna.client.post(hidden + "/events", note, expect=201)
        last = cast.anna.client.post(shared + "/events", note, expect=201).json()["last_sequence"]
        seen = [frame.json() for frame in stream.until(lambda frame: frame.event == "event" and
                                                       frame.json()["sequence"] == last) if frame.event == "event"]
        check.equal({event["session_id"] for event in seen}, {shared.split("/")[-1]})
        cast.anna.client.delete(f"{shared}/participants/{cast.bert.id}", expect=204)
        cast.anna.client.post(shared + "/events", note, expect=201)
        own = session(cast.bert.client)
        cast.bert.client.post(own + "/events", note, expect=201)
        check.equal(stream.until("event")[-1].json()["session_id"], own.split("/")[-1], "the next event he sees")


# --- participants ---


@test
def participants(server):
    """S3-008, S3-013: one row per user, by id or email; a new role replaces the old; removing closes his streams."""
    cast = Cast(server)
    path = cast.session()
    anna, bert = cast.anna.client, cast.bert
    added = anna.post(path + "/participants", {"email": bert.email.upper(), "role": "viewer"}, expect=201).json()
    check.equal(added, {"user_id": bert.id, "role": "viewer"})
    anna.post(path + "/participants", {"user_id": bert.id, "role": "collaborator"}, expect=201)
    listed = anna.get(path + "/participants", expect=200).json()["participants"]
    check.equal([(one["user_id"], one["email"], one["role"]) for one in listed],
                [(listed[0]["user_id"], listed[0]["email"], "owner"), (bert.id, bert.email, "collaborator")])
    found = bert.client.get("/api/sessions?ownership=shared").json()["sessions"]
    check.equal([one["id"] for one in found], [path.split("/")[-1]])
    check.equal(bert.client.get("/api/sessions?ownership=mine").json()["sessions"], [])
    check.equal(len(anna.get(f"/api/sessions?participant={bert.id}").json()["sessions"]), 1)
    for body in ({}, {"user_id": bert.id, "email": bert.email}, {"user_id": "nobody"}, {"email": "no@example.test"},
                 {"user_id": bert.id, "role": "owner"}):
        check.problem(anna.post(path + "/participants", body), 400)
    with bert.client.stream(path + "/events") as stream:
        stream.until("event")
        anna.delete(f"{path}/participants/{bert.id}", expect=204)
        check.equal(stream.until("closed")[-1].json()["reason"], "access_revoked")
    check.problem(bert.client.get(path), 404, "session_not_found")
    anna.delete(f"{path}/participants/{bert.id}", expect=204)
    types = [event["type"] for event in anna.get(path + "/audit-log").json()["events"]]
    check.equal([kind for kind in types if "participant" in kind],
                ["session.participant_added", "session.participant_added", "session.participant_removed"])


@test(options=["--participants-max", "1", "--share-links-max", "1"])
def people_have_limits(server):
    """Beyond them 429; changing the role of one who is there is no addition; a link that is over makes room."""
    cast = Cast(server)
    path, third = cast.session("viewer"), person(cast.boss, "third")
    check.problem(cast.anna.client.post(path + "/participants", {"user_id": third.id}), 429, "too_many_participants")
    cast.anna.client.post(path + "/participants", {"user_id": cast.bert.id, "role": "collaborator"}, expect=201)
    link = cast.anna.client.post(path + "/share-link", expect=201).json()
    check.problem(cast.anna.client.post(path + "/share-link"), 429, "too_many_share_links")
    check.problem(third.client.post(f"/api/sessions/join/{link['token']}"), 429, "too_many_participants")
    cast.anna.client.delete(f"{path}/share-link/{link['id']}", expect=204)
    cast.anna.client.post(path + "/share-link", expect=201)


# --- share links ---


def share(cast, path, **body):
    return cast.anna.client.post(path + "/share-link", body, expect=201).json()


def redeem(client, link):
    return client.post(f"/api/sessions/join/{link['token']}")


@test
def share_links(server):
    """S3-009, S3-062, S3-063, S3-146: a link gives its role to who redeems it; its token is told once."""
    cast = Cast(server)
    for role in ("viewer", "collaborator"):
        path = cast.session()
        link = share(cast, path, role=role)
        joined = redeem(cast.bert.client, link)
        check.equal((joined.status, joined.json()), (200, {"session_id": path.split("/")[-1], "role": role}))
        can_write = cast.bert.client.post(path + "/events", {"events": [{"type": "user.message"}]}).status
        check.equal(can_write, 201 if role == "collaborator" else 403)
        listed = cast.anna.client.get(path + "/share-links", expect=200)
        check.equal(link["token"].encode() in listed.body, False)
        check.contains(listed.json()["share_links"][0], {"id": link["id"], "role": role, "use_count": 1, "active": True,
                                                         "max_uses": None, "expires_at": None})
        types = [event["type"] for event in cast.anna.client.get(path + "/audit-log").json()["events"]]
        check.contains(types, "session.share_created")
        check.contains(types, "session.share_redeemed")
    check.problem(cast.anna.client.post(cast.session() + "/share-link", {"role": "owner"}), 400)
    check.problem(cast.anna.client.post(cast.session() + "/share-link", {"expires_at": "2001-01-01T00:00:00Z"}), 400)
    check.problem(redeem(cast.bert.client, {"token": "ss_none"}), 404)


@test
def redeeming_twice_burns_one_use(server):
    """Who has as much already, the owner too, burns none."""
    cast = Cast(server)
    path = cast.session("collaborator")
    link = share(cast, path, role="viewer", max_uses=5)
    for _ in range(3):
        check.equal(redeem(cast.bert.client, link).json()["role"], "collaborator", "he keeps what he had")
    check.equal(redeem(cast.anna.client, link).json()["role"], "owner")
    [shown] = cast.anna.client.get(path + "/share-links").json()["share_links"]
    check.equal(shown["use_count"], 0)
    third = person(cast.boss, "third")
    for _ in range(2):
        check.equal(redeem(third.client, link).status, 200)
    [shown] = cast.anna.client.get(path + "/share-links").json()["share_links"]
    check.equal(shown["use_count"], 1)
    cast.anna.client.delete(f"{path}/participants/{third.id}", expect=204)
    check.equal(redeem(third.client, link).status, 200)
    [shown] = cast.anna.client.get(path + "/share-links").json()["share_links"]
    check.equal(shown["use_count"], 1)


@test
def max_uses_hold_under_a_race(server):
    """20 users at once, 7 uses: exactly 7 get in, and 7 are counted."""
    cast = Cast(server)
    people = [person(cast.boss, f"p{i}") for i in range(20)]
    path = cast.session()
    link = share(cast, path, max_uses=7)
    answers = together(people, lambda one: (one.id, redeem(one.client, link)))
    won = {id for id, answer in answers if answer.status == 200}
    check.equal(len(won), 7)
    for _, answer in answers:
        if answer.status != 200:
            check.problem(answer, 429, "share_link_spent")
    [shown] = cast.anna.client.get(path + "/share-links").json()["share_links"]
    check.equal(shown["use_count"], 7)
    members = cast.anna.client.get(path + "/participants").json()["participants"]
    check.equal({one["user_id"] for one in members}, won | {cast.anna.id})
    again = together(people, lambda one: (one.id, redeem(one.client, link)))
    check.equal({id for id, answer in again if answer.status == 200}, won)


@test
def one_user_at_once_burns_one_use(server):
    """The same user from many connections."""
    cast = Cast(server)
    path = cast.session()
    link = share(cast, path, max_uses=3)
    clients = [cast.bert.client.with_headers() for _ in range(10)]
    answers = together(clients, lambda client: redeem(client, link))
    check.equal([answer.status for answer in answers], [200] * 10)
    [shown] = cast.anna.client.get(path + "/share-links").json()["share_links"]
    check.equal(shown["use_count"], 1)


def together(items, call):
    """The results of call(item) for all items, begun at once."""
    results, gate = [None] * len(items), threading.Barrier(len(items))

    def run(index):
        gate.wait()
        results[index] = call(items[index])
    threads = [threading.Thread(target=run, args=(index,)) for index in range(len(items))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    check.true(all(result is not None for result in results), "every thread came back")
    return results


@test
def a_link_that_is_over_is_unknown(server):
    """S3-064: deactivated or expired, a link answers like one that never was; who came in before stays."""
    cast = Cast(server)
    path = cast.session()
    off = share(cast, path)
    redeem(cast.bert.client, off)
    cast.anna.client.delete(f"{path}/share-link/{off['id']}", expect=204)
    cast.anna.client.delete(f"{path}/share-link/{off['id']}", expect=204)
    third = person(cast.boss, "third").client
    same_answer(redeem(third, off), redeem(third, {"token": "ss_none"}))
    cast.bert.client.get(path, expect=200)
    end = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=1)
    short = share(cast, path, expires_at=end.isoformat(timespec="milliseconds").replace("+00:00", "Z"))
    bearer = cast.boss.with_token(short["token"])
    bearer.get(path, expect=200)
    check.eventually(lambda: bearer.get(path).status == 401, "the link ends")
    same_answer(redeem(third, short), redeem(third, {"token": "ss_none"}))
    cast.anna.client.delete(path, expect=204)
    live = share(cast, cast.session())
    check.equal(redeem(third, live).status, 200)


@test
def a_link_as_bearer_reaches_its_session_only(server):
    """The principal `share_link`: its role in its session, nothing else of the tenant, gone with the link."""
    cast = Cast(server)
    path, other = cast.session(), cast.session(visibility="org_joinable")
    for role, write in (("viewer", 403), ("collaborator", 201)):
        link = share(cast, path, role=role)
        guest = cast.boss.with_token(link["token"])
        check.contains(guest.get("/api/me").json(), {"kind": "share_link", "user_id": None, "role": None})
        guest.get(path, expect=200)
        made = guest.post(path + "/events", {"events": [{"type": "user.message"}]})
        check.equal(made.status, write)
        same_answer(guest.get(other), unknown(guest, "GET", "", None))
        check.problem(guest.post("/api/sessions", {"type": "agent"}), 403)
        check.problem(guest.post("/api/sessions", {"type": "agent", "parent_id": path.split("/")[-1]}), 403)
        check.problem(guest.patch(path, {"title": "x"}), 403)
        check.problem(redeem(guest, link), 403, "user_required")
        check.problem(guest.post("/api/tickets"), 403, "user_required")
        for target in ("/api/sessions", "/api/users", "/api/counts", "/api/stream", "/api/queue", "/api/tokens"):
            check.true(guest.get(target).status == 403, f"{target} is not for a link")
        check.equal(guest.get("/api/tenants").json()["tenants"], [])
        with guest.stream(path + "/events") as stream:
            stream.until("event")
            cast.anna.client.delete(f"{path}/share-link/{link['id']}", expect=204)
            check.equal(stream.until("closed")[-1].json()["reason"], "access_revoked")
        check.problem(guest.get(path), 401)
        check.problem(guest.post(path + "/events", {"events": [{"type": "user.message"}]}), 401)


@test
def counted_links_are_no_bearers(server):
    """Otherwise a use would not be counted."""
    cast = Cast(server)
    link = share(cast, cast.session(), max_uses=1)
    check.problem(cast.boss.with_token(link["token"]).get("/api/me"), 401)


@test
def share_tokens_stay_out_of_logs_and_files(env):
    """The path of a redemption holds the token; the log must not."""
    server = env.server(options=["--log-level", "debug"])
    cast = Cast(server)
    link = share(cast, cast.session())
    redeem(cast.bert.client, link)
    server.wait_log("request", path="/api/sessions/join/{token}", status=200)
    server.stop()
    check.equal(link["token"] in server.log.tail(100000), False)

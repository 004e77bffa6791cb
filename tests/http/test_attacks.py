"""What a hostile page, a narrow token or a stranger of the tenant tries."""
import json
import os
import threading

from harness import check, test
from harness.browser import PASSWORD, with_password
from harness.people import person, session, token

PICTURE = [{"type": "image", "data": "iVBORw0KGgo=", "media_type": "image/png"}]
BROKEN = [{"type": "image", "source": {"data": "!!!!"}}]


def kept_files(server):
    """How many files of sessions lie on the disk."""
    return sum(len(files) for _, _, files in os.walk(os.path.join(server.data_directory(), "blobs")))


# --- tokens ---


@test
def a_lease_that_is_none_gives_no_scope(server):
    """A token that may only claim reads and writes what its lease is of, and nothing else by writing the header."""
    owner = server.client()
    anna = person(owner, "anna")
    reads = ("/api/sessions", "/api/users", "/api/agents", "/api/entities", "/api/tasks", "/api/runs", "/api/counts",
             "/api/asks", "/api/rules", "/api/personas", "/api/me/preferences")
    writes = (("/api/sessions", {"type": "agent"}), ("/api/entities", {"id": "e", "type": "t", "fields": {}}),
              ("/api/personas", {"id": "p", "name": "p", "prompt": "p"}), ("/api/tickets", {}))
    for claims in (token(owner, kind="worker", scopes=["claim"]), token(anna.client, scopes=["claim"])):
        pretends = claims.with_headers(**{"Sojourn-Lease": "guessed"})
        for path in reads:
            check.problem(pretends.get(path), 403, "scope_required")
        for path, body in writes:
            check.problem(pretends.post(path, body), 403, "scope_required")


@test
def a_worker_is_not_the_user_it_names(server):
    """A token of another kind ends with the user it names; it has no rank in the tenant and makes no token of his."""
    owner = server.client()
    me = owner.get("/api/me").json()["user_id"]
    anna = person(owner, "anna")
    hidden = session(anna.client)
    for kind in ("worker", "channel"):
        acts = token(owner, kind=kind, user_id=me)
        for body in ({"name": "x"}, {"name": "x", "kind": "worker"}, {"name": "x", "user_id": anna.id}):
            check.problem(acts.post("/api/tokens", body), 403)
        check.problem(acts.post("/api/users", {"email": "new@example.test"}), 403, "role_required")
        check.problem(acts.delete(f"/api/users/{anna.id}"), 403, "role_required")
        check.problem(acts.post("/api/agents", {"id": "a", "driver": "acp", "command": ["x"]}), 403, "role_required")
        check.problem(acts.post("/api/tenants", {"id": "new"}), 403, "role_required")
        check.problem(acts.get(hidden), 404, "session_not_found")
        with acts.stream("/api/stream") as stream:
            anna.client.post(hidden + "/events", {"events": [{"type": "note.hidden"}]}, expect=201)
            shown = session(anna.client, visibility="org_visible").rsplit("/", 1)[1]
            frames = iter(stream.next, None)
            first = next(frame for frame in frames if frame.event == "event")
            check.equal(first.json()["session_id"], shown, "the first it sees")


# --- passwords ---


@test(options=("--signin-attempts-max", "3"))
def a_password_is_not_guessed_by_other_ways(server):
    """Other letters for the same email are the same account, and the change of a password counts guesses, too."""
    owner = server.client()
    anna, ben = person(owner, "anna"), person(owner, "ben")
    browser = with_password(server, anna)
    guest = server.client(over_unix=True)
    guess = lambda client, email: client.post("/api/auth/sign-in", {"email": email, "password": "wrong"}).status
    tries = ("Ben@example.test", "bEn@example.test", "beN@EXAMPLE.test")
    check.equal([guess(client, email) for client, email in zip((guest, guest, server.anonymous()), tries)], [401] * 3)
    check.equal(guess(server.anonymous(), "ben@example.test"), 429)
    check.equal(ben.email, "ben@example.test")
    change = {"password": PASSWORD + "!", "current": "wrong"}
    answers = [browser.put("/api/me/password", change).status for _ in range(3)]
    check.equal(answers[-1], 429, f"{answers}: two by this address before")


@test(options=("--signin-attempts-max", "2"))
def nobody_closes_the_door_for_all_behind_a_proxy(server):
    """A proxy on this machine says whom it speaks for; what a client wrote before it does not count."""
    anna = person(server.client(), "anna")
    with_password(server, anna)

    def status(way, email, password="wrong"):
        return server.anonymous().post("/api/auth/sign-in", {"email": email, "password": password},
                                       headers={"X-Forwarded-For": way}).status

    check.equal([status(f"10.0.0.{number}, 198.51.100.7", f"{number}@x.test") for number in range(3)], [401, 401, 429])
    check.equal(status("198.51.100.7", anna.email, PASSWORD), 429)
    check.equal(status("198.51.100.8", anna.email, PASSWORD), 200)
    check.equal([status(f"2001:db8:1:2::{number}", f"v6{number}@x.test") for number in range(3)], [401, 401, 429])


@test
def a_cookie_is_secure_behind_a_proxy(env):
    """A public-url with https says that people come by TLS, though this server does not see it."""
    server = env.server(options=["--public-url", "https://public.example"])
    anna = person(server.client(), "anna")
    answer = server.anonymous().post("/api/auth/link", {"secret": anna.secret}, expect=200)
    check.contains(answer.header("set-cookie"), "Secure")
    check.contains(answer.header("set-cookie"), "HttpOnly")


# --- pages of others ---


@test
def a_foreign_page_opens_no_websocket(env):
    """A browser sends its cookie with the WebSocket of any page; only pages of ours get one, or who shows a ticket."""
    named = "https://dash.example"
    server = env.server(options=["--cors-origin", named, "--public-url", "https://public.example/x"])
    owner = server.client()
    anna = person(owner, "anna")
    browser = with_password(server, anna)
    path = session(anna.client)
    foreign = ({}, {"Origin": "https://evil.example"}, {"Origin": "null"}, {"Origin": "https://public.example.evil"},
               {"Origin": "https://evil.example", "Sec-Fetch-Site": "same-site"})
    ours = ({"Origin": "http://localhost"}, {"Origin": named}, {"Origin": "https://public.example"},
            {"Origin": "https://before.example", "X-Forwarded-Host": "before.example"},
            {"Origin": "https://any.example", "Sec-Fetch-Site": "same-origin"})
    for where in (path + "/ws", "/api/stream"):
        for headers in foreign:
            check.problem(browser.websocket(where, headers=headers, expect=403), 403, "foreign_origin")
        for headers in ours:
            with browser.websocket(where, headers=headers) as socket:
                check.contains(socket.next(), "ready")
    ticket = anna.client.post("/api/tickets", {}, expect=201).json()["ticket"]
    elsewhere = {"Origin": "https://evil.example"}
    with server.anonymous().websocket(f"{path}/ws?ticket={ticket}", headers=elsewhere) as socket:
        check.contains(socket.next(), "ready")


@test
def a_foreign_page_signs_nobody_in(server):
    """Else its visitors would work in the account of whoever made the page, and tell it what they type."""
    anna = person(server.client(), "anna")
    with_password(server, anna)
    guest = server.anonymous()
    body = {"email": anna.email, "password": PASSWORD}
    for headers in ({"Origin": "https://evil.example"}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"}):
        check.problem(guest.post("/api/auth/sign-in", body, headers=headers), 403, "foreign_origin")
        check.problem(guest.post("/api/auth/link", {"secret": "sk_x"}, headers=headers), 403, "foreign_origin")
    for headers in ({}, {"Origin": "http://localhost"}, {"Sec-Fetch-Site": "same-origin"}, {"Sec-Fetch-Site": "none"}):
        guest.post("/api/auth/sign-in", body, headers=headers, expect=200)


@test
def answers_are_not_kept_or_guessed_at(server):
    """Nothing private stays in a cache, and no browser takes an answer for something it is not."""
    owner = server.client()
    path = session(owner)
    file = owner.post(path + "/files?name=x.svg", b"<svg onload='x()'/>", headers={"Content-Type": "image/svg+xml"},
                      expect=201).json()
    for where in ("/api/me", "/api/sessions", path, "/api/sessions/nobody", "/healthz", "/nowhere", path + "/events"):
        got = owner.get(where)
        check.equal((got.header("cache-control"), got.header("x-content-type-options")), ("no-store", "nosniff"))
    got = owner.get(file["url"], expect=200)
    check.equal((got.header("content-type"), got.header("x-content-type-options")),
                ("application/octet-stream", "nosniff"))
    check.contains(got.header("content-disposition"), "attachment")
    check.contains(got.header("content-security-policy"), "sandbox")
    for where in ("/", "/sign-in"):
        got = server.anonymous().get(where, expect=200)
        check.equal([value for name, value in got.headers if name.lower() == "x-content-type-options"], ["nosniff"])
        check.contains(got.header("content-security-policy"), "frame-ancestors 'none'")


# --- strangers of the tenant ---


@test
def a_stranger_leaves_no_file_and_learns_nothing(server):
    """Files are kept, and bodies looked at, only for those who may write; others hear what they hear of no session."""
    owner = server.client()
    anna, ben = person(owner, "anna"), person(owner, "ben")
    path = session(anna.client, agent="nobody")
    hidden, unknown = ben.client, "/api/sessions/nobody"
    before = kept_files(server)
    for where, body in (("/events", {"events": [{"type": "note.x", "content": PICTURE}]}),
                        ("/events", {"events": [{"type": "note.x", "content": BROKEN}]}),
                        ("/messages", {"content": PICTURE}), ("/messages", {"content": BROKEN}),
                        ("/files", b"x" * 100)):
        got = hidden.post(path + where, body)
        check.problem(got, 404, "session_not_found")
        check.equal(got.body, hidden.post(unknown + where, body).body)
    anna.client.post(path + "/participants", {"user_id": ben.id, "role": "viewer"}, expect=201)
    check.problem(ben.client.post(path + "/files", b"y" * 100), 403, "insufficient_role")
    check.problem(ben.client.post(path + "/messages", {"content": PICTURE}), 403, "insufficient_role")
    check.equal(kept_files(server), before)
    anna.client.post(path + "/files", b"z" * 100, expect=201)


@test
def two_owners_do_not_remove_each_other(server):
    """At the same moment, by whatever thread and in whatever transaction: somebody stays who owns the tenant."""
    operator = server.client()
    for number in range(25):
        made = operator.post("/api/tenants", {"id": f"t{number}"}, expect=201).json()
        first = operator.with_token(made["token"])
        second = person(first, f"second{number}", "owner")
        pairs = ((first, second.id), (second.client, first.get("/api/me").json()["user_id"]))
        for client, _ in pairs:
            client.patch("/api/me/preferences", {}, expect=200)
        start, answers = threading.Barrier(2), []

        def remove(client, user_id, start=start, answers=answers):
            start.wait()
            answers.append(client.delete(f"/api/users/{user_id}").status)

        threads = [threading.Thread(target=remove, args=pair) for pair in pairs]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        check.true(answers.count(204) == 1, f"one of them stays: {answers}")
        left = [client for client, _ in pairs if client.get("/api/me").status == 200]
        check.equal([client.get("/api/me").json()["role"] for client in left], ["owner"])


@test
def a_narrow_token_joins_nothing_beyond(server):
    """A share link is redeemed for the user; a token of his that is bound to other sessions does not do it for him."""
    owner = server.client()
    anna, ben = person(owner, "anna"), person(owner, "ben")
    link = anna.client.post(session(anna.client, id="chat:1") + "/share-link", {"role": "viewer"}, expect=201).json()
    own = session(ben.client).rsplit("/", 1)[1]
    for narrow in ({"session_id": own}, {"id_prefix": "cli:"}):
        check.problem(token(ben.client, **narrow).post(f"/api/sessions/join/{link['token']}", {}), 404, "not_found")
        check.problem(ben.client.get("/api/sessions/chat:1"), 404)
    token(ben.client, id_prefix="chat:").post(f"/api/sessions/join/{link['token']}", {}, expect=200)
    ben.client.get("/api/sessions/chat:1", expect=200)


@test
def code_in_a_sandbox_does_not_say_where_people_talk(server):
    """Channels are bound by people and by whoever runs the session."""
    owner = server.client()
    path = session(owner, agent="demo")
    inside = owner.with_token(owner.post(path + "/sandbox-token", {}, expect=201).json()["token"])
    bound = owner.post(path + "/channels", {"kind": "chat", "address": "a"}, expect=201).json()
    check.problem(inside.post(path + "/channels", {"kind": "chat", "address": "b"}), 403, "person_required")
    check.problem(inside.delete(f"{path}/channels/{bound['id']}"), 403, "person_required")


@test
def no_id_leads_up(server):
    """What would be named . or .. could be made, and then reached and removed by no path."""
    owner = server.client()
    for id in (".", ".."):
        check.problem(owner.post("/api/sessions", {"type": "agent", "id": id}), 400, "invalid_id")
        check.problem(owner.post("/api/entities", {"id": id, "type": "t", "fields": {}}), 400, "invalid_id")
    owner.post("/api/sessions", {"type": "agent", "id": "..."}, expect=201)
    owner.delete("/api/sessions/...", expect=204)


@test
def a_long_body_of_a_stranger_is_not_read(server):
    """A million values would take the loop's time and fifty times their bytes; known callers are read and told."""
    owner = server.client()
    path = session(owner)
    ones = b'{"events":[' + b"1," * 1000000 + b"1]}"
    stranger = server.client("sj_nobody")
    for where in ("/api/sessions", path + "/events", path + "/deltas"):
        check.problem(stranger.post(where, ones), 401, "unauthenticated")
        check.problem(stranger.post(where, ones[:-2]), 401, "unauthenticated")
        check.problem(owner.post(where, ones[:-2]), 400, "invalid_json")
        check.problem(owner.post(where, ones), 400)
    check.problem(server.anonymous().post("/api/auth/sign-in", ones), 413, "body_too_large")
    text = {"type": "text", "text": "x" * 100000}
    body = {"events": [{"type": "note.x", "content": [text]}]}
    first = owner.post(path + "/events", body, headers={"Idempotency-Key": "k"}, expect=201).json()
    check.equal(first["events"][0]["content"], [text])
    check.equal(owner.post(path + "/events", body, headers={"Idempotency-Key": "k"}, expect=201).json(), first)
    check.problem(owner.post(path + "/events", {"events": [{"type": "no type", "content": [text]}]}), 400)


@test
def a_viewer_does_not_hold_the_loop(server):
    """What is said over WebSocket is read where all connections live: a message of too many values is not read."""
    owner = server.client()
    path = session(owner)
    link = owner.post(path + "/share-link", {"role": "viewer"}, expect=201).json()
    with owner.with_token(link["token"]).websocket(path + "/ws") as socket:
        frames = map(json.loads, iter(socket.next, None))
        told = lambda: next(frame for frame in frames if frame["type"] in ("result", "pong"))
        socket.send({"type": "answer", "id": 1, "ask_id": "q", "answer": [1] * 9000})
        check.equal(told()["error"]["code"], "ask_not_found")
        socket.send({"type": "answer", "id": 2, "ask_id": "q", "answer": [1] * 11000})
        check.contains(told(), {"id": None, "ok": False})
        socket.send({"type": "ping"})
        check.equal(told(), {"type": "pong"})


# --- other accounts of the machine ---


@test(on=("sqlite",))
def nobody_else_reads_the_database(env):
    """Also where the data directory was there before and is open to all: the database and its copies are not."""
    server = env.server(start=False)
    os.makedirs(server.data_directory(), mode=0o755)
    server.start()
    session(server.client())
    copy = os.path.join(env.directory, "copy.db")
    server.run("backup", copy, "--data", server.data_directory())
    names = [os.path.join(server.data_directory(), name) for name in os.listdir(server.data_directory())]
    check.true(any(name.endswith("sojourn.db-wal") for name in names), names)
    for name in [copy, *names]:
        check.equal(os.stat(name).st_mode & 0o077, 0, f"{name} is for its owner alone")

"""Who calls: first start, sign-in, cookies, users, tokens, tickets."""
import datetime
import re
import threading

from harness import check, test
from harness.browser import PASSWORD, sign_in, signed_in, with_password
from harness.people import person, session, token


def first_secret(server):
    """The secret of the one-time link that the first start prints."""
    found = check.eventually(lambda: re.search(r"/sign-in#(\S+)", server.output()), "the link is printed")
    return found.group(1)


def without_csrf(browser):
    """The same browser, led by a foreign page."""
    other = browser.with_headers()
    other.extra_headers = [pair for pair in browser.extra_headers if pair[0] == "Cookie"]
    return other


# --- first start ---


@test
def bootstrap_token_makes_the_owner(server):
    """SOJOURN_BOOTSTRAP_TOKEN is an API token of the owner; nothing is printed; it is good after a restart too."""
    me = server.client().get("/api/me", expect=200).json()
    check.contains(me, {"kind": "user", "role": "owner", "tenant_id": "default", "id_prefix": None})
    check.equal(sorted(me["scopes"]), ["admin", "claim", "read", "write"])
    check.equal("sign-in#" in server.output(), False)
    server.restart()
    check.equal(server.client().get("/api/me", expect=200).json(), me)


@test
def first_start_prints_a_link_that_works_once(env):
    """Without the variable: a link with the secret behind #, so that no log of a proxy sees it."""
    server = env.server(environment={"SOJOURN_BOOTSTRAP_TOKEN": None})
    secret = first_secret(server)
    guest = server.anonymous()
    check.problem(guest.post("/api/auth/link", {"secret": "sk_wrong"}), 401)
    answer = guest.post("/api/auth/link", {"secret": secret}, expect=200)
    check.problem(guest.post("/api/auth/link", {"secret": secret}), 401, "link_over")
    check.contains(signed_in(server, answer).get("/api/me", expect=200).json(), {"role": "owner", "kind": "user"})
    check.equal(secret in server.log.tail(10000), False)
    server.restart()
    check.equal("sign-in#" in server.output(), False, "there is an owner already")


@test
def a_short_bootstrap_token_stops_the_start(env):
    """At least 32 characters; the message says so."""
    server = env.server(environment={"SOJOURN_BOOTSTRAP_TOKEN": "x" * 31}, start=False)
    server.launch()
    code = server.process.wait(20 * check.patience())
    server.log.join(5)
    check.true(code != 0, "the server did not start")
    check.contains(server.log.tail(), "32")
    server.process = None


@test
def nothing_without_credentials(server):
    """Every route of the document that asks for a caller answers 401 with WWW-Authenticate, before anything else."""
    guest = server.anonymous()
    for path, methods in guest.get("/api/openapi.json", expect=200).json()["paths"].items():
        for method, operation in methods.items():
            if operation["security"]:
                answer = guest.request(method.upper(), re.sub(r"\{\w+\}", "x", path), {} if method != "get" else None)
                check.problem(answer, 401, "unauthenticated")
                check.equal(answer.header("www-authenticate"), "Bearer")
    for value in ("Bearer", "Bearer ", "Basic dGVzdDp0ZXN0", "bearer nonsense", f"Bearer {server.token}x"):
        check.problem(guest.get("/api/me", headers={"Authorization": value}), 401)
    guest.get("/api/me", headers={"Authorization": f"bearer  {server.token}"}, expect=200)


# --- passwords and cookies ---


@test
def password_and_cookie(server):
    """A password is set once signed in; signing in gives a cookie that scripts and foreign sites cannot use."""
    anna = person(server.client(), "anna")
    with_password(server, anna)
    answer = sign_in(server, anna.email)
    parts = [part.strip().lower() for part in answer.header("set-cookie").split(";")]
    check.contains(parts, "httponly")
    check.true({"samesite=lax", "samesite=strict"} & set(parts), "SameSite is set")
    check.contains(parts, "path=/")
    browser = signed_in(server, answer)
    check.contains(browser.get("/api/me", expect=200).json(), {"user_id": anna.id, "role": "member"})
    check.equal(anna.email.upper() != anna.email, True)
    sign_in(server, anna.email.upper(), expect=200)
    for email, password in ((anna.email, "wrong horse battery"), ("nobody@example.test", PASSWORD)):
        check.problem(sign_in(server, email, password, 401), 401, "wrong_credentials")


@test
def wrong_password_and_unknown_user_look_the_same(server):
    """Neither the bytes nor the work tell whether an email is known."""
    anna = person(server.client(), "anna")
    with_password(server, anna)
    wrong, unknown = sign_in(server, anna.email, "x" * 20, 401), sign_in(server, "b@example.test", "x" * 20, 401)
    check.equal(wrong.body, unknown.body)
    check.equal([name for name, _ in wrong.headers], [name for name, _ in unknown.headers])


@test
def passwords_are_argon2id_and_nowhere_else(env):
    """The store holds argon2id hashes; the password itself is in no file and no log."""
    server = env.server(options=["--log-level", "debug"])
    anna = person(server.client(), "anna")
    with_password(server, anna)
    sign_in(server, anna.email)
    server.stop()
    check.equal(PASSWORD in server.log.tail(100000), False)
    if env.engine == "sqlite":
        kept = b"".join(read_all(server.data_directory()))
        check.equal(PASSWORD.encode() in kept, False)
        check.contains(kept, b"$argon2id$")


def read_all(directory):
    import os
    for folder, _, names in sorted(os.walk(directory)):
        for name in sorted(names):
            with open(os.path.join(folder, name), "rb") as file:
                yield file.read()


@test
def password_rules(server):
    """Long enough; the present one is asked for when there is one; a new one ends the old."""
    anna = person(server.client(), "anna")
    browser = signed_in(server, server.anonymous().post("/api/auth/link", {"secret": anna.secret}, expect=200))
    check.problem(browser.put("/api/me/password", {"password": "short"}), 400, "weak_password")
    browser.put("/api/me/password", {"password": PASSWORD}, expect=204)
    new = "another good password"
    check.problem(browser.put("/api/me/password", {"password": new}), 403, "wrong_password")
    check.problem(browser.put("/api/me/password", {"password": new, "current": "x"}), 403, "wrong_password")
    browser.put("/api/me/password", {"password": new, "current": PASSWORD}, expect=204)
    sign_in(server, anna.email, PASSWORD, 401)
    sign_in(server, anna.email, new, 200)


@test
def a_narrow_token_sets_no_password(server):
    """Otherwise a token that may only read could make itself a sign-in that may do everything."""
    owner = server.client()
    anna = person(owner, "anna")
    for narrow in ({"scopes": ["read"]}, {"scopes": ["read", "write", "claim"]}, {"id_prefix": "cli:"},
                   {"kind": "channel", "id_prefix": "telegram:"}, {"kind": "worker"}):
        client = token(owner, user_id=anna.id, **narrow)
        check.problem(client.put("/api/me/password", {"password": PASSWORD}), 403)
    sign_in(server, anna.email, PASSWORD, 401)


@test
def csrf_is_enforced(server):
    """A cookie alone reads but never writes; the value belongs to its cookie."""
    owner = server.client()
    anna, bert = person(owner, "anna"), person(owner, "bert")
    browser = with_password(server, anna)
    other = with_password(server, bert)
    forged = without_csrf(browser)
    forged.get("/api/sessions", expect=200)
    for method, path, body in [("POST", "/api/sessions", {"type": "agent"}), ("PUT", "/api/me/password", {"password": "x" * 12}),
                               ("PATCH", f"/api/users/{anna.id}", {"name": "x"}), ("DELETE", "/api/sessions/x", None),
                               ("POST", "/api/tickets", {}), ("POST", "/api/auth/sign-out", {})]:
        check.problem(forged.request(method, path, body), 403, "csrf")
        stolen = forged.with_headers(X_CSRF_Token=dict(other.extra_headers)["X-CSRF-Token"])
        check.problem(stolen.request(method, path, body), 403, "csrf")
    check.equal(browser.get("/api/sessions").json()["sessions"], [])
    check.equal(forged.get("/api/me").json()["csrf_token"], dict(browser.extra_headers)["X-CSRF-Token"],
                "a page that was loaded again asks for its value")
    check.equal("csrf_token" in anna.client.get("/api/me").json(), False)
    browser.post("/api/sessions", {"type": "agent"}, expect=201)


@test
def sign_out_ends_the_cookie(server):
    """The cookie is good for nothing afterwards; other browsers of the user stay."""
    anna = person(server.client(), "anna")
    with_password(server, anna)
    first, second = (signed_in(server, sign_in(server, anna.email)) for _ in range(2))
    answer = first.post("/api/auth/sign-out", expect=204)
    check.contains(answer.header("set-cookie").lower(), "max-age=0")
    check.problem(first.get("/api/me"), 401)
    second.get("/api/me", expect=200)


@test
def an_old_cookie_does_not_stop_a_sign_in(server):
    """A browser sends the cookie it has, also when it is over or has no csrf value at hand."""
    anna = person(server.client(), "anna")
    browser = with_password(server, anna)
    body = {"email": anna.email, "password": PASSWORD}
    for value in ("sojourn_session=sc_over", dict(browser.extra_headers)["Cookie"]):
        server.anonymous().post("/api/auth/sign-in", body, headers={"Cookie": value}, expect=200)
    bert = person(server.client(), "bert")
    server.anonymous().post("/api/auth/link", {"secret": bert.secret}, headers={"Cookie": "sojourn_session=sc_over"},
                            expect=200)


@test(options=["--signin-attempts-max", "3"])
def sign_in_attempts_are_limited(server):
    """429 with Retry-After, also for the right password; by account, so other accounts go on from elsewhere."""
    anna = person(server.client(), "anna")
    with_password(server, anna)
    for _ in range(3):
        sign_in(server, anna.email, "wrong password!", 401)
    limited = sign_in(server, anna.email, PASSWORD, 429)
    check.problem(limited, 429, "too_many_attempts")
    check.true(1 <= int(limited.header("retry-after")) <= 15 * 60 + 1, "Retry-After is a number of seconds")


@test(options=["--signin-attempts-max", "3"])
def right_sign_ins_are_not_counted(server):
    """Many people behind one address sign in as they like; only failures count."""
    owner = server.client()
    for name in ("anna", "bert", "cleo"):
        someone = person(owner, name)
        with_password(server, someone)
        for _ in range(2):
            sign_in(server, someone.email)


@test(options=["--signin-attempts-max", "1", "--signin-window-ms", "3s"])
def the_limit_ends_with_its_window(server):
    """After the window the right password is right again."""
    anna = person(server.client(), "anna")
    with_password(server, anna)
    wrong, right = ({"email": anna.email, "password": one} for one in ("wrong password!", PASSWORD))
    check.eventually(lambda: server.anonymous().post("/api/auth/sign-in", wrong).status == 429, "it is limited", 20)
    check.eventually(lambda: server.anonymous().post("/api/auth/sign-in", right).status == 200, "the window ends", 20)


# --- users ---


@test
def users_are_made_changed_and_removed(server):
    """What a user can do ends at once with his membership, by token and by cookie."""
    owner = server.client()
    anna = person(owner, "anna")
    browser = with_password(server, anna)
    listed = owner.get("/api/users", expect=200).json()["users"]
    check.equal(sorted((user["email"], user["role"]) for user in listed),
                [(anna.email, "member"), ("owner@localhost", "owner")])
    changed = owner.patch(f"/api/users/{anna.id}", {"name": "Anna A.", "role": "admin", "sessions_max": 3}, expect=200)
    check.contains(changed.json(), {"name": "Anna A.", "role": "admin", "sessions_max": 3})
    check.equal(anna.client.get("/api/me").json()["role"], "admin")
    check.problem(owner.post("/api/users", {"email": anna.email.upper()}), 409, "email_taken")
    for email in ("no-at-sign", "a@b@c", "a b@c", "@c", "a@"):
        check.problem(owner.post("/api/users", {"email": email}), 400)
    owner.delete(f"/api/users/{anna.id}", expect=204)
    check.problem(anna.client.get("/api/me"), 401)
    check.problem(browser.get("/api/me"), 401)
    check.problem(sign_in(server, anna.email, PASSWORD, 401), 401, "wrong_credentials")
    check.problem(owner.patch(f"/api/users/{anna.id}", {"name": "x"}), 404)
    check.problem(owner.delete(f"/api/users/{anna.id}"), 404)
    again = person(owner, "anna")
    check.true(again.id != anna.id, "who comes back is a new account")
    with_password(server, again)
    sign_in(server, anna.email, PASSWORD, 200)
    check.problem(anna.client.get("/api/me"), 401)


@test
def who_may_manage_users(server):
    """A member manages nobody, an admin members and admins, an owner everybody; nobody makes more than he is."""
    owner = server.client()
    admin, member = person(owner, "admin", "admin"), person(owner, "member")
    victim = {role: person(owner, f"victim-{role}", role) for role in ("member", "admin", "owner")}
    may = {"member": (), "admin": ("member", "admin"), "owner": ("member", "admin", "owner")}
    for name, client in (("member", member.client), ("admin", admin.client), ("owner", owner)):
        for role in ("member", "admin", "owner"):
            allowed = role in may[name]
            made = client.post("/api/users", {"email": f"{name}-makes-{role}@example.test", "role": role})
            check.equal(made.status, 201 if allowed else 403, f"{name} makes a user with role {role}")
            answer = client.patch(f"/api/users/{victim[role].id}", {"name": "renamed"})
            check.equal(answer.status, 200 if allowed else 403, f"{name} renames one with role {role}")
            answer = client.patch(f"/api/users/{victim['member'].id}", {"role": role})
            check.equal(answer.status, 200 if allowed else 403, f"{name} makes a member {role}")
            if allowed:
                owner.patch(f"/api/users/{victim['member'].id}", {"role": "member"}, expect=200)
    check.problem(member.client.delete(f"/api/users/{victim['member'].id}"), 403)
    check.problem(admin.client.delete(f"/api/users/{victim['owner'].id}"), 403)
    admin.client.delete(f"/api/users/{victim['admin'].id}", expect=204)
    owner.delete(f"/api/users/{victim['owner'].id}", expect=204)


@test
def a_tenant_keeps_an_owner(server):
    """Nobody changes his own role or removes himself; everybody may change his own name."""
    owner = server.client()
    anna = person(owner, "anna")
    me = owner.get("/api/me").json()["user_id"]
    check.problem(owner.delete(f"/api/users/{me}"), 409, "self")
    check.problem(owner.patch(f"/api/users/{me}", {"role": "member"}), 409, "self")
    check.problem(anna.client.patch(f"/api/users/{anna.id}", {"role": "owner"}), 403)
    check.problem(anna.client.patch(f"/api/users/{anna.id}", {"sessions_max": 100}), 403)
    check.equal(anna.client.patch(f"/api/users/{anna.id}", {"name": "Me"}, expect=200).json()["name"], "Me")
    check.equal(owner.get("/api/me").json()["role"], "owner")


@test
def the_secret_of_a_new_user_is_told_once(env):
    """A link signs in once; no list and no log shows it."""
    server = env.server(options=["--log-level", "debug"])
    owner = server.client()
    anna = person(owner, "anna")
    check.equal(anna.secret.encode() in owner.get("/api/users").body, False)
    server.anonymous().post("/api/auth/link", {"secret": anna.secret}, expect=200)
    check.problem(server.anonymous().post("/api/auth/link", {"secret": anna.secret}), 401, "link_over")
    server.stop()
    check.equal(anna.secret in server.log.tail(100000), False)
    if env.engine == "sqlite":
        check.equal(anna.secret.encode() in b"".join(read_all(server.data_directory())), False)


# --- tokens ---


@test
def tokens_are_named_and_told_once(env):
    """256 bits, shown at birth only; the store and the log hold no value."""
    server = env.server(options=["--log-level", "debug"])
    owner = server.client()
    made = owner.post("/api/tokens", {"name": "ci", "scopes": ["read"]}, expect=201).json()
    value = made.pop("token")
    check.true(len(value) >= 43, "at least 256 bits in base64")
    listed = owner.get("/api/tokens", expect=200)
    check.contains(listed.json()["tokens"], made)
    check.equal(value.encode() in listed.body, False)
    client = owner.with_token(value)
    check.contains(client.get("/api/me", expect=200).json(), {"kind": "user", "scopes": ["read"]})
    check.problem(owner.post("/api/tokens", {"name": ""}), 400)
    check.problem(owner.post("/api/tokens", {"name": "x", "scopes": ["fly"]}), 400)
    check.problem(owner.post("/api/tokens", {"name": "x", "kind": "share_link"}), 400)
    check.problem(owner.post("/api/tokens", {"name": "x", "expires_at": "2001-01-01T00:00:00Z"}), 400)
    server.stop()
    for secret in (value, server.token):
        check.equal(secret in server.log.tail(100000), False)
        if env.engine == "sqlite":
            check.equal(secret.encode() in b"".join(read_all(server.data_directory())), False)


@test
def scopes_bound_what_a_token_does(server):
    """Each route asks for its scope; a token never makes a wider one."""
    owner = server.client()
    path = session(owner, status="pending")
    calls = {"read": ("GET", "/api/sessions", None), "write": ("POST", "/api/sessions", {"type": "agent"}),
             "claim": ("GET", "/api/queue", None), "admin": ("GET", "/api/tokens", None)}
    for scope in calls:
        client = token(owner, scopes=[scope])
        for other, (method, target, body) in calls.items():
            answer = client.request(method, target, body)
            if other == scope:
                check.true(answer.status < 300, f"{scope} may {method} {target}")
            else:
                check.problem(answer, 403, "scope_required")
    reader = token(owner, scopes=["read"])
    reader.get(path, expect=200)
    check.problem(reader.post(path + "/events", {"events": [{"type": "note.x"}]}), 403, "scope_required")
    admin = token(owner, scopes=["admin", "read"])
    check.problem(admin.post("/api/tokens", {"name": "x", "scopes": ["write"]}), 403, "scopes_too_wide")
    check.problem(admin.post("/api/tokens", {"name": "x", "scopes": []}), 403, "scopes_too_wide")
    made = admin.post("/api/tokens", {"name": "x"}, expect=201).json()
    check.equal(sorted(made["scopes"]), ["admin", "read"])


@test
def a_bound_token_makes_only_bound_tokens(server):
    """Neither the namespace, nor the session, nor the end of a token can be shaken off by making another."""
    owner = server.client()
    bound = token(owner, id_prefix="telegram:")
    check.equal(bound.post("/api/tokens", {"name": "x"}, expect=201).json()["id_prefix"], "telegram:")
    narrower = bound.post("/api/tokens", {"name": "x", "id_prefix": "telegram:a"}, expect=201).json()
    check.equal(narrower["id_prefix"], "telegram:a")
    for wider in ("tele", "t", "slack:"):
        check.problem(bound.post("/api/tokens", {"name": "x", "id_prefix": wider}), 403)
    path = session(owner, id="cli:a")
    single = token(owner, session_id="cli:a")
    check.equal(single.post("/api/tokens", {"name": "x"}, expect=201).json()["session_id"], "cli:a")
    check.problem(single.post("/api/tokens", {"name": "x", "session_id": "cli:b"}), 403)
    single.get(path, expect=200)
    short = token(owner, expires_at="2099-01-01T00:00:00Z")
    check.equal(short.post("/api/tokens", {"name": "x"}, expect=201).json()["expires_at"], "2099-01-01T00:00:00.000Z")
    check.problem(short.post("/api/tokens", {"name": "x", "expires_at": "2100-01-01T00:00:00Z"}), 403)


@test
def a_bound_token_reaches_nothing_of_the_whole_tenant(server):
    """An owner's token for one session or one namespace adds no user who could sign in without its bounds, defines
    no agent, reads no figures or people of the tenant, and neither sees nor revokes tokens that are wider."""
    owner = server.client()
    session(owner, id="cli:a")
    wide = owner.post("/api/tokens", {"name": "wide"}, expect=201).json()
    boss = owner.get("/api/me").json()["user_id"]
    for bounds, code in (({"session_id": "cli:a"}, "session_bound"), ({"id_prefix": "cli:"}, "tenant_wide")):
        bound = token(owner, **bounds)
        for method, path, body in (("POST", "/api/users", {"email": "eve@example.org", "role": "owner"}),
                                   ("PATCH", f"/api/users/{boss}", {"name": "Eve"}),
                                   ("DELETE", f"/api/users/{boss}", None),
                                   ("POST", "/api/tenants", {"id": "eve"}),
                                   ("POST", "/api/agents", {"id": "eve", "driver": "worker"}),
                                   ("DELETE", "/api/agents/demo", None), ("GET", "/api/users", None),
                                   ("GET", "/api/counts", None), ("GET", "/api/queue", None)):
            check.problem(bound.request(method, path, body), 403, code)
        own = bound.post("/api/tokens", {"name": "own"}, expect=201).json()
        seen = bound.get("/api/tokens").json()["tokens"]
        check.true(own["id"] in [one["id"] for one in seen], "it sees what it made")
        check.equal({(one["id_prefix"], one["session_id"]) for one in seen},
                    {(bounds.get("id_prefix"), bounds.get("session_id"))})
        check.problem(bound.delete(f"/api/tokens/{wide['id']}"), 404)
        bound.delete(f"/api/tokens/{own['id']}", expect=204)
    check.equal([user["id"] for user in owner.get("/api/users").json()["users"]], [boss])
    owner.with_token(wide["token"]).get("/api/me", expect=200)


@test
def only_users_make_tokens_of_users(server):
    """A worker acts for nobody: a token of kind user made with its token would be nobody's."""
    worker = token(server.client(), kind="worker")
    check.problem(worker.post("/api/tokens", {"name": "x"}), 403, "user_required")


@test
def tokens_expire(server):
    """Good before its time, nothing after it, on readers and writers."""
    owner = server.client()
    end = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=2)
    client = token(owner, expires_at=end.isoformat(timespec="milliseconds").replace("+00:00", "Z"))
    client.get("/api/sessions", expect=200)
    client.post("/api/sessions", {"type": "agent"}, expect=201)
    check.eventually(lambda: client.get("/api/sessions").status == 401, "the token ends")
    check.problem(client.post("/api/sessions", {"type": "agent"}), 401)


@test(options=["--reader-threads", "4"])
def revoking_works_at_once(server):
    """After the answer no thread takes the token any more, however often it was seen before."""
    owner = server.client()
    for _ in range(5):
        made = owner.post("/api/tokens", {"name": "t"}, expect=201).json()
        clients = [owner.with_token(made["token"]) for _ in range(6)]
        together(clients, lambda client: [client.get("/api/me", expect=200) for _ in range(10)])
        clients[0].post("/api/sessions", {"type": "tool"}, expect=201)
        owner.delete(f"/api/tokens/{made['id']}", expect=204)
        together(clients, lambda client: [check.problem(client.get("/api/me"), 401) for _ in range(10)])
        check.problem(clients[0].post("/api/sessions", {"type": "tool"}), 401)
        shown = [one for one in owner.get("/api/tokens?revoked=true").json()["tokens"] if one["id"] == made["id"]]
        check.true(shown and shown[0]["revoked_at"], "the list says when it was revoked")


@test
def ended_tokens_are_listed_on_demand(server):
    """What is revoked or has expired is shown only to who asks for it, and replaced tokens of sandboxes with it."""
    owner = server.client()
    path = session(owner)
    made = [owner.post(path + "/sandbox-token", {}, expect=201).json()["id"] for _ in range(5)]
    named = owner.post("/api/tokens", {"name": "named"}, expect=201).json()
    owner.delete(f"/api/tokens/{named['id']}", expect=204)
    shown = [one["id"] for one in owner.get("/api/tokens", expect=200).json()["tokens"]]
    check.true(made[4] in shown and not {*made[:4], named["id"]} & {*shown}, "only what works")
    every = {one["id"]: one["revoked_at"] for one in owner.get("/api/tokens?revoked=true").json()["tokens"]}
    check.true(all(every[id] for id in (*made[:4], named["id"])) and every[made[4]] is None, "all, with the time")


@test(options=["--ended-keep-ms", "1", "--prune-ms", "20"])
def what_has_ended_is_collected(server):
    """Rows of tokens and share links that nobody can use go after their time; those in use stay."""
    owner = server.client()
    path = session(owner)
    made = [owner.post(path + "/sandbox-token", {}, expect=201).json()["id"] for _ in range(3)]
    kept = owner.post("/api/tokens", {"name": "kept"}, expect=201).json()["id"]
    end = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=2)
    brief = owner.post("/api/tokens", {"name": "brief", "expires_at": end.isoformat(timespec="milliseconds")},
                       expect=201).json()["id"]
    links = [owner.post(path + "/share-link", {"role": "viewer", **more}, expect=201).json()
             for more in ({}, {}, {"max_uses": 1})]
    anna = person(owner, "anna")
    anna.client.post(f"/api/sessions/join/{links[2]['token']}", {}, expect=200)
    owner.delete(f"{path}/share-link/{links[1]['id']}", expect=204)

    def left():
        tokens = {one["id"] for one in owner.get("/api/tokens?revoked=true").json()["tokens"]}
        return tokens, [one["id"] for one in owner.get(path + "/share-links").json()["share_links"]]
    check.eventually(lambda: not {*made[:2], brief} & left()[0] and len(left()[1]) == 1, "they go")
    tokens, shown = left()
    check.true({made[2], kept} <= tokens and shown == [links[0]["id"]], "what works stays")
    check.equal([one["user_id"] for one in owner.get(path + "/participants").json()["participants"][1:]],
                [anna.id],
                "who came by a link stays")


def together(items, call):
    """Runs call(item) for all items at once; the first failure is raised."""
    failures = []

    def run(item):
        try:
            call(item)
        except BaseException as failure:
            failures.append(failure)
    threads = [threading.Thread(target=run, args=(item,)) for item in items]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


@test
def revoking_ends_open_streams(server):
    """A stream lives no longer than the token that opened it."""
    owner = server.client()
    path = session(owner)
    made = owner.post("/api/tokens", {"name": "t"}, expect=201).json()
    with owner.with_token(made["token"]).stream(path + "/events") as stream:
        stream.next()
        owner.delete(f"/api/tokens/{made['id']}", expect=204)
        check.equal(stream.until("closed")[-1].json()["reason"], "access_revoked")


@test
def who_may_manage_tokens(server):
    """Members see, make and revoke their own; admins see and revoke all; only owners make them for others and workers."""
    owner = server.client()
    admin, anna, bert = person(owner, "admin", "admin"), person(owner, "anna"), person(owner, "bert")
    boss = owner.get("/api/me").json()["user_id"]
    own = anna.client.post("/api/tokens", {"name": "mine"}, expect=201).json()
    check.equal({one["user_id"] for one in anna.client.get("/api/tokens").json()["tokens"]}, {anna.id})
    check.problem(anna.client.post("/api/tokens", {"name": "x", "user_id": bert.id}), 403, "admin_required")
    check.problem(anna.client.post("/api/tokens", {"name": "x", "kind": "worker"}), 403, "admin_required")
    check.problem(bert.client.delete(f"/api/tokens/{own['id']}"), 404)
    check.problem(admin.client.post("/api/tokens", {"name": "x", "user_id": boss}), 403, "role_too_high")
    check.problem(admin.client.post("/api/tokens", {"name": "x", "user_id": "nobody"}), 404)
    for body in ({"kind": "worker"}, {"kind": "channel", "id_prefix": "t:"}, {"user_id": anna.id}):
        check.problem(admin.client.post("/api/tokens", {"name": "w"} | body), 403, "owner_required")
        owner.post("/api/tokens", {"name": "w"} | body, expect=201)
    check.true(len(admin.client.get("/api/tokens").json()["tokens"]) >= 5, "an admin sees all")
    admin.client.delete(f"/api/tokens/{own['id']}", expect=204)
    check.problem(owner.delete("/api/tokens/unknown"), 404)


@test(options=["--tokens-per-user-max", "3"])
def tokens_have_a_limit(server):
    """Beyond it 429; a revoked one makes room."""
    owner = server.client()
    made = [owner.post("/api/tokens", {"name": "t"}, expect=201).json() for _ in range(2)]
    check.problem(owner.post("/api/tokens", {"name": "t"}), 429, "too_many_tokens")
    owner.delete(f"/api/tokens/{made[0]['id']}", expect=204)
    owner.post("/api/tokens", {"name": "t"}, expect=201)


# --- kinds ---


@test
def a_channel_stays_in_its_namespace(server):
    """S2-048, X-08: reads, writes, lists and creates only ids with its prefix; others look like unknown ids."""
    owner = server.client()
    inside, outside = session(owner, id="telegram:1"), session(owner, id="slack:1")
    channel = token(owner, name="tg", kind="channel", id_prefix="telegram:", scopes=["read", "write"])
    channel.get(inside, expect=200)
    channel.post(inside + "/events", {"events": [{"type": "user.message"}]}, expect=201)
    event = owner.get(inside + "/events").json()["events"][-1]
    check.equal(event["actor"], "channel:tg")
    for method, target, body in (("GET", "", None), ("GET", "/events", None), ("POST", "/events", {"events": [{"type": "a.b"}]}),
                                 ("PATCH", "", {"title": "x"}), ("DELETE", "", None), ("POST", "/archive", {})):
        refused = channel.request(method, outside + target, body)
        unknown = channel.request(method, "/api/sessions/telegram:none" + target, body)
        check.equal((refused.status, refused.body), (unknown.status, unknown.body))
    check.equal([one["id"] for one in channel.get("/api/sessions").json()["sessions"]], ["telegram:1"])
    check.problem(channel.post("/api/sessions", {"type": "agent", "id": "slack:2"}), 403, "id_prefix")
    check.problem(channel.post("/api/sessions", {"type": "agent", "id": "slack:1"}), 403, "id_prefix")
    made = channel.post("/api/sessions", {"type": "agent"}, expect=201).json()
    check.true(made["id"].startswith("telegram:"), "a generated id is inside too")
    channel.post("/api/sessions", {"type": "agent", "id": "telegram:2"}, expect=201)
    check.problem(channel.patch(inside, {"title": "x"}), 403, "insufficient_role")


@test
def a_user_token_with_a_prefix_stays_inside(server):
    """The owner's own sessions outside the prefix are out of its reach."""
    owner = server.client()
    session(owner, id="telegram:1"), session(owner, id="cli:1")
    bound = token(owner, id_prefix="telegram:")
    bound.get("/api/sessions/telegram:1", expect=200)
    check.problem(bound.get("/api/sessions/cli:1"), 404, "session_not_found")
    check.equal([one["id"] for one in bound.get("/api/sessions").json()["sessions"]], ["telegram:1"])
    with bound.stream("/api/stream") as stream:
        stream.next()
        for id in ("cli:1", "telegram:1"):
            owner.post(f"/api/sessions/{id}/events", {"events": [{"type": "note.x"}]}, expect=201)
        frame = stream.until("event")[-1]
        check.equal(frame.json()["session_id"], "telegram:1")


@test
def a_worker_claims_and_runs_what_it_holds(server):
    """With the lease it reads and writes its session; without it a private one does not exist for it."""
    owner = server.client()
    path, other = session(owner, status="pending", agent="a"), session(owner)
    worker = token(owner, name="w7", kind="worker", scopes=["claim"])
    check.problem(worker.get("/api/sessions"), 403, "scope_required")
    claimed = worker.post("/api/claims", {"worker": "w7"}, expect=200).json()["claims"]
    check.equal(f"/api/sessions/{claimed[0]['session']['id']}", path)
    holder = worker.with_headers(Sojourn_Lease=claimed[0]["lease"]["token"])
    holder.post(path + "/lease", expect=200)
    for target in (path, other):
        check.problem(worker.post(target + "/lease"), 404, "session_not_found")
    check.problem(holder.post(other + "/lease"), 409, "stale_lease")
    full = token(owner, name="w7", kind="worker", scopes=["claim", "read", "write"])
    held = full.with_headers(Sojourn_Lease=claimed[0]["lease"]["token"])
    held.get(path, expect=200)
    held.post(path + "/events", {"events": [{"type": "agent.message"}]}, expect=201)
    held.post(path + "/deltas", {"deltas": [{"kind": "text", "text": "x"}]}, expect=202)
    for client in (full, held):
        check.true(client.get(other).status in (404, 409), "what it does not hold is out of reach")
    check.problem(held.patch(path, {"title": "x"}), 403, "insufficient_role")
    check.problem(held.delete(path), 403, "insufficient_role")
    held.post(path + "/settle", {"status": "completed"}, expect=200)
    check.problem(full.get(path), 404, "session_not_found")


@test
def a_runner_and_a_sandbox_have_one_session(server):
    """Bound to it they read and write it, and see no other, not even one the organisation sees."""
    owner = server.client()
    path, other = session(owner, id="run:1"), session(owner, id="run:2", visibility="org_joinable", status="pending")
    for kind in ("runner", "sandbox"):
        client = token(owner, kind=kind, session_id="run:1", scopes=["read", "write", "claim"])
        client.get(path, expect=200)
        client.post(path + "/events", {"events": [{"type": "agent.message"}]}, expect=201)
        check.problem(client.get(other), 404, "session_not_found")
        for target in ("/api/sessions", "/api/users", "/api/counts", "/api/queue"):
            check.problem(client.get(target), 403, "session_bound")
        check.equal(client.post("/api/claims", {"worker": "x"}, expect=200).json()["claims"], [])
        check.problem(client.get("/api/stream"), 403, "session_bound")
        check.problem(client.patch(path, {"title": "x"}), 403, "insufficient_role")
        check.problem(client.post("/api/sessions", {"type": "agent", "id": "run:3"}), 403)


@test
def only_workers_and_owners_claim(server):
    """A claim opens any session of the tenant, so a member or admin does not get it by a token of his own."""
    owner = server.client()
    session(owner, status="pending")
    for role in ("member", "admin"):
        someone = person(owner, role, role)
        check.problem(someone.client.post("/api/claims", {"worker": "x"}), 403, "role_required")
    check.equal(len(owner.post("/api/claims", {"worker": "x"}, expect=200).json()["claims"]), 1)


# --- tickets ---


@test
def tickets_are_no_more_than_their_token(server):
    """One use, one session when asked for; the prefix and scopes of the token stay; only for streams."""
    owner = server.client()
    session(owner, id="telegram:1"), session(owner, id="cli:1")
    bound = token(owner, id_prefix="telegram:")
    guest = server.anonymous()

    def ticket(client=owner, **body):
        return client.post("/api/tickets", body, expect=201).json()["ticket"]
    check.problem(guest.get(f"/api/sessions/cli:1/events?ticket={ticket(bound)}"), 404, "session_not_found")
    guest.get(f"/api/sessions/telegram:1/events?ticket={ticket(bound)}", expect=200)
    check.problem(guest.get(f"/api/sessions?ticket={ticket()}"), 401)
    check.problem(guest.get("/api/sessions/cli:1/events?ticket=st_wrong"), 401)
    check.problem(guest.get(f"/api/stream?ticket={ticket(session_id='cli:1')}"), 403, "session_bound")
    one = ticket()
    with guest.stream(f"/api/stream?ticket={one}") as stream:
        check.equal(stream.next().event, "ready")
    check.problem(guest.get(f"/api/stream?ticket={one}"), 401)
    socket = guest.websocket(f"/api/sessions/cli:1/ws?ticket={ticket()}")
    check.equal(socket.next_json()["type"], "ready")
    socket.close()
    writer = token(owner, scopes=["write"])
    check.problem(writer.post("/api/tickets"), 403, "scope_required")


@test
def a_ticket_is_used_once_under_a_race(server):
    """Many connections with the same ticket: exactly one gets in."""
    owner = server.client()
    session(owner, id="cli:1")
    for _ in range(5):
        ticket = owner.post("/api/tickets", {}, expect=201).json()["ticket"]
        results = []
        together(range(8), lambda _, ticket=ticket, results=results: results.append(
            server.anonymous().get(f"/api/sessions/cli:1/events?ticket={ticket}").status))
        check.equal(sorted(results), [200] + [401] * 7)


@test(options=["--ticket-ms", "1s"])
def tickets_end(server):
    """A ticket that nobody used is over after its time, and with its token."""
    owner = server.client()
    session(owner, id="cli:1")
    made = owner.post("/api/tokens", {"name": "t"}, expect=201).json()
    ticket = owner.with_token(made["token"]).post("/api/tickets", {}, expect=201).json()["ticket"]
    owner.delete(f"/api/tokens/{made['id']}", expect=204)
    guest = server.anonymous()
    check.problem(guest.get(f"/api/sessions/cli:1/events?ticket={ticket}"), 401)
    answer = owner.post("/api/tickets", {}, expect=201).json()
    check.eventually(lambda: owner.get("/healthz").header("date") and clock_passed(answer["expires_at"]), "its time")
    check.problem(guest.get(f"/api/sessions/cli:1/events?ticket={answer['ticket']}"), 401)


def clock_passed(text):
    import datetime
    return datetime.datetime.now(datetime.timezone.utc) > datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))

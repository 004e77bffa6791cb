"""A stream lives no longer than the credential that opened it, on every node."""
import time

from harness import check
from harness.people import person, session
from harness.suite import test
from harness.browser import PASSWORD, sign_in, signed_in, with_password


def reason(stream):
    return stream.until("closed", 10)[-1].json()["reason"]


def later(seconds):
    at = time.time() + seconds
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(at)) + f".{int(at % 1 * 1000):03d}Z"


@test
def a_token_that_expires_ends_its_streams(server):
    """Session, firehose and WebSocket, within two seconds of the token's end; others stay."""
    owner = server.client()
    path = session(owner)
    short = owner.with_token(owner.post("/api/tokens", {"name": "t", "expires_at": later(1.5)}, expect=201).json()["token"])
    ticket = short.post("/api/tickets", {}, expect=201).json()["ticket"]
    with owner.stream(path + "/events") as stays, short.stream(path + "/events") as one, \
            short.stream("/api/stream") as all_, server.anonymous().stream(f"{path}/events?ticket={ticket}") as third:
        for stream in (one, all_, third):
            check.equal(reason(stream), "credential_over")
        check.problem(short.get("/api/me"), 401)
        owner.post(path + "/events", {"events": [{"type": "note.x"}]}, expect=201)
        stays.until(lambda frame: frame.event == "event" and frame.json()["type"] == "note.x", 10)


@test
def signing_out_ends_the_streams_of_that_browser(server):
    """Also those opened with a ticket; another browser of the same user stays."""
    owner = server.client()
    anna = person(owner, "anna")
    one = with_password(server, anna)
    other = signed_in(server, sign_in(server, anna.email))
    path = session(anna.client)
    ticket = one.post("/api/tickets", {}, expect=201).json()["ticket"]
    unused = one.post("/api/tickets", {}, expect=201).json()["ticket"]
    with one.stream(path + "/events") as first, other.stream(path + "/events") as second, \
            server.anonymous().stream(f"{path}/events?ticket={ticket}") as third:
        for stream in (first, second, third):
            stream.next()
        one.post("/api/auth/sign-out", {}, expect=204)
        check.equal([reason(first), reason(third)], ["access_revoked", "access_revoked"])
        check.problem(server.anonymous().get(f"{path}/events?ticket={unused}"), 401)
        anna.client.post(path + "/events", {"events": [{"type": "note.x"}]}, expect=201)
        second.until(lambda frame: frame.event == "event" and frame.json()["type"] == "note.x", 10)


@test
def a_new_password_ends_other_browsers(server):
    """Their cookies and streams; the browser that set it and API tokens stay."""
    owner = server.client()
    anna = person(owner, "anna")
    one = with_password(server, anna)
    other = signed_in(server, sign_in(server, anna.email))
    path = session(anna.client)
    with other.stream(path + "/events") as stream, one.stream(path + "/events") as own:
        stream.next()
        own.next()
        one.put("/api/me/password", {"password": PASSWORD + "!", "current": PASSWORD}, expect=204)
        check.equal(reason(stream), "access_revoked")
        check.problem(other.get("/api/me"), 401)
        one.get("/api/me", expect=200)
        anna.client.post(path + "/events", {"events": [{"type": "note.x"}]}, expect=201)
        own.until(lambda frame: frame.event == "event" and frame.json()["type"] == "note.x", 10)


@test(on=("postgres",))
def other_nodes_hear_of_it(env):
    """Revoked, signed out, removed on one node: streams on the other end within a second."""
    url = env.database()
    first = env.server(database=url)
    second = env.server(database=url, environment={"SOJOURN_BOOTSTRAP_TOKEN": first.token})
    second.token = first.token
    owner, there = first.client(), second.client()
    path = session(owner)
    made = owner.post("/api/tokens", {"name": "t"}, expect=201).json()
    anna = person(owner, "anna")
    bert = person(owner, "bert", "admin")
    browser = with_password(first, anna)
    mine = session(anna.client)
    elsewhere = second.anonymous()
    elsewhere.extra_headers = browser.extra_headers
    acts = ((there.with_token(made["token"]), path, lambda: owner.delete(f"/api/tokens/{made['id']}", expect=204)),
            (elsewhere, mine, lambda: browser.post("/api/auth/sign-out", {}, expect=204)),
            (there.with_token(bert.client.token), path,
             lambda: owner.patch(f"/api/users/{bert.id}", {"role": "member"}, expect=200)))
    took_s = []
    for watcher, where, act in acts:
        with watcher.stream(where + "/events") as stream:
            stream.next()
            act()
            began = time.monotonic()
            check.equal(reason(stream), "access_revoked")
            took_s.append(time.monotonic() - began)
    check.true(min(took_s) < 1, f"within a second, where the machine itself does not stall: {took_s}")

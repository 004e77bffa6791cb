"""What PostgreSQL says about a transaction: "run again" is run again, "not known" is looked up, and both exactly once."""
from harness import check
from harness.postgres import database_name
from harness.suite import test
from fault.postgres_proxy import COMMIT_DONE, Proxy, error, message

# The first times in a life of the database, a statement (or the commit, when the trigger is deferred) fails so. A
# sequence goes on when its transaction is rolled back.
TRIGGER = """
create sequence refusals_{table}{deferred};
create function refuse_{table}{deferred}() returns trigger language plpgsql as $$ begin
  if nextval('refusals_{table}{deferred}') <= {times} then
    raise exception 'refused for the test' using errcode = '{state}';
  end if;
  return new;
end $$;
create {kind} trigger refuse{deferred} {when} insert on {table} {clause} for each row
  execute function refuse_{table}{deferred}();
"""


def refuse(env, server, table, state, times, deferred):
    """Inserts into the table, or commits of them, fail some times."""
    text = TRIGGER.format(table=table, state=state, times=times, deferred="_late" if deferred else "",
                          kind="constraint" if deferred else "", when="after" if deferred else "before",
                          clause="deferrable initially deferred" if deferred else "")
    env.cluster().sql(text, database_name(server.database))


def append(client, path, number):
    return client.post(path + "/events", {"events": [{"type": "note.x", "metadata": {"n": number}}]})


def numbers(client, path):
    events = client.get(path + "/events", query={"limit": 200}, expect=200).json()["events"]
    return [event["metadata"]["n"] for event in events if event["type"] == "note.x"]


@test(on=("postgres",), timeout_s=120)
def what_gave_way_is_run_again(env):
    """40001 and 40P01 at a statement the server waits for, at one it does not, and at the commit."""
    for state in ("40001", "40P01"):
        for table in ("sessions", "events"):
            for deferred in (False, True):
                server = env.server()
                refuse(env, server, table, state, 3, deferred)
                client = server.client()
                session = client.post("/api/sessions", {"type": "agent"}, expect=201).json()
                path = f"/api/sessions/{session['id']}"
                check.equal(append(client, path, 0).status, 201, f"{state} in {table}")
                check.equal(numbers(client, path), [0], "the log")
                server.stop()
                server.verify()


@test(on=("postgres",), timeout_s=60)
def what_gives_way_for_ever_is_refused(env):
    """503 that says so, and nothing is written."""
    server = env.server()
    client = server.client()
    path = f"/api/sessions/{client.post('/api/sessions', {'type': 'agent'}, expect=201).json()['id']}"
    refuse(env, server, "events", "40001", 1000000, False)
    check.problem(append(client, path, 0), 503, "busy")
    check.equal(numbers(client, path), [], "the log")


@test(on=("postgres",), timeout_s=60)
def an_unknown_commit_that_was_not_done_is_run_again(env):
    """40003 and 08007 at a commit that was rolled back."""
    for state in ("40003", "08007"):
        server = env.server()
        client = server.client()
        path = f"/api/sessions/{client.post('/api/sessions', {'type': 'agent'}, expect=201).json()['id']}"
        refuse(env, server, "events", state, 1, True)
        check.equal(append(client, path, 0).status, 201, state)
        check.equal(numbers(client, path), [0], "the log")
        server.stop()


class Liar:
    """Answers a commit that was done with an error."""

    def __init__(self, state):
        self.answer = error(state, b"statement completion unknown")
        self.left = 0

    def __call__(self, data):
        done = message(b"C", COMMIT_DONE)
        if self.left and done in data:
            self.left -= 1
            return data.replace(done, self.answer, 1)
        return data


@test(on=("postgres",), timeout_s=60)
def an_unknown_commit_that_was_done_is_found(env):
    """It is acknowledged, and there once: also where it was a proxy that lost the server."""
    for state in (b"40003", b"08007", b"08006", b"08P01", b"57P01", b"58030", b"XX000"):
        liar = Liar(state)
        with Proxy(env.cluster(), rewrite=liar) as proxy:
            server = env.server(database=proxy.url(env.database()))
            client = server.client()
            path = f"/api/sessions/{client.post('/api/sessions', {'type': 'agent'}, expect=201).json()['id']}"
            liar.left = 1
            check.equal(append(client, path, 0).status, 201, str(state))
            check.equal(liar.left, 0, "lies to come")
            check.equal(numbers(client, path), [0], "the log")
            server.stop()
